// The functions of CUDA's math API in device code, against the host: each is computed for a range of arguments by one
// thread per argument, and by the host's libm or a plain formula. Prints what differs by more than the tolerance, then
// `N functions agree`.
#include <cuda_runtime.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { POINTS = 256 };

__device__ double x_of(int t) { return (t - 100) * 0.0625 + 0.01; }
static double host_x(int t) { return (t - 100) * 0.0625 + 0.01; }

static double *results;
static int agree, differ;

static double *run(void (*kernel)(double *), const char *name) {
    static double got[POINTS];
    kernel<<<1, POINTS>>>(results);
    if (cudaMemcpy(got, results, sizeof got, cudaMemcpyDeviceToHost)) {
        printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
    return got;
}

static void compare(const char *name, const double *got, double (*want)(double), double tolerance) {
    for (int t = 0; t < POINTS; t++) {
        double w = want(host_x(t)), g = got[t];
        if (g == w || (g != g && w != w) || std::fabs(g - w) <= tolerance * std::fabs(w) || std::fabs(g - w) < 2e-45)
            continue;
        printf("%s(%g): %.17g, want %.17g\n", name, host_x(t), g, w);
        differ++;
        return;
    }
    agree++;
}

// NAME(x) in double and in float; the host's formula for both.
#define CHECK(NAME, DEVICE, DEVICE_F, HOST)                                                                            \
    {                                                                                                                  \
        struct both {                                                                                                  \
            static __device__ double d(double x) { return DEVICE; }                                                    \
            static __device__ float f(float x) { return DEVICE_F; }                                                    \
            static double host(double x) { return HOST; }                                                              \
            static double host_f(double y) {                                                                           \
                float x = (float)y;                                                                                    \
                return (float)(HOST);                                                                                  \
            }                                                                                                          \
        };                                                                                                             \
        compare(NAME, run(kernel_d<both>, NAME), both::host, 2e-14);                                                   \
        compare(NAME "f", run(kernel_f<both>, NAME "f"), both::host_f, 4e-7);                                          \
    }
template <class B> __global__ void kernel_d(double *out) { out[threadIdx.x] = B::d(x_of((int)threadIdx.x)); }
template <class B> __global__ void kernel_f(double *out) { out[threadIdx.x] = B::f((float)x_of((int)threadIdx.x)); }

// An intrinsic with a direction of rounding, bit for bit against the host in that direction.
#define ROUNDED(NAME, T, CALL, MODE, HOST)                                                                             \
    {                                                                                                                  \
        struct one {                                                                                                   \
            static __device__ T f(T x) { return CALL; }                                                                \
            static double host(double y) {                                                                             \
                volatile T x = (T)y, third = 3;                                                                        \
                fesetround(MODE);                                                                                      \
                volatile T r = HOST;                                                                                   \
                fesetround(FE_TONEAREST);                                                                              \
                (void)third;                                                                                           \
                return (double)r;                                                                                      \
            }                                                                                                          \
        };                                                                                                             \
        compare(NAME, run(kernel_t<one, T>, NAME), one::host, 0);                                                      \
    }
template <class B, class T> __global__ void kernel_t(double *out) {
    out[threadIdx.x] = (double)B::f((T)x_of((int)threadIdx.x));
}
#define ROUNDED_ALL(SUFFIX, MODE)                                                                                      \
    ROUNDED("__fadd_" #SUFFIX, float, __fadd_##SUFFIX(x, 1e9f), MODE, x + 1e9f)                                        \
    ROUNDED("__fsub_" #SUFFIX, float, __fsub_##SUFFIX(x, 1e9f), MODE, x - 1e9f)                                        \
    ROUNDED("__fmul_" #SUFFIX, float, __fmul_##SUFFIX(x, x), MODE, x *x)                                               \
    ROUNDED("__fdiv_" #SUFFIX, float, __fdiv_##SUFFIX(x, 3), MODE, x / third)                                          \
    ROUNDED("__frcp_" #SUFFIX, float, __frcp_##SUFFIX(x), MODE, 1 / x)                                                 \
    ROUNDED("__fsqrt_" #SUFFIX, float, __fsqrt_##SUFFIX(x), MODE, std::sqrt(x))                                        \
    ROUNDED("__fmaf_" #SUFFIX, float, __fmaf_##SUFFIX(x, x, x), MODE, std::fma(x, x, x))                               \
    ROUNDED("__dadd_" #SUFFIX, double, __dadd_##SUFFIX(x, 1e9), MODE, x + 1e9)                                         \
    ROUNDED("__dsub_" #SUFFIX, double, __dsub_##SUFFIX(x, 1e9), MODE, x - 1e9)                                         \
    ROUNDED("__dmul_" #SUFFIX, double, __dmul_##SUFFIX(x, x), MODE, x *x)                                              \
    ROUNDED("__ddiv_" #SUFFIX, double, __ddiv_##SUFFIX(x, 3), MODE, x / third)                                         \
    ROUNDED("__drcp_" #SUFFIX, double, __drcp_##SUFFIX(x), MODE, 1 / x)                                                \
    ROUNDED("__dsqrt_" #SUFFIX, double, __dsqrt_##SUFFIX(x), MODE, std::sqrt(x))                                       \
    ROUNDED("__fma_" #SUFFIX, double, __fma_##SUFFIX(x, x, x), MODE, std::fma(x, x, x))                                \
    ROUNDED("__float2int_" #SUFFIX, float, (float)__float2int_##SUFFIX(x), MODE, (float)lrintf(x))                     \
    ROUNDED("__float2ll_" #SUFFIX, float, (float)__float2ll_##SUFFIX(x), MODE, (float)lrintf(x))                       \
    ROUNDED("__double2int_" #SUFFIX, double, __double2int_##SUFFIX(x), MODE, (double)lrint(x))                         \
    ROUNDED("__double2ll_" #SUFFIX, double, (double)__double2ll_##SUFFIX(x), MODE, (double)lrint(x))                   \
    ROUNDED("__double2uint_" #SUFFIX, double, __double2uint_##SUFFIX(x), MODE,                                         \
            x < -1 || lrint(x) < 0 ? 0.0 : (double)lrint(x))                                                           \
    ROUNDED("__int2float_" #SUFFIX, double, __int2float_##SUFFIX((int)(x * 65536) * 137), MODE,                        \
            (float)(volatile int){(int)(x * 65536) * 137})                                                             \
    ROUNDED("__ll2double_" #SUFFIX, double, __ll2double_##SUFFIX((long long)(x * 0x1p40) * 12345677), MODE,            \
            (double)(volatile long long){(long long)(x * 0x1p40) * 12345677})                                          \
    ROUNDED("__double2float_" #SUFFIX, double, __double2float_##SUFFIX(x), MODE, (float)x)

// Whole numbers: device against a formula, on words made of the thread's number.
__host__ __device__ inline uint32_t word(int t, uint32_t k) {
    return (uint32_t)(t + 1) * 0x9E3779B9u * (k * 2 + 1) ^ (uint32_t)t << 24;
}
#define WHOLE(NAME, DEVICE, HOST)                                                                                      \
    {                                                                                                                  \
        struct one {                                                                                                   \
            static __device__ double f(int t) {                                                                        \
                uint32_t a = word(t, 1), b = word(t, 2), c = word(t, 3);                                               \
                (void)a, (void)b, (void)c;                                                                             \
                return (double)(DEVICE);                                                                               \
            }                                                                                                          \
            static double host(double x) {                                                                             \
                int t = (int)std::lrint((x - 0.01) / 0.0625) + 100;                                                    \
                uint32_t a = word(t, 1), b = word(t, 2), c = word(t, 3);                                               \
                (void)a, (void)b, (void)c;                                                                             \
                return (double)(HOST);                                                                                 \
            }                                                                                                          \
        };                                                                                                             \
        compare(NAME, run(kernel_w<one>, NAME), one::host, 0);                                                         \
    }
template <class B> __global__ void kernel_w(double *out) { out[threadIdx.x] = B::f((int)threadIdx.x); }

template <class F> static uint32_t lanes(int bits, uint32_t a, uint32_t b, bool is_signed, F f) {
    uint32_t all = 0;
    for (int i = 0; i < 32; i += bits) {
        int64_t x = a >> i & ((1u << bits) - 1), y = b >> i & ((1u << bits) - 1), top = (int64_t)1 << (bits - 1);
        if (is_signed) x = (x ^ top) - top, y = (y ^ top) - top;
        all |= ((uint32_t)f(x, y) & ((1u << bits) - 1)) << i;
    }
    return all;
}
static int64_t limit(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }
#define LANES(N, BITS)                                                                                                 \
    WHOLE("__vadd" #N, __vadd##N(a, b), lanes(BITS, a, b, false, [](int64_t x, int64_t y) { return x + y; }))          \
    WHOLE("__vsub" #N, __vsub##N(a, b), lanes(BITS, a, b, false, [](int64_t x, int64_t y) { return x - y; }))          \
    WHOLE("__vaddss" #N, __vaddss##N(a, b), lanes(BITS, a, b, true, [](int64_t x, int64_t y) {                         \
              return limit(x + y, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1);                                          \
          }))                                                                                                          \
    WHOLE("__vsubus" #N, __vsubus##N(a, b),                                                                            \
          lanes(BITS, a, b, false, [](int64_t x, int64_t y) { return limit(x - y, 0, (1 << BITS) - 1); }))             \
    WHOLE("__vabsdiffu" #N, __vabsdiffu##N(a, b),                                                                      \
          lanes(BITS, a, b, false, [](int64_t x, int64_t y) { return std::abs(x - y); }))                              \
    WHOLE("__vabsdiffs" #N, __vabsdiffs##N(a, b),                                                                      \
          lanes(BITS, a, b, true, [](int64_t x, int64_t y) { return std::abs(x - y); }))                               \
    WHOLE("__vavgu" #N, __vavgu##N(a, b),                                                                              \
          lanes(BITS, a, b, false, [](int64_t x, int64_t y) { return (x + y + 1) / 2; }))                              \
    WHOLE("__vmaxs" #N, __vmaxs##N(a, b), lanes(BITS, a, b, true, [](int64_t x, int64_t y) { return x > y ? x : y; })) \
    WHOLE("__vminu" #N, __vminu##N(a, b),                                                                              \
          lanes(BITS, a, b, false, [](int64_t x, int64_t y) { return x < y ? x : y; }))                                \
    WHOLE("__vcmpgts" #N, __vcmpgts##N(a, b),                                                                          \
          lanes(BITS, a, b, true, [](int64_t x, int64_t y) { return x > y ? -1 : 0; }))                                \
    WHOLE("__vseteq" #N, __vseteq##N(a, b &a),                                                                         \
          lanes(BITS, a, b &a, false, [](int64_t x, int64_t y) { return x == y; }))                                    \
    WHOLE("__vabs" #N, __vabs##N(a), lanes(BITS, a, b, true, [](int64_t x, int64_t) { return std::abs(x); }))          \
    WHOLE("__vnegss" #N, __vnegss##N(a), lanes(BITS, a, b, true, [](int64_t x, int64_t) {                              \
              return limit(-x, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1);                                             \
          }))

static int64_t bytes(uint32_t a, uint32_t b, bool is_signed) {
    int64_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum +=
            is_signed ? (int64_t)(int8_t)(a >> i) * (int8_t)(b >> i) : (int64_t)(uint8_t)(a >> i) * (uint8_t)(b >> i);
    return sum;
}

// The integral that defines it; the midpoint rule is exact to the last digits for a periodic function.
static double host_i0(double x) {
    double sum = 0;
    for (int i = 0; i < 200; i++) sum += std::exp(x * std::cos(M_PI * (i + 0.5) / 200));
    return sum / 200;
}
static double host_modf(double x) {
    double w;
    return std::modf(x, &w) + w * 1000;
}
static double host_frexp(double x) {
    int e;
    double m = std::frexp(x, &e);
    return m + e * 1000;
}
static double host_remquo(double x) {
    int q;
    double r = std::remquo(x, 0.75, &q);
    return r + (q % 8) * 1000;
}
__device__ double device_modf(double x) {
    double w, f = modf(x, &w);
    return f + w * 1000;
}
__device__ double device_frexp(double x) {
    int e;
    double m = frexp(x, &e);
    return m + e * 1000;
}
__device__ double device_remquo(double x) {
    int q;
    double r = remquo(x, 0.75, &q);
    return r + (q % 8) * 1000;
}
__device__ float device_remquof(float x) {
    int q;
    float r = remquof(x, 0.75f, &q);
    return r + (float)(q % 8) * 1000;
}
__device__ float device_modff(float x) {
    float w, f = modff(x, &w);
    return f + w * 1000;
}
__device__ float device_frexpf(float x) {
    int e;
    float m = frexpf(x, &e);
    return m + (float)e * 1000;
}

static void functions() {
#define SAME(NAME) CHECK(#NAME, NAME(x), NAME##f(x), std::NAME(x))
    SAME(sin);
    SAME(cos);
    SAME(tan);
    SAME(atan);
    SAME(sinh);
    SAME(cosh);
    SAME(tanh);
    SAME(asinh);
    SAME(acosh);
    SAME(exp);
    SAME(exp2);
    SAME(expm1);
    SAME(log);
    SAME(log2);
    SAME(log10);
    SAME(log1p);
    SAME(cbrt);
    SAME(erf);
    SAME(erfc);
    SAME(tgamma);
    SAME(sqrt);
    SAME(floor);
    SAME(ceil);
    SAME(trunc);
    SAME(rint);
    SAME(round);
    SAME(nearbyint);
    SAME(fabs);
    SAME(logb);
    CHECK("asin", asin(x / 16), asinf(x / 16), std::asin(x / 16));
    CHECK("acos", acos(x / 16), acosf(x / 16), std::acos(x / 16));
    CHECK("atanh", atanh(x / 16), atanhf(x / 16), std::atanh(x / 16));
    CHECK("exp10", exp10(x), exp10f(x), std::pow(10.0, x));
    CHECK("rsqrt", rsqrt(x), rsqrtf(x), 1 / std::sqrt((double)x));
    CHECK("rcbrt", rcbrt(x), rcbrtf(x), 1 / std::cbrt((double)x));
    CHECK("sinpi", sinpi(x), sinpif(x), std::sin(M_PI * std::remainder((double)x, 2)));
    CHECK("erfinv", erfinv(erf(x / 8)), erfinvf(erff(x / 8)), std::fabs(x) > 14 ? NAN : x / 8);
    CHECK("normcdf", normcdf(x), normcdff(x), std::erfc(-x / std::sqrt(2.0)) / 2);
    CHECK("normcdfinv", normcdfinv(normcdf(x / 8 - 3)), normcdfinvf(normcdff(x / 8 - 3)), x / 8 - 3);
    CHECK("erfcx", erfcx(fabs(x)), erfcxf(fabsf(x)), std::exp((double)x * x) * std::erfc(std::fabs((double)x)));
    CHECK("j0", j0(x), j0f(x), ::j0(x));
    CHECK("y1", y1(x), y1f(x), ::y1(x));
    CHECK("jn", jn(3, x), jnf(3, x), ::jn(3, x));
    CHECK("cyl_bessel_i0", cyl_bessel_i0(x), cyl_bessel_i0f(x), host_i0(x));
    CHECK("pow", pow(fabs(x), 1.5), powf(fabsf(x), 1.5f), std::pow(std::fabs((double)x), 1.5));
    CHECK("atan2", atan2(x, 0.5), atan2f(x, 0.5f), std::atan2((double)x, 0.5));
    CHECK("fmod", fmod(x, 0.75), fmodf(x, 0.75f), std::fmod((double)x, 0.75));
    CHECK("remainder", remainder(x, 0.75), remainderf(x, 0.75f), std::remainder((double)x, 0.75));
    CHECK("hypot", hypot(x, 3.0), hypotf(x, 3.0f), std::hypot((double)x, 3.0));
    CHECK("rhypot", rhypot(x, 3.0), rhypotf(x, 3.0f), 1 / std::hypot((double)x, 3.0));
    CHECK("fdim", fdim(x, 1.5), fdimf(x, 1.5f), std::fdim((double)x, 1.5));
    CHECK("nextafter", nextafter(x, 9.0), nextafterf(x, 9.0f), std::nextafter(x, (decltype(x + 0))9));
    CHECK("ldexp", ldexp(x, -1040), ldexpf(x, -140), std::ldexp(x, sizeof x == 8 ? -1040 : -140));
    CHECK("norm3d", norm3d(x, 2.0, 3.0), norm3df(x, 2.0f, 3.0f), std::sqrt((double)x * x + 13));
    CHECK("rnorm4d", rnorm4d(x, 2.0, 3.0, 1.0), rnorm4df(x, 2.0f, 3.0f, 1.0f), 1 / std::sqrt((double)x * x + 14));
    CHECK("ilogb", (double)ilogb(x), (float)ilogbf(x), (double)std::ilogb((double)x));
    CHECK("modf", device_modf(x), device_modff(x), host_modf(x));
    CHECK("frexp", device_frexp(x), device_frexpf(x), host_frexp(x));
    CHECK("remquo", device_remquo(x), device_remquof(x), host_remquo(x));
    CHECK("llrint", (double)llrint(x), (float)llrintf(x), (double)std::llrint((double)x));
#undef SAME
}

static double to_the_end(double x) { return x; }
__global__ void inverse(double *out) { out[threadIdx.x] = x_of((int)threadIdx.x); }

int main() {
    cudaMalloc(&results, POINTS * sizeof(double));
    functions();
    compare("x", run(inverse, "x"), to_the_end, 0);
    ROUNDED("x - __fmul_rn", float, x - __fmul_rn(x, x), FE_TONEAREST, x - (volatile float){x * x})
    ROUNDED("x + __fmul_rn", float, x + __fmul_rn(-x, x), FE_TONEAREST, x - (volatile float){x * x})
    ROUNDED("__dmul_rn - x", double, __dmul_rn(x, x) - x, FE_TONEAREST, (volatile double){x * x} - x)
    ROUNDED("x + __dmul_rn", double, x + __dmul_rn(-x, x), FE_TONEAREST, x - (volatile double){x * x})
    ROUNDED_ALL(rn, FE_TONEAREST)
    ROUNDED_ALL(rz, FE_TOWARDZERO)
    ROUNDED_ALL(ru, FE_UPWARD)
    ROUNDED_ALL(rd, FE_DOWNWARD)
    LANES(2, 16)
    LANES(4, 8)
    WHOLE("__vsadu4", __vsadu4(a, b),
          bytes(lanes(8, a, b, false, [](int64_t x, int64_t y) { return std::abs(x - y); }), 0x01010101, false))
    WHOLE("__dp4a", __dp4a((int)a, (int)b, (int)c), (int32_t)(uint32_t)(bytes(a, b, true) + c))
    WHOLE("__dp4a unsigned", __dp4a(a, b, c), (uint32_t)(bytes(a, b, false) + c))
    WHOLE("__dp2a_hi", __dp2a_hi((int)a, (int)b, (int)c),
          (int32_t)((uint32_t)((int16_t)a * (int8_t)(b >> 16) + (int16_t)(a >> 16) * (int8_t)(b >> 24)) + c))
    WHOLE("__mulhi", __mulhi((int)a, (int)b), (int32_t)((int64_t)(int32_t)a * (int32_t)b >> 32))
    WHOLE("__umulhi", __umulhi(a, b), (uint32_t)((uint64_t)a * b >> 32))
    WHOLE("__umul64hi", __umul64hi((unsigned long long)a << 32 | b, (unsigned long long)c << 32),
          (uint64_t)((unsigned __int128)((uint64_t)a << 32 | b) * ((uint64_t)c << 32) >> 64))
    WHOLE("__uhadd", __uhadd(a, b), ((uint64_t)a + b) / 2)
    WHOLE("__rhadd", __rhadd((int)a, (int)b), ((int64_t)(int32_t)a + (int32_t)b + 1) >> 1)
    WHOLE("__usad", __usad(a, b, c), (uint32_t)(c + (a > b ? a - b : b - a)))
    WHOLE("__byte_perm", __byte_perm(a, b, 0x5410), (a & 0xffff) | b << 16)
    WHOLE("__funnelshift_lc", __funnelshift_lc(a, b, c & 63),
          (uint32_t)((((uint64_t)b << 32 | a) << ((c & 63) > 32 ? 32 : c & 63)) >> 32))
    WHOLE("__funnelshift_rc", __funnelshift_rc(a, b, c & 63),
          (uint32_t)(((uint64_t)b << 32 | a) >> ((c & 63) > 32 ? 32 : c & 63)))
    WHOLE("__fns", __fns(a, 0, (int)(c % 5) + 1), ([](uint32_t v, int n) {
              for (int i = 0; i < 32; i++)
                  if (v >> i & 1 && --n == 0) return (uint32_t)i;
              return ~0u;
          })(a, (int)(c % 5) + 1))
    WHOLE("__reduce_add_sync", __reduce_add_sync(~0u, (unsigned)t), 32 * (t / 32 * 32) + 31 * 16)
    WHOLE("__reduce_min_sync", __reduce_min_sync(~0u, -t), -(t / 32 * 32 + 31))
    WHOLE("__reduce_xor_sync", __reduce_xor_sync(~0u, 1u << t % 32), ~0u)
    printf("%d functions agree, %d differ\n", agree, differ);
    return differ != 0;
}
