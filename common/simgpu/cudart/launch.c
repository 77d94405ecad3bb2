/* launch.c — from kernel<<<grid, block, shared, stream>>>(arguments) to a command.
 *
 * The compiler turns a launch into a push of the configuration and a call of the kernel's host stub, which pops it and
 * calls cudaLaunchKernel (clang, nvcc up to 12) or __cudaLaunchKernel (nvcc 13). The arguments are an array of
 * pointers; the PTX gives their sizes.
 *
 * This file checks the limits of a launch before it runs, and its message names the limit. */
#include "rt.h"

#include "../check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_THREADS = 1024,
    BLOCK_X = 1024,
    BLOCK_Y = 1024,
    BLOCK_Z = 64,
    GRID_X = 0x7fffffff,
    GRID_Y = 65535,
    GRID_Z = 65535,
};

/* --- the configuration stack: a launch's arguments may launch too ------------------------------------------------- */

enum { PUSHED_MAX = 16 };
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    const char *file;
    int line;
} pushed[PUSHED_MAX];
static _Thread_local unsigned depth;
static _Thread_local bool of_stub; /* the next launch is one of <<<...>>>, which returns no error to anybody */

unsigned simgpuPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const char *file,
                                     int line);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

/* Returns 0 if the caller should call the kernel's stub, 1 if the stack is full. */
unsigned simgpuPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const char *file,
                                     int line) {
    if (depth == PUSHED_MAX) return 1;
    pushed[depth].grid = grid;
    pushed[depth].block = block;
    pushed[depth].shared = shared;
    pushed[depth].stream = stream;
    pushed[depth].file = file;
    pushed[depth].line = line;
    depth++;
    return 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    return simgpuPushCallConfiguration(grid, block, shared, stream, NULL, 0);
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (depth == 0) return cudaErrorMissingConfiguration;
    depth--;
    *grid = pushed[depth].grid;
    *block = pushed[depth].block;
    *shared = pushed[depth].shared;
    *(cudaStream_t *)stream = pushed[depth].stream;
    of_stub = true;
    rt_at(pushed[depth].file, pushed[depth].line);
    return cudaSuccess;
}

/* --- limits ----------------------------------------------------------------------------------------------------- */

static uint64_t shared_limit(const ptx_function *f, uint64_t most_shared) {
    const time_profile *p = time_profile_get();
    uint64_t usual = (uint64_t)p->shared_per_block, asked = f->static_shared + most_shared;
    return asked > usual ? asked : usual;
}

/* Returns the bytes of shared memory of a block, or UINT64_MAX if the sum overflows. */
static uint64_t shared_of(const ptx_function *f, size_t dynamic) {
    uint64_t all;
    return __builtin_add_overflow((uint64_t)f->static_shared, (uint64_t)dynamic, &all) ? UINT64_MAX : all;
}

/* Returns the resident blocks of an SM. The registers are an estimate, at times nearly twice ptxas' count: 82 of 47 for
 * CUB's sort of doubles. So a block fits, alone, if it does with half of them. */
static uint32_t resident_blocks(const ptx_function *f, uint64_t threads, uint64_t all_shared) {
    const time_profile *p = time_profile_get();
    uint32_t blocks = time_occupancy(p, (uint32_t)threads, f->registers, all_shared);
    return blocks || !time_occupancy(p, (uint32_t)threads, f->registers / 2, all_shared) ? blocks : 1;
}

