/* cuda_profiler_api.h — cudaProfilerStart and cudaProfilerStop, which lie in cuda_runtime_api.h. */
#include "cuda_runtime_api.h"
