/* memory.c — device memory, page-locked memory, copies and memset. */
#include "driver.h"

#include <string.h>

static void *pointer(CUdeviceptr address) { return (void *)(uintptr_t)address; }

/* --- allocation --------------------------------------------------------------------------------------------- */

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    NEEDS_CONTEXT(cuMemGetInfo);
    return AS(cuMemGetInfo, cudaMemGetInfo(free, total));
}

/* Unlike the runtime, the driver refuses to allocate 0 bytes. */
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    NEEDS_CONTEXT(cuMemAlloc);
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemAlloc, cudaMalloc((void **)address, bytes));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    NEEDS_CONTEXT(cuMemAllocPitch);
    if (!address || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemAllocPitch, cudaMallocPitch((void **)address, pitch, width, height));
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT(cuMemAllocManaged);
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemAllocManaged, cudaMallocManaged((void **)address, bytes, flags));
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    NEEDS_ADDRESS(cuMemFree, address);
    return AS(cuMemFree, cudaFree(pointer(address)));
}

/* The runtime's functions have no such query, so this one has a frame of its own. */
static CUresult range_of(const char *name, CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    CUresult e = drv_begin(name);
    uint64_t first, size;
    const rt_block *b = rt_block_of(address);
    if (b)
        first = b->address, size = b->bytes;
    else if (!rt_pool_block_of(address, &first, &size)) {
        /* A variable of a module, or a string in a kernel. */
        const struct simgpu_address a = exec_mem_locate(rt_device->exec, address);
        if (a.where != SIMGPU_INSIDE || a.freed) return drv_end(e != CUDA_SUCCESS ? e : CUDA_ERROR_NOT_FOUND);
        first = a.base, size = a.bytes;
    }
    if (base) *base = first;
    if (bytes) *bytes = size;
    return drv_end(e);
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    NEEDS_CONTEXT(cuMemGetAddressRange);
    NEEDS_ADDRESS(cuMemGetAddressRange, address);
    return range_of("cuMemGetAddressRange", base, bytes, address);
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
    NEEDS_CONTEXT(cuMemAllocHost);
    if (!memory || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemAllocHost, cudaMallocHost(memory, bytes));
}
CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT(cuMemHostAlloc);
    if (!memory || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemHostAlloc, cudaHostAlloc(memory, bytes, flags));
}
CUresult cuMemFreeHost(void *memory) {
    NEEDS_ADDRESS(cuMemFreeHost, (uintptr_t)memory);
    if (!memory) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemFreeHost, cudaFreeHost(memory));
}
CUresult cuMemHostGetFlags(unsigned *flags, void *memory) {
    NEEDS_CONTEXT(cuMemHostGetFlags);
    return AS(cuMemHostGetFlags, cudaHostGetFlags(flags, memory));
}
CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT(cuMemHostRegister);
    return AS(cuMemHostRegister, cudaHostRegister(memory, bytes, flags));
}
CUresult cuMemHostUnregister(void *memory) {
    NEEDS_ADDRESS(cuMemHostUnregister, (uintptr_t)memory);
    return AS(cuMemHostUnregister, cudaHostUnregister(memory));
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    NEEDS_STREAM(cuMemAllocAsync, stream);
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemAllocAsync, cudaMallocAsync((void **)address, bytes, stream));
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    NEEDS_STREAM(cuMemAllocFromPoolAsync, stream);
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return AS(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync((void **)address, bytes, pool, stream));
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    NEEDS_STREAM(cuMemFreeAsync, stream);
    return AS(cuMemFreeAsync, cudaFreeAsync(pointer(address), stream));
}

/* --- managed memory, and host memory that kernels use --------------------------------------------------------- */

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags) {
    NEEDS_CONTEXT(cuMemHostGetDevicePointer);
    return AS(cuMemHostGetDevicePointer, cudaHostGetDevicePointer((void **)address, memory, flags));
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
    NEEDS_STREAM(cuStreamAttachMemAsync, stream);
    return AS(cuStreamAttachMemAsync, cudaStreamAttachMemAsync(stream, pointer(address), bytes, flags));
}

