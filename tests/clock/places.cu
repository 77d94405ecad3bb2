/* places.cu — what many warps want at one place: atomics and flags at a slice of L2, addresses of constant memory, an
 * SM to which the first wave has brought more work than to others, an SM's way to L2, what DRAM has to bring for all.
 * Prints a line a case: its name, microseconds. tests/places.bats has an H200's. */
#include "timed.h"

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

/* Each warp stores a line of its own for each of 32 lanes, word by word. */
__global__ void line_a_lane(float *p, int n) {
    float *line = p + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * n;
    for (int k = 0; k < n; k++) line[k] = (float)k;
}
/* Structs of W words, stored word by word. */
template <int W> __global__ void structs(float *p) {
    float *mine = p + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * W;
#pragma unroll
    for (int k = 0; k < W; k++) mine[k] = (float)(k + threadIdx.x);
}
/* Each warp goes from word to word, where each tells the next one, from its block's beginning. */
__global__ void walk(const unsigned *next, unsigned *out, unsigned apart, int steps) {
    unsigned at = mixed(blockIdx.x) * apart % (1u << 16);
    for (int k = 0; k < steps; k++) at = next[at];
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
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
    timed("lines_by_8_SMs", [&] { line_a_lane<<<8, 256>>>(f, 256); });
    timed("structs_of_4", [&] { structs<4><<<N / 8 / 256, 256>>>(f); });
    timed("structs_of_6", [&] { structs<6><<<N / 8 / 256, 256>>>(f); });
    timed("structs_of_7", [&] { structs<7><<<N / 8 / 256, 256>>>(f); });
    timed("structs_of_8", [&] { structs<8><<<N / 8 / 256, 256>>>(f); });

    /* Words of 256 KiB, in an order in which each is in another line than the last. */
    const int WORDS = 1 << 16;
    unsigned *next = (unsigned *)calloc(WORDS, 4);
    for (unsigned k = 0; k < WORDS; k++) next[k] = (k * 25173 + 13849) % WORDS;
    MUST(cudaMemcpy(p, next, WORDS * 4, cudaMemcpyHostToDevice));
    void *other;
    const size_t OTHER = 128 << 20;
    MUST(cudaMalloc(&other, OTHER));
    auto forget = [&] { MUST(cudaMemset(other, 0, OTHER)); };
    timed_behind("walk_abreast", forget, [&] { walk<<<528, 64>>>((unsigned *)p, u, 0, 256); });
    timed_behind("walk_apart", forget, [&] { walk<<<528, 64>>>((unsigned *)p, u, 1, 256); });
    return 0;
}
