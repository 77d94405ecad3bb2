/* learning.cu — convolutions, pooling, rows of logits, clusters, steps of training. */
#include "fidelity.h"

/* CIN to COUT channels of SIDE x SIDE, in IMAGES images. */
enum { IMAGES = 2, CIN = 32, COUT = 64, SIDE = 64, ROWS = 4096, CLASSES = 1000, WIDTH = 1024 };
enum { POINTS = 1 << 18, DIMS = 8, CENTROIDS = 64, TOKENS = 16384, EMBED = 128, WORDS = 8192, HIDDEN = 1024 };
static float *large, *other, *result, *weights, *centroids, *gates, *cell;
static int *labels, *nearest, *tokens;
static signed char *small;

/* --- convolutions of 3 x 3, zeros around --- */
__global__ void conv2d(const float *in, const float *weight, float *out, int batch, int cin, int cout, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * cout * h * w) return;
    int x = i % w;
    int y = i / w % h;
    int oc = i / (w * h) % cout;
    int n = i / (w * h * cout);
    float sum = 0.0f;
    for (int ic = 0; ic < cin; ic++)
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++) {
                int iy = y + ky - 1, ix = x + kx - 1;
                if (iy >= 0 && iy < h && ix >= 0 && ix < w)
                    sum += in[((n * cin + ic) * h + iy) * w + ix] * weight[((oc * cin + ic) * 3 + ky) * 3 + kx];
            }
    out[i] = sum;
}

template <int T>
__global__ void conv2d_tile(const float *__restrict__ in, const float *__restrict__ weight, float *__restrict__ out,
                            int cin, int cout, int h, int w) {
    __shared__ float tile[T + 2][T + 2];
    __shared__ float filter[9];
    int n = blockIdx.z / cout, oc = blockIdx.z % cout;
    int x0 = blockIdx.x * T, y0 = blockIdx.y * T;
    int tid = threadIdx.y * T + threadIdx.x;
    float sum = 0.0f;
    for (int ic = 0; ic < cin; ic++) {
        const float *plane = in + (n * cin + ic) * h * w;
        for (int i = tid; i < (T + 2) * (T + 2); i += T * T) {
            int y = y0 + i / (T + 2) - 1, x = x0 + i % (T + 2) - 1;
            tile[i / (T + 2)][i % (T + 2)] = y >= 0 && y < h && x >= 0 && x < w ? plane[y * w + x] : 0.0f;
        }
        if (tid < 9) filter[tid] = weight[(oc * cin + ic) * 9 + tid];
        __syncthreads();
#pragma unroll
        for (int ky = 0; ky < 3; ky++)
#pragma unroll
            for (int kx = 0; kx < 3; kx++) sum += tile[threadIdx.y + ky][threadIdx.x + kx] * filter[ky * 3 + kx];
        __syncthreads();
    }
    out[((n * cout + oc) * h + y0 + threadIdx.y) * w + x0 + threadIdx.x] = sum;
}

__global__ void depthwise(const float *in, const float *weight, float *out, int channels, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    const float *plane = in + (size_t)blockIdx.z * h * w;
    const float *k = weight + blockIdx.z % channels * 9;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        if (y + dy < 0 || y + dy >= h) continue;
        for (int dx = -1; dx <= 1; dx++) {
            if (x + dx < 0 || x + dx >= w) continue;
            sum += plane[(y + dy) * w + x + dx] * k[(dy + 1) * 3 + dx + 1];
        }
    }
    out[((size_t)blockIdx.z * h + y) * w + x] = sum;
}

/* --- pooling --- */
__global__ void max_pool(const float *in, float *out, int planes, int h, int w) { /* 2 x 2 */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = h / 2, ow = w / 2;
    if (i >= planes * oh * ow) return;
    int x = i % ow, y = i / ow % oh, p = i / (ow * oh);
    const float *at = in + ((size_t)p * h + 2 * y) * w + 2 * x;
    out[i] = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[w], at[w + 1]));
}
__global__ void average_pool(const float *in, float *out, int size) { /* a plane a block */
    __shared__ float s[128];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < size; i += blockDim.x) sum += in[(size_t)blockIdx.x * size + i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0] / size;
}

/* --- rows --- */
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__device__ float warp_max(float v) {
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}

