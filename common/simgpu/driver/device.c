/* device.c — devices: number, names, attributes, pools, peers. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

#define NEEDS_DEVICE(name, device)                                                                                     \
    do {                                                                                                               \
        CUresult drv_bad = drv_check_device(#name, device);                                                            \
        if (drv_bad != CUDA_SUCCESS) return drv_bad;                                                                   \
    } while (0)

CUresult cuDriverGetVersion(int *version) { return AS(cuDriverGetVersion, cudaDriverGetVersion(version)); }

CUresult cuDeviceGetCount(int *count) {
    NEEDS_INIT(cuDeviceGetCount);
    return AS(cuDeviceGetCount, cudaGetDeviceCount(count));
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    NEEDS_DEVICE(cuDeviceGet, ordinal);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    struct cudaDeviceProp p;
    if (!name || length < 1) return CUDA_ERROR_INVALID_VALUE;
    NEEDS_DEVICE(cuDeviceGetName, device);
    CUresult e = AS(cuDeviceGetName, cudaGetDeviceProperties(&p, device));
    if (e == CUDA_SUCCESS) snprintf(name, (size_t)length, "%s", p.name);
    return e;
}

/* The same on every machine: a device has no serial number. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    NEEDS_DEVICE(cuDeviceGetUuid, device);
    memset(uuid, 0, sizeof *uuid);
    memcpy(uuid->bytes, "SimGPU", 6);
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    struct cudaDeviceProp p;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    NEEDS_DEVICE(cuDeviceTotalMem, device);
    CUresult e = AS(cuDeviceTotalMem, cudaGetDeviceProperties(&p, device));
    if (e == CUDA_SUCCESS) *bytes = p.totalGlobalMem;
    return e;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    NEEDS_DEVICE(cuDeviceGetAttribute, device);
    return AS(cuDeviceGetAttribute, cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    struct cudaDeviceProp p;
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    NEEDS_DEVICE(cuDeviceComputeCapability, device);
    CUresult e = AS(cuDeviceComputeCapability, cudaGetDeviceProperties(&p, device));
    if (e == CUDA_SUCCESS) *major = p.major, *minor = p.minor;
    return e;
}

CUresult cuDeviceGetProperties(CUdevprop *d, CUdevice device) {
    struct cudaDeviceProp p;
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    NEEDS_DEVICE(cuDeviceGetProperties, device);
    CUresult e = AS(cuDeviceGetProperties, cudaGetDeviceProperties(&p, device));
    if (e != CUDA_SUCCESS) return e;
    *d = (CUdevprop){.maxThreadsPerBlock = p.maxThreadsPerBlock,
                     .sharedMemPerBlock = (int)p.sharedMemPerBlock,
                     .totalConstantMemory = (int)p.totalConstMem,
                     .SIMDWidth = p.warpSize,
                     .memPitch = (int)p.memPitch,
                     .regsPerBlock = p.regsPerBlock,
                     .clockRate = p.clockRate,
                     .textureAlign = (int)p.textureAlignment};
    memcpy(d->maxThreadsDim, p.maxThreadsDim, sizeof d->maxThreadsDim);
    memcpy(d->maxGridSize, p.maxGridSize, sizeof d->maxGridSize);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
    NEEDS_DEVICE(cuDeviceGetPCIBusId, device);
    return AS(cuDeviceGetPCIBusId, cudaDeviceGetPCIBusId(text, length, device));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
    NEEDS_INIT(cuDeviceGetByPCIBusId);
    return AS(cuDeviceGetByPCIBusId, cudaDeviceGetByPCIBusId(device, text));
}

/* --- pools -------------------------------------------------------------------------------------------------- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    NEEDS_DEVICE(cuDeviceGetDefaultMemPool, device);
    return AS(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool(pool, device));
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    NEEDS_DEVICE(cuDeviceGetMemPool, device);
    return AS(cuDeviceGetMemPool, cudaDeviceGetMemPool(pool, device));
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    NEEDS_DEVICE(cuDeviceSetMemPool, device);
    return AS(cuDeviceSetMemPool, cudaDeviceSetMemPool(device, pool));
}
/* The structs and enums are the runtime's, field by field. */
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
    NEEDS_INIT(cuMemPoolCreate);
    return AS(cuMemPoolCreate, cudaMemPoolCreate(pool, (const struct cudaMemPoolProps *)props));
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    NEEDS_INIT(cuMemPoolDestroy);
    return AS(cuMemPoolDestroy, cudaMemPoolDestroy(pool));
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count) {
    NEEDS_INIT(cuMemPoolSetAccess);
    return AS(cuMemPoolSetAccess, cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)list, count));
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    NEEDS_INIT(cuMemPoolGetAccess);
    return AS(cuMemPoolGetAccess,
              cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool, (struct cudaMemLocation *)location));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    NEEDS_INIT(cuMemPoolTrimTo);
    return AS(cuMemPoolTrimTo, cudaMemPoolTrimTo(pool, keep));
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    NEEDS_INIT(cuMemPoolSetAttribute);
    return AS(cuMemPoolSetAttribute, cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    NEEDS_INIT(cuMemPoolGetAttribute);
    return AS(cuMemPoolGetAttribute, cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

/* --- peers --------------------------------------------------------------------------------------------------- */

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    NEEDS_INIT(cuDeviceCanAccessPeer);
    return AS(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer(can, device, peer));
}
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer) {
    NEEDS_INIT(cuDeviceGetP2PAttribute);
    return AS(cuDeviceGetP2PAttribute,
              cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)attribute, device, peer));
}

/* From all contexts of the current device to those of the other. */
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    NEEDS_CONTEXT(cuCtxEnablePeerAccess);
    if (!drv_context_live(peer)) return CUDA_ERROR_INVALID_CONTEXT;
    return AS(cuCtxEnablePeerAccess, cudaDeviceEnablePeerAccess(drv_device_of(peer), flags));
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    NEEDS_CONTEXT(cuCtxDisablePeerAccess);
    if (!drv_context_live(peer)) return CUDA_ERROR_INVALID_CONTEXT;
    return AS(cuCtxDisablePeerAccess, cudaDeviceDisablePeerAccess(drv_device_of(peer)));
}

/* --- memory of graphs --------------------------------------------------------------------------------------- */

CUresult cuDeviceGraphMemTrim(CUdevice device) {
    NEEDS_DEVICE(cuDeviceGraphMemTrim, device);
    return AS(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim(device));
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    NEEDS_DEVICE(cuDeviceGetGraphMemAttribute, device);
    return AS(cuDeviceGetGraphMemAttribute,
              cudaDeviceGetGraphMemAttribute(device, (enum cudaGraphMemAttributeType)attribute, value));
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    NEEDS_DEVICE(cuDeviceSetGraphMemAttribute, device);
    return AS(cuDeviceSetGraphMemAttribute,
              cudaDeviceSetGraphMemAttribute(device, (enum cudaGraphMemAttributeType)attribute, value));
}
