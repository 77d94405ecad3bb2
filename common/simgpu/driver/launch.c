/* launch.c — launches, with kernelParams or with a buffer in `extra`; attributes of functions; occupancy. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

/* --- arguments ---------------------------------------------------------------------------------------------- */

/* Reads the list {POINTER, buffer, SIZE, &bytes, END}. Returns false if it is no such list. */
static bool read_extra(void **extra, uint8_t **buffer, size_t *bytes) {
    *buffer = NULL;
    *bytes = 0;
    for (int k = 0; k < 3; k++, extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_END) return true;
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            *bytes = *(size_t *)extra[1];
        else
            return false;
    }
    return false;
}

static CUresult from_extra(const ptx_function *f, void **extra, void **room, void ***arguments) {
    uint8_t *buffer;
    size_t bytes;
    if (!read_extra(extra, &buffer, &bytes)) {
        rt_say("`extra` is no list of CU_LAUNCH_PARAM_BUFFER_POINTER, a buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, the "
               "address of "
               "its size, CU_LAUNCH_PARAM_END");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (f->param_bytes > bytes || (f->param_bytes && !buffer)) {
        rt_say("%s takes %u bytes of arguments; the buffer in `extra` has %zu", base_kernel_name(f->name).text,
               f->param_bytes, buffer ? bytes : 0);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (f->nparams > DRV_PARAMS_MAX) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t k = 0; k < f->nparams; k++) room[k] = buffer + f->params[k].offset;
    *arguments = room;
    return CUDA_SUCCESS;
}

CUresult drv_arguments(CUfunction function, void **params, void **extra, void **room, void ***arguments) {
    cudaError_t e = cudaSuccess;
    const rt_kernel *k = rt_kernel_find(function, &e);
    if (!k) return drv_code(e);
    const ptx_function *f = k->function;
    if (params && extra) {
        rt_say("kernelParams and `extra` are both given; pass one of them");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (extra) return from_extra(f, extra, room, arguments);
    *arguments = params;
    for (uint32_t i = 0; i < f->nparams; i++)
        if (!params || !params[i]) {
            char which[16] = "";
            if (params) snprintf(which, sizeof which, "[%u]", i);
            rt_say("%s takes %u arguments; kernelParams%s is NULL", base_kernel_name(f->name).text, f->nparams, which);
            return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

/* --- launches ----------------------------------------------------------------------------------------------- */

static CUresult launch(const char *name, CUfunction function, dim3 grid, dim3 block, unsigned shared, CUstream stream,
                       void **params, void **extra, bool cooperative) {
    void *room[DRV_PARAMS_MAX], **arguments;
    CUresult e = drv_needs_stream(name, stream);
    if (e != CUDA_SUCCESS) return e;
    e = drv_begin(name);
    if (e == CUDA_SUCCESS) e = drv_arguments(function, params, extra, room, &arguments);
    if (e == CUDA_SUCCESS) e = drv_code(rt_launch(function, grid, block, arguments, shared, stream, cooperative));
    return drv_end(e);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **params,
                        void **extra) {
    return launch("cuLaunchKernel", function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, shared,
                  stream, params, extra, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void **params) {
    return launch("cuLaunchCooperativeKernel", function, (dim3){grid_x, grid_y, grid_z},
                  (dim3){block_x, block_y, block_z}, shared, stream, params, NULL, true);
}

/* The attributes are the runtime's, field by field. */
static CUresult read_attributes(const CUlaunchConfig *c, bool *cooperative) {
    CUresult e = drv_needs_stream("cuLaunchKernelEx", c->hStream);
    if (e != CUDA_SUCCESS) return e;
    e = drv_begin("cuLaunchKernelEx");
    if (e == CUDA_SUCCESS)
        e = drv_code(rt_launch_attributes((const cudaLaunchAttribute *)c->attrs, c->numAttrs, cooperative));
    return drv_end(e);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **params, void **extra) {
    bool cooperative = false;
    if (!c || (c->numAttrs && !c->attrs)) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = read_attributes(c, &cooperative);
    if (e != CUDA_SUCCESS) return e;
    return launch("cuLaunchKernelEx", function, (dim3){c->gridDimX, c->gridDimY, c->gridDimZ},
                  (dim3){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream, params, extra,
                  cooperative);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument) {
    NEEDS_STREAM(cuLaunchHostFunc, stream);
    return AS(cuLaunchHostFunc, cudaLaunchHostFunc(stream, function, argument));
}

/* --- functions ---------------------------------------------------------------------------------------------- */

/* The device is that of the function's module, or one that the caller visits. */
static CUresult attribute_of(const char *name, int *value, CUfunction_attribute attribute, CUfunction function) {
    struct cudaFuncAttributes a;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    rt_call_as(name);
    CUresult e = drv_code(cudaFuncGetAttributes(&a, function));
    if (e != CUDA_SUCCESS) return e;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = a.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)a.sharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)a.constSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)a.localSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = a.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = a.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = a.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = a.maxDynamicSharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = a.preferredShmemCarveout; break;
    default:
        if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
        *value = 0; /* caching of globals and clusters, which a kernel here never asks for */
    }
    return CUDA_SUCCESS;
}

static CUresult set_attribute(const char *name, CUfunction function, CUfunction_attribute attribute, int value) {
    if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    rt_call_as(name);
    return drv_code(cudaFuncSetAttribute(function, (enum cudaFuncAttribute)attribute, value));
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    NEEDS_FUNCTION(cuFuncGetAttribute, function);
    return attribute_of("cuFuncGetAttribute", value, attribute, function);
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    NEEDS_FUNCTION(cuFuncSetAttribute, function);
    return set_attribute("cuFuncSetAttribute", function, attribute, value);
}
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
    CUresult e = drv_check_device("cuKernelGetAttribute", device);
    if (e != CUDA_SUCCESS) return e;
    drv_visit(device);
    return attribute_of("cuKernelGetAttribute", value, attribute, (CUfunction)kernel);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
    CUresult e = drv_check_device("cuKernelSetAttribute", device);
    if (e != CUDA_SUCCESS) return e;
    drv_visit(device);
    return set_attribute("cuKernelSetAttribute", (CUfunction)kernel, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    NEEDS_FUNCTION(cuFuncSetCacheConfig, function);
    return AS(cuFuncSetCacheConfig, cudaFuncSetCacheConfig(function, (enum cudaFuncCache)config));
}

/* The width of a bank is a hint that no card since 2014 knows. */
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
    (void)config;
    NEEDS_FUNCTION(cuFuncSetSharedMemConfig, function);
    return AS(cuFuncSetSharedMemConfig, cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone));
}

