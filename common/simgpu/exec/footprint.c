/* footprint.c — counts the different sectors that a launch touched, in two bitmaps over the device window with a bit
 * for each 32-byte sector. All host threads set bits concurrently. Each thread lists the words that it set first, so
 * that clearing costs time in proportion to the touched memory, not to the window. */
#include "warp.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Reserves the bitmaps for a window of `bytes`. */
void exec_footprint_init(exec_device *d, uint64_t bytes) {
    for (int k = 0; k < 2; k++) {
        d->touched[k] =
            mmap(NULL, bytes / 256, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (d->touched[k] == MAP_FAILED)
            base_refuse("cannot reserve address space; is `ulimit -v` set? Unset it and run again.");
    }
}

/* Prepares the worker for a launch on its device. */
void exec_footprint_begin(worker *t) {
    t->bitmap[0] = t->device->touched[0];
    t->bitmap[1] = t->device->touched[1];
    t->first_sector = exec_mem_base() / 32;
}

static void touch_word(worker *t, int written, uint64_t word, uint64_t bits) {
    uint64_t *p = &t->bitmap[written][word];
    uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED);
    if ((old & bits) == bits) return;
    if (t->parallel) {
        old = __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
    } else {
        *p = old | bits;
    }
    if (old) return;
    if (t->ntouched[written] == t->touched_capacity[written]) {
        uint32_t n = t->touched_capacity[written] ? 2 * t->touched_capacity[written] : 1024;
        t->touched[written] = exec_must(realloc(t->touched[written], n * sizeof *t->touched[written]));
        t->touched_capacity[written] = n;
    }
    t->touched[written][t->ntouched[written]++] = word;
}

void exec_footprint_touch(worker *t, int written, uint64_t first_sector, uint64_t last_sector) {
    first_sector -= t->first_sector, last_sector -= t->first_sector;
    for (uint64_t word = first_sector / 64; word <= last_sector / 64; word++) {
        uint64_t lo = word == first_sector / 64 ? first_sector % 64 : 0,
                 hi = word == last_sector / 64 ? last_sector % 64 : 63;
        touch_word(t, written, word, (~0ull >> (63 - hi)) & (~0ull << lo));
    }
}

uint64_t exec_footprint_take(worker *t, int written) {
    uint64_t sectors = 0;
    for (uint32_t k = 0; k < t->ntouched[written]; k++) {
        uint64_t *p = &t->bitmap[written][t->touched[written][k]];
        uint32_t n = (uint32_t)__builtin_popcountll(*p);
        sectors += n;
        *p = 0;
        uint64_t address = (t->first_sector + t->touched[written][k] * 64) * 32;
        if (exec_mem_elsewhere(t->device, address)) t->peer[written] += (uint64_t)n * 32;
        if (exec_managed((void *)(uintptr_t)address)) exec_managed_touch(t->device, address, n, written);
    }
    t->ntouched[written] = 0;
    return sectors;
}
