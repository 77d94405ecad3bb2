/* builtin.c — functions without a body that device code may call: printf, assert, and math under the names of NVIDIA's
 * libdevice (__nv_sinf). clang leaves these calls in the PTX, so the library itself is not needed. Single precision is
 * computed in double and rounded once, so that its bits do not depend on the host's libm; double precision uses libm.
 */
#include "builtin.h"
#include "lane_math.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double reciprocal_root(double a) { return 1 / sqrt(a); }
static double divide(double a, double b) { return a / b; }
static double exp10_(double a) { return pow(10, a); }
static double smaller(double a, double b) { return lane_min_f64(a, b); }
static double greater(double a, double b) { return lane_max_f64(a, b); }
/* Exact for whole and half numbers, as the reductions are exact. */
static double sinpi_(double a) {
    double r = remainder(a, 2); // -1 to 1
    return sin(M_PI * (fabs(r) > 0.5 ? copysign(1 - fabs(r), r) : r));
}
static double cospi_(double a) { return sin(M_PI * (0.5 - fabs(remainder(a, 2)))); }
static double nextafterf_(double a, double b) { return nextafterf((float)a, (float)b); }
static double rcbrt_(double a) { return 1 / cbrt(a); }
static double rhypot_(double a, double b) { return 1 / hypot(a, b); }
static double jn_(double a, double n) { return jn((int)n, a); }
static double yn_(double a, double n) { return yn((int)n, a); }

/* Halley's method on erfc(x) = p, from Winitzki's approximation (2008), or from erfc's leading term where p is tiny. */
static double erfcinv_(double p) {
    if (!(p > 0 && p < 2)) return p == 0 ? INFINITY : p == 2 ? -INFINITY : NAN;
    if (p > 1) return -erfcinv_(2 - p);
    double l = log(p * (2 - p)), b = 2 / (M_PI * 0.147) + l / 2, x = sqrt(sqrt(b * b - l / 0.147) - b);
    if (p < 1e-10) x = sqrt(-log(p * sqrt(M_PI) * sqrt(-log(p))));
    for (int k = 0; k < 4; k++) {
        double f = erfc(x) - p;
        x -= f / (-M_2_SQRTPI * exp(-x * x) + x * f);
    }
    return x;
}
static double erfinv_(double y) {
    if (fabs(y) >= 0.5) return copysign(erfcinv_(1 - fabs(y)), y); // 1 - |y| is exact
    double x = y * sqrt(M_PI) / 2;
    for (int k = 0; k < 4; k++) {
        double f = erf(x) - y;
        x -= f / (M_2_SQRTPI * exp(-x * x) + x * f);
    }
    return x;
}
static double normcdf_(double a) { return erfc(-a * M_SQRT1_2) / 2; }
static double normcdfinv_(double p) { return -M_SQRT2 * erfcinv_(2 * p); }

/* exp(a * a) * erfc(a): the square in two parts, as its own rounding would be multiplied by it; beyond 25 the series of
 * Abramowitz and Stegun, 7.1.23. */
static double erfcx_(double a) {
    if (a < 25) {
        double high = (float)a;
        return exp(high * high) * exp((a - high) * (a + high)) * erfc(a);
    }
    double s = 1 / (2 * a * a);
    return (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)))) / (a * sqrt(M_PI));
}

/* The power series of the modified Bessel functions (Abramowitz and Stegun, 9.6.10): all terms are positive. */
static double bessel_i(double a, int order) {
    double term = order ? a / 2 : 1, sum = term;
    for (int k = 1; k < 2000 && fabs(term) > fabs(sum) * 1e-18; k++)
        sum += term *= a * a / 4 / (k * (double)(k + order));
    return sum;
}
static double bessel_i0(double a) { return bessel_i(a, 0); }
static double bessel_i1(double a) { return bessel_i(a, 1); }
static int64_t popcount32(int64_t a) { return __builtin_popcount((uint32_t)a); }
static int64_t popcount64(int64_t a) { return __builtin_popcountll((uint64_t)a); }
static int64_t leading32(int64_t a) { return (uint32_t)a ? __builtin_clz((uint32_t)a) : 32; }
static int64_t leading64(int64_t a) { return a ? __builtin_clzll((uint64_t)a) : 64; }
static int64_t find_first32(int64_t a) { return __builtin_ffs((int)a); }
static int64_t absolute32(int64_t a) { return (int32_t)a < 0 ? (int64_t)(0u - (uint32_t)a) : a; }

