/* ladder.cu — the rungs of lab 4's ladder, each kernel with the one flaw that the next one removes.
 *
 * The harness uses `read`, the speed of light: the cost of reading every byte once and keeping nothing. The bench
 * times them all. A rung is short and stands alone: similar kernels are easier to compare than one clever template.
 *
 * The first four give each thread one float and differ in the tree only. A block leaves its sum in memory, and the same
 * kernel adds the sums of 1024 blocks, until one is left. (An atomic addition a block into one word is no way to
 * compare trees: an H200 does one in 1.8 ns, so 65536 blocks of 256 wait 116 us for each other, longer than for any
 * tree.) The launchers of rung `tree` are called tree_mean, or tree_plan and tree_means.
 */
#include "lab4.h"

#include <stdlib.h>
#include <string.h>

enum { TREE_THREADS = 1024 }; /* the trees' blocks: the larger the block, the more its tree costs */
enum { RUNG_THREADS = 256, RUNG_GRID = 1056, RUNG_LOADS = 4 }; /* 1056 blocks of 256: all that 132 SMs hold at once */

/* Level by level, neighbours first. Flaw: a division a level, in every thread; and a warp has both working and idle
 * lanes, so no warp is done before the last level. */
__global__ void interleaved(const float *in, int n, float *out, int parts) {
    __shared__ float s[TREE_THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0] / parts;
}

/* The working threads stand side by side, so whole warps are done early. Flaw: they add the same elements as before,
 * 2 * step words apart, and these lie in few banks. */
