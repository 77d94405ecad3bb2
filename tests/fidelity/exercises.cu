/* exercises.cu — kernels of exercises, in families: double precision, threads that part, few blocks, arithmetic, rows
 * and columns, structures, chases, transposes, sums, a x + y. See textbook.cu. */
#include "fidelity.h"

#include <math.h>

static float *fa, *fb, *fo; /* 16 M floats each */
static unsigned *ua, *uo;   /* 16 M words each */
enum { POOL = 1 << 24 };
static int up(int n, int d) { return (n + d - 1) / d; }
static unsigned char *bytes;

/* --- fp64 --- */
enum { DOTTED = 3000000, DM = 2000, DN = 1500, POLYNOMIALS = 2000000 };
static double *da, *db, *dout; /* DOTTED each */
__global__ void dot_tree(const double *x, const double *y, double *partial, int n) {
    __shared__ double s[256];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i] * y[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
__global__ void dot_end(const double *partial, double *out, int n) {
    __shared__ double s[256];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += partial[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}
__global__ void dot_atomics(const double2 *__restrict__ x, const double2 *__restrict__ y, double *__restrict__ out,
                            int n2) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += blockDim.x * gridDim.x) {
        double2 a = x[i], b = y[i];
        sum += a.x * b.x + a.y * b.y;
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, sum);
}
__global__ void dmatvec_warp(const double *a, const double *x, double *y, int m, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= m) return;
    double sum = 0;
    for (int j = lane; j < n; j += 32) sum += a[row * n + j] * x[j];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0) y[row] = sum;
}
__global__ void dmatvec_block(const double *__restrict__ a, const double *__restrict__ x, double *__restrict__ y,
                              int n) {
    __shared__ double s[128];
    double sum = 0;
    for (int j = threadIdx.x; j < n; j += 128) sum += a[blockIdx.x * n + j] * x[j];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
__constant__ double coefficients[16];
__global__ void horner(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double v = x[i], p = coefficients[15];
#pragma unroll
        for (int k = 14; k >= 0; k--) p = p * v + coefficients[k];
        y[i] = p;
    }
}
__global__ void estrin(const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i], p[8];
    for (int k = 0; k < 8; k++) p[k] = coefficients[2 * k] + coefficients[2 * k + 1] * v;
    v *= v;
    for (int k = 0; k < 4; k++) p[k] = p[2 * k] + p[2 * k + 1] * v;
    v *= v;
    for (int k = 0; k < 2; k++) p[k] = p[2 * k] + p[2 * k + 1] * v;
    y[i] = p[0] + p[1] * (v * v);
}

/* --- threads that part --- */
enum { PARTED = 1 << 20, HAILSTONES = 400000 };
__global__ void branch_by_lane(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    if (threadIdx.x % 2) {
        for (int k = 0; k < 40; k++) v = v * v - 0.7f * v + 0.1f;
    } else {
        for (int k = 0; k < 40; k++) v = sqrtf(v + 0.5f);
    }
    out[i] = v;
}
__global__ void branch_by_warp(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    if (threadIdx.x / 32 % 2) {
        for (int k = 0; k < 40; k++) v = v * v - 0.7f * v + 0.1f;
    } else {
        for (int k = 0; k < 40; k++) v = sqrtf(v + 0.5f);
    }
    out[i] = v;
}
__global__ void branch_four_ways(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    switch (threadIdx.x & 3) {
    case 0:
        for (int k = 0; k < 40; k++) v = v * v - 0.7f * v + 0.1f;
        break;
    case 1:
        for (int k = 0; k < 40; k++) v = sqrtf(v + 0.5f);
        break;
    case 2:
        for (int k = 0; k < 40; k++) v = fminf(v * 1.7f, 1.7f - v * 1.7f);
        break;
    default:
        for (int k = 0; k < 40; k++) v = 1.0f / (1.0f + v);
    }
    out[i] = v;
}
__global__ void hailstones(const unsigned *starts, unsigned *steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = starts ? starts[i] % n + 1 : i + 1;
    unsigned count = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}
