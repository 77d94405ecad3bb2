/* bench-clock.cu — small kernels, each with one thing that takes time, run alike on a real GPU and on SimGPU.
 *
 * One line a kernel: its name, a tab, microseconds from event to event around one launch, caches cold. On a GPU it is
 * the median of 9. common/make/bench.sh records a GPU's times, and holds SimGPU's to them: a figure in
 * profiles/h200.conf that says "measured" without a probe of its own was read from a difference of two of these.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must((call), #call, __LINE__)
static void must(cudaError_t e, const char *call, int line) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "bench-clock.cu:%d: %s: %s\n", line, call, cudaGetErrorString(e));
    exit(1);
}

enum { WORDS = 1 << 24, SMS = 132 }; /* floats of each array, 64 MiB; SMs of the card that the profile describes */
static float *a, *b;
static unsigned *u;

/* --- blocks and launches ------------------------------------------------------------------------ */

__global__ void nothing() {}

/* --- memory --------------------------------------------------------------------------------------- */

__global__ void copy1(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
__global__ void copy4(const float4 *in, float4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
/* A grid-stride sum; the unrolled form has four loads under way. */
__global__ void sum1(const float *in, float *out, int n) {
    float s = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
    if (s == 1.5f) *out = s;
}
__global__ void sum4(const float *in, float *out, int n) {
    float s = 0;
    int t = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + 3 * t < n; i += 4 * t)
        s += (in[i] + in[i + t]) + (in[i + 2 * t] + in[i + 3 * t]);
    if (s == 1.5f) *out = s;
}
/* The loop as people write it: the compiler decides how far to unroll it. */
__global__ void sum_plain(const float *in, float *out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
    if (s == 1.5f) *out = s;
}
/* y = W x, a thread an output: a load that all lanes share and one that is coalesced, n times. */
__global__ void layer(const float *w, const float *x, float *y, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += x[blockIdx.y * n + k] * w[k * n + j];
    y[blockIdx.y * n + j] = s;
}
/* The same words again and again: they come from L2, each warp's from a place of its own in each round. */
__global__ void reread(const float4 *in, float *out, int n, int rounds) {
    float s = 0;
    int t = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        for (int i = first; i < n; i += t) {
            float4 v = __ldcg(in + ((i + r * 977 * 32) & (n - 1)));
            s += (v.x + v.y) + (v.z + v.w);
        }
    if (s == 1.5f) *out = s;
}
/* The same 16 KB again and again, from L1. */
__global__ void reread_l1(const float *in, float *out, int rounds) {
    float s = 0;
#pragma unroll 8
    for (int r = 0; r < rounds; r++) s += in[(threadIdx.x + r * 32) & 4095];
    if (s == 1.5f) *out = s;
}
__global__ void reread_l1_4(const float4 *in, float *out, int rounds) {
    float s = 0;
#pragma unroll 8
    for (int r = 0; r < rounds; r++) {
        float4 v = in[(threadIdx.x + r * 32) & 1023];
        s += (v.x + v.y) + (v.z + v.w);
    }
    if (s == 1.5f) *out = s;
}
__global__ void write1(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void chase(const unsigned *next, unsigned *out, int steps) {
    unsigned j = 0;
    for (int i = 0; i < steps; i++) j = next[j];
    *out = j;
}

/* --- a chain of instructions that wait for each other ----------------------------------------------- */

enum { CHAIN = 8192 };

__global__ void chain_fma(float *out, float x, float y) {
    float s = threadIdx.x;
#pragma unroll 64
    for (int i = 0; i < CHAIN; i++) s = s * x + y;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_fma4(float *out, float x, float y) { /* four chains side by side */
    float s = threadIdx.x, t = s + 1, v = s + 2, w = s + 3;
#pragma unroll 16
    for (int i = 0; i < CHAIN / 4; i++) s = s * x + y, t = t * x + y, v = v * x + y, w = w * x + y;
    out[blockIdx.x * blockDim.x + threadIdx.x] = (s + t) + (v + w);
}
__global__ void chain_int(unsigned *out, unsigned x, unsigned y) {
    unsigned s = threadIdx.x;
#pragma unroll 32
    for (int i = 0; i < CHAIN; i++) s = (s ^ x) + y; /* two instructions */
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_mul(unsigned *out, unsigned x, unsigned y) {
    unsigned s = threadIdx.x;
#pragma unroll 64
    for (int i = 0; i < CHAIN; i++) s = s * x + y;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_double(double *out, double x, double y) {
    double s = threadIdx.x;
#pragma unroll 64
    for (int i = 0; i < CHAIN; i++) s = s * x + y;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_rsqrt(float *out, float x) {
    float s = threadIdx.x + 1;
#pragma unroll 32
    for (int i = 0; i < CHAIN / 4; i++) s = rsqrtf(s) + x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_divide(unsigned *out, unsigned x) {
    unsigned s = threadIdx.x + 1;
#pragma unroll 1
    for (int i = 0; i < CHAIN / 16; i++) s = (x + i) / (s | 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_loop(float *out, float x, float y) { /* the loop itself: a count, a test, a branch */
    float s = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < CHAIN / 4; i++) s = s * x + y;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_convert(float *out, float x) {
    float s = threadIdx.x;
#pragma unroll 32
    for (int i = 0; i < CHAIN / 4; i++) s = (float)(int)s + x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_fdivide(float *out, float x) {
    float s = threadIdx.x + 1;
#pragma unroll 1
    for (int i = 0; i < CHAIN / 16; i++) s = x / s + 1.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_sqrt(float *out, float x) {
    float s = threadIdx.x + 1;
#pragma unroll 1
    for (int i = 0; i < CHAIN / 16; i++) s = sqrtf(s) + x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_exp(float *out, float x) {
    float s = threadIdx.x;
#pragma unroll 8
    for (int i = 0; i < CHAIN / 16; i++) s = __expf(-s) + x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_divide64(unsigned long long *out, unsigned long long x) {
    unsigned long long s = threadIdx.x + 1;
#pragma unroll 1
    for (int i = 0; i < CHAIN / 64; i++) s = (x + i) / (s | 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_multiply64(unsigned long long *out, unsigned long long x) {
    unsigned long long s = threadIdx.x + 1;
#pragma unroll 32
    for (int i = 0; i < CHAIN / 4; i++) s = s * x + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_diverge(float *out, float x, float y) { /* eight ways, one after another */
    float s = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < CHAIN / 64; i++) switch (threadIdx.x & 7) {
        case 0: s = s * x + y; break;
        case 1: s = s * x - y; break;
        case 2: s = s + x * y; break;
        case 3: s = s - x / y; break;
        case 4: s = sqrtf(s); break;
        case 5: s = s * s; break;
        case 6: s = s * s - x; break;
        default: s = x - s; break;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_shared(unsigned *out) {
    __shared__ unsigned next[1024];
    next[threadIdx.x] = threadIdx.x ^ 1;
    __syncthreads();
    unsigned j = threadIdx.x;
#pragma unroll 32
    for (int i = 0; i < CHAIN / 4; i++) j = next[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = j;
}
__global__ void chain_shuffle(unsigned *out) {
    unsigned s = threadIdx.x;
#pragma unroll 32
    for (int i = 0; i < CHAIN / 4; i++) s = __shfl_xor_sync(0xffffffffu, s, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void chain_barrier(unsigned *out, int rounds) {
    for (int i = 0; i < rounds; i += 8) {
        __syncthreads(), __syncthreads(), __syncthreads(), __syncthreads();
        __syncthreads(), __syncthreads(), __syncthreads(), __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = rounds;
}
/* A block's tree in shared memory, as lab 4 begins: loads, barriers, ever fewer threads. */
__global__ void tree(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

/* --- atomics ---------------------------------------------------------------------------------------- */

__global__ void red_one_lane(float *p, int words) { /* a lane a block, on `words` words a sector apart */
    if (threadIdx.x == 0) atomicAdd(p + blockIdx.x % words * 8, 1.0f);
}
__global__ void red_one_lane_int(unsigned *p, int words) {
    if (threadIdx.x == 0) atomicAdd(p + blockIdx.x % words * 8, blockIdx.x);
}
__global__ void red_one_sector(float *p) { /* a lane a block, eight words of one sector */
    if (threadIdx.x == 0) atomicAdd(p + blockIdx.x % 8, 1.0f);
}
__global__ void red_float(float *p) { atomicAdd(p, 1.0f + threadIdx.x); } /* all lanes, one word */
__global__ void red_int(unsigned *p) { atomicAdd(p, threadIdx.x); }
__global__ void red_own(unsigned *p) { atomicAdd(p + blockIdx.x * blockDim.x + threadIdx.x, threadIdx.x); }
__global__ void red_spread(unsigned *p, unsigned mask) { /* lanes far apart */
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    atomicAdd(p + (i >> 7 & mask), threadIdx.x);
}
__global__ void atom_chain(unsigned *p, int n) { /* each waits for the value of the one before */
    unsigned j = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) j = atomicAdd(p + j, 0u);
    p[1] = j;
}
__global__ void atom_count(unsigned *p, unsigned *out) { /* a ticket a block */
    if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(p, 1u);
}
template <int MODE> __global__ void shared_atomics(unsigned *out, int n) {
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    unsigned i = MODE == 0 ? 0 : threadIdx.x, step = MODE == 2 ? 97 : 0;
#pragma unroll 4
    for (int k = 0; k < n; k++, i = (i * 5 + step) & 255) atomicAdd(s + (MODE == 1 ? threadIdx.x : i), 1u + k);
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}

/* --- the list ----------------------------------------------------------------------------------------- */

struct test {
    const char *name;
    void (*run)();
};

static const test tests[] = {
    {"nothing, 1 block", [] { nothing<<<1, 32>>>(); }},
    {"nothing, 16896 blocks of 256", [] { nothing<<<16896, 256>>>(); }},
    {"nothing, 65536 blocks of 32", [] { nothing<<<65536, 32>>>(); }},
    {"nothing, 65536 blocks of 256", [] { nothing<<<65536, 256>>>(); }},
    {"nothing, 8192 blocks of 1024", [] { nothing<<<8192, 1024>>>(); }},

    {"copy, 2^20 floats", [] { copy1<<<4096, 256>>>(a, b); }},
    {"copy, 2^22 floats", [] { copy1<<<16384, 256>>>(a, b); }},
    {"copy, 2^24 floats", [] { copy1<<<65536, 256>>>(a, b); }},
    {"copy, 2^24 floats, float4", [] { copy4<<<16384, 256>>>((float4 *)a, (float4 *)b); }},
    {"copy, 2^22 floats, blocks of 32", [] { copy1<<<131072, 32>>>(a, b); }},
    {"copy, 2^22 floats, blocks of 1024", [] { copy1<<<4096, 1024>>>(a, b); }},
    {"sum, 2^24 floats, a load at a time", [] { sum1<<<8 * SMS, 256>>>(a, b, WORDS); }},
    {"sum, 2^24 floats, four loads", [] { sum4<<<8 * SMS, 256>>>(a, b, WORDS); }},
    {"sum, 2^24 floats, plain loop", [] { sum_plain<<<8 * SMS, 256>>>(a, b, WORDS); }},
    {"sum, 2^22 floats, a load at a time", [] { sum1<<<8 * SMS, 256>>>(a, b, WORDS / 4); }},
    {"sum, 2^22 floats, quarter full", [] { sum1<<<2 * SMS, 256>>>(a, b, WORDS / 4); }},
    {"sum, 2^16 floats, one block of 256", [] { sum1<<<1, 256>>>(a, b, 1 << 16); }},
    {"sum, 2^18 floats, one block of 1024", [] { sum1<<<1, 1024>>>(a, b, 1 << 18); }},
    {"sum, 2^18 floats, one block, four loads", [] { sum4<<<1, 1024>>>(a, b, 1 << 18); }},
    {"sum, 2^16 floats, one block, plain loop", [] { sum_plain<<<1, 256>>>(a, b, 1 << 16); }},
    {"layer, 1 x 256", [] { layer<<<dim3(1, 1), 256>>>(a, a, b, 256); }},
    {"layer, 64 x 256", [] { layer<<<dim3(1, 64), 256>>>(a, a, b, 256); }},
    {"layer, 512 x 512", [] { layer<<<dim3(2, 512), 256>>>(a, a, b, 512); }},
    {"reread 4 MiB, 8 times", [] { reread<<<4 * SMS, 512>>>((float4 *)a, b, 1 << 18, 8); }},
    {"reread 16 MiB, 4 times", [] { reread<<<4 * SMS, 512>>>((float4 *)a, b, 1 << 20, 4); }},
    {"reread 16 KiB from L1, 256 times", [] { reread_l1<<<8 * SMS, 256>>>(a, b, 256); }},
    {"reread 16 KiB from L1, float4, 256 times", [] { reread_l1_4<<<8 * SMS, 256>>>((float4 *)a, b, 256); }},
    {"write, 2^24 floats", [] { write1<<<65536, 256>>>(b); }},
    {"write, 2^22 floats, blocks of 1024", [] { write1<<<4096, 1024>>>(b); }},
    {"chase, 256 steps, cold", [] { chase<<<1, 1>>>(u, (unsigned *)b, 256); }},

    {"fma chain, 1 warp", [] { chain_fma<<<1, 32>>>(b, 1.01f, 0.5f); }},
    {"fma chain, 8 warps an SM", [] { chain_fma<<<SMS, 256>>>(b, 1.01f, 0.5f); }},
    {"fma chain, 32 warps an SM", [] { chain_fma<<<SMS, 1024>>>(b, 1.01f, 0.5f); }},
    {"four fma chains, 1 warp", [] { chain_fma4<<<1, 32>>>(b, 1.01f, 0.5f); }},
    {"int chain, 1 warp", [] { chain_int<<<1, 32>>>((unsigned *)b, 77, 99); }},
    {"int multiply chain, 1 warp", [] { chain_mul<<<1, 32>>>((unsigned *)b, 77, 99); }},
    {"int multiply chain, 32 warps an SM", [] { chain_mul<<<SMS, 1024>>>((unsigned *)b, 77, 99); }},
    {"double chain, 1 warp", [] { chain_double<<<1, 32>>>((double *)b, 1.01, 0.5); }},
    {"double chain, 32 warps an SM", [] { chain_double<<<SMS, 1024>>>((double *)b, 1.01, 0.5); }},
    {"rsqrt chain, 1 warp", [] { chain_rsqrt<<<1, 32>>>(b, 1.0f); }},
    {"rsqrt chain, 32 warps an SM", [] { chain_rsqrt<<<SMS, 1024>>>(b, 1.0f); }},
    {"divide chain, 1 warp", [] { chain_divide<<<1, 32>>>((unsigned *)b, 1u << 30); }},
    {"divide chain, 32 warps an SM", [] { chain_divide<<<SMS, 1024>>>((unsigned *)b, 1u << 30); }},
    {"shared chain, 1 warp", [] { chain_shared<<<1, 32>>>((unsigned *)b); }},
    {"shared chain, 32 warps an SM", [] { chain_shared<<<SMS, 1024>>>((unsigned *)b); }},
    {"shuffle chain, 1 warp", [] { chain_shuffle<<<1, 32>>>((unsigned *)b); }},
    {"shuffle chain, 32 warps an SM", [] { chain_shuffle<<<SMS, 1024>>>((unsigned *)b); }},
    {"loop of one fma, 1 warp", [] { chain_loop<<<1, 32>>>(b, 1.01f, 0.5f); }},
    {"loop of one fma, 32 warps an SM", [] { chain_loop<<<SMS, 1024>>>(b, 1.01f, 0.5f); }},
    {"convert chain, 1 warp", [] { chain_convert<<<1, 32>>>(b, 1.5f); }},
    {"convert chain, 32 warps an SM", [] { chain_convert<<<SMS, 1024>>>(b, 1.5f); }},
    {"float divide chain, 1 warp", [] { chain_fdivide<<<1, 32>>>(b, 3.5f); }},
    {"float divide chain, 32 warps an SM", [] { chain_fdivide<<<SMS, 1024>>>(b, 3.5f); }},
    {"sqrt chain, 1 warp", [] { chain_sqrt<<<1, 32>>>(b, 3.5f); }},
    {"sqrt chain, 32 warps an SM", [] { chain_sqrt<<<SMS, 1024>>>(b, 3.5f); }},
    {"exp chain, 1 warp", [] { chain_exp<<<1, 32>>>(b, 0.5f); }},
    {"exp chain, 32 warps an SM", [] { chain_exp<<<SMS, 1024>>>(b, 0.5f); }},
    {"64-bit divide chain, 1 warp", [] { chain_divide64<<<1, 32>>>((unsigned long long *)b, 1ull << 60); }},
    {"64-bit divide chain, 32 warps an SM", [] { chain_divide64<<<SMS, 1024>>>((unsigned long long *)b, 1ull << 60); }},
    {"64-bit multiply chain, 1 warp", [] { chain_multiply64<<<1, 32>>>((unsigned long long *)b, 77); }},
    {"64-bit multiply chain, 32 warps an SM", [] { chain_multiply64<<<SMS, 1024>>>((unsigned long long *)b, 77); }},
    {"eight-way switch, 1 warp", [] { chain_diverge<<<1, 32>>>(b, 1.01f, 0.5f); }},
    {"eight-way switch, 32 warps an SM", [] { chain_diverge<<<SMS, 1024>>>(b, 1.01f, 0.5f); }},
    {"barriers, 1 block of 32", [] { chain_barrier<<<1, 32>>>((unsigned *)b, 2048); }},
    {"barriers, 1 block of 256", [] { chain_barrier<<<1, 256>>>((unsigned *)b, 2048); }},
    {"barriers, 1 block of 1024", [] { chain_barrier<<<1, 1024>>>((unsigned *)b, 2048); }},
    {"barriers, 8 blocks of 256 an SM", [] { chain_barrier<<<8 * SMS, 256>>>((unsigned *)b, 256); }},
    {"tree, 4096 blocks", [] { tree<<<4096, 256>>>(a, b); }},
    {"tree, 16384 blocks", [] { tree<<<16384, 256>>>(a, b); }},

    {"red, a lane a block, one word, 4096", [] { red_one_lane<<<4096, 32>>>(b, 1); }},
    {"red, a lane a block, one word, 32768", [] { red_one_lane<<<32768, 32>>>(b, 1); }},
    {"red, int, a lane a block, one word, 32768", [] { red_one_lane_int<<<32768, 32>>>((unsigned *)b, 1); }},
    {"red, int, a lane a block, 2 words, 32768", [] { red_one_lane_int<<<32768, 32>>>((unsigned *)b, 2); }},
    {"red, a lane a block, one sector, 32768", [] { red_one_sector<<<32768, 32>>>(b); }},
    {"red, a lane a block, 2 words, 32768", [] { red_one_lane<<<32768, 32>>>(b, 2); }},
    {"red, a lane a block, 64 words, 32768", [] { red_one_lane<<<32768, 32>>>(b, 64); }},
    {"red, float, all lanes, one word", [] { red_float<<<128, 256>>>(b); }},
    {"red, int, all lanes, one word", [] { red_int<<<1024, 256>>>((unsigned *)b); }},
    {"red, int, own words, 2^20", [] { red_own<<<4096, 256>>>((unsigned *)b); }},
    {"red, int, 64 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, 63); }},
    {"red, int, 128 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, 127); }},
    {"red, int, 256 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, 255); }},
    {"red, int, 512 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, 511); }},
    {"red, int, 1024 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, 1023); }},
    {"red, int, 4096 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, 4095); }},
    {"red, int, 2^14 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, (1 << 14) - 1); }},
    {"red, int, 2^24 words, 2^18", [] { red_spread<<<1024, 256>>>((unsigned *)b, WORDS - 1); }},
    {"atomic chain, 1 thread, 256", [] { atom_chain<<<1, 1>>>((unsigned *)b, 256); }},
    {"atomic ticket, 4096 blocks", [] { atom_count<<<4096, 32>>>((unsigned *)b, (unsigned *)b + 64); }},
    {"atomic ticket, 32768 blocks", [] { atom_count<<<32768, 32>>>((unsigned *)b, (unsigned *)b + 64); }},
    {"shared atomics, one word", [] { shared_atomics<0><<<SMS, 256>>>((unsigned *)b, 256); }},
    {"shared atomics, own words", [] { shared_atomics<1><<<SMS, 256>>>((unsigned *)b, 256); }},
    {"shared atomics, 256 words", [] { shared_atomics<2><<<SMS, 256>>>((unsigned *)b, 256); }},
};

#ifdef SIMGPU_CUDA_RUNTIME_API_H
#include <simgpu.h>
enum { REPETITIONS = 1 }; /* the virtual clock has no noise */
static void flush_cache() {
    simgpuFlushCache();
    simgpuHoldDevice(150000); /* as a card's memset does */
}
#else
#ifdef ON_SIMGPU
enum { REPETITIONS = 1 };
#else
enum { REPETITIONS = 9 };
#endif
static void flush_cache() {
    enum { BYTES = 256 << 20 };
    static void *junk;
    if (!junk) MUST(cudaMalloc(&junk, BYTES));
    MUST(cudaMemset(junk, 0, BYTES));
}
#endif

static int by_value(const void *x, const void *y) {
    double d = *(const double *)x - *(const double *)y;
    return (d > 0) - (d < 0);
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : "";
    MUST(cudaMalloc(&a, (size_t)WORDS * 4));
    MUST(cudaMalloc(&b, (size_t)WORDS * 4));
    MUST(cudaMalloc(&u, (size_t)WORDS * 4));
    MUST(cudaMemset(a, 0, (size_t)WORDS * 4));

    /* far apart: each step is in a page and a sector of its own */
    unsigned *next = (unsigned *)calloc(WORDS, 4);
    if (!next) return fprintf(stderr, "bench-clock.cu: out of host memory\n"), 1;
    for (unsigned k = 0, j = 0; k < 1024; k++, j = next[j]) next[j] = (j + 16381 * 1021) & (WORDS - 1);
    MUST(cudaMemcpy(u, next, (size_t)WORDS * 4, cudaMemcpyHostToDevice));

    cudaEvent_t begin, end;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    for (const test &t : tests) {
        if (!strstr(t.name, only)) continue;
        double us[REPETITIONS];
        for (int r = -1; r < REPETITIONS; r++) { /* the first is the warm-up */
            if (r < 0 && REPETITIONS == 1) continue;
            MUST(cudaMemset(b, 0, (size_t)WORDS * 4));
            flush_cache();
            MUST(cudaEventRecord(begin, 0));
            t.run();
            MUST(cudaEventRecord(end, 0));
            MUST(cudaEventSynchronize(end));
            MUST(cudaGetLastError());
            float ms;
            MUST(cudaEventElapsedTime(&ms, begin, end));
            if (r >= 0) us[r] = ms * 1e3;
        }
        qsort(us, REPETITIONS, sizeof *us, by_value);
        printf("%s\t%.2f\n", t.name, us[REPETITIONS / 2]);
        fflush(stdout);
    }
    return 0;
}
