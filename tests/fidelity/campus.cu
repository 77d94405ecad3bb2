/* campus.cu — what is written on a campus: homework that climbs from the first idea to the third, the library of a
 * laboratory, the codes of its computing centre. Most families are ladders: the order within one is what matters. */
#include "fidelity.h"
#include <cuda_fp16.h>
#include <float.h>
#include <math.h>
#include <mma.h>

enum { SEGMENTS = 20000, KEPT_OF = 1200000 };
enum { PHOTO_W = 1920, PHOTO_H = 1080, TAPS = 5 };
enum { GEMM_M = 700, GEMM_N = 500, GEMM_K = 580, HALF_M = 576, HALF_N = 768, HALF_K = 512 };
enum { POINTS = 120000, DIMS = 16, CLUSTERS = 24 };
enum { BATCH = 384, HIDDEN = 1024, TOKENS = 1000, WIDE = 3072, DROPPED = 1000000 };
enum { SPARSE_ROWS = 90000, ELL_WIDTH = 24 };
enum { BOX_X = 160, BOX_Y = 130, BOX_Z = 120, BOX = BOX_X * BOX_Y * BOX_Z };
enum { LOGIT_ROWS = 3000, LOGITS = 1000, TOP = 8 };
enum { DGEMM_N = 400, DOT_N = 2000003, OSCILLATORS = 30000 };

static float *seg_values, *seg_sums, *kept_in, *kept_out;
static int *seg_begin, *seg_key, *kept_count, seg_total;
static float *gray, *filtered, *filter;
static float *gemm_a, *gemm_b, *gemm_c, *half_c;
static half *half_a, *half_b;
static float *points, *centroids, *cluster_sums;
static int *assigned, *cluster_sizes;
static float *lstm_gates, *lstm_c, *lstm_h;
static half2 *gelu_in, *gelu_bias, *gelu_residual, *gelu_out;
static float4 *drop_in, *drop_out;
static int *row_begin, *columns, *ell_columns;
static float *entries, *ell_entries, *sparse_x, *sparse_y;
static float *box_in, *box_out;
static float *logits, *top_values;
static int *best_index, *top_indices;
static double *dgemm_a, *dgemm_b, *dgemm_c, *dot_a, *dot_b, *dot_out, *lorenz, *lorenz_end;

/* Sums of segments: by offsets, a thread and then a warp each; by keys, a warp for 32 neighbours. */

__global__ void segsum_thread(const float *v, const int *begin, float *sum, int segments) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    float acc = 0;
    for (int i = begin[s]; i < begin[s + 1]; i++) acc += v[i];
    sum[s] = acc;
}

__global__ void segsum_keys(const float *__restrict__ v, const int *__restrict__ key, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int k = i < n ? key[i] : -1;
    float x = i < n ? v[i] : 0.0f;
    for (int d = 1; d < 32; d *= 2) {
        float y = __shfl_down_sync(~0u, x, d);
        int ky = __shfl_down_sync(~0u, k, d);
        if (lane + d < 32 && ky == k) x += y;
    }
    int left = __shfl_up_sync(~0u, k, 1);
    if (k >= 0 && (lane == 0 || left != k)) atomicAdd(&sum[k], x);
}

__global__ void segsum_warp(const float *__restrict__ v, const int *__restrict__ begin, float *__restrict__ sum,
                            int segments) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (s >= segments) return;
    int end = begin[s + 1];
    float acc = 0;
    for (int i = begin[s] + lane; i < end; i += 32) acc += v[i];
    for (int d = 16; d; d >>= 1) acc += __shfl_xor_sync(~0u, acc, d);
    if (lane == 0) sum[s] = acc;
}

/* Keeps the elements above a threshold, in any order. */

__global__ void compact_atomic(const float *in, float *out, int *count, int n, float threshold) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = in[i];
        if (x > threshold) {
            int at = atomicAdd(count, 1);
            out[at] = x;
        }
    }
}

__global__ void compact_ballot(const float *__restrict__ in, float *__restrict__ out, int *count, int n,
                               float threshold) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x & 31;
    float x = i < n ? in[i] : 0.0f;
    bool keep = i < n && x > threshold;
    unsigned mask = __ballot_sync(0xffffffffu, keep);
    int base = 0;
    if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = x;
}

__global__ void __launch_bounds__(512) compact_scan(const float *in, float *out, int *count, int n, float threshold) {
    __shared__ int warp_total[16];
    __shared__ int block_base;
    __shared__ float staged[2048];
    int base = blockIdx.x * 2048, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, mine = 0;
    float x[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = base + k * 512 + threadIdx.x;
        x[k] = i < n ? in[i] : -FLT_MAX;
        mine += x[k] > threshold;
    }
    int scan = mine;
    for (int d = 1; d < 32; d <<= 1) {
        int y = __shfl_up_sync(~0u, scan, d);
        if (lane >= d) scan += y;
    }
    if (lane == 31) warp_total[warp] = scan;
    __syncthreads();
    if (warp == 0) {
        int t = lane < 16 ? warp_total[lane] : 0;
        for (int d = 1; d < 16; d <<= 1) {
            int y = __shfl_up_sync(~0u, t, d);
            if (lane >= d) t += y;
        }
        if (lane < 16) warp_total[lane] = t;
        if (lane == 15) block_base = atomicAdd(count, t);
    }
    __syncthreads();
    int at = scan - mine + (warp ? warp_total[warp - 1] : 0);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (x[k] > threshold) staged[at++] = x[k];
    __syncthreads();
    for (int i = threadIdx.x; i < warp_total[15]; i += 512) out[block_base + i] = staged[i];
}

