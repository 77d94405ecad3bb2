/* probe.cu — measures on the virtual device the figures of a real H200 in tests/clock.bats, one a line: `name
 * microseconds`.
 *
 * The questions are those of the measurements: each time is a host's, from before the call to after the wait. */
#include "simgpu.h"
#include <initializer_list>

static double now() { return simgpuHostTime() / 1e3; }
static void say(const char *name, size_t bytes, double us) { printf("%s_%zu %.3f\n", name, bytes, us); }

/* One thread, one load after another: long for the device, short for SimGPU. */
__global__ void slow(int *p, int steps) {
    int i = 0;
    for (int k = 0; k < steps; k++) i = p[i];
    p[1] = i;
}
__global__ void empty() {}

enum { MIB = 1 << 20 };
static char *device, *device2, *pinned, *pinned2, *pageable;

static void copies(size_t bytes) {
    double t = now();
    cudaMemcpy(device, pinned, bytes, cudaMemcpyHostToDevice), cudaDeviceSynchronize();
    say("h2d_pinned", bytes, now() - t), t = now();
    cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice), cudaDeviceSynchronize();
    say("h2d_pageable", bytes, now() - t), t = now();
    cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost);
    say("d2h_pinned", bytes, now() - t), t = now();
    cudaMemcpy(pageable, device, bytes, cudaMemcpyDeviceToHost);
    say("d2h_pageable", bytes, now() - t);

    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    t = now();
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, s);
    say("return_pinned", bytes, now() - t);
    cudaDeviceSynchronize(), t = now();
    cudaMemcpyAsync(device, pageable, bytes, cudaMemcpyHostToDevice, s);
    say("return_pageable", bytes, now() - t);
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
}

static void both_ways(size_t bytes) {
    cudaStream_t a, b;
    cudaStreamCreate(&a), cudaStreamCreate(&b);
    double t = now();
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, a);
    cudaMemcpyAsync(pinned2, device2, bytes, cudaMemcpyDeviceToHost, b), cudaDeviceSynchronize();
    say("both_ways", bytes, now() - t), t = now();
    cudaMemcpyAsync(device, pinned, bytes / 2, cudaMemcpyHostToDevice, a);
    cudaMemcpyAsync(device2, pinned2, bytes / 2, cudaMemcpyHostToDevice, b), cudaDeviceSynchronize();
    say("one_way_twice", bytes, now() - t);
}

static void host_memory(size_t bytes) {
    void *p, *m = aligned_alloc(4096, bytes);
    double t = now();
    cudaHostAlloc(&p, bytes, 0), say("host_alloc", bytes, now() - t), t = now();
    cudaFreeHost(p), say("host_free", bytes, now() - t), t = now();
    cudaHostRegister(m, bytes, 0), say("register", bytes, now() - t), t = now();
    cudaHostUnregister(m), say("unregister", bytes, now() - t);
    free(m);
}

static void device_memory(size_t bytes) {
    void *p;
    double t = now();
    cudaMalloc(&p, bytes), say("malloc", bytes, now() - t), t = now();
    cudaFree(p), say("free", bytes, now() - t);
}

static void pool_pair() {
    enum { PAIRS = 1000 };
    uint64_t keep = ~0ull;
    cudaMemPool_t pool;
    cudaStream_t s;
    void *p;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cudaStreamCreate(&s);
    cudaMallocAsync(&p, MIB, s), cudaFreeAsync(p, s);
    double t = now();
    for (int i = 0; i < PAIRS; i++) cudaMallocAsync(&p, MIB, s), cudaFreeAsync(p, s);
    say("pool_pair", 0, (now() - t) / PAIRS);
}

/* Returns whether the kernel is still running when the call returns. */
static void during_a_kernel() {
    void *p, *h;
    cudaMalloc(&p, MIB);
    slow<<<1, 1>>>((int *)device, 40000), cudaFree(p);
    printf("running_after_free %d\n", cudaStreamQuery(0) == cudaErrorNotReady), cudaDeviceSynchronize();
    slow<<<1, 1>>>((int *)device, 40000), cudaMalloc(&p, MIB);
    printf("running_after_malloc %d\n", cudaStreamQuery(0) == cudaErrorNotReady), cudaDeviceSynchronize();
    slow<<<1, 1>>>((int *)device, 40000), cudaHostAlloc(&h, MIB, 0);
    printf("running_after_host_alloc %d\n", cudaStreamQuery(0) == cudaErrorNotReady), cudaDeviceSynchronize();
}

static void launches() {
    enum { MANY = 500 };
    cudaEvent_t a, b;
    float ms;
    cudaEventCreate(&a), cudaEventCreate(&b);
    double t = now();
    for (int i = 0; i < MANY; i++) empty<<<1, 32>>>();
    cudaDeviceSynchronize(), say("launch", 0, (now() - t) / MANY), t = now();
    empty<<<1, 32>>>(), cudaDeviceSynchronize(), say("launch_sync", 0, now() - t), t = now();
    cudaDeviceSynchronize(), say("sync", 0, now() - t);
    cudaEventRecord(a), empty<<<1, 32>>>(), cudaEventRecord(b), cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b), say("events_around_empty", 0, ms * 1e3);
    cudaEventRecord(a), cudaEventRecord(b), cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b), say("events", 0, ms * 1e3), t = now();
    cudaEventRecord(a), say("record", 0, now() - t), cudaDeviceSynchronize(), t = now();
    cudaEventQuery(a), say("query", 0, now() - t);
}

/* A buffer goes out, is touched, comes back, in k pieces on k streams. */
static void pipeline(size_t bytes, int k) {
    cudaStream_t s[64];
    for (int i = 0; i < k; i++) cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
    size_t part = bytes / k;
    double t = now();
    for (int i = 0; i < k; i++) {
        cudaMemcpyAsync(device + i * part, pinned + i * part, part, cudaMemcpyHostToDevice, s[i]);
        cudaMemcpyAsync(pinned + i * part, device + i * part, part, cudaMemcpyDeviceToHost, s[i]);
    }
    cudaDeviceSynchronize();
    printf("pipeline_%d %.3f\n", k, now() - t);
    for (int i = 0; i < k; i++) cudaStreamDestroy(s[i]);
}

int main() {
    const size_t most = (size_t)64 * MIB;
    cudaMalloc(&device, most), cudaMalloc(&device2, most);
    cudaHostAlloc(&pinned, most, 0), cudaHostAlloc(&pinned2, most, 0);
    pageable = (char *)malloc(most);
    for (size_t bytes : {(size_t)4, (size_t)4096, (size_t)65536, (size_t)65540, (size_t)MIB, (size_t)16 * MIB, most})
        copies(bytes);
    cudaMemset(device, 0, most);
    both_ways(most);
    for (int k : {1, 2, 4, 8, 16, 64}) pipeline(most, k);
    for (size_t bytes : {(size_t)4096, (size_t)MIB, most}) host_memory(bytes);
    for (size_t bytes : {(size_t)256, (size_t)2 * MIB, most}) device_memory(bytes);
    pool_pair();
    cudaMemset(device, 0, MIB);
    during_a_kernel();
    launches();
    double t = now();
    memcpy(pinned, pageable, most), say("memcpy", most, now() - t);
    free(pageable);
    return cudaGetLastError();
}
