/* cas.cu — atomics on shared memory, and where in memory a table begins whose words atomics change: what lanes and
 * warps that want the same words or banks wait for. Prints a line a case: its name, microseconds. tests/places.bats has
 * an H200's. */
#include "timed.h"

__device__ unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}
/* Each thread adds n times to random words out of `words`, a power of two. */
template <typename T> __global__ void random_words(T *out, int n, unsigned words) {
    extern __shared__ char bytes[];
    T *s = (T *)bytes;
    for (int k = threadIdx.x; k < 4096; k += blockDim.x) s[k] = 0;
    __syncthreads();
    unsigned x = mixed(blockIdx.x * blockDim.x + threadIdx.x) | 1;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        atomicAdd(&s[(x >> 8) & (words - 1)], (T)(k + 1));
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
__global__ void bins(unsigned *p) {
    atomicAdd(p + mixed(blockIdx.x * blockDim.x + threadIdx.x) % 256, 1u + threadIdx.x % 32);
}

/* 2^shift lanes of a warp share a word. A warp's words are `apart` from those of the warp before it: its own, or with 0
 * the same for all. */
template <typename T> __global__ void words(T *out, int n, int shift, int apart) {
    __shared__ T s[1024];
    s[threadIdx.x] = 0;
    __syncthreads();
    T *mine = &s[threadIdx.x / 32 * apart + (threadIdx.x % 32 >> shift)];
#pragma unroll 4
    for (int k = 0; k < n; k++) atomicAdd(mine, (T)(k + 1));
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
/* Integers on one word: all lanes of all warps, and the first lane of each warp. */
__global__ void sum_of_all(int *out, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int x = threadIdx.x * 7;
#pragma unroll 1
    for (int k = 0; k < n; k++) atomicAdd(&s, x);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
template <typename T> __global__ void sum_of_warps(T *out, int n) {
    __shared__ T s;
    T x = (T)(threadIdx.x * 7);
    if (threadIdx.x == 0) s = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        __syncthreads();
        if (threadIdx.x % 32 == 0) atomicAdd(&s, x);
        __syncthreads();
        x += s;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
/* A tree, whose loads and stores ptxas predicates: they issue in warps that do none, too. */
__global__ void trees(int *out, int n) {
    __shared__ int s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; k++)
        for (int d = 128; d; d /= 2) {
            if (t < d) s[t] += s[t + d];
            __syncthreads();
        }
    out[blockIdx.x * blockDim.x + t] = s[t];
}

int main() {
    const int SMS = 132, SIZE = 4096;
    void *p, *small[3];
    MUST(cudaMalloc(&p, 64 << 20));
    float *f = (float *)p;
    double *d = (double *)p;
    int *i = (int *)p;
    timed("own_words", [&] { words<<<SMS, 32>>>(f, 256, 0, 32); });
    timed("own_words_4_lanes", [&] { words<<<SMS, 32>>>(f, 256, 2, 32); });
    timed("own_words_32_lanes", [&] { words<<<SMS, 32>>>(f, 256, 5, 32); });
    timed("own_words_32_warps", [&] { words<<<SMS, 1024>>>(f, 256, 2, 32); });
    timed("own_words_double", [&] { words<<<SMS, 32>>>(d, 256, 2, 32); });
    timed("same_words_4_warps", [&] { words<<<SMS, 128>>>(f, 256, 0, 0); });
    timed("same_words_8_warps", [&] { words<<<SMS, 256>>>(f, 256, 0, 0); });
    timed("same_words_32_warps", [&] { words<<<SMS, 1024>>>(f, 256, 0, 0); });
    timed("same_words_32_warps_double", [&] { words<<<SMS, 1024>>>(d, 256, 0, 0); });
    timed("random_8_1_warp", [&] { random_words<<<SMS, 32, SIZE * 4>>>(f, 256, 8); });
    timed("random_8_8_warps", [&] { random_words<<<SMS, 256, SIZE * 4>>>(f, 256, 8); });
    timed("random_32_8_warps", [&] { random_words<<<SMS, 256, SIZE * 4>>>(f, 256, 32); });
    timed("random_256_8_warps", [&] { random_words<<<SMS, 256, SIZE * 4>>>(f, 256, 256); });
    timed("random_4096_8_warps", [&] { random_words<<<SMS, 256, SIZE * 4>>>(f, 256, 4096); });
    timed("random_8_64_warps", [&] { random_words<<<8 * SMS, 256, SIZE * 4>>>(f, 64, 8); });
    timed("random_256_64_warps", [&] { random_words<<<8 * SMS, 256, SIZE * 4>>>(f, 64, 256); });
    timed("random_256_double", [&] { random_words<<<SMS, 256, SIZE * 8>>>(d, 256, 256); });
    timed("random_256_int", [&] { random_words<<<SMS, 256, SIZE * 4>>>(i, 256, 256); });
    timed("sum_of_all_8_warps", [&] { sum_of_all<<<SMS, 256>>>(i, 256); });
    timed("sum_of_all_32_warps", [&] { sum_of_all<<<SMS, 1024>>>(i, 256); });
    timed("sum_of_warps_int", [&] { sum_of_warps<<<SMS, 256>>>(i, 256); });
    timed("sum_of_warps_float", [&] { sum_of_warps<<<SMS, 256>>>(f, 256); });
    timed("trees", [&] { trees<<<8 * SMS, 256>>>(i, 256); });

    /* 256 words at a boundary of 1 KiB are two slices' of L2, half a KiB behind one four slices'. */
    timed("bins_of_two_slices", [&] { bins<<<4096, 256>>>((unsigned *)p); });
    timed("bins_of_four_slices", [&] { bins<<<4096, 256>>>((unsigned *)p + 128); });
    for (void *&s : small) MUST(cudaMalloc(&s, &s == small ? 1500 : 1024));
    timed("bins_behind_1500_bytes", [&] { bins<<<4096, 256>>>((unsigned *)small[1]); });
    return 0;
}
