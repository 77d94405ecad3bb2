/* The decoder: a parsed function to ptx_code.
 *
 * Each statement finds its row of opcodes.def by (key, type): the key is the mnemonic with the modifiers that choose the
 * operation; the rest of the modifiers are flags or hints. Operands become rows of the frame. What is not found makes the
 * function unsupported, with opcode, PTX line and source line, and decoding stops there.
 */
#include "parse.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

const ptx_op_info ptx_ops[NOPS] = {
#define ROW_(id, key, type, sources, cost) {OP_##id, key, #id, TY_##type, sources, COST_##cost},
#define LANE1(id, key, type, D, A, cost, value) ROW_(id, key, type, 1, cost)
#define LANE2(id, key, type, D, A, B, cost, value) ROW_(id, key, type, 2, cost)
#define LANE3(id, key, type, D, A, B, C, cost, value) ROW_(id, key, type, 3, cost)
#define FLT1(...) LANE1(__VA_ARGS__)
#define FLT2(...) LANE2(__VA_ARGS__)
#define FLT3(...) LANE3(__VA_ARGS__)
#define COMPARE(id, key, type, A, value) ROW_(id, key, type, 2, ALU)
#define OTHER(id, key, cost) ROW_(id, key, none, 0, cost)
#include "opcodes.def"
};
/* How each operand of a lane operation is read: the widths of its rows. */
static const struct {
    uint8_t d, a, b, c;
} op_types[NOPS] = {
#undef LANE1
#undef LANE2
#undef LANE3
#undef COMPARE
#undef OTHER
#define LANE1(id, key, type, D, A, cost, value) {TY_##D, TY_##A, 0, 0},
#define LANE2(id, key, type, D, A, B, cost, value) {TY_##D, TY_##A, TY_##B, 0},
#define LANE3(id, key, type, D, A, B, C, cost, value) {TY_##D, TY_##A, TY_##B, TY_##C},
#define COMPARE(id, key, type, A, value) {TY_pred, TY_##A, TY_##A, TY_pred},
#define OTHER(id, key, cost) {0, 0, 0, 0},
#include "opcodes.def"
};

typedef struct {
    parsed_function *pf;
    ptx_code *code;
    uint32_t capacity, capacity_rows;
    statement *s;      /* being decoded */
    uint32_t *uses;    /* how often register id is read */
    uint32_t top;      /* next free byte of the frame */
    struct {
        const char *name;
        uint32_t insn;
    } *labels;
    uint32_t nlabels;
    struct {
        uint32_t insn; /* whose target is the label; or the target list entry */
        uint32_t *where;
        const char *label;
        uint32_t ptx_line;
    } *fixups;
    uint32_t nfixups;
    /* what the modifiers of the statement say */
    enum ptx_type types[MAX_MODIFIERS];
    uint32_t ntypes;
    char key[64];
    ptx_insn flags; /* the fields that modifiers set; copied into each instruction made */
    jmp_buf on_error;
    const char *error;
} decoder;

static _Noreturn void unsupported(decoder *d, const char *why) {
    char opcode[128];
    size_t n = (size_t)snprintf(opcode, sizeof opcode, "%s", d->s->name);
    for (uint32_t i = 0; i < d->s->nmodifiers && n < sizeof opcode; i++)
        n += (size_t)snprintf(opcode + n, sizeof opcode - n, "%s", d->s->modifiers[i]);
    d->error = ptx_format("%s: %s (PTX line %u)", opcode, why, d->s->ptx_line);
    longjmp(d->on_error, 1);
}

/* --- the frame ---------------------------------------------------------------------------------------------- */

static bool is_wide(enum ptx_type t) { return ptx_type_bytes[t] == 8; }

static uint32_t take(decoder *d, uint32_t bytes, uint32_t align) {
    uint32_t at = (d->top + align - 1) & ~(align - 1);
    d->top = at + bytes;
    if (d->top > 64u << 20) unsupported(d, "the function needs too many registers");
    return at;
}

/* Row 0 is scratch; then registers, carry, slots; the rows of constants follow as instructions ask for them. */
static void lay_out_frame(decoder *d) {
    parsed_function *pf = d->pf;
    d->top = 256;
    d->code->registers_begin = d->top;
    for (uint32_t i = 0; i < pf->nregisters; i++) {
        reg *r = pf->registers[i];
        if (r->type == TY_b128 || r->type == TY_none) unsupported(d, "128-bit registers");
        if (r->type != TY_pred) r->row = take(d, is_wide(r->type) ? 256 : 128, 64);
    }
    for (uint32_t i = 0; i < pf->nregisters; i++)
        if (pf->registers[i]->type == TY_pred) pf->registers[i]->row = take(d, 4, 4);
    d->code->carry = take(d, 4, 4);
    for (uint32_t i = 0; i < pf->nslots; i++) pf->slots[i].offset = take(d, 32 * pf->slots[i].stride, 64);
    d->top = (d->top + 63) & ~63u;
    d->code->registers_end = d->top;
}

static uint32_t add_row(decoder *d, ptx_row row) {
    ptx_code *c = d->code;
    for (uint32_t i = 0; i < c->nrows; i++) {
        ptx_row *r = &c->rows[i];
        if (r->kind == row.kind && r->bytes == row.bytes && r->bits == row.bits && r->type == row.type && r->special == row.special &&
            r->var == row.var && r->function == row.function)
            return r->row;
    }
    row.row = take(d, 32u * row.bytes, 64);
    c->rows = ptx_grow(c->rows, c->nrows, sizeof row);
    c->rows[c->nrows++] = row;
    return row.row;
}

static uint32_t constant(decoder *d, uint64_t bits, bool wide) {
    return add_row(d, (ptx_row){.kind = ROW_CONSTANT, .bytes = wide ? 8 : 4, .bits = wide ? bits : (uint32_t)bits});
}

static uint64_t float_bits(const operand *o, enum ptx_type t) {
    if (t == TY_f64 && o->single) {
        float f;
        uint32_t b = (uint32_t)o->value;
        memcpy(&f, &b, 4);
        double v = f;
        uint64_t bits;
        memcpy(&bits, &v, 8);
        return bits;
    }
    if (ptx_type_bytes[t] == 4 && !o->single) {
        double v;
        memcpy(&v, &o->value, 8);
        float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return bits;
    }
    return o->value;
}

