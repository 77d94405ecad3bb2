// expect: to-device: stages_by_hand.cu:[0-9]+.*the CPU carried each batch on
// Loads into pageable memory, then copies to page-locked memory by itself: what the driver did, done again by hand.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *pageable, *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    pageable = malloc(job->in_bytes);
    cudaMallocHost(&in, job->in_bytes);
    cudaMallocHost(&out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, pageable);
        memcpy(in, pageable, job->in_bytes);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    cudaFreeHost(in);
    cudaFreeHost(out);
    free(pageable);
    cudaFree(d_in);
    cudaFree(d_out);
}
