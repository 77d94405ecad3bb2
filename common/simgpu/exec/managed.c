/* managed.c — managed memory: bytes that kernels and the host use at one address.
 *
 * The last part of the window of device addresses is managed memory. A file in memory holds its bytes, and two mappings
 * show them: one at the address itself, for the host, and one in the device's storage, for kernels. So neither waits
 * for the other, a system call may fill the memory, and no signal handler has a part in it.
 *
 * time/ keeps where each block of 64 KiB is, on the host or on the device, and what its moves cost. This file tells it
 * two things. A launch leaves a list of the blocks that it touched. And a block that time/ has closed has no entry in
 * the host's page table, until the host touches it: /proc/self/pagemap tells that without any signal. Where there is no
 * such file, no touch is seen; the bytes are right, but the moves back to the host cost nothing.
 */
#include "warp.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 512, GUARD = 512, BLOCK = EXEC_MANAGED_BLOCK, SECTOR = 32 };

/* Of the process: a managed address belongs to one allocation of one device. */
static int file = -1;          /* holds the bytes; -1: there is no managed memory yet */
static uint64_t next, touched; /* offsets: of the next allocation; the end of all that was ever allocated */
static exec_device *mapped;    /* the devices whose storage shows the file */
static int pagemap = -1;

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }
static void *at(uint64_t offset) { return (void *)(uintptr_t)(exec_mem_managed_base() + offset); }

bool exec_managed(const void *p) { return file >= 0 && (uint64_t)p - exec_mem_managed_base() < EXEC_MANAGED_BYTES; }
uint32_t exec_managed_block(uint64_t address) { return (uint32_t)((address - exec_mem_managed_base()) / BLOCK); }
uint64_t exec_managed_address(uint32_t block) { return exec_mem_managed_base() + (uint64_t)block * BLOCK; }
uint32_t exec_managed_blocks(void) { return (uint32_t)(touched / BLOCK); }

/* --- memory -------------------------------------------------------------------------------------------------- */

static bool map_storage(exec_device *d) {
    return mmap(exec_mem_host(d, exec_mem_managed_base()), EXEC_MANAGED_BYTES, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0) != MAP_FAILED;
}

static bool begin(exec_device *d) {
    if (file < 0) {
        file = memfd_create("simgpu-managed", MFD_CLOEXEC);
        if (file >= 0 && ftruncate(file, (off_t)EXEC_MANAGED_BYTES)) close(file), file = -1;
        if (file < 0) return false;
    }
    if (d->managed.mapped) return true;
    if (!map_storage(d)) return false;
    d->managed.mapped = true;
    d->managed.next = mapped;
    mapped = d;
    return true;
}

/* Shows the blocks [from, to) at their addresses. Pages that are shown side by side are one mapping of the system. */
static bool show(uint64_t from, uint64_t to) {
    void *p =
        mmap(at(from), to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, (off_t)from);
    if (p == MAP_FAILED) return false;
    madvise(p, to - from, MADV_NOHUGEPAGE); /* an entry of the page table for each page, see exec_managed_seen */
    madvise(p, to - from, MADV_DONTDUMP);
    return true;
}

/* Returns the offset of a free piece, or UINT64_MAX. Offsets are used anew only when none are left. */
static uint64_t place(exec_device *d, uint64_t bytes) {
    bool large = bytes >= BLOCK; /* a large one shares no block with others */
    uint64_t need = round_up(bytes + GUARD, large ? BLOCK : ALIGN), from = round_up(next, large ? BLOCK : ALIGN);
    if (from + need <= EXEC_MANAGED_BYTES) return next = from + need, from;
    from = 0;
    exec_mem_gap(d, exec_mem_managed_base(), 0);     /* forgets the freed ones */
    for (uint32_t k = 0; k < d->nallocations; k++) { /* the first gap between whole blocks */
        const exec_allocation *a = &d->allocations[k];
        if (!a->live || !exec_managed((void *)(uintptr_t)a->address)) continue;
        uint64_t begins = (a->address - exec_mem_managed_base()) / BLOCK * BLOCK;
        if (begins >= from + need) break;
        from = round_up(a->address - exec_mem_managed_base() + a->bytes + GUARD, BLOCK);
    }
    return from + need <= EXEC_MANAGED_BYTES ? from : UINT64_MAX;
}

uint64_t exec_managed_alloc(exec_device *d, uint64_t bytes) {
    if (!bytes || bytes > EXEC_MANAGED_BYTES || !begin(d)) return 0;
    uint64_t from = place(d, bytes);
    if (from == UINT64_MAX) return 0;
    uint64_t first = from / BLOCK * BLOCK, last = round_up(from + bytes, BLOCK);
    if (!show(first, last)) return 0;
    if (last > touched) touched = last;
    return exec_mem_note(d, exec_mem_managed_base() + from, bytes) ? exec_mem_managed_base() + from : 0;
}

bool exec_managed_share(exec_device *d, uint64_t address, uint64_t bytes) {
    uint64_t from = address - exec_mem_managed_base();
    return begin(d) && show(from / BLOCK * BLOCK, round_up(from + bytes, BLOCK)) && exec_mem_note(d, address, bytes);
}

/* Takes the bytes of an allocation that has its blocks for itself. A small one keeps its bytes until its neighbours'
 * device is cleared. */
