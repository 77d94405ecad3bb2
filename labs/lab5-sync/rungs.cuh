/* rungs.cuh — the ladder between the starter and the reference, for `--bench`, and the speed of light: the kernels of
 * the steps alone, queued without a pause. Each rung is a whole loop that is right; each names what still keeps it
 * slow.
 */
#ifndef RUNGS_CUH
#define RUNGS_CUH

#include "lab.h"
#include "lab5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The speed of light: no loader, no copies, no questions. Its losses are those of one batch, again and again. */
static int rung_kernels_alone(const struct lab5_job *job, float *) {
    float *batch = (float *)malloc(job->batch_bytes), *d_batch, *d_loss;
    cudaMalloc(&d_batch, job->batch_bytes);
    cudaMalloc(&d_loss, sizeof *d_loss);
    lab5_load(0, batch);
    cudaMemcpy(d_batch, batch, job->batch_bytes, cudaMemcpyHostToDevice);
    for (int step = 0; step < job->steps; step++) {
        lab5_forward(d_batch, 0);
        lab5_loss(d_batch, d_loss, 0);
        lab5_backward(d_batch, 0);
        lab5_update(0);
    }
    cudaDeviceSynchronize();
    cudaFree(d_batch);
    cudaFree(d_loss);
    free(batch);
    return -1;
}

/* Rung 1: no stray synchronize, and nothing is allocated in the loop. Two questions a step are left. */
static int rung_tidy(const struct lab5_job *job, float *losses) {
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

/* Rung 2: the input buffer is page-locked, and its copy asynchronous. The host still asks for the loss at once. */
static int rung_pinned(const struct lab5_job *job, float *losses) {
    float *batch, *d_batch, *d_loss, loss;
    int broken = -1;
    cudaMallocHost(&batch, job->batch_bytes);
    cudaMalloc(&d_batch, job->batch_bytes);
    cudaMalloc(&d_loss, sizeof *d_loss);
    for (int step = 0; step < job->steps && broken < 0; step++) {
        lab5_load(step, batch);
        cudaMemcpyAsync(d_batch, batch, job->batch_bytes, cudaMemcpyHostToDevice, 0);
        lab5_forward(d_batch, 0);
        lab5_loss(d_batch, d_loss, 0);
        lab5_backward(d_batch, 0);
        lab5_update(0);
        cudaMemcpy(&loss, d_loss, sizeof loss, cudaMemcpyDeviceToHost);
        losses[step] = loss;
        if (isnan(loss)) broken = step;
    }
    cudaFreeHost(batch);
    cudaFree(d_batch);
    cudaFree(d_loss);
    return broken;
}

/* Rung 3: the losses stay on the device, and one is looked at every LAB5_GRACE steps. Between those looks the loader
 * overlaps; but there is one buffer, so each load waits until the copy before it has left. */
static int rung_seldom(const struct lab5_job *job, float *losses) {
    float *batch, *d_batch, *d_losses;
    int broken = -1;
    cudaEvent_t left;
    cudaEventCreateWithFlags(&left, cudaEventDisableTiming);
    cudaMallocHost(&batch, job->batch_bytes);
    cudaMalloc(&d_batch, job->batch_bytes);
    cudaMalloc(&d_losses, job->steps * sizeof *d_losses);
    int step = 0, looked = 0;
    while (step < job->steps && broken < 0) {
        if (step > 0) cudaEventSynchronize(left);
        lab5_load(step, batch);
        cudaMemcpyAsync(d_batch, batch, job->batch_bytes, cudaMemcpyHostToDevice, 0);
        cudaEventRecord(left, 0);
        lab5_forward(d_batch, 0);
        lab5_loss(d_batch, &d_losses[step], 0);
        lab5_backward(d_batch, 0);
        lab5_update(0);
        step++;
        if (step % LAB5_GRACE != 0 && step < job->steps) continue;
        cudaMemcpy(losses + looked, d_losses + looked, (step - looked) * sizeof(float), cudaMemcpyDeviceToHost);
        for (; looked < step && broken < 0; looked++)
            if (isnan(losses[looked])) broken = looked;
    }
    cudaEventDestroy(left);
    cudaFreeHost(batch);
    cudaFree(d_batch);
    cudaFree(d_losses);
    return broken;
}

#endif
