/* machine_lowest.c — the lowest bits of addresses in shared memory.
 *
 * ptxas makes one load of neighbours only where it knows their place among 16 bytes: that of an array plus 64 times an
 * index, plus 4, or of a pointer that begins there and advances by 256. So each register has those of its lowest bits
 * in which all of its definitions agree. */
#include "machine.h"

enum { LARGEST = MACHINE_LOWEST };

static machine_lowest lowest_of(uint64_t value, uint32_t bits) {
    if (bits > LARGEST) bits = LARGEST;
    return (machine_lowest){(uint8_t)bits, (uint8_t)(value & ((1u << bits) - 1)), true};
}

/* Returns how many of the lowest bits are known to be 0. */
static uint32_t zeros_of(machine_lowest v) { return (uint32_t)__builtin_ctz(v.value | 1u << v.bits); }

static uint32_t fewer(uint32_t a, uint32_t b) { return a < b ? a : b; }

machine_lowest ptx_machine_lowest_of(const machine *m, uint32_t row) {
    const ptx_row *r = machine_row(m, row);
    const uint32_t id = machine_id(m, row);
    if (id) return m->lowest[id];
    const bool placed =
        r && r->kind == ROW_ADDRESS && r->var && (r->var->space == SPACE_SHARED || r->var->space == SPACE_CONST);
    return placed || (r && r->kind == ROW_CONSTANT) ? lowest_of(r->bits, LARGEST)
                                                    : lowest_of(0, 0); /* ptxas places arrays so */
}

static machine_lowest sum_of(machine_lowest a, machine_lowest b) {
    return lowest_of((uint64_t)a.value + b.value, fewer(a.bits, b.bits));
}
static machine_lowest product_of(machine_lowest a, machine_lowest b) {
    return lowest_of((uint64_t)a.value * b.value, fewer(a.bits + zeros_of(b), b.bits + zeros_of(a)));
}
static machine_lowest shifted(const machine *m, machine_lowest a, uint32_t by) {
    const ptx_row *n = machine_row(m, by);
    if (!n || n->kind != ROW_CONSTANT) return lowest_of(0, zeros_of(a));
    return n->bits < LARGEST ? lowest_of((uint64_t)a.value << n->bits, a.bits + (uint32_t)n->bits)
                             : lowest_of(0, LARGEST);
}

machine_lowest ptx_machine_lowest_result(const machine *m, const ptx_insn *i, machine_lowest a, machine_lowest b,
                                         machine_lowest c) {
    const uint32_t both = fewer(a.bits, b.bits), either = zeros_of(a) > zeros_of(b) ? zeros_of(a) : zeros_of(b);
    switch (i->op) {
    case OP_mov_b32:
    case OP_mov_b64:
    case OP_cvt_u64_u32:
    case OP_cvt_s64_s32:
    case OP_cvt_u32_u64: return a;
    case OP_add_u32:
    case OP_add_u64: return sum_of(a, b);
    case OP_sub_u32:
    case OP_sub_u64: return lowest_of((uint64_t)a.value - b.value, both);
    case OP_or_u32:
    case OP_or_u64: return lowest_of(a.value | b.value, both);
    case OP_and_u32: return either > both ? lowest_of(0, either) : lowest_of(a.value & b.value, both);
    case OP_mul_lo_u32:
    case OP_mul_wide_u32:
    case OP_mul_wide_s32: return product_of(a, b);
    case OP_mad_lo_u32: return sum_of(product_of(a, b), c);
    case OP_shl_b32:
    case OP_shl_b64: return shifted(m, a, i->b);
    default: return lowest_of(0, 0);
    }
}

machine_lowest ptx_machine_lowest_both(machine_lowest a, machine_lowest b) {
    if (!a.seen || !b.seen) return a.seen ? a : b;
    const uint32_t alike = (uint32_t)__builtin_ctz((uint32_t)(a.value ^ b.value) | 1u << LARGEST);
    return lowest_of(a.value, fewer(fewer(a.bits, b.bits), alike));
}

/* Returns the bits of what the instruction computes; not seen, if those of an operand are not. */
static machine_lowest computed(const machine *m, const ptx_insn *i) {
    const machine_lowest a = ptx_machine_lowest_of(m, i->a), b = ptx_machine_lowest_of(m, i->b),
                         c = ptx_machine_lowest_of(m, i->c);
    return a.seen && b.seen && c.seen ? ptx_machine_lowest_result(m, i, a, b, c) : (machine_lowest){0};
}

void ptx_machine_lowest(machine *m) {
    enum { MOST_PASSES = 16 };
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (uint32_t at = 0; at < m->code->ninsns; at++) {
            ptx_insn *i = &m->code->insns[at];
            uint32_t *fields[MOST_FIELDS], n = ptx_results_of(i, fields);
            for (uint32_t k = 0; k < n; k++) {
                const uint32_t id = machine_id(m, *fields[k]);
                const bool known = fields[k] == &i->d && pass < MOST_PASSES;
                if (!id) continue;
                const machine_lowest before = m->lowest[id],
                                     now = ptx_machine_lowest_both(before, known ? computed(m, i) : lowest_of(0, 0));
                changed |= now.seen != before.seen || now.bits != before.bits;
                m->lowest[id] = now;
            }
        }
    }
}
