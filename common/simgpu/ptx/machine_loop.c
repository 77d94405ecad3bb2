/* machine_loop.c — loops that ptxas unrolls.
 *
 * The compiler in front of ptxas (clang, or nvcc's) makes one turn of four where it can count a loop's turns, and ptxas
 * makes one of four of those again if they are short. What a turn does for the loop's own sake is then done once for
 * several: the counter, its comparison, the branch, pointers that advance by a constant. In front of the loop it finds
 * out how many turns there are, for loops of sixteen, eight and four. Where a compiler left a loop
 * of few turns rolled that another one unrolls whole, none of it is left.
 *
 * clang unrolls no loop of an unknown number of turns with a barrier in it; nvcc does, also if it has an `if` that
 * stays a branch. */
#include "machine.h"

#include <stdlib.h>

enum { FURTHER = 4, SHORT = 20, SHORT_WITH_LOADS = 50, CHOICE = 9, OBVIOUS = 18, MOST_BLOCKS = 32 };
/* PTX instructions of a loop with a barrier and branches that nvcc makes four turns of: it does of 18, 30 and 35, and
 * makes one or two of 60. */
enum { SHORT_WITH_BRANCHES = 45 };

/* A loop's blocks, in the order in which a turn runs them. Those behind a branch that ptxas predicates away are among
 * them, wherever the compiler has put them. */
typedef struct {
    uint32_t block[MOST_BLOCKS], nblocks;
    bool predicated[MOST_BLOCKS]; /* a branch skips the block */
    bool branches;                /* one of these branches stays */
} loop;

static bool is_in(const loop *l, uint32_t block) {
    for (uint32_t k = 0; k < l->nblocks; k++)
        if (l->block[k] == block) return true;
    return false;
}

/* Returns the instruction of the loop that defines the register last, or NULL if none does. */
static ptx_insn *made_in(const machine *m, const loop *l, uint32_t id) {
    for (uint32_t n = l->nblocks; id && n-- > 0;) {
        const cfg_block *b = &m->g->blocks[l->block[n]];
        for (uint32_t at = b->last + 1; at-- > b->first;) {
            uint32_t *fields[MOST_FIELDS], found = ptx_results_of(&m->code->insns[at], fields);
            for (uint32_t k = 0; k < found; k++)
                if (machine_id(m, *fields[k]) == id) return &m->code->insns[at];
        }
    }
    return NULL;
}

/* Returns whether the loop changes the register. */
static bool changes(const machine *m, const loop *l, uint32_t row) {
    uint32_t id = machine_id(m, row), at = id ? m->values[id].definition : NO_INSN;
    if (at != NO_INSN) return is_in(l, m->g->block_of[at]);
    return made_in(m, l, id) != NULL;
}

/* Returns whether the next turn finds the instruction's result in this row: it is the result, or a move behind it makes
 * it that (clang 14 writes `add r9, r5, 1; ...; mov r5, r9`). */
static bool returns_to(const machine *m, const loop *l, const ptx_insn *i, uint32_t row) {
    uint32_t id = machine_id(m, row);
    if (!id || m->values[id].definitions < 2) return false;
    if (row == i->d) return true;
    const ptx_insn *last = made_in(m, l, id);
    return last && (last->op == OP_mov_b32 || last->op == OP_mov_b64) && last->a == i->d;
}

/* Returns whether the instruction adds something constant to a register that the loop keeps from turn to turn. */
static bool advances(const machine *m, const loop *l, const ptx_insn *i) {
    if (i->op != OP_add_u32 && i->op != OP_add_u64 && i->op != OP_sub_u32) return false;
    uint32_t other = returns_to(m, l, i, i->a) ? i->b : returns_to(m, l, i, i->b) ? i->a : NO_ROW;
    return other != NO_ROW && !changes(m, l, other);
}

/* Returns whether the result is the operand. clang may count in 64 bits, and compare the lower 32 of them, where nvcc
 * counts in 32; ptxas does not unroll a loop that a program counts so in assembly. */
static bool is_operand(const ptx_insn *i, bool in_asm) {
    return i->op == OP_mov_b32 || i->op == OP_mov_b64 || (i->op == OP_cvt_u32_u64 && !in_asm);
}

/* Returns the setp that decides whether the loop goes on, if it compares what advances by a constant with what stays;
 * else NULL. *step_by: the constant's size. */