__global__ void recurrence(const unsigned char *trips, float *out, int n, int sorted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = sorted ? (int)((long long)i * 256 / n) : trips[i];
    float a = 0, b = 1;
    for (int k = 0; k < count; k++) {
        float c = 0.9f * a + 0.3f * b;
        a = b;
        b = c;
    }
    out[i] = b;
}

/* --- grids of few blocks: each block does the same work --- */
enum { PIECE = 20000 };
__global__ void few_blocks(const float *in, float *out, int n) {
    __shared__ float s[256];
    const float *mine = in + blockIdx.x * n;
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += mine[i] * mine[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sqrtf(s[0]);
}

/* --- long runs of fused multiply-adds --- */
template <int CHAINS> __global__ void multiply_add(float *out, float a, float b, int n) {
    float v[CHAINS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) v[c] = i * 1e-6f + c;
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) v[c] = fmaf(v[c], a, b);
    }
    float sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sum += v[c];
    out[i] = sum;
}

/* --- transcendental functions --- */
enum { WAVES = 1200000 };
__global__ void transcendental(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i] + 0.5f;
        y[i] = sinf(v) * expf(-v) + logf(v) * cosf(2 * v) + powf(v, 1.3f) + tanhf(v);
    }
}
__global__ void transcendental_fast(const float *__restrict__ x, float *__restrict__ y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float v = x[i] + 0.5f;
        y[i] = __sinf(v) * __expf(-v) + __logf(v) * __cosf(2 * v) + __powf(v, 1.3f) + 1 - 2 / (__expf(2 * v) + 1);
    }
}
/* The price of an option, by Black and Scholes. */
__global__ void black_scholes(const float *spot, const float *strike, float *call, float *put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float rate = 0.02f, sigma = 0.3f, years = 1.5f;
    float s = spot[i] * 50 + 5, x = (strike[i] + 0.5f) * 90 + 10;
    float root = sigma * sqrtf(years), d1 = (logf(s / x) + (rate + 0.5f * sigma * sigma) * years) / root;
    float c1 = normcdff(d1), c2 = normcdff(d1 - root), discounted = x * expf(-rate * years);
    call[i] = s * c1 - discounted * c2;
    put[i] = discounted * (1 - c2) - s * (1 - c1);
}

/* --- matrix times vector: 6000 by 1000 --- */
enum { VM = 6000, VN = 1000 };
__global__ void matvec_row_a_warp(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y,
                                  int m, int n) {
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (row >= m) return;
    float sum = 0;
#pragma unroll 4
    for (int j = lane; j < n; j += 32) sum = fmaf(a[row * n + j], x[j], sum);
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[row] = sum;
}
__global__ void matvec_row_a_thread(const float *a, const float *x, float *y, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    float sum = 0;
    for (int j = 0; j < n; j++) sum += a[row * n + j] * x[j];
    y[row] = sum;
}
/* The matrix by columns, so that neighbours in a warp read neighbours. */
__global__ void matvec_by_columns(const float *a, const float *x, float *y, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    float sum = 0;
    for (int j = 0; j < n; j++) sum += a[j * m + row] * x[j];
    y[row] = sum;
}

/* --- convolution in one dimension with 17 taps --- */
enum { SIGNAL = 4000000, RADIUS = 8 };
__constant__ float taps[2 * RADIUS + 1];
__global__ void convolve_plain(const float *in, const float *taps, float *out, int n, int radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -radius; k <= radius; k++)
        if (i + k >= 0 && i + k < n) sum += in[i + k] * taps[k + radius];
    out[i] = sum;
}
__global__ void convolve_constant(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < RADIUS || i >= n - RADIUS) {
        if (i < n) out[i] = 0;
        return;
    }
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) sum += in[i + k] * taps[k + RADIUS];
    out[i] = sum;
}
__global__ void convolve_shared(const float *in, float *out, int n) {
    __shared__ float s[256 + 2 * RADIUS];
    int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + RADIUS;
    s[t] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        s[t - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        s[t + 256] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) sum += s[t + k] * taps[k + RADIUS];
    if (i < n) out[i] = sum;
}

