#define SIMGPU_LACKS "NVML"
#include "../simgpu_unsupported.h"
