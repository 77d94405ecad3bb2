/* ladder.cu — the ladder between the starter and the reference, for `--bench`, and the speed of light: the kernels of
 * the steps alone, queued without a pause. Each rung is a whole loop that is right, and a program of its own:
 * `make lab5 SUBMISSION=labs/lab5-sync/rungs/tidy.cu` prints its card. Here its `train` is called tidy_train.
 */
#include "lab5.h"

#include <stdlib.h>

/* The speed of light: no loader, no copies, no questions. Its losses are those of one batch, again and again. */
extern "C" int kernels_alone_train(const struct lab5_job *job, float *) {
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

#define train less_one_sync_train
#include "rungs/less_one_sync.cu"
#undef train
#define train tidy_train
#include "rungs/tidy.cu"
#undef train
#define train pinned_train
#include "rungs/pinned.cu"
#undef train
#define train seldom_train
#include "rungs/seldom.cu"
#undef train