/* A convolution of 5 by 5; the border repeats. */

__constant__ float filter_constant[TAPS * TAPS];

__global__ void conv_global(const float *in, const float *w, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            int xx = min(max(x + i, 0), width - 1), yy = min(max(y + j, 0), height - 1);
            sum += in[yy * width + xx] * w[(j + 2) * TAPS + i + 2];
        }
    out[y * width + x] = sum;
}

__global__ void conv_shared(const float *in, const float *w, float *out, int width, int height) {
    __shared__ float tile[20][20];
    __shared__ float weight[TAPS * TAPS];
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx;
    if (id < TAPS * TAPS) weight[id] = w[id];
    for (int i = id; i < 400; i += 256) {
        int xx = min(max((int)blockIdx.x * 16 + i % 20 - 2, 0), width - 1);
        int yy = min(max((int)blockIdx.y * 16 + i / 20 - 2, 0), height - 1);
        tile[i / 20][i % 20] = in[yy * width + xx];
    }
    __syncthreads();
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int j = 0; j < TAPS; j++)
        for (int i = 0; i < TAPS; i++) sum += tile[ty + j][tx + i] * weight[j * TAPS + i];
    if (x < width && y < height) out[y * width + x] = sum;
}

/* A thread makes 4 rows of a column: each value that it reads from shared memory serves up to 5 sums. */
__global__ void __launch_bounds__(256)
    conv_registers(const float *__restrict__ in, float *__restrict__ out, int width, int height) {
    __shared__ float tile[36][36];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    for (int r = threadIdx.y; r < 36; r += 8) {
        int yy = min(max(y0 + r - 2, 0), height - 1);
        for (int c = threadIdx.x; c < 36; c += 32) tile[r][c] = in[yy * width + min(max(x0 + c - 2, 0), width - 1)];
    }
    __syncthreads();
    float sum[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < 8; r++) {
        float v[TAPS];
#pragma unroll
        for (int i = 0; i < TAPS; i++) v[i] = tile[threadIdx.y * 4 + r][threadIdx.x + i];
#pragma unroll
        for (int o = 0; o < 4; o++)
            if (r - o >= 0 && r - o < TAPS) {
#pragma unroll
                for (int i = 0; i < TAPS; i++) sum[o] += v[i] * filter_constant[(r - o) * TAPS + i];
            }
    }
    int x = x0 + threadIdx.x;
    for (int o = 0; o < 4; o++) {
        int y = y0 + threadIdx.y * 4 + o;
        if (x < width && y < height) out[y * width + x] = sum[o];
    }
}

/* Products of matrices whose sizes no tile divides. */

__global__ void gemm_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

__global__ void gemm_tile32(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[32][32], Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

__global__ void gemm_micro4(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M,
                            int N, int K) {
    __shared__ float As[16][64 + 1], Bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            int m = i / 16, k = i % 16;
            As[k][m] = m0 + m < M && k0 + k < K ? A[(m0 + m) * K + k0 + k] : 0.0f;
            int kb = i / 64, n = i % 64;
            Bs[kb][n] = n0 + n < N && k0 + kb < K ? B[(k0 + kb) * N + n0 + n] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float a[4], b[4];
            for (int i = 0; i < 4; i++) a[i] = As[k][ty * 4 + i], b[i] = Bs[k][tx + i * 16];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int row = m0 + ty * 4 + i, col = n0 + tx + j * 16;
            if (row < M && col < N) C[row * N + col] = acc[i][j];
        }
}

/* N and K are multiples of 4. */
__global__ void __launch_bounds__(256)
    gemm_micro8(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
    __shared__ float As[8][128], Bs[8][128];
    const float4 zero = {0, 0, 0, 0};
    int t = threadIdx.x, tx = t % 16, ty = t / 16, m0 = blockIdx.y * 128, n0 = blockIdx.x * 128;
    int am = t / 2, ak = t % 2 * 4, bk = t / 32, bn = t % 32 * 4;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        float4 a = m0 + am < M && k0 + ak < K ? *(const float4 *)&A[(m0 + am) * K + k0 + ak] : zero;
        float4 b = k0 + bk < K && n0 + bn < N ? *(const float4 *)&B[(k0 + bk) * N + n0 + bn] : zero;
        As[ak][am] = a.x, As[ak + 1][am] = a.y, As[ak + 2][am] = a.z, As[ak + 3][am] = a.w;
        *(float4 *)&Bs[bk][bn] = b;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float x[8], y[8];
            *(float4 *)&x[0] = *(float4 *)&As[k][ty * 8], *(float4 *)&x[4] = *(float4 *)&As[k][ty * 8 + 4];
            *(float4 *)&y[0] = *(float4 *)&Bs[k][tx * 4], *(float4 *)&y[4] = *(float4 *)&Bs[k][64 + tx * 4];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = m0 + ty * 8 + i;
        if (row >= M) break;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int col = n0 + j * 64 + tx * 4;
            float4 v = {acc[i][j * 4], acc[i][j * 4 + 1], acc[i][j * 4 + 2], acc[i][j * 4 + 3]};
            if (col < N) *(float4 *)&C[row * N + col] = v;
        }
    }
}

