/* turn.c — finds the branches whose lanes meet at the end of a loop's turn.
 *
 * Lanes that part meet at the branch's immediate post-dominator. In a loop that may be too far: behind the loop, where
 * some lanes leave it, `if (a) { ...; if (b) break; }`; or a turn or more later, where a `continue` is a jump to the
 * loop's beginning, in front of the place that all lanes come to at last. ptxas lets them meet at the end of the turn,
 * in front of the next one, and takes those that leave off the list of lanes to be waited for. (Machine code that nvcc
 * 13 makes for sm_90: BSSY B1 at such a branch, BSYNC B1 at the end of the turn, BREAK B1 where lanes leave.) */
#include "cfg.h"

enum { MOST_WORDS = 1 << 20 }; /* of all loops' sets; with more of them, lanes meet at post-dominators only */

typedef struct {
    uint32_t head, size; /* size: blocks */
    uint32_t behind;     /* where the lanes meet that leave it, or NO_BLOCK if its turns are no places to meet */
    uint64_t *blocks;    /* a set */
} turn_loop;

typedef struct {
    const cfg *g;
    turn_loop *loops;
    uint32_t nloops, words;
    uint32_t *todo; /* blocks to look at */
    uint32_t *seen; /* by block: the number of the search that has seen it last */
    uint32_t searches;
} turns;

static bool contains(const turn_loop *l, uint32_t block) { return l->blocks[block / 64] >> block % 64 & 1; }

static turn_loop *loop_from(turns *t, uint32_t head) {
    for (uint32_t k = 0; k < t->nloops; k++)
        if (t->loops[k].head == head) return &t->loops[k];
    t->loops = ptx_grow(t->loops, t->nloops, sizeof *t->loops);
    turn_loop *l = &t->loops[t->nloops++];
    *l = (turn_loop){head, 1, NO_BLOCK, ptx_alloc(t->words * sizeof *l->blocks)};
    l->blocks[head / 64] |= 1ull << head % 64;
    return l;
}

static void put(const turns *t, turn_loop *l, uint32_t block, uint32_t *n) {
    if (contains(l, block)) return;
    l->blocks[block / 64] |= 1ull << block % 64;
    l->size++;
    t->todo[(*n)++] = block;
}

/* Adds the block from which a way leads back, and all that lead to it. */
static void add_way_back(const turns *t, turn_loop *l, uint32_t from) {
    uint32_t n = 0;
    put(t, l, from, &n);
    while (n) {
        const cfg_block *b = &t->g->blocks[t->todo[--n]];
        for (uint32_t e = 0; e < b->nprevious; e++) put(t, l, b->previous[e], &n);
    }
}

static void forget_loops(turns *t) {
    for (uint32_t k = 0; k < t->nloops; k++) ptx_free(t->loops[k].blocks);
    t->nloops = 0;
}

/* Finds the loops: a way leads back where it leads to a block on the path by which this one is reached. */
static void find_loops(turns *t) {
    const cfg *g = t->g;
    uint32_t *path = ptx_alloc(g->nblocks * sizeof *path), *way = ptx_alloc(g->nblocks * sizeof *way), depth = 0;
    enum { NEW, ON_PATH, DONE } *state = ptx_alloc(g->nblocks * sizeof *state);
    bool few = true;
    path[depth++] = 0;
    state[0] = ON_PATH;
    while (depth && few) {
        const uint32_t b = path[depth - 1];
        if (way[b] == g->blocks[b].nnext) {
            state[b] = DONE;
            depth--;
            continue;
        }
        const uint32_t to = g->blocks[b].next[way[b]++];
        if (state[to] == ON_PATH) add_way_back(t, loop_from(t, to), b);
        if (state[to] == NEW) state[path[depth++] = to] = ON_PATH;
        few = (uint64_t)t->nloops * t->words <= MOST_WORDS;
    }
    if (!few) forget_loops(t);
    ptx_free(path);
    ptx_free(way);
    ptx_free(state);
}

/* Returns the smallest loop around the block with more than so many blocks, or NULL. */
static const turn_loop *innermost(const turns *t, uint32_t block, uint32_t size) {
    const turn_loop *best = NULL;
    for (uint32_t k = 0; k < t->nloops; k++) {
        const turn_loop *l = &t->loops[k];
        if (l->size > size && contains(l, block) && (!best || l->size < best->size)) best = l;
    }
    return best;
}

/* Sets where the lanes meet that leave the loop: at the first block outside of it that all of them reach. The loop must
 * have one way in, and the block lie in the same loop around it. */
static void find_behind(const turns *t, turn_loop *l) {
    const cfg_block *blocks = t->g->blocks;
    uint32_t at = l->head;
    if (l->head && contains(l, 0)) return;
    while (at < t->g->nblocks && contains(l, at) && blocks[at].ipdom != at) at = blocks[at].ipdom;
    if (at >= t->g->nblocks || contains(l, at)) return;
    if (innermost(t, at, 0) == innermost(t, l->head, l->size)) l->behind = at;
}

/* Returns whether lanes can come from the block to the next turn of the loop without passing the block where they would
 * meet. */
static bool goes_around(turns *t, const turn_loop *l, uint32_t block, uint32_t meeting) {
    uint32_t n = 0;
    if (meeting == l->head) return false;
    if (meeting >= t->g->nblocks || !contains(l, meeting)) return true;
    t->searches++;
    t->todo[n++] = block;
    while (n) {
        const cfg_block *b = &t->g->blocks[t->todo[--n]];
        for (uint32_t e = 0; e < b->nnext; e++) {
            const uint32_t to = b->next[e];
            if (to == l->head) return true;
            if (!contains(l, to) || to == meeting || t->seen[to] == t->searches) continue;
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
        if (!contains(l, b->next[k])) return;
    if (!goes_around(t, l, block, b->ipdom)) return;
    b->turn = l->head;
    b->behind = l->behind;
}

void ptx_find_turns(cfg *g) {
    turns t = {.g = g, .words = (g->nblocks + 63) / 64};
    t.todo = ptx_alloc((g->nblocks + 1) * sizeof *t.todo);
    t.seen = ptx_alloc((g->nblocks + 1) * sizeof *t.seen);
    find_loops(&t);
    for (uint32_t k = 0; k < t.nloops; k++) find_behind(&t, &t.loops[k]);
    for (uint32_t b = 0; b < g->nblocks; b++) find_turn(&t, b);
    forget_loops(&t);
    ptx_free(t.loops);
    ptx_free(t.todo);
    ptx_free(t.seen);
}