static uint32_t symbol_row(decoder *d, const operand *o, bool wide) {
    ptx_row row = {.kind = ROW_ADDRESS, .bytes = wide ? 8 : 4, .bits = o->value};
    switch (o->symbol->kind) {
    case SYMBOL_VARIABLE: row.var = o->symbol->var; break;
    case SYMBOL_FUNCTION: row.function = o->symbol->function; break;
    case SYMBOL_PARAM: row.bits += o->symbol->var->address; break;
    default: unsupported(d, ptx_format("the address of %s cannot be taken", o->symbol->name));
    }
    return add_row(d, row);
}

/* The row of a source operand read as `type`. any_width: ld, st and cvt take registers wider than the type; *wide says so. */
static uint32_t source(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide) {
    bool w = is_wide(type);
    if (wide) *wide = w;
    switch (o->kind) {
    case OPERAND_REGISTER: {
        d->uses[o->reg->id]++;
        bool predicate = o->reg->type == TY_pred, rw = is_wide(o->reg->type);
        if (predicate != (type == TY_pred)) unsupported(d, ptx_format("%s has the wrong type here", o->reg->name));
        if (rw != w && !any_width) unsupported(d, ptx_format("%s has the wrong width here", o->reg->name));
        if (wide) *wide = rw;
        return o->reg->row;
    }
    case OPERAND_INTEGER:
        if (type == TY_pred) {
            ptx_row row = {.kind = ROW_CONSTANT, .bytes = 4, .bits = o->value ? ~0u : 0};
            return add_row(d, row);
        }
        return constant(d, o->value, w);
    case OPERAND_FLOAT: return constant(d, float_bits(o, type), w);
    case OPERAND_SYMBOL: return symbol_row(d, o, w);
    case OPERAND_SPECIAL:
        if (o->special >= SREG_clock) unsupported(d, "a clock can only be read by mov");
        return add_row(d, (ptx_row){.kind = ROW_SPECIAL, .bytes = w ? 8 : 4, .special = (uint8_t)o->special});
    case OPERAND_LABEL: unsupported(d, ptx_format("%s is not declared", o->label));
    default: unsupported(d, "this operand form");
    }
}

static uint32_t dest(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide) {
    if (wide) *wide = is_wide(type);
    if (o->kind == OPERAND_SINK) return NO_ROW;
    if (o->kind != OPERAND_REGISTER) unsupported(d, "the destination is not a register");
    bool predicate = o->reg->type == TY_pred;
    if (predicate != (type == TY_pred) || (is_wide(o->reg->type) != is_wide(type) && !any_width))
        unsupported(d, ptx_format("%s has the wrong type or width here", o->reg->name));
    if (wide) *wide = is_wide(o->reg->type);
    return o->reg->row;
}

/* --- instructions ------------------------------------------------------------------------------------------- */

static ptx_insn *emit(decoder *d, enum ptx_op op) {
    ptx_code *c = d->code;
    if (c->ninsns + 2 > d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 64;
        ptx_insn *n = ptx_alloc(d->capacity * sizeof *n);
        if (c->ninsns) memcpy(n, c->insns, c->ninsns * sizeof *n);
        c->insns = n; /* the old array is small and lives as long as the module */
    }
    ptx_insn *i = &c->insns[c->ninsns++];
    *i = d->flags;
    i->op = op;
    i->target = i->join = NO_JOIN;
    i->ptx_line = d->s->ptx_line;
    i->line = d->s->line;
    i->file = d->s->file;
    i->column = d->s->column;
    if (d->s->guard) {
        d->uses[d->s->guard->id]++;
        i->guarded = true;
        i->guard_not = d->s->guard_not;
        i->guard = d->s->guard->row;
    }
    return i;
}

static enum ptx_type unsigned_of(enum ptx_type t) {
    switch (ptx_type_bytes[t]) {
    case 2: return TY_u16;
    case 4: return TY_u32;
    case 8: return TY_u64;
    default: return t;
    }
}

static bool has_type(const char *key, enum ptx_type t, enum ptx_op *op) {
    for (int i = 0; i < NOPS; i++)
        if (ptx_ops[i].type == t && strcmp(ptx_ops[i].key, key) == 0) {
            *op = (enum ptx_op)i;
            return true;
        }
    return false;
}

static bool is_float(enum ptx_type t) { return t == TY_f32 || t == TY_f64 || t == TY_f16; }

static bool find_op(const char *key, enum ptx_type t, enum ptx_op *op) {
    return has_type(key, t, op) || (!is_float(t) && t != TY_pred && has_type(key, unsigned_of(t), op));
}

static bool one_of(const char *m, const char *list) {
    const char *p = list;
    size_t n = strlen(m);
    while ((p = strstr(p, m))) {
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
        p += n;
    }
    return false;
}

/* Modifiers that choose the operation become part of the key, in the order of the text. */
static const char KEY_MODIFIERS[] = ".lo .hi .wide .cc .approx .full .NaN .shiftamt .clamp .wrap .l .r";
/* Modifiers without a meaning here: memory order and scope (blocks see each other's stores at once), cache hints, uniformity
 * hints (uniformity is observed, not believed). */
static const char HINTS[] = ".relaxed .acquire .release .acq_rel .weak .gpu .cta .sys .cluster .nc .ca .cg .cs .lu .cv .wb .wt .uni .aligned .L1::evict_normal "
                            ".L1::evict_unchanged .L1::evict_first .L1::evict_last .L1::no_allocate .L2::64B .L2::128B .L2::256B .noftz .cta";
static const struct {
    const char *name;
    enum ptx_space space;
} spaces[] = {{".global", SPACE_GLOBAL}, {".shared", SPACE_SHARED}, {".shared::cta", SPACE_SHARED}, {".local", SPACE_LOCAL}, {".const", SPACE_CONST}, {".param", SPACE_PARAM}};

static bool space_modifier(decoder *d, const char *m) {
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i].name, m) == 0) {
            d->flags.space = spaces[i].space;
            return true;
        }
    return false;
}

static enum ptx_type type_modifier(const char *m) {
    for (int t = 1; t < NTYPES; t++)
        if (strcmp(ptx_type_names[t], m) == 0) return (enum ptx_type)t;
    return TY_none;
}

