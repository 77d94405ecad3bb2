/* gather.cu — scattered loads and stores, pointer chases, arrays of structs, narrow stores. */
#include "fidelity.h"

enum { WORDS = 1 << 24, N = 1 << 21 };
static float *a, *b;
static int *far, *near, *next, *short_list, *long_list;
struct body {
    float x, y, z, vx, vy, vz, mass;
};
struct pixel {
    unsigned char r, g, b;
};

__global__ void gather(const float *in, const int *index, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}
__global__ void gather4(const float *in, const int *index, float *out, int t) { /* four loads under way */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]] + in[index[i + t]] + in[index[i + 2 * t]] + in[index[i + 3 * t]];
}
__global__ void gather_hashed(const float *in, float *out, unsigned mask) { /* the address is computed, not loaded */
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, h = i * 2654435761u;
    h ^= h >> 15;
    out[i] = in[h & mask];
}
__global__ void gather_rows(const float *in, const int *index, float *out) { /* 32 floats together, a warp each */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[(size_t)(index[i / 32] & ~31) + i % 32];
}
__global__ void scatter(const float *in, const int *index, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[index[i]] = in[i];
}
__global__ void strided_load(const float *in, float *out, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[(size_t)i * stride];
}
__global__ void strided_store(const float *in, float *out, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[(size_t)i * stride] = in[i];
}
__global__ void own_stretch(const float *in, float *out, int each) { /* each thread reads a stretch of its own */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < each; k++) s += in[i * each + k];
    out[i] = s;
}
__global__ void reverse(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[n - 1 - i] = in[i];
}
/* --- chases: a lane follows its own list --- */
__global__ void chase(const int *next, int *out, int steps, int spread) {
    int j = (blockIdx.x * blockDim.x + threadIdx.x) * spread;
    for (int s = 0; s < steps; s++) j = next[j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = j;
}
__global__ void tree_search(const float *sorted, const float *wanted, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
    float w = wanted[i] * n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < w)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}
/* --- structs --- */
__global__ void move_bodies(body *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += p[i].vx * dt;
    p[i].y += p[i].vy * dt;
    p[i].z += p[i].vz * dt;
}
__global__ void move_arrays(float *x, float *y, float *z, const float *vx, const float *vy, const float *vz, int n,
                            float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] += vx[i] * dt;
    y[i] += vy[i] * dt;
    z[i] += vz[i] * dt;
}
__global__ void energy(const body *p, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    body q = p[i];
    out[i] = 0.5f * q.mass * (q.vx * q.vx + q.vy * q.vy + q.vz * q.vz);
}
__global__ void set_bodies(body *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    body q = {1.0f * i, 2.0f * i, 3.0f * i, 0, 0, 0, 1};
    p[i] = q;
}
__global__ void set_triples(float3 *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = make_float3(i, i + 1, i + 2);
}
__global__ void grey(const pixel *in, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (unsigned char)(0.299f * in[i].r + 0.587f * in[i].g + 0.114f * in[i].b);
}
__global__ void invert(pixel *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].r = 255 - p[i].r;
    p[i].g = 255 - p[i].g;
    p[i].b = 255 - p[i].b;
}
__global__ void interleave(const float *re, const float *im, float *out) { /* two stores fill the sectors together */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = re[i];
    out[2 * i + 1] = im[i];
}
__global__ void expand8(const float *in, float *out) { /* eight stores fill a sector */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int k = 0; k < 8; k++) out[8 * i + k] = v * k;
}

/* Lists for the chases: element i leads to another one of the same n, a power of two. */
static int *list(int n) {
    return filled<int>(n, [n](size_t i) { return (int)((i * 1664525u + 1013904223u) & (n - 1)); });
}

