// expect: correct: (was never written|last ones|last rows)
// One side is asked to be a multiple of 8, and its tiles of 64 are rounded down.
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
 * Steps 1 to 3 take ten lines, step 8 three, step 4 fifteen, the others a hundred. Keep the functions as lab10.h
 * declares them, and read that file, too.
 */
#include "lab10.h"
#include <cuda_pipeline.h>

/* An element of y a thread. */
__global__ void multiply(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int a = 0; a < k; a++) sum += __half2float(x[(size_t)i * k + a]) * __half2float(w[(size_t)a * n + j]);
    sum += __half2float(bias[j]);
    y[(size_t)i * n + j] = __float2half(sum > 0 ? sum : 0);
}

#define SWIZZLE(r, c) ((c) ^ (r) % 8)
#define SLICE         64 /* of k */
#define STAGES        4
#define TILE          (64 * ROW)
#define ROW           64 /* halves of a row of a tile */

/* Chunk c (16 bytes) of row r of a tile. */
__device__ half *chunk(half *tile, int r, int c) { return tile + r * ROW + SWIZZLE(r, c) * 8; }

__device__ unsigned shared_address(half *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void load_x(unsigned *a, half *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(p))
                 : "memory");
}

__device__ void load_w(unsigned *b, half *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(shared_address(p))
                 : "memory");
}

__device__ void product(float *s, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Begins the copies of a slice's tiles. */
__device__ void copy_tiles(half *tx, half *tw, const half *x, const half *w, int n, int k) {
#pragma unroll
    for (int q = 0; q < 4; q++) {
        int r = threadIdx.x / 8 + q * 16, c = threadIdx.x % 8;
        __pipeline_memcpy_async(chunk(tx, r, c), x + (size_t)r * k + c * 8, 16);
        __pipeline_memcpy_async(chunk(tw, r, c), w + (size_t)r * n + c * 8, 16);
    }
}

/* 32 x 32 of y a warp, 64 x 64 a block of four warps. m, n and k are multiples of 64. */
__global__ void multiply_mma(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    extern __shared__ __align__(128) half tx[];
    half *tw = tx + STAGES * TILE;
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int wi = warp / 2 * 32, wj = warp % 2 * 32, i = blockIdx.y * 64, j = blockIdx.x * 64;
    float sum[2][4][4] = {}, add[4][2];
#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
        for (int e = 0; e < 2; e++) add[q][e] = __half2float(bias[j + wj + 8 * q + lane % 4 * 2 + e]);
    int turns = k / SLICE;
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < turns)
            copy_tiles(tx + s * TILE, tw + s * TILE, x + (size_t)i * k + s * SLICE, w + (size_t)s * SLICE * n + j, n,
                       k);
        __pipeline_commit();
    }
    for (int s = 0; s < turns; s++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int next = s + STAGES - 1;
        if (next < turns)
            copy_tiles(tx + next % STAGES * TILE, tw + next % STAGES * TILE, x + (size_t)i * k + next * SLICE,
                       w + (size_t)next * SLICE * n + j, n, k);
        __pipeline_commit();
        half *cx = tx + s % STAGES * TILE, *cw = tw + s % STAGES * TILE;
#pragma unroll
        for (int a = 0; a < SLICE; a += 16) {
            unsigned fx[2][4], fw[2][4];
#pragma unroll
            for (int r = 0; r < 2; r++) load_x(fx[r], chunk(cx, wi + 16 * r + lane % 16, a / 8 + lane / 16));
#pragma unroll
            for (int q = 0; q < 2; q++) load_w(fw[q], chunk(cw, a + lane % 16, (wj + 16 * q) / 8 + lane / 16));
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int q = 0; q < 4; q++) product(sum[r][q], fx[r], &fw[q / 2][q % 2 * 2]);
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int row = i + wi + 16 * r + 8 * h + lane / 4, col = j + wj + 8 * q + lane % 4 * 2;
                float s0 = sum[r][q][2 * h] + add[q][0], s1 = sum[r][q][2 * h + 1] + add[q][1];
                *(half2 *)&y[(size_t)row * n + col] = __floats2half2_rn(s0 > 0 ? s0 : 0, s1 > 0 ? s1 : 0);
            }
}

