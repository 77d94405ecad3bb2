// expect: in-flight: loads_too_early.cu:26.*in flight: the host writes a buffer that a copy .* may still be reading
// Waits for each result, and loads the batch after next before it does: into a buffer that the card is still reading.
#include "lab1.h"

enum { SLOTS = 4 };

extern "C" void run_batches(const struct job *job) {
    void *in[SLOTS], *out[SLOTS], *d_in[SLOTS], *d_out[SLOTS];
    cudaStream_t stream[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        cudaMallocHost(&in[i], job->in_bytes);
        cudaMallocHost(&out[i], job->out_bytes);
        cudaMalloc(&d_in[i], job->in_bytes);
        cudaMalloc(&d_out[i], job->out_bytes);
        cudaStreamCreate(&stream[i]);
    }

    for (int b = 0; b < job->batches + SLOTS; b++) {
        int i = b % SLOTS;
        if (b < job->batches) load_batch(job, b, in[i]);
        if (b >= SLOTS && b - SLOTS < job->batches) {
            cudaStreamSynchronize(stream[i]);
            take_result(job, b - SLOTS, out[i]);
        }
        if (b >= job->batches) continue;
        cudaMemcpyAsync(d_in[i], in[i], job->in_bytes, cudaMemcpyHostToDevice, stream[i]);
        process_batch(job, b, d_in[i], d_out[i], stream[i]);
        cudaMemcpyAsync(out[i], d_out[i], job->out_bytes, cudaMemcpyDeviceToHost, stream[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(in[i]);
        cudaFreeHost(out[i]);
        cudaFree(d_in[i]);
        cudaFree(d_out[i]);
        cudaStreamDestroy(stream[i]);
    }
}
