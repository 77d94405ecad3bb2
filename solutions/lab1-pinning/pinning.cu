/* pinning.cu — lab 1, the reference solution: both directions of the link busy from the first batch to the last.
 *
 * The idea: a ring of slots. A slot is all that one batch needs on its way: page-locked memory for the batch and for
 * its result, device memory for both, and a stream. In its stream a batch goes up, is processed, and comes down, in
 * this order and without a word from the host. Slots have nothing to do with each other, so while one batch goes up
 * another comes down, and a third is being filled by the loader.
 *
 *   - One wait. Before a slot is used again, its stream must be idle; then the result has arrived, and the old
 *     batch has been read. One cudaStreamSynchronize waits for both.
 *   - Four slots. One going up, one coming down, one with the loader; the fourth absorbs uneven times. With two, the
 *     loader and one direction take turns.
 *   - Bounded. The page-locked memory depends on the ring, not on the number of batches.
 */
#include "lab1.h"

enum { MOST_SLOTS = 4 };

struct slot {
    void *in, *out;     /* page-locked host memory */
    void *d_in, *d_out; /* device memory */
    cudaStream_t stream;
};

static int slots_for(const struct job *job) {
    size_t fit = job->page_locked_most / (job->in_bytes + job->out_bytes);
    int slots = fit < MOST_SLOTS ? (int)fit : MOST_SLOTS;
    return slots < job->batches ? slots : job->batches;
}

static void open_slot(struct slot *s, const struct job *job) {
    cudaMallocHost(&s->in, job->in_bytes);
    cudaMallocHost(&s->out, job->out_bytes);
    cudaMalloc(&s->d_in, job->in_bytes);
    cudaMalloc(&s->d_out, job->out_bytes);
    cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
}

static void close_slot(struct slot *s) {
    cudaFreeHost(s->in);
    cudaFreeHost(s->out);
    cudaFree(s->d_in);
    cudaFree(s->d_out);
    cudaStreamDestroy(s->stream);
}

extern "C" void run_batches(const struct job *job) {
    struct slot ring[MOST_SLOTS];
    const int slots = slots_for(job);
    for (int i = 0; i < slots; i++) open_slot(&ring[i], job);
    /* Turn b takes batch b - slots out of a slot and puts batch b in. The first turns only fill, the last only empty.
     */
    for (int b = 0; slots && b < job->batches + slots; b++) {
        struct slot *s = &ring[b % slots];
        if (b >= slots) {
            cudaStreamSynchronize(s->stream);
            take_result(job, b - slots, s->out);
        }
        if (b < job->batches) {
            load_batch(job, b, s->in);
            cudaMemcpyAsync(s->d_in, s->in, job->in_bytes, cudaMemcpyHostToDevice, s->stream);
            process_batch(job, b, s->d_in, s->d_out, s->stream);
            cudaMemcpyAsync(s->out, s->d_out, job->out_bytes, cudaMemcpyDeviceToHost, s->stream);
        }
    }
    for (int i = 0; i < slots; i++) close_slot(&ring[i]);
}
