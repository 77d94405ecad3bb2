/* lanes_avx2.c — the arithmetic handlers for hosts with AVX2 and FMA, eight lanes at a time. exec_load picks the table.
 */
#pragma clang diagnostic ignored "-Wpass-failed" /* divisions have no vector form */
#include <stddef.h>
#if defined(__x86_64__)
#include "warp.h"
#include "lane_math.h"
#include <fenv.h>
/* Checks of each lane's access, optimised, take as long to compile as all other files. */
#if __has_feature(address_sanitizer)
#pragma clang optimize off
#endif
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#define LANES_TABLE exec_lanes_avx2
#include "lanes.h"
#pragma clang attribute pop
#else
#include "warp.h"
exec_handler *const exec_lanes_avx2[NOPS + 1] = {NULL};
#endif
