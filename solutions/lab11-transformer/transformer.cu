/* transformer.cu — lab 11, the reference: a step is a graph of twenty kernels, and the host waits for none of them.
 *
 * What a step needs is allocated once, the text is copied once, and the kernels of a step are captured once. The steps
 * then follow each other by one call each. The host looks at the losses of an older group of steps while the next group
 * runs; a device counter says which step it is.
 *
 * Every product of matrices is one function, `product`: tiles in shared memory, a patch of a tile in each thread's
 * registers. What it multiplies is computed while it is loaded (normalisation, gelu), and what becomes of a sum when it
 * is stored (residual, gradient of gelu, momentum). So neither h1, h2, h3, gelu(u) nor any gradient of a weight has an
 * array of its own.
 *
 * Attention goes over the keys in tiles of 32 and corrects what it has summed so far when a larger score appears. The
 * N x N matrix never leaves the SM. The backward pass computes its tiles again, from the logarithm of each row's sum.
 */
#include "lab11.h"

#include <math.h>
#include <string.h>

enum { GROUP = 4, TILE = 32, WARPS = 8, THREADS = 256, DEEP = 16 };

/* All that a step works on, on the device. */
struct net {
    int v, n, d, heads, length;
    float rate;
    const unsigned char *text;
    float *weight[LAB11_TENSORS], *velocity[LAB11_TENSORS];
    float *gain;   /* 3 x D: the gains that this step uses, while new ones are written */
    float2 *stats; /* 3 x N: mean and 1 / deviation of the rows of x0, x1, x2 */
    float *x0, *qkv, *o, *lse, *x1, *u, *x2, *logits;
    float *dx2, *du, *dx1, *dqkv, *dx0; /* the gradients of x2, u, x1, qkv, x0; logits becomes its own */
    float *dh3, *dh2, *dh1;             /* of h3, h2, h1; dh1 first holds that of o */
    float *row_loss, *losses;
    int *token, *step; /* N + 1 characters; the step's number */
};

/* --- rows ---------------------------------------------------------------------------------------- */

__device__ static float sum_of_warp(float x) {
    for (int lanes = 16; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffff, x, lanes);
    return x;
}
__device__ static float most_of_warp(float x) {
    for (int lanes = 16; lanes > 0; lanes /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, lanes));
    return x;
}

/* Mean and 1 / deviation of a row, by one warp. */
__device__ static float2 stats_of(const float *x, int d) {
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < d; c += 32) sum += x[c];
    const float mean = sum_of_warp(sum) / d;
    for (int c = threadIdx.x; c < d; c += 32) squares += (x[c] - mean) * (x[c] - mean);
    return make_float2(mean, rsqrtf(sum_of_warp(squares) / d + 1e-5f));
}

/* A warp a row: embedding + position. The first block also notes the gains. */
__global__ void embed(net m) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    const int start = (int)((long)*m.step * m.n % (m.length - m.n));
    if (blockIdx.x == 0)
        for (int c = threadIdx.y * 32 + threadIdx.x; c < m.d; c += THREADS) {
            m.gain[c] = m.weight[LAB11_GAIN1][c];
            m.gain[m.d + c] = m.weight[LAB11_GAIN2][c];
            m.gain[2 * m.d + c] = m.weight[LAB11_GAIN3][c];
        }
    if (row > m.n) return;
    const int token = m.text[start + row];
    if (threadIdx.x == 0) m.token[row] = token;
    if (row == m.n) return;
    float *x = m.x0 + row * m.d;
    for (int c = threadIdx.x; c < m.d; c += 32)
        x[c] = m.weight[LAB11_EMBEDDING][token * m.d + c] + m.weight[LAB11_POSITION][row * m.d + c];
    const float2 s = stats_of(x, m.d);
    if (threadIdx.x == 0) m.stats[row] = s;
}

