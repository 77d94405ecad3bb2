/* nvtx3/nvToolsExtCuda.h — NVTX; see nvToolsExt.h. */
#include <nvToolsExt.h>
