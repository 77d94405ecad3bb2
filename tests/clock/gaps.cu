/* gaps.cu — a stretch of each kind: why the SMs are idle, for tests/clock.bats to read from the report. */
#include "simgpu.h"

__global__ void slow(volatile int *p, int steps) {
    int i = 0;
    for (int k = 0; k < steps; k++) i = p[i];
    p[1] = i;
}

enum { MIB = 1 << 20, STEPS = 681 };
static int *device, *pinned, *pageable;
static cudaStream_t s, t;

/* A mark, with the device idle and a kernel at both ends of what follows. */
static void stretch(const char *name) {
    cudaDeviceSynchronize();
    simgpuMark(name);
}

static void on_host(void *) { simgpuHostWork(50000); }

int main() {
    cudaMalloc(&device, MIB), cudaMallocHost(&pinned, MIB), pageable = (int *)malloc(MIB);
    cudaStreamCreate(&s), cudaStreamCreate(&t);
    cudaMemset(device, 0, MIB);

    stretch("back to back");
    for (int i = 0; i < 3; i++) slow<<<1, 1>>>(device, STEPS);

    stretch("blocked in memcpy");
    slow<<<1, 1>>>(device, STEPS);
    cudaMemcpy(pinned, device, MIB, cudaMemcpyDeviceToHost);
    slow<<<1, 1>>>(device, STEPS);

    stretch("host works");
    slow<<<1, 1>>>(device, STEPS);
    simgpuHostTask("load batch", 400000);
    slow<<<1, 1>>>(device, STEPS);

    stretch("waiting for copy");
    slow<<<1, 1>>>(device, STEPS);
    cudaMemcpyAsync(device, pinned, MIB, cudaMemcpyHostToDevice);
    slow<<<1, 1>>>(device, STEPS);

    stretch("host function");
    slow<<<1, 1>>>(device, STEPS);
    cudaLaunchHostFunc(0, on_host, NULL);
    slow<<<1, 1>>>(device, STEPS);

    stretch("overlap");
    for (int i = 0; i < 3; i++) {
        slow<<<1, 1, 0, s>>>(device, STEPS);
        cudaMemcpyAsync(device + MIB / 8, pinned, MIB / 2, cudaMemcpyHostToDevice, t);
    }

    stretch("many small");
    for (int i = 0; i < 4; i++) slow<<<1, 1>>>(device, 1);

    stretch("memory");
    void *a, *b, *c;
    cudaMalloc(&a, MIB), cudaMalloc(&b, MIB), cudaFree(a), cudaMalloc(&a, MIB), cudaFree(a), cudaFree(b);
    cudaMallocHost(&c, MIB), cudaFreeHost(c);
    cudaMemcpy(device, pageable, MIB, cudaMemcpyHostToDevice);
    stretch("end");
    free(pageable);
    return cudaGetLastError();
}
