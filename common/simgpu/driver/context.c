/* context.c — initialisation, error codes, and contexts.
 *
 * A thread has a stack of contexts, whose top is current. A thread that has used the runtime, and no function here that
 * changes the stack, has the primary context of its device on it, as in CUDA. The runtime notes to which context a
 * thing belongs (rt_choose): NULL stands for the primary one of its device, so that it needs no driver. */
#include "driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 64, DEVICES_MAX = 64, API_VERSION = 3020 };

struct CUctx_st {
    CUdevice device;
    bool primary, live;
    unsigned flags;
    unsigned long long id;
    CUcontext next;
};

static bool initialised;
static CUcontext contexts; /* all that ever were: a thread may still have a destroyed one on its stack */
static struct {
    CUcontext context;
    unsigned retained, flags;
} primaries[DEVICES_MAX];
static unsigned long long ncontexts;
static _Thread_local struct {
    CUcontext at[STACK_MAX];
    unsigned depth;
    bool touched; /* by a call of this API */
} stack;

/* --- errors ------------------------------------------------------------------------------------------------- */

CUresult drv_code(cudaError_t error) {
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return (CUresult)error; /* the numbers are the same */
    }
}

CUresult cuGetErrorName(CUresult error, const char **text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    switch (error) {
#define CU_ERROR(name, number)                                                                                         \
    case name:                                                                                                         \
        *text = #name;                                                                                                 \
        return CUDA_SUCCESS;
#include "../include/cuda_driver_errors.def"
    }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    CUresult known = cuGetErrorName(error, text);
    if (known == CUDA_SUCCESS) *text = cudaGetErrorString((cudaError_t)error);
    return known;
}

/* --- the frame ---------------------------------------------------------------------------------------------- */

CUresult drv_begin(const char *name) {
    rt_call_as(name);
    return drv_code(rt_begin(name));
}
CUresult drv_end(CUresult result) {
    cudaError_t ended = rt_end((cudaError_t)result);
    return result != CUDA_SUCCESS ? result : drv_code(ended);
}

CUresult drv_refuse(const char *name, CUresult error, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    drv_begin(name);
    rt_say("%s", text);
    return drv_end(error);
}

CUresult drv_needs_init(const char *name) {
    rt_visit(NULL);
    if (initialised || rt_runtime_used(false)) return CUDA_SUCCESS;
    return drv_refuse(name, CUDA_ERROR_NOT_INITIALIZED, "the driver is not initialised; call cuInit(0) first");
}

/* --- contexts ----------------------------------------------------------------------------------------------- */

bool drv_context_live(CUcontext c) {
    for (CUcontext o = contexts; o; o = o->next)
        if (o == c) return o->live;
    return false;
}

CUdevice drv_device_of(CUcontext c) { return c->device; }

static CUcontext new_context(CUdevice device, unsigned flags) {
    CUcontext c = base_must(calloc(1, sizeof *c), "the host has no memory left for a context");
    *c = (struct CUctx_st){.device = device, .live = true, .flags = flags, .id = ++ncontexts, .next = contexts};
    return contexts = c;
}

static CUcontext primary_of(CUdevice device) {
    if (!primaries[device].context || !primaries[device].context->live) {
        primaries[device].context = new_context(device, primaries[device].flags);
        primaries[device].context->primary = true;
    }
    return primaries[device].context;
}

static const void *noted(CUcontext c) { return c->primary ? NULL : c; }

CUcontext drv_context_of(const void *note, CUdevice device) {
    if (note) return (CUcontext)(uintptr_t)note;
    rt_lock();
    CUcontext c = primary_of(device);
    rt_unlock();
    return c;
}

/* Lets the runtime use the context that is current now, and its device. */
static CUresult follow(const char *name) {
    if (stack.depth == 0) rt_choose(rt_chosen(), NULL);
    if (stack.depth == 0) return CUDA_SUCCESS;
    CUcontext c = stack.at[stack.depth - 1];
    rt_call_as(name);
    CUresult e = drv_code(cudaSetDevice(c->device));
    rt_choose((uint32_t)c->device, noted(c));
    return e;
}

/* What the runtime uses is current: the program may have called cudaSetDevice, which chooses a primary context. */
CUcontext drv_context(void) {
    const CUdevice device = (CUdevice)rt_chosen();
    CUcontext *top = stack.depth ? &stack.at[stack.depth - 1] : NULL;
    if (!top && !stack.touched && rt_runtime_used(true))
        top = &stack.at[stack.depth++];
    else if (!top || ((*top)->device == device && noted(*top) == rt_context()))
        return top ? *top : NULL;
    return *top = drv_context_of(NULL, device);
}

