/* fences.cu — fences, blocks of which the last adds up what all have stored, what another SM has just stored, and steps
 * between barriers. Prints a line a case: its name, microseconds. tests/places.bats has an H200's. */
#include <cooperative_groups.h>

#include "timed.h"

#include <cstring>

enum { BLOCK, DEVICE, SYSTEM, NONE };
template <int WHICH> __device__ void fence() {
    if (WHICH == BLOCK) __threadfence_block();
    if (WHICH == DEVICE) __threadfence();
    if (WHICH == SYSTEM) __threadfence_system();
}

/* n fences, one after another. */
template <int WHICH> __global__ void fences(int n) {
    for (int k = 0; k < n; k++) fence<WHICH>();
}
/* A store to another line in front of each. */
template <int WHICH> __global__ void stores(float *p, int n) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int k = 0; k < n; k++) {
        p[(size_t)k * all + me] = (float)k;
        fence<WHICH>();
    }
}
/* A load of the same line, which L1 has unless a fence has emptied it. */
template <int WHICH> __global__ void loads(const float *p, int n, float *out) {
    float x = 0;
    for (int k = 0; k < n; k++) {
        x += p[(threadIdx.x + (int)x) & 31];
        fence<WHICH>();
    }
    if (x == 0.123f) *out = x;
}
/* The pattern of many reductions: each block stores a number and counts itself, the last one adds the numbers. */
template <int WHICH> __global__ void last_adds(float *sums, unsigned *arrived, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = (float)blockIdx.x;
        fence<WHICH>();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    fence<WHICH>();
    float all = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) all += __ldcg(&sums[i]);
    if (threadIdx.x == 0) *out = all;
}

/* Each warp of each block has another number of fences, and loads its own lines again behind each. */
__global__ void uneven(const float *p, float *out) {
    const int warp = threadIdx.x / 32, n = (warp * 5 + blockIdx.x * 3) % 7;
    float x = 0;
    for (int k = 0; k < n; k++) {
        for (int line = 0; line < 8; line++) x += p[(warp * 8 + line) * 32 + threadIdx.x % 32];
        __threadfence();
    }
    if (x == 0.123f) *out = x;
}
/* Each sector comes from DRAM for its atomics. */
__global__ void atomics_that_miss(int *p) { atomicAdd(&p[blockIdx.x * blockDim.x + threadIdx.x], 1); }

/* Goes around a ring of lines, of each of which a word says where the next begins. L1 is passed by. */
__global__ void go_around(const int *ring, int lines, float *out) {
    int at = 0;
    for (int k = 0; k < lines; k++) at = __ldcg(ring + at);
    if (at) *out = 1;
}
__global__ void copy(int *to, const int *from) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

/* A block goes through 96 lines of its own, 2 KiB from each other, and through as many of a second array. */
enum { STEPS = 96, STEP = 512 };
__global__ void go_through(const int *a, const int *b, float *out) {
    int at = blockIdx.x * STEPS * STEP, end = at + STEPS * STEP;
    while (at < end) at += STEP + __ldcg(a + at) + __ldcg(b + at);
    if (at != end) *out = 1;
}
/* Zeros into so many words from `first` on of each 2 KiB, and of each block's so many pieces. */
__global__ void zero(int *a, int first, int words, int pieces) {
    const int begin = blockIdx.x * STEPS * STEP + (pieces < STEPS ? blockIdx.x % STEPS * STEP : 0);
    for (int k = 0; k < pieces; k++)
        for (int i = threadIdx.x; i < words; i += blockDim.x) a[begin + k * STEP + first + i] = 0;
}

/* Steps of a plate: a warp has ROWS rows of 32 columns; neighbours come by shuffles and through shared memory, as in
 * lab 8's reference. */
