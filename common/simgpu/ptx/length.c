/* length.c — how long the machine code of each basic block is, with all turns of a loop that ptxas makes one
 * (machine_loop.c). A loop that is longer than the instruction cache comes from L2 in each turn, so its blocks take
 * that long at least. Functions that it calls are not counted as parts of a loop. */
#include "cfg.h"
#include "parse.h"

/* Returns the machine instructions of a block, in so many copies. */
static uint32_t length_of(const cfg *g, const cfg_block *b, uint32_t copies) {
    uint64_t units = 0;
    for (uint32_t at = b->first; at <= b->last; at++) units += g->code->insns[at].machine;
    return (uint32_t)((units * copies + PTX_MACHINE_UNIT / 2) / PTX_MACHINE_UNIT);
}

static void set_lengths(const cfg *g) {
    for (uint32_t k = 0; k < g->nblocks; k++) {
        if (g->blocks[k].inside) continue;
        const uint32_t copies = g->blocks[k].turns ? g->blocks[k].turns : 1;
        for (uint32_t b = k;; b = g->blocks[b].then) {
            ptx_insn *first = &g->code->insns[g->blocks[b].first];
            first->copies = (uint8_t)copies;
            first->length = length_of(g, &g->blocks[b], copies);
            if (copies == 1 || g->blocks[b].then == b) break;
        }
    }
}

/* The loops of a function, by block. A loop has one first block, and a way back to it from one block or several. */
typedef struct {
    uint32_t *end, *next_end; /* of a first block: a block from which a way leads back; the next such; + 1, or 0 */
    uint32_t *seen;           /* the first block of the loop that was looked at last and has this one, + 1 */
    uint32_t *list, n;        /* the blocks of the loop that is looked at */
    uint64_t *shortest;       /* the length of the shortest loop that the block stands in; 0: in none */
} loops;

static void add_to_loop(loops *l, uint32_t head, uint32_t block) {
    if (l->seen[block] == head + 1) return;
    l->seen[block] = head + 1;
    l->list[l->n++] = block;
}

/* Lists the blocks from which a way leads to one of the loop's ends, up to its first block. */
static void list_blocks(const cfg *g, loops *l, uint32_t head) {
    l->n = 0;
    add_to_loop(l, head, head);
    for (uint32_t e = l->end[head]; e; e = l->next_end[e - 1]) add_to_loop(l, head, e - 1);
    for (uint32_t k = 1; k < l->n; k++) {
        const cfg_block *b = &g->blocks[l->list[k]];
        for (uint32_t p = 0; p < b->nprevious; p++) add_to_loop(l, head, b->previous[p]);
    }
}

static void find_shortest(const cfg *g, loops *l) {
    for (uint32_t end = 0; end < g->nblocks; end++) {
        const uint32_t head = g->blocks[end].loop;
        if (head) l->next_end[end] = l->end[head - 1], l->end[head - 1] = end + 1;
    }
    for (uint32_t head = 0; head < g->nblocks; head++) {
        uint64_t length = 0;
        if (!l->end[head]) continue;
        list_blocks(g, l, head);
        for (uint32_t k = 0; k < l->n; k++) length += g->code->insns[g->blocks[l->list[k]].first].length;
        for (uint32_t k = 0; k < l->n; k++) {
            uint64_t *shortest = &l->shortest[l->list[k]];
            if (!*shortest || length < *shortest) *shortest = length;
        }
    }
}

void ptx_measure_code(const cfg *g, const ptx_costs *costs) {
    const size_t bytes = g->nblocks * sizeof(uint32_t);
    loops l = {ptx_alloc(bytes), ptx_alloc(bytes), ptx_alloc(bytes), ptx_alloc(bytes), 0, ptx_alloc(2 * bytes)};
    set_lengths(g);
    find_shortest(g, &l);
    for (uint32_t b = 0; b < g->nblocks; b++) {
        ptx_insn *first = &g->code->insns[g->blocks[b].first];
        const double loop = (double)l.shortest[b];
        if (loop <= costs->fetch.cache || !first->copies) continue;
        const double part = ptx_part_fetched(loop, loop, costs->fetch.cache);
        const int64_t clocks = (int64_t)(part * first->length * costs->fetch.clocks / first->copies),
                      more = clocks - ptx_depth_clocks(first->depth);
        if (more > 0) first->depth += more, first->part += more;
    }
    ptx_free(l.end), ptx_free(l.next_end), ptx_free(l.seen), ptx_free(l.list), ptx_free(l.shortest);
}