static cudaError_t check_limits(const ptx_function *f, uint64_t most_shared, exec_dim grid, exec_dim block,
                                size_t shared) {
    const time_profile *p = time_profile_get();
    uint64_t threads = (uint64_t)block.x * block.y * block.z, all_shared = shared_of(f, shared);
    if (threads == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
        rt_because(SIMGPU_REFUSED_ZERO);
        rt_say("%s<<<(%u,%u,%u), (%u,%u,%u)>>>: no dimension may be 0", base_kernel_name(f->name).text, grid.x, grid.y,
               grid.z, block.x, block.y, block.z);
        return cudaErrorInvalidConfiguration;
    }
    if (threads > BLOCK_THREADS || block.x > BLOCK_X || block.y > BLOCK_Y || block.z > BLOCK_Z) {
        rt_because(SIMGPU_REFUSED_BLOCK);
        rt_say("%s: a block of (%u,%u,%u) = %" PRIu64 " threads; a block has at most %d, and at most (%d,%d,%d)",
               base_kernel_name(f->name).text, block.x, block.y, block.z, threads, BLOCK_THREADS, BLOCK_X, BLOCK_Y,
               BLOCK_Z);
        return cudaErrorInvalidConfiguration;
    }
    if (grid.x > GRID_X || grid.y > GRID_Y || grid.z > GRID_Z) {
        rt_because(SIMGPU_REFUSED_GRID);
        rt_say("%s: a grid of (%u,%u,%u) blocks; a grid has at most (%d,%d,%d)", base_kernel_name(f->name).text, grid.x,
               grid.y, grid.z, GRID_X, GRID_Y, GRID_Z);
        return cudaErrorInvalidConfiguration;
    }
    if (f->static_shared > p->shared_per_block) { /* ptxas refuses such a kernel */
        rt_because(SIMGPU_REFUSED_STATIC_SHARED);
        rt_say("%s: %u bytes of __shared__ arrays; nvcc allows at most %.0f; declare them extern __shared__, and pass "
               "their size with the launch",
               base_kernel_name(f->name).text, f->static_shared, p->shared_per_block);
        return cudaErrorLaunchOutOfResources;
    }
    if (all_shared > shared_limit(f, most_shared)) {
        rt_because(SIMGPU_REFUSED_SHARED);
        rt_say("%s: %" PRIu64 " bytes of shared memory a block; at most %" PRIu64 "%s", base_kernel_name(f->name).text,
               all_shared, shared_limit(f, most_shared),
               all_shared <= (uint64_t)p->shared_per_block_optin
                   ? ", more after cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
                   : "");
        return cudaErrorInvalidValue;
    }
    if (f->max_threads && threads > f->max_threads) {
        rt_because(SIMGPU_REFUSED_BOUNDS);
        rt_say("%s: a block of %" PRIu64 " threads; its __launch_bounds__ allows %u", base_kernel_name(f->name).text,
               threads, f->max_threads);
        return cudaErrorInvalidValue;
    }
    if (resident_blocks(f, threads, all_shared) == 0) {
        rt_because(SIMGPU_REFUSED_REGISTERS);
        rt_say("%s: %u registers a thread and %" PRIu64
               " threads a block are more registers than an SM has; launch smaller blocks",
               base_kernel_name(f->name).text, f->registers, threads);
        return cudaErrorLaunchOutOfResources;
    }
    return cudaSuccess;
}

/* --- launching -------------------------------------------------------------------------------------------------- */

/* Refuses a kernel that the decoder found unsupported. Prints the reason once, returns the error at each launch. */
static cudaError_t refuse_unsupported(const ptx_function *f, const char *why) {
    static const ptx_function *told;
    rt_because(SIMGPU_REFUSED_UNSUPPORTED);
    if (told != f) rt_say("%s cannot run: %s", base_kernel_name(f->name).text, why);
    told = f;
    return cudaErrorNotSupported;
}

/* Refuses a cooperative grid of which not all blocks are resident at once. resident: the blocks that are. */
static cudaError_t check_cooperative(const ptx_function *f, exec_dim grid, uint64_t resident) {
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    if (!exec_workspace(time_exec())) return cudaErrorMemoryAllocation;
    if (blocks <= resident) return cudaSuccess;
    uint64_t sms = (uint64_t)time_profile_get()->sm_count;
    rt_because(SIMGPU_REFUSED_COOPERATIVE);
    rt_say("%s: a cooperative grid of %" PRIu64 " blocks; at most %" PRIu64
           " of this size are resident at once, %" PRIu64 " on each of %" PRIu64
           " SMs; launch so many, and let each block do more (cudaOccupancyMaxActiveBlocksPerMultiprocessor counts)",
           base_kernel_name(f->name).text, blocks, resident, resident / sms, sms);
    return cudaErrorCooperativeLaunchTooLarge;
}

cudaError_t rt_launch_admit(exec_launch *n, uint64_t most_shared) {
    const ptx_function *f = n->kernel;
    const char *why = exec_unsupported(n->program, f);
    if (why) return refuse_unsupported(f, why);
    cudaError_t e = check_limits(f, most_shared, n->grid, n->block, n->dynamic_shared);
    if (e != cudaSuccess) return e;
    const time_profile *p = time_profile_get();
    n->resident = (uint32_t)p->sm_count *
                  resident_blocks(f, (uint64_t)n->block.x * n->block.y * n->block.z, shared_of(f, n->dynamic_shared));
    n->ended = exec_textures_ended(exec_device_of(n->program));
    return n->cooperative ? check_cooperative(f, n->grid, n->resident) : cudaSuccess;
}

cudaError_t rt_launch_command(const rt_kernel *k, dim3 grid, dim3 block, void **args, size_t shared, bool cooperative,
                              time_command *c) {
    const ptx_function *f = k->function;
    exec_launch n = {.program = rt_kernel_program(k),
                     .kernel = f,
                     .grid = {grid.x, grid.y, grid.z},
                     .block = {block.x, block.y, block.z},
                     .dynamic_shared = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX, /* too many in any case */
                     .cooperative = cooperative};
    cudaError_t e = rt_launch_admit(&n, *rt_kernel_most_shared(k));
    if (e != cudaSuccess) return e;
    uint8_t *params = calloc(1, f->param_bytes + 1u);
    if (!params) return cudaErrorMemoryAllocation;
    for (uint32_t i = 0; i < f->nparams; i++) memcpy(params + f->params[i].offset, args[i], f->params[i].size);
    c->kind = TIME_LAUNCH;
    n.params = params;
    c->is.launch = n;
    return cudaSuccess;
}

