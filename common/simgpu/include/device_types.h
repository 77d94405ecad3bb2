/* device_types.h — types of device code, which need no header here. */
#include "cuda_runtime.h"
