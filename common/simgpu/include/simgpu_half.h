/* simgpu_half.h — the functions of CUDA's Math API for a 16-bit float type and its pairs. cuda_fp16.h and cuda_bf16.h
 * each include it once, with
 *
 *   SIMGPU_H, SIMGPU_H2     the types, of which this file needs simgpu_bits(v) and SIMGPU_H::simgpu_make(bits)
 *   SIMGPU_N, SIMGPU_N2     what functions are named after: half, half2
 *   SIMGPU_P, SIMGPU_P2     PTX's types as text: "f16", "f16x2"
 *   SIMGPU_FRACTION, SIMGPU_BIAS   bits of fraction; the exponent's bias
 *
 * On the device, a function is the instruction of PTX, written as such, so that every version of clang emits it. On the
 * host it computes in double and rounds once, which gives the same bits. Functions for the device only are so in CUDA
 * too. No include guard: it is included twice. */

#define SIMGPU_DEVICE         static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#define SIMGPU_BOTH           static __inline__ __attribute__((always_inline, nodebug, unused)) __host__ __device__
#define SIMGPU_GLUE_(a, b, c) a##b##c
#define SIMGPU_GLUE(a, b, c)  SIMGPU_GLUE_(a, b, c)
#define SIMGPU_TO(x, suffix)  SIMGPU_GLUE(__##x##2, SIMGPU_N, suffix)  /* __float2half_rn */
#define SIMGPU_TO2(x, suffix) SIMGPU_GLUE(__##x##2, SIMGPU_N2, suffix) /* __floats2half2_rn */
#define SIMGPU_FROM(x)        SIMGPU_GLUE(__, SIMGPU_N, 2##x)          /* __half2float */

#ifdef __CUDA_ARCH__
#define SIMGPU_HERE(...) __VA_ARGS__
#else
#define SIMGPU_HERE(...)
#endif

/* --- the host's arithmetic ----------------------------------------------------------------------------------- */

#ifndef SIMGPU_HALF_HOST
#define SIMGPU_HALF_HOST
enum { SIMGPU_RN, SIMGPU_RZ, SIMGPU_RD, SIMGPU_RU };

/* Rounds v to a float of `fraction` bits of fraction; a NaN becomes 0x7fff. */
SIMGPU_BOTH unsigned short simgpu_narrow(double v, int fraction, int bias, int mode) {
    unsigned long long bits = __builtin_bit_cast(unsigned long long, v), sign = bits >> 63 << 15;
    unsigned long long a = bits << 1 >> 1, infinity = (2ull * bias + 1) << fraction;
    if (a > 0x7ffull << 52) return 0x7fff;
    if (a == 0x7ffull << 52) return (unsigned short)(sign | infinity);
    if (a == 0) return (unsigned short)sign;
    long long e = (long long)(a >> 52) - 1023, least = 1 - bias;
    unsigned long long m = (a & ((1ull << 52) - 1)) | (a >> 52 ? 1ull << 52 : 0), r;
    long long drop = 52 - fraction + (e < least ? least - e : 0);
    if (drop > 63) drop = 63;
    unsigned long long rest = m & ((1ull << drop) - 1), half = 1ull << (drop - 1), n = m >> drop;
    bool up = mode == SIMGPU_RN   ? rest > half || (rest == half && (n & 1))
              : mode == SIMGPU_RD ? rest && sign
              : mode == SIMGPU_RU ? rest && !sign
                                  : false;
    n += up;
    if (e > bias)
        r = infinity;
    else
        r = ((unsigned long long)((e < least ? least : e) - least) << fraction) + n;
    bool inward = mode == SIMGPU_RZ || (mode == SIMGPU_RD && !sign) || (mode == SIMGPU_RU && sign);
    if (r >= infinity) r = inward ? infinity - 1 : infinity;
    return (unsigned short)(sign | r);
}
/* Returns an integer as a double, rounded to odd if it has more bits, so that a later rounding is right. */
SIMGPU_BOTH double simgpu_exact(unsigned long long a) {
    return a >> 53 ? (double)(a >> 11 | ((a & 0x7ff) != 0)) * 2048 : (double)a;
}
SIMGPU_BOTH double simgpu_exact(long long v) {
    return v < 0 ? -simgpu_exact(0ull - v) : simgpu_exact((unsigned long long)v);
}
SIMGPU_BOTH double simgpu_sat(double v) { return v > 1 ? 1 : v > 0 ? v : 0; }
SIMGPU_BOTH double simgpu_rounded(double v, int mode) {
    return mode == SIMGPU_RN   ? __builtin_rint(v)
           : mode == SIMGPU_RD ? __builtin_floor(v)
           : mode == SIMGPU_RU ? __builtin_ceil(v)
                               : __builtin_trunc(v);
}
/* Converts to an integer as PTX's cvt does: clamps; NaN becomes 0, or the top bit in 64 bits. */
template <class Whole> SIMGPU_BOTH Whole simgpu_integer(double v, int mode) {
    const bool is_signed = Whole(-1) < Whole(0);
    const double top =
        (is_signed ? 0.5 : 1.0) * (sizeof(Whole) == 8 ? 0x1p64 : (double)(1ull << (8 * sizeof(Whole) % 64)));
    if (v != v) return sizeof(Whole) == 8 ? (Whole)(1ull << 63) : 0;
    v = simgpu_rounded(v, mode);
    if (v >= top) return is_signed ? (Whole)((1ull << (8 * sizeof(Whole) - 1)) - 1) : (Whole)~0ull;
    if (v < (is_signed ? -top : 0)) return is_signed ? (Whole)(1ull << (8 * sizeof(Whole) - 1)) : 0;
    return (Whole)v;
}
SIMGPU_BOTH double simgpu_least(double a, double b) {
    return a != a ? b : b != b ? a : a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
SIMGPU_BOTH double simgpu_most(double a, double b) {
    return a != a ? b : b != b ? a : a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}
SIMGPU_BOTH double simgpu_either_nan(double a, double b, double r) { return a != a || b != b ? __builtin_nan("") : r; }

/* The special function unit. */
#define SIMGPU_APPROX(name, ptx)                                                                                       \
    SIMGPU_DEVICE float simgpu_##name(float x) {                                                                       \
        float r = x;                                                                                                   \
        SIMGPU_HERE(asm(ptx " %0, %1;" : "=f"(r) : "f"(x)));                                                           \
        return r;                                                                                                      \
    }
