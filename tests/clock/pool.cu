/* pool.cu — stream-ordered allocation: the owner of each block, the reserved bytes, the cost. `name value` lines. */
#include "simgpu.h"

__global__ void slow(volatile int *p, int steps) {
    int i = 0;
    for (int k = 0; k < steps; k++) i = p[i];
    p[1] = i;
}

enum { MIB = 1 << 20, LATE = 40000 };
static cudaMemPool_t pool;
static cudaStream_t s, t;

static void say(const char *name, double value) { printf("%s %.9g\n", name, value); }
static double now() { return simgpuHostTime() / 1e3; }
static double attribute(cudaMemPoolAttr which) {
    uint64_t value = 0;
    cudaMemPoolGetAttribute(pool, which, &value);
    return (double)value;
}
static double used_by_device() {
    size_t free_bytes, total;
    cudaMemGetInfo(&free_bytes, &total);
    return (double)(total - free_bytes);
}

static void threshold() {
    void *p;
    cudaMallocAsync(&p, MIB, s), say("reserved", attribute(cudaMemPoolAttrReservedMemCurrent));
    say("used", attribute(cudaMemPoolAttrUsedMemCurrent)), say("device", used_by_device());
    cudaFreeAsync(p, s), say("used_after_free", attribute(cudaMemPoolAttrUsedMemCurrent));
    say("reserved_before_sync", attribute(cudaMemPoolAttrReservedMemCurrent));
    cudaStreamSynchronize(s), say("reserved_after_sync", attribute(cudaMemPoolAttrReservedMemCurrent));
    say("device_after_sync", used_by_device());

    uint64_t keep = 2 * MIB;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cudaMallocAsync(&p, MIB, s), cudaFreeAsync(p, s), cudaStreamSynchronize(s);
    say("reserved_under_threshold", attribute(cudaMemPoolAttrReservedMemCurrent));
    cudaMemPoolTrimTo(pool, 0), say("reserved_after_trim", attribute(cudaMemPoolAttrReservedMemCurrent));
    keep = ~0ull;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
}

static void reuse() {
    int *p, *q, *r;
    cudaMallocAsync(&p, MIB, s), cudaMemsetAsync(p, 0, MIB, s), cudaStreamSynchronize(s);
    slow<<<1, 1, 0, s>>>(p, LATE), cudaFreeAsync(p, s);
    double begin = now();
    cudaMallocAsync(&q, MIB, s);
    say("same_stream_while_in_use", p == q), say("same_stream_us", now() - begin), begin = now();
    cudaFreeAsync(q, s), cudaMallocAsync(&r, MIB, t);
    say("other_stream_while_in_use", r == q), say("other_stream_us", now() - begin);
    cudaFreeAsync(r, t), cudaDeviceSynchronize();
    cudaMallocAsync(&p, MIB, t), say("other_stream_when_done", p == q || p == r);
    cudaFree(p), say("free_gives_to_the_pool", attribute(cudaMemPoolAttrUsedMemCurrent));
    cudaMallocAsync(&q, MIB / 4, t), say("no_block_much_too_large", q != p);
    cudaFreeAsync(q, t), say("freed_twice", cudaFreeAsync(q, t)), cudaGetLastError();
    say("high", attribute(cudaMemPoolAttrUsedMemHigh));
    cudaDeviceSynchronize(), cudaMemPoolTrimTo(pool, 0);
}

static void of_cuda_malloc() {
    int *p;
    cudaMalloc(&p, MIB), cudaMemset(p, 0, MIB), cudaDeviceSynchronize();
    slow<<<1, 1, 0, s>>>(p, LATE), cudaFreeAsync(p, s);
    say("malloc_block_while_in_use", used_by_device());
    cudaStreamSynchronize(s), say("malloc_block_when_done", used_by_device());
}

static void full() {
    void *p, *q;
    size_t free_bytes, total;
    simgpuDeviceMemory(4 * MIB);
    cudaMemGetInfo(&free_bytes, &total), say("total", total), say("free", free_bytes);
    cudaMallocAsync(&p, 3 * MIB, s), say("too_much", cudaMallocAsync(&q, 2 * MIB, s));
    say("last_error", cudaGetLastError()), say("null", q == NULL), cudaFreeAsync(p, s), cudaStreamSynchronize(s);
    say("after_release", cudaMallocAsync(&q, MIB, s)), cudaFreeAsync(q, s);
    say("malloc_beside_the_pool", cudaMalloc(&p, 4 * MIB)), cudaGetLastError(), cudaDeviceSynchronize();
    cudaMemPoolTrimTo(pool, 0), say("malloc_after_trim", cudaMalloc(&p, 4 * MIB)), cudaFree(p);
}

int main() {
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaStreamCreate(&s), cudaStreamCreate(&t);
    threshold(), reuse(), of_cuda_malloc(), full();
    return 0;
}
