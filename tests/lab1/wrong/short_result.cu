// expect: correct: short_result.cu:15.*the destination of 20000 bytes does not fit.*allocate out_bytes here
// The results' buffers are as long as the batches, and a result may be longer.
#include "lab1.h"

enum { SLOTS = 4 };

extern "C" void run_batches(const struct job *job) {
    void *d_in[SLOTS], *d_out[SLOTS], *batch[SLOTS], *result[SLOTS];
    cudaStream_t s[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
        cudaMalloc(&d_in[i], job->in_bytes);
        cudaMalloc(&d_out[i], job->out_bytes);
        cudaMallocHost(&batch[i], job->in_bytes);
        cudaMallocHost(&result[i], job->in_bytes);
    }
    for (int b = 0; b < job->batches + SLOTS; b++) {
        int i = b % SLOTS;
        if (b >= SLOTS && b - SLOTS < job->batches) {
            cudaStreamSynchronize(s[i]);
            take_result(job, b - SLOTS, result[i]);
        }
        if (b >= job->batches) continue;
        load_batch(job, b, batch[i]);
        cudaMemcpyAsync(d_in[i], batch[i], job->in_bytes, cudaMemcpyHostToDevice, s[i]);
        process_batch(job, b, d_in[i], d_out[i], s[i]);
        cudaMemcpyAsync(result[i], d_out[i], job->out_bytes, cudaMemcpyDeviceToHost, s[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(batch[i]);
        cudaFreeHost(result[i]);
        cudaFree(d_in[i]);
        cudaFree(d_out[i]);
        cudaStreamDestroy(s[i]);
    }
}
