#define SIMGPU_LACKS "Thrust"
#include "../../../simgpu_unsupported.h"
