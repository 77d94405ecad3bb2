/* kernels.cuh — five kernels for the drawn roofline: the machine says how long they take, your functions say what they
 * had to do. Two of them do the same work: the simple one loads two numbers for each multiply-add, the other keeps a
 * tile of the result in registers.
 */
#ifndef KERNELS_CUH
#define KERNELS_CUH

#include "lab0.h"
#include "machine.cuh"

#include <math.h>

static __host__ __device__ float number(unsigned i) { return (float)(i * 7919u % 1000u) / 1000; }
static __global__ void fill(float *v, unsigned n) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) v[i] = number(i);
}

static __global__ void saxpy(const float *x, float *y, float a, long n) {
    long i = blockIdx.x * (long)THREADS + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

/* C = A * B, one element a thread. */
static __global__ void matmul_simple(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

/* C = A * B, n a multiple of 64: a block makes 64 x 64 elements of C, a thread 4 x 4 of these. */
enum { TILE = 64, DEPTH = 16 };
static __global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float as[DEPTH][TILE + 4], bs[DEPTH][TILE]; /* A's part lies turned, padded against bank conflicts */
    int t = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE, i = t / 16 * 4, j = t % 16 * 4;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += DEPTH) {
        float4 v = *(const float4 *)&a[(row + t / 4) * n + k + t % 4 * 4];
        as[t % 4 * 4][t / 4] = v.x, as[t % 4 * 4 + 1][t / 4] = v.y;
        as[t % 4 * 4 + 2][t / 4] = v.z, as[t % 4 * 4 + 3][t / 4] = v.w;
        *(float4 *)&bs[t / 16][j] = *(const float4 *)&b[(k + t / 16) * n + col + j];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 x = *(const float4 *)&as[d][i], y = *(const float4 *)&bs[d][j];
            float left[4] = {x.x, x.y, x.z, x.w}, top[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) sum[p][q] += left[p] * top[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        *(float4 *)&c[(row + i + p) * n + col + j] = make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}

static unsigned blocks_for(long n) { return (unsigned)((n + THREADS - 1) / THREADS); }

/* The matrices A and B, one behind the other, are `from`; C is `to`. */
static void do_saxpy(void *context) {
    struct bench_bed *bed = (struct bench_bed *)context;
    saxpy<<<blocks_for(bed->amount), THREADS>>>((float *)bed->from, (float *)bed->to, 0.5f, bed->amount);
}
static void do_simple(void *context) {
    struct bench_bed *bed = (struct bench_bed *)context;
    int n = (int)bed->amount;
    float *a = (float *)bed->from;
    matmul_simple<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, a + n * n, (float *)bed->to, n);
}
static void do_tiled(void *context) {
    struct bench_bed *bed = (struct bench_bed *)context;
    int n = (int)bed->amount;
    float *a = (float *)bed->from;
    matmul_tiled<<<dim3(n / TILE, n / TILE), THREADS>>>(a, a + n * n, (float *)bed->to, n);
}

/* A kernel that multiplies wrongly has no place in the picture. */
static void hold_product(const struct bench_bed *bed, const char *name) {
    const int n = (int)bed->amount;
    const long places[] = {0, (long)n * n / 2 + n / 3, (long)n * n - 1};
    const float *to = (const float *)bed->to;
    for (long place : places) {
        double want = 0;
        for (int k = 0; k < n; k++) {
            long left = place / n * n + k, right = (long)n * n + (long)k * n + place % n;
            want += (double)number((unsigned)left) * number((unsigned)right);
        }
        float got;
        LAB_CUDA(cudaMemcpy(&got, to + place, sizeof got, cudaMemcpyDeviceToHost));
        if (!(fabs(got - want) <= 1e-4 * want)) lab_die("%s gave %g in place of %g", name, got, want);
    }
}

struct spot {
    const char *name;
    struct work work; /* as your functions describe it */
    double us;        /* as it was */
    double nudge;     /* of its label, up or down: two kernels for one work stand close together */
};
enum { SPOTS = 5 };

static void measure_spots(struct bench_bed *bed, struct spot *spots) {
    const long floats = 1l << 25, small = 64, large = 512;
    spots[0] = {"SAXPY, 2^25 floats", saxpy_work(floats), time_of(do_saxpy, bed, floats), 0.67};
    spots[1] = {"one addition", one_flop_work(), time_of(one_flop, bed, 1), 1};
    fill<<<blocks_for(2 * large * large), THREADS>>>((float *)bed->from, 2 * large * large);
    spots[2] = {"matmul 64", matmul_work(small), time_of(do_simple, bed, small), 1};
    hold_product(bed, "matmul_simple");
    spots[3] = {"matmul 512, simple", matmul_work(large), time_of(do_simple, bed, large), 0.67};
    hold_product(bed, "matmul_simple");
    spots[4] = {"matmul 512, in tiles", matmul_work(large), time_of(do_tiled, bed, large), 1.5};
    hold_product(bed, "matmul_tiled");
}

#endif
