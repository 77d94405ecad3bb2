/* driver_types.h — the types of the runtime's API, which lie in cuda_runtime_api.h. */
#include "cuda_runtime_api.h"
