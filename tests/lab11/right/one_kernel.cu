// expect: full
// A reader's answer to the ungraded question: the whole training is one kernel, whose blocks meet four times a step.
/* A row of the text is a block's. Between two meetings it needs nothing of the other rows:
 *
 *   1. embedding, first normalisation, q, k and v            the others need k and v
 *   2. attention, the rest forward, the loss, and back to the gradient of o       the others need these gradients
 *   3. back through the attention to the character           the gradients of the weights are sums over all rows
 *   4. these sums, and the change of the weights             the next step reads all weights
 *
 * The device itself sees whether a loss is a number, so the host waits for the end only. All rows of a block's work are
 * made of two products: a row times a matrix, and a row times a matrix turned.
 */
#include "lab11.h"

#include <cooperative_groups.h>
#include <math.h>

enum { THREADS = 512, WARPS = THREADS / 32, GROUP = 8, TILE = 64, MOST_D = 256, MOST_HEADS = MOST_D / 16 };

/* What the kernel works on. An array has a row for each character, but for weights and velocities. */
struct network {
    int n, d, v, heads, size, steps, length;
    float rate, scale; /* scale: of the scores */
    const unsigned char *text;
    float *w[LAB11_TENSORS], *velocity[LAB11_TENSORS];
    float *h1, *qkv, *o, *h2, *g, *h3;             /* the left sides of the products */
    float *dqkv, *dx1, *du, *dx2, *dz, *d_o, *dx0; /* gradients */
    float *gain1, *gain2, *gain3;                  /* each row's part of the gains' gradients */
    float *log_sum, *inner;                        /* for each row and head: L and D of the handout */
    float *row_loss, *losses;
};
__constant__ struct network net;

/* --- what the threads of a block do together --------------------------------------------------------- */

__device__ float warp_sum(float x) {
    for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(~0u, x, k);
    return x;
}
__device__ float warp_max(float x) {
    for (int k = 16; k > 0; k /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, k));
    return x;
}

/* y = a * b: a row of k numbers in shared memory, times k x cols numbers. As many threads share a column's sum as there
 * are. With heads, each `group` columns have an `a` of their own, TILE numbers behind the last. A barrier before and
 * after. */
__device__ void times(const float *a, int k, const float *b, int down, int cols, float *y, int group) {
    __shared__ float part[4 * MOST_D];
    const int parts = cols < THREADS ? THREADS / cols : 1;
    __syncthreads();
    for (int t = threadIdx.x; t < parts * cols; t += THREADS) {
        const int col = t % cols;
        const float *own = a + col / group * TILE;
        float sum = 0;
#pragma unroll 8
        for (int i = t / cols; i < k; i += parts) sum += own[i] * b[i * down + col];
        part[t] = sum;
    }
    __syncthreads();
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        float sum = 0;
        for (int p = 0; p < parts; p++) sum += part[p * cols + col];
        y[col] = sum;
    }
    __syncthreads();
}

/* Returns the sum of a[i] * b[i] to each of the GROUP lanes that share it. */
__device__ float inner_product(const float *a, const float *b, int k) {
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x % GROUP; i < k; i += GROUP) sum += a[i] * b[i];
    for (int m = GROUP / 2; m > 0; m /= 2) sum += __shfl_xor_sync(~0u, sum, m);
    return sum;
}

/* y = a * b turned: y[r] is the sum of a times row r of b. Whole warps take part, for the shuffles. */
__device__ void times_turned(const float *a, int k, const float *b, int down, int rows, float *y) {
    __syncthreads();
    for (int first = 0; first < rows; first += THREADS / GROUP) {
        const int r = first + threadIdx.x / GROUP;
        const float sum = inner_product(a, b + (r < rows ? r : 0) * down, k);
        if (r < rows && threadIdx.x % GROUP == 0) y[r] = sum;
    }
    __syncthreads();
}

