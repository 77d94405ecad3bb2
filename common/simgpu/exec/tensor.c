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

/* A floating-point number as (-1)^sign * magnitude * 2^(exponent - fraction). */
typedef struct {
    int32_t exponent, magnitude, sign; /* sign: 0 or -1 */
    bool special;                      /* infinite or no number */
} number;

static number decode(enum ptx_element e, uint32_t bits) {
    static const uint8_t fraction_of[NELEMENTS] = {[EL_f16] = 10, [EL_bf16] = 7, [EL_tf32] = 10, [EL_f32] = 23};
    uint32_t fraction = fraction_of[e], exponent_bits = e == EL_f16 ? 5 : 8;
    if (e == EL_tf32) bits >>= 13; /* the tensor cores do not read the others */
    uint32_t top = (1u << exponent_bits) - 1, field = bits >> fraction & top, m = bits & ((1u << fraction) - 1);
    int32_t bias = (int32_t)(top >> 1);
    number n = {.sign = bits >> (fraction + exponent_bits) & 1 ? -1 : 0, .special = field == top};
    n.magnitude = (int32_t)(field ? m | 1u << fraction : m);
    n.exponent = n.magnitude ? (int32_t)(field ? field : 1) - bias : NO_EXPONENT;
    return n;
}

/* The matrices of one instruction: A by rows, B and C by rows too. */
typedef struct {
    const ptx_tensor *t;
    uint32_t up, up_c; /* shifts of an exact product and of C to SUM_BITS of fraction */
    int32_t exponent_a[MAX_ELEMENTS], magnitude_a[MAX_ELEMENTS], sign_a[MAX_ELEMENTS];
    int32_t exponent_b[MAX_ELEMENTS], magnitude_b[MAX_ELEMENTS], sign_b[MAX_ELEMENTS];
    int32_t exponent_c[1024], magnitude_c[1024], sign_c[1024];
    uint64_t a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[1024]; /* as bits */
    double sum[1024];
    bool special, special_a[MAX_M], special_b[MAX_M], special_c[1024];
} matrices;

/* Returns the worker's own, made at its first use; too large for thread-local storage of a library that dlopen loads.
 */
static matrices *work_of(worker *t) {
    if (!t->tensor) t->tensor = exec_must(calloc(1, sizeof(matrices)));
    return t->tensor;
}

/* Computes the sums of row m and STRIP columns from n. Both halves of a sum stay inside 32 bits: 16 magnitudes below
 * 2^27, and C's below 2^26. */
