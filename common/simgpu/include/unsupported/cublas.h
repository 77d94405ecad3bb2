#define SIMGPU_LACKS "the cuBLAS of before CUDA 4 (include <cublas_v2.h>, whose calls take a handle)"
#include "../simgpu_unsupported.h"
