/* cuda_fp8.h — 8-bit floats, for storage: E4M3 (1 sign, 4 exponent, 3 fraction bits, largest 448, no infinity, one NaN
 * a sign) and E5M2 (5 and 2 bits, largest 57344, with infinity). They have conversions and no arithmetic. For device
 * and host; what is computed is the same, bit for bit (CUDA Math API, FP8 intrinsics; OCP 8-bit Floating Point
 * Specification, 2023). Not here: E8M0, the scales of block formats, which no card of this course has. */
#ifndef CUDA_FP8_H
#define CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t; /* the first number in the low byte */
typedef unsigned __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t; /* too large: infinity or NaN; the largest number */
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#if defined(__cplusplus)
#define SIMGPU_BOTH static __inline__ __attribute__((always_inline, nodebug, unused)) __host__ __device__

/* --- to 8 bits --------------------------------------------------------------------------------------------------- */

/* Rounds to the nearest number, to even between two. */
SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double v, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
    const bool e4m3 = kind == __NV_E4M3;
    const int fraction = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const unsigned largest = e4m3 ? 0x7e : 0x7b;
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, v), a = bits << 1 >> 1;
    const unsigned sign = (unsigned)(bits >> 63 << 7);
    if (a > 0x7ffull << 52) return (__nv_fp8_storage_t)(sign | (e4m3 ? 0x7f : 0x7e | (bits >> 50 & 3)));
    const int e = (int)(a >> 52) - 1023, least = 1 - bias;
    unsigned r = largest + 1;
    if (e <= bias + 1) {
        int drop = 52 - fraction + (e < least ? least - e : 0);
        if (drop > 62) drop = 62;
        const unsigned long long m = (a & ((1ull << 52) - 1)) | (a >> 52 ? 1ull << 52 : 0);
        const unsigned long long rest = m & ((1ull << drop) - 1), half = 1ull << (drop - 1), n = m >> drop;
        /* The leading 1 of a normal number counts one exponent. */
        r = ((unsigned)(e < least ? 0 : e - least) << fraction) + (unsigned)n;
        r += rest > half || (rest == half && (n & 1));
    }
    if (r > largest) r = saturate == __NV_SATFINITE ? largest : largest + 1;
    return (__nv_fp8_storage_t)(sign | r);
}
SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 v, const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind) {
    return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.x, saturate, kind) |
                                  __nv_cvt_double_to_fp8(v.y, saturate, kind) << 8);
}
SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 v, const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t kind) {
#ifdef __CUDA_ARCH__
    if (saturate == __NV_SATFINITE) {
        __nv_fp8x2_storage_t r;
        if (kind == __NV_E4M3)
            asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(v.y), "f"(v.x));
        else
            asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(v.y), "f"(v.x));
        return r;
    }
#endif
    const double x = v.x == v.x ? (double)v.x : __builtin_bit_cast(double, ~0ull >> 1); /* every NaN is 0x7f */
    const double y = v.y == v.y ? (double)v.y : __builtin_bit_cast(double, ~0ull >> 1);
    return __nv_cvt_double2_to_fp8x2(make_double2(x, y), saturate, kind);
}
SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float v, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind) {
    return (__nv_fp8_storage_t)__nv_cvt_float2_to_fp8x2(make_float2(v, 0), saturate, kind);
}
SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw v, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__half2float(__half(v)), saturate, kind);
}
SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw v, const __nv_saturation_t saturate,
                                                            const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(v)), saturate, kind);
}
SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw v, const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(v)), saturate, kind);
}
SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw v,
                                                                const __nv_saturation_t saturate,
                                                                const __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(v)), saturate, kind);
}

/* --- from 8 bits: each of these numbers is a half ------------------------------------------------------------------
 */

SIMGPU_BOTH __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t v, const __nv_fp8_interpretation_t kind) {
    __half_raw r;
    const unsigned sign = (v & 0x80u) << 8, a = v & 0x7fu;
    if (kind == __NV_E5M2)
        r.x = (unsigned short)(a > 0x7c ? 0x7fff : sign | a << 8);
    else if (a == 0x7f)
        r.x = 0x7fff;
    else if (a >= 8)
        r.x = (unsigned short)(sign | ((a << 7) + (8 << 10))); /* the bias is 15 in place of 7 */
    else {
        const int top = a >> 2 ? 2 : a >> 1 ? 1 : 0; /* a * 2^-9 is a normal half */
        r.x = (unsigned short)(a ? sign | (unsigned)(top + 6) << 10 | ((a << (10 - top)) & 0x3ff) : sign);
    }
    return r;
}
SIMGPU_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t v, const __nv_fp8_interpretation_t kind) {
    __half2_raw r;
#ifdef __CUDA_ARCH__
    unsigned pair;
    if (kind == __NV_E4M3)
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(v));
    else
        asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(v));
    r.x = (unsigned short)pair;
    r.y = (unsigned short)(pair >> 16);
#else
    r.x = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)v, kind).x;
    r.y = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(v >> 8), kind).x;
#endif
    return r;
}

/* --- types: numbers, pairs, fours. Construction saturates, and a conversion to an integer clamps; NaN becomes 0. ----
 */

