/* fusion.cu — lab 7, the reference solution: one launch, each float read once and written once.
 *
 * The idea has three layers.
 *
 *   1. A row stays in the registers of its threads from the load to the store. Only two numbers travel between threads:
 *      the sums that give mean and variance. So the bytes are those of a copy, and the time can be.
 *   2. Mean and variance come from one pass, of the differences to a pivot: the sums of d = x - pivot and of d * d. The
 *      variance is mean(d^2) - mean(d)^2, which is the formula that fails for x itself. It is safe for d, because
 *      the pivot is a float of the row: no float of a row of n is farther from the mean than sqrt(n - 1) times the
 *      standard deviation. So mean(d)^2 is below n times the variance, and at most n units in the last place of it are
 *      lost. For x itself there is no such limit.
 *   3. A thread asks for its whole part of the row before it uses the first of it, so all of that is under way
 * together; and an SM is full of threads that do so, 2048 with 32 registers each.
 *
 * Three details, in the order of what each is worth on a card:
 *
 *   - The launch bounds. With more than 32 registers a thread, only three blocks of 512 fit on an SM, and a
 *     quarter of its warps is missing.
 *   - Rows of exactly 1024 and 4096 floats have a kernel without the tests for the end of the row.
 *   - y is not read again: __stcs tells the caches so, which leaves more of them to gamma and beta.
 *
 * A row whose length is no multiple of 4 does the same float by float: its beginning may lie anywhere.
 */
#include "lab7.h"

#include <stddef.h>

#define WARP     32
#define FULL     0xffffffff
#define RESIDENT 2048 /* threads on an SM */

/* Mean and 1 / sqrt(variance + EPSILON) of a row. */
struct norm {
    float mean, scale;
};

/* Adds up s and q over the block, and gives every thread the row's norm. s, q: the sums of the thread's differences to
 * the pivot and of their squares. */
template <int THREADS> __device__ struct norm norm_of(float s, float q, float pivot, int cols) {
    for (int d = WARP / 2; d > 0; d /= 2) {
        s += __shfl_xor_sync(FULL, s, d);
        q += __shfl_xor_sync(FULL, q, d);
    }
    __shared__ float2 sums[THREADS / WARP]; /* one of each warp */
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = make_float2(s, q);
    __syncthreads();
    s = q = 0;
    for (int w = 0; w < THREADS / WARP; w++) {
        s += sums[w].x;
        q += sums[w].y;
    }
    const float shift = s / cols, variance = fmaxf(q / cols - shift * shift, 0);
    return {pivot + shift, rsqrtf(variance + EPSILON)};
}

__device__ float tail(float x, struct norm n, float gamma, float beta) {
    return fmaxf((x - n.mean) * n.scale * gamma + beta, 0) + x;
}

/* Rows of whole float4s: a thread holds every THREADS-th of them. Those beyond the end of the row hold the pivot, which
 * adds nothing to the sums. WHOLE: the row has THREADS * QUADS of them, and nothing needs a test. */
template <int THREADS, int QUADS, bool WHOLE>
__global__ void __launch_bounds__(THREADS, QUADS == 2 ? RESIDENT / THREADS : 1)
    row_of_quads(const float4 *__restrict__ x, const float4 *__restrict__ gamma, const float4 *__restrict__ beta,
                 float4 *__restrict__ y, int quads) {
    const size_t first = (size_t)blockIdx.x * quads;
    const float pivot = x[first].x;
    float4 v[QUADS];
    float s = 0, q = 0;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int c = threadIdx.x + k * THREADS;
        v[k] = WHOLE || c < quads ? x[first + c] : make_float4(pivot, pivot, pivot, pivot);
    }
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const float d0 = v[k].x - pivot, d1 = v[k].y - pivot, d2 = v[k].z - pivot, d3 = v[k].w - pivot;
        s += (d0 + d1) + (d2 + d3);
        q += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
    }
    const struct norm n = norm_of<THREADS>(s, q, pivot, WHOLE ? 4 * THREADS * QUADS : 4 * quads);
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int c = threadIdx.x + k * THREADS;
        if (!WHOLE && c >= quads) break;
        const float4 g = gamma[c], b = beta[c];
        __stcs(&y[first + c], make_float4(tail(v[k].x, n, g.x, b.x), tail(v[k].y, n, g.y, b.y),
                                          tail(v[k].z, n, g.z, b.z), tail(v[k].w, n, g.w, b.w)));
    }
}

/* Any row: the same with floats. */
template <int THREADS, int FLOATS>
__global__ void __launch_bounds__(THREADS)
    row_of_floats(const float *__restrict__ x, const float *__restrict__ gamma, const float *__restrict__ beta,
                  float *__restrict__ y, int cols) {
    const size_t first = (size_t)blockIdx.x * cols;
    const float pivot = x[first];
    float v[FLOATS], s = 0, q = 0;
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const int c = threadIdx.x + k * THREADS;
        v[k] = c < cols ? x[first + c] : pivot;
    }
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const float d = v[k] - pivot;
        s += d;
        q += d * d;
    }
    const struct norm n = norm_of<THREADS>(s, q, pivot, cols);
#pragma unroll
    for (int k = 0; k < FLOATS; k++) {
        const int c = threadIdx.x + k * THREADS;
        if (c < cols) y[first + c] = tail(v[k], n, gamma[c], beta[c]);
    }
}

/* Each kernel for rows up to THREADS * QUADS float4s, or THREADS * FLOATS floats. */
extern "C" void norm_relu_add(const float *x, const float *gamma, const float *beta, float *y, float *scratch, int rows,
                              int cols) {
    (void)scratch; /* nothing leaves the registers */
    if (cols % 4 == 0) {
        const float4 *x4 = (const float4 *)x, *g4 = (const float4 *)gamma, *b4 = (const float4 *)beta;
        float4 *y4 = (float4 *)y;
        const int quads = cols / 4;
        if (cols == 1024)
            row_of_quads<128, 2, true><<<rows, 128>>>(x4, g4, b4, y4, quads);
        else if (cols == 4096)
            row_of_quads<512, 2, true><<<rows, 512>>>(x4, g4, b4, y4, quads);
        else if (cols < 1024)
            row_of_quads<128, 2, false><<<rows, 128>>>(x4, g4, b4, y4, quads);
        else if (cols < 4096)
            row_of_quads<512, 2, false><<<rows, 512>>>(x4, g4, b4, y4, quads);
        else
            row_of_quads<1024, 4, false><<<rows, 1024>>>(x4, g4, b4, y4, quads);
    } else if (cols <= 1024) {
        row_of_floats<128, 8><<<rows, 128>>>(x, gamma, beta, y, cols);
    } else if (cols <= 4096) {
        row_of_floats<512, 8><<<rows, 512>>>(x, gamma, beta, y, cols);
    } else {
        row_of_floats<1024, 16><<<rows, 1024>>>(x, gamma, beta, y, cols);
    }
}
