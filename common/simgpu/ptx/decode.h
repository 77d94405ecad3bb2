/* decode.h — the decoded program, which ptx/ makes and exec/ runs.
 *
 * A register is a row of 32 lanes in a frame: 4 bytes per lane for 16- and 32-bit registers, 8 for 64-bit ones; a
 * predicate is one 32-bit word with a bit for each lane. Operands are byte offsets of rows. Immediates, special
 * registers, kernel parameters and addresses of variables are rows too, filled in before the code runs, so an
 * instruction does not test the kind of its operands.
 */
#ifndef SIMGPU_DECODE_H
#define SIMGPU_DECODE_H

#include "ptx.h"

enum ptx_op {
#define LANE1(id, ...)   OP_##id,
#define LANE2(id, ...)   OP_##id,
#define LANE3(id, ...)   OP_##id,
#define FLT1(id, ...)    OP_##id,
#define FLT2(id, ...)    OP_##id,
#define FLT3(id, ...)    OP_##id,
#define COMPARE(id, ...) OP_##id,
#define OTHER(id, ...)   OP_##id,
#include "opcodes.def"
#undef LANE1
#undef LANE2
#undef LANE3
#undef FLT1
#undef FLT2
#undef FLT3
#undef COMPARE
#undef OTHER
    NOPS
};

enum ptx_type {
    TY_none,
    TY_u8,
    TY_s8,
    TY_b8,
    TY_u16,
    TY_s16,
    TY_b16,
    TY_u32,
    TY_s32,
    TY_b32,
    TY_u64,
    TY_s64,
    TY_b64,
    TY_f16,
    TY_f32,
    TY_f64,
    TY_pred,
    TY_b128,
    TY_f16x2,
    TY_bf16,
    TY_bf16x2,
    TY_tf32,
    TY_e4m3x2,
    TY_e5m2x2,
    TY_u16x2,
    TY_s16x2,
    NTYPES
};
extern const char *const ptx_type_names[NTYPES];
extern const uint8_t ptx_type_bytes[NTYPES];

typedef struct {
    enum ptx_op op;
    const char *key, *name; /* name: the handler's id */
    enum ptx_type type;
    uint8_t sources;
    enum ptx_cost cost;
} ptx_op_info;
extern const ptx_op_info ptx_ops[NOPS];

enum ptx_round {
    ROUND_NEAREST,
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY
}; /* AWAY: .rna of cvt, ties away from zero */
enum ptx_atom { ATOM_add, ATOM_min, ATOM_max, ATOM_inc, ATOM_dec, ATOM_and, ATOM_or, ATOM_xor, ATOM_exch, ATOM_cas };
enum ptx_bool { BOOL_none, BOOL_and, BOOL_or, BOOL_xor };
/* The generic address of a byte in another space than global memory is its offset + the window, as on real GPUs. */
#define WINDOW_SHARED (1ull << 32)
#define WINDOW_LOCAL  (2ull << 32)
#define WINDOW_PARAM  (3ull << 32)
#define WINDOW_BYTES  (1ull << 24)

enum ptx_shuffle { SHFL_up, SHFL_down, SHFL_bfly, SHFL_idx };
enum ptx_vote { VOTE_all, VOTE_any, VOTE_uni, VOTE_ballot };
enum ptx_testp { TESTP_finite, TESTP_infinite, TESTP_number, TESTP_notanumber, TESTP_normal, TESTP_subnormal };
enum ptx_integer_round { RINT_none, RINT_rni, RINT_rzi, RINT_rmi, RINT_rpi };
enum ptx_permute { PRMT_default, PRMT_f4e, PRMT_b4e, PRMT_rc8, PRMT_ecl, PRMT_ecr, PRMT_rc16 };
enum { NO_ROW = 0 }; /* offset 0 is a scratch row, for unused results */

