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

/* The rungs themselves are whole programs: `make lab5 SUBMISSION=labs/lab5-sync/rungs/tidy.cu` prints the card of one.
 */
#define train rung_less_one_sync
#include "rungs/less_one_sync.cu"
#undef train
#define train rung_tidy
#include "rungs/tidy.cu"
#undef train
#define train rung_pinned
#include "rungs/pinned.cu"
#undef train
#define train rung_seldom
#include "rungs/seldom.cu"
#undef train

#endif