static struct cudaMemLocation place(CUmemLocation l) {
    return (struct cudaMemLocation){(enum cudaMemLocationType)l.type, l.id};
}

/* The place that the older layouts name by a device, or by CU_DEVICE_CPU. */
static CUmemLocation place_of(CUdevice device) {
    if (device == CU_DEVICE_CPU) return (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                               CUstream stream) {
    NEEDS_STREAM(cuMemPrefetchAsync, stream);
    return AS(cuMemPrefetchAsync, cudaMemPrefetchAsync(pointer(address), bytes, place(location), flags, stream));
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync_v2(address, bytes, place_of(device), 0, stream);
}
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
    NEEDS_CONTEXT(cuMemAdvise);
    return AS(cuMemAdvise, cudaMemAdvise(pointer(address), bytes, (enum cudaMemoryAdvise)advice, place(location)));
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(address, bytes, advice, place_of(device));
}
CUresult cuMemRangeGetAttribute(void *value, size_t size, CUmem_range_attribute attribute, CUdeviceptr address,
                                size_t bytes) {
    NEEDS_CONTEXT(cuMemRangeGetAttribute);
    return AS(cuMemRangeGetAttribute,
              cudaMemRangeGetAttribute(value, size, (enum cudaMemRangeAttribute)attribute, pointer(address), bytes));
}
CUresult cuMemRangeGetAttributes(void **values, size_t *sizes, CUmem_range_attribute *attributes, size_t count,
                                 CUdeviceptr address, size_t bytes) {
    NEEDS_CONTEXT(cuMemRangeGetAttributes);
    return AS(cuMemRangeGetAttributes,
              cudaMemRangeGetAttributes(values, sizes, (enum cudaMemRangeAttribute *)attributes, count,
                                        pointer(address), bytes));
}

/* --- what a pointer points to ------------------------------------------------------------------------------- */

static CUresult range_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    CUdeviceptr base;
    size_t bytes;
    CUresult e = range_of("cuPointerGetAttribute", &base, &bytes, address);
    if (e != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
        *(size_t *)value = bytes;
    else
        *(CUdeviceptr *)value = base;
    return CUDA_SUCCESS;
}

/* Memory of a pool belongs to no context, nor does mapped memory. */
static CUresult context_of(CUcontext *context, CUdeviceptr address, CUdevice device) {
    uint64_t base, bytes;
    CUresult e = drv_begin("cuPointerGetAttribute");
    const rt_block *b = rt_managed_find(address);
    if (!b) b = rt_block_of(address);
    if (b)
        *context = drv_context_of(b->context, (CUdevice)b->ordinal);
    else if (rt_pool_block_of(address, &base, &bytes) || drv_mapped(address))
        *context = NULL;
    else
        *context = drv_context_of(rt_module_context_at(address), device);
    return drv_end(e);
}

static CUresult pool_of(CUmemoryPool *pool, CUdeviceptr address) {
    uint64_t base, bytes;
    CUresult e = drv_begin("cuPointerGetAttribute");
    *pool = (CUmemoryPool)(uintptr_t)rt_pool_block_of(address, &base, &bytes);
    return drv_end(e);
}

static CUresult attribute_of(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    struct cudaPointerAttributes a;
    CUresult e = AS(cuPointerGetAttribute, cudaPointerGetAttributes(&a, pointer(address)));
    if (e != CUDA_SUCCESS) return e;
    if (a.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return context_of(value, address, a.device);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = a.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)a.devicePointer;
        return a.devicePointer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)value = a.hostPointer;
        return a.hostPointer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)value = a.type == cudaMemoryTypeManaged; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)value = 1; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = a.device; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return pool_of(value, address);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return range_attribute(value, attribute, address);
    default: return drv_unsupported("cuPointerGetAttribute with this attribute");
    }
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    NEEDS_ADDRESS(cuPointerGetAttribute, address);
    return value ? attribute_of(value, attribute, address) : CUDA_ERROR_INVALID_VALUE;
}

