/* tensor.c — the tensor cores: D = A * B + C on the registers of a warp (mma.sync, wmma.mma), and the exchanges of
 * fragments between lanes (ldmatrix is in access.c).
 *
 * Sums of halves, bfloat16 and tf32 are bit-equal to an H200's, of which ten thousand adversarial sums show this rule:
 * the products are exact; of them and C, those that are not 0 are aligned at the largest exponent (of a product, the
 * sum of its factors' exponents, so that 1.5 * 1.5 has exponent 0; of a subnormal number, that of the smallest normal
 * one); each is cut off SUM_BITS bits below it, towards zero; their sum is exact, over all of k; and it is cut off to
 * fp32, or rounded to the nearest half. (The model is that of "Fasi, Higham, Mikaitis, Pranesh, Numerical behavior of
 * NVIDIA tensor cores", 2021, with Hopper's widths.) Integers are exact. Doubles are fused multiply-adds by increasing
 * k.
 */
#include "half_math.h"
#include "warp.h"

#include <stdlib.h>
#include <string.h>

enum { SUM_BITS = 25, MAX_M = 32, MAX_K = 256, MAX_ELEMENTS = 4096, STRIP = 8 };
enum { NO_EXPONENT = -10000 }; /* of a zero */

/* How the tensor cores read an element: `drop` lower bits are not read. */
typedef struct {
    uint32_t fraction, exponent_bits, drop;
} format;
static format format_of(enum ptx_element e) {
    if (e == EL_f16) return (format){10, 5, 0};
    if (e == EL_bf16) return (format){7, 8, 0};
    return e == EL_tf32 ? (format){10, 8, 13} : (format){23, 8, 0};
}

/* The floating-point matrices of one instruction, each by rows. A number is magnitude * 2^(exponent - fraction), the
 * magnitude with its sign. */
typedef struct {
    const ptx_tensor *t;
    uint32_t up, up_c; /* shifts of an exact product and of C to SUM_BITS of fraction */
    int32_t exponent_a[MAX_ELEMENTS], magnitude_a[MAX_ELEMENTS];
    int32_t exponent_b[MAX_ELEMENTS], magnitude_b[MAX_ELEMENTS];
    int32_t exponent_c[1024], magnitude_c[1024];
    uint64_t a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[1024]; /* as bits */
    double sum[1024];
    uint32_t special; /* not 0: an operand is infinite or no number */
} matrices;

/* Returns the worker's own, made at its first use; too large for thread-local storage of a library that dlopen loads.
 */
static matrices *work_of(worker *t) {
    if (!t->tensor) t->tensor = exec_must(calloc(1, sizeof(matrices)));
    return t->tensor;
}

/* Decodes n numbers. Returns whether one of them is infinite or no number (not 0). */
VECTOR static uint32_t exec_decode_numbers(const uint64_t *bits, uint32_t n, format f, int32_t *exponent,
                                           int32_t *magnitude) {
    const uint32_t top = (1u << f.exponent_bits) - 1, ones = (1u << f.fraction) - 1,
                   width = f.fraction + f.exponent_bits;
    const int32_t bias = (int32_t)(top >> 1);
    uint32_t special = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)bits[i] >> f.drop, field = v >> f.fraction & top, m = v & ones;
        int32_t size = (int32_t)(field ? m | (ones + 1) : m), sign = -(int32_t)(v >> width & 1);
        exponent[i] = size ? (int32_t)(field ? field : 1) - bias : NO_EXPONENT;
        magnitude[i] = (size ^ sign) - sign;
        special |= field == top;
    }
    return special;
}

/* STRIP columns. Written as vectors, since the compiler makes none of these loops by itself; passed by address, since
 * hosts without AVX2 have no such registers. */
typedef int32_t strip __attribute__((vector_size(4 * STRIP)));
typedef uint32_t bare_strip __attribute__((vector_size(4 * STRIP)));
typedef int32_t strip_in_memory __attribute__((vector_size(4 * STRIP), aligned(4)));
#define STRIP_AT(p) (*(const strip_in_memory *)(const void *)(p))

/* Adds to *sum numbers that are cut off below 2^(top - SUM_BITS), towards zero. */
static inline __attribute__((always_inline)) void add_aligned(strip *sum, const strip *top, const strip *exponent,
                                                              const strip *magnitude, uint32_t up) {
    strip shift = *top - *exponent, s = (strip)(*magnitude < 0), far = (strip)(shift > 31);
    shift = (shift & ~far) | (31 & far); /* no magnitude has more bits */
    bare_strip v = (bare_strip)((*magnitude ^ s) - s) << up >> (bare_strip)shift;
    *sum += ((strip)v ^ s) - s;
}

