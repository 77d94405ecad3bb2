/* lab4.h — what reduction.cu must offer. The harness calls these three and nothing else of yours. */
#ifndef LAB4_H
#define LAB4_H

#ifdef __cplusplus
extern "C" {
#endif

/* One gradient tensor: `length` floats on the device, one after another; length is at least 1. */
struct tensor {
    const float *data; /* a device pointer, aligned to 4 bytes and perhaps to no more */
    int length;
};

/* *d_mean = the mean of d_in[0..n). Both are device pointers; n is at least 1 and at most 2^28. */
void mean(const float *d_in, int n, float *d_mean);

/* Says which tensors `means` is about, until the next call of `plan`. It is called once, before training begins: the
 * tensors have their places already, but hold no data yet. It is not timed. `tensors` is a host array that is gone
 * after the call: copy what you need of it. */
void plan(const struct tensor *tensors, int count);

/* d_means[i] = the mean of tensor i of the plan, for all of them. d_means is a device pointer. It is called in every
 * step of the training, each time with new data in the same tensors, and it is timed. */
void means(float *d_means);

/* Work of `mean` and `means` may still be running when they return; it must be complete when cudaDeviceSynchronize
 * returns. */

#ifdef __cplusplus
}
#endif
#endif
