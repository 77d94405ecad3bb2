/* vector_functions.hpp — where CUDA keeps what vector_functions.h has. */
#include "vector_functions.h"