void exec_managed_free(uint64_t address, uint64_t bytes) {
    uint64_t from = address - exec_mem_managed_base(), n = round_up(bytes, BLOCK);
    if (bytes < BLOCK) return;
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)n);
    mmap(at(from), n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* --- a launch's touches -------------------------------------------------------------------------------------- */

/* Notes sectors of 64 that a launch touched; called by footprint.c with each word of its bitmaps. */
void exec_managed_touch(exec_device *d, uint64_t address, uint32_t sectors, bool written) {
    exec_managed_state *m = &d->managed;
    uint32_t block = exec_managed_block(address);
    if (block >= m->known) {
        uint32_t all = exec_managed_blocks();
        m->touch_of = exec_must(realloc(m->touch_of, all * sizeof *m->touch_of));
        memset(m->touch_of + m->known, 0, (all - m->known) * sizeof *m->touch_of);
        m->known = all;
    }
    if (!m->touch_of[block]) {
        if (m->ntouches == m->room)
            m->touches = exec_must(realloc(m->touches, (m->room = m->room ? 2 * m->room : 256) * sizeof *m->touches));
        m->touches[m->ntouches] = (exec_touch){.block = block};
        m->touch_of[block] = ++m->ntouches;
    }
    exec_touch *t = &m->touches[m->touch_of[block] - 1];
    if (written)
        t->written += (uint64_t)sectors * SECTOR;
    else
        t->read += (uint64_t)sectors * SECTOR;
}

static int by_block(const void *a, const void *b) {
    uint32_t x = ((const exec_touch *)a)->block, y = ((const exec_touch *)b)->block;
    return x < y ? -1 : x > y;
}

uint32_t exec_managed_touches(exec_device *d, const exec_touch **touches) {
    exec_managed_state *m = &d->managed;
    uint32_t n = m->ntouches;
    for (uint32_t k = 0; k < n; k++) m->touch_of[m->touches[k].block] = 0;
    m->ntouches = 0;
    if (n) qsort(m->touches, n, sizeof *m->touches, by_block);
    *touches = m->touches;
    return n;
}

/* --- the host's touches -------------------------------------------------------------------------------------- */

void exec_managed_close(uint32_t first, uint32_t blocks) {
    madvise(at((uint64_t)first * BLOCK), (uint64_t)blocks * BLOCK, MADV_DONTNEED); /* the file keeps the bytes */
}

/* Reads the page table's entries of some blocks into `seen`, a flag for each block. */
static void read_entries(uint32_t first, uint32_t blocks, bool *seen) {
    enum { ENTRIES = 4096 };
    static uint64_t entries[ENTRIES];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), each = BLOCK / page, n = blocks * each;
    uint64_t from = (uint64_t)(uintptr_t)at((uint64_t)first * BLOCK) / page;
    for (uint64_t done = 0; done < n;) {
        uint64_t some = n - done < ENTRIES ? n - done : ENTRIES;
        ssize_t got = pread(pagemap, entries, some * 8, (off_t)((from + done) * 8));
        if (got < 8) return;
        for (uint64_t k = 0; k < (uint64_t)got / 8; k++)
            if (entries[k] >> 62) seen[(done + k) / each] = true; /* present, or in swap */
        done += (uint64_t)got / 8;
    }
}

void exec_managed_seen(uint32_t first, uint32_t blocks, bool *seen) {
    memset(seen, 0, blocks * sizeof *seen);
    if (pagemap < 0) pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap >= 0) read_entries(first, blocks, seen);
}

uint32_t exec_managed_filled(uint32_t first, uint32_t blocks, uint32_t *count) {
    off_t end = (off_t)(first + blocks) * BLOCK, data = lseek(file, (off_t)first * BLOCK, SEEK_DATA);
    if (data < 0 || data >= end) return *count = 0, first + blocks;
    off_t hole = lseek(file, data, SEEK_HOLE);
    if (hole < 0 || hole > end) hole = end;
    uint32_t begin = (uint32_t)(data / BLOCK);
    *count = (uint32_t)((hole + BLOCK - 1) / BLOCK) - begin;
    return begin;
}

/* --- fork ---------------------------------------------------------------------------------------------------- */

static int copy = -1; /* for the child, which must not share what its parent writes */

static bool copy_to(int to) {
    enum { PIECE = 1 << 20 };
    void *piece = exec_must(malloc(PIECE));
    bool good = !ftruncate(to, (off_t)EXEC_MANAGED_BYTES);
    for (off_t from = lseek(file, 0, SEEK_DATA); good && from >= 0; from = lseek(file, from, SEEK_DATA)) {
        off_t hole = lseek(file, from, SEEK_HOLE);
        for (ssize_t n; from < hole && good; from += n) {
            n = pread(file, piece, hole - from < PIECE ? (size_t)(hole - from) : PIECE, from);
            good = n > 0 && pwrite(to, piece, (size_t)n, from) == n;
        }
    }
    free(piece);
    return good;
}

void exec_managed_before_fork(void) {
    if (file < 0) return;
    copy = memfd_create("simgpu-managed", MFD_CLOEXEC);
    if (copy >= 0 && !copy_to(copy)) close(copy), copy = -1;
}

void exec_managed_in_parent(void) {
    if (copy >= 0) close(copy);
    copy = -1;
}

/* Replaces every mapping of the parent's file by one of the copy. Without a copy the child has none, and faults. */
void exec_managed_in_child(void) {
    if (file < 0) return;
    int parent = file;
    file = copy;
    copy = -1;
    if (pagemap >= 0) close(pagemap); /* it shows the parent's pages */
    pagemap = -1;
    for (exec_device *d = mapped; d; d = d->managed.next) {
        if (file >= 0) map_storage(d);
        for (uint32_t k = 0; k < d->nallocations; k++) {
            const exec_allocation *a = &d->allocations[k];
            uint64_t from = a->address - exec_mem_managed_base();
            if (!a->live || from >= EXEC_MANAGED_BYTES) continue;
            uint64_t first = from / BLOCK * BLOCK, last = round_up(from + a->bytes, BLOCK);
            if (file < 0 || !show(first, last)) munmap(at(first), last - first);
        }
    }
    close(parent);
}
