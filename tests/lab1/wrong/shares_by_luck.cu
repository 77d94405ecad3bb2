// expect: in-flight: shares_by_luck.cu:[0-9]+.*stream order
// A stream a slot, one device buffer for all batches, and an event that makes the next copy wait for the kernel, but
// not the next kernel for the copy home. Results are right where the next batch takes longer to come than a result to
// go home, which is mostly so. The harness finds the missing order even when the results are right.
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
