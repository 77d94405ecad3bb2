#define SIMGPU_LACKS "Thrust"
#include "../../../simgpu_cccl.h"
