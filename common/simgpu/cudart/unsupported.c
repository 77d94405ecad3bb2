/* unsupported.c — every other public function of the runtime API, so that a program that has a call it never makes
 * still links. Called, a function says its name once and returns cudaErrorNotSupported. */
#include "rt.h"

/* Declared without their parameters, which nobody reads. */
#define UNSUPPORTED(name)                                                                                              \
    cudaError_t name(void);                                                                                            \
    cudaError_t name(void) { return rt_unsupported(#name); }
#include "unsupported.def"
#undef UNSUPPORTED
