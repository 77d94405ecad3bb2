/* limits.cu — launches at the limits of shared memory. It prints lines `name value`; simgpu.bats has the right ones.
 *
 * The arrays of a template's instances are variables of the module: none is any other kernel's business. */
#include <stdio.h>

template <int N> __global__ void fixed(float *out) {
    __shared__ float s[N];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}

__global__ void dynamic(float *out) {
    extern __shared__ float s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}

template <typename K> static void occupancy(const char *name, K kernel) {
    int blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0);
    printf("%s_blocks %d\n", name, blocks);
}

static void launched(const char *name) {
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    printf("%s %s\n", name, cudaGetErrorName(e));
}

int main() {
    float *out;
    cudaMalloc(&out, 32 * sizeof(float));
    fixed<12288><<<1, 32>>>(out);
    launched("fixed_48k");
    fixed<12289><<<1, 32>>>(out);
    launched("fixed_48k_and_4");
    fixed<32><<<1, 32>>>(out);
    launched("fixed_128");
    occupancy("fixed_48k", fixed<12288>);
    occupancy("fixed_128", fixed<32>);
    cudaFuncSetAttribute(fixed<12289>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
    fixed<12289><<<1, 32, 100000>>>(out);
    launched("fixed_48k_and_4_asked");
    dynamic<<<1, 32, 49156>>>(out);
    launched("dynamic_48k_and_4");
    cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 49156);
    dynamic<<<1, 32, 49156>>>(out);
    launched("dynamic_48k_and_4_asked");
    return 0;
}
