#define SIMGPU_LACKS "cuBLASXt (<cublas_v2.h> is here)"
#include "../simgpu_unsupported.h"
