/* visitors.cu — ladders of programmers who did not meet: each has a job done the first way that came to mind, then a
 * better one, then the one they kept. Sums of rows, bytes transposed, wide histograms, scans, attention, a
 * permutation, one long sum, bodies, ranks of pages, checksums, matrix-vector, fractals, products, functions, and
 * pipelines of small launches. */
#include "fidelity.h"
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <math.h>
#include <stdint.h>

enum { SUM_ROWS = 3000, SUM_COLS = 1700 };
enum { BYTES_W = 3072, BYTES_H = 2048 };
enum { SHORTS = 1 << 21, WIDE_BINS = 4096 };
enum { SCAN_N = 1 << 20, SCAN_BLOCK = 256, SCAN_EACH = 8, SCAN_TILE = SCAN_BLOCK * SCAN_EACH };
enum { SEQ = 128, ATT_HEADS = 16, WIDTH = 64 };
enum { SHUFFLED = 2000000 };
enum { TOTAL_N = 200001 };
enum { BODIES = 2048 };
enum { PAGES = 120000 };
enum { MESSAGES = 20000, MESSAGE_BYTES = 256 };
enum { MV_ROWS = 4096, MV_COLS = 2048, MV_GROUP = 128 };
enum { JULIA_W = 1024, JULIA_H = 768, JULIA_STEPS = 200 };
enum { GEMM_M = 640, GEMM_N = 512, GEMM_K = 512 };
enum { ARGUMENTS = 500000 };
enum { SAMPLES = 1500000, PLATE_W = 300, PLATE_H = 200 };

/* ---- Sums of rows ---- */

static float *sum_matrix, *row_sums;

__global__ void rows_thread(const float *m, float *sums, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int c = 0; c < cols; c++) s += m[r * cols + c];
    sums[r] = s;
}

__global__ void rows_warp(const float *__restrict__ m, float *__restrict__ sums, int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float s = 0;
    for (int c = lane; c < cols; c += 32) s += m[r * cols + c];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (lane == 0) sums[r] = s;
}

__global__ void rows_block(const float *m, float *sums, int cols) {
    extern __shared__ float partial[];
    const float4 *row = (const float4 *)(m + blockIdx.x * cols);
    float s = 0;
    for (int c = threadIdx.x; c < cols / 4; c += blockDim.x) {
        float4 v = row[c];
        s += v.x + v.y + v.z + v.w;
    }
    partial[threadIdx.x] = s;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

/* ---- Transpose of bytes ---- */

static uint8_t *bytes_in, *bytes_out;

__global__ void bytes_naive(const uint8_t *in, uint8_t *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}

__global__ void bytes_tile(const uint8_t *in, uint8_t *out, int w, int h) {
    __shared__ uint8_t tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) tile[j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += blockDim.y) out[(y + j) * h + x] = tile[threadIdx.x][j];
}

/* A thread turns 4 x 4 bytes in registers; a block of 256 has 64 x 64, which words in shared memory turn. */
__global__ __launch_bounds__(256) void bytes_words(const uint32_t *__restrict__ in, uint32_t *__restrict__ out, int w,
                                                   int h) {
    __shared__ uint32_t tile[64][17];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const uint32_t *from = in + (size_t)(blockIdx.y * 64 + ty * 4) * (w / 4) + blockIdx.x * 16 + tx;
    uint32_t a = from[0], b = from[w / 4], c = from[w / 4 * 2], d = from[w / 4 * 3];
    uint32_t ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
    tile[tx * 4][ty] = __byte_perm(ab, cd, 0x5410);
    tile[tx * 4 + 1][ty] = __byte_perm(ab, cd, 0x7632);
    ab = __byte_perm(a, b, 0x7362);
    cd = __byte_perm(c, d, 0x7362);
    tile[tx * 4 + 2][ty] = __byte_perm(ab, cd, 0x5410);
    tile[tx * 4 + 3][ty] = __byte_perm(ab, cd, 0x7632);
    __syncthreads();
    for (int j = ty; j < 64; j += 16) out[(size_t)(blockIdx.x * 64 + j) * (h / 4) + blockIdx.y * 16 + tx] = tile[j][tx];
}

/* ---- Histogram of 12 bits ---- */

static uint16_t *shorts;
static unsigned *wide_bins;

__global__ void wide_global(const uint16_t *v, int n, unsigned *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[v[i] >> 4], 1);
}