/* Sorts the statement's modifiers; `own`: those that this instruction's decoder reads itself. */
static void read_modifiers(decoder *d, const char *own) {
    static const char *const rounds[] = {".rn", ".rz", ".rm", ".rp"};
    d->flags = (ptx_insn){.vector = 1};
    d->ntypes = 0;
    snprintf(d->key, sizeof d->key, "%s", d->s->name);
    for (uint32_t i = 0; i < d->s->nmodifiers; i++) {
        const char *m = d->s->modifiers[i];
        enum ptx_type t = type_modifier(m);
        bool rounding = false;
        for (int r = 0; r < 4; r++)
            if (strcmp(m, rounds[r]) == 0) d->flags.round = (uint8_t)r, rounding = true;
        if (rounding || one_of(m, own)) continue;
        if (t) d->types[d->ntypes++] = t;
        else if (strcmp(m, ".ftz") == 0) d->flags.ftz = true;
        else if (strcmp(m, ".sat") == 0) d->flags.sat = true;
        else if (strcmp(m, ".v2") == 0) d->flags.vector = 2;
        else if (strcmp(m, ".v4") == 0) d->flags.vector = 4;
        else if (strcmp(m, ".volatile") == 0) d->flags.polls = true;
        else if (strcmp(m, ".acquire") == 0) d->flags.polls = true;
        else if (one_of(m, KEY_MODIFIERS)) strncat(d->key, m, sizeof d->key - strlen(d->key) - 1);
        else if (!one_of(m, HINTS) && !space_modifier(d, m)) unsupported(d, ptx_format("modifier %s is not supported", m));
    }
    d->flags.type = d->ntypes ? (uint8_t)d->types[0] : TY_none;
    d->flags.modified = d->flags.ftz || d->flags.sat || d->flags.round != ROUND_NEAREST;
}

static bool has(const decoder *d, const char *modifier) {
    for (uint32_t i = 0; i < d->s->nmodifiers; i++)
        if (strcmp(d->s->modifiers[i], modifier) == 0) return true;
    return false;
}

static void need(decoder *d, uint32_t least, uint32_t most) {
    if (d->s->noperands < least || d->s->noperands > most) unsupported(d, "wrong number of operands");
}

/* Index of the first of `names` that is a modifier; names are separated by blanks. -1: none. */
static int choose(const decoder *d, const char *names) {
    int index = 0;
    char name[32];
    for (const char *p = names; *p; index++) {
        size_t n = strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        if (has(d, name)) return index;
        p += n + (p[n] == ' ');
    }
    return -1;
}

/* d = op(a [, b [, c]]) with the widths that the table gives. */
static void emit_lanes(decoder *d, enum ptx_op op, const operand *o, uint32_t n) {
    if (n != ptx_ops[op].sources + 1u) unsupported(d, "wrong number of operands");
    ptx_insn x = {0};
    x.d = dest(d, &o[0], op_types[op].d, false, NULL);
    x.a = source(d, &o[1], op_types[op].a, false, NULL);
    if (n > 2) x.b = source(d, &o[2], op_types[op].b, false, NULL);
    if (n > 3) x.c = source(d, &o[3], op_types[op].c, false, NULL);
    ptx_insn *i = emit(d, op);
    i->d = x.d, i->a = x.a, i->b = x.b, i->c = x.c;
}

static void arithmetic(decoder *d) {
    read_modifiers(d, "");
    enum ptx_op op;
    enum ptx_type t = d->types[0];
    if (!d->ntypes) unsupported(d, "an instruction without a type that SimGPU does not know");
    if (t == TY_pred) strncat(d->key, ".pred", sizeof d->key - strlen(d->key) - 1);
    if (d->flags.sat && !is_float(t)) strncat(d->key, ".sat", sizeof d->key - strlen(d->key) - 1);
    if (strcmp(d->s->name, "mad") == 0 && is_float(t)) snprintf(d->key, sizeof d->key, "fma");
    if (d->ntypes == 2 && strcmp(d->s->name, "slct") == 0) strncat(d->key, ptx_type_names[d->types[1]], 8);
    if (d->ntypes == 2 && strcmp(d->s->name, "dp4a") == 0) {
        strncat(d->key, ptx_type_names[d->types[0]], 8);
        t = d->types[1];
    }
    if (d->flags.ftz && is_float(t) && one_of(d->s->name, "abs neg")) strncat(d->key, ".ftz", 8);
    if (!find_op(d->key, t, &op)) unsupported(d, "this instruction is not supported");
    emit_lanes(d, op, d->s->operands, d->s->noperands);
}

/* and.pred, or.pred, xor.pred, not.pred, mov.pred */
static void predicate_logic(decoder *d) {
    enum ptx_op op;
    snprintf(d->key, sizeof d->key, "%s.pred", d->s->name);
    if (!has_type(d->key, TY_none, &op)) unsupported(d, "this instruction is not supported");
    need(d, 2, 3);
    const operand *o = d->s->operands;
    uint32_t to = dest(d, &o[0], TY_pred, false, NULL), a = source(d, &o[1], TY_pred, false, NULL);
    uint32_t b = d->s->noperands > 2 ? source(d, &o[2], TY_pred, false, NULL) : a;
    ptx_insn *i = emit(d, op);
    i->d = to, i->a = a, i->b = b;
}

/* add.cc addc sub.cc subc mad.cc madc: the carry chain; sub.type gives the width. */
static void carry(decoder *d) {
    read_modifiers(d, "");
    enum ptx_op op;
    if (!has_type(d->key, TY_none, &op)) return arithmetic(d);
    const operand *o = d->s->operands;
    uint32_t n = strncmp(d->key, "mad", 3) == 0 ? 4 : 3;
    need(d, n, n);
    enum ptx_type t = unsigned_of(d->types[0]);
    uint32_t to = dest(d, &o[0], t, false, NULL), a = source(d, &o[1], t, false, NULL), b = source(d, &o[2], t, false, NULL);
    uint32_t c = n > 3 ? source(d, &o[3], t, false, NULL) : 0;
    ptx_insn *i = emit(d, op);
    i->d = to, i->a = a, i->b = b, i->c = c;
    i->e = d->code->carry;
}

static void logic(decoder *d) {
    if (has(d, ".pred")) {
        read_modifiers(d, "");
        predicate_logic(d);
    } else {
        arithmetic(d);
    }
}

static const char COMPARISONS[] = ".eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan";
static const char BOOLEANS[] = ".and .or .xor";