/* --- particles: an array of structures, a structure of arrays --- */
enum { PARTICLES = 1500000 };
struct particle {
    float x, y, z, vx, vy, vz, mass;
};
struct __align__(16) padded {
    float4 at, v;
};
__global__ void particles_aos(particle *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float f = i * 1e-6f;
        p[i].x = f;
        p[i].y = f + 1;
        p[i].z = f + 2;
        p[i].vx = -f;
        p[i].vy = 2 * f;
        p[i].vz = 3 * f;
        p[i].mass = 1.5f;
    }
}
__global__ void particles_padded(padded *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float f = i * 1e-6f;
        p[i].at = make_float4(f, f + 1, f + 2, 1.5f);
        p[i].v = make_float4(-f, 2 * f, 3 * f, 0);
    }
}
__global__ void particles_soa(float *x, float *y, float *z, float *vx, float *vy, float *vz, float *mass, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float f = i * 1e-6f;
        x[i] = f;
        y[i] = f + 1;
        z[i] = f + 2;
        vx[i] = -f;
        vy[i] = 2 * f;
        vz[i] = 3 * f;
        mass[i] = 1.5f;
    }
}
__global__ void energy_aos(const particle *p, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * p[i].mass * (p[i].vx * p[i].vx + p[i].vy * p[i].vy + p[i].vz * p[i].vz);
}

