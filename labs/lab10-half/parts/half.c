/* half.c — see half.h. */
#include "half.h"

#include <math.h>

uint16_t half_of(double v) {
    const uint16_t sign = signbit(v) ? 0x8000 : 0;
    const double a = fabs(v);
    int e;
    if (isnan(v)) return 0x7fff;
    if (a >= 65520) return sign | HALF_INFINITY;
    frexp(a, &e);
    const int least =
        e < -13 ? -24 : e - 11; /* the exponent of the last digit: numbers below 2^-14 have fewer digits */
    const double n = nearbyint(ldexp(a, -least));
    if (least == -24) return sign | (uint16_t)n;
    return sign | (uint16_t)(((least + 24) << 10) + (int)n); /* a carry enters the exponent as it should */
}

double half_value(uint16_t h) {
    const int e = h >> 10 & 31, f = h & 1023;
    const double a = e == 0 ? ldexp(f, -24) : e == 31 ? (f ? NAN : HUGE_VAL) : ldexp(1024 + f, e - 25);
    return h & 0x8000 ? -a : a;
}

bool half_is_finite(uint16_t h) { return (h & 0x7c00) != 0x7c00; }

double half_ulp(double v) {
    int e;
    frexp(fabs(v), &e);
    return ldexp(1, (e < -13 ? -24 : e - 11) - 1);
}
