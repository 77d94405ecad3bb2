/* pool.c — stream-ordered allocation: cudaMallocAsync, cudaFreeAsync, the device's default pool and pools of the
 * program.
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
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the block that begins there, and its pool in *of; or NULL. */
static rt_pool_block *find(uint64_t address, rt_pool **of) {
    for (rt_pool *p = &rt_device->pool; p; p = p->next)
        for (size_t i = p->count; i-- > 0;)
            if (p->blocks[i].address == address) return *of = p, &p->blocks[i];
    return NULL;
}

const rt_pool *rt_pool_block_of(uint64_t address, uint64_t *base, uint64_t *bytes) {
    for (const rt_pool *p = &rt_device->pool; p; p = p->next)
        for (size_t i = 0; i < p->count; i++) {
            const rt_pool_block *b = &p->blocks[i];
            if (b->idle || address - b->address >= b->bytes) continue;
            *base = b->address;
            *bytes = b->bytes;
            return p;
        }
    return NULL;
}

bool rt_pool_reached(const struct device *home, uint32_t from) {
    for (const rt_pool *p = &home->pool; p; p = p->next)
        if (p->reached >> from & 1) return true;
    return false;
}

/* The pools of a device have changed: what may the others use now? */
static void renew_access(const struct device *home) {
    for (uint32_t k = 0; k < rt_cards(); k++)
        if (home->machine[k] != home) rt_renew_access(home->machine[k], home);
}

/* --- growing and shrinking ------------------------------------------------------------------------------------ */

static bool passed(const rt_pool_block *b) { return b->idle && time_point_passed(b->freed); }

/* Charges the host for the chunks of pool_chunk_bytes that the driver would take or give back now. */
static void resize(rt_pool *p) {
    const time_profile *t = time_profile_get();
    uint64_t before = p->chunks;
    p->chunks = (uint64_t)ceil((double)p->reserved / t->pool_chunk_bytes);
    double more = (double)p->chunks - (double)before;
    if (more > 0) time_charge(HOST_IN_CALL, (before ? 0 : t->host_pool_ns) + more * t->host_pool_chunk_ns);
    if (more < 0) time_charge(HOST_IN_CALL, (p->chunks ? 0 : t->host_pool_ns) - more * t->host_pool_chunk_ns);
}

static void release(rt_pool *p, rt_pool_block *b) {
    struct device *here = rt_device;
    rt_select_this(p->home);
    exec_mem_free(p->home->exec, b->address);
    time_activity_free(SIMGPU_MEMORY_DEVICE, b->bytes);
    p->reserved -= b->bytes;
    *b = p->blocks[--p->count];
    resize(p);
    rt_select_this(here);
}

static void trim(rt_pool *p, uint64_t keep) {
    for (size_t i = p->count; i-- > 0 && p->reserved > keep;)
        if (passed(&p->blocks[i])) release(p, &p->blocks[i]);
}

/* Frees the pools of a device that were destroyed and hold nothing any more. */
static void drop_dead(struct device *home) {
    bool reached = false;
    for (rt_pool **at = &home->pool.next; *at;) {
        rt_pool *p = *at;
        if (!p->dead || p->count) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        reached |= p->reached != 0;
        free(p->blocks);
        free(p);
    }
    if (reached) renew_access(home); /* what was allowed ends with the pool */
}

/* Also a pool of another device that this one may use: its streams may have been the only ones. */
void rt_pool_synced(void) {
    for (uint32_t k = 0; k < rt_cards(); k++) {
        struct device *home = rt_device->machine[k];
        for (rt_pool *p = &home->pool; p; p = p->next)
            if (home == rt_device || p->reached >> rt_device->ordinal & 1) trim(p, p->dead ? 0 : p->threshold);
        drop_dead(home);
    }
}

