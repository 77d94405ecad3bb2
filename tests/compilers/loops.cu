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

// A thread's share of a tile: four turns, as clang 17 and later know.
__global__ void __launch_bounds__(256) share_of_a_tile(const float *in, float *out, int rows, int n) {
    __shared__ float tile[128][8];
    for (int e = threadIdx.x; e < 1024; e += 256) {
        int row = e / 8, column = e % 8;
        tile[row][column] = row < rows && row * 8 + column < n ? in[row * 8 + column] : 0;
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x / 2][threadIdx.x % 8];
}

// An index that may wrap, of an unsigned blockIdx.y: by nvcc's code ptxas does not know how many turns there are.
__global__ void layer(const float *in, float *out, int n) {
    int column = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += in[blockIdx.y * n + k] * in[k * 16 + column];
    out[column] = sum;
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
    share_of_a_tile<<<1, 256>>>(in, out, 100, n);
    layer<<<1, 64>>>(in, out, 256);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaFree(in);
    cudaFree(out);
    puts("done");
    return 0;
}
