/* managed.c — where the blocks of managed memory are, and what it costs to move them.
 *
 * A block of 64 KiB is nowhere at first (no page holds it), then on the host or on the device. A kernel that touches a
 * block of the host faults, and the driver moves it to the device; the host's touch moves it back. Bytes never move in
 * fact: exec/managed.c shows the same ones at both ends. So a program gets the right values wherever its blocks are
 * thought to be, and this file is about time only.
 *
 * The driver moves more than a fault asks for (the tree of its uvm_perf_prefetch.c): in a piece of 2 MiB, each aligned
 * group of 2, 4, 8, 16 or 32 blocks of which more than half are at the destination comes whole.
 *
 * Advice changes the rules: read mostly leaves the host its copy while kernels only read; a block that prefers the host
 * stays there, and kernels reach it over the link.
 */
#include "time.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BLOCKS = 32, PIECE_SIZE = PIECE_BLOCKS * EXEC_MANAGED_BLOCK };
enum where { NOWHERE, ON_HOST, ON_DEVICE };
enum { COPIED = 0x80 }; /* beside the advice: the device has a copy for reading */

/* Of the process, by number of a block. */
static uint8_t *where, *advice;
static uint32_t known; /* of the arrays */
static bool look;      /* the host may have touched a block since the last look */

static void know_all(void) {
    uint32_t all = exec_managed_blocks();
    if (all <= known) return;
    uint32_t room = all + all / 2;
    where = base_must(realloc(where, room), "the host has no memory left for managed memory");
    advice = base_must(realloc(advice, room), "the host has no memory left for managed memory");
    memset(where + known, NOWHERE, room - known);
    memset(advice + known, 0, room - known);
    known = room;
}

/* --- ranges -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t first, n;
} blocks;

static blocks blocks_of(uint64_t address, uint64_t bytes) {
    uint32_t first = exec_managed_block(address), last = exec_managed_block(address + (bytes ? bytes - 1 : 0));
    know_all();
    return (blocks){first, last - first + 1};
}

/* Forgets blocks that one allocation has for itself. */
void time_managed_new(uint64_t address, uint64_t bytes) {
    blocks b = blocks_of(address, bytes);
    if (bytes < EXEC_MANAGED_BLOCK) return;
    memset(where + b.first, NOWHERE, b.n);
    memset(advice + b.first, 0, b.n);
}

void time_managed_advise(uint64_t address, uint64_t bytes, enum time_advice set, enum time_advice clear) {
    blocks b = blocks_of(address, bytes);
    for (uint32_t k = b.first; k < b.first + b.n; k++) advice[k] = (uint8_t)((advice[k] & ~clear) | set);
}

enum time_advice time_managed_advice(uint64_t address, uint64_t bytes) {
    blocks b = blocks_of(address, bytes);
    unsigned all = 0xff;
    for (uint32_t k = b.first; k < b.first + b.n; k++) all &= advice[k];
    return all & ~COPIED;
}

bool time_managed_on_device(uint64_t address) {
    know_all();
    return where[exec_managed_block(address)] == ON_DEVICE;
}

/* Notes which blocks that were nowhere the host has touched since. */
static void find_filled(void) {
    uint32_t all = exec_managed_blocks();
    know_all();
    for (uint32_t k = 0; k < all;) {
        if (where[k] != NOWHERE) {
            k++;
            continue;
        }
        uint32_t n = 1, count;
        while (k + n < all && where[k + n] == NOWHERE) n++;
        for (uint32_t at = k; (at = exec_managed_filled(at, k + n - at, &count)), count; at += count)
            memset(where + at, ON_HOST, count);
        k += n;
    }
}

static void set_on_device(uint32_t first, uint32_t n) {
    memset(where + first, ON_DEVICE, n);
    for (uint32_t k = first; k < first + n; k++) advice[k] &= (uint8_t)~COPIED;
    exec_managed_close(first, n);
}

/* --- the host's touches -------------------------------------------------------------------------------------- */

