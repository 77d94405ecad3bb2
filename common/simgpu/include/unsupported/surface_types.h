#define SIMGPU_LACKS "surfaces"
#include "../simgpu_unsupported.h"