/* The same on tensor cores: halves in, floats out. */

using namespace nvcuda;
using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
using FragmentC = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void wmma_global(const half *a, const half *b, float *c, int n, int k) {
    FragmentA fa;
    FragmentB fb;
    FragmentC fc;
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fill_fragment(fc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, b + i * n + col, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}

/* 4 warps share a strip of A of 32 rows and a strip of B of 32 columns. */
__global__ void wmma_shared(const half *a, const half *b, float *c, int n, int k) {
    __shared__ __align__(32) half as[32 * 32], bs[32 * 32];
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16, r = threadIdx.x / 4, q = threadIdx.x % 4 * 8;
    int row = blockIdx.y * 32, col = blockIdx.x * 32;
    FragmentA fa;
    FragmentB fb;
    FragmentC fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k0 = 0; k0 < k; k0 += 32) {
        *(int4 *)&as[r * 32 + q] = *(const int4 *)&a[(row + r) * k + k0 + q];
        *(int4 *)&bs[r * 32 + q] = *(const int4 *)&b[(k0 + r) * n + col + q];
        __syncthreads();
        for (int i = 0; i < 32; i += 16) {
            wmma::load_matrix_sync(fa, as + wr * 32 + i, 32);
            wmma::load_matrix_sync(fb, bs + i * 32 + wc, 32);
            wmma::mma_sync(fc, fa, fb, fc);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (row + wr) * n + col + wc, fc, n, wmma::mem_row_major);
}

/* As before, with 64 by 64 a block, 2 by 2 fragments a warp, and rows padded by 8. */
__global__ void __launch_bounds__(128)
    wmma_2x2(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, int n, int k) {
    __shared__ __align__(32) half as[64][40], bs[32][72];
    int t = threadIdx.x, warp = t / 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    FragmentA fa[2];
    FragmentB fb[2];
    FragmentC fc[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(fc[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < k; k0 += 32) {
#pragma unroll
        for (int i = t; i < 256; i += 128) {
            *(int4 *)&as[i / 4][i % 4 * 8] = *(const int4 *)&a[(row + i / 4) * k + k0 + i % 4 * 8];
            *(int4 *)&bs[i / 8][i % 8 * 8] = *(const int4 *)&b[(k0 + i / 8) * n + col + i % 8 * 8];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; i += 16) {
            for (int f = 0; f < 2; f++) {
                wmma::load_matrix_sync(fa[f], &as[wr + f * 16][i], 40);
                wmma::load_matrix_sync(fb[f], &bs[i][wc + f * 16], 72);
            }
            for (int f = 0; f < 4; f++) wmma::mma_sync(fc[f / 2][f % 2], fa[f / 2], fb[f % 2], fc[f / 2][f % 2]);
        }
        __syncthreads();
    }
    for (int f = 0; f < 4; f++)
        wmma::store_matrix_sync(c + (row + wr + f / 2 * 16) * n + col + wc + f % 2 * 16, fc[f / 2][f % 2], n,
                                wmma::mem_row_major);
}

/* K-means: the nearest centroid, and the sums for the new ones. */

__global__ void kmeans_assign(const float *points, const float *centroids, int *assigned, int n) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    float best = FLT_MAX;
    int where = 0;
    for (int c = 0; c < CLUSTERS; c++) {
        float d = 0;
        for (int k = 0; k < DIMS; k++) {
            float diff = points[p * DIMS + k] - centroids[c * DIMS + k];
            d += diff * diff;
        }
        if (d < best) best = d, where = c;
    }
    assigned[p] = where;
}

__global__ void kmeans_assign_shared(const float4 *__restrict__ points, const float4 *__restrict__ centroids,
                                     int *__restrict__ assigned, int n) {
    __shared__ float4 cs[CLUSTERS * DIMS / 4];
    for (int i = threadIdx.x; i < CLUSTERS * DIMS / 4; i += blockDim.x) cs[i] = centroids[i];
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    float4 x[DIMS / 4];
#pragma unroll
    for (int k = 0; k < DIMS / 4; k++) x[k] = points[p * (DIMS / 4) + k];
    float best = FLT_MAX;
    int where = 0;
    for (int c = 0; c < CLUSTERS; c++) {
        float d = 0;
#pragma unroll
        for (int k = 0; k < DIMS / 4; k++) {
            float4 q = cs[c * (DIMS / 4) + k];
            d += (x[k].x - q.x) * (x[k].x - q.x) + (x[k].y - q.y) * (x[k].y - q.y) + (x[k].z - q.z) * (x[k].z - q.z) +
                 (x[k].w - q.w) * (x[k].w - q.w);
        }
        if (d < best) best = d, where = c;
    }
    assigned[p] = where;
}

__global__ void kmeans_update(const float *points, const int *assigned, float *sums, int *sizes, int n) {
    __shared__ float s[CLUSTERS][DIMS];
    __shared__ int c[CLUSTERS];
    for (int i = threadIdx.x; i < CLUSTERS * DIMS; i += blockDim.x) s[i / DIMS][i % DIMS] = 0;
    if (threadIdx.x < CLUSTERS) c[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * DIMS; i += gridDim.x * blockDim.x) {
        int who = assigned[i / DIMS];
        atomicAdd(&s[who][i % DIMS], points[i]);
        if (i % DIMS == 0) atomicAdd(&c[who], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < CLUSTERS * DIMS; i += blockDim.x) atomicAdd(&sums[i], s[i / DIMS][i % DIMS]);
    if (threadIdx.x < CLUSTERS) atomicAdd(&sizes[threadIdx.x], c[threadIdx.x]);
}

/* Layers that touch each element once. */

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__global__ void lstm_cell(const float *gates, float *c, float *h, int batch, int hidden) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= batch * hidden) return;
    int row = id / hidden, j = id % hidden;
    const float *g = gates + (size_t)row * 4 * hidden;
    float in = sigmoid(g[j]), forget = sigmoid(g[hidden + j]), cell = tanhf(g[2 * hidden + j]);
    float out = sigmoid(g[3 * hidden + j]), state = forget * c[id] + in * cell;
    c[id] = state;
    h[id] = out * tanhf(state);
}

__global__ void bias_gelu_residual(const half2 *__restrict__ x, const half2 *__restrict__ bias,
                                   const half2 *__restrict__ residual, half2 *__restrict__ out, int width2) {
    const half2 *row = x + (size_t)blockIdx.x * width2;
    for (int j = threadIdx.x; j < width2; j += blockDim.x) {
        float2 v = __half22float2(__hadd2(row[j], bias[j]));
        float2 r = __half22float2(residual[(size_t)blockIdx.x * width2 + j]);
        v.x = 0.5f * v.x * (1.0f + tanhf(0.7978845608f * (v.x + 0.044715f * v.x * v.x * v.x)));
        v.y = 0.5f * v.y * (1.0f + tanhf(0.7978845608f * (v.y + 0.044715f * v.y * v.y * v.y)));
        out[(size_t)blockIdx.x * width2 + j] = __floats2half2_rn(v.x + r.x, v.y + r.y);
    }
}

/* Philox with 7 rounds makes 4 numbers for 4 elements. */
__global__ void dropout(const float4 *__restrict__ in, float4 *__restrict__ out, int n, float keep, uint2 key) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 c = {(unsigned)i, 0, 77, 0};
        uint2 k = key;
#pragma unroll
        for (int round = 0; round < 7; round++) {
            unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
            unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
            c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
            k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
        }
        unsigned limit = (unsigned)(keep * 4294967040.0f);
        float scale = 1.0f / keep;
        float4 v = in[i];
        v.x = c.x < limit ? v.x * scale : 0.0f, v.y = c.y < limit ? v.y * scale : 0.0f;
        v.z = c.z < limit ? v.z * scale : 0.0f, v.w = c.w < limit ? v.w * scale : 0.0f;
        out[i] = v;
    }
}

