/* lectures.cu — kernels as lectures give them, in families: softmax, attention, products of matrices, bodies, Fourier
 * transforms, integers, strings. See textbook.cu. */
#include "fidelity.h"

#include <math.h>

static float *fa, *fb, *fo; /* 16 M floats each */
static unsigned *ua, *uo;   /* 16 M words each */
enum { POOL = 1 << 24 };
static int up(int n, int d) { return (n + d - 1) / d; }
static unsigned char *bytes;

/* --- softmax of rows --- */
enum { SOFT_ROWS = 6000, SOFT = 1000 };
__device__ float block_max(float v, float *s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}
__device__ float block_sum(float v, float *s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}
__global__ void softmax_passes(const float *in, float *out, int n) {
    __shared__ float s[256];
    const float *x = in + (size_t)blockIdx.x * n;
    float *y = out + (size_t)blockIdx.x * n;
    float m = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, x[i]);
    m = block_max(m, s);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(x[i] - m);
    sum = block_sum(sum, s);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - m) / sum;
}
/* A warp a row. */
__global__ void softmax_online(const float *__restrict__ in, float *__restrict__ out, int rows, int n) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float *x = in + row * n;
    float m = -1e30f, sum = 0;
    for (int i = lane; i < n; i += 32) {
        float v = x[i], larger = fmaxf(m, v);
        sum = sum * __expf(m - larger) + __expf(v - larger);
        m = larger;
    }
    for (int d = 16; d > 0; d >>= 1) {
        float m2 = __shfl_xor_sync(0xffffffff, m, d), sum2 = __shfl_xor_sync(0xffffffff, sum, d);
        float larger = fmaxf(m, m2);
        sum = sum * __expf(m - larger) + sum2 * __expf(m2 - larger);
        m = larger;
    }
    float inverse = 1.0f / sum;
    for (int i = lane; i < n; i += 32) out[row * n + i] = __expf(x[i] - m) * inverse;
}
__global__ void __launch_bounds__(128) softmax_registers(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float s[4];
    float v[8], m = -INFINITY, sum = 0;
    in += blockIdx.x * SOFT;
    out += blockIdx.x * SOFT;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int i = k * 128 + threadIdx.x;
        v[k] = i < SOFT ? in[i] : -INFINITY;
        m = fmaxf(m, v[k]);
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(s[0], s[1]), fmaxf(s[2], s[3]));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        v[k] = __expf(v[k] - m);
        sum += v[k];
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    float scale = __fdividef(1.0f, s[0] + s[1] + s[2] + s[3]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int i = k * 128 + threadIdx.x;
        if (i < SOFT) out[i] = v[k] * scale;
    }
}

