/* evening.cu — what is written at home after work, out of blogs and papers: waves, options, genes, joins, layers,
 * graphs, rays, pictures, text, molecules, fluids, queues. */
#include "fidelity.h"
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

enum { SX = 200, SY = 150, SZ = 96, SN = SX * SY * SZ };
enum { OPTIONS = 1200000, OPTIONS64 = 400000, MC_PATHS = 60000, MC_STEPS = 50 };
enum { NW_L = 96, NW_PAIRS = 1000, NW_MATCH = 2, NW_MISMATCH = -1, NW_GAP = 2 };
enum { KMER = 15, BASES = 500000, GENOME = 120000, KMER_SLOTS = 1 << 19, KMER_WINDOW = 8 };
enum { JOIN_R = 200000, JOIN_S = 800000, JOIN_BITS = 18, BITMAP_BITS = 22 };
enum { GROUP_ROWS = 1000000, MANY_GROUPS = 100000, STREAM = 2500000 };
enum { LN_ROWS = 4000, LN_COLS = 640, BN_ROWS = 12000, BN_COLS = 160 };
enum { ACT_ROWS = 1500, ACT_COLS = 1000, WEIGHTS = 1500000, XE_ROWS = 1200, XE_CLASSES = 2000 };
enum { VOCABULARY = 20000, TOKENS = 24000, EMBED = 128, TOKENS_BACK = 8000, EMBED_BACK = 192, POSITIONS = 512 };
enum { DW_N = 3, DW_H = 90, DW_W = 90, DW_C = 72, CONV_N = 2, CONV_H = 150, CONV_W = 200, CONV_IN = 8, CONV_OUT = 16 };
enum { GM = 384, GN = 512, GK = 900, MV_ROWS = 3000, MV_COLS = 2000, RB_W = 1500, RB_H = 1100 };
enum { VERTICES = 60000, FRONTIER = 18000, SPHERES = 64, RAY_W = 640, RAY_H = 480, FRACTAL_W = 500, FRACTAL_H = 400 };
enum { IMG_W = 1280, IMG_H = 720, CHOL_COUNT = 8000, SCAN_N = 1 << 21, SCAN_TILE = 2048 };
enum { PLAIN_BYTES = 3 << 20, TEXT_BYTES = 1500000, ATOMS = 20000, CELLS = 14, NEIGHBOURS = 96 };
enum { LBM_W = 640, LBM_H = 480, LISTS = 20000, LIST_MAX = 200 };

static float *grid_a, *grid_b;
static float *spot, *strike, *years, *call_prices, *put_prices;
static double *spot64, *strike64, *years64, *calls64;
static float *mc_payoff;
static double *mc_sum;
static char *genes_a, *genes_b;
static int *gene_scores;
static char *reads, *queries;
static unsigned *kmer_keys, *kmer_counts, *index_keys, *index_counts;
static int *kmer_found;
static unsigned *r_keys, *s_keys, *join_bitmap;
static int *join_heads, *join_next, *ready_heads, *ready_next, *join_out, *join_matches;
static int *group_16, *group_1024, *group_many, *group_count, *group_max;
static float *group_value, *group_sum;
static float *stream_in, *stream_out;
static int *stream_count;
static float *ln_x, *ln_y, *ln_gamma, *ln_beta, *bn_x, *bn_sum, *bn_square;
static float *act_x, *act_bias, *act_y, *adam_w, *adam_g, *adam_m, *adam_v, *logits, *xe_grad, *xe_loss;
static int *labels;
static float *embed_table, *embed_positions, *embed_out, *embed_dout, *embed_grad;
static int *tokens;
static float *dw_x, *dw_w, *dw_y, *conv_x, *conv_w, *conv_y;
static int *gemm_a8, *gemm_b8, *gemm_c32;
static __half *gemm_ah, *gemm_bh;
static float *gemm_a, *gemm_b, *gemm_c;
static float *mv_a, *mv_x, *mv_xt, *mv_y, *rb_u, *rb_f;
static int *graph_row, *graph_col, *levels, *levels_start, *frontier, *next_frontier, *next_count;
static float *rank_in, *rank_out, *inverse_degree;
static uchar4 *ray_image;
static int *fractal;
static unsigned char *gray, *gray_out;
static int *integral;
static float *chol_in, *chol_out;
static int *scan_in, *scan_out, *scan_sums;
static unsigned *plain, *encoded;
static unsigned char *text;
static int *text_errors;
static float4 *atoms, *forces;
static int *cell_start, *pair_list, *pair_count;
static float *lbm_soa, *lbm_aos, *lbm_out;
static int *list_begin, *queue_head;
static float *list_values, *list_results;

/* A stencil of 27 points: weights for the centre, faces, edges, corners. */

__global__ void stencil27_naive(const float *in, float *out, int nx, int ny, int nz, float c0, float c1, float c2,
                                float c3) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    float sum = 0.0f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int distance = dx * dx + dy * dy + dz * dz;
                float w = distance == 0 ? c0 : distance == 1 ? c1 : distance == 2 ? c2 : c3;
                sum += w * in[((z + dz) * ny + (y + dy)) * nx + (x + dx)];
            }
    out[(z * ny + y) * nx + x] = sum;
}

template <int TX, int TY>
__global__ void stencil27_planes(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz,
                                 int depth, float c0, float c1, float c2, float c3) {
    __shared__ float plane[3][TY + 2][TX + 2];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * TX + tx;
    const int x = blockIdx.x * TX + tx, y = blockIdx.y * TY + ty;
    const int z0 = max((int)blockIdx.z * depth, 1), z1 = min((int)(blockIdx.z + 1) * depth, nz - 1);
    auto load = [&](int z) {
        for (int i = tid; i < (TX + 2) * (TY + 2); i += TX * TY) {
            int ly = i / (TX + 2), lx = i % (TX + 2);
            int gx = min(max((int)blockIdx.x * TX + lx - 1, 0), nx - 1);
            int gy = min(max((int)blockIdx.y * TY + ly - 1, 0), ny - 1);
            plane[z % 3][ly][lx] = in[(z * ny + gy) * nx + gx];
        }
    };
    load(z0 - 1);
    load(z0);
    for (int z = z0; z < z1; z++) {
        load(z + 1);
        __syncthreads();
        float sum = 0;
#pragma unroll
        for (int k = -1; k <= 1; k++) {
            float(*p)[TX + 2] = plane[(z + k) % 3];
            float face = p[ty][tx + 1] + p[ty + 2][tx + 1] + p[ty + 1][tx] + p[ty + 1][tx + 2];
            float corner = p[ty][tx] + p[ty][tx + 2] + p[ty + 2][tx] + p[ty + 2][tx + 2];
            sum += k == 0 ? c0 * p[ty + 1][tx + 1] + c1 * face + c2 * corner
                          : c1 * p[ty + 1][tx + 1] + c2 * face + c3 * corner;
        }
        if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) out[(z * ny + y) * nx + x] = sum;
        __syncthreads();
    }
}

/* Only one plane is in shared memory, and each is summed up once: the sums of three go through registers. */
template <int TX, int TY>
__global__ void __launch_bounds__(TX *TY)
    stencil27_march(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz, int depth, float c0,
                    float c1, float c2, float c3) {
    __shared__ float tile[2][TY][TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * (TX - 2) + tx, y = blockIdx.y * (TY - 2) + ty;
    bool mine = tx > 0 && ty > 0 && tx < TX - 1 && ty < TY - 1 && x < nx - 1 && y < ny - 1;
    int z0 = max((int)blockIdx.z * depth, 1), z1 = min((int)(blockIdx.z + 1) * depth, nz - 1);
    const float *p = in + (size_t)(z0 - 1) * nx * ny + min(y, ny - 1) * nx + min(x, nx - 1);
    float m0 = 0, f0 = 0, k0 = 0, m1 = 0, f1 = 0, k1 = 0;
    int l = max(tx - 1, 0), r = min(tx + 1, TX - 1), u = max(ty - 1, 0), d = min(ty + 1, TY - 1);
    for (int z = z0 - 1; z <= z1; z++, p += nx * ny) {
        float(*t)[TX] = tile[z & 1];
        float m2 = *p;
        t[ty][tx] = m2;
        __syncthreads();
        float f2 = t[ty][l] + t[ty][r] + t[u][tx] + t[d][tx];
        float k2 = t[u][l] + t[u][r] + t[d][l] + t[d][r];
        if (mine && z > z0)
            out[((z - 1) * ny + y) * nx + x] = c0 * m1 + c1 * (f1 + m0 + m2) + c2 * (k1 + f0 + f2) + c3 * (k0 + k2);
        m0 = m1, f0 = f1, k0 = k1;
        m1 = m2, f1 = f2, k1 = k2;
    }
}

/* Black and Scholes. */

__device__ __forceinline__ float cnd(float d) {
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
    float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float v = 0.39894228f * expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    return d > 0 ? 1.0f - v : v;
}

__device__ __forceinline__ void black_scholes(float s, float x, float t, float r, float v, float &call, float &put) {
    float q = v * sqrtf(t);
    float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / q, d2 = d1 - q;
    float n1 = cnd(d1), n2 = cnd(d2), discounted = x * expf(-r * t);
    call = s * n1 - discounted * n2;
    put = discounted * (1.0f - n2) - s * (1.0f - n1);
}

__global__ void black_scholes_float4(const float4 *__restrict__ s, const float4 *__restrict__ x,
                                     const float4 *__restrict__ t, float4 *__restrict__ call, float4 *__restrict__ put,
                                     float r, float v, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 a = s[i], b = x[i], c = t[i], p, q;
    black_scholes(a.x, b.x, c.x, r, v, p.x, q.x);
    black_scholes(a.y, b.y, c.y, r, v, p.y, q.y);
    black_scholes(a.z, b.z, c.z, r, v, p.z, q.z);
    black_scholes(a.w, b.w, c.w, r, v, p.w, q.w);
    call[i] = p;
    put[i] = q;
}

__global__ void black_scholes_double(const double *s, const double *x, const double *t, double *call, double r,
                                     double v, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double q = v * sqrt(t[i]);
        double d1 = (log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / q;
        double d2 = d1 - q;
        double n1 = 0.5 * erfc(-d1 * 0.70710678118654752), n2 = 0.5 * erfc(-d2 * 0.70710678118654752);
        call[i] = s[i] * n1 - x[i] * exp(-r * t[i]) * n2;
    }
}

/* Monte Carlo: a barrier option, with numbers of xorshift made normal by Box and Muller. */

__device__ unsigned next_random(unsigned *state) {
    unsigned x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

__device__ float next_normal(unsigned *state) {
    float u1 = (next_random(state) + 1.0f) / 4294967808.0f;
    float u2 = next_random(state) / 4294967296.0f;
    return sqrtf(-2.0f * logf(u1)) * cosf(6.2831853f * u2);
}

__global__ void barrier_simple(float *payoff, int paths, int steps, float s0, float k, float barrier, float dt, float r,
                               float v) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < paths) {
        unsigned state = 1234567u ^ (unsigned)id * 2654435761u;
        if (state == 0) state = 1;
        float s = s0;
        bool alive = true;
        for (int i = 0; i < steps; i++) {
            s *= expf((r - 0.5f * v * v) * dt + v * sqrtf(dt) * next_normal(&state));
            if (s <= barrier) alive = false;
        }
        payoff[id] = alive ? fmaxf(s - k, 0.0f) : 0.0f;
    }
}

