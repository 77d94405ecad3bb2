/* cuda_bf16.h — bfloat16: the upper half of fp32, 1 sign, 8 exponent and 7 fraction bits. For device and host.
 * simgpu_half.h has the functions. A number has 2 bytes, a pair 4 on a 4-byte boundary, as in CUDA. */
#ifndef CUDA_BF16_H
#define CUDA_BF16_H

#include "cuda_runtime.h"

#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define SIMGPU_H_CONVERSIONS
#endif
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define SIMGPU_H_OPERATORS
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
#define SIMGPU_H2_OPERATORS
#endif

typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} __nv_bfloat162_raw;

#define SIMGPU_MEMBER __attribute__((host, device, always_inline, nodebug))
struct __attribute__((aligned(2))) __nv_bfloat16 {
  protected:
    unsigned short __x;

  public:
    __nv_bfloat16() = default;
    SIMGPU_MEMBER constexpr __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
    SIMGPU_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    SIMGPU_MEMBER __nv_bfloat16 &operator=(const __nv_bfloat16_raw &raw) {
        __x = raw.x;
        return *this;
    }
    /* The number with these bits, and the bits of a number. */
    SIMGPU_MEMBER static __nv_bfloat16 simgpu_make(unsigned short bits) {
        return __nv_bfloat16(__nv_bfloat16_raw{bits});
    }
    SIMGPU_MEMBER friend unsigned short simgpu_bits(const __nv_bfloat16 v) { return v.__x; }
#ifdef SIMGPU_H_CONVERSIONS
    SIMGPU_MEMBER __nv_bfloat16(float f);
    SIMGPU_MEMBER __nv_bfloat16(double d);
    SIMGPU_MEMBER __nv_bfloat16(short v);
    SIMGPU_MEMBER __nv_bfloat16(unsigned short v);
    SIMGPU_MEMBER __nv_bfloat16(int v);
    SIMGPU_MEMBER __nv_bfloat16(unsigned v);
    SIMGPU_MEMBER __nv_bfloat16(long v);
    SIMGPU_MEMBER __nv_bfloat16(unsigned long v);
    SIMGPU_MEMBER __nv_bfloat16(long long v);
    SIMGPU_MEMBER __nv_bfloat16(unsigned long long v);
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

struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    SIMGPU_MEMBER __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
    SIMGPU_MEMBER __nv_bfloat162(const __nv_bfloat162_raw &raw)
        : x(__nv_bfloat16::simgpu_make(raw.x)), y(__nv_bfloat16::simgpu_make(raw.y)) {}
    SIMGPU_MEMBER operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{simgpu_bits(x), simgpu_bits(y)}; }
};
#undef SIMGPU_MEMBER

#define SIMGPU_H        __nv_bfloat16
#define SIMGPU_H2       __nv_bfloat162
#define SIMGPU_N        bfloat16
#define SIMGPU_N2       bfloat162
#define SIMGPU_P        "bf16"
#define SIMGPU_P2       "bf16x2"
#define SIMGPU_FRACTION 7
#define SIMGPU_BIAS     127
#include "simgpu_half.h"
#undef SIMGPU_H
#undef SIMGPU_H2
#undef SIMGPU_N
#undef SIMGPU_N2
#undef SIMGPU_P
#undef SIMGPU_P2
#undef SIMGPU_FRACTION
#undef SIMGPU_BIAS
#undef SIMGPU_H_CONVERSIONS
#undef SIMGPU_H_OPERATORS
#undef SIMGPU_H2_OPERATORS

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16        __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16        __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16   __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16       __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16        __ushort_as_bfloat16((unsigned short)0x3f80)

#endif
