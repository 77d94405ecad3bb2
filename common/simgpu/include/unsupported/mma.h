#define SIMGPU_LACKS "tensor cores"
#include "../simgpu_unsupported.h"
