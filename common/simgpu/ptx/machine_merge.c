/* machine_merge.c — neighbouring accesses to shared memory are one.
 *
 * Two or four loads (or stores) of a basic block with one base register, whose offsets follow each other, are one of 8
 * or 16 bytes where the base is known to be a multiple of that: sums of multiples, as the address of an array plus 64
 * times an index. An access in between that may change the memory, and a barrier, part them. The first has the requests
 * and wavefronts of all. */
#include "machine.h"

enum { LARGEST = 4, FAR = 64 }; /* 2^4 bytes; instructions to look ahead */

/* Returns the n for which the value in this row is known to be a multiple of 2^n, LARGEST at most. */
static uint8_t multiple_of(const machine *m, const uint8_t *known, uint32_t row) {
    const ptx_row *r = machine_row(m, row);
    if (!r) return known[machine_id(m, row)];
    uint64_t bits = r->bits | 1u << LARGEST;
    if (r->kind == ROW_ADDRESS && r->var && r->var->space == SPACE_SHARED) /* ptxas places arrays so */
        return (uint8_t)__builtin_ctzll(bits);
    return r->kind == ROW_CONSTANT ? (uint8_t)__builtin_ctzll(bits) : 0;
}

static uint8_t result_multiple(const machine *m, const uint8_t *known, const ptx_insn *i) {
    uint32_t a = multiple_of(m, known, i->a), b = multiple_of(m, known, i->b), n = 0;
    switch (i->op) {
    case OP_mov_b32:
    case OP_mov_b64:
    case OP_cvt_u64_u32:
    case OP_cvt_s64_s32:
    case OP_cvt_u32_u64: n = a; break;
    case OP_add_u32:
    case OP_add_u64:
    case OP_sub_u32:
    case OP_sub_u64: n = a < b ? a : b; break;
    case OP_and_u32: n = a > b ? a : b; break;
    case OP_mul_lo_u32:
    case OP_mul_wide_u32:
    case OP_mul_wide_s32: n = a + b; break;
    case OP_mad_lo_u32: {
        uint32_t c = multiple_of(m, known, i->c);
        n = a + b < c ? a + b : c;
        break;
    }
    case OP_shl_b32:
    case OP_shl_b64: {
        const ptx_row *by = machine_row(m, i->b);
        n = by && by->kind == ROW_CONSTANT && by->bits < 64 ? a + (uint32_t)by->bits : a;
        break;
    }
    default: break;
    }
    return (uint8_t)(n < LARGEST ? n : LARGEST);
}

/* Finds out of what each register is a multiple: from the best that could be, down to what all definitions give. */
static void find_multiples(const machine *m, uint8_t *known) {
    for (uint32_t id = 1; id <= m->nregisters; id++) known[id] = LARGEST;
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (uint32_t at = 0; at < m->code->ninsns; at++) {
            ptx_insn *i = &m->code->insns[at];
            uint32_t *fields[MOST_FIELDS], n = ptx_results_of(i, fields);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t id = machine_id(m, *fields[k]);
                uint8_t now = pass < 8 ? result_multiple(m, known, i) : 0;
                if (!id || now >= known[id]) continue;
                known[id] = now;
                changed = true;
            }
        }
    }
}

static bool is_plain(const ptx_insn *i) {
    return (i->op == OP_ld || i->op == OP_st) && i->space == SPACE_SHARED && i->vector == 1 && !i->polls &&
           !i->guarded && ptx_type_bytes[i->type] == 4;
}

/* Returns whether accesses like i cannot be moved over x. */
static bool parts(const ptx_insn *i, const ptx_insn *x) {
    enum ptx_cost cost = ptx_ops[x->op].cost;
    if (cost == COST_BARRIER || cost == COST_BRANCH || x->op == OP_atom || x->op == OP_bar_warp) return true;
    return (x->op == OP_st || (x->op == OP_ld && i->op == OP_st)) && x->space == SPACE_SHARED &&
           (x->a != i->a || x->op != i->op);
}

/* Makes the accesses of this base that follow i's one with it, if they are 4 or 2. */
static void merge_from(machine *m, uint32_t at, uint32_t last, uint32_t words) {
    ptx_insn *i = &m->code->insns[at], *found[4] = {i};
    uint32_t n = 1;
    for (uint32_t k = at + 1; k <= last && k < at + FAR && n < words; k++) {
        ptx_insn *x = &m->code->insns[k];
        if (parts(i, x)) break;
        if (machine_id(m, x->d) && x->d == i->a) break;
        bool next = is_plain(x) && x->op == i->op && x->a == i->a && x->machine == PTX_MACHINE_UNIT;
        if (next && x->imm == i->imm + 4 * n) found[n++] = x;
    }
    for (uint32_t k = 0; n == words && k < n; k++) {
        found[k]->machine = (uint16_t)(PTX_MACHINE_UNIT / words);
        found[k]->words = k ? PTX_MERGED : (uint8_t)words;
    }
}

void ptx_machine_merge(machine *m) {
    uint8_t *known = ptx_alloc(m->nregisters + 1);
    find_multiples(m, known);
    for (uint32_t words = 4; words >= 2; words /= 2)
        for (uint32_t b = 0; b < m->g->nblocks; b++)
            for (uint32_t at = m->g->blocks[b].first; at <= m->g->blocks[b].last; at++) {
                const ptx_insn *i = &m->code->insns[at];
                if (!is_plain(i) || i->machine != PTX_MACHINE_UNIT || !machine_id(m, i->a)) continue;
                uint32_t zeros = (uint32_t)__builtin_ctzll((uint64_t)i->imm | 1u << LARGEST);
                if ((1u << known[machine_id(m, i->a)]) >= 4 * words && (1u << zeros) >= 4 * words)
                    merge_from(m, at, m->g->blocks[b].last, words);
            }
    ptx_free(known);
}
