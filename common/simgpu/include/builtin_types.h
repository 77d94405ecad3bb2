/* builtin_types.h — the types of vectors and of the runtime's API. */
#include "cuda_runtime_api.h"
