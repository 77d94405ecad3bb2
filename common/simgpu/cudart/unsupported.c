/* unsupported.c — all public functions of the runtime API that SimGPU lacks, so that a program links even if it has a
 * call to one. Each prints its name once and returns cudaErrorNotSupported. */
#include "rt.h"

/* Declared without parameters, since the definitions ignore them. */
#define UNSUPPORTED(name)                                                                                              \
    cudaError_t name(void);                                                                                            \
    cudaError_t name(void) { return rt_unsupported(#name); }
#include "../include/cuda_unsupported.def"
