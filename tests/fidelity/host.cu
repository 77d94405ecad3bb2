/* host.cu — what the host sees: launches, copies, memory, streams, events, graphs. Alike on a real GPU and on SimGPU.
 *
 * A line for each scenario: "family/name", a tab, microseconds of the host's clock (SimGPU: its virtual clock) from
 * before the first call to after the last. On a GPU that is the median of 9; a run that is not timed goes before.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined SIMGPU_CUDA_RUNTIME_API_H || defined ON_SIMGPU
#include <simgpu.h>
enum { REPETITIONS = 1 };
static double now() { return (double)simgpuHostTime() * 1e-3; }
#else
enum { REPETITIONS = 9 };
static double now() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
#endif

#define MUST(call) must((call), #call, __LINE__)
static void must(cudaError_t e, const char *call, int line) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "host.cu:%d: %s: %s\n", line, call, cudaGetErrorString(e));
    exit(1);
}

enum { KIB = 1 << 10, MIB = 1 << 20, LARGE = 64 * MIB, CHUNKS = 8 };
static char *pageable, *pinned, *device, *device2;
static cudaStream_t s[4], urgent, lazy;
static cudaEvent_t e0, e1, quiet;
static cudaGraphExec_t chain_graph, copy_graph;
static volatile int sink;

__global__ void nothing() {}
__global__ void spin(float *out, int rounds) { /* a block that computes for about 2.2 us a thousand rounds */
    float x = threadIdx.x;
#pragma unroll 16
    for (int i = 0; i < rounds; i++) x = x * 0.999f + 0.5f;
    if (x == -1) *out = x;
}
__global__ void touch(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = p[i] * 1.5f + 1;
}
static void spin_for(int rounds, cudaStream_t stream) { spin<<<1, 32, 0, stream>>>((float *)device, rounds); }
static void touch_bytes(char *p, size_t bytes, cudaStream_t stream) {
    touch<<<(int)(bytes / 1024), 256, 0, stream>>>((float *)p, (int)(bytes / 4));
}
static void wait() { MUST(cudaDeviceSynchronize()); }
static void CUDART_CB note(void *) { sink = 1; }

