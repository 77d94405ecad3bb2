/* lane_math.h — scalar helpers for the lane expressions of opcodes.def. All are total, and none depends on the host's
 * libm, so every machine computes the same bits. */
#ifndef SIMGPU_LANE_MATH_H
#define SIMGPU_LANE_MATH_H

#include <stdint.h>
#include <string.h>

#define LANE_NAN lane_float_of(0x7fffffffu)

static inline float lane_float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline uint32_t lane_bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static inline float lane_canonical(float f) { return f != f ? LANE_NAN : f; }

/* clang 22 takes the root of a negative number for no NaN, and lane_canonical would not see the host's. */
static inline float lane_sqrt(float a) { return a < 0 ? LANE_NAN : __builtin_sqrtf(a); }

/* Two numbers of 16 bits in a word: `value`, an expression in x and y, for the lower halves of a and b and for the
 * upper ones. */
#define LANE_TWO(T, a, b, value)                                                                                       \
    ((uint32_t)(LANE_HALF(T, (T)(a), (T)(b), value) & 0xffff) |                                                        \
     (uint32_t)LANE_HALF(T, (T)((a) >> 16), (T)((b) >> 16), value) << 16)
#define LANE_HALF(T, first, second, value)                                                                             \
    ({                                                                                                                 \
        const T x = first, y = second;                                                                                 \
        value;                                                                                                         \
    })
static inline uint32_t lane_add_two(uint32_t a, uint32_t b) {
    return ((a & 0x7fff7fff) + (b & 0x7fff7fff)) ^ ((a ^ b) & 0x80008000);
}
static inline int32_t lane_relu(int32_t a) { return a > 0 ? a : 0; }

/* Quotients by way of double, which has vectors where the host has none of integers. They are exact: a quotient that is
 * no integer lies at least 2^-32 of itself below the next one, and the rounding is 2^-53 of it. Require b != 0; signed:
 * no overflow. */
static inline uint32_t lane_quotient(uint32_t a, uint32_t b) { return (uint32_t)((double)a / b); }
static inline int32_t lane_quotient_signed(int32_t a, int32_t b) { return (int32_t)((double)a / b); }

/* Returns a % b by way of double, with no branch. Requires !lane_rest_is_other(a, b): b is 1 to 2^62 - 1 and the
 * quotient less than 2^50. Three roundings of 2^-53 each move it by less than 3/8, and adding 2^52 rounds it to an
 * integer, so that a - q * b lies between -b and b; b is added once where that is negative. */
static inline uint64_t lane_rest_is_other(uint64_t a, uint64_t b) { return b >> 62 | (a >> 50 >= b); }
static inline uint64_t lane_rest(uint64_t a, uint64_t b) {
    double shifted = (double)a / (double)b + 0x1p52;
    uint64_t q;
    memcpy(&q, &shifted, 8);
    uint64_t r = a - (q & 0xfffffffffffff) * b;
    return r + (-(r >> 63) & b);
}

/* Flushes a denormal number to zero with its sign (.ftz). */
static inline float lane_flush_f32(float f) {
    return __builtin_fabsf(f) < 0x1p-126f ? __builtin_copysignf(0.0f, f) : f;
}

static inline int32_t lane_saturate(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}
static inline int32_t lane_s24(int32_t v) { return (int32_t)((uint32_t)v << 8) >> 8; }
static inline uint32_t lane_brev32(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}

/* Returns the position of the highest 1 bit, or ~0 if there is none. from = 32 or 64 returns the shift that brings the
 * bit to the top. */
static inline uint32_t lane_bfind(uint64_t v, uint32_t from) {
    if (v == 0) return ~0u;
    uint32_t position = 63 - (uint32_t)__builtin_clzll(v);
    return from ? from - 1 - position : position;
}

/* Returns bits [pos, pos + len) of a, zero- or sign-extended; bits past the top are copies of the sign (PTX ISA,
 * bfe). */
