/* properties.c — queries about the device: properties, attributes, limits, versions.
 *
 * Values that differ between GPUs come from the profile; the others are those of an H200's driver (compute capability
 * 9.0). CUDA 13 removed fields of the property struct; programs built with CUDA 12 or 13 each get their layout. */
#include "rt.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cudaDeviceProp in CUDA 13's layout; only the fields that SimGPU fills in have names. */
typedef struct {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount, integrated, canMapHostMemory;
    int textures[39]; /* limits of textures and surfaces */
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int others[19];
    int reserved[56];
} prop13;

/* Fields of both layouts. Those of clusters stay 0, since SimGPU lacks them. */
#define FILL_COMMON(d, p)                                                                                              \
    do {                                                                                                               \
        memset((d), 0, sizeof *(d));                                                                                   \
        snprintf((d)->name, sizeof(d)->name, "virtual %s", (p)->name);                                                 \
        (d)->totalGlobalMem = (size_t)(p)->memory_bytes;                                                               \
        (d)->sharedMemPerBlock = (size_t)(p)->shared_per_block;                                                        \
        (d)->regsPerBlock = (d)->regsPerMultiprocessor = (int)(p)->registers_per_sm;                                   \
        (d)->warpSize = 32;                                                                                            \
        (d)->memPitch = 2147483647;                                                                                    \
        (d)->maxThreadsPerBlock = (d)->maxThreadsDim[0] = (d)->maxThreadsDim[1] = 1024;                                \
        (d)->maxThreadsDim[2] = 64;                                                                                    \
        (d)->maxGridSize[0] = 2147483647;                                                                              \
        (d)->maxGridSize[1] = (d)->maxGridSize[2] = 65535;                                                             \
        (d)->totalConstMem = 65536;                                                                                    \
        (d)->major = (int)(p)->capability / 10;                                                                        \
        (d)->minor = (int)(p)->capability % 10;                                                                        \
        (d)->textureAlignment = (d)->surfaceAlignment = 512;                                                           \
        (d)->texturePitchAlignment = 32;                                                                               \
        (d)->multiProcessorCount = (int)(p)->sm_count;                                                                 \
        (d)->canMapHostMemory = (d)->managedMemory = (d)->concurrentManagedAccess = 1;                                 \
        (d)->concurrentKernels = (d)->ECCEnabled = 1;                                                                  \
        (d)->asyncEngineCount = 3;                                                                                     \
        (d)->unifiedAddressing = (d)->streamPrioritiesSupported = 1;                                                   \
        (d)->memoryBusWidth = (int)(p)->bus_bits;                                                                      \
        (d)->l2CacheSize = (int)(p)->l2_bytes;                                                                         \
        (d)->maxThreadsPerMultiProcessor = (int)(p)->warps_per_sm * 32;                                                \
        (d)->globalL1CacheSupported = (d)->localL1CacheSupported = 1;                                                  \
        (d)->sharedMemPerMultiprocessor = (size_t)(p)->shared_per_sm;                                                  \
        (d)->sharedMemPerBlockOptin = (size_t)(p)->shared_per_block_optin;                                             \
        (d)->reservedSharedMemPerBlock = (size_t)(p)->shared_reserved;                                                 \
        (d)->maxBlocksPerMultiProcessor = (int)(p)->blocks_per_sm;                                                     \
        (d)->hostRegisterSupported = (d)->cooperativeLaunch = 1;                                                       \
    } while (0)

/* The function for CUDA 12's layout, under its name in CUDA 12, which SimGPU's headers use too. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    RT_BEGIN;
    cudaError_t e = prop ? rt_check_device(device) : cudaErrorInvalidValue;
    if (e != cudaSuccess) return rt_end(e);
    const time_profile *p = time_profile_get();
    FILL_COMMON(prop, p);
    prop->clockRate = (int)(p->clock_ghz * 1e6 + 0.5);
    prop->memoryClockRate = (int)p->memory_clock_khz;
    prop->deviceOverlap = prop->memoryPoolsSupported = 1;
    prop->singleToDoublePrecisionPerfRatio = 2;
    memcpy((char *)prop + offsetof(struct cudaDeviceProp, maxTexture1D), rt_texture_limits, sizeof rt_texture_limits);
    return rt_end(cudaSuccess);
}

/* The function that programs built with CUDA 13 call. */
cudaError_t simgpu_properties13(prop13 *prop, int device) __asm__("cudaGetDeviceProperties");
cudaError_t simgpu_properties13(prop13 *prop, int device) {
    RT_BEGIN;
    cudaError_t e = prop ? rt_check_device(device) : cudaErrorInvalidValue;
    if (e != cudaSuccess) return rt_end(e);
    FILL_COMMON(prop, time_profile_get());
    prop->textures[0] = rt_texture_limits[0], prop->textures[1] = rt_texture_limits[1];
    memcpy(prop->textures + 2, rt_texture_limits + 3, sizeof prop->textures - 2 * sizeof(int)); /* no 1DLinear */
    return rt_end(cudaSuccess);
}