/* Both normals of a pair are used, the logarithm of the price is followed, and the block sums up. */
__global__ void __launch_bounds__(128)
    barrier_pairs(double *total, int paths, int steps, float x0, float k, float barrier, float drift, float sigma) {
    __shared__ float partial[4];
    float sum = 0;
    for (int id = blockIdx.x * 128 + threadIdx.x; id < paths; id += gridDim.x * 128) {
        unsigned h = (id + 1) * 2654435761u;
        h = (h ^ h >> 16) * 0x85ebca6bu;
        h = (h ^ h >> 13) * 0xc2b2ae35u;
        uint4 g = make_uint4(h, h * 69069u + 362437u, (h ^ h >> 16) * 1664525u + 1013904223u, 88675123u ^ h >> 3);
        auto draw = [&]() {
            unsigned t = g.x ^ g.x << 11;
            g.x = g.y, g.y = g.z, g.z = g.w;
            return g.w = g.w ^ g.w >> 19 ^ t ^ t >> 8;
        };
        float x = x0, low = x0;
#pragma unroll 2
        for (int i = 0; i < steps / 2; i++) {
            float u = ((draw() >> 8) + 0.5f) * (1.0f / 16777216.0f), angle, sine, cosine;
            angle = (draw() >> 8) * (6.2831853f / 16777216.0f);
            float radius = sqrtf(-2.0f * __logf(u)) * sigma;
            __sincosf(angle, &sine, &cosine);
            x += drift + radius * sine;
            low = fminf(low, x);
            x += drift + radius * cosine;
            low = fminf(low, x);
        }
        sum += low > barrier ? fmaxf(__expf(x) - k, 0.0f) : 0.0f;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, (double)partial[0] + partial[1] + partial[2] + partial[3]);
}

/* Alignments of Needleman and Wunsch: the matrix in shared memory, or in the registers of a warp. */

__global__ void nw_matrix(const char *a, const char *b, int *scores) {
    __shared__ short h[NW_L + 1][NW_L + 1];
    __shared__ char sa[NW_L], sb[NW_L];
    int t = threadIdx.x;
    sa[t] = a[blockIdx.x * NW_L + t];
    sb[t] = b[blockIdx.x * NW_L + t];
    h[t + 1][0] = -(t + 1) * NW_GAP;
    h[0][t + 1] = -(t + 1) * NW_GAP;
    if (t == 0) h[0][0] = 0;
    __syncthreads();
    for (int d = 0; d < 2 * NW_L - 1; d++) {
        int j = d - t;
        if (j >= 0 && j < NW_L) {
            int diagonal = h[t][j] + (sa[t] == sb[j] ? NW_MATCH : NW_MISMATCH);
            h[t + 1][j + 1] = max(diagonal, max(h[t][j + 1], h[t + 1][j]) - NW_GAP);
        }
        __syncthreads();
    }
    if (t == 0) scores[blockIdx.x] = h[NW_L][NW_L];
}

__global__ void nw_warp(const char *__restrict__ a, const char *__restrict__ b, int *__restrict__ scores, int pairs) {
    const int EACH = NW_L / 32;
    int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= pairs) return;
    const char *pa = a + pair * NW_L;
    int row[EACH];
    char cb[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        row[k] = -(lane * EACH + k + 1) * NW_GAP;
        cb[k] = b[pair * NW_L + lane * EACH + k];
    }
    int corner = -lane * EACH * NW_GAP, last = 0;
    for (int step = 0; step < NW_L + 31; step++) {
        int left = __shfl_up_sync(0xffffffff, last, 1), r = step - lane;
        if (lane == 0) left = -(r + 1) * NW_GAP;
        if (r >= 0 && r < NW_L) {
            char ca = pa[r];
            int diagonal = corner;
            corner = left;
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                int up = row[k];
                left = max(diagonal + (ca == cb[k] ? NW_MATCH : NW_MISMATCH), max(up, left) - NW_GAP);
                diagonal = up;
                row[k] = left;
            }
            last = left;
        }
    }
    if (lane == 31) scores[pair] = last;
}

/* Words of 15 bases, or what pairs with them, in a hash table. */

__host__ __device__ inline unsigned base_code(char c) { return c >> 1 & 3; } /* A 0, C 1, T 2, G 3 */
__host__ __device__ inline unsigned kmer_hash(unsigned k) {
    k ^= k >> 15;
    k *= 0x2c1b3c6du;
    k ^= k >> 12;
    k *= 0x297a2d39u;
    return (k ^ k >> 15) & (KMER_SLOTS - 1);
}

__global__ void kmer_count(const char *seq, int n, unsigned *keys, unsigned *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - KMER) return;
    unsigned forward = 0, reverse = 0;
    for (int k = 0; k < KMER; k++) {
        unsigned c = base_code(seq[i + k]);
        forward = forward << 2 | c;
        reverse = reverse >> 2 | (c ^ 2) << (2 * KMER - 2);
    }
    unsigned key = min(forward, reverse), slot = kmer_hash(key);
    for (;;) {
        unsigned old = atomicCAS(&keys[slot], 0xffffffffu, key);
        if (old == 0xffffffffu || old == key) {
            atomicAdd(&counts[slot], 1u);
            return;
        }
        slot = (slot + 1) & (KMER_SLOTS - 1);
    }
}

__global__ void kmer_lookup(const char *__restrict__ seq, int windows, const unsigned *__restrict__ keys,
                            const unsigned *__restrict__ counts, int *__restrict__ found) {
    const unsigned mask = (1u << 2 * KMER) - 1;
    for (int w = blockIdx.x * blockDim.x + threadIdx.x; w < windows; w += gridDim.x * blockDim.x) {
        const char *s = seq + w * KMER_WINDOW;
        unsigned forward = 0, reverse = 0, total = 0;
#pragma unroll
        for (int k = 0; k < KMER - 1 + KMER_WINDOW; k++) {
            unsigned c = base_code(s[k]);
            forward = (forward << 2 | c) & mask;
            reverse = reverse >> 2 | (c ^ 2) << (2 * KMER - 2);
            if (k < KMER - 1) continue;
            unsigned key = forward < reverse ? forward : reverse, slot = kmer_hash(key), there;
            while ((there = keys[slot]) != 0xffffffffu && there != key) slot = (slot + 1) & (KMER_SLOTS - 1);
            if (there == key) total += counts[slot];
        }
        found[w] = total;
    }
}

/* A join of two tables through chains; rows without a partner can be told by a bitmap. */

__host__ __device__ inline unsigned join_bucket(unsigned key) { return key * 0x9e3779b1u >> (32 - JOIN_BITS); }
__host__ __device__ inline unsigned join_bit(unsigned key) {
    return (key ^ key >> 7) * 0x85ebca77u >> (32 - BITMAP_BITS);
}

__global__ void join_build(const unsigned *keys, int *heads, int *next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[i] = atomicExch(&heads[join_bucket(keys[i])], i);
}

__global__ void join_probe(const unsigned *keys, const unsigned *build_keys, const int *heads, const int *next,
                           int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    int j = heads[join_bucket(key)];
    while (j >= 0 && build_keys[j] != key) j = next[j];
    out[i] = j;
}

__global__ void join_probe_bitmap(const unsigned *__restrict__ keys, const unsigned *__restrict__ bitmap,
                                  const unsigned *__restrict__ build_keys, const int *__restrict__ heads,
                                  const int *__restrict__ next, int *__restrict__ matches, size_t n) {
    int mine = 0;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned key = keys[i], bit = join_bit(key);
        if (bitmap[bit / 32] >> bit % 32 & 1) {
            int j = heads[join_bucket(key)];
            for (; j >= 0; j = next[j])
                if (build_keys[j] == key) mine++;
        }
    }
    for (int d = 16; d > 0; d >>= 1) mine += __shfl_down_sync(0xffffffff, mine, d);
    if (threadIdx.x % 32 == 0 && mine) atomicAdd(matches, mine);
}

