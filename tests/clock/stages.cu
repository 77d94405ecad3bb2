/* stages.cu — kernels whose parts follow each other: what one part takes cannot hide what another takes. A line
 * `name microseconds` for each kernel. */
#include "simgpu.h"

enum { TURNS = 64, BLOCKS = 1056, BIG = 1 << 22 };

static float *data, *out;
static bool brief;    /* under the sanitizers, where all would take 16 s: */
static int share = 1; /* the longest loops have this part of their turns */

template <typename F> static void time_of(const char *name, F run) {
    cudaEvent_t begin, end;
    float ms;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaDeviceSynchronize();
    cudaEventRecord(begin, 0);
    run();
    cudaEventRecord(end, 0);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("%s %.3f\n", name, ms * 1e3);
}

/* One warp works between two barriers, and the others wait: always the same one, or each in its turn. */
__global__ void one_works(float *p, int in_turn) {
    float s = threadIdx.x;
    for (int k = 0; k < TURNS; k++) {
        if (threadIdx.x / 32 == k * in_turn % 4) {
#pragma unroll
            for (int n = 0; n < 64; n++) s = s * 1.5f + p[1];
        }
        __syncthreads();
    }
    p[2 + threadIdx.x] = s;
}

/* A wave of blocks that read, that add to one word, and that do both. */
__global__ void read_all(const float *in, float *sum) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BIG; i += gridDim.x * blockDim.x) s += in[i];
    if (s == 1.5f) *sum = s;
}
__global__ void add_all(float *sum) {
    if (threadIdx.x % 32 == 0) atomicAdd(sum, 1.0f);
}
__global__ void read_and_add(const float *in, float *sum) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BIG; i += gridDim.x * blockDim.x) s += in[i];
    if (threadIdx.x % 32 == 0) atomicAdd(sum, s);
}

/* The same loop as compilers write it: a register for the counter; another one, and a move (clang 14); 64 bits, of
 * which 32 are compared (nvcc). ptxas makes one turn of several of the first, and not of the last. A load in each turn.
 */
#define TURN                                                                                                           \
    "ld.global.cg.f32 v, [p];\n"                                                                                       \
    "add.f32 %0, %0, v;\n"                                                                                             \
    "add.s64 p, p, 4096;\n"
#define LOOP(name, registers, step)                                                                                    \
    __global__ void name(const float *in, float *sum, int n) {                                                         \
        float s = 0;                                                                                                   \
        asm volatile("{\n.reg .f32 v;\n.reg .b64 p;\n.reg .pred q;\n" registers "mov.b64 p, %1;\nAGAIN:\n" TURN step   \
                     "@q bra AGAIN;\n}\n"                                                                              \
                     : "+f"(s)                                                                                         \
                     : "l"(in + threadIdx.x), "r"(n));                                                                 \
        *sum = s;                                                                                                      \
    }
LOOP(counter, ".reg .b32 i;\nmov.b32 i, 0;\n", "add.s32 i, i, 128;\nsetp.lt.s32 q, i, %2;\n")
LOOP(moved, ".reg .b32 i, j;\nmov.b32 i, 0;\n", "add.s32 j, i, 128;\nsetp.lt.s32 q, j, %2;\nmov.b32 i, j;\n")
LOOP(wide, ".reg .b32 i;\n.reg .b64 w;\nmov.b64 w, 0;\n",
     "add.s64 w, w, 128;\ncvt.u32.u64 i, w;\nsetp.lt.s32 q, i, %2;\n")
LOOP(rolled, ".reg .b32 i;\nmov.b32 i, 0;\n", "add.s32 i, i, 1;\nsetp.lt.s32 q, i, %2;\n")
LOOP(wraps, ".reg .b32 i;\nmov.b32 i, 0;\n", "add.s32 i, i, 1;\nsetp.lt.u32 q, i, %2;\n")

/* A load in each turn, and another one under a condition, by clang as it comes and as one written without a branch:
 * ptxas predicates the condition away and unrolls both alike. A store under a condition keeps a loop as it is. */
__global__ void load_if(const int *in, const int *table, int *sum, int n) {
    int s = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        if (in[i] >= 0) s += table[in[i]];
    *sum = s;
}
__global__ void load_always(const int *in, const int *table, int *sum, int n) {
    int s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += table[in[i]];
    *sum = s;
}
__global__ void store_if(const int *in, int *out, int n) {
    for (int i = threadIdx.x; i < n; i += 32)
        if (in[i] >= 0) out[i] = in[i];
}

/* Blocks of which one in `every` takes as long as 32 others. */
__global__ void some_long(float *p, int every, int turns) {
    float s = threadIdx.x;
    const int n = every && blockIdx.x % every == 0 ? 32 * turns : turns;
    for (int k = 0; k < n; k++) s = s * 0.999f + 0.5f;
    p[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

/* A table of each thread, by an index that is not constant: each lane stores to a sector of its own. */
__global__ void own_table(unsigned *p, int turns) {
    unsigned table[32], x = p[threadIdx.x] + threadIdx.x;
    for (int k = 0; k < 32; k++) table[k] = k * x;
    for (int k = 0; k < turns; k++) table[(x = x * 1664525u + 1013904223u) >> 27] += k;
    for (int k = 0; k < 32; k++) x ^= table[k];
    p[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/* A wave of blocks that read in one loop and compute in another, or do both in each turn of one loop. */
enum { TURNS_EACH = 64 };
__device__ float computed(float s, int turns) {
    for (int k = 0; k < turns; k++) s = s * 0.999f + 0.5f;
    return s;
}
__global__ void compute(float *sum, int turns) {
    float s = computed(threadIdx.x, turns);
    if (s == 1.5f) *sum = s;
}
__global__ void read_then_compute(const float *in, float *sum, int turns) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BIG; i += gridDim.x * blockDim.x) s += in[i];
    s = computed(s, turns);
    if (s == 1.5f) *sum = s;
}
__global__ void read_and_compute(const float *in, float *sum) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BIG; i += gridDim.x * blockDim.x)
        s = computed(s + in[i], TURNS_EACH);
    if (s == 1.5f) *sum = s;
}