/* --- chases of pointers --- */
enum { RING_SHARED = 2048, RING_L2 = 1 << 20, RING_DRAM = 1 << 24 };
static unsigned *ring_l2, *ring_dram;
__global__ void chase(const unsigned *next, unsigned *out, unsigned stride, int steps) {
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    for (int k = 0; k < steps; k++) i = next[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
}
__global__ void chase_shared(unsigned *out, int steps) {
    __shared__ unsigned next[RING_SHARED];
    for (unsigned k = threadIdx.x; k < RING_SHARED; k += blockDim.x) next[k] = (k * 5 + 33) % RING_SHARED;
    __syncthreads();
    unsigned i = threadIdx.x;
    for (int k = 0; k < steps; k++) i = next[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
}

/* --- transposes of 2500 by 1900 --- */
enum { HIGH = 2500, WIDE = 1900 };
__global__ void transpose_naive(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
template <int PAD>
__global__ void transpose_tile(const float *__restrict__ in, float *__restrict__ out, int width, int height) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

/* --- sums of 6 M floats --- */
enum { SUMMED = 6000000 };
static float *total;
__global__ void sum_atomics(const float *in, float *total, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    atomicAdd(total, sum);
}
__global__ void sum_tree(const float *in, float *total, int n) {
    extern __shared__ float s2[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    s2[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s2[t] += s2[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, s2[0]);
}
__device__ __forceinline__ void sum_of_block(float sum, float *total) {
    __shared__ float s[32];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0) atomicAdd(total, sum);
    }
}
__global__ void sum_shuffles(const float *in, float *total, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum_of_block(sum, total);
}
__global__ void sum_float4(const float4 *__restrict__ in, float *__restrict__ total, int n4) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum_of_block(sum, total);
}

/* --- a x + y --- */
enum { AXPY = 7000000 };
__global__ void saxpy(int n, float a, float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void saxpy_strides(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] += a * x[i];
}
__global__ void saxpy_float4(int n4, float a, const float4 *__restrict__ x, float4 *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 u = x[i], v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
}

/* --- reading again what L2 holds --- */
__global__ void reread(const float4 *in, float *out, int n4, int times) {
    float sum = 0;
    int threads = gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < times; k++) {
        for (int i = (id + k * 1234 * 256) % threads; i < n4; i += threads) {
            float4 v = in[i];
            sum += v.x * v.y + v.z * v.w;
        }
    }
    out[id] = sum;
}
__global__ void smooth(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.25f * in[max(i - 1, 0)] + 0.5f * in[i] + 0.25f * in[min(i + 1, n - 1)];
}
static void smooth_thrice(int n) {
    smooth<<<up(n, 256), 256>>>(fa, fo, n);
    smooth<<<up(n, 256), 256>>>(fo, fo + n, n);
    smooth<<<up(n, 256), 256>>>(fo + n, fo, n);
}

/* One ring through n places that looks random: n is a power of two. */
static unsigned *ring(unsigned n) {
    return filled<unsigned>(n, [n](size_t i) { return ((unsigned)i * 1664525u + 1013904223u) & (n - 1); });
}
static float *taps_global, *axpy_y;
static particle *particles;
static void setup() {
    fa = filled<float>(POOL, [](size_t i) { return unit(i); });
    fb = filled<float>(POOL, [](size_t i) { return unit(i + 77777777) - 0.5f; });
    ua = filled<unsigned>(POOL, [](size_t i) { return mixed(i + 5); });
    fo = zeroed<float>(POOL);
    uo = zeroed<unsigned>(POOL);
    bytes = filled<unsigned char>(8 << 20, [](size_t i) { return (unsigned char)mixed(i); });
    double c[16];
    float t[2 * RADIUS + 1];
    for (int k = 0; k < 16; k++) c[k] = 1.0 / (1 + k * k);
    for (int k = -RADIUS; k <= RADIUS; k++) t[k + RADIUS] = expf(-k * k / 20.0f) / 8;
    MUST(cudaMemcpyToSymbol(coefficients, c, sizeof c));
    MUST(cudaMemcpyToSymbol(taps, t, sizeof t));
    taps_global = filled<float>(2 * RADIUS + 1, [&t](size_t i) { return t[i]; });
    da = filled<double>(DOTTED, [](size_t i) { return unit(i) - 0.25; });
    db = filled<double>(DOTTED, [](size_t i) { return unit(i + 31) * 0.5; });
    dout = zeroed<double>(DOTTED);
    total = zeroed<float>(16);
    axpy_y = filled<float>(AXPY, [](size_t i) { return unit(i + 4242); });
    particles = zeroed<particle>(PARTICLES);
    ring_l2 = ring(RING_L2);
    ring_dram = ring(RING_DRAM);
}

static const fidelity_test tests[] = {
    COLD("textbook fp64 dot/tree two launches, 3M", 2, dot_tree<<<264, 256>>>(da, db, dout, DOTTED);
         dot_end<<<1, 256>>>(dout, dout + 1000, 264)),
    COLD("textbook fp64 dot/atomics a warp, 3M", 1,
         dot_atomics<<<528, 128>>>((double2 *)da, (double2 *)db, dout + 1001, DOTTED / 2)),
    COLD("textbook fp64 matvec/row a warp, 2000x1500", 1,
         dmatvec_warp<<<up(DM * 32, 256), 256>>>(da, db, dout, DM, DN)),
    WARM("textbook fp64 matvec/row a block, 2000x1500", 1, dmatvec_block<<<DM, 128>>>(da, db, dout, DN)),
    COLD("textbook fp64 polynomial/Horner, 2M", 1, horner<<<up(POLYNOMIALS, 256), 256>>>(da, dout, POLYNOMIALS)),
    COLD("textbook fp64 polynomial/Estrin, 2M", 1, estrin<<<up(POLYNOMIALS, 256), 256>>>(da, dout, POLYNOMIALS)),
    COLD("textbook branch/by lane, 1M", 1, branch_by_lane<<<PARTED / 256, 256>>>(fa, fo, PARTED)),
    COLD("textbook branch/by warp, 1M", 1, branch_by_warp<<<PARTED / 256, 256>>>(fa, fo, PARTED)),
    COLD("textbook branch/four ways, 1M", 1, branch_four_ways<<<PARTED / 256, 256>>>(fa, fo, PARTED)),
    COLD("textbook hailstones/in order, 400000", 1, hailstones<<<up(HAILSTONES, 192), 192>>>(NULL, uo, HAILSTONES)),
    COLD("textbook hailstones/mixed, 400000", 1, hailstones<<<up(HAILSTONES, 192), 192>>>(ua, uo, HAILSTONES)),
    COLD("textbook trips/sorted, 1M", 1, recurrence<<<PARTED / 128, 128>>>(bytes, fo, PARTED, 1)),
    COLD("textbook trips/mixed, 1M", 1, recurrence<<<PARTED / 128, 128>>>(bytes, fo, PARTED, 0)),
    COLD("textbook few/1 block, 20000 each", 1, few_blocks<<<1, 256>>>(fa, fo, PIECE)),
    COLD("textbook few/8 blocks, 20000 each", 1, few_blocks<<<8, 256>>>(fa, fo, PIECE)),
    COLD("textbook few/33 blocks, 20000 each", 1, few_blocks<<<33, 256>>>(fa, fo, PIECE)),
    COLD("textbook few/132 blocks, 20000 each", 1, few_blocks<<<132, 256>>>(fa, fo, PIECE)),
    COLD("textbook multiply-add/1 chain 64 threads, 132x6000", 1,
         multiply_add<1><<<132, 64>>>(fo, 0.999f, 0.001f, 6000)),
    COLD("textbook multiply-add/1 chain 1024 threads, 132x6000", 1,
         multiply_add<1><<<132, 1024>>>(fo, 0.999f, 0.001f, 6000)),
    COLD("textbook multiply-add/8 chains 256 threads, 264x2048", 1,
         multiply_add<8><<<264, 256>>>(fo, 0.999f, 0.001f, 2048)),
    COLD("textbook transcendental/accurate, 1.2M", 1, transcendental<<<up(WAVES, 256), 256>>>(fa, fo, WAVES)),
    COLD("textbook transcendental/fast, 1.2M", 1, transcendental_fast<<<660, 256>>>(fa, fo, WAVES)),
    COLD("textbook transcendental/Black-Scholes, 1.2M", 1,
         black_scholes<<<up(WAVES, 128), 128>>>(fa, fb, fo, fo + WAVES, WAVES)),
    COLD("textbook matvec/row a warp, 6000x1000", 1, matvec_row_a_warp<<<up(VM, 8), 256>>>(fa, fb, fo, VM, VN)),
    COLD("textbook matvec/row a thread, 6000x1000", 1, matvec_row_a_thread<<<up(VM, 64), 64>>>(fa, fb, fo, VM, VN)),
    COLD("textbook matvec/by columns, 6000x1000", 1, matvec_by_columns<<<up(VM, 64), 64>>>(fa, fb, fo, VM, VN)),
    COLD("textbook convolution/plain, 4M", 1,
         convolve_plain<<<up(SIGNAL, 256), 256>>>(fa, taps_global, fo, SIGNAL, RADIUS)),
    COLD("textbook convolution/constant memory, 4M", 1, convolve_constant<<<up(SIGNAL, 256), 256>>>(fa, fo, SIGNAL)),
    COLD("textbook convolution/shared memory, 4M", 1, convolve_shared<<<up(SIGNAL, 256), 256>>>(fa, fo, SIGNAL)),
    COLD("textbook particles/store structures of 28 B, 1.5M", 1,
         particles_aos<<<up(PARTICLES, 256), 256>>>(particles, PARTICLES)),
    COLD("textbook particles/store structures of 2 float4, 1.5M", 1,
         particles_padded<<<up(PARTICLES, 256), 256>>>((padded *)fo, PARTICLES)),
    COLD("textbook particles/store arrays, 1.5M", 1,
         particles_soa<<<up(PARTICLES, 256), 256>>>(fo, fo + PARTICLES, fo + 2 * PARTICLES, fo + 3 * PARTICLES,
                                                    fo + 4 * PARTICLES, fo + 5 * PARTICLES, fo + 6 * PARTICLES,
                                                    PARTICLES)),
    COLD("textbook particles/read 4 of 7 fields, 1.5M", 1,
         energy_aos<<<up(PARTICLES, 256), 256>>>(particles, fo, PARTICLES)),
    COLD("textbook chase/shared memory 1 warp, 2000", 1, chase_shared<<<1, 32>>>(uo, 2000)),
    WARM("textbook chase/4 MB 1 thread, 400", 1, chase<<<1, 1>>>(ring_l2, uo, 1, 400)),
    COLD("textbook chase/64 MB 1 thread, 200", 1, chase<<<1, 1>>>(ring_dram, uo, 1, 200)),
    COLD("textbook chase/64 MB 132 warps, 100", 1, chase<<<132, 32>>>(ring_dram, uo, 3971, 100)),
    COLD("textbook transpose/naive, 2500x1900", 1,
         transpose_naive<<<dim3(up(WIDE, 32), up(HIGH, 8)), dim3(32, 8)>>>(fa, fo, WIDE, HIGH)),
    COLD("textbook transpose/tile of 32x32, 2500x1900", 1,
         transpose_tile<0><<<dim3(up(WIDE, 32), up(HIGH, 32)), dim3(32, 8)>>>(fa, fo, WIDE, HIGH)),
    COLD("textbook transpose/tile of 32x33, 2500x1900", 1,
         transpose_tile<1><<<dim3(up(WIDE, 32), up(HIGH, 32)), dim3(32, 8)>>>(fa, fo, WIDE, HIGH)),
    COLD("textbook sum/atomic a thread, 6M", 1, sum_atomics<<<264, 256>>>(fa, total, SUMMED)),
    COLD("textbook sum/tree in shared memory, 6M", 1,
         sum_tree<<<up(SUMMED, 512), 256, 256 * sizeof(float)>>>(fa, total + 1, SUMMED)),
    COLD("textbook sum/shuffles, 6M", 1, sum_shuffles<<<264, 512>>>(fa, total + 2, SUMMED)),
    COLD("textbook sum/float4, 6M", 1, sum_float4<<<264, 256>>>((float4 *)fa, total + 3, SUMMED / 4)),
    COLD("textbook saxpy/blocks of 64, 7M", 1, saxpy<<<up(AXPY, 64), 64>>>(AXPY, 2.0f, fa, axpy_y)),
    COLD("textbook saxpy/blocks of 1024, 7M", 1, saxpy<<<up(AXPY, 1024), 1024>>>(AXPY, 2.0f, fa, axpy_y)),
    COLD("textbook saxpy/strides of 528x256, 7M", 1, saxpy_strides<<<528, 256>>>(AXPY, 2.0f, fa, axpy_y)),
    COLD("textbook saxpy/float4, 7M", 1,
         saxpy_float4<<<up(AXPY / 4, 256), 256>>>(AXPY / 4, 2.0f, (float4 *)fa, (float4 *)axpy_y)),
    WARM("textbook reread/4 MB 12 times", 1, reread<<<264, 256>>>((float4 *)fa, fo, 1 << 18, 12)),
    WARM("textbook reread/16 MB 3 times", 1, reread<<<264, 256>>>((float4 *)fa, fo, 1 << 20, 3)),
    WARM("textbook reread/smooth thrice, 1M", 3, smooth_thrice(1000000)),
};
FIDELITY_MAIN(setup, tests)
