/* host_config.h — CUDA's check of the host's compiler, of which nothing is needed here. */
#include "cuda_runtime.h"