__global__ void find_stats(const float *x, float2 *stats, int n, int d) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= n) return;
    const float2 s = stats_of(x + row * d, d);
    if (threadIdx.x == 0) stats[row] = s;
}

/* The loss of each row; the logits become their own gradient. */
__global__ void find_loss(net m) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= m.n) return;
    float *z = m.logits + row * m.v, most = -INFINITY, sum = 0;
    const int next = m.token[row + 1];
    const float right = z[next];
    for (int c = threadIdx.x; c < m.v; c += 32) most = fmaxf(most, z[c]);
    most = most_of_warp(most);
    for (int c = threadIdx.x; c < m.v; c += 32) sum += expf(z[c] - most);
    sum = sum_of_warp(sum);
    __syncwarp();
    for (int c = threadIdx.x; c < m.v; c += 32) z[c] = (expf(z[c] - most) / sum - (c == next)) / m.n;
    if (threadIdx.x == 0) m.row_loss[row] = logf(sum) + most - right;
}

/* out = past + the gradient that comes back through a normalisation of x. */
__global__ void back_through_normal(const float *x, const float2 *stats, const float *gain, const float *dh,
                                    const float *past, float *out, int n, int d) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= n) return;
    const float2 s = stats[row];
    float sum = 0, along = 0;
    for (int c = threadIdx.x; c < d; c += 32) {
        const float g = dh[row * d + c] * gain[c];
        sum += g, along += g * (x[row * d + c] - s.x) * s.y;
    }
    sum = sum_of_warp(sum) / d, along = sum_of_warp(along) / d;
    for (int c = threadIdx.x; c < d; c += 32) {
        const float g = dh[row * d + c] * gain[c], hat = (x[row * d + c] - s.x) * s.y;
        out[row * d + c] = (past ? past[row * d + c] : 0) + s.y * (g - sum - hat * along);
    }
}

/* --- products ------------------------------------------------------------------------------------ */

__device__ static float tanh_of(float u) { return tanhf(0.7978845608f * (u + 0.044715f * u * u * u)); }
__device__ static float gelu(float u) { return 0.5f * u * (1 + tanh_of(u)); }
__device__ static float slope_of_gelu(float u) {
    const float t = tanh_of(u);
    return 0.5f * (1 + t) + 0.5f * u * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * u * u);
}

__host__ __device__ static int tiles_of(int length) { return (length + TILE - 1) / TILE; }

/* Which of its two indices makes neighbours in memory. */
enum along { ROWS, COLUMNS };

/* put(i, j, sum over k of a(i, k) * b(k, j)) for the tile of TILE x TILE sums whose first is row0, col0. */
struct tiles {
    float left[DEEP][TILE + 1], right[DEEP][TILE + 1];
};