__global__ void wide_shared(const uint16_t *v, int n, unsigned *bins) {
    __shared__ unsigned local[WIDE_BINS];
    for (int b = threadIdx.x; b < WIDE_BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[v[i] >> 4], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < WIDE_BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

__global__ void __launch_bounds__(1024) wide_copies(const uint4 *__restrict__ v, int vectors, unsigned *bins) {
    extern __shared__ unsigned copies[]; /* of the odd warps' bins after the even warps' */
    for (int b = threadIdx.x; b < 2 * WIDE_BINS; b += blockDim.x) copies[b] = 0;
    __syncthreads();
    unsigned *mine = copies + (threadIdx.x / 32 & 1) * WIDE_BINS;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        uint4 w = __ldg(v + i);
        atomicAdd(mine + (w.x >> 4 & 4095), 1), atomicAdd(mine + (w.x >> 20), 1);
        atomicAdd(mine + (w.y >> 4 & 4095), 1), atomicAdd(mine + (w.y >> 20), 1);
        atomicAdd(mine + (w.z >> 4 & 4095), 1), atomicAdd(mine + (w.z >> 20), 1);
        atomicAdd(mine + (w.w >> 4 & 4095), 1), atomicAdd(mine + (w.w >> 20), 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < WIDE_BINS; b += blockDim.x) {
        unsigned count = copies[b] + copies[b + WIDE_BINS];
        if (count) atomicAdd(bins + b, count);
    }
}

/* ---- Inclusive scan ---- */

static int *scan_in, *scan_out, *scan_sums;
static unsigned long long *scan_state;

__global__ void scan_hillis_steele(const int *in, int *out, int *sums, int n) {
    extern __shared__ int both[];
    int *from = both, *to = both + blockDim.x, t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    from[t] = i < n ? in[i] : 0;
    for (int d = 1; d < (int)blockDim.x; d *= 2) {
        __syncthreads();
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        int *other = from;
        from = to, to = other;
    }
    if (i < n) out[i] = from[t];
    if (sums && t == (int)blockDim.x - 1) sums[blockIdx.x] = from[t];
}

__global__ void scan_add_sums(int *out, const int *scanned, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += scanned[blockIdx.x - 1];
}

/* Returns the inclusive scan of a block's v, and in *total its sum. */
__device__ int block_scan(int v, int *total) {
    __shared__ int warps[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int d = 1; d < 32; d <<= 1) {
        int u = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += u;
    }
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    int before = 0, sum = 0;
    for (int w = 0; w < (int)blockDim.x / 32; w++) {
        if (w == warp) before = sum;
        sum += warps[w];
    }
    __syncthreads();
    *total = sum;
    return v + before;
}

__global__ void scan_tile_sums(const int4 *in, int *sums) {
    int s = 0, total;
    for (int k = 0; k < SCAN_EACH / 4; k++) {
        int4 v = in[blockIdx.x * (SCAN_TILE / 4) + k * SCAN_BLOCK + threadIdx.x];
        s += v.x + v.y + v.z + v.w;
    }
    block_scan(s, &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void scan_of_sums(int *sums, int n) {
    int total, v = (int)threadIdx.x < n ? sums[threadIdx.x] : 0;
    int inclusive = block_scan(v, &total);
    if ((int)threadIdx.x < n) sums[threadIdx.x] = inclusive - v;
}

__device__ void scan_tile(const int4 *in, int4 v[2], int *sum) {
    v[0] = in[0], v[1] = in[1];
    v[0].y += v[0].x, v[0].z += v[0].y, v[0].w += v[0].z;
    v[1].x += v[0].w, v[1].y += v[1].x, v[1].z += v[1].y, v[1].w += v[1].z;
    *sum = v[1].w;
}

__device__ void store_tile(int4 *out, const int4 v[2], int before) {
    for (int k = 0; k < 2; k++) out[k] = make_int4(v[k].x + before, v[k].y + before, v[k].z + before, v[k].w + before);
}

__global__ void scan_from_sums(const int4 *__restrict__ in, int4 *__restrict__ out, const int *__restrict__ before) {
    int4 v[2];
    int sum, total, at = (blockIdx.x * SCAN_BLOCK + threadIdx.x) * 2;
    scan_tile(in + at, v, &sum);
    store_tile(out + at, v, block_scan(sum, &total) - sum + before[blockIdx.x]);
}

/* A tile's state: 0, or 1 and its sum, or 2 and the sum up to its end. The last state counts the tiles taken. */
__global__ void scan_look_back(const int4 *__restrict__ in, int4 *__restrict__ out, unsigned long long *state) {
    __shared__ int tile, before;
    if (threadIdx.x == 0) tile = (int)atomicAdd(&state[gridDim.x], 1ull);
    __syncthreads();
    int4 v[2];
    int sum, total, at = (tile * SCAN_BLOCK + threadIdx.x) * 2;
    scan_tile(in + at, v, &sum);
    int inclusive = block_scan(sum, &total);
    if (threadIdx.x == 0) {
        atomicExch(&state[tile], (tile == 0 ? 2ull : 1ull) << 32 | (unsigned)total);
        int so_far = 0;
        for (int k = tile - 1; k >= 0; k--) {
            unsigned long long s;
            do s = *(volatile unsigned long long *)&state[k];
            while (s == 0);
            so_far += (int)(unsigned)s;
            if (s >> 32 == 2) break;
        }
        if (tile) atomicExch(&state[tile], 2ull << 32 | (unsigned)(so_far + total));
        before = so_far;
    }
    __syncthreads();
    store_tile(out + at, v, inclusive - sum + before);
}

/* ---- Attention, heads of 64 ---- */

static float *att_q, *att_k, *att_v, *att_out;

__global__ void attention_thread(const float *q, const float *k, const float *v, float *out, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y;
    const float *keys = k + head * SEQ * WIDTH, *values = v + head * SEQ * WIDTH;
    float mine[WIDTH], sum[WIDTH], most = -INFINITY, denominator = 0;
    for (int d = 0; d < WIDTH; d++) mine[d] = q[(head * SEQ + i) * WIDTH + d] * scale, sum[d] = 0;
    for (int j = 0; j < SEQ; j++) {
        float s = 0;
        for (int d = 0; d < WIDTH; d++) s += mine[d] * keys[j * WIDTH + d];
        float top = fmaxf(most, s), keep = expf(most - top), p = expf(s - top);
        denominator = denominator * keep + p;
        for (int d = 0; d < WIDTH; d++) sum[d] = sum[d] * keep + p * values[j * WIDTH + d];
        most = top;
    }
    for (int d = 0; d < WIDTH; d++) out[(head * SEQ + i) * WIDTH + d] = sum[d] / denominator;
}

/* Four lanes have a query, 16 columns each; 32 queries go through tiles of 32 keys. */
__global__ __launch_bounds__(128) void attention_tile(const float4 *__restrict__ q, const float4 *__restrict__ k,
                                                      const float4 *__restrict__ v, float4 *__restrict__ out,
                                                      float scale) {
    __shared__ float4 keys[32 * WIDTH / 4], values[32 * WIDTH / 4];
    int part = threadIdx.x % 4, first_of_head = blockIdx.y * SEQ * (WIDTH / 4);
    int at = first_of_head + (blockIdx.x * 32 + threadIdx.x / 4) * (WIDTH / 4) + part;
    float4 mine[4], sum[4] = {};
    for (int d = 0; d < 4; d++) mine[d] = q[at + d * 4];
    float most = -INFINITY, denominator = 0;
    for (int tile = 0; tile < SEQ; tile += 32) {
        __syncthreads();
        for (int e = threadIdx.x; e < 32 * WIDTH / 4; e += 128) {
            keys[e] = k[first_of_head + tile * (WIDTH / 4) + e];
            values[e] = v[first_of_head + tile * (WIDTH / 4) + e];
        }
        __syncthreads();
        float s[32], top = most;
#pragma unroll
        for (int j = 0; j < 32; j++) {
            float dot = 0;
#pragma unroll
            for (int d = 0; d < 4; d++) {
                float4 b = keys[j * (WIDTH / 4) + d * 4 + part];
                dot += mine[d].x * b.x + mine[d].y * b.y + mine[d].z * b.z + mine[d].w * b.w;
            }
            dot += __shfl_xor_sync(~0u, dot, 1);
            dot += __shfl_xor_sync(~0u, dot, 2);
            s[j] = dot * scale;
            top = fmaxf(top, s[j]);
        }
        float keep = __expf(most - top);
        most = top;
        denominator *= keep;
        for (int d = 0; d < 4; d++) sum[d].x *= keep, sum[d].y *= keep, sum[d].z *= keep, sum[d].w *= keep;
#pragma unroll
        for (int j = 0; j < 32; j++) {
            float p = __expf(s[j] - top);
            denominator += p;
#pragma unroll
            for (int d = 0; d < 4; d++) {
                float4 b = values[j * (WIDTH / 4) + d * 4 + part];
                sum[d].x += p * b.x, sum[d].y += p * b.y, sum[d].z += p * b.z, sum[d].w += p * b.w;
            }
        }
    }
    float over = 1.0f / denominator;
    for (int d = 0; d < 4; d++)
        out[at + d * 4] = make_float4(sum[d].x * over, sum[d].y * over, sum[d].z * over, sum[d].w * over);
}

/* ---- A random permutation ---- */

static int *permutation;
static float4 *deck, *dealt;

template <typename T> __global__ void gather(const T *in, const int *from, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[from[i]];
}

template <typename T> __global__ void scatter(const T *in, const int *to, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[to[i]] = in[i];
}

/* ---- One sum ---- */

static float *terms, *total_sum;

__global__ void total_all(const float *a, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, a[i]);
}

__global__ void total_warps(const float *a, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? a[i] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(sum, v);
}

__global__ void total_blocks(const float *__restrict__ a, float *sum, int n) {
    __shared__ float warps[16];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += a[i];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 16) return;
    v = warps[threadIdx.x];
    for (int d = 8; d > 0; d >>= 1) v += __shfl_xor_sync(0xffff, v, d);
    if (threadIdx.x == 0) atomicAdd(sum, v);
}

/* ---- Bodies ---- */

struct Body {
    float x, y, z, m;
};
static Body *bodies;
static float3 *forces;

__global__ void bodies_naive(const Body *b, float3 *a, int n, float soft) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i].x = a[i].y = a[i].z = 0;
    for (int j = 0; j < n; j++) {
        float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
        float d = sqrtf(dx * dx + dy * dy + dz * dz + soft);
        float s = b[j].m / (d * d * d);
        a[i].x += dx * s;
        a[i].y += dy * s;
        a[i].z += dz * s;
    }
}