/* SELECT group, SUM(value), COUNT(*) GROUP BY group. */

__global__ void group_by_global(const int *group, const float *value, float *sum, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&sum[group[i]], value[i]);
        atomicAdd(&count[group[i]], 1);
    }
}

__global__ void group_by_shared(const int *__restrict__ group, const float *__restrict__ value, float *sum, int *count,
                                int n, int groups) {
    extern __shared__ float local_sum[];
    int *local_count = (int *)(local_sum + groups);
    for (int g = threadIdx.x; g < groups; g += blockDim.x) local_sum[g] = 0, local_count[g] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int g = group[i];
        atomicAdd(&local_sum[g], value[i]);
        atomicAdd(&local_count[g], 1);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < groups; g += blockDim.x)
        if (local_count[g]) {
            atomicAdd(&sum[g], local_sum[g]);
            atomicAdd(&count[g], local_count[g]);
        }
}

__global__ void group_by_max(const int2 *group, const float2 *value, float *sum, int *largest, unsigned pairs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int2 g = group[i];
    float2 v = value[i];
    atomicAdd(sum + g.x, v.x);
    atomicAdd(sum + g.y, v.y);
    atomicMax(largest + g.x, __float_as_int(v.x)); /* right for those that are not negative */
    atomicMax(largest + g.y, __float_as_int(v.y));
}

/* Only the numbers above a threshold go on. */

__global__ void compact_warp(const float *in, float *out, int *count, int n, float threshold) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float v = i < n ? in[i] : 0;
    bool keep = i < n && v > threshold;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    int base = 0;
    if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = v;
}

template <int THREADS>
__global__ void compact_block(const float4 *__restrict__ in, float *__restrict__ out, int *count, int quads,
                              float threshold) {
    __shared__ int warp_total[THREADS / 32], base;
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float4 v = make_float4(0, 0, 0, 0);
    if (i < quads) v = in[i];
    int own = (v.x > threshold) + (v.y > threshold) + (v.z > threshold) + (v.w > threshold), sum = own;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int other = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) warp_total[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < THREADS / 32; w++) {
            int t = warp_total[w];
            warp_total[w] = total;
            total += t;
        }
        base = atomicAdd(count, total);
    }
    __syncthreads();
    float *to = out + base + warp_total[warp] + sum - own;
    if (v.x > threshold) *to++ = v.x;
    if (v.y > threshold) *to++ = v.y;
    if (v.z > threshold) *to++ = v.z;
    if (v.w > threshold) *to++ = v.w;
}

/* Norms: LayerNorm after Welford, and the sums for batch norm. */

__global__ void layernorm_welford(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols,
                                  float eps) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += (size_t)row * cols;
    y += (size_t)row * cols;
    float mean = 0, m2 = 0, count = 0;
    for (int c = lane; c < cols; c += 32) {
        float value = x[c], delta = value - mean;
        count += 1;
        mean += delta / count;
        m2 += delta * (value - mean);
    }
    for (int d = 16; d > 0; d >>= 1) {
        float mean_b = __shfl_xor_sync(0xffffffff, mean, d), m2_b = __shfl_xor_sync(0xffffffff, m2, d);
        float count_b = __shfl_xor_sync(0xffffffff, count, d), all = count + count_b, delta = mean_b - mean;
        m2 += m2_b + delta * delta * count * count_b / all;
        mean = (mean * count + mean_b * count_b) / all;
        count = all;
    }
    float scale = rsqrtf(m2 / cols + eps);
    for (int c = lane; c < cols; c += 32) y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

__global__ void batchnorm_sums(const float *__restrict__ x, float *sum, float *square, int rows, int cols) {
    __shared__ float s_sum[8][32], s_square[8][32];
    int c = blockIdx.x * 32 + threadIdx.x;
    float a = 0, b = 0;
    if (c < cols)
        for (int r = blockIdx.y * 8 + threadIdx.y; r < rows; r += gridDim.y * 8) {
            float v = x[r * cols + c];
            a += v;
            b += v * v;
        }
    s_sum[threadIdx.y][threadIdx.x] = a;
    s_square[threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    for (int half = 4; half > 0; half /= 2) {
        if (threadIdx.y < half) {
            s_sum[threadIdx.y][threadIdx.x] += s_sum[threadIdx.y + half][threadIdx.x];
            s_square[threadIdx.y][threadIdx.x] += s_square[threadIdx.y + half][threadIdx.x];
        }
        __syncthreads();
    }
    if (threadIdx.y == 0 && c < cols) {
        atomicAdd(&sum[c], s_sum[0][threadIdx.x]);
        atomicAdd(&square[c], s_square[0][threadIdx.x]);
    }
}

/* Training: bias, GELU and dropout in one; Adam; cross-entropy with its gradient. */

__device__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

__global__ void bias_gelu_dropout(const float *x, const float *bias, float *y, int n, int cols, unsigned seed,
                                  float p) {
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned h = (i ^ seed) * 0xcc9e2d51u;
        h = (h ^ h >> 15) * 0x1b873593u;
        h ^= h >> 13;
        float keep = h * 2.3283064e-10f >= p ? 1.0f / (1.0f - p) : 0.0f;
        y[i] = gelu(x[i] + bias[i % cols]) * keep;
    }
}

__global__ void adam(float *w, const float *g, float *m, float *v, float lr, float b1, float b2, float eps, float c1,
                     float c2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    float m_hat = m[i] / c1;
    float v_hat = v[i] / c2;
    w[i] -= lr * m_hat / (sqrtf(v_hat) + eps);
}

__global__ void __launch_bounds__(128) cross_entropy(const float *__restrict__ logits, const int *__restrict__ labels,
                                                     float *__restrict__ loss, float *__restrict__ grad, int classes) {
    __shared__ float part_max[4], part_sum[4];
    const float *row = logits + (size_t)blockIdx.x * classes;
    float *out = grad + (size_t)blockIdx.x * classes;
    float top = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < classes; c += 128) {
        float v = row[c];
        if (v > top) {
            sum *= expf(top - v);
            top = v;
        }
        sum += expf(v - top);
    }
    for (int d = 16; d; d >>= 1) {
        float other_top = __shfl_xor_sync(~0u, top, d), other_sum = __shfl_xor_sync(~0u, sum, d);
        float both = fmaxf(top, other_top);
        sum = sum * expf(top - both) + other_sum * expf(other_top - both);
        top = both;
    }
    if (threadIdx.x % 32 == 0) part_max[threadIdx.x / 32] = top, part_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    top = fmaxf(fmaxf(part_max[0], part_max[1]), fmaxf(part_max[2], part_max[3]));
    sum = 0;
    for (int i = 0; i < 4; i++) sum += part_sum[i] * expf(part_max[i] - top);
    int label = labels[blockIdx.x];
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + top - row[label];
    float scale = 1.0f / sum, mean = 1.0f / gridDim.x;
    for (int c = threadIdx.x; c < classes; c += 128)
        out[c] = (expf(row[c] - top) * scale - (c == label ? 1.0f : 0.0f)) * mean;
}

/* Embeddings, and their gradients. */

__global__ void embed_forward(const int *tokens, const float4 *table, const float4 *position, float4 *out, int n) {
    int token = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (token >= n) return;
    float4 a = table[tokens[token] * (EMBED / 4) + lane], b = position[token % POSITIONS * (EMBED / 4) + lane];
    a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
    out[token * (EMBED / 4) + lane] = a;
}

__global__ void embed_backward(const int *tokens, const float *dout, float *grad, int dim) {
    int token = tokens[blockIdx.x];
    atomicAdd(&grad[token * dim + threadIdx.x], dout[blockIdx.x * dim + threadIdx.x]);
}

/* Convolutions: depthwise of 3 by 3, channels last; and 8 channels to 16 of 5 by 5. */

__global__ void depthwise_nhwc(const float4 *__restrict__ x, const float4 *__restrict__ w, float4 *__restrict__ y,
                               int images, int height, int width, int quads) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= images * height * width * quads) return;
    int c = id % quads, col = id / quads % width, row = id / quads / width % height, n = id / quads / width / height;
    float4 acc = {0, 0, 0, 0};
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++) {
            int iy = row + dy - 1, ix = col + dx - 1;
            if (iy < 0 || ix < 0 || iy >= height || ix >= width) continue;
            float4 v = x[((n * height + iy) * width + ix) * quads + c], k = w[(dy * 3 + dx) * quads + c];
            acc.x += v.x * k.x, acc.y += v.y * k.y, acc.z += v.z * k.z, acc.w += v.w * k.w;
        }
    y[id] = acc;
}

