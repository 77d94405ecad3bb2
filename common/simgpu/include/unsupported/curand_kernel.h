#define SIMGPU_LACKS "cuRAND"
#include "../simgpu_unsupported.h"
