/* driver_functions.h — make_cudaExtent and its like, which lie in cuda_runtime.h. */
#include "cuda_runtime.h"