/* The size of the tile is that of the block, and two more around. */
__global__ void conv5x5(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int height,
                        int width) {
    extern __shared__ float4 conv_shared[];
    float *weights = (float *)conv_shared, *tile = weights + CONV_IN * 25 * CONV_OUT;
    int tw = blockDim.x + 4, th = blockDim.y + 4, tid = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    int left = blockIdx.x * blockDim.x - 2, top = blockIdx.y * blockDim.y - 2;
    const float *image = x + (size_t)blockIdx.z * CONV_IN * height * width;
    for (int i = tid; i < CONV_IN * 25 * CONV_OUT; i += threads) weights[i] = w[i];
    for (int i = tid; i < CONV_IN * tw * th; i += threads) {
        int c = i / (tw * th), row = top + i / tw % th, col = left + i % tw;
        tile[i] = row >= 0 && col >= 0 && row < height && col < width ? image[(c * height + row) * width + col] : 0;
    }
    __syncthreads();
    float acc[CONV_OUT] = {};
    for (int c = 0; c < CONV_IN; c++)
        for (int dy = 0; dy < 5; dy++) {
#pragma unroll
            for (int dx = 0; dx < 5; dx++) {
                float v = tile[(c * th + threadIdx.y + dy) * tw + threadIdx.x + dx];
                const float *k = weights + ((c * 5 + dy) * 5 + dx) * CONV_OUT;
#pragma unroll
                for (int o = 0; o < CONV_OUT; o++) acc[o] += v * k[o];
            }
        }
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= height || col >= width) return;
#pragma unroll
    for (int o = 0; o < CONV_OUT; o++)
        y[((blockIdx.z * CONV_OUT + o) * (size_t)height + row) * width + col] = acc[o] > 0 ? acc[o] : 0;
}

/* Products of matrices: bytes four at a time, halves two at a time, floats in tiles of 4 by 8 a thread. */

__global__ void gemm_dp4a(const int *a, const int *b, int *c, int m, int n, int k4) {
    __shared__ int sa[16][16], sb[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, sum = 0;
    for (int t = 0; t < k4; t += 16) {
        sa[ty][tx] = t + tx < k4 && row < m ? a[row * k4 + t + tx] : 0;
        sb[ty][tx] = t + ty < k4 && col < n ? b[(t + ty) * n + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum = __dp4a(sa[ty][k], sb[k][tx], sum);
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

__global__ void gemm_half2(const __half *__restrict__ a, const __half2 *__restrict__ b, float2 *__restrict__ c, int m,
                           int n2, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n2) return;
    float2 total = {0, 0};
    for (int k0 = 0; k0 < k; k0 += 30) { /* halves would lose too much over all */
        __half2 sum = __float2half2_rn(0.0f);
#pragma unroll 10
        for (int i = k0; i < k0 + 30; i++) sum = __hfma2(__half2half2(a[row * k + i]), b[i * n2 + col], sum);
        float2 f = __half22float2(sum);
        total.x += f.x, total.y += f.y;
    }
    c[row * n2 + col] = total;
}

__global__ void __launch_bounds__(128)
    gemm_tiles(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n, int k) {
    const int TK = 20;
    __shared__ float4 sa[TK][16], sb[TK][16];
    int t = threadIdx.x, ty = t / 8, tx = t % 8;
    a += blockIdx.y * 64 * k;
    b += blockIdx.x * 64;
    c += blockIdx.y * 64 * n + blockIdx.x * 64;
    float acc[4][8] = {};
    for (int k0 = 0; k0 < k; k0 += TK) {
#pragma unroll
        for (int i = t; i < 64 * TK; i += 128) ((float *)sa[i % TK])[i / TK] = a[i / TK * k + k0 + i % TK];
#pragma unroll
        for (int i = t; i < 16 * TK; i += 128) sb[i / 16][i % 16] = *(const float4 *)&b[(k0 + i / 16) * n + i % 16 * 4];
        __syncthreads();
#pragma unroll 5
        for (int kk = 0; kk < TK; kk++) {
            float4 u = sa[kk][ty], v = sb[kk][tx], w = sb[kk][tx + 8];
            float left[4] = {u.x, u.y, u.z, u.w}, right[8] = {v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) acc[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float4 *to = (float4 *)&c[(ty * 4 + i) * n];
        to[tx] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        to[tx + 8] = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
    }
}

/* Matrix times vector: a row a thread; and by the transpose, where blocks add up with atomics. */

__global__ void matvec_thread(const float *a, const float *x, float *y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += a[r * cols + c] * x[c];
    y[r] = sum;
}

__global__ void matvec_transposed(const float *__restrict__ a, const float *__restrict__ x, float *y, size_t rows,
                                  size_t cols, size_t chunk) {
    size_t c = (size_t)blockIdx.x * blockDim.x + threadIdx.x, begin = blockIdx.y * chunk, end = begin + chunk;
    if (c >= cols) return;
    if (end > rows) end = rows;
    float sum = 0;
    for (size_t r = begin; r < end; r++) sum += x[r] * a[r * cols + c];
    atomicAdd(&y[c], sum);
}

/* Gauss and Seidel, the red points and then the black ones, in place. */
__global__ void red_black(float *u, const float *f, int w, int h, int colour, float omega) {
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (y + colour) % 2;
    if (x > w - 2 || y > h - 2) return;
    int i = y * w + x;
    float fresh = 0.25f * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - f[i]);
    u[i] = (1.0f - omega) * u[i] + omega * fresh;
}

/* Graphs: a level of a search in breadth, and ranks of pages by 8 lanes a page. */

__global__ void bfs_level(const int *row, const int *col, const int *frontier, int count, int *level, int *next,
                          int *next_count, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = frontier[i];
    for (int e = row[v]; e < row[v + 1]; e++) {
        int w = col[e];
        if (atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(next_count, 1)] = w;
    }
}

__global__ void pagerank_pull(const int *__restrict__ row, const int *__restrict__ col, const float *__restrict__ rank,
                              const float *__restrict__ inverse_degree, float *__restrict__ out, int n, float damping) {
    int v = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, lane = threadIdx.x & 7;
    float sum = 0;
    if (v < n)
        for (int e = row[v] + lane, end = row[v + 1]; e < end; e += 8) {
            int u = col[e];
            sum += rank[u] * inverse_degree[u];
        }
    for (int d = 4; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d, 8);
    if (v < n && lane == 0) out[v] = (1 - damping) / n + damping * sum;
}

/* A picture of spheres, and the set of Mandelbrot. */

__constant__ float4 spheres[SPHERES];

__global__ void trace(uchar4 *image, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float dx = (px - 0.5f * w) / h, dy = (py - 0.5f * h) / h, dz = 1.0f;
    float length = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= length, dy *= length, dz *= length;
    float nearest = 1e20f;
    int hit = -1;
    for (int s = 0; s < SPHERES; s++) {
        float4 o = spheres[s];
        float b = o.x * dx + o.y * dy + o.z * dz;
        float discriminant = b * b - (o.x * o.x + o.y * o.y + o.z * o.z) + o.w * o.w;
        if (discriminant > 0) {
            float t = b - sqrtf(discriminant);
            if (t > 1e-3f && t < nearest) {
                nearest = t;
                hit = s;
            }
        }
    }
    uchar4 colour = make_uchar4(40, 60, 90, 255);
    if (hit >= 0) {
        float4 o = spheres[hit];
        float nx = (nearest * dx - o.x) / o.w, ny = (nearest * dy - o.y) / o.w, nz = (nearest * dz - o.z) / o.w;
        float light = fmaxf(0.0f, -0.57735f * (nx + ny + nz));
        float shine = powf(light, 20.0f);
        colour.x = (unsigned char)fminf(255.0f, 30 + 180 * light + 40 * shine);
        colour.y = (unsigned char)fminf(255.0f, (hit & 7) * 20 + 80 * light + 40 * shine);
        colour.z = (unsigned char)fminf(255.0f, (hit >> 3) * 20 + 80 * light + 40 * shine);
    }
    image[py * w + px] = colour;
}

__global__ void mandelbrot(int *out, int w, int h, double x0, double y0, double scale, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double cx = x0 + px * scale, cy = y0 + py * scale, x = 0, y = 0, xx = 0, yy = 0;
    int i = 0;
    while (i < limit && xx + yy <= 4.0) {
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        i++;
    }
    out[py * w + px] = i;
}

/* Pictures in gray: a median of nine by a network, an integral image by rows and columns. */

static __device__ __forceinline__ void in_order(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b), a = low;
}
__global__ void median3x3(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int p[9];
#pragma unroll
    for (int i = 0; i < 9; i++) {
        int sx = min(max(x + i % 3 - 1, 0), w - 1), sy = min(max(y + i / 3 - 1, 0), h - 1);
        p[i] = in[sy * w + sx];
    }
    in_order(p[1], p[2]);
    in_order(p[4], p[5]);
    in_order(p[7], p[8]);
    in_order(p[0], p[1]);
    in_order(p[3], p[4]);
    in_order(p[6], p[7]);
    in_order(p[1], p[2]);
    in_order(p[4], p[5]);
    in_order(p[7], p[8]);
    in_order(p[0], p[3]);
    in_order(p[5], p[8]);
    in_order(p[4], p[7]);
    in_order(p[3], p[6]);
    in_order(p[1], p[4]);
    in_order(p[2], p[5]);
    in_order(p[4], p[7]);
    in_order(p[4], p[2]);
    in_order(p[6], p[4]);
    in_order(p[4], p[2]);
    out[y * w + x] = p[4];
}

__global__ void integral_rows(const unsigned char *in, int *out, int w) {
    __shared__ int totals[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, carry = 0;
    for (int x0 = 0; x0 < w; x0 += 256) {
        int x = x0 + threadIdx.x, v = x < w ? in[blockIdx.x * w + x] : 0;
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(~0u, v, d);
            if (lane >= d) v += other;
        }
        if (lane == 31) totals[warp] = v;
        __syncthreads();
        int before = carry;
        for (int i = 0; i < 8; i++) {
            if (i < warp) before += totals[i];
            carry += totals[i];
        }
        if (x < w) out[blockIdx.x * w + x] = v + before;
        __syncthreads();
    }
}

__global__ void integral_columns(int *image, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (x >= w) return;
    for (int y = 0; y < h; y++) {
        sum += image[y * w + x];
        image[y * w + x] = sum;
    }
}

/* Cholesky of many matrices of 16 by 16, a warp each. */
__global__ void __launch_bounds__(128) cholesky16(const float *__restrict__ in, float *__restrict__ out, int count) {
    __shared__ float shared[4][16][17];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, id = blockIdx.x * 4 + warp;
    if (id >= count) return;
    float(*m)[17] = shared[warp];
    for (int i = lane; i < 256; i += 32) m[i >> 4][i & 15] = in[id * 256 + i];
    __syncwarp();
    int row = lane & 15, half = lane >> 4;
    for (int k = 0; k < 16; k++) {
        float r = rsqrtf(m[k][k]);
        __syncwarp();
        if (half == 0 && row >= k) m[row][k] *= r;
        __syncwarp();
        for (int j = k + 1 + half; j < 16; j += 2)
            if (row >= j) m[row][j] -= m[row][k] * m[j][k];
        __syncwarp();
    }
    for (int i = lane; i < 256; i += 32) out[id * 256 + i] = (i & 15) <= i >> 4 ? m[i >> 4][i & 15] : 0.0f;
}

/* Prefix sums: of tiles, of their sums, and what was before is added. */

__device__ int block_scan(int v, int *warps) { /* inclusive; a block is of whole warps */
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, count = blockDim.x >> 5;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int t = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += t;
    }
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = lane < count ? warps[lane] : 0;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            int t = __shfl_up_sync(0xffffffffu, s, d);
            if (lane >= d) s += t;
        }
        warps[lane] = s;
    }
    __syncthreads();
    return warp ? v + warps[warp - 1] : v;
}

