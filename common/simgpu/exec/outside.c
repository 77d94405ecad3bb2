/* outside.c — the memory of the host that kernels may use: page-locked memory, and variables that the host's program
 * holds itself. It has the same address for both, outside of the window of device addresses.
 *
 * The list belongs to the process, as the memory does. It changes only between launches. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

static exec_range *ranges; /* by address */
static uint32_t count, room;

/* Returns the index of the first range that ends behind the address. */
static uint32_t first_behind(uint64_t address) {
    uint32_t lo = 0, hi = count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (ranges[mid].hi <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void exec_outside_add(uint64_t address, uint64_t bytes, bool link) {
    uint32_t at = first_behind(address);
    if (count == room) {
        room = room ? 2 * room : 64;
        ranges = exec_must(realloc(ranges, room * sizeof *ranges));
    }
    memmove(ranges + at + 1, ranges + at, (count - at) * sizeof *ranges);
    ranges[at] = (exec_range){address, address + bytes, link};
    count++;
}

void exec_outside_remove(uint64_t address) {
    uint32_t at = first_behind(address);
    if (at == count || ranges[at].lo != address) return;
    memmove(ranges + at, ranges + at + 1, (--count - at) * sizeof *ranges);
}

const exec_range *exec_outside(uint64_t address, uint64_t bytes) {
    uint32_t at = first_behind(address);
    if (at == count || address < ranges[at].lo || bytes > ranges[at].hi - address) return NULL;
    return &ranges[at];
}
