#define SIMGPU_LACKS "asynchronous copies in a kernel"
#include "../simgpu_unsupported.h"