/* A sparse matrix times a vector. */

__global__ void csr_scalar(const int *ptr, const int *col, const float *val, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = ptr[row]; i < ptr[row + 1]; i++) sum += val[i] * x[col[i]];
    y[row] = sum;
}

__global__ void csr_vector(const int *__restrict__ ptr, const int *__restrict__ col, const float *__restrict__ val,
                           const float *__restrict__ x, float *__restrict__ y, int rows) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    int warps = gridDim.x * blockDim.x >> 5;
    for (int row = warp; row < rows; row += warps) {
        float sum = 0;
        for (int i = ptr[row] + lane; i < ptr[row + 1]; i += 32) sum += val[i] * x[col[i]];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) y[row] = sum;
    }
}

__global__ void ell(const int *__restrict__ col, const float *__restrict__ val, const float *__restrict__ x,
                    float *__restrict__ y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < ELL_WIDTH; k++) {
        int c = col[k * rows + row];
        if (c < 0) break;
        sum += val[k * rows + row] * x[c];
    }
    y[row] = sum;
}

/* A step of Jacobi with 7 points in 3 dimensions. */

__global__ void jacobi_naive(const float *in, float *out, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
    int c = (k * ny + j) * nx + i;
    out[c] = (in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + in[c - nx * ny] + in[c + nx * ny]) / 6.0f;
}

