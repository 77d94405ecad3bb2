#define SIMGPU_LACKS "NVSHMEM"
#include "../simgpu_unsupported.h"
