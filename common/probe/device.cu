/* device.cu — the part of make probe that is about the chip: what the driver says of it, its memory's rates and
 * latencies, and what its pipes do. Figures of the model that no single measurement gives are not here (see
 * common/make/probe.sh).
 */
#include "probe.h"

static cudaDeviceProp card;
static double clock_ghz;
static float *out;

/* Returns the ns of run() between two events, with the memory that it uses elsewhere: the fastest of n. */
template <class F> static spread on_device(int n, F run) {
    static cudaEvent_t begin, end;
    std::vector<double> v;
    if (!begin) MUST(cudaEventCreate(&begin));
    if (!end) MUST(cudaEventCreate(&end));
    for (int i = -1; i < n; i++) {
        float ms;
        MUST(cudaEventRecord(begin));
        run();
        MUST(cudaEventRecord(end));
        MUST(cudaEventSynchronize(end));
        MUST(cudaGetLastError());
        MUST(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 0) v.push_back((double)ms * 1e6);
    }
    return spread_of(v);
}

static double attribute(cudaDeviceAttr a) {
    int value = 0;
    MUST(cudaDeviceGetAttribute(&value, a, 0));
    return value;
}

__global__ void clocks_in(long long *clocks, long long ns) { /* clocks of the SM in so many ns */
    long long begin, now, from = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
    clocks[0] = clock64() - from;
    clocks[1] = now - begin;
}

static void properties() {
    long long *clocks;
    MUST(cudaMallocManaged(&clocks, 2 * sizeof *clocks));
    std::vector<double> ghz;
    for (int i = 0; i < 9; i++) {
        clocks_in<<<1, 1>>>(clocks, 2000000);
        wait();
        ghz.push_back((double)clocks[0] / (double)clocks[1]);
    }
    clock_ghz = spread_of(ghz).median;
    property("sm_count", card.multiProcessorCount);
    figure("clock_ghz", spread_of(ghz), "clock64 against the global timer");
    property("warps_per_sm", card.maxThreadsPerMultiProcessor / 32);
    property("blocks_per_sm", attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
    property("registers_per_sm", card.regsPerMultiprocessor);
    property("shared_per_sm", (double)card.sharedMemPerMultiprocessor);
    property("shared_per_block", (double)card.sharedMemPerBlock);
    property("shared_per_block_optin", (double)card.sharedMemPerBlockOptin);
    property("shared_reserved", (double)card.reservedSharedMemPerBlock);
    property("memory_bytes", (double)card.totalGlobalMem);
    property("l2_bytes", card.l2CacheSize);
    property("memory_clock_khz", attribute(cudaDevAttrMemoryClockRate));
    property("bus_bits", card.memoryBusWidth);
    property("capability", card.major * 10 + card.minor);
}

/* --- memory --------------------------------------------------------------------------------------------------- */

__global__ void copy(const float4 *in, float4 *to, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = in[i];
}
__global__ void write(float4 *to, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = make_float4(1, 2, 3, 4);
}
__global__ void read(const float4 *in, float *to, size_t n) {
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += in[i].x + in[i].w;
    if (sum == 1.5f) *to = sum;
}
__global__ void chase(const unsigned *from, int steps, unsigned *to, long long *clocks) {
    unsigned at = 0;
    for (int i = 0; i < steps; i++) at = from[at];
    long long begin = clock64();
    for (int i = 0; i < steps; i++) at = from[at];
    *clocks = clock64() - begin;
    *to = at;
}
__global__ void chase_once(const unsigned *from, int steps, unsigned *to, long long *clocks) {
    unsigned at = 0;
    long long begin = clock64();
    for (int i = 0; i < steps; i++) at = from[at];
    *clocks = clock64() - begin;
    *to = at;
}

/* Returns the clocks of a step through words that are 128 bytes apart, each once, in an order that no prefetcher
 * guesses. warm: the second time. Memory of the host, if it is page-locked there. */
static spread step(size_t bytes, bool warm, bool host) {
    enum { LINE = 32 };
    size_t lines = bytes / 128;
    std::vector<unsigned> order(lines), words(lines * LINE);
    unsigned long long x = 88172645463325252ull;
    for (size_t i = 0; i < lines; i++) order[i] = (unsigned)i;
    for (size_t i = lines - 1; i > 0; i--) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        std::swap(order[i], order[x % (i + 1)]);
    }
    for (size_t i = 0; i < lines; i++) words[order[i] * (size_t)LINE] = order[(i + 1) % lines] * LINE;
    /* The chase begins at word 0, wherever it stands in the order. */
    unsigned *memory;
    long long *clocks;
    std::vector<double> v;
    int steps = (int)std::min<size_t>(lines, 20000);
    MUST(cudaMallocManaged(&clocks, sizeof *clocks));
    if (host)
        MUST(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped));
    else
        MUST(cudaMalloc(&memory, bytes));
    for (int i = 0; i < 7; i++) {
        MUST(cudaMemcpy(memory, words.data(), bytes, cudaMemcpyDefault));
        if (!warm && !host) { /* out of L2 */
            void *junk;
            size_t all = 2 * (size_t)card.l2CacheSize;
            MUST(cudaMalloc(&junk, all));
            MUST(cudaMemset(junk, i, all));
            MUST(cudaFree(junk));
        }
        if (warm)
            chase<<<1, 1>>>(memory, steps, (unsigned *)out, clocks);
        else
            chase_once<<<1, 1>>>(memory, std::min(steps, 4000), (unsigned *)out, clocks);
        wait();
        v.push_back((double)*clocks / (warm ? steps : std::min(steps, 4000)));
    }
    if (host)
        MUST(cudaFreeHost(memory));
    else
        MUST(cudaFree(memory));
    return spread_of(v);
}

