#define SIMGPU_LACKS "the driver API"
#include "../simgpu_unsupported.h"