template <int ROWS, int WARPS> __device__ __forceinline__ void steps_of_plate(float (&cell)[ROWS], int n) {
    __shared__ float top[2][WARPS][32], bottom[2][WARPS][32];
    const int lane = threadIdx.x, warp = threadIdx.y;
#pragma unroll 1
    for (int s = 0; s < n; s++) {
        top[s % 2][warp][lane] = cell[0], bottom[s % 2][warp][lane] = cell[ROWS - 1];
        __syncthreads();
        float above = bottom[s % 2][warp > 0 ? warp - 1 : 0][lane];
        const float below = top[s % 2][warp < WARPS - 1 ? warp + 1 : warp][lane];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float old = cell[i], down = i < ROWS - 1 ? cell[i < ROWS - 1 ? i + 1 : i] : below;
            const float left = __shfl_up_sync(~0u, old, 1), right = __shfl_down_sync(~0u, old, 1);
            cell[i] = 0.25f * ((above + down) + (left + right));
            above = old;
        }
    }
}
/* With `meetings` of all blocks, each behind so many steps. */
template <int ROWS, int WARPS, bool MEETS>
__global__ void __launch_bounds__(32 * WARPS) plate(float *out, int meetings, int n) {
    const int lane = threadIdx.x, warp = threadIdx.y;
    float cell[ROWS];
    for (int i = 0; i < ROWS; i++) cell[i] = (float)(lane + warp + i);
    for (int m = 0; m < meetings; m++) {
        steps_of_plate<ROWS, WARPS>(cell, n);
        if (MEETS) cooperative_groups::this_grid().sync();
    }
    for (int i = 0; i < ROWS; i++) out[((blockIdx.x * WARPS + warp) * ROWS + i) * 32 + lane] = cell[i];
}

/* Steps with a barrier in each: LOADS of shared memory behind it, then a chain of multiply-adds. */
template <int LOADS, int CHAIN> __global__ void __launch_bounds__(1024) steps(float *out, int n, float v) {
    __shared__ float s[2][1024 + 64];
    float x = (float)threadIdx.x;
    s[0][threadIdx.x] = s[1][threadIdx.x] = x;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        s[k & 1][threadIdx.x] = x;
        __syncthreads();
        float l[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) l[i] = s[k & 1][(threadIdx.x ^ 32) + i];
#pragma unroll
        for (int i = 0; i < LOADS; i++) x += l[i];
#pragma unroll
        for (int i = 0; i < CHAIN; i++) x = x * v + v;
    }
    if (x == 0.123f) *out = x;
}

static float *data;
static unsigned *count;

