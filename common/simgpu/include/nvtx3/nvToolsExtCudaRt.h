/* nvtx3/nvToolsExtCudaRt.h — NVTX; see nvToolsExt.h. */
#include <nvToolsExt.h>
