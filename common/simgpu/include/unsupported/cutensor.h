#define SIMGPU_LACKS "cuTENSOR"
#include "../simgpu_unsupported.h"
