/* neural.cu — softmax, normalisation, attention and what stands around them; sparse rows and graphs. */
#include "fidelity.h"

enum { ROWS = 4096, COLS = 1024, SEQ = 512, DIM = 64, NODES = 1 << 16 };
static float *a, *b, *c, *q, *k, *v, *values, *vec, *result;
static int *row_ptr, *cols, *rows_of, *skew_ptr, *tokens, *levels;

__global__ void softmax_thread(const float *in, float *out, int n) { /* a thread a row, three passes */
    const float *row = in + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * n;
    float *to = out + (row - in), m = row[0], s = 0;
    for (int i = 1; i < n; i++) m = fmaxf(m, row[i]);
    for (int i = 0; i < n; i++) s += expf(row[i] - m);
    for (int i = 0; i < n; i++) to[i] = expf(row[i] - m) / s;
}
__global__ void softmax_warp(const float *in, float *out, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *from = in + (size_t)row * n;
    float m = -1e30f, s = 0;
    for (int i = lane; i < n; i += 32) m = fmaxf(m, from[i]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    for (int i = lane; i < n; i += 32) s += expf(from[i] - m);
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    for (int i = lane; i < n; i += 32) out[(size_t)row * n + i] = expf(from[i] - m) / s;
}
__global__ void softmax_block(const float *in, float *out, int n) {
    __shared__ float s[256];
    const float *from = in + (size_t)blockIdx.x * n;
    int t = threadIdx.x;
    float m = -1e30f, sum = 0;
    for (int i = t; i < n; i += 256) m = fmaxf(m, from[i]);
    s[t] = m;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    for (int i = t; i < n; i += 256) sum += expf(from[i] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    for (int i = t; i < n; i += 256) out[(size_t)blockIdx.x * n + i] = expf(from[i] - m) / s[0];
}
__global__ void softmax_online(const float *in, float *out, int n) { /* the largest and the sum in one pass */
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *from = in + (size_t)row * n;
    float m = -1e30f, s = 0;
    for (int i = lane; i < n; i += 32) {
        float x = from[i], larger = fmaxf(m, x);
        s = s * __expf(m - larger) + __expf(x - larger);
        m = larger;
    }
    for (int d = 16; d > 0; d /= 2) {
        float m2 = __shfl_xor_sync(0xffffffffu, m, d), s2 = __shfl_xor_sync(0xffffffffu, s, d), larger = fmaxf(m, m2);
        s = s * __expf(m - larger) + s2 * __expf(m2 - larger);
        m = larger;
    }
    for (int i = lane; i < n; i += 32) out[(size_t)row * n + i] = __expf(from[i] - m) / s;
}
__global__ void layer_norm(const float *in, const float *gain, float *out, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *from = in + (size_t)row * n;
    float s = 0, squares = 0;
    for (int i = lane; i < n; i += 32) s += from[i], squares += from[i] * from[i];
    for (int d = 16; d > 0; d /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, d), squares += __shfl_xor_sync(0xffffffffu, squares, d);
    float mean = s / n, scale = rsqrtf(squares / n - mean * mean + 1e-5f);
    for (int i = lane; i < n; i += 32) out[(size_t)row * n + i] = (from[i] - mean) * scale * gain[i];
}
__global__ void gelu(const float *in, float *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = in[i];
        out[i] = 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
}
__global__ void embed(const float *table, const int *tokens, float *out, int dim) {
    out[(size_t)blockIdx.x * dim + threadIdx.x] = table[(size_t)tokens[blockIdx.x] * dim + threadIdx.x];
}
__global__ void adam(float *w, const float *g, float *m, float *v, int n, float rate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    w[i] -= rate * m[i] / (sqrtf(v[i]) + 1e-8f);
}
/* --- attention, one head --- */
__global__ void scores(const float *q, const float *k, float *s, int n, int d) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < d; i++) sum += q[row * d + i] * k[col * d + i];
    s[row * n + col] = sum * 0.125f;
}
__global__ void weighted(const float *s, const float *v, float *out, int n, int d) {
    float sum = 0;
    for (int j = 0; j < n; j++) sum += s[blockIdx.x * n + j] * v[j * d + threadIdx.x];
    out[blockIdx.x * d + threadIdx.x] = sum;
}
__global__ void attention_row(const float *q, const float *k, const float *v, float *out,
                              int n) { /* a thread a query */
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float mine[32], sum[32] = {}, m = -1e30f, l = 0;
    for (int i = 0; i < 32; i++) mine[i] = q[row * 32 + i];
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int i = 0; i < 32; i++) s += mine[i] * k[j * 32 + i];
        float larger = fmaxf(m, s), keep = __expf(m - larger), w = __expf(s - larger);
        l = l * keep + w;
        for (int i = 0; i < 32; i++) sum[i] = sum[i] * keep + w * v[j * 32 + i];
        m = larger;
    }
    for (int i = 0; i < 32; i++) out[row * 32 + i] = sum[i] / l;
}
__global__ void attention_tiles(const float *q, const float *k, const float *v, float *out,
                                int n) { /* a warp a query */
    __shared__ float ks[32][65], vs[32][64], qs[8][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 8 + warp;
    qs[warp][lane] = q[row * 64 + lane], qs[warp][lane + 32] = q[row * 64 + lane + 32];
    float m = -1e30f, l = 0, o0 = 0, o1 = 0;
    for (int first = 0; first < n; first += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 32 * 64; i += 256)
            ks[i / 64][i % 64] = k[first * 64 + i], vs[i / 64][i % 64] = v[first * 64 + i];
        __syncthreads();
        float s = 0;
        for (int i = 0; i < 64; i++) s += qs[warp][i] * ks[lane][i];
        float larger = s;
        for (int d = 16; d > 0; d /= 2) larger = fmaxf(larger, __shfl_xor_sync(0xffffffffu, larger, d));
        larger = fmaxf(larger, m);
        float w = __expf(s - larger), keep = __expf(m - larger), total = w;
        for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
        l = l * keep + total, o0 *= keep, o1 *= keep, m = larger;
        for (int j = 0; j < 32; j++) {
            float p = __shfl_sync(0xffffffffu, w, j);
            o0 += p * vs[j][lane], o1 += p * vs[j][lane + 32];
        }
    }
    out[row * 64 + lane] = o0 / l, out[row * 64 + lane + 32] = o1 / l;
}
/* --- sparse matrices and graphs --- */
__global__ void csr_thread(const int *ptr, const int *cols, const float *values, const float *x, float *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float s = 0;
    for (int i = ptr[row]; i < ptr[row + 1]; i++) s += values[i] * x[cols[i]];
    y[row] = s;
}
__global__ void csr_warp(const int *ptr, const int *cols, const float *values, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float s = 0;
    for (int i = ptr[row] + lane; i < ptr[row + 1]; i += 32) s += values[i] * x[cols[i]];
    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) y[row] = s;
}
__global__ void ell(const int *cols, const float *values, const float *x, float *y, int n, int each) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int i = 0; i < each; i++) s += values[i * n + row] * x[cols[i * n + row] & (n - 1)];
    y[row] = s;
}
__global__ void coo(const int *rows, const int *cols, const float *values, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[rows[i]], values[i] * x[cols[i]]);
}
__global__ void bfs_step(const int *ptr, const int *cols, const int *levels, int *next, int level, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || levels[i] != level) return;
    for (int e = ptr[i]; e < ptr[i + 1]; e++)
        if (levels[cols[e]] < 0) next[cols[e]] = level + 1;
}