/* Computes the sums of row m and STRIP columns from n. Both halves of a sum stay inside 32 bits: 8 magnitudes below
 * 2^27, and C's below 2^26. */
VECTOR static void exec_sum_strip(matrices *x, uint32_t m, uint32_t n) {
    const uint32_t columns = x->t->n, depth = x->t->k, at = m * columns + n;
    const int32_t *exponent = &x->exponent_a[m * depth], *magnitude = &x->magnitude_a[m * depth];
    strip c_exponent = STRIP_AT(&x->exponent_c[at]), c = STRIP_AT(&x->magnitude_c[at]);
    strip top = c_exponent, low = {0}, high = {0};
    for (uint32_t k = 0; k < depth; k++) {
        strip e = exponent[k] + STRIP_AT(&x->exponent_b[k * columns + n]), larger = (strip)(e > top);
        top = (e & larger) | (top & ~larger);
    }
    for (uint32_t k = 0; k < depth; k++) {
        strip e = exponent[k] + STRIP_AT(&x->exponent_b[k * columns + n]);
        strip product = magnitude[k] * STRIP_AT(&x->magnitude_b[k * columns + n]);
        add_aligned(k < 8 ? &low : &high, &top, &e, &product, x->up);
    }
    add_aligned(&low, &top, &c_exponent, &c, x->up_c);
    for (int j = 0; j < STRIP; j++) {
        double total = (double)low[j] + (double)high[j], unit;
        int32_t e = top[j] < -900 ? -900 : top[j];
        uint64_t bits = (uint64_t)(e - SUM_BITS + 1023) << 52;
        memcpy(&unit, &bits, 8);
        x->sum[at + (uint32_t)j] = total * unit;
    }
}

/* Cuts a double off to fp32, towards zero. */
static uint32_t cut_to_f32(double v) {
    uint64_t bits;
    double a = v < 0 ? -v : v;
    uint32_t sign = v < 0 ? 0x80000000u : 0;
    if (a >= 0x1p128) return sign | 0x7f800000u;
    if (a < 0x1p-126) return sign | (uint32_t)(a * 0x1p149);
    memcpy(&bits, &a, 8);
    bits &= ~((1ull << 29) - 1);
    memcpy(&a, &bits, 8);
    return sign | lane_bits_of((float)a);
}
/* Rounds a double to the nearest half; odd fp32 between keeps it right. */
static uint32_t round_to_f16(double v) {
    float f = (float)v;
    return half_of(lane_float_of(lane_odd32(lane_bits_of(f), v - (double)f)));
}

static bool is_negative(enum ptx_element e, uint64_t bits) {
    return bits >> (e == EL_f16 || e == EL_bf16 ? 15 : 31) & 1;
}

/* Returns the sign of a sum that is 0: negative if all its terms are. With k = 4 the others of 8 products are +0. */
static bool negative_zero(const matrices *x, uint32_t m, uint32_t n) {
    const ptx_tensor *t = x->t;
    bool negative = is_negative(t->element[MATRIX_c], x->c[m * t->n + n]) && t->k != 4;
    for (uint32_t k = 0; k < t->k; k++)
        negative &= is_negative(t->element[MATRIX_a], x->a[m * t->k + k]) !=
                    is_negative(t->element[MATRIX_b], x->b[k * t->n + n]);
    return negative;
}

static bool is_special(enum ptx_element e, uint64_t bits) {
    format f = format_of(e);
    uint32_t top = (1u << f.exponent_bits) - 1;
    return ((uint32_t)bits >> f.drop >> f.fraction & top) == top;
}

static float value_of(enum ptx_element e, uint64_t bits) {
    if (e == EL_f16) return half_value((uint32_t)bits & 0xffff);
    if (e == EL_bf16) return bf16_value((uint32_t)bits & 0xffff);
    return lane_float_of((uint32_t)bits);
}

