/* crt/mma.h — where CUDA keeps what mma.h has. */
#include "../mma.h"
