/* nvtx3/nvToolsExtMemCudaRt.h — the part of nvToolsExtMem.h that knows CUDA; see there. */
#ifndef SIMGPU_NVTX_MEM_CUDART_H
#define SIMGPU_NVTX_MEM_CUDART_H

#include "nvToolsExtMem.h"

#include <cuda_runtime_api.h>

#define NVTX_MEM_TYPE_CUDA_ARRAY       0x11
#define NVTX_MEM_CUDA_PEER_ALL_DEVICES (-1)

typedef struct nvtxMemCudaArrayRangeDesc_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    cudaArray_t src;
    size_t offset[3], extent[3];
} nvtxMemCudaArrayRangeDesc_v1, nvtxMemCudaArrayRangeDesc_t;
typedef struct nvtxMemMarkInitializedBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    size_t regionDescCount, regionDescElementSize;
    void const *regionDescElements;
} nvtxMemMarkInitializedBatch_v1, nvtxMemMarkInitializedBatch_t;

static inline nvtxMemPermissionsHandle_t nvtxMemCudaGetProcessWidePermissions(nvtxDomainHandle_t domain) {
    (void)domain;
    return NVTX_MEM_PERMISSIONS_HANDLE_NO_TOOL;
}
static inline nvtxMemPermissionsHandle_t nvtxMemCudaGetDeviceWidePermissions(nvtxDomainHandle_t domain, int device) {
    (void)domain, (void)device;
    return NVTX_MEM_PERMISSIONS_HANDLE_NO_TOOL;
}
static inline void nvtxMemCudaSetPeerAccess(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions, int peer,
                                            uint32_t flags) {
    (void)domain, (void)permissions, (void)peer, (void)flags;
}
static inline void nvtxMemCudaMarkInitialized(nvtxDomainHandle_t domain, cudaStream_t stream, uint8_t per_thread,
                                              nvtxMemMarkInitializedBatch_t const *desc) {
    (void)domain, (void)stream, (void)per_thread, (void)desc;
}

#endif
