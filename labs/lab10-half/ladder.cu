/* ladder.cu — the rungs of lab 10's ladder, each with the one flaw that the next one removes.
 *
 * The harness uses `copy`, the speed of light of relu_backward. The bench times them all. A rung is short and stands
 * alone: similar kernels are easier to compare than one clever template. Sizes are whole tiles, and multiples of 8. The
 * launcher of rung `wmma` is called wmma_dense, that of rung `half2` is called half2_relu_backward.
 */
#include "lab10.h"

#include <mma.h>
#include <stddef.h>

/* --- relu_backward --------------------------------------------------------------------------------------------- */

/* Floats. Flaw: twice the bytes. */
__global__ void ladder_float(const float *y, const float *dy, float *dz, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) dz[i] = y[i] > 0 ? dy[i] : 0;
}

__global__ void ladder_float4(const float4 *y, const float4 *dy, float4 *dz, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 a = y[i], b = dy[i];
    dz[i] = make_float4(a.x > 0 ? b.x : 0, a.y > 0 ? b.y : 0, a.z > 0 ? b.z : 0, a.w > 0 ? b.w : 0);
}

/* As many bytes as halves, as large numbers as floats. Flaw: one at a time. */
__global__ void ladder_bf16(const __nv_bfloat16 *y, const __nv_bfloat16 *dy, __nv_bfloat16 *dz, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) dz[i] = __bfloat162float(y[i]) > 0 ? dy[i] : __float2bfloat16(0.0f);
}

/* Two halves a lane. Flaw: 4 bytes, where 16 are possible. */
__global__ void ladder_half2(const half2 *y, const half2 *dy, half2 *dz, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const half2 a = y[i], b = dy[i];
    const half zero = 0.0f;
    dz[i] = half2(__hgt(a.x, zero) ? b.x : zero, __hgt(a.y, zero) ? b.y : zero);
}

/* The speed of light: as many bytes in, half as many out. */
__global__ void ladder_copy(const uint4 *y, const uint4 *dy, uint4 *dz, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint4 a = y[i], b = dy[i];
    dz[i] = make_uint4(a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w);
}

#define LADDER_PASS(name, T, each)                                                                                     \
    extern "C" void name##_relu_backward(const half *y, const half *dy, half *dz, int count) {                         \
        const int n = count / each;                                                                                    \
        ladder_##name<<<(n + 255) / 256, 256>>>((const T *)y, (const T *)dy, (T *)dz, n);                              \
    }
LADDER_PASS(float, float, 1)
LADDER_PASS(float4, float4, 4)
LADDER_PASS(bf16, __nv_bfloat16, 1)
LADDER_PASS(half2, half2, 2)
LADDER_PASS(copy, uint4, 8)

/* --- dense: sums. Sums are floats. Flaw: the tensor cores do nothing -------------------------------------------- */

__global__ void ladder_sums(const half *x, const half *w, const half *bias, half *y, int n, int k) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int a = 0; a < k; a++) sum += __half2float(x[(size_t)i * k + a]) * __half2float(w[(size_t)a * n + j]);
    y[(size_t)i * n + j] = __float2half(fmaxf(sum + __half2float(bias[j]), 0));
}

extern "C" void sums_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    ladder_sums<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(x, w, bias, y, n, k);
}

/* --- wmma: a warp has 32 x 32. Flaw: its fragments come from global memory --------------------------------------- */

using namespace nvcuda::wmma;

typedef fragment<matrix_a, 16, 16, 16, half, row_major> ladder_x;
typedef fragment<matrix_b, 16, 16, 16, half, row_major> ladder_w;
typedef fragment<accumulator, 16, 16, 16, float> ladder_sum;