struct ptx_insn {
    uint16_t op;
    uint8_t type, from; /* enum ptx_type; from: the source type of cvt, the result type of set */
    uint8_t space;      /* enum ptx_space of ld, st, atom, cvta, isspacep */
    uint8_t vector;     /* 1, 2 or 4 elements of ld, st; pieces of mov.pack */
    uint8_t words;   /* of shared memory that ptxas lets this access have: 2 or 4; PTX_MERGED: another has this one's */
    bool transposed; /* loads a fragment of which each register has elements of several rows, or packs them */
    bool of_turns;   /* `words` are those of several turns: the one at a multiple of them has the requests of all */
    uint8_t sub;     /* the kind of comparison, shuffle, vote, atomic, testp, rounding to integer: see the decoder */
    uint8_t round, boolean;  /* enum ptx_round, enum ptx_bool */
    bool ftz, sat, modified; /* modified: any of .ftz .sat or a directed rounding */
    bool contracts;          /* names no rounding; contract.c reads it of sums and products */
    bool relu, satfinite;    /* negative results become 0; infinite ones the largest number (cvt) */
    bool xorsign;            /* min, max: of the absolute values, with the product of the signs */
    bool guarded, guard_not; /* @p, @!p */
    bool negate_c;           /* the predicate operand c is !p */
    bool a_wide, d_wide;     /* 8 bytes per lane in the row of a or an address; in the row of d or a stored value */
    bool polls;              /* atomic, volatile, .relaxed ...: reads other threads' stores; a loop of these may wait */
    bool waits;           /* it polls device memory, and a loop ends by what it reads: it may wait for another block */
    bool takes;           /* of these: it takes the next number of a counter by which warps share work out */
    bool releases;        /* .release, .acq_rel: orders earlier accesses before it */
    bool read_only;       /* ld.global.nc: no store of this launch changes the loaded memory */
    bool unused;          /* an atomic whose result is unused */
    bool one_place;       /* an atomic whose lanes, as the compiler can tell, have the same address; a load of constant
                             memory that is an operand, or the uniform datapath's (machine_constant.c) */
    bool folded;          /* a branch that ptxas removes; it takes no slots */
    bool exits;           /* a conditional branch that ends the kernel: an EXIT with a predicate */
    bool rolled;          /* the first instruction of a loop that must not be unrolled (.pragma "nounroll") */
    bool in_asm;          /* of inline assembly, as the arithmetic of halves is */
    bool in_turn;         /* a branch in a loop: its lanes meet at `join` before the next turn, or leave to `beyond` */
    bool begins_turn;     /* the first instruction of an outer loop, run once in each turn (stage.c) */
    uint8_t under;        /* distance to the folded branch that skips it, which ptxas predicates it with; 0: none */
    uint16_t machine;     /* machine instructions that ptxas makes of it, in 1 / PTX_MACHINE_UNIT (machine.c) */
    uint16_t slots;       /* issue slots that these take, in the same unit: more where their unit is narrow */
    uint16_t spills;      /* loads and stores of local memory that it needs, since registers are short (spill.c) */
    uint32_t length;      /* machine instructions of the basic block that begins here, with the copies; else 0 */
    uint8_t copies;       /* its turns that ptxas makes one (length.c) */
    uint8_t stage;        /* of the kernel, below PTX_STAGES (stage.c) */
    uint8_t stage_group;  /* alike for all stages of an outer loop */
    uint8_t later_rounds; /* a load: the number of rounds after its own in its basic block */
    int64_t depth; /* of the basic block that begins here: rounds * PTX_DEPTH_ROUND + clocks, see below (depth.c) */
    int64_t part;  /* of that depth: what the code takes from here to the next barrier, where it begins behind one */
    int64_t
        ways[2]; /* of a branch: to add to the depth of the next block if [0] no lane branches, [1] all do (depth.c) */
    uint32_t guard;            /* row of the guard predicate */
    uint32_t d, d2;            /* result rows; d2: the q of p|q */
    uint32_t a, b, c, e;       /* source rows */
    uint32_t v[4];             /* rows of a vector operand */
    int64_t imm;               /* address offset, lop3 table, barrier number ... */
    uint32_t target, join;     /* branches: instruction index; index of the join of both ways, or NO_JOIN */
    uint32_t beyond;           /* of a branch with in_turn: the join of those that leave the loop, or NO_JOIN */
    struct ptx_call *call;     /* call, brx */
    struct ptx_tensor *tensor; /* mma, wmma, and the addresses of fragments */
    struct ptx_texel *texel;   /* tex, tld4, suld, sust */
    uint32_t ptx_line, line;   /* line in the PTX text, and in the source (0 if unknown) */
    uint16_t file, column;
};
/* What an access to shared or global memory does. cp.async reads one and writes the other. */
static inline bool ptx_is_load(const ptx_insn *i) { return i->op == OP_ld || i->op == OP_ldmatrix; }
static inline bool ptx_is_atomic(const ptx_insn *i) {
    return i->op == OP_atom || i->op == OP_mbarrier_init || i->op == OP_mbarrier_arrive || i->op == OP_mbarrier_wait;
}
static inline bool ptx_is_half(enum ptx_type t) { /* f16, bf16 and their pairs */
    return t == TY_f16 || t == TY_f16x2 || t == TY_bf16 || t == TY_bf16x2;
}
static inline bool ptx_is_float(enum ptx_type t) { return t == TY_f32 || t == TY_f64 || ptx_is_half(t); }
/* Returns whether the lanes of a warp can combine their operations on one word, and access memory once. */
static inline bool ptx_adds_up(const ptx_insn *i) {
    return !ptx_is_float((enum ptx_type)i->type) && (i->sub == ATOM_add || i->sub == ATOM_min || i->sub == ATOM_max ||
                                                     i->sub == ATOM_and || i->sub == ATOM_or || i->sub == ATOM_xor);
}
/* Returns whether an atomic has no instruction for shared memory, which is so for floating point and 64 bits. A loop
 * loads the word, combines, and swaps the result in if no other thread was faster: BSSY, LDS, FADD, ATOMS.CAST.SPIN,
 * ISETP, BRA, BSYNC (machine code by nvcc 13 for sm_90). */
