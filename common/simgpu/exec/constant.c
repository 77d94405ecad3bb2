/* constant.c — the clocks of loads of constant memory. See constant.h. */
#include "constant.h"

#include <stdbool.h>
#include <string.h>

/* Clocks of an address that the SM no longer has. The first use of a line costs no more: other blocks use it, too. */
enum { MISSED = 35 };

void exec_constant_next_block(constant_cache *c) { memset(c, 0, sizeof *c); }

static bool misses(constant_cache *c, uint64_t line) {
    for (uint32_t k = 0; k < CONSTANT_LINES; k++)
        if (c->line[k] == line + 1) return false;
    c->line[c->oldest] = line + 1;
    c->oldest = (c->oldest + 1) % CONSTANT_LINES;
    const uint64_t at = line % (CONSTANT_BANK / CONSTANT_LINE), bit = 1ull << at % 64;
    const bool again = c->seen[at / 64] & bit;
    c->seen[at / 64] |= bit;
    return again;
}

uint32_t exec_constant_load(constant_cache *c, const uint64_t *address, uint32_t mask) {
    uint64_t different[32];
    uint32_t n = 0, clocks = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t a = address[__builtin_ctz(m)];
        uint32_t k = 0;
        while (k < n && different[k] != a) k++;
        if (k == n) different[n++] = a;
    }
    for (uint32_t k = 0; k < n; k++) clocks += misses(c, different[k] / CONSTANT_LINE) ? MISSED : CONSTANT_CLOCKS;
    return clocks;
}
