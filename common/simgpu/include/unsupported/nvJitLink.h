#define SIMGPU_LACKS "nvJitLink"
#include "../simgpu_unsupported.h"
