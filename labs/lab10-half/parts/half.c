/* half.c — see half.h. By the bits of a double, since a judge asks a hundred million times. */
#include "half.h"

#include <math.h>
#include <string.h>

static uint64_t bits_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

uint16_t half_of(double v) {
    const uint64_t bits = bits_of(v), a = bits << 1 >> 1, lost = a & ((1ull << 42) - 1), middle = 1ull << 41;
    const uint16_t sign = (uint16_t)(bits >> 63 << 15);
    if (isnan(v)) return 0x7fff;
    if (fabs(v) >= 65520) return sign | HALF_INFINITY;
    if (fabs(v) < 0x1p-14) return sign | (uint16_t)nearbyint(fabs(v) * 0x1p24); /* below 2^-14 are fewer digits */
    uint64_t h = (a >> 42) - (1008ull << 10);
    h += lost > middle || (lost == middle && h & 1); /* a carry enters the exponent as it should */
    return sign | (uint16_t)h;
}

static double value_of(uint16_t h) {
    const int e = h >> 10 & 31, f = h & 1023;
    const double a = e == 0 ? ldexp(f, -24) : e == 31 ? (f ? NAN : HUGE_VAL) : ldexp(1024 + f, e - 25);
    return h & 0x8000 ? -a : a;
}

double half_value(uint16_t h) {
    static double table[1 << 16];
    static bool made;
    for (int i = 0; !made && i < 1 << 16; i++) table[i] = value_of((uint16_t)i);
    made = true;
    return table[h];
}

bool half_is_finite(uint16_t h) { return (h & 0x7c00) != 0x7c00; }

double half_ulp(double v) {
    const uint64_t exponent = bits_of(fabs(v)) >> 52;
    return fabs(v) < 0x1p-14 ? 0x1p-25 : of_bits((exponent - 11) << 52);
}

uint16_t bf16_of(double v) {
    const float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* of two the even one */
}

double bf16_value(uint16_t b) {
    const uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

double bf16_ulp(double v) { return of_bits(((bits_of(fabs(v)) >> 52) - 8) << 52); }