/* Returns a sum with an infinity or NaN among its operands. */
static uint32_t special_sum(const matrices *x, uint32_t m, uint32_t n) {
    const ptx_tensor *t = x->t;
    bool half = t->element[MATRIX_d] == EL_f16, nan = false, above = false, below = false;
    for (uint32_t k = 0; k <= t->k; k++) {
        float v = k == t->k ? value_of(t->element[MATRIX_c], x->c[m * t->n + n])
                            : value_of(t->element[MATRIX_a], x->a[m * t->k + k]) *
                                  value_of(t->element[MATRIX_b], x->b[k * t->n + n]);
        /* A finite product may overflow here, but not there. */
        bool infinite = k == t->k ? is_special(t->element[MATRIX_c], x->c[m * t->n + n])
                                  : is_special(t->element[MATRIX_a], x->a[m * t->k + k]) ||
                                        is_special(t->element[MATRIX_b], x->b[k * t->n + n]);
        nan |= infinite && v != v;
        above |= infinite && v > 0;
        below |= infinite && v < 0;
    }
    if (nan || (above && below)) return half ? HALF_NAN : 0x7fffffffu;
    if (above || below) return half ? (below ? 0xfc00 : 0x7c00) : below ? 0xff800000u : 0x7f800000u;
    if (x->sum[m * t->n + n] == 0) return !negative_zero(x, m, n) ? 0 : half ? 0x8000 : 0x80000000u;
    return half ? round_to_f16(x->sum[m * t->n + n]) : cut_to_f32(x->sum[m * t->n + n]);
}

static void multiply_floats(matrices *x) {
    const ptx_tensor *t = x->t;
    format f = format_of(t->element[MATRIX_a]), f_c = format_of(t->element[MATRIX_c]);
    bool half = t->element[MATRIX_d] == EL_f16;
    x->up = SUM_BITS - 2 * f.fraction;
    x->up_c = SUM_BITS - f_c.fraction;
    x->special = exec_decode_numbers(x->a, t->m * t->k, f, x->exponent_a, x->magnitude_a);
    x->special |= exec_decode_numbers(x->b, t->k * t->n, f, x->exponent_b, x->magnitude_b);
    x->special |= exec_decode_numbers(x->c, t->m * t->n, f_c, x->exponent_c, x->magnitude_c);
    for (uint32_t m = 0; m < t->m; m++) {
        for (uint32_t n = 0; n < t->n; n += STRIP) exec_sum_strip(x, m, n);
        for (uint32_t n = 0; n < t->n; n++) {
            uint32_t i = m * t->n + n;
            if (x->special)
                x->c[i] = special_sum(x, m, n);
            else if (x->sum[i] == 0)
                x->c[i] = !negative_zero(x, m, n) ? 0 : half ? 0x8000 : 0x80000000u;
            else
                x->c[i] = half ? round_to_f16(x->sum[i]) : cut_to_f32(x->sum[i]);
        }
    }
}

static void multiply_doubles(matrices *x) {
    const ptx_tensor *t = x->t;
    for (uint32_t m = 0; m < t->m; m++)
        for (uint32_t n = 0; n < t->n; n++) {
            double sum, a, b;
            memcpy(&sum, &x->c[m * t->n + n], 8);
            for (uint32_t k = 0; k < t->k; k++) {
                memcpy(&a, &x->a[m * t->k + k], 8), memcpy(&b, &x->b[k * t->n + n], 8);
                sum = __builtin_fma(a, b, sum);
            }
            memcpy(&x->c[m * t->n + n], &sum, 8);
        }
}

static int32_t integer_of(enum ptx_element e, uint64_t bits) {
    switch (e) {
    case EL_s8: return (int8_t)bits;
    case EL_s4: return (int32_t)((uint32_t)bits << 28) >> 28;
    default: return (int32_t)bits;
    }
}

static void multiply_integers(matrices *x) {
    const ptx_tensor *t = x->t;
    bool bit = t->element[MATRIX_a] == EL_b1;
    for (uint32_t m = 0; m < t->m; m++)
        for (uint32_t n = 0; n < t->n; n++) {
            int64_t sum = (int32_t)(uint32_t)x->c[m * t->n + n];
            for (uint32_t k = 0; k < t->k; k++) {
                uint64_t a = x->a[m * t->k + k], b = x->b[k * t->n + n];
                if (bit)
                    sum += (int64_t)(t->exclusive ? a ^ b : a & b);
                else
                    sum += integer_of(t->element[MATRIX_a], a) * integer_of(t->element[MATRIX_b], b);
            }
            x->c[m * t->n + n] = t->saturate ? (uint32_t)lane_saturate(sum) : (uint32_t)sum;
        }
}

/* --- between registers and matrices ------------------------------------------------------------------------- */