static int skewed_length(size_t row) { return row % 64 == 0 ? 512 : 8 + (int)(mixed(row) % 16); }
static void setup() {
    a = filled<float>((size_t)ROWS * COLS, unit);
    b = zeroed<float>((size_t)ROWS * COLS);
    c = zeroed<float>((size_t)ROWS * COLS);
    q = filled<float>(2048 * 64, unit), k = filled<float>(2048 * 64, unit), v = filled<float>(2048 * 64, unit);
    values = filled<float>(NODES * 32, unit);
    vec = filled<float>(NODES, unit);
    result = zeroed<float>(NODES);
    row_ptr = filled<int>(NODES + 1, [](size_t i) { return (int)i * 32; });
    cols = filled<int>(NODES * 32, [](size_t i) { return (int)(mixed(i) % NODES); });
    rows_of = filled<int>(NODES * 32, [](size_t i) { return (int)i / 32; });
    int sum = 0;
    skew_ptr = filled<int>(NODES + 1, [&sum](size_t i) {
        int first = sum;
        sum += skewed_length(i);
        return first;
    });
    tokens = filled<int>(8192, [](size_t i) { return (int)(mixed(i) % 8192); });
    levels = filled<int>(NODES, [](size_t i) { return i % 4 == 0 ? 1 : i % 4 == 1 ? -1 : 0; });
}

