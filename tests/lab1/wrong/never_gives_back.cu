// expect: left-behind: never_gives_back.cu:[0-9]+.*when run_batches returns, these are left
// Right and quick for one call, and a little less memory for everybody after each.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    cudaMallocHost(&in, job->in_bytes);
    cudaMallocHost(&out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    cudaFree(d_in);
    cudaFree(d_out);
}
