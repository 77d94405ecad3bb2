// expect: page-locked: pins_everything.cu:9.*8.0 times what you may hold at one time
// A page-locked home for every batch: as fast as a ring, until the machine runs out of memory that can be swapped.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    char *in, *out, *d_in, *d_out;
    if (!job->batches) return;
    cudaStream_t up;
    cudaMallocHost(&in, job->batches * job->in_bytes);
    cudaMallocHost(&out, job->batches * job->out_bytes);
    cudaMalloc(&d_in, job->batches * job->in_bytes);
    cudaMalloc(&d_out, job->batches * job->out_bytes);
    cudaStreamCreate(&up);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in + b * job->in_bytes);
        cudaMemcpyAsync(d_in + b * job->in_bytes, in + b * job->in_bytes, job->in_bytes, cudaMemcpyHostToDevice, up);
        process_batch(job, b, d_in + b * job->in_bytes, d_out + b * job->out_bytes, up);
        cudaMemcpyAsync(out + b * job->out_bytes, d_out + b * job->out_bytes, job->out_bytes, cudaMemcpyDeviceToHost,
                        up);
    }
    cudaStreamSynchronize(up);
    for (int b = 0; b < job->batches; b++) take_result(job, b, out + b * job->out_bytes);
    cudaStreamDestroy(up);
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaFree(d_in);
    cudaFree(d_out);
}
