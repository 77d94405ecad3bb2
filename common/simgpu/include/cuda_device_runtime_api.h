/* cuda_device_runtime_api.h — the device runtime: what kernels call to launch kernels, and what of the runtime they may
 * call beside it. Included by cuda_runtime.h. exec/children.c has the functions.
 *
 * clang 22 and later make of <<<>>> in a kernel calls of cudaGetParameterBuffer and cudaLaunchDevice. */
#ifndef SIMGPU_CUDA_DEVICE_RUNTIME_API_H
#define SIMGPU_CUDA_DEVICE_RUNTIME_API_H

/* Streams of launches by kernels: the child waits for the end of its parent's grid; the child runs by itself. */
#define cudaStreamTailLaunch    ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

#if defined(__CUDA__)
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ void *cudaGetParameterBufferV2(void *func, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t cudaLaunchDevice(void *func, void *parameters, dim3 grid, dim3 block, unsigned int shared,
                                        cudaStream_t stream);
__device__ cudaError_t cudaLaunchDeviceV2(void *parameters, cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
}

/* A kernel may begin before the one ahead of it has ended if both say so (programmatic dependent launch). Here it never
 * does, so there is nothing to wait for, and nobody to tell. */
static __device__ __inline__ __attribute__((always_inline, nodebug, unused)) void cudaGridDependencySynchronize(void) {}
static __device__ __inline__ __attribute__((always_inline, nodebug, unused)) void
cudaTriggerProgrammaticLaunchCompletion(void) {}

/* With -rdc=true, as nvcc wants it: a second function of such a name makes the address of the host's ambiguous, which
 * programs hand to std::unique_ptr and std::function. */
#if defined(__CUDACC_RDC__)
extern "C" {
__device__ cudaError_t cudaGetLastError(void);
__device__ cudaError_t cudaPeekAtLastError(void);
__device__ const char *cudaGetErrorString(cudaError_t error);
__device__ const char *cudaGetErrorName(cudaError_t error);
__device__ cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
__device__ cudaError_t cudaStreamDestroy(cudaStream_t stream);
__device__ cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
__device__ cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__device__ cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
__device__ cudaError_t cudaEventDestroy(cudaEvent_t event);
__device__ cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                       cudaStream_t stream = 0);
__device__ cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                         size_t height, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);
__device__ cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                         cudaStream_t stream = 0);
__device__ cudaError_t cudaMalloc(void **pointer, size_t bytes);
__device__ cudaError_t cudaFree(void *pointer);
__device__ cudaError_t cudaGetDevice(int *device);
__device__ cudaError_t cudaGetDeviceCount(int *count);
__device__ cudaError_t cudaRuntimeGetVersion(int *version);
__device__ cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
__device__ cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
__device__ cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);
__device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                                     size_t shared);
__device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel,
                                                                              int threads, size_t shared,
                                                                              unsigned int flags);
__device__ cudaError_t
cudaDeviceSynchronize(void); /* a kernel that calls it is refused at its launch, as CUDA 12 dropped it */
}
template <class T> __device__ static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc((void **)pointer, bytes);
}
template <class... P>
__device__ static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                                           void (*kernel)(P...)) {
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class... P>
__device__ static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                                                   int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
#endif
#endif

#endif
