/* waits.cu — what warps wait for: operands for which a division has a slower way, data that others have fetched before,
 * registers for loads, atomics on neighbouring words. A line `name microseconds` for each kernel. */
#include "simgpu.h"

enum { BODIES = 4096, TURNS = 256, LANES = 1 << 20 };

static void *flush;

/* The first is cold. */
template <typename F> static void time_of(const char *name, F run) {
    cudaEvent_t begin, end;
    float ms;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaMemset(flush, 1, 256 << 20);
    cudaEventRecord(begin, 0);
    run();
    cudaEventRecord(end, 0);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("%s %.3f\n", name, ms * 1e3);
}

template <typename T> __global__ void quotients(T *p, T by) {
    T x = p[threadIdx.x];
    for (int k = 0; k < TURNS; k++) x = x / by;
    p[threadIdx.x + 32] = x;
}
template <typename T> __global__ void roots(T *p) {
    T x = p[threadIdx.x];
    for (int k = 0; k < TURNS; k++) x = sqrt(x);
    p[threadIdx.x + 32] = x;
}
/* Lane 5 has x, the others 1. */
template <typename T> static void chains(const char *name, T x) {
    T host[32], *p;
    char text[64];
    for (int l = 0; l < 32; l++) host[l] = l == 5 ? x : 1;
    cudaMalloc(&p, 64 * sizeof(T));
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    snprintf(text, sizeof text, "quotients_%s", name);
    time_of(text, [=] { quotients<T><<<1, 32>>>(p, (T)1); });
    snprintf(text, sizeof text, "roots_%s", name);
    time_of(text, [=] { roots<T><<<1, 32>>>(p); });
}

__device__ float3 pull(float4 me, float4 other, float3 f) {
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = other.w * r * r * r;
    return make_float3(f.x + dx * s, f.y + dy * s, f.z + dz * s);
}
/* Each block reads all bodies, in order; together the first loads of 32 blocks have fetched them. */
__global__ void bodies(const float4 *p, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) f = pull(me, p[j], f);
    out[i] = make_float4(f.x, f.y, f.z, 0);
}
__global__ void bodies_shared(const float4 *p, float4 *out, int n) {
    __shared__ float4 s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 f = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += 128) {
        s[threadIdx.x] = p[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 128; j++) f = pull(me, s[j], f);
        __syncthreads();
    }
    out[i] = make_float4(f.x, f.y, f.z, 0);
}

/* Each warp adds to one word, `stride` words behind that of the warp before. */
__global__ void add(float *p, int stride) {
    atomicAdd(&p[(size_t)((blockIdx.x * blockDim.x + threadIdx.x) / 32) * stride], 1.0f);
}

/* `if (in[i] < 0 || in[i + 32] == 0) s++`, as compilers write it, and the same without a branch: ptxas predicates it
 * and makes one turn of several of both. */
#define LOOP(name, body)                                                                                               \
    __global__ void name(const float4 *in, float4 *out, int n) {                                                       \
        int s = 0;                                                                                                     \
        asm volatile("{\n.reg .b32 i, v, w;\n.reg .b64 p;\n.reg .pred a, b, q;\nmov.b64 p, %1;\nmov.b32 i, 0;\n"       \
                     "AGAIN:\nld.global.cg.u32 v, [p];\nsetp.lt.s32 a, v, 0;\n" body                                   \
                     "add.s64 p, p, 4096;\nadd.s32 i, i, 128;\nsetp.lt.s32 q, i, %2;\n@q bra AGAIN;\n}\n"              \
                     : "+r"(s)                                                                                         \
                     : "l"(in + threadIdx.x), "r"(n));                                                                 \
        out->x = s;                                                                                                    \
    }
LOOP(either, "@a bra YES;\nld.global.cg.u32 w, [p + 128];\nsetp.ne.s32 b, w, 0;\n@b bra NO;\n"
             "YES:\nadd.s32 %0, %0, 1;\nNO:\n")
LOOP(no_branch, "ld.global.cg.u32 w, [p + 128];\nsetp.eq.or.s32 b, w, 0, a;\n@b add.s32 %0, %0, 1;\n")

int main(int argc, char **) {
    const int n = argc > 1 ? 128 : BODIES; /* "brief", under the sanitizers */
    float4 *p, *out;
    float *words;
    cudaMalloc(&flush, 256 << 20);
    cudaMalloc(&p, BODIES * sizeof *p);
    cudaMalloc(&out, BODIES * sizeof *out);
    cudaMalloc(&words, LANES / 32 * 128 * sizeof *words);
    cudaMemset(p, 0, BODIES * sizeof *p);
    cudaMemset(words, 0, LANES / 32 * 128 * sizeof *words);
    chains<float>("of_1", 1), chains<float>("of_0", 0);
    chains<double>("of_1_double", 1), chains<double>("of_0_double", 0);
    time_of("bodies_1_block", [=] { bodies<<<1, 128>>>(p, out, n); });
    time_of("bodies_32_blocks", [=] { bodies<<<32, 128>>>(p, out, n); });
    time_of("bodies_shared", [=] { bodies_shared<<<32, 128>>>(p, out, n); });
    time_of("neighbours", [=] { add<<<LANES / 256, 256>>>(words, 1); });
    time_of("apart", [=] { add<<<LANES / 256, 256>>>(words, 128); });
    time_of("either", [=] { either<<<1, 32>>>((float4 *)words, out, 128 * 256); });
    time_of("no_branch", [=] { no_branch<<<1, 32>>>((float4 *)words, out, 128 * 256); });
}
