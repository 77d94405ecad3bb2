#define SIMGPU_LACKS "NVVM"
#include "../simgpu_unsupported.h"
