/* machine.c — counts the machine instructions that ptxas would make of a function.
 *
 * PTX is not what a GPU runs. ptxas folds moves, conversions and address arithmetic into other instructions, expands
 * divisions, and unrolls loops. Nsight Compute counts machine instructions, and an SM issues them. So each instruction
 * of PTX gets a number of machine instructions, `ptx_insn.machine`, in units of 1 / PTX_MACHINE_UNIT, once, when its
 * module is loaded:
 *
 *   machine_base.c   what the instruction is if it stands alone: 1 for most, 10 for a division
 *   machine_half.c   less for an integer of 64 bits of which half is known, or not wanted
 *   machine_affine.c 0 for an integer that differs from an earlier one by a constant
 *   machine_fold.c   0 for what becomes a part of another instruction: a multiplication in front of an addition
 *   machine_lowest.c the lowest bits of addresses, for machine_merge.c
 *   machine_constant.c which loads of constant memory are operands
 *   machine_merge.c  a fourth for neighbouring accesses to shared memory that are one
 *   machine_loop.c   less than 1 for what a loop does once a turn, if ptxas makes one turn of several
 *   machine_banks.c  issue slots of multiply-adds that wait for the banks of the registers
 *   here             what a kernel does before and around: special registers, the base of shared memory, the places
 *                    where diverged lanes meet; 0 for jumps that the order of blocks saves
 *
 * The rules were read from machine code that nvcc 13 makes for sm_90; tests/ptxas.bats holds them to an H200's counts.
 */
#include "machine.h"

enum { FAR = 64 }; /* blocks to look ahead for the end of a loop */

static void add_uses(machine *m, uint32_t at) {
    ptx_insn *i = &m->code->insns[at];
    uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(i, fields);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t id = machine_id(m, *fields[k]);
        if (!id) continue;
        m->values[id].uses++;
        m->values[id].user = at;
        bool access = i->op == OP_ld || i->op == OP_st || i->op == OP_atom || i->op == OP_cp_async;
        m->values[id].addresses += access && fields[k] == &i->a;
    }
    n = ptx_results_of(i, fields);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t id = machine_id(m, *fields[k]);
        if (!id) continue;
        m->values[id].definition = m->values[id].definitions++ ? NO_INSN : at;
    }
}

/* Returns whether lanes may get different values of what it reads or makes. */
static bool makes_divergent(const machine *m, ptx_insn *i) {
    if (i->op == OP_vote || i->op == OP_activemask) return false;
    if (ptx_is_load(i) ? i->space != SPACE_PARAM && i->space != SPACE_CONST : i->op == OP_atom || i->op == OP_call)
        return true;
    uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(i, fields);
    for (uint32_t k = 0; k < n; k++) {
        const ptx_row *row = machine_row(m, *fields[k]);
        if (row && row->kind == ROW_SPECIAL &&
            (row->special <= SREG_tid_z || (row->special >= SREG_laneid && row->special != SREG_nwarpid)))
            return true;
        if (m->values[machine_id(m, *fields[k])].divergent) return true;
    }
    return false;
}

/* Returns whether it computes an address in shared memory from another one. */
static bool makes_shared(const machine *m, const ptx_insn *i) {
    const uint32_t rows[] = {i->a, i->b, i->c};
    bool moves = i->op == OP_mov_b32 || i->op == OP_mov_b64;
    if (!moves && i->op != OP_add_u64 && i->op != OP_sub_u64 && i->op != OP_mad_wide_u32) return false;
    for (int k = 0; k < (moves ? 1 : 3); k++) {
        const ptx_row *row = machine_row(m, rows[k]);
        if (row && row->kind == ROW_ADDRESS && row->var && row->var->space == SPACE_SHARED) return true;
        if (m->values[machine_id(m, rows[k])].shared) return true;
    }
    return false;
}

static void find_divergent(machine *m) {
    bool changed = true;
    for (int pass = 0; changed && pass < 8; pass++) {
        changed = false;
        for (uint32_t at = 0; at < m->code->ninsns; at++) {
            ptx_insn *i = &m->code->insns[at];
            if (makes_shared(m, i)) m->values[machine_id(m, i->d)].shared = true;
            if (!makes_divergent(m, i)) continue;
            uint32_t *fields[MOST_FIELDS], n = ptx_results_of(i, fields);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t id = machine_id(m, *fields[k]);
                changed |= id && !m->values[id].divergent;
                if (id) m->values[id].divergent = true;
            }
        }
    }
    m->values[0].divergent = m->values[0].shared = false;
}

