/* linear.cu — factorings, small matrices in batches, iterations, products of other types. */
#include "fidelity.h"
#include <cuda_fp16.h>

enum { N = 2048, BATCH = 8192, MATRICES = 1 << 18, LONG = 1 << 22, SOLVE = 512, PAIRS = 32768 };
static float *big, *dominant, *lower, *spd, *factors, *x, *x2, *x3, *v, *w, *result, *partial;
static int *packed, *packed_result;
static half *halves;

/* --- LU: column k is divided, the rest gets the rank-1 update --- */
__global__ void lu_column(float *a, int n, int k) {
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i * n + k] /= a[k * n + k];
}
__global__ void lu_update(float *a, int n, int k) {
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

/* A block of 16 x 16 threads has a matrix of 16 x 16. */
__global__ void cholesky16(const float *in, float *out) {
    __shared__ float a[16][17];
    int r = threadIdx.y, c = threadIdx.x;
    a[r][c] = in[blockIdx.x * 256 + r * 16 + c];
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        if (r == k && c == k) a[k][k] = sqrtf(a[k][k]);
        __syncthreads();
        if (c == k && r > k) a[r][k] /= a[k][k];
        __syncthreads();
        if (c > k && r >= c) a[r][c] -= a[r][k] * a[c][k];
        __syncthreads();
    }
    out[blockIdx.x * 256 + r * 16 + c] = c <= r ? a[r][c] : 0.0f;
}

/* One block solves L x = b. A thread has a row; L lies column by column. */
__global__ void forward_solve(const float *l, const float *b, float *x, int n) {
    __shared__ float solved;
    int i = threadIdx.x;
    float rest = b[i];
    for (int k = 0; k < n; k++) {
        if (i == k) {
            rest /= l[k * n + k];
            solved = rest;
        }
        __syncthreads();
        if (i > k) rest -= l[k * n + i] * solved;
        __syncthreads();
    }
    x[i] = rest;
}

/* --- small ones in batches --- */
struct matrix4 {
    float m[4][4];
};
__global__ void multiply4(const matrix4 *a, const matrix4 *b, matrix4 *c, int count) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float s = 0.0f;
            for (int k = 0; k < 4; k++) s += a[t].m[i][k] * b[t].m[k][j];
            c[t].m[i][j] = s;
        }
}
__global__ void multiply4_arrays(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                 int count) { /* element e of matrix t is at e * count + t */
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    float u[16], s[16];
#pragma unroll
    for (int e = 0; e < 16; e++) {
        u[e] = b[e * count + t];
        s[e] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float f = a[(i * 4 + k) * count + t];
#pragma unroll
            for (int j = 0; j < 4; j++) s[i * 4 + j] += f * u[k * 4 + j];
        }
#pragma unroll
    for (int e = 0; e < 16; e++) c[e * count + t] = s[e];
}
template <int LENGTH> __global__ void dots(const float *a, const float *b, float *out, int pairs) { /* a pair a warp */
    int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (pair >= pairs) return;
    float s = 0.0f;
#pragma unroll
    for (int k = 0; k < LENGTH; k += 32) s += a[pair * LENGTH + k + lane] * b[pair * LENGTH + k + lane];
    for (int offset = 16; offset > 0; offset >>= 1) s += __shfl_down_sync(0xffffffff, s, offset);
    if (lane == 0) out[pair] = s;
}

/* --- iterations --- */
/* Four rows a block of 32 x 4. */
__global__ void jacobi(const float *a, const float *b, const float *x, float *next, int n) {
    int i = blockIdx.x * blockDim.y + threadIdx.y;
    float s = 0.0f;
    for (int j = threadIdx.x; j < n; j += 32)
        if (j != i) s += a[i * n + j] * x[j];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
    if (threadIdx.x == 0) next[i] = (b[i] - s) / a[i * n + i];
}