/* The mean of a row, and 1 / its standard deviation. Each warp finds both for itself, without a barrier. */
struct moments {
    float mean, scale;
};
__device__ struct moments find_moments(const float *x) {
    float sum = 0, squares = 0;
    for (int c = threadIdx.x % 32; c < net.d; c += 32) sum += x[c];
    const float mean = warp_sum(sum) / net.d;
    for (int c = threadIdx.x % 32; c < net.d; c += 32) squares += (x[c] - mean) * (x[c] - mean);
    return {mean, 1 / sqrtf(warp_sum(squares) / net.d + 1e-5f)};
}

/* h = normal(x) * gain, in shared memory and in the array. */
__device__ void normalise(const float *x, const float *gain, float *h, float *array) {
    const struct moments m = find_moments(x);
    for (int c = threadIdx.x; c < net.d; c += THREADS) array[c] = h[c] = (x[c] - m.mean) * m.scale * gain[c];
}

/* From dh, the gradient of h: adds that of x to dx, and keeps both that and this row's part of the gain's. */
__device__ void normalise_back(const float *x, const float *gain, const float *dh, float *dx, float *dx_array,
                               float *gain_array) {
    const struct moments m = find_moments(x);
    float sum = 0, along = 0;
    for (int c = threadIdx.x % 32; c < net.d; c += 32) {
        sum += dh[c] * gain[c];
        along += dh[c] * gain[c] * (x[c] - m.mean) * m.scale;
    }
    sum = warp_sum(sum) / net.d, along = warp_sum(along) / net.d;
    for (int c = threadIdx.x; c < net.d; c += THREADS) {
        const float hat = (x[c] - m.mean) * m.scale;
        gain_array[c] = dh[c] * hat;
        dx_array[c] = dx[c] = dx[c] + m.scale * (dh[c] * gain[c] - sum - hat * along);
    }
}

/* --- 1: to q, k and v -------------------------------------------------------------------------------- */

__device__ void embed(const unsigned char *text, int row, float *x0) {
    for (int c = threadIdx.x; c < net.d; c += THREADS)
        x0[c] = net.w[LAB11_EMBEDDING][text[row] * net.d + c] + net.w[LAB11_POSITION][row * net.d + c];
    __syncthreads();
}

__device__ void find_qkv(const unsigned char *text, int row) {
    __shared__ float x0[MOST_D], h1[MOST_D];
    const int d = net.d;
    embed(text, row, x0);
    normalise(x0, net.w[LAB11_GAIN1], h1, net.h1 + row * d);
    times(h1, d, net.w[LAB11_QKV], 3 * d, 3 * d, net.qkv + row * 3 * d, 3 * d);
}

/* --- 2: attention, loss, and back -------------------------------------------------------------------- */

/* Scores of one tile become exp(score - most), most and sum what they are with it; shrink corrects what was summed
 * before. A warp takes a head. */
__device__ void share_tile(float *share, int count, float *most, float *sum, float *shrink) {
    const int lane = threadIdx.x % 32;
    for (int head = threadIdx.x / 32; head < net.heads; head += WARPS) {
        float now = most[head], add = 0;
        for (int j = lane; j < count; j += 32) now = fmaxf(now, share[head * TILE + j]);
        now = warp_max(now);
        for (int j = lane; j < count; j += 32) add += share[head * TILE + j] = expf(share[head * TILE + j] - now);
        add = warp_sum(add);
        if (lane == 0) {
            shrink[head] = expf(most[head] - now);
            sum[head] = sum[head] * shrink[head] + add;
            most[head] = now;
        }
        __syncwarp();
    }
}

