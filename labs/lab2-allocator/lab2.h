/* lab2.h — what allocator.cu must offer.
 *
 * A stretch of device memory that you hand out is a block. Its life:
 *
 *     p = pool_alloc(bytes, a)       the block belongs to stream a, its home
 *     ... kernels on a use p ...
 *     pool_use(p, b)                 before kernels on another stream b use p, too. The caller has made b wait for what
 *     ... kernels on b use p ...     a did to p; you must keep the next owner of p waiting until b is done
 *     pool_free(p)                   the host is done with p. The kernels launched so far may still be waiting to run!
 *
 * All functions are host code, called from one thread. None of them may change what a block holds between pool_alloc
 * and the end of the last kernel that was launched on it before pool_free.
 *
 * You call cudaMalloc, cudaFree and the synchronizations as in any program. The harness hears each call, counts it and
 * knows its line; on some traces it plays a device with little memory.
 */
#ifndef LAB2_H
#define LAB2_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns `bytes` of device memory whose address is a multiple of 256. Returns NULL when `bytes` is 0, and when the
 * device has no room for them, not even after all unused memory of your cache has gone back to it. */
void *pool_alloc(size_t bytes, cudaStream_t stream);

/* From here on kernels on `stream` use p as well. There may be several such streams. (The harness has
 * three in all, so a block has at most two beside its home.) */
void pool_use(void *p, cudaStream_t stream);

/* p, which pool_alloc returned, will not be used by any kernel launched from here on. Does nothing if p is NULL. */
void pool_free(void *p);

/* Gives all memory that is not in a block back to the device, and destroys the events that no parked block needs. It
 * may wait; it is called between two jobs, and blocks may be in use meanwhile. */
void pool_empty(void);

/* live: bytes in blocks that were handed out and not freed, as they were asked for. reserved: bytes that cudaMalloc
 * gave and cudaFree did not take back. */
void pool_stats(size_t *live, size_t *reserved);

#ifdef __cplusplus
}
#endif
#endif