bool rt_attribute(enum cudaDeviceAttr attr, int *value) {
    const time_profile *p = time_profile_get();
    switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = 1024; return true;
    case cudaDevAttrMaxBlockDimZ: *value = 64; return true;
    case cudaDevAttrMaxPitch:
    case cudaDevAttrMaxGridDimX: *value = 2147483647; return true;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; return true;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p->shared_per_block; return true;
    case cudaDevAttrTotalConstantMemory: *value = 65536; return true;
    case cudaDevAttrWarpSize: *value = 32; return true;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = (int)p->registers_per_sm; return true;
    case cudaDevAttrClockRate: *value = (int)(p->clock_ghz * 1e6 + 0.5); return true;
    case cudaDevAttrTextureAlignment: *value = 512; return true;
    case cudaDevAttrMultiProcessorCount: *value = (int)p->sm_count; return true;
    case cudaDevAttrMemoryClockRate: *value = (int)p->memory_clock_khz; return true;
    case cudaDevAttrGlobalMemoryBusWidth: *value = (int)p->bus_bits; return true;
    case cudaDevAttrL2CacheSize: *value = (int)p->l2_bytes; return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = (int)p->warps_per_sm * 32; return true;
    case cudaDevAttrAsyncEngineCount: *value = 3; return true;
    case cudaDevAttrComputeCapabilityMajor: *value = (int)p->capability / 10; return true;
    case cudaDevAttrComputeCapabilityMinor: *value = (int)p->capability % 10; return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p->shared_per_sm; return true;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = 2; return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p->shared_per_block_optin; return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = (int)p->blocks_per_sm; return true;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)p->shared_reserved; return true;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported: *value = 1; return true;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
    case cudaDevAttrClusterLaunch: *value = 0; return true;
    default: break;
    }
    enum { VIRTUAL_MEMORY = 102, LAST = 148 }; /* the first is in the driver's list only */
    if (rt_texture_attribute(attr, value)) return true;
    *value = attr == (enum cudaDeviceAttr)VIRTUAL_MEMORY; /* the others are features that this card lacks */
    return (unsigned)attr - 1 < LAST;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device) {
    RT_BEGIN;
    cudaError_t e = value ? rt_check_device(device) : cudaErrorInvalidValue;
    if (e == cudaSuccess && !rt_attribute(attr, value)) {
        rt_say("SimGPU does not know attribute %d", (int)attr);
        e = cudaErrorInvalidValue;
    }
    return rt_end(e);
}

cudaError_t cudaGetDeviceCount(int *count) {
    RT_BEGIN;
    if (count) *count = (int)rt_cards();
    return rt_end(count ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGetDevice(int *device) {
    RT_BEGIN;
    if (device) *device = (int)rt_chosen();
    return rt_end(device ? cudaSuccess : cudaErrorInvalidValue);
}
/* Each host thread has a device of its own. */
cudaError_t cudaSetDevice(int device) {
    cudaError_t dead = rt_begin(__func__), e = dead == cudaErrorNotPermitted ? dead : rt_check_device(device);
    if (e == cudaSuccess) rt_choose((uint32_t)device, NULL);
    if (e == cudaSuccess) rt_select(false);
    return rt_end(e == cudaSuccess ? rt_look_for_fault() : e);
}
/* The flags say how the host waits, which does not matter to a virtual host; they are kept for cudaGetDeviceFlags. */
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    RT_BEGIN;
    const unsigned way = flags & cudaDeviceScheduleMask;
    if (flags & ~(unsigned)cudaDeviceMask || (way & (way - 1))) {
        rt_say("0x%x is no combination of cudaDevice... flags; of cudaDeviceSchedule... only one may be set", flags);
        return rt_end(cudaErrorInvalidValue);
    }
    rt_device->flags = flags;
    return rt_end(cudaSuccess);
}
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    RT_BEGIN;
    if (flags) *flags = rt_device->flags;
    return rt_end(flags ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
    RT_BEGIN;
    cudaError_t e = text && length > 12 ? rt_check_device(device) : cudaErrorInvalidValue;
    if (e == cudaSuccess) snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)device);
    return rt_end(e);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    RT_BEGIN;
    unsigned domain = 0, bus, slot, function = 0;
    if (!device || !text) return rt_end(cudaErrorInvalidValue);
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 && sscanf(text, "%x:%x", &bus, &slot) != 2)
        return rt_end(cudaErrorInvalidValue);
    if (domain || bus >= rt_cards() || slot || function) return rt_end(cudaErrorInvalidDevice);
    *device = (int)bus;
    return rt_end(cudaSuccess);
}