/* --- causal attention: 24 heads of 512 by 32 --- */
enum { HEADS = 24, LONG = 512, DEEP = 32 };
static float *scores;
__global__ void attention_scores(const float *q, const float *k, float *scores) {
    __shared__ float qs[16][DEEP + 1], ks[16][DEEP + 1];
    if (blockIdx.x > blockIdx.y) return; /* wholly masked */
    int head = blockIdx.z, tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    for (int d = tx; d < DEEP; d += 16) {
        qs[ty][d] = q[(head * LONG + row) * DEEP + d];
        ks[ty][d] = k[(head * LONG + blockIdx.x * 16 + ty) * DEEP + d];
    }
    __syncthreads();
    float dot = 0;
    for (int d = 0; d < DEEP; d++) dot += qs[ty][d] * ks[tx][d];
    scores[(head * LONG + row) * LONG + column] = column <= row ? dot * rsqrtf(DEEP) : -1e9f;
}
__global__ void attention_softmax(float *scores) {
    __shared__ float s[128];
    int row = blockIdx.x % LONG;
    float *p = scores + blockIdx.x * LONG;
    float m = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i <= row; i += 128) m = fmaxf(m, p[i]);
    m = block_max(m, s);
    for (int i = threadIdx.x; i <= row; i += 128) {
        float e = expf(p[i] - m);
        p[i] = e;
        sum += e;
    }
    sum = block_sum(sum, s);
    for (int i = threadIdx.x; i <= row; i += 128) p[i] /= sum;
}
__global__ void attention_values(const float *scores, const float *v, float *out) {
    int head = blockIdx.y, row = blockIdx.x * blockDim.y + threadIdx.y, d = threadIdx.x;
    const float *p = scores + (head * LONG + row) * LONG;
    float sum = 0;
    for (int j = 0; j <= row; j++) sum += p[j] * v[(head * LONG + j) * DEEP + d];
    out[(head * LONG + row) * DEEP + d] = sum;
}
static void attention_three() {
    attention_scores<<<dim3(LONG / 16, LONG / 16, HEADS), dim3(16, 16)>>>(fb, fb + (1 << 20), scores);
    attention_softmax<<<HEADS * LONG, 128>>>(scores);
    attention_values<<<dim3(LONG / 8, HEADS), dim3(32, 8)>>>(scores, fb + (2 << 20), fo);
}
/* A thread a query; keys and values come by tiles of 32. */
__global__ void __launch_bounds__(64) attention_fused(const float *__restrict__ q, const float *__restrict__ k,
                                                      const float *__restrict__ v, float *__restrict__ out) {
    __shared__ float4 ks[32][DEEP / 4], vs[32][DEEP / 4];
    int head = blockIdx.y, row = blockIdx.x * 64 + threadIdx.x;
    const float4 *k4 = (const float4 *)(k + head * LONG * DEEP), *v4 = (const float4 *)(v + head * LONG * DEEP);
    float query[DEEP], sum[DEEP], m = -1e30f, total = 0;
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        query[d] = q[(head * LONG + row) * DEEP + d] * 0.17677669f;
        sum[d] = 0;
    }
    int tiles = blockIdx.x * 2 + 2;
    for (int tile = 0; tile < tiles; tile++) {
        for (int i = threadIdx.x; i < 32 * DEEP / 4; i += 64) {
            (&ks[0][0])[i] = k4[tile * 32 * DEEP / 4 + i];
            (&vs[0][0])[i] = v4[tile * 32 * DEEP / 4 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            if (tile * 32 + j > row) break;
            float dot = 0;
#pragma unroll
            for (int d = 0; d < DEEP / 4; d++) {
                float4 e = ks[j][d];
                dot += query[4 * d] * e.x + query[4 * d + 1] * e.y + query[4 * d + 2] * e.z + query[4 * d + 3] * e.w;
            }
            float larger = fmaxf(m, dot), old = __expf(m - larger), p = __expf(dot - larger);
            total = total * old + p;
            m = larger;
#pragma unroll
            for (int d = 0; d < DEEP / 4; d++) {
                float4 e = vs[j][d];
                sum[4 * d] = sum[4 * d] * old + p * e.x;
                sum[4 * d + 1] = sum[4 * d + 1] * old + p * e.y;
                sum[4 * d + 2] = sum[4 * d + 2] * old + p * e.z;
                sum[4 * d + 3] = sum[4 * d + 3] * old + p * e.w;
            }
        }
        __syncthreads();
    }
    float4 *to = (float4 *)(out + (head * LONG + row) * DEEP);
#pragma unroll
    for (int d = 0; d < DEEP / 4; d++)
        to[d] = make_float4(sum[4 * d] / total, sum[4 * d + 1] / total, sum[4 * d + 2] / total, sum[4 * d + 3] / total);
}

