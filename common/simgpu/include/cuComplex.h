/* cuComplex.h — complex numbers for plain C and for CUDA: a float2 or a double2, x the real part and y the imaginary.
 *
 * Division and absolute value scale their operands first, so that no square leaves the range of the type. */
#ifndef SIMGPU_CUCOMPLEX_H
#define SIMGPU_CUCOMPLEX_H

#include <math.h>

#include "vector_functions.h"

#if defined(__CUDA__)
#define SIMGPU_COMPLEX static inline __attribute__((host, device, always_inline, nodebug, unused))
#else
#define SIMGPU_COMPLEX static inline __attribute__((unused))
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* T: the type of a part; C: of the number; f: the suffix of the C library's names. */
#define SIMGPU_COMPLEX_OF(T, C, make, real, imag, conj, add, sub, mul, div, abs_, fma_, fabs_, sqrt_)                  \
    SIMGPU_COMPLEX C make(T r, T i) {                                                                                  \
        C c;                                                                                                           \
        c.x = r;                                                                                                       \
        c.y = i;                                                                                                       \
        return c;                                                                                                      \
    }                                                                                                                  \
    SIMGPU_COMPLEX T real(C a) { return a.x; }                                                                         \
    SIMGPU_COMPLEX T imag(C a) { return a.y; }                                                                         \
    SIMGPU_COMPLEX C conj(C a) { return make(a.x, -a.y); }                                                             \
    SIMGPU_COMPLEX C add(C a, C b) { return make(a.x + b.x, a.y + b.y); }                                              \
    SIMGPU_COMPLEX C sub(C a, C b) { return make(a.x - b.x, a.y - b.y); }                                              \
    SIMGPU_COMPLEX C mul(C a, C b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }                      \
    SIMGPU_COMPLEX C div(C a, C b) {                                                                                   \
        T by = 1 / (fabs_(b.x) + fabs_(b.y)), ax = a.x * by, ay = a.y * by, bx = b.x * by, y = b.y * by;               \
        T over = 1 / (bx * bx + y * y);                                                                                \
        return make((ax * bx + ay * y) * over, (ay * bx - ax * y) * over);                                             \
    }                                                                                                                  \
    SIMGPU_COMPLEX T abs_(C a) {                                                                                       \
        T x = fabs_(a.x), y = fabs_(a.y), more = x > y ? x : y, less = x > y ? y : x;                                  \
        if (more == 0 || more - more != 0 || less - less != 0) return x + y; /* zero, infinity or NaN */               \
        less /= more;                                                                                                  \
        return more * sqrt_(1 + less * less);                                                                          \
    }                                                                                                                  \
    /* a * b + c */                                                                                                    \
    SIMGPU_COMPLEX C fma_(C a, C b, C c) {                                                                             \
        T r = a.x * b.x + c.x, i = a.x * b.y + c.y;                                                                    \
        return make(r - a.y * b.y, i + a.y * b.x);                                                                     \
    }
SIMGPU_COMPLEX_OF(float, cuFloatComplex, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf, cuCmulf,
                  cuCdivf, cuCabsf, cuCfmaf, fabsf, sqrtf)
SIMGPU_COMPLEX_OF(double, cuDoubleComplex, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul,
                  cuCdiv, cuCabs, cuCfma, fabs, sqrt)
#undef SIMGPU_COMPLEX_OF

SIMGPU_COMPLEX cuComplex make_cuComplex(float r, float i) { return make_cuFloatComplex(r, i); }
SIMGPU_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) {
    return make_cuFloatComplex((float)c.x, (float)c.y);
}
SIMGPU_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) { return make_cuDoubleComplex(c.x, c.y); }
#undef SIMGPU_COMPLEX

#endif
