/* contention.c — turns of atomics at the slices of L2, and of floating point on each sector. A warp's atomic is sorted
 * into words, the words into sectors. See contention.h. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, FIRST_SIZE = 64 };

static uint32_t hash(uint64_t key) { return (uint32_t)(base_hash(key) >> 32); }

static contention_sector *find(contention_sector *table, uint32_t size, uint64_t sector) {
    uint32_t at = hash(sector) & (size - 1);
    while (table[at].sector && table[at].sector != sector) at = (at + 1) & (size - 1);
    return &table[at];
}

static contention_sector *of_sector(contention *c, uint64_t sector) {
    if (2 * (c->used + 1) > c->size) {
        uint32_t size = c->size ? 2 * c->size : FIRST_SIZE;
        contention_sector *grown = exec_must(calloc(size, sizeof *grown));
        for (uint32_t k = 0; k < c->size; k++)
            if (c->table[k].sector) *find(grown, size, c->table[k].sector) = c->table[k];
        free(c->table);
        c->table = grown;
        c->size = size;
    }
    contention_sector *s = find(c->table, c->size, sector);
    c->used += s->sector == 0;
    s->sector = sector;
    return s;
}

/* Returns the slice that serves a sector. Pieces 2 apart share one, and those 64 apart; the other bits of a piece's
 * number are folded into 6. */
static uint32_t slice_of(const contention *c, uint64_t sector) {
    const uint64_t piece = sector / c->piece_sectors;
    uint64_t bits = (piece & 1) | (piece >> 1 & 0x1e) | (piece >> 2 & ~0x1full);
    for (uint32_t shift = 24; shift >= 6; shift /= 2) bits ^= bits >> shift;
    return (uint32_t)(bits % CONTENTION_SLICES);
}

static void empty(contention *c) {
    if (c->used) memset(c->table, 0, c->size * sizeof *c->table);
    c->used = 0;
    memset(c->slice, 0, sizeof c->slice);
}

void exec_contention_begin(contention *c, uint32_t place_bytes) {
    c->piece_sectors = place_bytes / SECTOR;
    c->turns[0] = c->turns[1] = c->all = 0;
    memset(c->stored, 0, sizeof c->stored);
    empty(c);
}

void exec_contention_count(contention *c, const uint64_t *address, uint32_t mask, bool is_float, bool adds_up) {
    /* The words of the request with their numbers of lanes; then the sectors with their busiest words. */
    struct {
        uint64_t key;
        uint32_t lanes;
    } words[64] = {{0}}, sectors[64] = {{0}};
    uint32_t nwords = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t key = address[__builtin_ctz(m)] + 1;
        uint32_t at = hash(key) & 63;
        while (words[at].key && words[at].key != key) at = (at + 1) & 63;
        nwords += words[at].key == 0;
        words[at].key = key;
        words[at].lanes++;
    }
    if (nwords == 1 && adds_up) {
        c->slice[slice_of(c, address[__builtin_ctz(mask)] / SECTOR)]++;
        return;
    }
    for (uint32_t k = 0; k < 64; k++) {
        if (!words[k].key) continue;
        uint64_t key = (words[k].key - 1) / SECTOR + 1;
        uint32_t at = hash(key) & 63;
        while (sectors[at].key && sectors[at].key != key) at = (at + 1) & 63;
        sectors[at].key = key;
        if (sectors[at].lanes < words[k].lanes) sectors[at].lanes = words[k].lanes;
    }
    for (uint32_t k = 0; k < 64; k++) {
        if (!sectors[k].key) continue;
        c->slice[slice_of(c, sectors[k].key - 1)] += sectors[k].lanes;
        if (is_float) of_sector(c, sectors[k].key)->turns += sectors[k].lanes;
    }
}

void exec_contention_store(contention *c, uint64_t address) { c->stored[slice_of(c, address / SECTOR)]++; }

uint64_t exec_contention_stored(const contention *c) {
    uint64_t most = 0;
    for (uint32_t k = 0; k < CONTENTION_SLICES; k++)
        if (c->stored[k] > most) most = c->stored[k];
    return most;
}

void exec_contention_take(contention *c, contention *other) {
    for (uint32_t k = 0; other->used && k < other->size; k++)
        if (other->table[k].sector) of_sector(c, other->table[k].sector)->turns += other->table[k].turns;
    for (uint32_t k = 0; k < CONTENTION_SLICES; k++) {
        c->slice[k] += other->slice[k];
        c->stored[k] += other->stored[k];
        other->stored[k] = 0;
    }
    empty(other);
}

void exec_contention_wave(contention *c) {
    uint64_t slice = 0, sector = 0;
    for (uint32_t k = 0; k < CONTENTION_SLICES; k++) {
        c->all += c->slice[k];
        if (c->slice[k] > slice) slice = c->slice[k];
    }
    for (uint32_t k = 0; c->used && k < c->size; k++)
        if (c->table[k].turns > sector) sector = c->table[k].turns;
    c->turns[0] += slice, c->turns[1] += sector;
    empty(c);
}
