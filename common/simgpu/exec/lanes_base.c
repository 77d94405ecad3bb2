/* lanes_base.c — the arithmetic handlers for any host. Of x86 these are hosts without AVX2, which are rare, so the
 * loops stay as they are there: to make vectors of them takes a tenth of the time in which SimGPU is built. */
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions have no vector form */
#if defined(__x86_64__)
#define EACH _Pragma("clang loop vectorize(disable) unroll(disable)") for (int l = 0; l < 32; l++)
#endif
#define LANES_TABLE exec_lanes_base
#include "lanes.h"
