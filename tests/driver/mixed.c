/* mixed.c — the runtime and the driver in one process: one card, one primary context, the same streams and events.
 * Prints "fine". */
#include "check.h"

#include <cuda_runtime_api.h>

#include <pthread.h>

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry put(.param .u64 p) {\n"
                          ".reg .b64 %rd<2>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, 42;\n"
                          "st.global.u32 [%rd1], %r1; ret; }\n";

static void *other_thread(void *unused) {
    CUcontext c;
    (void)unused;
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == NULL); /* of a thread that has not called the runtime */
    EXPECT(cudaSetDevice(0) == cudaSuccess);
    OK(cuCtxGetCurrent(&c));
    EXPECT(c != NULL);
    return NULL;
}

int main(void) {
    int *p, got = 0;
    unsigned n;
    CUcontext current, primary;
    CUmodule module;
    CUfunction put;
    CUevent event;
    cudaStream_t stream;
    struct cudaFuncAttributes a;
    struct cudaPointerAttributes at;
    pthread_t thread;

    /* The runtime has initialised the driver, and its context is current. */
    EXPECT(cudaMalloc((void **)&p, 4) == cudaSuccess);
    OK(cuCtxGetCurrent(&current));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT(current && current == primary);
    OK(cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)p));
    EXPECT(n == CU_MEMORYTYPE_DEVICE);
    EXPECT(pthread_create(&thread, NULL, other_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);

    /* A stream of the runtime, a kernel of the driver, launched by both. */
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    void *params[] = {&p};
    OK(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, stream));
    EXPECT(cudaEventSynchronize(event) == cudaSuccess);
    EXPECT(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && got == 42);
    OK(cuMemsetD32((CUdeviceptr)p, 7, 1));
    EXPECT(cudaLaunchKernel(put, (dim3){1, 1, 1}, (dim3){1, 1, 1}, params, 0, stream) == cudaSuccess);
    EXPECT(cudaFuncGetAttributes(&a, put) == cudaSuccess && a.numRegs > 0);
    OK(cuCtxSynchronize());
    EXPECT(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && got == 42);

    /* Memory of the driver, seen by the runtime; an error of the driver is none of the runtime's. */
    CUdeviceptr q;
    OK(cuMemAlloc(&q, 64));
    EXPECT(cudaPointerGetAttributes(&at, (void *)q) == cudaSuccess && at.type == cudaMemoryTypeDevice);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(q + 4));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 0, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaFree((void *)q) == cudaSuccess);
    puts("fine");
    return 0;
}
