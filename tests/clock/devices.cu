/* devices.cu — cards are independent of each other, and cudaDeviceReset: `name value`, a line each.
 *
 * The same work runs on the process's first card, then on fresh ones after others were left in every kind of disorder.
 * Its text and its lines in the report must be the same to the byte. */
#include "simgpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__device__ int runs = 100; /* of the module: each card has its own */
__global__ void count(int *out) { out[0] = ++runs; }
__global__ void add(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += b[i] + 1;
}
__global__ void spread(int *bins, int n) { atomicAdd(&bins[(blockIdx.x * blockDim.x + threadIdx.x) % n], 1); }
__global__ void beyond(int *p) { p[1 << 20] = 1; }
__global__ void much(int *out) {
    extern __shared__ int all[];
    all[threadIdx.x] = 1;
    out[0] = all[threadIdx.x];
}

enum { N = 1 << 16 };

static char text[2][4096];
static char *at;
#define SAY(...) (at += sprintf(at, __VA_ARGS__))

/* Allocators, copies of every kind, streams, events, a pool that reuses, atomics, errors; all that has a number. */
static void work() {
    float *a, *b, *pinned, *pageable = (float *)calloc(N, sizeof *pageable);
    int *out, value = 0;
    cudaStream_t s, t;
    cudaEvent_t begin, end;
    float ms = 0;
    size_t free_bytes, total;
    cudaMalloc(&a, N * sizeof *a), cudaMallocHost(&pinned, N * sizeof *pinned), cudaMalloc(&out, 64 * sizeof *out);
    memset(pinned, 0, N * sizeof *pinned);
    cudaStreamCreate(&s), cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaEventRecord(begin, s);
    for (int k = 0; k < 3; k++) {
        cudaMallocAsync(&b, N * sizeof *b, s);
        cudaMemcpyAsync(b, k & 1 ? pinned : pageable, N * sizeof *b, cudaMemcpyHostToDevice, s);
        cudaMemcpyAsync(a, b, N * sizeof *b, cudaMemcpyDeviceToDevice, s);
        add<<<N / 256, 256, 0, s>>>(a, b, N);
        cudaFreeAsync(b, s);
        spread<<<64, 128, 0, t>>>(out, 7 + k);
    }
    cudaEventRecord(end, s), cudaEventSynchronize(end), cudaEventElapsedTime(&ms, begin, end);
    SAY("ms %.9f\n", ms);
    count<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    SAY("runs %d\n", value);
    cudaMemcpyFromSymbol(&value, runs, sizeof value);
    SAY("symbol %d\n", value);
    cudaMemGetInfo(&free_bytes, &total);
    SAY("free %zu of %zu\n", free_bytes, total);
    much<<<1, 32, 100000>>>(out);
    SAY("too_much %s\n", cudaGetErrorName(cudaGetLastError()));
    SAY("host %llu\n", (unsigned long long)simgpuHostTime());
    free(pageable);
}

static void disorder() {
    int *p;
    float *q;
    cudaStream_t s;
    cudaMemPool_t pool;
    uint64_t keep = ~0ull;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    for (int k = 1; k < 40; k++) cudaMalloc(&p, k * 12345), cudaMallocAsync(&q, k * 777, 0), cudaFreeAsync(q, 0);
    for (int k = 0; k < 5; k++) cudaStreamCreate(&s), count<<<1, 1, 0, s>>>(p);
    cudaFuncSetAttribute(much, cudaFuncAttributeMaxDynamicSharedMemorySize, 150000);
    simgpuDeviceMemory(1 << 30);
    cudaDeviceSetLimit(cudaLimitStackSize, 4096);
    cudaMalloc(&p, 1ull << 40); /* leaves an error */
    simgpuHostWork(123457);
}

static const char *name(cudaError_t e) { return cudaGetErrorName(e); }

