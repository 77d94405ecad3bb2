// A tree of additions whose divisor doubles: a power of two, which only some versions of clang see.
#include <cuda_runtime.h>

#include <stdio.h>

// Its end is known at run time only: a division in each turn.
__global__ void tree(float *sums) {
    extern __shared__ float s[];
    int t = (int)threadIdx.x;
    s[t] = sums[t];
    __syncthreads();
    for (int step = 1; step < (int)blockDim.x; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    sums[t] = s[t];
}

// The loop is unrolled: each divisor is a literal, and none is left.
__global__ void known_tree(float *sums) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x;
    s[t] = sums[t];
    __syncthreads();
    for (unsigned step = 1; step < 64; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    sums[t] = s[t];
}

int main() {
    float ones[64], *sums;
    for (float &x : ones) x = 1;
    cudaMalloc(&sums, sizeof ones);
    cudaMemcpy(sums, ones, sizeof ones, cudaMemcpyDefault);
    tree<<<1, 64, sizeof ones>>>(sums);
    cudaMemcpy(ones, sums, sizeof ones, cudaMemcpyDefault);
    printf("%g\n", ones[0]);
    for (float &x : ones) x = 1;
    cudaMemcpy(sums, ones, sizeof ones, cudaMemcpyDefault);
    known_tree<<<1, 64, sizeof ones>>>(sums);
    cudaMemcpy(ones, sums, sizeof ones, cudaMemcpyDefault);
    printf("%g\n", ones[0]);
}
