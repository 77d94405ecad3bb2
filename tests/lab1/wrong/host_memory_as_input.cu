// expect: correct: host_memory_as_input.cu:[0-9]+.*called with a d_in that is no memory from cudaMalloc
// Hands the kernel page-locked host memory, which a real card can read over the link, word by word.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *d_out;
    cudaMallocHost(&in, job->in_bytes);
    cudaMallocHost(&out, job->out_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        process_batch(job, b, in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaFree(d_out);
}
