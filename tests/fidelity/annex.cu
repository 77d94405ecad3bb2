/* annex.cu — more of what is written on a campus: a pass of radix sort, small inverses, pictures, words, chance, life,
 * paths that diverge, gradients of norms, Fourier transforms, a hash table. */
#include "fidelity.h"
#include <math.h>
#include <stdint.h>

enum { RADIX_N = 1 << 20, RADIX_TILE = 1024, RADIX_BLOCKS = RADIX_N / RADIX_TILE, DIGITS = 16, SHIFT = 8 };
enum { INVERSES = 24000, PHOTO_W = 1920, PHOTO_H = 1080, SMALL_W = 1366, SMALL_H = 768 };
enum { WORD_PAIRS = 900, WORD_MAX = 120, PATHS = 200000 };
enum { LIFE_W = 2048, LIFE_H = 1536, LIFE_WORDS = LIFE_W / 32, HAILSTONES = 250000, QUEENS = 11 };
enum { ROWS = 2500, HIDDEN = 1024, FFTS = 3000, FFT_N = 256 };
enum { HASH_KEYS = 400000, HASH_SLOTS = 1 << 20, HASH_EMPTY = -1 };

static unsigned *radix_keys, *radix_sorted;
static int *radix_counts, *radix_first, *radix_cursor, *radix_bases;
static float *inverse_in, *inverse_out;
static uchar4 *photo, *altered;
static char *words_a, *words_b;
static int2 *word_lengths;
static int *distances;
static unsigned long long *inside;
static float *payoffs;
static uint8_t *cells, *cells_next;
static unsigned *packed, *packed_next;
static int *collatz_best, *queens_count;
static float *norm_x, *norm_dy, *norm_gamma, *norm_dx, *norm_mean, *norm_rstd;
static float2 *fft_in, *fft_out, *twiddles;
static int *hash_keys, *hash_queries, *hash_table, *hash_values, *hash_found;

/* A pass of radix sort: counts of a digit by tiles, and the move of the keys. */

