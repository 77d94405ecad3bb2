/* sm_32_intrinsics.h — functions of device code, which cuda_runtime.h includes. */
#include "cuda_runtime.h"
