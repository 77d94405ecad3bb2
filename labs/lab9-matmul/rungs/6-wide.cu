/* Lab 9, rung 6: float4s everywhere, and A is transposed on its way into shared memory. */
#include "lab9.h"

enum { SIDE = 128, DEPTH = 8, PAD = 4, THREADS = 256 };

/* Four elements of a row, by one load where they have an aligned address; 0 beyond the edge. */
__device__ float4 four(const float *p, int row, int col, int rows, int cols) {
    float v[4] = {};
    if (cols % 4 == 0 && row < rows && col < cols) return *(const float4 *)&p[(size_t)row * cols + col];
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (row < rows && col + i < cols) v[i] = p[(size_t)row * cols + col + i];
    return make_float4(v[0], v[1], v[2], v[3]);
}

__global__ void __launch_bounds__(THREADS) multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) float ta[DEPTH][SIDE + PAD], tb[DEPTH][SIDE]; /* ta: transposed */
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int r0 = t / 16 * 8, c0 = t % 16 * 4; /* a warp: 2 patches down, 16 across */
    float sum[8][8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
        const float4 p = four(a, row0 + t / 2, x0 + t % 2 * 4, m, k);
        *(float4 *)&tb[t / 32][t % 32 * 4] = four(b, x0 + t / 32, col0 + t % 32 * 4, k, n);
        ta[t % 2 * 4][t / 2] = p.x;
        ta[t % 2 * 4 + 1][t / 2] = p.y;
        ta[t % 2 * 4 + 2][t / 2] = p.z;
        ta[t % 2 * 4 + 3][t / 2] = p.w;
        __syncthreads();
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            float u[8], v[8];
            *(float4 *)&u[0] = *(float4 *)&ta[x][r0];
            *(float4 *)&u[4] = *(float4 *)&ta[x][r0 + 4];
            *(float4 *)&v[0] = *(float4 *)&tb[x][c0];
            *(float4 *)&v[4] = *(float4 *)&tb[x][c0 + 64];
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
        for (int h = 0; h < 2; h++) {
            const int row = row0 + r0 + i % 4 + i / 4 * 4, col = col0 + c0 + 64 * h;
            float *to = &c[(size_t)row * n + col];
            if (row < m && col < n && n % 4 == 0) {
                *(float4 *)to = *(float4 *)&sum[i][4 * h];
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (row < m && col + j < n) to[j] = sum[i][4 * h + j];
            }
        }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    multiply<<<dim3((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE), THREADS>>>(a, b, c, m, n, k);
}