static void same_numbers() {
    at = text[0], simgpuMark("first"), work();
    simgpuMark("disorder"), disorder();
    printf("second_card %d\n", simgpuNewDevice());
    at = text[1], simgpuMark("second"), work();
    simgpuMark("dead");
    beyond<<<1, 1>>>(NULL);
    count<<<1, 1>>>(NULL); /* behind it: never runs */
    printf("dead %s\n", name(cudaDeviceSynchronize()));
    printf("third_card %d\n", simgpuNewDevice());
    printf("%ssame %d\n", text[0], !strcmp(text[0], text[1]));
    at = text[1], simgpuMark("third"), work(), simgpuMark("end");
    printf("same_after_a_dead_one %d\n", !strcmp(text[0], text[1]));
    printf("was %d\n", simgpuUseDevice(2));
    printf("still_dead %s\n", name(cudaDeviceSynchronize()));
    simgpuUseDevice(1);
    size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    printf("first_as_left %zu %s\n", limit, name(cudaGetLastError()));
    int value = 0;
    cudaMemcpyFromSymbol(&value, runs, sizeof value);
    printf("first_runs %d\n", value);
    printf("no_such_card %d\n", simgpuUseDevice(17));
}

static void handles() {
    cudaStream_t s;
    cudaEvent_t e;
    cudaMemPool_t pool;
    int *p;
    cudaStreamCreate(&s), cudaEventCreate(&e), cudaDeviceGetDefaultMemPool(&pool, 0), cudaMalloc(&p, 64);
    int here = simgpuUseDevice(1);
    simgpuNewDevice();
    printf("device %d %s\n", (cudaGetDevice(&here), here), name(cudaGetLastError()));
    printf("foreign_stream %s\n", name(cudaStreamSynchronize(s)));
    printf("foreign_event %s\n", name(cudaEventRecord(e, 0)));
    printf("foreign_pool %s\n", name(cudaMemPoolTrimTo(pool, 0)));
    printf("foreign_memory %s\n", name(cudaMemset(p, 0, 64)));
    printf("last_here %s\n", name(cudaGetLastError()));
}

static void reset() {
    int *p, *q, *pinned, value = 7;
    size_t before, after, total, limit;
    cudaStream_t s;
    cudaEvent_t e;
    simgpuNewDevice();
    cudaMemGetInfo(&before, &total);
    cudaMalloc(&p, 1 << 20), cudaMallocAsync(&q, 1 << 20, 0), cudaMallocHost(&pinned, 4096);
    cudaStreamCreate(&s), cudaEventCreate(&e);
    cudaDeviceSetLimit(cudaLimitStackSize, 4096);
    count<<<1, 1, 0, s>>>(p);
    cudaEventRecord(e, s);
    cudaMalloc(&q, 1ull << 40);
    uint64_t t = simgpuHostTime();
    printf("reset %s\n", name(cudaDeviceReset()));
    printf("time_goes_on %d\n", simgpuHostTime() > t);
    cudaMemGetInfo(&after, &total), cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    printf("freed %d limit %zu\n", before == after, limit);
    printf("last %s\n", name(cudaGetLastError()));
    printf("stale_memory %s\n", name(cudaMemset(p, 0, 4)));
    printf("stale_free %s\n", name(cudaFree(p)));
    printf("stale_stream %s\n", name(cudaStreamSynchronize(s)));
    printf("stale_event %s\n", name(cudaEventSynchronize(e)));
    cudaGetLastError();
    cudaMemcpyFromSymbol(&value, runs, sizeof value);
    printf("module_again %d\n", value);
    cudaMalloc(&p, 64);
    beyond<<<1, 1>>>(p);
    printf("dies %s\n", name(cudaDeviceSynchronize()));
    printf("stays_dead %s\n", name(cudaFree(p)));
    printf("reset_dead %s\n", name(cudaDeviceReset()));
    printf("lives %s\n", name(cudaMalloc(&p, 64)));
    count<<<1, 1>>>(p);
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
    printf("counts %d %s\n", value, name(cudaGetLastError()));
    beyond<<<1, 1>>>(p);
    printf("reset_says_it_late %s\n", name(cudaDeviceReset()));
    printf("and_lives %s\n", name(cudaDeviceSynchronize()));
}

static int from_a_function;
static void in_function(void *) { from_a_function = simgpuNewDevice(); }

int main() {
    same_numbers();
    simgpuMark("handles");
    handles();
    reset();
    cudaLaunchHostFunc(0, in_function, NULL), cudaDeviceSynchronize();
    printf("from_a_host_function %d\n", from_a_function);
}
