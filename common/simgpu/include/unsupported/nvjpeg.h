#define SIMGPU_LACKS "nvJPEG"
#include "../simgpu_unsupported.h"
