#define SIMGPU_LACKS "cuFile"
#include "../simgpu_unsupported.h"