static ptx_insn *test_of(const machine *m, const loop *l, const ptx_insn *branch, uint32_t *step_by) {
    ptx_insn *p = made_in(m, l, machine_id(m, branch->guard));
    if (!p || ptx_ops[p->op].type == TY_f32 || ptx_ops[p->op].type == TY_f64) return NULL;
    uint32_t counter = changes(m, l, p->a) ? p->a : p->b, bound = counter == p->a ? p->b : p->a;
    if (changes(m, l, bound)) return NULL;
    const ptx_insn *step = made_in(m, l, machine_id(m, counter));
    for (int k = 0; k < 2 && step && is_operand(step, branch->in_asm); k++)
        step = made_in(m, l, machine_id(m, step->a));
    if (!step || !advances(m, l, step)) return NULL;
    const ptx_row *by = machine_row(m, machine_is_constant(m, step->a) ? step->a : step->b);
    if (!by || by->kind != ROW_CONSTANT) return NULL;
    *step_by = (uint32_t)abs((int32_t)by->bits);
    return p;
}

static void divide(ptx_insn *i, uint32_t by) { i->machine = (uint16_t)((i->machine + by / 2) / by); }

/* Returns the last instruction of the block in front of the loop, or NULL. */
static ptx_insn *before_loop(machine *m, const loop *l) {
    const cfg_block *head = &m->g->blocks[l->block[0]];
    for (uint32_t k = 0; k < head->nprevious; k++)
        if (!is_in(l, head->previous[k])) return &m->code->insns[m->g->blocks[head->previous[k]].last];
    return NULL;
}

/* Returns whether the test is `<` of unsigned numbers. clang cannot count such turns, since the counter may wrap. */
static bool may_wrap(const ptx_insn *test) { return test->op == OP_setp_lt_u32 || test->op == OP_setp_lt_u64; }

/* Returns how many turns of the loop ptxas makes one. A store or an atomic under a condition keeps it from more than
 * the compiler in front of it made. */
static uint32_t further_turns(const machine *m, const loop *l, const ptx_insn *branch, const ptx_insn *test,
                              uint32_t step_by) {
    uint32_t size = 0, loads = 0, insns = 0;
    bool together = false, stores = false, wraps = false, meets = false;
    for (uint32_t n = 0; n < l->nblocks; n++) {
        const cfg_block *b = &m->g->blocks[l->block[n]];
        for (uint32_t at = b->first; at <= b->last; at++) {
            const ptx_insn *i = &m->code->insns[at];
            enum ptx_cost cost = ptx_ops[i->op].cost;
            if (i->op == OP_call || i->op == OP_atom) return 1;
            insns++;
            size += i->machine;
            loads += i->op == OP_ld;
            stores |= i->op == OP_st && l->predicated[n];
            wraps |= (i->op == OP_mul_wide_u32 || i->op == OP_cvt_u64_u32) && changes(m, l, i->a);
            meets |= cost == COST_BARRIER;
            together |=
                cost == COST_BARRIER || cost == COST_SHUFFLE || i->op == OP_vote || (i->in_asm && !branch->in_asm);
        }
    }
    /* An index that may wrap keeps its counter in 32 bits. nvcc then tests a sum of that counter, and ptxas does not
     * count such turns: `x[blockIdx.y * n + k]`, but not with an int in place of blockIdx.y. */
    if (wraps && step_by == FURTHER) return 1;
    if (l->branches) return together && step_by == 1 && insns <= SHORT_WITH_BRANCHES ? FURTHER : 1;
    /* The compiler would have unrolled it, so it was told not to. (clang 14 does not always pass that on.) It does not
     * unroll what the lanes of a warp must do together, which all inline assembly may be; ptxas does. */
    if (step_by == 1 && !together && !may_wrap(test) && insns <= OBVIOUS) return 1;
    /* Where clang makes one turn of two, nvcc makes one of four; and where clang 14 leaves one of a longer step. */
    const uint32_t most = (loads ? SHORT_WITH_LOADS : SHORT) * PTX_MACHINE_UNIT;
    const uint32_t first = step_by == 2 ? 2 : step_by > FURTHER && !together && loads && loads < FURTHER ? FURTHER : 1;
    if (size * first > most || stores) return first;
    /* Of a short one with a barrier, which clang leaves, nvcc makes four turns, and ptxas four of those. */
    return meets && step_by == 1 && size * FURTHER <= most ? FURTHER * FURTHER : FURTHER * first;
}