/* A kernel reads each special register and each parameter once, and finds the base of shared memory in three steps. */
static void count_prologue(machine *m) {
    ptx_code *c = m->code;
    bool *seen = ptx_alloc(c->frame_bytes / 4 + 1), global = false, shared = false;
    const ptx_var *last = NULL;
    uint32_t extra = 1; /* the stack pointer */
    for (uint32_t at = 0; at < c->ninsns; at++) {
        ptx_insn *i = &c->insns[at];
        uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(i, fields);
        global |= i->space == SPACE_GLOBAL && (i->op == OP_ld || i->op == OP_st || i->op == OP_atom);
        for (uint32_t k = 0; k < n; k++) {
            const ptx_row *row = machine_row(m, *fields[k]);
            if (!row || row->kind == ROW_CONSTANT || seen[row->row / 4]) continue;
            seen[row->row / 4] = true;
            if (row->kind != ROW_ADDRESS) {
                extra++;
            } else if (row->var && row->var != last && row->var->space != SPACE_CONST) {
                extra += row->var->space == SPACE_SHARED && !shared ? 3 : 1;
                shared |= row->var->space == SPACE_SHARED;
                last = row->var;
            }
        }
    }
    if (global) extra++; /* the descriptor of global memory */
    if (m->function->is_kernel) c->insns[0].machine = (uint16_t)(c->insns[0].machine + extra * PTX_MACHINE_UNIT);
    ptx_free(seen);
}

/* Returns whether the instruction ends the kernel. */
static bool ends_kernel(const machine *m, const ptx_insn *i) {
    return m->function->is_kernel && (i->op == OP_ret || i->op == OP_exit) && !i->guarded;
}

/* ptxas puts blocks into an order of its own, in which a jump to a block that none stands in front of costs nothing. */
static void place_blocks(machine *m) {
    cfg *g = m->g;
    bool *placed = ptx_alloc(g->nblocks);
    for (uint32_t b = 0; b < g->nblocks; b++) {
        ptx_insn *i = &m->code->insns[g->blocks[b].last];
        if (i->op != OP_bra || i->guarded || g->blocks[b].back) continue;
        const uint32_t to = g->block_of[i->target];
        const ptx_insn *before = to ? &m->code->insns[g->blocks[to].first - 1] : NULL;
        const bool free = before && !before->guarded && (before->op == OP_bra || before->op == OP_ret);
        if (to == b + 1 || (free && !placed[to])) i->machine = 0;
        placed[to] |= free;
    }
    ptx_free(placed);
}

/* Returns whether a branch forward leaves a loop that it stands in: one of the blocks in between jumps back over it. */
static bool leaves_loop(const machine *m, uint32_t b, const ptx_insn *branch) {
    const cfg *g = m->g;
    uint32_t to = g->block_of[branch->target];
    for (uint32_t k = b; k < to && k < b + FAR; k++) {
        const ptx_insn *last = &m->code->insns[g->blocks[k].last];
        if (last->op == OP_bra && last->target <= g->blocks[b].first) return true;
    }
    return false;
}

/* A branch to the end is an exit. Others at which lanes part need two instructions more, for where they meet again. */
static void count_branches(machine *m) {
    const cfg *g = m->g;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        ptx_insn *i = &m->code->insns[g->blocks[b].last];
        if (i->op != OP_bra || !i->guarded) continue;
        i->exits = ends_kernel(m, &m->code->insns[i->target]) && g->block_of[i->target] != b + 1;
        if (i->exits) i->machine = PTX_MACHINE_UNIT;
        if (i->folded || i->exits || g->blocks[b].back || leaves_loop(m, b, i)) continue;
        if (m->values[machine_id(m, i->guard)].divergent) i->machine = (uint16_t)(i->machine + 2 * PTX_MACHINE_UNIT);
    }
}

/* Returns the machine instructions of an atomic on a word of shared memory that is the same for all lanes: one for the
 * sum of ones; otherwise VOTEU, UFLO, ISETP, REDUX or the number of lanes times a value, and ATOMS by one lane; if the
 * result is used, also each lane's place among them, and SHFL. */
static uint32_t combined(const machine *m, const ptx_insn *i) {
    enum { SEQUENCE = 6, USED = 9 };
    const ptx_row *value = machine_row(m, i->b);
    const bool counts = i->sub == ATOM_add && value && value->kind == ROW_CONSTANT && (uint32_t)value->bits == 1;
    return !i->unused ? USED : counts ? 1 : SEQUENCE;
}

/* Atomics with integers on one word are done by one lane of the warp, for all. An address that only happens to be the
 * same in all lanes does not count. (An H200: 16384 warps whose lanes all add to one word take 15 us where it is a
 * parameter's, and 386 where it is computed from the thread's number: tests/clock/places.cu.) */
