// Launches the kernels of a file of PTX as the host program of children.cu does: host FILE. With more words it launches
// the kernels of these names only, and prints the time and the error of each: host FILE t_chain.
#include <cuda.h>
#include <stdio.h>

static CUmodule module;
static CUdeviceptr out;

// Returns the first error; *us: the time between two events around the kernel.
static int run(const char *name, unsigned grid, unsigned block, int *h, float *us) {
    void *arguments[] = {&out};
    CUfunction f;
    CUevent before, behind;
    int e = cuModuleGetFunction(&f, module, name);
    cuMemsetD8(out, 0, 8 * sizeof *h);
    cuEventCreate(&before, 0), cuEventCreate(&behind, 0);
    cuEventRecord(before, 0);
    if (!e) e = cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, 0, arguments, 0);
    cuEventRecord(behind, 0);
    if (!e) e = cuMemcpyDtoH(h, out, 8 * sizeof *h);
    if (!e) e = cuEventElapsedTime(us, before, behind);
    *us *= 1000;
    return e;
}

static void show(const char *name, unsigned grid, unsigned block) {
    int h[8] = {0};
    float us = 0;
    int e = run(name, grid, block, h, &us);
    if (e) printf("error %d in ", e);
    printf("%s: %d %d %d %d %d %d %d %d\n", name, h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]);
}

int main(int n, char **v) {
    CUcontext c;
    CUdevice d;
    if (n < 2 || cuInit(0) || cuDeviceGet(&d, 0) || cuDevicePrimaryCtxRetain(&c, d) || cuCtxSetCurrent(c)) return 1;
    if (cuModuleLoad(&module, v[1]) || cuMemAlloc(&out, 32)) return 1;
    for (int k = 2, h[8]; k < n; k++) {
        float us = 0;
        int e = run(v[k], 1, 1, h, &us);
        printf("%s: error %d, %.0f us\n", v[k], e, us);
    }
    if (n > 2) return 0;
    show("t_order", 1, 4);
    show("t_tail", 1, 1);
    show("t_parameters", 1, 1);
    show("t_errors", 1, 2);
    show("t_depth", 1, 1);
    show("t_memory", 1, 1);
    show("t_waiting", 1, 1);
    show("t_event", 1, 1);
    show("t_sort", 1, 1);
    show("t_many", 8, 8);
    show("t_chain", 1, 1);
    printf("%s\n", cuCtxSynchronize() ? "error" : "cudaSuccess");
}
