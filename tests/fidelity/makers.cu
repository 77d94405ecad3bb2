/* makers.cu — jobs of programmers at work: rotated heads, quantised rows, votes for lines, densities, small matrices,
 * boosted trees, colours, blocks of 8 by 8, alignments, long sums, runs, dates, medians, conjugate gradients. */
#include "fidelity.h"
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

enum { TOKENS = 777, HEADS = 32, HEAD_DIM = 128, HALF_DIM = HEAD_DIM / 2 };
enum { OUT_FEATURES = 11008, IN_FEATURES = 4096 };
enum { EDGES = 60000, ANGLES = 180, PIC_W = 1280, PIC_H = 960, RHO_MAX = 1600, RHOS = 2 * RHO_MAX + 1 };
enum { PARTICLES = 30000, GRID = 20, CELLS = GRID * GRID * GRID };
enum { MATRICES = 10000, LU_SYSTEMS = 50001 };
enum { SAMPLES = 150000, FEATURES = 28, BINS = 256, CHUNKS = 19 };
enum { TREES = 100, TREE_NODES = 511, ROWS_SCORED = 20000, TREE_FEATURES = 30 };
enum { LUT_N = 33, FRAME_W = 1920, FRAME_H = 1080, DCT_W = 1304, DCT_H = 712 };
enum { PAIRS = 300, QUERY_LEN = 128, BIG_NUMBERS = 20011 };
enum { RUNS = 100000, LINES = 500000, SERIES = 400000, MEDIAN_WINDOW = 11 };
enum { CG_NX = 1001, CG_NY = 700, CG_N = CG_NX * CG_NY };

static half *q_in, *q_out;
static half2 *k_in, *k_out;
static float2 *rope_cs;
static int8_t *weights, *activations;
static float *row_scale, *projected;
static int2 *edges;
static int *votes;
static float4 *particles;
static int *cell_begin;
static float *density;
static float *spd, *factors;
static double *lu_in, *lu_out;
static uint8_t *binned;
static float2 *gradients, *histogram;
struct TreeNode {
    int feature; /* -1: a leaf */
    float value;
    unsigned short left, right;
};
static TreeNode *forest;
static float *table, *scores;
static uchar4 *frame, *graded;
static float4 *lut;
static unsigned char *luma;
static short *coefficients;
static char *queries, *targets;
static int *target_begin, *best_scores;
static ulonglong2 *big_a, *big_b, *big_sum;
static unsigned char *big_carry;
static int *run_ends, run_total;
static unsigned short *run_values, *decoded;
static char *csv;
static int *line_begin;
static long long *stamps;
static float *series, *medians;
struct CgScalars {
    double rr, rr_new, pq;
};
static float *cg_x, *cg_r, *cg_p, *cg_q;
static CgScalars *cg_s;

/* ---------------------------------------------------------------------------------------------- rotary embedding */
/* one thread per pair (i, i + 64), angle computed on the spot */
__global__ void rope_powf(const half *in, half *out, int tokens, float base) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= tokens * HEADS * HALF_DIM) return;
    int i = idx % HALF_DIM;
    int head = idx / HALF_DIM % HEADS;
    int token = idx / (HALF_DIM * HEADS);
    float freq = 1.0f / powf(base, 2.0f * i / HEAD_DIM);
    float s, c;
    sincosf(token * freq, &s, &c);
    size_t at = ((size_t)token * HEADS + head) * HEAD_DIM + i;
    float x = __half2float(in[at]);
    float y = __half2float(in[at + HALF_DIM]);
    out[at] = __float2half(x * c - y * s);
    out[at + HALF_DIM] = __float2half(x * s + y * c);
}

/* one block of 64 per token and group of 8 heads, interleaved pairs, cos/sin read once from a table */
__global__ void rope_table(const half2 *__restrict__ in, half2 *__restrict__ out, const float2 *__restrict__ cs) {
    const int token = blockIdx.x, first = blockIdx.y * 8;
    const float2 w = cs[token * HALF_DIM + threadIdx.x];
    const half2 *src = in + ((size_t)token * HEADS + first) * HALF_DIM + threadIdx.x;
    half2 *dst = out + ((size_t)token * HEADS + first) * HALF_DIM + threadIdx.x;
#pragma unroll
    for (int h = 0; h < 8; h++) {
        float2 v = __half22float2(src[h * HALF_DIM]);
        dst[h * HALF_DIM] = __floats2half2_rn(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
    }
}

/* ------------------------------------------------------------------------------------- int8 matrix times a vector */
__global__ void gemv_int8(const int8_t *__restrict__ w, const int8_t *__restrict__ x, const float *__restrict__ scale,
                          float x_scale, float *__restrict__ y, int rows, int cols) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const int4 *wr = (const int4 *)(w + (size_t)row * cols);
    const int4 *xr = (const int4 *)x;
    int acc = 0;
    for (int c = lane; c < cols / 16; c += 32) {
        int4 a = wr[c], b = xr[c];
        acc = __dp4a(a.x, b.x, acc);
        acc = __dp4a(a.y, b.y, acc);
        acc = __dp4a(a.z, b.z, acc);
        acc = __dp4a(a.w, b.w, acc);
    }
    for (int o = 16; o > 0; o >>= 1) acc += __shfl_down_sync(0xffffffffu, acc, o);
    if (lane == 0) y[row] = acc * scale[row] * x_scale;
}

