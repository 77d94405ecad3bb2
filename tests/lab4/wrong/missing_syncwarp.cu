// expect: races: race: a thread (reads|writes) what another lane of the warp
// One warp adds the last 64 sums, and its lanes read without __syncwarp what other lanes have written.
// Here the means come out right. On an H200 this very tree gave a wrong sum in 20480 of 20480 blocks: the compiler
// knows of no other reader, keeps each sum in a register and writes it at the end.
#include "lab4.h"

__global__ void mean_of(const struct tensor *list, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x, n = list[blockIdx.x].length;
    const float *in = list[blockIdx.x].data;
    float sum = 0;
    for (int i = t; i < n; i += 256) sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        if (step > 32) __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0] / n;
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