static ptx_insn *compare(decoder *d, enum ptx_type t, const operand *o, uint32_t sources) {
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    int c = choose(d, COMPARISONS);
    if (c < 0) unsupported(d, "a comparison without its operator");
    snprintf(d->key, sizeof d->key, "setp.%s", names[c]);
    enum ptx_op op;
    if (!find_op(d->key, t, &op)) unsupported(d, "this comparison is not supported");
    uint32_t a = source(d, &o[0], t, false, NULL), b = source(d, &o[1], t, false, NULL);
    uint32_t p = sources > 2 ? source(d, &o[2], TY_pred, false, NULL) : 0;
    ptx_insn *i = emit(d, op);
    i->a = a, i->b = b, i->c = p;
    i->boolean = sources > 2 ? (uint8_t)(choose(d, BOOLEANS) + 1) : BOOL_none;
    i->negate_c = sources > 2 && o[2].negated;
    return i;
}

static char *own_compare(void) {
    static char list[160];
    snprintf(list, sizeof list, "%s %s", COMPARISONS, BOOLEANS);
    return list;
}

static void setp(decoder *d) {
    read_modifiers(d, own_compare());
    need(d, 3, 4);
    operand *o = d->s->operands;
    uint32_t p = dest(d, &o[0], TY_pred, false, NULL);
    ptx_insn *i = compare(d, d->types[0], o + 1, d->s->noperands - 1);
    i->d = p;
    i->d2 = o[0].pair ? o[0].pair->row : NO_ROW;
}

/* set.cmp.dtype.stype: a comparison into the scratch predicate, then its value as a number. */
static void set(decoder *d) {
    read_modifiers(d, own_compare());
    need(d, 3, 4);
    if (d->ntypes != 2) unsupported(d, "set needs two types");
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    uint32_t to = dest(d, &o[0], t, false, NULL);
    compare(d, d->types[1], o + 1, d->s->noperands - 1)->d = NO_ROW;
    ptx_insn *i = emit(d, OP_set_result);
    i->d = to;
    i->a = NO_ROW;
    i->type = (uint8_t)t;
}

static void selp(decoder *d) {
    read_modifiers(d, "");
    need(d, 4, 4);
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    uint32_t to = dest(d, &o[0], t, false, NULL), a = source(d, &o[1], t, false, NULL), b = source(d, &o[2], t, false, NULL);
    uint32_t p = source(d, &o[3], TY_pred, false, NULL);
    ptx_insn *i = emit(d, OP_selp);
    i->d = to, i->a = a, i->b = b, i->c = p;
    i->negate_c = o[3].negated;
}

static void testp(decoder *d) {
    const char *names = ".finite .infinite .number .notanumber .normal .subnormal";
    read_modifiers(d, names);
    need(d, 2, 2);
    uint32_t to = dest(d, &d->s->operands[0], TY_pred, false, NULL), a = source(d, &d->s->operands[1], d->types[0], false, NULL);
    ptx_insn *i = emit(d, OP_testp);
    i->d = to, i->a = a;
    i->sub = (uint8_t)choose(d, names);
}

static void bfi(decoder *d) {
    read_modifiers(d, "");
    need(d, 5, 5);
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    uint32_t to = dest(d, &o[0], t, false, NULL), a = source(d, &o[1], t, false, NULL), b = source(d, &o[2], t, false, NULL);
    uint32_t c = source(d, &o[3], TY_u32, false, NULL), e = source(d, &o[4], TY_u32, false, NULL);
    ptx_insn *i = emit(d, OP_bfi);
    i->d = to, i->a = a, i->b = b, i->c = c, i->e = e;
}

static void lop3(decoder *d) {
    read_modifiers(d, "");
    need(d, 5, 5);
    operand *o = d->s->operands;
    if (o[4].kind != OPERAND_INTEGER || o[0].pair) unsupported(d, "this form of lop3");
    uint32_t to = dest(d, &o[0], TY_u32, false, NULL), a = source(d, &o[1], TY_u32, false, NULL);
    uint32_t b = source(d, &o[2], TY_u32, false, NULL), c = source(d, &o[3], TY_u32, false, NULL);
    ptx_insn *i = emit(d, OP_lop3);
    i->d = to, i->a = a, i->b = b, i->c = c;
    i->imm = (int64_t)(o[4].value & 0xff);
}

static void prmt(decoder *d) {
    const char *modes = ".f4e .b4e .rc8 .ecl .ecr .rc16";
    read_modifiers(d, modes);
    need(d, 4, 4);
    operand *o = d->s->operands;
    uint32_t to = dest(d, &o[0], TY_u32, false, NULL), a = source(d, &o[1], TY_u32, false, NULL);
    uint32_t b = source(d, &o[2], TY_u32, false, NULL), c = source(d, &o[3], TY_u32, false, NULL);
    ptx_insn *i = emit(d, OP_prmt);
    i->d = to, i->a = a, i->b = b, i->c = c;
    i->sub = (uint8_t)(choose(d, modes) + 1);
}

/* --- movement and conversion -------------------------------------------------------------------------------- */

static void emit_move(decoder *d, enum ptx_type t, uint32_t to, uint32_t from) {
    ptx_insn *i = emit(d, is_wide(t) ? OP_mov_b64 : ptx_type_bytes[t] == 4 ? OP_mov_b32 : OP_mov_b16);
    i->d = to, i->a = from;
}

/* mov.b64 {lo, hi}, a   and   mov.b64 d, {lo, hi}: `vector` pieces of type from and type together. sub: 0 pack, 1 unpack. */
static void pack(decoder *d, enum ptx_type whole, const operand *vector, const operand *scalar, bool unpack) {
    uint32_t n = vector->nitems;
    if (n != 2 && n != 4) unsupported(d, "a vector of other than 2 or 4 pieces");
    uint32_t bytes = ptx_type_bytes[whole] / n;
    enum ptx_type piece = bytes == 4 ? TY_b32 : bytes == 2 ? TY_b16 : bytes == 1 ? TY_b8 : TY_none;
    if (!piece) unsupported(d, "this split of a register");
    ptx_insn x = {0};
    for (uint32_t k = 0; k < n; k++)
        x.v[k] = unpack ? dest(d, &vector->items[k], piece, false, NULL) : source(d, &vector->items[k], piece, false, NULL);
    uint32_t row = unpack ? source(d, scalar, whole, false, NULL) : dest(d, scalar, whole, false, NULL);
    ptx_insn *i = emit(d, OP_mov_pack);
    memcpy(i->v, x.v, sizeof x.v);
    i->vector = (uint8_t)n;
    i->type = (uint8_t)whole;
    i->from = (uint8_t)piece;
    i->sub = unpack;
    if (unpack) i->a = row;
    else i->d = row;
}

