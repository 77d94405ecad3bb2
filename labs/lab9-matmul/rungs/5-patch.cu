/* Lab 9, rung 5: a thread has a patch of 8 x 8 elements of C; rows and columns 16 apart, so that no two lanes want one
 * bank. */
#include "lab9.h"

enum { SIDE = 128, DEPTH = 8, THREADS = 256 };

/* An element, or 0 beyond the edge. */
__device__ float at(const float *p, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? p[(size_t)row * cols + col] : 0;
}

__global__ void __launch_bounds__(THREADS) multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float ta[SIDE][DEPTH], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int r0 = t / 16, c0 = t % 16;
    float sum[8][8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            ta[i * 32 + t / 8][t % 8] = at(a, row0 + i * 32 + t / 8, x0 + t % 8, m, k);
            tb[i * 2 + t / 128][t % 128] = at(b, x0 + i * 2 + t / 128, col0 + t % 128, k, n);
        }
        __syncthreads();
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            float u[8], v[8];
#pragma unroll
            for (int i = 0; i < 8; i++) u[i] = ta[r0 + 16 * i][x];
#pragma unroll
            for (int j = 0; j < 8; j++) v[j] = tb[x][c0 + 16 * j];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int row = row0 + r0 + 16 * i, col = col0 + c0 + 16 * j;
            if (row < m && col < n) c[(size_t)row * n + col] = sum[i][j];
        }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    multiply<<<dim3((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE), THREADS>>>(a, b, c, m, n, k);
}