/* --- product of matrices of 640 by 640 --- */
enum { MM = 640 };
__global__ void matmul_naive(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && column < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
}
__global__ void matmul_tile16(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16];
    __shared__ float bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / 16; m++) {
        as[ty][tx] = a[row * n + m * 16 + tx];
        bs[ty][tx] = b[(m * 16 + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
/* A tile of 32 by 32, by threads of W by W elements. */
template <int W>
__global__ void matmul_tile32(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    constexpr int T = 32 / W;
    __shared__ float as[32][33], bs[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * T + tx;
    const int row = blockIdx.y * 32, column = blockIdx.x * 32;
    float sum[W][W] = {};
    for (int k0 = 0; k0 < n; k0 += 32) {
#pragma unroll
        for (int i = t; i < 1024; i += T * T) {
            as[i / 32][i % 32] = a[(row + i / 32) * n + k0 + i % 32];
            bs[i / 32][i % 32] = b[(k0 + i / 32) * n + column + i % 32];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k++) {
            float x[W], y[W];
#pragma unroll
            for (int i = 0; i < W; i++) x[i] = as[ty + i * T][k];
#pragma unroll
            for (int j = 0; j < W; j++) y[j] = bs[k][tx + j * T];
#pragma unroll
            for (int i = 0; i < W; i++)
#pragma unroll
                for (int j = 0; j < W; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < W; i++)
        for (int j = 0; j < W; j++) c[(row + ty + i * T) * n + column + tx + j * T] = sum[i][j];
}
/* A tile of 64 by 64 by 256 threads, in steps of 16. */
__global__ void __launch_bounds__(256)
    matmul_float4(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float as[16][64 + 4];
    __shared__ float4 bs[16][16];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const float *from_a = a + (blockIdx.y * 64 + t / 4) * n + t % 4 * 4;
    const float *from_b = b + ty * n + blockIdx.x * 64 + tx * 4;
    float4 sum[4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        float4 va = *(const float4 *)(from_a + k0);
        as[t % 4 * 4 + 0][t / 4] = va.x;
        as[t % 4 * 4 + 1][t / 4] = va.y;
        as[t % 4 * 4 + 2][t / 4] = va.z;
        as[t % 4 * 4 + 3][t / 4] = va.w;
        bs[ty][tx] = *(const float4 *)(from_b + k0 * n);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 x = *(const float4 *)&as[k][ty * 4], y = bs[k][tx];
            const float xs[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[i].x += xs[i] * y.x;
                sum[i].y += xs[i] * y.y;
                sum[i].z += xs[i] * y.z;
                sum[i].w += xs[i] * y.w;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) *(float4 *)&c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] = sum[i];
}

/* --- forces of all pairs of 6144 bodies --- */
enum { BODIES = 6144 };
static float4 *bodies;
__device__ __forceinline__ void pull(float3 &f, float4 p, float4 q) {
    float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float s = q.w * inverse * inverse * inverse;
    f.x += dx * s;
    f.y += dy * s;
    f.z += dz * s;
}
__global__ void nbody_plain(const float4 *bodies, float4 *forces, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = bodies[i];
    float3 f = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) pull(f, p, bodies[j]);
    forces[i] = make_float4(f.x, f.y, f.z, 0);
}
__global__ void nbody_tile(const float4 *bodies, float4 *forces, int n) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = bodies[i];
    float3 f = {0.0f, 0.0f, 0.0f};
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < blockDim.x; j++) pull(f, p, tile[j]);
        __syncthreads();
    }
    forces[i] = make_float4(f.x, f.y, f.z, 0.0f);
}

/* --- Fourier transforms of 1024 points in shared memory --- */
enum { FOURIERS = 1300 };
static float2 *twiddles;
__device__ __forceinline__ float2 times(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__global__ void fft_radix2_in_place(const float2 *__restrict__ in, float2 *__restrict__ out,
                                    const float2 *__restrict__ twiddles) {
    __shared__ float2 s[1024];
    const int t = threadIdx.x;
    in += blockIdx.x * 1024;
    out += blockIdx.x * 1024;
    s[__brev(t) >> 22] = in[t];
    s[__brev(t + 512) >> 22] = in[t + 512];
    __syncthreads();
    for (int half = 1; half < 1024; half *= 2) {
        int k = t & (half - 1), i = 2 * t - k, j = i + half;
        float2 a = s[i], b = times(s[j], twiddles[k * (512 / half)]);
        s[i] = make_float2(a.x + b.x, a.y + b.y);
        s[j] = make_float2(a.x - b.x, a.y - b.y);
        __syncthreads();
    }
    out[t] = s[t];
    out[t + 512] = s[t + 512];
}
__global__ void fft_radix2(const float2 *in, float2 *out) {
    __shared__ float2 s[2][1024];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * 1024 + t];
    s[0][t + 512] = in[blockIdx.x * 1024 + t + 512];
    __syncthreads();
    for (int ns = 1; ns < 1024; ns *= 2) {
        int k = t % ns, j = t / ns * ns * 2 + k;
        float2 w;
        __sincosf(-3.14159265f * k / ns, &w.y, &w.x);
        float2 a = s[from][t], b = times(s[from][t + 512], w);
        s[1 - from][j] = make_float2(a.x + b.x, a.y + b.y);
        s[1 - from][j + ns] = make_float2(a.x - b.x, a.y - b.y);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 1024 + t] = s[from][t];
    out[blockIdx.x * 1024 + t + 512] = s[from][t + 512];
}
__global__ void fft_radix4(const float2 *__restrict__ in, float2 *__restrict__ out) {
    __shared__ float2 s[1024];
    const int t = threadIdx.x;
    float2 v[4];
#pragma unroll
    for (int r = 0; r < 4; r++) v[r] = in[blockIdx.x * 1024 + t + r * 256];
#pragma unroll
    for (int ns = 1; ns < 1024; ns *= 4) {
        int k = t & (ns - 1);
        if (ns > 1) {
            float2 w, power;
            __sincosf(-1.57079633f * k / ns, &w.y, &w.x);
            power = w;
#pragma unroll
            for (int r = 1; r < 4; r++) {
                v[r] = times(v[r], power);
                power = times(power, w);
            }
        }
        float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].x - v[3].x, v[1].y - v[3].y);
        int j = ((t - k) << 2) + k;
        v[0] = make_float2(a.x + c.x, a.y + c.y);
        v[1] = make_float2(b.x + d.y, b.y - d.x);
        v[2] = make_float2(a.x - c.x, a.y - c.y);
        v[3] = make_float2(b.x - d.y, b.y + d.x);
        if (ns == 256) break;
#pragma unroll
        for (int r = 0; r < 4; r++) s[j + r * ns] = v[r];
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; r++) v[r] = s[t + r * 256];
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++) out[blockIdx.x * 1024 + t + r * 256] = v[r];
}

