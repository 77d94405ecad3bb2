/* transformer.cu — lab 11. This is the one file you edit.
 *
 * A small transformer learns to continue a text. This program trains it, and it is right: each loss is the one that the
 * formulas of lab11.h give. It was written in an afternoon by somebody who knows C, read the formulas, and wrote a
 * function for each. So everything you have met in this course is wrong at once, and there are no rungs this time.
 *
 * Work as you would on a program of your own:
 *
 *   1. measure   `make lab11` shows where the time goes, by kernel and by call; `make lines11` by line.
 *   2. write     Fill in the first part of report.md, beside this file. The card compares your numbers with the run.
 *   3. decide    What would the step take if launches cost nothing? If copies did? Take the largest first.
 *   4. change    one thing at a time, and measure again. `make rank` shows how far you have come.
 *   5. write     the second part of report.md, when you are done.
 *
 * Keep `train` as lab11.h declares it, and read that file too: it has the formulas. The rest is yours, all of it.
 */
#include "lab11.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Waits for the kernel, so that an error shows where it was made. */
static void check(const char *kernel) {
    cudaError_t e = cudaDeviceSynchronize();
    if (e) printf("%s: %s\n", kernel, cudaGetErrorString(e));
}

static float *new_array(size_t count) {
    float *array;
    cudaMalloc(&array, count * sizeof *array);
    return array;
}

/* --- matrices ------------------------------------------------------------------------------------ */

/* A matrix, or a part of one, or one that is read with rows and columns exchanged. Element [i][j] is
 * at[i * down + j * right]. */
struct matrix {
    float *at;
    int rows, cols, down, right;
};

static struct matrix whole(float *at, int rows, int cols) { return {at, rows, cols, cols, 1}; }
static struct matrix columns(struct matrix m, int first, int count) {
    return {m.at + first * m.right, m.rows, count, m.down, m.right};
}
static struct matrix turned(struct matrix m) { return {m.at, m.cols, m.rows, m.right, m.down}; }

/* One row of c = a * b: a thread computes an element. */
__global__ void multiply_row(struct matrix a, struct matrix b, struct matrix c, int i) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= c.cols) return;
    c.at[i * c.down + j * c.right] = 0;
    for (int k = 0; k < a.cols; k++)
        c.at[i * c.down + j * c.right] += a.at[i * a.down + k * a.right] * b.at[k * b.down + j * b.right];
}

static void multiply(struct matrix a, struct matrix b, struct matrix c) {
    for (int i = 0; i < c.rows; i++) {
        multiply_row<<<(c.cols + 31) / 32, 32>>>(a, b, c, i);
        check("multiply_row");
    }
}

/* One row of x += y. */
__global__ void add_row(struct matrix x, struct matrix y, int i) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < x.cols) x.at[i * x.down + j * x.right] += y.at[i * y.down + j * y.right];
}

static void add(struct matrix x, struct matrix y) {
    for (int i = 0; i < x.rows; i++) {
        add_row<<<(x.cols + 31) / 32, 32>>>(x, y, i);
        check("add_row");
    }
}

/* --- embedding ----------------------------------------------------------------------------------- */

__global__ void embed_row(float *x, const float *embedding, const float *position, const int *token, int d, int i) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < d) x[i * d + j] = embedding[token[i] * d + j] + position[i * d + j];
}

__global__ void embed_row_back(float *d_embedding, const float *dx, const int *token, int d, int i) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < d) d_embedding[token[i] * d + j] += dx[i * d + j];
}

/* --- normalisation ------------------------------------------------------------------------------- */

/* One row, by one thread. */
__global__ void normalise_row(const float *x, const float *gain, float *h, int d, int i) {
    float mean = 0, variance = 0;
    for (int c = 0; c < d; c++) mean += x[i * d + c] / d;
    for (int c = 0; c < d; c++) variance += (x[i * d + c] - mean) * (x[i * d + c] - mean) / d;
    for (int c = 0; c < d; c++) h[i * d + c] = (x[i * d + c] - mean) / sqrtf(variance + 1e-5f) * gain[c];
}

