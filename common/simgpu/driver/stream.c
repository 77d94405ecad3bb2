/* stream.c — streams, their captures, and events. */
#include "driver.h"

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    NEEDS_CONTEXT(cuStreamCreate);
    return AS(cuStreamCreate, cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    NEEDS_CONTEXT(cuStreamCreateWithPriority);
    return AS(cuStreamCreateWithPriority, cudaStreamCreateWithPriority(stream, flags, priority));
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    NEEDS_STREAM(cuStreamDestroy, stream);
    return AS(cuStreamDestroy, cudaStreamDestroy(stream));
}
CUresult cuStreamQuery(CUstream stream) {
    NEEDS_STREAM(cuStreamQuery, stream);
    return AS(cuStreamQuery, cudaStreamQuery(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
    NEEDS_STREAM(cuStreamSynchronize, stream);
    return AS(cuStreamSynchronize, cudaStreamSynchronize(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    NEEDS_STREAM(cuStreamWaitEvent, stream);
    return AS(cuStreamWaitEvent, cudaStreamWaitEvent(stream, event, flags));
}

/* The callback's status is a cudaError_t with the number of a CUresult. */
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *argument, unsigned flags) {
    NEEDS_STREAM(cuStreamAddCallback, stream);
    cudaStreamCallback_t same = (cudaStreamCallback_t)(void (*)(void))callback;
    return AS(cuStreamAddCallback, cudaStreamAddCallback(stream, same, argument, flags));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    NEEDS_STREAM(cuStreamGetFlags, stream);
    return AS(cuStreamGetFlags, cudaStreamGetFlags(stream, flags));
}
CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    NEEDS_STREAM(cuStreamGetPriority, stream);
    return AS(cuStreamGetPriority, cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    NEEDS_STREAM(cuStreamGetDevice, stream);
    return AS(cuStreamGetDevice, cudaStreamGetDevice(stream, device));
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    NEEDS_STREAM(cuStreamGetId, stream);
    return AS(cuStreamGetId, cudaStreamGetId(stream, id));
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    uint32_t s;
    NEEDS_STREAM(cuStreamGetCtx, stream);
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = drv_begin("cuStreamGetCtx");
    if (e == CUDA_SUCCESS && !rt_stream(stream, &s)) e = CUDA_ERROR_INVALID_HANDLE;
    if (e == CUDA_SUCCESS) *context = drv_context_of(rt_context_of(stream), (CUdevice)rt_device->ordinal);
    return drv_end(e);
}

/* The attributes are the runtime's, field by field. */
_Static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaLaunchAttributeValue), "one layout");

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    NEEDS_STREAM(cuStreamCopyAttributes, from);
    NEEDS_STREAM(cuStreamCopyAttributes, to);
    return AS(cuStreamCopyAttributes, cudaStreamCopyAttributes(to, from));
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue *value) {
    NEEDS_STREAM(cuStreamGetAttribute, stream);
    return AS(cuStreamGetAttribute,
              cudaStreamGetAttribute(stream, (cudaLaunchAttributeID)id, (cudaLaunchAttributeValue *)value));
}
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue *value) {
    NEEDS_STREAM(cuStreamSetAttribute, stream);
    return AS(cuStreamSetAttribute,
              cudaStreamSetAttribute(stream, (cudaLaunchAttributeID)id, (const cudaLaunchAttributeValue *)value));
}

/* --- capture ------------------------------------------------------------------------------------------------ */

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    NEEDS_STREAM(cuStreamBeginCapture, stream);
    return AS(cuStreamBeginCapture, cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    NEEDS_STREAM(cuStreamEndCapture, stream);
    return AS(cuStreamEndCapture, cudaStreamEndCapture(stream, graph));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    NEEDS_STREAM(cuStreamIsCapturing, stream);
    return AS(cuStreamIsCapturing, cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **after, const CUgraphEdgeData **edges, size_t *count) {
    NEEDS_STREAM(cuStreamGetCaptureInfo, stream);
    return AS(cuStreamGetCaptureInfo,
              cudaStreamGetCaptureInfo(stream, (enum cudaStreamCaptureStatus *)status, (unsigned long long *)id, graph,
                                       after, (const cudaGraphEdgeData **)edges, count));
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **after, size_t *count) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, after, NULL, count);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    NEEDS_INIT(cuThreadExchangeStreamCaptureMode);
    return AS(cuThreadExchangeStreamCaptureMode,
              cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode));
}

/* --- events ------------------------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    NEEDS_CONTEXT(cuEventCreate);
    return AS(cuEventCreate, cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy_v2(CUevent event) {
    NEEDS_HANDLE(cuEventDestroy, event);
    return AS(cuEventDestroy, cudaEventDestroy(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    NEEDS_STREAM(cuEventRecord, stream);
    return AS(cuEventRecord, cudaEventRecord(event, stream));
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    NEEDS_STREAM(cuEventRecordWithFlags, stream);
    return AS(cuEventRecordWithFlags, cudaEventRecordWithFlags(event, stream, flags));
}
CUresult cuEventQuery(CUevent event) {
    NEEDS_HANDLE(cuEventQuery, event);
    return AS(cuEventQuery, cudaEventQuery(event));
}
CUresult cuEventSynchronize(CUevent event) {
    NEEDS_HANDLE(cuEventSynchronize, event);
    return AS(cuEventSynchronize, cudaEventSynchronize(event));
}
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    NEEDS_HANDLE(cuEventElapsedTime, start);
    return AS(cuEventElapsedTime, cudaEventElapsedTime(ms, start, end));
}
CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) { return cuEventElapsedTime(ms, start, end); }

/* --- profilers are started and stopped in vain: SimGPU reports every range ------------------------------------ */

CUresult cuProfilerStart(void) {
    NEEDS_CONTEXT(cuProfilerStart);
    return AS(cuProfilerStart, cudaProfilerStart());
}
CUresult cuProfilerStop(void) {
    NEEDS_CONTEXT(cuProfilerStop);
    return AS(cuProfilerStop, cudaProfilerStop());
}
