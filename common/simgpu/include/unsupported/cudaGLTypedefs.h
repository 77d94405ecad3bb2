#define SIMGPU_LACKS "OpenGL"
#include "../simgpu_unsupported.h"
