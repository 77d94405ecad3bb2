/* places.cu — what many warps want at one place: atomics and flags at a slice of L2, addresses of constant memory, an
 * SM to which the first wave has brought more work than to others. Prints a line a case: its name, microseconds from
 * event to event behind a held device. tests/places.bats has an H200's. */
#include <cstdio>
#include <cstdlib>
#ifdef SIMGPU_CUDA_RUNTIME_API_H
#include <simgpu.h>
#endif

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t e_ = (call);                                                                                       \
        if (e_) exit(fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_)));                                      \
    } while (0)

__global__ void hold(long long clocks) {
    for (const long long begin = clock64(); clock64() - begin < clocks;) {}
}
template <typename F> static void timed(const char *name, F launch) {
    cudaEvent_t begin, end;
    float best = 1e9f;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
#ifdef SIMGPU_CUDA_RUNTIME_API_H
    const int times = 1;
#else
    const int times = 6;
#endif
    for (int k = 0; k < times; k++) {
        float ms;
#ifdef SIMGPU_CUDA_RUNTIME_API_H
        simgpuHoldDevice(20000);
#else
        hold<<<1, 1>>>(40000);
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

__device__ unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}
/* Each warp adds once: to one of n lines, to random words out of n, with all lanes to one of n words. */
template <typename T> __global__ void lines(T *p, int lanes, int n) {
    const int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x % 32;
    if (l < lanes) atomicAdd(p + w % n * lanes + l, (T)(1 + l));
}
template <typename T> __global__ void words(T *p, int n) {
    atomicAdd(p + mixed(blockIdx.x * blockDim.x + threadIdx.x) % n, (T)(1 + threadIdx.x % 32));
}
__global__ void computed_word(unsigned *p, int n) {
    const int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    atomicAdd(p + w % n * 8, threadIdx.x % 32 + 1);
}
__global__ void parameters_word(unsigned *p) { atomicAdd(p, threadIdx.x % 32 + 1); }

__global__ void only_flag(int *flags) { *flags = 1; }
/* A copy in which one warp of `every` sets a flag. */
__global__ void flag(const int *in, int *out, int *flags, int every) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, w = i / 32, v = in[i];
    if (w % every == 0 && v == 0) *flags = 1;
    out[i] = v + 1;
}

__constant__ unsigned table[16384];
__global__ void addresses(unsigned *out, unsigned mask) {
    unsigned sum = 0, i = threadIdx.x % 32;
#pragma unroll 8
    for (int k = 0; k < 256; k++) sum += table[i++ & mask];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* The same with random words out of mask + 1. */
__global__ void random_addresses(unsigned *out, unsigned mask) {
    unsigned sum = 0, i = mixed(blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 8
    for (int k = 0; k < 256; k++) {
        sum += table[i & mask];
        i = i * 1664525u + 1013904223u;
        i ^= i >> 15;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* The products of tiles on and below the diagonal; the other blocks have nothing to do. */
__global__ void triangle(const float *x, float *g, int samples, int features) {
    __shared__ float left[16][16], right[16][16];
    if (blockIdx.x > blockIdx.y) return;
    const int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
    float s = 0;
    for (int m = 0; m < samples; m += 16) {
        left[ty][tx] = x[(m + ty) * features + i0 + tx];
        right[ty][tx] = x[(m + ty) * features + j0 + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += left[k][ty] * right[k][tx];
        __syncthreads();
    }
    g[(i0 + ty) * features + j0 + tx] = s;
}

int main() {
    const int WARPS = 16384, BLOCKS = WARPS / 8, N = 1 << 22;
    void *p, *q;
    MUST(cudaMalloc(&p, N * 4));
    MUST(cudaMalloc(&q, N * 4));
    MUST(cudaMemset(p, 0, N * 4));
    float *f = (float *)q;
    unsigned *u = (unsigned *)q;
    timed("float_a_line", [&] { lines<<<BLOCKS, 256>>>(f, 32, 1); });
    timed("int_4_lines", [&] { lines<<<BLOCKS, 256>>>(u, 32, 4); });
    timed("int_32_lines", [&] { lines<<<BLOCKS, 256>>>(u, 32, 32); });
    timed("float_a_lane", [&] { lines<<<BLOCKS, 256>>>(f, 1, 1); });
    timed("int_a_lane", [&] { lines<<<BLOCKS, 256>>>(u, 1, 1); });
    timed("float_8_words", [&] { words<<<BLOCKS, 256>>>(f, 8); });
    timed("int_64_words", [&] { words<<<BLOCKS, 256>>>(u, 64); });
    timed("int_1024_words", [&] { words<<<BLOCKS, 256>>>(u, 1024); });
    timed("int_16384_words", [&] { words<<<BLOCKS, 256>>>(u, 16384); });
    timed("computed_word", [&] { computed_word<<<BLOCKS, 256>>>(u, 1); });
    timed("parameters_word", [&] { parameters_word<<<BLOCKS, 256>>>(u); });
    timed("flag_16", [&] { flag<<<N / 256, 256>>>((int *)p, (int *)q, (int *)q + N - 64, 16); });
    timed("flag_4", [&] { flag<<<N / 256, 256>>>((int *)p, (int *)q, (int *)q + N - 64, 4); });
    timed("only_flag", [&] { only_flag<<<N / 256, 256>>>((int *)q); });
    timed("addresses_8", [&] { addresses<<<132, 256>>>(u, 7); });
    timed("addresses_32", [&] { addresses<<<132, 256>>>(u, 255); });
    timed("table_1_KiB", [&] { random_addresses<<<132, 256>>>(u, 255); });
    timed("table_2_KiB", [&] { random_addresses<<<132, 256>>>(u, 511); });
    timed("table_4_KiB", [&] { random_addresses<<<132, 256>>>(u, 1023); });
    timed("table_8_KiB", [&] { random_addresses<<<132, 256>>>(u, 2047); });
    timed("table_16_KiB", [&] { random_addresses<<<132, 256>>>(u, 4095); });
    timed("table_64_KiB", [&] { random_addresses<<<132, 256>>>(u, 16383); });
    timed("triangle", [&] { triangle<<<dim3(32, 32), dim3(16, 16)>>>((float *)p, f, 2048, 512); });
    return 0;
}