static void launches(int n) {
    for (int i = 0; i < n; i++) nothing<<<1, 32>>>();
    wait();
}
static void launches_awaited(int n) {
    for (int i = 0; i < n; i++) {
        nothing<<<1, 32>>>();
        wait();
    }
}
static void spins(int n, int rounds) {
    for (int i = 0; i < n; i++) spin_for(rounds, 0);
    wait();
}
static void copies(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int n) {
    for (int i = 0; i < n; i++) MUST(cudaMemcpy(to, from, bytes, kind));
    if (kind == cudaMemcpyDeviceToDevice) wait();
}
static void copies_async(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int n) {
    for (int i = 0; i < n; i++) MUST(cudaMemcpyAsync(to, from, bytes, kind, s[0]));
    MUST(cudaStreamSynchronize(s[0]));
}
static void sets(size_t bytes, int n) {
    for (int i = 0; i < n; i++) MUST(cudaMemsetAsync(device, 0, bytes, 0));
    wait();
}
static void mallocs(size_t bytes, int n) {
    void *p[64];
    for (int i = 0; i < n; i++) MUST(cudaMalloc(&p[i], bytes));
    for (int i = 0; i < n; i++) MUST(cudaFree(p[i]));
}
static void mallocs_in_turn(size_t bytes, int n) {
    void *p;
    for (int i = 0; i < n; i++) {
        MUST(cudaMalloc(&p, bytes));
        MUST(cudaFree(p));
    }
}
static void pool(size_t bytes, int n) {
    void *p;
    for (int i = 0; i < n; i++) {
        MUST(cudaMallocAsync(&p, bytes, s[0]));
        touch<<<1, 256, 0, s[0]>>>((float *)p, 256);
        MUST(cudaFreeAsync(p, s[0]));
    }
    MUST(cudaStreamSynchronize(s[0]));
}
static void lock_new(size_t bytes) {
    void *p;
    MUST(cudaHostAlloc(&p, bytes, cudaHostAllocDefault));
    MUST(cudaFreeHost(p));
}
static void lock_old(size_t bytes) {
    MUST(cudaHostRegister(pageable, bytes, cudaHostRegisterDefault));
    MUST(cudaHostUnregister(pageable));
}
/* Chunks that go to the device, are worked on, and come back, in turn on `streams` streams. */
static void pipeline(int streams, size_t bytes) {
    for (int i = 0; i < CHUNKS; i++) {
        cudaStream_t t = s[i % streams];
        size_t at = i * bytes;
        MUST(cudaMemcpyAsync(device + at, pinned + at, bytes, cudaMemcpyHostToDevice, t));
        touch_bytes(device + at, bytes, t);
        MUST(cudaMemcpyAsync(pinned + at, device + at, bytes, cudaMemcpyDeviceToHost, t));
    }
    wait();
}
static void pipeline_by_kind(size_t bytes) { /* all copies there, then all kernels, then all copies back */
    for (int i = 0; i < CHUNKS; i++)
        MUST(cudaMemcpyAsync(device + i * bytes, pinned + i * bytes, bytes, cudaMemcpyHostToDevice, s[i % 4]));
    for (int i = 0; i < CHUNKS; i++) touch_bytes(device + i * bytes, bytes, s[i % 4]);
    for (int i = 0; i < CHUNKS; i++)
        MUST(cudaMemcpyAsync(pinned + i * bytes, device + i * bytes, bytes, cudaMemcpyDeviceToHost, s[i % 4]));
    wait();
}
static void train(int steps, bool every_loss) { /* a batch, three kernels, and a number back */
    for (int i = 0; i < steps; i++) {
        MUST(cudaMemcpyAsync(device, pinned, 256 * KIB, cudaMemcpyHostToDevice, 0));
        for (int k = 0; k < 3; k++) touch_bytes(device, MIB, 0);
        if (every_loss) MUST(cudaMemcpy(pageable, device, 4, cudaMemcpyDeviceToHost));
    }
    MUST(cudaMemcpy(pageable, device, 4, cudaMemcpyDeviceToHost));
}
static void both_ways() {
    MUST(cudaMemcpyAsync(device, pinned, 16 * MIB, cudaMemcpyHostToDevice, s[0]));
    MUST(cudaMemcpyAsync(pinned + 32 * MIB, device2, 16 * MIB, cudaMemcpyDeviceToHost, s[1]));
    wait();
}
static void copy_beside_kernel() {
    MUST(cudaMemcpyAsync(device2, pinned, 16 * MIB, cudaMemcpyHostToDevice, s[0]));
    spin_for(100000, s[1]);
    wait();
}
static void pageable_beside_kernel() {
    spin_for(200000, s[1]);
    MUST(cudaMemcpyAsync(device2, pageable, 8 * MIB, cudaMemcpyHostToDevice, s[0]));
    wait();
}
static void fan(int streams) {
    for (int i = 0; i < 8; i++) spin_for(20000, s[i % streams]);
    wait();
}
static void fork_and_join() {
    for (int i = 0; i < 10; i++) {
        spin_for(2000, s[0]);
        MUST(cudaEventRecord(quiet, s[0]));
        for (int k = 1; k < 4; k++) {
            MUST(cudaStreamWaitEvent(s[k], quiet, 0));
            spin_for(2000, s[k]);
            MUST(cudaEventRecord(quiet, s[k]));
            MUST(cudaStreamWaitEvent(s[0], quiet, 0));
        }
    }
    wait();
}
static void priorities() { /* a full card of lazy blocks, and an urgent kernel behind them */
    spin<<<8 * 132 * 8, 256, 0, lazy>>>((float *)device, 4000);
    spin<<<8, 256, 0, urgent>>>((float *)device, 4000);
    MUST(cudaStreamSynchronize(urgent));
}
static void stream_objects(int n) {
    cudaStream_t t;
    for (int i = 0; i < n; i++) {
        MUST(cudaStreamCreate(&t));
        MUST(cudaStreamDestroy(t));
    }
}
static void event_objects(int n) {
    cudaEvent_t e;
    for (int i = 0; i < n; i++) {
        MUST(cudaEventCreate(&e));
        MUST(cudaEventRecord(e, 0));
        MUST(cudaEventDestroy(e));
    }
    wait();
}
static void event_timing(int n) {
    float ms;
    for (int i = 0; i < n; i++) {
        MUST(cudaEventRecord(e0, 0));
        spin_for(4000, 0);
        MUST(cudaEventRecord(e1, 0));
        MUST(cudaEventSynchronize(e1));
        MUST(cudaEventElapsedTime(&ms, e0, e1));
    }
}
static void polling() {
    spin_for(50000, 0);
    MUST(cudaEventRecord(quiet, 0));
    while (cudaEventQuery(quiet) == cudaErrorNotReady) sink = 0;
}
static void host_functions(int n) {
    for (int i = 0; i < n; i++) {
        nothing<<<1, 32, 0, s[0]>>>();
        MUST(cudaLaunchHostFunc(s[0], note, 0));
    }
    MUST(cudaStreamSynchronize(s[0]));
}
static void deep_queue(int n) { /* more commands than a queue holds behind a long kernel */
    spin_for(4000000, 0);
    for (int i = 0; i < n; i++) nothing<<<1, 32>>>();
}
static void graph_launches(cudaGraphExec_t g, int n) {
    for (int i = 0; i < n; i++) MUST(cudaGraphLaunch(g, s[0]));
    MUST(cudaStreamSynchronize(s[0]));
}
static void record_chain() {
    for (int i = 0; i < 20; i++) spin_for(500, s[0]);
}
static void record_copies() {
    MUST(cudaMemcpyAsync(device, pinned, MIB, cudaMemcpyHostToDevice, s[0]));
    for (int i = 0; i < 4; i++) touch_bytes(device, MIB, s[0]);
    MUST(cudaMemcpyAsync(pinned, device, MIB, cudaMemcpyDeviceToHost, s[0]));
}
static cudaGraphExec_t graph_of(void (*record)()) {
    cudaGraph_t g;
    cudaGraphExec_t x;
    MUST(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeThreadLocal));
    record();
    MUST(cudaStreamEndCapture(s[0], &g));
    MUST(cudaGraphInstantiate(&x, g, 0));
    MUST(cudaGraphDestroy(g));
    return x;
}