template <int WHICH> static void of_fence(const char *name) {
    char text[64];
    const int shapes[][2] = {{1, 32}, {132, 256}, {1, 1024}, {1056, 256}};
    for (const int *s : shapes) {
        snprintf(text, sizeof text, "%s_alone_%d_x_%d", name, s[0], s[1]);
        timed(text, [&] { fences<WHICH><<<s[0], s[1]>>>(16); });
        if (s[1] == 1024 || s[0] == 1056) continue; /* they fill an SM: what a fence takes of its LSU pipe */
        snprintf(text, sizeof text, "%s_stores_%d_x_%d", name, s[0], s[1]);
        timed(text, [&] { stores<WHICH><<<s[0], s[1]>>>(data, 16); });
        snprintf(text, sizeof text, "%s_loads_%d_x_%d", name, s[0], s[1]);
        timed(text, [&] { loads<WHICH><<<s[0], s[1]>>>(data, 16, data + 1000); });
    }
}
template <int WHICH> static void of_last(const char *name) {
    char text[64];
    const int shapes[][2] = {{1, 256}, {64, 1024}, {132, 256}, {1056, 256}};
    for (const int *s : shapes) {
        snprintf(text, sizeof text, "%s_last_adds_%d_x_%d", name, s[0], s[1]);
        timed(text, [&] { last_adds<WHICH><<<s[0], s[1]>>>(data, count, data + 100000); });
    }
}
static void of_stored() {
    enum { LINES = 2048, WORDS = 32 * LINES };
    static int ring[WORDS];
    int *from, *to;
    MUST(cudaMalloc(&from, sizeof ring));
    MUST(cudaMalloc(&to, sizeof ring));
    /* 1237 is odd, so the way goes through each line once. */
    for (int i = 0; i < LINES; i++) ring[32 * (i * 1237 % LINES)] = 32 * ((i + 1) * 1237 % LINES);
    MUST(cudaMemcpy(from, ring, sizeof ring, cudaMemcpyHostToDevice));
    const auto around = [&] { go_around<<<1, 1>>>(to, LINES, data); };
    timed_behind(
        "around_stored_by_all", [&] { copy<<<WORDS / 256, 256>>>(to, from); }, around);
    timed("around_again", around);
    timed_behind(
        "around_from_the_host", [&] { MUST(cudaMemcpy(to, ring, sizeof ring, cudaMemcpyHostToDevice)); }, around);
}
/* What of a walk was stored since the walk before. */
static void of_parts() {
    enum { BLOCKS = 33, BYTES = BLOCKS * STEPS * STEP * 4 };
    int *a, *b, *zeros;
    MUST(cudaMalloc(&a, BYTES));
    MUST(cudaMalloc(&b, BYTES));
    MUST(cudaMallocHost(&zeros, BYTES));
    memset(zeros, 0, BYTES);
    const auto walk = [&] { go_through<<<BLOCKS, 1>>>(a, b, data); };
    const auto behind = [&](const char *name, int first, int words, int pieces, bool copied) {
        timed_behind(
            name,
            [&] {
                walk();
                if (words) zero<<<BLOCKS, 128>>>(a, first, words, pieces);
                if (copied) MUST(cudaMemcpy(b, zeros, BYTES, cudaMemcpyHostToDevice));
            },
            walk);
    };
    zero<<<BLOCKS, 128>>>(a, 0, STEP, STEPS), zero<<<BLOCKS, 128>>>(b, 0, STEP, STEPS);
    behind("part_nothing", 0, 0, 0, false);
    behind("part_all", 0, STEP, STEPS, false);
    behind("part_other_lines", 32, STEP - 32, STEPS, false);
    behind("part_one_step_of_each_block", 0, STEP, 1, false);
    behind("part_copied", 0, 0, 0, true);
    behind("part_all_and_copied", 0, STEP, STEPS, true);
}
template <int LOADS, int CHAIN> static void of_steps() {
    char text[64];
    const int shapes[][2] = {{1, 8}, {1, 16}, {1, 32}, {2, 8}, {2, 32}};
    for (const int *s : shapes) {
        snprintf(text, sizeof text, "steps_%d_%d_of_%d_x_%d_warps", LOADS, CHAIN, s[0], s[1]);
        timed(text, [&] { steps<LOADS, CHAIN><<<132 * s[0], 32 * s[1]>>>(data, 100, 0.5f); });
    }
}

int main() {
    MUST(cudaMalloc(&data, 4 << 20));
    MUST(cudaMemset(data, 0, 4 << 20));
    MUST(cudaMalloc(&count, sizeof *count));
    MUST(cudaMemset(count, 0, sizeof *count));
    of_fence<NONE>("none");
    of_fence<BLOCK>("block");
    of_fence<DEVICE>("device");
    of_fence<SYSTEM>("system");
    of_last<NONE>("none");
    of_last<DEVICE>("device");
    timed("uneven", [] { uneven<<<264, 256>>>(data, data + 1000); });
    int *fresh;
    MUST(cudaMalloc(&fresh, 16 << 20));
    atomics_that_miss<<<(4 << 20) / 256, 256>>>(fresh);
    of_stored();
    of_parts();
    timed("plate_3_rows_16_warps", [] { plate<3, 16, false><<<132, dim3(32, 16)>>>(data, 1, 200); });
    timed("plate_that_meets", [] {
        int meetings = 48, n = 8;
        void *arguments[] = {&data, &meetings, &n};
        MUST(cudaLaunchCooperativeKernel((void *)plate<3, 16, true>, 128, dim3(32, 16), arguments, 0, 0));
    });
    of_steps<1, 4>();
    of_steps<1, 64>();
    of_steps<8, 16>();
    return 0;
}
