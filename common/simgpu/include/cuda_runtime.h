/* cuda_runtime.h — CUDA C++ for clang, without any file of the CUDA toolkit.
 *
 * clang implements the language (__global__ functions, <<<...>>>, two passes over one file). This header declares the
 * qualifiers, the runtime API, and for device code the built-in variables and functions. Include it first (the build
 * does, with -include), since device math must be declared before <math.h> (see math_functions.h). */
#ifndef SIMGPU_CUDA_RUNTIME_H
#define SIMGPU_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__ /* programs ask for it, and for host_defines.h, by these names */
#define __HOST_DEFINES_H__

#if defined(__CUDA__)
#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
/* clang has no such variables for CUDA; cudart/section.c says how they are told from __device__ ones. */
#if defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, section("simgpu_managed")))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__        __inline__ __attribute__((always_inline))
/* __noinline__ is missing here: clang 15 and later have it as a keyword, and with clang 14 libstdc++ uses the word as
 * the name of an attribute. */
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
/* nvcc hides a lambda of the device from host code; clang compiles its type for both, so templates may ask about it. */
#define __nv_is_extended_device_lambda_closure_type(T)               false
#define __nv_is_extended_host_device_lambda_closure_type(T)          false
#define __nv_is_extended_device_lambda_with_preserved_return_type(T) false
#else /* a file of the host alone: the words mean nothing there, and headers that both kinds of files include have     \
         them */
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__      __inline__ __attribute__((always_inline))
#define __align__(n)         __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#endif

/* CUDA's C++ library (Thrust, CUB, libcu++) asks whether a header exists: unsupported/ has some, and our nvtx3.hpp is
 * small. */
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT
#define CCCL_DISABLE_NVTX

/* A GPU has no 128-bit float, though clang 17 and 18 describe the host's to libstdc++ (see bits/floatn.h). */
#if defined(__CUDA_ARCH__)
#undef __FLOAT128__
#undef __SIZEOF_FLOAT128__
#endif

#if defined(__CUDA__)
/* Before libstdc++ reads <new>, whose device forms call these. */
extern "C" __device__ void *malloc(__SIZE_TYPE__ bytes) __attribute__((nothrow));
extern "C" __device__ void free(void *block) __attribute__((nothrow));
#endif

#if defined(__cplusplus) && __has_include(<bits/c++config.h>)
/* libstdc++'s <cmath> of C++17 has std::beta, std::hermite and such, which take half of the time in which clang reads a
 * program. They are left out; what else they bring (std::min, std::swap, std::numeric_limits) is not. */
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <bits/stl_algobase.h>
#include <limits>
#endif

#include "vector_types.h"
#include "vector_functions.h"
#include "device_launch_parameters.h"
#if defined(__CUDA__)
#include "math_functions.h"
#endif
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__cplusplus)
#include "math_host.h"
#endif
#include "cuda_runtime_api.h"
#include "channel_descriptor.h"
#if defined(__CUDA__)
#include "device_intrinsics.h"
#include "simgpu_dpx.h"
#include "device_functions.h"
#include "device_atomic_functions.h"
#include "cuda_device_runtime_api.h"
#include "surface_indirect_functions.h"
#include "texture_indirect_functions.h"
#include "cuda_unsupported.h"
#endif

#if defined(__CUDA__)
/* For kernel<<<grid, block, shared, stream>>>(...) clang calls this function to push the configuration; the kernel's
 * host stub pops it and calls cudaLaunchKernel. The last two arguments are the place of the <<<. */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0,
                                                const char *file = __builtin_FILE(),
                                                int line = __builtin_LINE()) __asm__("simgpuPushCallConfiguration");
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

#endif

#if defined(__cplusplus)
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(__CUDA_ARCH__)
/* nvcc's --default-stream per-thread: stream 0 is each host thread's own, in the whole program. */
extern "C" int simgpuPerThreadDefaultStream(void);
static const int simgpu_per_thread = simgpuPerThreadDefaultStream();
#endif