__global__ void radix_count(const unsigned *keys, int *counts, int shift) {
    __shared__ int bins[DIGITS];
    if (threadIdx.x < DIGITS) bins[threadIdx.x] = 0;
    __syncthreads();
    const unsigned *tile = keys + blockIdx.x * RADIX_TILE;
    for (int i = threadIdx.x; i < RADIX_TILE; i += blockDim.x) atomicAdd(&bins[(tile[i] >> shift) & 15], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

__global__ void radix_scatter_atomic(const unsigned *keys, unsigned *out, int *cursor, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = keys[i];
    out[atomicAdd(&cursor[k >> shift & 15], 1)] = k;
}

/* A stable sort of the tile in shared memory, a bit at a time, makes the writes come together. */
__global__ void __launch_bounds__(RADIX_TILE)
    radix_scatter(const unsigned *__restrict__ keys, unsigned *__restrict__ out, const int *__restrict__ first,
                  int shift) {
    __shared__ unsigned sorted[RADIX_TILE];
    __shared__ int zeros_before[33];
    __shared__ int digit_begin[DIGITS];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned k = keys[blockIdx.x * RADIX_TILE + t];
    for (int bit = shift; bit < shift + 4; bit++) {
        bool zero = !(k >> bit & 1);
        unsigned mask = __ballot_sync(~0u, zero);
        if (lane == 0) zeros_before[warp + 1] = __popc(mask);
        if (t == 0) zeros_before[0] = 0;
        __syncthreads();
        if (warp == 0) {
            int v = zeros_before[lane + 1];
            for (int d = 1; d < 32; d *= 2) {
                int y = __shfl_up_sync(~0u, v, d);
                if (lane >= d) v += y;
            }
            zeros_before[lane + 1] = v;
        }
        __syncthreads();
        int rank = zeros_before[warp] + __popc(mask & ((1u << lane) - 1));
        sorted[zero ? rank : zeros_before[32] + t - rank] = k;
        __syncthreads();
        k = sorted[t];
    }
    int digit = k >> shift & 15;
    if (t == 0 || digit != (int)(sorted[t - 1] >> shift & 15)) digit_begin[digit] = t;
    __syncthreads();
    out[first[digit * gridDim.x + blockIdx.x] + t - digit_begin[digit]] = k;
}

/* Inverses of matrices of 6 by 6, by Gauss and Jordan in place, without a search for pivots. */

__global__ void inverse_registers(const float *in, float *out, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    float m[6][6];
#pragma unroll
    for (int i = 0; i < 36; i++) m[i / 6][i % 6] = in[id * 36 + i];
#pragma unroll
    for (int p = 0; p < 6; p++) {
        float r = 1.0f / m[p][p];
        m[p][p] = 1.0f;
#pragma unroll
        for (int j = 0; j < 6; j++) m[p][j] *= r;
#pragma unroll
        for (int i = 0; i < 6; i++) {
            if (i == p) continue;
            float f = m[i][p];
            m[i][p] = 0.0f;
#pragma unroll
            for (int j = 0; j < 6; j++) m[i][j] -= f * m[p][j];
        }
    }
#pragma unroll
    for (int i = 0; i < 36; i++) out[id * 36 + i] = m[i / 6][i % 6];
}

__global__ void inverse_shared(const float *in, float *out, int count) {
    __shared__ float m[8][6][6];
    int z = threadIdx.z, i = threadIdx.y, j = threadIdx.x, id = blockIdx.x * 8 + z;
    if (id < count) m[z][i][j] = in[id * 36 + i * 6 + j];
    __syncthreads();
    for (int p = 0; p < 6; p++) {
        float pivot = m[z][p][p], f = m[z][i][p], top = m[z][p][j], own = m[z][i][j];
        __syncthreads();
        float t = (j == p ? 1.0f : top) / pivot;
        m[z][i][j] = i == p ? t : (j == p ? 0.0f : own) - f * t;
        __syncthreads();
    }
    if (id < count) out[id * 36 + i * 6 + j] = m[z][i][j];
}

/* Pictures: a bilinear resize, a rotation by any angle. */

__device__ uchar4 bilinear(const uchar4 *src, int w, int h, float x, float y) {
    int x0 = (int)floorf(x), y0 = (int)floorf(y);
    float fx = x - x0, fy = y - y0;
    int xa = min(max(x0, 0), w - 1), xb = min(max(x0 + 1, 0), w - 1);
    int ya = min(max(y0, 0), h - 1), yb = min(max(y0 + 1, 0), h - 1);
    uchar4 a = src[ya * w + xa], b = src[ya * w + xb], c = src[yb * w + xa], d = src[yb * w + xb];
    float wa = (1 - fx) * (1 - fy), wb = fx * (1 - fy), wc = (1 - fx) * fy, wd = fx * fy;
    return make_uchar4((unsigned char)(a.x * wa + b.x * wb + c.x * wc + d.x * wd + 0.5f),
                       (unsigned char)(a.y * wa + b.y * wb + c.y * wc + d.y * wd + 0.5f),
                       (unsigned char)(a.z * wa + b.z * wb + c.z * wc + d.z * wd + 0.5f), 255);
}

__global__ void resize(const uchar4 *src, int sw, int sh, uchar4 *dst, int dw, int dh) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh) return;
    dst[y * dw + x] = bilinear(src, sw, sh, (x + 0.5f) * sw / dw - 0.5f, (y + 0.5f) * sh / dh - 0.5f);
}

__global__ void rotate(const uchar4 *__restrict__ src, int w, int h, uchar4 *__restrict__ dst, int dw, int dh,
                       float sine, float cosine) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh) return;
    float cx = x - dw * 0.5f, cy = y - dh * 0.5f;
    float u = cosine * cx - sine * cy + w * 0.5f, v = sine * cx + cosine * cy + h * 0.5f;
    uchar4 black = {0, 0, 0, 255};
    dst[y * dw + x] = u < 0 || v < 0 || u >= w || v >= h ? black : bilinear(src, w, h, u, v);
}

