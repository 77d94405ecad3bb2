#define SIMGPU_LACKS "textures"
#include "../simgpu_unsupported.h"
