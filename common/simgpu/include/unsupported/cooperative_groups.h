#define SIMGPU_LACKS "cooperative groups"
#include "../simgpu_unsupported.h"