/* Distances of Levenshtein: a pair of words a block, a diagonal a step. */
__global__ void levenshtein(const char *a, const char *b, const int2 *lengths, int *out) {
    extern __shared__ int diagonal[];
    int la = lengths[blockIdx.x].x, lb = lengths[blockIdx.x].y, i = threadIdx.x, stride = blockDim.x + 1;
    const char *wa = a + blockIdx.x * WORD_MAX, *wb = b + blockIdx.x * WORD_MAX;
    char mine = i > 0 && i <= la ? wa[i - 1] : 0;
    for (int d = 0; d <= la + lb; d++) {
        int *now = diagonal + d % 3 * stride, *last = diagonal + (d + 2) % 3 * stride;
        int *older = diagonal + (d + 1) % 3 * stride, j = d - i;
        if (i <= la && j >= 0 && j <= lb) {
            if (i == 0 || j == 0)
                now[i] = d;
            else
                now[i] = min(min(last[i], last[i - 1]) + 1, older[i - 1] + (mine != wb[j - 1]));
        }
        __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = diagonal[(la + lb) % 3 * stride + la];
}

/* Monte Carlo: pi, and a call option on an average. */

__device__ unsigned xorshift(unsigned &s) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

__global__ void monte_carlo_pi(unsigned long long *inside, int tries) {
    __shared__ unsigned hits;
    if (threadIdx.x == 0) hits = 0;
    __syncthreads();
    unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1u, mine = 0;
    for (int i = 0; i < tries; i++) {
        float x = xorshift(s) * 2.3283064e-10f, y = xorshift(s) * 2.3283064e-10f;
        if (x * x + y * y <= 1.0f) mine++;
    }
    atomicAdd(&hits, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(inside, (unsigned long long)hits);
}

__global__ void asian_option(float *payoff, int paths, float spot, float strike, float drift, float vol) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= paths) return;
    unsigned s = id * 747796405u + 2891336453u;
    float price = spot, sum = 0;
    for (int step = 0; step < 16; step += 2) {
        float u = (xorshift(s) + 1.0f) * 2.3283064e-10f, angle = xorshift(s) * 1.4629181e-9f, sine, cosine;
        float radius = sqrtf(-2.0f * logf(fminf(u, 1.0f)));
        sincosf(angle, &sine, &cosine);
        price *= expf(drift + vol * radius * cosine);
        sum += price;
        price *= expf(drift + vol * radius * sine);
        sum += price;
    }
    payoff[id] = fmaxf(sum / 16 - strike, 0.0f);
}

/* Life, on a torus: a byte a cell, with and without shared memory, and a bit a cell. */

__global__ void life_bytes(const uint8_t *in, uint8_t *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0) sum += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[y * w + x] = sum == 3 || (sum == 2 && in[y * w + x]);
}

__global__ void life_shared(const uint8_t *__restrict__ in, uint8_t *__restrict__ out, int w, int h) {
    __shared__ uint8_t tile[18][66];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 64, y0 = blockIdx.y * 16;
    for (int i = ty * 64 + tx; i < 18 * 66; i += 1024) {
        int x = x0 + i % 66 - 1, y = y0 + i / 66 - 1;
        x = x < 0 ? w - 1 : x == w ? 0 : x;
        y = y < 0 ? h - 1 : y == h ? 0 : y;
        tile[i / 66][i % 66] = in[y * w + x];
    }
    __syncthreads();
    int sum = tile[ty][tx] + tile[ty][tx + 1] + tile[ty][tx + 2] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] +
              tile[ty + 2][tx] + tile[ty + 2][tx + 1] + tile[ty + 2][tx + 2];
    out[(y0 + ty) * w + x0 + tx] = (sum | tile[ty + 1][tx + 1]) == 3;
}

__global__ void life_bits(const unsigned *__restrict__ in, unsigned *__restrict__ out, int words, int h) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= words * h) return;
    int x = id % words, y = id / words, left = (x + words - 1) % words, right = (x + 1) % words;
    unsigned one = 0, two = 0, four = 0, self = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *row = in + (y + dy + h) % h * words;
        unsigned mid = row[x], a = mid << 1 | row[left] >> 31, b = mid >> 1 | row[right] << 31;
        if (dy == 0) self = mid, mid = 0;
        unsigned low = a ^ b ^ mid, high = (a & b) | (mid & (a ^ b));
        unsigned carry = one & low;
        one ^= low;
        four |= (two & high) | (carry & (two ^ high));
        two ^= high ^ carry;
    }
    out[id] = two & ~four & (one | self);
}

/* Paths that diverge. */

__global__ void collatz(int *best, int n) {
    int most = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i <= n; i += gridDim.x * blockDim.x) {
        unsigned long long x = i;
        int steps = 0;
        while (x != 1) {
            if (x % 2 == 0)
                x = x / 2;
            else
                x = 3 * x + 1;
            steps++;
        }
        if (steps > most) most = steps;
    }
    atomicMax(best, most);
}