#define ONE(end, f)                                                                                                    \
    {.name = "__nv_" end "f", .shape = F_F, .f1 = f}, { .name = "__nv_" end, .shape = D_D, .f1 = f }
#define TWO(end, f)                                                                                                    \
    {.name = "__nv_" end "f", .shape = F_FF, .f2 = f}, { .name = "__nv_" end, .shape = D_DD, .f2 = f }
static const exec_builtin builtins[] = {
    {.name = "vprintf", .shape = PRINTF},
    {.name = "__simgpu_xorwow", .shape = XORWOW},
    {.name = "__assertfail", .shape = ASSERT},
    {.name = "malloc", .shape = MALLOC},
    {.name = "free", .shape = FREE},
    ONE("sin", sin),
    ONE("cos", cos),
    ONE("tan", tan),
    ONE("asin", asin),
    ONE("acos", acos),
    ONE("atan", atan),
    ONE("sinh", sinh),
    ONE("cosh", cosh),
    ONE("tanh", tanh),
    ONE("asinh", asinh),
    ONE("acosh", acosh),
    ONE("atanh", atanh),
    ONE("exp", exp),
    ONE("exp2", exp2),
    ONE("exp10", exp10_),
    ONE("expm1", expm1),
    ONE("log", log),
    ONE("log2", log2),
    ONE("log10", log10),
    ONE("log1p", log1p),
    ONE("sqrt", sqrt),
    ONE("rsqrt", reciprocal_root),
    ONE("cbrt", cbrt),
    ONE("erf", erf),
    ONE("erfc", erfc),
    ONE("lgamma", lgamma),
    ONE("tgamma", tgamma),
    ONE("floor", floor),
    ONE("ceil", ceil),
    ONE("trunc", trunc),
    ONE("round", round),
    ONE("rint", rint),
    ONE("nearbyint", rint),
    ONE("fabs", fabs),
    ONE("sinpi", sinpi_),
    ONE("cospi", cospi_),
    ONE("rcbrt", rcbrt_),
    ONE("erfinv", erfinv_),
    ONE("erfcinv", erfcinv_),
    ONE("erfcx", erfcx_),
    ONE("normcdf", normcdf_),
    ONE("normcdfinv", normcdfinv_),
    ONE("j0", j0),
    ONE("j1", j1),
    ONE("y0", y0),
    ONE("y1", y1),
    ONE("cyl_bessel_i0", bessel_i0),
    ONE("cyl_bessel_i1", bessel_i1),
    ONE("logb", logb),
    TWO("pow", pow),
    TWO("atan2", atan2),
    TWO("fmod", fmod),
    TWO("remainder", remainder),
    TWO("hypot", hypot),
    TWO("rhypot", rhypot_),
    TWO("fmin", smaller),
    TWO("fmax", greater),
    TWO("fdim", fdim),
    TWO("copysign", copysign),
    {.name = "__nv_nextafterf", .shape = F_FF, .f2 = nextafterf_},
    {.name = "__nv_nextafter", .shape = D_DD, .f2 = nextafter},
    {.name = "__nv_fmaf", .shape = F_FFF},
    {.name = "__nv_fma", .shape = D_DDD},
    {.name = "__nv_jn", .shape = D_DI, .f2 = jn_},
    {.name = "__nv_yn", .shape = D_DI, .f2 = yn_},
    {.name = "__nv_ldexpf", .shape = F_FI},
    {.name = "__nv_ldexp", .shape = D_DI},
    {.name = "__nv_powif", .shape = F_FI, .f2 = pow},
    {.name = "__nv_powi", .shape = D_DI, .f2 = pow},
    {.name = "__nv_fast_sinf", .shape = F_F, .f1 = sin},
    {.name = "__nv_fast_cosf", .shape = F_F, .f1 = cos},
    {.name = "__nv_fast_tanf", .shape = F_F, .f1 = tan},
    {.name = "__nv_fast_expf", .shape = F_F, .f1 = exp},
    {.name = "__nv_fast_exp10f", .shape = F_F, .f1 = exp10_},
    {.name = "__nv_fast_logf", .shape = F_F, .f1 = log},
    {.name = "__nv_fast_log2f", .shape = F_F, .f1 = log2},
    {.name = "__nv_fast_log10f", .shape = F_F, .f1 = log10},
    {.name = "__nv_fast_powf", .shape = F_FF, .f2 = pow},
    {.name = "__nv_fast_fdividef", .shape = F_FF, .f2 = divide},
    {.name = "__nv_fdividef", .shape = F_FF, .f2 = divide},
    {.name = "__nv_frcp_rn", .shape = F_F},
    {.name = "__nv_popc", .shape = I_I, .i1 = popcount32},
    {.name = "__nv_popcll", .shape = L_L, .i1 = popcount64},
    {.name = "__nv_clz", .shape = I_I, .i1 = leading32},
    {.name = "__nv_clzll", .shape = L_L, .i1 = leading64},
    {.name = "__nv_ffs", .shape = I_I, .i1 = find_first32},
    {.name = "__nv_abs", .shape = I_I, .i1 = absolute32},
};

