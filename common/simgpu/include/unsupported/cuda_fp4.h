#define SIMGPU_LACKS "4-bit floating point"
#include "../simgpu_unsupported.h"
