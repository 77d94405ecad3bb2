#define SIMGPU_LACKS "8-bit floating point"
#include "../simgpu_unsupported.h"
