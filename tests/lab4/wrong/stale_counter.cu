// expect: correct: never written
// The counter of the blocks is never set back to 0.
// The second call counts on from where the first one stopped, and no block is the last.
#include "lab4.h"

__device__ float block_sum(float v) {
    __shared__ float s[8];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < 8 ? s[threadIdx.x] : 0;
    if (threadIdx.x < 32)
        for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}

__device__ float sums[256];
__device__ unsigned arrived;

__global__ void mean_of(const float *in, int n, float *mean) {
    __shared__ bool last;
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = block_sum(threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0);
    if (threadIdx.x == 0) *mean = sum / n;
}

static struct tensor *list;
static int listed;

extern "C" void plan(const struct tensor *tensors, int count) {
    free(list);
    list = (struct tensor *)malloc(count * sizeof *list);
    memcpy(list, tensors, count * sizeof *list);
    listed = count;
}

extern "C" void mean(const float *d_in, int n, float *d_mean) {
    int blocks = n < 65536 ? 1 : 256;
    mean_of<<<blocks, 256>>>(d_in, n, d_mean);
}

extern "C" void means(float *d_means) {
    for (int i = 0; i < listed; i++) mean(list[i].data, list[i].length, d_means + i);
}
