/* cuda_old_names.h — names of CUDA that older books and courses use, and today's nvcc no longer knows. They work, and
 * for those that went with CUDA 10 or before, the compiler's warning names today's. Included by cuda_runtime.h. */
#ifndef SIMGPU_CUDA_OLD_NAMES_H
#define SIMGPU_CUDA_OLD_NAMES_H

#define SIMGPU_OLD(today) static inline __attribute__((deprecated("CUDA has no such name any more; today's is " today)))

SIMGPU_OLD("cudaDeviceSynchronize") cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
SIMGPU_OLD("cudaDeviceReset") cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
SIMGPU_OLD("cudaDeviceSetLimit") cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
SIMGPU_OLD("cudaDeviceGetLimit") cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
SIMGPU_OLD("cudaDeviceSetCacheConfig") cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}

#if defined(__CUDA__)
/* Before Volta the lanes of a warp went together, and these took whichever were active. */
#define SIMGPU_OLD_SHUFFLE(name, lane_type)                                                                            \
    template <class T>                                                                                                 \
    SIMGPU_OLD(#name "_sync, whose first argument is a mask of lanes, 0xffffffff for all")                             \
    __device__ T name(T v, lane_type lane, int width = 32) {                                                           \
        return name##_sync(__activemask(), v, lane, width);                                                            \
    }
SIMGPU_OLD_SHUFFLE(__shfl, int)
SIMGPU_OLD_SHUFFLE(__shfl_up, unsigned)
SIMGPU_OLD_SHUFFLE(__shfl_down, unsigned)
SIMGPU_OLD_SHUFFLE(__shfl_xor, int)
#undef SIMGPU_OLD_SHUFFLE
#define SIMGPU_OLD_VOTE(T, name)                                                                                       \
    SIMGPU_OLD(#name "_sync, whose first argument is a mask of lanes, 0xffffffff for all")                             \
    __device__ T name(int p) { return name##_sync(__activemask(), p); }
SIMGPU_OLD_VOTE(int, __all)
SIMGPU_OLD_VOTE(int, __any)
SIMGPU_OLD_VOTE(unsigned, __ballot)
#undef SIMGPU_OLD_VOTE
#endif
#undef SIMGPU_OLD

/* CUDA 12's names for the forms that CUDA 13 has under the plain names. */
#define cudaMemPrefetchAsync_v2           cudaMemPrefetchAsync
#define cudaMemAdvise_v2                  cudaMemAdvise
#define cudaGraphAddNode_v2               cudaGraphAddNode
#define cudaGraphAddDependencies_v2       cudaGraphAddDependencies
#define cudaGraphRemoveDependencies_v2    cudaGraphRemoveDependencies
#define cudaGraphGetEdges_v2              cudaGraphGetEdges
#define cudaGraphNodeGetDependencies_v2   cudaGraphNodeGetDependencies
#define cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeGetDependentNodes
#define cudaStreamGetCaptureInfo_v3       cudaStreamGetCaptureInfo

#endif
