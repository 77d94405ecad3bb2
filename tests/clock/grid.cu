/* grid.cu — blocks that wait for each other: cooperative launches and grid.sync(), barriers and flags made by hand, and
 * groups of threads: a line `name value` for each question. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include "simgpu.h"

#include <sys/resource.h>

namespace cg = cooperative_groups;

static bool brief; /* fewer grid.sync(): all take seconds under the sanitizers */
static void say(const char *name, double value) { printf("%s %.9g\n", name, value); }

/* Each block adds its right neighbour's value of the last step. */
__global__ void ring(int *value, int steps) {
    auto grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        int right = value[s % 2 * gridDim.x + (blockIdx.x + 1) % gridDim.x],
            own = value[s % 2 * gridDim.x + blockIdx.x];
        if (threadIdx.x == 0) value[(s + 1) % 2 * gridDim.x + blockIdx.x] = own + right;
        grid.sync();
    }
}
__global__ void ring_by_hand(int *value, int steps, unsigned *count) {
    for (int s = 0; s < steps; s++) {
        int right = value[s % 2 * gridDim.x + (blockIdx.x + 1) % gridDim.x],
            own = value[s % 2 * gridDim.x + blockIdx.x];
        if (threadIdx.x == 0) value[(s + 1) % 2 * gridDim.x + blockIdx.x] = own + right;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(count, 1);
            while (*(volatile unsigned *)count < gridDim.x * (s + 1)) {}
            __threadfence();
        }
        __syncthreads();
    }
}
/* The same with an atomic as the poll. */
__global__ void meet_by_atomics(unsigned *count) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
    }
    __syncthreads();
}
__global__ void for_one_more(unsigned *count) {
    atomicAdd(count, 1);
    while (*(volatile unsigned *)count < gridDim.x * blockDim.x + 1) {}
}
__global__ void one_misses(int *out) {
    auto grid = cg::this_grid();
    if (blockIdx.x != 3) grid.sync();
    out[blockIdx.x] = 1;
}
/* Block k waits for block k + 1: the last one begins last. */
__global__ void chain(int *flag) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (((volatile int *)flag)[blockIdx.x + 1] == 0) {}
        __threadfence();
        ((volatile int *)flag)[blockIdx.x] = flag[blockIdx.x + 1] + 1;
    }
}
/* A wait that gives up. */
__global__ void patient(int *flag, int polls) {
    int n = 0;
    while (n < polls && *(volatile int *)flag == 0) n++;
    flag[1] = n;
}
__global__ void lock(int *mutex, int *sum) {
    for (bool done = false; !done;)
        if (atomicCAS(mutex, 0, 1) == 0) {
            *(volatile int *)sum = *(volatile int *)sum + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
}

__global__ void meet_often(int times) {
    auto grid = cg::this_grid();
    for (int k = 0; k < times; k++) grid.sync();
}

/* A function that is called, with an array in the caller's local memory. */
__device__ __attribute__((noinline)) int sum_of(const volatile int *a, int n) {
    int sum = 0;
    for (int k = 0; k < n; k++) sum += a[k];
    return sum;
}
__global__ void with_locals(int *out) {
    volatile int own[4] = {1, 2, 3, (int)threadIdx.x};
    cg::this_grid().sync();
    out[blockIdx.x] = sum_of((const volatile int *)own, 3);
}

static int *numbers(size_t n) {
    int *p;
    cudaMalloc(&p, n * sizeof *p);
    cudaMemset(p, 0, n * sizeof *p);
    return p;
}

/* Returns the sum of the values after so many steps of the ring that begins with 0, 1, 2 ... */
template <class F> static double ring_sum(int blocks, int steps, F launch) {
    int *value = numbers(2 * blocks), *host = (int *)malloc(blocks * sizeof *host);
    for (int b = 0; b < blocks; b++) host[b] = b;
    cudaMemcpy(value, host, blocks * sizeof *host, cudaMemcpyHostToDevice);
    launch(value);
    cudaMemcpy(host, value + steps % 2 * blocks, blocks * sizeof *host, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int b = 0; b < blocks; b++) sum += host[b];
    cudaFree(value), free(host);
    return sum;
}

static void cooperative() {
    int blocks = 0, has = 0, steps = 9;
    cudaDeviceGetAttribute(&has, cudaDevAttrCooperativeLaunch, 0);
    say("has_cooperative_launch", has);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ring, 1024, 0);
    say("resident_on_an_sm", blocks);
    const int sizes[] = {1, 2, 132, 132 * blocks};
    for (int n : sizes) {
        double sum = ring_sum(n, steps, [&](int *value) {
            void *args[] = {&value, &steps};
            cudaLaunchCooperativeKernel(ring, n, 1024, args);
        });
        printf("ring_of_%d %.0f\n", n, sum / (n * (n - 1.0) / 2 + (n == 1)) / 512 + (n == 1));
    }
    int *value = numbers(1024);
    void *args[] = {&value, &steps};
    say("too_large", cudaLaunchCooperativeKernel(ring, 132 * blocks + 1, 1024, args));
    say("last_error", cudaGetLastError());
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8), config.blockDim = dim3(64), config.attrs = &attribute, config.numAttrs = 1;
    say("ring_by_attribute",
        ring_sum(8, steps, [&](int *v) { cudaLaunchKernelEx(&config, ring, v, steps); }) / 28 / 512);
    int times = brief ? 5 : 100;
    void *often[] = {&times};
    cudaLaunchCooperativeKernel(meet_often, 264, 256, often);
    cudaLaunchCooperativeKernel(meet_often, 528, 256, often);
    say("sync", cudaDeviceSynchronize());
}