static void unroll(machine *m, const loop *l, ptx_insn *branch) {
    uint32_t step_by;
    ptx_insn *test = test_of(m, l, branch, &step_by);
    cfg_block *blocks = m->g->blocks, *head = &blocks[l->block[0]];
    if (!test || m->code->insns[head->first].rolled) return;
    uint32_t turns = further_turns(m, l, branch, test, step_by);
    if (turns == 1) return;
    if (!l->branches) head->turns = (uint8_t)turns;
    for (uint32_t n = 0; n < l->nblocks; n++) {
        cfg_block *b = &blocks[l->block[n]];
        if (!l->branches) {
            b->inside = n > 0;
            b->then = n + 1 < l->nblocks ? l->block[n + 1] : l->block[n];
        }
        for (uint32_t at = b->first; at <= b->last; at++) {
            ptx_insn *i = &m->code->insns[at];
            if (i->op == OP_ld && !l->branches) m->more_loads += (turns - 1) * i->vector;
            if (i == test || i == branch || (!l->predicated[n] && advances(m, l, i))) divide(i, turns);
        }
    }
    for (uint32_t n = 0; n < l->nblocks; n++)
        if (!l->branches && !l->predicated[n]) ptx_machine_merge_turns(m, l->block[0], l->block[n], turns);
    ptx_insn *before = turns >= FURTHER ? before_loop(m, l) : NULL;
    if (before) before->machine = (uint16_t)(before->machine + CHOICE * PTX_MACHINE_UNIT);
}

static bool add_block(loop *l, uint32_t block, bool predicated) {
    if (l->nblocks == MOST_BLOCKS || is_in(l, block)) return false;
    l->predicated[l->nblocks] = predicated;
    l->block[l->nblocks++] = block;
    return true;
}

/* Adds the blocks between the branch of the block added last and `join`, where its ways meet. Returns whether there is
 * no loop among them. */
static bool add_predicated(const machine *m, loop *l, uint32_t join) {
    for (uint32_t n = l->nblocks - 1; n < l->nblocks; n++) {
        const cfg_block *b = &m->g->blocks[l->block[n]];
        if (b->back) return false;
        for (uint32_t k = b->nnext; k-- > 0;)
            if (b->next[k] != join && !is_in(l, b->next[k]) && !add_block(l, b->next[k], true)) return false;
    }
    return true;
}

/* Returns whether the loop's first block is the only way into it. */
static bool has_one_way_in(const machine *m, const loop *l) {
    for (uint32_t n = 1; n < l->nblocks; n++) {
        const cfg_block *b = &m->g->blocks[l->block[n]];
        for (uint32_t k = 0; k < b->nprevious; k++)
            if (!is_in(l, b->previous[k])) return false;
    }
    return true;
}

/* Returns the block to which a way leads that may be a jump only, as in clang 14's `@p bra out; bra loop`. */
static uint32_t behind_jump(const machine *m, uint32_t block) {
    const cfg_block *b = &m->g->blocks[block];
    const ptx_insn *i = &m->code->insns[b->first];
    return b->first == b->last && i->op == OP_bra && !i->guarded ? b->next[0] : block;
}

/* Finds the loop from its first block to its last, whose branch decides. Other branches in it must skip forward.
 * Returns whether it is of this form. */
static bool find_loop(const machine *m, loop *l, uint32_t first, uint32_t last) {
    const cfg *g = m->g;
    l->nblocks = 0;
    l->branches = false;
    for (uint32_t at = first; add_block(l, at, false);) {
        const cfg_block *b = &g->blocks[at];
        const ptx_insn *branch = &m->code->insns[b->last];
        if (at == last) return has_one_way_in(m, l);
        if (branch->op == OP_bra && branch->guarded) {
            l->branches |= !branch->folded;
            if (b->ipdom >= g->nblocks || !add_predicated(m, l, b->ipdom)) return false;
            at = b->ipdom;
        } else if (b->nnext == 1) {
            at = b->next[0];
        } else {
            return false;
        }
    }
    return false;
}

void ptx_machine_unroll(machine *m) {
    const cfg *g = m->g;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        ptx_insn *branch = &m->code->insns[g->blocks[b].last];
        if (branch->op != OP_bra || !branch->guarded || branch->folded || g->blocks[b].nnext != 2) continue;
        const uint32_t ways[] = {behind_jump(m, g->blocks[b].next[0]), behind_jump(m, g->blocks[b].next[1])};
        loop l;
        for (int k = 0; k < 2; k++)
            if (find_loop(m, &l, ways[k], b) && !is_in(&l, ways[1 - k])) unroll(m, &l, branch);
    }
}
