/* host_defines.h — __host__, __device__ and their like, which lie in cuda_runtime.h. */
#include "cuda_runtime.h"
