/* simgpu_ranges.h — SimGPU's side of NVTX (cudart/ranges.c), for nvToolsExt.h. A program that is linked without SimGPU
 * has none of these functions, and its ranges do nothing. */
#ifndef SIMGPU_RANGES_H
#define SIMGPU_RANGES_H

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif
/* Begin and end a range of the thread; they return its depth, from 0, or NVTX_NO_PUSH_POP_TRACKING. */
int simgpuRangePush(const char *name) __attribute__((weak));
int simgpuRangePop(void) __attribute__((weak));
/* Begin and end any range; the first returns its number, 0 if nobody listens. */
uint64_t simgpuRangeStart(const char *name) __attribute__((weak));
void simgpuRangeEnd(uint64_t id) __attribute__((weak));
void simgpuRangePoint(const char *name) __attribute__((weak));
#if defined(__cplusplus)
}
#endif

#endif
