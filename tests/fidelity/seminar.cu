/* seminar.cu — ladders as a lecturer climbs them to check a model of performance, from naive to good: heat, scans,
 * histograms, sorts, gathers, sparse and dense matrices, softmax, bodies, Fourier transforms, integers, text. */
#include "fidelity.h"
#include <math.h>

enum { HEAT_X = 1500, HEAT_Y = 1100, SCAN_ROWS = 2200, SCAN_N = 1024 };
enum { SAMPLES = 1000000, BINS = 64, TILES = 200, TILE = 1024 };
enum { TABLE = 5000000, PICKS = 1600000, CSR_ROWS = 40000, BSR_ROWS = 10000 };
enum { WIDE = 5000, WIDE_ROWS = 400, MIDDLE = 1000, MIDDLE_ROWS = 2000, NARROW = 160, NARROW_ROWS = 25000 };
enum { HEADS = 160, QUERIES = 32, KEYS = 256, HEAD = 64, M = 640, BODIES = 4000 };
enum { FFTS = 600, FFT_N = 1024, WORDS64 = 500000, PAIRS = 200000, POWERS = 100000, TEXT = 3000000, PATTERN = 12 };
enum { MAT_ROWS = 1600, MAT_COLUMNS = 1800, DEGREE = 30, POINTS = 1500000, WAYS = 1000000 };
enum { SERIAL = 12000, ORBITS = 8 * 192, PARTICLES = 1234567, MIXES = 600000, BATCH = 16000, MAXIMA = 5000000 };
enum { TREE_BLOCKS = 300 };

struct vec3 {
    float x, y, z;
};

static double *heat_in, *heat_out;
static int *scan_in, *scan_out;
static float *samples;
static unsigned *histogram;
static unsigned *keys, *sorted_keys;
static float *table, *picked;
static int *index_random, *index_groups, *index_fours;
static int *csr_start, *csr_column, *bsr_start, *bsr_column;
static float *csr_value, *bsr_value, *vector_x, *vector_y;
static float *logits, *chances;
static float *queries, *attention_keys, *attention_values, *attended;
static float *matrix_a, *matrix_b, *matrix_c;
static float *body_x, *body_y, *body_z, *body_m, *force_x, *force_y, *force_z;
static float4 *bodies, *forces;
static float2 *signal, *spectrum, *roots;
static unsigned long long *words64;
static unsigned *ones, *pair_a, *pair_b, *divisors, *power_base, *power_exponent, *power_modulus, *power_out;
static char *text, *pattern;
static int *matches;
static double *tall, *tall_x, *tall_y, *points, *values;
static float *ways_in, *ways_out, *mix_a, *mix_b, *mix_out, *orbit_out;
static int *serial_in, *serial_out, *hops;
static vec3 *particles;
static float *particle_x, *particle_y, *particle_z;
static float *batch_a, *batch_b, *batch_c;
static float *maxima, *tree_value;
static int *tree_index, *best_index;
static float *best_value;
static unsigned long long *best;

/* Heat in a plane: a star of 9 points in double, fourth order in both directions. */

__global__ void heat_naive(const double *u, double *v, int nx, int ny, double k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 2;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 2;
    if (x >= nx - 2 || y >= ny - 2) return;
    size_t c = (size_t)y * nx + x;
    double laplace = -60.0 * u[c] + 16.0 * (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx]) - u[c - 2] - u[c + 2] -
                     u[c - 2 * nx] - u[c + 2 * nx];
    v[c] = u[c] + k * laplace;
}

template <int TX, int TY>
__global__ void heat_shared(const double *__restrict__ u, double *__restrict__ v, int nx, int ny, double k) {
    __shared__ double s[TY + 4][TX + 4];
    int left = blockIdx.x * TX, top = blockIdx.y * TY, x = threadIdx.x, y = threadIdx.y;
    for (int j = y; j < TY + 4; j += TY)
        for (int i = x; i < TX + 4; i += TX) s[j][i] = u[min(top + j, ny - 1) * nx + min(left + i, nx - 1)];
    __syncthreads();
    if (left + x + 2 >= nx - 2 || top + y + 2 >= ny - 2) return;
    double c = s[y + 2][x + 2];
    double near = s[y + 2][x + 1] + s[y + 2][x + 3] + s[y + 1][x + 2] + s[y + 3][x + 2];
    double far = s[y + 2][x] + s[y + 2][x + 4] + s[y][x + 2] + s[y + 4][x + 2];
    v[(top + y + 2) * nx + left + x + 2] = c + k * (16.0 * near - far - 60.0 * c);
}

/* A thread walks along y and keeps its column in registers. */
template <int STEPS>
__global__ void heat_march(const double *__restrict__ u, double *__restrict__ v, int nx, int ny, double k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 2, y = blockIdx.y * STEPS + 2;
    if (x >= nx - 2) return;
    int end = min(y + STEPS, ny - 2);
    const double *p = u + y * nx + x;
    double a = p[-2 * nx], b = p[-nx], c = p[0], d = p[nx];
    for (; y < end; y++, p += nx) {
        double e = p[2 * nx];
        v[y * nx + x] = c + k * (16.0 * (b + d + p[-1] + p[1]) - (a + e + p[-2] + p[2]) - 60.0 * c);
        a = b, b = c, c = d, d = e;
    }
}

/* Inclusive scans of rows, a row a block. */

__global__ void scan_hillis_steele(const int *in, int *out) {
    __shared__ int buffer[2][SCAN_N];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[blockIdx.x * SCAN_N + t];
    __syncthreads();
    for (int d = 1; d < SCAN_N; d <<= 1) {
        buffer[1 - from][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * SCAN_N + t] = buffer[from][t];
}

__global__ void scan_blelloch(const int *in, int *out, int n) {
    extern __shared__ int tree[];
    int t = threadIdx.x, offset = 1;
    const int *row = in + (size_t)blockIdx.x * n;
    int a = row[2 * t], b = row[2 * t + 1];
    tree[2 * t] = a;
    tree[2 * t + 1] = b;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
            int left = tree[ai];
            tree[ai] = tree[bi];
            tree[bi] += left;
        }
    }
    __syncthreads();
    out[(size_t)blockIdx.x * n + 2 * t] = tree[2 * t] + a;
    out[(size_t)blockIdx.x * n + 2 * t + 1] = tree[2 * t + 1] + b;
}

