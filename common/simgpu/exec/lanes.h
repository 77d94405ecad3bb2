/* lanes.h — the arithmetic handlers, one for each row of opcodes.def, a loop over 32 lanes that the compiler
 * vectorises. lanes_base.c and lanes_avx2.c include it with LANES_TABLE set to the table's name and different target
 * attributes. Behind the rows, at LANES_MODIFIED, the table has the handler of a FLT row with .ftz, .sat or a directed
 * rounding.
 *
 * A full warp writes its row. Otherwise the loop writes w->result, from which the active lanes go to the row. So the
 * loop has no branch, and it vectorises; and a handler has one loop, since a second one in each would take a second of
 * a cold build. An fp32 result that is NaN becomes 0x7fffffff, as on a GPU (PTX ISA 9.7.3).
 */
#include "warp.h"
#include "half_math.h"
#include "lane_math.h"

#include <fenv.h>

typedef uint32_t E_u16, E_s16, E_u32; /* the elements of a row; a 16-bit value has a 32-bit slot */
typedef int32_t E_s32;
typedef uint64_t E_u64;
typedef int64_t E_s64;
typedef float E_f32;
typedef double E_f64;
typedef uint16_t T_u16;
typedef int16_t T_s16;
typedef uint32_t T_u32;
typedef int32_t T_s32;
typedef uint64_t T_u64;
typedef int64_t T_s64;
typedef float T_f32;
typedef double T_f64;

/* assume_safety holds because the rows of one instruction are equal or do not overlap. */
#ifndef EACH
#define EACH _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (int l = 0; l < 32; l++)
#endif
#define EACH_AT_ONCE                                                                                                   \
    _Pragma("clang loop vectorize(assume_safety) interleave_count(4) unroll(disable)") for (int l = 0; l < 32; l++)

/* Writes the active lanes of w->result to a row. Without a select, of which the compiler would make branches. */
#define KEEP(name, E, S)                                                                                               \
    static __attribute__((noinline)) void name(warp *w, uint32_t row) {                                                \
        E *d = ROW(w, E, row);                                                                                         \
        const E *r = (const E *)w->result;                                                                             \
        const uint32_t *lanes = w->lanes;                                                                              \
        EACH_AT_ONCE {                                                                                                 \
            E on = (E)(S)(int32_t)lanes[l];                                                                            \
            d[l] = (r[l] & on) | (d[l] & ~on);                                                                         \
        }                                                                                                              \
    }
KEEP(keep32, uint32_t, int32_t)
KEEP(keep64, uint64_t, int64_t)

static __attribute__((noinline)) void row_of_result(warp *w, uint32_t row, bool wide) {
    if (w->mask == FULL)
        memcpy(ROW(w, void, row), w->result, wide ? 256 : 128);
    else
        wide ? keep64(w, row) : keep32(w, row);
}

#define OPEN(id, D)                                                                                                    \
    static void lane_##id(warp *w, const ptx_insn *i) {                                                                \
        E_##D *d = __builtin_assume_aligned(w->mask == FULL ? w->r + i->d : (uint8_t *)w->result, 64);
#define CLOSE(D)                                                                                                       \
    if (w->mask != FULL) sizeof(E_##D) == 8 ? keep64(w, i->d) : keep32(w, i->d);                                       \
    }

