/* machine_fold.c — what ptxas makes a part of another instruction.
 *
 *   a * b + c      IMAD, and with a sign-extended product of 64 bits IMAD.WIDE, which computes addresses
 *   a << n + b     LEA;   a + b + c: IADD3;   any function of three words: LOP3;   a << n | a >> (32 - n): SHF
 *   a * b + c, of 64 bits: IMAD.WIDE.U32, which takes the sum; min(min(a, b), c): VIMNMX3; max(a + b, c): VIADDMNMX
 *   [a + n]        the offset of an access;   -a, |a|: parts of floating-point operands
 *   a < b && p     ISETP takes a predicate
 *
 * An instruction takes in what defines its operands if nobody else needs that value, in the order of the code. */
#include "machine.h"

static bool is_add(const ptx_insn *i) { return i->op == OP_add_u32 || i->op == OP_sub_u32; }
static bool is_add_64(const ptx_insn *i) { return i->op == OP_add_u64 || i->op == OP_sub_u64; }
static bool is_logic(const ptx_insn *i) {
    return i->op == OP_and_u32 || i->op == OP_or_u32 || i->op == OP_xor_u32 || i->op == OP_not_u32 ||
           i->op == OP_and_u64 || i->op == OP_or_u64 || i->op == OP_xor_u64 || i->op == OP_not_u64 || i->op == OP_lop3;
}
static bool is_extreme(const ptx_insn *i) {
    return i->op == OP_min_u16 || i->op == OP_min_s16 || i->op == OP_min_u32 || i->op == OP_min_s32 ||
           i->op == OP_max_u16 || i->op == OP_max_s16 || i->op == OP_max_u32 || i->op == OP_max_s32;
}
static bool is_setp(const ptx_insn *i) { return i->op >= OP_setp_eq_u16 && i->op <= OP_setp_nan_bf16; }
static bool is_float(const ptx_insn *i) {
    enum ptx_cost cost = ptx_ops[i->op].cost;
    return cost == COST_FMA || cost == COST_FP64 || i->op == OP_selp || i->op == OP_min_f_f32 ||
           i->op == OP_max_f_f32 || (is_setp(i) && (ptx_ops[i->op].type == TY_f32 || ptx_ops[i->op].type == TY_f64));
}
static bool is_sign(const ptx_insn *i) {
    return i->op == OP_neg_f32 || i->op == OP_neg_f64 || i->op == OP_abs_f32 || i->op == OP_abs_f64 ||
           i->op == OP_neg_ftz_f32 || i->op == OP_abs_ftz_f32;
}

/* Returns whether the value is a 32-bit index, extended, times a size; *index is the extension, if it stands alone. */
static bool is_wide_product(const machine *m, const ptx_insn *i, ptx_insn **index) {
    *index = NULL;
    if (i->op == OP_mul_wide_u32 || i->op == OP_mul_wide_s32) return true;
    if (i->op != OP_shl_b64 || !machine_is_constant(m, i->b)) return false;
    *index = machine_definition(m, i->a);
    return *index && ((*index)->op == OP_cvt_s64_s32 || (*index)->op == OP_cvt_u64_u32);
}

/* Returns the instruction that defines this operand, if this is its only use. */
static ptx_insn *only_for(const machine *m, uint32_t row) {
    uint32_t id = machine_id(m, row);
    return id && m->values[id].uses == 1 ? machine_definition(m, row) : NULL;
}

static uint8_t *inputs_of(machine *m, const ptx_insn *i) { return &m->inputs[i - m->code->insns]; }

/* Takes p into i, which has two operands, if both together have three inputs at most. */
static bool take_three(machine *m, ptx_insn *i, ptx_insn *p, bool logic) {
    uint8_t *mine = inputs_of(m, i), *its = inputs_of(m, p);
    uint8_t have = *mine ? *mine : 2, take = *its ? *its : p->op == OP_not_u32 || p->op == OP_not_u64 ? 1 : 2;
    if (p->machine == 0 || (logic ? have + take - 1 > 3 + (have == 3 && take == 2) : have + take - 1 > 3)) return false;
    *mine = (uint8_t)(have + take - 1 > 3 ? 3 : have + take - 1);
    p->machine = 0;
    return true;
}

