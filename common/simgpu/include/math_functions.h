/* math_functions.h — arithmetic for device code.
 *
 * If a GPU has an instruction for a function (sqrt, fma, min, floor, conversions), the function compiles to it. The
 * others (sin, exp, pow, ...) call functions with the names of NVIDIA's device library (__nv_sinf ...), which SimGPU
 * has built in. The intrinsics, whose names begin with __, are in device_intrinsics.h. Include this file before
 * <math.h>, so that C++'s constexpr overloads do not hide the device's. Included by cuda_runtime.h. */
#ifndef SIMGPU_MATH_FUNCTIONS_H
#define SIMGPU_MATH_FUNCTIONS_H

#define SIMGPU_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#define SIMGPU_BOTH   static __inline__ __attribute__((always_inline, nodebug, unused)) __host__ __device__

/* --- one argument: f(float), f(double), and the C++ overload ------------------------------------------------ */

#define SIMGPU_ONE(name, body_f, body_d)                                                                               \
    SIMGPU_DEVICE float name##f(float x) { return body_f(x); }                                                         \
    SIMGPU_DEVICE double name(double x) { return body_d(x); }                                                          \
    SIMGPU_DEVICE float name(float x) { return body_f(x); }
#define SIMGPU_ONE_CALL(name)                                                                                          \
    extern "C" __device__ float __nv_##name##f(float) __attribute__((const));                                          \
    extern "C" __device__ double __nv_##name(double) __attribute__((const));                                           \
    SIMGPU_ONE(name, __nv_##name##f, __nv_##name)

SIMGPU_ONE(fabs, __builtin_fabsf, __builtin_fabs)
SIMGPU_ONE(sqrt, __nvvm_sqrt_rn_f, __nvvm_sqrt_rn_d)
SIMGPU_ONE(floor, __builtin_floorf, __builtin_floor)
SIMGPU_ONE(ceil, __builtin_ceilf, __builtin_ceil)
SIMGPU_ONE(trunc, __builtin_truncf, __builtin_trunc)
SIMGPU_ONE(rint, __builtin_rintf, __builtin_rint)
SIMGPU_ONE(nearbyint, __builtin_nearbyintf, __builtin_nearbyint)
SIMGPU_ONE(round, __builtin_roundf, __builtin_round)
SIMGPU_ONE_CALL(sin)
SIMGPU_ONE_CALL(cos)
SIMGPU_ONE_CALL(tan)
SIMGPU_ONE_CALL(asin)
SIMGPU_ONE_CALL(acos)
SIMGPU_ONE_CALL(atan)
SIMGPU_ONE_CALL(sinh)
SIMGPU_ONE_CALL(cosh)
SIMGPU_ONE_CALL(tanh)
SIMGPU_ONE_CALL(asinh)
SIMGPU_ONE_CALL(acosh)
SIMGPU_ONE_CALL(atanh)
SIMGPU_ONE_CALL(exp)
SIMGPU_ONE_CALL(exp2)
SIMGPU_ONE_CALL(expm1)
SIMGPU_ONE_CALL(log)
SIMGPU_ONE_CALL(log2)
SIMGPU_ONE_CALL(log10)
SIMGPU_ONE_CALL(log1p)
SIMGPU_ONE_CALL(cbrt)
SIMGPU_ONE_CALL(erf)
SIMGPU_ONE_CALL(erfc)
SIMGPU_ONE_CALL(tgamma)
SIMGPU_ONE_CALL(lgamma)
SIMGPU_ONE_CALL(rcbrt)
SIMGPU_ONE_CALL(sinpi)
SIMGPU_ONE_CALL(cospi)
SIMGPU_ONE_CALL(erfinv)
SIMGPU_ONE_CALL(erfcinv)
SIMGPU_ONE_CALL(erfcx)
SIMGPU_ONE_CALL(normcdf)
SIMGPU_ONE_CALL(normcdfinv)
SIMGPU_ONE_CALL(j0)
SIMGPU_ONE_CALL(j1)
SIMGPU_ONE_CALL(y0)
SIMGPU_ONE_CALL(y1)
SIMGPU_ONE_CALL(cyl_bessel_i0)
SIMGPU_ONE_CALL(cyl_bessel_i1)
SIMGPU_ONE_CALL(logb)
#undef SIMGPU_ONE_CALL
#undef SIMGPU_ONE

extern "C" __device__ float __nv_exp10f(float) __attribute__((const));
extern "C" __device__ double __nv_exp10(double) __attribute__((const));
SIMGPU_DEVICE float exp10f(float x) { return __nv_exp10f(x); }
SIMGPU_DEVICE double exp10(double x) { return __nv_exp10(x); }
SIMGPU_DEVICE float exp10(float x) { return __nv_exp10f(x); }
SIMGPU_DEVICE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
SIMGPU_DEVICE float rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
extern "C" __device__ double __nv_rsqrt(double) __attribute__((const));
SIMGPU_DEVICE double rsqrt(double x) { return __nv_rsqrt(x); } /* rsqrt.approx.f64 has 20 bits only */

/* --- two arguments ------------------------------------------------------------------------------------------ */

#define SIMGPU_TWO(name, body_f, body_d)                                                                               \
    SIMGPU_DEVICE float name##f(float x, float y) { return body_f(x, y); }                                             \
    SIMGPU_DEVICE double name(double x, double y) { return body_d(x, y); }                                             \
    SIMGPU_DEVICE float name(float x, float y) { return body_f(x, y); }
#define SIMGPU_TWO_CALL(name)                                                                                          \
    extern "C" __device__ float __nv_##name##f(float, float) __attribute__((const));                                   \
    extern "C" __device__ double __nv_##name(double, double) __attribute__((const));                                   \
    SIMGPU_TWO(name, __nv_##name##f, __nv_##name)

SIMGPU_TWO(fmin, __builtin_fminf, __builtin_fmin)
SIMGPU_TWO(fmax, __builtin_fmaxf, __builtin_fmax)
SIMGPU_TWO(copysign, __builtin_copysignf, __builtin_copysign)
SIMGPU_TWO_CALL(pow)
SIMGPU_TWO_CALL(fmod)
SIMGPU_TWO_CALL(remainder)
SIMGPU_TWO_CALL(atan2)
SIMGPU_TWO_CALL(hypot)
SIMGPU_TWO_CALL(rhypot)
SIMGPU_TWO_CALL(nextafter)
SIMGPU_TWO_CALL(fdim)
#undef SIMGPU_TWO_CALL
#undef SIMGPU_TWO

SIMGPU_DEVICE double pow(double x, int y) { return __nv_pow(x, (double)y); }
SIMGPU_DEVICE float pow(float x, int y) { return __nv_powf(x, (float)y); }
/* The second argument is an int. */
#define SIMGPU_INT(name, call)                                                                                         \
    extern "C" __device__ float __nv_##call##f(float, int) __attribute__((const));                                     \
    extern "C" __device__ double __nv_##call(double, int) __attribute__((const));                                      \
    SIMGPU_DEVICE float name##f(float x, int n) { return __nv_##call##f(x, n); }                                       \
    SIMGPU_DEVICE double name(double x, int n) { return __nv_##call(x, n); }                                           \
    SIMGPU_DEVICE float name(float x, int n) { return __nv_##call##f(x, n); }
SIMGPU_INT(ldexp, ldexp)
SIMGPU_INT(scalbn, ldexp)
#undef SIMGPU_INT
SIMGPU_DEVICE float scalblnf(float x, long n) { return ldexpf(x, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n); }
SIMGPU_DEVICE double scalbln(double x, long n) { return ldexp(x, n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n); }
extern "C" __device__ double __nv_jn(double, int) __attribute__((const));
extern "C" __device__ double __nv_yn(double, int) __attribute__((const));
SIMGPU_DEVICE float jnf(int n, float x) { return (float)__nv_jn(x, n); }
SIMGPU_DEVICE double jn(int n, double x) { return __nv_jn(x, n); }
SIMGPU_DEVICE float ynf(int n, float x) { return (float)__nv_yn(x, n); }
SIMGPU_DEVICE double yn(int n, double x) { return __nv_yn(x, n); }

/* --- lengths, and results through pointers ------------------------------------------------------------------ */

SIMGPU_DEVICE double norm3d(double a, double b, double c) { return __nv_hypot(__nv_hypot(a, b), c); }
SIMGPU_DEVICE double norm4d(double a, double b, double c, double d) {
    return __nv_hypot(__nv_hypot(a, b), __nv_hypot(c, d));
}
SIMGPU_DEVICE float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
SIMGPU_DEVICE float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
SIMGPU_DEVICE double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
SIMGPU_DEVICE double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
SIMGPU_DEVICE float rnorm3df(float a, float b, float c) { return (float)(1 / norm3d(a, b, c)); }
SIMGPU_DEVICE float rnorm4df(float a, float b, float c, float d) { return (float)(1 / norm4d(a, b, c, d)); }
SIMGPU_DEVICE double norm(int n, const double *p) {
    double length = 0;
    for (int i = 0; i < n; i++) length = __nv_hypot(length, p[i]);
    return length;
}
SIMGPU_DEVICE float normf(int n, const float *p) {
    double length = 0;
    for (int i = 0; i < n; i++) length = __nv_hypot(length, p[i]);
    return (float)length;
}
SIMGPU_DEVICE double rnorm(int n, const double *p) { return 1 / norm(n, p); }
SIMGPU_DEVICE float rnormf(int n, const float *p) { return 1 / normf(n, p); }

SIMGPU_DEVICE int ilogb(double x) {
    return x == 0 || x != x ? (int)0x80000000 : __builtin_isinf(x) ? 0x7fffffff : (int)__nv_logb(x);
}
SIMGPU_DEVICE int ilogbf(float x) { return ilogb((double)x); }
SIMGPU_DEVICE double frexp(double x, int *e) {
    *e = x == 0 || x - x != 0 ? 0 : (int)__nv_logb(x) + 1;
    return *e ? __nv_ldexp(x, -*e) : x;
}
SIMGPU_DEVICE float frexpf(float x, int *e) { return (float)frexp((double)x, e); }
SIMGPU_DEVICE double modf(double x, double *whole) {
    *whole = __builtin_trunc(x);
    return __builtin_copysign(__builtin_isinf(x) ? 0 : x - *whole, x);
}
SIMGPU_DEVICE float modff(float x, float *whole) {
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(__builtin_isinf(x) ? 0 : x - *whole, x);
}
/* *quotient has the sign of x / y and the last three bits of its nearest integer. */
SIMGPU_DEVICE double remquo(double x, double y, int *quotient) {
    double rest = __nv_remainder(x, y), of_eight = __nv_fmod(__builtin_fabs(x), 8 * __builtin_fabs(y));
    double signed_rest = (x < 0) != (rest < 0) ? -__builtin_fabs(rest) : __builtin_fabs(rest);
    int n = (int)__builtin_rint((of_eight - signed_rest) / __builtin_fabs(y)) & 7;
    *quotient = (x < 0) != (y < 0) ? -n : n;
    return rest;
}
SIMGPU_DEVICE float remquof(float x, float y, int *quotient) { return (float)remquo((double)x, (double)y, quotient); }
SIMGPU_DEVICE void sincospif(float x, float *s, float *c) {
    *s = __nv_sinpif(x);
    *c = __nv_cospif(x);
}
SIMGPU_DEVICE void sincospi(double x, double *s, double *c) {
    *s = __nv_sinpi(x);
    *c = __nv_cospi(x);
}
SIMGPU_DEVICE void sincosf(float x, float *s, float *c) {
    *s = __nv_sinf(x);
    *c = __nv_cosf(x);
}
SIMGPU_DEVICE void sincos(double x, double *s, double *c) {
    *s = __nv_sin(x);
    *c = __nv_cos(x);
}

/* --- three arguments, whole numbers (isnan, isinf, isfinite come from C++, as constexpr) ---------------------- */

SIMGPU_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SIMGPU_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
SIMGPU_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SIMGPU_DEVICE int abs(int x) { return x < 0 ? -x : x; }
SIMGPU_DEVICE long labs(long x) { return x < 0 ? -x : x; }
SIMGPU_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
SIMGPU_DEVICE long abs(long x) { return x < 0 ? -x : x; }
SIMGPU_DEVICE long long abs(long long x) { return x < 0 ? -x : x; }
SIMGPU_DEVICE float abs(float x) { return __builtin_fabsf(x); }
SIMGPU_DEVICE double abs(double x) { return __builtin_fabs(x); }
SIMGPU_DEVICE long lrintf(float x) { return (long)__builtin_rintf(x); }
SIMGPU_DEVICE long lrint(double x) { return (long)__builtin_rint(x); }
SIMGPU_DEVICE long lroundf(float x) { return (long)__builtin_roundf(x); }
SIMGPU_DEVICE long lround(double x) { return (long)__builtin_round(x); }
SIMGPU_DEVICE long long llrintf(float x) { return (long long)__builtin_rintf(x); }
SIMGPU_DEVICE long long llrint(double x) { return (long long)__builtin_rint(x); }
SIMGPU_DEVICE long long llroundf(float x) { return (long long)__builtin_roundf(x); }
SIMGPU_DEVICE long long llround(double x) { return (long long)__builtin_round(x); }
SIMGPU_DEVICE float fdividef(float x, float y) { return x / y; }
SIMGPU_DEVICE float nanf(const char *) { return __builtin_nanf(""); }
SIMGPU_DEVICE double nan(const char *) { return __builtin_nan(""); }

#define SIMGPU_MINMAX(T)                                                                                               \
    SIMGPU_BOTH T min(T a, T b) { return b < a ? b : a; }                                                              \
    SIMGPU_BOTH T max(T a, T b) { return a < b ? b : a; }
SIMGPU_MINMAX(int)
SIMGPU_MINMAX(unsigned)
SIMGPU_MINMAX(long)
SIMGPU_MINMAX(unsigned long)
SIMGPU_MINMAX(long long)
SIMGPU_MINMAX(unsigned long long)
#undef SIMGPU_MINMAX
SIMGPU_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
SIMGPU_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
SIMGPU_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
SIMGPU_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
#define SIMGPU_MINMAX(A, B, T)                                                                                         \
    SIMGPU_BOTH T min(A a, B b) { return min((T)a, (T)b); }                                                            \
    SIMGPU_BOTH T min(B a, A b) { return min((T)a, (T)b); }                                                            \
    SIMGPU_BOTH T max(A a, B b) { return max((T)a, (T)b); }                                                            \
    SIMGPU_BOTH T max(B a, A b) { return max((T)a, (T)b); }
SIMGPU_MINMAX(int, unsigned, unsigned)
SIMGPU_MINMAX(long, unsigned long, unsigned long)
SIMGPU_MINMAX(long long, unsigned long long, unsigned long long)
SIMGPU_MINMAX(float, double, double)
#undef SIMGPU_MINMAX
SIMGPU_BOTH unsigned umin(unsigned a, unsigned b) { return min(a, b); }
SIMGPU_BOTH unsigned umax(unsigned a, unsigned b) { return max(a, b); }
SIMGPU_BOTH long long llmin(long long a, long long b) { return min(a, b); }
SIMGPU_BOTH long long llmax(long long a, long long b) { return max(a, b); }
SIMGPU_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
SIMGPU_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

/* Adds these overloads to namespace std. */
namespace std {
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::lrint;
using ::lround;
using ::modf;
using ::nan;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::remainder;
using ::remquo;
using ::rint;
using ::round;
using ::scalbln;
using ::scalbn;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
} // namespace std

#undef SIMGPU_BOTH
#undef SIMGPU_DEVICE
#endif
