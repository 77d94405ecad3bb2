/* operands.c — divisions and roots of operands for which ptxas has a slower way.
 *
 * ptxas makes a short sequence of a division or a root, and checks the operands: the sequence is exact only while its
 * intermediate results are normal numbers. If a lane has others (a numerator of 0 is the usual case), the warp calls a
 * function. Nothing but the time and the number of instructions differs.
 *
 * The ranges of exponents were measured on an H200: the clock around a division or root of each pair of exponents
 * (float), or of a sample of them (double). */
#include "warp.h"

static exec_handler *const *lanes; /* the plain handlers */

void exec_rare_begin(exec_handler *const *handlers) { lanes = handlers; }

bool exec_has_rare(const ptx_insn *i) {
    const enum ptx_op op = (enum ptx_op)i->op;
    return !i->modified && (op == OP_div_f32 || op == OP_div_f64 || op == OP_sqrt_f32 || op == OP_sqrt_f64);
}

static uint32_t exponent32(uint32_t bits) { return bits >> 23 & 0xff; }
static uint32_t exponent64(uint64_t bits) { return (uint32_t)(bits >> 52) & 0x7ff; }
static uint32_t outside(uint32_t x, uint32_t least, uint32_t most) { return x - least > most - least; }

/* Each returns the lanes, active or not, whose operands take the slower way. */
static uint32_t rare_div32(const uint32_t *a, const uint32_t *b) {
    uint32_t rare = 0;
    for (int l = 0; l < 32; l++) {
        const uint32_t top = exponent32(a[l]), below = exponent32(b[l]);
        rare |= (outside(top, 25, 254) | outside(below, 2, 251) | outside(below + 126 - top, 0, 250)) << l;
    }
    return rare;
}
static uint32_t rare_div64(const uint64_t *a, const uint64_t *b) {
    uint32_t rare = 0;
    for (int l = 0; l < 32; l++) {
        const uint32_t top = exponent64(a[l]), below = exponent64(b[l]);
        rare |= (outside(top, 54, 2046) | outside(below, 1, 2039) | outside(below + 1017 - top, 0, 2038)) << l;
    }
    return rare;
}
/* The sign counts as the first bit of the exponent. */
static uint32_t rare_root32(const uint32_t *a) {
    uint32_t rare = 0;
    for (int l = 0; l < 32; l++) rare |= outside(a[l] >> 23, 26, 254) << l;
    return rare;
}
static uint32_t rare_root64(const uint64_t *a) {
    uint32_t rare = 0;
    for (int l = 0; l < 32; l++) rare |= outside((uint32_t)(a[l] >> 52), 53, 2046) << l;
    return rare;
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
    uint32_t rare = w->mask;
    switch (kind) {
    case RARE_FDIV: rare &= rare_div32(ROW(w, uint32_t, i->a), ROW(w, uint32_t, i->b)); break;
    case RARE_FROOT: rare &= rare_root32(ROW(w, uint32_t, i->a)); break;
    case RARE_DDIV: rare &= rare_div64(ROW(w, uint64_t, i->a), ROW(w, uint64_t, i->b)); break;
    default: rare &= rare_root64(ROW(w, uint64_t, i->a));
    }
    if (rare) {
        w->counters[i - w->code].rare++;
        w->depth += w->block->launch->program->module->costs.rare[kind].latency;
    }
    lanes[i->op](w, i);
}
