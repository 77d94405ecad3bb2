// expect: full
// Four kernels a step, between the places where all rows must meet; no graph, and no page-locked memory.
#include "lab11.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { T = 256, WARPS = T / 32, GROUP = 4 };

struct net {
    int n, d, v, heads;
    const unsigned char *text;
    float *w[LAB11_TENSORS], *weights, *velocity;
    float *qkv, *o, *h1, *h2, *h3, *g, *du, *dz, *dx2, *dx1, *d_o, *dq, *dx0; /* dk and dv lie where k and v lay */
    float *c1, *c2, *c3;                                                      /* what a row adds to a gain's gradient */
    float *most, *inner, *row_loss, *losses;
};

__device__ static float warp_sum(float x) {
    for (int o = 16; o; o /= 2) x += __shfl_xor_sync(~0u, x, o);
    return x;
}
__device__ static float warp_max(float x) {
    for (int o = 16; o; o /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

/* Sums COUNT values over the lanes; lane l is left with the sums of value l (and l + 32). */
template <int COUNT> __device__ static void spread_sum(float *x, int lane) {
#pragma unroll
    for (int o = 16, count = COUNT; o; o /= 2, count /= 2) {
        const bool high = lane & o;
#pragma unroll
        for (int i = 0; i < COUNT / 2; i++) {
            if (i >= count / 2) break;
            const float keep = high ? x[i + count / 2] : x[i], give = high ? x[i] : x[i + count / 2];
            x[i] = keep + __shfl_xor_sync(~0u, give, o);
        }
    }
}
/* Which value of COUNT lies in x[i] of a lane after spread_sum. */
template <int COUNT> __device__ static int spread_at(int lane, int i) {
    int at = 0;
#pragma unroll
    for (int o = 16, count = COUNT; o; o /= 2, count /= 2)
        if (lane & o) at += count / 2;
    return at + i;
}

/* Mean and 1 / deviation of a row in shared memory; every warp computes both. */
__device__ static void measure(const float *x, int d, float *mean, float *scale) {
    const int lane = threadIdx.x & 31;
    float sum = 0, square = 0;
    for (int c = lane; c < d; c += 32) sum += x[c];
    *mean = warp_sum(sum) / d;
    for (int c = lane; c < d; c += 32) square += (x[c] - *mean) * (x[c] - *mean);
    *scale = 1 / sqrtf(warp_sum(square) / d + 1e-5f);
}

/* out = in * w for one row: w is K x C, in and out are in shared memory. Ends with a barrier. */
__device__ static inline void times(const float *in, const float *w, int K, int C, float *out, float *part) {
    if (C <= T) {
        const int groups = T / C, each = (K + groups - 1) / groups, group = threadIdx.x / C, c = threadIdx.x % C;
        float sum = 0;
        if (group < groups) {
#pragma unroll
            for (int k = 0; k < each; k++)
                if (group * each + k < K) sum += in[group * each + k] * w[(group * each + k) * C + c];
            part[threadIdx.x] = sum;
        }
        __syncthreads();
        if (threadIdx.x < C) {
            float all = 0;
#pragma unroll
            for (int i = 0; i < groups; i++) all += part[i * C + threadIdx.x];
            out[threadIdx.x] = all;
        }
    } else {
        for (int c = threadIdx.x; c < C; c += T) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += in[k] * w[k * C + c];
            out[c] = sum;
        }
    }
    __syncthreads();
}

/* out = in * w turned for one row: w is R x C. Ends with a barrier. */
__device__ static inline void times_turned(const float *in, const float *w, int R, int C, float *out) {
    int lanes = 1;
    while (lanes < 32 && 2 * lanes * R <= T) lanes *= 2;
    const int part = threadIdx.x % lanes;
    for (int r0 = 0; r0 < R; r0 += T / lanes) {
        const int r = r0 + threadIdx.x / lanes;
        float sum = 0;
        if (r < R) {
            const int each = (C + lanes - 1) / lanes;
#pragma unroll
            for (int k = 0; k < each; k++)
                if (k * lanes + part < C) sum += in[k * lanes + part] * w[r * C + k * lanes + part];
        }
        for (int o = lanes / 2; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
        if (r < R && part == 0) out[r] = sum;
    }
    __syncthreads();
}

template <int S> __device__ static void load(float *to, const float *from) {
#pragma unroll
    for (int c = 0; c < S; c += 4) {
        const float4 x = *(const float4 *)(from + c);
        to[c] = x.x, to[c + 1] = x.y, to[c + 2] = x.z, to[c + 3] = x.w;
    }
}
template <int S> __device__ static float dot(const float *a, const float *b) {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < S; c++) sum += a[c] * b[c];
    return sum;
}

/* The gradient behind a normalisation: dh into dx (+=) and into the gain's, for one row. Ends with a barrier. */
__device__ static void normal_back(const float *x, const float *gain, const float *dh, int d, float mean, float scale,
                                   float *dx, float *to_gain) {
    const int lane = threadIdx.x & 31;
    float sum = 0, along = 0;
    for (int c = lane; c < d; c += 32) {
        sum += dh[c] * gain[c];
        along += dh[c] * gain[c] * (x[c] - mean) * scale;
    }
    sum = warp_sum(sum) / d, along = warp_sum(along) / d;
    for (int c = threadIdx.x; c < d; c += T) {
        const float hat = (x[c] - mean) * scale;
        to_gain[c] = dh[c] * hat;
        dx[c] += scale * (dh[c] * gain[c] - sum - hat * along);
    }
    __syncthreads();
}

template <int S, int D, int V> __global__ void __launch_bounds__(T) read_rows(struct net m, int start) {
    const int d = D ? D : m.d, i = blockIdx.x, token = m.text[start + i];
    __shared__ float x[256], h[256], part[T], y[768];
    for (int c = threadIdx.x; c < d; c += T)
        x[c] = m.w[LAB11_EMBEDDING][token * d + c] + m.w[LAB11_POSITION][i * d + c];
    __syncthreads();
    float mean, scale;
    measure(x, d, &mean, &scale);
    for (int c = threadIdx.x; c < d; c += T) m.h1[i * d + c] = h[c] = (x[c] - mean) * scale * m.w[LAB11_GAIN1][c];
    __syncthreads();
    times(h, m.w[LAB11_QKV], d, 3 * d, y, part);
    for (int c = threadIdx.x; c < 3 * d; c += T) m.qkv[i * 3 * d + c] = y[c];
}

template <int S, int D, int V> __global__ void __launch_bounds__(T) rows(struct net m, int start) {
    const int d = D ? D : m.d, v = V ? V : m.v, heads = d / S, i = blockIdx.x, lane = threadIdx.x & 31,
              warp = threadIdx.x / 32;
    const int parts = heads < WARPS ? WARPS / heads : 1; /* so many warps share a head's keys */
    const float root = 1 / sqrtf((float)S);
    __shared__ float q[256], o[256], x1[256], x2[256], h[256], u[1024], g[1024], z[128], dh[256], dx[256], gain[256],
        part[T];
    __shared__ float top[16], sums[16], outs[16][S];
    const int token = m.text[start + i];
    for (int c = threadIdx.x; c < d; c += T) {
        q[c] = m.qkv[i * 3 * d + c];
        x1[c] = m.w[LAB11_EMBEDDING][token * d + c] + m.w[LAB11_POSITION][i * d + c];
    }
    __syncthreads();

    /* attention: each lane has its own keys, its own largest score and its own sums */
    for (int task = warp; task < heads * parts; task += WARPS) {
        const int a = task / parts;
        float most = -INFINITY, sum = 0, out[S], k[S], value[S];
#pragma unroll
        for (int c = 0; c < S; c++) out[c] = 0;
        for (int j = task % parts * 32 + lane; j <= i; j += parts * 32) {
            load<S>(k, m.qkv + j * 3 * d + d + a * S);
            load<S>(value, m.qkv + j * 3 * d + 2 * d + a * S);
            const float s = dot<S>(q + a * S, k) * root, now = fmaxf(most, s);
            const float old = expf(most - now), p = expf(s - now);
            sum = sum * old + p;
#pragma unroll
            for (int c = 0; c < S; c++) out[c] = out[c] * old + p * value[c];
            most = now;
        }
        const float all = warp_max(most), old = most == -INFINITY ? 0 : expf(most - all);
        sum = warp_sum(sum * old);
#pragma unroll
        for (int c = 0; c < S; c++) out[c] *= old;
        if (S == 32) {
            spread_sum<32>(out, lane);
            outs[task][spread_at<32>(lane, 0)] = out[0];
        } else {
#pragma unroll
            for (int c = 0; c < S; c++) out[c] += __shfl_xor_sync(~0u, out[c], 16);
#pragma unroll
            for (int c = 0; c < S; c++)
                if (lane == c) outs[task][c] = 0;
            float mine = 0;
#pragma unroll
            for (int c = 0; c < S; c++) {
                float x = out[c];
                x += __shfl_xor_sync(~0u, x, 8), x += __shfl_xor_sync(~0u, x, 4);
                x += __shfl_xor_sync(~0u, x, 2), x += __shfl_xor_sync(~0u, x, 1);
                if (lane == c) mine = x;
            }
            if (lane < S) outs[task][lane] = mine;
        }
        if (lane == 0) top[task] = all, sums[task] = sum;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < d; c += T) {
        const int a = c / S;
        float all = -INFINITY, sum = 0, out = 0;
        for (int t = a * parts; t < (a + 1) * parts; t++) all = fmaxf(all, top[t]);
        for (int t = a * parts; t < (a + 1) * parts; t++) {
            const float old = top[t] == -INFINITY ? 0 : expf(top[t] - all);
            sum += sums[t] * old, out += outs[t][c % S] * old;
        }
        m.o[i * d + c] = o[c] = out / sum;
        if (c % S == 0) m.most[a * m.n + i] = all + logf(sum);
    }
    __syncthreads();
    if (threadIdx.x < heads) top[threadIdx.x] = m.most[threadIdx.x * m.n + i];

    /* forward */
    float mean1, scale1, mean2, scale2;
    times(o, m.w[LAB11_MIX], d, d, h, part);
    for (int c = threadIdx.x; c < d; c += T) x1[c] += h[c];
    __syncthreads();
    measure(x1, d, &mean1, &scale1);
    for (int c = threadIdx.x; c < d; c += T) m.h2[i * d + c] = h[c] = (x1[c] - mean1) * scale1 * m.w[LAB11_GAIN2][c];
    __syncthreads();
    times(h, m.w[LAB11_UP], d, 4 * d, u, part);
    for (int c = threadIdx.x; c < 4 * d; c += T) {
        const float t = tanhf(0.7978845608f * (u[c] + 0.044715f * u[c] * u[c] * u[c]));
        m.g[i * 4 * d + c] = g[c] = 0.5f * u[c] * (1 + t);
        u[c] = 0.5f * (1 + t) + 0.5f * u[c] * (1 - t * t) * 0.7978845608f * (1 + 3 * 0.044715f * u[c] * u[c]);
    }
    __syncthreads();
    times(g, m.w[LAB11_DOWN], 4 * d, d, x2, part);
    for (int c = threadIdx.x; c < d; c += T) x2[c] += x1[c];
    __syncthreads();
    measure(x2, d, &mean2, &scale2);
    for (int c = threadIdx.x; c < d; c += T) {
        gain[c] = m.w[LAB11_GAIN3][c];
        m.h3[i * d + c] = h[c] = (x2[c] - mean2) * scale2 * gain[c];
        dx[c] = 0;
    }
    __syncthreads();
    times(h, m.w[LAB11_OUT], d, v, z, part);
    if (warp == 0) {
        const int next = m.text[start + i + 1];
        float most = -INFINITY, sum = 0;
        for (int c = lane; c < v; c += 32) most = fmaxf(most, z[c]);
        most = warp_max(most);
        for (int c = lane; c < v; c += 32) sum += expf(z[c] - most);
        sum = warp_sum(sum);
        if (lane == 0) m.row_loss[i] = logf(sum) + most - z[next];
        __syncwarp();
        for (int c = lane; c < v; c += 32) m.dz[i * v + c] = z[c] = (expf(z[c] - most) / sum - (c == next)) / m.n;
    }
    __syncthreads();

    /* backward */
    times_turned(z, m.w[LAB11_OUT], d, v, dh);
    normal_back(x2, gain, dh, d, mean2, scale2, dx, m.c3 + i * d);
    for (int c = threadIdx.x; c < d; c += T) {
        m.dx2[i * d + c] = dx[c];
        gain[c] = m.w[LAB11_GAIN2][c];
    }
    times_turned(dx, m.w[LAB11_DOWN], 4 * d, d, g);
    for (int c = threadIdx.x; c < 4 * d; c += T) m.du[i * 4 * d + c] = u[c] *= g[c];
    __syncthreads();
    times_turned(u, m.w[LAB11_UP], d, 4 * d, dh);
    normal_back(x1, gain, dh, d, mean1, scale1, dx, m.c2 + i * d);
    for (int c = threadIdx.x; c < d; c += T) m.dx1[i * d + c] = dx[c];
    times_turned(dx, m.w[LAB11_MIX], d, d, dh); /* d_o */
    if (threadIdx.x < d) {
        for (int c = threadIdx.x; c < d; c += T) m.d_o[i * d + c] = dh[c];
    }
    if (threadIdx.x < heads) {
        float inner = 0;
        for (int c = 0; c < S; c++) inner += dh[threadIdx.x * S + c] * o[threadIdx.x * S + c];
        m.inner[threadIdx.x * m.n + i] = sums[threadIdx.x] = inner;
    }
    __syncthreads();

    /* dq */
    for (int task = warp; task < heads * parts; task += WARPS) {
        const int a = task / parts;
        float out[S], k[S], value[S];
#pragma unroll
        for (int c = 0; c < S; c++) out[c] = 0;
        for (int j = task % parts * 32 + lane; j <= i; j += parts * 32) {
            load<S>(k, m.qkv + j * 3 * d + d + a * S);
            load<S>(value, m.qkv + j * 3 * d + 2 * d + a * S);
            const float p = expf(dot<S>(q + a * S, k) * root - top[a]);
            const float ds = p * (dot<S>(dh + a * S, value) - sums[a]) * root;
#pragma unroll
            for (int c = 0; c < S; c++) out[c] += ds * k[c];
        }
#pragma unroll
        for (int c = 0; c < S; c++) {
            const float x = warp_sum(out[c]);
            if (lane == c) outs[task][c] = x;
        }
    }
    __syncthreads();
    for (int c = threadIdx.x; c < d; c += T) {
        float sum = 0;
        for (int t = c / S * parts; t < (c / S + 1) * parts; t++) sum += outs[t][c % S];
        m.dq[i * d + c] = sum;
    }
}

template <int S, int D, int V> __global__ void __launch_bounds__(T) keys(struct net m, int start) {
    const int d = D ? D : m.d, heads = d / S, j = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const int parts = heads < WARPS ? WARPS / heads : 1;
    const float root = 1 / sqrtf((float)S);
    __shared__ float kv[512], back[768], dh[256], x[256], gain[256], dx[256], outs[16][2 * S];
    for (int c = threadIdx.x; c < 2 * d; c += T) kv[c] = m.qkv[j * 3 * d + d + c];
    const int token = m.text[start + j];
    for (int c = threadIdx.x; c < d; c += T) {
        x[c] = m.w[LAB11_EMBEDDING][token * d + c] + m.w[LAB11_POSITION][j * d + c];
        gain[c] = m.w[LAB11_GAIN1][c];
        dx[c] = m.dx1[j * d + c];
        back[c] = m.dq[j * d + c];
    }
    __syncthreads();
    for (int task = warp; task < heads * parts; task += WARPS) {
        const int a = task / parts;
        float out[2 * S], q[S], g[S];
#pragma unroll
        for (int c = 0; c < 2 * S; c++) out[c] = 0;
        for (int i = j + task % parts * 32 + lane; i < m.n; i += parts * 32) {
            load<S>(q, m.qkv + i * 3 * d + a * S);
            load<S>(g, m.d_o + i * d + a * S);
            const float p = expf(dot<S>(kv + a * S, q) * root - m.most[a * m.n + i]);
            const float ds = p * (dot<S>(kv + d + a * S, g) - m.inner[a * m.n + i]) * root;
#pragma unroll
            for (int c = 0; c < S; c++) out[c] += ds * q[c], out[S + c] += p * g[c];
        }
        spread_sum<2 * S>(out, lane);
#pragma unroll
        for (int k = 0; k < 2 * S / 32; k++) outs[task][spread_at<2 * S>(lane, k)] = out[k];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < 2 * d; c += T) {
        const int a = c % d / S, at = c / d * S + c % S;
        float sum = 0;
        for (int t = a * parts; t < (a + 1) * parts; t++) sum += outs[t][at];
        m.qkv[j * 3 * d + d + c] = back[d + c] = sum;
    }
    __syncthreads();
    times_turned(back, m.w[LAB11_QKV], d, 3 * d, dh);
    float mean, scale;
    measure(x, d, &mean, &scale);
    normal_back(x, gain, dh, d, mean, scale, dx, m.c1 + j * d);
    for (int c = threadIdx.x; c < d; c += T) m.dx0[j * d + c] = dx[c];
}

/* 32 weights a block; warp w sums over the rows w, w + WARPS, ... The last block adds up the loss. */
__global__ void __launch_bounds__(T) change(struct net m, int start, int step, float rate, int all) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, n = m.n, d = m.d, v = m.v;
    __shared__ float part[WARPS][32];
    if (blockIdx.x == gridDim.x - 1) {
        float sum = 0;
        if (warp) return;
        for (int i = lane; i < n; i += 32) sum += m.row_loss[i];
        sum = warp_sum(sum);
        if (lane == 0) m.losses[step] = sum / n;
        return;
    }
    const int at = blockIdx.x * 32 + lane;
    int here = at;
    float sum = 0, velocity = 0, weight = 0;
    if (at < all) {
        if (warp == 0) velocity = m.velocity[at], weight = m.weights[at];
        if (here < v * d) {
            const int c = here % d, r = here / d;
            for (int i = warp; i < n; i += WARPS)
                if (m.text[start + i] == r) sum += m.dx0[i * d + c];
        } else if ((here -= v * d) < n * d) {
            if (warp == 0) sum = m.dx0[here];
        } else {
            here -= n * d;
            const float *a, *b;
            int r, c, da, db;
            if (here < d)
                a = NULL, b = m.c1, da = 0, db = d, r = 0, c = here;
            else if ((here -= d) < 3 * d * d) {
                a = m.h1, da = d, r = here / (3 * d), c = here % (3 * d);
                if (c < d)
                    b = m.dq, db = d;
                else
                    b = m.qkv, db = 3 * d;
            } else if ((here -= 3 * d * d) < d * d)
                a = m.o, da = d, b = m.dx1, db = d, r = here / d, c = here % d;
            else if ((here -= d * d) < d)
                a = NULL, b = m.c2, da = 0, db = d, r = 0, c = here;
            else if ((here -= d) < 4 * d * d)
                a = m.h2, da = d, b = m.du, db = 4 * d, r = here / (4 * d), c = here % (4 * d);
            else if ((here -= 4 * d * d) < 4 * d * d)
                a = m.g, da = 4 * d, b = m.dx2, db = d, r = here / d, c = here % d;
            else if ((here -= 4 * d * d) < d)
                a = NULL, b = m.c3, da = 0, db = d, r = 0, c = here;
            else
                here -= d, a = m.h3, da = d, b = m.dz, db = v, r = here / v, c = here % v;
            if (!a) {
#pragma unroll 8
                for (int i = warp; i < n; i += WARPS) sum += b[i * db + c];
            } else {
#pragma unroll 8
                for (int i = warp; i < n; i += WARPS) sum += a[i * da + r] * b[i * db + c];
            }
        }
    }
    part[warp][lane] = sum;
    __syncthreads();
    if (warp || at >= all) return;
    for (int w = 1; w < WARPS; w++) sum += part[w][lane];
    m.velocity[at] = velocity = 0.9f * velocity + sum;
    m.weights[at] = weight - rate * velocity;
}