__global__ void __launch_bounds__(256) scan_shuffles(const int4 *__restrict__ in, int4 *__restrict__ out) {
    __shared__ int sums[8];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    int4 v = in[blockIdx.x * 256u + t];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int total = v.w;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, total, d);
        if (lane >= d) total += other;
    }
    if (lane == 31) sums[warp] = total;
    __syncthreads();
    int before = total - v.w;
    for (unsigned w = 0; w < warp; w++) before += sums[w];
    out[blockIdx.x * 256u + t] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}

/* Histograms of floats in 64 bins; the middle ones get more. */

__device__ __forceinline__ int bin_of(float x) { return min(BINS - 1, max(0, (int)(x * BINS))); }

__global__ void histogram_global(const float *x, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[bin_of(x[i])], 1u);
}

__global__ void histogram_shared(const float *x, unsigned *bins, int n) {
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[bin_of(x[i])], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

template <int WARPS>
__global__ void histogram_warps(const float4 *__restrict__ x, unsigned *__restrict__ bins, int fours) {
    __shared__ unsigned part[WARPS][BINS + 1];
    for (int b = threadIdx.x; b < WARPS * (BINS + 1); b += WARPS * 32) (&part[0][0])[b] = 0;
    __syncthreads();
    unsigned *mine = part[threadIdx.x / 32];
    for (int i = blockIdx.x * WARPS * 32 + threadIdx.x; i < fours; i += gridDim.x * WARPS * 32) {
        float4 v = x[i];
        atomicAdd(mine + bin_of(v.x), 1u);
        atomicAdd(mine + bin_of(v.y), 1u);
        atomicAdd(mine + bin_of(v.z), 1u);
        atomicAdd(mine + bin_of(v.w), 1u);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) sum += part[w][threadIdx.x];
        if (sum) atomicAdd(&bins[threadIdx.x], sum);
    }
}

/* Sorts of tiles of 1024 keys in shared memory. */

__device__ __forceinline__ void order(unsigned &a, unsigned &b, bool up) {
    if ((a > b) == up) {
        unsigned c = a;
        a = b;
        b = c;
    }
}

__global__ void sort_bitonic(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[TILE];
    unsigned t = threadIdx.x, base = blockIdx.x * TILE;
    s[t] = in[base + t];
    s[t + TILE / 2] = in[base + t + TILE / 2];
    __syncthreads();
    for (unsigned size = 2; size <= TILE; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            unsigned i = 2 * t - (t & (stride - 1));
            order(s[i], s[i + stride], (i & size) == 0);
            __syncthreads();
        }
    }
    out[base + t] = s[t];
    out[base + t + TILE / 2] = s[t + TILE / 2];
}

__global__ void sort_odd_even_merge(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
    __shared__ unsigned s[TILE];
    int t = threadIdx.x;
    in += (size_t)blockIdx.x * TILE;
    out += (size_t)blockIdx.x * TILE;
    s[t] = in[t];
    s[t + TILE / 2] = in[t + TILE / 2];
    for (int size = 2; size <= TILE; size <<= 1) {
        int stride = size / 2, offset = t & (stride - 1);
        __syncthreads();
        int i = 2 * t - (t & (stride - 1));
        order(s[i], s[i + stride], true);
        for (stride >>= 1; stride > 0; stride >>= 1) {
            __syncthreads();
            i = 2 * t - (t & (stride - 1));
            if (offset >= stride) order(s[i - stride], s[i], true);
        }
    }
    __syncthreads();
    out[t] = s[t];
    out[t + TILE / 2] = s[t + TILE / 2];
}

/* No key is there twice. */
__global__ void __launch_bounds__(256) sort_rank(const uint4 *__restrict__ in, unsigned *__restrict__ out) {
    __shared__ uint4 s[TILE / 4];
    __shared__ unsigned sorted[TILE];
    int t = threadIdx.x;
    uint4 k = in[blockIdx.x * (TILE / 4) + t];
    s[t] = k;
    __syncthreads();
    int rx = 0, ry = 0, rz = 0, rw = 0;
#pragma unroll 4
    for (int j = 0; j < TILE / 4; j++) {
        uint4 o = s[j];
        rx += (o.x < k.x) + (o.y < k.x) + (o.z < k.x) + (o.w < k.x);
        ry += (o.x < k.y) + (o.y < k.y) + (o.z < k.y) + (o.w < k.y);
        rz += (o.x < k.z) + (o.y < k.z) + (o.z < k.z) + (o.w < k.z);
        rw += (o.x < k.w) + (o.y < k.w) + (o.z < k.w) + (o.w < k.w);
    }
    sorted[rx] = k.x;
    sorted[ry] = k.y;
    sorted[rz] = k.z;
    sorted[rw] = k.w;
    __syncthreads();
    for (int i = t; i < TILE; i += 256) out[blockIdx.x * TILE + i] = sorted[i];
}

/* Gathers by a table of indices: anywhere, by groups of 8, by float4. */

__global__ void gather(const float *from, const int *index, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[index[i]];
}

template <typename T>
__global__ void gather_stride(const T *__restrict__ from, const int *__restrict__ index, T *__restrict__ to, size_t n) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) to[i] = from[index[i]];
}

/* A sparse matrix by a vector: a thread a row, a warp a row, blocks of 4 x 4. */

__global__ void spmv_scalar(int rows, const int *start, const int *column, const float *value, const float *x,
                            float *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = start[row]; j < start[row + 1]; j++) sum += value[j] * x[column[j]];
    y[row] = sum;
}

__global__ void spmv_vector(int rows, const int *__restrict__ start, const int *__restrict__ column,
                            const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    int end = start[row + 1];
    float sum = 0;
    for (int j = start[row] + lane; j < end; j += 32) sum += value[j] * x[column[j]];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[row] = sum;
}

/* A warp a row of blocks: 8 blocks at a time, 4 lanes each. */
__global__ void spmv_blocks(int rows, const int *__restrict__ start, const int *__restrict__ column,
                            const float4 *__restrict__ value, const float4 *__restrict__ x, float *__restrict__ y) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, end;
    if (row >= rows) return;
    end = start[row + 1];
    float sum = 0;
    for (int b = start[row] + lane / 4; b < end; b += 8) {
        float4 a = value[b * 4 + lane % 4], v = x[column[b]];
        sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
    }
    sum += __shfl_xor_sync(~0u, sum, 4);
    sum += __shfl_xor_sync(~0u, sum, 8);
    sum += __shfl_xor_sync(~0u, sum, 16);
    if (lane < 4) y[row * 4 + lane] = sum;
}