template <along A, along B, class Left, class Right, class Put>
__device__ static void product(tiles &t, int rows, int cols, int inner, int row0, int col0, Left a, Right b, Put put) {
    constexpr int PER = TILE / 16;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum[PER][PER] = {};
    for (int k0 = 0; k0 < inner; k0 += DEEP) {
#pragma unroll
        for (int some = 0; some < TILE * DEEP; some += THREADS) {
            const int at = some + threadIdx.x, i = A == COLUMNS ? at / DEEP : at % TILE,
                      k = A == COLUMNS ? at % DEEP : at / TILE;
            t.left[k][i] = row0 + i < rows && k0 + k < inner ? a(row0 + i, k0 + k) : 0;
            const int j = B == COLUMNS ? at % TILE : at / DEEP, l = B == COLUMNS ? at / TILE : at % DEEP;
            t.right[l][j] = col0 + j < cols && k0 + l < inner ? b(k0 + l, col0 + j) : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            float p[PER], q[PER];
#pragma unroll
            for (int i = 0; i < PER; i++) p[i] = t.left[k][y + 16 * i], q[i] = t.right[k][x + 16 * i];
#pragma unroll
            for (int i = 0; i < PER; i++)
#pragma unroll
                for (int j = 0; j < PER; j++) sum[i][j] += p[i] * q[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; i++)
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const int r = row0 + y + 16 * i, c = col0 + x + 16 * j;
            if (r < rows && c < cols) put(r, c, sum[i][j]);
        }
}

/* h1, h2, h3 where they are needed: row i, column c of a normalised x. */
__device__ static float normal(const net &m, const float *x, int which, int i, int c) {
    const float2 s = m.stats[which * m.n + i];
    return (x[i * m.d + c] - s.x) * s.y * m.gain[which * m.d + c];
}

/* One kernel for each product of a step; blocks are tiles, x across and y down. */
enum stage { QKV, MIX, UP, DOWN, OUT, BACK_OUT, BACK_DOWN, BACK_UP, BACK_MIX, BACK_QKV };

template <stage S> __global__ void __launch_bounds__(THREADS) multiply(net m) {
    __shared__ tiles t;
    const int r = blockIdx.y * TILE, c = blockIdx.x * TILE, n = m.n, d = m.d, v = m.v;
    auto weight = [=](int tensor, int cols) {
        const float *w = m.weight[tensor];
        return [=](int k, int j) { return w[k * cols + j]; };
    };
    auto flipped = [=](int tensor, int cols) {
        const float *w = m.weight[tensor];
        return [=](int k, int j) { return w[j * cols + k]; };
    };
    auto plain = [](const float *x, int cols) { return [=](int i, int k) { return x[i * cols + k]; }; };
    auto store = [](float *x, int cols) { return [=](int i, int j, float sum) { x[i * cols + j] = sum; }; };
    auto add = [](float *x, const float *old, int cols) {
        return [=](int i, int j, float sum) { x[i * cols + j] = old[i * cols + j] + sum; };
    };
    if constexpr (S == QKV)
        product<COLUMNS, COLUMNS>(
            t, n, 3 * d, d, r, c, [=](int i, int k) { return normal(m, m.x0, 0, i, k); }, weight(LAB11_QKV, 3 * d),
            store(m.qkv, 3 * d));
    if constexpr (S == MIX)
        product<COLUMNS, COLUMNS>(t, n, d, d, r, c, plain(m.o, d), weight(LAB11_MIX, d), add(m.x1, m.x0, d));
    if constexpr (S == UP)
        product<COLUMNS, COLUMNS>(
            t, n, 4 * d, d, r, c, [=](int i, int k) { return normal(m, m.x1, 1, i, k); }, weight(LAB11_UP, 4 * d),
            store(m.u, 4 * d));
    if constexpr (S == DOWN)
        product<COLUMNS, COLUMNS>(
            t, n, d, 4 * d, r, c, [=](int i, int k) { return gelu(m.u[i * 4 * d + k]); }, weight(LAB11_DOWN, d),
            add(m.x2, m.x1, d));
    if constexpr (S == OUT)
        product<COLUMNS, COLUMNS>(
            t, n, v, d, r, c, [=](int i, int k) { return normal(m, m.x2, 2, i, k); }, weight(LAB11_OUT, v),
            store(m.logits, v));
    if constexpr (S == BACK_OUT)
        product<COLUMNS, ROWS>(t, n, d, v, r, c, plain(m.logits, v), flipped(LAB11_OUT, v), store(m.dh3, d));
    if constexpr (S == BACK_DOWN)
        product<COLUMNS, ROWS>(
            t, n, 4 * d, d, r, c, plain(m.dx2, d), flipped(LAB11_DOWN, d),
            [=](int i, int j, float sum) { m.du[i * 4 * d + j] = sum * slope_of_gelu(m.u[i * 4 * d + j]); });
    if constexpr (S == BACK_UP)
        product<COLUMNS, ROWS>(t, n, d, 4 * d, r, c, plain(m.du, 4 * d), flipped(LAB11_UP, 4 * d), store(m.dh2, d));
    if constexpr (S == BACK_MIX)
        product<COLUMNS, ROWS>(t, n, d, d, r, c, plain(m.dx1, d), flipped(LAB11_MIX, d), store(m.dh1, d));
    if constexpr (S == BACK_QKV)
        product<COLUMNS, ROWS>(t, n, d, 3 * d, r, c, plain(m.dqkv, 3 * d), flipped(LAB11_QKV, 3 * d), store(m.dh1, d));
}

/* --- new weights --------------------------------------------------------------------------------- */

__device__ static void change(const net &m, int tensor, int at, float gradient) {
    float *velocity = m.velocity[tensor] + at;
    *velocity = 0.9f * *velocity + gradient;
    m.weight[tensor][at] -= m.rate * *velocity;
}

/* One launch for all weights. The blocks share the work by their number: the tiles of the five matrices, then a block a
 * character, one for each 256 numbers of `position`, three for the gains, and one for the loss. */
__global__ void __launch_bounds__(THREADS) change_weights(net m) {
    __shared__ tiles t;
    const int n = m.n, d = m.d, v = m.v;
    const int rows[] = {d, 4 * d, d, d, d}, cols[] = {v, d, 4 * d, d, 3 * d};
    int block = blockIdx.x, matrix = 0;
    for (; matrix < 5; matrix++) {
        const int tiles = tiles_of(rows[matrix]) * tiles_of(cols[matrix]);
        if (block < tiles) break;
        block -= tiles;
    }
    if (matrix < 5) {
        const int across = tiles_of(cols[matrix]), r = block / across * TILE, c = block % across * TILE;
        auto update = [=](int tensor, int width) {
            return [=](int i, int j, float sum) { change(m, tensor, i * width + j, sum); };
        };
        auto plain = [](const float *x, int width) { return [=](int k, int j) { return x[k * width + j]; }; };
        auto turned = [](const float *x, int width) { return [=](int i, int k) { return x[k * width + i]; }; };
        auto turned_normal = [=](const float *x, int which) {
            return [=](int i, int k) { return normal(m, x, which, k, i); };
        };
        if (matrix == 0)
            product<ROWS, COLUMNS>(t, d, v, n, r, c, turned_normal(m.x2, 2), plain(m.logits, v), update(LAB11_OUT, v));
        if (matrix == 1)
            product<ROWS, COLUMNS>(
                t, 4 * d, d, n, r, c, [=](int i, int k) { return gelu(m.u[k * 4 * d + i]); }, plain(m.dx2, d),
                update(LAB11_DOWN, d));
        if (matrix == 2)
            product<ROWS, COLUMNS>(t, d, 4 * d, n, r, c, turned_normal(m.x1, 1), plain(m.du, 4 * d),
                                   update(LAB11_UP, 4 * d));
        if (matrix == 3)
            product<ROWS, COLUMNS>(t, d, d, n, r, c, turned(m.o, d), plain(m.dx1, d), update(LAB11_MIX, d));
        if (matrix == 4)
            product<ROWS, COLUMNS>(t, d, 3 * d, n, r, c, turned_normal(m.x0, 0), plain(m.dqkv, 3 * d),
                                   update(LAB11_QKV, 3 * d));
        return;
    }
    if (block < v) {
        for (int c = threadIdx.x; c < d; c += THREADS) {
            float sum = 0;
            for (int i = 0; i < n; i++)
                if (m.token[i] == block) sum += m.dx0[i * d + c];
            change(m, LAB11_EMBEDDING, block * d + c, sum);
        }
        return;
    }
    block -= v;
    if (block < (n * d + THREADS - 1) / THREADS) {
        const int at = block * THREADS + threadIdx.x;
        if (at < n * d) change(m, LAB11_POSITION, at, m.dx0[at]);
        return;
    }
    block -= (n * d + THREADS - 1) / THREADS;
    if (block < 3) {
        const float *x = block == 0 ? m.x0 : block == 1 ? m.x1 : m.x2;
        const float *dh = block == 0 ? m.dh1 : block == 1 ? m.dh2 : m.dh3;
        for (int c = threadIdx.x; c < d; c += THREADS) {
            float sum = 0;
            for (int i = 0; i < n; i++) {
                const float2 s = m.stats[block * n + i];
                sum += dh[i * d + c] * (x[i * d + c] - s.x) * s.y;
            }
            change(m, block == 0 ? LAB11_GAIN1 : block == 1 ? LAB11_GAIN2 : LAB11_GAIN3, c, sum);
        }
        return;
    }
    if (threadIdx.x < 32) {
        float sum = 0;
        for (int i = threadIdx.x; i < n; i += 32) sum += m.row_loss[i];
        sum = sum_of_warp(sum);
        if (threadIdx.x == 0) m.losses[(*m.step)++] = sum / n;
    }
}

/* --- attention ----------------------------------------------------------------------------------- */

/* Copies TILE rows of S columns, from row `first` on, to shared memory. Rows behind the last are 0. */
template <int S>
__device__ static void bring(float (*to)[S + 1], const float *from, int wide, int first, int n, float by) {
    for (int at = threadIdx.x; at < TILE * S; at += THREADS) {
        const int r = at / S, c = at % S;
        to[r][c] = first + r < n ? by * from[(first + r) * wide + c] : 0;
    }
}

/* sum[i][j] = row y + 16 i of a times row x + 16 j of b. */
template <int S>
__device__ static void dots(float (&sum)[2][2], const float (*a)[S + 1], const float (*b)[S + 1], int x, int y) {
#pragma unroll
    for (int c = 0; c < S; c++)
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++) sum[i][j] += a[y + 16 * i][c] * b[x + 16 * j][c];
}

