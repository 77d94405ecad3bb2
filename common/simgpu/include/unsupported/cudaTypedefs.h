#define SIMGPU_LACKS "types of pointers to the driver's functions"
#include "../simgpu_unsupported.h"