/* Softmax of rows: three passes over wide ones, online over middling ones, a warp for a narrow one. */

__global__ void softmax_three_passes(const float *in, float *out, int n) {
    __shared__ float s[256];
    const float *row = in + blockIdx.x * n;
    int t = threadIdx.x;
    float m = -INFINITY, sum = 0;
    for (int i = t; i < n; i += 256) m = fmaxf(m, row[i]);
    s[t] = m;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    for (int i = t; i < n; i += 256) sum += expf(row[i] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    sum = s[0];
    for (int i = t; i < n; i += 256) out[blockIdx.x * n + i] = expf(row[i] - m) / sum;
}

__device__ __forceinline__ float2 joined(float2 a, float2 b) {
    float m = fmaxf(a.x, b.x);
    return make_float2(m, a.y * __expf(a.x - m) + b.y * __expf(b.x - m));
}

template <int THREADS>
__global__ void softmax_online(const float *__restrict__ in, float *__restrict__ out, unsigned n) {
    __shared__ float2 part[THREADS / 32];
    const float *row = in + (size_t)blockIdx.x * n;
    float2 v = {-1e30f, 0};
    for (unsigned i = threadIdx.x; i < n; i += THREADS) v = joined(v, make_float2(row[i], 1));
#pragma unroll
    for (int d = 16; d > 0; d >>= 1)
        v = joined(v, make_float2(__shfl_xor_sync(~0u, v.x, d), __shfl_xor_sync(~0u, v.y, d)));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
#pragma unroll
    for (int w = 1; w < THREADS / 32; w++) v = joined(v, part[w]);
    float scale = 1.0f / v.y;
    for (unsigned i = threadIdx.x; i < n; i += THREADS) out[(size_t)blockIdx.x * n + i] = __expf(row[i] - v.x) * scale;
}

template <int N> __global__ void softmax_warp(const float *__restrict__ in, float *__restrict__ out, int rows) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float v[N / 32], m = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < N / 32; i++) {
        v[i] = in[row * N + i * 32 + lane];
        m = fmaxf(m, v[i]);
    }
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
#pragma unroll
    for (int i = 0; i < N / 32; i++) sum += v[i] = __expf(v[i] - m);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
#pragma unroll
    for (int i = 0; i < N / 32; i++) out[row * N + i * 32 + lane] = __fdividef(v[i], sum);
}

/* Attention of a block of 32 queries over 256 keys, a head a block of threads; the scores are in shared memory. */
__global__ void __launch_bounds__(256) attention(const float *__restrict__ q, const float *__restrict__ k,
                                                 const float *__restrict__ v, float *__restrict__ out, float scale) {
    __shared__ float4 query[QUERIES][HEAD / 4];
    __shared__ float score[QUERIES][KEYS];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const float4 *q4 = (const float4 *)(q + blockIdx.x * QUERIES * HEAD);
    for (int i = t; i < QUERIES * HEAD / 4; i += 256) query[i / (HEAD / 4)][i % (HEAD / 4)] = q4[i];
    float4 key[HEAD / 4];
    const float4 *k4 = (const float4 *)(k + (blockIdx.x * KEYS + t) * HEAD);
#pragma unroll
    for (int i = 0; i < HEAD / 4; i++) key[i] = k4[i];
    __syncthreads();
    for (int r = 0; r < QUERIES; r++) {
        float s = 0;
#pragma unroll
        for (int i = 0; i < HEAD / 4; i++) {
            float4 a = query[r][i];
            s += a.x * key[i].x + a.y * key[i].y + a.z * key[i].z + a.w * key[i].w;
        }
        score[r][t] = s * scale;
    }
    __syncthreads();
    for (int r = warp; r < QUERIES; r += 8) {
        float m = -INFINITY, sum = 0;
        for (int i = lane; i < KEYS; i += 32) m = fmaxf(m, score[r][i]);
        for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
        for (int i = lane; i < KEYS; i += 32) {
            float e = __expf(score[r][i] - m);
            score[r][i] = e;
            sum += e;
        }
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
        for (int i = lane; i < KEYS; i += 32) score[r][i] /= sum;
    }
    __syncthreads();
    int column = t % HEAD, first = t / HEAD * 8;
    float sum[8] = {};
    const float *values = v + blockIdx.x * KEYS * HEAD + column;
#pragma unroll 4
    for (int i = 0; i < KEYS; i++) {
        float x = values[i * HEAD];
#pragma unroll
        for (int r = 0; r < 8; r++) sum[r] += score[first + r][i] * x;
    }
#pragma unroll
    for (int r = 0; r < 8; r++) out[(blockIdx.x * QUERIES + first + r) * HEAD + column] = sum[r];
}

/* Products of matrices of 640 x 640: a result a thread, 4 in a column, 4 x 4, 8 x 4. */

