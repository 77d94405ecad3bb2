/* cuda_device_runtime_api.h — what kernels call to launch kernels. Included by cuda_runtime.h.
 *
 * Thrust and CUB name these functions in code that no kernel runs. A kernel that does call one compiles, and its launch
 * is refused by name. */
#ifndef SIMGPU_CUDA_DEVICE_RUNTIME_API_H
#define SIMGPU_CUDA_DEVICE_RUNTIME_API_H

#if defined(__CUDA__)
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ void *cudaGetParameterBufferV2(void *func, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t cudaLaunchDevice(void *func, void *parameters, dim3 grid, dim3 block, unsigned int shared,
                                        cudaStream_t stream);
__device__ cudaError_t cudaLaunchDeviceV2(void *parameters, cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
}
#endif

#endif