__global__ void clear(float *sum) { *sum = 0.0f; }
__global__ void add_squares(const float *v, int n, float *sum) { /* an atomic a warp */
    float s = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += v[i] * v[i];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, s);
}
__global__ void normalise(const float *v, float *out, int n, const float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = v[i] / sqrtf(*sum);
}

/* Rayleigh's quotient: v . w and v . v. */
__global__ void quotient_parts(const float *v, const float *w, int n, float *parts) {
    __shared__ float top[128], bottom[128];
    int t = threadIdx.x;
    float vw = 0.0f, vv = 0.0f;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) {
        vw += v[i] * w[i];
        vv += v[i] * v[i];
    }
    top[t] = vw;
    bottom[t] = vv;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) {
            top[t] += top[t + d];
            bottom[t] += bottom[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        parts[2 * blockIdx.x] = top[0];
        parts[2 * blockIdx.x + 1] = bottom[0];
    }
}
__global__ void quotient(const float *parts, float *out) { /* one block of as many threads as there are parts */
    __shared__ float top[1024], bottom[1024];
    int t = threadIdx.x;
    top[t] = parts[2 * t];
    bottom[t] = parts[2 * t + 1];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) {
            top[t] += top[t + d];
            bottom[t] += bottom[t + d];
        }
        __syncthreads();
    }
    if (t == 0) *out = top[0] / bottom[0];
}