/* A block takes 32 rows of a head. Eight threads share a row of scores, sixteen by two a patch of everything else. */
template <int S> __global__ void __launch_bounds__(THREADS) attend(net m) {
    __shared__ float q[TILE][S + 1], k[TILE][S + 1], v[TILE][S + 1], p[TILE][TILE + 1], factor[TILE];
    const int head = blockIdx.y * S, first = blockIdx.x * TILE, wide = 3 * m.d;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16, row = threadIdx.x / 8, part = threadIdx.x % 8;
    float out[2][S / 16] = {}, most = -INFINITY, sum = 0;
    bring<S>(q, m.qkv + head, wide, first, m.n, rsqrtf((float)S));
    for (int from = 0; from <= first; from += TILE) {
        bring<S>(k, m.qkv + m.d + head, wide, from, m.n, 1);
        bring<S>(v, m.qkv + 2 * m.d + head, wide, from, m.n, 1);
        __syncthreads();
        float score[2][2] = {};
        dots<S>(score, q, k, x, y);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                p[y + 16 * i][x + 16 * j] = from + x + 16 * j <= first + y + 16 * i ? score[i][j] : -INFINITY;
        __syncthreads();
        float now = most, add = 0;
#pragma unroll
        for (int c = 0; c < TILE; c += 8) now = fmaxf(now, p[row][c + part]);
#pragma unroll
        for (int lanes = 4; lanes > 0; lanes /= 2) now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, lanes));