/* --- integers and bits --- */
enum { HAMMING = 6000000, DRAWS = 100, POWERS = 100000, MESSAGES = 40000, MESSAGE = 200 };
static const unsigned PRIME = 2147483629u;
static unsigned *hits;
__device__ __forceinline__ int popc_by_hand(unsigned x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101u >> 24;
}
template <bool BY_HAND> __global__ void hamming(const unsigned *a, const unsigned *b, unsigned *total, int n) {
    unsigned count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = a[i] ^ b[i];
        count += BY_HAND ? popc_by_hand(x) : __popc(x);
    }
    for (int d = 16; d > 0; d /= 2) count += __shfl_down_sync(0xffffffff, count, d);
    if (threadIdx.x % 32 == 0) atomicAdd(total, count);
}
__global__ void pi_xorshift(unsigned *hits, int draws) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i * 2654435769u + 1, count = 0;
    for (int k = 0; k < draws; k++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        float u = (x >> 8) * (1.0f / 16777216);
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        float v = (x >> 8) * (1.0f / 16777216);
        if (u * u + v * v < 1.0f) count++;
    }
    hits[i] = count;
}
__global__ void pi_congruential(unsigned *hits, int draws) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    unsigned long long x = i * 2862933555777941757ull + 3037000493ull;
    for (int k = 0; k < draws; k++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        unsigned u = x >> 48, v = x >> 32 & 0xffff;
        if ((unsigned long long)u * u + (unsigned long long)v * v < 1ull << 32) count++;
    }
    hits[i] = count;
}
__global__ void modpow(const unsigned *bases, const unsigned *exponents, unsigned *out, int n, unsigned p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long b = bases[i] % p, r = 1;
    for (unsigned e = exponents[i]; e; e >>= 1) {
        if (e & 1) r = r * b % p;
        b = b * b % p;
    }
    out[i] = r;
}
__device__ __forceinline__ unsigned montgomery(unsigned a, unsigned b, unsigned p, unsigned inverse) {
    unsigned long long x = (unsigned long long)a * b;
    unsigned m = (unsigned)x * inverse;
    unsigned r = (x + (unsigned long long)m * p) >> 32;
    return r >= p ? r - p : r;
}
__global__ void modpow_montgomery(const unsigned *__restrict__ bases, const unsigned *__restrict__ exponents,
                                  unsigned *__restrict__ out, int n, unsigned p, unsigned inverse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned one = (1ull << 32) % p;
    unsigned b = ((unsigned long long)(bases[i] % p) << 32) % p, r = one, e = exponents[i];
#pragma unroll 4
    for (int k = 0; k < 32; k++) {
        unsigned next = montgomery(r, b, p, inverse);
        r = e >> k & 1 ? next : r;
        b = montgomery(b, b, p, inverse);
    }
    out[i] = montgomery(r, 1, p, inverse);
}
__constant__ unsigned crc_constant[256];
static unsigned *crc_global;
__global__ void crc_bits(const unsigned char *messages, unsigned *out, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned c = 0xffffffff;
    for (int k = 0; k < length; k++) {
        c ^= messages[i * length + k];
        for (int b = 0; b < 8; b++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    }
    out[i] = ~c;
}
__global__ void crc_table_constant(const unsigned char *messages, unsigned *out, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char *message = messages + i * length;
    unsigned c = 0xffffffff;
    for (int k = 0; k < length; k++) c = c >> 8 ^ crc_constant[(c ^ message[k]) & 255];
    out[i] = ~c;
}
__global__ void crc_table_shared(const unsigned *__restrict__ messages, unsigned *__restrict__ out,
                                 const unsigned *__restrict__ table, int n, int words) {
    __shared__ unsigned s[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) s[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned c = 0xffffffff;
    for (int k = 0; k < words; k++) {
        c ^= messages[i * words + k];
#pragma unroll
        for (int b = 0; b < 4; b++) c = c >> 8 ^ s[c & 255];
    }
    out[i] = ~c;
}

/* --- strings --- */
enum { TEXT = 8000000 };
static char *text;
static unsigned *found;
__constant__ char pattern[16];
__global__ void words_by_bytes(const char *text, int n, unsigned *words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool begins = i < n && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    int count = __syncthreads_count(begins);
    if (threadIdx.x == 0) atomicAdd(words, count);
}
__global__ void words_by_16(const uint4 *__restrict__ text, int n16, unsigned *__restrict__ words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (i < n16) {
        uint4 v = text[i];
        char before = i ? ((const char *)text)[16 * i - 1] : ' ';
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 16; k++) {
            char c = w[k / 4] >> k % 4 * 8;
            count += c != ' ' && before == ' ';
            before = c;
        }
    }
    for (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(~0u, count, d);
    if (threadIdx.x % 32 == 0) atomicAdd(words, count);
}
__global__ void match_plain(const char *text, int n, int length, unsigned *found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length > n) return;
    int k = 0;
    while (k < length && text[i + k] == pattern[k]) k++;
    if (k == length) atomicAdd(found, 1);
}
__global__ void match_shared(const char *__restrict__ text, int n, int length, unsigned *__restrict__ found) {
    __shared__ char tile[512 + 16];
    int start = blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512 + length; i += blockDim.x) tile[i] = start + i < n ? text[start + i] : 0;
    __syncthreads();
    bool same = true;
    for (int k = 0; k < length; k++) same &= tile[threadIdx.x + k] == pattern[k];
    if (same) atomicAdd(found, 1u);
}

