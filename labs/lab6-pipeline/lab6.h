/* lab6.h — what pipeline.cu must offer, and what it is given.
 *
 * The work: a service receives frames, processes them on the GPU, and sends them back. A network card brings the frames
 * and takes them away; the harness plays it, and has the kernel. You own the memory, the streams, and the number of
 * pieces in which the frames travel.
 */
#ifndef LAB6_H
#define LAB6_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct job {
    size_t frames;      /* how many come; may be 0 */
    size_t frame_bytes; /* of one: a multiple of 16 */
    size_t pinned_most; /* bytes of page-locked host memory that you may hold at one time: a quarter of all frames, but
                           64 KiB, and four frames, in any case */
    size_t device_most; /* bytes of device memory, likewise. Free all of both before you return */
};

/* Puts frames number first .. first + count - 1 into host memory, one behind the other, from `to` on. Frames come in
 * order: `first` is the number of those received before. The network card writes them: it takes the CPU no time. */
void receive_frames(const struct job *job, size_t first, size_t count, void *to);

/* Launches the kernel that processes these frames in place. They lie one behind the other in device memory, from
 * d_frames on (a multiple of 16). It only queues the work, in `stream`. Each frame once, after it was received. Queue
 * the copy of its bytes from the host before you call this (cudaMemcpy, cudaMemcpyAsync or their 2D forms), so that it
 * is in order before the kernel; it need not be over. */
void process_frames(const struct job *job, size_t first, size_t count, void *d_frames, cudaStream_t stream);

/* Sends these frames, processed, from host memory, in order: `first` is the number of those sent before. The frames are
 * read while it runs; it takes the CPU no time either. */
void send_frames(const struct job *job, size_t first, size_t count, const void *from);

/* Yours. When it returns, every frame must have been received, processed and sent, and all that it created must be
 * freed or destroyed: memory, streams, events. The time runs from the first receive_frames to the end of the last
 * send_frames: preparing and freeing are outside. */
void run_pipeline(const struct job *job);

#ifdef __cplusplus
}
#endif
#endif