/* C++ forms of the API: typed pointers, symbols by name, kernels by name. */
template <class T> static inline cudaError_t cudaMalloc(T **ptr, size_t bytes, SIMGPU_SITE) {
    return simgpuMalloc((void **)ptr, bytes, file, line);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **ptr, size_t bytes, cudaStream_t stream, SIMGPU_SITE) {
    return simgpuMallocAsync((void **)ptr, bytes, stream, file, line);
}
template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T **ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)ptr, bytes, pool, stream);
}
template <class T> static inline cudaError_t cudaMallocPitch(T **ptr, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)ptr, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **ptr, size_t bytes, unsigned flags = cudaMemAttachGlobal, SIMGPU_SITE) {
    return simgpuMallocManaged((void **)ptr, bytes, flags, file, line);
}
/* The forms of CUDA 12 and before, with the number of a device. */
static inline cudaMemLocation simgpu_location(int device) {
    cudaMemLocation place = {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
    return place;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t bytes, int device, cudaStream_t stream = 0,
                                               SIMGPU_SITE) {
    return simgpuMemPrefetchAsync(ptr, bytes, simgpu_location(device), 0, stream, file, line);
}
static inline cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, cudaMemoryAdvise advice, int device,
                                        SIMGPU_SITE) {
    return simgpuMemAdvise(ptr, bytes, advice, simgpu_location(device), file, line);
}
template <class T>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *ptr, size_t bytes = 0,
                                                   unsigned flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, (void *)ptr, bytes, flags);
}
template <class T> static inline cudaError_t cudaMallocHost(T **ptr, size_t bytes, unsigned flags = 0, SIMGPU_SITE) {
    return flags ? simgpuHostAlloc((void **)ptr, bytes, flags, file, line)
                 : simgpuMallocHost((void **)ptr, bytes, file, line);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **ptr, size_t bytes, unsigned flags, SIMGPU_SITE) {
    return simgpuHostAlloc((void **)ptr, bytes, flags, file, line);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags, SIMGPU_SITE) {
    return simgpuHostGetDevicePointer((void **)device, host, flags, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice, SIMGPU_SITE) {
    return simgpuMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost, SIMGPU_SITE) {
    return simgpuMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0,
                                                  SIMGPU_SITE) {
    return simgpuMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream, file, line);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0, SIMGPU_SITE) {
    return simgpuMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream, file, line);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **ptr, const T &symbol) {
    return cudaGetSymbolAddress(ptr, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    return cudaGetSymbolSize(bytes, (const void *)&symbol);
}
template <class T>
static inline cudaError_t cudaLaunchKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                           cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void *)func, grid, block, args, shared, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                                      cudaStream_t stream = 0, SIMGPU_SITE) {
    return simgpuLaunchCooperativeKernel((const void *)func, grid, block, args, shared, stream, file, line);
}
/* cudaLaunchKernelEx(&config, kernel, arguments ...), with the conversions of a call. Nothing may stand behind the
 * arguments, so the caller's place comes with the configuration. */
struct simgpuLaunchConfig {
    const cudaLaunchConfig_t *config;
    const char *file;
    int line;
    simgpuLaunchConfig(const cudaLaunchConfig_t *of, SIMGPU_SITE) : config(of), file(file), line(line) {}
};
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(simgpuLaunchConfig at, void (*func)(Parameters...),
                                             Arguments... arguments) {
    return [&](Parameters... converted) {
        void *args[] = {(void *)&converted..., nullptr};
        return simgpuLaunchKernelExC(at.config, (const void *)func, args, at.file, at.line);
    }(arguments...);
}
/* The forms of CUDA 12 and before. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *log,
                                               size_t size, SIMGPU_SITE) {
    if (log && size) *log = 0;
    return simgpuGraphInstantiate(exec, graph, 0ull, file, line);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                              cudaGraphExecUpdateResult *result, SIMGPU_SITE) {
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t error = simgpuGraphExecUpdate(exec, graph, &info, file, line);
    if (node) *node = info.errorNode;
    if (result) *result = info.result;
    return error;
}
static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count,
                                           cudaGraphNodeParams *params, SIMGPU_SITE) {
    return simgpuGraphAddNode(node, graph, dependencies, nullptr, count, params, file, line);
}
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                      const cudaGraphNode_t *to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                            size_t *count) {
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                   unsigned long long *id = nullptr) {
    return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
static inline cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                      unsigned long long *id = nullptr, cudaGraph_t *graph = nullptr,
                                                      const cudaGraphNode_t **dependencies = nullptr,
                                                      size_t *count = nullptr) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, nullptr, count);
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize, size_t ysize) {
    cudaPitchedPtr p = {ptr, pitch, xsize, ysize};
    return p;
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    cudaPos p = {x, y, z};
    return p;
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    cudaExtent e = {width, height, depth};
    return e;
}
template <class T> static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, T *symbol) {
    return cudaGetFuncBySymbol(function, (const void *)symbol);
}
template <class T> static inline cudaError_t cudaGetKernel(cudaKernel_t *kernel, T *symbol) {
    return cudaGetKernel(kernel, (const void *)symbol);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *func) {
    return cudaFuncGetAttributes(attributes, (const void *)func);
}
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute((const void *)func, attribute, value);
}
template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *func, cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *func, cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)func, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *func, int block_size,
                                                                        size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)func, block_size, shared);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, int flags) { /* 0 might be the file's name, too */
    return cudaEventCreateWithFlags(event, (unsigned)flags);
}

