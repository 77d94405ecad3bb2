/* crt/storage_class.h — where CUDA keeps what cuda_runtime.h includes. */
#include "../cuda_runtime.h"