/* What a warp of a resident block takes of this process's memory. */
static void small_warps() {
    struct rusage before, after;
    int *out = numbers(264);
    void *args[] = {&out};
    getrusage(RUSAGE_SELF, &before);
    cudaLaunchCooperativeKernel(with_locals, 264, 1024, args);
    cudaDeviceSynchronize();
    getrusage(RUSAGE_SELF, &after);
    const double kib = (double)(after.ru_maxrss - before.ru_maxrss) / (264 * 32);
    say("kib_a_warp_below_64", kib < 64 ? 1 : kib);
}

static void by_hand() {
    double sum = ring_sum(128, 9, [](int *value) { ring_by_hand<<<128, 256>>>(value, 9, (unsigned *)numbers(1)); });
    say("ring_by_hand", sum / (128 * 127 / 2) / 512);
    meet_by_atomics<<<264, 1024>>>((unsigned *)numbers(1));
    say("meet_by_atomics", cudaDeviceSynchronize());
    int *flag = numbers(301), first;
    chain<<<300, 32>>>(flag);
    cudaMemcpy(&first, flag, sizeof first, cudaMemcpyDeviceToHost);
    say("chain", first);
    patient<<<2, 1>>>(flag = numbers(2), 10000);
    cudaMemcpy(&first, flag + 1, sizeof first, cudaMemcpyDeviceToHost);
    say("patient", first);
    int *mutex = numbers(2);
    lock<<<64, 64>>>(mutex, mutex + 1);
    cudaMemcpy(&first, mutex + 1, sizeof first, cudaMemcpyDeviceToHost);
    say("lock", first);
}

static void stuck() {
    int *out = numbers(8);
    void *args[] = {&out};
    cudaLaunchCooperativeKernel(one_misses, 8, 64, args);
    say("one_misses", cudaDeviceSynchronize());
    cudaDeviceReset();
    meet_by_atomics<<<265, 1024>>>((unsigned *)numbers(1));
    say("not_resident", cudaDeviceSynchronize());
    cudaDeviceReset();
    for_one_more<<<8, 32>>>((unsigned *)numbers(1));
    say("one_too_many", cudaDeviceSynchronize());
    cudaDeviceReset();
    int steps = 3, *value = numbers(64);
    ring<<<8, 32>>>(value, steps);
    say("not_cooperative", cudaDeviceSynchronize());
    cudaDeviceReset();
    value = numbers(64);
    void *again[] = {&value, &steps};
    cudaLaunchCooperativeKernel(ring, 8, 32, again);
    say("after_a_reset", cudaDeviceSynchronize());
}

/* --- groups ---------------------------------------------------------------------------------------------------- */

