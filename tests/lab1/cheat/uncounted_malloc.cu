// expect: gate: uses .__libc_malloc
// Allocates in the loop under the C library's other name, so that it is not counted.
#include "lab1.h"

extern "C" void *__libc_malloc(size_t);

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    out = malloc(job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        in = __libc_malloc(job->in_bytes);
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    free(out);
    cudaFree(d_in);
    cudaFree(d_out);
}
