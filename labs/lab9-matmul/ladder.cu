/* ladder.cu — the rungs of lab 9's ladder, each with the one flaw that the next one removes.
 *
 * The harness uses `roof`, the multiply-adds alone, and `cublasSgemm`, where it is. The bench times them all. A rung is
 * short and stands alone: similar kernels are easier to compare than one clever template. Sides of rungs below `warp`
 * are multiples of 128, and k is one of 32: edges are the subject of the lab's file, not of this one. The launcher of
 * rung `tile` is called tile_matmul.
 */
#include "lab9.h"

#include <cuda_pipeline.h>
#include <stddef.h>

/* --- roof: m * n * k multiply-adds on numbers in registers ------------------------------------------------------- */

/* A thread has 64 sums, as in the kernels that come near. What it stores depends on all of them. fmaf: a compiler would
 * take u[i] * v[j] out of the loop, and leave additions. */
__global__ void __launch_bounds__(256, 2) ladder_roof(float *c, float start, int turns) {
    float sum[8][8], u[8], v[8];
    for (int i = 0; i < 8; i++) {
        u[i] = start + threadIdx.x * 0.25f + i;
        v[i] = start - threadIdx.x * 0.5f - i;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] = i - j;
#pragma unroll 4
    for (int x = 0; x < turns; x++)
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
    float all = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) all += sum[i][j];
    if (all == 0.123f) c[0] = all; /* never */
}

/* Two blocks for each of 132 SMs, and as many turns as the multiply-adds take. */
extern "C" void roof_matmul(const float *, const float *, float *c, int m, int n, int k) {
    const int blocks = 2 * 132;
    const double each = (double)m * n * k / (blocks * 256.0 * 64);
    ladder_roof<<<blocks, 256>>>(c, 1.5f, (int)each);
}

/* --- coalesced: a warp has 32 neighbours of a row. Flaw: two loads for each multiply-add -------------------------- */

__global__ void ladder_coalesced(const float *a, const float *b, float *c, int m, int n, int k) {
    const int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int x = 0; x < k; x++) sum += a[(size_t)i * k + x] * b[(size_t)x * n + j];
    c[(size_t)i * n + j] = sum;
}

extern "C" void coalesced_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_coalesced<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(a, b, c, m, n, k);
}

/* --- tile: both factors pass through shared memory. Flaw: two loads of shared memory for each multiply-add -------- */

__global__ void ladder_tile(const float *a, const float *b, float *c, int n, int k) {
    __shared__ float ta[32][32], tb[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 32 + ty, j = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int x0 = 0; x0 < k; x0 += 32) {
        ta[ty][tx] = a[(size_t)i * k + x0 + tx];
        tb[ty][tx] = b[(size_t)(x0 + ty) * n + j];
        __syncthreads();
#pragma unroll
        for (int x = 0; x < 32; x++) sum += ta[ty][x] * tb[x][tx];
        __syncthreads();
    }
    c[(size_t)i * n + j] = sum;
}

extern "C" void tile_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_tile<<<dim3(n / 32, m / 32), dim3(32, 32)>>>(a, b, c, n, k);
}

/* --- column: a thread has 8 elements of a column of C. Flaw: each still needs a float of A of its own ------------- */

__global__ void ladder_column(const float *a, const float *b, float *c, int n, int k) {
    enum { SIDE = 64, DEPTH = 8 };
    __shared__ float ta[SIDE][DEPTH], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE; /* 512 threads */
    const int tx = t % SIDE, ty = t / SIDE * 8;
    float sum[8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
        ta[t / DEPTH][t % DEPTH] = a[(size_t)(row0 + t / DEPTH) * k + x0 + t % DEPTH];
        tb[t / SIDE][tx] = b[(size_t)(x0 + t / SIDE) * n + col0 + tx];
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
    for (int i = 0; i < 8; i++) c[(size_t)(row0 + ty + i) * n + col0 + tx] = sum[i];
}

extern "C" void column_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_column<<<dim3(n / 64, m / 64), 512>>>(a, b, c, n, k);
}

/* --- patch: a thread has 8 x 8 elements. Flaw: it loads its 16 floats one by one ---------------------------------- */

__global__ void __launch_bounds__(256) ladder_patch(const float *a, const float *b, float *c, int n, int k) {
    enum { SIDE = 128, DEPTH = 8 };
    __shared__ float ta[SIDE][DEPTH], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int r0 = t / 16, c0 = t % 16; /* rows r0, r0 + 16, ... and columns c0, c0 + 16, ... */
    float sum[8][8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            ta[i * 32 + t / 8][t % 8] = a[(size_t)(row0 + i * 32 + t / 8) * k + x0 + t % 8];
            tb[i * 2 + t / 128][t % 128] = b[(size_t)(x0 + i * 2 + t / 128) * n + col0 + t % 128];
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
        for (int j = 0; j < 8; j++) c[(size_t)(row0 + r0 + 16 * i) * n + col0 + c0 + 16 * j] = sum[i][j];
}

extern "C" void patch_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_patch<<<dim3(n / 128, m / 128), 256>>>(a, b, c, n, k);
}

/* --- wide: float4s everywhere, and A is transposed on its way. Flaw: the patches of a warp lie in two rows -------- */