static void gather(const warp *w, const ptx_tensor *t, enum ptx_matrix x, uint64_t *to) {
    uint32_t bits = ptx_element_bits[t->element[x]], n = ptx_matrix_elements(t, x), each = bits == 64 ? 1 : 32 / bits;
    uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
    const uint16_t *place = t->place[x];
    for (uint32_t i = 0; i < n; i++, place += 32) {
        uint32_t row = t->row[x][i / each], shift = i % each * bits;
        if (bits == 64)
            for (uint32_t l = 0; l < 32; l++) to[place[l]] = ROW(w, uint64_t, row)[l];
        else
            for (uint32_t l = 0; l < 32; l++) to[place[l]] = ROW(w, uint32_t, row)[l] >> shift & ones;
    }
}

static void scatter(warp *w, const ptx_tensor *t, const uint64_t *from) {
    uint32_t bits = ptx_element_bits[t->element[MATRIX_d]], each = bits == 16 ? 2 : 1;
    const uint16_t *place = t->place[MATRIX_c];
    for (uint32_t p = 0; p < t->pieces[MATRIX_d]; p++, place += 32 * each)
        for (uint32_t l = 0; l < 32; l++) {
            uint64_t v = from[place[l]];
            if (bits == 16) v |= from[place[32 + l]] << 16;
            if (bits == 64)
                ROW(w, uint64_t, t->row[MATRIX_d][p])[l] = v;
            else
                ROW(w, uint32_t, t->row[MATRIX_d][p])[l] = (uint32_t)v;
        }
}

/* The warp's lanes do these instructions together. */
static bool all_here(warp *w, const ptx_insn *i) { return exec_warp_sync(w, i, FULL); }

/* What the tensor cores do for an instruction. The unit is the product of 16 x 8 with 256 bits of k: on an H200 it
 * takes three passes, one with 128 bits two, and 8 x 8 x 4 doubles seven. 4-bit integers, which Hopper has not, take
 * 165. */
static void count_passes(warp *w, const ptx_insn *i, const ptx_tensor *t) {
    exec_counters *c = counters_of(w, i);
    uint32_t bits = ptx_element_bits[t->element[MATRIX_a]], depth = t->k * bits, tiles = t->m * t->n / 128;
    uint32_t passes = depth > 128 ? 3 * (depth / 256) : 2;
    if (bits == 64) tiles = t->m * t->n / 64, passes = 7 * (t->k / 4);
    if (bits == 4) passes = 165 * depth / 256;
    if (!tiles) tiles = 1;
    c->tensor += tiles;
    c->tensor_passes += (uint64_t)tiles * passes;
}

void exec_op_mma(warp *w, const ptx_insn *i) {
    const ptx_tensor *t = i->tensor;
    matrices *x = work_of(w->block->worker);
    if (!all_here(w, i)) return;
    count_passes(w, i, t);
    x->t = t;
    gather(w, t, MATRIX_a, x->a);
    gather(w, t, MATRIX_b, x->b);
    gather(w, t, MATRIX_c, x->c);
    switch (t->element[MATRIX_a]) {
    case EL_f16:
    case EL_bf16:
    case EL_tf32: multiply_floats(x); break;
    case EL_f64: multiply_doubles(x); break;
    default: multiply_integers(x);
    }
    scatter(w, t, x->c);
}

/* Computes the address of one element of a fragment for each lane: a base, a stride in elements, the element. */
void exec_op_fragment_address(warp *w, const ptx_insn *i) {
    const ptx_tensor *t = i->tensor;
    if (!all_here(w, i)) return;
    uint32_t bits = ptx_element_bits[t->element[t->matrix]], element = *ROW(w, uint32_t, i->c);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), row, column;
        ptx_matrix_place(t, t->matrix, l, element, &row, &column);
        uint64_t base = i->a_wide ? ROW(w, uint64_t, i->a)[l] : ROW(w, uint32_t, i->a)[l];
        uint64_t stride = ROW(w, uint32_t, i->b)[l];
        uint64_t at = t->column_major ? column * stride + row : row * stride + column;
        ROW(w, uint64_t, i->d)[l] = base + (uint64_t)i->imm + at * bits / 8;
    }
}

void exec_transpose_halves(const uint32_t *from, uint32_t *to) {
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t v = 0;
        for (uint32_t j = 0; j < 2; j++) {
            uint32_t row = (l & 3) * 2 + j, column = l >> 2;
            v |= (from[row * 4 + column / 2] >> 16 * (column & 1) & 0xffff) << 16 * j;
        }
        to[l] = v;
    }
}

void exec_op_movmatrix(warp *w, const ptx_insn *i) {
    uint32_t to[32];
    if (!all_here(w, i)) return;
    exec_transpose_halves(ROW(w, uint32_t, i->a), to);
    memcpy(ROW(w, uint32_t, i->d), to, sizeof to);
}
