/* memory.c — allocation (pool.c has the stream-ordered kind), copies, memset, symbols.
 *
 * The call checks both ends of a copy: a device range must lie in one live allocation, a host pointer must not be a
 * device address, and the direction must agree with both. A message explains each "invalid argument" of the driver. */
#include "rt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Returns whether the process has memory at all of these bytes. MS_ASYNC does nothing else. */
static bool is_mapped(uint64_t address, uint64_t bytes) {
    const uint64_t page = 4096, first = address & ~(page - 1);
    const int before = errno;
    bool mapped = msync((void *)(uintptr_t)first, address + bytes - first, MS_ASYNC) == 0;
    errno = before;
    return mapped;
}

static double mib(uint64_t bytes) { return (double)bytes / (1 << 20); }

/* Charges the host the driver's work for cudaMalloc, without any waiting. Returns the chunk. */
static uint32_t charge_malloc(uint64_t bytes) {
    const time_profile *p = time_profile_get();
    bool fresh, large = (double)bytes > p->large_bytes;
    uint32_t chunk = rt_chunk_take(&rt_device->chunks, bytes, &fresh);
    double ns = p->host_malloc_ns + mib(bytes) * p->host_malloc_ns_per_mib + (large ? p->host_malloc_large_ns : 0);
    time_charge(HOST_IN_CALL, fresh ? ns : p->host_malloc_small_ns);
    return chunk;
}
static void charge_free(const rt_block *b) {
    const time_profile *p = time_profile_get();
    bool large = (double)b->bytes > p->large_bytes, last = rt_chunk_give(&rt_device->chunks, b->chunk, b->bytes);
    double ns = p->host_free_ns + mib(b->bytes) * p->host_free_ns_per_mib + (large ? p->host_free_large_ns : 0);
    time_charge(HOST_IN_CALL, last ? ns : p->host_free_small_ns);
}

/* --- lists of allocations from cudaMalloc and of page-locked host memory ---------------------------------------- */

bool rt_block_add(rt_block_list *l, rt_block b) {
    if (l->count == l->room) {
        rt_block *more = realloc(l->blocks, (l->room + 64) * sizeof *more);
        if (!more) return false;
        l->blocks = more;
        l->room += 64;
    }
    l->blocks[l->count++] = b;
    return true;
}

/* Returns the block that contains the address, or NULL. */
static rt_block *find_block(const rt_block_list *l, uint64_t address) {
    for (size_t i = l->count; i-- > 0;)
        if (address - l->blocks[i].address < l->blocks[i].bytes) return &l->blocks[i];
    return NULL;
}

/* Returns whether a block overlaps [first, end). */
static bool any_block(const rt_block_list *l, uint64_t first, uint64_t end) {
    for (size_t i = 0; i < l->count; i++)
        if (l->blocks[i].address < end && first < l->blocks[i].address + l->blocks[i].bytes) return true;
    return false;
}

static void drop_block(rt_block_list *l, rt_block *b) { *b = l->blocks[--l->count]; }

const rt_block *rt_block_of(uint64_t address) {
    const rt_block *b = find_block(&rt_device->blocks, address);
    return b ? b : find_block(&rt_first()->pinned, address);
}

void rt_describe_allocation(uint64_t address, char *text, size_t size) {
    const rt_block *b = find_block(&rt_device->blocks, address);
    if (!b) b = rt_managed_find(address);
    if (b && b->file) snprintf(text, size, "allocated at %s:%d", b->file, b->line);
}

/* --- device memory ---------------------------------------------------------------------------------------------- */

void rt_device_limit(uint64_t bytes) { rt_device->memory_limit = bytes ? bytes : UINT64_MAX; }

static void free_block(rt_block *b) {
    exec_mem_free(rt_device->exec, b->address);
    time_activity_free(SIMGPU_MEMORY_DEVICE, b->bytes);
    drop_block(&rt_device->blocks, b);
}

static void free_left(void) {
    for (size_t i = rt_device->blocks.count; i-- > 0;) {
        rt_block *b = &rt_device->blocks.blocks[i];
        if (b->leaving && time_point_passed(b->behind)) free_block(b);
    }
}

bool rt_free_behind(uint64_t address, time_point behind) {
    rt_block *b = find_block(&rt_device->blocks, address);
    if (!b || b->address != address || b->leaving) return false;
    b->leaving = true;
    b->behind = behind;
    return true;
}