#define LANE1(id, key, type, D, A, cost, value)                                                                        \
    OPEN(id, D)                                                                                                        \
    const E_##A *a_ = ROW(w, E_##A, i->a);                                                                             \
    EACH {                                                                                                             \
        T_##A a = (T_##A)a_[l];                                                                                        \
        d[l] = (E_##D)(T_##D)(value);                                                                                  \
    }                                                                                                                  \
    CLOSE(D)

#define LANE2(id, key, type, D, A, B, cost, value)                                                                     \
    OPEN(id, D)                                                                                                        \
    const E_##A *a_ = ROW(w, E_##A, i->a);                                                                             \
    const E_##B *b_ = ROW(w, E_##B, i->b);                                                                             \
    EACH {                                                                                                             \
        T_##A a = (T_##A)a_[l];                                                                                        \
        T_##B b = (T_##B)b_[l];                                                                                        \
        d[l] = (E_##D)(T_##D)(value);                                                                                  \
    }                                                                                                                  \
    CLOSE(D)

#define LANE3(id, key, type, D, A, B, C, cost, value)                                                                  \
    OPEN(id, D)                                                                                                        \
    const E_##A *a_ = ROW(w, E_##A, i->a);                                                                             \
    const E_##B *b_ = ROW(w, E_##B, i->b);                                                                             \
    const E_##C *c_ = ROW(w, E_##C, i->c);                                                                             \
    EACH {                                                                                                             \
        T_##A a = (T_##A)a_[l];                                                                                        \
        T_##B b = (T_##B)b_[l];                                                                                        \
        T_##C c = (T_##C)c_[l];                                                                                        \
        d[l] = (E_##D)(T_##D)(value);                                                                                  \
    }                                                                                                                  \
    CLOSE(D)

#define FLT1(id, key, type, D, A, cost, value)       LANE1(id, key, type, D, A, cost, CANONICAL_##D(value))
#define FLT2(id, key, type, D, A, B, cost, value)    LANE2(id, key, type, D, A, B, cost, CANONICAL_##D(value))
#define FLT3(id, key, type, D, A, B, C, cost, value) LANE3(id, key, type, D, A, B, C, cost, CANONICAL_##D(value))
#define CANONICAL_f32(value)                         lane_canonical(value)
#define CANONICAL_f64(value)                         (value)

/* A comparison collects bit l from lane l by OR. The fp32 rows read halves too, and flushed operands with .ftz: as a
 * copy of the row. */
#define IS_F32(A) _Generic((E_##A)0, float : true, default : false)
#define COMPARE(id, key, type_, A, value)                                                                              \
    static void lane_##id(warp *w, const ptx_insn *i) {                                                                \
        const E_##A *a_ = ROW(w, E_##A, i->a), *b_ = ROW(w, E_##A, i->b);                                              \
        if (IS_F32(A) && (i->ftz || i->type != TY_f32)) a_ = operand(w, i, i->a, 0), b_ = operand(w, i, i->b, 1);      \
        uint32_t bits = 0;                                                                                             \
        EACH {                                                                                                         \
            T_##A a = (T_##A)a_[l], b = (T_##A)b_[l];                                                                  \
            bits |= (value) ? 1u << l : 0;                                                                             \
        }                                                                                                              \
        compare_result(w, i, bits);                                                                                    \
    }
#define COMPARE_AS(...)
#define OTHER(id, key, cost)

/* Implements setp p|q, a, b, c: p = (a cmp b) bool c, q = !(a cmp b) bool c. Inlined into each comparison it would take
 * a tenth of the time in which this file is compiled. */
static __attribute__((noinline)) void compare_result(warp *w, const ptx_insn *i, uint32_t bits) {
    uint32_t p = bits, q = ~bits;
    if (i->boolean) {
        uint32_t c = predicate(w, i->c, i->negate_c);
        p = i->boolean == BOOL_and ? p & c : i->boolean == BOOL_or ? p | c : p ^ c;
        q = i->boolean == BOOL_and ? q & c : i->boolean == BOOL_or ? q | c : q ^ c;
    }
    set_predicate(w, i->d, p);
    if (i->d2) set_predicate(w, i->d2, q);
}

/* Runs the handler of a row on operands beside the frame, for all lanes. */
typedef union {
    float f[32];
    double d[32];
} apart_row __attribute__((aligned(64)));
typedef struct {
    apart_row d, a, b, c;
} apart_rows;
static __attribute__((noinline)) void apart(warp *w, exec_handler *handler, apart_rows *rows) {
    static const ptx_insn insn = {.d = offsetof(apart_rows, d),
                                  .a = offsetof(apart_rows, a),
                                  .b = offsetof(apart_rows, b),
                                  .c = offsetof(apart_rows, c)};
    uint8_t *frame = w->r;
    uint32_t mask = w->mask;
    w->r = (uint8_t *)rows, w->mask = FULL;
    handler(w, &insn);
    w->r = frame, w->mask = mask;
}

#include "halves.h"

static __attribute__((noinline)) const void *operand(warp *w, const ptx_insn *i, uint32_t row, uint32_t half) {
    float *d = (float *)w->result + 32 * half;
    if (i->type == TY_f32) {
        memcpy(d, ROW(w, float, row), 128);
        flush_all(d);
    } else {
        read_half(d, w, i, row, 0);
    }
    return d;
}

#define HALF1(id, key, cost, half, brain)                                                                              \
    static void lane_##id(warp *w, const ptx_insn *i) { halves(w, i, lane_##half, lane_##brain); }
#define HALF2(id, key, cost, half, brain) HALF1(id, key, cost, half, brain)
#define HALF3(id, key, cost, half, brain) HALF1(id, key, cost, half, brain)
#define HALF_SFU(id, key, cost, row)                                                                                   \
    static void lane_##id(warp *w, const ptx_insn *i) { halves_sfu(w, i, lane_##row, OP_##row == OP_ex2_approx_f32); }
#define HALF_BITS(id, key, cost, keep, flip)                                                                           \
    static void lane_##id(warp *w, const ptx_insn *i) { halves_bits(w, i, keep, flip); }

#define lane_rem_u64 rem_u64_by_division
#include "../ptx/opcodes.def"
#undef lane_rem_u64

#undef LANE1
#undef LANE2
#undef LANE3
#undef FLT1
#undef FLT2
#undef FLT3
#undef COMPARE
#undef OTHER

/* rem.u64 of a full warp whose quotients are all short goes by way of double, several lanes at a time; other warps
 * divide, lane by lane. */
static void lane_rem_u64(warp *w, const ptx_insn *i) {
    const uint64_t *a = ROW(w, uint64_t, i->a), *b = ROW(w, uint64_t, i->b);
    uint64_t *d = ROW(w, uint64_t, i->d), other = w->mask != FULL;
    EACH other |= lane_rest_is_other(a[l], b[l]);
    if (other)
        rem_u64_by_division(w, i);
    else
        EACH d[l] = lane_rest(a[l], b[l]);
}

static void modified(warp *w, const ptx_insn *i);

exec_handler *const LANES_TABLE[NOPS + 1] = {
#define HALF(id)                    lane_##id, lane_##id, lane_##id, lane_##id,
#define HALF1(id, ...)              HALF(id)
#define HALF2(id, ...)              HALF(id)
#define HALF3(id, ...)              HALF(id)
#define HALF_BITS(id, ...)          HALF(id)
#define HALF_SFU(id, ...)           HALF(id)
#define LANE1(id, ...)              lane_##id,
#define LANE2(id, ...)              lane_##id,
#define LANE3(id, ...)              lane_##id,
#define FLT1(id, ...)               lane_##id,
#define FLT2(id, ...)               lane_##id,
#define FLT3(id, ...)               lane_##id,
#define COMPARE(id, ...)            lane_##id,
#define COMPARE_AS(id, key, t, row) lane_##row,
#define OTHER(id, ...)              NULL,
#include "../ptx/opcodes.def"
    modified};

/* --- .ftz .sat .rz .rm .rp ---------------------------------------------------------------------------------- */

static void read_modified(warp *w, const ptx_insn *i, apart_row *to, uint32_t row) {
    memcpy(to, ROW(w, void, row), i->type == TY_f64 ? 256 : 128);
    if (i->ftz && i->type == TY_f32) flush_all(to->f);
}

/* .sat clamps to [0, 1] and turns NaN and -0 into 0. */
static void saturate32(float *d) { EACH d[l] = d[l] > 1 ? 1 : d[l] > 0 ? d[l] : 0; }
static void saturate64(double *d) { EACH d[l] = d[l] > 1 ? 1 : d[l] > 0 ? d[l] : 0; }

/* Runs the row's own handler in the rounding mode. fesetround is an opaque call, and so is the handler: nothing moves
 * across it. */
static void modified(warp *w, const ptx_insn *i) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    uint32_t sources = ptx_ops[i->op].sources;
    bool wide = i->type == TY_f64;
    apart_rows rows;
    read_modified(w, i, &rows.a, i->a);
    if (sources > 1) read_modified(w, i, &rows.b, i->b);
    if (sources > 2) read_modified(w, i, &rows.c, i->c);
    if (i->round) fesetround(modes[i->round]);
    apart(w, LANES_TABLE[i->op], &rows);
    if (i->round) fesetround(FE_TONEAREST);
    if (i->ftz && !wide) flush_all(rows.d.f);
    if (i->sat) wide ? saturate64(rows.d.d) : saturate32(rows.d.f);
    memcpy(w->result, &rows.d, wide ? 256 : 128);
    row_of_result(w, i->d, wide);
}