/* ------------------------------------------------------------------------------------------------ Hough transform */
__constant__ float2 angle_cs[ANGLES];

__global__ void hough_global(int2 *points, int n, int *acc) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int a = 0; a < ANGLES; a++) {
            float rho = points[i].x * angle_cs[a].x + points[i].y * angle_cs[a].y;
            int bin = (int)roundf(rho) + RHO_MAX;
            atomicAdd(&acc[a * RHOS + bin], 1);
        }
    }
}

/* a block owns an angle: its votes stay in shared memory */
__global__ void hough_shared(const int2 *__restrict__ points, int n, int *__restrict__ acc) {
    __shared__ int bins[RHOS];
    for (int b = threadIdx.x; b < RHOS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const float2 cs = angle_cs[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int2 p = points[i];
        atomicAdd(&bins[__float2int_rn(p.x * cs.x + p.y * cs.y) + RHO_MAX], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < RHOS; b += blockDim.x) acc[blockIdx.x * RHOS + b] = bins[b];
}

/* -------------------------------------------------------------------------------- SPH density, particles by cells */
__global__ void sph_density(const float4 *pos, const int *cellBegin, float *rho, int n, float h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = pos[i];
    int cx = min(GRID - 1, (int)(p.x * GRID));
    int cy = min(GRID - 1, (int)(p.y * GRID));
    int cz = min(GRID - 1, (int)(p.z * GRID));
    float h2 = h * h, sum = 0.0f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = cx + dx, y = cy + dy, z = cz + dz;
                if (x < 0 || y < 0 || z < 0 || x >= GRID || y >= GRID || z >= GRID) continue;
                int c = (z * GRID + y) * GRID + x;
                for (int j = cellBegin[c]; j < cellBegin[c + 1]; j++) {
                    float4 q = pos[j];
                    float ex = p.x - q.x, ey = p.y - q.y, ez = p.z - q.z;
                    float r2 = ex * ex + ey * ey + ez * ez;
                    if (r2 < h2) {
                        float d = h2 - r2;
                        sum += q.w * d * d * d;
                    }
                }
            }
    float h4 = h2 * h2;
    rho[i] = sum * 315.0f / (64.0f * 3.14159265f * h4 * h4 * h);
}

/* ---------------------------------------------------------------------------------------- Cholesky, 16x16 matrices */
__global__ void cholesky_thread(const float *a, float *out, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    const float *m = a + id * 256;
    float l[136]; /* the lower triangle by rows */
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j <= i; j++) {
            float s = m[i * 16 + j];
            for (int k = 0; k < j; k++) s -= l[i * (i + 1) / 2 + k] * l[j * (j + 1) / 2 + k];
            if (i == j)
                l[i * (i + 1) / 2 + j] = sqrtf(s);
            else
                l[i * (i + 1) / 2 + j] = s / l[j * (j + 1) / 2 + j];
        }
    }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) out[id * 256 + i * 16 + j] = j <= i ? l[i * (i + 1) / 2 + j] : 0.0f;
}

