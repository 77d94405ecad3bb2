// expect: staged: pins_one_side.cu:15.*128 of 256 MiB
// The batch is page-locked, the result is not: half of the bytes still go through the driver's hands.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    cudaMallocHost(&in, job->in_bytes);
    out = malloc(job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    cudaFreeHost(in);
    free(out);
    cudaFree(d_in);
    cudaFree(d_out);
}
