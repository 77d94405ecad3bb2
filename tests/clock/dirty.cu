/* dirty.cu — what leaves L2, and when. For each launch a line: its name, and on SimGPU the MiB that DRAM read and
 * wrote.
 *
 * On a card: ncu --cache-control none --metrics dram__bytes_read.sum,dram__bytes_write.sum -k
 * 'regex:^(load|load_shared|mix|in_place|pick|beside|fill_beside|rows|planes)$' has these launches in the same order.
 * Nsight Compute makes one pass for two counters, so it does not touch the memory. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#if __has_include("simgpu_event.h")
#include "simgpu.h"
#include "simgpu_event.h"
#endif

enum { MIB = 1 << 20, LARGE = 256, PIECE = 4096 };
static const char *name;
static int numbers[2];
static float4 *a, *b, *other;
static float *out;

__global__ void clean(const float4 *p, size_t n, float *out) {
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) sum += p[i].x;
    if (sum == 0.125f) *out = sum;
}
__global__ void load(const float4 *p, float *out) {
    if (p[blockIdx.x * (size_t)blockDim.x + threadIdx.x].x == 0.125f) *out = 1;
}
/* Several blocks load each piece of 4 KiB. */
__global__ void load_shared(const float4 *p, int readers, float *out) {
    if (p[blockIdx.x / readers * 256ull + threadIdx.x].x == 0.125f) *out = 1;
}
/* Of `loads` and `stores` pieces of 4 KiB each block has its share, one after another. */
__global__ void mix(const float4 *p, unsigned loads, float4 *q, unsigned stores, float *out) {
    const unsigned long long n = gridDim.x, at = blockIdx.x;
    const unsigned first = at * loads / n, to = at * stores / n;
    float4 v = make_float4(1, 2, 3, 4);
    if ((at + 1) * loads / n > first) v = p[first * 256ull + threadIdx.x];
    if ((at + 1) * stores / n > to)
        q[to * 256ull + threadIdx.x] = v;
    else if (v.x == 0.125f)
        *out = 1;
}
__global__ void in_place(float4 *p) {
    float4 v = p[blockIdx.x * 256ull + threadIdx.x];
    v.x += 1, v.y += 2, v.z += 3, v.w += 4;
    p[blockIdx.x * 256ull + threadIdx.x] = v;
}
/* Each thread loads words anywhere in a table, one after another. */
__global__ void pick(const unsigned *table, unsigned mask, int loads, float *out) {
    unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    for (int k = 0; k < loads; k++) {
        x = (x ^ x >> 15) * 0x85ebca6bu;
        x += table[(x ^ x >> 13) & mask];
    }
    if (x == 12345) *out = 1;
}

/* Goes through a long array while it loads words anywhere in a table. */
__global__ void beside(const float4 *p, size_t n, const unsigned *table, unsigned mask, float *out) {
    unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        x = (x ^ x >> 15) * 0x85ebca6bu;
        x += table[(x ^ x >> 13) & mask];
        sum += p[i].x;
    }
    if (x == 12345 || sum == 0.125f) *out = 1;
}

/* Fills a long array while it loads words anywhere in a table. */
__global__ void fill_beside(float4 *p, size_t n, const unsigned *table, unsigned mask) {
    unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        x = (x ^ x >> 15) * 0x85ebca6bu;
        x += table[(x ^ x >> 13) & mask];
        p[i] = make_float4(x, 0, 0, 0);
    }
}
/* Each thread adds up its own row, word by word. */
__global__ void rows(const float *p, int n, float *out) {
    const float *mine = p + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * n;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) sum += mine[i];
    if (sum == 0.125f) *out = 1;
}
/* Each thread adds up three planes around each of its own, one after another. */
__global__ void planes(const float *p, int plane, int n, float *q) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int z = 1; z < n - 1; z++) {
        const float *mine = p + (size_t)z * plane + at;
        q[(size_t)z * plane + at] = mine[-plane] + mine[0] + mine[plane];
    }
}