/* half a warp per matrix, lane r has row r in registers */
__global__ void __launch_bounds__(128)
    cholesky_shuffle(const float *__restrict__ a, float *__restrict__ out, int count) {
    int r = threadIdx.x & 15;
    int id = blockIdx.x * 8 + threadIdx.x / 16;
    bool real = id < count;
    const float4 *src = (const float4 *)(a + (size_t)(real ? id : count - 1) * 256 + r * 16);
    float row[16];
#pragma unroll
    for (int v = 0; v < 4; v++) {
        float4 t = src[v];
        row[4 * v] = t.x, row[4 * v + 1] = t.y, row[4 * v + 2] = t.z, row[4 * v + 3] = t.w;
    }
#pragma unroll
    for (int k = 0; k < 16; k++) {
        float inv = rsqrtf(__shfl_sync(0xffffffffu, row[k], k, 16));
        row[k] = row[k] * inv;
#pragma unroll
        for (int j = k + 1; j < 16; j++) row[j] -= row[k] * __shfl_sync(0xffffffffu, row[k], j, 16);
    }
    if (!real) return;
    float4 *dst = (float4 *)(out + (size_t)id * 256 + r * 16);
#pragma unroll
    for (int v = 0; v < 4; v++) {
        float4 t;
        t.x = 4 * v <= r ? row[4 * v] : 0.0f;
        t.y = 4 * v + 1 <= r ? row[4 * v + 1] : 0.0f;
        t.z = 4 * v + 2 <= r ? row[4 * v + 2] : 0.0f;
        t.w = 4 * v + 3 <= r ? row[4 * v + 3] : 0.0f;
        dst[v] = t;
    }
}

/* ---------------------------------------------------------------- LU of 8x8 doubles in registers, one per thread */
template <int N> __global__ void lu_registers(const double *__restrict__ in, double *__restrict__ out, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    double a[N][N];
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++) a[i][j] = in[(size_t)(i * N + j) * systems + s];
#pragma unroll
    for (int k = 0; k < N - 1; k++) {
        double inv = 1.0 / a[k][k];
#pragma unroll
        for (int i = k + 1; i < N; i++) {
            a[i][k] *= inv;
#pragma unroll
            for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < N; j++) out[(size_t)(i * N + j) * systems + s] = a[i][j];
}

/* ------------------------------------------------------------------------- gradient boosting: histogram of a node */
__global__ void boost_histogram(const uint8_t *bins, const float2 *gh, float2 *hist, int n) {
    __shared__ float g[BINS], h[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) g[b] = h[b] = 0.0f;
    __syncthreads();
    const uint8_t *column = bins + (size_t)blockIdx.x * n;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < n; i += gridDim.y * blockDim.x) {
        float2 v = gh[i];
        int b = column[i];
        atomicAdd(&g[b], v.x);
        atomicAdd(&h[b], v.y);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        atomicAdd(&hist[blockIdx.x * BINS + b].x, g[b]);
        atomicAdd(&hist[blockIdx.x * BINS + b].y, h[b]);
    }
}

/* ------------------------------------------------------------------------------------------------ tree ensemble */
__global__ void forest_predict(const TreeNode *nodes, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int t = 0; t < TREES; t++) {
        const TreeNode *tree = nodes + t * TREE_NODES;
        int k = 0;
        while (tree[k].feature >= 0) {
            if (x[i * TREE_FEATURES + tree[k].feature] < tree[k].value)
                k = tree[k].left;
            else
                k = tree[k].right;
        }
        sum += tree[k].value;
    }
    y[i] = 1.0f / (1.0f + expf(-sum));
}

/* --------------------------------------------------------------------------------- colour look-up, three-linear */
__device__ __forceinline__ float3 mix(float3 a, float3 b, float t) {
    return make_float3(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t);
}
__device__ __forceinline__ float3 lut_at(const float4 *__restrict__ lut, int r, int g, int b) {
    float4 v = lut[(b * LUT_N + g) * LUT_N + r];
    return make_float3(v.x, v.y, v.z);
}
__global__ void grade(const uchar4 *__restrict__ in, uchar4 *__restrict__ out, const float4 *__restrict__ lut, int w,
                      int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 p = in[y * w + x];
    const float k = (LUT_N - 1) / 255.0f;
    float r = p.x * k, g = p.y * k, b = p.z * k;
    int r0 = min((int)r, LUT_N - 2), g0 = min((int)g, LUT_N - 2), b0 = min((int)b, LUT_N - 2);
    float fr = r - r0, fg = g - g0, fb = b - b0;
    float3 c00 = mix(lut_at(lut, r0, g0, b0), lut_at(lut, r0 + 1, g0, b0), fr);
    float3 c10 = mix(lut_at(lut, r0, g0 + 1, b0), lut_at(lut, r0 + 1, g0 + 1, b0), fr);
    float3 c01 = mix(lut_at(lut, r0, g0, b0 + 1), lut_at(lut, r0 + 1, g0, b0 + 1), fr);
    float3 c11 = mix(lut_at(lut, r0, g0 + 1, b0 + 1), lut_at(lut, r0 + 1, g0 + 1, b0 + 1), fr);
    float3 c = mix(mix(c00, c10, fg), mix(c01, c11, fg), fb);
    out[y * w + x] = make_uchar4((unsigned char)(__saturatef(c.x) * 255.0f + 0.5f),
                                 (unsigned char)(__saturatef(c.y) * 255.0f + 0.5f),
                                 (unsigned char)(__saturatef(c.z) * 255.0f + 0.5f), p.w);
}