cudaError_t rt_launch(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream,
                      bool cooperative) {
    time_command c = {.kind = TIME_LAUNCH, .host_file = rt_file(), .host_line = rt_line()};
    /* A library of ours: a message about its kernel names the program's call. */
    if (c.host_file && strstr(c.host_file, "simgpu/extra/")) check_host_caller(&c.library_site, &c.library);
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(stub, &e);
    if (!k) return e;
    if (!rt_stream(stream, &c.stream)) return cudaErrorInvalidResourceHandle;
    if (time_card_of(c.stream) != rt_device->ordinal) {
        rt_say("the stream belongs to device %u, but device %u is in use; call cudaSetDevice(%u) before the launch",
               time_card_of(c.stream), rt_device->ordinal, time_card_of(c.stream));
        return cudaErrorInvalidResourceHandle;
    }
    if (!rt_module_admits(k->module, rt_context_of(stream))) return cudaErrorInvalidResourceHandle;
    e = rt_launch_command(k, grid, block, args, shared, cooperative, &c);
    if (e != cudaSuccess && rt_captured(c.stream)) {
        rt_capture_refuse(c.stream, NULL);
        return e == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : e; /* as CUDA says it here */
    }
    return e == cudaSuccess ? rt_submit(&c, &(rt_source){.kernel = k}) : e;
}

/* The rest of a call that launches. */
static cudaError_t end_launch(const void *stub, cudaError_t e) {
    const bool silent = of_stub;
    of_stub = false;
    if (e != cudaSuccess && silent) {
        cudaError_t ignored;
        const rt_kernel *k = rt_kernel_find(stub, &ignored);
        rt_launch_failed(e, k ? base_kernel_name(k->function->name).text : "a kernel");
    }
    return rt_end(e);
}

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
    RT_BEGIN;
    return end_launch(stub, rt_launch(stub, grid, block, args, shared, stream, false));
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
    RT_BEGIN;
    return end_launch(stub, rt_launch(stub, grid, block, args, shared, stream, true));
}

/* Reads the attributes of a launch. Hints are ignored; an attribute that changes what the kernel may do is refused. */
cudaError_t rt_launch_attributes(const cudaLaunchAttribute *attributes, unsigned count, bool *cooperative) {
    for (unsigned k = 0; k < count; k++) {
        const cudaLaunchAttribute *a = &attributes[k];
        switch (a->id) {
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributeProgrammaticStreamSerialization: /* allows a start before the last kernel's end */
        case cudaLaunchAttributeMemSyncDomainMap:
        case cudaLaunchAttributeMemSyncDomain:
        case cudaLaunchAttributePreferredSharedMemoryCarveout:
        case cudaLaunchAttributePriority: break;
        case cudaLaunchAttributeClusterDimension:
            if (a->val.clusterDim.x * a->val.clusterDim.y * a->val.clusterDim.z == 1) break;
            rt_say("clusters of blocks are not supported; a cluster of one block is");
            return cudaErrorNotSupported;
        case cudaLaunchAttributeCooperative: *cooperative = a->val.cooperative != 0; break;
        default:
            rt_say("launch attribute %d is not supported; SimGPU has cudaLaunchAttributeCooperative and hints", a->id);
            return cudaErrorNotSupported;
        }
    }
    return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub, void **args) {
    RT_BEGIN;
    bool cooperative = false;
    if (!config || (config->numAttrs && !config->attrs)) return rt_end(cudaErrorInvalidValue);
    cudaError_t e = rt_launch_attributes(config->attrs, config->numAttrs, &cooperative);
    if (e == cudaSuccess)
        e = rt_launch(stub, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream,
                      cooperative);
    return end_launch(stub, e);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub) {
    *kernel = (cudaKernel_t)(uintptr_t)stub; /* a cudaKernel_t is the stub, the key of rt_kernel_find */
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

/* --- attributes and occupancy ----------------------------------------------------------------------------------- */

cudaError_t rt_kernel_attributes(struct cudaFuncAttributes *a, const ptx_function *f, uint64_t most_shared) {
    const time_profile *p = time_profile_get();
    uint32_t by_registers = f->registers ? (uint32_t)p->registers_per_sm / f->registers / 32 * 32 : BLOCK_THREADS;
    memset(a, 0, sizeof *a);
    a->sharedSizeBytes = f->static_shared;
    a->localSizeBytes = f->local_bytes;
    a->numRegs = (int)f->registers;
    a->maxThreadsPerBlock = (int)(by_registers < BLOCK_THREADS ? by_registers : BLOCK_THREADS);
    if (f->max_threads && (int)f->max_threads < a->maxThreadsPerBlock) a->maxThreadsPerBlock = (int)f->max_threads;
    a->ptxVersion = (int)f->module->target;
    a->binaryVersion = (int)p->capability; /* the driver compiles the PTX for the card */
    a->maxDynamicSharedSizeBytes = (int)(shared_limit(f, most_shared) - f->static_shared);
    a->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *stub) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(stub, &e);
    if (!a) return rt_end(cudaErrorInvalidValue);
    return rt_end(k ? rt_kernel_attributes(a, k->function, *rt_kernel_most_shared(k)) : e);
}