/* o, the row's attention, and log_sum. */
__device__ void attend(int row, float *o) {
    __shared__ float q[MOST_D], more[MOST_D], share[MOST_HEADS * TILE];
    __shared__ float most[MOST_HEADS], sum[MOST_HEADS], shrink[MOST_HEADS];
    const int d = net.d, size = net.size, heads = net.heads;
    for (int c = threadIdx.x; c < d; c += THREADS) q[c] = net.qkv[row * 3 * d + c] * net.scale, o[c] = 0;
    if (threadIdx.x < heads) most[threadIdx.x] = -INFINITY, sum[threadIdx.x] = 0;
    __syncthreads();
    for (int first = 0; first <= row; first += TILE) {
        const int count = row + 1 - first < TILE ? row + 1 - first : TILE;
        const float *k = net.qkv + first * 3 * d + d, *v = k + d;
        for (int t0 = 0; t0 < count * heads; t0 += THREADS / GROUP) {
            const int t = t0 + threadIdx.x / GROUP, at = t < count * heads ? t : 0;
            const int head = at / count, j = at % count;
            const float score = inner_product(q + head * size, k + j * 3 * d + head * size, size);
            if (t < count * heads && threadIdx.x % GROUP == 0) share[head * TILE + j] = score;
        }
        __syncthreads();
        share_tile(share, count, most, sum, shrink);
        times(share, count, v, 3 * d, d, more, size);
        for (int c = threadIdx.x; c < d; c += THREADS) o[c] = o[c] * shrink[c / size] + more[c];
        __syncthreads();
    }
    for (int c = threadIdx.x; c < d; c += THREADS) net.o[row * d + c] = o[c] /= sum[c / size];
    if (threadIdx.x < heads) net.log_sum[row * heads + threadIdx.x] = most[threadIdx.x] + logf(sum[threadIdx.x]);
}

__device__ float gelu(float u) { return 0.5f * u * (1 + tanhf(0.7978845608f * (u + 0.044715f * u * u * u))); }
__device__ float gelu_slope(float u) {
    const float t = tanhf(0.7978845608f * (u + 0.044715f * u * u * u));
    return 0.5f * (1 + t) + 0.5f * u * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * u * u);
}

/* The row's loss; z, the logits, become their gradient. Each warp finds the sum for itself. */
__device__ void find_loss(int row, int next, float *z) {
    float most = -INFINITY, sum = 0;
    for (int c = threadIdx.x % 32; c < net.v; c += 32) most = fmaxf(most, z[c]);
    most = warp_max(most);
    for (int c = threadIdx.x % 32; c < net.v; c += 32) sum += expf(z[c] - most);
    sum = warp_sum(sum);
    if (threadIdx.x == 0) net.row_loss[row] = logf(sum) + most - z[next];
    __syncthreads();
    for (int c = threadIdx.x; c < net.v; c += THREADS)
        net.dz[row * net.v + c] = z[c] = (expf(z[c] - most) / sum - (c == next)) / net.n;
}

__device__ void there_and_back(const unsigned char *text, int row) {
    __shared__ float x0[MOST_D], x1[MOST_D], x2[MOST_D], h[MOST_D], dh[MOST_D], dx[MOST_D], o[MOST_D];
    __shared__ float u[4 * MOST_D], g[4 * MOST_D], z[LAB11_SYMBOLS];
    const int d = net.d, v = net.v;
    attend(row, o);
    embed(text, row, x0);
    times(o, d, net.w[LAB11_MIX], d, d, x1, d);
    for (int c = threadIdx.x; c < d; c += THREADS) x1[c] += x0[c];
    __syncthreads();
    normalise(x1, net.w[LAB11_GAIN2], h, net.h2 + row * d);
    times(h, d, net.w[LAB11_UP], 4 * d, 4 * d, u, 4 * d);
    for (int c = threadIdx.x; c < 4 * d; c += THREADS) net.g[row * 4 * d + c] = g[c] = gelu(u[c]);
    times(g, 4 * d, net.w[LAB11_DOWN], d, d, x2, d);
    for (int c = threadIdx.x; c < d; c += THREADS) x2[c] += x1[c];
    __syncthreads();
    normalise(x2, net.w[LAB11_GAIN3], h, net.h3 + row * d);
    times(h, d, net.w[LAB11_OUT], v, v, z, v);
    find_loss(row, text[row + 1], z);

    for (int c = threadIdx.x; c < d; c += THREADS) dx[c] = 0;
    times_turned(z, v, net.w[LAB11_OUT], v, d, dh);
    normalise_back(x2, net.w[LAB11_GAIN3], dh, dx, net.dx2 + row * d, net.gain3 + row * d);
    times_turned(dx, d, net.w[LAB11_DOWN], d, 4 * d, g);
    for (int c = threadIdx.x; c < 4 * d; c += THREADS) net.du[row * 4 * d + c] = g[c] *= gelu_slope(u[c]);
    times_turned(g, 4 * d, net.w[LAB11_UP], 4 * d, d, dh);
    normalise_back(x1, net.w[LAB11_GAIN2], dh, dx, net.dx1 + row * d, net.gain2 + row * d);
    times_turned(dx, d, net.w[LAB11_MIX], d, d, h);
    for (int c = threadIdx.x; c < d; c += THREADS) net.d_o[row * d + c] = h[c];
    if (threadIdx.x < net.heads) {
        float inner = 0;
        for (int c = threadIdx.x * net.size; c < (threadIdx.x + 1) * net.size; c++) inner += h[c] * o[c];
        net.inner[row * net.heads + threadIdx.x] = inner;
    }
    __syncthreads();
}

