/* reduction.cu — lab 4, the reference solution: one launch, and every byte is read once at the memory's own speed.
 *
 *   1. A thread adds in registers, as float4s, four of them on their way at a time. Neighbouring threads read
 *      neighbouring quads, so a warp's load is 512 bytes in a row.
 *   2. A block adds its threads' sums by shuffles: five steps in each warp, one store a warp, one barrier, and five
 *      steps more in the first warp. The tree is built once a block, not once a tile.
 *   3. Long tensors are cut into parts of about PART floats, a block each; short ones are one part. `plan` makes the
 *      list. No block has more than PART floats to read, so none keeps the others waiting at the end.
 *   4. The parts of a tensor meet in the block that ends last: each leaves its sum in memory and counts itself, and
 *      the last one adds the sums up. No second launch; and as the sums are added in the order of the parts,
 *      not in the order of arrival, the result is the same in every run.
 *
 * All sums are pairwise in spirit: a thread's own sum is short, then come trees. The error stays near that of the final
 * rounding.
 *
 * What each choice is worth on an H200, as the time of CUB, the vendor's library, over ours:
 *
 *   - PART. 2000 tensors of some 8000 floats: 0.74 with parts of 4096, 0.91 with 8192, 1.04 with 16384 or 32768. A
 *     block must have more to read than it costs to start it.
 *   - THREADS. The same with parts of 16384: 1.04 with 256 threads a block, 0.88 with 512.
 *   - Loads on their way. One array, 2^24 to 2^28 floats: 0.97 to 0.99 with one float4 at a time, 1.00 to 1.04 with
 *     four, 0.91 to 0.95 with eight.
 *   - WIDE_THREADS. Two blocks of 1024 an SM: 1.02 or better from 2^20 to 2^27 floats, 1.006 at 2^28.
 */
#include "lab4.h"

#include <stdint.h>

#define THREADS        256   /* a block of `means` */
#define PART           16384 /* floats that one of them adds, at most */
#define WIDE_THREADS   1024  /* a block of `mean` */
#define WIDE_PER_SM    2     /* two of them fill an SM */
#define MAX_WARPS      32    /* in any block */
#define MAX_BLOCKS     4096  /* of `mean`: room for their sums */
#define FLOATS_A_BLOCK 16384 /* of a short array: fewer blocks than would fill the GPU */

struct part { /* what one block adds */
    const float *data;
    int length, tensor;
};

struct whole { /* a tensor, as its last block sees it */
    int length, first_part, parts;
};

/* --- adding ----------------------------------------------------------------------------------- */

__device__ float quad(float4 q) { return (q.x + q.y) + (q.z + q.w); }

/* Returns the sum of thread `me` of `all` over its part of data[0..n). Floats before the first address that a float4
 * may have, and after the last quad, are at most three each; the first threads take them. */
__device__ float share(const float *data, int n, int me, int all) {
    const int head = min((int)((16 - (uintptr_t)data % 16) % 16 / 4), n);
    const float4 *quads = (const float4 *)(data + head);
    const int count = (n - head) / 4, tail = head + 4 * count;
    float sum = me < head ? data[me] : 0;
    if (me < n - tail) sum += data[tail + me];
    int i = me;
    for (; i + 3 * all < count; i += 4 * all) {
        float4 a = quads[i], b = quads[i + all], c = quads[i + 2 * all], d = quads[i + 3 * all];
        sum += (quad(a) + quad(b)) + (quad(c) + quad(d));
    }
    for (; i < count; i += all) sum += quad(quads[i]);
    return sum;
}

__device__ float warp_sum(float v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v; /* lane 0 has the sum of all */
}

/* Thread 0 gets the sum over the block. May be called again at once: a warp that still reads `sums` of the last call
 * has not passed this call's first barrier. */