template <int S, int D, int V> static void step(const struct lab11_job *job, struct net m, int k, int all) {
    const int start = lab11_start(job, k);
    read_rows<S, D, V><<<m.n, T>>>(m, start);
    rows<S, D, V><<<m.n, T>>>(m, start);
    keys<S, D, V><<<m.n, T>>>(m, start);
    change<<<(all + 31) / 32 + 1, T>>>(m, start, k, job->rate, all);
}

extern "C" int train(const struct lab11_job *job, float *weights, float *losses) {
    const int all = (int)lab11_offset(job, LAB11_TENSORS), n = job->context, d = job->width, v = job->symbols;
    const size_t nd = (size_t)n * d;
    struct net m = {};
    m.n = n, m.d = d, m.v = v, m.heads = job->heads, m.weights = weights;
    for (int t = 0; t < LAB11_TENSORS; t++) m.w[t] = weights + lab11_offset(job, t);
    struct {
        float **at;
        size_t count;
    } arrays[] = {{&m.velocity, (size_t)all},
                  {&m.qkv, 3 * nd},
                  {&m.o, nd},
                  {&m.h1, nd},
                  {&m.h2, nd},
                  {&m.h3, nd},
                  {&m.g, 4 * nd},
                  {&m.du, 4 * nd},
                  {&m.dz, (size_t)n * v},
                  {&m.dx2, nd},
                  {&m.dx1, nd},
                  {&m.d_o, nd},
                  {&m.dq, nd},
                  {&m.dx0, nd},
                  {&m.c1, nd},
                  {&m.c2, nd},
                  {&m.c3, nd},
                  {&m.most, (size_t)n * job->heads},
                  {&m.inner, (size_t)n * job->heads},
                  {&m.row_loss, (size_t)n},
                  {&m.losses, (size_t)job->steps}};
    size_t need = 0;
    for (auto &x : arrays) need += (x.count + 31) / 32 * 32;
    float *pool;
    cudaMalloc(&pool, need * sizeof(float) + job->length);
    size_t used = 0;
    for (auto &x : arrays) *x.at = pool + used, used += (x.count + 31) / 32 * 32;
    m.text = (unsigned char *)(pool + used);
    cudaMemcpyAsync((void *)m.text, job->text, job->length, cudaMemcpyHostToDevice, 0);
    cudaMemsetAsync(m.velocity, 0, all * sizeof(float), 0);

    cudaStream_t side;
    cudaEvent_t done[2];
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    for (cudaEvent_t &e : done) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    int broken = -1;
    for (int k = 0, seen = 0; seen < job->steps && broken < 0; k += GROUP) {
        for (int s = k; s < k + GROUP && s < job->steps; s++) {
            if (d == 32 && v == 32 && job->heads == 2)
                step<16, 32, 32>(job, m, s, all);
            else if (d / job->heads == 16)
                step<16, 0, 0>(job, m, s, all);
            else
                step<32, 0, 0>(job, m, s, all);
        }
        cudaEventRecord(done[k / GROUP % 2], 0);
        if (k == 0) continue;
        const int last = k < job->steps ? k : job->steps;
        cudaStreamWaitEvent(side, done[(k / GROUP + 1) % 2], 0);
        cudaMemcpyAsync(losses + seen, m.losses + seen, (last - seen) * sizeof(float), cudaMemcpyDeviceToHost, side);
        for (; seen < last && broken < 0; seen++)
            if (isnan(losses[seen])) broken = seen;
    }
    cudaDeviceSynchronize();
    for (cudaEvent_t e : done) cudaEventDestroy(e);
    cudaStreamDestroy(side);
    cudaFree(pool);
    return broken;
}
