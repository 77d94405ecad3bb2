/* nvtx3/nvToolsExtMem.h — NVTX's extension for memory: heaps, regions and permissions that a program tells a checker
 * (compute-sanitizer) of. SimGPU's checks know cudaMalloc and the pools only, so a call does nothing and returns what
 * NVTX returns where no tool listens. Layouts and numbers are NVTX's. */
#ifndef SIMGPU_NVTX_MEM_H
#define SIMGPU_NVTX_MEM_H

#include <nvToolsExt.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_EXT_MODULEID_MEM 1
#define NVTX_EXT_COMPATID_MEM 0x0102

typedef struct nvtxMemHeap_v1 nvtxMemHeap_t, *nvtxMemHeapHandle_t;
typedef struct nvtxMemRegion_v1 nvtxMemRegion_t, *nvtxMemRegionHandle_t;
typedef struct nvtxMemPermissions_v1 nvtxMemPermissions_t, *nvtxMemPermissionsHandle_t;

#define NVTX_MEM_HEAP_HANDLE_NO_TOOL             ((nvtxMemHeapHandle_t)(intptr_t)-1)
#define NVTX_MEM_REGION_HANDLE_NO_TOOL           ((nvtxMemRegionHandle_t)(intptr_t)-1)
#define NVTX_MEM_PERMISSIONS_HANDLE_NO_TOOL      ((nvtxMemPermissionsHandle_t)(intptr_t)-1)
#define NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE        ((nvtxMemHeapHandle_t)0)
#define NVTX_MEM_PERMISSIONS_HANDLE_PROCESS_WIDE ((nvtxMemPermissionsHandle_t)0)

enum {
    NVTX_MEM_HEAP_USAGE_UNKNOWN = 0,
    NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 1,
    NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT = 2,
    NVTX_MEM_TYPE_UNKNOWN = 0,
    NVTX_MEM_TYPE_VIRTUAL_ADDRESS = 1,
    NVTX_MEM_REGION_REF_TYPE_UNKNOWN = 0,
    NVTX_MEM_REGION_REF_TYPE_POINTER = 1,
    NVTX_MEM_REGION_REF_TYPE_HANDLE = 2,
    NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE = 0,
    NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_READ = 1,
    NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_WRITE = 2,
    NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_ATOMIC = 4,
    NVTX_MEM_PERMISSIONS_REGION_FLAGS_NONE = 0,
    NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ = 1,
    NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE = 2,
    NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC = 4,
    NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET = 8,
    NVTX_MEM_PERMISSIONS_BIND_FLAGS_NONE = 0,
    NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_READ = 1,
    NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_WRITE = 2,
    NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_ATOMIC = 4,
    NVTX_MEM_PERMISSIONS_BIND_SCOPE_UNKNOWN = 0,
    NVTX_MEM_PERMISSIONS_BIND_SCOPE_CPU_THREAD = 1,
    NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM = 2
};

