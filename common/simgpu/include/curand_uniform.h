/* curand_uniform.h — a part of curand_kernel.h. */
#include "curand_kernel.h"
