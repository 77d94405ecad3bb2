/* lab1.h — what pinning.cu must offer, and what it is given.
 *
 * The work: batches of data come from a loader, go to the device, are processed there, and their results come back.
 * The harness has the loader, the kernel and the place where results go. You own the memory, the streams, the order.
 */
#ifndef LAB1_H
#define LAB1_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct job {
    int batches;             /* how many come; may be 0 */
    size_t in_bytes;         /* of a batch on its way to the device: a multiple of 4 */
    size_t out_bytes;        /* of its result on the way back: a multiple of 4 */
    size_t page_locked_most; /* bytes of page-locked host memory that you may hold at one time: room for four batches
                                and their results. Free or unregister all of it before you return */
};

/* Writes batch number `batch` to host memory: in_bytes from `to` on. Like any loader it takes time: 4 us a MiB. */
void load_batch(const struct job *job, int batch, void *to);

/* Launches the kernel that turns d_in (in_bytes, device memory) into d_out (out_bytes, device memory, another place).
 * It only queues the work, in `stream`. Once a batch. Every byte of d_in must have been queued before, by a copy from
 * host memory that belongs to this batch (cudaMemcpy, cudaMemcpyAsync or their 2D forms). */
void process_batch(const struct job *job, int batch, const void *d_in, void *d_out, cudaStream_t stream);

/* Reads the batch's result from host memory: out_bytes from `from` on. Once a batch. It takes 4 us a MiB, too. Every
 * byte of the batch's d_out must have been copied to host memory before. */
void take_result(const struct job *job, int batch, const void *from);

/* Yours. When it returns, every batch must have been loaded, processed and taken, in any order, and all that it created
 * must be freed or destroyed: memory, streams, events. The time runs from the first load to the last take: preparing
 * and freeing are outside. */
void run_batches(const struct job *job);

#ifdef __cplusplus
}
#endif
#endif
