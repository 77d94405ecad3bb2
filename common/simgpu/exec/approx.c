/* approx.c — the special function unit: sin, cos, lg2, ex2, tanh on fp32, computed in double from series and rounded
 * once. The results are the nearest values and equal on every host; the hardware's errors are about 2^-21. */
#include "lane_math.h"

#include <stdint.h>

/* These return sin(r) and cos(r) for |r| <= pi/4, by Taylor series whose first omitted term is below 2^-53. */
static double sin_series(double r) {
    double x = r * r;
    return r * (1 + x * (-1.0 / 6 +
                         x * (1.0 / 120 + x * (-1.0 / 5040 + x * (1.0 / 362880 +
                                                                  x * (-1.0 / 39916800 + x * (1.0 / 6227020800.0)))))));
}
static double cos_series(double r) {
    double x = r * r;
    return 1 + x * (-0.5 + x * (1.0 / 24 +
                                x * (-1.0 / 720 + x * (1.0 / 40320 + x * (-1.0 / 3628800 + x * (1.0 / 479001600.0 -
                                                                                                x / 87178291200.0))))));
}

/* Sets *r to a less its nearest multiple of pi/2, for 2^20 <= |a| < 2^128, and returns the multiple modulo 4. The
 * product of a and 2/pi has to be known from its weight 2 on only, so of the digits of 2/pi 96 bits count, wherever a's
 * exponent puts them (Payne and Hanek, 1983). */
static int64_t reduce_large(float a, double *r) {
    static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                           0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab}; /* behind 32 zeros */
    const uint32_t bits = lane_bits_of(a);
    const uint32_t first = 32 + (bits >> 23 & 255) - 127 - 23 - 2; /* of its bits, the one that gets the weight 2 */
    unsigned __int128 digits = 0;
    for (uint32_t k = first / 32; k < first / 32 + 4; k++) digits = digits << 32 | two_over_pi[k];
    digits = digits << first % 32 >> 32;
    const unsigned __int128 turns = digits * ((bits & 0x7fffff) | 0x800000) << 32 >> 32; /* in quarters, of 2^94 */
    const int64_t n = (int64_t)(((turns >> 93) + 1) >> 1);
    const double rest = (double)((__int128)turns - ((__int128)n << 94)) * 0x1p-94 * 1.57079632679489661923;
    *r = a < 0 ? -rest : rest;
    return a < 0 ? -n : n;
}

/* Returns sin (quadrant 0) or cos (quadrant 1) of a. The PTX ISA promises nothing for large a; here it is as near as
 * for any other. */
static float circular(float a, int64_t quadrant) {
    double r;
    if (!(__builtin_fabsf(a) < 0x1p127f * 2)) return LANE_NAN;
    if (__builtin_fabsf(a) >= 0x1p20f) {
        quadrant += reduce_large(a, &r);
    } else {
        double n = __builtin_floor((double)a * 0.63661977236758134308 + 0.5);
        r = ((double)a - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
        quadrant += (int64_t)n;
    }
    double v = quadrant & 1 ? cos_series(r) : sin_series(r);
    return (float)(quadrant & 2 ? -v : v);
}

float exec_approx_sin(float a) { return a == 0 ? a : circular(a, 0); }
float exec_approx_cos(float a) { return circular(a, 1); }

/* Returns 2^a, the integer part by the exponent, the fraction f by the series of exp(f ln 2). */
static double exp2_double(double a) {
    double n = __builtin_floor(a + 0.5), x = (a - n) * 0.693147180559945309417;
    double sum = 1;
    for (int k = 16; k > 0; k--) sum = 1 + sum * x / k;
    uint64_t bits = (uint64_t)(1023 + (int64_t)n) << 52;
    double power;
    memcpy(&power, &bits, 8);
    return sum * power;
}

float exec_approx_ex2(float a) {
    if (a != a) return LANE_NAN;
    if (a >= 128) return __builtin_inff();
    if (a < -160) return 0;
    return (float)exp2_double(a);
}

/* Uses log2(m * 2^e) = e + 2/ln2 * atanh((m - 1) / (m + 1)), sqrt(1/2) <= m < sqrt(2). */
float exec_approx_lg2(float a) {
    if (a != a || a < 0) return LANE_NAN;
    if (a == 0) return -__builtin_inff();
    if (a > 0x1.fffffep127f) return a;
    double m = a;
    uint64_t bits;
    memcpy(&bits, &m, 8);
    int64_t e = (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
    memcpy(&m, &bits, 8);
    if (m > 1.41421356237309504880) m /= 2, e++;
    double z = (m - 1) / (m + 1), x = z * z, sum = 0;
    for (int k = 21; k > 0; k -= 2) sum = sum * x + 1.0 / k;
    return (float)((double)e + 2.88539008177792681472 * z * sum);
}

float exec_approx_tanh(float a) {
    if (a != a) return LANE_NAN;
    if (__builtin_fabsf(a) < 1e-4f) return a;
    if (a > 20) return 1;
    if (a < -20) return -1;
    double e = exp2_double((double)a * 2.88539008177792681472);
    return (float)((e - 1) / (e + 1));
}
