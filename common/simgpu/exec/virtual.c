/* virtual.c — memory and addresses apart, for the driver's virtual memory management.
 *
 * Memory is a file of the host without a name; a mapping shows it in the device's storage at the addresses. So memory
 * may move from addresses to others, or be at two places. Addresses come from the upper half of the device's part of
 * the window, or what is behind the memory that lives there at the first reservation. From then on allocations leave
 * them. Those that are given back are used again when there are no others. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns where reserved addresses begin: the half of the device's part, or a granule behind its last live allocation.
 * How far allocations got says nothing: what is freed there is used again, and after that they may be anywhere. */
static uint64_t begin(const exec_device *d) {
    enum { GRANULE = 2 << 20 };
    const uint64_t end = exec_mem_slice_end(d);
    uint64_t at = d->first + (end - d->first) / 2;
    for (uint32_t k = 0; k < d->nallocations; k++) {
        const exec_allocation *a = &d->allocations[k];
        if (a->live && a->address - d->first < end - d->first && a->address + a->bytes > at)
            at = (a->address + a->bytes + 2 * GRANULE - 1) / GRANULE * GRANULE;
    }
    return at;
}

/* Returns whether the addresses lie in the device's part, and no reservation has any of them; *at: where it would stand
 * in the list. */
static bool is_free(const exec_device *d, uint64_t address, uint64_t bytes, uint32_t *at) {
    const uint64_t end = exec_mem_slice_end(d);
    const mem_range *r = d->reservations;
    uint32_t k = 0;
    while (k < d->nreservations && r[k].lo < address) k++;
    *at = k;
    if (address < d->reserved || address >= end || bytes > end - address) return false;
    return (k == 0 || r[k - 1].hi <= address) && (k == d->nreservations || address + bytes <= r[k].lo);
}

/* Finds the place of a reservation: behind all that there ever were, or else in the first gap. Returns its address, or
 * 0. */
static uint64_t find_place(const exec_device *d, uint64_t bytes, uint64_t alignment, uint32_t *at) {
    uint64_t address = (d->next_reserved + alignment - 1) & ~(alignment - 1);
    if (address >= d->next_reserved && is_free(d, address, bytes, at)) return address;
    for (uint32_t k = 0; k <= d->nreservations; k++) {
        const uint64_t from = k ? d->reservations[k - 1].hi : d->reserved;
        address = (from + alignment - 1) & ~(alignment - 1);
        if (address >= from && is_free(d, address, bytes, at)) return address;
    }
    return 0;
}

uint64_t exec_mem_reserve(exec_device *d, uint64_t bytes, uint64_t alignment, uint64_t wanted) {
    uint32_t at;
    if (!d->reserved) d->reserved = d->next_reserved = begin(d);
    const bool granted = wanted && (wanted & (alignment - 1)) == 0 && is_free(d, wanted, bytes, &at);
    const uint64_t address = granted ? wanted : find_place(d, bytes, alignment, &at);
    mem_range *grown = address ? realloc(d->reservations, (d->nreservations + 1) * sizeof *grown) : NULL;
    if (!grown) return 0;
    memmove(&grown[at + 1], &grown[at], (d->nreservations - at) * sizeof *grown);
    grown[at] = (mem_range){address, address + bytes};
    d->reservations = grown;
    d->nreservations++;
    if (address + bytes > d->next_reserved) d->next_reserved = address + bytes;
    return address;
}

void exec_mem_unreserve(exec_device *d, uint64_t address) {
    uint32_t k = 0;
    while (k < d->nreservations && d->reservations[k].lo != address) k++;
    if (k == d->nreservations) return;
    d->nreservations--;
    memmove(&d->reservations[k], &d->reservations[k + 1], (d->nreservations - k) * sizeof *d->reservations);
}

int exec_mem_file(exec_device *d, uint64_t bytes) {
    if (bytes > d->card.memory - d->used) return -1;
    int file = memfd_create("simgpu-memory", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)bytes)) {
        close(file);
        return -1;
    }
    if (file >= 0) d->used += bytes;
    return file;
}

void exec_mem_file_free(exec_device *d, int file, uint64_t bytes) {
    close(file);
    d->used -= bytes;
}

bool exec_mem_map(exec_device *d, uint64_t address, uint64_t bytes, int file, uint64_t offset) {
    void *at = exec_mem_host(d, address);
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, (off_t)offset) == at;
}

void exec_mem_unmap(exec_device *d, uint64_t address, uint64_t bytes) {
    exec_mem_hide(d, address);
    exec_l2_drops(d, address, bytes);
    mmap(exec_mem_host(d, address), bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* What was freed or hidden there is forgotten: one that begins inside of these addresses would stand before them. */
bool exec_mem_show(exec_device *d, uint64_t address, uint64_t bytes) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < d->nallocations; k++) {
        const exec_allocation a = d->allocations[k];
        if (a.live || a.address - address >= bytes) d->allocations[kept++] = a;
    }
    d->nallocations = kept;
    return exec_mem_note(d, address, bytes);
}

void exec_mem_hide(exec_device *d, uint64_t address) {
    for (uint32_t k = 0; k < d->nallocations; k++)
        if (d->allocations[k].address == address) d->allocations[k].live = false;
}
