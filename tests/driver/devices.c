/* devices.c — two devices (SIMGPU_DEVICES=2): a context on each, copies between them, a kernel that reads the other's
 * memory; and handles of the second device's context while the first's is current, or none. Prints "fine". */
#include "check.h"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .u32 counter;\n"
                          ".visible .entry move(.param .u64 to, .param .u64 from) {\n"
                          ".reg .b64 %rd<3>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from];\n"
                          "ld.global.u32 %r1, [%rd2]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n";

/* What has the second device's context works there, whichever is current: `now`, or none. b: its memory. */
static void handles_elsewhere(CUcontext now, CUcontext two, CUstream stream, CUfunction move, CUmodule module,
                              CUdeviceptr b) {
    CUcontext c;
    CUdevice device;
    CUevent event;
    CUfunction again;
    CUdeviceptr from_pool, counter;
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    size_t bytes;
    int n, got = 0;
    void *params[] = {&b, &b};
    OK(cuCtxSetCurrent(two));
    OK(cuEventCreate(&event, 0));
    OK(cuMemsetD32(b, 8, 1));
    OK(cuCtxSetCurrent(now));
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == now);

    /* Memory of that device, a launch and an event there. */
    OK(cuMemAllocAsync(&from_pool, 4, stream));
    OK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, from_pool));
    EXPECT(n == 1);
    OK(cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuMemcpyDtoDAsync(from_pool, b, 4, stream));
    OK(cuMemcpyDtoHAsync(&got, from_pool, 4, stream));
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    EXPECT(got == 9);
    OK(cuMemsetD32Async(from_pool, 3, 1, stream));
    OK(cuMemcpyDtoHAsync(&got, from_pool, 4, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(got == 3);
    OK(cuMemFreeAsync(from_pool, stream));

    /* A capture of that stream, and its graph. */
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamIsCapturing(stream, &status));
    EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuCtxSetCurrent(two));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuCtxSetCurrent(now));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemcpyDtoHAsync(&got, b, 4, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT(got == 10);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));

    /* Its context and device; what the module has there. */
    OK(cuStreamGetCtx(stream, &c));
    EXPECT(c == two);
    OK(cuStreamGetDevice(stream, &device));
    EXPECT(device == 1);
    OK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, b));
    EXPECT(c == two);
    OK(cuModuleGetFunction(&again, module, "move"));
    EXPECT(again == move);
    OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
    OK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, counter));
    EXPECT(n == 1 && bytes == 4);
    OK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, counter));
    EXPECT(c == two);
    OK(cuEventDestroy(event));
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == now);
}

/* The second's context ends while the first's is current: its memory comes back there, the first's stays. */
static void destroyed(CUcontext one, CUcontext two, CUstream of_two) {
    CUcontext c;
    CUdeviceptr mine, its;
    size_t before, after, all;
    int *pinned, n;
    OK(cuCtxSetCurrent(two));
    OK(cuMemGetInfo(&before, &all));
    OK(cuMemAlloc(&its, 64 << 20));
    OK(cuMemAllocHost((void **)&pinned, 64));
    OK(cuCtxSetCurrent(one));
    OK(cuMemAlloc(&mine, 64));
    OK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (CUdeviceptr)pinned));
    EXPECT(n == 1);
    OK(cuCtxDestroy(two));
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == one);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(its));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(of_two));
    OK(cuMemsetD32(mine, 1, 16));
    OK(cuMemFree(mine));
    OK(cuCtxCreate(&two, 0, 1));
    OK(cuMemGetInfo(&after, &all));
    EXPECT(after >= before);
}

int main(void) {
    CUcontext one, two, of_stream;
    CUdevice device;
    CUdeviceptr a, b;
    CUmodule module;
    CUfunction move;
    CUstream stream;
    int count, can, got = 0;
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 2);
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    EXPECT(can == 1);
    OK(cuCtxCreate(&one, 0, 0));
    OK(cuMemAlloc(&a, 4));
    OK(cuMemsetD32(a, 5, 1));
    OK(cuCtxCreate(&two, 0, 1));
    OK(cuCtxGetDevice(&device));
    EXPECT(device == 1);
    OK(cuMemAlloc(&b, 4));
    OK(cuMemcpyPeer(b, two, a, one, 4));
    OK(cuMemcpyDtoH(&got, b, 4));
    EXPECT(got == 5);
    int *pinned; /* the form without Async returns when the bytes are there */
    OK(cuMemAllocHost((void **)&pinned, sizeof *pinned));
    *pinned = 0;
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = b,
                              .srcContext = two,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = pinned,
                              .dstContext = two,
                              .WidthInBytes = 4,
                              .Height = 1,
                              .Depth = 1};
    OK(cuMemcpy3DPeerAsync(&box, NULL));
    EXPECT(*pinned == 0);
    OK(cuCtxSynchronize());
    *pinned = 0;
    OK(cuMemcpy3DPeer(&box));
    EXPECT(*pinned == 5);
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&move, module, "move"));
    OK(cuCtxEnablePeerAccess(one, 0));
    FAILS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(one, 0));
    OK(cuStreamCreate(&stream, 0));
    void *params[] = {&b, &a};
    OK(cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuStreamGetCtx(stream, &of_stream));
    EXPECT(of_stream == two);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(&got, b, 4));
    EXPECT(got == 6);
    OK(cuCtxSetCurrent(one));
    OK(cuCtxGetDevice(&device));
    EXPECT(device == 0);
    handles_elsewhere(one, two, stream, move, module, b);
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxPopCurrent(&of_stream));
    handles_elsewhere(NULL, two, stream, move, module, b);
    destroyed(one, two, stream);
    puts("fine");
    return 0;
}
