/* memory.c — device memory: one window of addresses that the host cannot read, and each device's bytes elsewhere.
 *
 * Address a of a device is stored at d->storage + (a - window_base). Both ranges are reserved once and get pages when
 * touched, so a program may allocate all of a large device on a small host. Allocation advances a pointer: no address
 * is used twice until the window is exhausted, so an access through a stale pointer faults. Behind each allocation is a
 * gap, where an access faults, too.
 *
 * Where an array begins decides which slices of L2 serve it (contention.h), so small allocations begin as on a card:
 * less than SMALL bytes one after another, at boundaries of ALIGN, in pieces of SMALL. The gap is a multiple of what
 * two slices serve in turn, so that it changes nothing. Large ones begin at a boundary of LARGE; a card's are multiples
 * of SMALL, which would take twice the addresses here. (An H200, cudaMalloc of 4 bytes to 64 MiB. It gives a small one
 * the piece with the least room that is enough, here it comes behind the latest.) */
#include "warp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLICE     (1ull << 38) /* 256 GB of addresses for the memory of each device of a machine */
#define WINDOW    (SLICE * machine_size)
#define ADDRESSES (WINDOW + EXEC_MANAGED_BYTES + EXEC_HEAP_BYTES)
enum { ALIGN = 512, GUARD = 1024, PAGE = 4096, PIECE = 8 << 20, SMALL = 2 << 20, LARGE = 64 << 10 };

static uint64_t window_base;      /* the same for every machine */
static uint64_t machine_size = 1; /* devices of a machine */

void exec_machines_of(uint32_t devices) { machine_size = devices; }

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static void *reserve(uint64_t at, int protection) {
    return mmap((void *)at, ADDRESSES, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                -1, 0);
}

static void reserve_window(void) {
    /* Fixed addresses make messages and reports equal in every run. The second place serves AddressSanitizer, whose
     * shadow covers the first. */
    static const uint64_t places[] = {0x020000000000, 0x200000000000, 0x300000000000};
    for (size_t i = 0; i < sizeof places / sizeof *places && !window_base; i++) {
        void *p = reserve(places[i], PROT_NONE);
        if (p == (void *)places[i])
            window_base = places[i];
        else if (p != MAP_FAILED)
            munmap(p, ADDRESSES);
    }
}

/* A device's part of the window, and of the heap. */
static void give_slice(exec_device *d, uint32_t number) {
    d->first = d->next_address = window_base + number * SLICE;
    d->heap.lo = number * (EXEC_HEAP_BYTES / machine_size);
    d->heap.hi = d->heap.lo + EXEC_HEAP_BYTES / machine_size;
}

exec_device *exec_device_beside(exec_device *first, uint32_t number) {
    exec_device *d = base_must(calloc(1, sizeof *d), "the host has no memory left for a device");
    d->card = first->card;
    d->storage = first->storage;
    exec_l2_init(d, ADDRESSES);
    d->machine = first->machine;
    d->machine[number] = d;
    give_slice(d, number);
    return d;
}

exec_device *exec_device_new(const exec_card *card) {
    exec_device *d = base_must(calloc(1, sizeof *d), "the host has no memory left for a device");
    d->print_limit = UINT64_MAX;
    reserve_window();
    d->card = *card;
    d->storage = mmap(NULL, ADDRESSES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!window_base || d->storage == MAP_FAILED)
        base_refuse("cannot reserve address space for device memory; is `ulimit -v` set? Unset it and run again.");
    madvise(d->storage, ADDRESSES, MADV_DONTDUMP);
    d->machine = base_must(calloc(machine_size, sizeof *d->machine), "the host has no memory left for a device");
    d->machine[0] = d;
    give_slice(d, 0);
    exec_l2_init(d, ADDRESSES);
    return d;
}

