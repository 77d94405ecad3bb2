#include "../simgpu_unsupported.h"
