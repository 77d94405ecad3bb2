/* vector_functions.h — make_float4(x, y, z, w) and its relatives, for host and device code. */
#ifndef SIMGPU_VECTOR_FUNCTIONS_H
#define SIMGPU_VECTOR_FUNCTIONS_H

#include "vector_types.h"

#if defined(__CUDA__)
#define SIMGPU_MAKE static inline __attribute__((host, device, always_inline, nodebug))
#else
#define SIMGPU_MAKE static inline
#endif

#define SIMGPU_MAKE4(T, name)                                                                                          \
    SIMGPU_MAKE name make_##name(T x, T y, T z, T w) {                                                                 \
        name v = {x, y, z, w};                                                                                         \
        return v;                                                                                                      \
    }
#define SIMGPU_MAKERS(T, name)                                                                                         \
    SIMGPU_MAKE name##1 make_##name##1(T x) {                                                                          \
        name##1 v = {x};                                                                                               \
        return v;                                                                                                      \
    }                                                                                                                  \
    SIMGPU_MAKE name##2 make_##name##2(T x, T y) {                                                                     \
        name##2 v = {x, y};                                                                                            \
        return v;                                                                                                      \
    }                                                                                                                  \
    SIMGPU_MAKE name##3 make_##name##3(T x, T y, T z) {                                                                \
        name##3 v = {x, y, z};                                                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    SIMGPU_MAKE4(T, name##4)

SIMGPU_MAKERS(signed char, char)
SIMGPU_MAKERS(unsigned char, uchar)
SIMGPU_MAKERS(short, short)
SIMGPU_MAKERS(unsigned short, ushort)
SIMGPU_MAKERS(int, int)
SIMGPU_MAKERS(unsigned int, uint)
SIMGPU_MAKERS(long, long)
SIMGPU_MAKERS(unsigned long, ulong)
SIMGPU_MAKERS(long long, longlong)
SIMGPU_MAKERS(unsigned long long, ulonglong)
SIMGPU_MAKERS(float, float)
SIMGPU_MAKERS(double, double)
#if !defined(SIMGPU_OWN_ALIGNED_VECTORS)
#define SIMGPU_MAKE_ALIGNED(T, name)                                                                                   \
    SIMGPU_MAKE4(T, name##4_16a)                                                                                       \
    SIMGPU_MAKE4(T, name##4_32a)
SIMGPU_MAKE_ALIGNED(long, long)
SIMGPU_MAKE_ALIGNED(unsigned long, ulong)
SIMGPU_MAKE_ALIGNED(long long, longlong)
SIMGPU_MAKE_ALIGNED(unsigned long long, ulonglong)
SIMGPU_MAKE_ALIGNED(double, double)
#undef SIMGPU_MAKE_ALIGNED
#endif
#undef SIMGPU_MAKERS
#undef SIMGPU_MAKE4
#undef SIMGPU_MAKE

#endif