VECTOR static void exec_sum_strip(matrices *x, uint32_t m, uint32_t n) {
    const ptx_tensor *t = x->t;
    const uint32_t columns = t->n, depth = t->k, at = m * columns + n;
    int32_t top[STRIP], low[STRIP] = {0}, high[STRIP] = {0};
    for (int j = 0; j < STRIP; j++) top[j] = x->exponent_c[at + (uint32_t)j];
    for (uint32_t k = 0; k < depth; k++) {
        const int32_t *eb = &x->exponent_b[k * columns + n], ea = x->exponent_a[m * depth + k];
        for (int j = 0; j < STRIP; j++) top[j] = top[j] > ea + eb[j] ? top[j] : ea + eb[j];
    }
    for (uint32_t k = 0; k < depth; k++) {
        const int32_t *eb = &x->exponent_b[k * columns + n], *mb = &x->magnitude_b[k * columns + n];
        const int32_t *sb = &x->sign_b[k * columns + n], i = (int32_t)(m * depth + k);
        const int32_t ea = x->exponent_a[i], ma = x->magnitude_a[i], sa = x->sign_a[i];
        int32_t *to = k < 8 ? low : high;
        for (int j = 0; j < STRIP; j++) {
            int32_t shift = top[j] - ea - eb[j], s = sa ^ sb[j];
            int32_t v = (ma * mb[j]) << x->up >> (shift > 31 ? 31 : shift);
            to[j] += (v ^ s) - s;
        }
    }
    for (int j = 0; j < STRIP; j++) {
        uint32_t i = at + (uint32_t)j;
        int32_t shift = top[j] - x->exponent_c[i], s = x->sign_c[i];
        int32_t v = x->magnitude_c[i] << x->up_c >> (shift > 31 ? 31 : shift), e = top[j] < -900 ? -900 : top[j];
        double total = (double)low[j] + (double)high[j] + (double)((v ^ s) - s), unit;
        uint64_t bits = (uint64_t)(e - SUM_BITS + 1023) << 52;
        memcpy(&unit, &bits, 8);
        x->sum[i] = total * unit;
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

/* Returns the sign of a sum that is 0: negative if all its terms are. With k = 4 the others of 8 products are +0. */
static bool negative_zero(const matrices *x, uint32_t m, uint32_t n) {
    const ptx_tensor *t = x->t;
    bool negative = x->sign_c[m * t->n + n] && t->k != 4;
    for (uint32_t k = 0; k < t->k; k++) negative &= (x->sign_a[m * t->k + k] ^ x->sign_b[k * t->n + n]) != 0;
    return negative;
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
        bool infinite = k == t->k ? x->special_c[m * t->n + n] : true;
        if (k < t->k) {
            number a = decode(t->element[MATRIX_a], (uint32_t)x->a[m * t->k + k]),
                   b = decode(t->element[MATRIX_b], (uint32_t)x->b[k * t->n + n]);
            infinite = a.special || b.special; /* a finite product may overflow here, but not there */
        }
        nan |= infinite && v != v;
        above |= infinite && v > 0;
        below |= infinite && v < 0;
    }
    if (nan || (above && below)) return half ? HALF_NAN : 0x7fffffffu;
    if (above || below) return half ? (below ? 0xfc00 : 0x7c00) : below ? 0xff800000u : 0x7f800000u;
    return half ? round_to_f16(x->sum[m * t->n + n]) : cut_to_f32(x->sum[m * t->n + n]);
}

static void decode_all(matrices *all, const ptx_tensor *t, enum ptx_matrix x, const uint64_t *bits, uint32_t n,
                       int32_t *exponent, int32_t *magnitude, int32_t *sign, bool *special, uint32_t row, bool by_row) {
    for (uint32_t i = 0; i < n; i++) {
        number v = decode(t->element[x], (uint32_t)bits[i]);
        exponent[i] = v.exponent, magnitude[i] = v.magnitude, sign[i] = v.sign;
        all->special |= v.special;
        uint32_t at = row ? (by_row ? i / row : i % row) : i;
        if (v.special) special[at] = true;
    }
}

static void multiply_floats(matrices *x) {
    const ptx_tensor *t = x->t;
    uint32_t fraction = t->element[MATRIX_a] == EL_bf16 ? 7 : 10;
    x->up = SUM_BITS - 2 * fraction;
    x->up_c = SUM_BITS - (t->element[MATRIX_c] == EL_f16 ? 10 : 23);
    x->special = false;
    memset(x->special_a, 0, sizeof x->special_a);
    memset(x->special_b, 0, sizeof x->special_b);
    memset(x->special_c, 0, sizeof x->special_c);
    decode_all(x, t, MATRIX_a, x->a, t->m * t->k, x->exponent_a, x->magnitude_a, x->sign_a, x->special_a, t->k, true);
    decode_all(x, t, MATRIX_b, x->b, t->k * t->n, x->exponent_b, x->magnitude_b, x->sign_b, x->special_b, t->n, false);
    decode_all(x, t, MATRIX_c, x->c, t->m * t->n, x->exponent_c, x->magnitude_c, x->sign_c, x->special_c, 0, false);
    bool half = t->element[MATRIX_d] == EL_f16;
    for (uint32_t m = 0; m < t->m; m++) {
        for (uint32_t n = 0; n < t->n; n += STRIP) exec_sum_strip(x, m, n);
        for (uint32_t n = 0; n < t->n; n++) {
            uint32_t i = m * t->n + n;
            if (x->special && (x->special_a[m] || x->special_b[n] || x->special_c[i]))
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

static void gather(const warp *w, const ptx_tensor *t, enum ptx_matrix x, uint32_t columns, uint64_t *to) {
    uint32_t bits = ptx_element_bits[t->element[x]], n = ptx_matrix_elements(t, x), each = bits == 64 ? 1 : 32 / bits;
    uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = t->row[x][i / each], shift = i % each * bits;
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t r, c;
            ptx_matrix_place(t, x, l, i, &r, &c);
            uint64_t v = bits == 64 ? ROW(w, uint64_t, row)[l] : ROW(w, uint32_t, row)[l];
            to[r * columns + c] = v >> shift & ones;
        }
    }
}

static void scatter(warp *w, const ptx_tensor *t, const uint64_t *from) {
    uint32_t bits = ptx_element_bits[t->element[MATRIX_d]], each = bits == 16 ? 2 : 1;
    for (uint32_t p = 0; p < t->pieces[MATRIX_d]; p++)
        for (uint32_t l = 0; l < 32; l++) {
            uint64_t v = 0;
            for (uint32_t j = 0; j < each; j++) {
                uint32_t r, c;
                ptx_matrix_place(t, MATRIX_d, l, p * each + j, &r, &c);
                v |= from[r * t->n + c] << bits % 64 * j;
            }
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
    gather(w, t, MATRIX_a, t->k, x->a);
    gather(w, t, MATRIX_b, t->n, x->b);
    gather(w, t, MATRIX_c, t->n, x->c);
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
