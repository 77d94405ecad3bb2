/* cuda_fp16.h — half precision: 1 sign, 5 exponent and 10 fraction bits. For device and host.
 * simgpu_half.h has the functions. A number has 2 bytes, a pair 4 on a 4-byte boundary, as in CUDA. */
#ifndef CUDA_FP16_H
#define CUDA_FP16_H

#include "cuda_runtime.h"

#ifndef __CUDA_NO_HALF_CONVERSIONS__
#define SIMGPU_H_CONVERSIONS
#endif
#ifndef __CUDA_NO_HALF_OPERATORS__
#define SIMGPU_H_OPERATORS
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
#define SIMGPU_H2_OPERATORS
#endif

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __half_raw;
typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} __half2_raw;

#define SIMGPU_MEMBER __attribute__((host, device, always_inline, nodebug))
struct __attribute__((aligned(2))) __half {
  protected:
    unsigned short __x;

  public:
    __half() = default;
    SIMGPU_MEMBER constexpr __half(const __half_raw &raw) : __x(raw.x) {}
    SIMGPU_MEMBER operator __half_raw() const { return __half_raw{__x}; }
    SIMGPU_MEMBER __half &operator=(const __half_raw &raw) {
        __x = raw.x;
        return *this;
    }
    /* The number with these bits, and the bits of a number. */
    SIMGPU_MEMBER static __half simgpu_make(unsigned short bits) { return __half(__half_raw{bits}); }
    SIMGPU_MEMBER friend unsigned short simgpu_bits(const __half v) { return v.__x; }
#ifdef SIMGPU_H_CONVERSIONS
    SIMGPU_MEMBER __half(float f);
    SIMGPU_MEMBER __half(double d);
    SIMGPU_MEMBER __half(short v);
    SIMGPU_MEMBER __half(unsigned short v);
    SIMGPU_MEMBER __half(int v);
    SIMGPU_MEMBER __half(unsigned v);
    SIMGPU_MEMBER __half(long v);
    SIMGPU_MEMBER __half(unsigned long v);
    SIMGPU_MEMBER __half(long long v);
    SIMGPU_MEMBER __half(unsigned long long v);
    SIMGPU_MEMBER operator float() const;
    SIMGPU_MEMBER operator signed char() const;
    SIMGPU_MEMBER operator unsigned char() const;
    SIMGPU_MEMBER operator char() const;
    SIMGPU_MEMBER operator short() const;
    SIMGPU_MEMBER operator unsigned short() const;
    SIMGPU_MEMBER operator int() const;
    SIMGPU_MEMBER operator unsigned() const;
    SIMGPU_MEMBER operator long() const;
    SIMGPU_MEMBER operator unsigned long() const;
    SIMGPU_MEMBER operator long long() const;
    SIMGPU_MEMBER operator unsigned long long() const;
    SIMGPU_MEMBER operator bool() const; /* false for the zeros */
#endif
};

struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    SIMGPU_MEMBER __half2(const __half &a, const __half &b) : x(a), y(b) {}
    SIMGPU_MEMBER __half2(const __half2_raw &raw) : x(__half::simgpu_make(raw.x)), y(__half::simgpu_make(raw.y)) {}
    SIMGPU_MEMBER operator __half2_raw() const { return __half2_raw{simgpu_bits(x), simgpu_bits(y)}; }
};
#undef SIMGPU_MEMBER

#define SIMGPU_H        __half
#define SIMGPU_H2       __half2
#define SIMGPU_N        half
#define SIMGPU_N2       half2
#define SIMGPU_P        "f16"
#define SIMGPU_P2       "f16x2"
#define SIMGPU_FRACTION 10
#define SIMGPU_BIAS     15
#define SIMGPU_H_SATURATES
#include "simgpu_half.h"
#undef SIMGPU_H
#undef SIMGPU_H2
#undef SIMGPU_N
#undef SIMGPU_N2
#undef SIMGPU_P
#undef SIMGPU_P2
#undef SIMGPU_FRACTION
#undef SIMGPU_BIAS
#undef SIMGPU_H_SATURATES
#undef SIMGPU_H_CONVERSIONS
#undef SIMGPU_H_OPERATORS
#undef SIMGPU_H2_OPERATORS

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif

#define CUDART_INF_FP16        __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16        __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16   __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16       __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16        __ushort_as_half((unsigned short)0x3c00)

#endif
