/* cuda_fp16.h — half precision: 1 sign, 5 exponent and 10 fraction bits. For device and host.
 * simgpu_half_type.h has the types, simgpu_half.h the functions. A number has 2 bytes, a pair 4 on a 4-byte boundary,
 * as in CUDA. */
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

#define SIMGPU_H        __half
#define SIMGPU_H2       __half2
#define SIMGPU_H_RAW    __half_raw
#define SIMGPU_H2_RAW   __half2_raw
#define SIMGPU_N        half
#define SIMGPU_N2       half2
#define SIMGPU_P        "f16"
#define SIMGPU_P2       "f16x2"
#define SIMGPU_FRACTION 10
#define SIMGPU_BIAS     15
#define SIMGPU_H_SATURATES
#define SIMGPU_OTHER __nv_bfloat16
#include "simgpu_half_type.h"
#if defined(__cplusplus)
#include "simgpu_half.h"
#endif
#undef SIMGPU_H
#undef SIMGPU_H2
#undef SIMGPU_H_RAW
#undef SIMGPU_H2_RAW
#undef SIMGPU_N
#undef SIMGPU_N2
#undef SIMGPU_P
#undef SIMGPU_P2
#undef SIMGPU_FRACTION
#undef SIMGPU_BIAS
#undef SIMGPU_OTHER
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

#include "simgpu_half_both.h"

#endif