__global__ void scan_tiles(const int4 *in, int4 *out, int *sums) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = in[i];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int before = block_scan(v.w, warps) - v.w;
    v.x += before, v.y += before, v.z += before, v.w += before;
    out[i] = v;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v.w;
}

__global__ void scan_sums_of_tiles(int *sums) {
    __shared__ int warps[32];
    int v = sums[threadIdx.x];
    sums[threadIdx.x] = block_scan(v, warps) - v;
}

__global__ void scan_add(int4 *out, const int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, before = sums[blockIdx.x];
    int4 v = out[i];
    out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}

/* Text: base64, and whether it is UTF-8. */

__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__global__ void base64(const unsigned *__restrict__ in, uint4 *__restrict__ out, int pieces) {
    __shared__ unsigned char letters[64];
    if (threadIdx.x < 64) letters[threadIdx.x] = alphabet[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += gridDim.x * blockDim.x) {
        unsigned words[3] = {in[3 * i], in[3 * i + 1], in[3 * i + 2]}, codes[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            unsigned v = 0;
#pragma unroll
            for (int b = 3 * q; b < 3 * q + 3; b++) v = v << 8 | (words[b / 4] >> 8 * (b % 4) & 255);
            codes[q] = letters[v >> 18] | letters[v >> 12 & 63] << 8 | letters[v >> 6 & 63] << 16 |
                       (unsigned)letters[v & 63] << 24;
        }
        out[i] = make_uint4(codes[0], codes[1], codes[2], codes[3]);
    }
}

__device__ int utf8_follow(unsigned c) { return c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0; }

__global__ void utf8_errors(const unsigned char *s, int n, int *errors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool bad = false;
    if (i < n) {
        unsigned c = s[i];
        if ((c & 0xc0) == 0x80) {
            int k = 1;
            while (k < 4 && k <= i && (s[i - k] & 0xc0) == 0x80) k++;
            bad = k > 3 || k > i || utf8_follow(s[i - k]) < k;
        } else if (c >= 0x80) {
            bad = c < 0xc2 || c > 0xf4;
            for (int k = 1; k <= utf8_follow(c); k++) bad |= i + k >= n || (s[i + k] & 0xc0) != 0x80;
        }
    }
    int count = __syncthreads_count(bad);
    if (threadIdx.x == 0 && count) atomicAdd(errors, count);
}

/* Molecules: Lennard-Jones over the cells around, or over a list of neighbours. */

__device__ __forceinline__ void lennard_jones(float4 p, float4 q, float box, float cut2, float4 &f) {
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
    dx -= box * rintf(dx / box);
    dy -= box * rintf(dy / box);
    dz -= box * rintf(dz / box);
    float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 >= cut2 || r2 == 0.0f) return;
    float inverse = 1.0f / fmaxf(r2, 0.3f), i6 = inverse * inverse * inverse;
    float scale = 24.0f * inverse * i6 * (2.0f * i6 - 1.0f);
    f.x += scale * dx;
    f.y += scale * dy;
    f.z += scale * dz;
    f.w += 4.0f * i6 * (i6 - 1.0f);
}

__global__ void forces_cells(const float4 *atoms, const int *cell_start, float4 *forces, int n, float size,
                             float cut2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = atoms[i], f = {0, 0, 0, 0};
    int cx = min((int)(p.x / size), CELLS - 1), cy = min((int)(p.y / size), CELLS - 1);
    int cz = min((int)(p.z / size), CELLS - 1);
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = (cx + dx + CELLS) % CELLS, y = (cy + dy + CELLS) % CELLS, z = (cz + dz + CELLS) % CELLS;
                int cell = (z * CELLS + y) * CELLS + x;
                for (int j = cell_start[cell]; j < cell_start[cell + 1]; j++)
                    if (j != i) lennard_jones(p, atoms[j], CELLS * size, cut2, f);
            }
    forces[i] = f;
}

__global__ void forces_pairs(const float4 *__restrict__ atoms, const int *__restrict__ list,
                             const int *__restrict__ count, float4 *__restrict__ forces, int n, float box, float cut2) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float4 p = atoms[i], f = make_float4(0, 0, 0, 0);
        int neighbours = count[i];
#pragma unroll 4
        for (int k = 0; k < neighbours; k++) lennard_jones(p, __ldg(&atoms[list[k * n + i]]), box, cut2, f);
        forces[i] = f;
    }
}

/* A fluid of Boltzmann in 2-D with 9 directions: an array a direction, or 9 numbers a place. */

__device__ __forceinline__ void lbm_collide(float (&f)[9], float omega) {
    const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) rho += f[k], ux += ex[k] * f[k], uy += ey[k] * f[k];
    ux /= rho, uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float w = k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36, eu = 3.0f * (ex[k] * ux + ey[k] * uy);
        f[k] += omega * (w * rho * (1.0f + eu + 0.5f * eu * eu - square) - f[k]);
    }
}

template <bool SOA> __global__ void lbm_step(const float *in, float *out, int w, int h, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float f[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int sx = x - ex[k], sy = y - ey[k];
        sx = sx < 0 ? w - 1 : sx == w ? 0 : sx;
        sy = sy < 0 ? h - 1 : sy == h ? 0 : sy;
        f[k] = SOA ? in[k * w * h + sy * w + sx] : in[(sy * w + sx) * 9 + k];
    }
    lbm_collide(f, omega);
#pragma unroll
    for (int k = 0; k < 9; k++) out[SOA ? k * w * h + y * w + x : (y * w + x) * 9 + k] = f[k];
}

/* Lists of very different lengths: a warp takes the next from a queue. */
__global__ void work_queue(const int *__restrict__ begin, const float *__restrict__ values, float *__restrict__ results,
                           int *head, int lists) {
    int lane = threadIdx.x & 31;
    while (true) {
        int list = 0;
        if (lane == 0) list = atomicAdd(head, 1);
        list = __shfl_sync(0xffffffffu, list, 0);
        if (list >= lists) break;
        float sum = 0, top = 0;
        for (int i = begin[list] + lane; i < begin[list + 1]; i += 32) {
            float v = values[i];
            sum += v * v;
            top = fmaxf(top, v);
        }
        for (int d = 16; d; d >>= 1) {
            sum += __shfl_xor_sync(0xffffffffu, sum, d);
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
        }
        if (lane == 0) results[list] = sqrtf(sum) + top;
    }
}

static int blocks(int n, int size) { return (n + size - 1) / size; }
static float centred(size_t i) { return unit(i) - 0.5f; }
template <typename T> static T *host_array(size_t n) {
    T *p = (T *)calloc(n, sizeof(T));
    if (!p) exit(1);
    return p;
}
template <typename T> static T *to_device(T *host, size_t n) {
    T *device = filled<T>(n, [&](size_t i) { return host[i]; });
    free(host);
    return device;
}

static void setup_finance() {
    grid_a = filled<float>(SN, unit);
    grid_b = zeroed<float>(SN);
    spot = filled<float>(OPTIONS, [](size_t i) { return 5 + 25 * unit(i); });
    strike = filled<float>(OPTIONS, [](size_t i) { return 1 + 99 * unit(i + 5000000); });
    years = filled<float>(OPTIONS, [](size_t i) { return 0.25f + 9.75f * unit(i + 9000000); });
    call_prices = zeroed<float>(OPTIONS);
    put_prices = zeroed<float>(OPTIONS);
    spot64 = filled<double>(OPTIONS64, [](size_t i) { return 5 + 25.0 * unit(i); });
    strike64 = filled<double>(OPTIONS64, [](size_t i) { return 1 + 99.0 * unit(i + 5000000); });
    years64 = filled<double>(OPTIONS64, [](size_t i) { return 0.25 + 9.75 * unit(i + 9000000); });
    calls64 = zeroed<double>(OPTIONS64);
    mc_payoff = zeroed<float>(MC_PATHS);
    mc_sum = zeroed<double>(1);
}

