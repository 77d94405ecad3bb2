/* stage.c — cuts a kernel into stages, which a warp runs one after another and never comes back to: its loops, each
 * with all that is in it, and the code between them, which a barrier cuts too.
 *
 * What a loop does in one turn passes while another warp is in another turn. Not so two stages: where all blocks begin
 * together, they are in one stage together, and what the one waits for, nothing of the other hides (time/stages.c). */
#include "cfg.h"

void ptx_stages_of(ptx_code *c) {
    uint32_t *end = ptx_alloc((c->ninsns + 1) * sizeof *end); /* by instruction: where the longest loop from it ends */
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const uint32_t target = c->insns[i].op == OP_bra ? c->insns[i].target : NO_JOIN;
        if (target <= i && end[target] < i + 1) end[target] = i + 1;
    }
    uint32_t stage = 0, loop = 0; /* loop: the end of the loop that the instruction is in, or 0 */
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const enum ptx_op op = c->insns[i].op;
        if (loop && i >= loop) loop = 0, stage++;
        if (end[i] && !loop && i) stage++;
        if (end[i] > loop) loop = end[i];
        c->insns[i].stage = (uint8_t)(stage < PTX_STAGES - 1 ? stage : PTX_STAGES - 1);
        if (!loop && (op == OP_bar_sync || op == OP_bar_red)) stage++;
    }
    ptx_free(end);
}
