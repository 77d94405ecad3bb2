/* stage.c — cuts a kernel into stages, which a warp runs one after another: its loops, and the code between them, which
 * a barrier cuts too. A loop is cut again, by the loops and barriers in it; each turn runs these stages anew.
 *
 * What one turn waits for, a warp in another turn hides. Two stages do not hide each other where all warps are at the
 * same one, as in a wave of blocks that begin together (stages_ns in time/model.c). From the last number on, all code
 * is one stage. */
#include "cfg.h"

/* The cut at hand: the next instruction belongs to another stage; of a loop as a whole, too, if `group`. */
typedef struct {
    uint32_t stage, group;
    bool fresh; /* no instruction has this stage yet */
} cut;

static void next_stage(cut *c, bool group) {
    if (!c->fresh) c->stage++;
    if (!c->fresh && group) c->group++;
    c->fresh = true;
}

void ptx_stages_of(ptx_code *c) {
    uint32_t *end = ptx_alloc((c->ninsns + 1) * sizeof *end); /* by instruction: where the longest loop from it ends */
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const uint32_t target = c->insns[i].op == OP_bra ? c->insns[i].target : NO_JOIN;
        if (target <= i && end[target] < i + 1) end[target] = i + 1;
    }
    cut at = {0, 0, true};
    uint32_t outer = 0, inner = 0; /* the ends of the loops that the instruction is in, or 0 */
    bool head = false;             /* of an outer loop no instruction has come yet */
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const enum ptx_op op = c->insns[i].op;
        const bool barrier = op == OP_bar_sync || op == OP_bar_red;
        if (outer && i >= outer) outer = inner = 0, next_stage(&at, true);
        if (inner && i >= inner) inner = 0, next_stage(&at, false);
        if (!outer && end[i]) {
            next_stage(&at, true);
            outer = end[i];
            head = true;
        } else if (outer && end[i] > outer) {
            outer = end[i]; /* loops that overlap are one */
        } else if (outer && !inner && end[i]) {
            next_stage(&at, false);
            inner = end[i];
        }
        const uint32_t last = PTX_STAGES - 1;
        c->insns[i].stage = (uint8_t)(at.stage < last ? at.stage : last);
        c->insns[i].stage_group = (uint8_t)(at.stage < last ? at.group : last);
        c->insns[i].begins_turn = head && op != OP_join;
        head = head && op == OP_join;
        at.fresh = false;
        if (barrier && !inner) next_stage(&at, !outer);
    }
    ptx_free(end);
}
