/* l2.h — the second-level cache of a card, which lives as long as the card does, and the sectors that a launch touches.
 *
 *   l2.c         the cache: 128-byte lines of four 32-byte sectors, write-back, what a launch leaves the next one finds
 *   footprint.c  the different sectors of a wave of blocks, collected by all host threads
 *
 * The blocks that an SM array holds at once, a wave, run side by side on a card. So the cache gets the sectors of a
 * wave together, as a set: the first read of a sector that the cache lacks is a miss, every other read of the wave is a
 * hit. A set has no order, so the result is the same for any number of host threads.
 *
 * State is kept for chunks of 64 sectors (2 KB). A sector is `whole` when the cache has all its bytes, and dirty when
 * it must be written back. A dirty sector that is not whole has only the bytes of some stores: `bytes` tells which.
 * Stores that fill it together make it whole; otherwise DRAM supplies the rest when it is read or evicted. */
#ifndef SIMGPU_L2_H
#define SIMGPU_L2_H

#include <stdbool.h>
#include <stdint.h>

enum { L2_SECTOR = 32, L2_LINE = 128, L2_CHUNK = 2048, L2_PAIR = 64 };

typedef struct {
    uint64_t read, written, partly; /* of the wave: read before the wave had written them; stored whole; in part */
    uint64_t launch_read, launch_written; /* the union over the launch's waves */
    uint64_t whole, dirty;                /* in the cache */
    uint32_t place;                       /* in `residents`, + 1; 0: no sector is in the cache */
} __attribute__((aligned(64))) l2_chunk;

typedef struct {
    uint32_t chunk, used; /* used: the wave that touched it last */
} l2_resident;

typedef struct {
    uint32_t *chunks;
    uint32_t n, room;
} l2_list;

typedef struct {
    l2_chunk *chunks; /* of the window of device addresses */
    uint32_t *bytes;  /* by sector of the window: of one that is dirty and not whole, a bit for each stored byte */
    uint64_t first;   /* the window's first chunk */
    l2_resident *residents; /* the chunks in the cache */
    uint32_t nresidents, room;
    uint64_t lines, most_lines; /* in the cache; its size */
    uint64_t dirty, most_dirty; /* sectors that must be written back; as many as the card lets wait */
    uint32_t now;               /* number of the wave */
    uint64_t random;
    l2_list wave, other, launch; /* chunks touched by the wave (other: for sorting), by the launch */
    uint64_t missed;             /* of the launch: sectors read that the cache lacked; */
    uint64_t read, written;      /* bytes of DRAM; */
    uint64_t peer[2];            /* bytes of other devices' sectors, read and written */
} l2_cache;

void exec_l2_list_add(l2_list *l, uint32_t chunk);

#endif
