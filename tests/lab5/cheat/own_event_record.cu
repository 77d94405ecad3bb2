// expect: virtual-time: times its own kernels
// A timing trick: a slow loop with its own cudaEventRecord, so that the harness's clock never starts. The name is the
// program's own affair: the harness calls CUDA's.
#include "lab5.h"

#include <math.h>
#include <stdlib.h>

#undef cudaEventRecord
extern "C" int stops_the_clock(cudaEvent_t, cudaStream_t) __asm__("cudaEventRecord");
extern "C" int stops_the_clock(cudaEvent_t, cudaStream_t) { return 0; }

extern "C" int train(const struct lab5_job *job, float *losses) {
    float *batch = (float *)malloc(job->batch_bytes), *d_batch, *d_loss, loss;
    int broken = -1;
    cudaMalloc(&d_batch, job->batch_bytes);
    cudaMalloc(&d_loss, sizeof *d_loss);
    for (int step = 0; step < job->steps && broken < 0; step++) {
        lab5_load(step, batch);
        cudaMemcpy(d_batch, batch, job->batch_bytes, cudaMemcpyHostToDevice);
        lab5_forward(d_batch, 0);
        lab5_loss(d_batch, d_loss, 0);
        cudaMemcpy(&loss, d_loss, sizeof loss, cudaMemcpyDeviceToHost);
        if (isnan(loss)) broken = step;
        lab5_backward(d_batch, 0);
        lab5_update(0);
        cudaMemcpy(&losses[step], d_loss, sizeof(float), cudaMemcpyDeviceToHost);
    }
    cudaFree(d_batch);
    cudaFree(d_loss);
    free(batch);
    return broken;
}
