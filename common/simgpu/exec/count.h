/* count.h — the counting rules for one memory request on an NVIDIA GPU of sm_70 or later.
 *
 * Global memory: a request touches 32-byte sectors in 128-byte lines. Tag stage: four lines a cycle. Data stage: the
 * bank rule, as for shared memory. A load that hits L1 costs the greater of the two in cycles ("wavefronts") of the LSU
 * pipe. Bank rule: 32 banks of 4 bytes. Accesses of 8 bytes go in two phases of half a warp, of 16 in four; a phase
 * takes as many wavefronts as the busiest bank has different words. Loads of 16 bytes whose neighbours (lane ^ 1, or
 * lane ^ 2) agree take two phases. Conflicts are the wavefronts beyond the number of phases. Sources and the check
 * against an H200's counters: ../README.md, "What is counted".
 */
#ifndef SIMGPU_COUNT_H
#define SIMGPU_COUNT_H

#include "warp.h"

typedef struct {
    uint32_t n;            /* lines */
    uint64_t line[64];     /* address / 128 */
    uint32_t bytes[64][4]; /* a mask of bytes for each of its four sectors */
} line_list;

/* Returns the wavefronts of an access by the lanes of mask, `size` bytes (1 to 16) each, at address[l]; sets
 * *phases. */
uint32_t exec_count_wavefronts(const uint64_t *address, uint32_t mask, uint32_t size, bool load, uint32_t *phases);

/* Returns the number of phases with an active lane. */
static inline uint32_t exec_count_phases(uint32_t mask, uint32_t size) {
    if (size < 8) return mask != 0;
    uint32_t lanes = size == 8 ? 16 : 8, n = 0;
    for (uint32_t first = 0; first < 32; first += lanes) n += (mask >> first & ((1u << lanes) - 1)) != 0;
    return n;
}
void exec_count_lines(line_list *list, const uint64_t *address, uint32_t mask, uint32_t size);

/* Sets *stride to the distance between neighbouring lanes. Returns false if the 32 lanes are not equally spaced. */
bool exec_count_stride(const uint64_t *address, int64_t *stride);

/* Prepares the cache of a launch. lines: the share of one block; warps: of a block. */
void exec_l1_start(l1_cache *c, uint32_t lines, uint32_t warps);
void exec_l1_next_block(l1_cache *c); /* empties it */

enum { L1_SETS = 4096 };

/* Returns the entry of a line, which is new if the warp is the first to touch it. */
static inline l1_line *exec_l1_line(l1_cache *c, const warp *w, uint64_t line) {
    l1_line *l = &c->lines[base_hash(line) / (UINT64_MAX / L1_SETS + 1) * 2];
    uint64_t tag = (line + 1) ^ c->epoch << 44;
    if (l->tag == tag) return l;
    if (l[1].tag == tag) return &l[1];
    l[1] = l[0];
    *l = (l1_line){.tag = tag, .warp = (uint8_t)w->number};
    return l;
}

/* Looks up sectors (4 bits) of a line in a warp's round of loads, and fills them in. Returns the missing sectors. Sets
 * *waits if any was missing or is on its way: the warps of a block run side by side on a GPU, so a sector that another
 * warp fetches in the same round has not arrived yet.
 *
 * Warps run one after another here, side by side on a card. So what another warp has fetched is there; what a warp
 * itself has fetched is there until it has fetched so many other lines that those of all resident warps fill L1. Fences
 * empty L1: a line is gone if its warp had passed fewer of them when it fetched it than this one has. So the first
 * fences of all warps are one, and what one warp has fetched behind its own is there for the others. */
static inline uint32_t exec_l1_load(l1_cache *c, warp *w, uint64_t line, uint32_t sectors, int32_t round, bool *waits) {
    l1_line *l = exec_l1_line(c, w, line);
    bool own = l->warp == (uint8_t)w->number;
    if ((own && w->fetched - l->at > c->reach) || l->fences < w->fences) l->sectors = 0, l->fences = w->fences;
    uint32_t missing = sectors & ~(uint32_t)l->sectors;
    if (missing) {
        w->fetched += l->sectors == 0;
        l->sectors |= (uint8_t)sectors;
    }
    if (own) l->at = w->fetched;
    for (uint32_t q = 0; q < 4; q++) {
        if (missing >> q & 1) l->round[q] = round;
        *waits |= (sectors >> q & 1) && l->round[q] >= round;
    }
    return missing;
}

/* Notes a store to sectors of a line. A store goes to L2 in any case, and counts as a hit if L1 knows the sector. */
static inline void exec_l1_store(worker *t, const warp *w, uint64_t line, uint32_t sectors) {
    l1_line *l = exec_l1_line(&t->l1, w, line);
    t->st_hits += (uint64_t)__builtin_popcount(sectors & (l->sectors | l->stored));
    l->stored |= (uint8_t)sectors;
}

#endif
