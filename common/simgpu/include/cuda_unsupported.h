/* cuda_unsupported.h — names of CUDA that SimGPU lacks, so that a use of one is one message with the user's line:
 *
 *     kernel.cu:12:5: error: 'cudaGraphConditionalHandleCreate' is unavailable: SimGPU does not have it
 *
 * Whole headers are in unsupported/. Types are declared as something of the same use, so that nothing but the type
 * itself is an error. */
#ifndef SIMGPU_CUDA_UNSUPPORTED_H
#define SIMGPU_CUDA_UNSUPPORTED_H

#define SIMGPU_LACKS_IT(what) __attribute__((unavailable(what)))

/* Functions of the runtime. */
#define UNSUPPORTED(name) cudaError_t name(...) SIMGPU_LACKS_IT("SimGPU does not have it");
#include "cuda_unsupported.def"

/* Types. */
#define SIMGPU_NO_TYPE(name, like, what) typedef like name SIMGPU_LACKS_IT("SimGPU does not have " what);
SIMGPU_NO_TYPE(cudaExternalMemory_t, void *, "memory of other APIs")
SIMGPU_NO_TYPE(cudaMemPoolPtrExportData, int, "memory of other processes")
SIMGPU_NO_TYPE(cudaGraphConditionalHandle, unsigned long long, "conditional nodes of graphs")
SIMGPU_NO_TYPE(cudaIpcMemHandle_t, void *, "memory of other processes")
SIMGPU_NO_TYPE(cudaIpcEventHandle_t, void *, "events of other processes")
SIMGPU_NO_TYPE(cudaMemFabricHandle_t, void *, "memory of other processes")
SIMGPU_NO_TYPE(cudaExternalSemaphore_t, void *, "semaphores of other APIs")
SIMGPU_NO_TYPE(cudaLibrary_t, void *, "libraries of kernels")
SIMGPU_NO_TYPE(cudaUserObject_t, void *, "objects that graphs own")
SIMGPU_NO_TYPE(cudaGraphDeviceNode_t, void *, "nodes that kernels change")
SIMGPU_NO_TYPE(cudaAsyncCallbackHandle_t, void *, "notices of the driver")
SIMGPU_NO_TYPE(cudaLogsCallbackHandle, void *, "the driver's log")
#undef SIMGPU_NO_TYPE

#endif