__global__ void bodies_tile(const Body *b, float3 *a, int n, float soft) {
    extern __shared__ Body tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Body me = b[i];
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = b[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < (int)blockDim.x; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float over = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + soft);
            float s = tile[j].m * over * over * over;
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        __syncthreads();
    }
    a[i] = make_float3(ax, ay, az);
}

/* Four threads share a body, each with a quarter of the others. */
template <int SIZE>
__global__ void __launch_bounds__(SIZE)
    bodies_quarters(const float4 *__restrict__ b, float3 *__restrict__ a, int n, float soft) {
    __shared__ float4 tile[SIZE];
    __shared__ float3 parts[4][SIZE / 4];
    int mine = threadIdx.x % (SIZE / 4), quarter = threadIdx.x / (SIZE / 4);
    float4 me = b[blockIdx.x * (SIZE / 4) + mine];
    float3 sum = {0, 0, 0};
    for (int first = 0; first < n; first += SIZE) {
        tile[threadIdx.x] = b[first + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < SIZE / 4; j++) {
            float4 o = tile[quarter * (SIZE / 4) + j];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float over = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, soft))));
            float s = o.w * over * over * over;
            sum.x = fmaf(dx, s, sum.x), sum.y = fmaf(dy, s, sum.y), sum.z = fmaf(dz, s, sum.z);
        }
        __syncthreads();
    }
    parts[quarter][mine] = sum;
    __syncthreads();
    if (quarter) return;
    for (int k = 1; k < 4; k++) sum.x += parts[k][mine].x, sum.y += parts[k][mine].y, sum.z += parts[k][mine].z;
    a[blockIdx.x * (SIZE / 4) + mine] = sum;
}

