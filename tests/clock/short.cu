// short.cu — short kernels, memsets and copies behind a device that is held, from event to event: `name microseconds`.
#include <cuda_runtime.h>
#include <simgpu.h>
#include <stdio.h>

__global__ void empty() {}
__global__ void store(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void load(const float *p, float *q) {
    if (p[blockIdx.x * blockDim.x + threadIdx.x] == 12345) *q = 1;
}
__global__ void copy(const float *p, float *q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[i] = p[i];
}
__global__ void copy4(const float4 *p, float4 *q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[i] = p[i];
}
__global__ void straight(float *p, float x) {
    float v = x;
#pragma unroll
    for (int i = 0; i < 512; i++) v = v * x + (float)(i * 3 + 1);
    if (v == 12345) *p = v;
}

enum { MIB = 1 << 20 };
static float *a, *b;
static cudaEvent_t begin, end;
static cudaStream_t other;

// Warm: it has run once before.
#define TIME(name, ...)                                                                                                \
    do {                                                                                                               \
        float ms;                                                                                                      \
        __VA_ARGS__;                                                                                                   \
        cudaDeviceSynchronize();                                                                                       \
        simgpuHoldDevice(300000);                                                                                      \
        cudaEventRecord(begin, 0);                                                                                     \
        __VA_ARGS__;                                                                                                   \
        cudaEventRecord(end, 0);                                                                                       \
        cudaEventSynchronize(end);                                                                                     \
        cudaEventElapsedTime(&ms, begin, end);                                                                         \
        printf("%s %.2f\n", name, ms * 1e3);                                                                           \
    } while (0)

#define IN_A_ROW(...)                                                                                                  \
    for (int i = 0; i < 50; i++) __VA_ARGS__

int main() {
    cudaMalloc(&a, 64 * MIB), cudaMalloc(&b, 64 * MIB);
    cudaMemset(a, 0, 64 * MIB), cudaMemset(b, 0, 64 * MIB);
    cudaEventCreate(&begin), cudaEventCreate(&end), cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    TIME("nothing", (void)0);
    TIME("empty_1", empty<<<1, 256>>>());
    TIME("empty_1056", empty<<<1056, 256>>>());
    TIME("empty_4096", empty<<<4096, 256>>>());
    TIME("fifty_empty_1", IN_A_ROW(empty<<<1, 32>>>()));
    TIME("fifty_empty_1056", IN_A_ROW(empty<<<1056, 256>>>()));
    TIME("store_1056", store<<<1056, 256>>>(a));
    TIME("load_1056", load<<<1056, 256>>>(a, b));
    TIME("copy_1", copy<<<1, 256>>>(a, b));
    TIME("copy_1056", copy<<<1056, 256>>>(a, b));
    TIME("copy4_1056", copy4<<<1056, 256>>>((float4 *)a, (float4 *)b));
    TIME("copy4_4096", copy4<<<4096, 256>>>((float4 *)a, (float4 *)b));
    TIME("straight_1", straight<<<1, 32>>>(a, 1.5f));
    TIME("straight_1056", straight<<<1056, 32>>>(a, 1.5f));
    TIME("memset_64", cudaMemsetAsync(a, 0, 64, 0));
    TIME("fifty_memset_4096", IN_A_ROW(cudaMemsetAsync(a, 0, 4096, 0)));
    TIME("memset_65536", cudaMemsetAsync(a, 0, 65536, 0));
    TIME("memset_33554432", cudaMemsetAsync(a, 0, 32 * MIB, 0));
    TIME("memset_and_kernel", (cudaMemsetAsync(a, 0, 64, 0), empty<<<1, 32>>>()));
    TIME("d2d_65536", cudaMemcpyAsync(b, a, 65536, cudaMemcpyDeviceToDevice, 0));
    TIME("d2d_8388608", cudaMemcpyAsync(b, a, 8 * MIB, cudaMemcpyDeviceToDevice, 0));
    TIME("d2d_16777216", cudaMemcpyAsync(b, a, 16 * MIB, cudaMemcpyDeviceToDevice, 0));
    TIME("d2d_67108864", cudaMemcpyAsync(b, a, 64 * MIB, cudaMemcpyDeviceToDevice, 0));

    /* In another stream, too; and while the host does not wait. */
    float ms;
    cudaDeviceSynchronize();
    cudaEventRecord(begin, 0);
    cudaEventSynchronize(begin);
    simgpuHoldDevice(100000);
    cudaEventRecord(end, other);
    while (cudaEventQuery(end) == cudaErrorNotReady) {}
    cudaEventElapsedTime(&ms, begin, end);
    printf("held_in_another_stream %.1f\n", ms * 1e3);
    simgpuHoldDevice(100000);
    cudaEventRecord(end, other);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("let_go %.1f\n", ms * 1e3);
    simgpuHoldDevice(100000);
    cudaDeviceSynchronize(); /* with nothing to wait for */
    cudaEventRecord(end, other);
    while (cudaEventQuery(end) == cudaErrorNotReady) {}
    cudaEventElapsedTime(&ms, begin, end);
    printf("let_go_of_nothing %.1f\n", ms * 1e3);
    return 0;
}