/* --- products --- */
/* A block of 256 has 64 x 64 results, a thread 4 x 4; tiles are 16 deep. */
#define BM 64
#define BN 64
#define BK 16
__global__ void matmul_registers(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                 int n) {
    __shared__ float as[BM][BK], bs[BK][BN];
    int tid = threadIdx.x;
    int ty = tid / 16, tx = tid % 16;
    float acc[4][4] = {{0.0f}};
    for (int k0 = 0; k0 < n; k0 += BK) {
        for (int i = tid; i < BM * BK; i += 256) as[i / BK][i % BK] = a[(blockIdx.y * BM + i / BK) * n + k0 + i % BK];
        for (int i = tid; i < BK * BN; i += 256) bs[i / BN][i % BN] = b[(k0 + i / BN) * n + blockIdx.x * BN + i % BN];
        __syncthreads();
        for (int k = 0; k < BK; k++) {
            float ra[4], rb[4];
            for (int i = 0; i < 4; i++) ra[i] = as[ty * 4 + i][k];
            for (int j = 0; j < 4; j++) rb[j] = bs[k][tx * 4 + j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(blockIdx.y * BM + ty * 4 + i) * n + blockIdx.x * BN + tx * 4 + j] = acc[i][j];
}

/* Bytes, four in an int; b lies column by column. */
__global__ void matmul_bytes(const int *a, const int *b, int *c, int n, int k4) {
    __shared__ int as[16][16], bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    int s = 0;
    for (int m = 0; m < k4; m += 16) {
        as[ty][tx] = a[row * k4 + m + tx];
        bs[ty][tx] = b[(blockIdx.x * 16 + ty) * k4 + m + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) s = __dp4a(as[ty][k], bs[tx][k], s);
        __syncthreads();
    }
    c[row * n + col] = s;
}

__global__ void matmul_half(const half *a, const half *b, half *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n) return;
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += __half2float(a[row * n + k]) * __half2float(b[k * n + col]);
    c[row * n + col] = __float2half(s);
}

/* G = X' X, and X has a row a sample. The blocks above the diagonal have nothing to do. */
__global__ void gram(const float *x, float *g, int samples, int features) {
    __shared__ float left[16][16], right[16][16];
    if (blockIdx.x > blockIdx.y) return;
    int tx = threadIdx.x, ty = threadIdx.y;
    int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
    float s = 0.0f;
    for (int m = 0; m < samples; m += 16) {
        left[ty][tx] = x[(m + ty) * features + i0 + tx];
        right[ty][tx] = x[(m + ty) * features + j0 + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += left[k][ty] * right[k][tx];
        __syncthreads();
    }
    g[(i0 + ty) * features + j0 + tx] = s;
    g[(j0 + tx) * features + i0 + ty] = s;
}

static void setup() {
    big = filled<float>(N * N, unit);
    dominant = filled<float>(N * N, [](size_t i) { return i / N == i % N ? 2.0f * N : unit(i); });
    lower = filled<float>(SOLVE * SOLVE, [](size_t i) { return i / SOLVE == i % SOLVE ? 4.0f : unit(i) / SOLVE; });
    spd = filled<float>(BATCH * 256, [](size_t i) {
        size_t r = i / 16 % 16, c = i % 16, low = r < c ? r : c, high = r < c ? c : r;
        return r == c ? 20.0f + unit(i) : unit(i / 256 * 256 + high * 16 + low);
    });
    factors = zeroed<float>(BATCH * 256);
    v = filled<float>(LONG, unit);
    w = filled<float>(LONG, [](size_t i) { return unit(i + 77777777); });
    x = filled<float>(N, unit);
    x2 = zeroed<float>(N);
    x3 = zeroed<float>(N);
    result = zeroed<float>(N * N);
    partial = zeroed<float>(2 * 1024 + 2);
    packed = filled<int>(1 << 19, [](size_t i) { return (int)mixed(i); });
    packed_result = zeroed<int>(1 << 20);
    halves = filled<half>(3 << 18, [](size_t i) { return __float2half(unit(i)); });
}

static const dim3 square(16, 16);
static const fidelity_test tests[] = {
    WARM("factor/a step of LU, 2048", 2, lu_column<<<8, 256>>>(dominant, N, 24);
         lu_update<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(dominant, N, 24)),
    COLD("factor/Cholesky, 8192 of 16 x 16", 1, cholesky16<<<BATCH, square>>>(spd, factors)),
    WARM("factor/triangle, one block, 512", 1, forward_solve<<<1, SOLVE>>>(lower, x, x2, SOLVE)),
    COLD("small/4 x 4 times 4 x 4, 2^18", 1,
         multiply4<<<MATRICES / 128, 128>>>((matrix4 *)v, (matrix4 *)w, (matrix4 *)result, MATRICES)),
    COLD("small/4 x 4 times 4 x 4, arrays, 2^18", 1, multiply4_arrays<<<MATRICES / 256, 256>>>(v, w, result, MATRICES)),
    COLD("small/32768 dot products of 128", 1, dots<128><<<PAIRS * 32 / 512, 512>>>(v, w, result, PAIRS)),
    WARM("iterate/Jacobi, dense, twice, 2048", 2, jacobi<<<N / 4, dim3(32, 4)>>>(dominant, x, x, x2, N);
         jacobi<<<N / 4, dim3(32, 4)>>>(dominant, x, x2, x3, N)),
    COLD("iterate/norm by atomics and scale, 2^22", 3, clear<<<1, 1>>>(partial);
         add_squares<<<512, 256>>>(v, LONG, partial); normalise<<<LONG / 1024, 1024>>>(v, result, LONG, partial)),
    COLD("iterate/Rayleigh quotient, two launches, 2^22", 2, quotient_parts<<<1024, 128>>>(v, w, LONG, partial);
         quotient<<<1, 1024>>>(partial, result)),
    COLD("product/tiles of 64 x 64 x 16, 4 x 4 a thread, 768", 1,
         matmul_registers<<<dim3(12, 12), 256>>>(big, big + (1 << 20), result, 768)),
    COLD("product/bytes by dp4a, 1024", 1,
         matmul_bytes<<<dim3(64, 64), square>>>(packed, packed + (1 << 18), packed_result, 1024, 256)),
    COLD("product/half, naive, 512", 1,
         matmul_half<<<dim3(32, 32), square>>>(halves, halves + (1 << 18), halves + (2 << 18), 512)),
    COLD("product/Gram, 2048 samples of 512", 1, gram<<<dim3(32, 32), square>>>(big, result, 2048, 512)),
};
FIDELITY_MAIN(setup, tests)
