/* turn.c — finds the branches whose lanes meet at the end of a loop's turn.
 *
 * Lanes that part meet at the branch's immediate post-dominator. In a loop that may be too far: behind the loop, where
 * some lanes leave it, `if (a) { ...; if (b) break; }`; or a turn or more later, where a `continue` is a jump to the
 * loop's beginning, in front of the place that all lanes come to at last. ptxas lets them meet at the end of the turn,
 * in front of the next one, and takes those that leave off the list of lanes to be waited for. (Machine code that nvcc
 * 13 makes for sm_90: BSSY B1 at such a branch, BSYNC B1 at the end of the turn, BREAK B1 where lanes leave.) */
#include "cfg.h"

enum { MOST_WORDS = 1 << 20 }; /* of all sets of blocks */

typedef struct {
    uint32_t head, size; /* size: blocks */
    uint64_t *blocks;    /* a set */
} turn_loop;

typedef struct {
    const cfg *g;
    turn_loop *loops;
    uint32_t nloops, words;
} turns;

static bool contains(const turn_loop *l, uint32_t block) { return l->blocks[block / 64] >> block % 64 & 1; }

static turn_loop *loop_from(turns *t, uint32_t head) {
    for (uint32_t k = 0; k < t->nloops; k++)
        if (t->loops[k].head == head) return &t->loops[k];
    t->loops = ptx_grow(t->loops, t->nloops, sizeof *t->loops);
    turn_loop *l = &t->loops[t->nloops++];
    *l = (turn_loop){head, 1, ptx_alloc(t->words * sizeof *l->blocks)};
    l->blocks[head / 64] |= 1ull << head % 64;
    return l;
}

static void put(turn_loop *l, uint32_t block, uint32_t *todo, uint32_t *n) {
    if (contains(l, block)) return;
    l->blocks[block / 64] |= 1ull << block % 64;
    l->size++;
    todo[(*n)++] = block;
}

/* Adds the block from which a way leads back, and all that lead to it. */
static void add_way_back(turns *t, turn_loop *l, uint32_t from) {
    uint32_t *todo = ptx_alloc(t->g->nblocks * sizeof *todo), n = 0;
    put(l, from, todo, &n);
    while (n) {
        const cfg_block *b = &t->g->blocks[todo[--n]];
        for (uint32_t e = 0; e < b->nprevious; e++) put(l, b->previous[e], todo, &n);
    }
    ptx_free(todo);
}

/* Finds the loops: a way leads back where it leads to a block on the path by which this one is reached. */
static void find_loops(turns *t) {
    const cfg *g = t->g;
    uint32_t *path = ptx_alloc(g->nblocks * sizeof *path), *way = ptx_alloc(g->nblocks * sizeof *way), depth = 0;
    enum { NEW, ON_PATH, DONE } *state = ptx_alloc(g->nblocks * sizeof *state);
    path[depth++] = 0;
    state[0] = ON_PATH;
    while (depth) {
        const uint32_t b = path[depth - 1];
        if (way[b] == g->blocks[b].nnext) {
            state[b] = DONE;
            depth--;
            continue;
        }
        const uint32_t to = g->blocks[b].next[way[b]++];
        if (state[to] == ON_PATH && (uint64_t)t->nloops * t->words < MOST_WORDS) add_way_back(t, loop_from(t, to), b);
        if (state[to] == NEW) state[path[depth++] = to] = ON_PATH;
    }
    ptx_free(path);
    ptx_free(way);
    ptx_free(state);
}

/* Returns the smallest loop around the block that is larger than `than`, or NULL. */
static const turn_loop *innermost(const turns *t, uint32_t block, uint32_t than) {
    const turn_loop *best = NULL;
    for (uint32_t k = 0; k < t->nloops; k++) {
        const turn_loop *l = &t->loops[k];
        if (l->size > than && contains(l, block) && (!best || l->size < best->size)) best = l;
    }
    return best;
}

/* Returns whether lanes can come from the block to the next turn of the loop without passing the block where they would
 * meet. */
static bool goes_around(const turns *t, const turn_loop *l, uint32_t block, uint32_t meeting) {
    turn_loop seen = {block, 0, ptx_alloc(t->words * sizeof *seen.blocks)};
    uint32_t *todo = ptx_alloc((t->g->nblocks + 1) * sizeof *todo), n = 0;
    bool around = false;
    todo[n++] = block;
    while (n && !around) {
        const cfg_block *b = &t->g->blocks[todo[--n]];
        for (uint32_t e = 0; e < b->nnext; e++) {
            around |= b->next[e] == l->head && meeting != l->head;
            if (contains(l, b->next[e]) && b->next[e] != meeting) put(&seen, b->next[e], todo, &n);
        }
    }
    ptx_free(seen.blocks);
    ptx_free(todo);
    return around;
}

/* Sets where the lanes meet that the block's branch parts, if that is at the loop's next turn. Both ways go on in the
 * loop, it has one way in, and those that leave it meet right behind it, in no other loop. */
static void find_turn(const turns *t, uint32_t block) {
    cfg_block *b = &t->g->blocks[block];
    const ptx_insn *branch = &t->g->code->insns[b->last];
    const turn_loop *l = innermost(t, block, 0);
    b->turn = NO_BLOCK;
    if (branch->op != OP_bra || !branch->guarded || !l || (l->head && contains(l, 0))) return;
    for (uint32_t k = 0; k < b->nnext; k++)
        if (!contains(l, b->next[k])) return;
    uint32_t behind = b->ipdom;
    while (behind < t->g->nblocks && contains(l, behind) && t->g->blocks[behind].ipdom != behind)
        behind = t->g->blocks[behind].ipdom;
    if (behind >= t->g->nblocks || contains(l, behind) || !goes_around(t, l, block, b->ipdom)) return;
    if (innermost(t, behind, 0) != innermost(t, l->head, l->size)) return;
    b->turn = l->head;
    b->behind = behind;
}

void ptx_find_turns(cfg *g) {
    turns t = {.g = g, .words = (g->nblocks + 63) / 64};
    find_loops(&t);
    for (uint32_t b = 0; b < g->nblocks; b++) find_turn(&t, b);
    for (uint32_t k = 0; k < t.nloops; k++) ptx_free(t.loops[k].blocks);
    ptx_free(t.loops);
}
