/* machine_half.c — integers of 64 bits of which half is 0, or not wanted.
 *
 * Registers have 32 bits, so ptxas makes two of an integer of 64 bits, and drops a half that is known to be 0 or that
 * nothing reads:
 *
 *   a >> 32, a << 32, a & 0xffffffff   the halves get other names
 *   a * b, both upper halves 0         IMAD.WIDE.U32, which takes in a sum; and an addition to the upper half, since
 *                                      ptxas adds the product with an upper half of 0, too
 *   an address in shared memory        32 bits, and so is all that goes into it
 *
 * clang makes a counter of 64 bits of one of 32 if it goes into addresses or is divided. nvcc does not. It is narrow
 * if nothing compares all of it: then another counter ends the loop, of 32 bits. */
#include "machine.h"

typedef struct {
    const machine *m;
    bool *narrow; /* by register id: the upper half is 0 */
    bool *wide;   /* it is compared with what is not narrow */
    bool *wanted; /* something reads the upper half */
} halves;

static bool is_long(enum ptx_type t) { return t == TY_u64 || t == TY_s64 || t == TY_b64; }
static bool compares(const ptx_insn *i) {
    return i->op >= OP_setp_eq_u16 && i->op <= OP_setp_nan_bf16 && is_long(ptx_ops[i->op].type);
}
static bool is_narrow(const halves *h, uint32_t row) {
    const ptx_row *r = machine_row(h->m, row);
    if (r) return r->kind == ROW_CONSTANT && r->bits <= UINT32_MAX;
    uint32_t id = machine_id(h->m, row);
    return id && h->narrow[id];
}

/* Returns the constant in this row, or `otherwise`. */
static uint64_t bits_of(const machine *m, uint32_t row, uint64_t otherwise) {
    const ptx_row *r = machine_row(m, row);
    return r && r->kind == ROW_CONSTANT ? r->bits : otherwise;
}

static bool is_unsigned(enum ptx_type t) {
    return t == TY_u8 || t == TY_u16 || t == TY_u32 || t == TY_b8 || t == TY_b16 || t == TY_b32;
}

/* Returns whether the instruction adds a constant to a counter: a register that has another value in front of the
 * loop. */
static bool counts(const halves *h, const ptx_insn *i) {
    const uint32_t a = machine_id(h->m, i->a), d = machine_id(h->m, i->d);
    return machine_is_constant(h->m, i->b) && h->m->values[a].definitions == 2 && !h->wide[a] && !h->wide[d];
}

/* Returns whether the upper half of its result is 0. */
static bool makes_narrow(const halves *h, const ptx_insn *i) {
    switch (i->op) {
    case OP_cvt_u64_u32: return true;
    case OP_cvt: return is_unsigned((enum ptx_type)i->from);
    case OP_ld: return is_unsigned((enum ptx_type)i->type);
    case OP_mov_b64:
    case OP_div_u64: return is_narrow(h, i->a);
    case OP_shr_u64: return bits_of(h->m, i->b, 0) >= 32 || is_narrow(h, i->a);
    case OP_and_u64:
    case OP_min_u64:
    case OP_rem_u64:
    case OP_mul_hi_u64: return is_narrow(h, i->a) || is_narrow(h, i->b);
    case OP_or_u64:
    case OP_xor_u64:
    case OP_max_u64:
    case OP_selp: return is_narrow(h, i->a) && is_narrow(h, i->b);
    case OP_add_u64: return counts(h, i) && is_narrow(h, i->a);
    default: return false;
    }
}

/* From what could be, down to what all definitions make. */
static void find_narrow(const halves *h) {
    const machine *m = h->m;
    for (uint32_t id = 1; id <= m->nregisters; id++) h->narrow[id] = m->values[id].definitions > 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t at = 0; at < m->code->ninsns; at++) {
            ptx_insn *i = &m->code->insns[at];
            if (compares(i) && !is_narrow(h, i->b)) h->wide[machine_id(m, i->a)] = true;
            if (compares(i) && !is_narrow(h, i->a)) h->wide[machine_id(m, i->b)] = true;
            uint32_t *fields[MOST_FIELDS], n = ptx_results_of(i, fields);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t id = machine_id(m, *fields[k]);
                if (!id || !h->narrow[id] || makes_narrow(h, i)) continue;
                h->narrow[id] = false;
                changed = true;
            }
        }
    }
}

