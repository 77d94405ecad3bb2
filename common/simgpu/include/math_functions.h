/* math_functions.h — arithmetic for device code.
 *
 * If a GPU has an instruction for a function (sqrt, fma, min, floor, conversions), the function compiles to it. The
 * others (sin, exp, pow, ...) call functions with the names of NVIDIA's device library (__nv_sinf ...), which SimGPU
 * has built in. Include this file before <math.h>, so that C++'s constexpr overloads do not hide the device's. Included
 * by cuda_runtime.h. */
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
#undef SIMGPU_ONE_CALL
#undef SIMGPU_ONE

extern "C" __device__ float __nv_exp10f(float) __attribute__((const));
extern "C" __device__ double __nv_exp10(double) __attribute__((const));
SIMGPU_DEVICE float exp10f(float x) { return __nv_exp10f(x); }
SIMGPU_DEVICE double exp10(double x) { return __nv_exp10(x); }
SIMGPU_DEVICE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
SIMGPU_DEVICE double rsqrt(double x) { return __nvvm_rsqrt_approx_d(x); }

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
#undef SIMGPU_TWO_CALL
#undef SIMGPU_TWO

SIMGPU_DEVICE float powf(float x, int y) { return __nv_powf(x, (float)y); }
SIMGPU_DEVICE double pow(double x, int y) { return __nv_pow(x, (double)y); }
SIMGPU_DEVICE float pow(float x, int y) { return __nv_powf(x, (float)y); }
SIMGPU_DEVICE float fdimf(float x, float y) { return x > y ? x - y : 0.0f; }
SIMGPU_DEVICE double fdim(double x, double y) { return x > y ? x - y : 0.0; }
SIMGPU_DEVICE float ldexpf(float x, int e) { return x * __nv_exp2f((float)e); }
SIMGPU_DEVICE double ldexp(double x, int e) { return x * __nv_exp2((double)e); }
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
#define SIMGPU_MINMAX(A, B, T)                                                                                         \
    SIMGPU_BOTH T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; }                                                  \
    SIMGPU_BOTH T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
SIMGPU_MINMAX(int, unsigned, unsigned)
SIMGPU_MINMAX(unsigned, int, unsigned)
#undef SIMGPU_MINMAX
SIMGPU_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
SIMGPU_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
SIMGPU_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
SIMGPU_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }

/* --- intrinsics, one instruction each; some are less exact, as their names indicate -------------------------- */

SIMGPU_DEVICE float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
SIMGPU_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.442695041f); }
SIMGPU_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.321928095f); }
SIMGPU_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
SIMGPU_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
SIMGPU_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
SIMGPU_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
SIMGPU_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
SIMGPU_DEVICE float __tanf(float x) { return __nvvm_div_approx_f(__sinf(x), __cosf(x)); }
SIMGPU_DEVICE void __sincosf(float x, float *s, float *c) {
    *s = __sinf(x);
    *c = __cosf(x);
}
SIMGPU_DEVICE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
SIMGPU_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }
SIMGPU_DEVICE float __fmaf_rn(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
SIMGPU_DEVICE double __fma_rn(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
SIMGPU_DEVICE float __fadd_rn(float x, float y) { return __nvvm_add_rn_f(x, y); }
SIMGPU_DEVICE float __fsub_rn(float x, float y) { return __nvvm_add_rn_f(x, -y); }
SIMGPU_DEVICE float __fmul_rn(float x, float y) { return __nvvm_mul_rn_f(x, y); }
SIMGPU_DEVICE float __fdiv_rn(float x, float y) { return __nvvm_div_rn_f(x, y); }
SIMGPU_DEVICE float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
SIMGPU_DEVICE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
SIMGPU_DEVICE float __frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }
SIMGPU_DEVICE double __dadd_rn(double x, double y) { return __nvvm_add_rn_d(x, y); }
SIMGPU_DEVICE double __dmul_rn(double x, double y) { return __nvvm_mul_rn_d(x, y); }

SIMGPU_DEVICE int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
SIMGPU_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)__nvvm_mulhi_ui(x, y); }
SIMGPU_DEVICE long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
SIMGPU_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)__nvvm_mulhi_ull(x, y);
}
SIMGPU_DEVICE int __mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
SIMGPU_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (unsigned)__nvvm_mul24_ui(x, y); }
SIMGPU_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
SIMGPU_DEVICE unsigned __sad(int x, int y, unsigned z) { return z + (unsigned)(x < y ? y - x : x - y); }

/* --- conversions: rn nearest even, rz towards zero, ru up, rd down ------------------------------------------ */

SIMGPU_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SIMGPU_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SIMGPU_DEVICE unsigned __float_as_uint(float x) { return (unsigned)__builtin_bit_cast(int, x); }
SIMGPU_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, (int)x); }
SIMGPU_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SIMGPU_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SIMGPU_DEVICE int __float2int_rn(float x) { return __nvvm_f2i_rn(x); }
SIMGPU_DEVICE int __float2int_rz(float x) { return __nvvm_f2i_rz(x); }
SIMGPU_DEVICE int __float2int_ru(float x) { return __nvvm_f2i_rp(x); }
SIMGPU_DEVICE int __float2int_rd(float x) { return __nvvm_f2i_rm(x); }
SIMGPU_DEVICE unsigned __float2uint_rn(float x) { return (unsigned)__nvvm_f2ui_rn(x); }
SIMGPU_DEVICE unsigned __float2uint_rz(float x) { return (unsigned)__nvvm_f2ui_rz(x); }
SIMGPU_DEVICE float __int2float_rn(int x) { return __nvvm_i2f_rn(x); }
SIMGPU_DEVICE float __uint2float_rn(unsigned x) { return __nvvm_ui2f_rn((int)x); }
SIMGPU_DEVICE float __double2float_rn(double x) { return __nvvm_d2f_rn(x); }
SIMGPU_DEVICE int __double2int_rn(double x) { return __nvvm_d2i_rn(x); }
SIMGPU_DEVICE int __double2hiint(double x) { return __nvvm_d2i_hi(x); }
SIMGPU_DEVICE int __double2loint(double x) { return __nvvm_d2i_lo(x); }
SIMGPU_DEVICE double __hiloint2double(int high, int low) { return __nvvm_lohi_i2d(low, high); }

/* Adds these overloads to namespace std. */
namespace std {
using ::abs;
using ::acos;
using ::asin;
using ::atan;
using ::atan2;
using ::ceil;
using ::cos;
using ::exp;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::log;
using ::log10;
using ::log2;
using ::pow;
using ::round;
using ::sin;
using ::sqrt;
using ::tan;
using ::tanh;
using ::trunc;
} // namespace std

#undef SIMGPU_BOTH
#undef SIMGPU_DEVICE
#endif