/* --- 3: back through the attention ------------------------------------------------------------------- */

/* Shares, and gradients of scores, of this row with `count` others from `first` on: as the one that asks (q) or as the
 * one that is asked (k, v). own has the row's q, k and v, and behind them the gradient of its o. */
__device__ void share_back(int row, int first, int count, bool asks, const float *own, float *share, float *ds) {
    const int d = net.d, size = net.size, heads = net.heads;
    for (int t0 = 0; t0 < count * heads; t0 += THREADS / GROUP) {
        const int t = t0 + threadIdx.x / GROUP, at = t < count * heads ? t : 0;
        const int head = at / count, j = at % count, other = first + j, asker = asks ? row : other;
        const float *their = net.qkv + other * 3 * d + head * size, *their_do = net.d_o + other * d + head * size;
        const float *mine = own + head * size;
        const float s =
            net.scale * (asks ? inner_product(mine, their + d, size) : inner_product(mine + d, their, size));
        const float dp =
            asks ? inner_product(mine + 3 * d, their + 2 * d, size) : inner_product(mine + 2 * d, their_do, size);
        const float p = expf(s - net.log_sum[asker * heads + head]);
        if (t < count * heads && threadIdx.x % GROUP == 0) {
            share[head * TILE + j] = p;
            ds[head * TILE + j] = p * (dp - net.inner[asker * heads + head]) * net.scale;
        }
    }
}

__device__ void find_dqkv(const unsigned char *text, int row) {
    __shared__ float x0[MOST_D], dx[MOST_D], dh[MOST_D], own[4 * MOST_D], sums[3 * MOST_D], more[MOST_D];
    __shared__ float share[MOST_HEADS * TILE], ds[MOST_HEADS * TILE];
    const int d = net.d, size = net.size;
    for (int c = threadIdx.x; c < 3 * d; c += THREADS) own[c] = net.qkv[row * 3 * d + c], sums[c] = 0;
    for (int c = threadIdx.x; c < d; c += THREADS) own[3 * d + c] = net.d_o[row * d + c], dx[c] = net.dx1[row * d + c];
    embed(text, row, x0);
    for (int first = 0; first <= row; first += TILE) { /* this row asks those up to it */
        const int count = row + 1 - first < TILE ? row + 1 - first : TILE;
        share_back(row, first, count, true, own, share, ds);
        times(ds, count, net.qkv + first * 3 * d + d, 3 * d, d, more, size);
        for (int c = threadIdx.x; c < d; c += THREADS) sums[c] += more[c];
    }
    for (int first = row; first < net.n; first += TILE) { /* those from it on ask this row */
        const int count = net.n - first < TILE ? net.n - first : TILE;
        share_back(row, first, count, false, own, share, ds);
        times(ds, count, net.qkv + first * 3 * d, 3 * d, d, more, size);
        for (int c = threadIdx.x; c < d; c += THREADS) sums[d + c] += more[c];
        times(share, count, net.d_o + first * d, d, d, more, size);
        for (int c = threadIdx.x; c < d; c += THREADS) sums[2 * d + c] += more[c];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < 3 * d; c += THREADS) net.dqkv[row * 3 * d + c] = sums[c];
    times_turned(sums, 3 * d, net.w[LAB11_QKV], 3 * d, d, dh);
    normalise_back(x0, net.w[LAB11_GAIN1], dh, dx, net.dx0 + row * d, net.gain1 + row * d);
    __syncthreads();
}