__global__ void jacobi_shared(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float plane[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int i = min(blockIdx.x * 32 + tx, nx - 1), j = min(blockIdx.y * 8 + ty, ny - 1);
    bool inner = blockIdx.x * 32 + tx < nx - 1 && blockIdx.y * 8 + ty < ny - 1;
    for (int k = 1; k < nz - 1; k++) {
        int c = (k * ny + j) * nx + i;
        plane[ty][tx] = in[c];
        if (tx == 1) plane[ty][0] = in[c - 1];
        if (tx == 32) plane[ty][33] = in[min(i + 1, nx - 1) - i + c];
        if (ty == 1) plane[0][tx] = in[c - nx];
        if (ty == 8) plane[9][tx] = in[c + (min(j + 1, ny - 1) - j) * nx];
        __syncthreads();
        if (inner)
            out[c] = (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + in[c - nx * ny] +
                      in[c + nx * ny]) *
                     (1.0f / 6.0f);
        __syncthreads();
    }
}

/* A thread walks 15 planes up and keeps 3 values of its column. */
__global__ void __launch_bounds__(256)
    jacobi_march(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
    int i = blockIdx.x * 64 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, plane = nx * ny;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    int k = max((int)blockIdx.z * 15, 1), end = min((int)blockIdx.z * 15 + 15, nz - 1), c = k * plane + j * nx + i;
    float below = in[c - plane], here = in[c];
#pragma unroll 3
    for (; k < end; k++, c += plane) {
        float above = in[c + plane];
        out[c] = (in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + below + above) * (1.0f / 6.0f);
        below = here, here = above;
    }
}

/* The largest of a row, and the 8 largest. */

__global__ void argmax_tree(const float *in, int *where, int n) {
    __shared__ float value[256];
    __shared__ int index[256];
    int t = threadIdx.x, at = 0;
    float best = -FLT_MAX;
    for (int i = t; i < n; i += 256)
        if (in[blockIdx.x * n + i] > best) best = in[blockIdx.x * n + i], at = i;
    value[t] = best, index[t] = at;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s && value[t + s] > value[t]) value[t] = value[t + s], index[t] = index[t + s];
        __syncthreads();
    }
    if (t == 0) where[blockIdx.x] = index[0];
}

__global__ void topk_thread(const float *in, float *values, int *indices, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float v[TOP];
    int at[TOP];
    for (int k = 0; k < TOP; k++) v[k] = -FLT_MAX, at[k] = -1;
    for (int i = 0; i < n; i++) {
        float x = in[row * n + i];
        if (x <= v[TOP - 1]) continue;
        v[TOP - 1] = x, at[TOP - 1] = i;
#pragma unroll
        for (int k = TOP - 1; k > 0; k--)
            if (v[k] > v[k - 1]) {
                float y = v[k];
                int a = at[k];
                v[k] = v[k - 1], at[k] = at[k - 1], v[k - 1] = y, at[k - 1] = a;
            }
    }
    for (int k = 0; k < TOP; k++) values[row * TOP + k] = v[k], indices[row * TOP + k] = at[k];
}

/* A warp has the row in registers, and takes the largest out 8 times. */
__global__ void topk_warp(const float *__restrict__ in, float *__restrict__ values, int *__restrict__ indices, int rows,
                          int n) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float x[32];
#pragma unroll
    for (int i = 0; i < 32; i++) x[i] = i * 32 + lane < n ? in[(size_t)row * n + i * 32 + lane] : -FLT_MAX;
    for (int k = 0; k < TOP; k++) {
        float best = x[0];
        int at = lane;
#pragma unroll
        for (int i = 1; i < 32; i++)
            if (x[i] > best) best = x[i], at = i * 32 + lane;
#pragma unroll
        for (int d = 16; d > 0; d /= 2) {
            float y = __shfl_xor_sync(~0u, best, d);
            int a = __shfl_xor_sync(~0u, at, d);
            if (y > best || (y == best && a < at)) best = y, at = a;
        }
#pragma unroll
        for (int i = 0; i < 32; i++)
            if (i * 32 + lane == at) x[i] = -FLT_MAX;
        if (lane == 0) values[row * TOP + k] = best, indices[row * TOP + k] = at;
    }
}

/* Doubles. */

__global__ void dgemm_tile(const double *A, const double *B, double *C, int n) {
    __shared__ double As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    double sum = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        As[ty][tx] = A[row * n + k0 + tx];
        Bs[ty][tx] = B[(k0 + ty) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

__global__ void ddot(const double *x, const double *y, double *result, int n) {
    extern __shared__ double cache[];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i] * y[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s != 0; s /= 2) {
        if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(result, cache[0]);
}

__device__ double3 lorenz_slope(double3 s) {
    return make_double3(10.0 * (s.y - s.x), s.x * (28.0 - s.z) - s.y, s.x * s.y - 8.0 / 3.0 * s.z);
}
__device__ double3 ahead(double3 s, double h, double3 k) {
    return make_double3(s.x + h * k.x, s.y + h * k.y, s.z + h * k.z);
}

/* The end of the steps is not kept, so each launch does the same. */
__global__ void lorenz_rk4(const double *start, double *end, int n, int steps, double h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double3 s = make_double3(start[i], start[n + i], start[2 * n + i]);
    for (int t = 0; t < steps; t++) {
        double3 a = lorenz_slope(s), b = lorenz_slope(ahead(s, h / 2, a)), c = lorenz_slope(ahead(s, h / 2, b));
        double3 d = lorenz_slope(ahead(s, h, c));
        s.x += h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x);
        s.y += h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y);
        s.z += h / 6 * (a.z + 2 * b.z + 2 * c.z + d.z);
    }
    end[i] = s.x, end[n + i] = s.y, end[2 * n + i] = s.z;
}