static void mov(decoder *d) {
    if (has(d, ".pred")) return logic(d);
    read_modifiers(d, "");
    need(d, 2, 2);
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    if (o[0].kind == OPERAND_VECTOR) return pack(d, t, &o[0], &o[1], true);
    if (o[1].kind == OPERAND_VECTOR) return pack(d, t, &o[1], &o[0], false);
    if (o[1].kind == OPERAND_SPECIAL && o[1].special >= SREG_clock) {
        ptx_insn *i = emit(d, OP_mov_clock);
        i->sub = (uint8_t)o[1].special;
        i->d = dest(d, &o[0], t, false, &i->d_wide);
        return;
    }
    uint32_t to = dest(d, &o[0], t, false, NULL);
    emit_move(d, t, to, source(d, &o[1], t, false, NULL));
}

/* The rows of a value operand of ld, st: one register, or {..} of `vector` ones. */
static void value_rows(decoder *d, ptx_insn *x, const operand *o, bool load) {
    enum ptx_type t = (enum ptx_type)x->type;
    uint32_t n = o->kind == OPERAND_VECTOR ? o->nitems : 1;
    if (n != x->vector) unsupported(d, "the vector has another length than the instruction says");
    for (uint32_t k = 0; k < n; k++) {
        const operand *item = o->kind == OPERAND_VECTOR ? &o->items[k] : o;
        bool wide;
        x->v[k] = load ? dest(d, item, t, true, &wide) : source(d, item, t, true, &wide);
        if (k == 0) x->d_wide = wide;
        if (item->kind == OPERAND_SINK || item->kind == OPERAND_INTEGER || item->kind == OPERAND_FLOAT) {
            if (wide != x->d_wide) unsupported(d, "a vector of mixed widths");
        } else if (wide != x->d_wide) {
            unsupported(d, "a vector of mixed widths");
        }
    }
}

static void address(decoder *d, ptx_insn *x, const operand *o) {
    if (!o->is_address) unsupported(d, "an address in [ ] is missing");
    operand base = *o;
    if (o->kind == OPERAND_REGISTER) {
        base.value = 0;
        x->imm = (int64_t)o->value;
        x->a = source(d, &base, is_wide(o->reg->type) ? TY_u64 : TY_u32, false, &x->a_wide);
    } else {
        x->a = source(d, &base, TY_u64, false, &x->a_wide);
    }
}

/* ld.param of a kernel's own parameter: a move from a row that the launch fills. */
static void load_parameter(decoder *d, ptx_insn *x, const operand *o) {
    enum ptx_type t = (enum ptx_type)x->type;
    uint64_t offset = o->symbol->var->address + o->value;
    if (o->value + (uint64_t)x->vector * ptx_type_bytes[t] > o->symbol->var->size) unsupported(d, "reads past the end of the parameter");
    for (uint32_t k = 0; k < x->vector; k++) {
        ptx_row row = {.kind = ROW_PARAM, .bytes = x->d_wide ? 8 : 4, .type = (uint8_t)t, .bits = offset + k * ptx_type_bytes[t]};
        emit_move(d, x->d_wide ? TY_b64 : TY_b32, x->v[k], add_row(d, row));
    }
}

static void slot_access(decoder *d, ptx_insn *x, const operand *o, enum ptx_op op) {
    const ptx_slot *slot = &d->pf->slots[o->symbol->index];
    if (o->value + (uint64_t)x->vector * ptx_type_bytes[x->type] > slot->size) unsupported(d, "reaches past the end of the parameter");
    ptx_insn *i = emit(d, op);
    memcpy(i->v, x->v, sizeof x->v);
    i->d_wide = x->d_wide;
    i->imm = (int64_t)(slot->offset + o->value);
    i->a = slot->stride;
}

static void load_or_store(decoder *d) {
    bool load = d->s->name[0] == 'l';
    read_modifiers(d, "");
    need(d, 2, 2);
    if (!d->ntypes) unsupported(d, "a memory access without a type");
    if (d->types[0] == TY_b128) unsupported(d, "128-bit accesses to one register");
    const operand *value = &d->s->operands[load ? 0 : 1], *where = &d->s->operands[load ? 1 : 0];
    ptx_insn x = d->flags;
    value_rows(d, &x, value, load);
    if (x.space == SPACE_PARAM && where->kind == OPERAND_SYMBOL) {
        if (where->symbol->kind == SYMBOL_SLOT) return slot_access(d, &x, where, load ? OP_ld_frame : OP_st_frame);
        if (where->symbol->kind == SYMBOL_PARAM && load) return load_parameter(d, &x, where);
    }
    if (x.space == SPACE_PARAM && !load) unsupported(d, "a store to a parameter");
    address(d, &x, where);
    ptx_insn *i = emit(d, load ? OP_ld : OP_st);
    memcpy(i->v, x.v, sizeof x.v);
    i->a = x.a, i->imm = x.imm, i->a_wide = x.a_wide, i->d_wide = x.d_wide;
}

static void atomic(decoder *d) {
    const char *operations = ".add .min .max .inc .dec .and .or .xor .exch .cas";
    read_modifiers(d, operations);
    bool red = d->s->name[0] == 'r';
    uint32_t first = red ? 0 : 1;
    int op = choose(d, operations);
    enum ptx_type t = d->types[0];
    if (op < 0 || d->flags.vector != 1 || !d->ntypes) unsupported(d, "this atomic is not supported");
    if (ptx_type_bytes[t] != 4 && ptx_type_bytes[t] != 8) unsupported(d, "atomics work on 32 and 64 bits");
    if (is_float(t) && op != ATOM_add) unsupported(d, "this atomic is not supported");
    need(d, first + 2, first + 3);
    const operand *o = d->s->operands;
    ptx_insn x = {0};
    x.d = red ? NO_ROW : dest(d, &o[0], t, false, NULL);
    address(d, &x, &o[first]);
    x.b = source(d, &o[first + 1], t, false, NULL);
    if (op == ATOM_cas) {
        need(d, first + 3, first + 3);
        x.c = source(d, &o[first + 2], t, false, NULL);
    }
    ptx_insn *i = emit(d, OP_atom);
    i->sub = (uint8_t)op;
    i->polls = true;
    i->unused = red;
    i->d = x.d, i->a = x.a, i->b = x.b, i->c = x.c, i->imm = x.imm, i->a_wide = x.a_wide;
}