static rt_pool_block *grow(rt_pool *p, uint64_t bytes) {
    if (p->count == p->room) {
        rt_pool_block *more = realloc(p->blocks, (p->room + 64) * sizeof *more);
        if (!more) return NULL;
        p->blocks = more;
        p->room += 64;
    }
    if (p->most && bytes > p->most - p->reserved) return NULL;
    struct device *here = rt_device;
    rt_select_this(p->home);
    uint64_t address = rt_device_alloc(bytes);
    if (!address) {
        trim(p, 0);
        address = rt_device_alloc(bytes);
    }
    if (address) {
        time_activity_alloc(SIMGPU_MEMORY_DEVICE, bytes);
        p->reserved += bytes;
        resize(p);
    }
    rt_select_this(here);
    if (!address) return NULL;
    if (p->reserved > p->reserved_high) p->reserved_high = p->reserved;
    p->blocks[p->count] = (rt_pool_block){.address = address, .bytes = bytes};
    return &p->blocks[p->count++];
}

void rt_pool_init(rt_pool *p, struct device *home) {
    *p = (rt_pool){.home = home,
                   .reuse = {[cudaMemPoolReuseFollowEventDependencies] = 1,
                             [cudaMemPoolReuseAllowOpportunistic] = 1,
                             [cudaMemPoolReuseAllowInternalDependencies] = 1}};
}

void rt_pool_clear(void) {
    for (rt_pool *p = &rt_device->pool; p; p = p->next) {
        for (size_t i = 0; i < p->count; i++) {
            if (!p->blocks[i].idle) time_activity_free(SIMGPU_MEMORY_POOL, p->blocks[i].bytes);
            time_activity_free(SIMGPU_MEMORY_DEVICE, p->blocks[i].bytes);
        }
        p->count = 0;
        p->dead = p != &rt_device->pool;
    }
    drop_dead(rt_device);
    free(rt_device->pool.blocks);
    rt_pool_init(&rt_device->pool, rt_device);
    renew_access(rt_device);
    for (uint32_t k = 0; k < rt_cards(); k++) /* and its kernels may use no pool of another device */
        for (rt_pool *p = &rt_device->machine[k]->pool; p; p = p->next) p->reached &= ~(1u << rt_device->ordinal);
    rt_device->pool_in_use = NULL;
    rt_graph_memory_clear();
}

/* --- alloc and free -------------------------------------------------------------------------------------------- */

/* Returns the smallest idle block that fits and wastes at most half of itself, or NULL. */
static rt_pool_block *reuse(const rt_pool *p, uint64_t bytes, uint32_t stream) {
    rt_pool_block *best = NULL;
    for (size_t i = 0; i < p->count; i++) {
        rt_pool_block *b = &p->blocks[i];
        bool ordered = b->idle && (b->freed.stream == stream ||
                                   (p->reuse[cudaMemPoolReuseAllowOpportunistic] && time_point_passed(b->freed)));
        if (!ordered || b->bytes < bytes || b->bytes / 2 > bytes) continue;
        if (!best || b->bytes < best->bytes) best = b;
    }
    return best;
}

static cudaError_t allocate(rt_pool *p, void **ptr, size_t bytes, cudaStream_t stream) {
    enum { UNIT = 512 };
    uint32_t s;
    if (!ptr) return cudaErrorInvalidValue;
    *ptr = NULL;
    if (!rt_stream(stream, &s)) return cudaErrorInvalidResourceHandle;
    if (rt_captured(s) && bytes) {
        cudaError_t e = rt_capture_legacy(s);
        return e == cudaSuccess ? rt_graph_memory_captured(ptr, bytes, s) : e;
    }
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess || bytes == 0) return forbidden;
    uint64_t size = (bytes + UNIT - 1) / UNIT * UNIT;
    time_activity_call_bytes(bytes);
    time_charge(HOST_SUBMITS, time_profile_get()->host_malloc_async_ns);
    rt_pool_block *b = reuse(p, size, s);
    if (b) time_point_joins(b->freed, s);
    if (!b) b = grow(p, size);
    if (!b) {
        uint64_t free_bytes, total;
        struct device *here = rt_device;
        rt_select_this(p->home);
        rt_device_usage(&free_bytes, &total);
        rt_select_this(here);
        rt_say("no room for %zu bytes: %" PRIu64 " of %" PRIu64 " are free, %" PRIu64 " of the pool's are in use",
               bytes, free_bytes, total, p->used);
        return cudaErrorMemoryAllocation;
    }
    b->idle = false;
    p->used += b->bytes;
    if (p->used > p->used_high) p->used_high = p->used;
    time_activity_alloc(SIMGPU_MEMORY_POOL, b->bytes);
    *ptr = (void *)(uintptr_t)b->address;
    return cudaSuccess;
}

