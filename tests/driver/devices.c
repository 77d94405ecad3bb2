/* devices.c — two devices (SIMGPU_DEVICES=2): a context on each, copies between them, a kernel that reads the other's
 * memory. Prints "fine". */
#include "check.h"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry move(.param .u64 to, .param .u64 from) {\n"
                          ".reg .b64 %rd<3>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from];\n"
                          "ld.global.u32 %r1, [%rd2]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n";

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
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    puts("fine");
    return 0;
}