void exec_device_clear(exec_device *d) {
    for (uint32_t i = 0; i < d->nallocations; i++) {
        const exec_allocation a = d->allocations[i];
        /* what virtual.c has mapped belongs to no context, and stays */
        bool mapping = d->reserved && a.address - d->reserved < exec_mem_slice_end(d) - d->reserved;
        if (a.live && !mapping) exec_mem_free(d, a.address);
    }
    base_arena_clear(&d->programs);
    exec_texture_clear(d);
    exec_l2_clear(d);
    d->nkept = 0;
    d->workspace = 0;
    d->heap.used = d->heap.next = 0;
    exec_mem_gap(d, exec_mem_heap_base(), 0); /* its addresses begin anew */
}

/* Returns the index of the last allocation that begins at or before addr, or -1. */
static int64_t before(const exec_device *d, uint64_t addr) {
    int64_t lo = 0, hi = (int64_t)d->nallocations - 1, found = -1;
    while (lo <= hi) {
        int64_t mid = (lo + hi) / 2;
        if (d->allocations[mid].address <= addr) {
            found = mid;
            lo = mid + 1;
        } else {
            hi = mid - 1;
        }
    }
    return found;
}

uint64_t exec_mem_slice_end(const exec_device *d) { return d->first + SLICE; }

/* Where the addresses for allocations end. */
static uint64_t allocatable(const exec_device *d) { return d->reserved ? d->reserved : exec_mem_slice_end(d); }

/* Makes the addresses of freed allocations available again, when the window has no others left: those of the first gap
 * that is large enough, from a multiple of `align` on. */
static void reuse_window(exec_device *d, uint64_t need, uint64_t align) {
    uint32_t kept = 0;
    uint64_t at = d->first;
    d->small = d->small_end = 0;
    for (uint32_t i = 0; i < d->nallocations; i++)
        if (d->allocations[i].live) d->allocations[kept++] = d->allocations[i];
    d->nallocations = kept;
    for (uint32_t i = 0; i < d->nallocations; i++) {
        if (d->allocations[i].address >= at + need || d->allocations[i].address >= allocatable(d)) break;
        at = round_up(d->allocations[i].address + d->allocations[i].bytes + GUARD, align);
    }
    d->next_address = at;
}

uint64_t exec_mem_gap(exec_device *d, uint64_t from, uint64_t need) {
    uint32_t kept = 0;
    uint64_t at = from;
    bool found = false;
    for (uint32_t i = 0; i < d->nallocations; i++) {
        const exec_allocation a = d->allocations[i];
        if (a.live || a.address < from) d->allocations[kept++] = a;
        if (!a.live || a.address < from || found) continue;
        found = a.address - at >= need;
        if (!found) at = (a.address + a.bytes + 2 * 16 - 1) & ~15ull;
    }
    d->nallocations = kept;
    return at - from;
}

static bool fits(const exec_device *d, uint64_t need) {
    int64_t i = before(d, d->next_address + need - 1);
    bool free_here = i < 0 || d->allocations[i].address + d->allocations[i].bytes <= d->next_address;
    return d->next_address + need <= allocatable(d) && free_here;
}

/* Returns so many unused addresses from a multiple of `align` on, or 0. */
static uint64_t take_addresses(exec_device *d, uint64_t need, uint64_t align) {
    d->next_address = round_up(d->next_address, align);
    if (!fits(d, need)) reuse_window(d, need, align);
    if (!fits(d, need)) return 0;
    d->next_address += need;
    return d->next_address - need;
}

/* Returns addresses for an allocation and its gap, in whole units, or 0. A window that is almost full has no piece for
 * small ones left. */
static uint64_t find_place(exec_device *d, uint64_t bytes, uint64_t unit) {
    const uint64_t need = round_up(bytes, unit) + GUARD, piece = round_up(need, SMALL);
    if (bytes < SMALL && (d->small + need > d->small_end || d->small + need > allocatable(d))) {
        d->small = take_addresses(d, piece, LARGE);
        d->small_end = d->small ? d->small + piece : 0;
    }
    if (bytes < SMALL && d->small) {
        d->small += need;
        return d->small - need;
    }
    const uint64_t at = take_addresses(d, need, LARGE);
    return at ? at : take_addresses(d, need, ALIGN);
}