/* Adds the gradient of x to dx, and that of the gain to d_gain. */
__global__ void normalise_row_back(const float *x, const float *gain, const float *dh, float *d_gain, float *dx, int d,
                                   int i) {
    float mean = 0, variance = 0, sum = 0, along = 0;
    for (int c = 0; c < d; c++) mean += x[i * d + c] / d;
    for (int c = 0; c < d; c++) variance += (x[i * d + c] - mean) * (x[i * d + c] - mean) / d;
    float scale = 1 / sqrtf(variance + 1e-5f);
    for (int c = 0; c < d; c++) {
        sum += dh[i * d + c] * gain[c] / d;
        along += dh[i * d + c] * gain[c] * (x[i * d + c] - mean) * scale / d;
    }
    for (int c = 0; c < d; c++) {
        float hat = (x[i * d + c] - mean) * scale;
        d_gain[c] += dh[i * d + c] * hat;
        dx[i * d + c] += scale * (dh[i * d + c] * gain[c] - sum - hat * along);
    }
}

static void normalise(const float *x, const float *gain, float *h, int n, int d) {
    for (int i = 0; i < n; i++) {
        normalise_row<<<1, 1>>>(x, gain, h, d, i);
        check("normalise_row");
    }
}

static void normalise_back(const float *x, const float *gain, const float *dh, float *d_gain, float *dx, int n, int d) {
    for (int i = 0; i < n; i++) {
        normalise_row_back<<<1, 1>>>(x, gain, dh, d_gain, dx, d, i);
        check("normalise_row_back");
    }
}

/* --- attention ----------------------------------------------------------------------------------- */

/* Row i of the scores becomes its shares: the columns 0 to i, the rest is 0. */
__global__ void share_row(float *s, int n, float scale, int i) {
    float most = -INFINITY, sum = 0;
    for (int j = 0; j <= i; j++) most = fmaxf(most, s[i * n + j] * scale);
    for (int j = 0; j <= i; j++) sum += expf(s[i * n + j] * scale - most);
    for (int j = 0; j < n; j++) s[i * n + j] = j <= i ? expf(s[i * n + j] * scale - most) / sum : 0;
}

/* Row i of dp, the gradient of the shares p, becomes that of the scores. */
__global__ void share_row_back(const float *p, float *dp, int n, float scale, int i) {
    float inner = 0;
    for (int j = 0; j <= i; j++) inner += p[i * n + j] * dp[i * n + j];
    for (int j = 0; j < n; j++) dp[i * n + j] = p[i * n + j] * (dp[i * n + j] - inner) * scale;
}

static void attend(struct matrix q, struct matrix k, struct matrix v, struct matrix o, struct matrix p) {
    multiply(q, turned(k), p);
    for (int i = 0; i < p.rows; i++) {
        share_row<<<1, 1>>>(p.at, p.cols, 1 / sqrtf((float)q.cols), i);
        check("share_row");
    }
    multiply(p, v, o);
}

static void attend_back(struct matrix q, struct matrix k, struct matrix v, struct matrix p, struct matrix d_o,
                        struct matrix dq, struct matrix dk, struct matrix dv) {
    struct matrix dp = whole(new_array((size_t)p.rows * p.cols), p.rows, p.cols);
    multiply(turned(p), d_o, dv);
    multiply(d_o, turned(v), dp);
    for (int i = 0; i < p.rows; i++) {
        share_row_back<<<1, 1>>>(p.at, dp.at, p.cols, 1 / sqrtf((float)q.cols), i);
        check("share_row_back");
    }
    multiply(dp, k, dq);
    multiply(turned(dp), q, dk);
    cudaFree(dp.at);
}

/* --- gelu ---------------------------------------------------------------------------------------- */

__global__ void gelu_row(const float *u, float *g, int cols, int i) {
    int j = i * cols + blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= (i + 1) * cols) return;
    g[j] = 0.5f * u[j] * (1 + tanhf(0.7978845608f * (u[j] + 0.044715f * u[j] * u[j] * u[j])));
}

__global__ void gelu_row_back(const float *u, float *du, int cols, int i) {
    int j = i * cols + blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= (i + 1) * cols) return;
    float t = tanhf(0.7978845608f * (u[j] + 0.044715f * u[j] * u[j] * u[j]));
    du[j] *= 0.5f * (1 + t) + 0.5f * u[j] * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * u[j] * u[j]);
}