/* Returns whether the instruction reads the upper half of what it has in this field. */
static bool reads_upper(const halves *h, const ptx_insn *i, const uint32_t *field) {
    const uint32_t d = machine_id(h->m, i->d);
    switch (i->op) {
    case OP_cvt_u32_u64: return false;
    case OP_ld:
    case OP_atom:
    case OP_st:
        if (field == &i->a) return i->space != SPACE_SHARED;
        return i->op != OP_st || ptx_type_bytes[i->type] > 4;
    case OP_and_u64:
        if (bits_of(h->m, i->b, UINT64_MAX) <= UINT32_MAX) return false;
        break;
    case OP_shl_b64:
        if (bits_of(h->m, i->b, 0) >= 32) return false;
        break;
    case OP_add_u64:
    case OP_sub_u64:
    case OP_mul_lo_u64:
    case OP_mad_lo_u64:
    case OP_or_u64:
    case OP_xor_u64:
    case OP_not_u64:
    case OP_mov_b64: break;
    default: return true;
    }
    return h->wanted[d] && !h->m->values[d].shared;
}

static void find_wanted(const halves *h) {
    const machine *m = h->m;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t at = m->code->ninsns; at-- > 0;) {
            ptx_insn *i = &m->code->insns[at];
            uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(i, fields);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t id = machine_id(m, *fields[k]);
                if (!id || h->wanted[id] || !reads_upper(h, i, fields[k])) continue;
                h->wanted[id] = changed = true;
            }
        }
    }
}

/* Returns the instructions of a logical operation: where a constant or a half of 0 says so, a half is known or is
 * another one. */
static uint32_t of_logic(const halves *h, const ptx_insn *i, bool upper) {
    const bool is_and = i->op == OP_and_u64;
    const uint32_t rows[] = {i->a, i->b};
    uint32_t n = 1;
    for (int k = 0; k < 2; k++) {
        const uint64_t bits = bits_of(h->m, rows[k], 1);
        const uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
        if (low == 0 || (is_and && low == UINT32_MAX)) n = 0;
        if (is_narrow(h, rows[k]) || (is_and && high == UINT32_MAX)) upper = false;
    }
    return n + upper;
}

/* Returns the instructions of a shift by so many bits. */
static uint32_t of_shift(const halves *h, const ptx_insn *i, uint64_t by, bool upper) {
    if (i->op == OP_shr_s64) return by == 32 ? upper : 1u + upper;
    if (by >= 32) return by > 32;
    return i->op == OP_shr_u64 && is_narrow(h, i->a) ? 1 : 1u + upper;
}

/* Returns the machine instructions of an operation of 64 bits; `whole` if all of it is done. */
static uint32_t instructions_of(const halves *h, const ptx_insn *i, uint32_t whole) {
    const uint32_t d = machine_id(h->m, i->d);
    const bool a = is_narrow(h, i->a), b = is_narrow(h, i->b), constant = machine_is_constant(h->m, i->b);
    const bool wanted = h->wanted[d] && !h->m->values[d].shared, upper = wanted && !h->narrow[d];
    switch (i->op) {
    case OP_add_u64:
    case OP_sub_u64:
    case OP_not_u64: return 1u + upper;
    case OP_mul_lo_u64: return !upper ? 1 : a && b ? 2 : whole;
    case OP_mul_hi_u64: return a && constant ? 1 : whole; /* a division by a constant, in 32 bits */
    case OP_and_u64:
    case OP_or_u64:
    case OP_xor_u64: return of_logic(h, i, wanted);
    case OP_shl_b64:
    case OP_shr_u64:
    case OP_shr_s64: return constant ? of_shift(h, i, bits_of(h->m, i->b, 0), upper) : whole;
    default: return compares(i) && a && b ? 1 : whole;
    }
}

void ptx_machine_halves(machine *m) {
    halves h = {m, ptx_alloc(m->nregisters + 1), ptx_alloc(m->nregisters + 1), ptx_alloc(m->nregisters + 1)};
    find_narrow(&h);
    find_wanted(&h);
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        ptx_insn *i = &m->code->insns[at];
        if (i->machine % PTX_MACHINE_UNIT || !i->machine) continue;
        i->machine = (uint16_t)(instructions_of(&h, i, i->machine / PTX_MACHINE_UNIT) * PTX_MACHINE_UNIT);
    }
    ptx_free(h.narrow);
    ptx_free(h.wide);
    ptx_free(h.wanted);
}