/* --- occupancy ---------------------------------------------------------------------------------------------- */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
    NEEDS_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    return AS(cuOccupancyMaxActiveBlocksPerMultiprocessor,
              cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned flags) {
    (void)flags; /* L1 caching of globals, which does not change occupancy here */
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int threads) {
    NEEDS_CONTEXT(cuOccupancyAvailableDynamicSMemPerBlock);
    return AS(cuOccupancyAvailableDynamicSMemPerBlock,
              cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads));
}

/* Finds the block size with most resident threads, the largest of several, as CUDA does. */
CUresult cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
    int most = 0, sms = 0, best = 0, per_sm;
    NEEDS_CONTEXT(cuOccupancyMaxPotentialBlockSize);
    if (!blocks || !threads || limit < 0) return CUDA_ERROR_INVALID_VALUE;
    CUresult e =
        attribute_of("cuOccupancyMaxPotentialBlockSize", &most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    if (e == CUDA_SUCCESS)
        e = cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, drv_device_of(drv_context()));
    if (limit && limit < most) most = limit;
    *blocks = *threads = 0;
    for (int n = (most + 31) / 32 * 32; n > 0 && e == CUDA_SUCCESS; n -= 32) {
        const int size = n < most ? n : most;
        e = cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, function, size, shared_of ? shared_of(size) : shared);
        if (e != CUDA_SUCCESS || per_sm * size <= best) continue;
        best = per_sm * size;
        *threads = size;
        *blocks = per_sm * sms;
    }
    return e;
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *threads, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned flags) {
    (void)flags;
    return cuOccupancyMaxPotentialBlockSize(blocks, threads, function, shared_of, shared, limit);
}