#define SIMGPU_MEMBER explicit inline __attribute__((always_inline, nodebug)) __host__ __device__
#define SIMGPU_FP8(T, kind)                                                                                            \
    struct T {                                                                                                         \
        __nv_fp8_storage_t __x;                                                                                        \
        T() = default;                                                                                                 \
        SIMGPU_MEMBER T(const __half v) : __x(__nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, kind)) {}                     \
        SIMGPU_MEMBER T(const __nv_bfloat16 v) : __x(__nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, kind)) {}          \
        SIMGPU_MEMBER T(const float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, kind)) {}                        \
        SIMGPU_MEMBER T(const double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, kind)) {}                      \
        SIMGPU_MEMBER T(const short v) : T((float)v) {}                                                                \
        SIMGPU_MEMBER T(const unsigned short v) : T((float)v) {}                                                       \
        SIMGPU_MEMBER T(const int v) : T((double)v) {}                                                                 \
        SIMGPU_MEMBER T(const unsigned v) : T((double)v) {}                                                            \
        SIMGPU_MEMBER T(const long v) : T((double)v) {}                                                                \
        SIMGPU_MEMBER T(const unsigned long v) : T((double)v) {}                                                       \
        SIMGPU_MEMBER T(const long long v) : T((double)v) {}                                                           \
        SIMGPU_MEMBER T(const unsigned long long v) : T((double)v) {}                                                  \
        SIMGPU_MEMBER operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }                   \
        SIMGPU_MEMBER operator float() const { return __half2float(__half(*this)); }                                   \
        SIMGPU_MEMBER operator double() const { return (double)float(*this); }                                         \
        SIMGPU_MEMBER operator __nv_bfloat16() const { return __float2bfloat16_rz(float(*this)); }                     \
        SIMGPU_MEMBER operator char() const { return integer<char>(); }                                                \
        SIMGPU_MEMBER operator signed char() const { return integer<signed char>(); }                                  \
        SIMGPU_MEMBER operator unsigned char() const { return integer<unsigned char>(); }                              \
        SIMGPU_MEMBER operator short() const { return integer<short>(); }                                              \
        SIMGPU_MEMBER operator unsigned short() const { return integer<unsigned short>(); }                            \
        SIMGPU_MEMBER operator int() const { return integer<int>(); }                                                  \
        SIMGPU_MEMBER operator unsigned() const { return integer<unsigned>(); }                                        \
        SIMGPU_MEMBER operator long() const { return integer<long>(); }                                                \
        SIMGPU_MEMBER operator unsigned long() const { return integer<unsigned long>(); }                              \
        SIMGPU_MEMBER operator long long() const { return integer<long long>(); }                                      \
        SIMGPU_MEMBER operator unsigned long long() const { return integer<unsigned long long>(); }                    \
        SIMGPU_MEMBER operator bool() const { return (__x & 0x7f) != 0; }                                              \
                                                                                                                       \
      private:                                                                                                         \
        template <class Whole> __host__ __device__ Whole integer() const {                                             \
            const double v = (double)*this;                                                                            \
            return v != v ? (Whole)0 : simgpu_integer<Whole>(v, SIMGPU_RZ);                                            \
        }                                                                                                              \
    };
#define SIMGPU_FP8X2(T, kind)                                                                                          \
    struct __attribute__((aligned(2))) T {                                                                             \
        __nv_fp8x2_storage_t __x;                                                                                      \
        T() = default;                                                                                                 \
        SIMGPU_MEMBER T(const __half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, kind)) {}                 \
        SIMGPU_MEMBER T(const __nv_bfloat162 v) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, kind)) {}      \
        SIMGPU_MEMBER T(const float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {}                    \
        SIMGPU_MEMBER T(const double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {}                  \
        SIMGPU_MEMBER operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }              \
        SIMGPU_MEMBER operator float2() const { return __half22float2(__half2(*this)); }                               \
    };
#define SIMGPU_FP8X4(T, T2, kind)                                                                                      \
    struct __attribute__((aligned(4))) T {                                                                             \
        __nv_fp8x4_storage_t __x;                                                                                      \
        T() = default;                                                                                                 \
        SIMGPU_MEMBER T(const __half2 low, const __half2 high) : __x(of(T2(low), T2(high))) {}                         \
        SIMGPU_MEMBER T(const __nv_bfloat162 low, const __nv_bfloat162 high) : __x(of(T2(low), T2(high))) {}           \
        SIMGPU_MEMBER T(const float4 v) : __x(of(T2(make_float2(v.x, v.y)), T2(make_float2(v.z, v.w)))) {}             \
        SIMGPU_MEMBER T(const double4 v) : __x(of(T2(make_double2(v.x, v.y)), T2(make_double2(v.z, v.w)))) {}          \
        SIMGPU_MEMBER operator float4() const {                                                                        \
            T2 low, high;                                                                                              \
            low.__x = (__nv_fp8x2_storage_t)__x;                                                                       \
            high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                                              \
            const float2 a = (float2)low, b = (float2)high;                                                            \
            return make_float4(a.x, a.y, b.x, b.y);                                                                    \
        }                                                                                                              \
                                                                                                                       \
      private:                                                                                                         \
        static __host__ __device__ unsigned of(const T2 low, const T2 high) {                                          \
            return low.__x | (unsigned)high.__x << 16;                                                                 \
        }                                                                                                              \
    };
SIMGPU_FP8(__nv_fp8_e4m3, __NV_E4M3)
SIMGPU_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
SIMGPU_FP8X4(__nv_fp8x4_e4m3, __nv_fp8x2_e4m3, __NV_E4M3)
SIMGPU_FP8(__nv_fp8_e5m2, __NV_E5M2)
SIMGPU_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)
SIMGPU_FP8X4(__nv_fp8x4_e5m2, __nv_fp8x2_e5m2, __NV_E5M2)
#undef SIMGPU_FP8
#undef SIMGPU_FP8X2
#undef SIMGPU_FP8X4
#undef SIMGPU_MEMBER
#undef SIMGPU_BOTH
#endif

#endif