static inline bool ptx_needs_cas(const ptx_insn *i) {
    const enum ptx_type t = (enum ptx_type)i->type;
    return i->op == OP_atom && i->sub != ATOM_cas && i->sub != ATOM_exch && (ptx_is_float(t) || ptx_type_bytes[t] == 8);
}
static inline bool ptx_loads(const ptx_insn *i, enum ptx_space space) {
    return i->op == OP_cp_async ? space != SPACE_SHARED : i->op != OP_st && i->op != OP_mbarrier_init;
}
static inline bool ptx_stores(const ptx_insn *i, enum ptx_space space) {
    return i->op == OP_cp_async ? space == SPACE_SHARED : !ptx_is_load(i) && i->op != OP_mbarrier_wait;
}
#define PTX_MERGED       UINT8_MAX
#define PTX_MACHINE_UNIT 16
#define NO_JOIN          UINT32_MAX
#define PTX_DEPTH_ROUND  (1ll << 38)
/* Of turns that are done together, 16 at most, each has a part of a round. */
#define PTX_DEPTH_PART (PTX_DEPTH_ROUND / 16)

/* Split a sum of ptx_insn.depth: into rounds, of which a part is a whole one, and into clocks. */
static inline int64_t ptx_depth_rounds(int64_t depth) {
    return (depth + PTX_DEPTH_ROUND - PTX_DEPTH_PART / 2) / PTX_DEPTH_ROUND;
}
static inline int64_t ptx_depth_clocks(int64_t depth) {
    int64_t part = PTX_DEPTH_PART, beside = (depth % part + part) % part;
    return beside >= part / 2 ? beside - part : beside;
}

/* Returns the part of so many machine instructions that the instruction cache lacks when they come again, if `between`
 * of them, theirs among them, were run since they began last. What is more than the cache holds pushes out twice as
 * much of them, up to all. (An H200: a loop of 2048 multiply-adds takes 1.1 clocks for each, of 4096 2.4; four kernels
 * of 512 each in turn 2.1 us where one takes 1.9, eight 2.3.) */
static inline double ptx_part_fetched(double length, double between, double cache) {
    const double lacks = length > 0 ? 2 * (between - cache) / length : 0;
    return lacks < 0 ? 0 : lacks > 1 ? 1 : lacks;
}

/* A row that is filled before the code runs. */
typedef struct {
    enum { ROW_CONSTANT, ROW_ADDRESS, ROW_SPECIAL, ROW_PARAM } kind;
    uint32_t row;
    uint8_t bytes;   /* per lane, 4 or 8 */
    uint64_t bits;   /* constant; ADDRESS: offset added to the variable's; PARAM: offset in the parameter buffer */
    uint8_t type;    /* PARAM: enum ptx_type, to extend narrow parameters */
    uint8_t special; /* enum ptx_special */
    ptx_var *var;
    ptx_function *function; /* ADDRESS of a function: its number in the module, plus 1 */
} ptx_row;

enum ptx_special {
    SREG_tid_x,
    SREG_tid_y,
    SREG_tid_z,
    SREG_ntid_x,
    SREG_ntid_y,
    SREG_ntid_z,
    SREG_ctaid_x,
    SREG_ctaid_y,
    SREG_ctaid_z,
    SREG_nctaid_x,
    SREG_nctaid_y,
    SREG_nctaid_z,
    SREG_laneid,
    SREG_warpid,
    SREG_nwarpid,
    SREG_smid,
    SREG_nsmid,
    SREG_gridid,
    SREG_lanemask_eq,
    SREG_lanemask_le,
    SREG_lanemask_lt,
    SREG_lanemask_ge,
    SREG_lanemask_gt,
    SREG_dynamic_smem_size,
    SREG_total_smem_size,
    SREG_envreg1, /* the address of the workspace of a cooperative launch: high half, then low half */
    SREG_envreg2,
    SREG_zero,
    SREG_clock,
    SREG_clock_hi,
    SREG_clock64,
    SREG_globaltimer,
    NSREGS
};

