// expect: full
// A stream for each engine, and events between the steps of a chunk, in place of a stream for each slot.
#include "lab6.h"

enum { SLOTS = 4, FIXED_BYTES = 180 * 1000 }; /* events take time as well: fewer chunks */

struct slot {
    void *frames;   /* page-locked host memory */
    void *d_frames; /* device memory */
    cudaEvent_t up, processed, home;
};

struct pipeline {
    cudaStream_t up, work, down;
    struct slot ring[SLOTS];
    size_t chunk; /* frames */
    size_t chunks;
};

/* The least number of frames whose bytes, squared, are as many as bytes * FIXED_BYTES; at most what a slot may hold. */
static size_t frames_of_chunk(const struct job *job) {
    const size_t most = (job->pinned_most < job->device_most ? job->pinned_most : job->device_most) / SLOTS;
    const double aim = (double)job->frames * (double)job->frame_bytes * FIXED_BYTES;
    size_t n = 1;
    while (n < job->frames && (n + 1) * job->frame_bytes <= most &&
           (double)(n * job->frame_bytes) * (double)(n * job->frame_bytes) < aim)
        n++;
    return n;
}

static void open_pipeline(struct pipeline *p, const struct job *job) {
    p->chunk = frames_of_chunk(job);
    p->chunks = (job->frames + p->chunk - 1) / p->chunk;
    cudaStreamCreateWithFlags(&p->up, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&p->work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&p->down, cudaStreamNonBlocking);
    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &p->ring[i];
        cudaMallocHost(&s->frames, p->chunk * job->frame_bytes);
        cudaMalloc(&s->d_frames, p->chunk * job->frame_bytes);
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

/* The frames of a chunk; the last may have fewer. */
static size_t first_of(const struct pipeline *p, size_t chunk) { return chunk * p->chunk; }
static size_t count_of(const struct pipeline *p, const struct job *job, size_t chunk) {
    const size_t left = job->frames - first_of(p, chunk);
    return left < p->chunk ? left : p->chunk;
}

static void queue_chunk(struct pipeline *p, const struct job *job, size_t chunk, struct slot *s) {
    const size_t first = first_of(p, chunk), count = count_of(p, job, chunk), bytes = count * job->frame_bytes;
    receive_frames(job, first, count, s->frames);
    cudaMemcpyAsync(s->d_frames, s->frames, bytes, cudaMemcpyHostToDevice, p->up);
    cudaEventRecord(s->up, p->up);
    cudaStreamWaitEvent(p->work, s->up);
    process_frames(job, first, count, s->d_frames, p->work);
    cudaEventRecord(s->processed, p->work);
    cudaStreamWaitEvent(p->down, s->processed);
    cudaMemcpyAsync(s->frames, s->d_frames, bytes, cudaMemcpyDeviceToHost, p->down);
    cudaEventRecord(s->home, p->down);
}

extern "C" void run_pipeline(const struct job *job) {
    struct pipeline p;
    open_pipeline(&p, job);
    /* Turn k sends chunk k - SLOTS out of a slot and queues chunk k in it. The first turns only fill, the last only
     * empty. */
    for (size_t k = 0; k < p.chunks + SLOTS; k++) {
        struct slot *s = &p.ring[k % SLOTS];
        if (k >= SLOTS && k - SLOTS < p.chunks) {
            cudaEventSynchronize(s->home);
            send_frames(job, first_of(&p, k - SLOTS), count_of(&p, job, k - SLOTS), s->frames);
        }
        if (k < p.chunks) queue_chunk(&p, job, k, s);
    }
    close_pipeline(&p);
}
