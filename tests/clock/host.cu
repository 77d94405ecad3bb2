/* host.cu — what an H200's host does: chunks of memory, the queue to the device, engines that turn, priorities; and the
 * pipeline of copies and kernels that was timed on one. `name value` lines; times in microseconds. */
#include "simgpu.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

__global__ void spin(float *out, int rounds) {
    float x = threadIdx.x;
#pragma unroll 16
    for (int i = 0; i < rounds; i++) x = x * 0.999f + 0.5f;
    if (x == -1) *out = x;
}

static float *memory;
static int share = 1; /* kernels take this part of their rounds: all take a minute under the sanitizers (brief) */
static double now() { return (double)simgpuHostTime() / 1e3; }
static void say(const char *name, int i, double value) { printf("%s_%d %.9g\n", name, i, value); }

static void chunks() {
    void *p[5];
    double at;
    for (int i = 0; i < 5; i++) at = now(), cudaMalloc(&p[i], 512 * KIB), say("malloc", i, now() - at);
    for (int i = 0; i < 5; i++) at = now(), cudaFree(p[i]), say("free", i, now() - at);
    for (int i = 0; i < 2; i++) at = now(), cudaMalloc(&p[i], MIB + 1), say("malloc_large", i, now() - at);
    for (int i = 0; i < 2; i++) cudaFree(p[i]);
    for (int i = 0; i < 3; i++) at = now(), cudaMallocHost(&p[i], MIB), say("pin", i, now() - at);
    for (int i = 0; i < 3; i++) at = now(), cudaFreeHost(p[i]), say("unpin", i, now() - at);
    for (int i = 0; i < 3; i++) at = now(), cudaMallocAsync(&p[i], 12 * MIB, 0), say("pool", i, now() - at);
    for (int i = 0; i < 3; i++) cudaFreeAsync(p[i], 0);
    at = now(), cudaDeviceSynchronize(), say("pool_trim", 0, now() - at);
}

static void queue(cudaStream_t s, cudaStream_t t) {
    double begin = now(), at;
    spin<<<1, 32, 0, s>>>(memory, 4000000 / share);
    for (int i = 0; i < 1021; i++) spin<<<1, 32, 0, s>>>(memory, 0);
    say("room_in_the_queue", 0, now() - begin < 6000);
    at = now(), spin<<<1, 32, 0, t>>>(memory, 0), say("other_stream", 0, now() - at);
    spin<<<1, 32, 0, s>>>(memory, 0), say("full_queue_waits", 0, now() - begin > 6000);
    cudaDeviceSynchronize();
}

/* Copies of two streams in turn: when the first stream's last ends, and the second's. */
static void engines(cudaStream_t s, cudaStream_t t, char *host) {
    cudaEvent_t begin, end[2];
    cudaStream_t both[2] = {s, t};
    float ms;
    cudaEventCreate(&begin), cudaEventCreate(&end[0]), cudaEventCreate(&end[1]);
    cudaEventRecord(begin, s);
    for (int i = 0; i < 6; i++)
        cudaMemcpyAsync(memory + i * MIB, host + i * 4 * MIB, 4 * MIB, cudaMemcpyHostToDevice, both[i % 2]);
    for (int i = 0; i < 2; i++) cudaEventRecord(end[i], both[i]);
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) cudaEventElapsedTime(&ms, begin, end[i]), say("copies_of_stream", i, ms * 1e3);
    for (int k = 1; k <= 2; k++) { /* a kernel, and a copy behind it or in another stream's turn */
        double at = now();
        spin<<<1, 32, 0, s>>>(memory, 20000 / share);
        for (int i = 0; i < 8; i++) {
            cudaMemcpyAsync(host, memory, 64 * KIB, cudaMemcpyDeviceToHost, s);
            if (k == 2) spin<<<1, 32, 0, s>>>(memory, 0);
        }
        cudaDeviceSynchronize(), say("turns", k, now() - at);
    }
}

/* The same kernel between two events, long after a copy from the device, a copy to it, and a kernel. */
static void turned(cudaStream_t s, char *host) {
    cudaEvent_t begin, end;
    float ms;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    for (int k = 0; k < 3; k++) {
        if (k < 2)
            cudaMemcpyAsync(k ? (char *)memory : host, k ? host : (char *)memory, 64 * KIB, cudaMemcpyDefault, s);
        else
            spin<<<1, 32, 0, s>>>(memory, 20000 / share);
        cudaDeviceSynchronize();
        cudaEventRecord(begin, s);
        spin<<<1, 32, 0, s>>>(memory, 20000 / share);
        cudaEventRecord(end, s);
        cudaEventSynchronize(end), cudaEventElapsedTime(&ms, begin, end), say("turned", k, ms * 1e3);
    }
}

/* A kernel behind eight waves of another, of lower priority or of the same. */
static void priorities() {
    int least, greatest;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    for (int k = 0; k < 2; k++) {
        cudaStream_t lazy, urgent;
        cudaStreamCreateWithPriority(&lazy, cudaStreamNonBlocking, least);
        cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, k ? least : greatest);
        double at = now();
        spin<<<132 * 8 * 8, 256, 0, lazy>>>(memory, 500 / share);
        spin<<<8, 256, 0, urgent>>>(memory, 500 / share);
        cudaStreamSynchronize(urgent), say("behind_lazy", k, now() - at);
        cudaStreamSynchronize(lazy), say("lazy", k, now() - at);
        cudaStreamDestroy(lazy), cudaStreamDestroy(urgent);
    }
}

/* `chunks` chunks of 256 MiB to the device, a kernel, and back, each in a stream of its own; the kernels take kernel_us
 * in all. On the card they fill the SMs, so they run one after the other; here an event orders them. */
static void pipeline(char *host, double us_of_round) {
    static const double kernels_us[] = {282.5, 1316.8, 4977.1, 9857.9};
    static const char *const names[] = {"pipeline_64", "pipeline_512", "pipeline_2048", "pipeline_4096"};
    static cudaStream_t s[64];
    cudaEvent_t done;
    cudaEventCreate(&done);
    for (auto &x : s) cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking);
    for (int k = 0; k < (share > 1 ? 1 : 4); k++)
        for (int n = 2; n <= 64; n *= n < 16 ? 2 : 4) {
            int bytes = 256 * MIB / n, rounds = (int)((kernels_us[k] / n - 2.38 - 1.25) / us_of_round);
            double at = now();
            for (int i = 0; i < n; i++) {
                char *part = (char *)memory + (size_t)i * bytes, *from = host + (size_t)i * bytes;
                cudaMemcpyAsync(part, from, bytes, cudaMemcpyHostToDevice, s[i]);
                if (i) cudaStreamWaitEvent(s[i], done, 0);
                spin<<<1, 32, 0, s[i]>>>(memory, rounds > 0 ? rounds / share : 0);
                cudaEventRecord(done, s[i]);
                cudaMemcpyAsync(from, part, bytes, cudaMemcpyDeviceToHost, s[i]);
            }
            cudaDeviceSynchronize();
            say(names[k], n, now() - at);
        }
}

int main(int argc, char **) {
    char *host;
    cudaStream_t s, t;
    if (argc > 1) share = 100;
    cudaMalloc(&memory, 256 * MIB);
    chunks();
    cudaMallocHost(&host, 256 * MIB);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    double begin = now();
    spin<<<1, 32>>>(memory, 1000000 / share), cudaDeviceSynchronize();
    double round = (now() - begin - 8) / (1000000 / share);
    queue(s, t);
    engines(s, t, host);
    turned(s, host);
    priorities();
    pipeline(host, round);
    return 0;
}
