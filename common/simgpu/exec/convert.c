/* convert.c — the computing OTHER rows of opcodes.def: conversions, packing, predicates, permutes, the carry chain.
 * They are rare, so they run lane by lane. */
#include "half_math.h"
#include "warp.h"

#include <fenv.h>
#include <math.h>

/* clang has the pragma FENV_ACCESS on x86 only. Without it, fesetround still orders arithmetic: as an opaque call it
 * might change a register's row, so operands are read behind it and results are written before the next call. */

#define EACH_ACTIVE                                                                                                    \
    for (uint32_t m = w->mask, l = 0; m; m &= m - 1)                                                                   \
        if (l = (uint32_t)__builtin_ctz(m), true)

static uint64_t get(const warp *w, uint32_t row, uint32_t l, bool wide) {
    return wide ? ROW(w, uint64_t, row)[l] : ROW(w, uint32_t, row)[l];
}
static void put(warp *w, uint32_t row, uint32_t l, bool wide, uint64_t v) {
    if (wide)
        ROW(w, uint64_t, row)[l] = v;
    else
        ROW(w, uint32_t, row)[l] = (uint32_t)v;
}

/* --- cvt ---------------------------------------------------------------------------------------------------- */

static bool is_float(uint8_t t) { return t == TY_f16 || t == TY_bf16 || t == TY_tf32 || t == TY_f32 || t == TY_f64; }
static bool is_signed(uint8_t t) { return t == TY_s8 || t == TY_s16 || t == TY_s32 || t == TY_s64; }

/* A narrow float: its bits of fraction, its exponent's bias, its largest number, infinity (or NO_INFINITY) and NaN. */
typedef struct {
    int fraction, bias;
    uint32_t largest, infinity, nan;
} narrow_format;
enum { NO_INFINITY = ~0 };
static const narrow_format formats[NTYPES] = {[TY_f16] = {10, 15, 0x7bff, 0x7c00, 0x7fff},
                                              [TY_bf16] = {7, 127, 0x7f7f, 0x7f80, 0x7fff},
                                              [TY_tf32] = {10, 127, 0x3fbff, 0x3fc00, 0x3ffff},
                                              [TY_e4m3x2] = {3, 7, 0x7e, (uint32_t)NO_INFINITY, 0x7f},
                                              [TY_e5m2x2] = {2, 15, 0x7b, 0x7c, 0x7f}};

/* Returns the exact value of a narrow number. */
static double widen(const narrow_format *f, uint32_t bits) {
    uint32_t magnitude = bits & f->nan, sign = bits & (f->nan + 1);
    int e = (int)(magnitude >> f->fraction), m = (int)(magnitude & ((1u << f->fraction) - 1));
    double v = e ? ldexp((1 << f->fraction) + m, e - f->bias - f->fraction) : ldexp(m, 1 - f->bias - f->fraction);
    if (magnitude == f->infinity) v = INFINITY;
    if (magnitude > f->largest && magnitude != f->infinity) v = NAN;
    return sign ? -v : v;
}

/* Returns whether a number with the fraction `rest` behind its last place is rounded away from zero. */
static bool rounds_up(enum ptx_round mode, bool odd, double rest, bool negative) {
    switch (mode) {
    case ROUND_NEAREST: return rest > 0.5 || (rest == 0.5 && odd);
    case ROUND_AWAY: return rest >= 0.5;
    case ROUND_DOWN: return rest > 0 && negative;
    case ROUND_UP: return rest > 0 && !negative;
    default: return false;
    }
}

