/* dense.cu — the ladder of matrix products, matrix times vector, transposes. */
#include "fidelity.h"

enum { N = 512, BIG = 2048 };
static float *a, *b, *c, *big, *x;

__global__ void naive(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
__global__ void naive_wrong_way(const float *a, const float *b, float *c, int n) { /* x goes down the rows */
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
template <int T> __global__ void tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float s = 0;
    for (int m = 0; m < n; m += T) {
        as[ty][tx] = a[row * n + m + tx];
        bs[ty][tx] = b[(m + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++) s += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}
/* A thread has a column of R results. */
template <int R> __global__ void column(const float *a, const float *b, float *c, int n) {
    __shared__ float as[64][8], bs[8][64];
    int tx = threadIdx.x % 64, ty = threadIdx.x / 64;
    float s[R] = {};
    for (int m = 0; m < n; m += 8) {
        as[threadIdx.x / 8][threadIdx.x % 8] = a[(blockIdx.y * 64 + threadIdx.x / 8) * n + m + threadIdx.x % 8];
        bs[threadIdx.x / 64][tx] = b[(m + threadIdx.x / 64) * n + blockIdx.x * 64 + tx];
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            float v = bs[k][tx];
            for (int i = 0; i < R; i++) s[i] += as[ty * R + i][k] * v;
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++) c[(blockIdx.y * 64 + ty * R + i) * n + blockIdx.x * 64 + tx] = s[i];
}
/* A block has 16 R x 16 R results, a thread R x R. */
template <int R> __global__ void blocked(const float *a, const float *b, float *c, int n) {
    const int S = 16 * R;
    __shared__ float as[8][S], bs[8][S];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float s[R][R] = {}, u[R], v[R];
    for (int m = 0; m < n; m += 8) {
        for (int i = threadIdx.x; i < 8 * S; i += 256) {
            as[i % 8][i / 8] = a[(blockIdx.y * S + i / 8) * n + m + i % 8];
            bs[i / S][i % S] = b[(m + i / S) * n + blockIdx.x * S + i % S];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
#pragma unroll
            for (int i = 0; i < R; i++) u[i] = as[k][ty * R + i], v[i] = bs[k][tx * R + i];
#pragma unroll
            for (int i = 0; i < R; i++)
#pragma unroll
                for (int j = 0; j < R; j++) s[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) c[(blockIdx.y * S + ty * R + i) * n + blockIdx.x * S + tx * R + j] = s[i][j];
}
__global__ void tiled_double(const double *a, const double *b, double *c, int n) {
    __shared__ double as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    double s = 0;
    for (int m = 0; m < n; m += 16) {
        as[ty][tx] = a[row * n + m + tx];
        bs[ty][tx] = b[(m + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}
/* --- matrix times vector --- */
__global__ void row_a_thread(const float *m, const float *x, float *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += m[(size_t)row * n + k] * x[k];
    y[row] = s;
}
__global__ void column_a_thread(const float *m, const float *x, float *y, int n) { /* the transposed product */
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += m[(size_t)k * n + col] * x[k];
    y[col] = s;
}
__global__ void row_a_warp(const float *m, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int k = lane; k < n; k += 32) s += m[(size_t)row * n + k] * x[k];
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) y[row] = s;
}
__global__ void row_a_block(const float *m, const float *x, float *y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    float v = 0;
    for (int k = t; k < n; k += 128) v += m[(size_t)blockIdx.x * n + k] * x[k];
    s[t] = v;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void row_a_warp4(const float4 *m, const float4 *x, float *y, int n4) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int k = lane; k < n4; k += 32) {
        float4 u = m[(size_t)row * n4 + k], v = x[k];
        s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) y[row] = s;
}
/* --- transposes --- */
__global__ void turn_reads(const float *in, float *out, int n) { /* reads in order */
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t)x * n + y] = in[(size_t)y * n + x];
}
__global__ void turn_writes(const float *in, float *out, int n) { /* writes in order */
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[(size_t)y * n + x] = in[(size_t)x * n + y];
}
template <int PAD> __global__ void turn_tile(const float *in, float *out, int n) {
    __shared__ float s[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) s[threadIdx.y + i][threadIdx.x] = in[(size_t)(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(size_t)(y + i) * n + x] = s[threadIdx.x][threadIdx.y + i];
}
__global__ void add_rows(const float *in, float *out, int n) { /* a sum down each column */
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int y = blockIdx.y * 64; y < blockIdx.y * 64 + 64; y++) s += in[(size_t)y * n + x];
    atomicAdd(&out[x], s);
}

static void setup() {
    a = filled<float>(1 << 20, unit);
    b = filled<float>(1 << 20, unit);
    c = zeroed<float>(BIG * BIG);
    big = filled<float>(BIG * BIG, unit);
    x = filled<float>(BIG, unit);
}

static const dim3 square(16, 16), tall(32, 8);
static const fidelity_test tests[] = {
    COLD("gemm/naive, 512", 1, naive<<<dim3(32, 32), square>>>(a, b, c, N)),
    COLD("gemm/naive, blocks of 32 x 32, 512", 1, naive<<<dim3(16, 16), dim3(32, 32)>>>(a, b, c, N)),
    COLD("gemm/naive, the wrong way, 256", 1, naive_wrong_way<<<dim3(16, 16), square>>>(a, b, c, 256)),
    COLD("gemm/tiles of 16, 512", 1, tiled<16><<<dim3(32, 32), square>>>(a, b, c, N)),
    COLD("gemm/tiles of 32, 512", 1, tiled<32><<<dim3(16, 16), dim3(32, 32)>>>(a, b, c, N)),
    COLD("gemm/8 results a thread, 512", 1, column<8><<<dim3(8, 8), 512>>>(a, b, c, N)),
    COLD("gemm/4 x 4 results a thread, 1024", 1, blocked<4><<<dim3(16, 16), 256>>>(a, b, c, 1024)),
    COLD("gemm/8 x 8 results a thread, 1024", 1, blocked<8><<<dim3(8, 8), 256>>>(a, b, c, 1024)),
    COLD("gemm/tiles of 16, double, 256", 1,
         tiled_double<<<dim3(16, 16), square>>>((double *)big, (double *)big, (double *)c, 256)),
    COLD("matvec/a row a thread, 2048", 1, row_a_thread<<<16, 128>>>(big, x, c, BIG)),
    COLD("matvec/a column a thread, 2048", 1, column_a_thread<<<16, 128>>>(big, x, c, BIG)),
    COLD("matvec/a row a warp, 2048", 1, row_a_warp<<<256, 256>>>(big, x, c, BIG)),
    COLD("matvec/a row a block, 2048", 1, row_a_block<<<BIG, 128>>>(big, x, c, BIG)),
    COLD("matvec/a row a warp, float4, 2048", 1, row_a_warp4<<<256, 256>>>((float4 *)big, (float4 *)x, c, BIG / 4)),
    WARM("matvec/a row a warp, warm, 2048", 1, row_a_warp<<<256, 256>>>(big, x, c, BIG)),
    COLD("transpose/reads in order, 2048", 1, turn_reads<<<dim3(64, 256), tall>>>(big, c, BIG)),
    COLD("transpose/writes in order, 2048", 1, turn_writes<<<dim3(64, 256), tall>>>(big, c, BIG)),
    COLD("transpose/tile, 2048", 1, turn_tile<0><<<dim3(64, 64), tall>>>(big, c, BIG)),
    COLD("transpose/padded tile, 2048", 1, turn_tile<1><<<dim3(64, 64), tall>>>(big, c, BIG)),
    WARM("transpose/padded tile, warm, 1024", 1, turn_tile<1><<<dim3(32, 32), tall>>>(big, c, 1024)),
    COLD("transpose/sum of columns, 2048", 1, add_rows<<<dim3(8, 32), 256>>>(big, c, BIG)),
};
FIDELITY_MAIN(setup, tests)