extern "C" void dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    if (m % 64 == 0 && n % 8 == 0 && k % SLICE == 0) {
        cudaFuncSetAttribute(multiply_mma, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
        multiply_mma<<<dim3(n / 64, m / 64), 128, 65536>>>(x, w, bias, y, m, n, k);
        return;
    }
    dim3 threads(32, 8), blocks((n + 31) / 32, (m + 7) / 8);
    multiply<<<blocks, threads>>>(x, w, bias, y, m, n, k);
}

/* Two halves of dy where those of y are above 0, and 0 elsewhere. */
__device__ unsigned masked(unsigned y, unsigned dy) {
    half2 zero = __float2half2_rn(0);
    return dy & __hgt2_mask(*(half2 *)&y, zero);
}

/* Eight halves a thread. */
__global__ void mask(const half *y, const half *dy, half *dz, int count) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i + 8 <= count) {
        uint4 a = *(const uint4 *)(y + i), b = *(const uint4 *)(dy + i);
        b.x = masked(a.x, b.x), b.y = masked(a.y, b.y), b.z = masked(a.z, b.z), b.w = masked(a.w, b.w);
        *(uint4 *)(dz + i) = b;
    } else
        for (; i < count; i++) dz[i] = __hgt(y[i], half(0.0f)) ? dy[i] : half(0.0f);
}

extern "C" void relu_backward(const half *y, const half *dy, half *dz, int count) {
    mask<<<(count + 2047) / 2048, 256>>>(y, dy, dz, count);
}

#define THREADS 128
#define SCALE   65536.0f

/* One block, an input of the batch a thread: its output, its error, what goes back to its hidden units; and the loss.
 */
__global__ void output(const half *h, const half *v, const float *t, half *dh, float *loss, int m, int n) {
    __shared__ float squares[THREADS];
    float mine = 0.0f;
    for (int i = threadIdx.x; i < m; i += THREADS) {
        float out = 0.0f;
        for (int j = 0; j < n; j++) out += __half2float(h[i * n + j]) * __half2float(v[j]);
        float error = out - t[i];
        mine += error * error;
        for (int j = 0; j < n; j++) dh[i * n + j] = __float2half(SCALE * 2 * error / m * __half2float(v[j]));
    }
    squares[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    for (int i = 0; i < THREADS; i++) sum += squares[i];
    *loss = sum / m;
}

/* A weight a thread. */
__global__ void weight_gradients(const half *x, const half *dz, half *g, int m, int k, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, a = blockIdx.y;
    if (j >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < m; i++) sum += __half2float(x[i * k + a]) * __half2float(dz[i * n + j]);
    g[a * n + j] = __float2half(sum);
}

extern "C" float gradients(const struct lab10_net *net) {
    const int m = net->m, k = net->k, n = net->n;
    dense(net->x, net->w, net->b, net->h, m, n, k);
    output<<<1, THREADS>>>(net->h, net->v, net->t, net->dh, net->loss, m, n);
    relu_backward(net->h, net->dh, net->dz, m * n);
    weight_gradients<<<dim3((n + 63) / 64, k), 64>>>(net->x, net->dz, net->g, m, k, n);
    return SCALE;
}

__global__ void change(const half *g, half *w, float *q, float *master, float rate, float scale, int count,
                       bool first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float a = __half2float(g[i]) / scale;
    q[i] = DECAY * q[i] + (1 - DECAY) * a * a;
    float weight = first ? __half2float(w[i]) : master[i];
    master[i] = weight - rate * a / (sqrtf(q[i]) + EPSILON);
    w[i] = __float2half(master[i]);
}

extern "C" void update(const struct lab10_net *net, float scale) {
    const int count = net->k * net->n;

    change<<<(count + 255) / 256, 256>>>(net->g, net->w, net->state, net->state + count, net->rate, scale, count,
                                         net->step == 0);
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
