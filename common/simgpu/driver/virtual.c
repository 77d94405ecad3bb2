/* virtual.c — virtual memory management: addresses, memory, and the mapping of one to the other, each by itself.
 *
 *   cuMemAddressReserve   addresses of a part of the device's window that cudaMalloc leaves free
 *   cuMemCreate           memory: a file of the host without a name, so that it may be mapped at two places
 *   cuMemMap              shows a memory at addresses; cuMemSetAccess lets kernels and copies use them
 *
 * A memory lives until it is released and mapped nowhere. It costs the host what cudaMalloc of as many bytes costs,
 * when it is created. Sizes and addresses are multiples of 2 MiB, as on an H200. Memory belongs to no context: it stays
 * mapped over cudaDeviceReset. Memory for other processes is refused.
 *
 * Access is for a mapping here, not for each device: the flags that cuMemSetAccess gave last are those that
 * cuMemGetAccess returns for all devices. Only the device of the addresses can lose access; another one that gets it
 * becomes a peer of that device, and may use all of its memory until the peer is reset. Access to read alone is access.
 * Functions, arguments, codes: CUDA Driver API, "Virtual Memory Management". */
#include "driver.h"

#include <inttypes.h>
#include <stdlib.h>

#define GRANULE (2ull << 20)

typedef struct {
    uint64_t bytes;
    int file;      /* -1: a free place of the table */
    uint32_t uses; /* handles that were not released, and mappings */
    uint32_t handles;
    CUmemAllocationProp prop;
} memory;
typedef struct {
    uint64_t address, bytes;
    uint32_t memory;
    CUmemAccess_flags access;
} mapping;
typedef struct {
    uint64_t address, bytes;
} range;

static memory *memories; /* handle h is memories[h - 1] */
static mapping *mappings;
static range *ranges; /* reserved */
static uint32_t nmemories, nmappings, nranges;

/* Returns room for one element more. */
static void *grown(void *list, uint32_t count, size_t bytes) {
    return base_must(realloc(list, (count + 1) * bytes), "the host has no memory left for virtual memory management");
}

static memory *find(CUmemGenericAllocationHandle handle) {
    memory *m = handle - 1 < nmemories ? &memories[handle - 1] : NULL;
    return m && m->file >= 0 && m->handles ? m : NULL;
}

static struct device *device_of(const memory *m) { return rt_device->machine[m->prop.location.id]; }

static void give_up(memory *m) {
    if (--m->uses) return;
    exec_mem_file_free(device_of(m)->exec, m->file, m->bytes);
    time_activity_free(SIMGPU_MEMORY_DEVICE, m->bytes);
    m->file = -1;
}

static bool whole(uint64_t a, uint64_t b) { return (a | b) % GRANULE == 0; }

static const range *reserved(uint64_t address, uint64_t bytes) {
    for (uint32_t k = 0; k < nranges; k++)
        if (address - ranges[k].address < ranges[k].bytes && bytes <= ranges[k].address + ranges[k].bytes - address)
            return &ranges[k];
    return NULL;
}

/* Returns the mapping that has the address, or NULL. */
static const mapping *mapping_at(uint64_t address) {
    for (uint32_t k = 0; k < nmappings; k++)
        if (address - mappings[k].address < mappings[k].bytes) return &mappings[k];
    return NULL;
}

bool drv_mapped(uint64_t address) { return mapping_at(address) != NULL; }

/* Returns whether the addresses begin or end inside of a mapping, and says so. Requires an open call. */
static bool cuts(uint64_t address, uint64_t bytes) {
    for (uint32_t k = 0; k < nmappings; k++) {
        const mapping *m = &mappings[k];
        bool outside = m->address < address || m->address + m->bytes > address + bytes;
        if (!outside || m->address >= address + bytes || address >= m->address + m->bytes) continue;
        rt_say("the addresses are a part of a mapping; pass what one call of cuMemMap has mapped as a whole");
        return true;
    }
    return false;
}

/* Returns CUDA_SUCCESS if the location is a device, or an error with a message. Requires an open call. */
static CUresult check_location(const CUmemLocation *location) {
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
        rt_say("the location must be a device");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((unsigned)location->id < rt_cards()) return CUDA_SUCCESS;
    rt_say("there is no device %d", location->id);
    return CUDA_ERROR_INVALID_DEVICE;
}

/* Returns whether mappings fill all of these addresses, or (any) one has some of them. */
static bool mapped(uint64_t address, uint64_t bytes, bool any) {
    uint64_t covered = 0;
    for (uint32_t k = 0; k < nmappings; k++) {
        const mapping *m = &mappings[k];
        uint64_t from = m->address > address ? m->address : address;
        uint64_t a = m->address + m->bytes, b = address + bytes, to = a < b ? a : b;
        if (to > from) covered += to - from;
    }
    return any ? covered > 0 : covered == bytes;
}