static uint8_t fresh_byte = EXEC_FRESH;

void exec_mem_fresh(uint8_t byte) { fresh_byte = byte; }
void exec_mem_make_fresh(void *from, uint64_t bytes) { memset(from, fresh_byte, bytes); }

/* Makes a file with a PIECE of such bytes. Returns its descriptor, or -1. */
static int file_made(uint8_t byte) {
    const int file = memfd_create("simgpu-bytes", MFD_CLOEXEC);
    if (file < 0) return -1;
    void *bytes = ftruncate(file, PIECE) ? MAP_FAILED : mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) {
        close(file);
        return -1;
    }
    memset(bytes, byte, PIECE);
    munmap(bytes, PIECE);
    return file;
}

/* Returns a file with a PIECE of such bytes, or -1. The first few that programs ask for are made. A program may close a
 * descriptor that it did not open, and then have one of its own with that number. */
static int file_of(uint8_t byte) {
    enum { MOST_FILES = 4 };
    static struct {
        uint8_t byte;
        int file;
        struct stat made;
    } files[MOST_FILES];
    static int n;
    struct stat now;
    for (int i = 0; i < n; i++) {
        if (files[i].byte != byte) continue;
        const bool same =
            fstat(files[i].file, &now) == 0 && now.st_dev == files[i].made.st_dev && now.st_ino == files[i].made.st_ino;
        return same ? files[i].file : -1;
    }
    if (n == MOST_FILES) return -1;
    const int file = file_made(byte);
    if (file >= 0) fstat(file, &files[n].made);
    files[n].byte = byte;
    return files[n++].file = file;
}

/* Shows such bytes in whole pages, each of which costs the host memory when something is stored there. A large range
 * maps the file again and again; zeros need none. Returns the end of what it has done: `at` or less than a page before
 * `end`, or less where the host refuses. */
static uint8_t *show(uint8_t *at, const uint8_t *end, uint8_t byte) {
    const int file = byte ? file_of(byte) : -1,
              how = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED | (byte ? 0 : MAP_ANONYMOUS);
    while ((!byte || file >= 0) && end - at >= PAGE) {
        uint64_t n = (uint64_t)(end - at) / PAGE * PAGE;
        if (byte && n > PIECE) n = PIECE;
        if (mmap(at, n, PROT_READ | PROT_WRITE, how, file, 0) != at) break;
        at += n;
    }
    return at;
}

static uint8_t *whole_page(const exec_device *d, const uint8_t *from) {
    return d->storage + round_up((uint64_t)(from - d->storage), PAGE);
}

/* Asks the host for the pages between `from` and `end` in one call, before they are written one by one. A host that
 * knows no such call gives each at its first write. */
static void take_pages(exec_device *d, const uint8_t *from, const uint8_t *end) {
#ifdef MADV_POPULATE_WRITE
    uint8_t *page = whole_page(d, from);
    if (end - page >= 16 * PAGE) madvise(page, (size_t)(end - page) / PAGE * PAGE, MADV_POPULATE_WRITE);
#else
    (void)d, (void)from, (void)end;
#endif
}

/* Fills fresh memory. A process may have some 65000 mappings; an allocation has at most three for each PIECE. Small
 * ones, and all of them if the host gives no file, are written. */
static void make_fresh(exec_device *d, uint8_t *from, uint64_t bytes) {
    uint8_t *end = from + bytes, *at = from;
    if (bytes >= PIECE) {
        at = show(whole_page(d, from), end, fresh_byte);
        exec_mem_make_fresh(from, (uint64_t)(whole_page(d, from) - from));
    }
    take_pages(d, at, end);
    exec_mem_make_fresh(at, (uint64_t)(end - at));
}