/* A thread has the first 3 rows given by its number, and tries the others with a stack in shared memory. */
__global__ void queens(int *total, int n) {
    __shared__ unsigned stack[12][4][64];
    int id = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, count = 0;
    unsigned all = (1u << n) - 1, down = 0, left = 0, right = 0;
    if (id >= n * n * n) return;
    for (int row = 0, rest = id; row < 3; row++, rest /= n) {
        unsigned q = 1u << rest % n;
        if (q & (down | left | right)) return;
        down |= q, left = (left | q) << 1, right = (right | q) >> 1;
    }
    int depth = 0;
    stack[0][0][t] = down, stack[0][1][t] = left, stack[0][2][t] = right, stack[0][3][t] = all & ~(down | left | right);
    while (depth >= 0) {
        unsigned options = stack[depth][3][t], q = options & -options;
        if (!options) {
            depth--;
            continue;
        }
        stack[depth][3][t] = options ^ q;
        if (depth == n - 4) {
            count++;
            continue;
        }
        down = stack[depth][0][t] | q, left = (stack[depth][1][t] | q) << 1, right = (stack[depth][2][t] | q) >> 1;
        depth++;
        stack[depth][0][t] = down, stack[depth][1][t] = left, stack[depth][2][t] = right;
        stack[depth][3][t] = all & ~(down | left | right);
    }
    if (count) atomicAdd(total, count);
}

/* Gradients through the norms of layers. */

template <int THREADS> __device__ float2 block_sum(float2 v) {
    __shared__ float2 part[THREADS / 32];
    for (int d = 16; d; d /= 2) {
        v.x += __shfl_xor_sync(~0u, v.x, d);
        v.y += __shfl_xor_sync(~0u, v.y, d);
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float2 total = {0, 0};
    for (int i = 0; i < THREADS / 32; i++) total.x += part[i].x, total.y += part[i].y;
    return total;
}

__global__ void layernorm_backward(const float *__restrict__ x, const float *__restrict__ dy,
                                   const float *__restrict__ gamma, const float *__restrict__ mean,
                                   const float *__restrict__ rstd, float *__restrict__ dx, int n) {
    size_t base = (size_t)blockIdx.x * n;
    float m = mean[blockIdx.x], r = rstd[blockIdx.x];
    float2 s = {0, 0};
    for (int i = threadIdx.x; i < n; i += 256) {
        float g = dy[base + i] * gamma[i];
        s.x += g;
        s.y += g * (x[base + i] - m) * r;
    }
    s = block_sum<256>(s);
    for (int i = threadIdx.x; i < n; i += 256) {
        float hat = (x[base + i] - m) * r;
        dx[base + i] = r * (dy[base + i] * gamma[i] - (s.x + hat * s.y) / n);
    }
}

__global__ void rmsnorm_backward(const float4 *__restrict__ x, const float4 *__restrict__ dy,
                                 const float4 *__restrict__ gamma, float4 *__restrict__ dx, int rows) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float4 a[HIDDEN / 128], g[HIDDEN / 128];
    float square = 0, dot = 0;
#pragma unroll
    for (int i = 0; i < HIDDEN / 128; i++) {
        a[i] = x[row * (HIDDEN / 4) + i * 32 + lane], g[i] = dy[row * (HIDDEN / 4) + i * 32 + lane];
        float4 w = gamma[i * 32 + lane];
        g[i].x *= w.x, g[i].y *= w.y, g[i].z *= w.z, g[i].w *= w.w;
        square += a[i].x * a[i].x + a[i].y * a[i].y + a[i].z * a[i].z + a[i].w * a[i].w;
        dot += a[i].x * g[i].x + a[i].y * g[i].y + a[i].z * g[i].z + a[i].w * g[i].w;
    }
    for (int d = 16; d; d >>= 1) {
        square += __shfl_xor_sync(~0u, square, d);
        dot += __shfl_xor_sync(~0u, dot, d);
    }
    float r = rsqrtf(square / HIDDEN + 1e-6f), f = r * r * dot / HIDDEN;
#pragma unroll
    for (int i = 0; i < HIDDEN / 128; i++)
        dx[row * (HIDDEN / 4) + i * 32 + lane] = make_float4(r * (g[i].x - a[i].x * f), r * (g[i].y - a[i].y * f),
                                                             r * (g[i].z - a[i].z * f), r * (g[i].w - a[i].w * f));
}

/* Fourier transforms of 256, after Stockham. */

