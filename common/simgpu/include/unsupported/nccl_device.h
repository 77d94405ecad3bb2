#define SIMGPU_LACKS "NCCL"
#include "../simgpu_unsupported.h"
