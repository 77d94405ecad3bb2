/* layout.c — puts the parts of a loop in the order in which a turn runs them.
 *
 * clang likes to lay a loop out with the end of a turn in front of its beginning, and enters it in the middle. That
 * saves a branch where the machine runs PTX as it is; but ptxas lays code out anew, and so depth.c, machine_loop.c and
 * others may read a loop from its beginning to its one branch back.
 *
 *      bra BEGIN;                                      BEGIN: ...
 *      END:   ...; @p bra OUT;                                @q bra END;
 *      BEGIN: ...                                             ...; bra END;
 *             @q bra END;                 becomes      END:   ...; @p bra OUT;
 *             ...; bra END;                                   bra BEGIN;
 *      OUT:   ...                                      OUT:   ...
 *
 * And where clang ends a turn by two branches, of which the second leads back, the first one does:
 *
 *      @p bra OUT; bra BEGIN;    becomes      @!p bra BEGIN; bra OUT;
 *
 * No instruction is new, and none is gone: in the first case, the first branch becomes the last. */
#include "cfg.h"
#include "parse.h"

#include <string.h>

static bool always_jumps(const ptx_insn *i) { return i->op == OP_bra && !i->guarded; }

/* Sets, by instruction, the last branch without a guard that leads to it; or 0. */
static void find_jumps(const ptx_code *c, uint32_t *last) {
    memset(last, 0, c->ninsns * sizeof *last);
    for (uint32_t k = 0; k < c->ninsns; k++)
        if (always_jumps(&c->insns[k]) && c->insns[k].target < c->ninsns) last[c->insns[k].target] = k;
}

/* Returns whether the branch at `at` enters a loop in its middle, and `last` is the last one to what stands behind it.
 */
static bool enters(const ptx_code *c, uint32_t at, uint32_t last) {
    const uint32_t begin = c->insns[at].target;
    return always_jumps(&c->insns[at]) && begin > at + 1 && last >= begin && ptx_falls_through(&c->insns[begin - 1]);
}

/* Returns where an instruction comes to stand: [at + 1, begin) and `at` behind [begin, last]. */
static uint32_t place_of(uint32_t i, uint32_t at, uint32_t begin, uint32_t last) {
    if (i < at || i > last) return i;
    return i >= begin ? i - (begin - at) : i == at ? last : i + (last - begin);
}

static void move(ptx_code *c, uint32_t at, uint32_t last) {
    const uint32_t begin = c->insns[at].target, n = last + 1 - at;
    ptx_insn *moved = ptx_alloc(n * sizeof *moved);
    for (uint32_t i = at; i <= last; i++) moved[place_of(i, at, begin, last) - at] = c->insns[i];
    memcpy(c->insns + at, moved, n * sizeof *moved);
    ptx_free(moved);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        ptx_insn *x = &c->insns[i];
        if (x->target != NO_JOIN) x->target = place_of(x->target, at, begin, last);
        for (uint32_t k = 0; x->op == OP_brx && k < x->call->ntargets; k++)
            x->call->targets[k] = place_of(x->call->targets[k], at, begin, last);
    }
}

/* Returns, by instruction, whether a branch leads to it. */
static bool *targets_of(const ptx_code *c) {
    bool *is_target = ptx_alloc(c->ninsns + 1);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const ptx_insn *x = &c->insns[i];
        if (x->target <= c->ninsns) is_target[x->target] = true;
        for (uint32_t k = 0; x->op == OP_brx && k < x->call->ntargets; k++) is_target[x->call->targets[k]] = true;
    }
    return is_target;
}

static void decide_at_end(ptx_code *c) {
    bool *is_target = targets_of(c);
    for (uint32_t i = 0; i + 1 < c->ninsns; i++) {
        ptx_insn *x = &c->insns[i], *y = x + 1;
        if (x->op != OP_bra || !x->guarded || !always_jumps(y) || is_target[i + 1]) continue;
        if (x->target <= i || y->target > i) continue;
        const uint32_t out = x->target;
        x->target = y->target, y->target = out;
        x->guard_not = !x->guard_not;
    }
    ptx_free(is_target);
}

void ptx_lay_out(ptx_code *c) {
    enum { MOST = 1 << 25 }; /* instructions looked at, in code with very many loops */
    uint32_t *last = ptx_alloc((c->ninsns + 1) * sizeof *last);
    uint64_t looked = 0;
    find_jumps(c, last);
    for (uint32_t at = 0; at + 1 < c->ninsns; at++)
        while (looked < MOST && enters(c, at, last[at + 1])) { /* what stands here then may enter a loop, too */
            move(c, at, last[at + 1]);
            find_jumps(c, last);
            looked += 2 * c->ninsns;
        }
    ptx_free(last);
    decide_at_end(c);
}
