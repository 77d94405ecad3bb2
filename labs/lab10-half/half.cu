/* half.cu — lab 10. This is the one file you edit.
 *
 * "Halves are twice as fast," somebody has heard, and has replaced every `float` of a training program by `half`. It
 * has half the bytes now. It isn't twice as fast, and it has stopped learning:
 *
 *     dense           a layer of the network: a matrix product, a bias, relu
 *     relu_backward   one pass over three long arrays
 *     gradients       one step of training, forth and back
 *     update          the step's change of the weights
 *     dense_bf16      the layer once more, in the other 16 bits
 *
 * Get it right first; `make lab10` says which rows. A half has 11 digits (of two), nothing between 0 and 0.00000006,
 * and nothing above 65504.
 *
 *   1. sums          Add 2048 ones in halves, then one more. What is the sum? Where does this file add?
 *   2. the scale     How large are the gradients of this network? How many of them does a half have room for?
 *   3. the weights   A weight is 0.3, its change is 0.0001. What is the next half after 0.3?
 *
 * Then make it fast. The order is the chapter's:
 *
 *   4. wide loads    A warp that loads halves one by one asks for 64 bytes at a time.
 *   5. wmma          The tensor cores multiply tiles of 16 x 16 halves, and sum them in floats.
 *   6. shared tiles  They are so fast that the loads decide. Load each tile once a block.
 *   7. mma.sync      Name your registers yourself: ldmatrix, no bank conflicts, cp.async.
 *   8. bfloat16      A float's range in 16 bits: what does it cost?
 *
 * Steps 1 to 3 take some 25 lines, step 8 three, step 4 fifteen, the others a hundred. Keep the functions as lab10.h
 * declares them, and read that file, too.
 */
#include "lab10.h"

/* An element of y a thread. */
__global__ void multiply(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    half sum = 0.0f;
    for (int a = 0; a < k; a++) sum = __hadd(sum, __hmul(x[(size_t)i * k + a], w[(size_t)a * n + j]));
    sum = __hadd(sum, bias[j]);
    y[(size_t)i * n + j] = __hgt(sum, half(0.0f)) ? sum : half(0.0f);
}

extern "C" void dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    dim3 threads(32, 8), blocks((n + 31) / 32, (m + 7) / 8);
    multiply<<<blocks, threads>>>(x, w, bias, y, m, n, k);
}

__global__ void mask(const half *y, const half *dy, half *dz, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) dz[i] = __hgt(y[i], half(0.0f)) ? dy[i] : half(0.0f);
}

extern "C" void relu_backward(const half *y, const half *dy, half *dz, int count) {
    mask<<<(count + 255) / 256, 256>>>(y, dy, dz, count);
}

#define THREADS 128

/* One block, an input of the batch a thread: its output, its error, what goes back to its hidden units; and the loss.
 */
__global__ void output(const half *h, const half *v, const float *t, half *dh, float *loss, int m, int n) {
    __shared__ half squares[THREADS];
    half mine = 0.0f;
    for (int i = threadIdx.x; i < m; i += THREADS) {
        half out = 0.0f;
        for (int j = 0; j < n; j++) out = __hadd(out, __hmul(h[i * n + j], v[j]));
        half error = __hsub(out, half(t[i]));
        mine = __hadd(mine, __hmul(error, error));
        for (int j = 0; j < n; j++) dh[i * n + j] = __hmul(__hdiv(__hmul(half(2.0f), error), half((float)m)), v[j]);
    }
    squares[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    half sum = 0.0f;
    for (int i = 0; i < THREADS; i++) sum = __hadd(sum, squares[i]);
    *loss = __half2float(__hdiv(sum, half((float)m)));
}

/* A weight a thread. */
__global__ void weight_gradients(const half *x, const half *dz, half *g, int m, int k, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, a = blockIdx.y;
    if (j >= n) return;
    half sum = 0.0f;
    for (int i = 0; i < m; i++) sum = __hadd(sum, __hmul(x[i * k + a], dz[i * n + j]));
    g[a * n + j] = sum;
}

extern "C" float gradients(const struct lab10_net *net) {
    const int m = net->m, k = net->k, n = net->n;
    dense(net->x, net->w, net->b, net->h, m, n, k);
    output<<<1, THREADS>>>(net->h, net->v, net->t, net->dh, net->loss, m, n);
    relu_backward(net->h, net->dh, net->dz, m * n);
    weight_gradients<<<dim3((n + 63) / 64, k), 64>>>(net->x, net->dz, net->g, m, k, n);
    return 1;
}

__global__ void change(const half *g, half *w, half *q, float rate, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    half a = g[i];
    q[i] = __hadd(__hmul(half(DECAY), q[i]), __hmul(half(1 - DECAY), __hmul(a, a)));
    w[i] = __hsub(w[i], __hmul(half(rate), __hdiv(a, __hadd(hsqrt(q[i]), half(EPSILON)))));
}

extern "C" void update(const struct lab10_net *net, float scale) {
    const int count = net->k * net->n;
    (void)scale; /* it is 1 */
    change<<<(count + 255) / 256, 256>>>(net->g, net->w, (half *)net->state, net->rate, count);
}

/* The other half: a bfloat16 is the upper 16 bits of a float. */
__global__ void multiply_bf16(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    bf16 sum = 0.0f;
    for (int a = 0; a < k; a++) sum = __hadd(sum, __hmul(x[(size_t)i * k + a], w[(size_t)a * n + j]));
    sum = __hadd(sum, bias[j]);
    y[(size_t)i * n + j] = __hgt(sum, bf16(0.0f)) ? sum : bf16(0.0f);
}

extern "C" void dense_bf16(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int m, int n, int k) {
    dim3 threads(32, 8), blocks((n + 31) / 32, (m + 7) / 8);
    multiply_bf16<<<blocks, threads>>>(x, w, bias, y, m, n, k);
}