/* (a << n) | (a >> (32 - n)) is one instruction. */
static bool rotates(machine *m, ptx_insn *i) {
    ptx_insn *l = only_for(m, i->a), *r = only_for(m, i->b);
    if (!l || !r || (i->op != OP_or_u32 && i->op != OP_add_u32)) return false;
    if (l->op == OP_shr_u32) {
        ptx_insn *other = l;
        l = r, r = other;
    }
    if (l->op != OP_shl_b32 || r->op != OP_shr_u32 || l->a != r->a) return false;
    const ptx_row *left = machine_row(m, l->b), *right = machine_row(m, r->b);
    if (!left || !right || left->bits + right->bits != 32) return false;
    l->machine = r->machine = 0;
    *inputs_of(m, i) = 3;
    return true;
}

static void fold_add(machine *m, ptx_insn *i) {
    uint32_t operands[] = {i->a, i->b};
    for (int k = 0; k < 2; k++) {
        ptx_insn *p = only_for(m, operands[k]);
        if (!p || !p->machine || *inputs_of(m, i) == 3) continue;
        bool product = p->op == OP_mul_lo_u32 && i->op == OP_add_u32;
        bool shifted = p->op == OP_shl_b32 && machine_is_constant(m, p->b);
        if (product || shifted) {
            p->machine = 0;
            *inputs_of(m, i) = 3;
        } else if (is_add(p) || p->op == OP_neg_u32) {
            take_three(m, i, p, false);
        }
    }
}

/* An address: base + index * size. The product is made again for each base. */
static void fold_address(machine *m, ptx_insn *i) {
    uint32_t operands[] = {i->a, i->b};
    for (int k = 0; k < 2; k++) {
        ptx_insn *p = machine_definition(m, operands[k]), *index;
        if (!p) continue;
        if (is_wide_product(m, p, &index)) {
            p->machine = 0;
            if (index) index->machine = 0;
            i->machine = PTX_MACHINE_UNIT;
            return;
        }
        if (m->values[machine_id(m, operands[k])].uses > 1) continue;
        if (p->op == OP_shl_b64 && machine_is_constant(m, p->b)) {
            p->machine = 0;
            return;
        }
        if (p->op == OP_cvt_s64_s32) p->machine = 0;
    }
}

/* A sum of 64 bits with a product: of two narrow factors, its IMAD.WIDE.U32 takes all of the sum; else half of it.
 * Where the upper half is not wanted, it is an IMAD. */
static void fold_product_64(machine *m, ptx_insn *i) {
    uint32_t operands[] = {i->a, i->b};
    for (int k = 0; k < 2 && i->op == OP_add_u64; k++) {
        ptx_insn *p = only_for(m, operands[k]);
        if (!p || p->op != OP_mul_lo_u64 || !p->machine) continue;
        if (i->machine == PTX_MACHINE_UNIT)
            p->machine = 0;
        else
            i->machine = p->machine > 2 * PTX_MACHINE_UNIT ? PTX_MACHINE_UNIT : 0;
        return;
    }
}

/* The smallest or largest of three, and that of a sum and another one: VIMNMX3, VIADDMNMX. Where the result is at least
 * 0, both have .RELU. */
static void fold_extreme(machine *m, ptx_insn *i) {
    const bool max = i->op == OP_max_s32;
    uint32_t operands[] = {i->a, i->b};
    for (int k = 0; k < 2; k++) {
        ptx_insn *p = only_for(m, operands[k]);
        if (!p || !p->machine) continue;
        const ptx_row *other = machine_row(m, operands[!k]);
        if (max && (p->op == OP_max_s32 || p->op == OP_min_s32) && other && other->kind == ROW_CONSTANT && !other->bits)
            i->machine = 0;
        else if (p->op == i->op || (is_add(p) && ptx_type_bytes[ptx_ops[i->op].type] == 4))
            take_three(m, i, p, false);
    }
}