/* A .param variable inside a frame (an argument of a device function), `stride` bytes per lane, lane after lane. */
typedef struct {
    const char *name;
    uint32_t offset, size, stride;
} ptx_slot;

/* The elements of matrices of the tensor cores; their bits and, in ISA order, their names. */
enum ptx_element { EL_f16, EL_bf16, EL_tf32, EL_f32, EL_f64, EL_s8, EL_u8, EL_s4, EL_u4, EL_b1, EL_s32, NELEMENTS };
extern const char *const ptx_element_names[NELEMENTS];
extern const uint8_t ptx_element_bits[NELEMENTS];
enum ptx_matrix { MATRIX_a, MATRIX_b, MATRIX_c, MATRIX_d };
enum { MAX_PIECES = 8 }; /* registers of a lane for one matrix, at most */

/* An instruction of the tensor cores: D = A * B + C, of m x k, k x n and m x n elements, each spread over the registers
 * of a warp (ptx_matrix_place). For the address of an element of wmma.load and wmma.store, `matrix` and `column_major`
 * say which one. */
typedef struct ptx_tensor {
    uint16_t m, n, k;
    bool wmma;                   /* spread as wmma does, else as mma does */
    bool saturate, exclusive;    /* integers: .satfinite; bits: .xor, else .and */
    enum ptx_element element[4]; /* by enum ptx_matrix */
    uint32_t pieces[4];          /* number of registers of a lane */
    uint32_t row[4][MAX_PIECES]; /* their rows */
    uint16_t *place[3]; /* of a product: where element i of lane l stands in A, B, C (and D) by rows, at i * 32 + l */
    enum ptx_matrix matrix;
    bool column_major;
} ptx_tensor;

/* Returns the number of elements that a lane holds of a matrix; some are held twice. */
uint32_t ptx_matrix_elements(const ptx_tensor *t, enum ptx_matrix x);

/* Returns the row and column of element i of a lane (0 to ptx_matrix_elements - 1, in the order of its registers). */
void ptx_matrix_place(const ptx_tensor *t, enum ptx_matrix x, uint32_t lane, uint32_t i, uint32_t *row,
                      uint32_t *column);
/* The texels that an instruction names: a geometry, and rows of coordinates. */
enum ptx_geometry { GEOMETRY_1d, GEOMETRY_2d, GEOMETRY_3d, GEOMETRY_a1d, GEOMETRY_a2d, GEOMETRY_cube, GEOMETRY_acube };
enum ptx_boundary { BOUNDARY_trap, BOUNDARY_clamp, BOUNDARY_zero };
enum ptx_query {
    QUERY_width,
    QUERY_height,
    QUERY_depth,
    QUERY_channel_data_type,
    QUERY_channel_order,
    QUERY_normalized_coords,
    QUERY_array_size,
    QUERY_num_mipmap_levels,
    QUERY_num_samples
};
typedef struct ptx_texel {
    enum ptx_geometry geometry;
    uint32_t layer, at[3];   /* rows; NO_ROW: none */
    uint32_t level;          /* of tex.level, a row */
    uint32_t gradient[2][3]; /* of tex.grad, rows: the change of the coordinates from pixel to pixel, in x and in y */
    enum ptx_boundary boundary; /* of a surface */
    uint32_t channel;           /* of tld4 */
} ptx_texel;

typedef struct ptx_call {
    ptx_function *callee; /* NULL for an indirect call, whose row `function` holds the function's number */
    uint32_t function;
    ptx_slot *args, result; /* the caller's slots */
    uint32_t nargs;
    bool has_result;
    uint32_t *targets; /* brx.idx: instruction indices */
    uint32_t ntargets;
} ptx_call;

/* A part of a frame, in bytes. */
typedef struct {
    uint32_t begin, end;
} ptx_span;

typedef struct ptx_code {
    ptx_insn *insns; /* ninsns instructions and a ret, where every path ends */
    uint32_t ninsns;
    uint32_t first;                                      /* number of insns[0] among all instructions of the module */
    uint32_t frame_bytes;                                /* multiple of 64 */
    uint32_t registers_begin, predicates, registers_end; /* the rows of .reg registers; predicates and slots are last */
    ptx_span *zeroed; /* what a new frame zeroes: all that may be read before it is written */
    uint32_t nzeroed;
    uint32_t carry; /* row of CC */
    ptx_row *rows;
    uint32_t nrows;
    ptx_slot *params, result; /* of a .func */
    uint32_t nparams;
    bool has_result;
    bool calls;  /* has a call */
    bool serial; /* its result can depend on the order of blocks */
    bool waits;  /* an instruction of it may wait for another block; */
    bool meets;  /* it does so, and does not only take the next piece of work */
    bool async;  /* has copies in flight; of a kernel, also what it calls */
} ptx_code;

#endif
