/* vectors.cu — products of vectors and matrices, normalisation of batches, best of a row, layers. */
#include "fidelity.h"
#include <cuda_fp16.h>

enum { N = 2048, HALVES = 1 << 23, BATCH = 16, CHANNELS = 256, PLANE = 32 * 32, ROWS = 8192, CLASSES = 512 };
enum { QUERIES = 1024, HEADS = 8, HEAD = 64, SEQUENCE = 4096 };
static float *a, *b, *result, *mean, *variance, *gamma1, *beta1;
static int *best;
static half2 *halves, *halves2;

/* --- products --- */
__global__ void outer(const float *u, const float *v, float *out, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols) out[i * cols + j] = u[i] * v[j];
}
/* a is ra x ca and b rb x cb. */
__global__ void kronecker(const float *a, int ra, int ca, const float *b, int rb, int cb, float *out) {
    int n = ra * rb * ca * cb;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int row = i / (ca * cb), col = i % (ca * cb);
        out[i] = a[(row / rb) * ca + col / cb] * b[(row % rb) * cb + col % cb];
    }
}
__global__ void axpy_half2(int n, float alpha, const half2 *x, half2 *y) {
    half2 f = __float2half2_rn(alpha);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(f, x[i], y[i]);
}
/* 64 x 64 results a block of 16 x 16, 4 x 4 a thread; a's tile lies turned in shared memory. */
__global__ void __launch_bounds__(256)
    matmul_float4(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float4 as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    float4 s0 = make_float4(0, 0, 0, 0), s1 = s0, s2 = s0, s3 = s0;
    float *turned = (float *)as;
    for (int m = 0; m < n; m += 16) {
        float4 v = *(const float4 *)&a[(row + t / 4) * n + m + t % 4 * 4];
        turned[(t % 4 * 4 + 0) * 64 + t / 4] = v.x;
        turned[(t % 4 * 4 + 1) * 64 + t / 4] = v.y;
        turned[(t % 4 * 4 + 2) * 64 + t / 4] = v.z;
        turned[(t % 4 * 4 + 3) * 64 + t / 4] = v.w;
        bs[ty][tx] = *(const float4 *)&b[(m + ty) * n + col + tx * 4];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 u = as[k][ty], w = bs[k][tx];
            s0.x += u.x * w.x, s0.y += u.x * w.y, s0.z += u.x * w.z, s0.w += u.x * w.w;
            s1.x += u.y * w.x, s1.y += u.y * w.y, s1.z += u.y * w.z, s1.w += u.y * w.w;
            s2.x += u.z * w.x, s2.y += u.z * w.y, s2.z += u.z * w.z, s2.w += u.z * w.w;
            s3.x += u.w * w.x, s3.y += u.w * w.y, s3.z += u.w * w.z, s3.w += u.w * w.w;
        }
        __syncthreads();
    }
    float4 *out = (float4 *)&c[(row + ty * 4) * n + col + tx * 4];
    out[0] = s0;
    out[n / 4] = s1;
    out[n / 2] = s2;
    out[n / 4 * 3] = s3;
}

/* --- batch norm, NCHW --- */
__global__ void batch_norm(const float *x, const float *mean, const float *variance, const float *gamma,
                           const float *beta, float *y, int n, int channels, int plane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = i / plane % channels;
    y[i] = (x[i] - mean[c]) / sqrtf(variance[c] + 1e-5f) * gamma[c] + beta[c];
}
__global__ void batch_statistics(const float *x, float *mean, float *variance, int batch, int channels, int plane) {
    __shared__ float s1[512], s2[512]; /* a channel a block */
    int c = blockIdx.x, t = threadIdx.x;
    float sum = 0.0f, squares = 0.0f;
    for (int n = 0; n < batch; n++)
        for (int i = t; i < plane; i += blockDim.x) {
            float v = x[(n * channels + c) * plane + i];
            sum += v;
            squares += v * v;
        }
    s1[t] = sum;
    s2[t] = squares;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) {
            s1[t] += s1[t + d];
            s2[t] += s2[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        float m = s1[0] / (batch * plane);
        mean[c] = m;
        variance[c] = s2[0] / (batch * plane) - m * m;
    }
}

/* --- the best of a row --- */
__global__ void argmax_row(const float *in, int *out, int width) { /* a row a block */
    __shared__ float value[128];
    __shared__ int index[128];
    int t = threadIdx.x;
    const float *row = in + (size_t)blockIdx.x * width;
    float v = row[t];
    int at = t;
    for (int i = t + blockDim.x; i < width; i += blockDim.x)
        if (row[i] > v) {
            v = row[i];
            at = i;
        }
    value[t] = v;
    index[t] = at;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) {
            if (value[t + d] > value[t] || (value[t + d] == value[t] && index[t + d] < index[t])) {
                value[t] = value[t + d];
                index[t] = index[t + d];
            }
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = index[0];
}
__global__ void top1_warp(const float *__restrict__ in, int *__restrict__ out, int rows, int width) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v = -3.4e38f;
    int at = 0;
    for (int i = lane; i < width; i += 32) {
        float u = in[(size_t)row * width + i];
        if (u > v) v = u, at = i;
    }
    for (int d = 16; d > 0; d /= 2) {
        float u = __shfl_down_sync(0xffffffff, v, d);
        int from = __shfl_down_sync(0xffffffff, at, d);
        if (u > v || (u == v && from < at)) v = u, at = from;
    }
    if (lane == 0) out[row] = at;
}

