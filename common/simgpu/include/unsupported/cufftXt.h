#define SIMGPU_LACKS "cuFFT"
#include "../simgpu_unsupported.h"
