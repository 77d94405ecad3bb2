/* pool.c — stream-ordered allocation: cudaMallocAsync, cudaFreeAsync and the device's default pool.
 *
 *   cudaFreeAsync(p, s)      marks p idle behind all work queued on s so far
 *   cudaMallocAsync(&q, s)   returns an idle block: one freed on s at once, because later work on s runs after the
 *                            block's last use; one freed on another stream only when the device has passed that point
 *
 * So a block is reused while kernels that use it are still queued, and the host does not wait. Each block is one whole
 * allocation of the device, so that an access past its end faults (a driver splits larger ones). When the host
 * synchronizes, idle memory above the release threshold (0 by default) returns to the device. */
#include "rt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static rt_pool_block *find(uint64_t address) {
    for (size_t i = rt_device->pool.count; i-- > 0;)
        if (rt_device->pool.blocks[i].address == address) return &rt_device->pool.blocks[i];
    return NULL;
}

bool rt_pool_block_of(uint64_t address, uint64_t *base, uint64_t *bytes) {
    for (size_t i = 0; i < rt_device->pool.count; i++) {
        const rt_pool_block *b = &rt_device->pool.blocks[i];
        if (b->idle || address - b->address >= b->bytes) continue;
        *base = b->address;
        *bytes = b->bytes;
        return true;
    }
    return false;
}

/* --- growing and shrinking ------------------------------------------------------------------------------------ */

static bool passed(const rt_pool_block *b) { return b->idle && time_point_passed(b->freed); }

static void release(rt_pool_block *b) {
    rt_charge_free(b->bytes);
    exec_mem_free(rt_device->exec, b->address);
    time_activity_free(SIMGPU_MEMORY_DEVICE, b->bytes);
    rt_device->pool.reserved -= b->bytes;
    *b = rt_device->pool.blocks[--rt_device->pool.count];
}

void rt_pool_trim(uint64_t keep) {
    for (size_t i = rt_device->pool.count; i-- > 0 && rt_device->pool.reserved > keep;)
        if (passed(&rt_device->pool.blocks[i])) release(&rt_device->pool.blocks[i]);
}

void rt_pool_synced(void) { rt_pool_trim(rt_device->pool.threshold); }

static rt_pool_block *grow(uint64_t bytes) {
    if (rt_device->pool.count == rt_device->pool.room) {
        rt_pool_block *more = realloc(rt_device->pool.blocks, (rt_device->pool.room + 64) * sizeof *more);
        if (!more) return NULL;
        rt_device->pool.blocks = more;
        rt_device->pool.room += 64;
    }
    rt_charge_malloc(bytes);
    uint64_t address = rt_device_alloc(bytes);
    if (!address) {
        rt_pool_trim(0);
        address = rt_device_alloc(bytes);
    }
    if (!address) return NULL;
    time_activity_alloc(SIMGPU_MEMORY_DEVICE, bytes);
    rt_device->pool.reserved += bytes;
    if (rt_device->pool.reserved > rt_device->pool.reserved_high)
        rt_device->pool.reserved_high = rt_device->pool.reserved;
    rt_device->pool.blocks[rt_device->pool.count] = (rt_pool_block){.address = address, .bytes = bytes};
    return &rt_device->pool.blocks[rt_device->pool.count++];
}

void rt_pool_init(rt_pool *p) {
    *p = (rt_pool){.reuse = {[cudaMemPoolReuseFollowEventDependencies] = 1,
                             [cudaMemPoolReuseAllowOpportunistic] = 1,
                             [cudaMemPoolReuseAllowInternalDependencies] = 1}};
}

void rt_pool_clear(void) {
    for (size_t i = 0; i < rt_device->pool.count; i++) {
        const rt_pool_block *b = &rt_device->pool.blocks[i];
        if (!b->idle) time_activity_free(SIMGPU_MEMORY_POOL, b->bytes);
        time_activity_free(SIMGPU_MEMORY_DEVICE, b->bytes);
    }
    free(rt_device->pool.blocks);
    rt_pool_init(&rt_device->pool);
}

/* --- alloc and free -------------------------------------------------------------------------------------------- */

/* Returns the smallest idle block that fits and wastes at most half of itself, or NULL. */
static rt_pool_block *reuse(uint64_t bytes, uint32_t stream) {
    rt_pool_block *best = NULL;
    for (size_t i = 0; i < rt_device->pool.count; i++) {
        rt_pool_block *b = &rt_device->pool.blocks[i];
        bool ordered =
            b->idle && (b->freed.stream == stream ||
                        (rt_device->pool.reuse[cudaMemPoolReuseAllowOpportunistic] && time_point_passed(b->freed)));
        if (!ordered || b->bytes < bytes || b->bytes / 2 > bytes) continue;
        if (!best || b->bytes < best->bytes) best = b;
    }
    return best;
}

