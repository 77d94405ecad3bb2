/* science.cu — n-body, FFT, Monte Carlo, finance, fractals, double precision, transcendental functions. */
#include "fidelity.h"

enum { BODIES = 4096, N = 1 << 20 };
static float4 *bodies, *forces;
static float *a, *b;
static float2 *z, *w;
static double *d, *e;

__device__ float3 pull(float4 me, float4 other, float3 f) {
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = other.w * r * r * r;
    return make_float3(f.x + dx * s, f.y + dy * s, f.z + dz * s);
}
__global__ void nbody(const float4 *p, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) f = pull(me, p[j], f);
    out[i] = make_float4(f.x, f.y, f.z, 0);
}
__global__ void nbody_shared(const float4 *p, float4 *out, int n) {
    __shared__ float4 s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += 128) {
        s[threadIdx.x] = p[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; j++) f = pull(me, s[j], f);
        __syncthreads();
    }
    out[i] = make_float4(f.x, f.y, f.z, 0);
}
__global__ void nbody_careful(const float4 *p, float4 *out, int n) { /* sqrt and a division, as first written */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float x = 0, y = 0;
    for (int j = 0; j < n; j++) {
        float dx = p[j].x - me.x, dy = p[j].y - me.y, r = sqrtf(dx * dx + dy * dy + 0.01f);
        x += p[j].w * dx / (r * r * r);
        y += p[j].w * dy / (r * r * r);
    }
    out[i] = make_float4(x, y, 0, 0);
}
/* --- FFT --- */
__global__ void fft_block(const float2 *in, float2 *out) { /* 1024 points in shared memory, radix 2 */
    __shared__ float2 s[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 512) s[__brev(i) >> 22] = in[blockIdx.x * 1024 + i];
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads();
        int k = t % half, i = (t / half) * 2 * half + k;
        float angle = -3.14159265f * k / half, c = __cosf(angle), sn = __sinf(angle);
        float2 x = s[i], y = s[i + half], m = make_float2(y.x * c - y.y * sn, y.x * sn + y.y * c);
        s[i] = make_float2(x.x + m.x, x.y + m.y);
        s[i + half] = make_float2(x.x - m.x, x.y - m.y);
    }
    __syncthreads();
    for (int i = t; i < 1024; i += 512) out[blockIdx.x * 1024 + i] = s[i];
}
__global__ void fft_stage(const float2 *in, float2 *out, int half) { /* a stage in global memory, precise sincos */
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = t % half, i = (t / half) * 2 * half + k;
    float c, s;
    sincosf(-3.14159265f * k / half, &s, &c);
    float2 x = in[i], y = in[i + half], m = make_float2(y.x * c - y.y * s, y.x * s + y.y * c);
    out[i] = make_float2(x.x + m.x, x.y + m.y);
    out[i + half] = make_float2(x.x - m.x, x.y - m.y);
}
__global__ void dft(const float *in, float2 *out, int n) { /* the sum itself */
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    float re = 0, im = 0;
    for (int t = 0; t < n; t++) {
        float angle = 6.2831853f * ((k * t) & (n - 1)) / n;
        re += in[t] * __cosf(angle);
        im -= in[t] * __sinf(angle);
    }
    out[k] = make_float2(re, im);
}
/* --- Monte Carlo, finance, fractals --- */
__global__ void pi(unsigned *hits, int rounds) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x + 1, n = 0;
    for (int i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
        float u = (x >> 8) * (1 / 16777216.0f);
        x = x * 1664525u + 1013904223u;
        float v = (x >> 8) * (1 / 16777216.0f);
        if (u * u + v * v < 1) n++;
    }
    atomicAdd(hits, n);
}
__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
__global__ void black_scholes(const float *price, float *call, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 50 + 50 * price[i], k = 80, t = 1, r = 0.02f, v = 0.3f, root = sqrtf(t);
    float d1 = (logf(s / k) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
    call[i] = s * normal(d1) - k * expf(-r * t) * normal(d2);
}
__global__ void walk(const float *in, float *out, int steps) { /* random walks by Box and Muller */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = i * 747796405u + 1;
    float p = in[i] + 1;
    for (int k = 0; k < steps; k++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        float u = ((x >> 9) + 1) * (1 / 8388609.0f), g = sqrtf(-2 * logf(u)) * cosf(6.2831853f * (x & 1023) / 1024);
        p *= expf(0.001f + 0.01f * g);
    }
    out[i] = p;
}
__global__ void mandelbrot(unsigned char *out, int w, int h, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = 0;
    float cr = -2.0f + 3.0f * x / w, ci = -1.0f + 2.0f * y / h, zr = 0, zi = 0;
    while (i < limit && zr * zr + zi * zi < 4) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        i++;
    }
    out[y * w + x] = i;
}
__global__ void logistic(const float *in, float *out, int rounds) { /* a long chain of multiplications and additions */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int k = 0; k < rounds; k++) x = 3.7f * x * (1 - x);
    out[i] = x;
}
__global__ void polynomial(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y = 1;
#pragma unroll
    for (int k = 1; k <= 64; k++) y = y * x + 1.0f / k;
    out[i] = y;
}
__global__ void newton(const float *in, float *out) { /* cube roots: a division in each round */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float c = in[i] + 1, x = c;
    for (int k = 0; k < 12; k++) x = (2 * x + c / (x * x)) / 3;
    out[i] = x;
}
/* --- transcendental functions --- */
__global__ void waves(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] * 10;
    out[i] = sinf(x) * cosf(2 * x) + sinf(3 * x);
}
__global__ void waves_fast(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] * 10;
    out[i] = __sinf(x) * __cosf(2 * x) + __sinf(3 * x);
}
__global__ void powers(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] + 0.5f;
    out[i] = powf(x, 1.7f) + log2f(x) * exp2f(-x) + atan2f(x, 2.0f);
}
__global__ void mixture(const float *in, float *out,
                        int rounds) { /* special functions beside arithmetic, again and again */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], s = 0;
    for (int k = 0; k < rounds; k++) {
        s += __expf(-x * x) + __logf(1.5f + x) * 0.3f;
        x = x * 0.9f + 0.05f * s;
    }
    out[i] = s;
}
/* --- double precision --- */
__global__ void daxpy(const double *x, double *y, double f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += f * x[i];
}
__global__ void horner(const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i], s = 1;
#pragma unroll 8
    for (int k = 0; k < 64; k++) s = s * v + 0.5;
    y[i] = s;
}
__global__ void roots(const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = sqrt(x[i] + 1) / (x[i] + 2);
}
__global__ void exponentials(const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = exp(-x[i]) * sin(x[i]);
}
__global__ void nbody_double(const double *p, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double f = 0, me = p[i];
    for (int j = 0; j < n; j++) {
        double dx = p[j] - me;
        f += dx / (dx * dx + 0.01);
    }
    out[i] = f;
}

