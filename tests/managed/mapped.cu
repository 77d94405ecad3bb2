// Page-locked memory that kernels use, and __managed__ variables. Prints lines `name value`.
#include <cuda_runtime.h>
#include <simgpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__managed__ int counter = 7;
__managed__ float table[100];
static __managed__ int step = 3;
struct pair {
    int value;
    pair *self;
};
__device__ __managed__ pair both;

__global__ void use_variables(int *p) {
    counter += step;
    table[3] = 2.5f;
    both.value = counter;
    both.self = &both;
    *p += 100;
}
__global__ void scale(const float *in, float *out, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * by;
}
__global__ void count(int *host, int *device) {
    atomicAdd(host, 1);
    int *where = threadIdx.x & 1 ? host + 1 : device; // the lanes of a warp use both kinds of memory
    where[threadIdx.x & 2] = *where + 1;
    __syncthreads();
    if (threadIdx.x == 0) host[8] = device[0] + host[1];
}
__global__ void write(float *p, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = 1;
}
__global__ void read(const float *p, size_t n, float *out) {
    float s = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        s += p[i];
    if (s == 12345.678f) *out = s;
}
__global__ void chase(const unsigned *p, int n, unsigned *out) {
    unsigned x = 0;
    for (int i = 0; i < n; i++) x = p[x];
    *out = x;
}

static void say(const char *name, long value) { printf("%s %ld\n", name, value); }
static void says(const char *name, cudaError_t e) { printf("%s %s\n", name, cudaGetErrorName(e)), cudaGetLastError(); }

static void variables() {
    say("first", counter * 1000 + step);
    use_variables<<<1, 1>>>(&step);
    cudaDeviceSynchronize();
    say("counter", counter);
    say("step", step);
    say("table", table[3] == 2.5f);
    say("pair", both.value == 10 && both.self == &both);
    int *p = &counter, copy = 0;
    *p = 50;
    use_variables<<<1, 1>>>(p);
    cudaMemcpyFromSymbol(&copy, counter, sizeof copy);
    say("from_symbol", copy);
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, &counter);
    printf("variable %d %d\n", a.type, a.devicePointer == &counter);
    says("prefetch_variable", cudaMemPrefetchAsync(table, sizeof table, 0));
}

static void mapped() {
    enum { N = 1000 };
    float *in, *out, *device_in, *device_out, *plain = (float *)malloc(N * sizeof *plain);
    cudaSetDeviceFlags(cudaDeviceMapHost);
    cudaHostAlloc(&in, N * sizeof *in, cudaHostAllocMapped | cudaHostAllocWriteCombined);
    cudaHostAlloc(&out, N * sizeof *out, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&device_in, in, 0);
    cudaHostGetDevicePointer(&device_out, out, 0);
    for (int i = 0; i < N; i++) in[i] = i, plain[i] = 2 * i;
    scale<<<4, 256>>>(device_in, device_out, N, 3);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += out[i] != 3 * i;
    cudaHostRegister(plain, N * sizeof *plain, cudaHostRegisterMapped);
    scale<<<4, 256>>>(plain, plain, N, 2);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) wrong += plain[i] != 4 * i;
    say("mapped_wrong", wrong);
    unsigned flags;
    cudaHostGetFlags(&flags, in);
    say("flags_wc", flags);
    cudaHostGetFlags(&flags, plain);
    say("flags_registered", flags);
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, out + 1);
    printf("pinned %d %d %d %d\n", a.type, a.device, a.devicePointer == out + 1, a.hostPointer == out + 1);
    void *p;
    says("pointer_of_stack", cudaHostGetDevicePointer(&p, &flags, 0));
    says("pointer_flags", cudaHostGetDevicePointer(&p, in, 1));
    says("unregister_pinned", cudaHostUnregister(in));
    says("memset_pinned", cudaMemset(out, 0, N * sizeof *out));
    say("filled", out[0] == 0 && out[N - 1] == 0);
    says("copy_pinned_as_device", cudaMemcpy(out, in, 4, cudaMemcpyDeviceToDevice));
    int *host, *device;
    cudaMallocHost(&host, 64);
    cudaMalloc(&device, 64);
    memset(host, 0, 64);
    cudaMemset(device, 0, 64);
    count<<<1, 32>>>(host, device);
    cudaDeviceSynchronize();
    printf("mixed %d %d %d %d\n", host[0], host[1], host[3], host[8]);
    says("unregister", cudaHostUnregister(plain));
    cudaFreeHost(in), cudaFreeHost(out), cudaFreeHost(host), cudaFree(device);
    free(plain);
}

template <class F> static void time_of(const char *name, F f) {
    cudaDeviceSynchronize();
    double began = simgpuHostTime() / 1e3;
    f();
    cudaDeviceSynchronize();
    printf("%s %.1f\n", name, simgpuHostTime() / 1e3 - began);
}

static void times() {
    const size_t bytes = 64 << 20;
    float *h, *out;
    cudaMallocHost(&h, bytes);
    cudaMalloc(&out, 4);
    time_of("read_us", [&] { read<<<1056, 256>>>(h, bytes / 4, out); });
    time_of("write_us", [&] { write<<<1056, 256>>>(h, bytes / 4); });
    unsigned *u = (unsigned *)h;
    for (unsigned i = 0; i < 1 << 20; i++) u[i] = (i + 12345) % (1 << 20);
    time_of("chase_us", [&] { chase<<<1, 1>>>(u, 1000, (unsigned *)out); });
    cudaFreeHost(h);
    scale<<<1, 32>>>(h, out, 1, 1); // no longer page-locked
    says("freed", cudaDeviceSynchronize());
}

int main() {
    variables();
    mapped();
    times();
    cudaDeviceReset();
    printf("after_reset %d %d\n", counter, step);
    use_variables<<<1, 1>>>(&step);
    cudaDeviceSynchronize();
    printf("after_reset_used %d\n", counter);
    return 0;
}
