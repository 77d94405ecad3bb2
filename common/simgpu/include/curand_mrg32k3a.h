/* curand_mrg32k3a.h — a part of curand_kernel.h. */
#include "curand_kernel.h"