static void setup() {
    bodies = filled<float4>(BODIES, [](size_t i) { return make_float4(unit(i), unit(i + 9999), unit(i + 77777), 1); });
    forces = zeroed<float4>(BODIES);
    a = filled<float>(2 * N, unit), b = zeroed<float>(2 * N);
    z = filled<float2>(N, [](size_t i) { return make_float2(unit(i), 0); }), w = zeroed<float2>(N);
    d = filled<double>(N, [](size_t i) { return (double)unit(i); }), e = zeroed<double>(N);
}

static const fidelity_test tests[] = {
    COLD("nbody/from global memory, 4096", 1, nbody<<<BODIES / 128, 128>>>(bodies, forces, BODIES)),
    COLD("nbody/from shared memory, 4096", 1, nbody_shared<<<BODIES / 128, 128>>>(bodies, forces, BODIES)),
    COLD("nbody/sqrt and division, 2048", 1, nbody_careful<<<16, 128>>>(bodies, forces, 2048)),
    COLD("nbody/double, 1024", 1, nbody_double<<<8, 128>>>(d, e, 1024)),
    COLD("fft/1024 points a block, 2^19", 1, fft_block<<<512, 512>>>(z, w)),
    COLD("fft/a stage, near, 2^20", 1, fft_stage<<<2048, 256>>>(z, w, 16)),
    COLD("fft/a stage, far, 2^20", 1, fft_stage<<<2048, 256>>>(z, w, 1 << 18)),
    COLD("fft/plain sum, 2048", 1, dft<<<16, 128>>>(a, w, 2048)),
    COLD("science/pi", 1, pi<<<528, 256>>>((unsigned *)b, 512)),
    COLD("science/Black and Scholes, 2^20", 1, black_scholes<<<4096, 256>>>(a, b, N)),
    COLD("science/random walks, 2^16", 1, walk<<<256, 256>>>(a, b, 64)),
    COLD("science/Mandelbrot, 1024 x 512", 1,
         mandelbrot<<<dim3(64, 32), dim3(16, 16)>>>((unsigned char *)b, 1024, 512, 200)),
    COLD("science/logistic map, 1 block", 1, logistic<<<1, 256>>>(a, b, 4096)),
    COLD("science/logistic map, 2^18", 1, logistic<<<1024, 256>>>(a, b, 512)),
    COLD("science/polynomial, 2^21", 1, polynomial<<<8192, 256>>>(a, b)),
    COLD("science/Newton, 2^20", 1, newton<<<4096, 256>>>(a, b)),
    COLD("functions/sin and cos, 2^21", 1, waves<<<8192, 256>>>(a, b)),
    COLD("functions/fast sin and cos, 2^21", 1, waves_fast<<<8192, 256>>>(a, b)),
    COLD("functions/powers, 2^21", 1, powers<<<8192, 256>>>(a, b)),
    COLD("functions/mixture, 2^18", 1, mixture<<<1024, 256>>>(a, b, 64)),
    COLD("double/daxpy, 2^20", 1, daxpy<<<4096, 256>>>(d, e, 1.5, N)),
    COLD("double/Horner, 2^20", 1, horner<<<4096, 256>>>(d, e)),
    COLD("double/roots, 2^20", 1, roots<<<4096, 256>>>(d, e)),
    COLD("double/exp and sin, 2^20", 1, exponentials<<<4096, 256>>>(d, e)),
};
FIDELITY_MAIN(setup, tests)
