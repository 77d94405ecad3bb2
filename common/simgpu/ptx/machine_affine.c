/* machine_affine.c — integers that differ from an earlier one by a constant.
 *
 * (y + 8) * 132 is y * 132 and an offset: nvcc computes the sum once, and accesses have offsets. Versions of clang
 * leave more or less of this to ptxas. So each integer is written as a sum of products plus a constant. The sum is a
 * number: that of a register that is no such sum is a hash of its id, sums of numbers and products with constants are
 * taken modulo 2^64, and a product of two sums is a hash of both. What has the sum of an earlier instruction of its
 * block costs nothing, if the constants are the same or the value only goes into addresses. Nor does adding a
 * constant to a register there. */
#include "machine.h"

enum { BACK = 128 }; /* instructions to look back */

typedef struct {
    uint64_t sum, constant;
} affine;

/* Returns a number that stands for another one, with all bits mixed: neither sums nor products of a few of them are
 * alike. (A product with a constant would be linear: the sum of ids 1 and 4 would be that of 2 and 3.) Source:
 * splitmix64. */
static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static bool computes(const ptx_insn *i) {
    return i->op == OP_add_u32 || i->op == OP_add_u64 || i->op == OP_sub_u32 || i->op == OP_sub_u64 ||
           i->op == OP_mul_lo_u32 || i->op == OP_mul_wide_u32 || i->op == OP_mul_wide_s32 || i->op == OP_mad_lo_u32 ||
           i->op == OP_shl_b32 || i->op == OP_shl_b64;
}
static bool passes_on(const ptx_insn *i) {
    return i->op == OP_mov_b32 || i->op == OP_mov_b64 || i->op == OP_cvt_s64_s32 || i->op == OP_cvt_u64_u32 ||
           i->op == OP_cvta;
}

bool ptx_is_sum(const ptx_insn *i) { return computes(i) || passes_on(i); }

static affine value_of(const machine *m, const affine *known, uint32_t row) {
    const ptx_row *r = machine_row(m, row);
    if (r && r->kind == ROW_CONSTANT) /* of 32 bits: may be negative */
        return (affine){0, r->bytes == 4 ? (uint64_t)(int64_t)(int32_t)r->bits : r->bits};
    if (r)
        return (affine){mixed(0x10000 + (r->kind == ROW_ADDRESS && r->var ? r->var->number : r->row)),
                        r->kind == ROW_ADDRESS ? r->bits : 0};
    uint32_t id = machine_id(m, row), at = m->values[id].definition;
    if (id && at != NO_INSN && (computes(&m->code->insns[at]) || passes_on(&m->code->insns[at]))) return known[id];
    return (affine){mixed(0x20000000 + id), 0};
}

static affine product(affine a, affine b) {
    affine p = {a.constant * b.sum + b.constant * a.sum, a.constant * b.constant};
    if (a.sum && b.sum) p.sum += mixed(mixed(a.sum) + mixed(b.sum));
    return p;
}

static affine result_of(const machine *m, const affine *known, const ptx_insn *i) {
    affine a = value_of(m, known, i->a), b = value_of(m, known, i->b), p;
    switch (i->op) {
    case OP_add_u32:
    case OP_add_u64: return (affine){a.sum + b.sum, a.constant + b.constant};
    case OP_sub_u32:
    case OP_sub_u64: return (affine){a.sum - b.sum, a.constant - b.constant};
    case OP_mul_lo_u32:
    case OP_mul_wide_u32:
    case OP_mul_wide_s32: return product(a, b);
    case OP_mad_lo_u32:
        p = product(a, b), b = value_of(m, known, i->c);
        return (affine){p.sum + b.sum, p.constant + b.constant};
    case OP_shl_b32:
    case OP_shl_b64:
        if (!b.sum && b.constant < 64) return (affine){a.sum << b.constant, a.constant << b.constant};
        return (affine){mixed(a.sum + a.constant) ^ mixed(~(b.sum + b.constant)), 0};
    default: return a;
    }
}

/* Returns whether all that reads the value is an access, or another such sum. */
static bool only_in_sums(const machine *m, uint32_t row) {
    const machine_value *v = &m->values[machine_id(m, row)];
    return v->uses == v->addresses + v->sums;
}

static void note_sums(machine *m) {
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        const ptx_insn *i = &m->code->insns[at];
        const uint32_t rows[] = {i->a, i->b, i->op == OP_mad_lo_u32 ? i->c : NO_ROW};
        for (int k = 0; k < 3 && (computes(i) || i->op == OP_cvt_s64_s32); k++)
            m->values[machine_id(m, rows[k])].sums++;
    }
}

void ptx_machine_affine(machine *m) {
    affine *known = ptx_alloc((m->nregisters + 1) * sizeof *known);
    affine *of = ptx_alloc(m->code->ninsns * sizeof *of);
    note_sums(m);
    for (uint32_t b = 0; b < m->g->nblocks; b++)
        for (uint32_t first = m->g->blocks[b].first, at = first; at <= m->g->blocks[b].last; at++) {
            ptx_insn *i = &m->code->insns[at];
            uint32_t id = machine_id(m, i->d);
            if (!id || m->values[id].definition != at || (!computes(i) && !passes_on(i))) continue;
            of[at] = known[id] = result_of(m, known, i);
            if (!computes(i) || !of[at].sum) continue;
            bool adds = i->op == OP_add_u32 || i->op == OP_add_u64;
            if (adds && (machine_is_constant(m, i->a) || machine_is_constant(m, i->b)) && only_in_sums(m, i->d))
                i->machine = 0;
            for (uint32_t k = at; k-- > first && k + BACK > at;) {
                if (of[k].sum != of[at].sum || !computes(&m->code->insns[k])) continue;
                if (of[k].constant == of[at].constant || only_in_sums(m, i->d)) i->machine = 0;
                break;
            }
        }
    ptx_free(known);
    ptx_free(of);
}
