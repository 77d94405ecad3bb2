// libcu++: atomics, a barrier that copies arrive at, pipelines of a thread and of a block.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

constexpr int N = 1024, BLOCK = 256, STAGE = 128;

static void say(const char *what, bool right) { printf("%s %s\n", what, right ? "right" : "WRONG"); }

__global__ void count(int *total) {
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(*total);
    sum.fetch_add(1, cuda::memory_order_relaxed);
}

// Each block's part backwards.
__global__ void backwards(const int *in, int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
    __shared__ alignas(16) int part[BLOCK];
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&arrived, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, part, in + blockIdx.x * BLOCK, sizeof part, arrived);
    arrived.arrive_and_wait();
    out[blockIdx.x * BLOCK + threadIdx.x] = part[BLOCK - 1 - threadIdx.x];
}

// The sums of the columns of n stages, two of them in flight.
__global__ void sums(const int *in, int *out, int n) {
    __shared__ int stage[2][STAGE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int i = 0, ahead = 0; i < n; i++) {
        for (; ahead < n && ahead < i + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[ahead % 2], in + ahead * STAGE, sizeof stage[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[i % 2][(threadIdx.x + 1) % STAGE];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

__global__ void swapped(const int *in, int *out) {
    __shared__ int part[STAGE];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&part[threadIdx.x], in + threadIdx.x, sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
    pipe.consumer_release();
}

int main() {
    int h[N], g[N], *in, *out;
    for (int i = 0; i < N; i++) h[i] = i * i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof *out);
    count<<<10, 100>>>(out);
    cudaMemcpy(g, out, sizeof *out, cudaMemcpyDeviceToHost);
    say("atomic_ref", g[0] == 1000);

    backwards<<<N / BLOCK, BLOCK>>>(in, out);
    cudaMemcpy(g, out, sizeof g, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < N; i++) right &= g[i] == h[i / BLOCK * BLOCK + BLOCK - 1 - i % BLOCK];
    say("barrier", right);

    sums<<<1, STAGE>>>(in, out, N / STAGE);
    cudaMemcpy(g, out, STAGE * sizeof *g, cudaMemcpyDeviceToHost);
    right = true;
    for (int t = 0; t < STAGE; t++) {
        int want = 0;
        for (int i = 0; i < N / STAGE; i++) want += h[i * STAGE + (t + 1) % STAGE];
        right &= g[t] == want;
    }
    say("pipeline of a block", right);

    swapped<<<1, STAGE>>>(in, out);
    cudaMemcpy(g, out, STAGE * sizeof *g, cudaMemcpyDeviceToHost);
    right = true;
    for (int t = 0; t < STAGE; t++) right &= g[t] == h[t ^ 1];
    say("pipeline of a thread", right && cudaGetLastError() == cudaSuccess);
}
