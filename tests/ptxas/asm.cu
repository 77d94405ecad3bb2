// asm.cu — what ptxas does that PTX does not show: it unrolls loops of inline assembly, which a compiler leaves rolled
// since it may be convergent, and makes one load of neighbours in shared memory.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { LONG = 256, ROWS = 16 };

__global__ void halves(const __half *in, __half *out, int n) {
    __half sum = in[threadIdx.x];
    for (int k = 0; k < n; k++) sum = __hfma(sum, in[k], sum);
    out[threadIdx.x] = sum;
}
// Of a row of 16 floats each thread reads four words in turn; all lanes read the same.
__global__ void rows(const float *in, float *out) {
    __shared__ float tile[ROWS][ROWS];
    if (threadIdx.x < ROWS * ROWS) tile[threadIdx.x / ROWS][threadIdx.x % ROWS] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    const int row = threadIdx.x / 32;
    for (int k = 0; k < ROWS; k++) sum = sum * sum + tile[row][k];
    out[threadIdx.x] = sum;
}

int main() {
    void *in, *out;
    cudaMalloc(&in, 4096), cudaMalloc(&out, 4096);
    cudaMemset(in, 0, 4096);
    halves<<<1, 32>>>((__half *)in, (__half *)out, LONG);
    rows<<<1, 256>>>((float *)in, (float *)out);
    return cudaDeviceSynchronize();
}
