/* nvtx3/nvToolsExt.h — NVTX; see nvToolsExt.h. */
#include <nvToolsExt.h>
