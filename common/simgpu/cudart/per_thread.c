/* per_thread.c — a default stream for each thread of the host.
 *
 * nvcc's --default-stream per-thread gives calls other names: cudaX_ptsz, for which stream 0 is the thread's own, and
 * cudaX_ptds, synchronous calls in that stream. Our headers set a flag for the whole program instead
 * (CUDA_API_PER_THREAD_DEFAULT_STREAM). Several callers declare nothing of these, so each is declared here. */
#include "rt.h"

bool rt_per_thread;

int simgpuPerThreadDefaultStream(void);
int simgpuPerThreadDefaultStream(void) { return rt_per_thread = true; }

static cudaStream_t own(cudaStream_t s) { return s ? s : cudaStreamPerThread; }

#define PTSZ(name, parameters, ...)                                                                                    \
    cudaError_t name##_ptsz parameters;                                                                                \
    cudaError_t name##_ptsz parameters { return name(__VA_ARGS__); }

PTSZ(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), e, own(s))
PTSZ(cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned flags), e, own(s), flags)
PTSZ(cudaMallocAsync, (void **p, size_t bytes, cudaStream_t s), p, bytes, own(s))
PTSZ(cudaFreeAsync, (void *p, cudaStream_t s), p, own(s))
PTSZ(cudaMallocFromPoolAsync, (void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t s), p, bytes, pool, own(s))
PTSZ(cudaGraphLaunch, (cudaGraphExec_t g, cudaStream_t s), g, own(s))
PTSZ(cudaGraphUpload, (cudaGraphExec_t g, cudaStream_t s), g, own(s))
PTSZ(cudaLaunchKernel, (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s), f, grid,
     block, args, shared, own(s))
PTSZ(cudaLaunchCooperativeKernel, (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s), f,
     grid, block, args, shared, own(s))
PTSZ(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *data), own(s), f, data)
PTSZ(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned flags), own(s), f, data,
     flags)
PTSZ(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s), to, from,
     bytes, kind, own(s))
PTSZ(cudaMemcpy2DAsync,
     (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, enum cudaMemcpyKind kind, cudaStream_t s),
     to, tp, from, fp, w, h, kind, own(s))
PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t s), p, own(s))
PTSZ(cudaMemcpyToSymbolAsync,
     (const void *symbol, const void *from, size_t bytes, size_t at, enum cudaMemcpyKind kind, cudaStream_t s), symbol,
     from, bytes, at, kind, own(s))
PTSZ(cudaMemcpyFromSymbolAsync,
     (void *to, const void *symbol, size_t bytes, size_t at, enum cudaMemcpyKind kind, cudaStream_t s), to, symbol,
     bytes, at, kind, own(s))
PTSZ(cudaMemsetAsync, (void *p, int value, size_t bytes, cudaStream_t s), p, value, bytes, own(s))
PTSZ(cudaMemset2DAsync, (void *p, size_t pitch, int value, size_t w, size_t h, cudaStream_t s), p, pitch, value, w, h,
     own(s))
PTSZ(cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t bytes, unsigned flags), own(s), p, bytes, flags)
PTSZ(cudaStreamBeginCapture, (cudaStream_t s, enum cudaStreamCaptureMode mode), own(s), mode)
PTSZ(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *graph), own(s), graph)
PTSZ(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *status), own(s), status)
PTSZ(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), own(s), flags)
PTSZ(cudaStreamGetPriority, (cudaStream_t s, int *priority), own(s), priority)
PTSZ(cudaStreamGetId, (cudaStream_t s, unsigned long long *id), own(s), id)
PTSZ(cudaStreamGetDevice, (cudaStream_t s, int *device), own(s), device)
PTSZ(cudaStreamQuery, (cudaStream_t s), own(s))
PTSZ(cudaStreamSynchronize, (cudaStream_t s), own(s))
PTSZ(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), own(s), e, flags)
PTSZ(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), own(to), own(from))
PTSZ(cudaStreamGetAttribute, (cudaStream_t s, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value), own(s), id,
     value)
PTSZ(cudaStreamSetAttribute, (cudaStream_t s, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value), own(s),
     id, value)

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *f, void **args);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *f, void **args) {
    if (!config) return cudaLaunchKernelExC(config, f, args);
    cudaLaunchConfig_t c = *config;
    c.stream = own(c.stream);
    return cudaLaunchKernelExC(&c, f, args);
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) {
    return cudaLaunchKernel(f, grid, block, args, shared, own(s));
}

/* --- synchronous calls --------------------------------------------------------------------------------------- */

/* Runs the call with the thread's stream as the default one. */
static _Thread_local bool in_own;
bool rt_default_is_own(void) { return rt_per_thread || in_own; }
static cudaError_t leave(cudaError_t e) {
    in_own = false;
    return e;
}

#define PTDS(name, parameters, ...)                                                                                    \
    cudaError_t name##_ptds parameters;                                                                                \
    cudaError_t name##_ptds parameters {                                                                               \
        in_own = true;                                                                                                 \
        return leave(name(__VA_ARGS__));                                                                               \
    }

PTDS(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), to, from, bytes, kind)
PTDS(cudaMemcpy2D, (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, enum cudaMemcpyKind kind), to,
     tp, from, fp, w, h, kind)
PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), p)
PTDS(cudaMemcpyToSymbol, (const void *symbol, const void *from, size_t bytes, size_t at, enum cudaMemcpyKind kind),
     symbol, from, bytes, at, kind)
PTDS(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t bytes, size_t at, enum cudaMemcpyKind kind), to,
     symbol, bytes, at, kind)
PTDS(cudaMemset, (void *p, int value, size_t bytes), p, value, bytes)
PTDS(cudaMemset2D, (void *p, size_t pitch, int value, size_t w, size_t h), p, pitch, value, w, h)
