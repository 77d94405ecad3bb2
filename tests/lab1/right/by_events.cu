// expect: full
// Registered memory, one stream up, one for the kernels, one down, and events between them and for the host.
/* lab 1 done another way than the reference: memory of malloc, registered; one stream up, one for the
 * kernels, one down; events between them and for the host. One block of memory for all slots, cut at odd places. */
#include "lab1.h"

enum { SLOTS = 4 };

extern "C" void run_batches(const struct job *job) {
    if (!job->batches) return;
    const size_t each = job->in_bytes + job->out_bytes;
    char *host = (char *)malloc(SLOTS * each), *d;
    cudaStream_t up, work, down;
    cudaEvent_t loaded[SLOTS], made[SLOTS], home[SLOTS];
    cudaHostRegister(host, SLOTS * each, cudaHostRegisterDefault);
    cudaMalloc((void **)&d, SLOTS * each);
    cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking);
    for (int i = 0; i < SLOTS; i++) {
        cudaEventCreateWithFlags(&loaded[i], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&made[i], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&home[i], cudaEventDisableTiming);
    }
    for (int b = 0; b < job->batches + SLOTS; b++) {
        int i = b % SLOTS, old = b - SLOTS;
        char *in = host + i * each, *out = in + job->in_bytes, *d_in = d + i * each, *d_out = d_in + job->in_bytes;
        if (old >= 0 && old < job->batches) {
            cudaEventSynchronize(home[i]);
            take_result(job, old, out);
        }
        if (b >= job->batches) continue;
        load_batch(job, b, in);
        cudaMemcpyAsync(d_in, in, job->in_bytes, cudaMemcpyHostToDevice, up);
        cudaEventRecord(loaded[i], up);
        cudaStreamWaitEvent(work, loaded[i], 0);
        process_batch(job, b, d_in, d_out, work);
        cudaEventRecord(made[i], work);
        cudaStreamWaitEvent(down, made[i], 0);
        cudaMemcpyAsync(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost, down);
        cudaEventRecord(home[i], down);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaEventDestroy(loaded[i]);
        cudaEventDestroy(made[i]);
        cudaEventDestroy(home[i]);
    }
    cudaStreamDestroy(up);
    cudaStreamDestroy(work);
    cudaStreamDestroy(down);
    cudaHostUnregister(host);
    cudaFree(d);
    free(host);
}
