/* ptxrun on a real GPU: exec.h's functions that ptxrun calls, over the CUDA driver, so that the expected values of
 * tests/ptx/isa meet hardware. Counters and faults are SimGPU's own and not for this program; nor is sim-only.ptx.
 * tests/simgpu.bats builds and runs it where there is a GPU. */
#include "exec.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*exec_print)(const char *text, size_t length);
const exec_counter_name exec_counter_names[NCOUNTERS] = {
#define COUNTER(field, ncu, what) {#field, ncu, what},
#include "../include/simgpu_counters.def"
#undef COUNTER
};

/* The driver's module beside ours. --wrap=ptx_load keeps the text for it. */
typedef struct {
    const ptx_module *ours;
    char *text;
    CUmodule driver;
} pair;
static pair pairs[4096];
static unsigned npairs;

static void check(CUresult r, const char *what) {
    const char *name = "?";
    if (r == CUDA_SUCCESS) return;
    cuGetErrorName(r, &name);
    printf("Bail out! %s: %s\n", what, name);
    exit(1);
}

typedef const ptx_module *loader(const char *text, size_t length, const char *source_name, const ptx_costs *costs,
                                 char *err, size_t err_size);
loader __real_ptx_load, __wrap_ptx_load;
const ptx_module *__wrap_ptx_load(const char *text, size_t length, const char *source_name, const ptx_costs *costs,
                                  char *err, size_t err_size) {
    const ptx_module *m = __real_ptx_load(text, length, source_name, costs, err, err_size);
    if (m && npairs < sizeof pairs / sizeof *pairs) pairs[npairs++] = (pair){m, strndup(text, length), NULL};
    return m;
}

static pair *pair_of(const ptx_module *m) {
    for (unsigned k = npairs; k-- > 0;)
        if (pairs[k].ours == m) return &pairs[k];
    fputs("on-gpu: more modules than it has room for\n", stderr);
    exit(1);
}

struct exec_program {
    const ptx_module *module;
};
const ptx_module *exec_module_of(const exec_program *p) { return p->module; }

exec_program *exec_load(exec_device *d, const ptx_module *m, const exec_given *given, uint32_t ngiven, char *err,
                        size_t err_size) {
    (void)d, (void)given, (void)ngiven;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {err, (void *)(uintptr_t)err_size};
    pair *p = pair_of(m);
    exec_program *program = malloc(sizeof *program);
    if (!program) return NULL;
    program->module = m;
    if (cuModuleLoadDataEx(&p->driver, p->text, 2, options, values) == CUDA_SUCCESS) return program;
    free(program);
    if (!*err) snprintf(err, err_size, "the driver does not take it");
    for (char *c = err; *c; c++)
        if (*c == '\n') *c = ' ';
    return NULL;
}

void exec_configure(unsigned threads, uint64_t budget) { (void)threads, (void)budget; }

void exec_run(const exec_launch *n, exec_result *result) {
    CUfunction f;
    size_t bytes = n->kernel->param_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)n->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    memset(result, 0, sizeof *result);
    check(cuModuleGetFunction(&f, pair_of(n->kernel->module)->driver, n->kernel->name), n->kernel->name);
    check(cuLaunchKernel(f, n->grid.x, n->grid.y, n->grid.z, n->block.x, n->block.y, n->block.z, n->dynamic_shared,
                         NULL, NULL, extra),
          n->kernel->name);
    check(cuCtxSynchronize(), n->kernel->name);
}

/* Of SimGPU's card nothing matters here. */
const exec_card *time_card(void);
const exec_card *time_card(void) {
    static const exec_card none;
    return &none;
}
const ptx_costs *time_costs(void);
const ptx_costs *time_costs(void) {
    static const ptx_costs none = {.round_clocks = 300};
    return &none;
}

exec_device *exec_device_new(const exec_card *card) {
    CUdevice device;
    CUcontext context;
    char name[100];
    (void)card;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    printf("# on %s\n", name);
    return NULL;
}

/* Managed memory: one address for host and device. */
uint64_t exec_mem_alloc(exec_device *d, uint64_t bytes) {
    (void)d;
    CUdeviceptr p;
    check(cuMemAllocManaged(&p, bytes, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged");
    return p;
}
/* Textures are not run here: tests/texture/silicon.cu compares them with an H200. */
uint64_t exec_texture_new(exec_device *d, const exec_texture *t) { return (void)d, (void)t, 0; }
void exec_texture_end(exec_device *d, uint64_t handle) { (void)d, (void)handle; }
uint64_t exec_textures_ended(const exec_device *d) { return (void)d, 0; }
int exec_mem_free(exec_device *d, uint64_t addr) { return (void)d, cuMemFree(addr) == CUDA_SUCCESS ? 0 : -1; }
uint8_t *exec_mem_host(const exec_device *d, uint64_t addr) { return (void)d, (uint8_t *)(uintptr_t)addr; }
