/* crt/math_functions.hpp — where CUDA keeps what cuda_runtime.h includes. */
#include "../cuda_runtime.h"
