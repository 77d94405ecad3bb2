#define SIMGPU_LACKS "cuBLASLt (<cublas_v2.h> is here)"
#include "../simgpu_unsupported.h"
