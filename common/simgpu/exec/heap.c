/* heap.c — malloc and free in kernels.
 *
 * The heap is the last part of the window of device addresses. Each block is an allocation like those of cudaMalloc, so
 * an access past its end, or after its free, is an error that names it. Blocks live until a kernel frees them, across
 * launches. A kernel that may allocate runs on one host thread, since its addresses depend on the order of its blocks.
 */
#include "warp.h"

#include <string.h>

enum { ALIGN = 16, GUARD = 16, OVERHEAD = 80 }; /* OVERHEAD: an H200 gives blocks at least so far apart */

/* What a block takes of the limit: an H200's heap of 8 MiB has room for six blocks of 1 MiB. */
static uint64_t share(uint64_t bytes) { return bytes + bytes / 4 + OVERHEAD; }

void exec_heap_limit(exec_device *d, uint64_t bytes) { d->heap.limit = bytes; }
bool exec_heap_begun(const exec_device *d) { return d->heap.next != 0; }

void exec_heap_freed(exec_device *d, uint64_t bytes) { d->heap.used -= share(bytes); }

uint64_t exec_heap_alloc(exec_device *d, uint64_t bytes) {
    if (!bytes) bytes = 1;
    if (d->heap.used > d->heap.limit || bytes > d->heap.limit || share(bytes) > d->heap.limit - d->heap.used) return 0;
    return exec_heap_take(d, bytes);
}

uint64_t exec_heap_take(exec_device *d, uint64_t bytes) {
    uint64_t need = (bytes + GUARD + ALIGN - 1) / ALIGN * ALIGN;
    if (!d->heap.next) d->heap.next = d->heap.lo + ALIGN;
    uint64_t start = exec_mem_heap_base() + d->heap.lo;
    if (d->heap.next + need > d->heap.hi) d->heap.next = d->heap.lo + exec_mem_gap(d, start, need);
    if (d->heap.next + need > d->heap.hi) return 0;
    uint64_t address = exec_mem_heap_base() + d->heap.next;
    if (!exec_mem_note(d, address, bytes)) return 0;
    d->heap.next += need;
    d->heap.used += share(bytes);
    exec_mem_make_fresh(exec_mem_host(d, address), bytes);
    return address;
}

bool exec_heap_free(exec_device *d, uint64_t address) {
    return address - exec_mem_heap_base() < EXEC_HEAP_BYTES && exec_mem_free(d, address) == 0;
}