/* Completes the groups of a piece around a block of the piece. */
static void complete_groups(bool here[PIECE_BLOCKS], uint32_t block) {
    for (uint32_t size = 2; size <= PIECE_BLOCKS; size *= 2) {
        uint32_t first = block / size * size, n = 0;
        for (uint32_t k = first; k < first + size; k++) n += here[k];
        for (uint32_t k = first; k < first + size && 2 * n > size; k++) here[k] = true;
    }
}

/* Moves what the host touched in a piece; it went through it from its beginning. Returns the bytes; adds its faults. */
static uint64_t pull_piece(uint32_t first, const bool seen[PIECE_BLOCKS], uint64_t *faults) {
    bool here[PIECE_BLOCKS];
    uint64_t moved = 0;
    for (uint32_t k = 0; k < PIECE_BLOCKS; k++) here[k] = first + k < known && where[first + k] == ON_HOST;
    for (uint32_t k = 0; k < PIECE_BLOCKS; k++) {
        if (!seen[k] || here[k]) continue;
        here[k] = true;
        complete_groups(here, k);
        ++*faults;
    }
    for (uint32_t k = 0; k < PIECE_BLOCKS; k++) {
        if (!here[k] || first + k >= known || where[first + k] != ON_DEVICE) continue;
        where[first + k] = ON_HOST;
        moved += EXEC_MANAGED_BLOCK;
    }
    return moved;
}

void time_managed_host_may_look(void) { look = true; }

void time_managed_look(void) {
    uint32_t all = exec_managed_blocks();
    uint64_t faults = 0, bytes = 0;
    if (!look || !all) return;
    look = false;
    know_all();
    for (uint32_t first = 0; first < all; first += PIECE_BLOCKS) {
        bool seen[PIECE_BLOCKS] = {false}, any = false;
        uint32_t n = all - first < PIECE_BLOCKS ? all - first : PIECE_BLOCKS;
        for (uint32_t k = 0; k < n; k++) any |= where[first + k] == ON_DEVICE;
        if (!any) continue;
        exec_managed_seen(first, n, seen);
        for (uint32_t k = 0; k < n; k++) seen[k] &= where[first + k] == ON_DEVICE;
        bytes += pull_piece(first, seen, &faults);
    }
    if (!faults) return;
    const time_profile *p = time_profile_get();
    double start = time_host_ns();
    time_activity_call((time_site){"page faults of managed memory", NULL, 0}, SIMGPU_SUBMITS);
    time_activity_call_bytes(bytes);
    time_charge(HOST_IN_CALL, (double)faults * p->managed_host_fault_ns + (double)bytes / p->managed_d2h_gbs);
    time_activity_call_end();
    struct simgpu_migration m = {.direction = SIMGPU_D2H, .cause = SIMGPU_BY_HOST, .bytes = bytes, .faults = faults};
    time_events_migration(&m, NULL, start, time_host_ns());
}

/* --- a kernel's touches -------------------------------------------------------------------------------------- */

/* Returns whether kernels use the block where it is, over the link. */
static bool stays(uint32_t block) {
    return where[block] == ON_HOST && advice[block] & (TIME_PREFER_HOST | TIME_ACCESSED);
}

/* Moves the blocks of a piece that a kernel's touches bring. */
static void push_piece(uint32_t first, const bool touched[PIECE_BLOCKS], time_pages *pages) {
    bool here[PIECE_BLOCKS], faulted = false;
    for (uint32_t k = 0; k < PIECE_BLOCKS; k++) {
        uint32_t block = first + k;
        bool there = block < known && where[block] == ON_DEVICE;
        faulted |= touched[k] && !there;
        here[k] = there || touched[k];
    }
    if (!faulted) return;
    pages->faults++;
    for (uint32_t k = 0; k < PIECE_BLOCKS; k++)
        if (touched[k]) complete_groups(here, k);
    for (uint32_t k = 0; k < PIECE_BLOCKS; k++) {
        uint32_t block = first + k;
        if (!here[k] || block >= exec_managed_blocks() || where[block] == ON_DEVICE || stays(block)) continue;
        if (where[block] == ON_HOST)
            pages->bytes += EXEC_MANAGED_BLOCK;
        else
            pages->fresh_bytes += EXEC_MANAGED_BLOCK;
        set_on_device(block, 1);
    }
}

