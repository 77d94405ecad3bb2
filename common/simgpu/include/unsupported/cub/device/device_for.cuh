#define SIMGPU_LACKS "CUB"
#include "../../../simgpu_cccl.h"