/* ---- Ranks of pages ---- */

static int *link_begin, *link_page;
static float *rank_in, *rank_out, *over_degree;

__global__ void rank_push(const int *begin, const int *to, const float *in, float *out, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int degree = begin[v + 1] - begin[v];
    for (int e = begin[v]; e < begin[v + 1]; e++) atomicAdd(&out[to[e]], 0.85f * in[v] / degree);
}

__global__ void rank_pull(const int *begin, const int *from, const float *in, const float *over_degree, float *out,
                          int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float s = 0;
    for (int e = begin[v]; e < begin[v + 1]; e++) s += in[from[e]] * over_degree[from[e]];
    out[v] = 0.15f / n + 0.85f * s;
}

__global__ void rank_pull_lanes(const int *__restrict__ begin, const int *__restrict__ from,
                                const float *__restrict__ in, const float *__restrict__ over_degree,
                                float *__restrict__ out, int n) {
    int v = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, lane = threadIdx.x & 7;
    if (v >= n) return;
    float s = 0;
    for (int e = begin[v] + lane, end = begin[v + 1]; e < end; e += 8) {
        int u = __ldg(from + e);
        s += __ldg(in + u) * __ldg(over_degree + u);
    }
    unsigned group = 0xffu << (threadIdx.x & 24);
    for (int d = 4; d; d >>= 1) s += __shfl_xor_sync(group, s, d, 8);
    if (lane == 0) out[v] = 0.15f / n + 0.85f * s;
}

/* ---- CRC-32 of messages ---- */

static uint8_t *messages;
static uint32_t *checksums, *crc_tables;
__constant__ uint32_t crc_constant[256];

__global__ void crc_bits(const uint8_t *text, uint32_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t crc = 0xffffffff;
    for (int b = 0; b < MESSAGE_BYTES; b++) {
        crc ^= text[i * MESSAGE_BYTES + b];
        for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    out[i] = ~crc;
}

__global__ void crc_bytes(const uint8_t *text, uint32_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t crc = 0xffffffff;
    for (int b = 0; b < MESSAGE_BYTES; b++) crc = crc >> 8 ^ crc_constant[(crc ^ text[i * MESSAGE_BYTES + b]) & 255];
    out[i] = ~crc;
}

__global__ void crc_slices(const uint4 *__restrict__ text, const uint32_t *__restrict__ tables,
                           uint32_t *__restrict__ out, int n) {
    __shared__ uint32_t slice[4][256];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) slice[k >> 8][k & 255] = tables[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t crc = ~0u;
    auto word = [&](uint32_t w) {
        w ^= crc;
        crc = slice[3][w & 255] ^ slice[2][w >> 8 & 255] ^ slice[1][w >> 16 & 255] ^ slice[0][w >> 24];
    };
    for (int b = 0; b < MESSAGE_BYTES / 16; b++) {
        uint4 v = text[i * (MESSAGE_BYTES / 16) + b];
        word(v.x), word(v.y), word(v.z), word(v.w);
    }
    out[i] = ~crc;
}

/* ---- Matrix-vector ---- */

static half *mv_matrix, *mv_vector;
static int8_t *mv_int8;
static half *mv_scales;
static float *mv_out;

__global__ void mv_thread(const half *m, const half *x, float *y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int c = 0; c < cols; c++) s += __half2float(m[r * cols + c]) * __half2float(x[c]);
    y[r] = s;
}

__global__ void mv_warp(const half2 *__restrict__ m, const half2 *__restrict__ x, float *__restrict__ y, int rows,
                        int pairs) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (r >= rows) return;
    float s = 0;
#pragma unroll 4
    for (int c = threadIdx.x % 32; c < pairs; c += 32) {
        float2 a = __half22float2(m[r * pairs + c]), b = __half22float2(x[c]);
        s += a.x * b.x + a.y * b.y;
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) y[r] = s;
}

/* Weights of 8 bits, with a scale for each 128; a warp has two rows, a lane 16 weights of each at a time. */
__global__ void mv_dequantise(const int4 *__restrict__ m, const half *__restrict__ scales, const half2 *__restrict__ x,
                              float *__restrict__ y, int cols) {
    int r = (blockIdx.x * blockDim.y + threadIdx.y) * 2, lane = threadIdx.x;
    float sum[2] = {0, 0};
    for (int c = lane * 16; c < cols; c += 512) {
        half2 v[8];
#pragma unroll
        for (int k = 0; k < 2; k++) ((uint4 *)v)[k] = ((const uint4 *)(x + c / 2))[k];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int4 packed = m[((r + k) * cols + c) / 16];
            const int8_t *w = (const int8_t *)&packed;
            float part = 0;
#pragma unroll
            for (int e = 0; e < 8; e++) {
                float2 f = __half22float2(v[e]);
                part += w[2 * e] * f.x + w[2 * e + 1] * f.y;
            }
            sum[k] += part * __half2float(scales[((r + k) * cols + c) / MV_GROUP]);
        }
    }
    for (int d = 16; d; d >>= 1) {
        sum[0] += __shfl_xor_sync(~0u, sum[0], d);
        sum[1] += __shfl_xor_sync(~0u, sum[1], d);
    }
    if (lane < 2) y[r + lane] = sum[lane];
}

/* ---- A Julia set ---- */

static uint8_t *julia_picture;
static int *julia_next;

