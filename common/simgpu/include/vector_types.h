/* vector_types.h — float4 and its relatives, dim3.
 *
 * A float4 has 16 bytes on a 16-byte boundary, so that a lane can load it with one instruction. Types of three elements
 * have no such instruction and have the alignment of one element. The layouts are the same in plain C and CUDA C++. */
#ifndef SIMGPU_VECTOR_TYPES_H
#define SIMGPU_VECTOR_TYPES_H

/* A copy is one access, as with nvcc. ../tools/wide_copies.c ensures that if the compiler knows the alignment of both
 * sides. For an element of a larger array, clang assumes less alignment than the type's, so the assignment of the labs
 * uses references, whose alignment it trusts. In simcc's programs the types are trivial (SIMGPU_TRIVIAL_VECTORS), as
 * nvcc's are: those have unions of a float4 and four floats, and hand it to templates that ask. */
/* Since C++20 a type with a constructor of its own is no aggregate; `float2 v = {1, 2}` then calls one. */
#if defined(__cplusplus) && __cplusplus >= 202002L
#define SIMGPU_BRACES2(T, name)                                                                                        \
    __attribute__((host, device)) constexpr name(T a, T b) : x(a), y(b) {}
#define SIMGPU_BRACES4(T, name)                                                                                        \
    __attribute__((host, device)) constexpr name(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
#else
#define SIMGPU_BRACES2(T, name)
#define SIMGPU_BRACES4(T, name)
#endif
#if defined(__cplusplus) && defined(__CUDA__) && defined(SIMGPU_TRIVIAL_VECTORS)
#define SIMGPU_COPY(name) name() = default;
#elif defined(__cplusplus) && defined(__CUDA__)
#define SIMGPU_COPY(name)                                                                                              \
    name() = default;                                                                                                  \
    name(const name &) = default;                                                                                      \
    __attribute__((host, device, always_inline, nodebug)) name &operator=(const name &o) {                             \
        *(simgpu_##name *)this = *(const simgpu_##name *)&o;                                                           \
        return *this;                                                                                                  \
    }
#else
#undef SIMGPU_BRACES2
#undef SIMGPU_BRACES4
#define SIMGPU_BRACES2(T, name)
#define SIMGPU_BRACES4(T, name)
#define SIMGPU_COPY(name)
#endif
#define SIMGPU_ALIGN(n) __attribute__((aligned(n)))
#define SIMGPU_VECTORS(T, name, align2, align4)                                                                        \
    struct name##1 {                                                                                                   \
        T x;                                                                                                           \
    };                                                                                                                 \
    struct SIMGPU_ALIGN(align2) simgpu_##name##2 {                                                                     \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct SIMGPU_ALIGN(align2) name##2 {                                                                              \
        T x, y;                                                                                                        \
        SIMGPU_COPY(name##2)                                                                                           \
        SIMGPU_BRACES2(T, name##2)                                                                                     \
    };                                                                                                                 \
    struct name##3 {                                                                                                   \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    struct SIMGPU_ALIGN(align4) simgpu_##name##4 {                                                                     \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    struct SIMGPU_ALIGN(align4) name##4 {                                                                              \
        T x, y, z, w;                                                                                                  \
        SIMGPU_COPY(name##4)                                                                                           \
        SIMGPU_BRACES4(T, name##4)                                                                                     \
    };                                                                                                                 \
    typedef struct name##1 name##1;                                                                                    \
    typedef struct name##2 name##2;                                                                                    \
    typedef struct name##3 name##3;                                                                                    \
    typedef struct name##4 name##4;

SIMGPU_VECTORS(signed char, char, 2, 4)
SIMGPU_VECTORS(unsigned char, uchar, 2, 4)
SIMGPU_VECTORS(short, short, 4, 8)
SIMGPU_VECTORS(unsigned short, ushort, 4, 8)
SIMGPU_VECTORS(int, int, 8, 16)
SIMGPU_VECTORS(unsigned int, uint, 8, 16)
SIMGPU_VECTORS(long, long, 16, 16)
SIMGPU_VECTORS(unsigned long, ulong, 16, 16)
SIMGPU_VECTORS(long long, longlong, 16, 16)
SIMGPU_VECTORS(unsigned long long, ulonglong, 16, 16)
SIMGPU_VECTORS(float, float, 8, 16)
SIMGPU_VECTORS(double, double, 16, 16)
#undef SIMGPU_VECTORS
#undef SIMGPU_COPY
#undef SIMGPU_BRACES2
#undef SIMGPU_BRACES4

/* The shape of a grid or a block; dimensions default to 1. */
struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
#if defined(__CUDA__)
#define SIMGPU_BOTH __attribute__((host)) __attribute__((device))
#else
#define SIMGPU_BOTH
#endif
    SIMGPU_BOTH constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    SIMGPU_BOTH constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    SIMGPU_BOTH operator uint3() const {
        uint3 v = {x, y, z};
        return v;
    }
#undef SIMGPU_BOTH
#endif
};
typedef struct dim3 dim3;

#endif
