/* contention.c — a table of places of device memory with the turns of their atomics so far. A warp's atomic is sorted
 * into words, the words into sectors, the sectors into places. See contention.h. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, FIRST_SIZE = 64 };

static uint32_t hash(uint64_t key) { return (uint32_t)(base_hash(key) >> 32); }

static contention_place *find(contention_place *table, uint32_t size, uint64_t place) {
    uint32_t at = hash(place) & (size - 1);
    while (table[at].place && table[at].place != place) at = (at + 1) & (size - 1);
    return &table[at];
}

static contention_place *place_of(contention *c, uint64_t place) {
    if (2 * (c->used + 1) > c->size) {
        uint32_t size = c->size ? 2 * c->size : FIRST_SIZE;
        contention_place *grown = exec_must(calloc(size, sizeof *grown));
        for (uint32_t k = 0; k < c->size; k++)
            if (c->table[k].place) *find(grown, size, c->table[k].place) = c->table[k];
        free(c->table);
        c->table = grown;
        c->size = size;
    }
    contention_place *p = find(c->table, c->size, place);
    c->used += p->place == 0;
    p->place = place;
    return p;
}

static void empty(contention *c) {
    if (c->used) memset(c->table, 0, c->size * sizeof *c->table);
    c->used = 0;
}

void exec_contention_begin(contention *c, uint32_t place_bytes) {
    c->sectors = place_bytes / SECTOR;
    c->turns[0] = c->turns[1] = c->all = 0;
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
        place_of(c, address[__builtin_ctz(mask)] / SECTOR / c->sectors + 1)->turns[0]++;
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
    for (uint32_t k = 0; k < 64; k++)
        if (sectors[k].key) place_of(c, (sectors[k].key - 1) / c->sectors + 1)->turns[is_float] += sectors[k].lanes;
}

void exec_contention_take(contention *c, contention *other) {
    for (uint32_t k = 0; other->used && k < other->size; k++) {
        const contention_place *from = &other->table[k];
        if (!from->place) continue;
        contention_place *to = place_of(c, from->place);
        to->turns[0] += from->turns[0], to->turns[1] += from->turns[1];
    }
    empty(other);
}

void exec_contention_wave(contention *c) {
    uint64_t most[2] = {0, 0};
    for (uint32_t k = 0; c->used && k < c->size; k++)
        for (int kind = 0; kind < 2; kind++) {
            const uint64_t turns = c->table[k].turns[kind];
            c->all += turns;
            if (turns > most[kind]) most[kind] = turns;
        }
    c->turns[0] += most[0], c->turns[1] += most[1];
    empty(c);
}