static int blocks(int n, int size) { return (n + size - 1) / size; }
static float centred(size_t i) { return unit(i) - 0.5f; }

static void setup_segments() {
    int *begin = (int *)malloc((SEGMENTS + 1) * sizeof(int));
    if (!begin) exit(1);
    for (int s = 0; s < SEGMENTS; s++) {
        begin[s] = seg_total;
        seg_total += s % 100 == 7 ? 1500 : 10 + mixed(s) % 130;
    }
    begin[SEGMENTS] = seg_total;
    int s = 0;
    seg_begin = filled<int>(SEGMENTS + 1, [&](size_t i) { return begin[i]; });
    seg_key = filled<int>(seg_total, [&](size_t i) { return s += (int)i == begin[s + 1]; });
    seg_values = filled<float>(seg_total, unit);
    seg_sums = zeroed<float>(SEGMENTS);
    free(begin);

    kept_in = filled<float>(KEPT_OF, unit);
    kept_out = zeroed<float>(KEPT_OF);
    kept_count = zeroed<int>(1);
}

static void setup_dense() {
    float taps[TAPS * TAPS];
    for (int i = 0; i < TAPS * TAPS; i++) taps[i] = unit(i) / 12.5f;
    filter = filled<float>(TAPS * TAPS, [&](size_t i) { return taps[i]; });
    MUST(cudaMemcpyToSymbol(filter_constant, taps, sizeof taps));
    gray = filled<float>(PHOTO_W * PHOTO_H, unit);
    filtered = zeroed<float>(PHOTO_W * PHOTO_H);

    gemm_a = filled<float>(GEMM_M * GEMM_K, centred);
    gemm_b = filled<float>(GEMM_K * GEMM_N, centred);
    gemm_c = zeroed<float>(GEMM_M * GEMM_N);
    half_a = filled<half>(HALF_M * HALF_K, [](size_t i) { return __float2half(centred(i)); });
    half_b = filled<half>(HALF_K * HALF_N, [](size_t i) { return __float2half(centred(i)); });
    half_c = zeroed<float>(HALF_M * HALF_N);

    box_in = filled<float>(BOX, unit);
    box_out = zeroed<float>(BOX);
}

static void setup_learning() {
    points = filled<float>(POINTS * DIMS, unit);
    centroids = filled<float>(CLUSTERS * DIMS, [](size_t i) { return unit(i + 12345678); });
    assigned = filled<int>(POINTS, [](size_t i) { return (int)(mixed(i) % CLUSTERS); });
    cluster_sums = zeroed<float>(CLUSTERS * DIMS);
    cluster_sizes = zeroed<int>(CLUSTERS);

    lstm_gates = filled<float>(BATCH * HIDDEN * 4, centred);
    lstm_c = filled<float>(BATCH * HIDDEN, centred);
    lstm_h = zeroed<float>(BATCH * HIDDEN);
    auto pair = [](size_t i) { return __floats2half2_rn(4 * centred(2 * i), 4 * centred(2 * i + 1)); };
    gelu_in = filled<half2>(TOKENS * WIDE / 2, pair);
    gelu_residual = filled<half2>(TOKENS * WIDE / 2, pair);
    gelu_bias = filled<half2>(WIDE / 2, pair);
    gelu_out = zeroed<half2>(TOKENS * WIDE / 2);
    drop_in = filled<float4>(DROPPED, [](size_t i) { return make_float4(1, 2, 3, unit(i)); });
    drop_out = zeroed<float4>(DROPPED);

    logits = filled<float>(LOGIT_ROWS * LOGITS, unit);
    top_values = zeroed<float>(LOGIT_ROWS * TOP);
    top_indices = zeroed<int>(LOGIT_ROWS * TOP);
    best_index = zeroed<int>(LOGIT_ROWS);
}

/* A row has 4 to 23 entries: every other one near the diagonal, the rest anywhere. */
static int row_length(int row) { return 4 + mixed(row) % 20; }
static int column(int row, int k) {
    unsigned r = mixed(row * ELL_WIDTH + k);
    return k % 2 ? r % SPARSE_ROWS : (row + r % 64) % SPARSE_ROWS;
}
static float entry(int row, int k) { return centred((size_t)row * ELL_WIDTH + k); }

