#define SIMGPU_LACKS "EGL"
#include "../simgpu_unsupported.h"
