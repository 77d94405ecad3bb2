/* histogram.cu — counts how often each byte value occurs, in two ways; the example of your-own-programs.md.
 * The second kernel has a mistake. */
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void count(const unsigned char *data, int n, int *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i]], 1);
}

__global__ void count_in_shared(const unsigned char *data, int n, int *bins) {
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1);
    __syncthreads();
    if (mine[threadIdx.x]) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    std::vector<unsigned char> data(n);
    for (int i = 0; i < n; i++) data[i] = (unsigned char)(i * 2654435761u >> 24);
    unsigned char *d_data;
    int *d_bins, bins[2][256];
    cudaMalloc(&d_data, n);
    cudaMalloc(&d_bins, sizeof bins);
    cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(d_bins, 0, sizeof bins);
    count<<<(n + 255) / 256, 256>>>(d_data, n, d_bins);
    count_in_shared<<<256, 256>>>(d_data, n, d_bins + 256);
    cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
    printf("byte 7 occurs %d times, and %d times\n", bins[0][7], bins[1][7]);
    cudaFree(d_data);
    return 0;
}
