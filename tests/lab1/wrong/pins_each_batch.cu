// expect: allocations: pins_each_batch.cu:10.*cudaMallocHost was called 31 times
// Page-locked, and slower than pageable: it is page-locked again for each batch.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        cudaMallocHost(&in, job->in_bytes);
        cudaMallocHost(&out, job->out_bytes);
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
        cudaFreeHost(in);
        cudaFreeHost(out);
    }
    cudaFree(d_in);
    cudaFree(d_out);
}
