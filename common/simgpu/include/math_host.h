/* math_host.h — functions of CUDA's math API that C lacks, for host code; math_functions.h has them for device code.
 * Included by cuda_runtime.h, behind <math.h>. */
#ifndef SIMGPU_MATH_HOST_H
#define SIMGPU_MATH_HOST_H

#if defined(__CUDA__)
#define SIMGPU_HOST static __inline__ __attribute__((host, unused))
#else
#define SIMGPU_HOST static __inline__ __attribute__((unused))
#endif

/* C23 has some of them, and so newer versions of glibc. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 42)
#define SIMGPU_LIBC_HAS_RSQRT
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 41)
#define SIMGPU_LIBC_HAS_SINPI
#endif

#if !defined(SIMGPU_LIBC_HAS_RSQRT)
SIMGPU_HOST float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMGPU_HOST double rsqrt(double x) { return 1.0 / sqrt(x); }
#endif
SIMGPU_HOST float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMGPU_HOST double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMGPU_HOST float fdividef(float x, float y) { return x / y; }
SIMGPU_HOST double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
SIMGPU_HOST double norm4d(double x, double y, double z, double w) { return sqrt(x * x + y * y + z * z + w * w); }
SIMGPU_HOST float norm3df(float x, float y, float z) { return (float)norm3d(x, y, z); }
SIMGPU_HOST float norm4df(float x, float y, float z, float w) { return (float)norm4d(x, y, z, w); }
SIMGPU_HOST double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
SIMGPU_HOST float rnorm3df(float x, float y, float z) { return (float)rnorm3d(x, y, z); }
SIMGPU_HOST double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
SIMGPU_HOST float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
SIMGPU_HOST double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654757); }
SIMGPU_HOST float normcdff(float x) { return (float)normcdf(x); }
#if !defined(SIMGPU_LIBC_HAS_SINPI)
/* remainder() is exact, so that whole and half numbers have exact results. */
SIMGPU_HOST double cospi(double x) { return sin(3.14159265358979323846 * (0.5 - fabs(remainder(x, 2)))); }
SIMGPU_HOST double sinpi(double x) { return cospi(x - 0.5); }
SIMGPU_HOST float sinpif(float x) { return (float)sinpi(x); }
SIMGPU_HOST float cospif(float x) { return (float)cospi(x); }
#endif
SIMGPU_HOST void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
SIMGPU_HOST void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }

#undef SIMGPU_HOST
#undef SIMGPU_LIBC_HAS_RSQRT
#undef SIMGPU_LIBC_HAS_SINPI
#endif
