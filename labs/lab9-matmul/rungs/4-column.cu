/* Lab 9, rung 4: a thread has 8 elements of a column of C. */
#include "lab9.h"

enum { SIDE = 64, DEPTH = 8, THREADS = 512 };

/* An element, or 0 beyond the edge. */
__device__ float at(const float *p, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? p[(size_t)row * cols + col] : 0;
}

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float ta[SIDE][DEPTH], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int tx = t % SIDE, ty = t / SIDE * 8;
    float sum[8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
        ta[t / DEPTH][t % DEPTH] = at(a, row0 + t / DEPTH, x0 + t % DEPTH, m, k);
        tb[t / SIDE][tx] = at(b, x0 + t / SIDE, col0 + tx, k, n);
        __syncthreads();
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            const float v = tb[x][tx];
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] += ta[ty + i][x] * v;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = row0 + ty + i, col = col0 + tx;
        if (row < m && col < n) c[(size_t)row * n + col] = sum[i];
    }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    multiply<<<dim3((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE), THREADS>>>(a, b, c, m, n, k);
}
