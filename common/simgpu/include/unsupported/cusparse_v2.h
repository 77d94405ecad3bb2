#define SIMGPU_LACKS "cuSPARSE"
#include "../simgpu_unsupported.h"