CUresult drv_needs_context(const char *name) {
    CUresult bad = drv_needs_init(name);
    if (bad != CUDA_SUCCESS) return bad;
    CUcontext c = drv_context();
    if (!c)
        return drv_refuse(name, CUDA_ERROR_INVALID_CONTEXT,
                          "no context is current on this thread; call cuCtxCreate, or cuCtxSetCurrent with one");
    if (c->live) return CUDA_SUCCESS;
    return drv_refuse(name, CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed; make another current");
}

void drv_visit(CUdevice device) { rt_visit(rt_first()->machine[device]); }

/* Functions that work on the device of what they get. */
#define NEEDS_ONLY(what, type, home_of)                                                                                \
    CUresult drv_needs_##what(const char *name, type it) {                                                             \
        CUresult bad = drv_needs_init(name);                                                                           \
        if (bad != CUDA_SUCCESS) return bad;                                                                           \
        rt_lock();                                                                                                     \
        rt_visit(home_of(it));                                                                                         \
        rt_unlock();                                                                                                   \
        return CUDA_SUCCESS;                                                                                           \
    }
static struct device *home_of_address(uint64_t a) {
    const rt_block *both = rt_managed_find(a); /* the host and kernels use it */
    if (!both && exec_mem_in_window((const void *)(uintptr_t)a)) return rt_owner(a);
    if (!both) both = rt_block_of(a);
    return both ? rt_first()->machine[both->ordinal] : NULL;
}
NEEDS_ONLY(handle, const void *, rt_maker)
NEEDS_ONLY(address, uint64_t, home_of_address)
NEEDS_ONLY(module, const void *, rt_module_home)
NEEDS_ONLY(function, const void *, rt_kernel_home)

CUresult drv_needs_stream(const char *name, CUstream stream) {
    const bool by_default = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
    return by_default ? drv_needs_context(name) : drv_needs_handle(name, stream);
}

