/* lanes.cu — lanes that part. Prints a line for each case that is timed: its name, microseconds. tests/lanes.bats has
 * an H200's. */
#include "timed.h"

enum { DEEP = 8, TURNS = 512 };

__device__ unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

/* Each lane goes up and down a stack of its own, and leaves when it is empty. Lanes meet again in each turn. */
__global__ void stack(unsigned *out) {
    unsigned open[DEEP], found = 0, seed = mixed(blockIdx.x * blockDim.x + threadIdx.x);
    int depth = 0;
    open[0] = 3 + (seed & 3);
    while (depth >= 0) {
        if (open[depth] == 0) {
            depth--;
            continue;
        }
        open[depth]--;
        if (depth == DEEP - 1) {
            found += seed;
            continue;
        }
        seed = seed * 1664525 + 1013904223;
        open[++depth] = seed >> 30;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = found;
}

/* Rays and spheres: half of the rays pass by, and have no root. */
__global__ void roots(const float4 *sphere, float *out, int n) {
    const float x = threadIdx.x * 0.01f, y = blockIdx.x * 0.001f;
    float nearest = 1e30f;
    for (int k = 0; k < n; k++) {
        const float4 s = sphere[k];
        const float dx = s.x - x, dy = s.y - y, d = s.w - dx * dx - dy * dy;
        if (d < 0) continue;
        const float z = s.z - sqrtf(d);
        if (z < nearest) nearest = z;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = nearest;
}

int main() {
    static float4 sphere[TURNS];
    for (int k = 0; k < TURNS; k++) sphere[k] = make_float4((k * 37 % 100) * 0.02f, (k * 73 % 100) * 0.01f, k, 0.5f);
    float4 *spheres;
    unsigned *out;
    MUST(cudaMalloc(&spheres, sizeof sphere));
    MUST(cudaMalloc(&out, 1 << 20));
    MUST(cudaMemcpy(spheres, sphere, sizeof sphere, cudaMemcpyHostToDevice));
    timed("stack", [&] { stack<<<528, 64>>>(out); });
    roots<<<1056, 128>>>(spheres, (float *)out, TURNS); /* counted only */
    MUST(cudaDeviceSynchronize());
    return 0;
}
