/* timed.h — times launches on a GPU and on SimGPU alike: microseconds from event to event behind a held device. */
#ifndef TIMED_H
#define TIMED_H

#include <cstdio>
#include <cstdlib>
#ifdef SIMGPU_CUDA_RUNTIME_API_H
#include <simgpu.h>
enum { TIMES = 1 }; /* the virtual clock has no noise */
#else
enum { TIMES = 6 };
__global__ void hold(long long clocks) {
    for (const long long begin = clock64(); clock64() - begin < clocks;) {}
}
#endif

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t e_ = (call);                                                                                       \
        if (e_) exit(fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_)));                                      \
    } while (0)

static int held_ns = 20000; /* for this long, in which the host submits all launches */

/* Prints `name microseconds`, the least of all times. before() has run before each of them. */
template <typename B, typename F> static void timed_behind(const char *name, B before, F launch) {
    cudaEvent_t begin, end;
    float best = 1e9f;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    for (int k = 0; k < TIMES; k++) {
        float ms;
        before();
#ifdef SIMGPU_CUDA_RUNTIME_API_H
        simgpuHoldDevice((uint64_t)held_ns);
#else
        hold<<<1, 1>>>(2LL * held_ns);
#endif
        MUST(cudaEventRecord(begin));
        launch();
        MUST(cudaEventRecord(end));
        MUST(cudaEventSynchronize(end));
        MUST(cudaGetLastError());
        MUST(cudaEventElapsedTime(&ms, begin, end));
        if (ms < best) best = ms;
    }
    printf("%s %.2f\n", name, best * 1e3f);
}
template <typename F> static void timed(const char *name, F launch) {
    timed_behind(
        name, [] {}, launch);
}

#endif
