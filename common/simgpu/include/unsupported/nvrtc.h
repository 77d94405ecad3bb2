#define SIMGPU_LACKS "NVRTC"
#include "../simgpu_unsupported.h"