/* ----------------------------------------------------------------------- DCT and quantisation of blocks of 8 by 8 */
__constant__ float dct_basis[64];
__constant__ unsigned char jpeg_quant[64] = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                                             14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                                             18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                                             49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

__global__ void dct8x8(unsigned char *img, short *coef, int width) {
    __shared__ float block[8][8], tmp[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
    block[ty][tx] = img[y * width + x] - 128.0f;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 8; k++) s += block[ty][k] * dct_basis[tx * 8 + k];
    tmp[ty][tx] = s;
    __syncthreads();
    s = 0;
    for (int k = 0; k < 8; k++) s += tmp[k][tx] * dct_basis[ty * 8 + k];
    coef[y * width + x] = (short)rintf(s / jpeg_quant[ty * 8 + tx]);
}

/* ------------------------------------------------------------- Smith-Waterman with affine gaps, by anti-diagonals */
__global__ void smith_waterman(const char *__restrict__ q, const char *__restrict__ t, const int *__restrict__ begin,
                               int *__restrict__ best) {
    __shared__ int hs[2][QUERY_LEN + 1], fs[2][QUERY_LEN + 1];
    __shared__ int maxima[QUERY_LEN / 32];
    const int open = 6, extend = 1;
    int i = threadIdx.x, from = begin[blockIdx.x], len = begin[blockIdx.x + 1] - from;
    char mine = q[blockIdx.x * QUERY_LEN + i];
    hs[0][i + 1] = hs[1][i + 1] = 0;
    fs[0][i + 1] = fs[1][i + 1] = -1000;
    if (i == 0) hs[0][0] = hs[1][0] = 0, fs[0][0] = fs[1][0] = -1000;
    int left = 0, e = -1000, diagonal = 0, top = 0;
    __syncthreads();
    for (int d = 0; d < len + QUERY_LEN - 1; d++) {
        int j = d - i, now = d & 1;
        if (j >= 0 && j < len) {
            int up = hs[now ^ 1][i];
            int f = max(fs[now ^ 1][i] - extend, up - open);
            e = max(e - extend, left - open);
            int h = diagonal + (mine == t[from + j] ? 3 : -2);
            h = max(max(h, 0), max(e, f));
            hs[now][i + 1] = h;
            fs[now][i + 1] = f;
            diagonal = up;
            left = h;
            top = max(top, h);
        }
        __syncthreads();
    }
    for (int o = 16; o; o /= 2) top = max(top, __shfl_xor_sync(0xffffffffu, top, o));
    if (i % 32 == 0) maxima[i / 32] = top;
    __syncthreads();
    if (i == 0) {
        for (int k = 1; k < QUERY_LEN / 32; k++) top = max(top, maxima[k]);
        best[blockIdx.x] = top;
    }
}

/* ------------------------------------------------------------------- sums of 4096-bit numbers, a warp for each */
__global__ void big_add(const ulonglong2 *a, const ulonglong2 *b, ulonglong2 *sum, unsigned char *carry_out, int n) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (warp >= n) return;
    ulonglong2 x = a[(size_t)warp * 32 + lane], y = b[(size_t)warp * 32 + lane], s;
    s.x = x.x + y.x;
    unsigned long long c = s.x < x.x;
    s.y = x.y + y.y;
    bool over = s.y < x.y;
    s.y += c;
    over |= s.y < c;
    unsigned long long generate = __ballot_sync(0xffffffffu, over);
    unsigned long long propagate = __ballot_sync(0xffffffffu, (s.x & s.y) == ~0ull);
    unsigned long long g = generate << 1;
    g = (g + propagate) ^ propagate;
    unsigned long long in = g >> lane & 1;
    s.x += in;
    s.y += s.x < in;
    sum[(size_t)warp * 32 + lane] = s;
    if (lane == 0) carry_out[warp] = g >> 32 & 1;
}

/* --------------------------------------------------------------------------------------------- run-length decode */
__global__ void rle_decode(const int *ends, const unsigned short *values, int runs, unsigned short *out, int total) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        int lo = 0, hi = runs - 1;
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (ends[mid] > i)
                hi = mid;
            else
                lo = mid + 1;
        }
        out[i] = values[lo];
    }
}

