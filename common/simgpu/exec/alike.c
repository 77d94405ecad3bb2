/* alike.c — a launch whose blocks all do the same: they execute no access to memory, call nothing, and read nothing
 * that differs from block to block. One of them is run, and counts for all: empty<<<2147483647, 1>>> takes no time. */
#include "warp.h"

bool exec_blocks_alike(const ptx_function *kernel) {
    const ptx_code *c = kernel->code;
    if (c->serial || c->waits || c->async || c->calls) return false;
    for (uint32_t k = 0; k < c->nrows; k++)
        if (exec_row_differs(&c->rows[k])) return false;
    for (uint32_t k = 0; k < c->ninsns; k++) {
        const ptx_insn *i = &c->insns[k];
        if (ptx_ops[i->op].cost == COST_MEMORY || i->op == OP_mov_clock || i->op == OP_trap) return false;
    }
    return true;
}

void exec_count_alike(worker *t, uint64_t blocks) {
    const ptx_code *c = t->block.launch->kernel->code; /* it calls nothing, so nothing else has run */
    for (uint32_t k = c->first; k < c->first + c->ninsns; k++) {
        t->executed[k] *= blocks, t->threads[k] *= blocks;
        uint64_t *each = (uint64_t *)(void *)&t->counters[k];
        for (int n = 0; n < NCOUNTERS; n++) each[n] *= blocks;
    }
    t->depths.rounds *= blocks, t->depths.missed *= blocks, t->depths.clocks *= blocks;
}