/* Rounds v to a narrow float by i->round; .sat, .relu and .satfinite apply. */
static uint32_t narrow(const ptx_insn *i, const narrow_format *f, double v) {
    if (i->sat) v = v != v || v <= 0 ? 0 : v > 1 ? 1 : v;
    if (i->relu && v <= 0) v = 0;
    if (v != v && i->from == TY_f64 && f->infinity != (uint32_t)NO_INFINITY) { /* it keeps what fits, as on an H200 */
        uint64_t payload;
        memcpy(&payload, &v, 8);
        uint32_t kept = (uint32_t)(payload >> (52 - f->fraction)) & ((1u << f->fraction) - 1);
        return (payload >> 63 ? f->nan + 1 : 0) | f->infinity | kept | 1u << (f->fraction - 1);
    }
    if (v != v) return f->nan;
    uint32_t sign = signbit(v) ? f->nan + 1 : 0;
    double a = fabs(v);
    bool bounded = i->satfinite || f->infinity == (uint32_t)NO_INFINITY;
    if (isinf(a)) return sign | (bounded ? f->largest : f->infinity);
    if (a == 0) return sign;
    int e, least = 1 - f->bias;
    a = fmin(a, ldexp(1, f->bias + 2)); /* too large, however it is rounded */
    frexp(a, &e);                       /* a = m * 2^e, 0.5 <= m < 1 */
    if (--e < least) e = least;
    double units = ldexp(a, f->fraction - e), whole = floor(units);
    uint32_t n = (uint32_t)whole;
    n += rounds_up((enum ptx_round)i->round, n & 1, units - whole, sign != 0);
    /* The leading 1 of a normal number counts one exponent. */
    uint32_t bits = ((uint32_t)(e - least) << f->fraction) + n;
    if (bits <= f->largest) return sign | bits;
    bool inward = i->round == ROUND_ZERO || (i->round == ROUND_DOWN && !sign) || (i->round == ROUND_UP && sign);
    return sign | (bounded || inward ? f->largest : f->infinity);
}

/* Converts an integer to double; one with more bits is rounded to odd, so that a later rounding is right. */
static double from_integer(const ptx_insn *i, uint64_t v) {
    bool negative = is_signed(i->from) && (int64_t)v < 0;
    uint64_t a = negative ? 0 - v : v;
    double d = a >> 53 ? (double)(a >> 11 | ((a & 0x7ff) != 0)) * 2048 : (double)a;
    return negative ? -d : d;
}