struct scenario {
    const char *name;
    void (*run)();
    void (*after)(); /* not timed */
};
static const scenario scenarios[] = {
    {"launch/1 and wait", [] { launches(1); }},
    {"launch/20 and wait", [] { launches(20); }},
    {"launch/200 and wait", [] { launches(200); }},
    {"launch/3000 and wait", [] { launches(3000); }},
    {"launch/50, a wait after each", [] { launches_awaited(50); }},
    {"launch/20 kernels of 20 us", [] { spins(20, 9000); }},
    {"launch/200 kernels of 1 us", [] { spins(200, 200); }},
    {"launch/800 behind a long kernel", [] { deep_queue(800); }, wait},
    {"launch/1500 behind a long kernel", [] { deep_queue(1500); }, wait},
    {"copy/4 bytes from the device", [] { copies(pageable, device, 4, cudaMemcpyDeviceToHost, 1); }},
    {"copy/50 of 4 bytes to the device", [] { copies(device, pageable, 4, cudaMemcpyHostToDevice, 50); }},
    {"copy/pageable, 16 KiB, to the device", [] { copies(device, pageable, 16 * KIB, cudaMemcpyHostToDevice, 1); }},
    {"copy/pageable, 256 KiB, to the device", [] { copies(device, pageable, 256 * KIB, cudaMemcpyHostToDevice, 1); }},
    {"copy/pageable, 4 MiB, to the device", [] { copies(device, pageable, 4 * MIB, cudaMemcpyHostToDevice, 1); }},
    {"copy/pageable, 64 MiB, to the device", [] { copies(device, pageable, LARGE, cudaMemcpyHostToDevice, 1); }},
    {"copy/pageable, 64 KiB, from the device", [] { copies(pageable, device, 64 * KIB, cudaMemcpyDeviceToHost, 1); }},
    {"copy/pageable, 16 MiB, from the device", [] { copies(pageable, device, 16 * MIB, cudaMemcpyDeviceToHost, 1); }},
    {"copy/pinned, 16 KiB, to the device", [] { copies(device, pinned, 16 * KIB, cudaMemcpyHostToDevice, 1); }},
    {"copy/pinned, 1 MiB, to the device", [] { copies(device, pinned, MIB, cudaMemcpyHostToDevice, 1); }},
    {"copy/pinned, 64 MiB, to the device", [] { copies(device, pinned, LARGE, cudaMemcpyHostToDevice, 1); }},
    {"copy/pinned, 256 KiB, from the device", [] { copies(pinned, device, 256 * KIB, cudaMemcpyDeviceToHost, 1); }},
    {"copy/pinned, 64 MiB, from the device", [] { copies(pinned, device, LARGE, cudaMemcpyDeviceToHost, 1); }},
    {"copy/100 pinned of 4 KiB, queued", [] { copies_async(device, pinned, 4 * KIB, cudaMemcpyHostToDevice, 100); }},
    {"copy/10 pinned of 1 MiB, queued", [] { copies_async(pinned, device, MIB, cudaMemcpyDeviceToHost, 10); }},
    {"copy/64 MiB on the device", [] { copies(device2, device, LARGE, cudaMemcpyDeviceToDevice, 1); }},
    {"copy/20 of 64 KiB on the device", [] { copies(device2, device, 64 * KIB, cudaMemcpyDeviceToDevice, 20); }},
    {"set/64 MiB", [] { sets(LARGE, 1); }},
    {"set/100 of 4 KiB", [] { sets(4 * KIB, 100); }},
    {"memory/50 of 1 KiB, then free", [] { mallocs(KIB, 50); }},
    {"memory/20 of 256 KiB, then free", [] { mallocs(256 * KIB, 20); }},
    {"memory/10 of 4 MiB, in turn", [] { mallocs_in_turn(4 * MIB, 10); }},
    {"memory/5 of 64 MiB, in turn", [] { mallocs_in_turn(LARGE, 5); }},
    {"memory/1 GiB", [] { mallocs_in_turn(1 << 30, 1); }},
    {"memory/50 of 1 MiB from the pool", [] { pool(MIB, 50); }},
    {"lock/new, 64 KiB", [] { lock_new(64 * KIB); }},
    {"lock/new, 4 MiB", [] { lock_new(4 * MIB); }},
    {"lock/new, 64 MiB", [] { lock_new(LARGE); }},
    {"lock/old, 4 MiB", [] { lock_old(4 * MIB); }},
    {"lock/old, 64 MiB", [] { lock_old(LARGE); }},
    {"overlap/copies both ways, 16 MiB", both_ways},
    {"overlap/copy beside a kernel", copy_beside_kernel},
    {"overlap/pageable copy beside a kernel", pageable_beside_kernel},
    {"overlap/8 small kernels, 1 stream", [] { fan(1); }},
    {"overlap/8 small kernels, 4 streams", [] { fan(4); }},
    {"overlap/fork and join, 10 times", fork_and_join},
    {"overlap/urgent behind lazy", priorities, wait},
    {"pipeline/8 chunks of 4 MiB, 1 stream", [] { pipeline(1, 4 * MIB); }},
    {"pipeline/8 chunks of 4 MiB, 2 streams", [] { pipeline(2, 4 * MIB); }},
    {"pipeline/8 chunks of 4 MiB, 4 streams", [] { pipeline(4, 4 * MIB); }},
    {"pipeline/8 chunks of 256 KiB, 4 streams", [] { pipeline(4, 256 * KIB); }},
    {"pipeline/8 chunks of 4 MiB, kind by kind", [] { pipeline_by_kind(4 * MIB); }},
    {"pipeline/20 steps, each loss", [] { train(20, true); }},
    {"pipeline/20 steps, the last loss", [] { train(20, false); }},
    {"event/10 kernels timed", [] { event_timing(10); }},
    {"event/100 made and recorded", [] { event_objects(100); }},
    {"event/asked until ready", polling},
    {"stream/20 made and destroyed", [] { stream_objects(20); }},
    {"stream/20 host functions", [] { host_functions(20); }},
    {"graph/20 kernels, launched once", [] { graph_launches(chain_graph, 1); }},
    {"graph/20 kernels, launched 10 times", [] { graph_launches(chain_graph, 10); }},
    {"graph/copies and kernels, launched 5 times", [] { graph_launches(copy_graph, 5); }},
    {"graph/captured and instantiated", [] { MUST(cudaGraphExecDestroy(graph_of(record_chain))); }},
};

