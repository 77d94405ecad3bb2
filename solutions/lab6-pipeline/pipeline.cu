/* pipeline.cu — lab 6, the reference solution: three engines at work from the second chunk to the last but one.
 *
 * The idea: a stream for each engine, and a ring of slots. A slot is all that one chunk needs on its way: page-locked
 * memory, device memory, and an event behind each of its three steps. The streams keep each engine's work in the order
 * of the chunks. The events make each step wait for the step before it, of its own chunk and of no other.
 *
 *   - One wait of the host. Before a slot is used again, its chunk must be home. Then both its memories are free.
 *   - Four slots. One goes up, one is processed, one comes down; the fourth is with the host.
 *   - How many chunks. With k of them the job takes the longest engine's time, L; at the ends, one chunk's time of the
 * two other engines, about 2 L / k; and what each chunk costs the engine up besides its bytes, f. L + 2 L / k + f k is
 *     least where 2 L / k = f k. With L = bytes / rate that is a chunk of sqrt(bytes * rate * f / 2) bytes. While both
 *     directions are busy the link carries 50.85 GB/s; f is a copy's fixed time, 2.9 us, and an event's, 1.25 us.
 *
 * A stream for each slot would do without two of three events. On a card we have seen such a ring take twice as long,
 * now and then, when copies of several streams wait for one engine.
 */
#include "lab6.h"

enum { SLOTS = 4, FIXED_BYTES = 211 * 1000 }; /* rate * f */

struct slot {
    void *frames;   /* page-locked host memory */
    void *d_frames; /* device memory */
    cudaEvent_t up, processed, home;
};

struct pipeline {
    cudaStream_t up, work, down;
    struct slot ring[SLOTS];
};

/* A part of the job's frames. */
struct chunk {
    size_t first, count;
};

/* Returns the number of frames in a chunk: so many that its bytes, squared, reach bytes * FIXED_BYTES / 2, if a ring of
 * such chunks is allowed. */
static size_t frames_of_chunk(const struct job *job) {
    const size_t memory = job->pinned_most < job->device_most ? job->pinned_most : job->device_most;
    const size_t most = memory / SLOTS / job->frame_bytes;
    const double bytes = (double)job->frames * (double)job->frame_bytes, aim = bytes * FIXED_BYTES / 2;
    size_t n = 1;
    while (n < most && (double)(n * job->frame_bytes) * (double)(n * job->frame_bytes) < aim) n++;
    return n;
}

/* Returns chunk k; the last may have fewer frames than the others. */
static struct chunk chunk_at(const struct job *job, size_t k, size_t frames) {
    const size_t first = k * frames, left = job->frames - first;
    return (struct chunk){first, left < frames ? left : frames};
}

static void open_pipeline(struct pipeline *p, size_t bytes) {
    cudaStreamCreateWithFlags(&p->up, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&p->work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&p->down, cudaStreamNonBlocking);
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &p->ring[i];
        cudaMallocHost(&s->frames, bytes);
        cudaMalloc(&s->d_frames, bytes);
        cudaEventCreateWithFlags(&s->up, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&s->processed, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&s->home, cudaEventDisableTiming);
    }
}

static void close_pipeline(struct pipeline *p) {
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &p->ring[i];
        cudaFreeHost(s->frames);
        cudaFree(s->d_frames);
        cudaEventDestroy(s->up);
        cudaEventDestroy(s->processed);
        cudaEventDestroy(s->home);
    }
    cudaStreamDestroy(p->up);
    cudaStreamDestroy(p->work);
    cudaStreamDestroy(p->down);
}

static void queue_chunk(const struct job *job, struct chunk c, struct pipeline *p, struct slot *s) {
    const size_t bytes = c.count * job->frame_bytes;
    receive_frames(job, c.first, c.count, s->frames);
    cudaMemcpyAsync(s->d_frames, s->frames, bytes, cudaMemcpyHostToDevice, p->up);
    cudaEventRecord(s->up, p->up);
    cudaStreamWaitEvent(p->work, s->up);
    process_frames(job, c.first, c.count, s->d_frames, p->work);
    cudaEventRecord(s->processed, p->work);
    cudaStreamWaitEvent(p->down, s->processed);
    cudaMemcpyAsync(s->frames, s->d_frames, bytes, cudaMemcpyDeviceToHost, p->down);
    cudaEventRecord(s->home, p->down);
}

static void send_chunk(const struct job *job, struct chunk c, struct slot *s) {
    cudaEventSynchronize(s->home);
    send_frames(job, c.first, c.count, s->frames);
}

extern "C" void run_pipeline(const struct job *job) {
    struct pipeline p;
    const size_t frames = frames_of_chunk(job), chunks = (job->frames + frames - 1) / frames;
    open_pipeline(&p, frames * job->frame_bytes);
    /* Turn k sends chunk k - SLOTS out of a slot and queues chunk k in it. The first turns only fill, the last only
     * empty. */
    for (size_t k = 0; k < chunks + SLOTS; k++) {
        struct slot *s = &p.ring[k % SLOTS];
        if (k >= SLOTS && k - SLOTS < chunks) send_chunk(job, chunk_at(job, k - SLOTS, frames), s);
        if (k < chunks) queue_chunk(job, chunk_at(job, k, frames), &p, s);
    }
    close_pipeline(&p);
}
