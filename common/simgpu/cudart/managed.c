/* managed.c — managed memory: allocation, prefetches, advice, __managed__ variables.
 *
 * The host and kernels use it at one address, and exec/managed.c shows both the same bytes. time/managed.c says where
 * each block is and what it costs to move it. As on a card of today (concurrentManagedAccess is 1), the host may use it
 * while a kernel runs; it then reads what the kernels that have run by the virtual clock have left there. */
#include "rt.h"

#include <stdlib.h>
#include <string.h>

const rt_block *rt_managed_find(uint64_t address) {
    const rt_block_list *l = &rt_first()->managed;
    for (size_t i = l->count; i-- > 0;)
        if (address - l->blocks[i].address < l->blocks[i].bytes) return &l->blocks[i];
    return NULL;
}

/* --- allocation ---------------------------------------------------------------------------------------------- */

static double mib(uint64_t bytes) { return (double)bytes / (1 << 20); }

cudaError_t cudaMallocManaged(void **ptr, size_t bytes, unsigned flags) {
    RT_BEGIN;
    if (!ptr || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
        if (ptr) rt_say("the flags must be cudaMemAttachGlobal or cudaMemAttachHost");
        return rt_end(cudaErrorInvalidValue);
    }
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    time_activity_call_bytes(bytes);
    time_charge(HOST_IN_CALL, time_profile_get()->host_managed_ns);
    *ptr = NULL;
    if (!bytes) return rt_end(cudaSuccess);
    uint64_t address = exec_managed_alloc(rt_first()->exec, bytes);
    rt_block b = {.address = address,
                  .bytes = bytes,
                  .file = rt_file(),
                  .line = rt_line(),
                  .flags = flags,
                  .context = rt_context(),
                  .ordinal = rt_device->ordinal};
    if (!address || !rt_block_add(&rt_first()->managed, b)) {
        rt_say("no room for %zu bytes: SimGPU has %llu GiB of addresses for managed memory, and the host must hold "
               "what is used of them",
               bytes, (unsigned long long)(EXEC_MANAGED_BYTES >> 30));
        return rt_end(cudaErrorMemoryAllocation);
    }
    time_managed_new(address, bytes);
    *ptr = (void *)(uintptr_t)address;
    return rt_end(cudaSuccess);
}

bool rt_managed_free(uint64_t address) {
    rt_block *b = (rt_block *)(uintptr_t)rt_managed_find(address);
    const time_profile *p = time_profile_get();
    if (!b || b->address != address || b->symbol) return false;
    time_activity_call_bytes(b->bytes);
    time_charge(HOST_IN_CALL, p->host_managed_free_ns + mib(b->bytes) * p->host_managed_free_ns_per_mib);
    time_managed_new(address, b->bytes);
    exec_mem_free(rt_first()->exec, address);
    *b = rt_first()->managed.blocks[--rt_first()->managed.count];
    return true;
}

void rt_managed_end(const void *context) {
    const rt_block_list *l = &rt_first()->managed;
    for (size_t i = l->count; i-- > 0;)
        if (l->blocks[i].context == context) rt_managed_free(l->blocks[i].address);
}

/* --- prefetches and advice ----------------------------------------------------------------------------------- */

/* Returns whether all bytes lie in one managed allocation; if not, prints a message. */
static bool check_range(const void *ptr, size_t bytes) {
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    const rt_block *b = rt_managed_find(address);
    if (b && bytes && bytes <= b->address + b->bytes - address) return true;
    if (!b)
        rt_say("the pointer is not managed memory; allocate it by cudaMallocManaged");
    else if (!bytes)
        rt_say("the range is empty");
    else
        rt_say("the range of %zu bytes ends beyond the allocation; %llu bytes follow the pointer", bytes,
               (unsigned long long)(b->address + b->bytes - address));
    return false;
}

static bool is_host(struct cudaMemLocation l) {
    return l.type == cudaMemLocationTypeHost || l.type == cudaMemLocationTypeHostNuma ||
           l.type == cudaMemLocationTypeHostNumaCurrent ||
           (l.type == cudaMemLocationTypeDevice && l.id == cudaCpuDeviceId);
}