SIMGPU_APPROX(sqrt, "sqrt.approx.f32")
SIMGPU_APPROX(rsqrt, "rsqrt.approx.f32")
SIMGPU_APPROX(rcp, "rcp.approx.f32")
SIMGPU_APPROX(ex2, "ex2.approx.f32")
SIMGPU_APPROX(lg2, "lg2.approx.f32")
#undef SIMGPU_APPROX
#endif

/* --- conversions --------------------------------------------------------------------------------------------- */

#define SIMGPU_MADE(bits) SIMGPU_H::simgpu_make(bits)
SIMGPU_BOTH float SIMGPU_FROM(float)(const SIMGPU_H a) {
#ifdef __CUDA_ARCH__
    float f;
    asm("cvt.f32." SIMGPU_P " %0, %1;" : "=f"(f) : "h"(simgpu_bits(a)));
    return f;
#else
    unsigned bits = simgpu_bits(a), sign = bits >> 15 << 31, m = (bits & 0x7fff) << (23 - SIMGPU_FRACTION);
    if (SIMGPU_BIAS == 127) return __builtin_bit_cast(float, sign | m);
    if ((bits & 0x7fff) >= 0x7c00) return __builtin_bit_cast(float, (bits & 0x3ff) ? 0x7fffffffu : sign | 0x7f800000u);
    float f = __builtin_bit_cast(float, m) * 0x1p112f;
    return sign ? -f : f;
#endif
}

/* The same on both sides: value rounded by mode. The device's instruction has one operand. */
#ifdef __CUDA_ARCH__
#define SIMGPU_CONVERT(name, T, letter, type, round, mode, exact)                                                      \
    SIMGPU_BOTH SIMGPU_H name(const T v) {                                                                             \
        unsigned short r;                                                                                              \
        asm("cvt." round "." SIMGPU_P "." type " %0, %1;" : "=h"(r) : letter(v));                                      \
        return SIMGPU_MADE(r);                                                                                         \
    }
#else
#define SIMGPU_CONVERT(name, T, letter, type, round, mode, exact)                                                      \
    SIMGPU_BOTH SIMGPU_H name(const T v) {                                                                             \
        return SIMGPU_MADE(simgpu_narrow(exact, SIMGPU_FRACTION, SIMGPU_BIAS, mode));                                  \
    }
#endif
SIMGPU_CONVERT(SIMGPU_TO(float, ), float, "f", "f32", "rn", SIMGPU_RN, (double)v)
SIMGPU_CONVERT(SIMGPU_TO(float, _rn), float, "f", "f32", "rn", SIMGPU_RN, (double)v)
SIMGPU_CONVERT(SIMGPU_TO(float, _rz), float, "f", "f32", "rz", SIMGPU_RZ, (double)v)
SIMGPU_CONVERT(SIMGPU_TO(float, _rd), float, "f", "f32", "rm", SIMGPU_RD, (double)v)
SIMGPU_CONVERT(SIMGPU_TO(float, _ru), float, "f", "f32", "rp", SIMGPU_RU, (double)v)
SIMGPU_CONVERT(SIMGPU_TO(double, ), double, "d", "f64", "rn", SIMGPU_RN, v)
#define SIMGPU_CONVERT_INTEGER(name, T, wide, letter, type)                                                            \
    SIMGPU_CONVERT(SIMGPU_TO(name, _rn), T, letter, type, "rn", SIMGPU_RN, simgpu_exact((wide)v))                      \
    SIMGPU_CONVERT(SIMGPU_TO(name, _rz), T, letter, type, "rz", SIMGPU_RZ, simgpu_exact((wide)v))                      \
    SIMGPU_CONVERT(SIMGPU_TO(name, _rd), T, letter, type, "rm", SIMGPU_RD, simgpu_exact((wide)v))                      \
    SIMGPU_CONVERT(SIMGPU_TO(name, _ru), T, letter, type, "rp", SIMGPU_RU, simgpu_exact((wide)v))
SIMGPU_CONVERT_INTEGER(short, short, long long, "h", "s16")
SIMGPU_CONVERT_INTEGER(ushort, unsigned short, unsigned long long, "h", "u16")
SIMGPU_CONVERT_INTEGER(int, int, long long, "r", "s32")
SIMGPU_CONVERT_INTEGER(uint, unsigned, unsigned long long, "r", "u32")
SIMGPU_CONVERT_INTEGER(ll, long long, long long, "l", "s64")
SIMGPU_CONVERT_INTEGER(ull, unsigned long long, unsigned long long, "l", "u64")
#undef SIMGPU_CONVERT_INTEGER
#undef SIMGPU_CONVERT

#ifdef __CUDA_ARCH__
#define SIMGPU_TO_INTEGER(name, T, letter, type, round, mode)                                                          \
    SIMGPU_BOTH T name(const SIMGPU_H h) {                                                                             \
        T v;                                                                                                           \
        asm("cvt." round "." type "." SIMGPU_P " %0, %1;" : letter(v) : "h"(simgpu_bits(h)));                          \
        return v;                                                                                                      \
    }
