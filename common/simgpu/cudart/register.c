/* register.c — what compiled code tells the runtime before main: its fat binaries, kernels and variables.
 *
 * clang and nvcc put calls of these functions into constructors. A fat binary is only remembered; its PTX is read when
 * something of it is first used, so that an error has a launch to belong to. */
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rt_module {
    const void *fat;
    char *text;        /* its PTX */
    ptx_module *ptx;   /* after loading */
    cudaError_t error; /* why it could not be loaded */
    bool tried;
};

typedef struct rt_var {
    const void *shadow; /* the host's variable of the same name */
    const char *name;
    rt_module *module;
    struct rt_var *next;
} rt_var;

static rt_kernel *kernels;
static rt_var *vars;

static void *need(void *memory) {
    if (!memory) sim_refuse("the host has no memory to register the program's kernels");
    return memory;
}

/* --- loading ------------------------------------------------------------------------------------------------ */

static cudaError_t load_text(rt_module *m, char *err, size_t err_size) {
    size_t length;
    m->text = ptx_extract(m->fat, &length, err, err_size);
    if (!m->text) return cudaErrorNoKernelImageForDevice;
    m->ptx = ptx_load(m->text, length, "the program's PTX", err, err_size);
    if (!m->ptx) return cudaErrorInvalidPtx;
    return exec_load(m->ptx, err, err_size) ? cudaErrorMemoryAllocation : cudaSuccess;
}

static cudaError_t load(rt_module *m) {
    if (!m->tried) {
        char err[1024] = "";
        m->tried = true;
        m->error = load_text(m, err, sizeof err);
        if (m->error != cudaSuccess) rt_say("%s", err);
    }
    return m->error;
}

rt_kernel *rt_kernel_find(const void *stub, cudaError_t *error) {
    rt_kernel *k = kernels;
    while (k && k->stub != stub) k = k->next;
    if (!k) {
        rt_say("this is not a __global__ function of the program");
        *error = cudaErrorInvalidDeviceFunction;
        return NULL;
    }
    *error = load(k->module);
    if (*error != cudaSuccess) return NULL;
    if (!k->function) k->function = ptx_find_kernel(k->module->ptx, k->name);
    if (!k->function) {
        rt_say("the program's PTX has no kernel %s; rebuild the program", k->name);
        *error = cudaErrorInvalidDeviceFunction;
        return NULL;
    }
    return k;
}

ptx_var *rt_symbol_find(const void *shadow, cudaError_t *error) {
    rt_var *v = vars;
    while (v && v->shadow != shadow) v = v->next;
    if (!v) {
        rt_say("the symbol is not a __device__ or __constant__ variable of the program");
        *error = cudaErrorInvalidSymbol;
        return NULL;
    }
    *error = load(v->module);
    if (*error != cudaSuccess) return NULL;
    ptx_var *found = ptx_find_var(v->module->ptx, v->name);
    if (!found) {
        rt_say("the program's PTX has no variable %s; does any kernel use it?", v->name);
        *error = cudaErrorInvalidSymbol;
    }
    return found;
}

/* --- what the compilers call -------------------------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *fat);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size);
void __cudaRegisterVar(void **handle, char *shadow, char *device_address, const char *name, int external, size_t size,
                       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *name, int external,
                              size_t size, int constant, int global);

void **__cudaRegisterFatBinary(void *fat) {
    rt_module *m = need(calloc(1, sizeof *m));
    m->fat = fat;
    return (void **)m;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; } /* its kernels stay until the process ends */
char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size) {
    (void)device_stub, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    rt_kernel *k = need(calloc(1, sizeof *k));
    k->stub = stub;
    k->name = name;
    k->module = (rt_module *)handle;
    k->next = kernels;
    kernels = k;
}

void __cudaRegisterVar(void **handle, char *shadow, char *device_address, const char *name, int external, size_t size,
                       int constant, int global) {
    (void)device_address, (void)external, (void)size, (void)constant, (void)global;
    rt_var *v = need(calloc(1, sizeof *v));
    v->shadow = shadow;
    v->name = name;
    v->module = (rt_module *)handle;
    v->next = vars;
    vars = v;
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *name, int external,
                              size_t size, int constant, int global) {
    (void)handle, (void)device_address, (void)external, (void)constant, (void)global;
    *pointer = need(calloc(1, size)); /* the host may use it; kernels that do are refused when the module is loaded */
    fprintf(stderr, "simgpu: __managed__ variable %s: managed memory is not supported; use cudaMalloc and cudaMemcpy\n",
            name);
}