struct pair {
    double a;
    int b;
};
__global__ void groups(int *out) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto four = cg::tiled_partition<4>(warp);
    cg::thread_block_tile<32> plain = warp;
    unsigned t = block.thread_rank();
    int *mine = out + t * 16;
    mine[0] = (int)(warp.meta_group_rank() * 1000 + four.meta_group_rank() * 10 + four.thread_rank());
    mine[1] = four.shfl((int)t, 2);
    mine[2] = cg::reduce(warp, (int)t, cg::plus<int>());
    mine[3] = cg::reduce(four, (int)t, cg::greater<int>());
    mine[4] = (int)four.ballot(t % 3 == 0);
    mine[5] = cg::exclusive_scan(plain, 1);
    pair p = four.shfl_down(pair{t + 0.5, (int)t}, 1);
    mine[6] = (int)(2 * p.a) + p.b;
    if (t % 3 == 1) {
        auto here = cg::coalesced_threads();
        mine[7] = (int)(here.size() * 100 + here.thread_rank());
        mine[8] = here.shfl((int)t, 1);
        mine[9] = cg::reduce(here, (int)t, cg::plus<int>());
        mine[10] = cg::inclusive_scan(here, 1);
        mine[11] = (int)here.ballot(t > 16);
    }
    auto odd = cg::binary_partition(warp, t & 1);
    mine[12] = (int)(odd.size() * 100 + odd.thread_rank());
    cg::thread_group eight = cg::tiled_partition(block, 8);
    mine[13] = (int)(eight.size() * 100 + eight.thread_rank());
    cg::sync(eight);
    mine[14] = (int)cg::this_grid().thread_rank();
    mine[15] = (int)block.group_index().x;
}
static void of_threads() {
    int *out = numbers(64 * 16), host[64 * 16];
    groups<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    const int threads[] = {0, 13, 37};
    for (int t : threads)
        for (int k = 0; k < 16; k++) printf("thread_%d_%d %d\n", t, k, host[t * 16 + k]);
}

/* --- occupancy, as an H200 answers ------------------------------------------------------------------------------ */

__global__ void store(float *p) {
    if (p) p[0] = 1;
}
__global__ void through_shared(float *p) {
    __shared__ float s[1000];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[0] = s[threadIdx.x ^ 1];
}
static void say_occupancy(const char *name, cudaError_t e, int grid, int block) {
    printf("%s %s %d %d\n", name, cudaGetErrorName(e), grid, block);
}
static void occupancy() {
    int grid = 0, block = 0;
    size_t bytes = 7;
    cudaError_t e = cudaOccupancyMaxPotentialBlockSize(&grid, &block, store);
    say_occupancy("largest", e, grid, block);
    e = cudaOccupancyMaxPotentialBlockSize(&grid, &block, store, 40000);
    say_occupancy("with_40000_bytes", e, grid, block);
    e = cudaOccupancyMaxPotentialBlockSize(&grid, &block, store, 0, 200);
    say_occupancy("up_to_200", e, grid, block);
    e = cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, store, [](int n) { return n * 100; });
    say_occupancy("with_100_a_thread", e, grid, block);
    e = cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, store, [](int n) { return n * 500; });
    say_occupancy("with_500_a_thread", e, grid, block);
    const int questions[][2] = {{1, 1024}, {4, 1024}, {7, 256}, {8, 32}, {16, 32}, {16, 256}, {32, 32}, {33, 32}};
    for (const int *q : questions) {
        e = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, store, q[0], q[1]);
        printf("left_for_%d_of_%d %s %zu\n", q[0], q[1], cudaGetErrorName(e), e == cudaSuccess ? bytes : 0);
    }
    e = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, through_shared, 7, 256);
    say("left_beside_4000", bytes);
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&grid, store, 0, 0);
    say("of_0_threads", e);
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&grid, store, 2000, 0);
    say_occupancy("of_2000_threads", e, grid, 0);
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&grid, store, 256, 100000);
    say_occupancy("with_100000_bytes", e, grid, 0);
    say("allow_232448", cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    say("allow_232449", cudaFuncSetAttribute(store, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
    say("allow_beside_4000", cudaFuncSetAttribute(through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&grid, store, 256, 100000, cudaOccupancyDefault);
    say_occupancy("with_100000_allowed", e, grid, 0);
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, through_shared);
    printf("attributes %d %d %d %d %zu\n", a.ptxVersion, a.binaryVersion, a.maxThreadsPerBlock,
           a.maxDynamicSharedSizeBytes, a.sharedSizeBytes);
}

int main(int argc, char **) {
    brief = argc > 1;
    small_warps(); /* first: nothing has taken memory yet */
    cooperative();
    by_hand();
    of_threads();
    occupancy();
    stuck();
    return 0;
}
