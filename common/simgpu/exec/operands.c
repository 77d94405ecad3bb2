/* operands.c — divisions and roots of operands for which ptxas has a slower way.
 *
 * ptxas makes a short sequence of a division or a root, and checks the operands: the sequence is exact only while its
 * intermediate results are normal numbers. If a lane has others (a numerator of 0 is the usual case), the warp calls a
 * function. Nothing but the time and the number of instructions differs.
 *
 * A negative number has no root, and a program that asks for one tests it first. clang takes the root ahead of the test
 * and selects afterwards, nvcc takes it behind a branch, so such lanes are not counted.
 *
 * The ranges of exponents were measured on an H200: the clock around a division or root of each pair of exponents
 * (float), or of a sample of them (double). */
#include "warp.h"

bool exec_has_rare(const ptx_insn *i) {
    const enum ptx_op op = (enum ptx_op)i->op;
    return !i->modified && (op == OP_div_f32 || op == OP_div_f64 || op == OP_sqrt_f32 || op == OP_sqrt_f64);
}

/* The exponents, as they are stored, that the short sequence is for. The third range is that of a division's
 * denominator, + `bias`, - the numerator. */
typedef struct {
    uint32_t least, most;
} range;
static const struct {
    range numerator, denominator, quotient;
    uint32_t bias;
    bool wide, root;
} plain[NRARE] = {
    [RARE_FDIV] = {{25, 254}, {2, 251}, {0, 250}, 126, false, false},
    [RARE_FROOT] = {.numerator = {26, 254}, .root = true},
    [RARE_DDIV] = {{54, 2046}, {1, 2039}, {0, 2038}, 1017, true, false},
    [RARE_DROOT] = {.numerator = {53, 2046}, .wide = true, .root = true},
};

/* Sets the exponents of a row. Returns the lanes with numbers below 0. */
static uint32_t find_exponents(const warp *w, uint32_t row, enum ptx_rare kind, uint32_t *exponent) {
    uint32_t negative = 0;
    if (plain[kind].wide) {
        const uint64_t *v = ROW(w, uint64_t, row);
        for (int l = 0; l < 32; l++)
            exponent[l] = (uint32_t)(v[l] >> 52) & 0x7ff, negative |= (uint32_t)(v[l] > 1ull << 63) << l;
    } else {
        const uint32_t *v = ROW(w, uint32_t, row);
        for (int l = 0; l < 32; l++) exponent[l] = v[l] >> 23 & 0xff, negative |= (uint32_t)(v[l] > 1u << 31) << l;
    }
    return negative;
}

/* Returns the lanes, active or not, where x is not in the range. */
static uint32_t outside(const uint32_t *x, range r) {
    uint32_t lanes = 0;
    for (int l = 0; l < 32; l++) lanes |= (uint32_t)(x[l] - r.least > r.most - r.least) << l;
    return lanes;
}

/* Returns the lanes, active or not, whose operands take the slower way. */
static uint32_t rare_lanes(const warp *w, const ptx_insn *i, enum ptx_rare kind) {
    uint32_t top[32], below[32], quotient[32];
    const uint32_t negative = find_exponents(w, i->a, kind, top), rare = outside(top, plain[kind].numerator);
    if (plain[kind].root) return rare & ~negative;
    find_exponents(w, i->b, kind, below);
    for (int l = 0; l < 32; l++) quotient[l] = below[l] + plain[kind].bias - top[l];
    return rare | outside(below, plain[kind].denominator) | outside(quotient, plain[kind].quotient);
}

enum ptx_rare exec_rare_of(const ptx_insn *i) {
    switch ((enum ptx_op)i->op) {
    case OP_div_f32: return RARE_FDIV;
    case OP_sqrt_f32: return RARE_FROOT;
    case OP_div_f64: return RARE_DDIV;
    default: return RARE_DROOT;
    }
}

void exec_run_rare(warp *w, const ptx_insn *i) {
    const enum ptx_rare kind = exec_rare_of(i);
    if (w->mask & rare_lanes(w, i, kind)) {
        w->counters[i - w->code].rare++;
        w->depth += w->block->launch->program->module->costs.rare[kind].latency;
    }
    w->block->launch->program->lanes[i->op](w, i);
}