#pragma unroll
        for (int c = 0; c < TILE; c += 8) add += p[row][c + part] = expf(p[row][c + part] - now);
#pragma unroll
        for (int lanes = 4; lanes > 0; lanes /= 2) add += __shfl_xor_sync(0xffffffff, add, lanes);
        const float shrink = expf(most - now);
        sum = sum * shrink + add, most = now;
        if (part == 0) factor[row] = shrink;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int c = 0; c < S / 16; c++) {
                float o = out[i][c] * factor[y + 16 * i];
#pragma unroll
                for (int j = 0; j < TILE; j++) o += p[y + 16 * i][j] * v[j][x + 16 * c];
                out[i][c] = o;
            }
        __syncthreads();
    }
    if (part == 0) factor[row] = 1 / sum;
    if (part == 0 && first + row < m.n) m.lse[blockIdx.y * m.n + first + row] = most + logf(sum);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int c = 0; c < S / 16; c++)
            if (first + y + 16 * i < m.n)
                m.o[(first + y + 16 * i) * m.d + head + x + 16 * c] = out[i][c] * factor[y + 16 * i];
}

/* The parts of the backward pass that a tile of queries and a tile of keys share. */
template <int S> struct back_tiles {
    float q[TILE][S + 1], k[TILE][S + 1], v[TILE][S + 1], g[TILE][S + 1]; /* g: gradient of o */
    float p[TILE][TILE + 1], ds[TILE][TILE + 1];
    float lse[TILE], inner[TILE]; /* of a row: logarithm of its sum; its o times its gradient */
};

