/* barriers.cu — loops with barriers around shared memory, by few and by many warps, in small blocks and in large ones;
 * and branches that part the lanes of a warp. Prints a line a case: its name, microseconds. tests/places.bats has an
 * H200's. */
#include "timed.h"

enum { SMS = 132, STEPS = 400, TURNS = 1000, MOST = 1024 };
static float *numbers;

/* A barrier and nothing else. */
__global__ void alone(float *p, int n) {
    float v = p[threadIdx.x];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        v = v * 0.5f + 1;
    }
    p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

/* A row of cells in place: three loads, a barrier, a store, a barrier. */
__global__ void in_place(float *p, int n) {
    __shared__ float s[MOST + 2];
    const int t = threadIdx.x;
    s[t + 1] = p[t];
    if (t == 0) s[0] = s[blockDim.x + 1] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        const float v = 0.25f * (s[t] + 2 * s[t + 1] + s[t + 2]);
        __syncthreads();
        s[t + 1] = v;
        __syncthreads();
    }
    p[blockIdx.x * blockDim.x + t] = s[t + 1];
}

/* From one row to another: three loads, a store, a barrier. */
template <int B> __global__ void in_turn(float *p, int n) {
    __shared__ float s[2][B + 2];
    const int t = threadIdx.x;
    s[0][t + 1] = p[t], s[1][t + 1] = 0;
    if (t == 0) s[0][0] = s[1][0] = s[0][B + 1] = s[1][B + 1] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[(k + 1) % 2][t + 1] = 0.25f * (s[k % 2][t] + 2 * s[k % 2][t + 1] + s[k % 2][t + 2]);
        __syncthreads();
    }
    p[blockIdx.x * B + t] = s[n % 2][t + 1];
}

/* A sum, half of the threads at a time; n times. */
template <int B> __global__ void tree(float *p, int n) {
    __shared__ float s[B];
    const int t = threadIdx.x;
    s[t] = p[t];
    __syncthreads();
    for (int k = 0; k < n; k++)
        for (int d = B / 2; d; d /= 2) {
            if (t < d) s[t] += s[t + d];
            __syncthreads();
        }
    p[blockIdx.x * B + t] = s[t];
}

/* Two neighbours in order; lanes that are not in `lanes` do nothing. ptxas leaves the outer branch. */
__global__ void in_order(float *p, int n, unsigned lanes) {
    __shared__ float s[MOST];
    const int t = threadIdx.x;
    s[t] = p[t];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        const int o = t ^ 1;
        if (lanes >> (t & 31) & 1) {
            const float a = s[t], b = s[o];
            if ((a > b) == ((t & 2) == 0)) s[t] = b, s[o] = a;
        }
        __syncthreads();
    }
    p[t] = s[t];
}

/* Sixteen multiply-adds that wait for each other, by the lanes in `lanes`. */
__global__ void some_lanes(float *p, int n, unsigned lanes) {
    float v = p[threadIdx.x], a = p[32];
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (lanes >> (threadIdx.x & 31) & 1)
            for (int i = 0; i < 16; i++) v = v * a + 1.0f;
        v = v * a + 2.0f;
    }
    p[threadIdx.x] = v;
}

/* Each lane has a number of turns of its own. */
__global__ void turns_of_lanes(float *p, int n, int most) {
    float v = p[threadIdx.x], a = p[32];
    const int mine = threadIdx.x % most + 1;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
#pragma unroll 1
        for (int j = 0; j < mine; j++) v = v * a + 1.0f;
        v = v * a + 2.0f;
    }
    p[threadIdx.x] = v;
}

template <typename F> static void on_each_sm(const char *what, int threads, int blocks, F run) {
    char name[60];
    snprintf(name, sizeof name, "%s_%d_threads_%d_blocks", what, threads, blocks);
    timed(name, [=] { run(SMS * blocks, threads); });
}

int main() {
    MUST(cudaMalloc(&numbers, 64 << 20));
    MUST(cudaMemset(numbers, 0, 64 << 20));
    const struct { int threads, blocks; } shapes[] = {{32, 32}, {64, 1}, {64, 16}, {64, 32}, {128, 16}, {256, 8}};
    for (auto x : shapes) {
        on_each_sm("alone", x.threads, x.blocks, [](int g, int b) { alone<<<g, b>>>(numbers, STEPS); });
        on_each_sm("in_place", x.threads, x.blocks, [](int g, int b) { in_place<<<g, b>>>(numbers, STEPS); });
    }
    on_each_sm("alone", 32, 1, [](int g, int b) { alone<<<g, b>>>(numbers, STEPS); });
    on_each_sm("alone", 32, 4, [](int g, int b) { alone<<<g, b>>>(numbers, STEPS); });
    on_each_sm("in_turn", 64, 32, [](int g, int) { in_turn<64><<<g, 64>>>(numbers, STEPS); });
    on_each_sm("in_turn", 256, 8, [](int g, int) { in_turn<256><<<g, 256>>>(numbers, STEPS); });
    on_each_sm("in_turn", 1024, 1, [](int g, int) { in_turn<1024><<<g, 1024>>>(numbers, STEPS); });
    on_each_sm("in_turn", 1024, 2, [](int g, int) { in_turn<1024><<<g, 1024>>>(numbers, STEPS); });
    on_each_sm("tree", 64, 32, [](int g, int) { tree<64><<<g, 64>>>(numbers, STEPS / 10); });
    on_each_sm("tree", 256, 1, [](int g, int) { tree<256><<<g, 256>>>(numbers, STEPS / 10); });
    on_each_sm("tree", 1024, 1, [](int g, int) { tree<1024><<<g, 1024>>>(numbers, STEPS / 10); });
    timed("in_order_all", [] { in_order<<<1, 32>>>(numbers, STEPS, ~0u); });
    timed("in_order_none", [] { in_order<<<1, 32>>>(numbers, STEPS, 0); });
    timed("in_order_half", [] { in_order<<<1, 32>>>(numbers, STEPS, 0xffff); });
    timed("in_order_half_full", [] { in_order<<<2 * SMS, 1024>>>(numbers, STEPS, 0xffff); });
    timed("some_lanes_all", [] { some_lanes<<<1, 32>>>(numbers, TURNS, ~0u); });
    timed("some_lanes_half", [] { some_lanes<<<1, 32>>>(numbers, TURNS, 0xffff); });
    timed("turns_of_lanes_8", [] { turns_of_lanes<<<1, 32>>>(numbers, TURNS, 8); });
    timed("turns_of_lanes_32", [] { turns_of_lanes<<<1, 32>>>(numbers, TURNS, 32); });
}