/* --- loss ---------------------------------------------------------------------------------------- */

/* The loss of a row; the row of logits becomes its gradient. */
__global__ void loss_row(float *z, const int *token, float *loss, int v, int n, int i) {
    float most = -INFINITY, sum = 0;
    for (int c = 0; c < v; c++) most = fmaxf(most, z[i * v + c]);
    for (int c = 0; c < v; c++) sum += expf(z[i * v + c] - most);
    loss[i] = logf(sum) + most - z[i * v + token[i + 1]];
    for (int c = 0; c < v; c++) z[i * v + c] = (expf(z[i * v + c] - most) / sum - (c == token[i + 1])) / n;
}

/* --- a step -------------------------------------------------------------------------------------- */

/* One row of a weight's matrix. */
__global__ void change_row(float *weight, float *velocity, const float *gradient, int cols, float rate, int i) {
    int j = i * cols + blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= (i + 1) * cols) return;
    velocity[j] = 0.9f * velocity[j] + gradient[j];
    weight[j] -= rate * velocity[j];
}

/* The loss of a step, and the gradients of all weights. */
static float find_gradients(const struct lab11_job *job, float *weights, float *gradients, int step) {
    const int n = job->context, d = job->width, v = job->symbols, size = d / job->heads;
    float *w[LAB11_TENSORS], *dw[LAB11_TENSORS];
    for (int t = 0; t < LAB11_TENSORS; t++) w[t] = weights + lab11_offset(job, t);
    for (int t = 0; t < LAB11_TENSORS; t++) dw[t] = gradients + lab11_offset(job, t);
    auto weight = [&](int t) { return whole(w[t], lab11_rows(job, t), lab11_cols(job, t)); };
    auto gradient = [&](int t) { return whole(dw[t], lab11_rows(job, t), lab11_cols(job, t)); };
    auto rows = [&](int cols) { return whole(new_array((size_t)n * cols), n, cols); };

    /* the characters of this step */
    int *token = (int *)malloc((n + 1) * sizeof *token), *d_token;
    for (int i = 0; i <= n; i++) token[i] = job->text[lab11_start(job, step) + i];
    cudaMalloc(&d_token, (n + 1) * sizeof *d_token);
    cudaMemcpy(d_token, token, (n + 1) * sizeof *token, cudaMemcpyHostToDevice);

    /* forward */
    struct matrix x0 = rows(d), h1 = rows(d), qkv = rows(3 * d), o = rows(d), x1 = rows(d), h2 = rows(d);
    struct matrix u = rows(4 * d), g = rows(4 * d), x2 = rows(d), h3 = rows(d), z = rows(v);
    struct matrix *p = (struct matrix *)malloc(job->heads * sizeof *p);
    for (int i = 0; i < n; i++) {
        embed_row<<<(d + 31) / 32, 32>>>(x0.at, w[LAB11_EMBEDDING], w[LAB11_POSITION], d_token, d, i);
        check("embed_row");
    }
    normalise(x0.at, w[LAB11_GAIN1], h1.at, n, d);
    multiply(h1, weight(LAB11_QKV), qkv);
    for (int a = 0; a < job->heads; a++) {
        p[a] = rows(n);
        attend(columns(qkv, a * size, size), columns(qkv, d + a * size, size), columns(qkv, 2 * d + a * size, size),
               columns(o, a * size, size), p[a]);
    }
    multiply(o, weight(LAB11_MIX), x1);
    add(x1, x0);
    normalise(x1.at, w[LAB11_GAIN2], h2.at, n, d);
    multiply(h2, weight(LAB11_UP), u);
    for (int i = 0; i < n; i++) {
        gelu_row<<<(4 * d + 31) / 32, 32>>>(u.at, g.at, 4 * d, i);
        check("gelu_row");
    }
    multiply(g, weight(LAB11_DOWN), x2);
    add(x2, x1);
    normalise(x2.at, w[LAB11_GAIN3], h3.at, n, d);
    multiply(h3, weight(LAB11_OUT), z);

    /* the loss: the mean of the rows' */
    float *d_loss = new_array(n), *row_loss = (float *)malloc(n * sizeof *row_loss), loss = 0;
    for (int i = 0; i < n; i++) {
        loss_row<<<1, 1>>>(z.at, d_token, d_loss, v, n, i);
        check("loss_row");
    }
    cudaMemcpy(row_loss, d_loss, n * sizeof *row_loss, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) loss += row_loss[i] / n;

    /* backward */
    struct matrix dx = rows(d), dh = rows(d), d_o = rows(d), dqkv = rows(3 * d), du = rows(4 * d);
    cudaMemset(gradients, 0, lab11_offset(job, LAB11_TENSORS) * sizeof *gradients);
    cudaMemset(dx.at, 0, (size_t)n * d * sizeof(float));
    multiply(turned(h3), z, gradient(LAB11_OUT));
    multiply(z, turned(weight(LAB11_OUT)), dh);
    normalise_back(x2.at, w[LAB11_GAIN3], dh.at, dw[LAB11_GAIN3], dx.at, n, d);

    multiply(turned(g), dx, gradient(LAB11_DOWN));
    multiply(dx, turned(weight(LAB11_DOWN)), du);
    for (int i = 0; i < n; i++) {
        gelu_row_back<<<(4 * d + 31) / 32, 32>>>(u.at, du.at, 4 * d, i);
        check("gelu_row_back");
    }
    multiply(turned(h2), du, gradient(LAB11_UP));
    multiply(du, turned(weight(LAB11_UP)), dh);
    normalise_back(x1.at, w[LAB11_GAIN2], dh.at, dw[LAB11_GAIN2], dx.at, n, d);

    multiply(turned(o), dx, gradient(LAB11_MIX));
    multiply(dx, turned(weight(LAB11_MIX)), d_o);
    for (int a = 0; a < job->heads; a++) {
        int q = a * size, k = d + a * size, value = 2 * d + a * size;
        attend_back(columns(qkv, q, size), columns(qkv, k, size), columns(qkv, value, size), p[a],
                    columns(d_o, a * size, size), columns(dqkv, q, size), columns(dqkv, k, size),
                    columns(dqkv, value, size));
    }
    multiply(turned(h1), dqkv, gradient(LAB11_QKV));
    multiply(dqkv, turned(weight(LAB11_QKV)), dh);
    normalise_back(x0.at, w[LAB11_GAIN1], dh.at, dw[LAB11_GAIN1], dx.at, n, d);
    for (int i = 0; i < n; i++) {
        embed_row_back<<<(d + 31) / 32, 32>>>(dw[LAB11_EMBEDDING], dx.at, d_token, d, i);
        check("embed_row_back");
    }
    add(gradient(LAB11_POSITION), dx);

    for (int a = 0; a < job->heads; a++) cudaFree(p[a].at);
    struct matrix all[] = {x0, h1, qkv, o, x1, h2, u, g, x2, h3, z, dx, dh, d_o, dqkv, du};
    for (struct matrix m : all) cudaFree(m.at);
    cudaFree(d_token), cudaFree(d_loss);
    free(token), free(row_loss), free(p);
    return loss;
}

extern "C" int train(const struct lab11_job *job, float *weights, float *losses) {
    const size_t all = lab11_offset(job, LAB11_TENSORS);
    float *gradients = new_array(all), *velocity = new_array(all);
    int broken = -1;
    cudaMemset(velocity, 0, all * sizeof *velocity);
    for (int step = 0; step < job->steps && broken < 0; step++) {
        losses[step] = find_gradients(job, weights, gradients, step);
        if (isnan(losses[step])) broken = step;
        for (int t = 0; t < LAB11_TENSORS; t++)
            for (int i = 0; i < lab11_rows(job, t); i++) {
                const size_t at = lab11_offset(job, t);
                change_row<<<(lab11_cols(job, t) + 31) / 32, 32>>>(weights + at, velocity + at, gradients + at,
                                                                   lab11_cols(job, t), job->rate, i);
                check("change_row");
            }
    }
    cudaFree(gradients);
    cudaFree(velocity);
    return broken;
}