static uint64_t window_of(decoder *d, enum ptx_space s) {
    switch (s) {
    case SPACE_SHARED: return WINDOW_SHARED;
    case SPACE_LOCAL: return WINDOW_LOCAL;
    case SPACE_PARAM: return WINDOW_PARAM;
    case SPACE_GLOBAL:
    case SPACE_CONST: return 0;
    default: unsupported(d, "an address space is missing");
    }
}

static void cvta(decoder *d) {
    read_modifiers(d, ".to");
    need(d, 2, 2);
    if (!is_wide(d->types[0])) unsupported(d, "32-bit generic addresses");
    uint64_t window = window_of(d, (enum ptx_space)d->flags.space);
    uint32_t to = dest(d, &d->s->operands[0], TY_u64, false, NULL), a = source(d, &d->s->operands[1], TY_u64, false, NULL);
    uint32_t b = constant(d, has(d, ".to") ? 0 - window : window, true);
    ptx_insn *i = emit(d, OP_cvta);
    i->d = to, i->a = a, i->b = b;
}

static void isspacep(decoder *d) {
    read_modifiers(d, "");
    need(d, 2, 2);
    uint32_t to = dest(d, &d->s->operands[0], TY_pred, false, NULL), a = source(d, &d->s->operands[1], TY_u64, false, NULL);
    ptx_insn *i = emit(d, OP_isspacep);
    i->d = to, i->a = a;
}

static void cvt(decoder *d) {
    const char *to_integer = ".rni .rzi .rmi .rpi";
    read_modifiers(d, to_integer);
    need(d, 2, 2);
    if (d->ntypes != 2) unsupported(d, "cvt needs two types");
    const operand *o = d->s->operands;
    enum ptx_type t = d->types[0], from = d->types[1];
    int rint = choose(d, to_integer) + 1;
    bool wide_d, wide_a;
    uint32_t to = dest(d, &o[0], t, true, &wide_d), a = source(d, &o[1], from, true, &wide_a);
    enum ptx_op op;
    snprintf(d->key, sizeof d->key, "cvt%s", ptx_type_names[t]);
    bool plain = !d->flags.modified && !rint && wide_d == is_wide(t) && wide_a == is_wide(from);
    ptx_insn *i = emit(d, plain && has_type(d->key, from, &op) ? op : OP_cvt);
    i->d = to, i->a = a, i->d_wide = wide_d, i->a_wide = wide_a;
    i->type = (uint8_t)t, i->from = (uint8_t)from;
    i->sub = (uint8_t)rint;
}

/* --- control flow and synchronisation ----------------------------------------------------------------------- */

static void fix_up(decoder *d, uint32_t insn, uint32_t *where, const char *label) {
    d->fixups = ptx_grow(d->fixups, d->nfixups, sizeof *d->fixups);
    d->fixups[d->nfixups].insn = insn;
    d->fixups[d->nfixups].where = where;
    d->fixups[d->nfixups].label = label;
    d->fixups[d->nfixups++].ptx_line = d->s->ptx_line;
}

static void bra(decoder *d) {
    read_modifiers(d, "");
    need(d, 1, 1);
    if (d->s->operands[0].kind != OPERAND_LABEL) unsupported(d, "the target is not a label");
    emit(d, OP_bra);
    fix_up(d, d->code->ninsns - 1, NULL, d->s->operands[0].label);
}

static void brx(decoder *d) {
    read_modifiers(d, ".idx");
    need(d, 2, 2);
    const operand *o = d->s->operands;
    if (o[1].kind != OPERAND_SYMBOL || o[1].symbol->kind != SYMBOL_TARGETS) unsupported(d, "the target list is missing");
    const target_list *list = &d->pf->targets[o[1].symbol->index];
    uint32_t a = source(d, &o[0], TY_u32, false, NULL);
    ptx_insn *i = emit(d, OP_brx);
    i->a = a;
    i->call = ptx_alloc(sizeof *i->call);
    i->call->targets = ptx_alloc(list->nlabels * sizeof(uint32_t));
    i->call->ntargets = list->nlabels;
    for (uint32_t k = 0; k < list->nlabels; k++) fix_up(d, 0, &i->call->targets[k], list->labels[k]);
}

static ptx_slot *slot_list(decoder *d, const operand *list) {
    ptx_slot *s = ptx_alloc(list->nitems * sizeof *s);
    for (uint32_t k = 0; k < list->nitems; k++) {
        const operand *o = &list->items[k];
        if (o->kind != OPERAND_SYMBOL || o->symbol->kind != SYMBOL_SLOT) unsupported(d, "an argument that is not a .param variable");
        s[k] = d->pf->slots[o->symbol->index];
    }
    return s;
}

/* call [ "(" result ")" "," ] function [ "," "(" arguments ")" ] [ "," prototype ] */
static void call(decoder *d) {
    read_modifiers(d, "");
    const operand *o = d->s->operands, *end = o + d->s->noperands;
    ptx_call *c = ptx_alloc(sizeof *c);
    if (o < end && o->kind == OPERAND_LIST) {
        if (o->nitems > 1) unsupported(d, "more than one result");
        c->has_result = o->nitems == 1;
        if (c->has_result) c->result = slot_list(d, o)[0];
        o++;
    }
    if (o >= end) unsupported(d, "a call without a function");
    if (o->kind == OPERAND_SYMBOL && o->symbol->kind == SYMBOL_FUNCTION) c->callee = o->symbol->function;
    else if (o->kind == OPERAND_REGISTER) c->function = source(d, o, TY_u64, false, NULL);
    else unsupported(d, "the callee is not a function");
    if (++o < end && o->kind == OPERAND_LIST) {
        c->args = slot_list(d, o);
        c->nargs = o->nitems;
    }
    emit(d, OP_call)->call = c;
    d->code->calls = true;
}

static void simple(decoder *d, enum ptx_op op) {
    read_modifiers(d, "");
    need(d, 0, 0);
    emit(d, op);
}
static void ret(decoder *d) { simple(d, OP_ret); }
static void exit_(decoder *d) { simple(d, OP_exit); }
static void trap(decoder *d) { simple(d, OP_trap); }

