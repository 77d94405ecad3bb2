/* ladder.cu — the one rung of lab 0's ladder, `machine`: the small kernels and copies by which the harness measures the
 * machine's ceilings, and five kernels for the drawn roofline. Two of these five do the same work: the simple one loads
 * two numbers for each multiply-add, the other keeps a tile of the result in registers.
 */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = LAB0_THREADS, CHAINS = LAB0_CHAINS, UNLIKELY = 0x7ADE };

/* --- the ceilings ------------------------------------------------------------------------------- */

__global__ void nothing() {}

__global__ void add_one(const float *a, const float *b, float *c) { *c = *a + *b; }

__global__ void copy_quads(const float4 *from, float4 *to, long quads) {
    long i = blockIdx.x * (long)THREADS + threadIdx.x;
    if (i < quads) to[i] = from[i];
}

/* Reads the array `rounds` times; each time another block reads a stretch, so that no SM finds it in its own L1. */
__global__ void read_quads(const float4 *from, float *out, int rounds) {
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        unsigned block = (blockIdx.x + r * 1009u) % gridDim.x;
        for (int k = 0; k < 4; k++) {
            float4 v = from[(block * 4l + k) * THREADS + threadIdx.x];
            sum += v.x + v.y + v.z + v.w;
        }
    }
    if (sum == UNLIKELY) *out = sum;
}

/* Reads shared memory, 16 bytes a thread, no two threads of a quarter-warp in one bank. */
__global__ void read_shared(float *out, int rounds) {
    __shared__ float4 s[2 * THREADS];
    s[threadIdx.x] = s[threadIdx.x + THREADS] = make_float4(threadIdx.x, 1, 2, 3);
    __syncthreads();
    float a = 0, b = 0, c = 0, d = 0;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 v = s[(threadIdx.x + 32 * k + r) % (2 * THREADS)];
            a += v.x, b += v.y, c += v.z, d += v.w;
        }
    if (a + b + c + d == UNLIKELY) *out = a;
}

/* Multiply-adds in registers: chains that do not wait for each other, 16 of each a round. */
__global__ void multiply_add(float *out, float x, int rounds) {
    float v[CHAINS];
    for (int k = 0; k < CHAINS; k++) v[k] = x * (threadIdx.x + k);
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int k = 0; k < CHAINS; k++) v[k] = v[k] * x + 1.0f;
    float sum = 0;
    for (int k = 0; k < CHAINS; k++) sum += v[k];
    if (sum == UNLIKELY) *out = sum;
}

/* --- the drawn roofline -------------------------------------------------------------------------- */

/* Numbers that the host can compute as well (machine.c), to check a product. */
__global__ void fill(float *v, unsigned n) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) v[i] = (float)(i * 7919u % 1000u) / 1000;
}

/* By quads, as copy_quads: a float a thread reaches 0.72 of the roof of the virtual memory. */
__global__ void saxpy(const float4 *x, float4 *y, float a, long quads) {
    long i = blockIdx.x * (long)THREADS + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i], w = y[i];
    y[i] = make_float4(a * v.x + w.x, a * v.y + w.y, a * v.z + w.z, a * v.w + w.w);
}

