/* nvtx3/nvToolsExtSync.h — NVTX; see nvToolsExt.h. */
#include <nvToolsExt.h>