/* The host's memcpy, memmove and memset take virtual time too. clang prefers a function with enable_if to one with the
 * same parameters and without it, so calls find these rather than <string.h>'s; <cstring> imports both into std. */
#if defined(__CUDA__) && !defined(__CUDA_ARCH__)
extern "C" void *simgpuHostMemcpy(void *to, const void *from, size_t bytes, const char *file, int line);
extern "C" void *simgpuHostMemmove(void *to, const void *from, size_t bytes, const char *file, int line);
extern "C" void *simgpuHostMemset(void *to, int value, size_t bytes, const char *file, int line);
#define SIMGPU_PREFERRED __attribute__((enable_if(true, "")))
#define SIMGPU_INLINE    static inline __attribute__((always_inline, nodebug)) /* nodebug keeps the caller's line */
SIMGPU_INLINE void *memcpy(void *to, const void *from, size_t bytes, SIMGPU_SITE) SIMGPU_PREFERRED {
    return simgpuHostMemcpy(to, from, bytes, file, line);
}
SIMGPU_INLINE void *memmove(void *to, const void *from, size_t bytes, SIMGPU_SITE) SIMGPU_PREFERRED {
    return simgpuHostMemmove(to, from, bytes, file, line);
}
SIMGPU_INLINE void *memset(void *to, int value, size_t bytes, SIMGPU_SITE) SIMGPU_PREFERRED {
    return simgpuHostMemset(to, value, bytes, file, line);
}
#undef SIMGPU_PREFERRED
#undef SIMGPU_INLINE
#endif
#include <cstring>
#include <utility> /* as CUDA's header; with it come braces in a `for` */

/* Finds the block size with the most resident threads, and the grid that fills the device with such blocks.
 * shared_of(n): the dynamic shared memory of a block of n threads, in bytes. */
template <class Shared, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T *func,
                                                                         Shared shared_of, int limit = 0) {
    int device = 0, sms = 0, most = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, (const void *)func);
    if (error != cudaSuccess) return error;
    if (limit <= 0 || limit > attributes.maxThreadsPerBlock) limit = attributes.maxThreadsPerBlock;
    for (int size = limit; size > 0; size = size % 32 ? size / 32 * 32 : size - 32) {
        int blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)func, size, shared_of(size));
        if (error != cudaSuccess) return error;
        if (blocks * size > most) {
            most = blocks * size;
            *block = size;
            *grid = blocks * sms;
        }
    }
    return cudaSuccess;
}
template <class Shared, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, T *func,
                                                                                  Shared shared_of, int limit = 0,
                                                                                  unsigned = cudaOccupancyDefault) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, func, shared_of, limit);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T *func, size_t shared = 0,
                                                             int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, func, [=](int) { return shared; }, limit);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T *func, size_t shared = 0,
                                                                      int limit = 0, unsigned = cudaOccupancyDefault) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, func, shared, limit);
}
template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *func, int blocks,
                                                                    int block_size) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)func, blocks, block_size);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T *func, int block_size,
                                                                                 size_t shared, unsigned flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)func, block_size, shared,
                                                                  flags);
}
#endif

#include "cuda_old_names.h"

#endif