template <int S> __device__ static void bring_queries(back_tiles<S> &t, const net &m, int head, int first) {
    const int row = threadIdx.x / 8, part = threadIdx.x % 8;
    bring<S>(t.q, m.qkv + head, 3 * m.d, first, m.n, rsqrtf((float)S));
    bring<S>(t.g, m.dh1 + head, m.d, first, m.n, 1);
    float inner = 0;
    if (first + row < m.n)
        for (int c = part; c < S; c += 8)
            inner += m.dh1[(first + row) * m.d + head + c] * m.o[(first + row) * m.d + head + c];
#pragma unroll
    for (int lanes = 4; lanes > 0; lanes /= 2) inner += __shfl_xor_sync(0xffffffff, inner, lanes);
    if (part == 0) t.inner[row] = inner;
    if (part == 0) t.lse[row] = first + row < m.n ? m.lse[head / S * m.n + first + row] : 0;
}
template <int S> __device__ static void bring_keys(back_tiles<S> &t, const net &m, int head, int from) {
    bring<S>(t.k, m.qkv + m.d + head, 3 * m.d, from, m.n, 1);
    bring<S>(t.v, m.qkv + 2 * m.d + head, 3 * m.d, from, m.n, 1);
}

/* The shares p of the keys in each query, and the gradients ds of the scores. */
template <int S> __device__ static void find_shares(back_tiles<S> &t, int first, int from) {
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float score[2][2] = {}, dp[2][2] = {};
    dots<S>(score, t.q, t.k, x, y);
    dots<S>(dp, t.g, t.v, x, y);
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int r = y + 16 * i, c = x + 16 * j;
            const float p = from + c <= first + r ? expf(score[i][j] - t.lse[r]) : 0;
            t.p[r][c] = p, t.ds[r][c] = p * (dp[i][j] - t.inner[r]);
        }
}

/* Blocks with z = 0 find the gradient of 32 queries, those with z = 1 that of 32 keys and their values. */
template <int S> __global__ void __launch_bounds__(THREADS) attend_back(net m) {
    __shared__ back_tiles<S> t;
    const int head = blockIdx.y * S, mine = blockIdx.x * TILE, wide = 3 * m.d;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float a[2][S / 16] = {}, b[2][S / 16] = {};
    if (blockIdx.z == 0) {
        bring_queries<S>(t, m, head, mine);
        for (int from = 0; from <= mine; from += TILE) {
            bring_keys<S>(t, m, head, from);
            __syncthreads();
            find_shares<S>(t, mine, from);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < TILE; j++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int c = 0; c < S / 16; c++) a[i][c] += t.ds[y + 16 * i][j] * t.k[j][x + 16 * c];
            __syncthreads();
        }
    } else {
        bring_keys<S>(t, m, head, mine);
        for (int first = mine; first < m.n; first += TILE) {
            bring_queries<S>(t, m, head, first);
            __syncthreads();
            find_shares<S>(t, first, mine);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < TILE; j++)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int c = 0; c < S / 16; c++) {
                        a[i][c] += t.ds[j][y + 16 * i] * t.q[j][x + 16 * c];
                        b[i][c] += t.p[j][y + 16 * i] * t.g[j][x + 16 * c];
                    }
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int c = 0; c < S / 16; c++) {
            float *to = m.dqkv + (mine + y + 16 * i) * wide + head + x + 16 * c;
            if (mine + y + 16 * i >= m.n) continue;
            if (blockIdx.z == 0) {
                to[0] = a[i][c] * rsqrtf((float)S);
            } else {
                to[m.d] = a[i][c];
                to[2 * m.d] = b[i][c];
            }
        }
}