static void memory() {
    size_t bytes = std::min<size_t>((size_t)1 << 30, card.totalGlobalMem / 4), n = bytes / sizeof(float4);
    float4 *a, *b;
    MUST(cudaMalloc(&a, bytes));
    MUST(cudaMalloc(&b, bytes));
    MUST(cudaMemset(a, 1, bytes));
    unsigned blocks = (unsigned)(n / 256);
    spread copied = on_device(9, [=] { copy<<<blocks, 256>>>(a, b, n); }),
           got = on_device(9, [=] { read<<<8 * card.multiProcessorCount, 512>>>(a, out, n); });
    figure("dram_gbs", inverse((double)bytes, got), "1 GiB read; copied: %.4g", 2 * (double)bytes / copied.median);
    figure("dram_write_gbs", inverse((double)bytes, on_device(9, [=] { write<<<blocks, 256>>>(b, n); })), "1 GiB");
    MUST(cudaFree(a));
    MUST(cudaFree(b));
    enum { ADDRESS = 5 }; /* clocks of a step that are not the load's */
    figure("latency_l1_clk", step(16 << 10, true, false) - ADDRESS,
           "a pointer chase in 16 KiB, less 5 for the address");
    figure("latency_l2_clk", step(8 << 20, true, false) - ADDRESS, "a pointer chase in 8 MiB, likewise");
    figure("latency_dram_ns", (step(64 << 20, false, false) - ADDRESS) * (1 / clock_ghz),
           "a pointer chase in 64 MiB that L2 does not have, likewise");
    figure("link_latency_ns", (step(1 << 20, false, true) - ADDRESS) * (1 / clock_ghz),
           "a pointer chase in 1 MiB of the host, likewise");
    size_t part = 256 << 20, m = part / sizeof(float4);
    float4 *host;
    MUST(cudaHostAlloc(&host, part, cudaHostAllocMapped));
    memset(host, 1, part);
    figure("link_read_gbs",
           inverse((double)part, on_device(5, [=] { read<<<8 * card.multiProcessorCount, 512>>>(host, out, m); })),
           "256 MiB of the host");
    figure("link_write_gbs", inverse((double)part, on_device(5, [=] { write<<<(unsigned)(m / 256), 256>>>(host, m); })),
           "256 MiB of the host");
    MUST(cudaFreeHost(host));
}