static void setup() {
    a = filled<float>(WORDS, [](size_t i) { return (float)i; });
    b = zeroed<float>(WORDS);
    far = filled<int>(N, [](size_t i) { return (int)(mixed(i) & (WORDS - 1)); });
    near = filled<int>(N, [](size_t i) { return (int)(mixed(i) & ((1 << 20) - 1)); });
    next = list(WORDS), short_list = list(1 << 12), long_list = list(1 << 20);
}
static const fidelity_test tests[] = {
    COLD("gather/random, 64 MiB, 2^21", 1, gather<<<N / 256, 256>>>(a, far, b)),
    COLD("gather/random, 4 MiB, 2^21", 1, gather<<<N / 256, 256>>>(a, near, b)),
    WARM("gather/random, 4 MiB, warm, 2^21", 1, gather<<<N / 256, 256>>>(a, near, b)),
    COLD("gather/random, 64 MiB, four a thread", 1, gather4<<<N / 1024, 256>>>(a, far, b, N / 4)),
    COLD("gather/hashed, 64 MiB, 2^21", 1, gather_hashed<<<N / 256, 256>>>(a, b, WORDS - 1)),
    COLD("gather/hashed, 16 KiB, 2^21", 1, gather_hashed<<<N / 256, 256>>>(a, b, 4095)),
    COLD("gather/rows of 32 floats, 2^22", 1, gather_rows<<<2 * N / 256, 256>>>(a, far, b)),
    COLD("scatter/random, 64 MiB, 2^21", 1, scatter<<<N / 256, 256>>>(a, far, b)),
    COLD("scatter/random, 4 MiB, 2^21", 1, scatter<<<N / 256, 256>>>(a, near, b)),
    COLD("strided/load, 2 floats", 1, strided_load<<<N / 256, 256>>>(a, b, 2)),
    COLD("strided/load, 8 floats", 1, strided_load<<<N / 256, 256>>>(a, b, 8)),
    COLD("strided/load, 32 floats", 1, strided_load<<<N / 1024, 256>>>(a, b, 32)),
    COLD("strided/store, 8 floats", 1, strided_store<<<N / 256, 256>>>(a, b, 8)),
    COLD("strided/store, 3 floats", 1, strided_store<<<N / 256, 256>>>(a, b, 3)),
    COLD("strided/64 floats a thread", 1, own_stretch<<<256, 256>>>(a, b, 64)),
    COLD("strided/backwards, 2^22", 1, reverse<<<2 * N / 256, 256>>>(a, b, 2 * N)),
    COLD("chase/64 MiB, 32 blocks of 32", 1, chase<<<32, 32>>>(next, (int *)b, 128, 977)),
    COLD("chase/64 MiB, 1056 blocks of 256", 1, chase<<<1056, 256>>>(next, (int *)b, 16, 61)),
    WARM("chase/4 MiB, 1 block of 32", 1, chase<<<1, 32>>>(long_list, (int *)b, 256, 977)),
    WARM("chase/4 MiB, 528 blocks of 256", 1, chase<<<528, 256>>>(long_list, (int *)b, 32, 7)),
    WARM("chase/16 KiB, 1 block of 32", 1, chase<<<1, 32>>>(short_list, (int *)b, 1024, 8)),
    WARM("chase/16 KiB, 1 thread", 1, chase<<<1, 1>>>(short_list, (int *)b, 2048, 8)),
    COLD("chase/binary search in 64 MiB, 2^17", 1, tree_search<<<512, 256>>>(a, a + 99, (int *)b, WORDS)),
    COLD("structs/move bodies, 2^20", 1, move_bodies<<<4096, 256>>>((body *)b, 1 << 20, 0.1f)),
    COLD("structs/move arrays, 2^20", 1,
         move_arrays<<<4096, 256>>>(b, b + N, b + 2 * N, a, a + N, a + 2 * N, 1 << 20, 0.1f)),
    COLD("structs/energy, 2^20", 1, energy<<<4096, 256>>>((body *)a, b)),
    COLD("structs/set bodies, 2^20", 1, set_bodies<<<4096, 256>>>((body *)b)),
    COLD("structs/set triples, 2^21", 1, set_triples<<<8192, 256>>>((float3 *)b)),
    COLD("structs/grey pixels, 2^22", 1, grey<<<16384, 256>>>((pixel *)a, (unsigned char *)b, 1 << 22)),
    COLD("structs/invert pixels, 2^21", 1, invert<<<8192, 256>>>((pixel *)b, 1 << 21)),
    COLD("structs/interleave, 2^21", 1, interleave<<<8192, 256>>>(a, a + N, b)),
    COLD("structs/eight stores a thread, 2^20", 1, expand8<<<4096, 256>>>(a, b)),
};
FIDELITY_MAIN(setup, tests)
