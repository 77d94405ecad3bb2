// expect: virtual-tensors: latency: a warp waits for
// Right, and one launch: a block adds a tensor, float by float, whatever its length.
// The block that has the tensor of a million floats still adds when the GPU around it has long been empty.
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

__global__ void mean_of(const struct tensor *list, float *out) {
    struct tensor x = list[blockIdx.x];
    float sum = 0;
    for (int i = threadIdx.x; i < x.length; i += 256) sum += x.data[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum / x.length;
}

static struct tensor *d_list, *d_one;
static int listed;

extern "C" void plan(const struct tensor *tensors, int count) {
    cudaFree(d_list);
    cudaMalloc(&d_list, count * sizeof *tensors);
    cudaMemcpy(d_list, tensors, count * sizeof *tensors, cudaMemcpyHostToDevice);
    listed = count;
}

extern "C" void means(float *d_means) { mean_of<<<listed, 256>>>(d_list, d_means); }

extern "C" void mean(const float *d_in, int n, float *d_mean) {
    struct tensor one = {d_in, n};
    if (!d_one) cudaMalloc(&d_one, sizeof one);
    cudaMemcpy(d_one, &one, sizeof one, cudaMemcpyHostToDevice);
    mean_of<<<1, 256>>>(d_one, d_mean);
}