bool exec_mem_note(exec_device *d, uint64_t address, uint64_t bytes) {
    int64_t at = before(d, address) + 1;
    if ((d->nallocations & (d->nallocations - 1)) == 0) {
        exec_allocation *grown = realloc(d->allocations, (d->nallocations ? 2 * d->nallocations : 1) * sizeof *grown);
        if (!grown) return false;
        d->allocations = grown;
    }
    memmove(&d->allocations[at + 1], &d->allocations[at], (d->nallocations - (uint64_t)at) * sizeof *d->allocations);
    d->allocations[at] = (exec_allocation){address, bytes, true};
    d->nallocations++;
    return true;
}

static uint64_t allocate(exec_device *d, uint64_t bytes, uint64_t unit) {
    if (bytes == 0 || bytes > d->card.memory - d->used) return 0;
    const uint64_t address = find_place(d, bytes, unit);
    if (!address || !exec_mem_note(d, address, bytes)) return 0;
    d->used += bytes;
    make_fresh(d, exec_mem_host(d, address), bytes);
    return address;
}

uint64_t exec_mem_alloc(exec_device *d, uint64_t bytes) { return allocate(d, bytes, ALIGN); }
uint64_t exec_mem_alloc_apart(exec_device *d, uint64_t bytes) { return allocate(d, bytes, GUARD); }