bool rt_pool_free(uint64_t address, time_point behind, bool *twice) {
    rt_pool *p;
    rt_pool_block *b = find(address, &p);
    if (!b) return false;
    *twice = b->idle;
    if (b->idle) return true;
    b->idle = true;
    b->freed = behind;
    p->used -= b->bytes;
    time_activity_free(SIMGPU_MEMORY_POOL, b->bytes);
    return true;
}

cudaError_t cudaMallocAsync(void **ptr, size_t bytes, cudaStream_t stream) {
    RT_BEGIN;
    rt_pool *p = rt_device->pool_in_use;
    return rt_end(allocate(p ? p : &rt_device->pool, ptr, bytes, stream));
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream) {
    RT_BEGIN;
    uint32_t s;
    bool twice = false;
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    struct device *here = rt_device;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    cudaError_t e = cudaSuccess;
    if (ptr && rt_captured(s) && rt_graph_memory_captured_free(address, s, &e)) return rt_end(e);
    if (rt_captured(s)) e = rt_capture_refuse(s, "free behind the capture what was allocated before it");
    if (!ptr || e != cudaSuccess) return rt_end(e);
    time_charge(HOST_SUBMITS, time_profile_get()->host_free_async_ns);
    time_point behind = time_point_now(s);
    rt_select_this(exec_mem_in_window(ptr) ? rt_owner(address) : here); /* it may be another device's memory */
    bool known = rt_graph_memory_freed(address, behind, &twice) || rt_pool_free(address, behind, &twice) ||
                 rt_free_behind(address, behind);
    rt_select_this(here);
    if (known && !twice) return rt_end(cudaSuccess);
    rt_say(twice ? "the pointer was freed before; free it once"
                 : "the pointer is not the start of a live allocation by cudaMallocAsync or cudaMalloc");
    return rt_end(cudaErrorInvalidValue);
}

/* --- the pool -------------------------------------------------------------------------------------------------- */

/* Returns the pool of a handle, on any device; prints a message and returns NULL if it is none. */
static rt_pool *pool_of(cudaMemPool_t handle) {
    for (uint32_t k = 0; k < rt_cards(); k++)
        for (rt_pool *p = &rt_device->machine[k]->pool; p; p = p->next)
            if ((rt_pool *)handle == p && !p->dead) return p;
    rt_say("this is not a pool; it comes from cudaDeviceGetDefaultMemPool or cudaMemPoolCreate");
    return NULL;
}

/* Returns the device of that number, or the one in use if there is none. */
static struct device *card(int device) {
    return device >= 0 && (uint32_t)device < rt_cards() ? rt_device->machine[device] : rt_device;
}

static cudaError_t get_pool(cudaMemPool_t *handle, int device, rt_pool *p) {
    if (!handle) return cudaErrorInvalidValue;
    if (rt_check_device(device) != cudaSuccess) return cudaErrorInvalidDevice;
    *handle = (cudaMemPool_t)p;
    return cudaSuccess;
}

