#define SIMGPU_LACKS "cuDNN"
#include "../simgpu_unsupported.h"