static char genome(size_t i) { return "ACGT"[mixed(i % GENOME) >> 9 & 3]; }
static char read_base(size_t i) { return mixed(i + 3000000) % 200 == 0 ? "ACGT"[mixed(i + 7000000) & 3] : genome(i); }

static void setup_genes() {
    genes_a = filled<char>(NW_PAIRS * NW_L, genome);
    genes_b = filled<char>(NW_PAIRS * NW_L, [](size_t i) { return mixed(i) % 6 ? genome(i + i / NW_L % 4) : 'A'; });
    gene_scores = zeroed<int>(NW_PAIRS);
    reads = filled<char>(BASES, read_base);
    queries =
        filled<char>(BASES + KMER, [](size_t i) { return i / 1000 % 5 < 3 ? read_base(i) : genome(i * 7 + i / 50); });
    kmer_keys = zeroed<unsigned>(KMER_SLOTS);
    kmer_counts = zeroed<unsigned>(KMER_SLOTS);
    kmer_found = zeroed<int>(BASES / KMER_WINDOW);
    unsigned *keys = host_array<unsigned>(KMER_SLOTS), *counts = host_array<unsigned>(KMER_SLOTS);
    memset(keys, 0xff, KMER_SLOTS * sizeof *keys);
    unsigned forward = 0, reverse = 0;
    for (int i = 0; i < BASES; i++) {
        unsigned c = base_code(read_base(i));
        forward = (forward << 2 | c) & ((1u << 2 * KMER) - 1);
        reverse = reverse >> 2 | (c ^ 2) << (2 * KMER - 2);
        if (i < KMER - 1) continue;
        unsigned key = forward < reverse ? forward : reverse, slot = kmer_hash(key);
        while (keys[slot] != 0xffffffffu && keys[slot] != key) slot = (slot + 1) & (KMER_SLOTS - 1);
        keys[slot] = key;
        counts[slot]++;
    }
    index_keys = to_device(keys, KMER_SLOTS);
    index_counts = to_device(counts, KMER_SLOTS);
}

/* mixed() never gives the same twice. One row in five has a partner. */
static unsigned s_key(size_t i) { return mixed(i % 5 == 0 ? i * 13 % JOIN_R : i + 10000000); }

static void setup_tables() {
    r_keys = filled<unsigned>(JOIN_R, mixed);
    s_keys = filled<unsigned>(JOIN_S, s_key);
    join_heads = zeroed<int>(1 << JOIN_BITS);
    join_next = zeroed<int>(JOIN_R);
    join_out = zeroed<int>(JOIN_S);
    join_matches = zeroed<int>(1);
    int *heads = host_array<int>(1 << JOIN_BITS), *next = host_array<int>(JOIN_R);
    unsigned *bitmap = host_array<unsigned>((1 << BITMAP_BITS) / 32);
    memset(heads, 0xff, sizeof(int) << JOIN_BITS);
    for (int i = 0; i < JOIN_R; i++) {
        unsigned key = mixed(i), bit = join_bit(key);
        next[i] = heads[join_bucket(key)];
        heads[join_bucket(key)] = i;
        bitmap[bit / 32] |= 1u << bit % 32;
    }
    ready_heads = to_device(heads, 1 << JOIN_BITS);
    ready_next = to_device(next, JOIN_R);
    join_bitmap = to_device(bitmap, (1 << BITMAP_BITS) / 32);
    group_16 = filled<int>(GROUP_ROWS, [](size_t i) { return (int)(mixed(i) % 16); });
    group_1024 = filled<int>(GROUP_ROWS, [](size_t i) { return (int)(mixed(i) % 1024); });
    group_many = filled<int>(GROUP_ROWS, [](size_t i) { return (int)(mixed(i) % MANY_GROUPS); });
    group_value = filled<float>(GROUP_ROWS, [](size_t i) { return unit(i + 77); });
    group_sum = zeroed<float>(MANY_GROUPS);
    group_count = zeroed<int>(MANY_GROUPS);
    group_max = zeroed<int>(MANY_GROUPS);
    stream_in = filled<float>(STREAM, unit);
    stream_out = zeroed<float>(STREAM);
    stream_count = zeroed<int>(1);
}

static void setup_layers() {
    ln_x = filled<float>(LN_ROWS * LN_COLS, unit);
    ln_y = zeroed<float>(LN_ROWS * LN_COLS);
    ln_gamma = filled<float>(LN_COLS, unit);
    ln_beta = filled<float>(LN_COLS, centred);
    bn_x = filled<float>(BN_ROWS * BN_COLS, centred);
    bn_sum = zeroed<float>(BN_COLS);
    bn_square = zeroed<float>(BN_COLS);
    act_x = filled<float>(ACT_ROWS * ACT_COLS, [](size_t i) { return 6 * centred(i); });
    act_bias = filled<float>(ACT_COLS, centred);
    act_y = zeroed<float>(ACT_ROWS * ACT_COLS);
    adam_w = filled<float>(WEIGHTS, centred);
    adam_g = filled<float>(WEIGHTS, [](size_t i) { return 0.1f * centred(i + 99); });
    adam_m = zeroed<float>(WEIGHTS);
    adam_v = zeroed<float>(WEIGHTS);
    logits = filled<float>(XE_ROWS * XE_CLASSES, [](size_t i) { return 10 * centred(i); });
    labels = filled<int>(XE_ROWS, [](size_t i) { return (int)(mixed(i) % XE_CLASSES); });
    xe_grad = zeroed<float>(XE_ROWS * XE_CLASSES);
    xe_loss = zeroed<float>(XE_ROWS);
    embed_table = filled<float>(VOCABULARY * EMBED, centred);
    embed_positions = filled<float>(POSITIONS * EMBED, centred);
    embed_out = zeroed<float>(TOKENS * EMBED);
    embed_dout = filled<float>(TOKENS_BACK * EMBED_BACK, centred);
    embed_grad = zeroed<float>(VOCABULARY * EMBED_BACK);
    tokens = filled<int>(TOKENS, [](size_t i) { /* the first are seen the most */
                                                float u = unit(i);
                                                return (int)(u * u * u * VOCABULARY);
    });
    dw_x = filled<float>(DW_N * DW_H * DW_W * DW_C, centred);
    dw_w = filled<float>(9 * DW_C, centred);
    dw_y = zeroed<float>(DW_N * DW_H * DW_W * DW_C);
    conv_x = filled<float>(CONV_N * CONV_IN * CONV_H * CONV_W, centred);
    conv_w = filled<float>(CONV_IN * 25 * CONV_OUT, centred);
    conv_y = zeroed<float>(CONV_N * CONV_OUT * CONV_H * CONV_W);
    gemm_a8 = filled<int>(GM * GK / 4, [](size_t i) { return (int)mixed(i); });
    gemm_b8 = filled<int>(GK / 4 * GN, [](size_t i) { return (int)mixed(i + 31); });
    gemm_c32 = zeroed<int>(GM * GN);
    gemm_ah = filled<__half>(GM * GK, [](size_t i) { return __float2half(centred(i)); });
    gemm_bh = filled<__half>(GK * GN, [](size_t i) { return __float2half(centred(i + 31)); });
    gemm_a = filled<float>(GM * GK, centred);
    gemm_b = filled<float>(GK * GN, centred);
    gemm_c = zeroed<float>(GM * GN);
}

static void setup_graphs() {
    mv_a = filled<float>(MV_ROWS * MV_COLS, centred);
    mv_x = filled<float>(MV_COLS, unit);
    mv_xt = filled<float>(MV_ROWS, unit);
    mv_y = zeroed<float>(MV_ROWS);
    rb_u = zeroed<float>(RB_W * RB_H);
    rb_f = filled<float>(RB_W * RB_H, centred);
    int *row = host_array<int>(VERTICES + 1);
    for (int v = 0; v < VERTICES; v++) {
        unsigned r = mixed(v);
        row[v + 1] = row[v] + (r % 300 == 0 ? 200 + (r >> 16) % 200 : 2 + (r >> 8) % 19);
    }
    inverse_degree = filled<float>(VERTICES, [&](size_t i) { return 1.0f / (row[i + 1] - row[i]); });
    graph_col = filled<int>(row[VERTICES], [](size_t i) { return (int)(mixed(i) % VERTICES); });
    graph_row = to_device(row, VERTICES + 1);
    rank_in = filled<float>(VERTICES, [](size_t i) { return (0.5f + unit(i)) / VERTICES; });
    rank_out = zeroed<float>(VERTICES);

    /* v * 7 % VERTICES takes each vertex once. Those of the frontier have the level 3, a fifth of the others less. */
    int *level = host_array<int>(VERTICES), *first = host_array<int>(FRONTIER);
    for (int v = 0; v < VERTICES; v++) level[v] = mixed(v + 5) % 5 == 0 ? 2 : -1;
    for (int i = 0; i < FRONTIER; i++) {
        first[i] = (int)((long long)i * 7 % VERTICES);
        level[first[i]] = 3;
    }
    levels_start = to_device(level, VERTICES);
    frontier = to_device(first, FRONTIER);
    levels = zeroed<int>(VERTICES);
    next_frontier = zeroed<int>(VERTICES);
    next_count = zeroed<int>(1);
}