/* What the driver API calls a CUfunction and a CUkernel is the stub, too (driver.h). */
static cudaError_t kernel_handle(void *handle, const void *stub) {
    cudaError_t e = cudaSuccess;
    if (!handle) return cudaErrorInvalidValue;
    if (rt_kernel_find(stub, &e)) *(const void **)handle = stub;
    return e;
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub) {
    RT_BEGIN;
    return rt_end(kernel_handle(function, stub));
}
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *stub) {
    RT_BEGIN;
    return rt_end(kernel_handle(kernel, stub));
}

cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *size) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(stub, &e);
    if (!k) return rt_end(e);
    if (!offset || index >= k->function->nparams) return rt_end(cudaErrorInvalidValue); /* size may be NULL */
    *offset = k->function->params[index].offset;
    if (size) *size = k->function->params[index].size;
    return rt_end(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *stub, enum cudaFuncAttribute attribute, int value) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    rt_kernel *k = rt_kernel_find(stub, &e);
    if (!k) return rt_end(e);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return rt_end(cudaSuccess); /* a hint */
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return rt_end(cudaErrorNotSupported);
    uint64_t most = (uint64_t)time_profile_get()->shared_per_block_optin;
    if (value < 0 || (uint64_t)value + k->function->static_shared > most) {
        rt_say("%s: %d bytes of dynamic shared memory; it can have at most %" PRIu64,
               base_kernel_name(k->function->name).text, value, most);
        return rt_end(cudaErrorInvalidValue);
    }
    *rt_kernel_most_shared(k) = (uint64_t)value;
    return rt_end(cudaSuccess);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *stub, enum cudaSharedMemConfig config) {
    RT_BEGIN;
    cudaError_t e = (unsigned)config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess;
    if (e == cudaSuccess) rt_kernel_find(stub, &e);
    return rt_end(e);
}

cudaError_t cudaFuncSetCacheConfig(const void *stub, enum cudaFuncCache config) {
    (void)config; /* a hint */
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    rt_kernel_find(stub, &e);
    return rt_end(e);
}

cudaError_t cudaFuncGetName(const char **name, const void *stub) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(stub, &e);
    if (!name) return rt_end(cudaErrorInvalidValue);
    if (k) *name = k->name;
    return rt_end(e);
}

int rt_kernel_occupancy(const ptx_function *f, uint64_t most_shared, int block_size, size_t shared) {
    uint64_t all_shared = shared_of(f, shared);
    if (block_size > BLOCK_THREADS || all_shared > shared_limit(f, most_shared)) return 0;
    return (int)time_occupancy(time_profile_get(), (uint32_t)block_size, f->registers, all_shared);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub, int block_size,
                                                          size_t shared) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(stub, &e);
    if (!blocks || block_size < 1) return rt_end(cudaErrorInvalidValue);
    if (!k) return rt_end(e);
    *blocks = rt_kernel_occupancy(k->function, *rt_kernel_most_shared(k), block_size, shared);
    return rt_end(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub, int block_size,
                                                                   size_t shared, unsigned flags) {
    (void)flags; /* L1 caching of globals, which does not change occupancy here */
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, stub, block_size, shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *stub, int blocks, int block_size) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(stub, &e);
    if (!bytes || blocks < 1 || block_size < 1) return rt_end(cudaErrorInvalidValue);
    if (!k) return rt_end(e);
    const time_profile *p = time_profile_get();
    const ptx_function *f = k->function;
    /* As an H200's driver answers: without the reserve of each block, and up to the kernel's own limit. */
    if ((uint32_t)blocks > time_occupancy(p, (uint32_t)block_size, f->registers, 0))
        return rt_end(cudaErrorInvalidValue);
    uint64_t each = (uint64_t)p->shared_per_sm / (unsigned)blocks / 128 * 128,
             most = shared_limit(f, *rt_kernel_most_shared(k));
    if (each > most) each = most;
    *bytes = each > f->static_shared ? each - f->static_shared : 0;
    return rt_end(cudaSuccess);
}
