/* ladder.cu — the rungs of lab 7's ladder, each with the one flaw that the next one removes.
 *
 * The harness uses `copy`, the speed of light: every float in once, every float out once. The bench times them all. A
 * rung is short and stands alone: similar kernels are easier to compare than one clever template. Rows are of whole
 * float4s, 1024 or 4096 floats. The launcher of rung `tail` is called tail_norm_relu_add.
 */
#include "lab7.h"

#include <stddef.h>

#define LADDER_FULL 0xffffffff

/* The sum of one value a thread, over a block of 256; every thread gets it. Two barriers, so that it can be called
 * twice. */
__device__ float ladder_sum(float v) {
    __shared__ float sums[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(LADDER_FULL, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int w = 0; w < 8; w++) v += sums[w];
    return v;
}

__device__ float ladder_tail(float x, float mean, float scale, float gamma, float beta) {
    return fmaxf((x - mean) * scale * gamma + beta, 0) + x;
}

__device__ float4 ladder_tail4(float4 x, float mean, float scale, float4 gamma, float4 beta) {
    return make_float4(ladder_tail(x.x, mean, scale, gamma.x, beta.x), ladder_tail(x.y, mean, scale, gamma.y, beta.y),
                       ladder_tail(x.z, mean, scale, gamma.z, beta.z), ladder_tail(x.w, mean, scale, gamma.w, beta.w));
}

/* --- tail: the four pointwise kernels are one. Flaw: x is read three times from memory ------------------------- */

__global__ void ladder_mean(const float *x, float *mean, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 256) sum += row[c];
    sum = ladder_sum(sum);
    if (threadIdx.x == 0) mean[blockIdx.x] = sum / cols;
}

__global__ void ladder_variance(const float *x, const float *mean, float *variance, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols;
    float sum = 0, m = mean[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += 256) sum += (row[c] - m) * (row[c] - m);
    sum = ladder_sum(sum);
    if (threadIdx.x == 0) variance[blockIdx.x] = sum / cols;
}

__global__ void ladder_pointwise(const float *x, const float *mean, const float *variance, const float *gamma,
                                 const float *beta, float *y, int cols) {
    const size_t first = (size_t)blockIdx.x * cols;
    const float m = mean[blockIdx.x], scale = rsqrtf(variance[blockIdx.x] + EPSILON);
    for (int c = threadIdx.x; c < cols; c += 256) y[first + c] = ladder_tail(x[first + c], m, scale, gamma[c], beta[c]);
}

/* --- one_pass: both sums in one reading. Flaw: x is read twice from memory ------------------------------------- */

__global__ void ladder_both(const float *x, float *mean, float *variance, int cols) {
    const float *row = x + (size_t)blockIdx.x * cols, pivot = row[0];
    float s = 0, q = 0;
    for (int c = threadIdx.x; c < cols; c += 256) {
        const float d = row[c] - pivot;
        s += d;
        q += d * d;
    }
    s = ladder_sum(s) / cols;
    q = ladder_sum(q) / cols;
    if (threadIdx.x == 0) mean[blockIdx.x] = pivot + s, variance[blockIdx.x] = q - s * s;
}

/* --- one_kernel: no second launch. Flaw: each row goes through L1 twice, float by float ------------------------ */

__global__ void ladder_one(const float *x, const float *gamma, const float *beta, float *y, int cols) {
    const size_t first = (size_t)blockIdx.x * cols;
    const float *row = x + first, pivot = row[0];
    float s = 0, q = 0;
    for (int c = threadIdx.x; c < cols; c += 256) {
        const float d = row[c] - pivot;
        s += d;
        q += d * d;
    }
    s = ladder_sum(s) / cols;
    q = ladder_sum(q) / cols;
    const float mean = pivot + s, scale = rsqrtf(q - s * s + EPSILON);
    for (int c = threadIdx.x; c < cols; c += 256) y[first + c] = ladder_tail(row[c], mean, scale, gamma[c], beta[c]);
}

/* --- registers: the row is read once. Flaw: four bytes an instruction ------------------------------------------ */

