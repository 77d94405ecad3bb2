// What moves of managed memory cost: the program of which an H200's times are known. Prints microseconds, as `name us`.
#include <cuda_runtime.h>
#include <simgpu.h>
#include <stdio.h>

__global__ void touch_read(const float *p, size_t n, float *out) {
    float s = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        s += p[i];
    if (s == 12345.678f) *out = s;
}
__global__ void touch_write(float *p, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = 1;
}
__global__ void touch_stride(char *p, size_t n, size_t step) {
    for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * step; i < n;
         i += (size_t)gridDim.x * blockDim.x * step)
        p[i]++;
}

static double began;
static double now() { return simgpuHostTime() / 1e3; }
static void begin() {
    cudaDeviceSynchronize();
    began = now();
}
static void end(const char *name) {
    cudaDeviceSynchronize();
    printf("%s %.1f\n", name, now() - began);
}
static void host_touches(char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 4096) ((volatile char *)p)[i]++;
}

int main() {
    const size_t bytes = 32 << 20;
    char *p;
    float *out;
    cudaMalloc(&out, 4);
    cudaMallocManaged(&p, bytes);
    float *f = (float *)p;
    simgpuMark("fresh");
    begin(), touch_write<<<1056, 256>>>(f, bytes / 4), end("device_first");
    begin(), touch_write<<<1056, 256>>>(f, bytes / 4), end("device_again");
    begin(), host_touches(p, bytes), end("host");
    begin(), host_touches(p, bytes), end("host_again");
    simgpuMark("faults");
    begin(), touch_read<<<1056, 256>>>(f, bytes / 4, out), end("device_read");
    host_touches(p, bytes);
    begin(), touch_stride<<<1, 1>>>(p, 1, 4096), end("device_byte");
    host_touches(p, bytes);
    begin(), touch_stride<<<64, 32>>>(p, bytes, 2 << 20), end("device_byte_each");
    host_touches(p, bytes);
    simgpuMark("prefetch");
    begin(), cudaMemPrefetchAsync(p, bytes, 0), end("prefetch_to_device");
    begin(), touch_read<<<1056, 256>>>(f, bytes / 4, out), end("device_prefetched");
    begin(), cudaMemPrefetchAsync(p, bytes, cudaCpuDeviceId), end("prefetch_to_host");
    begin(), host_touches(p, bytes), end("host_prefetched");
    simgpuMark("advice");
    cudaMemAdvise(p, bytes, cudaMemAdviseSetReadMostly, 0);
    begin(), touch_read<<<1056, 256>>>(f, bytes / 4, out), end("read_mostly");
    begin(), touch_read<<<1056, 256>>>(f, bytes / 4, out), end("read_mostly_again");
    float sum = 0;
    begin();
    for (size_t i = 0; i < bytes / 4; i += 1024) sum += f[i];
    end("read_mostly_host");
    cudaMemAdvise(p, bytes, cudaMemAdviseUnsetReadMostly, 0);
    touch_write<<<1056, 256>>>(f, bytes / 4);
    cudaDeviceSynchronize();
    host_touches(p, bytes);
    cudaDeviceSynchronize();
    cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    cudaMemAdvise(p, bytes, cudaMemAdviseSetAccessedBy, 0);
    begin(), touch_read<<<1056, 256>>>(f, bytes / 4, out), end("over_the_link");
    cudaMemAdvise(p, bytes, cudaMemAdviseUnsetPreferredLocation, 0);
    cudaMemAdvise(p, bytes, cudaMemAdviseUnsetAccessedBy, 0);
    simgpuMark("copies");
    begin(), cudaMemset(p, 0, bytes), end("memset");
    begin(), cudaMemset(p, 0, bytes), end("memset_again");
    return sum < 0;
}
