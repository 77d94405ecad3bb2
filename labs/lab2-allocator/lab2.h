/* lab2.h — what allocator.cu must offer, and the device that it may ask for memory.
 *
 * A stretch of device memory that you hand out is a block. Its life:
 *
 *     p = pool_alloc(bytes, a)       the block belongs to stream a, its home
 *     ... kernels on a use p ...
 *     pool_use(p, b)                 before kernels on another stream b use p, too. The caller has made b wait for what
 *     ... kernels on b use p ...     a did to p; that a's next owner waits for b is your job
 *     pool_free(p)                   the host is done with p. The kernels launched so far may still be waiting to run!
 *
 * All functions are host code, called from one thread. None of them may change what a block holds between pool_alloc
 * and the end of the last kernel that was launched on it before pool_free.
 */
#ifndef LAB2_H
#define LAB2_H

#include <cuda_runtime.h>
#include <stddef.h>

/* `bytes` (at least 1) of device memory whose address is a multiple of 256. NULL when the device has no room for them,
 * not even after everything that lies unused in your cache was given back. */
extern "C" void *pool_alloc(size_t bytes, cudaStream_t stream);

/* From here on kernels on `stream` use p as well. */
extern "C" void pool_use(void *p, cudaStream_t stream);

/* p, which pool_alloc gave, will not be used by any kernel launched from here on. */
extern "C" void pool_free(void *p);

/* Gives all memory that is not in a block back to the device. It may wait; it is called between two jobs. */
extern "C" void pool_empty(void);

/* live: bytes in blocks that were handed out and not freed, as they were asked for. reserved: bytes that cudaMalloc
 * gave and cudaFree did not take back. */
extern "C" void pool_stats(size_t *live, size_t *reserved);

/* --- the device, metered ------------------------------------------------------------------------
 *
 * In allocator.cu these five CUDA calls go through the harness (meter.cuh). Each does what CUDA's does. On the way the
 * harness counts it, remembers the line it came from, and lets some traces run on a device with little memory. */

extern "C" cudaError_t metered_malloc(void **p, size_t bytes, const char *file, int line);
extern "C" cudaError_t metered_free(void *p, const char *file, int line);
extern "C" cudaError_t metered_wait_device(const char *file, int line);
extern "C" cudaError_t metered_wait_stream(cudaStream_t stream, const char *file, int line);
extern "C" cudaError_t metered_wait_event(cudaEvent_t event, const char *file, int line);

#ifndef LAB2_HARNESS
#define cudaMalloc(p, bytes)          metered_malloc((void **)(p), (bytes), __FILE__, __LINE__)
#define cudaFree(p)                   metered_free((p), __FILE__, __LINE__)
#define cudaDeviceSynchronize()       metered_wait_device(__FILE__, __LINE__)
#define cudaStreamSynchronize(stream) metered_wait_stream((stream), __FILE__, __LINE__)
#define cudaEventSynchronize(event)   metered_wait_event((event), __FILE__, __LINE__)
#endif

#endif