__device__ float block_sum(float v) {
    __shared__ float sums[MAX_WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    __syncthreads();
    if (lane == 0) sums[warp] = v;
    __syncthreads();
    if (warp > 0) return 0;
    return warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
}

/* --- meeting ---------------------------------------------------------------------------------- */

/* One of `parts` blocks has `sum` in its thread 0. The last one to come adds up all sums and writes the mean of n.
 * `arrived` is 0 before, and again after: atomicInc wraps around. */
__device__ void meet(float sum, float *sums, int mine, int parts, unsigned *arrived, float *mean, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[mine] = sum;
        __threadfence(); /* the sum is to be seen before the count */
        last = atomicInc(arrived, parts - 1) == (unsigned)parts - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence(); /* and the counts of the others before their sums */
    float all = 0;
    for (int i = threadIdx.x; i < parts; i += blockDim.x) all += __ldcg(&sums[i]); /* from L2: L1 may be stale */
    all = block_sum(all);
    if (threadIdx.x == 0) *mean = all / n;
}

/* --- one array -------------------------------------------------------------------------------- */

__device__ float block_sums[MAX_BLOCKS];
__device__ unsigned blocks_arrived;

__global__ void __launch_bounds__(WIDE_THREADS) mean_of_array(const float *__restrict__ in, int n, float *mean) {
    float sum = share(in, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
    meet(block_sum(sum), block_sums, blockIdx.x, gridDim.x, &blocks_arrived, mean, n);
}

extern "C" void mean(const float *d_in, int n, float *d_mean) {
    static int sms;
    if (!sms) cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    const int enough = (n + FLOATS_A_BLOCK - 1) / FLOATS_A_BLOCK;
    const int blocks = min(min(enough, WIDE_PER_SM * sms), MAX_BLOCKS);
    mean_of_array<<<blocks, WIDE_THREADS>>>(d_in, n, d_mean);
}

/* --- all tensors ------------------------------------------------------------------------------ */

static int part_count;
static struct part *d_parts;
static struct whole *d_wholes;
static float *d_sums;       /* one a part */
static unsigned *d_arrived; /* one a tensor */

__global__ void __launch_bounds__(THREADS)
    mean_of_parts(const struct part *parts, const struct whole *wholes, float *sums, unsigned *arrived, float *means) {
    const struct part p = parts[blockIdx.x];
    const struct whole w = wholes[p.tensor];
    const float sum = block_sum(share(p.data, p.length, threadIdx.x, blockDim.x));
    if (w.parts > 1)
        meet(sum, sums + w.first_part, blockIdx.x - w.first_part, w.parts, &arrived[p.tensor], &means[p.tensor],
             w.length);
    else if (threadIdx.x == 0)
        means[p.tensor] = sum / w.length;
}

extern "C" void plan(const struct tensor *tensors, int count) {
    int most = 0;
    for (int i = 0; i < count; i++) most += (tensors[i].length + PART - 1) / PART;
    struct part *parts = (struct part *)malloc(most * sizeof *parts);
    struct whole *wholes = (struct whole *)malloc(count * sizeof *wholes);
    part_count = 0;
    for (int i = 0; i < count; i++) {
        const int n = tensors[i].length, wanted = (n + PART - 1) / PART;
        const int step = ((n + wanted - 1) / wanted + 31) / 32 * 32; /* whole lines of 128 bytes */
        wholes[i].length = n;
        wholes[i].first_part = part_count;
        for (int at = 0; at < n; at += step) {
            const struct part p = {tensors[i].data + at, min(step, n - at), i};
            parts[part_count++] = p;
        }
        wholes[i].parts = part_count - wholes[i].first_part;
    }
    cudaFree(d_parts);
    cudaFree(d_wholes);
    cudaFree(d_sums);
    cudaFree(d_arrived);
    cudaMalloc(&d_parts, part_count * sizeof *d_parts);
    cudaMalloc(&d_wholes, count * sizeof *d_wholes);
    cudaMalloc(&d_sums, part_count * sizeof *d_sums);
    cudaMalloc(&d_arrived, count * sizeof *d_arrived);
    cudaMemcpy(d_parts, parts, part_count * sizeof *parts, cudaMemcpyHostToDevice);
    cudaMemcpy(d_wholes, wholes, count * sizeof *wholes, cudaMemcpyHostToDevice);
    cudaMemset(d_arrived, 0, count * sizeof *d_arrived);
    free(parts);
    free(wholes);
}

extern "C" void means(float *d_means) {
    mean_of_parts<<<part_count, THREADS>>>(d_parts, d_wholes, d_sums, d_arrived, d_means);
}
