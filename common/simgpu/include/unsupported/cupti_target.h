#define SIMGPU_LACKS "CUPTI"
#include "../simgpu_unsupported.h"