__global__ void ladder_wmma(const half *x, const half *w, const half *bias, half *y, int n, int k) {
    __shared__ float sums[4][32 * 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int r = blockIdx.y * 64 + warp / 2 * 32, c = blockIdx.x * 64 + warp % 2 * 32;
    ladder_sum sum[2][2];
    for (int i = 0; i < 4; i++) fill_fragment(sum[i / 2][i % 2], 0);
    for (int a = 0; a < k; a += 16) {
        ladder_x fx[2];
        ladder_w fw[2];
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(fx[i], x + (size_t)(r + i * 16) * k + a, k);
            load_matrix_sync(fw[i], w + (size_t)a * n + c + i * 16, n);
        }
        for (int i = 0; i < 4; i++) mma_sync(sum[i / 2][i % 2], fx[i / 2], fw[i % 2], sum[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(&sums[warp][i / 2 * 512 + i % 2 * 16], sum[i / 2][i % 2], 32, mem_row_major);
    __syncwarp();
    const float b = __half2float(bias[c + lane]);
    for (int i = 0; i < 32; i++)
        y[(size_t)(r + i) * n + c + lane] = __float2half(fmaxf(sums[warp][i * 32 + lane] + b, 0));
}

extern "C" void wmma_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    ladder_wmma<<<dim3(n / 64, m / 64), 128>>>(x, w, bias, y, n, k);
}

/* --- shared: a block of 64 x 64 loads each tile once. Flaw: it multiplies or it loads ---------------------------- */

__global__ void ladder_shared(const half *x, const half *w, const half *bias, half *y, int n, int k) {
    enum { SIDE = 64, DEEP = 32, PAD = 8 };
    __shared__ __align__(128) half xs[SIDE][DEEP + PAD], ws[DEEP][SIDE + PAD];
    __shared__ __align__(128) float sums[SIDE][SIDE + PAD];
    const int t = threadIdx.x, r = t / 64 * 32, c = t / 32 % 2 * 32, r0 = blockIdx.y * SIDE, c0 = blockIdx.x * SIDE;
    ladder_sum sum[2][2];
    for (int i = 0; i < 4; i++) fill_fragment(sum[i / 2][i % 2], 0);
    for (int a = 0; a < k; a += DEEP) {
        for (int i = t * 8; i < SIDE * DEEP; i += 128 * 8) {
            *(uint4 *)&xs[i / DEEP][i % DEEP] = *(const uint4 *)&x[(size_t)(r0 + i / DEEP) * k + a + i % DEEP];
            *(uint4 *)&ws[i / SIDE][i % SIDE] = *(const uint4 *)&w[(size_t)(a + i / SIDE) * n + c0 + i % SIDE];
        }
        __syncthreads();
        for (int step = 0; step < DEEP; step += 16) {
            ladder_x fx[2];
            ladder_w fw[2];
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(fx[i], &xs[r + i * 16][step], DEEP + PAD);
                load_matrix_sync(fw[i], &ws[step][c + i * 16], SIDE + PAD);
            }
            for (int i = 0; i < 4; i++) mma_sync(sum[i / 2][i % 2], fx[i / 2], fw[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(&sums[r + i / 2 * 16][c + i % 2 * 16], sum[i / 2][i % 2], SIDE + PAD, mem_row_major);
    __syncthreads();
    const float b = __half2float(bias[c0 + t % SIDE]);
    for (int i = t / SIDE; i < SIDE; i += 128 / SIDE)
        y[(size_t)(r0 + i) * n + c0 + t % SIDE] = __float2half(fmaxf(sums[i][t % SIDE] + b, 0));
}

extern "C" void shared_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    ladder_shared<<<dim3(n / 64, m / 64), 128>>>(x, w, bias, y, n, k);
}

/* --- mma, stages and bf16: mma.sync and ldmatrix, a warp has 32 x 32 of a block's 64 x 64
 * ------------------------------- */

/* The byte of a chunk of 8 halves in a tile of W halves a row: eight rows of one column lie in different banks. */
template <int W> __device__ unsigned ladder_place(int row, int chunk) {
    return (row * W + (W >= 64 ? chunk ^ (row & 7) : chunk ^ (row / 2 & 3)) * 8) * 2;
}

template <int ROWS, int W> __device__ void ladder_fetch(unsigned to, const half *from, int stride) {
#pragma unroll
    for (int t = 0; t < ROWS * W / 8 / 128; t++) {
        const int i = threadIdx.x + t * 128, r = i / (W / 8), c = i % (W / 8);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + ladder_place<W>(r, c)),
                     "l"(from + (size_t)r * stride + c * 8)
                     : "memory");
    }
}

template <bool BF16> __device__ void ladder_multiply(float *s, const unsigned *p, const unsigned *q) {
    if (BF16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                     "{%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                     : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                     "{%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                     : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
}

template <bool BF16> __device__ float ladder_float_of(half h) {
    return BF16 ? __bfloat162float(__ushort_as_bfloat16(__half_as_ushort(h))) : __half2float(h);
}

/* Relu of two neighbours, rounded to 16 bits each. */
template <bool BF16> __device__ void ladder_store(half *y, float a, float b) {
    if (BF16)
        *(__nv_bfloat162 *)y = __floats2bfloat162_rn(fmaxf(a, 0), fmaxf(b, 0));
    else
        *(half2 *)y = __floats2half2_rn(fmaxf(a, 0), fmaxf(b, 0));
}

/* STAGES 1: the flaw is that each tile is waited for. 3: two are on their way while one is multiplied; the flaw is that
 * products wait for their fragments, and that tiles are small. BF16: the 16 bits are those of bfloat16s. */
template <int STAGES, bool BF16>
__global__ void __launch_bounds__(128)
    ladder_mma(const half *x, const half *w, const half *bias, half *y, int n, int k) {
    enum { SIDE = 64, DEEP = 32, STAGE = 2 * SIDE * DEEP * 2 /* bytes */ };
    __shared__ __align__(128) unsigned char tiles[STAGES * STAGE];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tiles);
    const int lane = threadIdx.x % 32, wr = threadIdx.x / 64 * 32, wc = threadIdx.x / 32 % 2 * 32;
    const int r0 = blockIdx.y * SIDE, c0 = blockIdx.x * SIDE, turns = k / DEEP;
    float sum[2][4][4] = {};
    auto fetch = [&](int turn) {
        const unsigned to = base + turn % STAGES * STAGE;
        if (turn < turns) {
            ladder_fetch<SIDE, DEEP>(to, x + (size_t)r0 * k + turn * DEEP, k);
            ladder_fetch<DEEP, SIDE>(to + STAGE / 2, w + (size_t)turn * DEEP * n + c0, n);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int s = 0; s < STAGES - 1; s++) fetch(s);
    for (int turn = 0; turn < turns; turn++) {
        if (STAGES == 1) fetch(turn);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES > 1 ? STAGES - 2 : 0) : "memory");
        __syncthreads();
        if (STAGES > 1) fetch(turn + STAGES - 1); /* into the place that all have read before the barrier */
        const unsigned xs = base + turn % STAGES * STAGE, ws = xs + STAGE / 2;
#pragma unroll
        for (int step = 0; step < DEEP / 16; step++) {
            unsigned a[2][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                             : "r"(xs + ladder_place<DEEP>(wr + i * 16 + lane % 16, step * 2 + lane / 16))
                             : "memory");
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(b[i][0]), "=r"(b[i][1]), "=r"(b[i][2]), "=r"(b[i][3])
                             : "r"(ws + ladder_place<SIDE>(step * 16 + lane % 16, wc / 8 + i * 2 + lane / 16))
                             : "memory");
            }
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float *s = sum[i / 4][i % 4];
                const unsigned *p = a[i / 4], *q = &b[i % 4 / 2][i % 2 * 2];
                ladder_multiply<BF16>(s, p, q);
            }
        }
        if (STAGES == 1) __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int r = r0 + wr + i / 4 * 16 + lane / 4, c = c0 + wc + i % 4 * 8 + lane % 4 * 2;
        const float *s = sum[i / 4][i % 4], b0 = ladder_float_of<BF16>(bias[c]),
                    b1 = ladder_float_of<BF16>(bias[c + 1]);
        ladder_store<BF16>(&y[(size_t)r * n + c], s[0] + b0, s[1] + b1);
        ladder_store<BF16>(&y[(size_t)(r + 8) * n + c], s[2] + b0, s[3] + b1);
    }
}

extern "C" void mma_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    ladder_mma<1, false><<<dim3(n / 64, m / 64), 128>>>(x, w, bias, y, n, k);
}

extern "C" void stages_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    ladder_mma<3, false><<<dim3(n / 64, m / 64), 128>>>(x, w, bias, y, n, k);
}

extern "C" void bf16_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    ladder_mma<3, true><<<dim3(n / 64, m / 64), 128>>>(x, w, bias, y, n, k);
}

/* --- NVIDIA's own: the product alone ------------------------------------------------------------------------------ */

#ifdef LAB_CUBLAS
#include <cublas_v2.h>

/* cuBLAS is column-major: our y = x w is its y' = w' x'. */
extern "C" void cublas_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    static cublasHandle_t handle;
    const float one = 1, zero = 0;
    (void)bias;
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
    cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, w, CUDA_R_16F, n, x, CUDA_R_16F, k, &zero, y,
                 CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* In floats, for comparison. */
extern "C" void cublasSgemm_dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    static cublasHandle_t handle;
    const float one = 1, zero = 0;
    (void)bias;
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, (const float *)w, n, (const float *)x, k, &zero,
                (float *)y, n);
}
#endif