static cudaError_t set_pool(int device, rt_pool *p) {
    if (rt_check_device(device) != cudaSuccess) return cudaErrorInvalidDevice;
    if (p && p->home != card(device))
        rt_say("the pool has memory of device %u, not of device %d", p->home->ordinal, device);
    if (!p || p->home != card(device)) return cudaErrorInvalidValue;
    p->home->pool_in_use = p;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *p, int device) {
    RT_BEGIN;
    return rt_end(get_pool(p, device, &card(device)->pool));
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *p, int device) {
    RT_BEGIN;
    struct device *d = card(device);
    return rt_end(get_pool(p, device, d->pool_in_use ? d->pool_in_use : &d->pool));
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
    RT_BEGIN;
    return rt_end(set_pool(device, pool_of(handle)));
}

/* CUDA 13's names: a pool of a place and of a kind of memory. Memory of the devices has pools here. */
static cudaError_t check_place(const struct cudaMemLocation *place, enum cudaMemAllocationType type) {
    if (!place) return cudaErrorInvalidValue;
    if (place->type == cudaMemLocationTypeDevice && type == cudaMemAllocationTypePinned)
        return rt_check_device(place->id);
    rt_say("there are pools of device memory only: cudaMemLocationTypeDevice and cudaMemAllocationTypePinned");
    return cudaErrorNotSupported;
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *p, struct cudaMemLocation *place, enum cudaMemAllocationType type) {
    RT_BEGIN;
    cudaError_t e = check_place(place, type);
    return rt_end(e == cudaSuccess ? get_pool(p, place->id, &card(place->id)->pool) : e);
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t *p, struct cudaMemLocation *place, enum cudaMemAllocationType type) {
    RT_BEGIN;
    cudaError_t e = check_place(place, type);
    if (e != cudaSuccess) return rt_end(e);
    struct device *d = card(place->id);
    return rt_end(get_pool(p, place->id, d->pool_in_use ? d->pool_in_use : &d->pool));
}
cudaError_t cudaMemSetMemPool(struct cudaMemLocation *place, enum cudaMemAllocationType type, cudaMemPool_t handle) {
    RT_BEGIN;
    cudaError_t e = check_place(place, type);
    return rt_end(e == cudaSuccess ? set_pool(place->id, pool_of(handle)) : e);
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t bytes, cudaMemPool_t handle, cudaStream_t stream) {
    RT_BEGIN;
    rt_pool *p = pool_of(handle);
    return rt_end(p ? allocate(p, ptr, bytes, stream) : cudaErrorInvalidValue);
}

/* A pool of the device's memory. Its handles cannot be passed to other processes. */
cudaError_t cudaMemPoolCreate(cudaMemPool_t *handle, const struct cudaMemPoolProps *props) {
    RT_BEGIN;
    if (!handle || !props || props->allocType != cudaMemAllocationTypePinned) return rt_end(cudaErrorInvalidValue);
    if (props->location.type != cudaMemLocationTypeDevice || props->handleTypes) {
        rt_say("SimGPU has pools of a device's memory (cudaMemLocationTypeDevice), for this process only");
        return rt_end(props->handleTypes ? cudaErrorNotSupported : cudaErrorInvalidValue);
    }
    if (rt_check_device(props->location.id) != cudaSuccess) return rt_end(cudaErrorInvalidValue);
    rt_pool *p = malloc(sizeof *p);
    if (!p) return rt_end(cudaErrorMemoryAllocation);
    struct device *home = card(props->location.id);
    rt_pool_init(p, home);
    p->most = props->maxSize;
    p->next = home->pool.next;
    home->pool.next = p;
    *handle = (cudaMemPool_t)p;
    return rt_end(cudaSuccess);
}

