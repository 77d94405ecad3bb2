#define SIMGPU_LACKS "half precision"
#include "../simgpu_unsupported.h"
