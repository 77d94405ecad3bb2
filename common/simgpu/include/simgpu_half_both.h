/* simgpu_half_both.h — from half to bfloat16 and back, once both headers were read. Included by each of the two. */
#if defined(CUDA_FP16_H) && defined(CUDA_BF16_H) && defined(__cplusplus) && !defined(SIMGPU_HALF_BOTH)
#define SIMGPU_HALF_BOTH
#if !defined(__CUDA_NO_HALF_CONVERSIONS__) && !defined(__CUDA_NO_BFLOAT16_CONVERSIONS__)
__host__ __device__ inline __half::__half(const __nv_bfloat16 &v) : __half((float)v) {}
__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(const __half &v) : __nv_bfloat16((float)v) {}
#endif
#endif
