#define SIMGPU_LACKS "6-bit floating point"
#include "../simgpu_unsupported.h"