/* --- 4: the weights ---------------------------------------------------------------------------------- */

/* Changes a weight by its gradient: `left` turned times `right`. Each of these sums goes over the rows; a thread has
 * one at a time. Tensors lie behind each other, so the next one begins with the thread behind this one's last. */
__device__ void change(int tensor, int rows, int cols, const float *left, const float *right, int *begin) {
    const int all = gridDim.x * THREADS, me = blockIdx.x * THREADS + threadIdx.x;
    for (int i = (me + all - *begin) % all; i < rows * cols; i += all) {
        const float *a = left + i / cols, *b = right + i % cols;
        float sum = 0;
#pragma unroll 8
        for (int row = 0; row < net.n; row++) sum += a[row * rows] * b[row * cols];
        const float velocity = net.velocity[tensor][i] = 0.9f * net.velocity[tensor][i] + sum;
        net.w[tensor][i] -= net.rate * velocity;
    }
    *begin = (*begin + rows * cols) % all;
}

/* The same for a gain, the positions and the embedding, whose sums have no left side. */
enum sum_over { ALL_ROWS, OWN_ROW, ROWS_WITH_THIS_CHARACTER };
__device__ void change_by(int tensor, int count, const float *part, enum sum_over over, const unsigned char *text,
                          int *begin) {
    const int d = net.d, all = gridDim.x * THREADS, me = blockIdx.x * THREADS + threadIdx.x;
    for (int i = (me + all - *begin) % all; i < count; i += all) {
        float sum = over == OWN_ROW ? part[i] : 0;
#pragma unroll 8
        for (int row = 0; row < (over == OWN_ROW ? 0 : net.n); row++)
            sum += over == ALL_ROWS || text[row] == i / d ? part[row * d + i % d] : 0;
        const float velocity = net.velocity[tensor][i] = 0.9f * net.velocity[tensor][i] + sum;
        net.w[tensor][i] -= net.rate * velocity;
    }
    *begin = (*begin + count) % all;
}

__device__ void change_weights(const unsigned char *text) {
    const int d = net.d, v = net.v;
    int begin = 0;
    change_by(LAB11_EMBEDDING, v * d, net.dx0, ROWS_WITH_THIS_CHARACTER, text, &begin);
    change_by(LAB11_POSITION, net.n * d, net.dx0, OWN_ROW, text, &begin);
    change_by(LAB11_GAIN1, d, net.gain1, ALL_ROWS, text, &begin);
    change(LAB11_QKV, d, 3 * d, net.h1, net.dqkv, &begin);
    change(LAB11_MIX, d, d, net.o, net.dx1, &begin);
    change_by(LAB11_GAIN2, d, net.gain2, ALL_ROWS, text, &begin);
    change(LAB11_UP, d, 4 * d, net.h2, net.du, &begin);
    change(LAB11_DOWN, 4 * d, d, net.g, net.dx2, &begin);
    change_by(LAB11_GAIN3, d, net.gain3, ALL_ROWS, text, &begin);
    change(LAB11_OUT, d, v, net.h3, net.dz, &begin);
}

/* --- the training ------------------------------------------------------------------------------------ */

__device__ void sum_losses(int step) {
    float sum = 0;
    for (int row = threadIdx.x; row < net.n; row += 32) sum += net.row_loss[row];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) net.losses[step] = sum / net.n;
}

