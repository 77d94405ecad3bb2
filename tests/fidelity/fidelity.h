/* fidelity.h — times kernels that SimGPU's model of time was not made from, alike on a real GPU and on SimGPU.
 *
 * A program beside this file lists its kernels with COLD and WARM, and ends with FIDELITY_MAIN. It then prints a line
 * for each: "family/name", a tab, microseconds from event to event around its launches. On a GPU that is the median
 * of 9.
 *
 *   COLD   a flush of L2 goes before, as in bench-clock.cu
 *   WARM   the same launches go before, so what they leave in L2 is there
 *
 * PROGRAM [PART]                    times those whose name contains PART
 * PROGRAM --once cold|warm [PART]   runs each of a kind once, for a profiler; prints a line before: "@ ", its name, a
 *                                  tab, its number of launches
 */
#ifndef FIDELITY_H
#define FIDELITY_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined SIMGPU_CUDA_RUNTIME_API_H || defined ON_SIMGPU
#include <simgpu.h>
enum { REPETITIONS = 1, VIRTUAL = 1 }; /* the virtual clock has no noise */
#else
static void simgpuMark(const char *) {}
enum { REPETITIONS = 9, VIRTUAL = 0 };
#endif

#define MUST(call) must((call), #call, __FILE__, __LINE__)
static void must(cudaError_t e, const char *call, const char *file, int line) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(e));
    exit(1);
}

struct fidelity_test {
    const char *name;
    bool warm;
    int launches;
    void (*run)();
};
#define COLD(name, launches, ...)                                                                                      \
    {                                                                                                                  \
        name, false, launches, [] { __VA_ARGS__; }                                                                     \
    }
#define WARM(name, launches, ...)                                                                                      \
    {                                                                                                                  \
        name, true, launches, [] { __VA_ARGS__; }                                                                      \
    }

/* Returns device memory for n elements: element i is value(i). The caller keeps it until the program ends. */
template <typename T, typename F> static T *filled(size_t n, F value) {
    T *host = (T *)malloc(n * sizeof(T)), *device;
    if (!host) exit(fprintf(stderr, "fidelity.h: out of host memory\n"));
    for (size_t i = 0; i < n; i++) host[i] = value(i);
    MUST(cudaMalloc(&device, n * sizeof(T)));
    MUST(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
    free(host);
    return device;
}

template <typename T> static T *zeroed(size_t n) {
    T *device;
    MUST(cudaMalloc(&device, n * sizeof(T)));
    MUST(cudaMemset(device, 0, n * sizeof(T)));
    return device;
}

/* Returns 32 bits that look random, and are the same on every machine. */
static inline unsigned mixed(size_t i) {
    unsigned x = (unsigned)i * 2654435761u + 12345u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}
static inline float unit(size_t i) { return (float)(mixed(i) >> 8) * (1.0f / 16777216.0f); } /* in [0, 1) */

static int fidelity_by_value(const void *x, const void *y) {
    double d = *(const double *)x - *(const double *)y;
    return (d > 0) - (d < 0);
}

/* The flush also hides what the host needs for the launches: they are queued when it ends. */
static double fidelity_time(const fidelity_test *t, void *flush, size_t bytes, cudaEvent_t begin, cudaEvent_t end) {
    double us[REPETITIONS];
    for (int r = REPETITIONS > 1 ? -1 : 0; r < REPETITIONS; r++) { /* the first is the warm-up */
        float ms;
        MUST(cudaMemset(flush, r & 255, bytes));
        if (t->warm) t->run();
        MUST(cudaEventRecord(begin, 0));
        t->run();
        MUST(cudaEventRecord(end, 0));
        MUST(cudaEventSynchronize(end));
        MUST(cudaGetLastError());
        MUST(cudaEventElapsedTime(&ms, begin, end));
        if (r >= 0) us[r] = ms * 1e3;
    }
    qsort(us, REPETITIONS, sizeof *us, fidelity_by_value);
    return us[REPETITIONS / 2];
}

/* What Nsight Compute does on a GPU: L2 holds nothing of a COLD kernel's data, and what it has left itself for a WARM
 * one. A kernel that reads leaves L2 with data that need not be written back; but 2.3 MiB of Nsight Compute's own must
 * be: so much an H200 writes to DRAM in a kernel that only reads 48 MiB or more. */
__global__ void fidelity_read(const float4 *in, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i].x;
    if (s == 1.5f) __trap();
}
static void fidelity_prepare(const fidelity_test *t) {
    enum { BYTES = 128 << 20, DIRTY = 2200 << 10 };
    static float4 *device;
    static char *dirty;
    if (!VIRTUAL) return;
    if (t->warm) return t->run();
    if (!device) device = zeroed<float4>(BYTES / sizeof(float4));
    if (!dirty) dirty = zeroed<char>(DIRTY);
    fidelity_read<<<1056, 256>>>(device, BYTES / sizeof(float4));
    MUST(cudaMemset(dirty, 0, DIRTY));
}

static void fidelity_once(const fidelity_test *t) {
    fidelity_prepare(t);
    printf("@ %s\t%d\n", t->name, t->launches);
    fflush(stdout);
    simgpuMark(t->name);
    t->run();
    MUST(cudaDeviceSynchronize());
}

static int fidelity_main(int argc, char **argv, const fidelity_test *tests, int count) {
    bool once = argc > 2 && strcmp(argv[1], "--once") == 0;
    const char *only = once ? (argc > 3 ? argv[3] : "") : argc > 1 ? argv[1] : "";
    size_t bytes = 256u << 20;
    void *flush;
    cudaEvent_t begin, end;
    if (!once) MUST(cudaMalloc(&flush, bytes));
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    for (const fidelity_test *t = tests; t < tests + count; t++) {
        if (!strstr(t->name, only)) continue;
        if (!once) {
            printf("%s\t%.2f\n", t->name, fidelity_time(t, flush, bytes, begin, end));
            fflush(stdout);
        } else if (t->warm == (strcmp(argv[2], "warm") == 0)) {
            fidelity_once(t);
        }
    }
    return 0;
}
#define FIDELITY_MAIN(setup, tests)                                                                                    \
    int main(int argc, char **argv) {                                                                                  \
        setup();                                                                                                       \
        return fidelity_main(argc, argv, tests, sizeof tests / sizeof *tests);                                         \
    }

#endif
