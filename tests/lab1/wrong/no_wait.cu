// expect: in-flight: no_wait.cu:[0-9]+.*the host reads a buffer that a copy .* may still be writing
// Every copy is asynchronous and nothing waits: results are read before they have arrived.
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

    for (int b = 0; b < job->batches; b++) {
        int i = b % SLOTS;
        load_batch(job, b, in[i]);
        cudaMemcpyAsync(d_in[i], in[i], job->in_bytes, cudaMemcpyHostToDevice, stream[i]);
        process_batch(job, b, d_in[i], d_out[i], stream[i]);
        cudaMemcpyAsync(out[i], d_out[i], job->out_bytes, cudaMemcpyDeviceToHost, stream[i]);
        take_result(job, b, out[i]);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(in[i]);
        cudaFreeHost(out[i]);
        cudaFree(d_in[i]);
        cudaFree(d_out[i]);
        cudaStreamDestroy(stream[i]);
    }
}