static void setup_sparse() {
    int total = 0, at = 0, row = 0;
    row_begin = filled<int>(SPARSE_ROWS + 1, [&](size_t i) {
        int begin = total;
        total += row_length(i);
        return begin;
    });
    total -= row_length(SPARSE_ROWS);
    columns = filled<int>(total, [&](size_t) {
        if (at == row_length(row)) row++, at = 0;
        int k = at++;
        return column(row, k);
    });
    at = row = 0;
    entries = filled<float>(total, [&](size_t) {
        if (at == row_length(row)) row++, at = 0;
        int k = at++;
        return entry(row, k);
    });
    ell_columns = filled<int>(SPARSE_ROWS * ELL_WIDTH, [](size_t i) {
        int r = i % SPARSE_ROWS, k = i / SPARSE_ROWS;
        return k < row_length(r) ? column(r, k) : -1;
    });
    ell_entries =
        filled<float>(SPARSE_ROWS * ELL_WIDTH, [](size_t i) { return entry(i % SPARSE_ROWS, i / SPARSE_ROWS); });
    sparse_x = filled<float>(SPARSE_ROWS, unit);
    sparse_y = zeroed<float>(SPARSE_ROWS);
}

static void setup_doubles() {
    dgemm_a = filled<double>(DGEMM_N * DGEMM_N, centred);
    dgemm_b = filled<double>(DGEMM_N * DGEMM_N, centred);
    dgemm_c = zeroed<double>(DGEMM_N * DGEMM_N);
    dot_a = filled<double>(DOT_N, unit);
    dot_b = filled<double>(DOT_N, centred);
    dot_out = zeroed<double>(1);
    lorenz = filled<double>(3 * OSCILLATORS, [](size_t i) { return 1 + 10 * unit(i); });
    lorenz_end = zeroed<double>(3 * OSCILLATORS);
}

static void setup() {
    setup_segments();
    setup_dense();
    setup_learning();
    setup_sparse();
    setup_doubles();
}

static const dim3 b16(16, 16), b32(32, 32), b8(32, 8);

