#define SIMGPU_LACKS "CUB"
#include "../../../simgpu_unsupported.h"