static cudaError_t check_location(struct cudaMemLocation l) {
    if (is_host(l)) return cudaSuccess;
    if (l.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    return rt_check_device(l.id);
}

/* A prefetch to the host is the calling thread's own work if nothing is before it, so the call waits for it. */
static cudaError_t prefetch(const void *ptr, size_t bytes, struct cudaMemLocation location, uint64_t flags,
                            cudaStream_t stream) {
    cudaError_t dead = rt_begin("cudaMemPrefetchAsync");
    if (dead != cudaSuccess) return rt_end(dead);
    time_command c = {.kind = TIME_MIGRATE, .host_file = rt_file(), .host_line = rt_line()};
    if (flags || !check_range(ptr, bytes)) return rt_end(cudaErrorInvalidValue);
    cudaError_t e = check_location(location);
    if (e != cudaSuccess) return rt_end(e);
    if (!rt_stream(stream, &c.stream)) return rt_end(cudaErrorInvalidResourceHandle);
    if (rt_captured(c.stream)) return rt_end(rt_capture_refuse(c.stream, "prefetch before the capture begins"));
    if (!exec_managed(ptr)) return rt_end(cudaSuccess); /* a variable of the program; it is where it is */
    c.is.copy.direction = is_host(location) ? SIMGPU_D2H : SIMGPU_H2D;
    c.is.copy.to.address = (uint64_t)(uintptr_t)ptr;
    c.is.copy.width = bytes;
    c.is.copy.height = 1;
    time_activity_call_bytes(bytes);
    bool waits = c.is.copy.direction == SIMGPU_D2H && time_stream_idle(c.stream);
    e = rt_submit(&c, NULL);
    if (waits && e == cudaSuccess) time_wait_stream(c.stream);
    return rt_end(e);
}

/* In programs that CUDA 12 compiled, these two names have the form with a device's number (and without flags). A number
 * of 0 or of the host in the place of the location's type tells them: CUDA 13 has no such types. */
static bool is_number(struct cudaMemLocation l) { return (int)l.type == 0 || (int)l.type == cudaCpuDeviceId; }
static struct cudaMemLocation by_number(int device) {
    return (struct cudaMemLocation){device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}

cudaError_t simgpu_prefetch(const void *ptr, size_t bytes, struct cudaMemLocation location, uint64_t flags,
                            cudaStream_t stream) __asm__("cudaMemPrefetchAsync");
cudaError_t simgpu_prefetch(const void *ptr, size_t bytes, struct cudaMemLocation location, uint64_t flags,
                            cudaStream_t stream) {
    if (is_number(location)) return prefetch(ptr, bytes, by_number((int)location.type), 0, (cudaStream_t)flags);
    return prefetch(ptr, bytes, location, (uint32_t)flags, stream);
}

/* CUDA 12's names for the forms of CUDA 13. */
cudaError_t cudaMemPrefetchAsync_v2(const void *ptr, size_t bytes, struct cudaMemLocation location, unsigned flags,
                                    cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2(const void *ptr, size_t bytes, struct cudaMemLocation location, unsigned flags,
                                    cudaStream_t stream) {
    return prefetch(ptr, bytes, location, flags, stream);
}
cudaError_t cudaMemAdvise_v2(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location);
cudaError_t cudaMemAdvise_v2(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location) {
    return cudaMemAdvise(ptr, bytes, advice, location);
}

cudaError_t cudaMemAdvise(const void *ptr, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
    RT_BEGIN;
    if (is_number(location)) location = by_number((int)location.type);
    enum time_advice set = TIME_NO_ADVICE, clear = TIME_NO_ADVICE;
    enum time_advice preferred = is_host(location) ? TIME_PREFER_HOST : TIME_PREFER_DEVICE;
    bool of_place = false; /* the location matters */
    switch (advice) {
    case cudaMemAdviseSetReadMostly: set = TIME_READ_MOSTLY; break;
    case cudaMemAdviseUnsetReadMostly: clear = TIME_READ_MOSTLY; break;
    case cudaMemAdviseSetPreferredLocation:
        set = preferred;
        clear = TIME_PREFER_HOST | TIME_PREFER_DEVICE;
        of_place = true;
        break;
    case cudaMemAdviseUnsetPreferredLocation: clear = TIME_PREFER_HOST | TIME_PREFER_DEVICE; break;
    case cudaMemAdviseSetAccessedBy: set = is_host(location) ? TIME_NO_ADVICE : TIME_ACCESSED, of_place = true; break;
    case cudaMemAdviseUnsetAccessedBy: clear = is_host(location) ? TIME_NO_ADVICE : TIME_ACCESSED; break;
    default: rt_say("%d is not a cudaMemoryAdvise", (int)advice); return rt_end(cudaErrorInvalidValue);
    }
    if (!check_range(ptr, bytes)) return rt_end(cudaErrorInvalidValue);
    if (of_place && check_location(location) != cudaSuccess) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    if (exec_managed(ptr)) time_managed_advise((uint64_t)(uintptr_t)ptr, bytes, set, clear);
    return rt_end(cudaSuccess);
}

/* Writes a range's attribute of `room` bytes. Numbers of devices: cudaCpuDeviceId, cudaInvalidDeviceId. */
static cudaError_t range_attribute(int *value, size_t room, enum cudaMemRangeAttribute attribute, uint64_t address,
                                   size_t bytes) {
    bool moves = exec_managed((void *)(uintptr_t)address);
    enum time_advice a = moves ? time_managed_advice(address, bytes) : TIME_NO_ADVICE;
    if (attribute == cudaMemRangeAttributeAccessedBy ? room < 4 || room % 4 : room != 4) return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *value = (a & TIME_READ_MOSTLY) != 0; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
        *value = a & TIME_PREFER_HOST ? cudaCpuDeviceId : a & TIME_PREFER_DEVICE ? 0 : cudaInvalidDeviceId;
        return cudaSuccess;
    case cudaMemRangeAttributeAccessedBy:
        for (size_t k = 0; k < room / 4; k++) value[k] = k == 0 && a & TIME_ACCESSED ? 0 : cudaInvalidDeviceId;
        return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
        *value = a & TIME_FETCHED_TO_HOST ? cudaCpuDeviceId : a & TIME_FETCHED_TO_DEVICE ? 0 : cudaInvalidDeviceId;
        return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, enum cudaMemRangeAttribute attribute, const void *ptr,
                                     size_t bytes) {
    RT_BEGIN;
    if (!data || !check_range(ptr, bytes)) return rt_end(cudaErrorInvalidValue);
    return rt_end(range_attribute(data, size, attribute, (uint64_t)(uintptr_t)ptr, bytes));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, enum cudaMemRangeAttribute *attributes, size_t count,
                                      const void *ptr, size_t bytes) {
    RT_BEGIN;
    if (!data || !sizes || !attributes || !count || !check_range(ptr, bytes)) return rt_end(cudaErrorInvalidValue);
    cudaError_t e = cudaSuccess;
    for (size_t k = 0; k < count && e == cudaSuccess; k++)
        e = data[k] ? range_attribute(data[k], sizes[k], attributes[k], (uint64_t)(uintptr_t)ptr, bytes)
                    : cudaErrorInvalidValue;
    return rt_end(e);
}

/* On a card with concurrentManagedAccess, the stream that memory is attached to changes nothing. */
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t bytes, unsigned flags) {
    RT_BEGIN;
    uint32_t s;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    const rt_block *b = rt_managed_find((uint64_t)(uintptr_t)ptr);
    bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    if (!b || b->address != (uint64_t)(uintptr_t)ptr || (bytes && bytes != b->bytes)) {
        rt_say("the pointer and the size must be those of a whole allocation of cudaMallocManaged; size 0 means all");
        return rt_end(cudaErrorInvalidValue);
    }
    if (!known || (flags == cudaMemAttachSingle && time_is_legacy(s))) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    return rt_end(cudaSuccess);
}
