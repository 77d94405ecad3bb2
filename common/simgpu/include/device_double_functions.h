/* device_double_functions.h — functions of device code, which cuda_runtime.h includes. */
#include "cuda_runtime.h"