typedef union nvtxMemRegionRef_t {
    void const *pointer;
    nvtxMemRegionHandle_t handle;
} nvtxMemRegionRef_t;
typedef struct nvtxMemVirtualRangeDesc_v1 {
    size_t size;
    void const *ptr;
} nvtxMemVirtualRangeDesc_v1, nvtxMemVirtualRangeDesc_t;
typedef struct nvtxMemHeapDesc_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0, usage, type;
    size_t typeSpecificDescSize;
    void const *typeSpecificDesc;
    uint32_t category, messageType;
    nvtxMessageValue_t message;
} nvtxMemHeapDesc_v1, nvtxMemHeapDesc_t;
typedef struct nvtxMemRegionsRegisterBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    nvtxMemHeapHandle_t heap;
    size_t regionCount, regionDescElementSize;
    void const *regionDescElements;
    nvtxMemRegionHandle_t *regionHandleElementsOut;
} nvtxMemRegionsRegisterBatch_v1, nvtxMemRegionsRegisterBatch_t;
typedef struct nvtxMemRegionsResizeBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    size_t regionDescCount, regionDescElementSize;
    void const *regionDescElements;
} nvtxMemRegionsResizeBatch_v1, nvtxMemRegionsResizeBatch_t;
typedef struct nvtxMemRegionsUnregisterBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t refType;
    size_t refCount, refElementSize;
    nvtxMemRegionRef_t const *refElements;
} nvtxMemRegionsUnregisterBatch_v1, nvtxMemRegionsUnregisterBatch_t;
typedef struct nvtxMemRegionNameDesc_v1 {
    uint32_t regionRefType, nameType;
    nvtxMemRegionRef_t region;
    nvtxMessageValue_t name;
    uint32_t category, reserved0;
} nvtxMemRegionNameDesc_v1, nvtxMemRegionNameDesc_t;
typedef struct nvtxMemRegionsNameBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    size_t regionCount, regionElementSize;
    nvtxMemRegionNameDesc_t const *regionElements;
    size_t reserved1;
} nvtxMemRegionsNameBatch_v1, nvtxMemRegionsNameBatch_t;
typedef struct nvtxMemPermissionsAssignRegionDesc_v1 {
    uint32_t flags, regionRefType;
    nvtxMemRegionRef_t region;
} nvtxMemPermissionsAssignRegionDesc_v1, nvtxMemPermissionsAssignRegionDesc_t;
typedef struct nvtxMemPermissionsAssignBatch_v1 {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    nvtxMemPermissionsHandle_t permissions;
    size_t regionCount, regionElementSize;
    nvtxMemPermissionsAssignRegionDesc_t const *regionElements;
    size_t reserved1;
} nvtxMemPermissionsAssignBatch_v1, nvtxMemPermissionsAssignBatch_t;

#define SIMGPU_NVTX_NOTHING(name, type)                                                                                \
    static inline void name(nvtxDomainHandle_t domain, type argument) { (void)domain, (void)argument; }
SIMGPU_NVTX_NOTHING(nvtxMemHeapUnregister, nvtxMemHeapHandle_t)
SIMGPU_NVTX_NOTHING(nvtxMemHeapReset, nvtxMemHeapHandle_t)
SIMGPU_NVTX_NOTHING(nvtxMemRegionsRegister, nvtxMemRegionsRegisterBatch_t const *)
SIMGPU_NVTX_NOTHING(nvtxMemRegionsResize, nvtxMemRegionsResizeBatch_t const *)
SIMGPU_NVTX_NOTHING(nvtxMemRegionsUnregister, nvtxMemRegionsUnregisterBatch_t const *)
SIMGPU_NVTX_NOTHING(nvtxMemRegionsName, nvtxMemRegionsNameBatch_t const *)
SIMGPU_NVTX_NOTHING(nvtxMemPermissionsAssign, nvtxMemPermissionsAssignBatch_t const *)
SIMGPU_NVTX_NOTHING(nvtxMemPermissionsDestroy, nvtxMemPermissionsHandle_t)
SIMGPU_NVTX_NOTHING(nvtxMemPermissionsReset, nvtxMemPermissionsHandle_t)
SIMGPU_NVTX_NOTHING(nvtxMemPermissionsUnbind, uint32_t)

static inline nvtxMemHeapHandle_t nvtxMemHeapRegister(nvtxDomainHandle_t domain, nvtxMemHeapDesc_t const *desc) {
    (void)domain, (void)desc;
    return NVTX_MEM_HEAP_HANDLE_NO_TOOL;
}
static inline nvtxMemPermissionsHandle_t nvtxMemPermissionsCreate(nvtxDomainHandle_t domain, int32_t flags) {
    (void)domain, (void)flags;
    return NVTX_MEM_PERMISSIONS_HANDLE_NO_TOOL;
}
static inline void nvtxMemPermissionsBind(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions,
                                          uint32_t scope, uint32_t flags) {
    (void)domain, (void)permissions, (void)scope, (void)flags;
}

#endif
