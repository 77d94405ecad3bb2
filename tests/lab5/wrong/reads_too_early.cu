// expect: learns: losses\[0\] is .*, wants
// An asynchronous copy of the loss, and a look at it in the next line: the copy has not happened yet.
#include "lab5.h"

#include <math.h>

extern "C" int train(const struct lab5_job *job, float *losses) {
    float *batch, *d_batch, *d_loss, *loss;
    int broken = -1;
    cudaMallocHost(&batch, job->batch_bytes);
    cudaMallocHost(&loss, sizeof *loss);
    cudaMalloc(&d_batch, job->batch_bytes);
    cudaMalloc(&d_loss, sizeof *d_loss);
    *loss = 0;
    for (int step = 0; step < job->steps && broken < 0; step++) {
        lab5_load(step, batch);
        cudaMemcpy(d_batch, batch, job->batch_bytes, cudaMemcpyHostToDevice);
        lab5_forward(d_batch, 0);
        lab5_loss(d_batch, d_loss, 0);
        cudaMemcpyAsync(loss, d_loss, sizeof *loss, cudaMemcpyDeviceToHost, 0);
        losses[step] = *loss;
        if (isnan(*loss)) broken = step;
        lab5_backward(d_batch, 0);
        lab5_update(0);
    }
    return broken;
}
