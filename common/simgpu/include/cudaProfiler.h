/* cudaProfiler.h — the driver API has these functions. */
#include "cuda.h"