void rt_free_array_memory(uint64_t address) {
    rt_block *b = find_block(&rt_device->blocks, address);
    charge_free(b);
    free_block(b);
}

void rt_device_usage(uint64_t *free_bytes, uint64_t *total_bytes) {
    free_left();
    exec_mem_usage(rt_device->exec, free_bytes, total_bytes);
    uint64_t used = *total_bytes - *free_bytes;
    if (*total_bytes > rt_device->memory_limit) *total_bytes = rt_device->memory_limit;
    *free_bytes = *total_bytes > used ? *total_bytes - used : 0;
}

uint64_t rt_device_alloc(uint64_t bytes) {
    uint64_t free_bytes, total;
    rt_device_usage(&free_bytes, &total);
    return bytes <= free_bytes ? exec_mem_alloc(rt_device->exec, bytes) : 0;
}

static cudaError_t allocate_in(void **ptr, size_t bytes, const void *context);

cudaError_t rt_allocate(void **ptr, size_t bytes) {
    if (!ptr) return cudaErrorInvalidValue;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    return forbidden == cudaSuccess ? allocate_in(ptr, bytes, rt_context()) : forbidden;
}

/* As memory of a pool does, it outlives the context. */
cudaError_t rt_allocate_captured(void **ptr, size_t bytes) { return allocate_in(ptr, bytes, NULL); }

static cudaError_t allocate_in(void **ptr, size_t bytes, const void *context) {
    time_activity_call_bytes(bytes);
    *ptr = NULL;
    if (bytes == 0) return cudaSuccess;
    uint32_t chunk = charge_malloc(bytes);
    uint64_t address = rt_device_alloc(bytes);
    if (!address) {
        uint64_t free_bytes, total;
        rt_device_usage(&free_bytes, &total);
        rt_say("no room for %zu bytes: %" PRIu64 " of %" PRIu64 " are free", bytes, free_bytes, total);
        rt_chunk_give(&rt_device->chunks, chunk, bytes);
        return cudaErrorMemoryAllocation;
    }
    rt_block_add(&rt_device->blocks, (rt_block){.address = address,
                                                .bytes = bytes,
                                                .file = rt_file(),
                                                .line = rt_line(),
                                                .chunk = chunk,
                                                .context = context,
                                                .ordinal = rt_device->ordinal});
    time_activity_alloc(SIMGPU_MEMORY_DEVICE, bytes);
    *ptr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **ptr, size_t bytes) {
    RT_BEGIN;
    return rt_end(rt_allocate(ptr, bytes));
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height) {
    RT_BEGIN;
    enum { PITCH_ALIGN = 512 };
    size_t row, all;
    if (!pitch || __builtin_add_overflow(width, PITCH_ALIGN - 1, &row)) return rt_end(cudaErrorInvalidValue);
    *pitch = row / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(*pitch, height, &all)) return rt_end(cudaErrorInvalidValue);
    return rt_end(rt_allocate(ptr, all));
}

/* Frees memory of the device in use. */
static cudaError_t free_here(void *ptr);

cudaError_t cudaFree(void *ptr) {
    RT_BEGIN;
    struct device *here = rt_device;
    rt_select_this(exec_mem_in_window(ptr) ? rt_owner((uint64_t)(uintptr_t)ptr) : here);
    cudaError_t e = free_here(ptr);
    rt_select_this(here);
    return rt_end(e);
}