__global__ void gemm_naive(const float *a, const float *b, float *c, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

#define SQUARE 32
__global__ void gemm_four(const float *a, const float *b, float *c, int n) {
    __shared__ float as[SQUARE][SQUARE], bs[SQUARE][SQUARE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * SQUARE + y, column = blockIdx.x * SQUARE + x;
    float sum[4] = {0, 0, 0, 0};
    for (int base = 0; base < n; base += SQUARE) {
        for (int r = 0; r < SQUARE; r += 8) {
            as[y + r][x] = a[(row + r) * n + base + x];
            bs[y + r][x] = b[(base + y + r) * n + column];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SQUARE; k++) {
            float v = bs[k][x];
            sum[0] += as[y][k] * v;
            sum[1] += as[y + 8][k] * v;
            sum[2] += as[y + 16][k] * v;
            sum[3] += as[y + 24][k] * v;
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) c[(row + 8 * r) * n + column] = sum[r];
}

template <int BLOCK, int DEPTH>
__global__ void gemm_4x4(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    const int SIDE = BLOCK / 4;
    __shared__ float as[DEPTH][BLOCK + 1], bs[DEPTH][BLOCK];
    int t = threadIdx.x, tx = t % SIDE, ty = t / SIDE, top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    float sum[4][4] = {};
    for (int base = 0; base < n; base += DEPTH) {
        for (int i = t; i < BLOCK * DEPTH; i += SIDE * SIDE) {
            as[i % DEPTH][i / DEPTH] = a[(top + i / DEPTH) * n + base + i % DEPTH];
            bs[i / BLOCK][i % BLOCK] = b[(base + i / BLOCK) * n + left + i % BLOCK];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float u[4], v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u[i] = as[k][ty * 4 + i];
                v[i] = bs[k][tx + i * SIDE];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) c[(top + ty * 4 + i) * n + left + tx + j * SIDE] = sum[i][j];
}

/* 128 x 64 results a block; what comes next is loaded during the products. */
__global__ void __launch_bounds__(256)
    gemm_8x4(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float4 as[8][128 / 4], bs[8][64 / 4];
    int t = threadIdx.x, tx = t & 15, ty = t >> 4, top = blockIdx.y * 128, left = blockIdx.x * 64;
    int a_row = t >> 1, a_column = (t & 1) * 4, b_row = t >> 4, b_column = (t & 15) * 4;
    const float *pa = a + (top + a_row) * n + a_column, *pb = b + b_row * n + left + b_column;
    float sum[8][4] = {};
    float4 next_a = *(const float4 *)pa, next_b = {};
    if (t < 128) next_b = *(const float4 *)pb;
    for (int base = 0; base < n; base += 8) {
        float *flat = (float *)as;
        flat[(a_column + 0) * 128 + a_row] = next_a.x;
        flat[(a_column + 1) * 128 + a_row] = next_a.y;
        flat[(a_column + 2) * 128 + a_row] = next_a.z;
        flat[(a_column + 3) * 128 + a_row] = next_a.w;
        if (t < 128) bs[b_row][t & 15] = next_b;
        __syncthreads();
        if (base + 8 < n) {
            pa += 8;
            pb += 8 * n;
            next_a = *(const float4 *)pa;
            if (t < 128) next_b = *(const float4 *)pb;
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 u0 = as[k][ty * 2], u1 = as[k][ty * 2 + 1], v = bs[k][tx];
            float u[8] = {u0.x, u0.y, u0.z, u0.w, u1.x, u1.y, u1.z, u1.w};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                sum[i][0] += u[i] * v.x;
                sum[i][1] += u[i] * v.y;
                sum[i][2] += u[i] * v.z;
                sum[i][3] += u[i] * v.w;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        *(float4 *)(c + (top + ty * 8 + i) * n + left + tx * 4) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

/* Bodies that attract each other. */

__global__ void bodies_naive(const float *x, const float *y, const float *z, const float *m, float *fx, float *fy,
                             float *fz, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        float r = sqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
        float f = m[j] / (r * r * r);
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    fx[i] = ax;
    fy[i] = ay;
    fz[i] = az;
}

template <int BLOCK> __global__ void bodies_tiles(const float4 *__restrict__ body, float4 *__restrict__ force, int n) {
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float3 a = {0, 0, 0};
    for (int base = 0; base < n; base += BLOCK) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < BLOCK; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
            float f = o.w * r * r * r;
            a.x += f * dx;
            a.y += f * dy;
            a.z += f * dz;
        }
        __syncthreads();
    }
    if (i < n) force[i] = make_float4(a.x, a.y, a.z, 0);
}

/* Fourier transforms of 1024 in shared memory, radix 2. */

__global__ void fft_sincos(const float2 *in, float2 *out) {
    __shared__ float2 s[FFT_N];
    int t = threadIdx.x;
    s[__brev(t) >> 22] = in[blockIdx.x * FFT_N + t];
    s[__brev(t + 512) >> 22] = in[blockIdx.x * FFT_N + t + 512];
    __syncthreads();
    for (int half = 1; half < FFT_N; half *= 2) {
        int k = t & (half - 1), i = 2 * t - k;
        float sine, cosine;
        sincosf(-3.14159265f * k / half, &sine, &cosine);
        float2 a = s[i], b = s[i + half];
        float2 c = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
        s[i] = make_float2(a.x + c.x, a.y + c.y);
        s[i + half] = make_float2(a.x - c.x, a.y - c.y);
        __syncthreads();
    }
    out[blockIdx.x * FFT_N + t] = s[t];
    out[blockIdx.x * FFT_N + t + 512] = s[t + 512];
}

__global__ void __launch_bounds__(256)
    fft_table(const float2 *__restrict__ in, float2 *__restrict__ out, const float2 *__restrict__ roots) {
    __shared__ float2 s[FFT_N], w[FFT_N / 2];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * FFT_N;
#pragma unroll
    for (int i = 0; i < 4; i++) s[__brev(t + i * 256) >> 22] = in[base + t + i * 256];
    w[t] = roots[t];
    w[t + 256] = roots[t + 256];
    __syncthreads();
#pragma unroll
    for (int log = 0; log < 10; log++) {
        int half = 1 << log;
#pragma unroll
        for (int u = t; u < 512; u += 256) {
            int k = u & (half - 1), i = 2 * u - k;
            float2 a = s[i], b = s[i + half], e = w[k << (9 - log)];
            float2 c = {b.x * e.x - b.y * e.y, b.x * e.y + b.y * e.x};
            s[i] = make_float2(a.x + c.x, a.y + c.y);
            s[i + half] = make_float2(a.x - c.x, a.y - c.y);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) out[base + t + i * 256] = s[t + i * 256];
}

/* Integers: bits of 64, greatest common divisors, powers in a modulus. */

__global__ void count_mixed_bits(const unsigned long long *in, unsigned *out, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned long long h = in[i];
        unsigned count = 0;
        for (int r = 0; r < 12; r++) {
            h ^= __brevll(h);
            h *= 0x9e3779b97f4a7c15ull;
            h ^= h >> 29;
            count += __popcll(h);
        }
        out[i] = count;
    }
}

__global__ void common_divisor(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    while (y != 0) {
        unsigned r = x % y;
        x = y;
        y = r;
    }
    out[i] = x;
}

__global__ void modular_power(const unsigned *base, const unsigned *exponent, const unsigned *modulus, unsigned *out,
                              size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long m = modulus[i], b = base[i] % m, r = 1;
    for (unsigned e = exponent[i]; e; e >>= 1) {
        if (e & 1) r = r * b % m;
        b = b * b % m;
    }
    out[i] = (unsigned)r;
}

/* A search for 12 letters: a thread a position, words of 4 letters from shared memory. */

__global__ void search_naive(const char *text, int n, const char *pattern, int m, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - m) return;
    int j = 0;
    while (j < m && text[i + j] == pattern[j]) j++;
    if (j == m) atomicAdd(count, 1);
}

/* Zeros follow the text. */
__global__ void search_words(const unsigned *__restrict__ text, int words, const unsigned *__restrict__ pattern,
                             int *__restrict__ count) {
    __shared__ unsigned tile[256 + 3];
    int t = threadIdx.x, first = blockIdx.x * 256;
    for (int i = t; i < 256 + 3; i += 256) tile[i] = first + i < words ? text[first + i] : 0;
    unsigned p0 = pattern[0], p1 = pattern[1], p2 = pattern[2];
    __syncthreads();
    unsigned a = tile[t], b = tile[t + 1], c = tile[t + 2], d = tile[t + 3];
    int found = 0;
#pragma unroll
    for (int s = 0; s < 32; s += 8)
        found += __funnelshift_r(a, b, s) == p0 && __funnelshift_r(b, c, s) == p1 && __funnelshift_r(c, d, s) == p2;
    found = __syncthreads_count(found > 0);
    if (t == 0 && found) atomicAdd(count, found);
}

/* Double precision: a matrix by a vector, a polynomial after Horner. */

__global__ void matvec_double(const double2 *__restrict__ a, const double2 *__restrict__ x, double *__restrict__ y,
                              int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    double s = 0, r = 0;
    for (int i = threadIdx.x; i < columns / 2; i += 32) {
        double2 u = a[row * (columns / 2) + i], v = x[i];
        s += u.x * v.x;
        r += u.y * v.y;
    }
    s += r;
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) y[row] = s;
}

__constant__ double coefficients[DEGREE + 1];
__global__ void horner(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i], p = coefficients[DEGREE];
#pragma unroll
    for (int k = DEGREE - 1; k >= 0; k--) p = p * v + coefficients[k];
    y[i] = p;
}

/* A switch of 8 ways: the lanes of a warp part, or do not. */
__global__ void eight_ways(const float *in, float *out, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i], w = v;
    switch (i >> shift & 7) {
    case 0:
        for (int k = 0; k < 24; k++) v = v * 0.75f + w;
        break;
    case 1:
        for (int k = 0; k < 12; k++) v = sqrtf(v + w);
        break;
    case 2:
        for (int k = 0; k < 16; k++) v = fabsf(v - 0.3f) * 1.5f;
        break;
    case 3:
        for (int k = 1; k <= 8; k++) v += w / (v + k);
        break;
    case 4:
        for (int k = 0; k < 20; k++) v = v > 0.5f ? v * 0.5f : v + w;
        break;
    case 5: v = __sinf(v) + __cosf(w) + __expf(v * w); break;
    case 6:
        for (unsigned k = 0, h = __float_as_uint(v); k < 16; k++) {
            h = h * 1664525u + 1013904223u;
            v += (h >> 9) * 1e-7f;
        }
        break;
    default:
        for (int k = 0; k < 32; k++) v = fmaf(v, -0.5f, 1.0f);
        break;
    }
    out[i] = v;
}

/* Tiny grids: a scan by a warp alone, 8 blocks of long orbits. */

__global__ void lone_warp(const int *in, int *out, int n) {
    int lane = threadIdx.x, carry = 0;
    for (int base = 0; base < n; base += 32) {
        int v = in[base + lane];
        for (int d = 1; d < 32; d <<= 1) {
            int o = __shfl_up_sync(~0u, v, d);
            if (lane >= d) v += o;
        }
        v += carry;
        out[base + lane] = v;
        carry = __shfl_sync(~0u, v, 31);
    }
}

__global__ void orbits(const int *hops, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    float x = 0.1f + 0.0005f * i;
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < 16; k++) x = 3.9f * x * (1.0f - x);
        at = hops[at];
        if (at & 1) x = 0.5f * x + 0.25f;
    }
    out[i] = x + at;
}

