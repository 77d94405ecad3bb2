/* lanes_modified.c — the arithmetic handlers with .ftz, .sat or a directed rounding (.rz .rm .rp), lane by lane, in the
 * host's rounding mode. */
#include "warp.h"
#include "lane_math.h"

#include <fenv.h>

/* clang has the pragma FENV_ACCESS on x86 only. Without it, operands and results go through volatile variables, so that
 * no arithmetic moves across fesetround. */

typedef float T_f32;
typedef double T_f64;

static void enter(const ptx_insn *i) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (i->round) fesetround(modes[i->round]);
}
static void leave(const ptx_insn *i) {
    if (i->round) fesetround(FE_TONEAREST);
}
static float operand_f32(const ptx_insn *i, float v) { return i->ftz ? lane_flush_f32(v) : v; }
static double operand_f64(const ptx_insn *i, double v) { return (void)i, v; }

/* Applies the modifiers to a result; .sat clamps to [0, 1] and turns NaN into 0. */
static float result_f32(const ptx_insn *i, float v) {
    if (i->ftz) v = lane_flush_f32(v);
    if (i->sat) v = v != v ? 0 : v < 0 ? 0 : v > 1 ? 1 : v == 0 ? 0 : v;
    return lane_canonical(v);
}
static double result_f64(const ptx_insn *i, double v) { return i->sat ? (v != v || v <= 0 ? 0 : v > 1 ? 1 : v) : v; }

#define EACH_ACTIVE                                                                                                    \
    for (uint32_t m = w->mask, l = 0; m; m &= m - 1)                                                                   \
        if (l = (uint32_t)__builtin_ctz(m), true)
#define FLT1(id, key, type, D, A, cost, value)                                                                         \
    static void modified_##id(warp *w, const ptx_insn *i) {                                                            \
        enter(i);                                                                                                      \
        EACH_ACTIVE {                                                                                                  \
            volatile T_##A a_ = operand_##A(i, ROW(w, T_##A, i->a)[l]);                                                \
            T_##A a = a_;                                                                                              \
            volatile T_##D d = (value);                                                                                \
            ROW(w, T_##D, i->d)[l] = result_##D(i, d);                                                                 \
        }                                                                                                              \
        leave(i);                                                                                                      \
    }
#define FLT2(id, key, type, D, A, B, cost, value)                                                                      \
    static void modified_##id(warp *w, const ptx_insn *i) {                                                            \
        enter(i);                                                                                                      \
        EACH_ACTIVE {                                                                                                  \
            volatile T_##A a_ = operand_##A(i, ROW(w, T_##A, i->a)[l]), b_ = operand_##B(i, ROW(w, T_##B, i->b)[l]);   \
            T_##A a = a_, b = b_;                                                                                      \
            volatile T_##D d = (value);                                                                                \
            ROW(w, T_##D, i->d)[l] = result_##D(i, d);                                                                 \
        }                                                                                                              \
        leave(i);                                                                                                      \
    }
#define FLT3(id, key, type, D, A, B, C, cost, value)                                                                   \
    static void modified_##id(warp *w, const ptx_insn *i) {                                                            \
        enter(i);                                                                                                      \
        EACH_ACTIVE {                                                                                                  \
            volatile T_##A a_ = operand_##A(i, ROW(w, T_##A, i->a)[l]), b_ = operand_##B(i, ROW(w, T_##B, i->b)[l]);   \
            volatile T_##C c_ = operand_##C(i, ROW(w, T_##C, i->c)[l]);                                                \
            T_##A a = a_, b = b_, c = c_;                                                                              \
            volatile T_##D d = (value);                                                                                \
            ROW(w, T_##D, i->d)[l] = result_##D(i, d);                                                                 \
        }                                                                                                              \
        leave(i);                                                                                                      \
    }
#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define COMPARE(...)
#define OTHER(...)
#include "../ptx/opcodes.def"
#undef FLT1
#undef FLT2
#undef FLT3
#undef LANE1
#undef LANE2
#undef LANE3
#undef COMPARE
#undef OTHER

exec_handler *const exec_lanes_modified[NOPS] = {
#define LANE1(...)    NULL,
#define LANE2(...)    NULL,
#define LANE3(...)    NULL,
#define FLT1(id, ...) modified_##id,
#define FLT2(id, ...) modified_##id,
#define FLT3(id, ...) modified_##id,
#define COMPARE(...)  NULL,
#define OTHER(...)    NULL,
#include "../ptx/opcodes.def"
};
