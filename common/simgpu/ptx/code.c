/* code.c — measures the machine code, for the instruction cache of an SM: how long each basic block is, with all turns
 * of a loop that ptxas makes one (machine_loop.c). A loop that is longer than the cache comes from L2 in each turn. */
#include "cfg.h"
#include "parse.h"

#include <string.h>

static uint32_t copies_of(const cfg_block *b) { return b->turns ? b->turns : 1; }

/* Returns the machine instructions of a block, in so many copies. */
static uint32_t length_of(const cfg *g, const cfg_block *b, uint32_t copies) {
    uint64_t units = 0;
    for (uint32_t at = b->first; at <= b->last; at++) units += g->code->insns[at].machine;
    return (uint32_t)((units * copies + PTX_MACHINE_UNIT / 2) / PTX_MACHINE_UNIT);
}

static void set_lengths(const cfg *g) {
    for (uint32_t k = 0; k < g->nblocks; k++) {
        if (g->blocks[k].inside) continue;
        const uint32_t copies = copies_of(&g->blocks[k]);
        for (uint32_t b = k;; b = g->blocks[b].then) {
            ptx_insn *first = &g->code->insns[g->blocks[b].first];
            first->copies = (uint8_t)copies;
            first->length = length_of(g, &g->blocks[b], copies);
            if (copies == 1 || g->blocks[b].then == b) break;
        }
    }
}

/* Sets of[] to the length of the shortest loop that each block stands in; 0 for none. */
static void find_loops(const cfg *g, uint64_t *of) {
    bool *inside = ptx_alloc(g->nblocks * sizeof *inside);
    uint32_t *todo = ptx_alloc(g->nblocks * sizeof *todo);
    for (uint32_t end = 0; end < g->nblocks; end++) {
        if (!g->blocks[end].loop) continue;
        memset(inside, 0, g->nblocks * sizeof *inside);
        ptx_add_loop(g, g->blocks[end].loop - 1, end, inside, todo);
        uint64_t length = 0;
        for (uint32_t b = 0; b < g->nblocks; b++) length += inside[b] ? g->code->insns[g->blocks[b].first].length : 0;
        for (uint32_t b = 0; b < g->nblocks; b++)
            if (inside[b] && (!of[b] || length < of[b])) of[b] = length;
    }
    ptx_free(inside);
    ptx_free(todo);
}

void ptx_measure_code(const cfg *g, const ptx_costs *costs) {
    uint64_t *loop = ptx_alloc(g->nblocks * sizeof *loop);
    set_lengths(g);
    find_loops(g, loop);
    for (uint32_t b = 0; b < g->nblocks; b++) {
        ptx_insn *first = &g->code->insns[g->blocks[b].first];
        const double part = ptx_part_fetched((double)loop[b], (double)loop[b], costs->fetch.cache);
        const int64_t clocks = (int64_t)(part * first->length * costs->fetch.clocks / first->copies),
                      more = clocks - ptx_depth_clocks(first->depth);
        if (!loop[b] || more <= 0) continue;
        first->depth += more, first->part += more;
    }
    ptx_free(loop);
}
