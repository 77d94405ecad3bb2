/* lab10.h — what half.cu must offer.
 *
 * All pointers are device pointers, aligned to 256 bytes. Matrices lie row after row. A half is CUDA's __half, 16 bits:
 * 1 of sign, 5 of exponent, 10 of fraction; a bf16 is CUDA's __nv_bfloat16: 1, 8 and 7. Work may still be running when
 * a function returns; it must be complete when cudaDeviceSynchronize returns.
 */
#ifndef LAB10_H
#define LAB10_H

#ifdef __cplusplus
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef __nv_bfloat16 bf16;
extern "C" {
#else
typedef unsigned short half, bf16; /* C sees the 16 bits */
#endif

#define DECAY   0.9f
#define EPSILON 1e-8f

/* y = relu(x w + bias): a layer of a network. x is m x k, w is k x n, bias has n halves, y is m x n. m, n and k are 1
 * to 16384, and multiples of nothing. Each y[i][j] is
 *
 *     max(0, x[i][0] * w[0][j] + x[i][1] * w[1][j] + ... + bias[j])
 *
 * summed as exactly as floats can, and then rounded to a half, once. */
void dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k);

/* The same layer in the other 16 bits: summed as exactly as floats can, and rounded to a bfloat16 once. Numbers may be
 * as large as floats can be, most of them larger than any half. */
void dense_bf16(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int m, int n, int k);

/* The way back through relu: dz[i] = dy[i] where y[i] > 0, else 0, whatever dy[i] is. */
void relu_backward(const half *y, const half *dy, half *dz, int count);

/* A network of one hidden layer. For each of the m inputs of a batch, with k numbers each:
 *
 *     h = relu(x w + b)        n hidden units
 *     out = h . v              one number
 *
 * It learns w; b and v stay as they are. The loss is the mean of (out - t)^2 over the batch. */
struct lab10_net {
    int m, k, n;           /* inputs of a batch, numbers of an input, hidden units */
    int step;              /* 0, 1, 2, ... */
    float rate;            /* of this step */
    const half *x, *b, *v; /* m x k, n, n */
    const float *t;        /* m: the outputs that are wanted */
    half *w;           /* k x n: the weights that the network computes with. Before step 0 they are its first ones */
    half *h, *dh, *dz; /* m x n each: room of yours */
    half *g;           /* k x n: the gradient, times your scale */
    float *loss;       /* one float: the loss before the step's update */
    float *state;      /* 2 * k * n floats of yours, from step to step. All zero before step 0 */
};

/* Computes *loss, and the gradient of the loss for each weight, times a scale of your choice: g[a][j] is the sum over
 * the batch of x[i][a] * dz[i][j], where dz is what comes back through relu of dh[i][j] = 2 (out[i] - t[i]) v[j] / m.
 * Returns the scale, 1 to 131072: below that no gradient here exceeds a half. In a large machine g would now travel to
 * other GPUs, so it is halves. */
float gradients(const struct lab10_net *net);

/* Changes each weight, with `a` its gradient without the scale, and q its mean square, 0 before step 0:
 *
 *     q = DECAY * q + (1 - DECAY) * a * a
 *     weight = weight - rate * a / (sqrt(q) + EPSILON) */
void update(const struct lab10_net *net, float scale);

#ifdef __cplusplus
}
#endif
#endif
