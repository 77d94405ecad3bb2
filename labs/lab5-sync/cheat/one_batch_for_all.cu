// expect: learns: step [12] was queued, and lab5_load was never asked for batch [12]
// Loads two batches and trains on them for ever: no loader, no waiting.
#include "lab5.h"

#include <math.h>
#include <string.h>

extern "C" int train(const struct lab5_job *job, float *losses) {
    cudaStream_t in, work, back;
    cudaEvent_t arrived[2], ended[2], told[2];
    float *batch[2], *d_batch[2], *d_losses, *h_losses;
    int known = 0, broken = -1;
    cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&back, cudaStreamNonBlocking);
    cudaMalloc(&d_losses, job->steps * sizeof(float));
    cudaMallocHost(&h_losses, job->steps * sizeof(float));
    memset(h_losses, 0, job->steps * sizeof(float));
    for (int i = 0; i < 2; i++) {
        cudaMallocHost(&batch[i], job->batch_bytes);
        cudaMalloc(&d_batch[i], job->batch_bytes);
        cudaEventCreateWithFlags(&arrived[i], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&ended[i], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&told[i], cudaEventDisableTiming);
    }
    for (int step = 0; known < job->steps && broken < 0; step++) {
        int s = step % 2;
        if (step >= 2) {
            cudaEventSynchronize(told[s]);
            if (isnan(h_losses[known])) broken = known;
            known++;
        }
        if (step >= job->steps || broken >= 0) continue;
        if (step < 2) lab5_load(step, batch[s]);
        cudaMemcpyAsync(d_batch[s], batch[s], job->batch_bytes, cudaMemcpyHostToDevice, in);
        cudaEventRecord(arrived[s], in);
        cudaStreamWaitEvent(work, arrived[s], 0);
        lab5_forward(d_batch[s], work);
        lab5_loss(d_batch[s], &d_losses[step], work);
        lab5_backward(d_batch[s], work);
        lab5_update(work);
        cudaEventRecord(ended[s], work);
        cudaStreamWaitEvent(back, ended[s], 0);
        cudaMemcpyAsync(&h_losses[step], &d_losses[step], sizeof(float), cudaMemcpyDeviceToHost, back);
        cudaEventRecord(told[s], back);
    }
    cudaDeviceSynchronize();
    memcpy(losses, h_losses, job->steps * sizeof(float));
    return broken;
}
