#define SIMGPU_LACKS "NVTX"
#include "../../simgpu_unsupported.h"
