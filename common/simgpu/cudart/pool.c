/* pool.c — stream-ordered allocation: cudaMallocAsync, cudaFreeAsync and the device's default pool.
 *
 *   cudaFreeAsync(p, s)      p is idle, behind all that s has been given so far
 *   cudaMallocAsync(&q, s)   an idle block: on s at once, for what comes after it on s comes after its last use too;
 *                            on another stream only when the device has passed that place
 *
 * So a block changes hands while kernels that use it are still queued, and nobody waits. Blocks are kept whole: each is
 * one allocation of the device, so that an access past its end is found out (a driver cuts up larger ones). What is
 * idle when the host synchronizes goes back to the device, down to the release threshold, which is 0 by default. */
#include "rt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t address, bytes;
    bool idle;
    time_point freed; /* idle: behind this place */
} pool_block;

static struct {
    pool_block *blocks;
    size_t count, room;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t threshold;
    int reuse[4]; /* by cudaMemPoolReuse...; only AllowOpportunistic makes a difference here */
} pool = {.reuse = {0, 1, 1, 1}};

static char handle; /* its address is the one pool's cudaMemPool_t */

static pool_block *find(uint64_t address) {
    for (size_t i = pool.count; i-- > 0;)
        if (pool.blocks[i].address == address) return &pool.blocks[i];
    return NULL;
}

/* --- growing and shrinking ------------------------------------------------------------------------------------ */

static bool passed(const pool_block *b) { return b->idle && time_point_passed(b->freed); }

static void release(pool_block *b) {
    rt_charge_free(b->bytes);
    mem_free(b->address);
    activity_free(SIMGPU_MEMORY_DEVICE, b->bytes);
    pool.reserved -= b->bytes;
    *b = pool.blocks[--pool.count];
}

void rt_pool_trim(uint64_t keep) {
    for (size_t i = pool.count; i-- > 0 && pool.reserved > keep;)
        if (passed(&pool.blocks[i])) release(&pool.blocks[i]);
}

void rt_pool_synced(void) { rt_pool_trim(pool.threshold); }

static pool_block *grow(uint64_t bytes) {
    if (pool.count == pool.room) {
        pool_block *more = realloc(pool.blocks, (pool.room + 64) * sizeof *more);
        if (!more) return NULL;
        pool.blocks = more;
        pool.room += 64;
    }
    rt_charge_malloc(bytes);
    uint64_t address = rt_device_alloc(bytes);
    if (!address) {
        rt_pool_trim(0);
        address = rt_device_alloc(bytes);
    }
    if (!address) return NULL;
    activity_alloc(SIMGPU_MEMORY_DEVICE, bytes);
    pool.reserved += bytes;
    if (pool.reserved > pool.reserved_high) pool.reserved_high = pool.reserved;
    pool.blocks[pool.count] = (pool_block){.address = address, .bytes = bytes};
    return &pool.blocks[pool.count++];
}

/* --- alloc and free -------------------------------------------------------------------------------------------- */

/* The smallest idle block that fits and wastes no more than half of itself. */
static pool_block *reuse(uint64_t bytes, uint32_t stream) {
    pool_block *best = NULL;
    for (size_t i = 0; i < pool.count; i++) {
        pool_block *b = &pool.blocks[i];
        bool ordered = b->idle && (b->freed.stream == stream ||
                                   (pool.reuse[cudaMemPoolReuseAllowOpportunistic] && time_point_passed(b->freed)));
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
    if (bytes == 0) return cudaSuccess;
    uint64_t size = (bytes + UNIT - 1) / UNIT * UNIT;
    activity_call_is(SIMGPU_ALLOCATES, bytes);
    time_charge(HOST_SUBMITS, time_profile_get()->host_malloc_async_ns);
    pool_block *b = reuse(size, s);
    if (b) time_point_joins(b->freed, s);
    if (!b) b = grow(size);
    if (!b) {
        uint64_t free_bytes, total;
        rt_device_usage(&free_bytes, &total);
        rt_say("no room for %zu bytes: %" PRIu64 " of %" PRIu64 " are free, %" PRIu64 " of the pool's are in use",
               bytes, free_bytes, total, pool.used);
        return cudaErrorMemoryAllocation;
    }
    b->idle = false;
    pool.used += b->bytes;
    if (pool.used > pool.used_high) pool.used_high = pool.used;
    activity_alloc(SIMGPU_MEMORY_POOL, b->bytes);
    *ptr = (void *)(uintptr_t)b->address;
    return cudaSuccess;
}

bool rt_pool_free(uint64_t address, time_point behind, bool *twice) {
    pool_block *b = find(address);
    if (!b) return false;
    *twice = b->idle;
    if (b->idle) return true;
    b->idle = true;
    b->freed = behind;
    pool.used -= b->bytes;
    activity_free(SIMGPU_MEMORY_POOL, b->bytes);
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
    if (!ptr) return rt_end(cudaSuccess);
    activity_call_is(SIMGPU_FREES, 0);
    time_charge(HOST_SUBMITS, time_profile_get()->host_free_async_ns);
    time_point behind = time_point_now(s);
    bool known = rt_pool_free(address, behind, &twice) || rt_free_behind(address, behind);
    if (known && !twice) return rt_end(cudaSuccess);
    rt_say(twice ? "the pointer was given back already; free it once"
                 : "the pointer is not one that cudaMallocAsync or cudaMalloc gave and that is still allocated");
    return rt_end(cudaErrorInvalidValue);
}

/* --- the pool -------------------------------------------------------------------------------------------------- */

static bool is_pool(cudaMemPool_t p) {
    if ((char *)p == &handle) return true;
    rt_say("this is not a pool; SimGPU has one, from cudaDeviceGetDefaultMemPool");
    return false;
}

static cudaError_t get_pool(cudaMemPool_t *p, int device) {
    if (!p) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *p = (cudaMemPool_t)&handle;
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

/* A peak can be set to 0 only: it then starts again from now. */
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
    case cudaMemPoolReuseAllowInternalDependencies: pool.reuse[attribute] = *(int *)value; return rt_end(cudaSuccess);
    case cudaMemPoolAttrReleaseThreshold: pool.threshold = *number; return rt_end(cudaSuccess);
    case cudaMemPoolAttrReservedMemHigh: return rt_end(reset_peak(&pool.reserved_high, pool.reserved, *number));
    case cudaMemPoolAttrUsedMemHigh: return rt_end(reset_peak(&pool.used_high, pool.used, *number));
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
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = pool.reuse[attribute]; break;
    case cudaMemPoolAttrReleaseThreshold: *number = pool.threshold; break;
    case cudaMemPoolAttrReservedMemCurrent: *number = pool.reserved; break;
    case cudaMemPoolAttrReservedMemHigh: *number = pool.reserved_high; break;
    case cudaMemPoolAttrUsedMemCurrent: *number = pool.used; break;
    case cudaMemPoolAttrUsedMemHigh: *number = pool.used_high; break;
    default: return rt_end(cudaErrorInvalidValue);
    }
    return rt_end(cudaSuccess);
}
