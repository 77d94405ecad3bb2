// expect: in-flight: event_before_copy.cu:20.*in flight: the host reads a buffer
// Waits for an event, which was recorded a line too early: it is reached when the kernel is through, not the copy.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *in, *out, *d_in, *d_out;
    cudaStream_t stream;
    cudaEvent_t done;
    cudaMallocHost(&in, job->in_bytes);
    cudaMallocHost(&out, job->out_bytes);
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    cudaStreamCreate(&stream);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        cudaMemcpyAsync(d_in, in, job->in_bytes, cudaMemcpyHostToDevice, stream);
        process_batch(job, b, d_in, d_out, stream);
        cudaEventRecord(done, stream);
        cudaMemcpyAsync(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost, stream);
        cudaEventSynchronize(done);
        take_result(job, b, out);
    }
    cudaEventDestroy(done);
    cudaStreamDestroy(stream);
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaFree(d_in);
    cudaFree(d_out);
}
