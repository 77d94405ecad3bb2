/* Copies that are one access each on a card, whatever clang's version makes of the addresses. compilers.bats counts the
 * accesses in the PTX and runs this: it prints what was copied, and the report has the sectors. */
#include <stdio.h>

#define N 1024

/* A pointer that is moved on again and again: the parts of a float4 are hard to recognise as neighbours. */
__global__ void moved_on(const float4 *from, float4 *to, int a, int b, int c, int d, int e, int f, int g) {
    const float4 *p = from + threadIdx.x;
    float4 sum = p[0], x;
    p += a, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    p += b, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    p += c, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    p += d, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    p += e, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    p += f, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    p += g, x = *p, sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    to[threadIdx.x] = sum;
}

/* Through floats, as a tile is read: the stores go to rows of floats. */
__global__ void stepped(const float *from, float *to, int step) {
    const float4 *p = (const float4 *)(from + 4 * threadIdx.x);
    float4 a = p[0], b = p[step], c = p[2 * step], d = p[3 * step];
    float4 *q = (float4 *)(to + 4 * threadIdx.x);
    q[0] = make_float4(a.x, b.x, c.x, d.x);
    q[step] = make_float4(a.y, b.y, c.y, d.y);
    q[2 * step] = make_float4(a.z, b.z, c.z, d.z);
    q[3 * step] = make_float4(a.w, b.w, c.w, d.w);
}

template <class T> __global__ void plain(const T *from, T *to) { to[threadIdx.x] = from[threadIdx.x]; }
template <class T> __global__ void by_way_of_shared(const T *from, T *to) {
    __shared__ T s[32];
    s[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    T v = s[31 - threadIdx.x];
    to[threadIdx.x] = v;
}

/* A struct of somebody's own, aligned for one access; one of 32 bytes takes two; one of pointers stays what it was. */
struct alignas(8) complex_number {
    float re, im;
};
struct alignas(16) pair {
    float4 a, b;
};
struct pointers {
    const float *from;
    float *to;
};
__global__ void through(const pointers *p) {
    pointers q = p[blockIdx.x];
    q.to[threadIdx.x] = q.from[threadIdx.x];
}

static void check(const char *what) {
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s: %s\n", what, cudaGetErrorString(error));
}

int main() {
    float host[8 * N];
    for (int i = 0; i < 8 * N; i++) host[i] = (float)i;
    float *from, *to;
    pointers *p;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&to, sizeof host);
    cudaMalloc(&p, sizeof *p);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    pointers both = {from, to};
    cudaMemcpy(p, &both, sizeof both, cudaMemcpyHostToDevice);
    moved_on<<<1, 32>>>((float4 *)from, (float4 *)to, 32, 64, 32, 96, 32, 64, 32), check("moved_on");
    stepped<<<1, 32>>>(from, to, 32), check("stepped");
    plain<<<1, 32>>>((char4 *)from, (char4 *)to), check("char4");
    plain<<<1, 32>>>((short4 *)from, (short4 *)to), check("short4");
    plain<<<1, 32>>>((double2 *)from, (double2 *)to), check("double2");
    plain<<<1, 32>>>((complex_number *)from, (complex_number *)to), check("complex_number");
    plain<<<1, 32>>>((pair *)from, (pair *)to), check("pair");
    by_way_of_shared<<<1, 32>>>((float4 *)from, (float4 *)to), check("float4");
    by_way_of_shared<<<1, 32>>>((int2 *)from, (int2 *)to), check("int2");
    through<<<1, 32>>>(p), check("through");
    cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < 8 * N; i++) sum += i % 31 * (host[i] == host[i] && host[i] > -1e30f ? host[i] : 0.0);
    printf("%.0f\n", sum);
    return 0;
}
