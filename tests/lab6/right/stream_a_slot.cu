// expect: full
// A ring with a stream for each slot, in place of a stream for each engine.
#include "lab6.h"

enum { SLOTS = 4, FIXED_BYTES = 147 * 1000 };

struct slot {
    void *frames;   /* page-locked host memory */
    void *d_frames; /* device memory */
    cudaStream_t stream;
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

static void open_slot(struct slot *s, size_t bytes) {
    cudaMallocHost(&s->frames, bytes);
    cudaMalloc(&s->d_frames, bytes);
    cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
}

static void close_slot(struct slot *s) {
    cudaFreeHost(s->frames);
    cudaFree(s->d_frames);
    cudaStreamDestroy(s->stream);
}

static void queue_chunk(const struct job *job, struct chunk c, struct slot *s) {
    const size_t bytes = c.count * job->frame_bytes;
    receive_frames(job, c.first, c.count, s->frames);
    cudaMemcpyAsync(s->d_frames, s->frames, bytes, cudaMemcpyHostToDevice, s->stream);
    process_frames(job, c.first, c.count, s->d_frames, s->stream);
    cudaMemcpyAsync(s->frames, s->d_frames, bytes, cudaMemcpyDeviceToHost, s->stream);
}

static void send_chunk(const struct job *job, struct chunk c, struct slot *s) {
    cudaStreamSynchronize(s->stream);
    send_frames(job, c.first, c.count, s->frames);
}

extern "C" void run_pipeline(const struct job *job) {
    struct slot ring[SLOTS];
    const size_t frames = frames_of_chunk(job), chunks = (job->frames + frames - 1) / frames;
    for (int i = 0; i < SLOTS; i++) open_slot(&ring[i], frames * job->frame_bytes);
    /* Turn k sends chunk k - SLOTS out of a slot and queues chunk k in it. The first turns only fill, the last only
     * empty. */
    for (size_t k = 0; k < chunks + SLOTS; k++) {
        struct slot *s = &ring[k % SLOTS];
        if (k >= SLOTS && k - SLOTS < chunks) send_chunk(job, chunk_at(job, k - SLOTS, frames), s);
        if (k < chunks) queue_chunk(job, chunk_at(job, k, frames), s);
    }
    for (int i = 0; i < SLOTS; i++) close_slot(&ring[i]);
}