static int by_value(const void *x, const void *y) {
    double d = *(const double *)x - *(const double *)y;
    return (d > 0) - (d < 0);
}
static double measure(const scenario *c) {
    double us[REPETITIONS];
    for (int r = -1; r < REPETITIONS; r++) {
        wait();
        double begin = now();
        c->run();
        double end = now();
        if (c->after) c->after();
        if (r >= 0) us[r] = end - begin;
    }
    MUST(cudaGetLastError());
    qsort(us, REPETITIONS, sizeof *us, by_value);
    return us[REPETITIONS / 2];
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    int least, greatest;
    pageable = (char *)malloc(LARGE);
    if (!pageable) return fprintf(stderr, "host.cu: out of host memory\n"), 1;
    memset(pageable, 1, LARGE);
    MUST(cudaHostAlloc(&pinned, LARGE, cudaHostAllocDefault));
    memset(pinned, 1, LARGE);
    MUST(cudaMalloc(&device, LARGE));
    MUST(cudaMalloc(&device2, LARGE));
    MUST(cudaMemset(device, 0, LARGE));
    for (int i = 0; i < 4; i++) MUST(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MUST(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    MUST(cudaStreamCreateWithPriority(&lazy, cudaStreamNonBlocking, least));
    MUST(cudaEventCreate(&e0));
    MUST(cudaEventCreate(&e1));
    MUST(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming));
    chain_graph = graph_of(record_chain);
    copy_graph = graph_of(record_copies);
    for (const scenario &c : scenarios) {
        if (!strstr(c.name, only)) continue;
        printf("%s\t%.2f\n", c.name, measure(&c));
        fflush(stdout);
    }
    return 0;
}
