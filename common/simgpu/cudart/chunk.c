/* chunk.c — what the driver takes small allocations from: chunks of chunk_bytes, which it asks the system for when none
 * has room, and gives back when they are empty. So the first small cudaMalloc of a series costs what a large one does,
 * and the next ones little. As measured on an H200, alike for device memory and for page-locked memory of the host.
 *
 * It is about the cost alone: each block is an allocation of its own, so that an access past its end is found. */
#include "rt.h"

#include <stdlib.h>

enum { UNIT = 512 };
static uint64_t whole_units(uint64_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

uint32_t rt_chunk_take(rt_chunk_list *l, uint64_t bytes, bool *fresh) {
    const time_profile *p = time_profile_get();
    bytes = whole_units(bytes);
    *fresh = true;
    if (2 * (double)bytes > p->chunk_bytes) return 0;
    *fresh = false;
    for (size_t i = 0; i < l->count; i++)
        if (l->chunks[i].left >= bytes) {
            l->chunks[i].left -= bytes;
            l->chunks[i].live++;
            return l->chunks[i].id;
        }
    *fresh = true;
    if (l->count == l->room) {
        rt_chunk *more = realloc(l->chunks, (l->room + 16) * sizeof *more);
        if (!more) return 0;
        l->chunks = more;
        l->room += 16;
    }
    l->chunks[l->count++] = (rt_chunk){.id = ++l->last_id, .live = 1, .left = (uint64_t)p->chunk_bytes - bytes};
    return l->last_id;
}

bool rt_chunk_give(rt_chunk_list *l, uint32_t id, uint64_t bytes) {
    for (size_t i = 0; i < l->count; i++) {
        if (l->chunks[i].id != id) continue;
        l->chunks[i].left += whole_units(bytes);
        if (--l->chunks[i].live) return false;
        l->chunks[i] = l->chunks[--l->count];
    }
    return true;
}