static CUresult check_prop(const char *name, const CUmemAllocationProp *prop) {
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return drv_refuse(name, CUDA_ERROR_NOT_SUPPORTED,
                          "the memory must be a device's; memory of the host is missing");
    return drv_check_device(name, prop->location.id);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    NEEDS_INIT(cuMemGetAllocationGranularity);
    if (!granularity || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = check_prop("cuMemGetAllocationGranularity", prop);
    if (e == CUDA_SUCCESS) *granularity = GRANULE;
    return e;
}

/* --- addresses ---------------------------------------------------------------------------------------------- */

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
    NEEDS_INIT(cuMemAddressReserve);
    CUresult e = drv_begin("cuMemAddressReserve");
    if (e != CUDA_SUCCESS) return drv_end(e);
    if (!address || bytes == 0 || flags || alignment & (alignment - 1)) return drv_end(CUDA_ERROR_INVALID_VALUE);
    if (!whole(bytes, wanted)) {
        rt_say("the size, %zu, and the address that is asked for must be multiples of %llu", bytes, GRANULE);
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    uint64_t at = exec_mem_reserve(rt_device->exec, bytes, alignment > GRANULE ? alignment : GRANULE, wanted);
    if (!at) {
        rt_say("the device has no %zu addresses left", bytes);
        return drv_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    ranges = grown(ranges, nranges, sizeof *ranges);
    ranges[nranges++] = (range){at, bytes};
    *address = at;
    return drv_end(CUDA_SUCCESS);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    NEEDS_ADDRESS(cuMemAddressFree, address);
    CUresult e = drv_begin("cuMemAddressFree");
    if (e != CUDA_SUCCESS) return drv_end(e);
    const range *r = reserved(address, bytes);
    if (!r || r->address != address || r->bytes != bytes) {
        rt_say("no call of cuMemAddressReserve returned these addresses with this size");
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (mapped(address, bytes, true)) {
        rt_say("memory is mapped there; call cuMemUnmap first");
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    exec_mem_unreserve(exec_mem_owner(rt_device->exec, address), address);
    ranges[r - ranges] = ranges[--nranges];
    return drv_end(CUDA_SUCCESS);
}

/* --- memory ------------------------------------------------------------------------------------------------- */

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    NEEDS_INIT(cuMemCreate);
    CUresult e = check_prop("cuMemCreate", prop);
    if (e != CUDA_SUCCESS) return e;
    if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return drv_refuse("cuMemCreate", CUDA_ERROR_NOT_SUPPORTED,
                          "memory for other processes (requestedHandleTypes) is missing");
    e = drv_begin("cuMemCreate");
    if (e != CUDA_SUCCESS) return drv_end(e);
    if (!handle || bytes == 0 || flags) return drv_end(CUDA_ERROR_INVALID_VALUE);
    if (!whole(bytes, 0)) {
        rt_say("the size, %zu, must be a multiple of %llu (cuMemGetAllocationGranularity)", bytes, GRANULE);
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    memory m = {.bytes = bytes, .file = -1, .uses = 1, .handles = 1, .prop = *prop};
    const time_profile *p = time_profile_get();
    time_charge(HOST_IN_CALL, p->host_malloc_ns + (double)bytes / (1 << 20) * p->host_malloc_ns_per_mib);
    m.file = exec_mem_file(device_of(&m)->exec, bytes);
    if (m.file < 0) {
        rt_say("no room for %zu bytes", bytes);
        return drv_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    time_activity_alloc(SIMGPU_MEMORY_DEVICE, bytes);
    memories = grown(memories, nmemories, sizeof *memories);
    memories[nmemories++] = m;
    *handle = nmemories;
    return drv_end(CUDA_SUCCESS);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    NEEDS_INIT(cuMemRelease);
    CUresult e = drv_begin("cuMemRelease");
    if (e != CUDA_SUCCESS) return drv_end(e);
    memory *m = find(handle);
    if (!m) return drv_end(CUDA_ERROR_INVALID_VALUE);
    m->handles--;
    give_up(m);
    return drv_end(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
    NEEDS_INIT(cuMemGetAllocationPropertiesFromHandle);
    CUresult e = drv_begin("cuMemGetAllocationPropertiesFromHandle");
    if (e != CUDA_SUCCESS) return drv_end(e);
    const memory *m = find(handle);
    if (!prop || !m) return drv_end(CUDA_ERROR_INVALID_VALUE);
    *prop = m->prop;
    return drv_end(CUDA_SUCCESS);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    NEEDS_INIT(cuMemRetainAllocationHandle);
    CUresult e = drv_begin("cuMemRetainAllocationHandle");
    if (e != CUDA_SUCCESS) return drv_end(e);
    const mapping *m = mapping_at((uint64_t)(uintptr_t)address);
    if (!handle || !m) return drv_end(CUDA_ERROR_INVALID_VALUE);
    memories[m->memory].uses++;
    memories[m->memory].handles++;
    *handle = m->memory + 1;
    return drv_end(CUDA_SUCCESS);
}

/* --- mapping ------------------------------------------------------------------------------------------------ */

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    NEEDS_ADDRESS(cuMemMap, address);
    CUresult e = drv_begin("cuMemMap");
    if (e != CUDA_SUCCESS) return drv_end(e);
    memory *m = find(handle);
    if (!m) {
        rt_say("the handle is no memory; cuMemCreate did not return it, or it was released");
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (flags) {
        rt_say("the flags must be 0, not %llu", flags);
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (!whole(address | bytes, offset)) {
        rt_say("the address, the size, %zu, and the offset, %zu, must be multiples of %llu", bytes, offset, GRANULE);
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (bytes == 0 || offset > m->bytes || bytes > m->bytes - offset) {
        rt_say("the memory is %llu bytes, and %zu of them from %zu on are no part of it", (unsigned long long)m->bytes,
               bytes, offset);
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (!reserved(address, bytes) || mapped(address, bytes, true)) {
        rt_say(reserved(address, bytes) ? "memory is mapped there already; call cuMemUnmap first"
                                        : "the addresses are not reserved; call cuMemAddressReserve first");
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (!exec_mem_map(rt_device->exec, address, bytes, m->file, offset)) return drv_end(CUDA_ERROR_OUT_OF_MEMORY);
    m->uses++;
    mappings = grown(mappings, nmappings, sizeof *mappings);
    mappings[nmappings++] = (mapping){address, bytes, (uint32_t)handle - 1, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    return drv_end(CUDA_SUCCESS);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    NEEDS_ADDRESS(cuMemUnmap, address);
    CUresult e = drv_begin("cuMemUnmap");
    if (e != CUDA_SUCCESS) return drv_end(e);
    if (bytes == 0 || !mapped(address, bytes, false)) {
        rt_say("not all of these addresses have memory");
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (cuts(address, bytes)) return drv_end(CUDA_ERROR_INVALID_VALUE);
    time_wait_all(); /* a kernel may still use the memory */
    for (uint32_t k = nmappings; k-- > 0;) {
        const mapping m = mappings[k];
        if (m.address - address >= bytes) continue;
        exec_mem_unmap(exec_mem_owner(rt_device->exec, m.address), m.address, m.bytes);
        mappings[k] = mappings[--nmappings];
        give_up(&memories[m.memory]);
    }
    return drv_end(CUDA_SUCCESS);
}

/* The device that the addresses belong to has them in its list; another one becomes its peer. Returns false if the host
 * has no memory left for the list. */
static bool set_access(mapping *m, const CUmemAccessDesc *desc) {
    struct device *home = rt_owner(m->address), *reader = rt_device->machine[desc->location.id];
    exec_device *owner = home->exec, *user = reader->exec;
    bool on = desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE, was = m->access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (user != owner) {
        if (on) reader->mapped |= 1u << home->ordinal;
        rt_renew_access(reader, home);
    } else if (!on && was) {
        exec_mem_hide(owner, m->address);
    }
    if (on && !was && !exec_mem_show(owner, m->address, m->bytes)) return false;
    if (user == owner || on) m->access = desc->flags;
    return true;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *desc, size_t count) {
    NEEDS_ADDRESS(cuMemSetAccess, address);
    CUresult e = drv_begin("cuMemSetAccess");
    if (e != CUDA_SUCCESS) return drv_end(e);
    if (!desc || count == 0 || bytes == 0) return drv_end(CUDA_ERROR_INVALID_VALUE);
    if (!mapped(address, bytes, false)) {
        rt_say("not all of these addresses have memory; call cuMemMap first");
        return drv_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (cuts(address, bytes)) return drv_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t d = 0; d < count; d++) { /* all of them first: what is refused has changed nothing */
        e = check_location(&desc[d].location);
        if (e != CUDA_SUCCESS) return drv_end(e);
    }
    for (size_t d = 0; d < count; d++)
        for (uint32_t k = 0; k < nmappings; k++)
            if (mappings[k].address - address < bytes && !set_access(&mappings[k], &desc[d]))
                return drv_end(CUDA_ERROR_OUT_OF_MEMORY);
    return drv_end(CUDA_SUCCESS);
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address) {
    NEEDS_ADDRESS(cuMemGetAccess, address);
    CUresult e = drv_begin("cuMemGetAccess");
    if (e != CUDA_SUCCESS) return drv_end(e);
    if (!flags || !location) return drv_end(CUDA_ERROR_INVALID_VALUE);
    e = check_location(location);
    if (e != CUDA_SUCCESS) return drv_end(e);
    const mapping *m = mapping_at(address);
    if (!m) return drv_end(CUDA_ERROR_INVALID_VALUE);
    *flags = m->access;
    return drv_end(CUDA_SUCCESS);
}