__device__ void ladder_add(float (*sum)[8], const float *u, const float *v) {
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] += u[i] * v[j];
}

__global__ void __launch_bounds__(256) ladder_wide(const float *a, const float *b, float *c, int n, int k) {
    enum { SIDE = 128, DEPTH = 8, PAD = 4 };
    __shared__ __align__(16) float ta[DEPTH][SIDE + PAD], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int r0 = t / 16 * 8, c0 = t % 16 * 4; /* columns c0 .. c0 + 3, and the same 64 further on */
    float sum[8][8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
        const float4 p = *(const float4 *)&a[(size_t)(row0 + t / 2) * k + x0 + t % 2 * 4];
        *(float4 *)&tb[t / 32][t % 32 * 4] = *(const float4 *)&b[(size_t)(x0 + t / 32) * n + col0 + t % 32 * 4];
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
            ladder_add(sum, u, v);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            *(float4 *)&c[(size_t)(row0 + r0 + i) * n + col0 + c0 + 64 * h] = *(float4 *)&sum[i][4 * h];
}

extern "C" void wide_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_wide<<<dim3(n / 128, m / 128), 256>>>(a, b, c, n, k);
}

/* --- warp: the patches of a warp fill 64 x 32, each in four quarters. Flaw: nothing is fetched while it multiplies -
 */

__global__ void __launch_bounds__(256, 2) ladder_warp(const float *a, const float *b, float *c, int n, int k) {
    enum { SIDE = 128, DEPTH = 8, PAD = 4 };
    __shared__ __align__(16) float ta[DEPTH][SIDE + PAD], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int lane = t % 32; /* a warp: 8 patches down, 4 across; lanes 0 and 1 side by side, 2 below 0 */
    const int r0 = t / 128 * 64 + lane / 2 % 8 * 4, c0 = t / 32 % 4 * 32 + (lane / 16 * 2 + lane % 2) * 4;
    float sum[8][8] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
        const float4 p = *(const float4 *)&a[(size_t)(row0 + t / 2) * k + x0 + t % 2 * 4];
        *(float4 *)&tb[t / 32][t % 32 * 4] = *(const float4 *)&b[(size_t)(x0 + t / 32) * n + col0 + t % 32 * 4];
        ta[t % 2 * 4][t / 2] = p.x;
        ta[t % 2 * 4 + 1][t / 2] = p.y;
        ta[t % 2 * 4 + 2][t / 2] = p.z;
        ta[t % 2 * 4 + 3][t / 2] = p.w;
        __syncthreads();
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            float u[8], v[8];
            *(float4 *)&u[0] = *(float4 *)&ta[x][r0];
            *(float4 *)&u[4] = *(float4 *)&ta[x][r0 + 32];
            *(float4 *)&v[0] = *(float4 *)&tb[x][c0];
            *(float4 *)&v[4] = *(float4 *)&tb[x][c0 + 16];
            ladder_add(sum, u, v);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            *(float4 *)&c[(size_t)(row0 + r0 + i % 4 + i / 4 * 32) * n + col0 + c0 + 16 * h] =
                *(float4 *)&sum[i][4 * h];
}

extern "C" void warp_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_warp<<<dim3(n / 128, m / 128), 256>>>(a, b, c, n, k);
}

/* --- spilled: a patch of 16 x 16. Flaw: 256 sums and 32 floats do not fit into 255 registers -----------------------
 */

__global__ void __launch_bounds__(64) ladder_spilled(const float *a, const float *b, float *c, int n, int k) {
    enum { SIDE = 128, DEPTH = 8 };
    __shared__ __align__(16) float ta[DEPTH][SIDE + 4], tb[DEPTH][SIDE];
    const int t = threadIdx.x, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    const int r0 = t / 8 * 16, c0 = t % 8 * 16;
    float sum[16][16] = {};
    for (int x0 = 0; x0 < k; x0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            ta[t % 8][i * 8 + t / 8] = a[(size_t)(row0 + i * 8 + t / 8) * k + x0 + t % 8];
            tb[i / 2][i % 2 * 64 + t] = b[(size_t)(x0 + i / 2) * n + col0 + i % 2 * 64 + t];
        }
        __syncthreads();
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            float u[16], v[16];
#pragma unroll
            for (int i = 0; i < 16; i += 4) {
                *(float4 *)&u[i] = *(float4 *)&ta[x][r0 + i];
                *(float4 *)&v[i] = *(float4 *)&tb[x][c0 + i];
            }
#pragma unroll
            for (int i = 0; i < 16; i++)
#pragma unroll
                for (int j = 0; j < 16; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
#pragma unroll
        for (int j = 0; j < 16; j += 4)
            *(float4 *)&c[(size_t)(row0 + r0 + i) * n + col0 + c0 + j] = *(float4 *)&sum[i][j];
}

extern "C" void spilled_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    ladder_spilled<<<dim3(n / 128, m / 128), 64>>>(a, b, c, n, k);
}

/* --- the vendor's ------------------------------------------------------------------------------------------------ */

#ifdef LAB_CUBLAS
#include <cublas_v2.h>

/* cuBLAS is column-major: our C is its transpose, B^T A^T. In its default mode it uses fp32 throughout. */
extern "C" void cublasSgemm_matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    static cublasHandle_t handle;
    static const float one = 1, zero = 0;
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
}
#endif
