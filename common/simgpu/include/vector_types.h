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
#define SIMGPU_VECTOR4(T, name, align)                                                                                 \
    struct SIMGPU_ALIGN(align) simgpu_##name {                                                                         \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    struct SIMGPU_ALIGN(align) name {                                                                                  \
        T x, y, z, w;                                                                                                  \
        SIMGPU_COPY(name)                                                                                              \
        SIMGPU_BRACES4(T, name)                                                                                        \
    };                                                                                                                 \
    typedef struct name name;
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
    SIMGPU_VECTOR4(T, name##4, align4)                                                                                 \
    typedef struct name##1 name##1;                                                                                    \
    typedef struct name##2 name##2;                                                                                    \
    typedef struct name##3 name##3;

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
/* CUDA 13 has these by two names, so that the alignment is in the name; 32 bytes are those of Blackwell's widest
 * access. Our version is 12, for which programs may define them themselves: simcc then leaves these out. */
#if !defined(SIMGPU_OWN_ALIGNED_VECTORS)
#define SIMGPU_ALIGNED(T, name)                                                                                        \
    SIMGPU_VECTOR4(T, name##4_16a, 16)                                                                                 \
    SIMGPU_VECTOR4(T, name##4_32a, 32)
SIMGPU_ALIGNED(long, long)
SIMGPU_ALIGNED(unsigned long, ulong)
SIMGPU_ALIGNED(long long, longlong)
SIMGPU_ALIGNED(unsigned long long, ulonglong)
SIMGPU_ALIGNED(double, double)
#undef SIMGPU_ALIGNED
#endif
#undef SIMGPU_VECTORS
#undef SIMGPU_VECTOR4
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