/* As in CUDA, an attribute that the pointer lacks is no error here; its value stays. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr address) {
    NEEDS_ADDRESS(cuPointerGetAttributes, address);
    if (count && (!attributes || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned k = 0; k < count; k++) {
        if (!values[k]) return CUDA_ERROR_INVALID_VALUE;
        attribute_of(values[k], attributes[k], address);
    }
    return CUDA_SUCCESS;
}

/* With this attribute, copies and memsets of the memory wait for their end on a card. Here they do not: the attribute
 * is for other devices on the bus that read the memory, and there are none. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    unsigned type;
    NEEDS_ADDRESS(cuPointerSetAttribute, address);
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return drv_refuse("cuPointerSetAttribute", CUDA_ERROR_INVALID_VALUE,
                          "only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS can be set, not attribute %d", (int)attribute);
    return attribute_of(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
}

/* --- copies ------------------------------------------------------------------------------------------------- */

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    NEEDS_CONTEXT(cuMemcpy);
    return AS(cuMemcpy, cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    NEEDS_STREAM(cuMemcpyAsync, stream);
    return AS(cuMemcpyAsync, cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream));
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    NEEDS_CONTEXT(cuMemcpyHtoD);
    return AS(cuMemcpyHtoD, cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    NEEDS_STREAM(cuMemcpyHtoDAsync, stream);
    return AS(cuMemcpyHtoDAsync, cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    NEEDS_CONTEXT(cuMemcpyDtoH);
    return AS(cuMemcpyDtoH, cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    NEEDS_STREAM(cuMemcpyDtoHAsync, stream);
    return AS(cuMemcpyDtoHAsync, cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream));
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    NEEDS_CONTEXT(cuMemcpyDtoD);
    return AS(cuMemcpyDtoD, cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    NEEDS_STREAM(cuMemcpyDtoDAsync, stream);
    return AS(cuMemcpyDtoDAsync, cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

/* Sets *device to that of the context, or to the memory's own if the context is NULL, which the card takes, too.
 * Returns false if there is no such context. */
static bool device_for(CUcontext context, CUdeviceptr address, int *device) {
    if (context && !drv_context_live(context)) return false;
    rt_lock();
    *device = context ? drv_device_of(context) : (int)rt_owner(address)->ordinal;
    rt_unlock();
    return true;
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
    NEEDS_CONTEXT(cuMemcpyPeer);
    int there, here;
    if (!device_for(to_context, to, &there) || !device_for(from_context, from, &here))
        return CUDA_ERROR_INVALID_CONTEXT;
    return AS(cuMemcpyPeer, cudaMemcpyPeer(pointer(to), there, pointer(from), here, bytes));
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                           CUstream stream) {
    NEEDS_STREAM(cuMemcpyPeerAsync, stream);
    int there, here;
    if (!device_for(to_context, to, &there) || !device_for(from_context, from, &here))
        return CUDA_ERROR_INVALID_CONTEXT;
    return AS(cuMemcpyPeerAsync, cudaMemcpyPeerAsync(pointer(to), there, pointer(from), here, bytes, stream));
}

/* One end of a copy of rows and planes, as the driver describes it. */
typedef struct {
    CUmemorytype type;
    uint64_t host, device;
    CUarray array;
    size_t x, y, z, pitch, rows; /* x: bytes */
} end;

/* Sets *e to memory from the copy's first byte on. */
static CUresult memory_end(const end *o, struct cudaPitchedPtr *e) {
    uint64_t start = o->type == CU_MEMORYTYPE_HOST ? o->host : o->device;
    size_t plane, skip_planes, skip_rows;
    if (__builtin_mul_overflow(o->pitch, o->rows, &plane) || __builtin_mul_overflow(plane, o->z, &skip_planes) ||
        __builtin_mul_overflow(o->pitch, o->y, &skip_rows))
        return CUDA_ERROR_INVALID_VALUE;
    *e = (struct cudaPitchedPtr){pointer(start + skip_planes + skip_rows + o->x), o->pitch, o->pitch, o->rows};
    return CUDA_SUCCESS;
}

/* Sets *array and *at to an array and a place in it. Sets *texel to the size of its elements, which its extents count.
 */
static CUresult array_end(const end *o, cudaArray_t *array, struct cudaPos *at, size_t *texel) {
    size_t bytes = 1;
    CUresult e = drv_texel_bytes(o->array, &bytes);
    if (e != CUDA_SUCCESS) return e;
    if (o->x % bytes) return CUDA_ERROR_INVALID_VALUE;
    *array = (cudaArray_t)o->array;
    *at = (struct cudaPos){o->x / bytes, o->y, o->z};
    *texel = bytes;
    return CUDA_SUCCESS;
}

static enum cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    if (to == CU_MEMORYTYPE_HOST) return from == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return from == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

static bool is_type(CUmemorytype t) { return t >= CU_MEMORYTYPE_HOST && t <= CU_MEMORYTYPE_UNIFIED; }

/* The pitch of one row, and the height of one plane, may be 0. */
CUresult drv_box(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p) {
    if (!c || c->srcLOD || c->dstLOD || !is_type(c->srcMemoryType) || !is_type(c->dstMemoryType))
        return CUDA_ERROR_INVALID_VALUE;
    const bool to_array = c->dstMemoryType == CU_MEMORYTYPE_ARRAY, from_array = c->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    if (c->Depth > 1 && ((!to_array && c->dstHeight < c->Height) || (!from_array && c->srcHeight < c->Height)))
        return CUDA_ERROR_INVALID_VALUE;
    const end to = {c->dstMemoryType, (uintptr_t)c->dstHost,
                    c->dstDevice,     c->dstArray,
                    c->dstXInBytes,   c->dstY,
                    c->dstZ,          c->dstPitch ? c->dstPitch : c->WidthInBytes,
                    c->dstHeight};
    const end from = {c->srcMemoryType, (uintptr_t)c->srcHost,
                      c->srcDevice,     c->srcArray,
                      c->srcXInBytes,   c->srcY,
                      c->srcZ,          c->srcPitch ? c->srcPitch : c->WidthInBytes,
                      c->srcHeight};
    size_t texel = 1;
    *p = (struct cudaMemcpy3DParms){.kind = kind_of(c->dstMemoryType, c->srcMemoryType)};
    CUresult e = to_array ? array_end(&to, &p->dstArray, &p->dstPos, &texel) : memory_end(&to, &p->dstPtr);
    if (e == CUDA_SUCCESS)
        e = from_array ? array_end(&from, &p->srcArray, &p->srcPos, &texel) : memory_end(&from, &p->srcPtr);
    if (e != CUDA_SUCCESS || c->WidthInBytes % texel) return e != CUDA_SUCCESS ? e : CUDA_ERROR_INVALID_VALUE;
    p->extent = (struct cudaExtent){c->WidthInBytes / texel, c->Height, c->Depth};
    return CUDA_SUCCESS;
}

static CUresult copy_3d(const char *name, const CUDA_MEMCPY3D *c, CUstream stream, bool async) {
    struct cudaMemcpy3DParms p;
    CUresult bad = drv_box(c, &p);
    if (bad != CUDA_SUCCESS) return bad;
    rt_call_as(name);
    return drv_code(async ? cudaMemcpy3DAsync(&p, stream) : cudaMemcpy3D(&p));
}

static CUresult copy_2d(const char *name, const CUDA_MEMCPY2D *c, CUstream stream, bool async) {
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D box = {.srcXInBytes = c->srcXInBytes,
                         .srcY = c->srcY,
                         .srcMemoryType = c->srcMemoryType,
                         .srcHost = c->srcHost,
                         .srcDevice = c->srcDevice,
                         .srcArray = c->srcArray,
                         .srcPitch = c->srcPitch,
                         .dstXInBytes = c->dstXInBytes,
                         .dstY = c->dstY,
                         .dstMemoryType = c->dstMemoryType,
                         .dstHost = c->dstHost,
                         .dstDevice = c->dstDevice,
                         .dstArray = c->dstArray,
                         .dstPitch = c->dstPitch,
                         .WidthInBytes = c->WidthInBytes,
                         .Height = c->Height,
                         .Depth = 1};
    return copy_3d(name, &box, stream, async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy) {
    NEEDS_CONTEXT(cuMemcpy2D);
    return copy_2d("cuMemcpy2D", copy, NULL, false);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy) {
    NEEDS_CONTEXT(cuMemcpy2DUnaligned);
    return copy_2d("cuMemcpy2DUnaligned", copy, NULL, false);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
    NEEDS_STREAM(cuMemcpy2DAsync, stream);
    return copy_2d("cuMemcpy2DAsync", copy, stream, true);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
    NEEDS_CONTEXT(cuMemcpy3D);
    return copy_3d("cuMemcpy3D", copy, NULL, false);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
    NEEDS_STREAM(cuMemcpy3DAsync, stream);
    return copy_3d("cuMemcpy3DAsync", copy, stream, true);
}

/* The ends of a box between contexts: memory of another device than its context's is refused, as by cudaMemcpy3DPeer.
 */
static CUresult copy_3d_peer(const char *name, const CUDA_MEMCPY3D_PEER *c, CUstream stream, bool async) {
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D box = {.srcXInBytes = c->srcXInBytes,
                               .srcY = c->srcY,
                               .srcZ = c->srcZ,
                               .srcLOD = c->srcLOD,
                               .srcMemoryType = c->srcMemoryType,
                               .srcHost = c->srcHost,
                               .srcDevice = c->srcDevice,
                               .srcArray = c->srcArray,
                               .srcPitch = c->srcPitch,
                               .srcHeight = c->srcHeight,
                               .dstXInBytes = c->dstXInBytes,
                               .dstY = c->dstY,
                               .dstZ = c->dstZ,
                               .dstLOD = c->dstLOD,
                               .dstMemoryType = c->dstMemoryType,
                               .dstHost = c->dstHost,
                               .dstDevice = c->dstDevice,
                               .dstArray = c->dstArray,
                               .dstPitch = c->dstPitch,
                               .dstHeight = c->dstHeight,
                               .WidthInBytes = c->WidthInBytes,
                               .Height = c->Height,
                               .Depth = c->Depth};
    const struct {
        CUmemorytype type;
        CUcontext context;
        CUdeviceptr memory;
    } ends[2] = {{c->srcMemoryType, c->srcContext, c->srcDevice}, {c->dstMemoryType, c->dstContext, c->dstDevice}};
    for (int k = 0; k < 2; k++) {
        if (ends[k].type != CU_MEMORYTYPE_DEVICE) continue;
        int device;
        if (!device_for(ends[k].context, ends[k].memory, &device)) return CUDA_ERROR_INVALID_CONTEXT;
        if (rt_owner(ends[k].memory)->ordinal != (uint32_t)device)
            return drv_refuse(name, CUDA_ERROR_INVALID_VALUE, "an end is memory of another device than its context's");
    }
    return copy_3d(name, &box, stream, async);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy) {
    NEEDS_CONTEXT(cuMemcpy3DPeer);
    return copy_3d_peer("cuMemcpy3DPeer", copy, NULL, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream) {
    NEEDS_STREAM(cuMemcpy3DPeerAsync, stream);
    return copy_3d_peer("cuMemcpy3DPeerAsync", copy, stream, true);
}

/* Copies of bytes from or to the first row of an array. */
static CUresult copy_row(const char *name, const end *to, const end *from, size_t bytes, CUstream stream, bool async) {
    CUDA_MEMCPY3D box = {.srcXInBytes = from->x,
                         .srcMemoryType = from->type,
                         .srcHost = pointer(from->host),
                         .srcDevice = from->device,
                         .srcArray = from->array,
                         .dstXInBytes = to->x,
                         .dstMemoryType = to->type,
                         .dstHost = pointer(to->host),
                         .dstDevice = to->device,
                         .dstArray = to->array,
                         .WidthInBytes = bytes,
                         .Height = 1,
                         .Depth = 1};
    CUresult e = drv_needs_stream(name, stream);
    return e != CUDA_SUCCESS ? e : copy_3d(name, &box, stream, async);
}

#define HOST_END(p)                                                                                                    \
    &(const end) { .type = CU_MEMORYTYPE_HOST, .host = (uintptr_t)(p) }
#define DEVICE_END(p)                                                                                                  \
    &(const end) { .type = CU_MEMORYTYPE_DEVICE, .device = (p) }
#define ARRAY_END(a, byte)                                                                                             \
    &(const end) { .type = CU_MEMORYTYPE_ARRAY, .array = (a), .x = (byte) }

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes) {
    return copy_row("cuMemcpyHtoA", ARRAY_END(to, offset), HOST_END(from), bytes, NULL, false);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream) {
    return copy_row("cuMemcpyHtoAAsync", ARRAY_END(to, offset), HOST_END(from), bytes, stream, true);
}
CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes) {
    return copy_row("cuMemcpyAtoH", HOST_END(to), ARRAY_END(from, offset), bytes, NULL, false);
}
CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
    return copy_row("cuMemcpyAtoHAsync", HOST_END(to), ARRAY_END(from, offset), bytes, stream, true);
}
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
    return copy_row("cuMemcpyDtoA", ARRAY_END(to, offset), DEVICE_END(from), bytes, NULL, false);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
    return copy_row("cuMemcpyAtoD", DEVICE_END(to), ARRAY_END(from, offset), bytes, NULL, false);
}
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
    return copy_row("cuMemcpyAtoA", ARRAY_END(to, to_offset), ARRAY_END(from, from_offset), bytes, NULL, false);
}

/* --- memset ------------------------------------------------------------------------------------------------- */

/* Fills rows of `width` elements. */
static CUresult fill(const char *name, CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
                     size_t height, CUstream stream, bool waits) {
    size_t bytes;
    CUresult e = drv_needs_stream(name, stream);
    if (e != CUDA_SUCCESS) return e;
    if (to % element || (height > 1 && pitch % element) || __builtin_mul_overflow(width, element, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    rt_call_as(name);
    cudaError_t dead = rt_begin(name);
    if (dead == cudaSuccess)
        dead = rt_fill_elements(pointer(to), height > 1 ? pitch : bytes, value, element, bytes, height, stream, waits);
    return drv_code(rt_end(dead));
}

#define MEMSET(Bits, type)                                                                                             \
    CUresult cuMemsetD##Bits##_v2(CUdeviceptr to, type value, size_t count) {                                          \
        return fill("cuMemsetD" #Bits, to, 0, value, Bits / 8, count, 1, NULL, true);                                  \
    }                                                                                                                  \
    CUresult cuMemsetD##Bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) {                       \
        return fill("cuMemsetD" #Bits "Async", to, 0, value, Bits / 8, count, 1, stream, false);                       \
    }                                                                                                                  \
    CUresult cuMemsetD2D##Bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) {           \
        return fill("cuMemsetD2D" #Bits, to, pitch, value, Bits / 8, width, height, NULL, true);                       \
    }                                                                                                                  \
    CUresult cuMemsetD2D##Bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height,           \
                                      CUstream stream) {                                                               \
        return fill("cuMemsetD2D" #Bits "Async", to, pitch, value, Bits / 8, width, height, stream, false);            \
    }
MEMSET(8, unsigned char)
MEMSET(16, unsigned short)
MEMSET(32, unsigned int)
