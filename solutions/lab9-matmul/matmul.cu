/* matmul.cu — lab 9, solution.
 *
 * A block has 128 x 128 elements of C, a warp 64 x 32 of them, a thread 8 x 8. In each turn the block fetches a slice,
 * 8 columns of A and 8 rows of B, into shared memory, while it works with a slice that it has fetched before. So each
 * float from memory serves 128 multiply-adds, and each float from shared memory 8.
 */
#include "lab9.h"

#include <cuda_pipeline.h>

enum { TILE = 128, DEPTH = 8, PAD = 4, STAGES = 3, THREADS = 256 };

/* A is stored transposed, so that a thread finds its 8 rows of one column side by side. The padding spreads the 8
 * columns that a warp stores at a time over the banks. */
struct slice {
    float a[DEPTH][TILE + PAD];
    float b[DEPTH][TILE];
};

/* Begins to fetch the slice that starts at column x0 of A and row x0 of B. What lies beyond k becomes 0. A row beyond m
 * is fetched as the last one, and so is a column beyond n: their sums are never stored. */
__device__ void fetch(struct slice *s, const float *a, const float *b, int m, int n, int k, int x0) {
    const int t = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    const int ax = t % DEPTH, a_beyond = x0 + ax < k ? 0 : 4;
#pragma unroll
    for (int i = 0; i < TILE * DEPTH / THREADS; i++) {
        const int r = i * (THREADS / DEPTH) + t / DEPTH, row = min(row0 + r, m - 1);
        __pipeline_memcpy_async(&s->a[ax][r], &a[(size_t)row * k + x0 + ax], 4, a_beyond);
    }
    if (n % 4 == 0) {
        const int x = t / 32, j = t % 32 * 4, col = min(col0 + j, n - 4);
        __pipeline_memcpy_async(&s->b[x][j], &b[(size_t)(x0 + x) * n + col], 16, x0 + x < k ? 0 : 16);
    } else {
#pragma unroll
        for (int i = 0; i < TILE * DEPTH / THREADS; i++) { /* a row may begin where no float4 may */
            const int x = i * (THREADS / TILE) + t / TILE, j = t % TILE, col = min(col0 + j, n - 1);
            __pipeline_memcpy_async(&s->b[x][j], &b[(size_t)(x0 + x) * n + col], 4, x0 + x < k ? 0 : 4);
        }
    }
}

__global__ void __launch_bounds__(THREADS, 2) multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ struct slice slices[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, turns = (k + DEPTH - 1) / DEPTH;
    const int r0 = warp / 4 * 64 + lane / 4 * 4; /* rows r0 .. r0 + 3, and the same 32 further on */
    const int c0 = warp % 4 * 32 + lane % 4 * 4; /* columns c0 .. c0 + 3, and the same 16 further on */
    float sum[8][8] = {};
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < turns) fetch(&slices[s], a, b, m, n, k, s * DEPTH);
        __pipeline_commit();
    }
    for (int s = 0; s < turns; s++) {
        const int ahead = s + STAGES - 1;
        __pipeline_wait_prior(STAGES - 2); /* slice s has arrived, as far as this thread has fetched it */
        __syncthreads();                   /* and all others' parts; and nobody needs slice s - 1 any more */
        if (ahead < turns) fetch(&slices[ahead % STAGES], a, b, m, n, k, ahead * DEPTH);
        __pipeline_commit();
        const struct slice *now = &slices[s % STAGES];
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            float u[8], v[8];
            *(float4 *)&u[0] = *(const float4 *)&now->a[x][r0];
            *(float4 *)&u[4] = *(const float4 *)&now->a[x][r0 + 32];
            *(float4 *)&v[0] = *(const float4 *)&now->b[x][c0];
            *(float4 *)&v[4] = *(const float4 *)&now->b[x][c0 + 16];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += u[i] * v[j];
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = blockIdx.y * TILE + r0 + i % 4 + i / 4 * 32;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int col = blockIdx.x * TILE + c0 + h * 16;
            float *to = &c[(size_t)row * n + col];
            if (row >= m) continue;
            if (n % 4 == 0) {
                if (col < n) *(float4 *)to = *(const float4 *)&sum[i][4 * h];
            } else {
                for (int j = 0; j < 4; j++)
                    if (col + j < n) to[j] = sum[i][4 * h + j];
            }
        }
    }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<blocks, THREADS>>>(a, b, c, m, n, k);
}