static cudaError_t allocate(void **ptr, size_t bytes, cudaStream_t stream) {
    enum { UNIT = 512 };
    uint32_t s;
    if (!ptr) return cudaErrorInvalidValue;
    *ptr = NULL;
    if (!rt_stream(stream, &s)) return cudaErrorInvalidResourceHandle;
    cudaError_t forbidden =
        rt_captured(s) ? rt_capture_refuse(s, "allocate before the capture") : rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess || bytes == 0) return forbidden;
    uint64_t size = (bytes + UNIT - 1) / UNIT * UNIT;
    time_activity_call_bytes(bytes);
    time_charge(HOST_SUBMITS, time_profile_get()->host_malloc_async_ns);
    rt_pool_block *b = reuse(size, s);
    if (b) time_point_joins(b->freed, s);
    if (!b) b = grow(size);
    if (!b) {
        uint64_t free_bytes, total;
        rt_device_usage(&free_bytes, &total);
        rt_say("no room for %zu bytes: %" PRIu64 " of %" PRIu64 " are free, %" PRIu64 " of the pool's are in use",
               bytes, free_bytes, total, rt_device->pool.used);
        return cudaErrorMemoryAllocation;
    }
    b->idle = false;
    rt_device->pool.used += b->bytes;
    if (rt_device->pool.used > rt_device->pool.used_high) rt_device->pool.used_high = rt_device->pool.used;
    time_activity_alloc(SIMGPU_MEMORY_POOL, b->bytes);
    *ptr = (void *)(uintptr_t)b->address;
    return cudaSuccess;
}

bool rt_pool_free(uint64_t address, time_point behind, bool *twice) {
    rt_pool_block *b = find(address);
    if (!b) return false;
    *twice = b->idle;
    if (b->idle) return true;
    b->idle = true;
    b->freed = behind;
    rt_device->pool.used -= b->bytes;
    time_activity_free(SIMGPU_MEMORY_POOL, b->bytes);
    return true;
}

cudaError_t cudaMallocAsync(void **ptr, size_t bytes, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(allocate(ptr, bytes, stream));
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream) {
    RT_BEGIN;
    uint32_t s;
    bool twice = false;
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    cudaError_t forbidden = rt_captured(s) ? rt_capture_refuse(s, "free behind the capture") : cudaSuccess;
    if (!ptr || forbidden != cudaSuccess) return rt_end(forbidden);
    time_charge(HOST_SUBMITS, time_profile_get()->host_free_async_ns);
    time_point behind = time_point_now(s);
    bool known = rt_pool_free(address, behind, &twice) || rt_free_behind(address, behind);
    if (known && !twice) return rt_end(cudaSuccess);
    rt_say(twice ? "the pointer was freed before; free it once"
                 : "the pointer is not the start of a live allocation by cudaMallocAsync or cudaMalloc");
    return rt_end(cudaErrorInvalidValue);
}

/* --- the pool -------------------------------------------------------------------------------------------------- */

static bool is_pool(cudaMemPool_t p) {
    if ((rt_pool *)p == &rt_device->pool) return true;
    rt_say("this is not a pool; SimGPU has one, from cudaDeviceGetDefaultMemPool");
    return false;
}

static cudaError_t get_pool(cudaMemPool_t *p, int device) {
    if (!p) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *p = (cudaMemPool_t)&rt_device->pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *p, int device) {
    RT_BEGIN;
    return rt_end(get_pool(p, device));
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *p, int device) {
    RT_BEGIN;
    return rt_end(get_pool(p, device));
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t p) {
    RT_BEGIN;
    return rt_end(device ? cudaErrorInvalidDevice : is_pool(p) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t bytes, cudaMemPool_t p, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(is_pool(p) ? allocate(ptr, bytes, stream) : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t p, size_t keep) {
    RT_BEGIN;
    if (!is_pool(p)) return rt_end(cudaErrorInvalidValue);
    rt_pool_trim(keep);
    return rt_end(cudaSuccess);
}

/* Resets a peak to the present value. CUDA allows the value 0 only. */
static cudaError_t reset_peak(uint64_t *peak, uint64_t now, uint64_t value) {
    if (value) return cudaErrorInvalidValue;
    *peak = now;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr attribute, void *value) {
    RT_BEGIN;
    if (!is_pool(p) || !value) return rt_end(cudaErrorInvalidValue);
    const uint64_t *number = value;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        rt_device->pool.reuse[attribute] = *(int *)value;
        return rt_end(cudaSuccess);
    case cudaMemPoolAttrReleaseThreshold: rt_device->pool.threshold = *number; return rt_end(cudaSuccess);
    case cudaMemPoolAttrReservedMemHigh:
        return rt_end(reset_peak(&rt_device->pool.reserved_high, rt_device->pool.reserved, *number));
    case cudaMemPoolAttrUsedMemHigh:
        return rt_end(reset_peak(&rt_device->pool.used_high, rt_device->pool.used, *number));
    default: return rt_end(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr attribute, void *value) {
    RT_BEGIN;
    if (!is_pool(p) || !value) return rt_end(cudaErrorInvalidValue);
    uint64_t *number = value;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = rt_device->pool.reuse[attribute]; break;
    case cudaMemPoolAttrReleaseThreshold: *number = rt_device->pool.threshold; break;
    case cudaMemPoolAttrReservedMemCurrent: *number = rt_device->pool.reserved; break;
    case cudaMemPoolAttrReservedMemHigh: *number = rt_device->pool.reserved_high; break;
    case cudaMemPoolAttrUsedMemCurrent: *number = rt_device->pool.used; break;
    case cudaMemPoolAttrUsedMemHigh: *number = rt_device->pool.used_high; break;
    default: return rt_end(cudaErrorInvalidValue);
    }
    return rt_end(cudaSuccess);
}
