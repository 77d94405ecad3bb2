// turns.cu — what a turn of a loop takes, in clocks of an H200, or a meeting of all blocks, in ns: `name value`.
//
// A turn loads a word of shared memory, does K times J multiply-adds, of which J do not wait for each other, stores a
// word, and meets the block's other warps. Each kernel runs with n and 2 n turns, so that only turns count. On a card:
// nvcc -O3 -std=c++17 -arch=sm_90 -DTURNS=1000 turns.cu && ./a.out
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <stdio.h>

#ifndef TURNS
#define TURNS 40
#endif
enum { SMS = 132, BARRIER = 1, LOAD = 2, STORE = 4 };
static const double GHZ = 1.98;

template <int K, int J, int WHAT> __global__ void turns(float *out, int n, float a, float b) {
    __shared__ float cell[2][1024];
    const int t = threadIdx.x;
    float v[J];
    for (int i = t; i < 1024; i += blockDim.x) cell[0][i] = cell[1][i] = i;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < J; j++) v[j] = t + j;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (WHAT & LOAD) v[0] += cell[i & 1][t ^ 32];
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int j = 0; j < J; j++) v[j] = v[j] * a + b;
        float s = 0;
#pragma unroll
        for (int j = 0; j < J; j++) s += v[j];
        if (WHAT & STORE) cell[(i + 1) & 1][t] = s;
        if (WHAT & BARRIER) __syncthreads();
    }
    float s = 0;
#pragma unroll
    for (int j = 0; j < J; j++) s += v[j];
    out[blockIdx.x * blockDim.x + t] = s;
}

// Sums of 256 words, all 0, by half as many threads at each step.
__global__ void trees(float *out, int n, float, float) {
    __shared__ float sums[256];
    const int t = threadIdx.x;
    float total = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        sums[t] = 0;
        __syncthreads();
        for (int step = 1; step < 256; step *= 2) {
            if (t % (2 * step) == 0) sums[t] += sums[t + step];
            __syncthreads();
        }
        total += sums[0];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = total;
}

// All blocks meet, and each thread loads what another one has stored.
template <bool LOADS> __global__ void meetings(float *p, int n, float, float) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v = i;
    for (int k = 0; k < n; k++) {
        if (LOADS) p[i + (k & 1) * all] = v;
        cooperative_groups::this_grid().sync();
        if (LOADS) v += p[(i + 33) % all + (k & 1) * all];
    }
    p[2 * all + i] = v;
}

static float *p;

template <class Kernel> static double ns_a_turn(Kernel *kernel, int blocks, int threads, bool meet) {
    cudaEvent_t begin, end;
    float ms[2], a = 0.5f, b = 1;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    for (int r = 0; r < 4; r++) { // the first two are warm-up
        int n = r % 2 ? 2 * TURNS : TURNS;
        void *arguments[] = {&p, &n, &a, &b};
        cudaEventRecord(begin, 0);
        if (meet)
            cudaLaunchCooperativeKernel((void *)kernel, blocks, threads, arguments, 0, 0);
        else
            cudaLaunchKernel((void *)kernel, blocks, threads, arguments, 0, 0);
        cudaEventRecord(end, 0);
        cudaDeviceSynchronize();
        cudaEventElapsedTime(&ms[r % 2], begin, end);
    }
    return (ms[1] - ms[0]) * 1e6 / TURNS;
}

template <int K, int J, int WHAT> static void loop(const char *name) {
    const struct { int blocks, threads; } with[] = {{1, 32}, {1, 256}, {1, 512}, {1, 1024}, {2, 512}, {4, 256}};
    for (auto w : with)
        printf("%s_%dx%d %.1f\n", name, w.blocks, w.threads,
               GHZ * ns_a_turn(turns<K, J, WHAT>, w.blocks * SMS, w.threads, false));
}

int main() {
    cudaMalloc(&p, 1 << 24), cudaMemset(p, 0, 1 << 24);
    loop<8, 1, 0>("chain");
    loop<8, 1, LOAD>("load");
    loop<1, 1, LOAD | BARRIER>("step");
    loop<8, 1, LOAD | BARRIER>("steps");
    loop<32, 1, LOAD | BARRIER>("long");
    loop<4, 8, LOAD | BARRIER>("wide");
    loop<8, 1, LOAD | STORE | BARRIER>("exchange");
    printf("tree_1 %.0f\n", GHZ * ns_a_turn(trees, 1, 256, false));
    printf("tree_264 %.0f\n", GHZ * ns_a_turn(trees, 2 * SMS, 256, false));
    printf("meeting %.0f\n", ns_a_turn(meetings<false>, 128, 512, true));
    printf("meeting_loads %.0f\n", ns_a_turn(meetings<true>, 128, 512, true));
}