/* --- a step -------------------------------------------------------------------------------------- */

template <stage S> static void launch_product(const net &m, int cols, cudaStream_t stream) {
    multiply<S><<<dim3(tiles_of(cols), tiles_of(m.n)), THREADS, 0, stream>>>(m);
}

template <int S> static void launch_attention(const net &m, bool back, cudaStream_t stream) {
    const int tiles = tiles_of(m.n);
    if (back)
        attend_back<S><<<dim3(tiles, m.heads, 2), THREADS, 0, stream>>>(m);
    else
        attend<S><<<dim3(tiles, m.heads), THREADS, 0, stream>>>(m);
}

static void launch_step(const net &m, cudaStream_t stream) {
    const dim3 threads(32, WARPS);
    const int d = m.d, n = m.n, blocks = (n + WARPS - 1) / WARPS, size = d / m.heads;
    auto attention = [&](bool back) {
        size == 16 ? launch_attention<16>(m, back, stream) : launch_attention<32>(m, back, stream);
    };
    auto back = [&](const float *x, int which, const float *dh, const float *past, float *out) {
        back_through_normal<<<blocks, threads, 0, stream>>>(x, m.stats + which * n, m.gain + which * d, dh, past, out,
                                                            n, d);
    };
    embed<<<(n + 1 + WARPS - 1) / WARPS, threads, 0, stream>>>(m);
    launch_product<QKV>(m, 3 * d, stream);
    attention(false);
    launch_product<MIX>(m, d, stream);
    find_stats<<<blocks, threads, 0, stream>>>(m.x1, m.stats + n, n, d);
    launch_product<UP>(m, 4 * d, stream);
    launch_product<DOWN>(m, d, stream);
    find_stats<<<blocks, threads, 0, stream>>>(m.x2, m.stats + 2 * n, n, d);
    launch_product<OUT>(m, m.v, stream);
    find_loss<<<blocks, threads, 0, stream>>>(m);

    launch_product<BACK_OUT>(m, d, stream);
    back(m.x2, 2, m.dh3, NULL, m.dx2);
    launch_product<BACK_DOWN>(m, 4 * d, stream);
    launch_product<BACK_UP>(m, d, stream);
    back(m.x1, 1, m.dh2, m.dx2, m.dx1);
    launch_product<BACK_MIX>(m, d, stream);
    attention(true);
    launch_product<BACK_QKV>(m, d, stream);
    back(m.x0, 0, m.dh1, m.dx1, m.dx0);

    const int products = tiles_of(d) * (tiles_of(m.v) + 2 * tiles_of(4 * d) + tiles_of(d) + tiles_of(3 * d));
    change_weights<<<products + m.v + (n * d + THREADS - 1) / THREADS + 4, THREADS, 0, stream>>>(m);
}

/* --- memory -------------------------------------------------------------------------------------- */

/* Lays the arrays one behind the other, each from a multiple of 256 bytes on. Without memory it only adds up. */
struct arena {
    char *at;
    size_t used;
    template <class E> void take(E *&array, size_t count) {
        array = (E *)(at ? at + used : NULL);
        used += (count * sizeof(E) + 255) / 256 * 256;
    }
};

