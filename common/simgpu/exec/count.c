/* count.c — the counting rules of one memory request. See count.h. */
#include "count.h"

#include <stdlib.h>
#include <string.h>

VECTOR bool exec_count_stride(const uint64_t *address, int64_t *stride) {
    uint64_t first = address[0], step = address[1] - first, off = 0;
    for (uint32_t l = 0; l < 32; l++) off |= address[l] ^ (first + l * step);
    *stride = (int64_t)step;
    return off == 0;
}

/* The 32 banks as `units` that deliver 2^shift bytes each at a time: an access is aligned, so it takes whole units. */
typedef struct {
    uint32_t units, shift;
} bank_units;

static bank_units units_of(uint32_t size) {
    const uint32_t shift = size <= 4 ? 2 : (uint32_t)__builtin_ctz(size);
    return (bank_units){128u >> shift, shift};
}

/* Returns the most different addresses in any one unit. */
static uint32_t conflicts(const uint64_t *address, uint32_t mask, bank_units u) {
    uint64_t held[32];
    uint8_t next[32], head[32], count[32] = {0}, n = 0;
    uint32_t most = 0;
    memset(head, 0xff, sizeof head);
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t x = address[__builtin_ctz(m)] >> u.shift;
        const uint32_t unit = x & (u.units - 1);
        uint8_t k = head[unit];
        while (k != 0xff && held[k] != x) k = next[k];
        if (k != 0xff) continue; /* the same address is a broadcast */
        held[n] = x;
        next[n] = head[unit];
        head[unit] = n++;
        if (++count[unit] > most) most = count[unit];
    }
    return most;
}

/* Returns whether no bank is asked for two words by a full warp: each lane leaves its word's number at its bank, and
 * then all find their own there. */
VECTOR static bool exec_conflict_free(const uint64_t *address) {
    uint32_t word[32], held[32], off = 0;
    for (uint32_t l = 0; l < 32; l++) word[l] = (uint32_t)(address[l] / 4);
    for (uint32_t l = 0; l < 32; l++) held[word[l] % 32] = word[l];
    for (uint32_t l = 0; l < 32; l++) off |= held[word[l] % 32] ^ word[l];
    return off == 0;
}

/* Returns the wavefronts of one phase. Most have no conflict, which is seen with less work. */
static uint32_t phase(const uint64_t *address, uint32_t mask, bank_units u) {
    if (mask == FULL && u.shift == 2 && exec_conflict_free(address)) return 1;
    uint64_t held[32];
    uint32_t seen = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t x = address[__builtin_ctz(m)] >> u.shift;
        const uint32_t unit = x & (u.units - 1);
        if (!(seen >> unit & 1))
            held[unit] = x, seen |= 1u << unit;
        else if (held[unit] != x)
            return conflicts(address, mask, u);
    }
    return seen != 0;
}

/* Returns whether every lane has the same address as lane ^ distance. Loads of 8 and 16 bytes are then served twice as
 * many lanes at a time. (Nsight Compute on an H200: a load of 8 bytes of which 16 lanes want the one and 16 another
 * takes one wavefront, of 16 bytes two.) */
static bool pairs_agree(const uint64_t *address, uint32_t mask, uint32_t distance) {
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), other = l ^ distance;
        if (mask >> other & 1 && address[l] != address[other]) return false;
    }
    return true;
}

uint32_t exec_count_wavefronts(const uint64_t *address, uint32_t mask, uint32_t size, bool load, uint32_t *phases) {
    int64_t stride;
    if (size <= 4) {
        *phases = 1;
        if (mask == FULL && exec_count_stride(address, &stride) && stride % 4 == 0 && (size == 4 || stride)) {
            /* lanes s words apart: gcd(s, 32) lanes share a bank */
            if (stride == 0) return 1;
            uint32_t zeros = (uint32_t)__builtin_ctzll((uint64_t)(stride / 4));
            return zeros > 5 ? 32 : 1u << zeros;
        }
        return phase(address, mask, units_of(size));
    }
    uint32_t lanes = size == 8 ? 16 : 8, total = 0;
    *phases = 0;
    if (load && (pairs_agree(address, mask, 1) || pairs_agree(address, mask, 2))) lanes *= 2;
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t part = mask & ((uint32_t)((1ull << lanes) - 1) << first);
        if (!part) continue;
        (*phases)++;
        total += phase(address, part, units_of(size));
    }
    return total;
}

void exec_count_lines(line_list *list, const uint64_t *address, uint32_t mask, uint32_t size) {
    uint8_t slot[128];
    memset(slot, 0xff, sizeof slot);
    list->n = 0;
    uint32_t last = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t a = address[__builtin_ctz(m)], line = a / 128;
        if (list->n == 0 || list->line[last] != line) {
            uint32_t h = (uint32_t)(base_hash(line) >> 57);
            while (slot[h] != 0xff && list->line[slot[h]] != line) h = (h + 1) & 127;
            if (slot[h] == 0xff) {
                slot[h] = (uint8_t)list->n;
                list->line[list->n] = line;
                memset(list->bytes[list->n], 0, sizeof *list->bytes);
                list->n++;
            }
            last = slot[h];
        }
        list->bytes[last][a / 32 & 3] |= (size == 32 ? ~0u : (1u << size) - 1) << (a & 31);
    }
}

void exec_l1_start(l1_cache *c, uint32_t lines, uint32_t warps) {
    if (!c->lines) c->lines = exec_must(calloc(2 * L1_SETS, sizeof *c->lines));
    c->reach = lines / warps;
}

/* The epoch is part of the tag, so a new epoch empties the cache; the lines are cleared once in a million blocks. */
void exec_l1_next_block(l1_cache *c) {
    c->epoch = (c->epoch + 1) & 0xfffff;
    if (c->epoch == 0) memset(c->lines, 0, 2 * L1_SETS * sizeof *c->lines);
}
