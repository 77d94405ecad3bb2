#define SIMGPU_LACKS "VDPAU"
#include "../simgpu_unsupported.h"
