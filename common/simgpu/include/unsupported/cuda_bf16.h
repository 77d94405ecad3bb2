#define SIMGPU_LACKS "bfloat16"
#include "../simgpu_unsupported.h"