const exec_builtin *exec_builtin_find(const char *name) {
    for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++)
        if (strcmp(builtins[k].name, name) == 0) return &builtins[k];
    return exec_runtime_find(name);
}

static float float_argument(warp *w, const ptx_insn *i, uint32_t k, uint32_t lane) {
    return lane_float_of((uint32_t)exec_argument(w, i, k, lane));
}
static double double_argument(warp *w, const ptx_insn *i, uint32_t k, uint32_t lane) {
    uint64_t bits = exec_argument(w, i, k, lane);
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

/* --- printf ------------------------------------------------------------------------------------------------- */

/* What a lane's call takes of the block's budget, in warp instructions: about as long for the host. A loop that prints
 * for ever would else end after hours. */
enum { PRINT_BUDGET = 64 };

void exec_print_limit(exec_device *d, uint64_t bytes) { d->print_limit = bytes; }

/* A worker's blocks are in order, so what is beyond the limit in its own text is beyond it in that of all workers. */
static void print_bytes(warp *w, const char *text, size_t n) {
    worker *t = w->block->worker;
    if (t->print_length > t->device->print_limit) return;
    if (t->printed_blocks == 0 || t->printed[t->printed_blocks - 1].block != w->block->id) {
        if (t->printed_blocks == t->printed_capacity) {
            t->printed_capacity = t->printed_capacity ? 2 * t->printed_capacity : 64;
            t->printed = exec_must(realloc(t->printed, t->printed_capacity * sizeof *t->printed));
        }
        t->printed[t->printed_blocks++] = (printed_block){w->block->id, t->print_length};
    }
    if (t->print_length + n > t->print_capacity) {
        t->print_capacity = 2 * (t->print_length + n);
        t->print = exec_must(realloc(t->print, t->print_capacity));
    }
    memcpy(t->print + t->print_length, text, n);
    t->print_length += n;
}

/* Copies at most size - 1 bytes of a string in device memory. Returns false if it is not there. */
static bool device_string(warp *w, uint32_t lane, uint64_t addr, char *text, size_t size) {
    for (size_t k = 0; k + 1 < size; k++) {
        const uint8_t *p = exec_generic_pointer(w, lane, addr + k, 1);
        if (!p) return false;
        if (!(text[k] = (char)*p)) return true;
    }
    text[size - 1] = '\0';
    return true;
}

/* Prints one conversion; spec has no length modifiers. Reads its argument at *at in the buffer and advances *at.
 * Returns false after a fault. */
static bool print_one(warp *w, uint32_t lane, const char *spec, char kind, uint64_t buffer, uint64_t *at,
                      bool is_long) {
    char text[1200], string[1024], format[40];
    uint32_t bytes = is_long || strchr("eEfFgGaAsp", kind) ? 8 : 4;
    *at = (*at + bytes - 1) & ~(uint64_t)(bytes - 1);
    const uint8_t *p = exec_generic_pointer(w, lane, buffer + *at, bytes);
    if (!p) return false;
    *at += bytes;
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    int n;
    if (kind == 's') {
        if (!device_string(w, lane, v, string, sizeof string)) return false;
        snprintf(format, sizeof format, "%ss", spec);
        n = snprintf(text, sizeof text, format, string);
    } else if (strchr("eEfFgGaA", kind)) {
        double d;
        memcpy(&d, &v, 8);
        snprintf(format, sizeof format, "%s%c", spec, kind);
        n = snprintf(text, sizeof text, format, d);
    } else if (kind == 'c') {
        snprintf(format, sizeof format, "%sc", spec);
        n = snprintf(text, sizeof text, format, (int)v);
    } else if (kind == 'p') {
        n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    } else {
        snprintf(format, sizeof format, "%sll%c", spec, kind);
        if (kind == 'd' || kind == 'i') v = is_long ? v : (uint64_t)(int32_t)v;
        n = snprintf(text, sizeof text, format, (long long)v);
    }
    if (n > 0) print_bytes(w, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    return true;
}

static bool print_lane(warp *w, uint32_t lane, uint64_t format_address, uint64_t buffer) {
    char format[1024], spec[32];
    uint64_t at = 0;
    if (!device_string(w, lane, format_address, format, sizeof format)) return false;
    for (const char *p = format; *p;) {
        const char *percent = strchrnul(p, '%');
        if (percent > p) print_bytes(w, p, (size_t)(percent - p));
        if (!*percent) break;
        p = percent + 1;
        if (*p == '%') {
            print_bytes(w, p++, 1);
            continue;
        }
        size_t n = 1;
        bool is_long = false;
        spec[0] = '%';
        while (*p && strchr("-+ #0123456789.", *p) && n < 20) spec[n++] = *p++;
        spec[n] = '\0';
        for (; *p && strchr("hlLqjzt", *p); p++) is_long |= *p != 'h';
        if (!*p || !strchr("diuoxXcsfFeEgGaAp", *p)) {
            print_bytes(w, percent, (size_t)(p - percent));
            continue;
        }
        if (!print_one(w, lane, spec, *p++, buffer, &at, is_long)) return false;
    }
    return true;
}

static void assertion(warp *w, const ptx_insn *i, uint32_t lane) {
    exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_ASSERT, SIMGPU_CAUSE_ASSERTION, lane);
    if (!device_string(w, lane, exec_argument(w, i, 0, lane), f->text, sizeof f->text)) strcpy(f->text, "?");
    if (!device_string(w, lane, exec_argument(w, i, 1, lane), f->name, sizeof f->name)) strcpy(f->name, "?");
    f->n[0] = (uint32_t)exec_argument(w, i, 2, lane);
}

void exec_builtin_free(warp *w, const ptx_insn *i, uint32_t lane, uint64_t address) {
    worker *t = w->block->worker;
    if (!address) return;
    if (exec_heap_free(t->device, address)) {
        memset(t->ranges, 0, t->capacity * sizeof *t->ranges); /* they may have been in the block */
        return;
    }
    exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, SIMGPU_CAUSE_FREE, lane);
    f->address = exec_mem_locate(t->device, address);
}