static size_t lay_out(net *m, const struct lab11_job *job, unsigned char *&text, char *memory) {
    const size_t n = m->n, nd = n * m->d;
    arena a = {memory, 0};
    float *velocity;
    a.take(m->step, 1);
    a.take(velocity, lab11_offset(job, LAB11_TENSORS));
    for (int t = 0; t < LAB11_TENSORS; t++) m->velocity[t] = velocity + lab11_offset(job, t);
    a.take(m->losses, job->steps);
    a.take(text, job->length);
    a.take(m->token, n + 1);
    a.take(m->gain, 3 * m->d);
    a.take(m->stats, 3 * n);
    a.take(m->lse, n * m->heads);
    a.take(m->row_loss, n);
    float **one[] = {&m->x0, &m->x1, &m->x2, &m->o, &m->dx0, &m->dx1, &m->dx2, &m->dh1, &m->dh2, &m->dh3};
    for (float **array : one) a.take(*array, nd);
    a.take(m->qkv, 3 * nd), a.take(m->dqkv, 3 * nd);
    a.take(m->u, 4 * nd), a.take(m->du, 4 * nd);
    a.take(m->logits, n * m->v);
    return a.used;
}

/* --- the loop ------------------------------------------------------------------------------------- */

/* The first of these losses that is not a number; -1: none. */
static int broken_of(const float *losses, int from, int to) {
    for (int k = from; k < to; k++)
        if (losses[k] != losses[k]) return k;
    return -1;
}

static cudaGraphExec_t capture(const net &m, cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t step;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    launch_step(m, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&step, graph, 0);
    cudaGraphDestroy(graph);
    return step;
}

extern "C" int train(const struct lab11_job *job, float *weights, float *losses) {
    net m = {job->symbols, job->context, job->width, job->heads, job->length, job->rate};
    unsigned char *text;
    char *memory;
    float *seen; /* page-locked: the losses as they arrive */
    int broken = -1, queued = 0, looked = 0;
    cudaStream_t stream;
    cudaEvent_t arrived[2];
    const size_t bytes = lay_out(&m, job, text, NULL);
    cudaMalloc(&memory, bytes);
    cudaMallocHost(&seen, job->steps * sizeof *seen);
    cudaStreamCreate(&stream);
    for (int i = 0; i < 2; i++) cudaEventCreateWithFlags(&arrived[i], cudaEventDisableTiming);
    lay_out(&m, job, text, memory);
    m.text = text;
    for (int t = 0; t < LAB11_TENSORS; t++) m.weight[t] = weights + lab11_offset(job, t);
    cudaMemcpyAsync(text, job->text, job->length, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(m.step, 0, sizeof *m.step, stream);
    cudaMemsetAsync(m.velocity[0], 0, lab11_offset(job, LAB11_TENSORS) * sizeof(float), stream);
    cudaGraphExec_t step = capture(m, stream);

    /* While a group of steps runs, the host waits for the losses of the group before it. */
    for (int group = 0; broken < 0 && looked < job->steps; group++) {
        const int first = queued;
        for (; queued < job->steps && queued < first + GROUP; queued++) cudaGraphLaunch(step, stream);
        if (queued > first) {
            cudaMemcpyAsync(seen + first, m.losses + first, (queued - first) * sizeof *seen, cudaMemcpyDeviceToHost,
                            stream);
            cudaEventRecord(arrived[group % 2], stream);
        }
        if (group == 0) continue;
        const int end = looked + GROUP < job->steps ? looked + GROUP : job->steps;
        cudaEventSynchronize(arrived[(group - 1) % 2]);
        memcpy(losses + looked, seen + looked, (end - looked) * sizeof *losses);
        broken = broken_of(losses, looked, end);
        looked = end;
    }

    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(step);
    for (int i = 0; i < 2; i++) cudaEventDestroy(arrived[i]);
    cudaStreamDestroy(stream);
    cudaFreeHost(seen);
    cudaFree(memory);
    return broken;
}