static const fidelity_test tests[] = {
    COLD("softmax/a row a thread, 4096 x 256", 1, softmax_thread<<<32, 128>>>(a, b, 256)),
    COLD("softmax/a row a warp, 4096 x 1024", 1, softmax_warp<<<512, 256>>>(a, b, COLS)),
    COLD("softmax/a row a warp, 16384 x 128", 1, softmax_warp<<<2048, 256>>>(a, b, 128)),
    COLD("softmax/a row a block, 4096 x 1024", 1, softmax_block<<<ROWS, 256>>>(a, b, COLS)),
    COLD("softmax/online, 4096 x 1024", 1, softmax_online<<<512, 256>>>(a, b, COLS)),
    COLD("neural/layer norm, 4096 x 1024", 1, layer_norm<<<512, 256>>>(a, values, b, COLS)),
    COLD("neural/GELU, 2^22", 1, gelu<<<2112, 256>>>(a, b, ROWS *COLS)),
    COLD("neural/embedding, 4096 x 256", 1, embed<<<4096, 256>>>(a, tokens, b, 256)),
    COLD("neural/Adam, 2^20", 1, adam<<<4096, 256>>>(b, a, c, c + (1 << 20), 1 << 20, 0.01f)),
    COLD("attention/scores, 1024", 1, scores<<<dim3(64, 64), dim3(16, 16)>>>(q, k, c, 1024, DIM)),
    COLD("attention/weighted values, 1024", 1, weighted<<<1024, DIM>>>(a, v, b, 1024, DIM)),
    COLD("attention/a query a thread, 1024", 1, attention_row<<<16, 64>>>(q, k, v, b, 1024)),
    COLD("attention/tiles, a query a warp, 1024", 1, attention_tiles<<<128, 256>>>(q, k, v, b, 1024)),
    COLD("attention/three launches, 512", 3, scores<<<dim3(32, 32), dim3(16, 16)>>>(q, k, c, SEQ, DIM);
         softmax_warp<<<SEQ / 8, 256>>>(c, c, SEQ); weighted<<<SEQ, DIM>>>(c, v, b, SEQ, DIM)),
    COLD("sparse/CSR, a row a thread", 1, csr_thread<<<256, 256>>>(row_ptr, cols, values, vec, result, NODES)),
    COLD("sparse/CSR, a row a warp", 1, csr_warp<<<8192, 256>>>(row_ptr, cols, values, vec, result, NODES)),
    COLD("sparse/ELL", 1, ell<<<256, 256>>>(cols, values, vec, result, NODES, 32)),
    COLD("sparse/COO, atomics, 2^20", 1, coo<<<4096, 256>>>(rows_of, cols, values, vec, result)),
    COLD("sparse/CSR, a row a thread, some long", 1,
         csr_thread<<<128, 256>>>(skew_ptr, cols, values, vec, result, NODES / 2)),
    COLD("sparse/CSR, a row a warp, some long", 1,
         csr_warp<<<4096, 256>>>(skew_ptr, cols, values, vec, result, NODES / 2)),
    COLD("sparse/breadth first, a step", 1, bfs_step<<<256, 256>>>(row_ptr, cols, levels, (int *)result, 1, NODES)),
};
FIDELITY_MAIN(setup, tests)
