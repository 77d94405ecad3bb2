#define SIMGPU_LACKS "cuBLAS"
#include "../simgpu_unsupported.h"