__device__ __forceinline__ float2 times(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

__global__ void fft_radix2(const float2 *in, float2 *out, const float2 *twiddle) {
    __shared__ float2 buffer[2][FFT_N];
    int t = threadIdx.x, now = 0;
    buffer[0][t] = in[blockIdx.x * FFT_N + t];
    buffer[0][t + 128] = in[blockIdx.x * FFT_N + t + 128];
    __syncthreads();
    for (int s = 1; s < FFT_N; s *= 2) {
        float2 a = buffer[now][t], b = buffer[now][t + 128];
        int q = t % s, p = t / s;
        buffer[!now][q + 2 * p * s] = plus(a, b);
        buffer[!now][q + 2 * p * s + s] = times(minus(a, b), twiddle[p * s]);
        now = !now;
        __syncthreads();
    }
    out[blockIdx.x * FFT_N + t] = buffer[now][t];
    out[blockIdx.x * FFT_N + t + 128] = buffer[now][t + 128];
}

/* 4 transforms a block, 64 threads each. */
__global__ void __launch_bounds__(256)
    fft_radix4(const float2 *__restrict__ in, float2 *__restrict__ out, const float2 *__restrict__ twiddle) {
    __shared__ float2 buffer[4][FFT_N];
    int t = threadIdx.x, z = threadIdx.y;
    size_t base = ((size_t)blockIdx.x * 4 + z) * FFT_N;
    float2 v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = in[base + t + i * 64];
#pragma unroll
    for (int s = 1; s < FFT_N; s *= 4) {
        int q = t % s, ps = t - q;
        float2 even = plus(v[0], v[2]), odd = minus(v[0], v[2]), sum = plus(v[1], v[3]), turned = minus(v[1], v[3]);
        turned = make_float2(turned.y, -turned.x);
        v[0] = plus(even, sum);
        v[1] = times(plus(odd, turned), twiddle[ps]);
        v[2] = times(minus(even, sum), twiddle[2 * ps]);
        v[3] = times(minus(odd, turned), twiddle[3 * ps]);
        if (s == 64) break;
#pragma unroll
        for (int i = 0; i < 4; i++) buffer[z][q + 4 * ps + i * s] = v[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = buffer[z][t + i * 64];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) out[base + t + i * 64] = v[i];
}

/* A hash table with linear probes. */

__host__ __device__ __forceinline__ unsigned hashed(unsigned k) {
    k = (k ^ k >> 16) * 0x85ebca6bu;
    k = (k ^ k >> 13) * 0xc2b2ae35u;
    return (k ^ k >> 16) & (HASH_SLOTS - 1);
}

__global__ void hash_insert(const int *keys, int *table, int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = keys[i];
    unsigned slot = hashed(key);
    while (true) {
        int old = atomicCAS(&table[slot], HASH_EMPTY, key);
        if (old == HASH_EMPTY || old == key) break;
        slot = (slot + 1) & (HASH_SLOTS - 1);
    }
    values[slot] = i;
}

__global__ void hash_lookup(const int *__restrict__ queries, const int *__restrict__ table,
                            const int *__restrict__ values, int *__restrict__ found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = queries[i], result = -1, k;
    for (unsigned slot = hashed(key); (k = table[slot]) != HASH_EMPTY; slot = (slot + 1) & (HASH_SLOTS - 1))
        if (k == key) {
            result = values[slot];
            break;
        }
    found[i] = result;
}

static int blocks(int n, int size) { return (n + size - 1) / size; }
static float centred(size_t i) { return unit(i) - 0.5f; }

static int digit(size_t i) { return mixed(i) >> SHIFT & 15; }

static void setup_radix() {
    int *counts = (int *)calloc(DIGITS * RADIX_BLOCKS, sizeof(int)), sum = 0, base[DIGITS];
    if (!counts) exit(1);
    for (int i = 0; i < RADIX_N; i++) counts[digit(i) * RADIX_BLOCKS + i / RADIX_TILE]++;
    for (int i = 0; i < DIGITS * RADIX_BLOCKS; i++) {
        int c = counts[i];
        if (i % RADIX_BLOCKS == 0) base[i / RADIX_BLOCKS] = sum;
        counts[i] = sum;
        sum += c;
    }
    radix_first = filled<int>(DIGITS * RADIX_BLOCKS, [&](size_t i) { return counts[i]; });
    radix_bases = filled<int>(DIGITS, [&](size_t i) { return base[i]; });
    radix_cursor = zeroed<int>(DIGITS);
    radix_counts = zeroed<int>(DIGITS * RADIX_BLOCKS);
    radix_keys = filled<unsigned>(RADIX_N, mixed);
    radix_sorted = zeroed<unsigned>(RADIX_N);
    free(counts);
}

static char letter(size_t i) { return 'a' + mixed(i) % 4; }

static void setup_pictures_and_words() {
    inverse_in = filled<float>(INVERSES * 36, [](size_t i) { return centred(i) + (i % 36 % 7 == 0 ? 4 : 0); });
    inverse_out = zeroed<float>(INVERSES * 36);
    photo = filled<uchar4>(PHOTO_W * PHOTO_H, [](size_t i) {
        unsigned r = mixed(i);
        return make_uchar4(r, r >> 8, r >> 16, 255);
    });
    altered = zeroed<uchar4>(PHOTO_W * PHOTO_H);
    words_a = filled<char>(WORD_PAIRS * WORD_MAX, letter);
    words_b = filled<char>(WORD_PAIRS * WORD_MAX, [](size_t i) { return letter(i + (i % 5 == 0)); });
    word_lengths = filled<int2>(
        WORD_PAIRS, [](size_t i) { return make_int2(WORD_MAX - mixed(i) % 60, WORD_MAX - mixed(i + 7777) % 60); });
    distances = zeroed<int>(WORD_PAIRS);
    cells = filled<uint8_t>(LIFE_W * LIFE_H, [](size_t i) { return (uint8_t)(mixed(i) >> 7 & 1); });
    cells_next = zeroed<uint8_t>(LIFE_W * LIFE_H);
    packed = filled<unsigned>(LIFE_WORDS * LIFE_H, [](size_t i) {
        unsigned word = 0;
        for (int b = 0; b < 32; b++) word |= (mixed(i * 32 + b) >> 7 & 1) << b;
        return word;
    });
    packed_next = zeroed<unsigned>(LIFE_WORDS * LIFE_H);
}

static void setup_numbers() {
    inside = zeroed<unsigned long long>(1);
    payoffs = zeroed<float>(PATHS);
    collatz_best = zeroed<int>(1);
    queens_count = zeroed<int>(1);
    norm_x = filled<float>(ROWS * HIDDEN, unit);
    norm_dy = filled<float>(ROWS * HIDDEN, centred);
    norm_gamma = filled<float>(HIDDEN, unit);
    norm_dx = zeroed<float>(ROWS * HIDDEN);
    norm_mean = filled<float>(ROWS, [](size_t) { return 0.5f; });
    norm_rstd = filled<float>(ROWS, [](size_t) { return 3.4641f; });
    fft_in = filled<float2>(FFTS * FFT_N, [](size_t i) { return make_float2(centred(2 * i), centred(2 * i + 1)); });
    fft_out = zeroed<float2>(FFTS * FFT_N);
    twiddles = filled<float2>(FFT_N, [](size_t i) {
        double angle = -2 * 3.14159265358979 * i / FFT_N;
        return make_float2(cos(angle), sin(angle));
    });

    /* mixed() never gives the same twice. Every other query is of a key that is there. */
    hash_keys = filled<int>(HASH_KEYS, [](size_t i) { return (int)mixed(i); });
    hash_queries =
        filled<int>(HASH_KEYS, [](size_t i) { return (int)mixed(i % 2 ? i * 7 % HASH_KEYS : i + HASH_KEYS); });
    static int table[HASH_SLOTS], values[HASH_SLOTS];
    memset(table, 0xff, sizeof table);
    for (int i = 0; i < HASH_KEYS; i++) {
        unsigned slot = hashed(mixed(i));
        while (table[slot] != HASH_EMPTY) slot = (slot + 1) & (HASH_SLOTS - 1);
        table[slot] = (int)mixed(i);
        values[slot] = i;
    }
    hash_table = filled<int>(HASH_SLOTS, [](size_t i) { return table[i]; });
    hash_values = filled<int>(HASH_SLOTS, [](size_t i) { return values[i]; });
    hash_found = zeroed<int>(HASH_KEYS);
}

static void setup() {
    setup_radix();
    setup_pictures_and_words();
    setup_numbers();
}

static const fidelity_test tests[] = {
    COLD("radix/count", 1, radix_count<<<RADIX_BLOCKS, 128>>>(radix_keys, radix_counts, SHIFT)),
    COLD("radix/scatter, atomics", 1,
         cudaMemcpyAsync(radix_cursor, radix_bases, DIGITS * sizeof(int), cudaMemcpyDeviceToDevice);
         radix_scatter_atomic<<<blocks(RADIX_N, 256), 256>>>(radix_keys, radix_sorted, radix_cursor, RADIX_N, SHIFT)),
    COLD("radix/scatter, sorted tiles", 1,
         radix_scatter<<<RADIX_BLOCKS, RADIX_TILE>>>(radix_keys, radix_sorted, radix_first, SHIFT)),
    COLD("inverse 6 x 6/registers", 1,
         inverse_registers<<<blocks(INVERSES, 64), 64>>>(inverse_in, inverse_out, INVERSES)),
    COLD("inverse 6 x 6/shared", 1,
         inverse_shared<<<blocks(INVERSES, 8), dim3(6, 6, 8)>>>(inverse_in, inverse_out, INVERSES)),
    COLD("photograph/resize", 1,
         resize<<<dim3(blocks(SMALL_W, 16), blocks(SMALL_H, 16)), dim3(16, 16)>>>(photo, PHOTO_W, PHOTO_H, altered,
                                                                                  SMALL_W, SMALL_H)),
    COLD("photograph/rotate", 1,
         rotate<<<dim3(blocks(PHOTO_W, 32), blocks(PHOTO_H, 8)), dim3(32, 8)>>>(photo, PHOTO_W, PHOTO_H, altered,
                                                                                PHOTO_W, PHOTO_H, 0.5f, 0.8660254f)),
    WARM("edits/Levenshtein", 1,
         levenshtein<<<WORD_PAIRS, 128, 3 * 129 * sizeof(int)>>>(words_a, words_b, word_lengths, distances)),
    WARM("chance/pi", 1, cudaMemsetAsync(inside, 0, sizeof *inside); monte_carlo_pi<<<264, 128>>>(inside, 300)),
    WARM("chance/option on an average", 1,
         asian_option<<<blocks(PATHS, 96), 96>>>(payoffs, PATHS, 100.0f, 102.0f, 0.0003f, 0.03f)),
    COLD("life/bytes", 1,
         life_bytes<<<dim3(LIFE_W / 32, LIFE_H / 32), dim3(32, 32)>>>(cells, cells_next, LIFE_W, LIFE_H)),
    COLD("life/bytes, shared", 1,
         life_shared<<<dim3(LIFE_W / 64, LIFE_H / 16), dim3(64, 16)>>>(cells, cells_next, LIFE_W, LIFE_H)),
    COLD("life/bits", 1, life_bits<<<blocks(LIFE_WORDS *LIFE_H, 256), 256>>>(packed, packed_next, LIFE_WORDS, LIFE_H)),
    WARM("divergent/Collatz", 1, cudaMemsetAsync(collatz_best, 0, sizeof(int));
         collatz<<<132, 256>>>(collatz_best, HAILSTONES)),
    WARM("divergent/queens", 1, cudaMemsetAsync(queens_count, 0, sizeof(int));
         queens<<<blocks(QUEENS *QUEENS *QUEENS, 64), 64>>>(queens_count, QUEENS)),
    COLD("gradients of norms/LayerNorm", 1,
         layernorm_backward<<<ROWS, 256>>>(norm_x, norm_dy, norm_gamma, norm_mean, norm_rstd, norm_dx, HIDDEN)),
    COLD("gradients of norms/RMSNorm", 1,
         rmsnorm_backward<<<blocks(ROWS, 4), 128>>>((float4 *)norm_x, (float4 *)norm_dy, (float4 *)norm_gamma,
                                                    (float4 *)norm_dx, ROWS)),
    COLD("fourier 256/radix 2", 1, fft_radix2<<<FFTS, 128>>>(fft_in, fft_out, twiddles)),
    COLD("fourier 256/radix 4", 1, fft_radix4<<<FFTS / 4, dim3(64, 4)>>>(fft_in, fft_out, twiddles)),
    COLD("open addresses/insert", 1, cudaMemsetAsync(hash_table, 0xff, HASH_SLOTS * sizeof(int));
         hash_insert<<<blocks(HASH_KEYS, 256), 256>>>(hash_keys, hash_table, hash_values, HASH_KEYS)),
    WARM("open addresses/look up", 1,
         hash_lookup<<<blocks(HASH_KEYS, 640), 640>>>(hash_queries, hash_table, hash_values, hash_found, HASH_KEYS)),
};
FIDELITY_MAIN(setup, tests)