static void setup() {
    fa = filled<float>(POOL, [](size_t i) { return unit(i); });
    fb = filled<float>(POOL, [](size_t i) { return unit(i + 77777777) - 0.5f; });
    ua = filled<unsigned>(POOL, [](size_t i) { return mixed(i + 5); });
    fo = zeroed<float>(POOL);
    uo = zeroed<unsigned>(POOL);
    bytes = filled<unsigned char>(8 << 20, [](size_t i) { return (unsigned char)mixed(i); });
    scores = zeroed<float>(HEADS * LONG * LONG);
    bodies = filled<float4>(BODIES, [](size_t i) {
        return make_float4(unit(4 * i) * 10, unit(4 * i + 1) * 10, unit(4 * i + 2) * 10, unit(4 * i + 3));
    });
    twiddles = filled<float2>(
        512, [](size_t k) { return make_float2((float)cos(k * M_PI / 512), (float)-sin(k * M_PI / 512)); });
    hits = zeroed<unsigned>(1 << 20);
    static unsigned crc[256];
    for (unsigned k = 0; k < 256; k++) {
        crc[k] = k;
        for (int b = 0; b < 8; b++) crc[k] = crc[k] & 1 ? crc[k] >> 1 ^ 0xedb88320 : crc[k] >> 1;
    }
    MUST(cudaMemcpyToSymbol(crc_constant, crc, sizeof crc));
    crc_global = filled<unsigned>(256, [](size_t k) { return crc[k]; });
    text = filled<char>(TEXT, [](size_t i) { return mixed(i / 2) % 7 == 0 ? ' ' : "etaoinshrd"[mixed(i) % 10]; });
    found = zeroed<unsigned>(16);
    MUST(cudaMemcpyToSymbol(pattern, "taint", 5));
}
static unsigned inverse_of_prime() { /* -1/p modulo 2**32 */
    unsigned x = 1;
    for (int k = 0; k < 5; k++) x *= 2 - PRIME * x;
    return -x;
}