#else
#define SIMGPU_TO_INTEGER(name, T, letter, type, round, mode)                                                          \
    SIMGPU_BOTH T name(const SIMGPU_H h) { return simgpu_integer<T>(SIMGPU_FROM(float)(h), mode); }
#endif
#define SIMGPU_TO_INTEGERS(name, T, letter, type)                                                                      \
    SIMGPU_TO_INTEGER(SIMGPU_FROM(name##_rn), T, letter, type, "rni", SIMGPU_RN)                                       \
    SIMGPU_TO_INTEGER(SIMGPU_FROM(name##_rz), T, letter, type, "rzi", SIMGPU_RZ)                                       \
    SIMGPU_TO_INTEGER(SIMGPU_FROM(name##_rd), T, letter, type, "rmi", SIMGPU_RD)                                       \
    SIMGPU_TO_INTEGER(SIMGPU_FROM(name##_ru), T, letter, type, "rpi", SIMGPU_RU)
SIMGPU_TO_INTEGERS(short, short, "=h", "s16")
SIMGPU_TO_INTEGERS(ushort, unsigned short, "=h", "u16")
SIMGPU_TO_INTEGERS(int, int, "=r", "s32")
SIMGPU_TO_INTEGERS(uint, unsigned, "=r", "u32")
SIMGPU_TO_INTEGERS(ll, long long, "=l", "s64")
SIMGPU_TO_INTEGERS(ull, unsigned long long, "=l", "u64")
#undef SIMGPU_TO_INTEGERS
#undef SIMGPU_TO_INTEGER
SIMGPU_BOTH signed char SIMGPU_FROM(char_rz)(const SIMGPU_H h) {
    return simgpu_integer<signed char>(SIMGPU_FROM(float)(h), SIMGPU_RZ);
}
SIMGPU_BOTH unsigned char SIMGPU_FROM(uchar_rz)(const SIMGPU_H h) {
    return simgpu_integer<unsigned char>(SIMGPU_FROM(float)(h), SIMGPU_RZ);
}

SIMGPU_BOTH short SIMGPU_GLUE(__, SIMGPU_N, _as_short)(const SIMGPU_H h) { return (short)simgpu_bits(h); }
SIMGPU_BOTH unsigned short SIMGPU_GLUE(__, SIMGPU_N, _as_ushort)(const SIMGPU_H h) { return simgpu_bits(h); }
SIMGPU_BOTH SIMGPU_H SIMGPU_GLUE(__short_as_, SIMGPU_N, )(const short i) { return SIMGPU_MADE((unsigned short)i); }
SIMGPU_BOTH SIMGPU_H SIMGPU_GLUE(__ushort_as_, SIMGPU_N, )(const unsigned short i) { return SIMGPU_MADE(i); }

/* --- the types' members, which need the conversions -------------------------------------------------------------- */

#define SIMGPU_MEMBER __host__ __device__ inline __attribute__((always_inline, nodebug))
#ifdef SIMGPU_H_CONVERSIONS
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(float f) : __x(simgpu_bits(SIMGPU_TO(float, )(f))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(double d) : __x(simgpu_bits(SIMGPU_TO(double, )(d))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(short v) : __x(simgpu_bits(SIMGPU_TO(short, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(unsigned short v) : __x(simgpu_bits(SIMGPU_TO(ushort, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(int v) : __x(simgpu_bits(SIMGPU_TO(int, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(unsigned v) : __x(simgpu_bits(SIMGPU_TO(uint, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(long v) : __x(simgpu_bits(SIMGPU_TO(ll, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(unsigned long v) : __x(simgpu_bits(SIMGPU_TO(ull, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(long long v) : __x(simgpu_bits(SIMGPU_TO(ll, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::SIMGPU_H(unsigned long long v) : __x(simgpu_bits(SIMGPU_TO(ull, _rn)(v))) {}
SIMGPU_MEMBER SIMGPU_H::operator float() const { return SIMGPU_FROM(float)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator signed char() const { return SIMGPU_FROM(char_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator unsigned char() const { return SIMGPU_FROM(uchar_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator char() const { return simgpu_integer<char>(SIMGPU_FROM(float)(*this), SIMGPU_RZ); }
SIMGPU_MEMBER SIMGPU_H::operator short() const { return SIMGPU_FROM(short_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator unsigned short() const { return SIMGPU_FROM(ushort_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator int() const { return SIMGPU_FROM(int_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator unsigned() const { return SIMGPU_FROM(uint_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator long() const { return (long)SIMGPU_FROM(ll_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator unsigned long() const { return (unsigned long)SIMGPU_FROM(ull_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator long long() const { return SIMGPU_FROM(ll_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator unsigned long long() const { return SIMGPU_FROM(ull_rz)(*this); }
SIMGPU_MEMBER SIMGPU_H::operator bool() const { return (__x & 0x7fff) != 0; }
#endif
#undef SIMGPU_MEMBER

/* --- pairs --------------------------------------------------------------------------------------------------- */

SIMGPU_BOTH unsigned simgpu_bits(const SIMGPU_H2 v) {
#ifdef __CUDA_ARCH__
    unsigned r;
    asm("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"(simgpu_bits(v.x)), "h"(simgpu_bits(v.y)));
    return r;
#else
    return simgpu_bits(v.x) | (unsigned)simgpu_bits(v.y) << 16;
#endif
}
SIMGPU_BOTH SIMGPU_H2 SIMGPU_GLUE(simgpu_, SIMGPU_N2, _of)(unsigned bits) {
#ifdef __CUDA_ARCH__
    unsigned short low, high;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(bits));
    return SIMGPU_H2(SIMGPU_MADE(low), SIMGPU_MADE(high));
#else
    return SIMGPU_H2(SIMGPU_MADE((unsigned short)bits), SIMGPU_MADE((unsigned short)(bits >> 16)));
#endif
}
#define SIMGPU_MADE2(bits) SIMGPU_GLUE(simgpu_, SIMGPU_N2, _of)(bits)

SIMGPU_BOTH SIMGPU_H2 SIMGPU_GLUE(make_, SIMGPU_N2, )(const SIMGPU_H x, const SIMGPU_H y) { return SIMGPU_H2(x, y); }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(halves, )(const SIMGPU_H a, const SIMGPU_H b) { return SIMGPU_H2(a, b); }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_GLUE(__, SIMGPU_N, SIMGPU_GLUE(2, SIMGPU_N2, ))(const SIMGPU_H a) {
    return SIMGPU_H2(a, a);
}
SIMGPU_BOTH SIMGPU_H SIMGPU_TO(low, )(const SIMGPU_H2 a) { return a.x; }
SIMGPU_BOTH SIMGPU_H SIMGPU_TO(high, )(const SIMGPU_H2 a) { return a.y; }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(low, )(const SIMGPU_H2 a) { return SIMGPU_H2(a.x, a.x); }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(high, )(const SIMGPU_H2 a) { return SIMGPU_H2(a.y, a.y); }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(lows, )(const SIMGPU_H2 a, const SIMGPU_H2 b) { return SIMGPU_H2(a.x, b.x); }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(highs, )(const SIMGPU_H2 a, const SIMGPU_H2 b) { return SIMGPU_H2(a.y, b.y); }
SIMGPU_BOTH SIMGPU_H2 __lowhigh2highlow(const SIMGPU_H2 a) { return SIMGPU_H2(a.y, a.x); }
SIMGPU_BOTH float __low2float(const SIMGPU_H2 a) { return SIMGPU_FROM(float)(a.x); }
SIMGPU_BOTH float __high2float(const SIMGPU_H2 a) { return SIMGPU_FROM(float)(a.y); }
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(floats, _rn)(const float a, const float b) {
#ifdef __CUDA_ARCH__
    unsigned r;
    asm("cvt.rn." SIMGPU_P2 ".f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
    return SIMGPU_MADE2(r);
#else
    return SIMGPU_H2(SIMGPU_TO(float, _rn)(a), SIMGPU_TO(float, _rn)(b));
#endif
}
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(float, _rn)(const float a) {
    const SIMGPU_H h = SIMGPU_TO(float, _rn)(a);
    return SIMGPU_H2(h, h);
}
SIMGPU_BOTH SIMGPU_H2 SIMGPU_TO2(float2, _rn)(const float2 a) { return SIMGPU_TO2(floats, _rn)(a.x, a.y); }
SIMGPU_BOTH float2 SIMGPU_GLUE(__, SIMGPU_N2, 2float2)(const SIMGPU_H2 a) {
    return make_float2(SIMGPU_FROM(float)(a.x), SIMGPU_FROM(float)(a.y));
}

/* --- arithmetic: each function has a form for pairs ----------------------------------------------------------------
 */

#define SIMGPU_ROUND(value) SIMGPU_MADE(simgpu_narrow(value, SIMGPU_FRACTION, SIMGPU_BIAS, SIMGPU_RN))
#ifdef __CUDA_ARCH__
#define SIMGPU_ONE(name, pair, ptx, value)                                                                             \
    SIMGPU_BOTH SIMGPU_H name(const SIMGPU_H a) {                                                                      \
        unsigned short r;                                                                                              \
        asm(ptx "." SIMGPU_P " %0, %1;" : "=h"(r) : "h"(simgpu_bits(a)));                                              \
        return SIMGPU_MADE(r);                                                                                         \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 pair(const SIMGPU_H2 a) {                                                                    \
        unsigned r;                                                                                                    \
        asm(ptx "." SIMGPU_P2 " %0, %1;" : "=r"(r) : "r"(simgpu_bits(a)));                                             \
        return SIMGPU_MADE2(r);                                                                                        \
    }
#define SIMGPU_TWO(name, pair, ptx, value)                                                                             \
    SIMGPU_BOTH SIMGPU_H name(const SIMGPU_H a, const SIMGPU_H b) {                                                    \
        unsigned short r;                                                                                              \
        asm(ptx "." SIMGPU_P " %0, %1, %2;" : "=h"(r) : "h"(simgpu_bits(a)), "h"(simgpu_bits(b)));                     \
        return SIMGPU_MADE(r);                                                                                         \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 pair(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                                 \
        unsigned r;                                                                                                    \
        asm(ptx "." SIMGPU_P2 " %0, %1, %2;" : "=r"(r) : "r"(simgpu_bits(a)), "r"(simgpu_bits(b)));                    \
        return SIMGPU_MADE2(r);                                                                                        \
    }
#else
#define SIMGPU_ONE(name, pair, ptx, value)                                                                             \
    SIMGPU_BOTH SIMGPU_H name(const SIMGPU_H a) {                                                                      \
        const double x = SIMGPU_FROM(float)(a);                                                                        \
        return SIMGPU_ROUND(value);                                                                                    \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 pair(const SIMGPU_H2 a) { return SIMGPU_H2(name(a.x), name(a.y)); }
#define SIMGPU_TWO(name, pair, ptx, value)                                                                             \
    SIMGPU_BOTH SIMGPU_H name(const SIMGPU_H a, const SIMGPU_H b) {                                                    \
        const double x = SIMGPU_FROM(float)(a), y = SIMGPU_FROM(float)(b);                                             \
        return SIMGPU_ROUND(value);                                                                                    \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 pair(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                                 \
        return SIMGPU_H2(name(a.x, b.x), name(a.y, b.y));                                                              \
    }
#endif
SIMGPU_TWO(__hadd, __hadd2, "add", x + y)
SIMGPU_TWO(__hsub, __hsub2, "sub", x - y)
SIMGPU_TWO(__hmul, __hmul2, "mul", x *y)
SIMGPU_TWO(__hadd_rn, __hadd2_rn, "add.rn", x + y)
SIMGPU_TWO(__hsub_rn, __hsub2_rn, "sub.rn", x - y)
SIMGPU_TWO(__hmul_rn, __hmul2_rn, "mul.rn", x *y)
SIMGPU_TWO(__hmax, __hmax2, "max", simgpu_most(x, y))
SIMGPU_TWO(__hmin, __hmin2, "min", simgpu_least(x, y))
SIMGPU_TWO(__hmax_nan, __hmax2_nan, "max.NaN", simgpu_either_nan(x, y, simgpu_most(x, y)))
SIMGPU_TWO(__hmin_nan, __hmin2_nan, "min.NaN", simgpu_either_nan(x, y, simgpu_least(x, y)))
SIMGPU_ONE(__hneg, __hneg2, "neg", -x)
SIMGPU_ONE(__habs, __habs2, "abs", __builtin_fabs(x))
#ifdef SIMGPU_H_SATURATES
SIMGPU_TWO(__hadd_sat, __hadd2_sat, "add.sat", simgpu_sat(x + y))
SIMGPU_TWO(__hsub_sat, __hsub2_sat, "sub.sat", simgpu_sat(x - y))
SIMGPU_TWO(__hmul_sat, __hmul2_sat, "mul.sat", simgpu_sat(x *y))
#else /* PTX has no .sat for bfloat16 */
#define SIMGPU_SATURATED(name, plain, pair, pair_plain)                                                                \
    SIMGPU_BOTH SIMGPU_H name(const SIMGPU_H a, const SIMGPU_H b) {                                                    \
        return __hmin(__hmax(plain(a, b), SIMGPU_MADE(0)), SIMGPU_MADE(SIMGPU_BIAS << SIMGPU_FRACTION));               \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 pair(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                                 \
        return SIMGPU_H2(name(a.x, b.x), name(a.y, b.y));                                                              \
    }
SIMGPU_SATURATED(__hadd_sat, __hadd, __hadd2_sat, __hadd2)
SIMGPU_SATURATED(__hsub_sat, __hsub, __hsub2_sat, __hsub2)
SIMGPU_SATURATED(__hmul_sat, __hmul, __hmul2_sat, __hmul2)
#undef SIMGPU_SATURATED
#endif

/* Of the device only, as in CUDA. */
#ifdef __CUDA_ARCH__
#define SIMGPU_THREE(name, pair, ptx)                                                                                  \
    SIMGPU_DEVICE SIMGPU_H name(const SIMGPU_H a, const SIMGPU_H b, const SIMGPU_H c) {                                \
        unsigned short r;                                                                                              \
        asm(ptx "." SIMGPU_P " %0, %1, %2, %3;"                                                                        \
            : "=h"(r)                                                                                                  \
            : "h"(simgpu_bits(a)), "h"(simgpu_bits(b)), "h"(simgpu_bits(c)));                                          \
        return SIMGPU_MADE(r);                                                                                         \
    }                                                                                                                  \
    SIMGPU_DEVICE SIMGPU_H2 pair(const SIMGPU_H2 a, const SIMGPU_H2 b, const SIMGPU_H2 c) {                            \
        unsigned r;                                                                                                    \
        asm(ptx "." SIMGPU_P2 " %0, %1, %2, %3;"                                                                       \
            : "=r"(r)                                                                                                  \
            : "r"(simgpu_bits(a)), "r"(simgpu_bits(b)), "r"(simgpu_bits(c)));                                          \
        return SIMGPU_MADE2(r);                                                                                        \
    }
#define SIMGPU_ONLY(name, pair, ptx) SIMGPU_ONE(name, pair, ptx, x)
#else /* the host's compiler sees the declarations only */
#define SIMGPU_THREE(name, pair, ptx)                                                                                  \
    SIMGPU_DEVICE SIMGPU_H name(const SIMGPU_H a, const SIMGPU_H, const SIMGPU_H) { return a; }                        \
    SIMGPU_DEVICE SIMGPU_H2 pair(const SIMGPU_H2 a, const SIMGPU_H2, const SIMGPU_H2) { return a; }
#define SIMGPU_ONLY(name, pair, ptx)                                                                                   \
    SIMGPU_DEVICE SIMGPU_H name(const SIMGPU_H a) { return a; }                                                        \
    SIMGPU_DEVICE SIMGPU_H2 pair(const SIMGPU_H2 a) { return a; }
#endif
SIMGPU_THREE(__hfma, __hfma2, "fma.rn")
SIMGPU_THREE(__hfma_relu, __hfma2_relu, "fma.rn.relu")
#ifdef SIMGPU_H_SATURATES
SIMGPU_THREE(__hfma_sat, __hfma2_sat, "fma.rn.sat")
#else
SIMGPU_DEVICE SIMGPU_H __hfma_sat(const SIMGPU_H a, const SIMGPU_H b, const SIMGPU_H c) {
    return __hmin(__hmax(__hfma(a, b, c), SIMGPU_MADE(0)), SIMGPU_MADE(SIMGPU_BIAS << SIMGPU_FRACTION));
}
SIMGPU_DEVICE SIMGPU_H2 __hfma2_sat(const SIMGPU_H2 a, const SIMGPU_H2 b, const SIMGPU_H2 c) {
    return SIMGPU_H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
#endif
SIMGPU_ONLY(htanh_approx, h2tanh_approx, "tanh.approx")
#undef SIMGPU_THREE

/* Complex: (a.x + i a.y)(b.x + i b.y) + (c.x + i c.y). */
SIMGPU_DEVICE SIMGPU_H2 __hcmadd(const SIMGPU_H2 a, const SIMGPU_H2 b, const SIMGPU_H2 c) {
    const SIMGPU_H2 half_way = __hfma2(SIMGPU_H2(a.x, a.x), b, c);
    return __hfma2(SIMGPU_H2(__hneg(a.y), a.y), SIMGPU_H2(b.y, b.x), half_way);
}

/* A division is fp32's, rounded: a quotient of 24 bits is close enough for the right 11 or 8. */
SIMGPU_BOTH SIMGPU_H __hdiv(const SIMGPU_H a, const SIMGPU_H b) {
    return SIMGPU_TO(float, _rn)(SIMGPU_FROM(float)(a) / SIMGPU_FROM(float)(b));
}
SIMGPU_BOTH SIMGPU_H2 __h2div(const SIMGPU_H2 a, const SIMGPU_H2 b) {
    return SIMGPU_H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}

/* --- comparisons --------------------------------------------------------------------------------------------- */

SIMGPU_BOTH bool __hisnan(const SIMGPU_H a) {
    return (simgpu_bits(a) & 0x7fff) > (2 * SIMGPU_BIAS + 1) << SIMGPU_FRACTION;
}
SIMGPU_BOTH int __hisinf(const SIMGPU_H a) {
    const unsigned bits = simgpu_bits(a), infinity = (2 * SIMGPU_BIAS + 1) << SIMGPU_FRACTION;
    return bits == infinity ? 1 : bits == (infinity | 0x8000) ? -1 : 0;
}
#ifdef __CUDA_ARCH__
#define SIMGPU_COMPARE(op, expression)                                                                                 \
    SIMGPU_BOTH bool __h##op(const SIMGPU_H a, const SIMGPU_H b) {                                                     \
        unsigned short r;                                                                                              \
        asm("{ .reg .pred p; setp." #op "." SIMGPU_P " p, %1, %2; selp.u16 %0, 1, 0, p; }"                             \
            : "=h"(r)                                                                                                  \
            : "h"(simgpu_bits(a)), "h"(simgpu_bits(b)));                                                               \
        return r != 0;                                                                                                 \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 __h##op##2(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                           \
        unsigned r;                                                                                                    \
        asm("set." #op "." SIMGPU_P2 "." SIMGPU_P2 " %0, %1, %2;"                                                      \
            : "=r"(r)                                                                                                  \
            : "r"(simgpu_bits(a)), "r"(simgpu_bits(b)));                                                               \
        return SIMGPU_MADE2(r);                                                                                        \
    }                                                                                                                  \
    SIMGPU_BOTH unsigned __h##op##2_mask(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                       \
        unsigned r;                                                                                                    \
        asm("set." #op ".u32." SIMGPU_P2 " %0, %1, %2;" : "=r"(r) : "r"(simgpu_bits(a)), "r"(simgpu_bits(b)));         \
        return r;                                                                                                      \
    }                                                                                                                  \
    SIMGPU_BOTH bool __hb##op##2(const SIMGPU_H2 a, const SIMGPU_H2 b) { return __h##op##2_mask(a, b) == 0xffffffffu; }
#else
#define SIMGPU_COMPARE(op, expression)                                                                                 \
    SIMGPU_BOTH bool __h##op(const SIMGPU_H a, const SIMGPU_H b) {                                                     \
        const float x = SIMGPU_FROM(float)(a), y = SIMGPU_FROM(float)(b);                                              \
        return expression;                                                                                             \
    }                                                                                                                  \
    SIMGPU_BOTH unsigned __h##op##2_mask(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                       \
        return (__h##op(a.x, b.x) ? 0xffffu : 0) | (__h##op(a.y, b.y) ? 0xffff0000u : 0);                              \
    }                                                                                                                  \
    SIMGPU_BOTH SIMGPU_H2 __h##op##2(const SIMGPU_H2 a, const SIMGPU_H2 b) {                                           \
        const unsigned one = SIMGPU_BIAS << SIMGPU_FRACTION;                                                           \
        return SIMGPU_MADE2(__h##op##2_mask(a, b) & (one | one << 16));                                                \
    }                                                                                                                  \
    SIMGPU_BOTH bool __hb##op##2(const SIMGPU_H2 a, const SIMGPU_H2 b) { return __h##op##2_mask(a, b) == 0xffffffffu; }
#endif
SIMGPU_COMPARE(eq, x == y)
SIMGPU_COMPARE(ne, x<y || x> y)
SIMGPU_COMPARE(le, x <= y)
SIMGPU_COMPARE(ge, x >= y)
SIMGPU_COMPARE(lt, x < y)
SIMGPU_COMPARE(gt, x > y)
SIMGPU_COMPARE(equ, !(x < y || x > y))
SIMGPU_COMPARE(neu, x != y)
SIMGPU_COMPARE(leu, !(x > y))
SIMGPU_COMPARE(geu, !(x < y))
SIMGPU_COMPARE(ltu, !(x >= y))
SIMGPU_COMPARE(gtu, !(x <= y))
#undef SIMGPU_COMPARE
SIMGPU_BOTH SIMGPU_H2 __hisnan2(const SIMGPU_H2 a) {
    const unsigned short one = SIMGPU_BIAS << SIMGPU_FRACTION;
    return SIMGPU_H2(SIMGPU_MADE(__hisnan(a.x) ? one : 0), SIMGPU_MADE(__hisnan(a.y) ? one : 0));
}

/* --- functions: in fp32, rounded -------------------------------------------------------------------------------- */

/* CUDA rounds each of these right for every number; so do these, with the few that fp32 brings to the wrong side. */
#define SIMGPU_EXCEPT(number, result) r = simgpu_bits(a) == number ? (unsigned short)result : r
#if SIMGPU_FRACTION == 10
#define SIMGPU_EXCEPT_exp                                                                                              \
    SIMGPU_EXCEPT(0x1f79, 0x3c07);                                                                                     \
    SIMGPU_EXCEPT(0x25cf, 0x3c17);
#define SIMGPU_EXCEPT_exp2  SIMGPU_EXCEPT(0x11c5, 0x3c01);
#define SIMGPU_EXCEPT_exp10 SIMGPU_EXCEPT(0xbf0a, 0x2473);
#define SIMGPU_EXCEPT_log                                                                                              \
    SIMGPU_EXCEPT(0x1935, 0xc5f9);                                                                                     \
    SIMGPU_EXCEPT(0x1d78, 0xc53b);
#define SIMGPU_EXCEPT_log10                                                                                            \
    SIMGPU_EXCEPT(0x338f, 0xb903);                                                                                     \
    SIMGPU_EXCEPT(0x33f8, 0xb8d5);                                                                                     \
    SIMGPU_EXCEPT(0x4224, 0x37cb);                                                                                     \
    SIMGPU_EXCEPT(0x57e1, 0x4033);                                                                                     \
    SIMGPU_EXCEPT(0x719d, 0x440f);
#define SIMGPU_EXCEPT_sin                                                                                              \
    SIMGPU_EXCEPT(0x32b3, 0x32a7);                                                                                     \
    SIMGPU_EXCEPT(0xb2b3, 0xb2a7);                                                                                     \
    SIMGPU_EXCEPT(0x5cb0, 0xbbff);                                                                                     \
    SIMGPU_EXCEPT(0xdcb0, 0x3bff);
#define SIMGPU_EXCEPT_cos                                                                                              \
    SIMGPU_EXCEPT(0x2b7c, 0x3bfd);                                                                                     \
    SIMGPU_EXCEPT(0xab7c, 0x3bfd);
#else
#define SIMGPU_EXCEPT_exp                                                                                              \
    SIMGPU_EXCEPT(0x40db, 0x446b);                                                                                     \
    SIMGPU_EXCEPT(0x41f9, 0x55f0);
#define SIMGPU_EXCEPT_exp10 SIMGPU_EXCEPT(0xbc95, 0x3f75);
#define SIMGPU_EXCEPT_exp2
#define SIMGPU_EXCEPT_log
#define SIMGPU_EXCEPT_log10
#define SIMGPU_EXCEPT_sin
#define SIMGPU_EXCEPT_cos
#endif
#define SIMGPU_FUNCTION_(name, value, except)                                                                          \
    SIMGPU_DEVICE SIMGPU_H h##name(const SIMGPU_H a) {                                                                 \
        const float x = SIMGPU_FROM(float)(a);                                                                         \
        unsigned short r = simgpu_bits(SIMGPU_TO(float, _rn)(value));                                                  \
        except return SIMGPU_MADE(r);                                                                                  \
    }                                                                                                                  \
    SIMGPU_DEVICE SIMGPU_H2 h2##name(const SIMGPU_H2 a) { return SIMGPU_H2(h##name(a.x), h##name(a.y)); }
#define SIMGPU_FUNCTION(name, value) SIMGPU_FUNCTION_(name, value, )
#define SIMGPU_CLOSE(name, value)    SIMGPU_FUNCTION_(name, value, SIMGPU_EXCEPT_##name)
SIMGPU_FUNCTION(sqrt, simgpu_sqrt(x))
SIMGPU_FUNCTION(rsqrt, simgpu_rsqrt(x))
SIMGPU_FUNCTION(rcp, simgpu_rcp(x))
SIMGPU_CLOSE(exp2, simgpu_ex2(x))
SIMGPU_CLOSE(exp, simgpu_ex2(x * 1.4426950408889634f))
SIMGPU_CLOSE(exp10, simgpu_ex2(x * 3.3219280948873623f))
SIMGPU_FUNCTION(log2, simgpu_lg2(x))
SIMGPU_CLOSE(log, simgpu_lg2(x) * 0.6931471805599453f)
SIMGPU_CLOSE(log10, simgpu_lg2(x) * 0.3010299956639812f)
SIMGPU_CLOSE(sin, ::sinf(x))
SIMGPU_CLOSE(cos, ::cosf(x))
SIMGPU_FUNCTION(tanh, ::tanhf(x))
SIMGPU_FUNCTION(trunc, __builtin_truncf(x))
SIMGPU_FUNCTION(ceil, __builtin_ceilf(x))
SIMGPU_FUNCTION(floor, __builtin_floorf(x))
SIMGPU_FUNCTION(rint, __builtin_rintf(x))
#undef SIMGPU_FUNCTION
#undef SIMGPU_FUNCTION_
#undef SIMGPU_CLOSE
#undef SIMGPU_EXCEPT
#undef SIMGPU_EXCEPT_exp
#undef SIMGPU_EXCEPT_exp2
#undef SIMGPU_EXCEPT_exp10
#undef SIMGPU_EXCEPT_log
#undef SIMGPU_EXCEPT_log10
#undef SIMGPU_EXCEPT_sin
#undef SIMGPU_EXCEPT_cos

/* --- shuffles, cached accesses, atomics -------------------------------------------------------------------------- */

#if defined(__CUDA__)

#define SIMGPU_SHUFFLE(name, argument)                                                                                 \
    SIMGPU_DEVICE SIMGPU_H name(unsigned mask, SIMGPU_H v, argument a, int width = 32) {                               \
        return SIMGPU_MADE((unsigned short)name(mask, (unsigned)simgpu_bits(v), a, width));                            \
    }                                                                                                                  \
    SIMGPU_DEVICE SIMGPU_H2 name(unsigned mask, SIMGPU_H2 v, argument a, int width = 32) {                             \
        return SIMGPU_MADE2(name(mask, simgpu_bits(v), a, width));                                                     \
    }
SIMGPU_SHUFFLE(__shfl_sync, int)
SIMGPU_SHUFFLE(__shfl_up_sync, unsigned)
SIMGPU_SHUFFLE(__shfl_down_sync, unsigned)
SIMGPU_SHUFFLE(__shfl_xor_sync, int)
#undef SIMGPU_SHUFFLE

#ifdef __CUDA_ARCH__
SIMGPU_DEVICE SIMGPU_H atomicAdd(SIMGPU_H *p, SIMGPU_H v) {
    unsigned short r;
    asm volatile("atom.add.noftz." SIMGPU_P " %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(simgpu_bits(v)) : "memory");
    return SIMGPU_MADE(r);
}
SIMGPU_DEVICE SIMGPU_H2 atomicAdd(SIMGPU_H2 *p, SIMGPU_H2 v) {
    unsigned r;
    asm volatile("atom.add.noftz." SIMGPU_P2 " %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(simgpu_bits(v)) : "memory");
    return SIMGPU_MADE2(r);
}
#else
SIMGPU_DEVICE SIMGPU_H atomicAdd(SIMGPU_H *p, SIMGPU_H) { return *p; }
SIMGPU_DEVICE SIMGPU_H2 atomicAdd(SIMGPU_H2 *p, SIMGPU_H2) { return *p; }
#endif
#endif

/* --- operators ----------------------------------------------------------------------------------------------- */

#define SIMGPU_OPERATOR(T, op, f)                                                                                      \
    SIMGPU_BOTH T operator op(const T &a, const T &b) { return f(a, b); }                                              \
    SIMGPU_BOTH T &operator op##=(T &a, const T &b) { return a = f(a, b); }
#define SIMGPU_RELATION(T, op, f)                                                                                      \
    SIMGPU_BOTH bool operator op(const T &a, const T &b) { return f(a, b); }
#define SIMGPU_STEPS(T, add, sub, one)                                                                                 \
    SIMGPU_BOTH T &operator++(T &a) { return a = add(a, one); }                                                        \
    SIMGPU_BOTH T &operator--(T &a) { return a = sub(a, one); }                                                        \
    SIMGPU_BOTH T operator++(T &a, int) {                                                                              \
        const T before = a;                                                                                            \
        a = add(a, one);                                                                                               \
        return before;                                                                                                 \
    }                                                                                                                  \
    SIMGPU_BOTH T operator--(T &a, int) {                                                                              \
        const T before = a;                                                                                            \
        a = sub(a, one);                                                                                               \
        return before;                                                                                                 \
    }
#ifdef SIMGPU_H_OPERATORS
SIMGPU_OPERATOR(SIMGPU_H, +, __hadd)
SIMGPU_OPERATOR(SIMGPU_H, -, __hsub)
SIMGPU_OPERATOR(SIMGPU_H, *, __hmul)
SIMGPU_OPERATOR(SIMGPU_H, /, __hdiv)
SIMGPU_STEPS(SIMGPU_H, __hadd, __hsub, SIMGPU_MADE(SIMGPU_BIAS << SIMGPU_FRACTION))
SIMGPU_BOTH SIMGPU_H operator+(const SIMGPU_H &a) { return a; }
SIMGPU_BOTH SIMGPU_H operator-(const SIMGPU_H &a) { return __hneg(a); }
SIMGPU_RELATION(SIMGPU_H, ==, __heq)
SIMGPU_RELATION(SIMGPU_H, !=, __hneu)
SIMGPU_RELATION(SIMGPU_H, >, __hgt)
SIMGPU_RELATION(SIMGPU_H, <, __hlt)
SIMGPU_RELATION(SIMGPU_H, >=, __hge)
SIMGPU_RELATION(SIMGPU_H, <=, __hle)
#endif
#ifdef SIMGPU_H2_OPERATORS
SIMGPU_OPERATOR(SIMGPU_H2, +, __hadd2)
SIMGPU_OPERATOR(SIMGPU_H2, -, __hsub2)
SIMGPU_OPERATOR(SIMGPU_H2, *, __hmul2)
SIMGPU_OPERATOR(SIMGPU_H2, /, __h2div)
SIMGPU_STEPS(SIMGPU_H2, __hadd2, __hsub2, SIMGPU_MADE2((SIMGPU_BIAS << SIMGPU_FRACTION) * 0x10001u))
SIMGPU_BOTH SIMGPU_H2 operator+(const SIMGPU_H2 &a) { return a; }
SIMGPU_BOTH SIMGPU_H2 operator-(const SIMGPU_H2 &a) { return __hneg2(a); }
SIMGPU_RELATION(SIMGPU_H2, ==, __hbeq2)
SIMGPU_RELATION(SIMGPU_H2, !=, __hbneu2)
SIMGPU_RELATION(SIMGPU_H2, >, __hbgt2)
SIMGPU_RELATION(SIMGPU_H2, <, __hblt2)
SIMGPU_RELATION(SIMGPU_H2, >=, __hbge2)
SIMGPU_RELATION(SIMGPU_H2, <=, __hble2)
#endif

#undef SIMGPU_OPERATOR
#undef SIMGPU_RELATION
#undef SIMGPU_STEPS
#undef SIMGPU_ONE
#undef SIMGPU_ONLY
#undef SIMGPU_TWO
#undef SIMGPU_ROUND
#undef SIMGPU_MADE
#undef SIMGPU_MADE2
#undef SIMGPU_HERE
#undef SIMGPU_TO
#undef SIMGPU_TO2
#undef SIMGPU_FROM
#undef SIMGPU_GLUE
#undef SIMGPU_GLUE_
#undef SIMGPU_DEVICE
#undef SIMGPU_BOTH
