/* Lab 9, rung 3: both factors pass through shared memory, in tiles of 32 x 32. */
#include "lab9.h"

#define SIDE 32

/* An element, or 0 beyond the edge. */
__device__ float at(const float *p, int row, int col, int rows, int cols) {
    return row < rows && col < cols ? p[(size_t)row * cols + col] : 0;
}

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float ta[SIDE][SIDE], tb[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * SIDE + ty, j = blockIdx.x * SIDE + tx;
    float sum = 0;
    for (int x0 = 0; x0 < k; x0 += SIDE) {
        ta[ty][tx] = at(a, i, x0 + tx, m, k);
        tb[ty][tx] = at(b, x0 + ty, j, k, n);
        __syncthreads(); /* the tiles are whole */
        for (int x = 0; x < SIDE; x++) sum += ta[ty][x] * tb[x][tx];
        __syncthreads(); /* nobody needs them any more */
    }
    if (i < m && j < n) c[(size_t)i * n + j] = sum;
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    dim3 blocks((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE), threads(SIDE, SIDE);
    multiply<<<blocks, threads>>>(a, b, c, m, n, k);
}
