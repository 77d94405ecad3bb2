// expect: in-flight: shares_by_luck.cu:[0-9]+.*stream order
// One device buffer for all, and an event that orders the copy up, but not the next kernel, behind its last use.
#include "lab1.h"

enum { SLOTS = 2 };

extern "C" void run_batches(const struct job *job) {
    void *in[SLOTS], *out[SLOTS], *d_in, *d_out;
    cudaStream_t stream[SLOTS];
    cudaEvent_t read;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    cudaEventCreateWithFlags(&read, cudaEventDisableTiming);
    for (int i = 0; i < SLOTS; i++) {
        cudaMallocHost(&in[i], job->in_bytes);
        cudaMallocHost(&out[i], job->out_bytes);
        cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
    }
    for (int b = 0; b < job->batches + SLOTS; b++) {
        int i = b % SLOTS;
        if (b >= SLOTS && b - SLOTS < job->batches) {
            cudaStreamSynchronize(stream[i]);
            take_result(job, b - SLOTS, out[i]);
        }
        if (b >= job->batches) continue;
        load_batch(job, b, in[i]);
        if (b) cudaStreamWaitEvent(stream[i], read, 0);
        cudaMemcpyAsync(d_in, in[i], job->in_bytes, cudaMemcpyHostToDevice, stream[i]);
        process_batch(job, b, d_in, d_out, stream[i]);
        cudaEventRecord(read, stream[i]);
        cudaMemcpyAsync(out[i], d_out, job->out_bytes, cudaMemcpyDeviceToHost, stream[i]);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(in[i]);
        cudaFreeHost(out[i]);
        cudaStreamDestroy(stream[i]);
    }
    cudaEventDestroy(read);
    cudaFree(d_in);
    cudaFree(d_out);
}
