/* cas.c — atomics on shared memory for which the card has no instruction, and ptxas makes a loop of compare and swap
 * (ptx_needs_cas): what it costs that several lanes want a bank, and several warps a word.
 *
 * In a turn of the loop one lane of each bank succeeds, so a warp takes as many turns as the most lanes on a bank.
 * Where several warps of a block add to a word, one of them succeeds at a time, and a part of the others tries in vain.
 *
 * Source: an H200 with tests/clock/cas.cu, and Nsight Compute's wavefronts. One warp takes 103 clocks for an addition
 * if each lane has a bank of its own, some 40 more where the loop makes an address and a value, and 95 for each further
 * turn, whether lanes share a bank or a word. A turn has two wavefronts for ATOMS, and those of LDS by the bank rule
 * for the lanes that are left; with doubles there are 1.6 times as many. 4, 8 and 32 warps that want the same words
 * take 3, 5 and 15 turns instead of one; here it is one more for 2.5 other warps. */
#include "warp.h"

#include <string.h>

enum { BANKS = 32, SWAP = 2 }; /* SWAP: wavefronts of ATOMS in a turn */

static uint32_t words_of(const block *b) { return (b->shared_bytes + 3) / 4; }

/* Sets the lanes on each bank, and the words that they want, of 4 or 8 bytes. (Of doubles side by side each has a bank
 * of its own: one warp takes 144 clocks for them.) Returns the most lanes on one. */
static uint32_t share_banks(const warp *w, uint32_t size, uint32_t *lanes, uint32_t *words) {
    uint32_t most = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m), bank = (uint32_t)(w->address[l] / size) % BANKS;
        bool seen = false;
        for (uint32_t n = w->mask & ((1u << l) - 1); n && !seen; n &= n - 1)
            seen = w->address[__builtin_ctz(n)] / size == w->address[l] / size;
        words[bank] += !seen;
        if (++lanes[bank] > most) most = lanes[bank];
    }
    return most;
}

uint32_t exec_cas_wavefronts(warp *w, const ptx_insn *i) {
    block *b = w->block;
    const uint32_t size = ptx_type_bytes[i->type] == 8 ? 8 : 4;
    uint32_t lanes[BANKS] = {0}, words[BANKS] = {0}, wavefronts = 0;
    const uint32_t turns = share_banks(w, size, lanes, words);
    for (uint32_t t = 0; t < turns; t++) {
        uint32_t loads = 0;
        for (uint32_t k = 0; k < BANKS; k++) {
            const uint32_t left = lanes[k] > t ? lanes[k] - t : 0, n = words[k] < left ? words[k] : left;
            if (n > loads) loads = n;
        }
        wavefronts += SWAP + loads;
    }
    if (!b->adds) memset(b->additions, 0, words_of(b) * sizeof *b->additions);
    b->adds = counters_of(w, i);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        exec_additions *a = &b->additions[w->address[__builtin_ctz(m)] / 4];
        a->n++;
        a->warps |= 1u << w->number;
    }
    b->adds->rare += turns - 1;
    const ptx_costs *costs = &b->launch->program->module->costs;
    w->depth += (turns - 1) * (int64_t)costs->cas.turn;
    if (i->space == SPACE_GENERIC) w->depth += costs->cas.latency; /* depth.c does not know that it is shared memory */
    return size == 8 ? 8 * wavefronts / 5 : wavefronts;
}

uint64_t exec_cas_end(const block *b) {
    uint64_t most = 0, clocks = 0;
    if (!b->adds) return 0;
    for (uint32_t k = 0; k < words_of(b); k++) {
        const exec_additions *a = &b->additions[k];
        const uint64_t warps = (uint64_t)__builtin_popcount(a->warps),
                       vain = (uint64_t)a->n * (warps - !!warps) * 2 / 5;
        if (vain <= most) continue;
        most = vain;
        clocks = vain * b->launch->program->module->costs.cas.turn / warps;
    }
    b->adds->rare += most;
    b->adds->shared_st_wavefronts += most * (SWAP + 1);
    b->adds->shared_st_conflicts += most * (SWAP + 1);
    return clocks;
}
