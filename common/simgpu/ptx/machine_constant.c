/* machine_constant.c — which loads of constant memory are operands.
 *
 * A load at an address that is the same in all lanes is an operand of another instruction, or a load of the uniform
 * datapath, which takes no time of the SM's. That works only where lanes do not part: not in a loop with a branch at
 * which they do. (An H200, a loop over 64 spheres with two such branches: 59 us with the spheres in global memory, 106
 * with them in constant memory, with an LDC for each word in the SASS; convolutions whose loops have no branch take the
 * same time from constant memory as from registers.) */
#include "machine.h"

#include <string.h>

static bool lanes_part(const machine *m, const cfg_block *b) {
    const ptx_insn *i = &m->code->insns[b->last];
    return i->op == OP_bra && i->guarded && !i->folded && !i->exits && !b->back &&
           m->values[machine_id(m, i->guard)].divergent;
}

void ptx_machine_constants(machine *m) {
    const cfg *g = m->g;
    ptx_insn *all = m->code->insns;
    bool any = false;
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        if (all[at].op != OP_ld || all[at].space != SPACE_CONST) continue;
        all[at].one_place = !m->values[machine_id(m, all[at].a)].divergent;
        any = true;
    }
    if (!any) return;
    bool *inside = ptx_alloc(g->nblocks * sizeof *inside);
    uint32_t *todo = ptx_alloc(g->nblocks * sizeof *todo);
    for (uint32_t end = 0; end < g->nblocks; end++) {
        if (!g->blocks[end].loop) continue;
        memset(inside, 0, g->nblocks * sizeof *inside);
        ptx_add_loop(g, g->blocks[end].loop - 1, end, inside, todo);
        bool part = false;
        for (uint32_t b = 0; b < g->nblocks; b++) part |= inside[b] && lanes_part(m, &g->blocks[b]);
        for (uint32_t b = 0; part && b < g->nblocks; b++)
            for (uint32_t at = g->blocks[b].first; inside[b] && at <= g->blocks[b].last; at++)
                if (all[at].op == OP_ld && all[at].space == SPACE_CONST && machine_id(m, all[at].a))
                    all[at].one_place = false;
    }
    /* The others are an LDC for each lane, of which machine_merge.c finds the pairs. */
    for (uint32_t at = 0; at < m->code->ninsns; at++)
        if (all[at].op == OP_ld && all[at].space == SPACE_CONST && !all[at].one_place)
            all[at].machine = PTX_MACHINE_UNIT;
    ptx_free(inside);
    ptx_free(todo);
}
