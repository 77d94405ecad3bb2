// 64 bits rotated, and a mask with one bit of 64 clear, by amounts below and above 64. Prints a line an amount.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

__global__ void rotate(uint64_t *c, uint32_t n) {
    c[0] &= ~(1ull << (n & 63));
    c[1] = c[1] << (n & 63) | c[1] >> (-n & 63);
    c[2] = c[2] >> (n % 64) | c[2] << (-n % 64);
}

int main() {
    const uint64_t from[3] = {~0ull, 0x123456789abcdefull, 0x123456789abcdefull};
    uint64_t to[3], *d;
    cudaMalloc(&d, sizeof to);
    for (uint32_t n : {0u, 4u, 63u, 64u, 132u}) {
        cudaMemcpy(d, from, sizeof to, cudaMemcpyHostToDevice);
        rotate<<<1, 1>>>(d, n);
        cudaMemcpy(to, d, sizeof to, cudaMemcpyDeviceToHost);
        printf("%u %016llx %016llx %016llx\n", n, (long long)to[0], (long long)to[1], (long long)to[2]);
    }
}
