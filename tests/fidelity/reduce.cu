/* reduce.cu — reductions, scans, compaction. */
#include "fidelity.h"

enum { N = 1 << 22 };
static float *a, *b, *sums;
static int *ints, *out, *count;

__global__ void sum_atomic(const float *in, float *total) {
    atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void sum_tree(const float *in, float *total) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s[0]);
}
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}
__device__ float block_sum(float v) {
    __shared__ float s[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
    return warp == 0 ? warp_sum(v) : v;
}
__global__ void sum_shuffle(const float *in, float *partial, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += in[i];
    v = block_sum(v);
    if (threadIdx.x == 0) partial[blockIdx.x] = v;
}
__global__ void sum_vector(const float4 *in, float *total, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float4 f = in[i];
        v += f.x + f.y + f.z + f.w;
    }
    v = block_sum(v);
    if (threadIdx.x == 0) atomicAdd(total, v);
}
__global__ void largest(const int *in, int *result, int n) {
    int best = -2147483647;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) best = max(best, in[i]);
    for (int d = 16; d > 0; d /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, d));
    if (threadIdx.x % 32 == 0) atomicMax(result, best);
}
__global__ void dot(const float *x, const float *y, float *total, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += x[i] * y[i];
    v = block_sum(v);
    if (threadIdx.x == 0) atomicAdd(total, v);
}
__global__ void variance(const float *in, float *out, int rows, int columns) { /* two passes over a row, a block each */
    __shared__ float mean;
    const float *row = in + (size_t)blockIdx.x * columns;
    float v = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) v += row[i];
    v = block_sum(v);
    if (threadIdx.x == 0) mean = v / columns;
    __syncthreads();
    v = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) v += (row[i] - mean) * (row[i] - mean);
    v = block_sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = v / columns;
}
/* --- scans --- */
__global__ void scan_hillis(const float *in, float *out) {
    __shared__ float s[2][1024];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 1024 + t] = s[from][t];
}
__global__ void scan_blelloch(const float *in, float *out) { /* two elements a thread; bank conflicts and all */
    __shared__ float s[1024];
    int t = threadIdx.x, base = blockIdx.x * 1024, offset = 1;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[1023] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            float v = s[i];
            s[i] = s[j];
            s[j] += v;
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}
__global__ void scan_warps(const float *in, float *out, float *sums) {
    __shared__ float totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        float u = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += u;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float t = totals[lane];
        for (int d = 1; d < 32; d *= 2) {
            float u = __shfl_up_sync(0xffffffffu, t, d);
            if (lane >= d) t += u;
        }
        totals[lane] = t;
    }
    __syncthreads();
    if (warp > 0) v += totals[warp - 1];
    out[i] = v;
    if (threadIdx.x == 1023) sums[blockIdx.x] = v;
}
__global__ void add_offsets(float *out, const float *sums) {
    if (blockIdx.x > 0) out[blockIdx.x * 1024 + threadIdx.x] += sums[blockIdx.x - 1];
}
__global__ void scan_serial(const float *in, float *out, int each) { /* a thread scans a stretch of its own */
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    float s = 0;
    for (int i = 0; i < each; i++) out[first + i] = s += in[first + i];
}
/* --- compaction --- */
__global__ void keep_atomic(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 4 == 0) out[1 + atomicAdd(count, 1) % n] = in[i];
}
__global__ void keep_block(const int *in, int *out, int *count, int n) {
    __shared__ int mine, base;
    int i = blockIdx.x * blockDim.x + threadIdx.x, place = 0;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    bool keep = i < n && in[i] % 4 == 0;
    if (keep) place = atomicAdd(&mine, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, mine) % n;
    __syncthreads();
    if (keep) out[1 + (base + place) % n] = in[i];
}
__global__ void keep_ballot(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
    bool keep = i < n && in[i] % 4 == 0;
    unsigned votes = __ballot_sync(0xffffffffu, keep);
    if (lane == 0 && votes) base = atomicAdd(count, __popc(votes)) % n;
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[1 + (base + __popc(votes & ((1u << lane) - 1))) % n] = in[i];
}

static void setup() {
    a = filled<float>(N, unit);
    b = zeroed<float>(N);
    sums = zeroed<float>(4096);
    ints = filled<int>(N, [](size_t i) { return (int)(mixed(i) >> 1); });
    out = zeroed<int>(N + 1);
    count = zeroed<int>(1);
}

static const fidelity_test tests[] = {
    COLD("reduce/an atomic each, 2^18", 1, sum_atomic<<<1024, 256>>>(a, sums)),
    COLD("reduce/tree in shared memory, 2^22", 1, sum_tree<<<N / 256, 256>>>(a, sums)),
    COLD("reduce/shuffles, 2 launches, 2^22", 2, sum_shuffle<<<1024, 256>>>(a, sums, N);
         sum_shuffle<<<1, 1024>>>(sums, b, 1024)),
    COLD("reduce/shuffles, 264 blocks, 2^22", 1, sum_shuffle<<<264, 512>>>(a, sums, N)),
    COLD("reduce/float4, 2^22", 1, sum_vector<<<528, 256>>>((float4 *)a, sums, N / 4)),
    COLD("reduce/largest, 2^22", 1, largest<<<1056, 256>>>(ints, out, N)),
    COLD("reduce/dot product, 2^21", 1, dot<<<528, 256>>>(a, b, sums, N / 2)),
    COLD("reduce/variance of 2048 rows", 1, variance<<<2048, 256>>>(a, b, 2048, 2048)),
    WARM("reduce/shuffles, warm, 2^20", 1, sum_shuffle<<<1024, 256>>>(a, sums, 1 << 20)),
    COLD("scan/Hillis and Steele, 2^20", 1, scan_hillis<<<1024, 1024>>>(a, b)),
    COLD("scan/Blelloch, 2^20", 1, scan_blelloch<<<1024, 512>>>(a, b)),
    COLD("scan/shuffles, 2^21", 1, scan_warps<<<2048, 1024>>>(a, b, sums)),
    COLD("scan/whole, 3 launches, 2^20", 3, scan_warps<<<1024, 1024>>>(a, b, sums);
         scan_warps<<<1, 1024>>>(sums, sums, sums + 2048); add_offsets<<<1024, 1024>>>(b, sums)),
    COLD("scan/64 a thread, 2^20", 1, scan_serial<<<64, 256>>>(a, b, 64)),
    COLD("compact/an atomic each, 2^20", 1, keep_atomic<<<4096, 256>>>(ints, out, count, 1 << 20)),
    COLD("compact/shared counter, 2^21", 1, keep_block<<<8192, 256>>>(ints, out, count, 1 << 21)),
    COLD("compact/ballot, 2^21", 1, keep_ballot<<<8192, 256>>>(ints, out, count, 1 << 21)),
};
FIDELITY_MAIN(setup, tests)