template <int FLOATS>
__global__ void ladder_registers(const float *x, const float *gamma, const float *beta, float *y) {
    const size_t first = (size_t)blockIdx.x * FLOATS * 256;
    const float *row = x + first, pivot = row[0];
    float v[FLOATS], s = 0, q = 0;
#pragma unroll
    for (int k = 0; k < FLOATS; k++) v[k] = row[threadIdx.x + k * 256];
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const float d = v[k] - pivot;
        s += d;
        q += d * d;
    }
    s = ladder_sum(s) / (FLOATS * 256);
    q = ladder_sum(q) / (FLOATS * 256);
    const float mean = pivot + s, scale = rsqrtf(q - s * s + EPSILON);
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const int c = threadIdx.x + k * 256;
        y[first + c] = ladder_tail(v[k], mean, scale, gamma[c], beta[c]);
    }
}

/* --- block and warp: float4s, for rows of THREADS * QUADS of them ---------------------------------------------- */

/* The sums over a block of THREADS; a warp needs no barrier. `sums` is for this call alone. */
template <int THREADS> __device__ float2 ladder_sums(float s, float q, float2 *sums) {
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_xor_sync(LADDER_FULL, s, d);
        q += __shfl_xor_sync(LADDER_FULL, q, d);
    }
    if (THREADS == 32) return make_float2(s, q);
    const int thread = threadIdx.x % THREADS;
    if (thread % 32 == 0) sums[thread / 32] = make_float2(s, q);
    __syncthreads();
    s = q = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        s += sums[w].x;
        q += sums[w].y;
    }
    return make_float2(s, q);
}

template <int QUADS> __device__ float2 ladder_differences(const float4 *v, float pivot) {
    float s = 0, q = 0;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const float a = v[k].x - pivot, b = v[k].y - pivot, c = v[k].z - pivot, d = v[k].w - pivot;
        s += (a + b) + (c + d);
        q += (a * a + b * b) + (c * c + d * d);
    }
    return make_float2(s, q);
}

/* A row for each THREADS threads of a block. */
template <int THREADS, int QUADS, int ROWS>
__global__ void __launch_bounds__(THREADS *ROWS)
    ladder_quads(const float4 *x, const float4 *gamma, const float4 *beta, float4 *y, int rows) {
    __shared__ float2 sums[THREADS / 32];
    const int row = blockIdx.x * ROWS + threadIdx.x / THREADS, thread = threadIdx.x % THREADS;
    if (row >= rows) return; /* whole warps, and blocks of one row have none that are left out */
    const size_t first = (size_t)row * QUADS * THREADS;
    const float pivot = x[first].x, n = QUADS * THREADS * 4;
    float4 v[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; k++) v[k] = x[first + thread + k * THREADS];
    const float2 mine = ladder_differences<QUADS>(v, pivot), all = ladder_sums<THREADS>(mine.x, mine.y, sums);
    const float shift = all.x / n, mean = pivot + shift, scale = rsqrtf(all.y / n - shift * shift + EPSILON);
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int c = thread + k * THREADS;
        y[first + c] = ladder_tail4(v[k], mean, scale, gamma[c], beta[c]);
    }
}

/* --- stays: each block walks over many rows, with gamma and beta in registers, and asks for the next row early --- */

template <int THREADS, int QUADS>
__global__ void __launch_bounds__(THREADS)
    ladder_stays(const float4 *x, const float4 *gamma, const float4 *beta, float4 *y, int rows) {
    __shared__ float2 sums[2][THREADS / 32]; /* in turn, so that one barrier a row is enough */
    const int t = threadIdx.x;
    const float n = QUADS * THREADS * 4;
    float4 g[QUADS], b[QUADS], v[QUADS], next[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        g[k] = gamma[t + k * THREADS];
        b[k] = beta[t + k * THREADS];
        next[k] = x[(size_t)blockIdx.x * QUADS * THREADS + t + k * THREADS];
    }
    float next_pivot = x[(size_t)blockIdx.x * QUADS * THREADS].x;
    for (int row = blockIdx.x, turn = 0; row < rows; row += gridDim.x, turn ^= 1) {
        const size_t first = (size_t)row * QUADS * THREADS;
        const float pivot = next_pivot;
#pragma unroll
        for (int k = 0; k < QUADS; k++) v[k] = next[k];
        if (row + gridDim.x < rows) {
            const float4 *after = x + first + (size_t)gridDim.x * QUADS * THREADS;
            next_pivot = after[0].x;
#pragma unroll
            for (int k = 0; k < QUADS; k++) next[k] = after[t + k * THREADS];
        }
        const float2 mine = ladder_differences<QUADS>(v, pivot);
        const float2 all = ladder_sums<THREADS>(mine.x, mine.y, sums[turn]);
        const float shift = all.x / n, mean = pivot + shift, scale = rsqrtf(all.y / n - shift * shift + EPSILON);
#pragma unroll
        for (int k = 0; k < QUADS; k++) y[first + t + k * THREADS] = ladder_tail4(v[k], mean, scale, g[k], b[k]);
    }
}