static void setup_pictures_and_text() {
    float4 ball[SPHERES];
    for (int i = 0; i < SPHERES; i++)
        ball[i] = make_float4(8 * centred(i), 6 * centred(i + 100), 5 + 5 * unit(i + 200), 0.2f + 0.6f * unit(i + 300));
    MUST(cudaMemcpyToSymbol(spheres, ball, sizeof ball));
    ray_image = zeroed<uchar4>(RAY_W * RAY_H);
    fractal = zeroed<int>(FRACTAL_W * FRACTAL_H);
    gray =
        filled<unsigned char>(IMG_W * IMG_H, [](size_t i) { return (unsigned char)(mixed(i) % 200 + i % IMG_W / 32); });
    gray_out = zeroed<unsigned char>(IMG_W * IMG_H);
    integral = zeroed<int>(IMG_W * IMG_H);
    chol_in = filled<float>(CHOL_COUNT * 256, [](size_t i) {
        size_t r = i / 16 % 16, c = i % 16, low = r < c ? r : c, high = r < c ? c : r;
        return r == c ? 10 + unit(i) : centred(i / 256 * 256 + low * 16 + high);
    });
    chol_out = zeroed<float>(CHOL_COUNT * 256);
    scan_in = filled<int>(SCAN_N, [](size_t i) { return (int)(mixed(i) % 100); });
    scan_out = zeroed<int>(SCAN_N);
    scan_sums = zeroed<int>(SCAN_N / SCAN_TILE);
    plain = filled<unsigned>(PLAIN_BYTES / 4, mixed);
    encoded = zeroed<unsigned>(PLAIN_BYTES / 3);
    unsigned char *s = host_array<unsigned char>(TEXT_BYTES + 4);
    for (size_t i = 0, k = 0; i < TEXT_BYTES; k++) {
        unsigned r = mixed(k), kind = r % 16, follow = kind < 10 ? 0 : kind < 13 ? 1 : kind < 15 ? 2 : 3;
        if (k / 64 % 3 == 0) follow = 0; /* whole lines are ASCII */
        s[i++] = follow == 0 ? 32 + (r >> 8) % 95 : follow == 1 ? 0xc3 : follow == 2 ? 0xe4 : 0xf0;
        for (unsigned f = 0; f < follow; f++) s[i++] = 0x90 + (r >> (8 + 4 * f) & 15);
        if (k % 50000 == 49999) s[i - 1] = 0xff;
    }
    text = filled<unsigned char>(TEXT_BYTES, [&](size_t i) { return s[i]; });
    free(s);
    text_errors = zeroed<int>(1);
}

static const float CELL_SIZE = 1.2f, BOX = CELLS * 1.2f, CUT2 = 1.44f;

static void setup_physics() {
    float4 *loose = host_array<float4>(ATOMS), *sorted = host_array<float4>(ATOMS);
    int *start = host_array<int>(CELLS * CELLS * CELLS + 1), *fill = host_array<int>(CELLS * CELLS * CELLS);
    auto cell_1d = [](float x) {
        int c = (int)(x / CELL_SIZE);
        return c < CELLS ? c : CELLS - 1;
    };
    auto cell_of = [&](float4 p) { return (cell_1d(p.z) * CELLS + cell_1d(p.y)) * CELLS + cell_1d(p.x); };
    for (int i = 0; i < ATOMS; i++) {
        loose[i] = make_float4(BOX * unit(3 * i), BOX * unit(3 * i + 1), BOX * unit(3 * i + 2), 0);
        start[cell_of(loose[i]) + 1]++;
    }
    for (int c = 0; c < CELLS * CELLS * CELLS; c++) start[c + 1] += start[c];
    for (int i = 0; i < ATOMS; i++) {
        int c = cell_of(loose[i]);
        sorted[start[c] + fill[c]++] = loose[i];
    }
    int *list = host_array<int>((size_t)NEIGHBOURS * ATOMS), *count = host_array<int>(ATOMS);
    for (int i = 0; i < ATOMS; i++) {
        float4 p = sorted[i];
        for (int k = 0; k < 27; k++) {
            int x = (cell_1d(p.x) + k % 3 - 1 + CELLS) % CELLS, y = (cell_1d(p.y) + k / 3 % 3 - 1 + CELLS) % CELLS;
            int z = (cell_1d(p.z) + k / 9 - 1 + CELLS) % CELLS, c = (z * CELLS + y) * CELLS + x;
            for (int j = start[c]; j < start[c + 1]; j++) {
                float d[3] = {p.x - sorted[j].x, p.y - sorted[j].y, p.z - sorted[j].z}, r2 = 0;
                for (int a = 0; a < 3; a++) {
                    d[a] -= BOX * rintf(d[a] / BOX);
                    r2 += d[a] * d[a];
                }
                if (j != i && r2 < 1.1f * CUT2 && count[i] < NEIGHBOURS) list[(size_t)count[i]++ * ATOMS + i] = j;
            }
        }
    }
    atoms = to_device(sorted, ATOMS);
    cell_start = to_device(start, CELLS * CELLS * CELLS + 1);
    pair_list = to_device(list, (size_t)NEIGHBOURS * ATOMS);
    pair_count = to_device(count, ATOMS);
    forces = zeroed<float4>(ATOMS);
    free(loose);
    free(fill);

    lbm_soa = filled<float>(LBM_W * LBM_H * 9, [](size_t i) { return 0.1f + 0.01f * unit(i); });
    lbm_aos = filled<float>(LBM_W * LBM_H * 9, [](size_t i) { return 0.1f + 0.01f * unit(i); });
    lbm_out = zeroed<float>(LBM_W * LBM_H * 9);

    int *begin = host_array<int>(LISTS + 1);
    for (int i = 0; i < LISTS; i++) {
        float u = unit(i);
        begin[i + 1] = begin[i] + 1 + (int)(u * u * LIST_MAX);
    }
    list_values = filled<float>(begin[LISTS], unit);
    list_begin = to_device(begin, LISTS + 1);
    list_results = zeroed<float>(LISTS);
    queue_head = zeroed<int>(1);
}

static void setup() {
    setup_finance();
    setup_genes();
    setup_tables();
    setup_layers();
    setup_graphs();
    setup_pictures_and_text();
    setup_physics();
}