/* C = A * B, one element a thread. */
__global__ void matmul_simple(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

/* C = A * B, n a multiple of 64: a block makes 64 x 64 elements of C, a thread 4 x 4 of these. */
enum { TILE = 64, DEPTH = 16 };
__global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float as[DEPTH][TILE + 4], bs[DEPTH][TILE]; /* A's part lies turned, padded against bank conflicts */
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE, i = t / 16 * 4, j = t % 16 * 4;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += DEPTH) {
        float4 v = *(const float4 *)&a[(row + t / 4) * n + k + t % 4 * 4];
        as[t % 4 * 4][t / 4] = v.x, as[t % 4 * 4 + 1][t / 4] = v.y;
        as[t % 4 * 4 + 2][t / 4] = v.z, as[t % 4 * 4 + 3][t / 4] = v.w;
        *(float4 *)&bs[t / 16][j] = *(const float4 *)&b[(k + t / 16) * n + col + j];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 x = *(const float4 *)&as[d][i], y = *(const float4 *)&bs[d][j];
            float left[4] = {x.x, x.y, x.z, x.w}, top[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) sum[p][q] += left[p] * top[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        *(float4 *)&c[(row + i + p) * n + col + j] = make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}

static unsigned blocks_for(long n) { return (unsigned)((n + THREADS - 1) / THREADS); }

/* --- the rung ------------------------------------------------------------------------------------ */

static void *pinned, *pageable; /* on the host */

/* If this fails, the copies to the card fail as well. */
static void get_ready(size_t bytes) {
    cudaMallocHost(&pinned, bytes);
    pageable = malloc(bytes);
    if (pinned) memset(pinned, 1, bytes);
    if (pageable) memset(pageable, 1, bytes);
}

static void run_copy(const struct lab0_job &job) {
    void *from = (void *)job.from;
    const size_t bytes = (size_t)job.amount;
    switch (job.piece) {
    case SEND_PINNED: cudaMemcpy(from, pinned, bytes, cudaMemcpyHostToDevice); break;
    case FETCH_PINNED: cudaMemcpy(pinned, from, bytes, cudaMemcpyDeviceToHost); break;
    case SEND_PAGEABLE: cudaMemcpy(from, pageable, bytes, cudaMemcpyHostToDevice); break;
    default: cudaMemcpy(pageable, from, bytes, cudaMemcpyDeviceToHost);
    }
}

static void run_ceiling(const struct lab0_job &job) {
    const float4 *from = (const float4 *)job.from;
    float *in = (float *)job.from, *to = (float *)job.to;
    const long amount = job.amount;
    switch (job.piece) {
    case COPY_ARRAY: copy_quads<<<blocks_for(amount / 16), THREADS>>>(from, (float4 *)to, amount / 16); break;
    case READ_MEMORY: read_quads<<<(unsigned)(amount / (THREADS * 64)), THREADS>>>(from, to, 1); break;
    case READ_L2: read_quads<<<LAB0_L2_BYTES / (THREADS * 64), THREADS>>>(from, to, (int)amount); break;
    case READ_SHARED: read_shared<<<job.sms * LAB0_SHARED_BLOCKS, THREADS>>>(to, (int)amount); break;
    case COMPUTE: multiply_add<<<job.sms * LAB0_FMA_BLOCKS, THREADS>>>(to, 0.5f, (int)amount); break;
    case ADD_ONCE: add_one<<<1, 1>>>(in, in + 1, in + 2); break;
    default: /* LAUNCH_MANY */
        for (long i = 0; i < amount; i++) nothing<<<1, 32>>>();
    }
}

static void run_drawn(const struct lab0_job &job) {
    float *from = (float *)job.from, *to = (float *)job.to;
    const int n = (int)job.amount;
    switch (job.piece) {
    case FILL: fill<<<blocks_for(n), THREADS>>>(from, n); break;
    case SAXPY: saxpy<<<blocks_for(n / 4), THREADS>>>((const float4 *)from, (float4 *)to, 0.5f, n / 4); break;
    case MATMUL_SIMPLE: matmul_simple<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(from, from + n * n, to, n); break;
    default: matmul_tiled<<<dim3(n / TILE, n / TILE), THREADS>>>(from, from + n * n, to, n);
    }
}

extern "C" void machine_run(struct lab0_job job) {
    if (job.piece == GET_READY) return get_ready((size_t)job.amount);
    if (job.piece == WAIT_ONLY) return;
    if (job.piece < COPY_ARRAY) return run_copy(job);
    if (job.piece < FILL) return run_ceiling(job);
    run_drawn(job);
}