/* Structures of 12 bytes become three arrays. */

__global__ void split_naive(const vec3 *in, float *x, float *y, float *z, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    vec3 p = in[i];
    x[i] = p.x;
    y[i] = p.y;
    z[i] = p.z;
}

template <int BLOCK>
__global__ void split_shared(const float *__restrict__ in, float *__restrict__ x, float *__restrict__ y,
                             float *__restrict__ z, int n) {
    __shared__ float s[3 * BLOCK];
    int first = blockIdx.x * BLOCK, t = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        int j = 3 * first + i * BLOCK + t;
        if (j < 3 * n) s[i * BLOCK + t] = in[j];
    }
    __syncthreads();
    if (first + t >= n) return;
    x[first + t] = s[3 * t];
    y[first + t] = s[3 * t + 1];
    z[first + t] = s[3 * t + 2];
}

/* A mix of transcendental functions. */
__global__ void transcendental(const float *a, const float *b, float *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float x = a[i], y = b[i];
        out[i] = expf(-x) * logf(1.0f + y) + sinf(6.0f * x) * powf(x + 0.5f, y);
    }
}

/* Batches of products of 8 x 8. */

__global__ void batch_thread(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                             int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    const float4 *pa = (const float4 *)(a + id * 64), *pb = (const float4 *)(b + id * 64);
    float4 *pc = (float4 *)(c + id * 64);
    float4 right[16];
#pragma unroll
    for (int i = 0; i < 16; i++) right[i] = pb[i];
    for (int row = 0; row < 8; row++) {
        float4 u = pa[row * 2], v = pa[row * 2 + 1], low = {0, 0, 0, 0}, high = {0, 0, 0, 0};
        float left[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 8; k++) {
            low.x += left[k] * right[2 * k].x, low.y += left[k] * right[2 * k].y;
            low.z += left[k] * right[2 * k].z, low.w += left[k] * right[2 * k].w;
            high.x += left[k] * right[2 * k + 1].x, high.y += left[k] * right[2 * k + 1].y;
            high.z += left[k] * right[2 * k + 1].z, high.w += left[k] * right[2 * k + 1].w;
        }
        pc[row * 2] = low;
        pc[row * 2 + 1] = high;
    }
}

