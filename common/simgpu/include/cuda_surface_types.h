/* cuda_surface_types.h — surfaces; cuda_runtime.h includes them. */
#include "cuda_runtime.h"