static const fidelity_test tests[] = {
    COLD("segments/a thread each", 1,
         segsum_thread<<<blocks(SEGMENTS, 128), 128>>>(seg_values, seg_begin, seg_sums, SEGMENTS)),
    COLD("segments/by keys", 1, cudaMemsetAsync(seg_sums, 0, SEGMENTS * sizeof(float));
         segsum_keys<<<blocks(seg_total, 256), 256>>>(seg_values, seg_key, seg_sums, seg_total)),
    COLD("segments/a warp each", 1,
         segsum_warp<<<blocks(SEGMENTS, 8), 256>>>(seg_values, seg_begin, seg_sums, SEGMENTS)),
    COLD("sieve/a counter", 1, cudaMemsetAsync(kept_count, 0, sizeof(int));
         compact_atomic<<<256, 256>>>(kept_in, kept_out, kept_count, KEPT_OF, 0.6f)),
    COLD("sieve/ballots", 1, cudaMemsetAsync(kept_count, 0, sizeof(int));
         compact_ballot<<<blocks(KEPT_OF, 256), 256>>>(kept_in, kept_out, kept_count, KEPT_OF, 0.6f)),
    COLD("sieve/scans", 1, cudaMemsetAsync(kept_count, 0, sizeof(int));
         compact_scan<<<blocks(KEPT_OF, 2048), 512>>>(kept_in, kept_out, kept_count, KEPT_OF, 0.6f)),
    COLD(
        "filter 5 x 5/global", 1,
        conv_global<<<dim3(blocks(PHOTO_W, 16), blocks(PHOTO_H, 16)), b16>>>(gray, filter, filtered, PHOTO_W, PHOTO_H)),
    COLD(
        "filter 5 x 5/tile", 1,
        conv_shared<<<dim3(blocks(PHOTO_W, 16), blocks(PHOTO_H, 16)), b16>>>(gray, filter, filtered, PHOTO_W, PHOTO_H)),
    COLD("filter 5 x 5/tile and registers", 1,
         conv_registers<<<dim3(blocks(PHOTO_W, 32), blocks(PHOTO_H, 32)), b8>>>(gray, filtered, PHOTO_W, PHOTO_H)),
    COLD("product 700 x 500 x 580/naive", 1,
         gemm_naive<<<dim3(blocks(GEMM_N, 16), blocks(GEMM_M, 16)), b16>>>(gemm_a, gemm_b, gemm_c, GEMM_M, GEMM_N,
                                                                           GEMM_K)),
    COLD("product 700 x 500 x 580/tile of 32", 1,
         gemm_tile32<<<dim3(blocks(GEMM_N, 32), blocks(GEMM_M, 32)), b32>>>(gemm_a, gemm_b, gemm_c, GEMM_M, GEMM_N,
                                                                            GEMM_K)),
    COLD("product 700 x 500 x 580/4 x 4 a thread", 1,
         gemm_micro4<<<dim3(blocks(GEMM_N, 64), blocks(GEMM_M, 64)), 256>>>(gemm_a, gemm_b, gemm_c, GEMM_M, GEMM_N,
                                                                            GEMM_K)),
    COLD("product 700 x 500 x 580/8 x 8 a thread", 1,
         gemm_micro8<<<dim3(blocks(GEMM_N, 128), blocks(GEMM_M, 128)), 256>>>(gemm_a, gemm_b, gemm_c, GEMM_M, GEMM_N,
                                                                              GEMM_K)),
    WARM("tensor cores/global", 1,
         wmma_global<<<dim3(HALF_N / 16, HALF_M / 16), 32>>>(half_a, half_b, half_c, HALF_N, HALF_K)),
    WARM("tensor cores/shared", 1,
         wmma_shared<<<dim3(HALF_N / 32, HALF_M / 32), 128>>>(half_a, half_b, half_c, HALF_N, HALF_K)),
    WARM("tensor cores/2 x 2 a warp", 1,
         wmma_2x2<<<dim3(HALF_N / 64, HALF_M / 64), 128>>>(half_a, half_b, half_c, HALF_N, HALF_K)),
    WARM("k means/assign", 1, kmeans_assign<<<blocks(POINTS, 512), 512>>>(points, centroids, assigned, POINTS)),
    WARM("k means/assign, shared", 1,
         kmeans_assign_shared<<<blocks(POINTS, 128), 128>>>((float4 *)points, (float4 *)centroids, assigned, POINTS)),
    COLD("k means/update", 1, cudaMemsetAsync(cluster_sums, 0, CLUSTERS *DIMS * sizeof(float));
         cudaMemsetAsync(cluster_sizes, 0, CLUSTERS * sizeof(int));
         kmeans_update<<<132, 1024>>>(points, assigned, cluster_sums, cluster_sizes, POINTS)),
    COLD("elementwise/cell of an LSTM", 1,
         lstm_cell<<<blocks(BATCH *HIDDEN, 256), 256>>>(lstm_gates, lstm_c, lstm_h, BATCH, HIDDEN)),
    COLD("elementwise/bias, GELU, residual", 1,
         bias_gelu_residual<<<TOKENS, 384>>>(gelu_in, gelu_bias, gelu_residual, gelu_out, WIDE / 2)),
    COLD("elementwise/dropout", 1,
         dropout<<<1056, 256>>>(drop_in, drop_out, DROPPED, 0.9f, make_uint2(20250101u, 42u))),
    COLD("spmv/CSR, a thread a row", 1,
         csr_scalar<<<blocks(SPARSE_ROWS, 256), 256>>>(row_begin, columns, entries, sparse_x, sparse_y, SPARSE_ROWS)),
    COLD("spmv/CSR, a warp a row", 1,
         csr_vector<<<1320, 128>>>(row_begin, columns, entries, sparse_x, sparse_y, SPARSE_ROWS)),
    COLD("spmv/ELL", 1,
         ell<<<blocks(SPARSE_ROWS, 192), 192>>>(ell_columns, ell_entries, sparse_x, sparse_y, SPARSE_ROWS)),
    COLD("seven points/naive", 1,
         jacobi_naive<<<dim3(blocks(BOX_X, 8), blocks(BOX_Y, 8), blocks(BOX_Z, 8)), dim3(8, 8, 8)>>>(
             box_in, box_out, BOX_X, BOX_Y, BOX_Z)),
    COLD(
        "seven points/shared plane", 1,
        jacobi_shared<<<dim3(blocks(BOX_X - 2, 32), blocks(BOX_Y - 2, 8)), b8>>>(box_in, box_out, BOX_X, BOX_Y, BOX_Z)),
    COLD("seven points/march", 1,
         jacobi_march<<<dim3(blocks(BOX_X, 64), blocks(BOX_Y, 4), blocks(BOX_Z, 15)), dim3(64, 4)>>>(
             box_in, box_out, BOX_X, BOX_Y, BOX_Z)),
    COLD("largest/argmax, a tree", 1, argmax_tree<<<LOGIT_ROWS, 256>>>(logits, best_index, LOGITS)),
    COLD("largest/8, a thread a row", 1,
         topk_thread<<<blocks(LOGIT_ROWS, 64), 64>>>(logits, top_values, top_indices, LOGIT_ROWS, LOGITS)),
    COLD("largest/8, a warp a row", 1,
         topk_warp<<<blocks(LOGIT_ROWS, 4), dim3(32, 4)>>>(logits, top_values, top_indices, LOGIT_ROWS, LOGITS)),
    WARM("doubles/product, tile of 16", 1,
         dgemm_tile<<<dim3(DGEMM_N / 16, DGEMM_N / 16), b16>>>(dgemm_a, dgemm_b, dgemm_c, DGEMM_N)),
    COLD("doubles/dot", 1, cudaMemsetAsync(dot_out, 0, sizeof(double));
         ddot<<<300, 512, 512 * sizeof(double)>>>(dot_a, dot_b, dot_out, DOT_N)),
    WARM("doubles/Lorenz", 1, lorenz_rk4<<<blocks(OSCILLATORS, 64), 64>>>(lorenz, lorenz_end, OSCILLATORS, 40, 0.005)),
};
FIDELITY_MAIN(setup, tests)
