/* cublas_api.h — the same as cublas_v2.h. */
#include "cublas_v2.h"