static inline uint64_t lane_bfe(uint64_t a, uint32_t pos, uint32_t len, uint32_t width, int is_signed) {
    pos &= 0xff, len &= 0xff;
    if (len == 0) return 0;
    uint64_t value = width == 32 ? (uint32_t)a : a;
    uint32_t top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    uint64_t sign = is_signed ? value >> top & 1 : 0;
    uint64_t field = pos < width ? value >> pos : 0;
    uint32_t have = pos < width ? (len < width - pos ? len : width - pos) : 0;
    if (have < 64) field &= (1ull << have) - 1;
    if (sign && have < 64) field |= ~0ull << have;
    return field;
}
static inline uint32_t lane_bmsk(uint32_t a, uint32_t b, int wrap) {
    if (wrap) a &= 31, b &= 31;
    if (a >= 32 || b == 0) return 0;
    uint32_t ones = b >= 32 ? ~0u : (1u << b) - 1;
    return ones << a;
}
static inline uint32_t lane_dp4a(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed) {
    for (int k = 0; k < 4; k++) {
        int32_t x = a_signed ? (int8_t)(a >> 8 * k) : (int32_t)(uint8_t)(a >> 8 * k);
        int32_t y = b_signed ? (int8_t)(b >> 8 * k) : (int32_t)(uint8_t)(b >> 8 * k);
        c += (uint32_t)(x * y);
    }
    return c;
}
/* a: two integers of 16 bits; b: two bytes from bit `from` on. */
static inline uint32_t lane_dp2a(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed, int from) {
    for (int k = 0; k < 2; k++) {
        int32_t x = a_signed ? (int16_t)(a >> 16 * k) : (int32_t)(uint16_t)(a >> 16 * k);
        int32_t y = b_signed ? (int8_t)(b >> (from + 8 * k)) : (int32_t)(uint8_t)(b >> (from + 8 * k));
        c += (uint32_t)(x * y);
    }
    return c;
}

/* vabsdiff4: the differences of four bytes, each in its place (then c is not used), or their sum and c. */
static inline uint32_t lane_absolute_differences(uint32_t a, uint32_t b, uint32_t c, int add) {
    uint32_t bytes = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t x = a >> 8 * k & 255, y = b >> 8 * k & 255, difference = x < y ? y - x : x - y;
        bytes |= difference << 8 * k;
        c += difference;
    }
    return add ? c : bytes;
}

/* min and max return the other operand if one is NaN, and order -0 before +0. */
static inline float lane_min_f32(float a, float b) {
    float m = a < b ? a : b;
    m = a == b ? lane_float_of(lane_bits_of(a) | lane_bits_of(b)) : m;
    m = a != a ? b : m;
    return b != b ? a : m;
}
static inline float lane_max_f32(float a, float b) {
    float m = a > b ? a : b;
    m = a == b ? lane_float_of(lane_bits_of(a) & lane_bits_of(b)) : m;
    m = a != a ? b : m;
    return b != b ? a : m;
}
static inline double lane_min_f64(double a, double b) {
    if (a != a || b != b) return a != a ? b : a;
    return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
static inline double lane_max_f64(double a, double b) {
    if (a != a || b != b) return a != a ? b : a;
    return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}
#define lane_min(a, b) _Generic((a), float : lane_min_f32, double : lane_min_f64)(a, b)
#define lane_max(a, b) _Generic((a), float : lane_max_f32, double : lane_max_f64)(a, b)
static inline float lane_xorsign(float v, float a, float b) {
    return lane_float_of(lane_bits_of(v) | ((lane_bits_of(a) ^ lane_bits_of(b)) & 0x80000000u));
}

/* Clears the lower 32 bits, as rcp.approx.ftz.f64 and rsqrt.approx.f64 do. */
static inline double lane_high_word(double v) {
    uint64_t bits;
    memcpy(&bits, &v, 8);
    bits &= 0xffffffff00000000ull;
    memcpy(&v, &bits, 8);
    return v;
}
float exec_approx_sin(float), exec_approx_cos(float), exec_approx_lg2(float), exec_approx_ex2(float),
    exec_approx_tanh(float); /* approx.c */

#endif
