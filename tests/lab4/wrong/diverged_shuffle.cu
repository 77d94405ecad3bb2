// expect: correct: lanes that their mask names
// Only threads that have a float take part, but the mask names all 32. In a short tensor the others never come.
#include "lab4.h"

__global__ void mean_of(const struct tensor *list, float *out) {
    __shared__ float s[8];
    struct tensor x = list[blockIdx.x];
    int t = threadIdx.x;
    float sum = 0;
    if (t < 8) s[t] = 0;
    __syncthreads();
    if (t < x.length) {
        for (int i = t; i < x.length; i += 256) sum += x.data[i];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (t % 32 == 0) s[t / 32] = sum;
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = (s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]) / x.length;
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
