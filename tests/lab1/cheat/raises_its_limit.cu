// expect: page-locked: raises_its_limit.cu:[0-9]+.*8.0 times what you may hold at one time
// Casts const away and writes into the job: more may be page-locked, fewer batches come.
#include "lab1.h"

extern "C" void run_batches(const struct job *given) {
    struct job *job = (struct job *)given, real = *given;
    job->page_locked_most = (size_t)1 << 40;
    job->batches = 0;
    if (!real.batches) return;
    char *in, *out, *d_in, *d_out;
    cudaStream_t up;
    cudaMallocHost(&in, real.batches * real.in_bytes);
    cudaMallocHost(&out, real.batches * real.out_bytes);
    cudaMalloc(&d_in, real.batches * real.in_bytes);
    cudaMalloc(&d_out, real.batches * real.out_bytes);
    cudaStreamCreate(&up);
    for (int b = 0; b < real.batches; b++) {
        load_batch(job, b, in + b * real.in_bytes);
        cudaMemcpyAsync(d_in + b * real.in_bytes, in + b * real.in_bytes, real.in_bytes, cudaMemcpyHostToDevice, up);
        process_batch(job, b, d_in + b * real.in_bytes, d_out + b * real.out_bytes, up);
        cudaMemcpyAsync(out + b * real.out_bytes, d_out + b * real.out_bytes, real.out_bytes, cudaMemcpyDeviceToHost,
                        up);
    }
    cudaStreamSynchronize(up);
    for (int b = 0; b < real.batches; b++) take_result(job, b, out + b * real.out_bytes);
    cudaStreamDestroy(up);
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaFree(d_in);
    cudaFree(d_out);
}