/* The time of malloc or free, which serve one lane after another. */
void exec_builtin_heap_waits(warp *w) {
    const exec_card *c = &w->block->worker->device->card;
    w->depth += c->heap_clocks + (int64_t)c->heap_lane_clocks * __builtin_popcount(w->mask);
}

void exec_builtin_call(warp *w, const ptx_insn *i) {
    const exec_builtin *b = w->block->launch->program->functions[i->call->callee->number].builtin;
    static const uint8_t arguments[] = {
        [F_F] = 1,  [F_FF] = 2, [F_FFF] = 3,  [D_D] = 1,    [D_DD] = 2,   [D_DDD] = 3,  [I_I] = 1, [L_L] = 1,
        [F_FI] = 2, [D_DI] = 2, [PRINTF] = 2, [ASSERT] = 3, [XORWOW] = 8, [MALLOC] = 1, [FREE] = 1};
    uint32_t wanted = b->shape == RUNTIME ? b->arguments : arguments[b->shape];
    if (i->call->nargs < wanted) {
        exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_UNSUPPORTED, SIMGPU_CAUSE_ARGUMENTS, 32);
        snprintf(f->name, sizeof f->name, "%s", b->name);
        f->n[0] = i->call->nargs;
        f->n[1] = wanted;
        return;
    }
    if (b->shape == MALLOC || b->shape == FREE) exec_builtin_heap_waits(w);
    for (uint32_t m = w->mask; m && !w->block->failed; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        float f = 0;
        double d = 0;
        int64_t n = 0;
        switch (b->shape) {
        case F_F: f = b->f1 ? (float)b->f1(float_argument(w, i, 0, l)) : 1 / float_argument(w, i, 0, l); break;
        case F_FF: f = (float)b->f2(float_argument(w, i, 0, l), float_argument(w, i, 1, l)); break;
        case F_FFF: f = fmaf(float_argument(w, i, 0, l), float_argument(w, i, 1, l), float_argument(w, i, 2, l)); break;
        case F_FI:
            f = b->f2 ? (float)b->f2(float_argument(w, i, 0, l), (int32_t)exec_argument(w, i, 1, l))
                      : (float)ldexp(float_argument(w, i, 0, l), (int32_t)exec_argument(w, i, 1, l));
            break;
        case D_D: d = b->f1(double_argument(w, i, 0, l)); break;
        case D_DD: d = b->f2(double_argument(w, i, 0, l), double_argument(w, i, 1, l)); break;
        case D_DDD:
            d = fma(double_argument(w, i, 0, l), double_argument(w, i, 1, l), double_argument(w, i, 2, l));
            break;
        case D_DI:
            d = b->f2 ? b->f2(double_argument(w, i, 0, l), (int32_t)exec_argument(w, i, 1, l))
                      : ldexp(double_argument(w, i, 0, l), (int32_t)exec_argument(w, i, 1, l));
            break;
        case I_I:
        case L_L: n = b->i1((int64_t)exec_argument(w, i, 0, l)); break;
        case PRINTF:
            w->block->budget -= w->block->budget < PRINT_BUDGET ? w->block->budget : PRINT_BUDGET;
            if (!print_lane(w, l, exec_argument(w, i, 0, l), exec_argument(w, i, 1, l)))
                exec_fail(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, SIMGPU_CAUSE_PRINTF_STRING, l);
            break;
        case XORWOW: {
            uint32_t state[5];
            for (uint32_t k = 0; k < 5; k++) state[k] = (uint32_t)exec_argument(w, i, k, l);
            n = exec_xorwow(state, exec_argument(w, i, 5, l), (uint32_t)exec_argument(w, i, 6, l),
                            (uint32_t)exec_argument(w, i, 7, l));
            break;
        }
        case ASSERT: assertion(w, i, l); return;
        case MALLOC: n = (int64_t)exec_heap_alloc(w->block->worker->device, exec_argument(w, i, 0, l)); break;
        case FREE: exec_builtin_free(w, i, l, exec_argument(w, i, 0, l)); continue;
        case RUNTIME: n = (int64_t)b->runtime(w, i, l); break;
        }
        f = lane_canonical(f);
        if (b->shape <= F_FFF || b->shape == F_FI)
            exec_result_is(w, i, l, &f, 4);
        else if (b->shape <= D_DDD || b->shape == D_DI)
            exec_result_is(w, i, l, &d, 8);
        else
            exec_result_is(w, i, l, &n, 8);
    }
}
