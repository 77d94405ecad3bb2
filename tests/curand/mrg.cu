// mrg.cu — MRG32k3a in kernels: whole and uniform numbers of a few seeds, subsequences and offsets, and sums that tell
// every draw. nvcc prints the same lines with its own header.
#include <curand_kernel.h>

#include <cstdio>

struct numbers {
    unsigned whole[3];
    float uniform;
    double precise, normal, log_normal;
    float pair;
};

__global__ void draw(numbers *out) {
    const unsigned long long seeds[] = {0, 1234, 0x123456789abcdefull, 7};
    const unsigned long long subsequences[] = {0, 1, 3, (1ull << 40) + 5}, offsets[] = {0, 1, 1000000007, 1ull << 50};
    unsigned t = threadIdx.x;
    curandStateMRG32k3a s;
    curand_init(seeds[t], subsequences[t], offsets[t], &s);
    for (int k = 0; k < 3; k++) out[t].whole[k] = curand(&s);
    if (t == 3) skipahead_sequence(2, &s);
    out[t].uniform = curand_uniform(&s);
    out[t].precise = curand_uniform_double(&s);
    out[t].normal = curand_normal_double(&s) + curand_normal_double(&s);
    out[t].log_normal = curand_log_normal_double(&s, 0.5, 0.25);
    float2 v = curand_normal2(&s);
    out[t].pair = v.x * v.x + v.y * v.y + (float)curand_poisson(&s, 4);
}

int main() {
    numbers *out;
    cudaMallocManaged(&out, 4 * sizeof *out);
    draw<<<1, 4>>>(out);
    cudaDeviceSynchronize();
    for (int t = 0; t < 4; t++)
        printf("%u %u %u, %.9g %.17g, %.12g %.12g %.4g\n", out[t].whole[0], out[t].whole[1], out[t].whole[2],
               out[t].uniform, out[t].precise, out[t].normal, out[t].log_normal, out[t].pair);
    return 0;
}
