#define SIMGPU_LACKS "NVBLAS"
#include "../simgpu_unsupported.h"