/* --- the speed of light ------------------------------------------------------------------------------------------ */

__global__ void ladder_copy(const float4 *in, float4 *out, size_t quads) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < quads) out[i] = in[i];
}

/* --- launchers, all with the signature of `norm_relu_add`; cols is 1024 or 4096 ---------------------------------- */

#define LADDER_RUNG(name)                                                                                              \
    extern "C" void name##_norm_relu_add(const float *x, const float *gamma, const float *beta, float *y,              \
                                         float *scratch, int rows, int cols)
#define LADDER_QUADS (const float4 *)x, (const float4 *)gamma, (const float4 *)beta, (float4 *)y

LADDER_RUNG(tail) {
    float *mean = scratch, *variance = mean + rows;
    ladder_mean<<<rows, 256>>>(x, mean, cols);
    ladder_variance<<<rows, 256>>>(x, mean, variance, cols);
    ladder_pointwise<<<rows, 256>>>(x, mean, variance, gamma, beta, y, cols);
}

LADDER_RUNG(one_pass) {
    float *mean = scratch, *variance = mean + rows;
    ladder_both<<<rows, 256>>>(x, mean, variance, cols);
    ladder_pointwise<<<rows, 256>>>(x, mean, variance, gamma, beta, y, cols);
}

LADDER_RUNG(one_kernel) {
    (void)scratch;
    ladder_one<<<rows, 256>>>(x, gamma, beta, y, cols);
}

LADDER_RUNG(registers) {
    (void)scratch;
    if (cols == 1024)
        ladder_registers<4><<<rows, 256>>>(x, gamma, beta, y);
    else
        ladder_registers<16><<<rows, 256>>>(x, gamma, beta, y);
}

LADDER_RUNG(block) {
    (void)scratch;
    if (cols == 1024)
        ladder_quads<128, 2, 1><<<rows, 128>>>(LADDER_QUADS, rows);
    else
        ladder_quads<256, 4, 1><<<rows, 256>>>(LADDER_QUADS, rows);
}

LADDER_RUNG(warp) {
    (void)scratch;
    if (cols == 1024)
        ladder_quads<32, 8, 4><<<(rows + 3) / 4, 128>>>(LADDER_QUADS, rows);
    else
        ladder_quads<32, 32, 4><<<(rows + 3) / 4, 128>>>(LADDER_QUADS, rows);
}

LADDER_RUNG(stays) {
    (void)scratch;
    const int most = cols == 1024 ? 8 * 132 : 2 * 132, blocks = rows < most ? rows : most;
    if (cols == 1024)
        ladder_stays<128, 2><<<blocks, 128>>>(LADDER_QUADS, rows);
    else
        ladder_stays<256, 4><<<blocks, 256>>>(LADDER_QUADS, rows);
}

LADDER_RUNG(copy) {
    (void)gamma, (void)beta, (void)scratch;
    const size_t quads = (size_t)rows * cols / 4;
    ladder_copy<<<(unsigned)((quads + 255) / 256), 256>>>((const float4 *)x, (float4 *)y, quads);
}

/* The driver's own copy of the same bytes. */
LADDER_RUNG(cudaMemcpy) {
    (void)gamma, (void)beta, (void)scratch;
    cudaMemcpyAsync(y, x, (size_t)rows * cols * sizeof(float), cudaMemcpyDeviceToDevice, 0);
}
