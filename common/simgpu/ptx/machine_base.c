/* machine_base.c — the machine instructions of one instruction of PTX. Registers of a GPU have 32 bits, so most
 * operations on 64 bits are two. Divisions, roots and what else the card has no instruction for are sequences; the
 * numbers are those of their usual path in nvcc 13's code for sm_90. */
#include "machine.h"

#include <string.h>

static bool is_64(enum ptx_type t) { return t == TY_u64 || t == TY_s64 || t == TY_b64; }

/* Sequences, by instruction. */
static const uint8_t sequences[NOPS] = {
    [OP_mul_lo_u64] = 3,
    [OP_mad_lo_u64] = 4,
    [OP_mul_hi_u64] = 8,
    [OP_mul_hi_s64] = 10,
    [OP_mad_hi_u64] = 9,
    [OP_mad_hi_s64] = 11,
    [OP_div_u16] = 9,
    [OP_div_s16] = 12,
    [OP_rem_u16] = 10,
    [OP_rem_s16] = 13,
    [OP_div_u32] = 18,
    [OP_div_s32] = 22,
    [OP_rem_u32] = 18,
    [OP_rem_s32] = 20,
    [OP_div_u64] = 74,
    [OP_div_s64] = 88,
    [OP_rem_u64] = 74,
    [OP_rem_s64] = 88,
    [OP_min_u64] = 4,
    [OP_min_s64] = 4,
    [OP_max_u64] = 4,
    [OP_max_s64] = 4,
    [OP_abs_s64] = 4,
    [OP_popc_b64] = 3,
    [OP_clz_b32] = 2,
    [OP_clz_b64] = 6,
    [OP_bfind_u64] = 5,
    [OP_bfind_s64] = 6,
    [OP_bfe_u32] = 2,
    [OP_bfe_s32] = 2,
    [OP_bfi] = 3,
    [OP_sad_u32] = 3,
    [OP_sad_s32] = 3,
    [OP_div_f32] = 10,
    [OP_rcp_f32] = 10,
    [OP_sqrt_f32] = 10,
    [OP_div_f64] = 16,
    [OP_rcp_f64] = 15,
    [OP_sqrt_f64] = 20,
    [OP_div_full_f32] = 8,
    [OP_div_approx_f32] = 5,
    [OP_rcp_approx_f32] = 4,
    [OP_sqrt_approx_f32] = 4,
    [OP_rsqrt_approx_f32] = 4,
    [OP_lg2_approx_f32] = 4,
    [OP_ex2_approx_f32] = 4,
    [OP_sin_approx_f32] = 2,
    [OP_cos_approx_f32] = 2,
    [OP_min_f_f64] = 5,
    [OP_max_f_f64] = 5,
    [OP_testp] = 3,
    [OP_match] = 3,
};

/* Functions of libdevice that clang calls, and that nvcc has as PTX: what a call of the usual path runs. */
static const struct {
    const char *name;
    uint8_t machine;
} functions[] = {
    {"sin", 24},   {"cos", 24},   {"tan", 34},     {"asin", 22},   {"acos", 24},    {"atan", 20},  {"sinh", 24},
    {"cosh", 18},  {"tanh", 17},  {"asinh", 40},   {"acosh", 40},  {"atanh", 36},   {"exp", 10},   {"exp2", 5},
    {"exp10", 12}, {"expm1", 26}, {"log", 25},     {"log2", 25},   {"log10", 24},   {"log1p", 26}, {"cbrt", 16},
    {"erf", 30},   {"erfc", 34},  {"lgamma", 90},  {"tgamma", 70}, {"pow", 72},     {"atan2", 36}, {"fmod", 40},
    {"hypot", 22}, {"sqrt", 10},  {"rsqrt", 4},    {"floor", 1},   {"ceil", 1},     {"trunc", 1},  {"round", 6},
    {"rint", 1},   {"fabs", 1},   {"fmin", 1},     {"fmax", 1},    {"fma", 1},      {"ldexp", 10}, {"fdim", 3},
    {"sinpi", 20}, {"cospi", 20}, {"copysign", 1}, {"rcbrt", 18},  {"normcdf", 40}, {"logb", 8},
};

/* Returns the number for a call of a function that PTX has no body of: __nv_sinf, __nv_sin, __nv_fast_sinf. */
static uint32_t of_function(const char *name) {
    if (strncmp(name, "__nv_", 5) != 0) return 20;
    name += 5;
    if (strncmp(name, "fast_", 5) == 0) return 5;
    size_t n = strlen(name);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        size_t length = strlen(functions[k].name);
        if (strncmp(name, functions[k].name, length) != 0) continue;
        if (n == length + 1 && name[length] == 'f') return functions[k].machine;
        if (n == length) return functions[k].machine > 1 ? 4u * functions[k].machine + 5 : 2; /* double precision */
    }
    return 20;
}

static uint32_t of_class(enum ptx_cost cost, bool wide) {
    switch (cost) {
    case COST_FREE: return 0;
    case COST_ALU: return wide ? 2 : 1;
    case COST_INT64: return 4;
    case COST_SFU:
    case COST_FDIV:
    case COST_DIV32:
    case COST_DIV64:
    case COST_DDIV: return 1; /* those that are no sequences */
    default: return 1;
    }
}

uint32_t ptx_machine_base(const ptx_insn *i) {
    const ptx_op_info *op = &ptx_ops[i->op];
    uint32_t n =
        sequences[i->op] ? sequences[i->op] : of_class(op->cost, is_64(op->type) || is_64((enum ptx_type)i->type));
    bool scaled = i->op == OP_rsqrt_approx_f32 || i->op == OP_sqrt_approx_f32 || i->op == OP_lg2_approx_f32 ||
                  i->op == OP_ex2_approx_f32 || i->op == OP_rcp_approx_f32;
    if (scaled && i->ftz) n = 1; /* else denormal arguments are scaled in front of it, and the result behind it */
    if (i->op == OP_call) n = i->call->callee && !i->call->callee->has_body ? of_function(i->call->callee->name) : 2;
    if (i->op == OP_cvt_s64_s32) n = 1;
    if (i->op == OP_ld && i->space == SPACE_CONST) return PTX_MACHINE_UNIT / 2; /* two neighbours at a time */
    if (i->op == OP_fence)
        n = i->sub == FENCE_OTHER ? 0 : i->sub == FENCE_BLOCK ? 1 : 4; /* MEMBAR, ERRBAR, CGAERRBAR, CCTL.IVALL */
    if (i->folded) n = 0;
    return n * PTX_MACHINE_UNIT;
}