/* Fences, prefetches and performance events change nothing here: stores are seen at once, caches hold no state. */
static void nop(decoder *d) {
    d->flags = (ptx_insn){0};
    emit(d, OP_nop);
}

static void nanosleep(decoder *d) {
    d->flags = (ptx_insn){.polls = true};
    emit(d, OP_nanosleep);
}

/* bar{.cta}.sync a [, n]   bar.arrive a, n   bar.red.op.type d, a [, n], [!]p   bar.warp.sync mask */
static void bar(decoder *d) {
    const char *own = ".sync .arrive .red .warp .cta .popc .and .or";
    read_modifiers(d, own);
    const operand *o = d->s->operands;
    uint32_t n = d->s->noperands;
    if (has(d, ".warp")) {
        need(d, 1, 1);
        uint32_t a = source(d, &o[0], TY_u32, false, NULL);
        emit(d, OP_bar_warp)->a = a;
        return;
    }
    bool red = has(d, ".red"), arrive = has(d, ".arrive");
    uint32_t first = red ? 1 : 0, last = red ? n - 1 : n;
    if (n < first + 1 || last < first + 1 || last > first + 2) unsupported(d, "wrong number of operands");
    ptx_insn x = {0};
    if (red) {
        x.d = dest(d, &o[0], has(d, ".popc") ? TY_u32 : TY_pred, false, NULL);
        x.c = source(d, &o[n - 1], TY_pred, false, NULL);
    }
    x.a = source(d, &o[first], TY_u32, false, NULL);
    x.b = last == first + 2 ? source(d, &o[first + 1], TY_u32, false, NULL) : NO_ROW;
    ptx_insn *i = emit(d, red ? OP_bar_red : arrive ? OP_bar_arrive : OP_bar_sync);
    i->d = x.d, i->a = x.a, i->b = x.b, i->c = x.c;
    i->sub = (uint8_t)choose(d, ".popc .and .or");
    i->negate_c = red && o[n - 1].negated;
}

static void shfl(decoder *d) {
    const char *modes = ".up .down .bfly .idx";
    read_modifiers(d, ".up .down .bfly .idx .sync");
    bool sync = has(d, ".sync");
    need(d, sync ? 5 : 4, sync ? 5 : 4);
    const operand *o = d->s->operands;
    uint32_t to = dest(d, &o[0], TY_b32, false, NULL), a = source(d, &o[1], TY_b32, false, NULL);
    uint32_t b = source(d, &o[2], TY_u32, false, NULL), c = source(d, &o[3], TY_u32, false, NULL);
    uint32_t mask = sync ? source(d, &o[4], TY_u32, false, NULL) : NO_ROW;
    ptx_insn *i = emit(d, OP_shfl);
    i->d = to, i->a = a, i->b = b, i->c = c, i->e = mask;
    i->d2 = o[0].pair ? o[0].pair->row : NO_ROW;
    i->sub = (uint8_t)choose(d, modes);
}

static void vote(decoder *d) {
    const char *modes = ".all .any .uni .ballot";
    read_modifiers(d, ".all .any .uni .ballot .sync");
    bool sync = has(d, ".sync");
    need(d, sync ? 3 : 2, sync ? 3 : 2);
    const operand *o = d->s->operands;
    int mode = choose(d, modes);
    uint32_t to = dest(d, &o[0], mode == VOTE_ballot ? TY_b32 : TY_pred, false, NULL), p = source(d, &o[1], TY_pred, false, NULL);
    uint32_t mask = sync ? source(d, &o[2], TY_u32, false, NULL) : NO_ROW;
    ptx_insn *i = emit(d, OP_vote);
    i->d = to, i->c = p, i->e = mask;
    i->negate_c = o[1].negated;
    i->sub = (uint8_t)mode;
}

static void match(decoder *d) {
    read_modifiers(d, ".any .all .sync");
    need(d, 3, 3);
    const operand *o = d->s->operands;
    enum ptx_type t = unsigned_of(d->types[0]);
    uint32_t to = dest(d, &o[0], TY_b32, false, NULL), a = source(d, &o[1], t, false, NULL), mask = source(d, &o[2], TY_u32, false, NULL);
    ptx_insn *i = emit(d, OP_match);
    i->d = to, i->a = a, i->e = mask;
    i->d2 = o[0].pair ? o[0].pair->row : NO_ROW;
    i->a_wide = is_wide(t);
    i->sub = has(d, ".all");
}

static void redux(decoder *d) {
    const char *operations = ".add .min .max .inc .dec .and .or .xor";
    read_modifiers(d, ".add .min .max .and .or .xor .sync");
    need(d, 3, 3);
    const operand *o = d->s->operands;
    uint32_t to = dest(d, &o[0], TY_b32, false, NULL), a = source(d, &o[1], TY_b32, false, NULL), mask = source(d, &o[2], TY_u32, false, NULL);
    ptx_insn *i = emit(d, OP_redux);
    i->d = to, i->a = a, i->e = mask;
    i->sub = (uint8_t)choose(d, operations);
}

static void activemask(decoder *d) {
    read_modifiers(d, "");
    need(d, 1, 1);
    uint32_t to = dest(d, &d->s->operands[0], TY_b32, false, NULL);
    emit(d, OP_activemask)->d = to;
}

/* Mnemonics with a decoder of their own; all others are lane arithmetic. */
static const struct {
    const char *name;
    void (*decode)(decoder *);
} decoders[] = {
    {"add", carry}, {"addc", carry}, {"sub", carry}, {"subc", carry}, {"mad", carry}, {"madc", carry}, {"and", logic}, {"or", logic}, {"xor", logic},
    {"not", logic}, {"setp", setp}, {"set", set}, {"selp", selp}, {"testp", testp}, {"bfi", bfi}, {"lop3", lop3}, {"prmt", prmt}, {"mov", mov},
    {"ld", load_or_store}, {"ldu", load_or_store}, {"st", load_or_store}, {"atom", atomic}, {"red", atomic}, {"cvta", cvta}, {"isspacep", isspacep},
    {"cvt", cvt}, {"bra", bra}, {"brx", brx}, {"call", call}, {"ret", ret}, {"exit", exit_}, {"trap", trap}, {"brkpt", trap}, {"bar", bar}, {"barrier", bar},
    {"shfl", shfl}, {"vote", vote}, {"match", match}, {"redux", redux}, {"activemask", activemask}, {"nanosleep", nanosleep}, {"membar", nop}, {"fence", nop},
    {"prefetch", nop}, {"prefetchu", nop}, {"pmevent", nop},
};

