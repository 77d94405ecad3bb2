/* ladder.cu — the rungs of lab 6's ladder for `--bench`, each with the flaw that the next one removes, and the last
 * one with other numbers of chunks.
 *
 * They have the same frames and the same kernel as your program. The function of rung `late` is called
 * late_run_pipeline.
 */
#include "lab6.h"

enum { MOST_STREAMS = 4, SLOTS = 4 };

/* --- all frames in one piece ------------------------------------------------------------------------ */

static void in_one_piece(const struct job *job, void *frames) {
    const size_t bytes = job->frames * job->frame_bytes;
    void *d_frames;
    cudaMalloc(&d_frames, bytes);
    receive_frames(job, 0, job->frames, frames);
    cudaMemcpyAsync(d_frames, frames, bytes, cudaMemcpyHostToDevice, 0);
    process_frames(job, 0, job->frames, d_frames, 0);
    cudaMemcpyAsync(frames, d_frames, bytes, cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0);
    send_frames(job, 0, job->frames, frames);
    cudaFree(d_frames);
}

/* Ordinary memory. Flaw: the CPU stages every byte. */
extern "C" void pageable_run_pipeline(const struct job *job) {
    void *frames = malloc(job->frames * job->frame_bytes);
    in_one_piece(job, frames);
    free(frames);
}

/* Pins late: frames are received in ordinary memory, then copied into page-locked memory, as pin_memory() does with a
 * tensor that is there already. Flaw: the CPU carries every byte, and host memory holds the frames twice. */
extern "C" void late_run_pipeline(const struct job *job) {
    const size_t bytes = job->frames * job->frame_bytes;
    void *frames = malloc(bytes), *pinned, *d_frames;
    cudaMallocHost(&pinned, bytes);
    cudaMalloc(&d_frames, bytes);
    receive_frames(job, 0, job->frames, frames);
    memcpy(pinned, frames, bytes);
    cudaMemcpyAsync(d_frames, pinned, bytes, cudaMemcpyHostToDevice, 0);
    process_frames(job, 0, job->frames, d_frames, 0);
    cudaMemcpyAsync(pinned, d_frames, bytes, cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0);
    send_frames(job, 0, job->frames, pinned);
    cudaFree(d_frames);
    cudaFreeHost(pinned);
    free(frames);
}

/* --- chunks on streams, all frames in memory at once -------------------------------------------------- */

struct pieces {
    const struct job *job;
    char *frames, *d_frames;
    size_t chunks;
    cudaStream_t stream[MOST_STREAMS];
};

static size_t first_of(const struct job *job, size_t chunks, size_t k) { return job->frames * k / chunks; }

static void queue(const struct pieces *p, size_t k, cudaStream_t s, bool up, bool work, bool down) {
    const size_t first = first_of(p->job, p->chunks, k), count = first_of(p->job, p->chunks, k + 1) - first;
    const size_t at = first * p->job->frame_bytes, bytes = count * p->job->frame_bytes;
    if (up) receive_frames(p->job, first, count, p->frames + at);
    if (up) cudaMemcpyAsync(p->d_frames + at, p->frames + at, bytes, cudaMemcpyHostToDevice, s);
    if (work) process_frames(p->job, first, count, p->d_frames + at, s);
    if (down) cudaMemcpyAsync(p->frames + at, p->d_frames + at, bytes, cudaMemcpyDeviceToHost, s);
}