void time_managed_before_launch(void) {
    if (exec_managed_blocks()) find_filled();
}

/* A block of which the device holds or gets a copy, for reading. Returns whether that is all there is to do; sets
 * *faulted if the copy is new. */
static bool copy_only(const exec_touch *t, time_pages *pages, bool *faulted) {
    if (!(advice[t->block] & TIME_READ_MOSTLY) || t->written || where[t->block] != ON_HOST) return false;
    if (!(advice[t->block] & COPIED)) pages->bytes += EXEC_MANAGED_BLOCK, *faulted = true;
    advice[t->block] |= COPIED;
    return true;
}

static void price(time_pages *pages) {
    const time_profile *p = time_profile_get();
    if (pages->faults) pages->ns = p->managed_first_ns;
    pages->ns += (double)pages->faults * p->managed_fault_ns + (double)pages->bytes / p->managed_h2d_gbs +
                 (double)pages->fresh_bytes / p->managed_fresh_gbs;
}

void time_managed_launched(exec_device *d, exec_result *r, time_pages *pages) {
    const exec_touch *t;
    *pages = (time_pages){0};
    if (!exec_managed_blocks()) return;
    uint32_t n = exec_managed_touches(d, &t);
    for (uint32_t k = 0; k < n;) {
        uint32_t first = t[k].block / PIECE_BLOCKS * PIECE_BLOCKS;
        bool touched[PIECE_BLOCKS] = {false}, copied = false;
        for (; k < n && t[k].block - first < PIECE_BLOCKS; k++) {
            if (stays(t[k].block))
                r->link_read += t[k].read, r->link_written += t[k].written;
            else if (!copy_only(&t[k], pages, &copied))
                touched[t[k].block - first] = true;
        }
        uint64_t before = pages->faults;
        push_piece(first, touched, pages);
        pages->faults += copied && pages->faults == before; /* the driver handles a piece at once */
    }
    price(pages);
}

double time_managed_touched(uint64_t address, uint64_t bytes, uint64_t *moved, uint64_t *faults) {
    blocks b = blocks_of(address, bytes);
    time_pages pages = {0};
    find_filled();
    for (uint32_t k = b.first; k < b.first + b.n;) {
        uint32_t first = k / PIECE_BLOCKS * PIECE_BLOCKS;
        bool touched[PIECE_BLOCKS] = {false};
        for (; k < b.first + b.n && k - first < PIECE_BLOCKS; k++) touched[k - first] = !stays(k);
        push_piece(first, touched, &pages);
    }
    price(&pages);
    *moved += pages.bytes;
    *faults += pages.faults;
    return pages.ns;
}

/* --- prefetches, and commands that write ---------------------------------------------------------------------- */

uint64_t time_managed_to_move(uint64_t address, uint64_t bytes, enum simgpu_direction direction) {
    blocks b = blocks_of(address, bytes);
    uint64_t n = 0;
    find_filled();
    for (uint32_t k = b.first; k < b.first + b.n; k++)
        n += where[k] == (direction == SIMGPU_H2D ? ON_HOST : ON_DEVICE) && !(advice[k] & COPIED);
    return n * EXEC_MANAGED_BLOCK;
}

void time_managed_moved(uint64_t address, uint64_t bytes, enum simgpu_direction direction) {
    blocks b = blocks_of(address, bytes);
    time_managed_advise(address, bytes, direction == SIMGPU_H2D ? TIME_FETCHED_TO_DEVICE : TIME_FETCHED_TO_HOST,
                        TIME_FETCHED_TO_DEVICE | TIME_FETCHED_TO_HOST);
    for (uint32_t k = b.first; k < b.first + b.n; k++) {
        bool copy = direction == SIMGPU_H2D && where[k] == ON_HOST && advice[k] & TIME_READ_MOSTLY;
        if (copy)
            advice[k] |= COPIED;
        else if (direction == SIMGPU_H2D && where[k] != ON_DEVICE)
            set_on_device(k, 1);
        else if (direction == SIMGPU_D2H && where[k] == ON_DEVICE)
            where[k] = ON_HOST;
    }
}