static void decode_statement(decoder *d) {
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        if (strcmp(decoders[i].name, d->s->name) == 0) {
            decoders[i].decode(d);
            return;
        }
    arithmetic(d);
}

static void resolve_labels(decoder *d) {
    for (uint32_t i = 0; i < d->nfixups; i++) {
        uint32_t target = NO_JOIN;
        for (uint32_t k = 0; k < d->nlabels; k++)
            if (strcmp(d->labels[k].name, d->fixups[i].label) == 0) target = d->labels[k].insn;
        if (target == NO_JOIN) {
            d->error = ptx_format("bra: label %s is not in this function (PTX line %u)", d->fixups[i].label, d->fixups[i].ptx_line);
            longjmp(d->on_error, 1);
        }
        *(d->fixups[i].where ? d->fixups[i].where : &d->code->insns[d->fixups[i].insn].target) = target;
    }
}

static void finish(decoder *d) {
    ptx_code *c = d->code;
    ptx_function *f = d->pf->function;
    statement last = {.name = "ret", .line = c->ninsns ? c->insns[c->ninsns - 1].line : 0, .file = c->ninsns ? c->insns[c->ninsns - 1].file : 0};
    d->s = &last;
    d->flags = (ptx_insn){0};
    emit(d, OP_ret); /* where every path ends */
    resolve_labels(d);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        ptx_insn *x = &c->insns[i];
        if (x->op != OP_atom) continue;
        for (uint32_t r = 0; r < d->pf->nregisters; r++)
            if (d->pf->registers[r]->row == x->d && d->uses[d->pf->registers[r]->id] == 0) x->unused = true;
        bool global = x->space == SPACE_GLOBAL || x->space == SPACE_GENERIC;
        if (global && (!x->unused || is_float((enum ptx_type)x->type) || x->sub == ATOM_exch || x->sub == ATOM_cas)) c->serial = true;
        if (x->space == SPACE_CONST) unsupported(d, "an atomic on constants");
    }
    c->frame_bytes = (d->top + 63) & ~63u;
    c->params = d->pf->slots;
    c->has_result = d->pf->result_slot >= 0;
    if (c->has_result) {
        c->result = d->pf->slots[d->pf->result_slot];
        c->params = d->pf->slots + 1; /* the result is declared first */
    }
    f->code = c;
}

static uint64_t place(ptx_var *v, uint64_t top) {
    uint64_t align = v->align ? v->align : 1;
    v->address = (top + align - 1) & ~(align - 1);
    return v->address + v->size;
}

static bool touches(const ptx_function *f, const ptx_var *v) {
    for (uint32_t i = 0; i < f->code->nrows; i++)
        if (f->code->rows[i].kind == ROW_ADDRESS && f->code->rows[i].var == v) return true;
    return false;
}

/* .local variables from 0; a kernel's own .shared ones behind those of the module if it can reach them; extern __shared__ last. */
static void place_variables(ptx_module *m, ptx_function *f) {
    uint64_t local = 0, shared = 0;
    bool module_too = f->code->calls && m->shared_bytes;
    for (uint32_t i = 0; i < m->nvars; i++)
        if (m->vars[i]->space == SPACE_SHARED && m->vars[i]->size && touches(f, m->vars[i])) module_too = true;
    if (module_too) shared = m->shared_bytes;
    for (uint32_t i = 0; i < f->nvars; i++) {
        ptx_var *v = f->vars[i];
        if (v->space == SPACE_LOCAL) local = place(v, local);
        if (v->space == SPACE_SHARED && f->is_kernel && v->size) shared = place(v, shared);
    }
    f->local_bytes = (uint32_t)((local + 15) & ~15ull);
    f->static_shared = (uint32_t)shared;
    f->dynamic_shared_offset = (uint32_t)((shared + 15) & ~15ull);
    if (shared > 227 * 1024 || local > 512 * 1024) {
        f->unsupported = ptx_format("%s needs %llu bytes of static shared and %llu of local memory: more than a GPU has", f->name,
                                    (unsigned long long)shared, (unsigned long long)local);
        f->code = NULL;
    }
}

void decode_finish(ptx_module *m) {
    bool any_serial = false;
    for (uint32_t i = 0; i < m->nvars; i++)
        if (m->vars[i]->space == SPACE_SHARED && m->vars[i]->size) m->shared_bytes = place(m->vars[i], m->shared_bytes);
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        ptx_function *f = m->functions[i];
        if (!f->code || f->is_kernel) continue;
        any_serial |= f->code->serial;
        for (uint32_t k = 0; k < f->nvars; k++)
            if (f->vars[k]->space == SPACE_SHARED && f->vars[k]->size) m->shared_bytes = place(f->vars[k], m->shared_bytes);
    }
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        ptx_function *f = m->functions[i];
        if (!f->code) continue;
        if (f->code->calls && any_serial) f->code->serial = true;
        place_variables(m, f);
    }
}

void decode_function(parsed_function *pf) {
    decoder *d = ptx_alloc(sizeof *d);
    ptx_function *f = pf->function;
    d->pf = pf;
    d->code = ptx_alloc(sizeof *d->code);
    d->uses = ptx_alloc((pf->nregisters + 1) * sizeof *d->uses);
    static statement none = {.name = "function"};
    d->s = &none;
    if (setjmp(d->on_error)) {
        const statement *s = d->s;
        const char *file = s->file < f->module->nfiles ? f->module->files[s->file] : "";
        f->unsupported = s->line && *file ? ptx_format("%s, %s:%u", d->error, file, s->line) : d->error;
        f->code = NULL;
        return;
    }
    lay_out_frame(d);
    for (uint32_t i = 0; i < pf->nstatements; i++) {
        d->s = &pf->statements[i];
        if (!f->line && d->s->line) f->line = d->s->line;
        if (d->s->label) {
            d->labels = ptx_grow(d->labels, d->nlabels, sizeof *d->labels);
            d->labels[d->nlabels].name = d->s->label;
            d->labels[d->nlabels++].insn = d->code->ninsns;
        } else {
            decode_statement(d);
        }
    }
    finish(d);
    cfg_analyse(pf, d->code);
}
