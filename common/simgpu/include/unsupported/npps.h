#define SIMGPU_LACKS "NPP"
#include "../simgpu_unsupported.h"