__global__ void cross_entropy(const float *logits, const int *label, float *loss, int classes) { /* a row a block */
    __shared__ float s[256];
    const float *row = logits + (size_t)blockIdx.x * classes;
    int t = threadIdx.x;
    float m = -1e30f;
    for (int i = t; i < classes; i += 256) m = fmaxf(m, row[i]);
    s[t] = m;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < classes; i += 256) sum += expf(row[i] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) loss[blockIdx.x] = logf(s[0]) + m - row[label[blockIdx.x]];
}

__global__ void quantise(const float4 *in, char4 *out, float *scales, int n4) { /* a row a block */
    __shared__ float warps[8];
    const float4 *row = in + (size_t)blockIdx.x * n4;
    float m = 0.0f;
    for (int i = threadIdx.x; i < n4; i += blockDim.x) {
        float4 v = row[i];
        m = fmaxf(m, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    m = warp_max(m);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
    __syncthreads();
    m = warps[0];
    for (int i = 1; i < blockDim.x / 32; i++) m = fmaxf(m, warps[i]);
    float scale = 127.0f / fmaxf(m, 1e-8f);
    for (int i = threadIdx.x; i < n4; i += blockDim.x) {
        float4 v = row[i];
        out[(size_t)blockIdx.x * n4 + i] = make_char4(__float2int_rn(v.x * scale), __float2int_rn(v.y * scale),
                                                      __float2int_rn(v.z * scale), __float2int_rn(v.w * scale));
    }
    if (threadIdx.x == 0) scales[blockIdx.x] = m / 127.0f;
}

template <int D> __global__ void rms_norm(const float *in, const float *gain, float *out, int rows) { /* a row a warp */
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v[D / 32], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < D / 32; k++) {
        v[k] = in[row * D + k * 32 + lane];
        sum += v[k] * v[k];
    }
    float r = rsqrtf(warp_sum(sum) / D + 1e-6f);
#pragma unroll
    for (int k = 0; k < D / 32; k++) out[row * D + k * 32 + lane] = v[k] * r * gain[k * 32 + lane];
}

/* --- clusters: the nearest of 64 centroids --- */
__global__ void assign(const float *points, const float *centroids, int *nearest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.4e38f;
    int which = 0;
    for (int c = 0; c < CENTROIDS; c++) {
        float distance = 0.0f;
        for (int d = 0; d < DIMS; d++) {
            float u = points[i * DIMS + d] - centroids[c * DIMS + d];
            distance += u * u;
        }
        if (distance < best) {
            best = distance;
            which = c;
        }
    }
    nearest[i] = which;
}
__global__ void assign_shared(const float *__restrict__ points, const float *__restrict__ centroids,
                              int *__restrict__ nearest, int n) {
    __shared__ float s[CENTROIDS * DIMS];
    for (int k = threadIdx.x; k < CENTROIDS * DIMS; k += blockDim.x) s[k] = centroids[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float p[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; d++) p[d] = points[i * DIMS + d];
    float best = 3.4e38f;
    int which = 0;
    for (int c = 0; c < CENTROIDS; c++) {
        float distance = 0.0f;
#pragma unroll
        for (int d = 0; d < DIMS; d++) {
            float u = p[d] - s[c * DIMS + d];
            distance += u * u;
        }
        if (distance < best) {
            best = distance;
            which = c;
        }
    }
    nearest[i] = which;
}

/* --- training --- */
__device__ unsigned hash(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}
__global__ void dropout(const float *in, float *out, int n, float p, unsigned seed) {
    float scale = 1.0f / (1.0f - p);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float u = hash(i ^ seed) * 2.3283064e-10f;
        out[i] = u < p ? 0.0f : in[i] * scale;
    }
}

__global__ void embedding_gradient(const float *grad, const int *token, float *table, int embed) { /* a token a block */
    int t = token[blockIdx.x];
    for (int d = threadIdx.x; d < embed; d += blockDim.x)
        atomicAdd(&table[(size_t)t * embed + d], grad[(size_t)blockIdx.x * embed + d]);
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__global__ void lstm_cell(const float *gates, const float *bias, const float *c_in, float *c_out, float *h_out,
                          int batch, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * hidden) return;
    int row = i / hidden, col = i % hidden;
    const float *g = gates + (size_t)row * 4 * hidden;
    float in = sigmoid(g[col] + bias[col]);
    float forget = sigmoid(g[col + hidden] + bias[col + hidden]);
    float candidate = tanhf(g[col + 2 * hidden] + bias[col + 2 * hidden]);
    float output = sigmoid(g[col + 3 * hidden] + bias[col + 3 * hidden]);
    float c = forget * c_in[i] + in * candidate;
    c_out[i] = c;
    h_out[i] = output * tanhf(c);
}

static void setup() {
    large = filled<float>(1 << 24, [](size_t i) { return unit(i) - 0.5f; });
    other = zeroed<float>(1 << 22);
    result = zeroed<float>(1 << 22);
    weights = filled<float>(COUT * CIN * 9, [](size_t i) { return unit(i + 5000000) - 0.5f; });
    centroids = filled<float>(CENTROIDS * DIMS, [](size_t i) { return unit(i + 6000000) - 0.5f; });
    gates = filled<float>(4 << 20, [](size_t i) { return 8.0f * unit(i) - 4.0f; });
    cell = filled<float>(1 << 20, [](size_t i) { return 2.0f * unit(i + 7000000) - 1.0f; });
    labels = filled<int>(ROWS, [](size_t i) { return (int)(mixed(i + 9) % CLASSES); });
    nearest = zeroed<int>(POINTS);
    tokens = filled<int>(TOKENS, [](size_t i) { /* some words are much more frequent */
                                                float u = unit(i + 8000000);
                                                return (int)(u * u * u * WORDS);
    });
    small = zeroed<signed char>(1 << 22);
}

static const fidelity_test tests[] = {
    WARM("conv/3 x 3, 32 to 64 channels, 64 x 64", 1,
         conv2d<<<IMAGES * COUT * SIDE * SIDE / 256, 256>>>(large, weights, result, IMAGES, CIN, COUT, SIDE, SIDE)),
    WARM("conv/3 x 3, 32 to 64 channels, in shared memory, 64 x 64", 1,
         conv2d_tile<16>
         <<<dim3(SIDE / 16, SIDE / 16, IMAGES *COUT), dim3(16, 16)>>>(large, weights, result, CIN, COUT, SIDE, SIDE)),
    COLD("conv/depthwise, 3 x 3, 1024 planes of 64 x 64", 1,
         depthwise<<<dim3(SIDE / 32, SIDE / 4, 1024), dim3(32, 4)>>>(large, weights, result, 128, SIDE, SIDE)),
    COLD("pool/largest of 2 x 2, 2^24", 1, max_pool<<<(1 << 22) / 256, 256>>>(large, result, 1024, 128, 128)),
    COLD("pool/average of 16384 planes of 28 x 28", 1, average_pool<<<16384, 128>>>(large, result, 784)),
    COLD("rows/cross entropy, 4096 x 1000", 1, cross_entropy<<<ROWS, 256>>>(large, labels, result, CLASSES)),
    COLD("rows/to bytes by the largest, 4096 x 1024", 1,
         quantise<<<ROWS, 128>>>((float4 *)large, (char4 *)small, result, WIDTH / 4)),
    COLD("rows/RMS norm, a row a warp, 8192 x 512", 1, rms_norm<512><<<1024, 256>>>(large, weights, result, 8192)),
    WARM("clusters/64 centroids, 2^18", 1, assign<<<POINTS / 256, 256>>>(large, centroids, nearest, POINTS)),
    WARM("clusters/64 centroids in shared memory, 2^18", 1,
         assign_shared<<<POINTS / 1024, 1024>>>(large, centroids, nearest, POINTS)),
    COLD("train/dropout, 2^22", 1, dropout<<<1024, 256>>>(large, result, 1 << 22, 0.2f, 1234567u)),
    WARM("train/embedding gradient by atomics, 16384 x 128", 1,
         embedding_gradient<<<TOKENS, 64>>>(large, tokens, other, EMBED)),
    COLD("train/LSTM cell, 1024 x 1024", 1,
         lstm_cell<<<(1 << 20) / 512, 512>>>(gates, weights, cell, other, result, 1024, HIDDEN)),
};
FIDELITY_MAIN(setup, tests)