/* Memory that is in use stays until it is freed. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
    RT_BEGIN;
    rt_pool *p = pool_of(handle);
    if (!p || p == &p->home->pool) {
        if (p) rt_say("the default pool cannot be destroyed");
        return rt_end(cudaErrorInvalidValue);
    }
    struct device *home = p->home;
    p->dead = true;
    if (home->pool_in_use == p) home->pool_in_use = NULL;
    trim(p, 0);
    drop_dead(home);
    return rt_end(cudaSuccess);
}

static void wait_for(struct device *d) {
    struct device *here = rt_device;
    rt_select_this(d);
    time_wait_all();
    rt_select_this(here);
}

/* The device that has the pool always has access, for reading and writing. Kernels of another device that gets it may
 * then use all memory of that device, as behind cudaDeviceEnablePeerAccess: access is not kept by the piece. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const struct cudaMemAccessDesc *list, size_t count) {
    RT_BEGIN;
    rt_pool *p = pool_of(handle);
    if (!p || (count && !list)) return rt_end(cudaErrorInvalidValue);
    for (size_t k = 0; k < count; k++) {
        const int id = list[k].location.id;
        const bool writes = list[k].flags == cudaMemAccessFlagsProtReadWrite,
                   none = list[k].flags == cudaMemAccessFlagsProtNone;
        if (list[k].location.type != cudaMemLocationTypeDevice || rt_check_device(id) != cudaSuccess ||
            !(writes || (none && card(id) != p->home)))
            return rt_end(cudaErrorInvalidValue);
    }
    for (size_t k = 0; k < count; k++) {
        const uint32_t bit = card(list[k].location.id) == p->home ? 0 : 1u << list[k].location.id;
        if (list[k].flags == cudaMemAccessFlagsProtNone)
            wait_for(card(list[k].location.id)); /* its kernels may use it still */
        p->reached = list[k].flags == cudaMemAccessFlagsProtNone ? p->reached & ~bit : p->reached | bit;
    }
    renew_access(p->home);
    return rt_end(cudaSuccess);
}
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t handle,
                                 struct cudaMemLocation *location) {
    RT_BEGIN;
    const rt_pool *p = flags && location ? pool_of(handle) : NULL;
    if (!p || location->type != cudaMemLocationTypeDevice) return rt_end(cudaErrorInvalidValue);
    if (rt_check_device(location->id) != cudaSuccess) return rt_end(cudaErrorInvalidDevice);
    const bool reached = card(location->id) == p->home || p->reached >> location->id & 1;
    *flags = reached ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return rt_end(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
    RT_BEGIN;
    rt_pool *p = pool_of(handle);
    if (!p) return rt_end(cudaErrorInvalidValue);
    trim(p, keep);
    return rt_end(cudaSuccess);
}

/* Resets a peak to the present value. CUDA allows the value 0 only. */
static cudaError_t reset_peak(uint64_t *peak, uint64_t now, uint64_t value) {
    if (value) return cudaErrorInvalidValue;
    *peak = now;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value) {
    RT_BEGIN;
    rt_pool *p = value ? pool_of(handle) : NULL;
    if (!p) return rt_end(cudaErrorInvalidValue);
    const uint64_t *number = value;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: p->reuse[attribute] = *(int *)value; return rt_end(cudaSuccess);
    case cudaMemPoolAttrReleaseThreshold: p->threshold = *number; return rt_end(cudaSuccess);
    case cudaMemPoolAttrReservedMemHigh: return rt_end(reset_peak(&p->reserved_high, p->reserved, *number));
    case cudaMemPoolAttrUsedMemHigh: return rt_end(reset_peak(&p->used_high, p->used, *number));
    default: return rt_end(cudaErrorInvalidValue);
    }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value) {
    RT_BEGIN;
    rt_pool *p = value ? pool_of(handle) : NULL;
    if (!p) return rt_end(cudaErrorInvalidValue);
    uint64_t *number = value;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = p->reuse[attribute]; break;
    case cudaMemPoolAttrReleaseThreshold: *number = p->threshold; break;
    case cudaMemPoolAttrReservedMemCurrent: *number = p->reserved; break;
    case cudaMemPoolAttrReservedMemHigh: *number = p->reserved_high; break;
    case cudaMemPoolAttrUsedMemCurrent: *number = p->used; break;
    case cudaMemPoolAttrUsedMemHigh: *number = p->used_high; break;
    default: return rt_end(cudaErrorInvalidValue);
    }
    return rt_end(cudaSuccess);
}
