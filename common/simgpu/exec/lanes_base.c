/* lanes_base.c — the arithmetic handlers for any host. Of x86 these are hosts without AVX2, which are rare. There the
 * functions stay as they are written, which makes SimGPU half as fast: to optimise them takes an eighth of the time in
 * which it is built, on every host. */
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions have no vector form */
#include "lane_math.h"
#include "warp.h"
#if defined(__x86_64__)
#define EACH for (int l = 0; l < 32; l++)
#pragma clang optimize off
#endif
#define LANES_TABLE exec_lanes_base
#include "lanes.h"
