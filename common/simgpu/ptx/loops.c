/* loops.c — the loops among a function's basic blocks. A way leads back where it leads to a block on the path by which
 * this one is reached; where it stands in the text tells nothing, since clang may put the end of a loop in front of its
 * beginning. */
#include "cfg.h"

void ptx_find_loops(cfg *g) {
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
        const ptx_insn *last = &g->code->insns[g->blocks[b].last];
        if (state[to] == ON_PATH) g->blocks[b].loop = to + 1;
        if (state[to] == ON_PATH && last->op == OP_bra && g->block_of[last->target] == to) g->blocks[b].back = true;
        if (state[to] == NEW) state[path[depth++] = to] = ON_PATH;
    }
    ptx_free(path);
    ptx_free(way);
    ptx_free(state);
}

void ptx_add_loop(const cfg *g, uint32_t head, uint32_t end, bool *inside, uint32_t *todo) {
    uint32_t n = 0;
    inside[head] = true;
    if (!inside[end]) inside[todo[n++] = end] = true;
    while (n) {
        const cfg_block *b = &g->blocks[todo[--n]];
        for (uint32_t k = 0; k < b->nprevious; k++)
            if (!inside[b->previous[k]]) inside[todo[n++] = b->previous[k]] = true;
    }
}
