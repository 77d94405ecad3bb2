/* half_math.h — half (1 sign, 5 exponent, 10 fraction bits) and bfloat16 (1, 8, 7). A number is its bits, in the lower
 * half of a word. Every result is rounded once, to the nearest even: fp32 holds sums of two halves and all products
 * well enough that a second rounding changes nothing (24 >= 2 * 11 + 2 bits); a fused multiply-add is rounded to odd
 * first. No function branches, so the loops over lanes stay vectors (halves.h). A NaN that arithmetic makes is 0x7fff.
 * `i` gives .ftz, .sat, .relu. */
#ifndef SIMGPU_HALF_MATH_H
#define SIMGPU_HALF_MATH_H

#include "../ptx/decode.h"
#include "lane_math.h"

enum { HALF_NAN = 0x7fff, HALF_INFINITY = 0x7c00, HALF_SIGN = 0x8000 };

static inline float half_value(uint32_t h) {
    uint32_t m = (h & 0x7fff) << 13, sign = (h & HALF_SIGN) << 16;
    uint32_t bits = lane_bits_of(lane_float_of(m) * 0x1p112f); /* a subnormal half is a normal float */
    bits = (h & HALF_INFINITY) == HALF_INFINITY ? m | 0x7f800000u : bits;
    return lane_float_of(bits | sign);
}
static inline uint32_t half_of(float f) {
    uint32_t x = lane_bits_of(f), a = x & 0x7fffffffu;
    uint32_t normal = (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;  /* 65520 and more carry into infinity */
    uint32_t tiny = lane_bits_of(lane_float_of(a) + 0.5f) - 0x3f000000u; /* the last bit of 0.5f is half's, 2^-24 */
    uint32_t r = a < 0x38800000u ? tiny : normal;
    r = a > 0x477fffffu ? HALF_INFINITY : r;
    r |= x >> 16 & HALF_SIGN;
    return a > 0x7f800000u ? HALF_NAN : r;
}
static inline float bf16_value(uint32_t h) { return lane_float_of(h << 16); }
static inline uint32_t bf16_of(float f) {
    uint32_t x = lane_bits_of(f), r = (x + 0x7fff + (x >> 16 & 1)) >> 16;
    return f != f ? HALF_NAN : r;
}

/* Flushes a subnormal half to zero with its sign. */
static inline uint32_t half_flush(uint32_t h, bool ftz) { return ftz && !(h & HALF_INFINITY) ? h & HALF_SIGN : h; }
static inline float half_operand(uint32_t h, const ptx_insn *i) { return half_value(half_flush(h, i->ftz)); }

/* Applies .sat (to [0, 1], NaN becomes 0) or .relu (negative numbers become 0) to an exact or rounded result. */
static inline float half_clamp(float r, const ptx_insn *i) {
    float sat = r > 1 ? 1 : r > 0 ? r : 0, relu = r <= 0 ? 0 : r;
    r = i->sat ? sat : r;
    return i->relu ? relu : r;
}
static inline uint32_t half_result(float r, const ptx_insn *i) { return half_flush(half_of(half_clamp(r, i)), i->ftz); }
static inline uint32_t bf16_result(float r, const ptx_insn *i) { return bf16_of(half_clamp(r, i)); }

/* Given a nearest sum s whose exact value is s + err, |err| at most half of its last place, returns the neighbour of
 * the exact value whose last bit is 1, or s if that is exact. Later roundings to fewer bits then are as if of the exact
 * value. */
static inline uint32_t lane_odd32(uint32_t s, double err) {
    uint32_t outward = err > 0 ? s >> 31 ^ 1 : s >> 31;
    uint32_t moved = outward ? s + 1 : s - 1;
    return (err > 0 || err < 0) && !(s & 1) ? moved : s;
}
static inline uint64_t lane_odd64(uint64_t s, double err) {
    uint64_t outward = err > 0 ? s >> 63 ^ 1 : s >> 63;
    uint64_t moved = outward ? s + 1 : s - 1;
    return (err > 0 || err < 0) && !(s & 1) ? moved : s;
}

/* A product of two halves is exact in fp32; the error of the sum is Knuth's. */
static inline float half_fused(float a, float b, float c) {
    float p = a * b;
    float s = p + c, part = s - p;
    float err = (p - (s - part)) + (c - part);
    uint32_t bits = lane_bits_of(s), outward = err > 0 ? bits >> 31 ^ 1 : bits >> 31;
    uint32_t moved = outward ? bits + 1 : bits - 1;
    return lane_float_of((err > 0 || err < 0) && !(bits & 1) ? moved : bits);
}
/* A product of two bfloat16 may leave the range of fp32, so these compute in double, where it is exact. */
static inline float bf16_odd(double v) {
    float f = (float)v;
    return lane_float_of(lane_odd32(lane_bits_of(f), v - (double)f));
}
static inline float bf16_product(float a, float b) { return bf16_odd((double)a * (double)b); }
static inline float bf16_fused(float a, float b, float c) {
    double p = (double)a * (double)b;
    double s = p + (double)c, part = s - p;
    double err = (p - (s - part)) + ((double)c - part);
    uint64_t bits;
    memcpy(&bits, &s, 8);
    bits = lane_odd64(bits, err);
    memcpy(&s, &bits, 8);
    return bf16_odd(s);
}

static inline uint32_t half_add(uint32_t a, uint32_t b, const ptx_insn *i) {
    return half_result(half_operand(a, i) + half_operand(b, i), i);
}
static inline uint32_t bf16_add(uint32_t a, uint32_t b, const ptx_insn *i) {
    return bf16_result(bf16_value(a) + bf16_value(b), i);
}

/* The special function unit cuts its fp32 result off (on an H200, all inputs of ex2); what is too large is infinite. */
static inline uint32_t half_cut(float f) {
    uint32_t x = lane_bits_of(f), a = x & 0x7fffffffu, sign = x >> 16 & HALF_SIGN;
    uint32_t normal = (a - (112u << 23)) >> 13, tiny = (uint32_t)(lane_float_of(a < 0x38800000u ? a : 0) * 0x1p24f);
    uint32_t r = a < 0x38800000u ? tiny : a > 0x477fffffu ? HALF_INFINITY : normal;
    return a > 0x7f800000u ? HALF_NAN : sign | r;
}
static inline uint32_t bf16_cut(float f) { return f != f ? HALF_NAN : lane_bits_of(f) >> 16; }

#endif
