// Loops whose number of turns only the running program knows. Each pair of kernels takes as many steps with every
// clang.
#include <cstdio>

// The end of a thread's share, or of the array: two conditions.
__global__ void chunk(const float *in, float *out, int share, int n) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * share;
    float sum = 0;
    for (int i = first; i < first + share && i < n; i++) sum += in[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A guard in front of few instructions and several parameters.
__global__ void copy_guarded(const float4 *in, float4 *out, long n) {
    long i = blockIdx.x * 256ul + threadIdx.x;
    if (i < n) out[i] = in[i];
}

// Steps that are no constant: one load a loop.
__global__ void steps(const float *in, float *out, int n) {
    float sum = 0;
    for (int k = 0; k < 32; k += blockDim.y) sum += in[k];
    for (int k = 0; k < 4 * blockDim.y; k += blockDim.y) sum += in[k];
    int k = 0;
    do {
        sum += in[k];
        k += blockDim.x;
    } while (k < 4096);
    for (int k = n - 1; k >= 0; k -= blockDim.x) sum += in[k];
    out[threadIdx.x] = sum;
}

int main() {
    const int n = 8000, share = 32;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    chunk<<<1, 256>>>(in, out, share, n);
    copy_guarded<<<8, 256>>>((const float4 *)in, (float4 *)out, n / 4);
    steps<<<1, 256>>>(in, out, n);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaFree(in);
    cudaFree(out);
    puts("done");
    return 0;
}