CUresult drv_check_device(const char *name, CUdevice device) {
    int count = 0;
    CUresult e = drv_needs_init(name);
    if (e != CUDA_SUCCESS) return e;
    rt_call_as(name);
    e = drv_code(cudaGetDeviceCount(&count));
    if (e != CUDA_SUCCESS) return e;
    return device >= 0 && device < count && device < DEVICES_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult create(const char *name, CUcontext *context, unsigned flags, CUdevice device) {
    CUresult e = drv_check_device(name, device);
    if (!context || flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    if (e != CUDA_SUCCESS) return e;
    if (stack.depth == STACK_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    rt_lock();
    *context = new_context(device, flags);
    rt_unlock();
    stack.touched = true;
    stack.at[stack.depth++] = *context;
    return follow(name);
}

CUresult cuInit(unsigned flags) {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    initialised = true;
    drv_begin("cuInit");
    return drv_end(CUDA_SUCCESS);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    return create("cuCtxCreate", context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags, CUdevice device) {
    if (affinity && count) return drv_unsupported("cuCtxCreate with an execution affinity");
    return create("cuCtxCreate", context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device) {
    if (params && (params->numExecAffinityParams || params->cigParams))
        return drv_unsupported("cuCtxCreate with an execution affinity");
    return create("cuCtxCreate", context, flags, device);
}

/* Waits for the devices, and ends what belongs to the context. One that a kernel has killed takes all memory of its
 * device with it, so that a new one begins anew. */
CUresult cuCtxDestroy_v2(CUcontext context) {
    NEEDS_INIT(cuCtxDestroy);
    if (!drv_context_live(context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    drv_visit(context->device);
    CUresult dead = drv_begin("cuCtxDestroy");
    if (dead == CUDA_SUCCESS) time_wait_all();
    dead = drv_end(dead);
    if (dead == CUDA_ERROR_NOT_PERMITTED) return dead;
    drv_visit(context->device); /* again: a host function may have called the API */
    if (dead != CUDA_SUCCESS) AS(cuCtxDestroy, cudaDeviceReset());
    drv_begin("cuCtxDestroy");
    rt_context_end(context);
    drv_end(CUDA_SUCCESS);
    rt_lock();
    context->live = false;
    rt_unlock();
    if (stack.depth && stack.at[stack.depth - 1] == context) stack.depth--;
    return follow("cuCtxDestroy");
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    NEEDS_INIT(cuCtxPushCurrent);
    if (!drv_context_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth == STACK_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    drv_context();
    stack.touched = true;
    stack.at[stack.depth++] = context;
    return follow("cuCtxPushCurrent");
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    NEEDS_INIT(cuCtxPopCurrent);
    CUcontext c = drv_context();
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = c;
    stack.touched = true;
    stack.depth--;
    return follow("cuCtxPopCurrent");
}

/* Replaces the top of the stack; NULL pops it. */
CUresult cuCtxSetCurrent(CUcontext context) {
    NEEDS_INIT(cuCtxSetCurrent);
    if (context && !drv_context_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
    drv_context();
    stack.touched = true;
    if (stack.depth) stack.depth--;
    if (context) stack.at[stack.depth++] = context;
    return follow("cuCtxSetCurrent");
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    NEEDS_INIT(cuCtxGetCurrent);
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = drv_context();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    NEEDS_CONTEXT(cuCtxGetDevice);
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = drv_context()->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
    NEEDS_CONTEXT(cuCtxGetFlags);
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = drv_context()->flags;
    return CUDA_SUCCESS;
}

/* Sets *c to the context, or to the current one if it is NULL. */
static CUresult given_or_current(CUcontext context, CUcontext *c) {
    *c = context ? context : drv_context();
    return *c && drv_context_live(*c) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    NEEDS_INIT(cuCtxGetId);
    CUcontext c;
    CUresult e = given_or_current(context, &c);
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    if (e == CUDA_SUCCESS) *id = c->id;
    return e;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    NEEDS_INIT(cuCtxGetApiVersion);
    CUcontext c;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = API_VERSION;
    return given_or_current(context, &c);
}

/* --- primary contexts --------------------------------------------------------------------------------------- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CUresult e = drv_check_device("cuDevicePrimaryCtxRetain", device);
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (e != CUDA_SUCCESS) return e;
    rt_lock();
    *context = primary_of(device);
    primaries[device].retained++;
    rt_unlock();
    return CUDA_SUCCESS;
}

/* The context itself stays, since the runtime may use it. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult e = drv_check_device("cuDevicePrimaryCtxRelease", device);
    if (e != CUDA_SUCCESS) return e;
    rt_lock();
    bool held = primaries[device].retained > 0;
    if (held) primaries[device].retained--;
    rt_unlock();
    return held ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    CUresult e = drv_check_device("cuDevicePrimaryCtxReset", device);
    if (e != CUDA_SUCCESS) return e;
    drv_visit(device);
    return AS(cuDevicePrimaryCtxReset, cudaDeviceReset());
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    CUresult e = drv_check_device("cuDevicePrimaryCtxSetFlags", device);
    if (e != CUDA_SUCCESS) return e;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    rt_lock();
    primaries[device].flags = flags;
    if (primaries[device].context) primaries[device].context->flags = flags;
    rt_unlock();
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CUresult e = drv_check_device("cuDevicePrimaryCtxGetState", device);
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    if (e != CUDA_SUCCESS) return e;
    *flags = primaries[device].flags;
    *active = primaries[device].retained > 0 || rt_runtime_used(false);
    return CUDA_SUCCESS;
}

/* --- of the current context's device ------------------------------------------------------------------------ */

CUresult cuCtxSynchronize(void) {
    NEEDS_CONTEXT(cuCtxSynchronize);
    return AS(cuCtxSynchronize, cudaDeviceSynchronize());
}
CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    NEEDS_CONTEXT(cuCtxGetLimit);
    return AS(cuCtxGetLimit, cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    NEEDS_CONTEXT(cuCtxSetLimit);
    return AS(cuCtxSetLimit, cudaDeviceSetLimit((enum cudaLimit)limit, value));
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    NEEDS_CONTEXT(cuCtxGetStreamPriorityRange);
    return AS(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange(least, greatest));
}

/* Hints: the division of L1 and shared memory, the width of a bank, lines kept in L2. */
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    NEEDS_CONTEXT(cuCtxSetCacheConfig);
    return AS(cuCtxSetCacheConfig, cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}
CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    NEEDS_CONTEXT(cuCtxGetCacheConfig);
    return AS(cuCtxGetCacheConfig, cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    NEEDS_CONTEXT(cuCtxSetSharedMemConfig);
    return (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    NEEDS_CONTEXT(cuCtxGetSharedMemConfig);
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache(void) {
    NEEDS_CONTEXT(cuCtxResetPersistingL2Cache);
    return CUDA_SUCCESS;
}
