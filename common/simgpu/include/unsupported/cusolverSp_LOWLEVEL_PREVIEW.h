#define SIMGPU_LACKS "cuSOLVER"
#include "../simgpu_unsupported.h"
