/* turn.c — finds the branches whose lanes meet at the end of a loop's turn.
 *
 * Lanes that part meet at the branch's immediate post-dominator. In a loop that may be too far: behind the loop, where
 * some lanes leave it, `if (a) { ...; if (b) break; }`; or a turn or more later, where a `continue` is a jump to the
 * loop's beginning, in front of the place that all lanes come to at last. ptxas lets them meet at the end of the turn,
 * in front of the next one, and takes those that leave off the list of lanes to be waited for. (Machine code that nvcc
 * 13 makes for sm_90: BSSY B1 at such a branch, BSYNC B1 at the end of the turn, BREAK B1 where lanes leave.) */
#include "cfg.h"

enum { MOST_BYTES = 1 << 23 }; /* of all loops' inside[]; beyond that, lanes meet at post-dominators only */

typedef struct {
    uint32_t head, size; /* size: blocks */
    uint32_t behind;     /* where the lanes meet that leave it, or NO_BLOCK if its turns are no places to meet */
    bool *inside;        /* by block */
} turn_loop;

typedef struct {
    const cfg *g;
    turn_loop *loops;
    uint32_t nloops;
    uint32_t *todo; /* blocks to look at */
    uint32_t *seen; /* by block: the number of the search that has seen it last */
    uint32_t searches;
} turns;

static turn_loop *loop_from(turns *t, uint32_t head) {
    for (uint32_t k = 0; k < t->nloops; k++)
        if (t->loops[k].head == head) return &t->loops[k];
    t->loops = ptx_grow(t->loops, t->nloops, sizeof *t->loops);
    turn_loop *l = &t->loops[t->nloops++];
    *l = (turn_loop){head, 0, NO_BLOCK, ptx_alloc(t->g->nblocks * sizeof *l->inside)};
    return l;
}

static void forget_loops(turns *t) {
    for (uint32_t k = 0; k < t->nloops; k++) ptx_free(t->loops[k].inside);
    t->nloops = 0;
}

static void collect_loops(turns *t) {
    const cfg *g = t->g;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        if (!g->blocks[b].loop) continue;
        ptx_add_loop(g, g->blocks[b].loop - 1, b, loop_from(t, g->blocks[b].loop - 1)->inside, t->todo);
        if ((uint64_t)t->nloops * g->nblocks > MOST_BYTES) return forget_loops(t);
    }
    for (uint32_t k = 0; k < t->nloops; k++)
        for (uint32_t b = 0; b < g->nblocks; b++) t->loops[k].size += t->loops[k].inside[b];
}

/* Returns the smallest loop around the block with more than so many blocks, or NULL. */
static const turn_loop *innermost(const turns *t, uint32_t block, uint32_t size) {
    const turn_loop *best = NULL;
    for (uint32_t k = 0; k < t->nloops; k++) {
        const turn_loop *l = &t->loops[k];
        if (l->size > size && l->inside[block] && (!best || l->size < best->size)) best = l;
    }
    return best;
}

/* Sets where the lanes meet that leave the loop: at the first block outside of it that all of them reach. The loop must
 * have one way in, and the block lie in the same loop around it. */
static void find_behind(const turns *t, turn_loop *l) {
    const cfg_block *blocks = t->g->blocks;
    uint32_t at = l->head;
    if (l->head && l->inside[0]) return;
    while (at < t->g->nblocks && l->inside[at] && blocks[at].ipdom != at) at = blocks[at].ipdom;
    if (at >= t->g->nblocks || l->inside[at]) return;
    if (innermost(t, at, 0) == innermost(t, l->head, l->size)) l->behind = at;
}

/* Returns whether lanes can come from the block to the next turn of the loop without passing the block where they would
 * meet. */
static bool goes_around(turns *t, const turn_loop *l, uint32_t block, uint32_t meeting) {
    uint32_t n = 0;
    if (meeting == l->head) return false;
    if (meeting >= t->g->nblocks || !l->inside[meeting]) return true;
    t->searches++;
    t->todo[n++] = block;
    while (n) {
        const cfg_block *b = &t->g->blocks[t->todo[--n]];
        for (uint32_t e = 0; e < b->nnext; e++) {
            const uint32_t to = b->next[e];
            if (to == l->head) return true;
            if (!l->inside[to] || to == meeting || t->seen[to] == t->searches) continue;
            t->seen[to] = t->searches;
            t->todo[n++] = to;
        }
    }
    return false;
}

/* Sets where the lanes meet that the block's branch parts, if that is at the loop's next turn. Both ways go on in the
 * loop. */
static void find_turn(turns *t, uint32_t block) {
    cfg_block *b = &t->g->blocks[block];
    const ptx_insn *branch = &t->g->code->insns[b->last];
    b->turn = NO_BLOCK;
    if (branch->op != OP_bra || !branch->guarded) return;
    const turn_loop *l = innermost(t, block, 0);
    if (!l || l->behind == NO_BLOCK) return;
    for (uint32_t k = 0; k < b->nnext; k++)
        if (!l->inside[b->next[k]]) return;
    if (!goes_around(t, l, block, b->ipdom)) return;
    b->turn = l->head;
    b->behind = l->behind;
}

void ptx_find_turns(cfg *g) {
    turns t = {.g = g};
    t.todo = ptx_alloc((g->nblocks + 1) * sizeof *t.todo);
    t.seen = ptx_alloc((g->nblocks + 1) * sizeof *t.seen);
    collect_loops(&t);
    for (uint32_t k = 0; k < t.nloops; k++) find_behind(&t, &t.loops[k]);
    for (uint32_t b = 0; b < g->nblocks; b++) find_turn(&t, b);
    forget_loops(&t);
    ptx_free(t.loops);
    ptx_free(t.todo);
    ptx_free(t.seen);
}
