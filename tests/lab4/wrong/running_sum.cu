// expect: accuracy: a tensor of [0-9]+ floats: the mean is off by
// Every thread adds its floats, one after the other, to one sum in memory. No order is wrong; this one is only long.
// When the sum has grown to a million, half of what lies behind the point of each float added is cut off. It is slow,
// too: the additions queue up at one address.
#include "lab4.h"

__global__ void mean_of(const struct tensor *list, float *out) {
    __shared__ float sum;
    struct tensor x = list[blockIdx.x];
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < x.length; i += 256) atomicAdd(&sum, x.data[i]);
    __syncthreads();
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