/* -------------------------------------------------------------- "17345,2021-03-04 05:06:07\n" to seconds since 1970 */
__device__ int number(const char *s, int digits) {
    int v = 0;
    for (int i = 0; i < digits; i++) v = v * 10 + (s[i] - '0');
    return v;
}
__global__ void parse_dates(const char *text, const int *begin, long long *stamps, int lines) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lines) return;
    const char *s = text + begin[i], *end = text + begin[i + 1];
    while (s < end && *s != ',') s++;
    s++;
    if (end - s < 19 || s[4] != '-' || s[7] != '-' || s[13] != ':') {
        stamps[i] = -1;
        return;
    }
    int y = number(s, 4), m = number(s + 5, 2), d = number(s + 8, 2);
    y -= m <= 2;
    int era = y / 400, yoe = y - era * 400;
    int doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    long long days = era * 146097LL + doe - 719468;
    stamps[i] = days * 86400 + number(s + 11, 2) * 3600 + number(s + 14, 2) * 60 + number(s + 17, 2);
}

/* ---------------------------------------------------------------------------------- moving median of a time series */
__global__ void moving_median(const float *in, float *out, int n, int window) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + window > n) return;
    float sorted[32];
    for (int k = 0; k < window; k++) {
        float v = in[i + k];
        int at = k;
        while (at > 0 && sorted[at - 1] > v) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = v;
    }
    out[i] = sorted[window / 2];
}

/* ------------------------------------------------------- one iteration of conjugate gradients, 5-point Laplacian */
__device__ void block_sum_to(double v, double *total) {
    __shared__ double part[32];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0;
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
        if (threadIdx.x == 0) atomicAdd(total, v);
    }
}
__global__ void cg_apply(const float *__restrict__ p, float *__restrict__ q, CgScalars *s) {
    double sum = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        if (s->rr_new > 0) s->rr = s->rr_new;
        s->rr_new = 0;
    }
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < CG_N; i += gridDim.x * blockDim.x) {
        int x = i % CG_NX, y = i / CG_NX;
        float c = p[i], v = 4.01f * c;
        if (x > 0) v -= p[i - 1];
        if (x < CG_NX - 1) v -= p[i + 1];
        if (y > 0) v -= p[i - CG_NX];
        if (y < CG_NY - 1) v -= p[i + CG_NX];
        q[i] = v;
        sum += (double)v * c;
    }
    block_sum_to(sum, &s->pq);
}
__global__ void cg_update(float *x, float *r, const float *p, const float *q, CgScalars *s) {
    float alpha = s->pq > 0 ? (float)(s->rr / s->pq) : 0.0f;
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < CG_N; i += gridDim.x * blockDim.x) {
        x[i] += alpha * p[i];
        float n = r[i] - alpha * q[i];
        r[i] = n;
        sum += n * n;
    }
    block_sum_to(sum, &s->rr_new);
}
__global__ void cg_direction(float *p, const float *r, CgScalars *s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) s->pq = 0;
    if (i < CG_N) p[i] = r[i] + (float)(s->rr_new / s->rr) * p[i];
}