static void done() {
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
#if !__has_include("simgpu_event.h")
    if (name) printf("%s_%d_%d\n", name, numbers[0], numbers[1]);
#endif
    name = NULL;
}
static void measured(const char *called, int n, int m) {
    done();
    name = called;
    numbers[0] = n, numbers[1] = m;
}
/* Leaves L2 full of data that need not be written. */
static void cleaned() {
    done();
    clean<<<1056, 256>>>(other, (size_t)LARGE / 2 * MIB / 16, out);
    done();
}
static void loads(const char *called, int mib, int m) {
    measured(called, mib, m);
    load<<<mib * MIB / PIECE, 256>>>(a, out);
}
static void mixed(int read, int written) {
    const unsigned n = (unsigned)read * MIB / PIECE, m = (unsigned)written * MIB / PIECE;
    const unsigned blocks = n > m ? n : m;
    cleaned();
    measured("mix", read, written);
    mix<<<blocks, 256>>>(a, n, b, m, out);
}
static void in_places(const char *called, int mib) {
    measured(called, mib, 0);
    in_place<<<mib * MIB / PIECE, 256>>>(a);
}

int main() {
#if __has_include("simgpu_event.h")
    if (simgpuListen(
            [](const struct simgpu_event *e, void *) {
                if (e->kind == SIMGPU_LAUNCH && name)
                    printf("%s_%d_%d %.1f %.1f\n", name, numbers[0], numbers[1],
                           (double)e->is.launch.dram_read_bytes / MIB, (double)e->is.launch.dram_write_bytes / MIB);
            },
            NULL))
        return 1;
#endif
    if (cudaMalloc(&a, LARGE * MIB) || cudaMalloc(&b, LARGE * MIB) || cudaMalloc(&other, LARGE * MIB) ||
        cudaMalloc(&out, 4))
        return 1;
    cudaMemset(a, 0, LARGE * MIB);
    for (int mib : {36, 40, 44, 48}) {
        cleaned();
        loads("once", mib, 0);
        loads("twice", mib, 0);
    }
    for (int set : {16, 64})
        for (int mib : {16, 32, 48}) {
            cleaned();
            cudaMemset(b, 0, (size_t)set * MIB);
            loads("behind_memset", mib, set);
        }
    const int both[][2] = {{0, 24},  {0, 48},  {24, 8}, {24, 24}, {32, 32}, {48, 8},
                           {48, 24}, {48, 48}, {64, 8}, {64, 32}, {64, 64}};
    for (const int *m : both) mixed(m[0], m[1]);
    for (int readers : {1, 2, 8}) {
        cleaned();
        cudaMemset(b, 0, 16 * MIB);
        measured("by_several", 40, readers);
        load_shared<<<40 * MIB / PIECE * readers, 256>>>(a, readers, out);
    }
    mixed(32, 16);
    loads("after_mix", 32, 16);
    for (int mib : {24, 40, 64}) {
        cleaned();
        in_places("in_place", mib);
        in_places("in_place_again", mib);
    }
    for (int mib : {32, 64, 128, 256})
        for (int n : {4, 16}) {
            cleaned();
            measured("pick", mib, n);
            pick<<<1056, 256>>>((const unsigned *)a, (unsigned)mib * (MIB / 4) - 1, n, out);
        }
    for (int mib : {4, 16}) {
        cleaned();
        measured("beside", 128, mib);
        beside<<<1056, 256>>>(b, (size_t)LARGE / 2 * MIB / 16, (const unsigned *)a, (unsigned)mib * (MIB / 4) - 1, out);
    }
    for (int mib : {4, 16}) {
        cleaned();
        measured("fill_beside", 128, mib);
        fill_beside<<<1056, 256>>>(b, (size_t)LARGE / 2 * MIB / 16, (const unsigned *)a, (unsigned)mib * (MIB / 4) - 1);
    }
    for (int mib : {66, 132}) {
        cleaned();
        measured("rows", mib, 0);
        rows<<<1056, 256>>>((const float *)a, mib * (MIB / 4) / (1056 * 256), out);
    }
    for (int n : {64, 128}) {
        cleaned();
        measured("planes", n, 0);
        planes<<<1056, 256>>>((const float *)a, 1056 * 256, n, (float *)b);
    }
    done();
    return 0;
}