static const fidelity_test tests[] = {
    COLD("evening 27 points/naive", 1,
         stencil27_naive<<<dim3(blocks(SX, 32), blocks(SY, 4), blocks(SZ, 2)), dim3(32, 4, 2)>>>(
             grid_a, grid_b, SX, SY, SZ, 0.4f, 0.05f, 0.02f, 0.0075f)),
    COLD("evening 27 points/planes in shared memory", 1,
         stencil27_planes<32, 8><<<dim3(blocks(SX, 32), blocks(SY, 8), 4), dim3(32, 8)>>>(
             grid_a, grid_b, SX, SY, SZ, SZ / 4, 0.4f, 0.05f, 0.02f, 0.0075f)),
    COLD("evening 27 points/march with registers", 1,
         stencil27_march<32, 16><<<dim3(blocks(SX - 2, 30), blocks(SY - 2, 14), 6), dim3(32, 16)>>>(
             grid_a, grid_b, SX, SY, SZ, SZ / 6, 0.4f, 0.05f, 0.02f, 0.0075f)),
    COLD("evening options/float4", 1,
         black_scholes_float4<<<blocks(OPTIONS / 4, 128), 128>>>((float4 *)spot, (float4 *)strike, (float4 *)years,
                                                                 (float4 *)call_prices, (float4 *)put_prices, 0.02f,
                                                                 0.3f, OPTIONS / 4)),
    COLD("evening options/double", 1,
         black_scholes_double<<<480, 128>>>(spot64, strike64, years64, calls64, 0.02, 0.3, OPTIONS64)),
    WARM("evening barrier/a path a thread", 1,
         barrier_simple<<<blocks(MC_PATHS, 256), 256>>>(mc_payoff, MC_PATHS, MC_STEPS, 100.0f, 105.0f, 80.0f,
                                                        1.0f / MC_STEPS, 0.03f, 0.25f)),
    WARM("evening barrier/pairs of normals", 1, cudaMemsetAsync(mc_sum, 0, sizeof *mc_sum); barrier_pairs<<<264, 128>>>(
             mc_sum, MC_PATHS, MC_STEPS, 4.6051702f, 105.0f, 4.3820266f, -0.000025f, 0.0353553f)),
    WARM("evening alignment/matrix in shared memory", 1, nw_matrix<<<NW_PAIRS, NW_L>>>(genes_a, genes_b, gene_scores)),
    WARM("evening alignment/a warp a pair", 1,
         nw_warp<<<blocks(NW_PAIRS, 2), 64>>>(genes_a, genes_b, gene_scores, NW_PAIRS)),
    COLD("evening k-mers/count", 1, cudaMemsetAsync(kmer_keys, 0xff, KMER_SLOTS * sizeof(unsigned));
         cudaMemsetAsync(kmer_counts, 0, KMER_SLOTS * sizeof(unsigned));
         kmer_count<<<blocks(BASES, 192), 192>>>(reads, BASES, kmer_keys, kmer_counts)),
    COLD("evening k-mers/look up", 1,
         kmer_lookup<<<264, 192>>>(queries, BASES / KMER_WINDOW, index_keys, index_counts, kmer_found)),
    COLD("evening join/build and probe", 2, cudaMemsetAsync(join_heads, 0xff, sizeof(int) << JOIN_BITS);
         join_build<<<blocks(JOIN_R, 512), 512>>>(r_keys, join_heads, join_next, JOIN_R);
         join_probe<<<blocks(JOIN_S, 512), 512>>>(s_keys, r_keys, join_heads, join_next, join_out, JOIN_S)),
    COLD("evening join/probe after a bitmap", 1, cudaMemsetAsync(join_matches, 0, sizeof(int));
         join_probe_bitmap<<<528, 256>>>(s_keys, join_bitmap, r_keys, ready_heads, ready_next, join_matches, JOIN_S)),
    COLD("evening group by/16 global", 1, cudaMemsetAsync(group_sum, 0, 16 * sizeof(float));
         cudaMemsetAsync(group_count, 0, 16 * sizeof(int)); group_by_global<<<blocks(GROUP_ROWS / 4, 256), 256>>>(
             group_16, group_value, group_sum, group_count, GROUP_ROWS / 4)),
    COLD("evening group by/1024 shared", 1, cudaMemsetAsync(group_sum, 0, 1024 * sizeof(float));
         cudaMemsetAsync(group_count, 0, 1024 * sizeof(int));
         group_by_shared<<<132, 512, 1024 * 8>>>(group_1024, group_value, group_sum, group_count, GROUP_ROWS, 1024)),
    COLD("evening group by/100000 global", 1, cudaMemsetAsync(group_sum, 0, MANY_GROUPS * sizeof(float));
         cudaMemsetAsync(group_max, 0, MANY_GROUPS * sizeof(int)); group_by_max<<<blocks(GROUP_ROWS / 4, 64), 64>>>(
             (int2 *)group_many, (float2 *)group_value, group_sum, group_max, GROUP_ROWS / 4)),
    COLD("evening compaction/atomics a warp", 1, cudaMemsetAsync(stream_count, 0, sizeof(int));
         compact_warp<<<blocks(STREAM, 1024), 1024>>>(stream_in, stream_out, stream_count, STREAM, 0.6f)),
    COLD("evening compaction/scan in a block", 1, cudaMemsetAsync(stream_count, 0, sizeof(int)); compact_block<256>
         <<<blocks(STREAM / 4, 256), 256>>>((float4 *)stream_in, stream_out, stream_count, STREAM / 4, 0.6f)),
    COLD("evening norms/LayerNorm after Welford", 1,
         layernorm_welford<<<blocks(LN_ROWS, 3), 96>>>(ln_x, ln_gamma, ln_beta, ln_y, LN_ROWS, LN_COLS, 1e-5f)),
    COLD("evening norms/batch sums of columns", 1, cudaMemsetAsync(bn_sum, 0, BN_COLS * sizeof(float));
         cudaMemsetAsync(bn_square, 0, BN_COLS * sizeof(float));
         batchnorm_sums<<<dim3(BN_COLS / 32, 50), dim3(32, 8)>>>(bn_x, bn_sum, bn_square, BN_ROWS, BN_COLS)),
    COLD("evening training/bias, GELU, dropout", 1,
         bias_gelu_dropout<<<660, 256>>>(act_x, act_bias, act_y, ACT_ROWS *ACT_COLS, ACT_COLS, 4242u, 0.1f)),
    COLD("evening training/Adam", 1,
         adam<<<blocks(WEIGHTS, 512), 512>>>(adam_w, adam_g, adam_m, adam_v, 1e-3f, 0.9f, 0.999f, 1e-8f, 0.271f, 0.003f,
                                             WEIGHTS)),
    COLD("evening training/cross-entropy", 1,
         cross_entropy<<<XE_ROWS, 128>>>(logits, labels, xe_loss, xe_grad, XE_CLASSES)),
    COLD("evening embedding/forward", 1,
         embed_forward<<<blocks(TOKENS, 8), 256>>>(tokens, (float4 *)embed_table, (float4 *)embed_positions,
                                                   (float4 *)embed_out, TOKENS)),
    COLD("evening embedding/backward", 1,
         embed_backward<<<TOKENS_BACK, EMBED_BACK>>>(tokens, embed_dout, embed_grad, EMBED_BACK)),
    COLD("evening convolution/depthwise, channels last", 1,
         depthwise_nhwc<<<blocks(DW_N *DW_H *DW_W *DW_C / 4, 192), 192>>>((float4 *)dw_x, (float4 *)dw_w,
                                                                          (float4 *)dw_y, DW_N, DW_H, DW_W, DW_C / 4)),
    WARM("evening convolution/5 x 5 of 8 to 16", 1,
         conv5x5<<<dim3(blocks(CONV_W, 32), blocks(CONV_H, 8), CONV_N), dim3(32, 8),
                   (CONV_IN * 25 * CONV_OUT + CONV_IN * 36 * 12) * sizeof(float)>>>(conv_x, conv_w, conv_y, CONV_H,
                                                                                    CONV_W)),
    WARM("evening product/bytes", 1,
         gemm_dp4a<<<dim3(GN / 16, GM / 16), dim3(16, 16)>>>(gemm_a8, gemm_b8, gemm_c32, GM, GN, GK / 4)),
    WARM("evening product/half2", 1,
         gemm_half2<<<dim3(GN / 2 / 32, GM / 6), dim3(32, 6)>>>(gemm_ah, (__half2 *)gemm_bh, (float2 *)gemm_c, GM,
                                                                GN / 2, GK)),
    WARM("evening product/tiles 4 x 8", 1, gemm_tiles<<<dim3(GN / 64, GM / 64), 128>>>(gemm_a, gemm_b, gemm_c, GN, GK)),
    COLD("evening matrix times vector/a row a thread", 1,
         matvec_thread<<<blocks(MV_ROWS, 64), 64>>>(mv_a, mv_x, mv_y, MV_ROWS, MV_COLS)),
    COLD("evening matrix times vector/transposed", 1, cudaMemsetAsync(mv_y, 0, MV_COLS * sizeof(float));
         matvec_transposed<<<dim3(blocks(MV_COLS, 128), 50), 128>>>(mv_a, mv_xt, mv_y, MV_ROWS, MV_COLS, 60)),
    COLD("evening sweep/red and black", 2,
         for (int colour = 0; colour < 2; colour++)
             red_black<<<dim3(blocks(RB_W / 2, 64), blocks(RB_H - 2, 4)), dim3(64, 4)>>>(rb_u, rb_f, RB_W, RB_H, colour,
                                                                                         1.5f)),
    COLD("evening graph/level of BFS", 1,
         cudaMemcpyAsync(levels, levels_start, VERTICES * sizeof(int), cudaMemcpyDeviceToDevice);
         cudaMemsetAsync(next_count, 0, sizeof(int)); bfs_level<<<blocks(FRONTIER, 128), 128>>>(
             graph_row, graph_col, frontier, FRONTIER, levels, next_frontier, next_count, 4)),
    WARM("evening graph/ranks of pages", 1,
         pagerank_pull<<<blocks(VERTICES * 8, 512), 512>>>(graph_row, graph_col, rank_in, inverse_degree, rank_out,
                                                           VERTICES, 0.85f)),
    WARM("evening pixels/spheres", 1, trace<<<dim3(RAY_W / 16, RAY_H / 8), dim3(16, 8)>>>(ray_image, RAY_W, RAY_H)),
    WARM("evening pixels/Mandelbrot in double", 1,
         mandelbrot<<<dim3(blocks(FRACTAL_W, 8), blocks(FRACTAL_H, 8)), dim3(8, 8)>>>(fractal, FRACTAL_W, FRACTAL_H,
                                                                                      -2.2, -1.2, 0.006, 150)),
    COLD("evening gray/median", 1,
         median3x3<<<dim3(blocks(IMG_W, 32), blocks(IMG_H, 16)), dim3(32, 16)>>>(gray, gray_out, IMG_W, IMG_H)),
    COLD("evening gray/integral image", 2, integral_rows<<<IMG_H, 256>>>(gray, integral, IMG_W);
         integral_columns<<<blocks(IMG_W, 64), 64>>>(integral, IMG_W, IMG_H)),
    COLD("evening cholesky 16 x 16/a warp each", 1,
         cholesky16<<<blocks(CHOL_COUNT, 4), 128>>>(chol_in, chol_out, CHOL_COUNT)),
    COLD("evening prefix sum/three kernels", 3,
         scan_tiles<<<SCAN_N / SCAN_TILE, SCAN_TILE / 4>>>((int4 *)scan_in, (int4 *)scan_out, scan_sums);
         scan_sums_of_tiles<<<1, SCAN_N / SCAN_TILE>>>(scan_sums);
         scan_add<<<SCAN_N / SCAN_TILE, SCAN_TILE / 4>>>((int4 *)scan_out, scan_sums)),
    COLD("evening text/base64", 1, base64<<<264, 256>>>(plain, (uint4 *)encoded, PLAIN_BYTES / 12)),
    COLD("evening text/UTF-8", 1, cudaMemsetAsync(text_errors, 0, sizeof(int));
         utf8_errors<<<blocks(TEXT_BYTES, 512), 512>>>(text, TEXT_BYTES, text_errors)),
    WARM("evening molecules/27 cells", 1,
         forces_cells<<<blocks(ATOMS, 128), 128>>>(atoms, cell_start, forces, ATOMS, CELL_SIZE, CUT2)),
    WARM("evening molecules/pair list", 1,
         forces_pairs<<<blocks(ATOMS, 96), 96>>>(atoms, pair_list, pair_count, forces, ATOMS, BOX, CUT2)),
    COLD("evening fluid/an array a direction", 1,
         lbm_step<true><<<dim3(LBM_W / 128, LBM_H), 128>>>(lbm_soa, lbm_out, LBM_W, LBM_H, 1.7f)),
    COLD("evening fluid/9 numbers a place", 1,
         lbm_step<false><<<dim3(LBM_W / 64, LBM_H / 2), dim3(64, 2)>>>(lbm_aos, lbm_out, LBM_W, LBM_H, 1.7f)),
    COLD("evening queue/a warp takes the next", 1, cudaMemsetAsync(queue_head, 0, sizeof(int));
         work_queue<<<264, 128>>>(list_begin, list_values, list_results, queue_head, LISTS)),
};
FIDELITY_MAIN(setup, tests)