__global__ void strided_index(const float *in, int n, float *out, int parts) {
    __shared__ float s[TREE_THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int at = 2 * step * t;
        if (at < blockDim.x) s[at] += s[at + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0] / parts;
}

/* The far half is added to the near half: no conflicts, and the last 32 sums belong to one warp, which needs no barrier
 * of the block. Flaw: six barriers of 32 warps for 1024 floats, and every level goes through memory. */
__global__ void sequential(const float *in, int n, float *out, int parts) {
    __shared__ float s[TREE_THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = blockDim.x / 2; step >= 32; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    for (int step = 16; t < 32 && step > 0; step /= 2) {
        float other = s[t + step];
        __syncwarp(); /* all lanes have read before one writes */
        s[t] += other;
        __syncwarp(); /* and have written before one reads again */
    }
    if (t == 0) out[blockIdx.x] = s[0] / parts;
}

__device__ float rung_warp_sum(float v) {
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffff, v, distance);
    return v;
}

__device__ float rung_block_sum(float v) {
    __shared__ float s[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = rung_warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    return warp == 0 ? rung_warp_sum(lane < blockDim.x / 32 ? s[lane] : 0) : 0;
}

/* Lanes exchange registers, so one barrier a block is enough. Flaw: one float a thread is little work for a block. */
__global__ void shuffle(const float *in, int n, float *out, int parts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = rung_block_sum(i < n ? in[i] : 0);
    if (threadIdx.x == 0) out[blockIdx.x] = sum / parts;
}

/* A thread adds a piece of the array, one float after the other, as a CPU would. Flaw: the lanes of a warp are far
 * apart. */
__global__ void chunk(const float *in, int n, float *mean) {
    int all = gridDim.x * RUNG_THREADS, size = (n + all - 1) / all;
    int first = (blockIdx.x * RUNG_THREADS + threadIdx.x) * size;
    float sum = 0;
    for (int i = first; i < first + size && i < n; i++) sum += in[i];
    sum = rung_block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(mean, sum / n);
}

/* A thread adds every 270336th float, so a warp reads in a row. Flaw: 4 bytes a load, and few loads on their way. */
__global__ void strided(const float *in, int n, float *mean) {
    float sum = 0;
    for (int i = blockIdx.x * RUNG_THREADS + threadIdx.x; i < n; i += gridDim.x * RUNG_THREADS) sum += in[i];
    sum = rung_block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(mean, sum / n);
}

/* A tensor is added by one block, float by float. Flaw: the kernel runs until the longest tensor is done. */
__global__ void tensor_a_block(const struct tensor *tensors, float *means) {
    struct tensor x = tensors[blockIdx.x];
    float sum = 0;
    for (int i = threadIdx.x; i < x.length; i += blockDim.x) sum += x.data[i];
    sum = rung_block_sum(sum);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / x.length;
}

/* The speed of light: every byte in once, nothing out. The test keeps the compiler from dropping the loads. */
__global__ void read_all(const float4 *in, int quads, float *never) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0;
    for (; i + (RUNG_LOADS - 1) * all < quads; i += RUNG_LOADS * all) {
        float4 q[RUNG_LOADS];
        for (int k = 0; k < RUNG_LOADS; k++) q[k] = in[i + k * all];
        for (int k = 0; k < RUNG_LOADS; k++) sum += q[k].x + q[k].y + q[k].z + q[k].w;
    }
    for (; i < quads; i += all) sum += in[i].x + in[i].y + in[i].z + in[i].w;
    if (sum == -1) *never = sum;
}

/* --- launchers, with the signatures of lab4.h ------------------------------------------------- */

/* A tree has room for the sums of n <= 2^28 floats: of 2^18 blocks, and of these 2^8. */
enum { TREE_SUMS = (1 << 18) + (1 << 8) };
typedef void tree(const float *in, int n, float *out, int parts);

static void add_up(tree *kernel, const float *in, int n, float *mean) {
    static float *sums;
    const int all = n;
    if (!sums) cudaMalloc((void **)&sums, TREE_SUMS * sizeof *sums);
    float *to = sums;
    for (int blocks = 0; blocks != 1; in = to, to += blocks, n = blocks) {
        blocks = (n + TREE_THREADS - 1) / TREE_THREADS;
        kernel<<<blocks, TREE_THREADS>>>(in, n, blocks == 1 ? mean : to, blocks == 1 ? all : 1);
    }
}

#define TREE(name)                                                                                                     \
    extern "C" void name##_mean(const float *in, int n, float *mean) { add_up(name, in, n, mean); }
TREE(interleaved)
TREE(strided_index)
TREE(sequential)
TREE(shuffle)
#undef TREE

extern "C" void chunk_mean(const float *in, int n, float *mean) {
    cudaMemsetAsync(mean, 0, sizeof *mean, 0);
    chunk<<<RUNG_GRID, RUNG_THREADS>>>(in, n, mean);
}

extern "C" void strided_mean(const float *in, int n, float *mean) {
    cudaMemsetAsync(mean, 0, sizeof *mean, 0);
    strided<<<RUNG_GRID, RUNG_THREADS>>>(in, n, mean);
}

/* Reads n floats; all but the last three at most. */
extern "C" void read_mean(const float *in, int n, float *never) {
    read_all<<<RUNG_GRID, RUNG_THREADS>>>((const float4 *)in, n / 4, never);
}

/* A set's rung keeps its list as `plan` leaves it, on its own device. If this fails, no mean is written. */
struct list {
    struct tensor *device;
    int count;
};

static void keep(struct list *l, const struct tensor *tensors, int count) {
    size_t bytes = (size_t)count * sizeof *tensors;
    cudaFree(l->device);
    cudaMalloc((void **)&l->device, bytes);
    cudaMemcpy(l->device, tensors, bytes, cudaMemcpyHostToDevice);
    l->count = count;
}

/* A launch a tensor, each of a block; no copy. Flaw: the GPU waits for the host. */
static struct list loop;
extern "C" void loop_plan(const struct tensor *tensors, int count) { keep(&loop, tensors, count); }
extern "C" void loop_means(float *means) {
    for (int i = 0; i < loop.count; i++) tensor_a_block<<<1, RUNG_THREADS>>>(loop.device + i, means + i);
}

static struct list blocks;
extern "C" void tensor_a_block_plan(const struct tensor *tensors, int count) { keep(&blocks, tensors, count); }
extern "C" void tensor_a_block_means(float *means) {
    tensor_a_block<<<blocks.count, RUNG_THREADS>>>(blocks.device, means);
}

/* --- CUB, where nvcc builds for a card -------------------------------------------------------- */

#if defined(__NVCC__) && !__has_include(<simgpu.h>) && __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>

static void *cub_room(size_t *bytes) {
    static void *room;
    *bytes = (size_t)16 << 20; /* far more than CUB needs */
    if (!room) cudaMalloc(&room, *bytes);
    return room;
}

/* The sum: CUB has no mean. */
extern "C" void cub_mean(const float *in, int n, float *sum) {
    size_t bytes;
    void *room = cub_room(&bytes);
    cub::DeviceReduce::Sum(room, bytes, in, sum, n);
}

static const float *cub_base;
static int64_t *cub_begin;
static int cub_count;

extern "C" void cub_plan(const struct tensor *tensors, int count) {
    size_t bytes = count * sizeof(int64_t);
    int64_t *ends = (int64_t *)malloc(2 * bytes);
    if (!ends) return;
    cub_base = tensors[0].data, cub_count = count;
    for (int i = 0; i < count; i++) ends[i] = tensors[i].data - cub_base, ends[count + i] = ends[i] + tensors[i].length;
    cudaFree(cub_begin);
    cudaMalloc((void **)&cub_begin, 2 * bytes);
    cudaMemcpy(cub_begin, ends, 2 * bytes, cudaMemcpyHostToDevice);
    free(ends);
}

extern "C" void cub_means(float *sums) {
    size_t bytes;
    void *room = cub_room(&bytes);
    cub::DeviceSegmentedReduce::Sum(room, bytes, cub_base, sums, cub_count, cub_begin, cub_begin + cub_count);
}
#endif