/* --- pipes ------------------------------------------------------------------------------------------------------ */

/* TURNS turns of 64 dependent operations; clocks of a warp for each operation. One warp: the latency. 32 warps on each
 * scheduler's SM: the slots of a scheduler that the operation takes. */
enum { TURNS = 64, OPS = 64 };
#define CHAIN(name, type, first, step)                                                                                 \
    __global__ void name(float *to, long long *clocks, type y, type z) {                                               \
        type x = (type)(first);                                                                                        \
        long long begin = 0;                                                                                           \
        for (int i = -1; i < TURNS; i++) {                                                                             \
            if (i == 0) begin = clock64();                                                                             \
            _Pragma("unroll") for (int k = 0; k < OPS; k++) { step; }                                                  \
        }                                                                                                              \
        if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;                                                  \
        if (x == (type)12345) *to = (float)x;                                                                          \
        (void)y, (void)z;                                                                                              \
    }
CHAIN(chain_fma, float, threadIdx.x, x = x * y + z)
CHAIN(chain_alu, unsigned, threadIdx.x, x = (x ^ y) + z)
CHAIN(chain_imul, unsigned, threadIdx.x, x = x * y + z)
CHAIN(chain_fp64, double, threadIdx.x, x = x * y + z)
CHAIN(chain_shuffle, int, threadIdx.x, x = __shfl_xor_sync(~0u, x, 1))
__global__ void chain_shared(float *to, long long *clocks, int y, int) {
    __shared__ volatile int words[1024];
    words[threadIdx.x] = (int)threadIdx.x * y;
    int x = (int)threadIdx.x;
    __syncthreads();
    long long begin = 0;
    for (int i = -1; i < TURNS; i++) {
        if (i == 0) begin = clock64();
#pragma unroll
        for (int k = 0; k < OPS; k++) x = words[x];
    }
    if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
    if (x == 12345) *to = (float)x;
}

template <class K, class T> static spread clocks_of(K kernel, int threads, T y, T z) {
    long long *clocks;
    std::vector<double> v;
    MUST(cudaMallocManaged(&clocks, sizeof *clocks));
    for (int i = 0; i < 7; i++) {
        kernel<<<1, threads>>>(out, clocks, y, z);
        wait();
        v.push_back((double)*clocks / (TURNS * OPS));
    }
    MUST(cudaFree(clocks));
    return spread_of(v);
}
template <class K, class T> static void pipe(const char *name, K kernel, T y, T z, bool slots, int operations = 1) {
    char key[64];
    snprintf(key, sizeof key, "latency_%s_clk", name);
    auto whole = [](spread s) { return spread{(double)(int)(s.median + 0.5), s.low, s.high}; };
    figure(key, whole(clocks_of(kernel, 32, y, z) * (1.0 / operations)), "a chain of 4096 in one warp");
    snprintf(key, sizeof key, "slots_%s", name);
    if (slots)
        figure(key, whole(clocks_of(kernel, 1024, y, z) * (1.0 / 8 / operations)),
               "the same in 32 warps of an SM, 8 a scheduler");
}
static void pipes() {
    pipe("fma", chain_fma, 0.999f, 0.5f, true);
    pipe("alu", chain_alu, 12345u, 77u, false, 2);
    pipe("imul", chain_imul, 12345u, 77u, true);
    pipe("fp64", chain_fp64, 0.999, 0.5, true);
    pipe("shuffle", chain_shuffle, 1, 1, false);
    pipe("memory", chain_shared, 1, 1, false);
}

int main() {
    MUST(cudaGetDeviceProperties(&card, 0));
    MUST(cudaMalloc(&out, 1 << 20));
    properties();
    memory();
    pipes();
    MUST(cudaDeviceSynchronize());
    return 0;
}