static void count_atomics(machine *m) {
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        ptx_insn *i = &m->code->insns[at];
        if (i->op != OP_atom) continue;
        i->one_place = !m->values[machine_id(m, i->a)].divergent;
        const bool far = i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC,
                   combines = i->one_place && ptx_adds_up(i) && ptx_type_bytes[i->type] == 4;
        if (i->space == SPACE_SHARED && ptx_needs_cas(i)) i->machine = 7 * PTX_MACHINE_UNIT;
        if (i->space == SPACE_SHARED && combines) i->machine = (uint16_t)(combined(m, i) * PTX_MACHINE_UNIT);
        if (far && combines && i->sub == ATOM_add && !i->guarded) i->machine = (i->unused ? 7 : 14) * PTX_MACHINE_UNIT;
    }
}

/* Returns the registers that a load fills. */
static uint32_t registers_of(const ptx_insn *i) { return i->vector * (ptx_type_bytes[i->type] > 4 ? 2 : 1); }

/* Returns the registers that a load of shared or global memory brings beyond the first, each of which keeps arithmetic
 * from issuing for a clock. (An H200, groups of 16 to 64 fused multiply-adds beside loads of shared memory: with a load
 * of four words a group takes 2.5 to 3.5 issue slots more than with one of one word, of two words about 1.) */
static uint32_t more_registers(const ptx_insn *i) {
    if (i->op != OP_ld || (i->space != SPACE_SHARED && i->space != SPACE_GLOBAL)) return 0;
    return registers_of(i) - 1;
}

/* Slots: at least the machine instructions; a unit that takes a warp every few clocks counts as that many. Loads that
 * are one in the machine code (machine_merge.c) take those of each. */
static void count_slots(const machine *m) {
    const ptx_costs *costs = &m->function->module->costs;
    uint16_t *banks = ptx_alloc(m->code->ninsns * sizeof *banks);
    ptx_machine_banks(m, banks);
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        ptx_insn *i = &m->code->insns[at];
        if (i->op == OP_ld && i->words) {
            i->slots = (uint16_t)(registers_of(i) * PTX_MACHINE_UNIT);
            continue;
        }
        uint32_t base = ptx_machine_base(i), slots = costs->of[ptx_ops[i->op].cost].slots * PTX_MACHINE_UNIT;
        uint32_t narrow = base ? slots * (i->machine < base ? i->machine : base) / base : 0;
        i->slots = (uint16_t)((narrow > i->machine ? narrow : i->machine) + more_registers(i) * PTX_MACHINE_UNIT);
        if (i->machine >= PTX_MACHINE_UNIT) i->slots = (uint16_t)(i->slots + banks[at]);
    }
    ptx_free(banks);
}

uint32_t ptx_machine_of(cfg *g, const ptx_function *f, uint32_t nregisters, const uint32_t *id_of) {
    ptx_code *c = g->code;
    machine m = {.g = g, .code = c, .function = f, .id_of = id_of, .nregisters = nregisters};
    m.values = ptx_alloc((nregisters + 1) * sizeof *m.values);
    for (uint32_t k = 0; k <= nregisters; k++) m.values[k].definition = NO_INSN;
    m.lowest = ptx_alloc((nregisters + 1) * sizeof *m.lowest);
    m.row_of = ptx_alloc((c->frame_bytes / 4 + 1) * sizeof *m.row_of);
    for (uint32_t k = 0; k < c->nrows; k++) m.row_of[c->rows[k].row / 4] = &c->rows[k];
    m.inputs = ptx_alloc(c->ninsns);
    for (uint32_t at = 0; at < c->ninsns; at++) {
        c->insns[at].machine = (uint16_t)ptx_machine_base(&c->insns[at]);
        add_uses(&m, at);
    }
    find_divergent(&m);
    ptx_machine_halves(&m);
    ptx_machine_affine(&m);
    ptx_machine_fold(&m);
    ptx_machine_lowest(&m);
    ptx_machine_constants(&m);
    ptx_machine_merge(&m);
    place_blocks(&m);
    count_branches(&m);
    count_atomics(&m);
    ptx_machine_unroll(&m);
    count_prologue(&m);
    count_slots(&m);
    ptx_free(m.values);
    ptx_free(m.lowest);
    ptx_free(m.row_of);
    ptx_free(m.inputs);
    return m.more_loads;
}

void ptx_machine_predicate(ptx_code *c) {
    for (uint32_t at = 0; at < c->ninsns; at++) {
        const ptx_insn *i = &c->insns[at];
        if (i->op != OP_bra || !i->guarded || !i->folded || i->exits) continue;
        const uint32_t end = ptx_end_of_skipped(c, at);
        for (uint32_t k = at + 1; k < end && k - at < 256; k++)
            if (!c->insns[k].under) c->insns[k].under = (uint8_t)(k - at);
    }
}
