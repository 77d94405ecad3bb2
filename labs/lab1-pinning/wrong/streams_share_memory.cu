// expect: correct: batch [0-9]+: word [0-9]+ of [0-9]+ holds
// A stream a slot, and one device buffer for them all: a batch comes up while the one before is still being processed.
#include "lab1.h"

enum { SLOTS = 4 };

extern "C" void run_batches(const struct job *job) {
    void *in[SLOTS], *out[SLOTS], *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    cudaStream_t stream[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        cudaMallocHost(&in[i], job->in_bytes);
        cudaMallocHost(&out[i], job->out_bytes);
        cudaStreamCreate(&stream[i]);
    }

    for (int b = 0; b < job->batches + SLOTS; b++) {
        int i = b % SLOTS;
        if (b >= SLOTS && b - SLOTS < job->batches) {
            cudaStreamSynchronize(stream[i]);
            take_result(job, b - SLOTS, out[i]);
        }
        if (b >= job->batches) continue;
        load_batch(job, b, in[i]);
        cudaMemcpyAsync(d_in, in[i], job->in_bytes, cudaMemcpyHostToDevice, stream[i]);
        process_batch(job, b, d_in, d_out, stream[i]);
        cudaMemcpyAsync(out[i], d_out, job->out_bytes, cudaMemcpyDeviceToHost, stream[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(in[i]);
        cudaFreeHost(out[i]);
        cudaStreamDestroy(stream[i]);
    }
    cudaFree(d_in);
    cudaFree(d_out);
}
