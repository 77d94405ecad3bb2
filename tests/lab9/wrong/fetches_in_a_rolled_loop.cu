// expect: virtual-time: loads in a row
// The loop that fetches is kept from being unrolled: each of its loads waits for the one before.
#include "lab9.h"

#define TILE    128 /* of C, a block */
#define SLICE   8   /* columns of A, rows of B */
#define P       8   /* a thread has P x P sums */
#define THREADS 256

__global__ void __launch_bounds__(THREADS, 2) multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float ta[TILE][SLICE], tb[SLICE][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int i = t / 16, j = t % 16;
    float sum[P][P];
#pragma unroll
    for (int r = 0; r < P; r++)
#pragma unroll
        for (int q = 0; q < P; q++) sum[r][q] = 0;
    for (int s = 0; s < k; s += SLICE) {
#pragma unroll 1
        for (int e = t; e < TILE * SLICE; e += THREADS) {
            int ai = e / SLICE, ax = e % SLICE, bx = e / TILE, bj = e % TILE;
            ta[ai][ax] = row + ai < m && s + ax < k ? a[(size_t)(row + ai) * k + s + ax] : 0;
            tb[bx][bj] = s + bx < k && col + bj < n ? b[(size_t)(s + bx) * n + col + bj] : 0;
        }
        __syncthreads();
        for (int x = 0; x < SLICE; x++) {
            float u[P], v[P];
#pragma unroll
            for (int r = 0; r < P; r++) u[r] = ta[i + 16 * r][x];
#pragma unroll
            for (int q = 0; q < P; q++) v[q] = tb[x][j + 16 * q];
#pragma unroll
            for (int r = 0; r < P; r++)
#pragma unroll
                for (int q = 0; q < P; q++) sum[r][q] += u[r] * v[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < P; r++)
#pragma unroll
        for (int q = 0; q < P; q++)
            if (row + i + 16 * r < m && col + j + 16 * q < n)
                c[(size_t)(row + i + 16 * r) * n + col + j + 16 * q] = sum[r][q];
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<blocks, THREADS>>>(a, b, c, m, n, k);
}
