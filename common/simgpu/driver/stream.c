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
    NEEDS_CONTEXT(cuStreamDestroy);
    return AS(cuStreamDestroy, cudaStreamDestroy(stream));
}
CUresult cuStreamQuery(CUstream stream) {
    NEEDS_CONTEXT(cuStreamQuery);
    return AS(cuStreamQuery, cudaStreamQuery(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
    NEEDS_CONTEXT(cuStreamSynchronize);
    return AS(cuStreamSynchronize, cudaStreamSynchronize(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    NEEDS_CONTEXT(cuStreamWaitEvent);
    return AS(cuStreamWaitEvent, cudaStreamWaitEvent(stream, event, flags));
}

/* The callback's status is a cudaError_t with the number of a CUresult. */
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *argument, unsigned flags) {
    NEEDS_CONTEXT(cuStreamAddCallback);
    cudaStreamCallback_t same = (cudaStreamCallback_t)(void (*)(void))callback;
    return AS(cuStreamAddCallback, cudaStreamAddCallback(stream, same, argument, flags));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    NEEDS_CONTEXT(cuStreamGetFlags);
    return AS(cuStreamGetFlags, cudaStreamGetFlags(stream, flags));
}
CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    NEEDS_CONTEXT(cuStreamGetPriority);
    return AS(cuStreamGetPriority, cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    NEEDS_CONTEXT(cuStreamGetDevice);
    return AS(cuStreamGetDevice, cudaStreamGetDevice(stream, device));
}
/* A stream works for each context of its device: the current one, or the primary one of another device. */
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    CUdevice device = 0;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cuStreamGetDevice(stream, &device);
    if (e == CUDA_SUCCESS) *context = drv_context_of(device);
    return e;
}

/* --- capture ------------------------------------------------------------------------------------------------ */

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    NEEDS_CONTEXT(cuStreamBeginCapture);
    return AS(cuStreamBeginCapture, cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    NEEDS_CONTEXT(cuStreamEndCapture);
    return AS(cuStreamEndCapture, cudaStreamEndCapture(stream, graph));
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    NEEDS_CONTEXT(cuStreamIsCapturing);
    return AS(cuStreamIsCapturing, cudaStreamIsCapturing(stream, (enum cudaStreamCaptureStatus *)status));
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **after, const CUgraphEdgeData **edges, size_t *count) {
    NEEDS_CONTEXT(cuStreamGetCaptureInfo);
    return AS(cuStreamGetCaptureInfo,
              cudaStreamGetCaptureInfo(stream, (enum cudaStreamCaptureStatus *)status, (unsigned long long *)id, graph,
                                       after, (const cudaGraphEdgeData **)edges, count));
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **after, size_t *count) {
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, after, NULL, count);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    NEEDS_CONTEXT(cuThreadExchangeStreamCaptureMode);
    return AS(cuThreadExchangeStreamCaptureMode,
              cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode));
}

/* --- events ------------------------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    NEEDS_CONTEXT(cuEventCreate);
    return AS(cuEventCreate, cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy_v2(CUevent event) {
    NEEDS_CONTEXT(cuEventDestroy);
    return AS(cuEventDestroy, cudaEventDestroy(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    NEEDS_CONTEXT(cuEventRecord);
    return AS(cuEventRecord, cudaEventRecord(event, stream));
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    NEEDS_CONTEXT(cuEventRecordWithFlags);
    return AS(cuEventRecordWithFlags, cudaEventRecordWithFlags(event, stream, flags));
}
CUresult cuEventQuery(CUevent event) {
    NEEDS_CONTEXT(cuEventQuery);
    return AS(cuEventQuery, cudaEventQuery(event));
}
CUresult cuEventSynchronize(CUevent event) {
    NEEDS_CONTEXT(cuEventSynchronize);
    return AS(cuEventSynchronize, cudaEventSynchronize(event));
}
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    NEEDS_CONTEXT(cuEventElapsedTime);
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