__device__ int julia_steps(int x, int y) {
    float a = (x - JULIA_W / 2) * (3.2f / JULIA_W), b = (y - JULIA_H / 2) * (2.4f / JULIA_H);
    int n = 0;
    for (; n < JULIA_STEPS && a * a + b * b < 4; n++) {
        float next = a * a - b * b - 0.79f;
        b = 2 * a * b + 0.15f;
        a = next;
    }
    return n;
}

__global__ void julia_rows(uint8_t *picture) {
    int y = blockIdx.x;
    for (int x = threadIdx.x; x < JULIA_W; x += blockDim.x) picture[y * JULIA_W + x] = (uint8_t)julia_steps(x, y);
}

__global__ void julia_pixels(uint8_t *picture) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    picture[y * JULIA_W + x] = (uint8_t)julia_steps(x, y);
}

/* Warps that stay take tiles of 8 x 4 pixels. */
__global__ void julia_queue(uint8_t *picture, int *next) {
    const int across = JULIA_W / 8, tiles = across * (JULIA_H / 4);
    int lane = threadIdx.x % 32;
    for (;;) {
        int tile = lane == 0 ? atomicAdd(next, 1) : 0;
        tile = __shfl_sync(~0u, tile, 0);
        if (tile >= tiles) return;
        int x = tile % across * 8 + lane % 8, y = tile / across * 4 + lane / 8;
        picture[y * JULIA_W + x] = (uint8_t)julia_steps(x, y);
    }
}

/* ---- Products of matrices, and copies that do not wait ---- */

static float *gemm_a, *gemm_b, *gemm_c;

