/* cuda_occupancy.h — occupancy, which the runtime's API computes (cudaOccupancyMaxActiveBlocksPerMultiprocessor). */
#include "cuda_runtime.h"
