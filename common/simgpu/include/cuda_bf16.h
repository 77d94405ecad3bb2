/* cuda_bf16.h — bfloat16: the upper half of fp32, 1 sign, 8 exponent and 7 fraction bits. For device and host.
 * simgpu_half_type.h has the types, simgpu_half.h the functions. A number has 2 bytes, a pair 4 on a 4-byte boundary,
 * as in CUDA. */
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

#define SIMGPU_H        __nv_bfloat16
#define SIMGPU_H2       __nv_bfloat162
#define SIMGPU_H_RAW    __nv_bfloat16_raw
#define SIMGPU_H2_RAW   __nv_bfloat162_raw
#define SIMGPU_N        bfloat16
#define SIMGPU_N2       bfloat162
#define SIMGPU_P        "bf16"
#define SIMGPU_P2       "bf16x2"
#define SIMGPU_FRACTION 7
#define SIMGPU_BIAS     127
#define SIMGPU_OTHER    __half
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

#include "simgpu_half_both.h"

#endif
