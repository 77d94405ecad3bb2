/* sort.cu — histograms and sorts. */
#include "fidelity.h"

enum { N = 1 << 21 };
static unsigned *keys, *out, *counts;
static unsigned char *bytes;

__global__ void count_global(const unsigned char *in, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1u);
}
__global__ void count_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&s[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void count_skewed(const unsigned char *in, unsigned *bins, int n) { /* nearly all bytes fall into 4 bins */
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = in[i];
        atomicAdd(&s[v < 250 ? v & 3 : v], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void count_per_warp(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned s[8][256];
    for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) (&s[0][0])[i] = 0;
    __syncthreads();
    unsigned *mine = s[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    unsigned total = 0;
    for (int w = 0; w < 8; w++) total += s[w][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], total);
}
__global__ void count_words(const uchar4 *in, unsigned *bins, int n) { /* four bytes a load */
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 v = in[i];
        atomicAdd(&s[v.x], 1u), atomicAdd(&s[v.y], 1u), atomicAdd(&s[v.z], 1u), atomicAdd(&s[v.w], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
__global__ void count_many(const unsigned *in, unsigned *bins, int n) { /* 65536 bins, in L2 */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] >> 16], 1u);
}
/* --- sorts --- */
__global__ void bitonic_block(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[1024];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 1024 + t];
    for (int k = 2; k <= 1024; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t) {
                unsigned x = s[t], y = s[other];
                if ((x > y) == ((t & k) == 0)) {
                    s[t] = y;
                    s[other] = x;
                }
            }
        }
    __syncthreads();
    out[blockIdx.x * 1024 + t] = s[t];
}
__global__ void bitonic_step(const unsigned *in, unsigned *out, int j, int k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i) {
        unsigned x = in[i], y = in[other];
        bool swap = (x > y) == ((i & k) == 0);
        out[i] = swap ? y : x;
        out[other] = swap ? x : y;
    }
}
__global__ void odd_even(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int round = 0; round < 256; round++) {
        int i = 2 * t + (round & 1);
        if (i + 1 < 256 && s[i] > s[i + 1]) {
            unsigned x = s[i];
            s[i] = s[i + 1];
            s[i + 1] = x;
        }
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[t];
}
__global__ void radix_count(const unsigned *in, unsigned *counts, int shift) { /* 16 digits, a table a block */
    __shared__ unsigned s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[in[blockIdx.x * blockDim.x + threadIdx.x] >> shift & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = s[threadIdx.x];
}
__global__ void radix_split(const unsigned *in,
                            unsigned *out) { /* a block sorts its keys by 4 bits, one after another */
    __shared__ unsigned s[256], flags[256];
    int t = threadIdx.x;
    unsigned key = in[blockIdx.x * 256 + t];
    for (int bit = 0; bit < 4; bit++) {
        unsigned zero = !(key >> bit & 1);
        flags[t] = zero;
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) {
            unsigned v = t >= d ? flags[t - d] : 0;
            __syncthreads();
            flags[t] += v;
            __syncthreads();
        }
        unsigned zeros = flags[255], rank = flags[t];
        s[zero ? rank - 1 : zeros + t - rank] = key;
        __syncthreads();
        key = s[t];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = key;
}
__global__ void radix_scatter(const unsigned *in, unsigned *out, int n) { /* keys to 256 places that grow */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned key = in[i], digit = key & 255, rank = (unsigned)i >> 8;
    out[(digit * (n >> 8) + rank) & (n - 1)] = key;
}
__global__ void rank_sort(const unsigned *in, unsigned *out, int n) { /* each key counts those below it */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned key = in[i];
    int rank = 0;
    for (int j = 0; j < n; j++) rank += in[j] < key || (in[j] == key && j < i);
    out[rank] = key;
}
__global__ void merge_pairs(const unsigned *in, unsigned *out, int length) { /* a thread merges two short runs */
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * length;
    int i = first, j = first + length, end_i = first + length, end_j = first + 2 * length;
    for (int k = first; k < end_j; k++) {
        if (j >= end_j || (i < end_i && in[i] <= in[j]))
            out[k] = in[i++];
        else
            out[k] = in[j++];
    }
}

static void setup() {
    keys = filled<unsigned>(N, mixed);
    out = zeroed<unsigned>(N);
    counts = zeroed<unsigned>(N);
    bytes = filled<unsigned char>(4 * N, [](size_t i) { return (unsigned char)(mixed(i) >> 9); });
}

static const fidelity_test tests[] = {
    COLD("histogram/global atomics, 2^20", 1, count_global<<<4096, 256>>>(bytes, counts, 1 << 20)),
    COLD("histogram/shared atomics, 2^22", 1, count_shared<<<528, 256>>>(bytes, counts, 1 << 22)),
    COLD("histogram/shared atomics, 4 hot bins, 2^21", 1, count_skewed<<<528, 256>>>(bytes, counts, 1 << 21)),
    COLD("histogram/a table a warp, 2^22", 1, count_per_warp<<<528, 256>>>(bytes, counts, 1 << 22)),
    COLD("histogram/four bytes a load, 2^22", 1, count_words<<<528, 256>>>((uchar4 *)bytes, counts, 1 << 20)),
    COLD("histogram/65536 bins, 2^21", 1, count_many<<<8192, 256>>>(keys, counts, 1 << 21)),
    COLD("sort/bitonic, blocks of 1024, 2^18", 1, bitonic_block<<<256, 1024>>>(keys, out)),
    COLD("sort/bitonic step, near, 2^21", 1, bitonic_step<<<8192, 256>>>(keys, out, 8, 1 << 12)),
    COLD("sort/bitonic step, far, 2^21", 1, bitonic_step<<<8192, 256>>>(keys, out, 1 << 18, 1 << 20)),
    COLD("sort/odd and even, blocks of 256, 2^16", 1, odd_even<<<256, 256>>>(keys, out)),
    COLD("sort/radix, count, 2^21", 1, radix_count<<<8192, 256>>>(keys, counts, 4)),
    COLD("sort/radix, 4 bits in a block, 2^20", 1, radix_split<<<4096, 256>>>(keys, out)),
    COLD("sort/radix, scatter, 2^21", 1, radix_scatter<<<8192, 256>>>(keys, out, N)),
    COLD("sort/rank, 4096", 1, rank_sort<<<32, 128>>>(keys, out, 4096)),
    COLD("sort/merge runs of 32, 2^20", 1, merge_pairs<<<64, 256>>>(keys, out, 32)),
};
FIDELITY_MAIN(setup, tests)