__global__ __launch_bounds__(THREADS) void take_steps() {
    auto grid = cooperative_groups::this_grid();
    for (int step = 0; step < net.steps; step++) {
        const unsigned char *text = net.text + (long)step * net.n % (net.length - net.n);
        for (int row = blockIdx.x; row < net.n; row += gridDim.x) find_qkv(text, row);
        grid.sync();
        for (int row = blockIdx.x; row < net.n; row += gridDim.x) there_and_back(text, row);
        grid.sync();
        for (int row = blockIdx.x; row < net.n; row += gridDim.x) find_dqkv(text, row);
        if (blockIdx.x == gridDim.x - 1 && threadIdx.x < 32) sum_losses(step);
        grid.sync();
        if (isnan(net.losses[step])) return; /* all blocks read the same number, so none waits for another */
        change_weights(text);
        grid.sync();
    }
}

/* All arrays, in one piece of device memory; returns its beginning. */
static float *place_arrays(struct network *m, size_t weights) {
    const size_t n = (size_t)m->n, row = n * (size_t)m->d;
    struct {
        float **array;
        size_t count;
    } arrays[] = {{&m->velocity[0], weights},
                  {&m->h1, row},
                  {&m->qkv, 3 * row},
                  {&m->o, row},
                  {&m->h2, row},
                  {&m->g, 4 * row},
                  {&m->h3, row},
                  {&m->dqkv, 3 * row},
                  {&m->dx1, row},
                  {&m->du, 4 * row},
                  {&m->dx2, row},
                  {&m->dz, n * (size_t)m->v},
                  {&m->d_o, row},
                  {&m->dx0, row},
                  {&m->gain1, row},
                  {&m->gain2, row},
                  {&m->gain3, row},
                  {&m->log_sum, n * (size_t)m->heads},
                  {&m->inner, n * (size_t)m->heads},
                  {&m->row_loss, n},
                  {&m->losses, (size_t)m->steps}};
    size_t floats = 0, at = 0;
    float *memory;
    for (auto &a : arrays) floats += a.count;
    cudaMalloc(&memory, floats * sizeof *memory + (size_t)m->length);
    for (auto &a : arrays) *a.array = memory + at, at += a.count;
    m->text = (unsigned char *)(memory + floats);
    return memory;
}

extern "C" int train(const struct lab11_job *job, float *weights, float *losses) {
    const int size = job->width / job->heads;
    struct network m = {job->context, job->width, job->symbols,          job->heads, size, job->steps,
                        job->length,  job->rate,  1 / sqrtf((float)size)};
    const size_t all = lab11_offset(job, LAB11_TENSORS);
    float *memory = place_arrays(&m, all);
    for (int t = 0; t < LAB11_TENSORS; t++) {
        m.w[t] = weights + lab11_offset(job, t);
        m.velocity[t] = m.velocity[0] + lab11_offset(job, t);
    }
    cudaMemcpyAsync((void *)m.text, job->text, (size_t)job->length, cudaMemcpyHostToDevice);
    cudaMemsetAsync(m.velocity[0], 0, all * sizeof *memory);
    cudaMemcpyToSymbolAsync(net, &m, sizeof m, 0, cudaMemcpyHostToDevice);

    int sms, of_an_sm;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_an_sm, take_steps, THREADS, 0);
    /* A block a row, as far as there are places; a block on each SM, for the sums. */
    const int places = sms * of_an_sm, blocks = m.n < sms ? sms : m.n < places ? m.n : places;
    cudaLaunchCooperativeKernel((void *)take_steps, blocks, THREADS, NULL, 0, 0);
    cudaMemcpy(losses, m.losses, (size_t)m.steps * sizeof *losses, cudaMemcpyDeviceToHost);
    cudaFree(memory);
    for (int step = 0; step < m.steps; step++)
        if (isnan(losses[step])) return step;
    return -1;
}