/* base + constant, for accesses only */
static void fold_offset(machine *m, ptx_insn *i) {
    const machine_value *v = &m->values[machine_id(m, i->d)];
    bool offset = machine_is_constant(m, i->b) || machine_is_constant(m, i->a);
    if (offset && v->definitions == 1 && v->uses && v->uses == v->addresses) i->machine = 0;
}

static void fold_logic(machine *m, ptx_insn *i) {
    if (rotates(m, i)) return;
    uint32_t operands[] = {i->a, i->b};
    for (int k = 0; k < 2; k++) {
        ptx_insn *p = only_for(m, operands[k]);
        if (p && is_logic(p)) take_three(m, i, p, true);
    }
}

static void fold_predicate(machine *m, ptx_insn *i) {
    uint32_t operands[] = {i->a, i->b};
    if (i->op == OP_not_pred) i->machine = 0;
    for (int k = 0; k < 2 && i->machine; k++) {
        ptx_insn *p = only_for(m, operands[k]);
        if (p && is_setp(p)) i->machine = 0;
    }
}

static void fold_signs(machine *m, const ptx_insn *i) {
    uint32_t operands[] = {i->a, i->b, i->c};
    for (int k = 0; k < 3; k++) {
        ptx_insn *p = machine_definition(m, operands[k]);
        if (p && is_sign(p)) p->machine = 0;
    }
}

/* A narrow integer is extended by the load that reads it, and cut by the store that writes it. */
static void fold_width(machine *m, ptx_insn *i) {
    bool integers = !(i->type >= TY_f16 && i->type <= TY_f64) && !(i->from >= TY_f16 && i->from <= TY_f64);
    if (i->op != OP_cvt || !integers) return;
    const ptx_insn *p = machine_definition(m, i->a);
    const machine_value *v = &m->values[machine_id(m, i->d)];
    bool loaded = p && p->op == OP_ld, stored = v->uses == 1 && m->code->insns[v->user].op == OP_st;
    bool masked = v->uses == 1 && is_logic(&m->code->insns[v->user]);
    bool same = ptx_type_bytes[i->type] >= 4 && ptx_type_bytes[i->from] >= 4;
    bool grows = ptx_type_bytes[i->type] > ptx_type_bytes[i->from];
    if (loaded || stored || masked || same || grows) i->machine = 0;
}

/* A constant must be moved into a register that has other values too. */
static void count_constant(machine *m, ptx_insn *i) {
    bool moves = i->op == OP_mov_b16 || i->op == OP_mov_b32 || i->op == OP_mov_b64;
    if (!moves || !machine_is_constant(m, i->a)) return;
    if (m->values[machine_id(m, i->d)].definitions > 1) i->machine = PTX_MACHINE_UNIT;
}

void ptx_machine_fold(machine *m) {
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        ptx_insn *i = &m->code->insns[at];
        if (is_add(i) && !rotates(m, i)) fold_add(m, i);
        if (is_add(i) || is_add_64(i)) fold_offset(m, i);
        if (is_add_64(i) && i->machine && m->values[machine_id(m, i->d)].shared) i->machine = PTX_MACHINE_UNIT;
        if (is_add_64(i) && i->machine) fold_address(m, i);
        if (is_add_64(i) && i->machine) fold_product_64(m, i);
        if (is_extreme(i)) fold_extreme(m, i);
        if (is_logic(i)) fold_logic(m, i);
        if (i->op == OP_and_pred || i->op == OP_or_pred || i->op == OP_xor_pred || i->op == OP_not_pred)
            fold_predicate(m, i);
        if (is_float(i)) fold_signs(m, i);
        fold_width(m, i);
        count_constant(m, i);
    }
}
