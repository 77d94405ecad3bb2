/* curand_lognormal.h — a part of curand_kernel.h. */
#include "curand_kernel.h"
