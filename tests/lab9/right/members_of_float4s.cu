// expect: full
// Loads float4s from shared memory and picks their members one by one: u[8] = {u0.x, u0.y, ...}. nvcc keeps such loads
// wide.
#include "lab9.h"

#define TILE    128 /* of C, a block */
#define SLICE   8   /* columns of A, rows of B */
#define P       8   /* a thread has P x P sums */
#define THREADS 256
#define PAD     4

/* Four floats at p, of which `inside` (row) and `left` columns exist. */
__device__ float4 fetch(const float *p, bool inside, int left, bool whole) {
    float4 f = {0, 0, 0, 0};
    if (!inside || left <= 0) return f;
    if (left >= 4 && whole) return *(const float4 *)p;
    f.x = p[0];
    if (left > 1) f.y = p[1];
    if (left > 2) f.z = p[2];
    if (left > 3) f.w = p[3];
    return f;
}

__global__ void __launch_bounds__(THREADS) multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) float ta[SLICE][TILE + PAD], tb[SLICE][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int lane = t % 32, warp = t / 32;
    int ly = (lane >> 1 & 1) | (lane >> 2 & 6), lx = (lane & 1) | (lane >> 1 & 2); /* of 8 x 4 patches of a warp */
    int i = warp / 4 * 64 + ly * 4, j = warp % 4 * 32 + lx * 4;
    int ai = t / 2, ax = t % 2 * 4, bx = t / 32, bj = t % 32 * 4;
    float sum[P][P];
#pragma unroll
    for (int r = 0; r < P; r++)
#pragma unroll
        for (int q = 0; q < P; q++) sum[r][q] = 0;
    for (int s = 0; s < k; s += SLICE) {
        float4 fa = fetch(a + (size_t)(row + ai) * k + s + ax, row + ai < m, k - s - ax, k % 4 == 0);
        float4 fb = fetch(b + (size_t)(s + bx) * n + col + bj, s + bx < k, n - col - bj, n % 4 == 0);
        ta[ax][ai] = fa.x, ta[ax + 1][ai] = fa.y, ta[ax + 2][ai] = fa.z, ta[ax + 3][ai] = fa.w;
        *(float4 *)&tb[bx][bj] = fb;
        __syncthreads();
#pragma unroll
        for (int x = 0; x < SLICE; x++) {
            float4 u0 = *(float4 *)&ta[x][i], u1 = *(float4 *)&ta[x][i + 32];
            float4 v0 = *(float4 *)&tb[x][j], v1 = *(float4 *)&tb[x][j + 16];
            float u[P] = {u0.x, u0.y, u0.z, u0.w, u1.x, u1.y, u1.z, u1.w};
            float v[P] = {v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w};
#pragma unroll
            for (int r = 0; r < P; r++)
#pragma unroll
                for (int q = 0; q < P; q++) sum[r][q] += u[r] * v[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < P; r++)
        for (int q = 0; q < P; q += 4) {
            int y = row + i + r % 4 + r / 4 * 32, z = col + j + q / 4 * 16;
            if (y >= m) continue;
            float *p = c + (size_t)y * n + z;
            if (n % 4 == 0 && z < n)
                *(float4 *)p = *(float4 *)&sum[r][q];
            else {
                if (z < n) p[0] = sum[r][q];
                if (z + 1 < n) p[1] = sum[r][q + 1];
                if (z + 2 < n) p[2] = sum[r][q + 2];
                if (z + 3 < n) p[3] = sum[r][q + 3];
            }
        }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<blocks, THREADS>>>(a, b, c, m, n, k);
}
