/* lab5.h — what train.cu must offer, and what it may use.
 *
 * A small network learns from batches that a loader delivers. The harness owns the network: its weights, its kernels,
 * its data. You own the loop around them: when the host loads, what it copies, and above all where it waits.
 *
 * The network: out = w2 . tanh(w1 . x), mean squared error, plain gradient descent. One step of training is the four
 * parts below, in this order, each a kernel or two. They only queue work on `stream` and return at once.
 */
#ifndef LAB5_H
#define LAB5_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define LAB5_DEFAULT(value) = value
#else
#define LAB5_DEFAULT(value)
#endif

enum {
    LAB5_AHEAD = 4, /* the loader hands out a batch at most this many steps before its own step is queued */
    LAB5_GRACE = 8  /* after a loss that is not a number, at most this many further steps may be queued */
};

struct lab5_job {
    int steps;          /* how many steps to train */
    size_t batch_bytes; /* of one batch */
};

/* Fills `batch`, host memory of batch_bytes, with the data of this step. Reading and shuffling are real work for the
 * CPU: the call takes a while, and the GPU may well do something else meanwhile. (The last two arguments fill
 * themselves in: your line, for the card.) */
void lab5_load(int step, float *batch, const char *file LAB5_DEFAULT(__builtin_FILE()),
               int line LAB5_DEFAULT(__builtin_LINE()));

/* Forward pass. d_batch: device memory that holds a batch. */
void lab5_forward(const float *d_batch, cudaStream_t stream);
/* Writes the batch's loss to *d_loss, one float in device memory. */
void lab5_loss(const float *d_batch, float *d_loss, cudaStream_t stream);
/* Gradients. Reads the batch a second time. */
void lab5_backward(const float *d_batch, cudaStream_t stream);
/* New weights. After this the step is complete. */
void lab5_update(cudaStream_t stream);

/* Yours. Trains for job->steps steps on fresh weights and leaves the loss of each step in losses[0 .. steps), which is
 * ordinary host memory. If the loss of a step is not a number, training stops within LAB5_GRACE steps, and the first
 * such step is returned; otherwise -1. Queued work may still be running when it returns, but `losses` is complete. */
int train(const struct lab5_job *job, float *losses);

#undef LAB5_DEFAULT
#ifdef __cplusplus
}
#endif
#endif