__global__ void gemm_tile(const float *a, const float *b, float *c, int n, int k) {
    __shared__ float as[32][32], bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float s = 0;
    for (int t = 0; t < k; t += 32) {
        as[ty][tx] = a[row * k + t + tx];
        bs[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int e = 0; e < 32; e++) s += as[ty][e] * bs[e][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}

__global__ void gemm_async(const float *a, const float *b, float *c, int n, int k) {
    __shared__ float as[2][32][32], bs[2][32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    auto copy = [&](int stage, int t) {
        __pipeline_memcpy_async(&as[stage][ty][tx], a + row * k + t + tx, 4);
        __pipeline_memcpy_async(&bs[stage][ty][tx], b + (t + ty) * n + col, 4);
        __pipeline_commit();
    };
    copy(0, 0);
    float s = 0;
    for (int t = 0, stage = 0; t < k; t += 32, stage ^= 1) {
        if (t + 32 < k) copy(stage ^ 1, t + 32);
        __pipeline_wait_prior(t + 32 < k ? 1 : 0);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 32; e++) s += as[stage][ty][e] * bs[stage][e][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}

/* 64 x 32 of c a block of 128; 4 x 4 a thread; three stages of 16. */
__global__ __launch_bounds__(128) void gemm_registers(const float *__restrict__ a, const float *__restrict__ b,
                                                      float *__restrict__ c, int n, int k) {
    __shared__ __align__(16) float as[3][64][20], bs[3][16][32];
    int t = threadIdx.x, tx = t % 8 * 4, ty = t / 8 * 4, row = blockIdx.y * 64, col = blockIdx.x * 32;
    auto copy = [&](int stage, int from) {
        if (from < k) {
            for (int r = t / 4; r < 64; r += 32)
                __pipeline_memcpy_async(&as[stage][r][t % 4 * 4], a + (row + r) * k + from + t % 4 * 4, 16);
            __pipeline_memcpy_async(&bs[stage][t / 8][tx], b + (from + t / 8) * n + col + tx, 16);
        }
        __pipeline_commit();
    };
    copy(0, 0);
    copy(1, 16);
    float s[4][4] = {};
    for (int from = 0, stage = 0; from < k; from += 16, stage = stage == 2 ? 0 : stage + 1) {
        __pipeline_wait_prior(1);
        __syncthreads();
        copy(stage == 0 ? 2 : stage - 1, from + 32);
#pragma unroll
        for (int e = 0; e < 16; e++) {
            float4 v = *(const float4 *)&bs[stage][e][tx];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float u = as[stage][ty + i][e];
                s[i][0] += u * v.x, s[i][1] += u * v.y, s[i][2] += u * v.z, s[i][3] += u * v.w;
            }
        }
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)(c + (row + ty + i) * n + col + tx) = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
}

/* ---- Functions ---- */

static float *float_x, *float_y;
static double *double_x, *double_y;

__global__ void function_normal(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * (1.0f + erff(x[i] * 0.70710678f)) + lgammaf(x[i] + 9.0f) * 1e-3f;
}

__global__ void function_double(const double *x, double *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = pow(x[i], 1.7) * tan(x[i]) + erf(x[i]);
}

/* ---- Pipelines ---- */

static float *samples, *normal_samples, *plate[2];
static double *moments;

__global__ void mean_of(const float *x, double *sum, int n) {
    __shared__ double s[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 512; d *= 2) {
        if (t % (2 * d) == 0) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(sum, s[0] / n);
}

__global__ void variance_of(const float *x, const double *mean, double *sum, int n) {
    __shared__ double s[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    double d = i < n ? x[i] - *mean : 0;
    s[t] = d * d;
    __syncthreads();
    for (int half = 256; half; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(sum, s[0] / n);
}

__global__ void normalise(const float *x, const double *moments, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (x[i] - moments[0]) / sqrt(moments[1]);
}

__global__ void sum_and_squares(const float4 *__restrict__ x, double *sums, int quads) {
    float s = 0, q = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        float4 v = x[i];
        s += v.x + v.y + v.z + v.w;
        q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d), q += __shfl_xor_sync(~0u, q, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[0], (double)s), atomicAdd(&sums[1], (double)q);
}

__global__ void normalise_vectors(const float4 *__restrict__ x, const double *__restrict__ sums,
                                  float4 *__restrict__ out, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    double mean = sums[0] / (4.0 * quads), variance = sums[1] / (4.0 * quads) - mean * mean;
    float m = (float)mean, f = rsqrtf((float)variance);
    float4 v = x[i];
    out[i] = make_float4((v.x - m) * f, (v.y - m) * f, (v.z - m) * f, (v.w - m) * f);
}

__global__ void jacobi_step(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    out[y * w + x] = 0.25f * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

/* ---- What they work on ---- */

static void setup_streams() {
    sum_matrix = filled<float>(SUM_ROWS * SUM_COLS, [](size_t i) { return unit(i); });
    row_sums = zeroed<float>(SUM_ROWS);

    bytes_in = filled<uint8_t>(BYTES_W * BYTES_H, [](size_t i) { return (uint8_t)mixed(i); });
    bytes_out = zeroed<uint8_t>(BYTES_W * BYTES_H);

    shorts = filled<uint16_t>(SHORTS, [](size_t i) {
        return (uint16_t)(((mixed(i) & 65535) + (mixed(i + 7) & 65535) + (mixed(i + 99) & 65535)) / 3);
    });
    wide_bins = zeroed<unsigned>(WIDE_BINS);

    scan_in = filled<int>(SCAN_N, [](size_t i) { return (int)(mixed(i) % 100) - 40; });
    scan_out = zeroed<int>(SCAN_N);
    scan_sums = zeroed<int>(SCAN_N / 1024);
    scan_state = zeroed<unsigned long long>(SCAN_N / SCAN_TILE + 1);

    int *order = (int *)malloc(SHUFFLED * sizeof(int));
    for (int i = 0; i < SHUFFLED; i++) {
        int j = mixed(i) % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    permutation = zeroed<int>(SHUFFLED);
    MUST(cudaMemcpy(permutation, order, SHUFFLED * sizeof(int), cudaMemcpyHostToDevice));
    free(order);
    deck = filled<float4>(SHUFFLED, [](size_t i) { return float4{(float)i, 1, unit(i), 0}; });
    dealt = zeroed<float4>(SHUFFLED);

    terms = filled<float>(TOTAL_N, [](size_t i) { return unit(i); });
    total_sum = zeroed<float>(1);
}

static void setup_learning() {
    att_q = filled<float>(ATT_HEADS * SEQ * WIDTH, [](size_t i) { return 2 * unit(i) - 1; });
    att_k = filled<float>(ATT_HEADS * SEQ * WIDTH, [](size_t i) { return 2 * unit(i + 11) - 1; });
    att_v = filled<float>(ATT_HEADS * SEQ * WIDTH, [](size_t i) { return unit(i + 23); });
    att_out = zeroed<float>(ATT_HEADS * SEQ * WIDTH);

    mv_matrix = filled<half>((size_t)MV_ROWS * MV_COLS, [](size_t i) { return __float2half(unit(i) - 0.5f); });
    mv_vector = filled<half>(MV_COLS, [](size_t i) { return __float2half(unit(i + 5)); });
    mv_int8 = filled<int8_t>((size_t)MV_ROWS * MV_COLS, [](size_t i) { return (int8_t)mixed(i); });
    mv_scales = filled<half>(MV_ROWS * MV_COLS / MV_GROUP, [](size_t i) { return __float2half(0.01f * unit(i)); });
    mv_out = zeroed<float>(MV_ROWS);

    gemm_a = filled<float>(GEMM_M * GEMM_K, [](size_t i) { return unit(i); });
    gemm_b = filled<float>(GEMM_K * GEMM_N, [](size_t i) { return unit(i + 3) - 0.5f; });
    gemm_c = zeroed<float>(GEMM_M * GEMM_N);
}

static void setup_science() {
    bodies = filled<Body>(BODIES, [](size_t i) { return Body{unit(i), unit(i + 1), unit(i + 2), unit(i + 3)}; });
    forces = zeroed<float3>(BODIES);

    auto degree = [](int v) { return mixed(v) % 100 == 0 ? 60 + mixed(v + 1) % 200 : 2 + mixed(v + 2) % 10; };
    int *begin = (int *)malloc((PAGES + 1) * sizeof(int));
    begin[0] = 0;
    for (int v = 0; v < PAGES; v++) begin[v + 1] = begin[v] + (int)degree(v);
    link_begin = zeroed<int>(PAGES + 1);
    MUST(cudaMemcpy(link_begin, begin, (PAGES + 1) * sizeof(int), cudaMemcpyHostToDevice));
    link_page = filled<int>(begin[PAGES], [](size_t e) { return (int)(mixed(e + 17) % PAGES); });
    free(begin);
    rank_in = filled<float>(PAGES, [](size_t i) { return unit(i) * (2.0f / PAGES); });
    rank_out = zeroed<float>(PAGES);
    over_degree = filled<float>(PAGES, [&](size_t i) { return 1.0f / degree((int)i); });

    messages = filled<uint8_t>(MESSAGES * MESSAGE_BYTES, [](size_t i) { return (uint8_t)(32 + mixed(i) % 90); });
    checksums = zeroed<uint32_t>(MESSAGES);
    uint32_t table[4][256];
    for (uint32_t b = 0; b < 256; b++) {
        table[0][b] = b;
        for (int k = 0; k < 8; k++) table[0][b] = table[0][b] >> 1 ^ (table[0][b] & 1 ? 0xedb88320 : 0);
    }
    for (int s = 1; s < 4; s++)
        for (int b = 0; b < 256; b++) table[s][b] = table[s - 1][b] >> 8 ^ table[0][table[s - 1][b] & 255];
    MUST(cudaMemcpyToSymbol(crc_constant, table[0], sizeof table[0]));
    crc_tables = zeroed<uint32_t>(1024);
    MUST(cudaMemcpy(crc_tables, table, sizeof table, cudaMemcpyHostToDevice));

    julia_picture = zeroed<uint8_t>(JULIA_W * JULIA_H);
    julia_next = zeroed<int>(1);

    float_x = filled<float>(ARGUMENTS, [](size_t i) { return 8 * unit(i) - 4; });
    float_y = zeroed<float>(ARGUMENTS);
    double_x = filled<double>(ARGUMENTS, [](size_t i) { return 0.01 + 3.0 * unit(i); });
    double_y = zeroed<double>(ARGUMENTS);

    samples = filled<float>(SAMPLES, [](size_t i) { return 5 + unit(i) + unit(i + 9); });
    normal_samples = zeroed<float>(SAMPLES);
    moments = zeroed<double>(2);
    for (float *&p : plate) p = filled<float>(PLATE_W * PLATE_H, [](size_t i) { return i < PLATE_W ? 100.0f : 0.0f; });
}

static void setup() {
    setup_streams();
    setup_learning();
    setup_science();
}

static int blocks(int n, int size) { return (n + size - 1) / size; }
template <typename T> static void cleared(T *p, size_t n) { MUST(cudaMemsetAsync(p, 0, n * sizeof(T))); }

static const fidelity_test tests[] = {
    COLD("sums/rows, a thread a row", 1,
         rows_thread<<<blocks(SUM_ROWS, 128), 128>>>(sum_matrix, row_sums, SUM_ROWS, SUM_COLS)),
    COLD("sums/rows, a warp a row", 1,
         rows_warp<<<blocks(SUM_ROWS, 6), 192>>>(sum_matrix, row_sums, SUM_ROWS, SUM_COLS)),
    COLD("sums/rows, a block a row", 1,
         rows_block<<<SUM_ROWS, 128, 128 * sizeof(float)>>>(sum_matrix, row_sums, SUM_COLS)),
    COLD("bytes/transpose, naive", 1,
         bytes_naive<<<dim3(BYTES_W / 16, BYTES_H / 16), dim3(16, 16)>>>(bytes_in, bytes_out, BYTES_W, BYTES_H)),
    COLD("bytes/transpose, tile", 1,
         bytes_tile<<<dim3(BYTES_W / 32, BYTES_H / 32), dim3(32, 8)>>>(bytes_in, bytes_out, BYTES_W, BYTES_H)),
    COLD("bytes/transpose, words", 1,
         bytes_words<<<dim3(BYTES_W / 64, BYTES_H / 64), 256>>>((uint32_t *)bytes_in, (uint32_t *)bytes_out, BYTES_W,
                                                                BYTES_H)),
    WARM("wide/global", 1, cleared(wide_bins, WIDE_BINS);
         wide_global<<<blocks(SHORTS, 256), 256>>>(shorts, SHORTS, wide_bins)),
    WARM("wide/shared", 1, cleared(wide_bins, WIDE_BINS); wide_shared<<<264, 512>>>(shorts, SHORTS, wide_bins)),
    WARM("wide/two copies", 1, cleared(wide_bins, WIDE_BINS);
         wide_copies<<<132, 1024, 2 * WIDE_BINS * sizeof(unsigned)>>>((uint4 *)shorts, SHORTS / 8, wide_bins)),
    COLD("scan/Hillis and Steele", 3,
         scan_hillis_steele<<<SCAN_N / 1024, 1024, 8192>>>(scan_in, scan_out, scan_sums, SCAN_N);
         scan_hillis_steele<<<1, SCAN_N / 1024, 8192>>>(scan_sums, scan_sums, NULL, SCAN_N / 1024);
         scan_add_sums<<<SCAN_N / 1024, 1024>>>(scan_out, scan_sums, SCAN_N)),
    COLD("scan/sums first", 3, scan_tile_sums<<<SCAN_N / SCAN_TILE, SCAN_BLOCK>>>((int4 *)scan_in, scan_sums);
         scan_of_sums<<<1, 512>>>(scan_sums, SCAN_N / SCAN_TILE);
         scan_from_sums<<<SCAN_N / SCAN_TILE, SCAN_BLOCK>>>((int4 *)scan_in, (int4 *)scan_out, scan_sums)),
    COLD("scan/look-back", 1, cleared(scan_state, SCAN_N / SCAN_TILE + 1);
         scan_look_back<<<SCAN_N / SCAN_TILE, SCAN_BLOCK>>>((int4 *)scan_in, (int4 *)scan_out, scan_state)),
    WARM("attention/a thread a query", 1,
         attention_thread<<<dim3(SEQ / 64, ATT_HEADS), 64>>>(att_q, att_k, att_v, att_out, 0.125f)),
    WARM("attention/tiles", 1,
         attention_tile<<<dim3(SEQ / 32, ATT_HEADS), 128>>>((float4 *)att_q, (float4 *)att_k, (float4 *)att_v,
                                                            (float4 *)att_out, 0.125f)),
    COLD("permute/gather 4 bytes", 1,
         gather<<<blocks(SHUFFLED, 256), 256>>>((float *)deck, permutation, (float *)dealt, SHUFFLED)),
    COLD("permute/gather 16 bytes", 1, gather<<<blocks(SHUFFLED, 512), 512>>>(deck, permutation, dealt, SHUFFLED)),
    COLD("permute/scatter 8 bytes", 1,
         scatter<<<blocks(SHUFFLED, 64), 64>>>((int2 *)deck, permutation, (int2 *)dealt, SHUFFLED)),
    WARM("total/every thread", 1, cleared(total_sum, 1);
         total_all<<<blocks(TOTAL_N, 256), 256>>>(terms, total_sum, TOTAL_N)),
    WARM("total/every warp", 1, cleared(total_sum, 1);
         total_warps<<<blocks(TOTAL_N, 256), 256>>>(terms, total_sum, TOTAL_N)),
    WARM("total/every block", 1, cleared(total_sum, 1); total_blocks<<<132, 512>>>(terms, total_sum, TOTAL_N)),
    WARM("bodies/naive", 1, bodies_naive<<<blocks(BODIES, 256), 256>>>(bodies, forces, BODIES, 1e-3f)),
    WARM("bodies/tile", 1, bodies_tile<<<BODIES / 128, 128, 128 * sizeof(Body)>>>(bodies, forces, BODIES, 1e-3f)),
    WARM("bodies/quarters", 1, bodies_quarters<128><<<BODIES / 32, 128>>>((float4 *)bodies, forces, BODIES, 1e-3f)),
    WARM("ranks/push", 1, cleared(rank_out, PAGES);
         rank_push<<<blocks(PAGES, 128), 128>>>(link_begin, link_page, rank_in, rank_out, PAGES)),
    WARM("ranks/pull", 1,
         rank_pull<<<blocks(PAGES, 128), 128>>>(link_begin, link_page, rank_in, over_degree, rank_out, PAGES)),
    WARM("ranks/eight lanes pull", 1,
         rank_pull_lanes<<<blocks(PAGES, 32), 256>>>(link_begin, link_page, rank_in, over_degree, rank_out, PAGES)),
    COLD("crc/bits", 1, crc_bits<<<blocks(MESSAGES, 64), 64>>>(messages, checksums, MESSAGES)),
    COLD("crc/bytes", 1, crc_bytes<<<blocks(MESSAGES, 64), 64>>>(messages, checksums, MESSAGES)),
    COLD("crc/slices", 1,
         crc_slices<<<blocks(MESSAGES, 128), 128>>>((uint4 *)messages, crc_tables, checksums, MESSAGES)),
    COLD("matvec/a thread a row", 1,
         mv_thread<<<blocks(MV_ROWS, 64), 64>>>(mv_matrix, mv_vector, mv_out, MV_ROWS, MV_COLS)),
    COLD("matvec/a warp a row", 1,
         mv_warp<<<blocks(MV_ROWS, 8), 256>>>((half2 *)mv_matrix, (half2 *)mv_vector, mv_out, MV_ROWS, MV_COLS / 2)),
    COLD("matvec/8 bits and scales", 1,
         mv_dequantise<<<MV_ROWS / 8, dim3(32, 4)>>>((int4 *)mv_int8, mv_scales, (half2 *)mv_vector, mv_out, MV_COLS)),
    WARM("julia/a block a row", 1, julia_rows<<<JULIA_H, 1024>>>(julia_picture)),
    WARM("julia/a thread a pixel", 1, julia_pixels<<<dim3(JULIA_W / 16, JULIA_H / 16), dim3(16, 16)>>>(julia_picture)),
    WARM("julia/queue", 1, cleared(julia_next, 1); julia_queue<<<264, 256>>>(julia_picture, julia_next)),
    WARM("product/tile", 1,
         gemm_tile<<<dim3(GEMM_N / 32, GEMM_M / 32), dim3(32, 32)>>>(gemm_a, gemm_b, gemm_c, GEMM_N, GEMM_K)),
    WARM("product/asynchronous tile", 1,
         gemm_async<<<dim3(GEMM_N / 32, GEMM_M / 32), dim3(32, 32)>>>(gemm_a, gemm_b, gemm_c, GEMM_N, GEMM_K)),
    WARM("product/asynchronous, registers", 1,
         gemm_registers<<<dim3(GEMM_N / 32, GEMM_M / 64), 128>>>(gemm_a, gemm_b, gemm_c, GEMM_N, GEMM_K)),
    COLD("functions/erf and lgamma", 1, function_normal<<<blocks(ARGUMENTS, 256), 256>>>(float_x, float_y, ARGUMENTS)),
    COLD("functions/pow, tan and erf, double", 1, function_double<<<264, 256>>>(double_x, double_y, ARGUMENTS)),
    COLD("normal/three kernels", 3, cleared(moments, 2);
         mean_of<<<blocks(SAMPLES, 512), 512>>>(samples, moments, SAMPLES);
         variance_of<<<blocks(SAMPLES, 512), 512>>>(samples, moments, moments + 1, SAMPLES);
         normalise<<<blocks(SAMPLES, 256), 256>>>(samples, moments, normal_samples, SAMPLES)),
    COLD("normal/two kernels", 2, cleared(moments, 2);
         sum_and_squares<<<264, 256>>>((float4 *)samples, moments, SAMPLES / 4);
         normalise_vectors<<<blocks(SAMPLES / 4, 256), 256>>>((float4 *)samples, moments, (float4 *)normal_samples,
                                                              SAMPLES / 4)),
    WARM("plate/ten steps", 10,
         for (int i = 0; i < 10; i++) jacobi_step<<<dim3(blocks(PLATE_W, 32), blocks(PLATE_H, 4)), dim3(32, 4)>>>(
             plate[i & 1], plate[~i & 1], PLATE_W, PLATE_H)),
};
FIDELITY_MAIN(setup, tests)