static cudaError_t free_here(void *ptr) {
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return (forbidden);
    const time_profile *p = time_profile_get();
    if (!ptr) return (cudaSuccess);
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    time_wait_all(); /* as the driver does, since a kernel may still use the memory */
    free_left();
    if (rt_managed_free(address)) return (cudaSuccess);
    bool twice = false;
    if (rt_graph_memory_freed(address, time_point_now(time_legacy()), &twice)) {
        if (twice) rt_say("the memory of this graph was freed before; free it once");
        return twice ? cudaErrorInvalidValue : cudaSuccess;
    }
    if (rt_pool_free(address, time_point_now(time_legacy()), &twice) && !twice) {
        time_charge(HOST_SUBMITS, p->host_free_async_ns);
        rt_pool_synced();
        return (cudaSuccess);
    }
    rt_block *b = find_block(&rt_device->blocks, address);
    if (!b || b->address != address) {
        char what[256] = "a host address";
        struct simgpu_address at = exec_mem_locate(rt_device->exec, address);
        if (exec_mem_in_window(ptr)) simgpuSayAddress(&at, what, sizeof what);
        rt_say("the pointer is not the start of a live allocation by cudaMalloc: %s%s", what,
               twice ? ", freed to the pool before" : "");
        return (cudaErrorInvalidValue);
    }
    time_activity_call_bytes(b->bytes);
    charge_free(b);
    free_block(b);
    return (cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    RT_BEGIN;
    uint64_t free_now, total;
    rt_device_usage(&free_now, &total);
    if (!free_bytes && !total_bytes) return rt_end(cudaErrorInvalidValue);
    if (free_bytes) *free_bytes = free_now;
    if (total_bytes) *total_bytes = total;
    return rt_end(cudaSuccess);
}

/* --- page-locked host memory ------------------------------------------------------------------------------------ */

/* Returns the cost of locking or unlocking pages, in ns: chunk_ns for a chunk; per_mib for each MiB of PLENTY chunks
 * and more; by the logarithm between these two rates for sizes between. */
static double pages_ns(uint64_t bytes, double chunk_ns, double per_mib) {
    enum { PLENTY = 16 };
    const time_profile *p = time_profile_get();
    double chunks = (double)bytes / p->chunk_bytes, of_one = chunk_ns / (p->chunk_bytes / (1 << 20));
    if (chunks <= 1) return chunk_ns;
    double part = chunks < PLENTY ? log2(chunks) / log2(PLENTY) : 1;
    return mib(bytes) * (of_one + part * (per_mib - of_one));
}

/* Whole pages from the system, as the driver has them: zeros, and nothing that the heap of the program held before. */
static void *new_pages(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void free_pages(uint64_t address, uint64_t bytes) { munmap((void *)(uintptr_t)address, bytes); }

static cudaError_t allocate_pinned(void **ptr, size_t bytes, unsigned flags) {
    const time_profile *p = time_profile_get();
    if (!ptr) return cudaErrorInvalidValue;
    *ptr = NULL;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess || bytes == 0) return forbidden;
    time_activity_call_bytes(bytes);
    void *memory = new_pages(bytes);
    if (!memory) return cudaErrorMemoryAllocation;
    bool fresh;
    uint32_t chunk = rt_chunk_take(&rt_first()->pinned_chunks, bytes, &fresh);
    time_charge(HOST_IN_CALL, fresh ? pages_ns(bytes, p->host_pin_ns, p->host_pin_ns_per_mib) : p->host_pin_small_ns);
    rt_block b = {.address = (uint64_t)(uintptr_t)memory,
                  .bytes = bytes,
                  .flags = flags | cudaHostAllocMapped,
                  .chunk = chunk,
                  .context = rt_context(),
                  .ordinal = rt_device->ordinal};
    if (!rt_block_add(&rt_first()->pinned, b)) {
        free_pages(b.address, bytes);
        return cudaErrorMemoryAllocation;
    }
    exec_outside_add(b.address, bytes, true);
    time_activity_alloc(SIMGPU_MEMORY_PINNED, bytes);
    *ptr = memory;
    return cudaSuccess;
}

/* Frees the block, or lets the program have it back that registered it. Requires that nothing uses it. */
static void free_pinned(rt_block *b) {
    const time_profile *p = time_profile_get();
    time_activity_free(SIMGPU_MEMORY_PINNED, b->bytes);
    exec_outside_remove(b->address);
    if (b->registered) {
        time_charge(HOST_IN_CALL, p->host_unregister_ns + mib(b->bytes) * p->host_unregister_ns_per_mib);
    } else {
        bool last = rt_chunk_give(&rt_first()->pinned_chunks, b->chunk, b->bytes);
        double ns = pages_ns(b->bytes, p->host_unpin_ns, p->host_unpin_ns_per_mib);
        time_charge(HOST_IN_CALL, last ? ns : p->host_unpin_small_ns);
        free_pages(b->address, b->bytes);
    }
    drop_block(&rt_first()->pinned, b);
}

cudaError_t cudaMallocHost(void **ptr, size_t bytes) {
    RT_BEGIN;
    return rt_end(allocate_pinned(ptr, bytes, cudaHostAllocDefault));
}
cudaError_t cudaHostAlloc(void **ptr, size_t bytes, unsigned flags) {
    RT_BEGIN;
    return rt_end(flags & ~7u ? cudaErrorInvalidValue : allocate_pinned(ptr, bytes, flags));
}

cudaError_t cudaFreeHost(void *ptr) {
    RT_BEGIN;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    if (!ptr) return rt_end(cudaSuccess);
    rt_block *b = find_block(&rt_first()->pinned, (uint64_t)(uintptr_t)ptr);
    if (!b || b->registered || b->address != (uint64_t)(uintptr_t)ptr) {
        rt_say("the pointer is not the start of a live allocation by cudaMallocHost or cudaHostAlloc");
        return rt_end(cudaErrorInvalidValue);
    }
    time_wait_all();
    time_activity_call_bytes(b->bytes);
    free_pinned(b);
    return rt_end(cudaSuccess);
}

cudaError_t cudaHostRegister(void *ptr, size_t bytes, unsigned flags) {
    RT_BEGIN;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    const time_profile *p = time_profile_get();
    if (!ptr || bytes == 0 || exec_mem_in_window(ptr)) return rt_end(cudaErrorInvalidValue);
    uint64_t address = (uint64_t)(uintptr_t)ptr, end;
    if (__builtin_add_overflow(address, bytes, &end)) return rt_end(cudaErrorInvalidValue);
    if (any_block(&rt_first()->pinned, address, end)) return rt_end(cudaErrorHostMemoryAlreadyRegistered);
    if (!is_mapped(address, bytes)) {
        rt_say("%zu bytes from %p on are not all memory of the program; check the pointer and the size", bytes, ptr);
        return rt_end(cudaErrorInvalidValue);
    }
    time_activity_call_bytes(bytes);
    time_activity_alloc(SIMGPU_MEMORY_PINNED, bytes);
    time_charge(HOST_IN_CALL, p->host_register_ns + mib(bytes) * p->host_register_ns_per_mib);
    rt_block b = {.address = address,
                  .bytes = bytes,
                  .flags = flags | cudaHostRegisterMapped,
                  .registered = true,
                  .context = rt_context(),
                  .ordinal = rt_device->ordinal};
    if (!rt_block_add(&rt_first()->pinned, b)) return rt_end(cudaErrorMemoryAllocation);
    exec_outside_add(address, bytes, true);
    return rt_end(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *ptr) {
    RT_BEGIN;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    rt_block *b = find_block(&rt_first()->pinned, (uint64_t)(uintptr_t)ptr);
    if (b && !b->registered) return rt_end(cudaErrorInvalidValue); /* of cudaMallocHost */
    if (!b || b->address != (uint64_t)(uintptr_t)ptr) return rt_end(cudaErrorHostMemoryNotRegistered);
    time_wait_all();
    time_activity_call_bytes(b->bytes);
    free_pinned(b);
    return rt_end(cudaSuccess);
}

/* Kernels use page-locked memory at the host's address, whatever the flags of its allocation say. */
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    RT_BEGIN;
    if (!device || flags) return rt_end(cudaErrorInvalidValue);
    if (!find_block(&rt_first()->pinned, (uint64_t)(uintptr_t)host)) {
        rt_say("the pointer is not page-locked memory; allocate it by cudaHostAlloc, or pass it to cudaHostRegister");
        return rt_end(cudaErrorInvalidValue);
    }
    *device = host;
    return rt_end(cudaSuccess);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *ptr) {
    RT_BEGIN;
    const rt_block *b = find_block(&rt_first()->pinned, (uint64_t)(uintptr_t)ptr);
    if (flags && rt_managed_find((uint64_t)(uintptr_t)ptr)) return rt_end((*flags = 0, cudaSuccess));
    if (!flags || !b) return rt_end(cudaErrorInvalidValue);
    *flags = b->flags;
    return rt_end(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr) {
    RT_BEGIN;
    if (!attributes) return rt_end(cudaErrorInvalidValue);
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    const struct device *owner = exec_mem_in_window(ptr) ? rt_owner(address) : rt_device;
    bool device = exec_mem_valid(owner->exec, address, 1), pinned = find_block(&rt_first()->pinned, address) != NULL;
    bool managed = rt_managed_find(address) != NULL;
    memset(attributes, 0, sizeof *attributes);
    attributes->type = managed  ? cudaMemoryTypeManaged
                       : device ? cudaMemoryTypeDevice
                       : pinned ? cudaMemoryTypeHost
                                : cudaMemoryTypeUnregistered;
    attributes->device = device || pinned || managed ? (int)owner->ordinal : cudaInvalidDeviceId;
    attributes->devicePointer = device || pinned || managed ? (void *)(uintptr_t)address : NULL;
    attributes->hostPointer = device && !managed ? NULL : (void *)(uintptr_t)address;
    return rt_end(cudaSuccess);
}

void rt_memory_clear(void) {
    rt_block_list *device = &rt_device->blocks, *host = &rt_first()->pinned;
    for (size_t i = 0; i < device->count; i++) time_activity_free(SIMGPU_MEMORY_DEVICE, device->blocks[i].bytes);
    device->count = rt_device->chunks.count = 0;
    if (rt_device != rt_first()) return; /* which has the host's memory */
    for (size_t i = 0; i < host->count; i++) {
        time_activity_free(SIMGPU_MEMORY_PINNED, host->blocks[i].bytes);
        exec_outside_remove(host->blocks[i].address);
        if (!host->blocks[i].registered) free_pages(host->blocks[i].address, host->blocks[i].bytes);
    }
    host->count = rt_first()->managed.count = rt_first()->pinned_chunks.count = 0;
}

void rt_memory_end(const void *context) {
    rt_block_list *device = &rt_device->blocks, *host = &rt_first()->pinned;
    free_left();
    for (size_t i = device->count; i-- > 0;) {
        rt_block *b = &device->blocks[i];
        if (b->context != context) continue;
        charge_free(b);
        free_block(b);
    }
    for (size_t i = host->count; i-- > 0;)
        if (host->blocks[i].context == context) free_pinned(&host->blocks[i]);
}

/* --- checks ------------------------------------------------------------------------------------------------------ */

/* Sets *bytes to the distance from the first byte of one end of a copy to behind its last. Returns false if it exceeds
 * the address space. */
static bool extent(const time_copy *c, const time_place *at, uint64_t *bytes) {
    uint64_t end;
    *bytes = 0;
    if (c->height == 0 || c->width == 0) return true;
    uint64_t planes = 0;
    if (c->depth > 1 && __builtin_mul_overflow(c->depth - 1, at->slice, &planes)) return false;
    return !__builtin_mul_overflow(c->height - 1, at->pitch, bytes) && !__builtin_add_overflow(*bytes, planes, bytes) &&
           !__builtin_add_overflow(*bytes, c->width, bytes) && !__builtin_add_overflow(at->address, *bytes, &end);
}

/* A copy from or to a place where the program has no memory would end it by SIGSEGV. */
static cudaError_t check_host_end(uint64_t address, uint64_t bytes, const char *end) {
    if (is_mapped(address, bytes)) return cudaSuccess;
    if (is_mapped(address, 1))
        rt_say("the %s of %" PRIu64 " bytes goes on where the program has no memory; allocate as many, or copy fewer",
               end, bytes);
    else
        rt_say("the %s, 0x%" PRIx64 ", is no address of this program's memory, nor of a device's; was the pointer "
               "ever set, and is its memory still allocated?",
               end, address);
    return cudaErrorInvalidValue;
}

/* Returns whether both kernels and the host use the memory there. */
static bool hosts_too(uint64_t address) { return rt_managed_find(address) || find_block(&rt_first()->pinned, address); }

/* Checks one end of a copy or memset. end: "source" or "destination"; wants_device: whether the direction requires
 * device memory there. */
static cudaError_t check_end(const time_copy *c, const time_place *at, const char *end, bool wants_device) {
    const void *p = (const void *)(uintptr_t)at->address;
    uint64_t bytes;
    char what[256];
    if (at->pitch < c->width && c->height > 1) {
        rt_say("the %s's pitch of %" PRIu64 " bytes is less than the width of %" PRIu64, end, at->pitch, c->width);
        return cudaErrorInvalidPitchValue;
    }
    if (!p) {
        rt_say("the %s is a null pointer; check that its allocation succeeded", end);
        return cudaErrorInvalidValue;
    }
    if (!extent(c, at, &bytes)) {
        rt_say("the %s ends beyond the last address: width %" PRIu64 ", height %" PRIu64 ", pitch %" PRIu64, end,
               c->width, c->height, at->pitch);
        return cudaErrorInvalidValue;
    }
    bool in_window = exec_mem_in_window(p);
    if (in_window != wants_device && !hosts_too(at->address)) {
        rt_say("the %s is a %s pointer, but the direction requires %s memory; check the order of the arguments and "
               "the cudaMemcpyKind",
               end, wants_device ? "host" : "device", wants_device ? "device" : "host");
        return cudaErrorInvalidValue;
    }
    const exec_device *owner = exec_mem_owner(rt_device->exec, at->address);
    if (in_window && !exec_mem_valid(owner, at->address, bytes)) {
        uint64_t bad = exec_mem_valid(owner, at->address, 1) ? at->address + bytes - 1 : at->address;
        struct simgpu_address where = exec_mem_locate(owner, bad);
        simgpuSayAddress(&where, what, sizeof what);
        rt_say("the %s of %" PRIu64 " bytes does not lie in one allocation: its %s byte is %s", end, bytes,
               bad == at->address ? "first" : "last", what);
        return cudaErrorInvalidValue;
    }
    /* A copy may extend past registered memory, into other memory of the program; past page-locked memory from
     * cudaMallocHost it may not. */
    const rt_block *b = in_window ? NULL : find_block(&rt_first()->pinned, at->address);
    if (!in_window && !b) return check_host_end(at->address, bytes, end);
    if (b && !b->registered && bytes > b->address + b->bytes - at->address) {
        rt_say("the %s of %" PRIu64 " bytes does not fit; only %" PRIu64 " of the %" PRIu64
               " bytes from cudaMallocHost follow that address",
               end, bytes, b->address + b->bytes - at->address, b->bytes);
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static bool pinned(time_copy *c, const time_place *at) {
    const rt_block *b = find_block(&rt_first()->pinned, at->address);
    uint64_t bytes;
    c->shares_pages = b && b->registered;
    return b && extent(c, at, &bytes) && at->address + bytes <= b->address + b->bytes;
}

static cudaError_t resolve(time_copy *c, enum cudaMemcpyKind kind) {
    static const enum simgpu_direction by_kind[] = {SIMGPU_H2H, SIMGPU_H2D, SIMGPU_D2H, SIMGPU_D2D};
    if ((unsigned)kind > cudaMemcpyDefault) {
        rt_say("%d is not a cudaMemcpyKind", (int)kind);
        return cudaErrorInvalidMemcpyDirection;
    }
    bool to_device = exec_mem_in_window((const void *)(uintptr_t)c->to.address);
    bool from_device = exec_mem_in_window((const void *)(uintptr_t)c->from.address);
    if (kind == cudaMemcpyDefault)
        kind = to_device     ? from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice
               : from_device ? cudaMemcpyDeviceToHost
                             : cudaMemcpyHostToHost;
    c->direction = by_kind[kind];
    cudaError_t e = check_end(c, &c->to, "destination", c->direction == SIMGPU_H2D || c->direction == SIMGPU_D2D);
    if (e == cudaSuccess)
        e = check_end(c, &c->from, "source", c->direction == SIMGPU_D2H || c->direction == SIMGPU_D2D);
    /* Memory that both can use may stand at either end, so the direction is that of the bytes. */
    c->direction = to_device ? from_device ? SIMGPU_D2D : SIMGPU_H2D : from_device ? SIMGPU_D2H : SIMGPU_H2H;
    c->peer_gbs = c->direction == SIMGPU_D2D ? rt_peer_gbs(c->to.address, c->from.address) : 0;
    if (c->direction == SIMGPU_H2D) c->pageable = !pinned(c, &c->from);
    if (c->direction == SIMGPU_D2H) c->pageable = !pinned(c, &c->to);
    if (c->direction == SIMGPU_H2H) c->pageable = true;
    return e;
}

cudaError_t rt_copy_command(time_command *c, enum cudaMemcpyKind kind) {
    c->kind = TIME_COPY;
    return resolve(&c->is.copy, kind);
}
cudaError_t rt_fill_command(time_command *c) {
    c->kind = TIME_MEMSET;
    return check_end(&c->is.copy, &c->is.copy.to, "destination", true);
}

/* --- copies and memset ------------------------------------------------------------------------------------------- */

/* Queues a copy. waits: the form without Async. As in CUDA, a copy from the device to pageable memory waits in either
 * form; a copy on the device waits in neither; and a copy from pageable memory waits until its last bytes are
 * staged. With managed memory at an end, the form without Async waits for all of it (as an H100 does). */
cudaError_t rt_copy(time_copy bytes, enum cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
    time_command c = {.kind = TIME_COPY, .host_file = rt_file(), .host_line = rt_line(), .is.copy = bytes};
    if (!rt_stream(stream, &c.stream)) return cudaErrorInvalidResourceHandle;
    if (c.is.copy.width == 0 || c.is.copy.height == 0) return cudaSuccess;
    cudaError_t e = resolve(&c.is.copy, kind);
    if (e != cudaSuccess) return e;
    if ((e = rt_capture_legacy(c.stream)) != cudaSuccess) return e;
    time_activity_call_bytes(time_bytes(&c));
    if (rt_captured(c.stream)) return rt_submit(&c, NULL);
    bool stages = c.is.copy.pageable && c.is.copy.direction == SIMGPU_H2D;
    if (waits) time_activity_call_syncs();
    if (waits && stages) time_wait_before(c.stream); /* staging begins behind earlier work */
    time_submit(&c);
    const bool managed = rt_managed_find(c.is.copy.to.address) || rt_managed_find(c.is.copy.from.address);
    if ((c.is.copy.direction == SIMGPU_D2D || stages) && !managed) waits = false;
    if (c.is.copy.pageable && (c.is.copy.direction == SIMGPU_D2H || c.is.copy.direction == SIMGPU_H2H)) waits = true;
    if (waits) time_wait_stream(c.stream);
    return cudaSuccess;
}

static time_place place(const void *p, size_t pitch) {
    return (time_place){.address = (uint64_t)(uintptr_t)p, .pitch = pitch};
}

static time_copy row(void *to, const void *from, size_t bytes) {
    return (time_copy){.to = place(to, bytes), .from = place(from, bytes), .width = bytes, .height = 1};
}
static time_copy rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height) {
    return (time_copy){.to = place(to, to_pitch), .from = place(from, from_pitch), .width = width, .height = height};
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(rt_copy(row(to, from, bytes), kind, NULL, true));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(rt_copy(row(to, from, bytes), kind, stream, false));
}
/* Copies in the order of the batch, which may have any. A source that is read during the call only has been read when
 * the stream has come behind its copy. */
static cudaError_t copy_batch(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                              const struct cudaMemcpyAttributes *attributes, const size_t *first_of, size_t nattributes,
                              cudaStream_t stream) {
    if (!to || !from || !sizes || !attributes || !first_of || !count) return cudaErrorInvalidValue;
    if (!nattributes || nattributes > count || first_of[0]) {
        rt_say("each copy of a batch needs attributes: 1 to %zu of them, and the first index is 0", count);
        return cudaErrorInvalidValue;
    }
    for (size_t k = 0; k < nattributes; k++) {
        if (attributes[k].srcAccessOrder < cudaMemcpySrcAccessOrderStream ||
            attributes[k].srcAccessOrder > cudaMemcpySrcAccessOrderAny ||
            attributes[k].flags > cudaMemcpyFlagPreferOverlapWithCompute) {
            rt_say("attributes %zu of the batch: the order of access to the source or a flag is none", k);
            return cudaErrorInvalidValue;
        }
        if (k && (first_of[k] <= first_of[k - 1] || first_of[k] >= count)) {
            rt_say("the indexes of a batch's attributes must rise, and be less than the %zu copies", count);
            return cudaErrorInvalidValue;
        }
    }
    uint32_t s;
    if (!rt_stream(stream, &s)) return cudaErrorInvalidResourceHandle;
    if (time_is_legacy(s)) {
        rt_say("a batch of copies needs a stream that the program created, not the legacy default stream");
        return cudaErrorInvalidValue;
    }
    cudaError_t e = cudaSuccess;
    for (size_t k = 0, a = 0; k < count && e == cudaSuccess; k++) {
        if (a + 1 < nattributes && k == first_of[a + 1]) a++;
        bool now = attributes[a].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
        e = rt_copy(row(to[k], from[k], sizes[k]), cudaMemcpyDefault, stream, now);
    }
    return e;
}
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                 struct cudaMemcpyAttributes *attributes, size_t *first_of, size_t nattributes,
                                 cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(copy_batch(to, from, sizes, count, attributes, first_of, nattributes, stream));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(rt_copy(rows(to, to_pitch, from, from_pitch, width, height), kind, NULL, true));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(rt_copy(rows(to, to_pitch, from, from_pitch, width, height), kind, stream, false));
}

/* Queues a memset. waits: the form without Async, which the host waits for if the memory is its own too: managed or
 * page-locked. (CUDA runtime API, "API synchronization behavior"; an H100 does so.) */
cudaError_t rt_fill(time_copy bytes, cudaStream_t stream, bool waits) {
    time_command c = {.kind = TIME_MEMSET, .host_file = rt_file(), .host_line = rt_line(), .is.copy = bytes};
    if (!rt_stream(stream, &c.stream)) return cudaErrorInvalidResourceHandle;
    if (bytes.width == 0 || bytes.height == 0) return cudaSuccess;
    cudaError_t e = check_end(&c.is.copy, &c.is.copy.to, "destination", true);
    time_activity_call_bytes(time_bytes(&c));
    if (e == cudaSuccess) e = rt_submit(&c, NULL);
    if (e != cudaSuccess || !waits || rt_captured(c.stream) || !hosts_too(c.is.copy.to.address)) return e;
    time_activity_call_syncs();
    time_wait_stream(c.stream);
    return cudaSuccess;
}

cudaError_t rt_fill_elements(void *to, size_t pitch, uint32_t value, unsigned element, size_t width, size_t height,
                             cudaStream_t stream, bool waits) {
    const time_copy bytes = {
        .to = place(to, pitch), .width = width, .height = height, .value = (int)value, .element = (uint8_t)element};
    return rt_fill(bytes, stream, waits);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    RT_BEGIN;
    return rt_end(rt_fill_elements(to, bytes, (uint32_t)value, 1, bytes, 1, NULL, true));
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(rt_fill_elements(to, bytes, (uint32_t)value, 1, bytes, 1, stream, false));
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    RT_BEGIN;
    return rt_end(rt_fill_elements(to, pitch, (uint32_t)value, 1, width, height, NULL, true));
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(rt_fill_elements(to, pitch, (uint32_t)value, 1, width, height, stream, false));
}

/* --- symbols ------------------------------------------------------------------------------------------------------ */

cudaError_t rt_symbol_part(const void *symbol, size_t bytes, size_t offset, void **address) {
    cudaError_t e = cudaSuccess;
    uint64_t at;
    const ptx_var *v = rt_symbol_find(symbol, &at, &e);
    if (!v) return e;
    if (offset > v->size || bytes > v->size - offset) {
        rt_say("%zu bytes at offset %zu do not fit into the %" PRIu64 " bytes of %s", bytes, offset, v->size, v->name);
        return cudaErrorInvalidValue;
    }
    *address = (void *)(uintptr_t)(at + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
    void *to;
    cudaError_t e = rt_symbol_part(symbol, bytes, offset, &to);
    return e == cudaSuccess ? rt_copy(row(to, from, bytes), kind, stream, waits) : e;
}
static cudaError_t from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                               cudaStream_t stream, bool waits) {
    void *from;
    cudaError_t e = rt_symbol_part(symbol, bytes, offset, &from);
    return e == cudaSuccess ? rt_copy(row(to, from, bytes), kind, stream, waits) : e;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(to_symbol(symbol, from, bytes, offset, kind, NULL, true));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(to_symbol(symbol, from, bytes, offset, kind, stream, false));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(from_symbol(to, symbol, bytes, offset, kind, NULL, true));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(from_symbol(to, symbol, bytes, offset, kind, stream, false));
}

cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol) {
    RT_BEGIN;
    return rt_end(ptr ? rt_symbol_part(symbol, 0, 0, ptr) : cudaErrorInvalidValue);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    RT_BEGIN;
    cudaError_t e = cudaSuccess;
    uint64_t at;
    const ptx_var *v = rt_symbol_find(symbol, &at, &e);
    if (!bytes) e = cudaErrorInvalidValue;
    if (e == cudaSuccess) *bytes = v->size;
    return rt_end(e);
}