static double float_source(const ptx_insn *i, uint64_t bits) {
    if (formats[i->from].nan) return widen(&formats[i->from], (uint16_t)bits);
    if (i->from == TY_f32) {
        float f = lane_float_of((uint32_t)bits);
        return i->ftz ? lane_flush_f32(f) : f;
    }
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

/* Sign- or zero-extends an integer of type t. */
static uint64_t extend(uint8_t t, uint64_t v) {
    switch (t) {
    case TY_s8: return (uint64_t)(int8_t)v;
    case TY_s16: return (uint64_t)(int16_t)v;
    case TY_s32: return (uint64_t)(int32_t)v;
    case TY_u8:
    case TY_b8: return (uint8_t)v;
    case TY_u16:
    case TY_b16: return (uint16_t)v;
    case TY_u32:
    case TY_b32: return (uint32_t)v;
    default: return v;
    }
}

static void limits(uint8_t t, double *lo, double *hi) {
    int bits = ptx_type_bytes[t] * 8;
    *hi = ldexp(1, is_signed(t) ? bits - 1 : bits);
    *lo = is_signed(t) ? -*hi : 0;
}

/* Converts float to integer: rounds, then clamps to the type's range. NaN becomes 0, or the top bit if the source is
 * f64 or the result has 64 bits. */
static uint64_t to_integer(const ptx_insn *i, double v) {
    double lo, hi;
    uint32_t bytes = ptx_type_bytes[i->type];
    limits(i->type, &lo, &hi);
    if (v != v) return i->from == TY_f64 || bytes == 8 ? 1ull << (8 * bytes - 1) : 0;
    switch ((enum ptx_integer_round)i->sub) {
    case RINT_rni: v = rint(v); break;
    case RINT_rmi: v = floor(v); break;
    case RINT_rpi: v = ceil(v); break;
    default: v = trunc(v);
    }
    if (v >= hi)
        return is_signed(i->type)
                   ? (1ull << (ptx_type_bytes[i->type] * 8 - 1)) - 1
                   : extend((uint8_t)TY_u64,
                            ptx_type_bytes[i->type] == 8 ? ~0ull : (1ull << ptx_type_bytes[i->type] * 8) - 1);
    if (v < lo) v = lo;
    return is_signed(i->type) ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static uint64_t saturate_integer(const ptx_insn *i, uint64_t v) {
    int bits = ptx_type_bytes[i->type] * 8;
    bool from_signed = is_signed(i->from);
    if (is_signed(i->type)) {
        int64_t hi = (int64_t)((1ull << (bits - 1)) - 1), lo = -hi - 1;
        if (!from_signed) return v > (uint64_t)hi ? (uint64_t)hi : v;
        return (int64_t)v > hi ? (uint64_t)hi : (int64_t)v < lo ? (uint64_t)lo : v;
    }
    uint64_t hi = bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (from_signed && (int64_t)v < 0) return 0;
    return v > hi ? hi : v;
}

static uint64_t float_result(const ptx_insn *i, double v, bool from_int, uint64_t integer) {
    if (i->sub && !from_int)
        v = i->sub == RINT_rni ? rint(v) : i->sub == RINT_rmi ? floor(v) : i->sub == RINT_rpi ? ceil(v) : trunc(v);
    if (i->type == TY_f64) {
        if (from_int) v = is_signed(i->from) ? (double)(int64_t)integer : (double)integer;
        if (i->sat) v = v != v || v <= 0 ? 0 : v > 1 ? 1 : v;
        uint64_t bits;
        memcpy(&bits, &v, 8);
        return bits;
    }
    if (formats[i->type].nan) {
        uint32_t bits = narrow(i, &formats[i->type], from_int ? from_integer(i, integer) : v);
        return i->type == TY_tf32 ? bits << 13 : bits;
    }
    volatile float f = from_int ? (is_signed(i->from) ? (float)(int64_t)integer : (float)integer) : (float)v;
    float r = f;
    if (i->ftz) r = lane_flush_f32(r);
    if (i->sat) r = r != r || r <= 0 ? 0 : r > 1 ? 1 : r;
    return lane_bits_of(lane_canonical(r));
}

void exec_op_cvt(warp *w, const ptx_insn *i) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    bool directed = i->round && !formats[i->type].nan; /* narrow() rounds by itself */
    if (directed) fesetround(modes[i->round]);
    EACH_ACTIVE {
        uint64_t bits = get(w, i->a, l, i->a_wide), r;
        if (is_float(i->from)) {
            double v = float_source(i, bits);
            r = is_float(i->type) ? float_result(i, v, false, 0) : extend(i->type, to_integer(i, v));
        } else {
            uint64_t v = extend(i->from, bits);
            r = is_float(i->type) ? float_result(i, 0, true, v) : extend(i->type, i->sat ? saturate_integer(i, v) : v);
        }
        put(w, i->d, l, i->d_wide, r);
    }
    if (directed) fesetround(FE_TONEAREST);
}

/* Converts two numbers: d has a's result in the upper half. From a pair, both come from a. */
void exec_op_cvt_pair(warp *w, const ptx_insn *i) {
    const narrow_format *to = &formats[i->type == TY_f16x2 ? TY_f16 : i->type == TY_bf16x2 ? TY_bf16 : i->type];
    const narrow_format *from = &formats[i->from == TY_f16x2 ? TY_f16 : i->from];
    uint32_t bits = ptx_type_bytes[i->type] * 4, source_bits = ptx_type_bytes[i->from] * 4;
    EACH_ACTIVE {
        uint32_t a = ROW(w, uint32_t, i->a)[l], b = ROW(w, uint32_t, i->b)[l];
        double high = lane_float_of(a), low = lane_float_of(b);
        if (i->from != TY_f32) {
            uint32_t ones = (1u << source_bits) - 1;
            high = widen(from, a >> source_bits & ones), low = widen(from, a & ones);
        }
        ROW(w, uint32_t, i->d)[l] = narrow(i, to, high) << bits | narrow(i, to, low);
    }
}

/* --- selection and predicates ------------------------------------------------------------------------------- */

void exec_op_selp(warp *w, const ptx_insn *i) {
    uint32_t p = predicate(w, i->c, i->negate_c);
    bool wide = ptx_type_bytes[i->type] == 8;
    if (wide) {
        EACH_ACTIVE ROW(w, uint64_t, i->d)[l] = ROW(w, uint64_t, p >> l & 1 ? i->a : i->b)[l];
        return;
    }
    EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = ROW(w, uint32_t, p >> l & 1 ? i->a : i->b)[l];
}

void exec_op_set_result(warp *w, const ptx_insn *i) {
    uint32_t p = predicate(w, NO_ROW, false), one = ~0u >> (32 - 8 * ptx_type_bytes[i->type]);
    if (i->type == TY_f32) one = 0x3f800000u;
    if (i->type == TY_f16) one = 0x3c00;
    if (i->type == TY_bf16) one = 0x3f80;
    EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = p >> l & 1 ? one : 0;
}

/* Compares by the number of a comparison in the decoder's list: eq ne lt le gt ge lo ls hi hs equ ... num nan. */
static bool compare_by(uint8_t comparison, float a, float b) {
    enum { EQ, NE, LT, LE, GT, GE, EQU = 10, NEU, LTU, LEU, GTU, GEU, NUM, UNORDERED };
    switch (comparison) {
    case EQ: return a == b;
    case NE: return a < b || a > b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    case GE: return a >= b;
    case EQU: return !(a < b || a > b);
    case NEU: return a != b;
    case LTU: return !(a >= b);
    case LEU: return !(a > b);
    case GTU: return !(a <= b);
    case GEU: return !(a < b);
    case NUM: return a == a && b == b;
    default: return a != a || b != b;
    }
}

/* setp and set of two halves; i->from is the result's type, .pred for setp: p of the lower halves, q of the upper. */
void exec_op_compare_pair(warp *w, const ptx_insn *i) {
    const uint32_t *a = ROW(w, uint32_t, i->a), *b = ROW(w, uint32_t, i->b);
    uint32_t low = 0, high = 0, c = predicate(w, i->c, i->negate_c);
    bool half = i->type == TY_f16x2;
    EACH_ACTIVE {
        float v[4];
        for (int k = 0; k < 2; k++) {
            uint32_t x = a[l] >> 16 * k & 0xffff, y = b[l] >> 16 * k & 0xffff;
            v[2 * k] = half ? half_operand(x, i) : bf16_value(x);
            v[2 * k + 1] = half ? half_operand(y, i) : bf16_value(y);
        }
        low |= compare_by(i->sub, v[0], v[1]) ? 1u << l : 0;
        high |= compare_by(i->sub, v[2], v[3]) ? 1u << l : 0;
    }
    if (i->boolean == BOOL_and) low &= c, high &= c;
    if (i->boolean == BOOL_or) low |= c, high |= c;
    if (i->boolean == BOOL_xor) low ^= c, high ^= c;
    if (i->from == TY_pred) {
        set_predicate(w, i->d, low);
        if (i->d2) set_predicate(w, i->d2, high);
        return;
    }
    uint32_t one = i->from == TY_f16x2 ? 0x3c00 : i->from == TY_bf16x2 ? 0x3f80 : 0xffff;
    EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = (low >> l & 1 ? one : 0) | (high >> l & 1 ? one << 16 : 0);
}

void exec_op_and_pred(warp *w, const ptx_insn *i) {
    set_predicate(w, i->d, predicate(w, i->a, false) & predicate(w, i->b, false));
}
void exec_op_or_pred(warp *w, const ptx_insn *i) {
    set_predicate(w, i->d, predicate(w, i->a, false) | predicate(w, i->b, false));
}
void exec_op_xor_pred(warp *w, const ptx_insn *i) {
    set_predicate(w, i->d, predicate(w, i->a, false) ^ predicate(w, i->b, false));
}
void exec_op_not_pred(warp *w, const ptx_insn *i) { set_predicate(w, i->d, predicate(w, i->a, true)); }
void exec_op_mov_pred(warp *w, const ptx_insn *i) { set_predicate(w, i->d, predicate(w, i->a, false)); }

void exec_op_testp(warp *w, const ptx_insn *i) {
    uint32_t bits = 0;
    EACH_ACTIVE {
        double v = i->type == TY_f64 ? ROW(w, double, i->a)[l] : (double)ROW(w, float, i->a)[l], a = fabs(v),
               tiny = i->type == TY_f64 ? 0x1p-1022 : 0x1p-126;
        bool yes = false;
        switch ((enum ptx_testp)i->sub) {
        case TESTP_finite: yes = isfinite(v); break;
        case TESTP_infinite: yes = isinf(v); break;
        case TESTP_number: yes = v == v; break;
        case TESTP_notanumber: yes = v != v; break;
        case TESTP_normal: yes = isfinite(v) && (a >= tiny || a == 0); break; /* zeros too */
        case TESTP_subnormal: yes = a > 0 && a < tiny; break;
        }
        bits |= yes ? 1u << l : 0;
    }
    set_predicate(w, i->d, bits);
}

/* --- bits --------------------------------------------------------------------------------------------------- */

void exec_op_lop3(warp *w, const ptx_insn *i) {
    const uint32_t *a = ROW(w, uint32_t, i->a), *b = ROW(w, uint32_t, i->b), *c = ROW(w, uint32_t, i->c);
    uint32_t *d = ROW(w, uint32_t, i->d);
    EACH_ACTIVE {
        uint32_t r = 0;
        for (uint32_t k = 0; k < 8; k++)
            if (i->imm >> k & 1) r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
        d[l] = r;
    }
}

/* Sets d to b with bits [pos, pos + len) replaced by the lowest bits of a. */
void exec_op_bfi(warp *w, const ptx_insn *i) {
    bool wide = ptx_type_bytes[i->type] == 8;
    uint32_t width = wide ? 64 : 32;
    EACH_ACTIVE {
        uint64_t a = get(w, i->a, l, wide), b = get(w, i->b, l, wide);
        uint32_t pos = ROW(w, uint32_t, i->c)[l] & 0xff, len = ROW(w, uint32_t, i->e)[l] & 0xff;
        uint64_t ones = len >= 64 ? ~0ull : (1ull << len) - 1, mask = pos < width ? ones << pos : 0;
        put(w, i->d, l, wide, pos < width ? (b & ~mask) | (a << pos & mask) : b);
    }
}

static uint32_t permute(const ptx_insn *i, uint32_t a, uint32_t b, uint32_t c) {
    static const uint8_t modes[7][4][4] = {[PRMT_f4e] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
                                           [PRMT_b4e] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
                                           [PRMT_rc8] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
                                           [PRMT_ecl] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
                                           [PRMT_ecr] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
                                           [PRMT_rc16] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t select = i->sub == PRMT_default ? c >> 4 * k & 15 : modes[i->sub][c & 3][k];
        uint32_t byte = both >> 8 * (select & 7) & 0xff;
        if (select & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * k;
    }
    return r;
}

void exec_op_prmt(warp *w, const ptx_insn *i) {
    EACH_ACTIVE ROW(w, uint32_t, i->d)[l] =
        permute(i, ROW(w, uint32_t, i->a)[l], ROW(w, uint32_t, i->b)[l], ROW(w, uint32_t, i->c)[l]);
}

void exec_op_mov_pack(warp *w, const ptx_insn *i) {
    uint32_t bits = ptx_type_bytes[i->from] * 8;
    bool wide = ptx_type_bytes[i->type] == 8;
    uint64_t ones = bits == 32 ? 0xffffffffull : (1ull << bits) - 1;
    EACH_ACTIVE {
        if (i->sub) {
            uint64_t v = get(w, i->a, l, wide);
            for (uint32_t k = 0; k < i->vector; k++) ROW(w, uint32_t, i->v[k])[l] = (uint32_t)(v >> k * bits & ones);
        } else {
            uint64_t v = 0;
            for (uint32_t k = 0; k < i->vector; k++) v |= (ROW(w, uint32_t, i->v[k])[l] & ones) << k * bits;
            put(w, i->d, l, wide, v);
        }
    }
}

/* --- the carry chain ---------------------------------------------------------------------------------------- */

/* Computes d = a + b + carry (or a - b - borrow) in the type's width, and sets the flag if carry_out. */
static void chain(warp *w, const ptx_insn *i, bool subtract, bool carry_in, bool carry_out, int multiply) {
    bool wide = ptx_type_bytes[i->type] == 8;
    uint32_t flag = predicate(w, i->e, false), out = 0;
    EACH_ACTIVE {
        unsigned __int128 a = get(w, i->a, l, wide), b = get(w, i->b, l, wide), r;
        uint32_t in = carry_in ? flag >> l & 1 : 0, width = wide ? 64 : 32;
        if (multiply) {
            bool s = i->type == TY_s32 || i->type == TY_s64;
            if (s && !wide) a = (unsigned __int128)(__int128)(int32_t)a, b = (unsigned __int128)(__int128)(int32_t)b;
            if (s && wide) a = (unsigned __int128)(__int128)(int64_t)a, b = (unsigned __int128)(__int128)(int64_t)b;
            unsigned __int128 product = a * b;
            a = multiply == 2 ? product >> width : product;
            a &= wide ? ~0ull : 0xffffffffull;
            b = get(w, i->c, l, wide);
        }
        r = subtract ? a - b - in : a + b + in;
        out |= (uint32_t)(r >> width & 1) << l;
        put(w, i->d, l, wide, (uint64_t)r);
    }
    if (carry_out) set_predicate(w, i->e, out);
}

void exec_op_add_cc(warp *w, const ptx_insn *i) { chain(w, i, false, false, true, 0); }
void exec_op_addc(warp *w, const ptx_insn *i) { chain(w, i, false, true, false, 0); }
void exec_op_addc_cc(warp *w, const ptx_insn *i) { chain(w, i, false, true, true, 0); }
void exec_op_sub_cc(warp *w, const ptx_insn *i) { chain(w, i, true, false, true, 0); }
void exec_op_subc(warp *w, const ptx_insn *i) { chain(w, i, true, true, false, 0); }
void exec_op_subc_cc(warp *w, const ptx_insn *i) { chain(w, i, true, true, true, 0); }
void exec_op_mad_lo_cc(warp *w, const ptx_insn *i) { chain(w, i, false, false, true, 1); }
void exec_op_mad_hi_cc(warp *w, const ptx_insn *i) { chain(w, i, false, false, true, 2); }
void exec_op_madc_lo(warp *w, const ptx_insn *i) { chain(w, i, false, true, false, 1); }
void exec_op_madc_hi(warp *w, const ptx_insn *i) { chain(w, i, false, true, false, 2); }
void exec_op_madc_lo_cc(warp *w, const ptx_insn *i) { chain(w, i, false, true, true, 1); }
void exec_op_madc_hi_cc(warp *w, const ptx_insn *i) { chain(w, i, false, true, true, 2); }

/* --- the rest ----------------------------------------------------------------------------------------------- */

/* A warp's clock is its number of executed instructions, which is deterministic and monotonic. */
void exec_op_mov_clock(warp *w, const ptx_insn *i) {
    uint64_t now = w->clock + (SLICE - w->fuel);
    w->block->read_clock = true;
    if (i->sub == SREG_clock_hi) now >>= 32;
    EACH_ACTIVE put(w, i->d, l, i->d_wide, now);
}

void exec_op_isspacep(warp *w, const ptx_insn *i) {
    static const uint64_t windows[] = {
        [SPACE_SHARED] = WINDOW_SHARED, [SPACE_LOCAL] = WINDOW_LOCAL, [SPACE_PARAM] = WINDOW_PARAM};
    uint32_t bits = 0;
    EACH_ACTIVE {
        uint64_t a = ROW(w, uint64_t, i->a)[l];
        bool global = i->space == SPACE_GLOBAL || i->space == SPACE_CONST;
        bool yes = global ? exec_mem_in_window((void *)a) || exec_outside(a, 1) : a - windows[i->space] < WINDOW_BYTES;
        bits |= yes ? 1u << l : 0;
    }
    set_predicate(w, i->d, bits);
}

void exec_op_nop(warp *w, const ptx_insn *i) { (void)w, (void)i; }
void exec_op_nanosleep(warp *w, const ptx_insn *i) { w->polls += i->polls; }