/* Depth first: chunk by chunk. Else breadth first: all copies up, all kernels, all copies down. */
static void on_streams(const struct job *job, int streams, size_t chunks, bool depth) {
    struct pieces p = {job};
    p.chunks = chunks;
    cudaMallocHost((void **)&p.frames, job->frames * job->frame_bytes);
    cudaMalloc((void **)&p.d_frames, job->frames * job->frame_bytes);
    for (int i = 0; i < streams; i++) cudaStreamCreateWithFlags(&p.stream[i], cudaStreamNonBlocking);
    for (size_t k = 0; k < chunks && depth; k++) queue(&p, k, p.stream[k % streams], true, true, true);
    for (size_t k = 0; k < chunks && !depth; k++) queue(&p, k, p.stream[k % streams], true, false, false);
    for (size_t k = 0; k < chunks && !depth; k++) queue(&p, k, p.stream[k % streams], false, true, false);
    for (size_t k = 0; k < chunks && !depth; k++) queue(&p, k, p.stream[k % streams], false, false, true);
    for (int i = 0; i < streams; i++) cudaStreamSynchronize(p.stream[i]);
    send_frames(job, 0, job->frames, p.frames);
    for (int i = 0; i < streams; i++) cudaStreamDestroy(p.stream[i]);
    cudaFree(p.d_frames);
    cudaFreeHost(p.frames);
}

/* As many as the handout derives, for 32 MiB and for 256. */
static size_t best_chunks(const struct job *job) { return job->frames * job->frame_bytes < (64u << 20) ? 21 : 60; }

/* Flaw of all of these: the frames are in memory all at once. Of one stream: it works in order. Of two: each holds a
 * chunk from its copy up to its copy down, so only two of three engines work. Of breadth first: in its stream, the
 * first kernel waits for the copies up of later chunks. */
extern "C" void one_stream_run_pipeline(const struct job *job) { on_streams(job, 1, best_chunks(job), true); }
extern "C" void two_streams_run_pipeline(const struct job *job) { on_streams(job, 2, best_chunks(job), true); }
extern "C" void three_streams_run_pipeline(const struct job *job) { on_streams(job, 3, best_chunks(job), true); }
extern "C" void breadth_run_pipeline(const struct job *job) { on_streams(job, 4, best_chunks(job), false); }

/* --- a ring ------------------------------------------------------------------------------------------- */

/* A stream for each slot; the number of chunks comes from outside. Flaw: it may be too small or too large. */
static void ring(const struct job *job, size_t chunks) {
    const size_t room = (job->frames / chunks + 1) * job->frame_bytes;
    void *frames[SLOTS], *d_frames[SLOTS];
    cudaStream_t stream[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        cudaMallocHost(&frames[i], room);
        cudaMalloc(&d_frames[i], room);
        cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
    }
    for (size_t k = 0; k < chunks + SLOTS; k++) {
        const int i = (int)(k % SLOTS);
        if (k >= SLOTS && k - SLOTS < chunks) {
            const size_t first = first_of(job, chunks, k - SLOTS);
            cudaStreamSynchronize(stream[i]);
            send_frames(job, first, first_of(job, chunks, k - SLOTS + 1) - first, frames[i]);
        }
        if (k >= chunks) continue;
        const size_t first = first_of(job, chunks, k), count = first_of(job, chunks, k + 1) - first;
        receive_frames(job, first, count, frames[i]);
        cudaMemcpyAsync(d_frames[i], frames[i], count * job->frame_bytes, cudaMemcpyHostToDevice, stream[i]);
        process_frames(job, first, count, d_frames[i], stream[i]);
        cudaMemcpyAsync(frames[i], d_frames[i], count * job->frame_bytes, cudaMemcpyDeviceToHost, stream[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(frames[i]);
        cudaFree(d_frames[i]);
        cudaStreamDestroy(stream[i]);
    }
}

extern "C" void ring_4_run_pipeline(const struct job *job) { ring(job, 4); }
extern "C" void ring_8_run_pipeline(const struct job *job) { ring(job, 8); }
extern "C" void ring_16_run_pipeline(const struct job *job) { ring(job, 16); }
extern "C" void ring_32_run_pipeline(const struct job *job) { ring(job, 32); }
extern "C" void ring_64_run_pipeline(const struct job *job) { ring(job, 64); }
extern "C" void ring_128_run_pipeline(const struct job *job) { ring(job, 128); }