/* The same with a loop over rows around it, of which each block has `turns` of 1 or several; and with a call. */
__device__ __attribute__((noinline)) float twice(float s) { return 2 * s; }
__global__ void row_by_row(const float *in, float *sum, int rows, int each, int turns) {
    float s = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int k = threadIdx.x; k < each; k += blockDim.x) s += in[row * each + k];
        s = computed(s, turns);
    }
    if (s == 1.5f) *sum = s;
}
__global__ void read_call_compute(const float *in, float *sum, int turns) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BIG; i += gridDim.x * blockDim.x) s += in[i];
    s = computed(twice(s), turns);
    if (s == 1.5f) *sum = s;
}

/* Loads from one bank, each of 32 wavefronts, beside `more` loads without conflicts. */
__global__ void one_bank(float *sum, int n, int more) {
    __shared__ volatile float s[1024];
    float v = 0;
    for (int k = 0; k < n; k++) v += s[32 * threadIdx.x];
    for (int k = 0; k < more; k++) v += s[threadIdx.x];
    if (v == 1.5f) *sum = v;
}

/* Left out if brief: others are of the same kind. */
template <typename F> static void full_time_of(const char *name, F run) {
    if (!brief) time_of(name, run);
}

int main(int argc, char **) {
    brief = argc > 1;
    if (brief) share = 32;
    cudaMalloc(&data, BIG * sizeof *data);
    cudaMalloc(&out, BIG * sizeof *out);
    cudaMemset(data, 0, BIG * sizeof *data);
    cudaMemset(out, 0, BIG * sizeof *out);
    time_of("same_warp", [] { one_works<<<1, 128>>>(out, 0); });
    time_of("each_warp", [] { one_works<<<1, 128>>>(out, 1); });
    full_time_of("reads", [] { read_all<<<BLOCKS, 256>>>(data, out); });
    full_time_of("adds", [] { add_all<<<BLOCKS, 256>>>(out); });
    time_of("reads_and_adds", [] { read_and_add<<<BLOCKS, 256>>>(data, out); });
    time_of("counter", [] { counter<<<1, 32>>>(data, out, 128 * 256); });
    time_of("moved", [] { moved<<<1, 32>>>(data, out, 128 * 256); });
    time_of("wide", [] { wide<<<1, 32>>>(data, out, 128 * 256); });
    time_of("rolled", [] { rolled<<<1, 32>>>(data, out, 256); });
    time_of("wraps", [] { wraps<<<1, 32>>>(data, out, 256); });
    const int *ints = (const int *)data;
    int *to = (int *)out;
    time_of("load_if", [=] { load_if<<<1, 32>>>(ints, ints, to, 32 * 256); });
    time_of("load_always", [=] { load_always<<<1, 32>>>(ints, ints, to, 32 * 256); });
    time_of("store_if", [=] { store_if<<<1, 32>>>(ints, to, 32 * 256); });
    time_of("alike", [] { some_long<<<4096, 256>>>(out, 0, 190 / share); });
    time_of("some_long", [] { some_long<<<4096, 256>>>(out, 64, 128 / share); });
    const int turns = (BIG / (BLOCKS * 256) + 1) * TURNS_EACH;
    simgpuFlushCache();
    full_time_of("reads_cold", [] { read_all<<<BLOCKS, 256>>>(data, out); });
    full_time_of("computes", [=] { compute<<<BLOCKS, 256>>>(out, turns / share); });
    simgpuFlushCache();
    full_time_of("reads_then_computes", [=] { read_then_compute<<<BLOCKS, 256>>>(data, out, turns / share); });
    simgpuFlushCache();
    full_time_of("reads_and_computes", [] { read_and_compute<<<BLOCKS, 256>>>(data, out); });
    simgpuFlushCache();
    full_time_of("in_one_turn", [=] { row_by_row<<<BLOCKS, 256>>>(data, out, BLOCKS, BIG / BLOCKS, turns / share); });
    simgpuFlushCache();
    time_of("in_16_turns",
            [=] { row_by_row<<<BLOCKS, 256>>>(data, out, 16 * BLOCKS, BIG / BLOCKS / 16, turns / share / 16); });
    simgpuFlushCache();
    time_of("with_a_call", [=] { read_call_compute<<<BLOCKS, 256>>>(data, out, turns / share); });
    time_of("conflicts", [] { one_bank<<<1, 32>>>(out, 2000, 0); });
    time_of("no_conflicts", [] { one_bank<<<1, 32>>>(out, 0, 20000); });
    time_of("both_loads", [] { one_bank<<<1, 32>>>(out, 2000, 20000); });
    time_of("own_table", [] { own_table<<<128, 256>>>((unsigned *)out, 64); });
}