__global__ void batch_element(const float *a, const float *b, float *c, int count) {
    __shared__ float as[4][8][8], bs[4][8][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, id = blockIdx.x * 4 + z, at = id * 64 + y * 8 + x;
    if (id < count) {
        as[z][y][x] = a[at];
        bs[z][y][x] = b[at];
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += as[z][y][k] * bs[z][k][x];
    if (id < count) c[at] = sum;
}

/* The largest and where it is: trees in shared memory and a second launch, shuffles and an atomic. */

__global__ void largest_tree(const float *in, const int *where, float *value, int *index, int n) {
    __shared__ float v[512];
    __shared__ int w[512];
    int t = threadIdx.x;
    float m = -1;
    int at = -1;
    for (int i = blockIdx.x * 512 + t; i < n; i += gridDim.x * 512)
        if (in[i] > m) {
            m = in[i];
            at = where ? where[i] : i;
        }
    v[t] = m;
    w[t] = at;
    __syncthreads();
    for (int d = 256; d > 0; d >>= 1) {
        if (t < d && v[t + d] > v[t]) {
            v[t] = v[t + d];
            w[t] = w[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        value[blockIdx.x] = v[0];
        index[blockIdx.x] = w[0];
    }
}

/* The bits of floats that are not negative are ordered as these are. */
__global__ void __launch_bounds__(1024)
    largest_shuffles(const float4 *__restrict__ in, unsigned long long *__restrict__ best, unsigned fours) {
    float m = 0;
    unsigned at = 0;
    for (unsigned i = blockIdx.x * 1024u + threadIdx.x; i < fours; i += gridDim.x * 1024u) {
        float4 v = in[i];
        if (v.x > m) m = v.x, at = 4 * i;
        if (v.y > m) m = v.y, at = 4 * i + 1;
        if (v.z > m) m = v.z, at = 4 * i + 2;
        if (v.w > m) m = v.w, at = 4 * i + 3;
    }
    unsigned long long key = (unsigned long long)__float_as_uint(m) << 32 | (0xffffffffu - at);
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        unsigned long long other = __shfl_down_sync(~0u, key, d);
        if (other > key) key = other;
    }
    if ((threadIdx.x & 31) == 0) atomicMax(best, key);
}

static int blocks(int n, int size) { return (n + size - 1) / size; }
static float centred(size_t i) { return unit(i) - 0.5f; }

static void setup_shared_work() {
    heat_in = filled<double>(HEAT_X * HEAT_Y, [](size_t i) { return (double)unit(i); });
    heat_out = zeroed<double>(HEAT_X * HEAT_Y);
    scan_in = filled<int>(SCAN_ROWS * SCAN_N, [](size_t i) { return (int)(mixed(i) % 100); });
    scan_out = zeroed<int>(SCAN_ROWS * SCAN_N);
    samples = filled<float>(SAMPLES, [](size_t i) { return 0.5f * (unit(i) + unit(i + SAMPLES)); });
    histogram = zeroed<unsigned>(BINS);
    keys = filled<unsigned>(TILES * TILE, mixed);
    sorted_keys = zeroed<unsigned>(TILES * TILE);
    signal = filled<float2>(FFTS * FFT_N, [](size_t i) { return make_float2(centred(2 * i), centred(2 * i + 1)); });
    spectrum = zeroed<float2>(FFTS * FFT_N);
    roots = filled<float2>(FFT_N / 2, [](size_t i) {
        double angle = -2 * 3.14159265358979 * i / FFT_N;
        return make_float2(cos(angle), sin(angle));
    });
}

static void setup_indirect() {
    table = filled<float>(TABLE, unit);
    picked = zeroed<float>(PICKS);
    index_random = filled<int>(PICKS, [](size_t i) { return (int)(mixed(i) % TABLE); });
    index_groups = filled<int>(PICKS, [](size_t i) { return (int)(mixed(i / 8) % (TABLE / 8) * 8 + i % 8); });
    index_fours = filled<int>(PICKS / 4, [](size_t i) { return (int)(mixed(i + 77) % (TABLE / 4)); });

    /* Most columns are near the diagonal, a quarter are anywhere. */
    static int starts[CSR_ROWS + 1], block_starts[BSR_ROWS + 1], row_of[CSR_ROWS * 48];
    for (int i = 0; i < CSR_ROWS; i++) {
        starts[i + 1] = starts[i] + 3 + mixed(i) % 45;
        for (int j = starts[i]; j < starts[i + 1]; j++) row_of[j] = i;
    }
    csr_start = filled<int>(CSR_ROWS + 1, [](size_t i) { return starts[i]; });
    csr_column = filled<int>(starts[CSR_ROWS], [](size_t j) {
        unsigned r = mixed(j + 1000000);
        return (int)((r & 3 ? row_of[j] + (r >> 2) % 400 : r >> 2) % CSR_ROWS);
    });
    csr_value = filled<float>(starts[CSR_ROWS], centred);
    for (int i = 0; i < BSR_ROWS; i++) {
        block_starts[i + 1] = block_starts[i] + 8 + mixed(i + 5) % 24;
        for (int j = block_starts[i]; j < block_starts[i + 1]; j++) row_of[j] = i;
    }
    bsr_start = filled<int>(BSR_ROWS + 1, [](size_t i) { return block_starts[i]; });
    bsr_column = filled<int>(block_starts[BSR_ROWS], [](size_t j) {
        unsigned r = mixed(j + 2000000);
        return (int)((r & 3 ? row_of[j] + (r >> 2) % 100 : r >> 2) % BSR_ROWS);
    });
    bsr_value = filled<float>((size_t)block_starts[BSR_ROWS] * 16, centred);
    vector_x = filled<float>(CSR_ROWS, unit);
    vector_y = zeroed<float>(CSR_ROWS);
    serial_in = filled<int>(SERIAL, [](size_t i) { return (int)(mixed(i) & 255); });
    serial_out = zeroed<int>(SERIAL);
    hops = filled<int>(ORBITS, [](size_t i) { return (int)((i * 601 + 17) % ORBITS); });
    orbit_out = zeroed<float>(ORBITS);
}

static void setup_dense() {
    logits = filled<float>(NARROW * NARROW_ROWS, [](size_t i) { return 8 * centred(i); });
    chances = zeroed<float>(NARROW * NARROW_ROWS);
    queries = filled<float>(HEADS * QUERIES * HEAD, centred);
    attention_keys = filled<float>(HEADS * KEYS * HEAD, [](size_t i) { return centred(i + 31); });
    attention_values = filled<float>(HEADS * KEYS * HEAD, unit);
    attended = zeroed<float>(HEADS * QUERIES * HEAD);
    matrix_a = filled<float>(M * M, centred);
    matrix_b = filled<float>(M * M, [](size_t i) { return centred(i + M * M); });
    matrix_c = zeroed<float>(M * M);
    body_x = filled<float>(BODIES, [](size_t i) { return unit(4 * i); });
    body_y = filled<float>(BODIES, [](size_t i) { return unit(4 * i + 1); });
    body_z = filled<float>(BODIES, [](size_t i) { return unit(4 * i + 2); });
    body_m = filled<float>(BODIES, [](size_t i) { return unit(4 * i + 3); });
    force_x = zeroed<float>(BODIES);
    force_y = zeroed<float>(BODIES);
    force_z = zeroed<float>(BODIES);
    bodies = filled<float4>(
        BODIES, [](size_t i) { return make_float4(unit(4 * i), unit(4 * i + 1), unit(4 * i + 2), unit(4 * i + 3)); });
    forces = zeroed<float4>(BODIES);
    tall = filled<double>(MAT_ROWS * MAT_COLUMNS, [](size_t i) { return (double)centred(i); });
    tall_x = filled<double>(MAT_COLUMNS, [](size_t i) { return (double)unit(i); });
    tall_y = zeroed<double>(MAT_ROWS);
    points = filled<double>(POINTS, [](size_t i) { return 2.0 * centred(i); });
    values = zeroed<double>(POINTS);
    double c[DEGREE + 1];
    for (int k = 0; k <= DEGREE; k++) c[k] = centred(k + 99);
    MUST(cudaMemcpyToSymbol(coefficients, c, sizeof c));
    batch_a = filled<float>(BATCH * 64, centred);
    batch_b = filled<float>(BATCH * 64, unit);
    batch_c = zeroed<float>(BATCH * 64);
}

static const char wanted[PATTERN + 1] = "gattacacatga";

static void setup_elements() {
    words64 = filled<unsigned long long>(
        WORDS64, [](size_t i) { return (unsigned long long)mixed(2 * i) << 32 | mixed(2 * i + 1); });
    ones = zeroed<unsigned>(WORDS64);
    pair_a = filled<unsigned>(PAIRS, [](size_t i) { return mixed(2 * i); });
    pair_b = filled<unsigned>(PAIRS, [](size_t i) { return mixed(2 * i + 1); });
    divisors = zeroed<unsigned>(PAIRS);
    power_base = filled<unsigned>(POWERS, mixed);
    power_exponent = filled<unsigned>(POWERS, [](size_t i) { return mixed(i + 3) >> 16; });
    power_modulus = filled<unsigned>(POWERS, [](size_t i) { return mixed(i + 9) | 0x40000001u; });
    power_out = zeroed<unsigned>(POWERS);
    text = filled<char>(TEXT, [](size_t i) {
        return i / 5000 % 3 == 0 && i % 5000 < PATTERN ? wanted[i % 5000] : "acgt"[mixed(i) >> 5 & 3];
    });
    pattern = filled<char>(PATTERN, [](size_t i) { return wanted[i]; });
    matches = zeroed<int>(1);
    ways_in = filled<float>(WAYS, unit);
    ways_out = zeroed<float>(WAYS);
    particles = filled<vec3>(PARTICLES, [](size_t i) {
        vec3 p = {unit(3 * i), unit(3 * i + 1), unit(3 * i + 2)};
        return p;
    });
    particle_x = zeroed<float>(PARTICLES);
    particle_y = zeroed<float>(PARTICLES);
    particle_z = zeroed<float>(PARTICLES);
    mix_a = filled<float>(MIXES, unit);
    mix_b = filled<float>(MIXES, [](size_t i) { return 3 * unit(i + MIXES); });
    mix_out = zeroed<float>(MIXES);
    maxima = filled<float>(MAXIMA, unit);
    tree_value = zeroed<float>(TREE_BLOCKS);
    tree_index = zeroed<int>(TREE_BLOCKS);
    best_value = zeroed<float>(1);
    best_index = zeroed<int>(1);
    best = zeroed<unsigned long long>(1);
}

static void setup() {
    setup_shared_work();
    setup_indirect();
    setup_dense();
    setup_elements();
}

static const fidelity_test tests[] = {
    COLD("seminar heat/naive", 1,
         heat_naive<<<dim3(blocks(HEAT_X - 4, 32), blocks(HEAT_Y - 4, 8)), dim3(32, 8)>>>(heat_in, heat_out, HEAT_X,
                                                                                          HEAT_Y, 0.01)),
    COLD("seminar heat/shared", 1,
         heat_shared<32, 16><<<dim3(blocks(HEAT_X - 4, 32), blocks(HEAT_Y - 4, 16)), dim3(32, 16)>>>(
             heat_in, heat_out, HEAT_X, HEAT_Y, 0.01)),
    COLD("seminar heat/registers along y", 1,
         heat_march<20>
         <<<dim3(blocks(HEAT_X - 4, 128), blocks(HEAT_Y - 4, 20)), 128>>>(heat_in, heat_out, HEAT_X, HEAT_Y, 0.01)),
    COLD("seminar scan/Hillis and Steele", 1, scan_hillis_steele<<<SCAN_ROWS, SCAN_N>>>(scan_in, scan_out)),
    COLD("seminar scan/Blelloch", 1,
         scan_blelloch<<<SCAN_ROWS, SCAN_N / 2, SCAN_N * sizeof(int)>>>(scan_in, scan_out, SCAN_N)),
    COLD("seminar scan/shuffles", 1, scan_shuffles<<<SCAN_ROWS, 256>>>((int4 *)scan_in, (int4 *)scan_out)),
    WARM("seminar histogram/global", 1, cudaMemsetAsync(histogram, 0, BINS * sizeof(unsigned));
         histogram_global<<<blocks(SAMPLES, 256), 256>>>(samples, histogram, SAMPLES)),
    WARM("seminar histogram/shared", 1, cudaMemsetAsync(histogram, 0, BINS * sizeof(unsigned));
         histogram_shared<<<264, 512>>>(samples, histogram, SAMPLES)),
    COLD("seminar histogram/a warp its own", 1, cudaMemsetAsync(histogram, 0, BINS * sizeof(unsigned));
         histogram_warps<6><<<400, 192>>>((float4 *)samples, histogram, SAMPLES / 4)),
    WARM("seminar sort/bitonic", 1, sort_bitonic<<<TILES, TILE / 2>>>(keys, sorted_keys)),
    WARM("seminar sort/odd-even merge", 1, sort_odd_even_merge<<<TILES, TILE / 2>>>(keys, sorted_keys)),
    WARM("seminar sort/rank", 1, sort_rank<<<TILES, TILE / 4>>>((uint4 *)keys, sorted_keys)),
    COLD("seminar gather/random", 1, gather<<<blocks(PICKS, 192), 192>>>(table, index_random, picked, PICKS)),
    COLD("seminar gather/groups of 8", 1, gather_stride<float><<<528, 256>>>(table, index_groups, picked, PICKS)),
    COLD("seminar gather/float4", 1,
         gather_stride<float4>
         <<<blocks(PICKS / 4, 128), 128>>>((float4 *)table, index_fours, (float4 *)picked, PICKS / 4)),
    COLD("seminar sparse/scalar", 1,
         spmv_scalar<<<blocks(CSR_ROWS, 128), 128>>>(CSR_ROWS, csr_start, csr_column, csr_value, vector_x, vector_y)),
    COLD("seminar sparse/vector", 1,
         spmv_vector<<<blocks(CSR_ROWS, 8), 256>>>(CSR_ROWS, csr_start, csr_column, csr_value, vector_x, vector_y)),
    COLD("seminar sparse/blocks of 4 x 4", 1,
         spmv_blocks<<<blocks(BSR_ROWS, 3), 96>>>(BSR_ROWS, bsr_start, bsr_column, (float4 *)bsr_value,
                                                  (float4 *)vector_x, vector_y)),
    COLD("seminar softmax/three passes", 1, softmax_three_passes<<<WIDE_ROWS, 256>>>(logits, chances, WIDE)),
    COLD("seminar softmax/online", 1, softmax_online<128><<<MIDDLE_ROWS, 128>>>(logits, chances, MIDDLE)),
    WARM("seminar softmax/a warp a row", 1,
         softmax_warp<NARROW><<<blocks(NARROW_ROWS, 8), dim3(32, 8)>>>(logits, chances, NARROW_ROWS)),
    COLD("seminar attention/a block of queries", 1,
         attention<<<HEADS, 256>>>(queries, attention_keys, attention_values, attended, 0.125f)),
    WARM("seminar gemm 640/naive", 1,
         gemm_naive<<<dim3(M / 32, M / 4), dim3(32, 4)>>>(matrix_a, matrix_b, matrix_c, M)),
    WARM("seminar gemm 640/32 x 32, 4 a thread", 1,
         gemm_four<<<dim3(M / SQUARE, M / SQUARE), dim3(SQUARE, 8)>>>(matrix_a, matrix_b, matrix_c, M)),
    WARM("seminar gemm 640/64 x 64, 4 x 4", 1,
         gemm_4x4<64, 16><<<dim3(M / 64, M / 64), 256>>>(matrix_a, matrix_b, matrix_c, M)),
    WARM("seminar gemm 640/128 x 64, 8 x 4", 1,
         gemm_8x4<<<dim3(M / 64, M / 128), 256>>>(matrix_a, matrix_b, matrix_c, M)),
    WARM("seminar bodies/naive", 1,
         bodies_naive<<<blocks(BODIES, 96), 96>>>(body_x, body_y, body_z, body_m, force_x, force_y, force_z, BODIES)),
    WARM("seminar bodies/tiles", 1, bodies_tiles<64><<<blocks(BODIES, 64), 64>>>(bodies, forces, BODIES)),
    COLD("seminar fourier 1024/sincosf", 1, fft_sincos<<<FFTS, FFT_N / 2>>>(signal, spectrum)),
    COLD("seminar fourier 1024/table", 1, fft_table<<<FFTS, FFT_N / 4>>>(signal, spectrum, roots)),
    COLD("seminar integers/bits of 64", 1, count_mixed_bits<<<264, 256>>>(words64, ones, WORDS64)),
    WARM("seminar integers/common divisors", 1,
         common_divisor<<<blocks(PAIRS, 128), 128>>>(pair_a, pair_b, divisors, PAIRS)),
    WARM("seminar integers/modular powers", 1,
         modular_power<<<blocks(POWERS, 96), 96>>>(power_base, power_exponent, power_modulus, power_out, POWERS)),
    COLD("seminar search/naive", 1, cudaMemsetAsync(matches, 0, sizeof(int));
         search_naive<<<blocks(TEXT, 512), 512>>>(text, TEXT, pattern, PATTERN, matches)),
    COLD("seminar search/words", 1, cudaMemsetAsync(matches, 0, sizeof(int));
         search_words<<<blocks(TEXT / 4, 256), 256>>>((unsigned *)text, TEXT / 4, (unsigned *)pattern, matches)),
    COLD("seminar double/matrix by vector", 1,
         matvec_double<<<blocks(MAT_ROWS, 4), dim3(32, 4)>>>((double2 *)tall, (double2 *)tall_x, tall_y, MAT_ROWS,
                                                             MAT_COLUMNS)),
    WARM("seminar double/Horner", 1, horner<<<blocks(POINTS, 96), 96>>>(points, values, POINTS)),
    WARM("seminar switch/by lane", 1, eight_ways<<<blocks(WAYS, 256), 256>>>(ways_in, ways_out, WAYS, 0)),
    WARM("seminar switch/by warp", 1, eight_ways<<<blocks(WAYS, 256), 256>>>(ways_in, ways_out, WAYS, 5)),
    WARM("seminar tiny/a lone warp", 1, lone_warp<<<1, 32>>>(serial_in, serial_out, SERIAL)),
    WARM("seminar tiny/8 blocks of orbits", 1, orbits<<<8, 192>>>(hops, orbit_out, 120)),
    COLD("seminar structures/naive", 1,
         split_naive<<<blocks(PARTICLES, 256), 256>>>(particles, particle_x, particle_y, particle_z, PARTICLES)),
    COLD("seminar structures/shared", 1,
         split_shared<192>
         <<<blocks(PARTICLES, 192), 192>>>((float *)particles, particle_x, particle_y, particle_z, PARTICLES)),
    COLD("seminar functions/a mix", 1, transcendental<<<396, 256>>>(mix_a, mix_b, mix_out, MIXES)),
    COLD("seminar batch 8 x 8/a thread a matrix", 1,
         batch_thread<<<blocks(BATCH, 64), 64>>>(batch_a, batch_b, batch_c, BATCH)),
    COLD("seminar batch 8 x 8/a thread an element", 1,
         batch_element<<<blocks(BATCH, 4), dim3(8, 8, 4)>>>(batch_a, batch_b, batch_c, BATCH)),
    COLD("seminar largest/trees", 2,
         largest_tree<<<TREE_BLOCKS, 512>>>(maxima, nullptr, tree_value, tree_index, MAXIMA);
         largest_tree<<<1, 512>>>(tree_value, tree_index, best_value, best_index, TREE_BLOCKS)),
    COLD("seminar largest/shuffles", 1, cudaMemsetAsync(best, 0, sizeof *best);
         largest_shuffles<<<264, 1024>>>((float4 *)maxima, best, MAXIMA / 4)),
};
FIDELITY_MAIN(setup, tests)
