/* images.c — loads fat binaries, FILE ..., each from its file and from memory, and runs their kernel `scale`. Prints
 * "fine", or the name of an error and the JIT's error log, for each. */
#include "check.h"

#include <string.h>

static void run(CUmodule module) {
    CUfunction scale;
    CUdeviceptr p;
    float v[64], factor = 2;
    unsigned n = 64;
    for (int i = 0; i < 64; i++) v[i] = (float)i;
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuMemAlloc(&p, sizeof v));
    OK(cuMemcpyHtoD(p, v, sizeof v));
    void *params[] = {&p, &p, &factor, &n};
    OK(cuLaunchKernel(scale, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(v, p, sizeof v));
    for (int i = 0; i < 64; i++) EXPECT(v[i] == 2 * (float)i + 0.5f);
    OK(cuMemFree(p));
}

static void load(const char *path) {
    static char image[1 << 16], log[512];
    CUmodule module;
    FILE *f = fopen(path, "rb");
    EXPECT(f && fread(image, 1, sizeof image, f) > 16);
    fclose(f);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUresult e = cuModuleLoadDataEx(&module, image, 2, options, values);
    EXPECT(e == cuModuleLoad(&module, path));
    const char *name;
    OK(cuGetErrorName(e, &name));
    if (e == CUDA_SUCCESS) run(module);
    printf("%s %s\n", e == CUDA_SUCCESS ? "fine" : name, log);
    EXPECT((size_t)values[1] == strlen(log));
}

int main(int argc, char **argv) {
    CUcontext context;
    OK(cuInit(0));
    OK(cuCtxCreate(&context, 0, 0));
    for (int k = 1; k < argc; k++) load(argv[k]);
    return 0;
}