static const fidelity_test tests[] = {
    COLD("textbook softmax/three passes, 6000x1000", 1, softmax_passes<<<SOFT_ROWS, 256>>>(fb, fo, SOFT)),
    COLD("textbook softmax/online warp a row, 6000x1000", 1,
         softmax_online<<<up(SOFT_ROWS, 4), dim3(32, 4)>>>(fb, fo, SOFT_ROWS, SOFT)),
    COLD("textbook softmax/registers, 6000x1000", 1, softmax_registers<<<SOFT_ROWS, 128>>>(fb, fo)),
    COLD("textbook attention/three launches, 24x512x32", 3, attention_three()),
    COLD("textbook attention/fused, 24x512x32", 1,
         attention_fused<<<dim3(LONG / 64, HEADS), 64>>>(fb, fb + (1 << 20), fb + (2 << 20), fo)),
    COLD("textbook matmul/naive, 640", 1, matmul_naive<<<dim3(MM / 32, MM / 8), dim3(32, 8)>>>(fa, fb, fo, MM)),
    COLD("textbook matmul/16x16 tile, 640", 1, matmul_tile16<<<dim3(MM / 16, MM / 16), dim3(16, 16)>>>(fa, fb, fo, MM)),
    COLD("textbook matmul/32x32 tile of 2x2, 640", 1,
         matmul_tile32<2><<<dim3(MM / 32, MM / 32), dim3(16, 16)>>>(fa, fb, fo, MM)),
    COLD("textbook matmul/32x32 tile of 4x4, 640", 1,
         matmul_tile32<4><<<dim3(MM / 32, MM / 32), dim3(8, 8)>>>(fa, fb, fo, MM)),
    COLD("textbook matmul/64x64 tile float4, 640", 1, matmul_float4<<<dim3(MM / 64, MM / 64), 256>>>(fa, fb, fo, MM)),
    WARM("textbook nbody/no tile, 6144", 1, nbody_plain<<<BODIES / 64, 64>>>(bodies, (float4 *)fo, BODIES)),
    COLD("textbook nbody/tile of 64, 6144", 1, nbody_tile<<<BODIES / 64, 64, 64 * 16>>>(bodies, (float4 *)fo, BODIES)),
    COLD("textbook nbody/tile of 256, 6144", 1,
         nbody_tile<<<BODIES / 256, 256, 256 * 16>>>(bodies, (float4 *)fo, BODIES)),
    COLD("textbook fft/radix 2 in place, 1300 of 1024", 1,
         fft_radix2_in_place<<<FOURIERS, 512>>>((float2 *)fb, (float2 *)fo, twiddles)),
    COLD("textbook fft/radix 2 sincos, 1300 of 1024", 1, fft_radix2<<<FOURIERS, 512>>>((float2 *)fb, (float2 *)fo)),
    COLD("textbook fft/radix 4, 1300 of 1024", 1, fft_radix4<<<FOURIERS, 256>>>((float2 *)fb, (float2 *)fo)),
    COLD("textbook hamming/popc, 6M", 1, hamming<false><<<528, 256>>>(ua, (unsigned *)fa, found + 8, HAMMING)),
    COLD("textbook hamming/by hand, 6M", 1, hamming<true><<<528, 256>>>(ua, (unsigned *)fa, found + 8, HAMMING)),
    COLD("textbook pi/xorshift, 270336x100", 1, pi_xorshift<<<1056, 256>>>(hits, DRAWS)),
    COLD("textbook pi/congruential, 270336x100", 1, pi_congruential<<<1056, 256>>>(hits, DRAWS)),
    COLD("textbook modpow/remainders, 100000", 1, modpow<<<up(POWERS, 128), 128>>>(ua, ua + POWERS, uo, POWERS, PRIME)),
    COLD("textbook modpow/Montgomery, 100000", 1,
         modpow_montgomery<<<up(POWERS, 128), 128>>>(ua, ua + POWERS, uo, POWERS, PRIME, inverse_of_prime())),
    COLD("textbook crc/bit by bit, 40000x200", 1, crc_bits<<<up(MESSAGES, 128), 128>>>(bytes, uo, MESSAGES, MESSAGE)),
    COLD("textbook crc/table in constant memory, 40000x200", 1,
         crc_table_constant<<<up(MESSAGES, 128), 128>>>(bytes, uo, MESSAGES, MESSAGE)),
    COLD("textbook crc/table in shared memory, 40000x200", 1,
         crc_table_shared<<<up(MESSAGES, 128), 128>>>((unsigned *)bytes, uo, crc_global, MESSAGES, MESSAGE / 4)),
    COLD("textbook words/byte a thread, 8M", 1, words_by_bytes<<<up(TEXT, 256), 256>>>(text, TEXT, found)),
    COLD("textbook words/16 bytes a thread, 8M", 1,
         words_by_16<<<up(TEXT / 16, 128), 128>>>((uint4 *)text, TEXT / 16, found)),
    COLD("textbook match/plain, 8M", 1, match_plain<<<up(TEXT, 512), 512>>>(text, TEXT, 5, found + 1)),
    COLD("textbook match/shared, 8M", 1, match_shared<<<up(TEXT, 512), 512>>>(text, TEXT, 5, found + 2)),
};
FIDELITY_MAIN(setup, tests)