/* The preference is a hint. */
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    RT_BEGIN;
    if ((unsigned)config > cudaFuncCachePreferEqual) return rt_end(cudaErrorInvalidValue);
    rt_device->cache_config = config;
    return rt_end(cudaSuccess);
}
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
    RT_BEGIN;
    if (config) *config = rt_device->cache_config;
    return rt_end(config ? cudaSuccess : cudaErrorInvalidValue);
}

/* All devices are alike, so the first one matches best. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) {
    RT_BEGIN;
    if (!device || !prop) return rt_end(cudaErrorInvalidValue);
    *device = 0;
    return rt_end(cudaSuccess);
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    RT_BEGIN;
    if (count < 0 || (count && !devices)) return rt_end(cudaErrorInvalidValue);
    for (int k = 0; k < count; k++)
        if (rt_check_device(devices[k]) != cudaSuccess) return rt_end(cudaErrorInvalidDevice);
    return rt_end(cudaSuccess);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    RT_BEGIN;
    (void)device_flags; /* the way in which the host waits */
    if (flags > 1) return rt_end(cudaErrorInvalidValue);
    return rt_end(rt_check_device(device));
}

/* There is no part of L2 that is set apart, so nothing is to be given back. */
cudaError_t cudaCtxResetPersistingL2Cache(void) {
    RT_BEGIN;
    return rt_end(cudaSuccess);
}

int (*rt_driver_find)(const char *symbol, void **function, int version);

/* result: 0 found, 1 no such name, 2 the version is too old. */
static cudaError_t find_entry(const char *symbol, void **function, unsigned version, unsigned long long flags,
                              enum cudaDriverEntryPointQueryResult *result) {
    if (!symbol || !function || flags > 2) return cudaErrorInvalidValue;
    *function = NULL;
    int found = rt_driver_find ? rt_driver_find(symbol, function, (int)version) : cudaDriverEntryPointSymbolNotFound;
    if (result) *result = (enum cudaDriverEntryPointQueryResult)found;
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
    RT_BEGIN;
    return rt_end(find_entry(symbol, function, CUDART_VERSION, flags, result));
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result) {
    RT_BEGIN;
    return rt_end(find_entry(symbol, function, version, flags, result));
}

/* Cards since Maxwell have banks of four bytes; to ask for others is no error. */
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    RT_BEGIN;
    return rt_end((unsigned)config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess);
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
    RT_BEGIN;
    if (config) *config = cudaSharedMemBankSizeFourByte;
    return rt_end(config ? cudaSuccess : cudaErrorInvalidValue);
}

/* The depth of launches by kernels is no limit of cards since compute capability 9.0. */
bool rt_has_limit(enum cudaLimit limit) {
    return (unsigned)limit <= cudaLimitPersistingL2CacheSize && limit != cudaLimitDevRuntimeSyncDepth;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    RT_BEGIN;
    if (!rt_has_limit(limit)) return rt_end(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitMallocHeapSize) {
        if (exec_heap_begun(rt_device->exec)) {
            rt_say("a kernel has used the heap already; set its size before");
            return rt_end(cudaErrorInvalidValue);
        }
        if (value > (size_t)time_profile_get()->memory_bytes) return rt_end(cudaErrorMemoryAllocation);
        value = value < 4 << 20 ? 4 << 20 : (value + 0xffff) / 0x10000 * 0x10000; /* as an H200's driver rounds it */
        exec_heap_limit(rt_device->exec, value);
    }
    if (limit == cudaLimitPrintfFifoSize) {
        if (value > (size_t)time_profile_get()->memory_bytes) return rt_end(cudaErrorMemoryAllocation);
        exec_print_limit(rt_device->exec, value);
    }
    if (limit == cudaLimitStackSize) value = (value + 15) / 16 * 16;
    rt_device->limits[limit] = value; /* of the others only cudaDeviceGetLimit hears */
    return rt_end(cudaSuccess);
}
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    RT_BEGIN;
    if (!value) return rt_end(cudaErrorInvalidValue);
    if (!rt_has_limit(limit)) return rt_end(cudaErrorUnsupportedLimit);
    *value = rt_device->limits[limit];
    return rt_end(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    RT_BEGIN;
    if (least) *least = 0;
    if (greatest) *greatest = RT_HIGHEST_PRIORITY;
    return rt_end(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    RT_BEGIN;
    if (version) *version = CUDART_VERSION;
    return rt_end(version ? cudaSuccess : cudaErrorInvalidValue);
}
/* A driver is as new as the newest runtime that a program may bring: programs refuse to run on an older one. */
cudaError_t cudaDriverGetVersion(int *version) {
    RT_BEGIN;
    if (version) *version = 13000;
    return rt_end(version ? cudaSuccess : cudaErrorInvalidValue);
}

/* Ignored: SimGPU reports every range. */
cudaError_t cudaProfilerStart(void) {
    RT_BEGIN;
    return rt_end(cudaSuccess);
}
cudaError_t cudaProfilerStop(void) {
    RT_BEGIN;
    return rt_end(cudaSuccess);
}