int exec_mem_free(exec_device *d, uint64_t addr) {
    int64_t i = before(d, addr);
    if (i < 0 || d->allocations[i].address != addr || !d->allocations[i].live) return -1;
    d->allocations[i].live = false;
    exec_l2_drops(d, addr, d->allocations[i].bytes);
    if (exec_managed((void *)(uintptr_t)addr)) {
        exec_managed_free(addr, d->allocations[i].bytes);
        return 0;
    }
    if (addr >= exec_mem_heap_base()) {
        exec_heap_freed(d, d->allocations[i].bytes);
        return 0;
    }
    d->used -= d->allocations[i].bytes;
    uint64_t first = round_up(addr - window_base, PAGE),
             last = (addr - window_base + d->allocations[i].bytes) / PAGE * PAGE;
    if (last > first) /* drops the pages, and replaces all mappings by one */
        mmap(d->storage + first, last - first, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return 0;
}

/* Of a program with many fills, the later ones are written: each may cut two mappings more. */
void exec_mem_fill(exec_device *d, uint64_t address, uint8_t byte, uint64_t bytes) {
    enum { MOST_SHOWN = 4096 };
    static uint32_t shown;
    uint8_t *from = exec_mem_host(d, address), *end = from + bytes, *at = from;
    const bool own = address - d->first < allocatable(d) - d->first; /* not a file of virtual.c's, or of managed.c's */
    if (own && bytes >= PIECE && shown < MOST_SHOWN) {
        shown++;
        at = show(whole_page(d, from), end, byte);
        memset(from, byte, (size_t)(whole_page(d, from) - from));
    }
    memset(at, byte, (size_t)(end - at));
}

uint64_t exec_workspace(exec_device *d) {
    enum { WORKSPACE = 512 };
    if (!d->workspace) d->workspace = exec_mem_alloc_apart(d, WORKSPACE);
    return d->workspace;
}

uint64_t exec_mem_base(void) { return window_base; }
uint64_t exec_mem_end(void) { return window_base + ADDRESSES; }
uint64_t exec_mem_managed_base(void) { return window_base + WINDOW; }
uint64_t exec_mem_heap_base(void) { return window_base + WINDOW + EXEC_MANAGED_BYTES; }
bool exec_mem_in_window(const void *p) { return (uint64_t)p - window_base < ADDRESSES; }
uint8_t *exec_mem_host(const exec_device *d, uint64_t addr) { return d->storage + (addr - window_base); }

static bool find_own(const exec_device *d, uint64_t addr, mem_range *range) {
    int64_t i = before(d, addr);
    if (i < 0 || !d->allocations[i].live || addr - d->allocations[i].address >= d->allocations[i].bytes) return false;
    *range = (mem_range){d->allocations[i].address, d->allocations[i].address + d->allocations[i].bytes};
    return true;
}

exec_device *exec_mem_owner(const exec_device *d, uint64_t addr) {
    mem_range r;
    for (uint32_t k = 0; k < machine_size; k++) {
        exec_device *e = d->machine[k];
        if (e && (addr - e->first < SLICE || (addr >= window_base + WINDOW && find_own(e, addr, &r)))) return e;
    }
    return (exec_device *)(uintptr_t)d;
}

/* Memory of the device, memory of another one whose kernels this one's may read, or managed memory. */
bool exec_mem_find(const exec_device *d, uint64_t addr, mem_range *range) {
    if (find_own(d, addr, range)) return true;
    if (machine_size == 1) return false;
    const exec_device *e = exec_mem_owner(d, addr);
    bool peer = false;
    for (uint32_t k = 0; k < machine_size; k++) peer |= d->machine[k] == e && d->peers >> k & 1;
    return e != d && (peer || exec_managed((void *)(uintptr_t)addr)) && find_own(e, addr, range);
}

void exec_mem_peer(exec_device *d, uint32_t number, bool on) {
    d->peers = on ? d->peers | 1u << number : d->peers & ~(1u << number);
}

bool exec_mem_elsewhere(const exec_device *d, uint64_t addr) {
    return machine_size > 1 && addr - window_base < WINDOW && addr - d->first >= SLICE;
}

bool exec_mem_valid(const exec_device *d, uint64_t addr, uint64_t bytes) {
    mem_range r;
    while (bytes) { /* mappings lie beside each other; between allocations are gaps */
        if (!exec_mem_find(d, addr, &r)) return false;
        uint64_t here = r.hi - addr < bytes ? r.hi - addr : bytes;
        addr += here;
        bytes -= here;
    }
    return true;
}

void exec_mem_usage(const exec_device *d, uint64_t *free_bytes, uint64_t *total_bytes) {
    *free_bytes = d->card.memory - d->used;
    *total_bytes = d->card.memory;
}

/* Returns allocation i, or the next live one in the direction of `step`, if there is one; NULL: none at i. */
static const exec_allocation *live_from(const exec_device *d, int64_t i, int step) {
    const int64_t n = (int64_t)d->nallocations;
    for (int64_t k = i; k >= 0 && k < n; k += step)
        if (d->allocations[k].live) return &d->allocations[k];
    return i >= 0 && i < n ? &d->allocations[i] : NULL;
}

/* An index below 0 leads to an address before the window when the array is the first in it: such an address is one of
 * the device, too. No host memory is that near. */
struct simgpu_address exec_mem_locate(const exec_device *d, uint64_t addr) {
    const uint64_t near = 1ull << 30;
    struct simgpu_address r = {.address = addr, .where = SIMGPU_NULL_POINTER};
    if (addr < 4096) return r;
    r.where = SIMGPU_NO_DEVICE_MEMORY;
    if (!exec_mem_in_window((void *)addr) && window_base - addr > near) return r;
    if (exec_mem_elsewhere(d, addr) && exec_mem_owner(d, addr) != d) {
        r = exec_mem_locate(exec_mem_owner(d, addr), addr);
        r.elsewhere = true;
        return r;
    }
    int64_t i = before(d, addr);
    const bool inside = i >= 0 && addr - d->allocations[i].address < d->allocations[i].bytes;
    const exec_allocation *a = inside ? &d->allocations[i] : live_from(d, i, -1), *b = live_from(d, i + 1, 1);
    uint64_t after = a ? addr - (a->address + a->bytes) : UINT64_MAX, ahead = b ? b->address - addr : UINT64_MAX;
    const exec_allocation *n = inside || after <= ahead ? a : b;
    r.where = !n ? SIMGPU_NONE_ALLOCATED : inside ? SIMGPU_INSIDE : n == a ? SIMGPU_PAST_END : SIMGPU_BEFORE;
    if (!n) return r;
    r.distance = inside ? addr - a->address : n == a ? after : ahead;
    r.base = n->address;
    r.bytes = n->bytes;
    r.freed = !n->live;
    return r;
}
