#define SIMGPU_LACKS "the generator MTGP32"
#include "../simgpu_unsupported.h"