/* --- layers --- */
__global__ void bias_relu(float *x, const float *bias, int rows, int width) { /* in place, rows by a stride */
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float b = bias[col];
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        float v = x[row * width + col] + b;
        x[row * width + col] = v > 0.0f ? v : 0.0f;
    }
}
/* A block turns the pairs of one place in the sequence: HEADS heads of HEAD numbers. */
__global__ void rotary(const float *in, float *out, int heads, int head) {
    int place = blockIdx.x;
    for (int i = threadIdx.x; i < heads * head / 2; i += blockDim.x) {
        int k = i % (head / 2), h = i / (head / 2);
        float angle = place * powf(10000.0f, -2.0f * k / head);
        float c = cosf(angle), s = sinf(angle);
        size_t at = ((size_t)place * heads + h) * head + 2 * k;
        float x = in[at], y = in[at + 1];
        out[at] = x * c - y * s;
        out[at + 1] = x * s + y * c;
    }
}
__global__ void causal_scores(const float *q, const float *k, float *scores, int n, float scale) {
    int j = blockIdx.x * blockDim.x + threadIdx.x; /* the key */
    int i = blockIdx.y * blockDim.y + threadIdx.y; /* the query */
    if (i >= n || j >= n) return;
    float s = -INFINITY;
    if (j <= i) {
        s = 0.0f;
        for (int d = 0; d < HEAD; d++) s += q[i * HEAD + d] * k[j * HEAD + d];
        s *= scale;
    }
    scores[i * n + j] = s;
}
__global__ void sgd(float4 *weight, float4 *velocity, const float4 *gradient, int n4, float rate, float momentum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 w = weight[i], v = velocity[i], g = gradient[i];
    v.x = momentum * v.x + g.x;
    v.y = momentum * v.y + g.y;
    v.z = momentum * v.z + g.z;
    v.w = momentum * v.w + g.w;
    w.x -= rate * v.x;
    w.y -= rate * v.y;
    w.z -= rate * v.z;
    w.w -= rate * v.w;
    weight[i] = w;
    velocity[i] = v;
}

static void setup() {
    a = filled<float>(1 << 22, [](size_t i) { return unit(i) - 0.5f; });
    b = filled<float>(1 << 22, [](size_t i) { return unit(i + 50000000) - 0.5f; });
    result = zeroed<float>(1 << 22);
    mean = zeroed<float>(CHANNELS);
    variance = filled<float>(CHANNELS, unit);
    gamma1 = filled<float>(CHANNELS, unit);
    beta1 = filled<float>(CHANNELS, unit);
    best = zeroed<int>(ROWS);
    halves = filled<half2>(HALVES / 2, [](size_t i) { return __floats2half2_rn(unit(2 * i), unit(2 * i + 1)); });
    halves2 = filled<half2>(HALVES / 2, [](size_t i) { return __floats2half2_rn(unit(3 * i), unit(3 * i + 1)); });
}

static const dim3 square(16, 16), wide(32, 8);
static const fidelity_test tests[] = {
    COLD("vectors/outer product, 2048 x 2048", 1, outer<<<dim3(N / 32, N / 8), wide>>>(a, b, result, N, N)),
    COLD("vectors/Kronecker product, 64 x 64 and 32 x 32", 1, kronecker<<<2048, 128>>>(a, 64, 64, b, 32, 32, result)),
    COLD("vectors/axpy of half2, 2^23", 1, axpy_half2<<<HALVES / 2 / 512, 512>>>(HALVES / 2, 0.01f, halves, halves2)),
    COLD("vectors/product by float4, 4 x 4 a thread, 768", 1,
         matmul_float4<<<dim3(12, 12), square>>>(a, b, result, 768)),
    COLD("normalise/inference, 16 x 256 x 32 x 32", 1,
         batch_norm<<<(1 << 22) / 256, 256>>>(a, mean, variance, gamma1, beta1, result, 1 << 22, CHANNELS, PLANE)),
    COLD("normalise/statistics, 16 x 256 x 32 x 32", 1,
         batch_statistics<<<CHANNELS, 512>>>(a, result, result + CHANNELS, BATCH, CHANNELS, PLANE)),
    COLD("best/argmax, a row a block, 8192 x 512", 1, argmax_row<<<ROWS, 128>>>(a, best, CLASSES)),
    COLD("best/top 1, a row a warp, 8192 x 512", 1, top1_warp<<<ROWS / 2, 64>>>(a, best, ROWS, CLASSES)),
    COLD("layer/bias and ReLU, 4096 x 1024", 1, bias_relu<<<dim3(1, 512), 1024>>>(result, b, 4096, 1024)),
    COLD("layer/rotary embedding, 4096 places of 512", 1, rotary<<<SEQUENCE, 256>>>(a, result, HEADS, HEAD)),
    COLD("layer/causal scores, 1024", 1,
         causal_scores<<<dim3(QUERIES / 16, QUERIES / 16), square>>>(a, b, result, QUERIES, 0.125f)),
    COLD("layer/SGD with momentum, float4, 2^22", 1,
         sgd<<<(1 << 20) / 256, 256>>>((float4 *)result, (float4 *)b, (float4 *)a, 1 << 20, 0.01f, 0.9f)),
};
FIDELITY_MAIN(setup, tests)
