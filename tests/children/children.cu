// Kernels that launch kernels. Each kernel `t_...` writes what it and its children found to out[0] to out[7]; the host
// prints these numbers. children.ptx is nvcc's PTX of this file; host.c launches the same kernels from there.
#include <stdio.h>

__global__ void add(int *to, int value) { atomicAdd(to, value); }
__global__ void read(int *to, const int *from) { *to = *from; }
__global__ void __launch_bounds__(64) small(int *to) { *to = 1; }
__global__ void twice(int *to, int count, const int *from, int place) {
    if (threadIdx.x < count) to[place + threadIdx.x] = 2 * from[threadIdx.x];
}
struct pair {
    char c;
    double d;
};
__global__ void parameters(int *to, char a, pair p, short b, float f) { *to = a + p.c + (int)p.d + b + (int)f; }
__global__ void shared(int *to) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[0] = s[31] + blockDim.x + 1000 * gridDim.y;
}

// A child finds what its parent wrote before the launch; children of one stream run in order.
extern "C" __global__ void t_order(int *out) {
    out[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x) return;
    twice<<<1, 4>>>(out, 4, out, 4);
    read<<<1, 1>>>(out, out + 7);
}

// cudaStreamTailLaunch: behind all other children, in order, wherever it stands in the kernel.
extern "C" __global__ void t_tail(int *out) {
    read<<<1, 1, 0, cudaStreamTailLaunch>>>(out + 1, out);
    read<<<1, 1, 0, cudaStreamTailLaunch>>>(out + 2, out + 1);
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    add<<<1, 32>>>(out, 1);
    add<<<1, 32, 0, s>>>(out, 10);
    add<<<1, 32, 0, cudaStreamFireAndForget>>>(out, 100);
    out[3] = cudaStreamDestroy(s);
    out[4] = cudaGetLastError();
}

extern "C" __global__ void t_parameters(int *out) {
    parameters<<<1, 1>>>(out, 1, pair{2, 30.5}, 400, 5000.f);
    shared<<<dim3(1, 3), 32, 128>>>(out + 1);
}

// A launch that is wrong runs nothing, and leaves an error to its own thread.
extern "C" __global__ void t_errors(int *out) {
    if (threadIdx.x == 1) out[6] = cudaGetLastError();
    if (threadIdx.x) return;
    add<<<1, 1025>>>(out, 1);
    out[1] = cudaPeekAtLastError();
    out[2] = cudaGetLastError();
    out[3] = cudaGetLastError();
    add<<<0, 32>>>(out, 1);
    out[4] = cudaGetLastError();
    small<<<1, 65>>>(out);
    out[5] = cudaGetLastError() != 0;
    add<<<1, 1, 0, (cudaStream_t)0x54321>>>(out, 1);
    out[7] = cudaGetLastError();
}

__global__ void deeper(int *out, int level) {
    out[0] = level;
    if (level < 40) deeper<<<1, 1>>>(out, level + 1);
    int e = cudaGetLastError();
    if (e) out[1] = e;
}
extern "C" __global__ void t_depth(int *out) { deeper<<<1, 1>>>(out, 1); }

// Memory and queries of the device runtime.
extern "C" __global__ void t_memory(int *out) {
    int *p;
    out[0] = cudaMalloc((void **)&p, 16);
    cudaMemsetAsync(p, 1, 16, 0);
    cudaMemcpyAsync(out + 1, p, 4, cudaMemcpyDeviceToDevice, 0);
    out[2] = cudaMemcpyAsync(out, p, 4, cudaMemcpyHostToDevice, 0);
    int n, sms;
    out[3] = cudaGetDevice(&n);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    out[4] = sms;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)add, 1024, 0);
    out[5] = n;
    size_t waiting;
    cudaDeviceGetLimit(&waiting, cudaLimitDevRuntimePendingLaunchCount);
    out[6] = (int)waiting;
    out[7] = cudaGetErrorName(cudaErrorInvalidValue)[9];
}

// More children that wait for the grid's end than the limit allows.
extern "C" __global__ void t_waiting(int *out) {
    for (int k = 0; k < 3000 && !out[1]; k++) {
        add<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 1);
        out[1] = cudaGetLastError();
    }
}

__global__ void slowly(int *to, int value) {
    for (int k = 0; k < 1000; k++) atomicAdd(to + 7, 1);
    *to = value;
}
// An event: a child in one stream waits for one in another.
extern "C" __global__ void t_event(int *out) {
    cudaStream_t s;
    cudaEvent_t e;
    out[4] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    out[5] = cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    slowly<<<1, 1, 0, s>>>(out, 9);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(0, e, 0);
    read<<<1, 1>>>(out + 2, out);
    out[6] = cudaEventDestroy(e);
}

// A sort that launches itself on both parts.
__global__ void sort(int *v, int n) {
    int last = n - 1, at = 0;
    for (int k = 0; k < last; k++)
        if (v[k] < v[last]) {
            int w = v[k];
            v[k] = v[at], v[at++] = w;
        }
    int w = v[at];
    v[at] = v[last], v[last] = w;
    if (at > 1) sort<<<1, 1>>>(v, at);
    if (n - at - 1 > 1) sort<<<1, 1>>>(v + at + 1, n - at - 1);
}
extern "C" __global__ void t_sort(int *out) {
    for (int k = 0; k < 8; k++) out[k] = k * 5 % 8;
    sort<<<1, 1>>>(out, 8);
}

// Every thread of several blocks launches.
extern "C" __global__ void t_many(int *out) { add<<<1, 2>>>(out + blockIdx.x, threadIdx.x); }

__global__ void link_of_chain(int *out) {
    if (++*out < 33) link_of_chain<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
}
extern "C" __global__ void t_chain(int *out) {
    if (++*out < 33) link_of_chain<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
}

__global__ void faulty(int *p) { *p = 1; }
extern "C" __global__ void t_fault(int *out) { faulty<<<1, 1>>>((int *)16); }

__global__ void again(int *out) { again<<<1, 1, 0, cudaStreamTailLaunch>>>(out); }
extern "C" __global__ void t_endless(int *out) { again<<<1, 1>>>(out); }

#ifndef __CUDACC_RDC__
#error compile it with -rdc=true
#endif
int main() {
    int *out, h[8];
    cudaMalloc(&out, sizeof h);
#define RUN(kernel, grid, block)                                                                                       \
    cudaMemset(out, 0, sizeof h);                                                                                      \
    kernel<<<grid, block>>>(out);                                                                                      \
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);                                                              \
    printf("%s: %d %d %d %d %d %d %d %d\n", #kernel, h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]);
    RUN(t_order, 1, 4)
    RUN(t_tail, 1, 1)
    RUN(t_parameters, 1, 1)
    RUN(t_errors, 1, 2)
    RUN(t_depth, 1, 1)
    RUN(t_memory, 1, 1)
    RUN(t_waiting, 1, 1)
    RUN(t_event, 1, 1)
    RUN(t_sort, 1, 1)
    RUN(t_many, 8, 8)
    RUN(t_chain, 1, 1)
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