/* ----------------------------------------------------------------------------------------------------------- setup */
template <typename T> static T *uploaded(const T *host, size_t n) {
    T *device;
    MUST(cudaMalloc(&device, n * sizeof(T)));
    MUST(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void setup_language() {
    size_t n = (size_t)TOKENS * HEADS * HEAD_DIM;
    q_in = filled<half>(n, [](size_t i) { return __float2half(unit(i) - 0.5f); });
    q_out = zeroed<half>(n);
    k_in = filled<half2>(n / 2, [](size_t i) { return __floats2half2_rn(unit(2 * i) - 0.5f, unit(2 * i + 1) - 0.5f); });
    k_out = zeroed<half2>(n / 2);
    rope_cs = filled<float2>(TOKENS * HALF_DIM, [](size_t i) {
        double angle = (double)(i / HALF_DIM) / pow(10000.0, 2.0 * (i % HALF_DIM) / HEAD_DIM);
        return make_float2((float)cos(angle), (float)sin(angle));
    });
    weights = filled<int8_t>((size_t)OUT_FEATURES * IN_FEATURES, [](size_t i) { return (int8_t)(mixed(i) >> 13); });
    activations = filled<int8_t>(IN_FEATURES, [](size_t i) { return (int8_t)(mixed(i + 77) >> 9); });
    row_scale = filled<float>(OUT_FEATURES, [](size_t i) { return 0.001f + 0.01f * unit(i); });
    projected = zeroed<float>(OUT_FEATURES);
}

static void setup_lines() {
    /* edge points in the order of a scan: two thirds along lines, the rest noise */
    int2 *points = (int2 *)malloc(EDGES * sizeof *points);
    int n = 0;
    for (int y = 0; y < PIC_H && n < EDGES; y++) {
        int goal = (int)((long long)EDGES * (y + 1) / PIC_H), row = goal - n;
        for (int k = 0; k < row; k++) {
            unsigned m = mixed(n);
            int x = m % 3 ? (int)((m >> 8) % 40 * 31 + y * (1 + (m >> 8) % 3) / 2) % PIC_W : (int)((m >> 4) % PIC_W);
            points[n++] = make_int2(x, y);
        }
    }
    while (n < EDGES) points[n++] = make_int2(0, 0);
    edges = uploaded(points, EDGES);
    free(points);
    votes = zeroed<int>(ANGLES * RHOS);
    float2 cs[ANGLES];
    for (int a = 0; a < ANGLES; a++) {
        cs[a] = make_float2((float)cos(a * 3.14159265358979 / ANGLES), (float)sin(a * 3.14159265358979 / ANGLES));
    }
    MUST(cudaMemcpyToSymbol(angle_cs, cs, sizeof cs));
}

static int cell_of(float4 p) {
    int x = (int)(p.x * GRID), y = (int)(p.y * GRID), z = (int)(p.z * GRID);
    return (z * GRID + y) * GRID + x;
}
static void setup_particles() {
    float4 *raw = (float4 *)malloc(PARTICLES * sizeof *raw), *sorted = (float4 *)malloc(PARTICLES * sizeof *raw);
    int *begin = (int *)calloc(CELLS + 1, sizeof *begin), *at = (int *)malloc((CELLS + 1) * sizeof *at);
    for (int i = 0; i < PARTICLES; i++) {
        raw[i] = make_float4(unit(3 * i) * 0.999f, unit(3 * i + 1) * unit(i + 900001) * 0.5f + unit(i + 5) * 0.49f,
                             unit(3 * i + 2) * 0.999f, 1.0f / PARTICLES);
        begin[cell_of(raw[i]) + 1]++;
    }
    for (int c = 0; c < CELLS; c++) begin[c + 1] += begin[c];
    memcpy(at, begin, (CELLS + 1) * sizeof *at);
    for (int i = 0; i < PARTICLES; i++) sorted[at[cell_of(raw[i])]++] = raw[i];
    particles = uploaded(sorted, PARTICLES);
    cell_begin = uploaded(begin, CELLS + 1);
    density = zeroed<float>(PARTICLES);
    free(raw), free(sorted), free(begin), free(at);
}

static void setup_matrices() {
    spd = filled<float>((size_t)MATRICES * 256, [](size_t i) {
        int row = i % 256 / 16, column = i % 16, lo = row < column ? row : column, hi = row + column - lo;
        return (row == column ? 20.0f : 0.0f) + unit(i / 256 * 256 + lo * 16 + hi);
    });
    factors = zeroed<float>((size_t)MATRICES * 256);
    lu_in = filled<double>((size_t)LU_SYSTEMS * 64, [](size_t i) {
        size_t element = i / LU_SYSTEMS;
        return (element % 9 == 0 ? 9.0 : 0.0) + (double)unit(i);
    });
    lu_out = zeroed<double>((size_t)LU_SYSTEMS * 64);
}

static void setup_trees() {
    /* by columns; every fourth feature has only a few kinds */
    binned = filled<uint8_t>((size_t)SAMPLES * FEATURES, [](size_t i) {
        unsigned f = (unsigned)(i / SAMPLES), m = mixed(i) >> 7;
        return (uint8_t)(f % 4 == 3 ? m % (3 + f) : m & 255);
    });
    gradients =
        filled<float2>(SAMPLES, [](size_t i) { return make_float2(unit(i) - 0.5f, 0.25f * unit(i + SAMPLES)); });
    histogram = zeroed<float2>(FEATURES * BINS);
    TreeNode *nodes = (TreeNode *)calloc(TREES * TREE_NODES, sizeof *nodes);
    for (int t = 0; t < TREES; t++) {
        for (int k = 0; k < TREE_NODES; k++) {
            TreeNode *n = nodes + t * TREE_NODES + k;
            bool leaf = k >= 255 || (k >= 15 && mixed(t * 1000 + k) % 5 == 0);
            n->feature = leaf ? -1 : (int)(mixed(t * 777 + k) % TREE_FEATURES);
            n->value = leaf ? unit(t * 31 + k) * 0.1f - 0.05f : 0.2f + 0.6f * unit(t * 555 + k);
            n->left = leaf ? 0 : 2 * k + 1;
            n->right = leaf ? 0 : 2 * k + 2;
        }
    }
    forest = uploaded(nodes, TREES * TREE_NODES);
    free(nodes);
    table = filled<float>(ROWS_SCORED * TREE_FEATURES, [](size_t i) { return unit(i + 31337); });
    scores = zeroed<float>(ROWS_SCORED);
}

static void setup_pictures() {
    frame = filled<uchar4>(FRAME_W * FRAME_H, [](size_t i) {
        int x = i % FRAME_W, y = i / FRAME_W, noise = mixed(i) % 9;
        return make_uchar4(x * 240 / FRAME_W + noise, y * 240 / FRAME_H + noise, (x / 3 + y / 2) % 240 + noise, 255);
    });
    graded = zeroed<uchar4>(FRAME_W * FRAME_H);
    lut = filled<float4>(LUT_N * LUT_N * LUT_N, [](size_t i) {
        float r = i % LUT_N / 32.0f, g = i / LUT_N % LUT_N / 32.0f, b = i / (LUT_N * LUT_N) / 32.0f;
        return make_float4(sqrtf(r), g * 0.9f + 0.1f * b, b * b, 1.0f);
    });
    luma = filled<unsigned char>(
        DCT_W * DCT_H, [](size_t i) { return (unsigned char)((i % DCT_W / 5 + i / DCT_W / 3 + mixed(i) % 16) & 255); });
    coefficients = zeroed<short>(DCT_W * DCT_H);
    float basis[64];
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++)
            basis[u * 8 + x] = (float)((u ? 0.5 : 0.35355339059) * cos((2 * x + 1) * u * 3.14159265358979 / 16));
    MUST(cudaMemcpyToSymbol(dct_basis, basis, sizeof basis));
}

static void setup_strings() {
    int begin[PAIRS + 1] = {0};
    for (int p = 0; p < PAIRS; p++) begin[p + 1] = begin[p] + 300 + mixed(p) % 151;
    queries = filled<char>(PAIRS * QUERY_LEN, [](size_t i) { return "ACGT"[mixed(i) >> 30]; });
    targets = filled<char>(begin[PAIRS], [](size_t i) { return "ACGT"[mixed(i / 7 * 5 + i % 7) >> 30]; });
    target_begin = uploaded(begin, PAIRS + 1);
    best_scores = zeroed<int>(PAIRS);

    int *first = (int *)malloc((LINES + 1) * sizeof *first), at = 0;
    char *text = (char *)malloc(LINES * 40ul);
    for (int i = 0; i < LINES; i++) {
        unsigned m = mixed(i);
        first[i] = at;
        at += sprintf(text + at, "%u,%04u-%02u-%02u %02u:%02u:%02u\n", mixed(i + 9) % (m % 7 ? 100000 : 1000),
                      1970 + m % 80, 1 + (m >> 8) % 12, 1 + (m >> 12) % 28, (m >> 17) % 24, (m >> 22) % 60, m >> 27);
    }
    first[LINES] = at;
    csv = uploaded(text, at);
    line_begin = uploaded(first, LINES + 1);
    stamps = zeroed<long long>(LINES);
    free(first), free(text);
}

static void setup_numbers() {
    auto wide = [](size_t i) -> unsigned long long {
        if (mixed(i / 8) % 11 == 0) return ~0ull; /* some carries go far */
        return (unsigned long long)mixed(i) << 32 | mixed(i + 12345678);
    };
    size_t n = (size_t)BIG_NUMBERS * 32;
    big_a = filled<ulonglong2>(n, [&](size_t i) { return make_ulonglong2(wide(2 * i), wide(2 * i + 1)); });
    big_b = filled<ulonglong2>(n, [&](size_t i) {
        return make_ulonglong2(mixed(i / 4) % 11 ? wide(2 * i + 99) : 0, mixed(i / 4) % 11 ? wide(2 * i + 100) : 0);
    });
    big_sum = zeroed<ulonglong2>(n);
    big_carry = zeroed<unsigned char>(BIG_NUMBERS);

    int *ends = (int *)malloc(RUNS * sizeof *ends);
    for (int r = 0; r < RUNS; r++) ends[r] = run_total += 1 + mixed(r) % 59;
    run_ends = uploaded(ends, RUNS);
    free(ends);
    run_values = filled<unsigned short>(RUNS, [](size_t i) { return (unsigned short)mixed(i + 4); });
    decoded = zeroed<unsigned short>(run_total);

    series = filled<float>(SERIES, [](size_t i) { return sinf(i * 0.001f) * 10.0f + unit(i); });
    medians = zeroed<float>(SERIES);

    cg_x = zeroed<float>(CG_N);
    cg_r = filled<float>(CG_N, [](size_t i) { return unit(i) - 0.5f; });
    cg_p = filled<float>(CG_N, [](size_t i) { return unit(i) - 0.5f; });
    cg_q = zeroed<float>(CG_N);
    CgScalars start = {0, 0, 0};
    for (int i = 0; i < CG_N; i++) start.rr += (unit(i) - 0.5f) * (unit(i) - 0.5f);
    cg_s = uploaded(&start, 1);
}

static void setup() {
    setup_language();
    setup_lines();
    setup_particles();
    setup_matrices();
    setup_trees();
    setup_pictures();
    setup_strings();
    setup_numbers();
}

static int blocks(int n, int size) { return (n + size - 1) / size; }

static const fidelity_test tests[] = {
    COLD("rope/powers", 1, rope_powf<<<blocks(TOKENS *HEADS *HALF_DIM, 256), 256>>>(q_in, q_out, TOKENS, 10000.0f)),
    WARM("rope/table", 1, rope_table<<<dim3(TOKENS, HEADS / 8), HALF_DIM>>>(k_in, k_out, rope_cs)),
    COLD("quantised/matrix-vector, 8 bits", 1,
         gemv_int8<<<blocks(OUT_FEATURES, 4), 128>>>(weights, activations, row_scale, 0.02f, projected, OUT_FEATURES,
                                                     IN_FEATURES)),
    COLD("hough/global atomics", 1, hough_global<<<blocks(EDGES, 256), 256>>>(edges, EDGES, votes)),
    COLD("hough/shared atomics", 1, hough_shared<<<ANGLES, 1024>>>(edges, EDGES, votes)),
    COLD("fluid/density by cells", 1,
         sph_density<<<blocks(PARTICLES, 96), 96>>>(particles, cell_begin, density, PARTICLES, 1.0f / GRID)),
    COLD("cholesky/a matrix a thread", 1, cholesky_thread<<<blocks(MATRICES, 64), 64>>>(spd, factors, MATRICES)),
    COLD("cholesky/shuffles", 1, cholesky_shuffle<<<blocks(MATRICES, 8), 128>>>(spd, factors, MATRICES)),
    COLD("lu/8 x 8, double", 1, lu_registers<8><<<blocks(LU_SYSTEMS, 128), 128>>>(lu_in, lu_out, LU_SYSTEMS)),
    COLD("boost/histogram of gradients", 1,
         boost_histogram<<<dim3(FEATURES, CHUNKS), 512>>>(binned, gradients, histogram, SAMPLES)),
    WARM("forest/predict", 1, forest_predict<<<blocks(ROWS_SCORED, 256), 256>>>(forest, table, scores, ROWS_SCORED)),
    COLD("lut/three axes", 1,
         grade<<<dim3(blocks(FRAME_W, 32), blocks(FRAME_H, 8)), dim3(32, 8)>>>(frame, graded, lut, FRAME_W, FRAME_H)),
    COLD("dct/8 x 8, naive", 1, dct8x8<<<dim3(DCT_W / 8, DCT_H / 8), dim3(8, 8)>>>(luma, coefficients, DCT_W)),
    COLD("align/Smith and Waterman", 1,
         smith_waterman<<<PAIRS, QUERY_LEN>>>(queries, targets, target_begin, best_scores)),
    COLD("bignum/addition", 1, big_add<<<blocks(BIG_NUMBERS, 8), 256>>>(big_a, big_b, big_sum, big_carry, BIG_NUMBERS)),
    COLD("runs/decode", 1, rle_decode<<<264, 1024>>>(run_ends, run_values, RUNS, decoded, run_total)),
    COLD("dates/parse", 1, parse_dates<<<blocks(LINES, 320), 320>>>(csv, line_begin, stamps, LINES)),
    COLD("moving/median", 1, moving_median<<<blocks(SERIES, 192), 192>>>(series, medians, SERIES, MEDIAN_WINDOW)),
    WARM("gradients/conjugate, an iteration", 3, cg_apply<<<528, 256>>>(cg_p, cg_q, cg_s);
         cg_update<<<528, 256>>>(cg_x, cg_r, cg_p, cg_q, cg_s);
         cg_direction<<<blocks(CG_N, 256), 256>>>(cg_p, cg_r, cg_s)),
};
FIDELITY_MAIN(setup, tests)
