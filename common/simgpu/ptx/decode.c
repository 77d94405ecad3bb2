/* decode.c — the decoder, which turns a parsed function into ptx_code.
 *
 * Each statement finds its row of opcodes.def by (key, type). The key is the mnemonic with the modifiers that choose
 * the operation; the other modifiers are flags or hints. Operands become rows of the frame. A statement without a row
 * makes the function unsupported, with opcode, PTX line and source line, and decoding stops there.
 */
#include "decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ptx_op_info ptx_ops[NOPS] = {
#define ROW_(id, key, type, sources, cost)            {OP_##id, key, #id, TY_##type, sources, COST_##cost},
#define LANE1(id, key, type, D, A, cost, value)       ROW_(id, key, type, 1, cost)
#define LANE2(id, key, type, D, A, B, cost, value)    ROW_(id, key, type, 2, cost)
#define LANE3(id, key, type, D, A, B, C, cost, value) ROW_(id, key, type, 3, cost)
#define FLT1(...)                                     LANE1(__VA_ARGS__)
#define FLT2(...)                                     LANE2(__VA_ARGS__)
#define FLT3(...)                                     LANE3(__VA_ARGS__)
#define COMPARE(id, key, type, A, value)              ROW_(id, key, type, 2, ALU)
#define OTHER(id, key, cost)                          ROW_(id, key, none, 0, cost)
#include "opcodes.def"
};
/* The types in which a lane operation reads its operands, which give the widths of their rows. */
static const struct {
    uint8_t d, a, b, c;
} op_types[NOPS] = {
#undef LANE1
#undef LANE2
#undef LANE3
#undef COMPARE
#undef OTHER
#define LANE1(id, key, type, D, A, cost, value)       {TY_##D, TY_##A, 0, 0},
#define LANE2(id, key, type, D, A, B, cost, value)    {TY_##D, TY_##A, TY_##B, 0},
#define LANE3(id, key, type, D, A, B, C, cost, value) {TY_##D, TY_##A, TY_##B, TY_##C},
#define COMPARE(id, key, type, A, value)              {TY_pred, TY_##A, TY_##A, TY_pred},
#define OTHER(id, key, cost)                          {0, 0, 0, 0},
#include "opcodes.def"
};

_Noreturn void ptx_dec_unsupported(decoder *d, const char *why) {
    char opcode[128];
    size_t n = (size_t)snprintf(opcode, sizeof opcode, "%s", d->s->name);
    for (uint32_t i = 0; i < d->s->nmodifiers && n < sizeof opcode; i++)
        n += (size_t)snprintf(opcode + n, sizeof opcode - n, "%s", d->s->modifiers[i]);
    d->error = ptx_format("%s: %s (PTX line %u)", opcode, why, d->s->ptx_line);
    longjmp(d->on_error, 1);
}

/* --- the frame ---------------------------------------------------------------------------------------------- */

bool ptx_dec_is_wide(enum ptx_type t) { return ptx_type_bytes[t] == 8; }

static uint32_t take(decoder *d, uint32_t bytes, uint32_t align) {
    uint32_t at = (d->top + align - 1) & ~(align - 1);
    d->top = at + bytes;
    if (d->top > 64u << 20) ptx_dec_unsupported(d, "the function needs too many registers");
    return at;
}

/* Lays out scratch (row 0), registers, carry, slots. Rows of constants follow as instructions use them. */
static void lay_out_frame(decoder *d) {
    parsed_function *pf = d->pf;
    d->top = 256;
    d->code->registers_begin = d->top;
    for (uint32_t i = 0; i < pf->nregisters; i++) {
        reg *r = pf->registers[i];
        if (r->type == TY_b128 || r->type == TY_none) ptx_dec_unsupported(d, "128-bit registers");
        if (r->type != TY_pred) r->row = take(d, ptx_dec_is_wide(r->type) ? 256 : 128, 64);
    }
    d->code->predicates = d->top;
    for (uint32_t i = 0; i < pf->nregisters; i++)
        if (pf->registers[i]->type == TY_pred) pf->registers[i]->row = take(d, 4, 4);
    d->code->carry = take(d, 4, 4);
    for (uint32_t i = 0; i < pf->nslots; i++) pf->slots[i].offset = take(d, 32 * pf->slots[i].stride, 64);
    d->top = (d->top + 63) & ~63u;
    d->code->registers_end = d->top;
}

static uint32_t hash_row(const ptx_row *r) {
    uint64_t h = r->bits ^ (uint64_t)r->kind << 60 ^ (uint64_t)r->bytes << 56 ^ (uint64_t)r->type << 48 ^
                 (uint64_t)r->special << 40;
    h ^= (uint64_t)(uintptr_t)r->var ^ (uint64_t)(uintptr_t)r->function;
    return (uint32_t)(base_hash(h) >> 32);
}

static bool same_row(const ptx_row *a, const ptx_row *b) {
    return a->kind == b->kind && a->bytes == b->bytes && a->bits == b->bits && a->type == b->type &&
           a->special == b->special && a->var == b->var && a->function == b->function;
}

/* Returns the row's place in the table, which holds its index + 1, or the empty place for it. */
static uint32_t *row_place(decoder *d, const ptx_row *row) {
    uint32_t h = hash_row(row) & (d->capacity_rows - 1);
    while (d->row_table[h] && !same_row(&d->code->rows[d->row_table[h] - 1], row)) h = (h + 1) & (d->capacity_rows - 1);
    return &d->row_table[h];
}

uint32_t ptx_dec_add_row(decoder *d, ptx_row row) {
    ptx_code *c = d->code;
    if (2 * c->nrows >= d->capacity_rows) {
        d->capacity_rows = d->capacity_rows ? 2 * d->capacity_rows : 32;
        ptx_free(d->row_table);
        d->row_table = ptx_alloc(d->capacity_rows * sizeof *d->row_table);
        for (uint32_t i = 0; i < c->nrows; i++) *row_place(d, &c->rows[i]) = i + 1;
    }
    uint32_t *place = row_place(d, &row);
    if (*place) return c->rows[*place - 1].row;
    row.row = take(d, 32u * row.bytes, 64);
    c->rows = ptx_grow(c->rows, c->nrows, sizeof row);
    c->rows[c->nrows++] = row;
    *place = c->nrows;
    return row.row;
}

uint32_t ptx_dec_constant(decoder *d, uint64_t bits, bool wide) {
    return ptx_dec_add_row(
        d, (ptx_row){.kind = ROW_CONSTANT, .bytes = wide ? 8 : 4, .bits = wide ? bits : (uint32_t)bits});
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
    default: ptx_dec_unsupported(d, ptx_format("the address of %s cannot be taken", o->symbol->name));
    }
    return ptx_dec_add_row(d, row);
}

/* Returns the row of a source operand read as `type`. any_width: ld, st and cvt accept registers wider than the type;
 * *wide is set to whether it is wide. */
uint32_t ptx_dec_source(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide) {
    bool w = ptx_dec_is_wide(type);
    if (wide) *wide = w;
    switch (o->kind) {
    case OPERAND_REGISTER: {
        d->uses[o->reg->id]++;
        bool predicate = o->reg->type == TY_pred, rw = ptx_dec_is_wide(o->reg->type);
        if (predicate != (type == TY_pred))
            ptx_dec_unsupported(d, ptx_format("%s has the wrong type here", o->reg->name));
        if (rw != w && !any_width) ptx_dec_unsupported(d, ptx_format("%s has the wrong width here", o->reg->name));
        if (wide) *wide = rw;
        return o->reg->row;
    }
    case OPERAND_INTEGER:
        if (type == TY_pred) {
            ptx_row row = {.kind = ROW_CONSTANT, .bytes = 4, .bits = o->value ? ~0u : 0};
            return ptx_dec_add_row(d, row);
        }
        return ptx_dec_constant(d, o->value, w);
    case OPERAND_FLOAT: return ptx_dec_constant(d, float_bits(o, type), w);
    case OPERAND_SYMBOL: return symbol_row(d, o, w);
    case OPERAND_SPECIAL:
        if (o->special >= SREG_clock) ptx_dec_unsupported(d, "a clock can only be read by mov");
        return ptx_dec_add_row(d, (ptx_row){.kind = ROW_SPECIAL, .bytes = w ? 8 : 4, .special = (uint8_t)o->special});
    case OPERAND_LABEL: ptx_dec_unsupported(d, ptx_format("%s is not declared", o->label));
    default: ptx_dec_unsupported(d, "this operand form");
    }
}

uint32_t ptx_dec_dest(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide) {
    if (wide) *wide = ptx_dec_is_wide(type);
    if (o->kind == OPERAND_SINK) return NO_ROW;
    if (o->kind != OPERAND_REGISTER) ptx_dec_unsupported(d, "the destination is not a register");
    bool predicate = o->reg->type == TY_pred;
    if (predicate != (type == TY_pred) || (ptx_dec_is_wide(o->reg->type) != ptx_dec_is_wide(type) && !any_width))
        ptx_dec_unsupported(d, ptx_format("%s has the wrong type or width here", o->reg->name));
    if (wide) *wide = ptx_dec_is_wide(o->reg->type);
    return o->reg->row;
}

/* --- instructions ------------------------------------------------------------------------------------------- */

ptx_insn *ptx_dec_emit(decoder *d, enum ptx_op op) {
    ptx_code *c = d->code;
    if (c->ninsns + 2 > d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 64;
        ptx_insn *n = ptx_alloc(d->capacity * sizeof *n);
        if (c->ninsns) memcpy(n, c->insns, c->ninsns * sizeof *n);
        c->insns = n; /* the arena frees the old array with the module */
    }
    ptx_insn *i = &c->insns[c->ninsns++];
    *i = d->flags;
    i->op = op;
    i->target = i->join = i->beyond = NO_JOIN;
    i->ptx_line = d->s->ptx_line;
    i->line = d->s->line;
    i->file = d->s->file;
    i->column = d->s->column;
    i->rolled = d->s->rolled;
    i->in_asm = d->s->in_asm;
    if (d->s->guard) {
        d->uses[d->s->guard->id]++;
        i->guarded = true;
        i->guard_not = d->s->guard_not;
        i->guard = d->s->guard->row;
    }
    return i;
}

enum ptx_type ptx_dec_unsigned_of(enum ptx_type t) {
    switch (ptx_type_bytes[t]) {
    case 2: return TY_u16;
    case 4: return TY_u32;
    case 8: return TY_u64;
    default: return t;
    }
}

bool ptx_dec_has_type(const char *key, enum ptx_type t, enum ptx_op *op) {
    for (int i = 0; i < NOPS; i++)
        if (ptx_ops[i].type == t && strcmp(ptx_ops[i].key, key) == 0) {
            *op = (enum ptx_op)i;
            return true;
        }
    return false;
}

static bool is_two_integers(enum ptx_type t) { return t == TY_u16x2 || t == TY_s16x2; }

static bool find_op(const char *key, enum ptx_type t, enum ptx_op *op) {
    return ptx_dec_has_type(key, t, op) || (!ptx_is_float(t) && !is_two_integers(t) && t != TY_pred &&
                                            ptx_dec_has_type(key, ptx_dec_unsigned_of(t), op));
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

/* Modifiers that choose the operation; they become part of the key, in the order of the text. */
static const char KEY_MODIFIERS[] = ".lo .hi .wide .cc .approx .full .NaN .shiftamt .clamp .wrap .l .r";
/* Modifiers without an effect here: scopes of an order (blocks see each other's stores at once), cache hints,
 * uniformity hints (uniformity is measured instead). */
static const char HINTS[] =
    ".weak .gpu .cta .sys .cluster .nc .ca .cg .cs .lu .cv .wb .wt .uni .aligned .L1::evict_normal "
    ".L1::evict_unchanged .L1::evict_first .L1::evict_last .L1::no_allocate .L2::64B .L2::128B .L2::256B .noftz";
static const struct {
    const char *name;
    enum ptx_space space;
} spaces[] = {{".global", SPACE_GLOBAL}, {".shared", SPACE_SHARED}, {".shared::cta", SPACE_SHARED},
              {".local", SPACE_LOCAL},   {".const", SPACE_CONST},   {".param", SPACE_PARAM}};

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

static void append_key(decoder *d, const char *text) { strncat(d->key, text, sizeof d->key - strlen(d->key) - 1); }

/* Sorts the statement's modifiers into types, key and flags, except `own`, which the instruction's decoder reads. */
void ptx_dec_read_modifiers(decoder *d, const char *own) {
    static const char *const rounds[] = {".rn", ".rz", ".rm", ".rp", ".rna"};
    d->flags = (ptx_insn){.vector = 1, .contracts = true};
    d->ntypes = 0;
    snprintf(d->key, sizeof d->key, "%s", d->s->name);
    for (uint32_t i = 0; i < d->s->nmodifiers; i++) {
        const char *m = d->s->modifiers[i];
        enum ptx_type t = type_modifier(m);
        bool rounding = false;
        for (int r = 0; r < (strcmp(d->s->name, "cvt") ? 4 : 5); r++)
            if (strcmp(m, rounds[r]) == 0) d->flags.round = (uint8_t)r, rounding = true;
        if (rounding) d->flags.contracts = false;
        if (rounding || one_of(m, own)) continue;
        if (t == TY_b128) ptx_dec_unsupported(d, "128-bit operands");
        if (t == TY_pred && !one_of(d->s->name, "and or xor not mov vote bar barrier"))
            ptx_dec_unsupported(d, "a predicate is not allowed here");
        if (t)
            d->types[d->ntypes++] = t;
        else if (strcmp(m, ".ftz") == 0)
            d->flags.ftz = true;
        else if (strcmp(m, ".sat") == 0)
            d->flags.sat = true;
        else if (strcmp(m, ".relu") == 0 && one_of(d->s->name, "fma cvt min max"))
            d->flags.relu = true;
        else if (strcmp(m, ".xorsign") == 0 && one_of(d->s->name, "min max"))
            d->flags.xorsign = true;
        else if (strcmp(m, ".v2") == 0)
            d->flags.vector = 2;
        else if (strcmp(m, ".v4") == 0)
            d->flags.vector = 4;
        else if (one_of(m, ".volatile .relaxed .acquire"))
            d->flags.polls = true;
        else if (one_of(m, ".release .acq_rel"))
            d->flags.polls = d->flags.releases = true;
        else if (strcmp(m, ".nc") == 0)
            d->flags.read_only = true;
        else if (one_of(m, KEY_MODIFIERS))
            append_key(d, m);
        else if (!(d->flags.xorsign && strcmp(m, ".abs") == 0) && !one_of(m, HINTS) && !space_modifier(d, m))
            ptx_dec_unsupported(d, ptx_format("modifier %s is not supported", m));
    }
    d->flags.type = d->ntypes ? (uint8_t)d->types[0] : TY_none;
    d->flags.modified = d->flags.ftz || d->flags.sat || d->flags.round != ROUND_NEAREST;
}

bool ptx_dec_has(const decoder *d, const char *modifier) {
    for (uint32_t i = 0; i < d->s->nmodifiers; i++)
        if (strcmp(d->s->modifiers[i], modifier) == 0) return true;
    return false;
}

void ptx_dec_need(decoder *d, uint32_t least, uint32_t most) {
    if (d->s->noperands < least || d->s->noperands > most) ptx_dec_unsupported(d, "wrong number of operands");
}

/* Returns the index of the first of `names` (separated by blanks) among the modifiers, or -1. */
int ptx_dec_choose(const decoder *d, const char *names) {
    int index = 0;
    char name[32];
    for (const char *p = names; *p; index++) {
        size_t n = strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        if (ptx_dec_has(d, name)) return index;
        p += n + (p[n] == ' ');
    }
    return -1;
}

/* Emits d = op(a [, b [, c]]) with the table's widths. */
static void emit_lanes(decoder *d, enum ptx_op op, const operand *o, uint32_t n) {
    if (n != ptx_ops[op].sources + 1u) ptx_dec_unsupported(d, "wrong number of operands");
    ptx_insn x = {0};
    x.d = ptx_dec_dest(d, &o[0], op_types[op].d, false, NULL);
    x.a = ptx_dec_source(d, &o[1], op_types[op].a, false, NULL);
    if (n > 2) x.b = ptx_dec_source(d, &o[2], op_types[op].b, false, NULL);
    if (n > 3) x.c = ptx_dec_source(d, &o[3], op_types[op].c, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, op);
    i->d = x.d, i->a = x.a, i->b = x.b, i->c = x.c;
}

static void arithmetic(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    enum ptx_op op;
    enum ptx_type t = d->types[0];
    if (!d->ntypes) ptx_dec_unsupported(d, "this instruction without a type is not supported");
    if (t == TY_pred) append_key(d, ".pred");
    if (d->flags.sat && !ptx_is_float(t)) append_key(d, ".sat");
    if (strcmp(d->s->name, "mad") == 0 && ptx_is_float(t)) snprintf(d->key, sizeof d->key, "fma");
    if (d->ntypes == 2 && strcmp(d->s->name, "slct") == 0) {
        append_key(d, ptx_type_names[d->types[1]]);
        if (d->flags.ftz) append_key(d, ".ftz");
    }
    if (d->ntypes == 2 && one_of(d->s->name, "dp4a dp2a")) {
        append_key(d, ptx_type_names[d->types[0]]);
        t = d->types[1];
    }
    if (d->flags.xorsign && t == TY_f32) append_key(d, ".xorsign");
    if (d->flags.relu && one_of(d->s->name, "min max"))
        append_key(d, ".relu");
    else if (ptx_is_half(t) ? d->flags.round != ROUND_NEAREST : d->flags.relu)
        ptx_dec_unsupported(d, "this rounding, or .relu, is not supported here");
    if (d->flags.ftz && (t == TY_f32 || t == TY_f64) && one_of(d->s->name, "abs neg")) append_key(d, ".ftz");
    if (!find_op(d->key, t, &op)) ptx_dec_unsupported(d, "this instruction is not supported");
    emit_lanes(d, op, d->s->operands, d->s->noperands);
}

/* Decodes and.pred, or.pred, xor.pred, not.pred, mov.pred. */
static void predicate_logic(decoder *d) {
    enum ptx_op op;
    snprintf(d->key, sizeof d->key, "%s.pred", d->s->name);
    if (!ptx_dec_has_type(d->key, TY_none, &op)) ptx_dec_unsupported(d, "this instruction is not supported");
    ptx_dec_need(d, 2, 3);
    const operand *o = d->s->operands;
    uint32_t to = ptx_dec_dest(d, &o[0], TY_pred, false, NULL), a = ptx_dec_source(d, &o[1], TY_pred, false, NULL);
    uint32_t b = d->s->noperands > 2 ? ptx_dec_source(d, &o[2], TY_pred, false, NULL) : a;
    ptx_insn *i = ptx_dec_emit(d, op);
    i->d = to, i->a = a, i->b = b;
}

/* Decodes the carry chain: add.cc addc sub.cc subc mad.cc madc. */
static void carry(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    enum ptx_op op;
    if (!ptx_dec_has_type(d->key, TY_none, &op)) return arithmetic(d);
    const operand *o = d->s->operands;
    uint32_t n = strncmp(d->key, "mad", 3) == 0 ? 4 : 3;
    ptx_dec_need(d, n, n);
    enum ptx_type t = ptx_dec_unsigned_of(d->types[0]);
    uint32_t to = ptx_dec_dest(d, &o[0], t, false, NULL), a = ptx_dec_source(d, &o[1], t, false, NULL),
             b = ptx_dec_source(d, &o[2], t, false, NULL);
    uint32_t c = n > 3 ? ptx_dec_source(d, &o[3], t, false, NULL) : 0;
    ptx_insn *i = ptx_dec_emit(d, op);
    i->d = to, i->a = a, i->b = b, i->c = c;
    i->e = d->code->carry;
}

void ptx_dec_logic(decoder *d) {
    if (ptx_dec_has(d, ".pred")) {
        ptx_dec_read_modifiers(d, "");
        predicate_logic(d);
    } else {
        arithmetic(d);
    }
}

static const char COMPARISONS[] = ".eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan";
static const char BOOLEANS[] = ".and .or .xor";

static ptx_insn *compare(decoder *d, enum ptx_type t, const operand *o, uint32_t sources) {
    static const char *const names[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                        "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    int c = ptx_dec_choose(d, COMPARISONS);
    if (c < 0) ptx_dec_unsupported(d, "a comparison without its operator");
    snprintf(d->key, sizeof d->key, "setp.%s", names[c]);
    enum ptx_op op;
    if (!find_op(d->key, t, &op)) ptx_dec_unsupported(d, "this comparison is not supported");
    uint32_t a = ptx_dec_source(d, &o[0], t, false, NULL), b = ptx_dec_source(d, &o[1], t, false, NULL);
    uint32_t p = sources > 2 ? ptx_dec_source(d, &o[2], TY_pred, false, NULL) : 0;
    ptx_insn *i = ptx_dec_emit(d, op);
    i->a = a, i->b = b, i->c = p;
    i->type = (uint8_t)t;
    i->boolean = sources > 2 ? (uint8_t)(ptx_dec_choose(d, BOOLEANS) + 1) : BOOL_none;
    i->negate_c = sources > 2 && o[2].negated;
    return i;
}

static char *own_compare(void) {
    static char list[160];
    snprintf(list, sizeof list, "%s %s", COMPARISONS, BOOLEANS);
    return list;
}

/* setp and set of two halves: comparison, result type (.pred: two predicates) and source type go into the instruction.
 */
static ptx_insn *compare_pair(decoder *d, enum ptx_type result, enum ptx_type t, const operand *o, uint32_t sources) {
    int c = ptx_dec_choose(d, COMPARISONS);
    if (c < 0) ptx_dec_unsupported(d, "a comparison without its operator");
    uint32_t a = ptx_dec_source(d, &o[0], t, false, NULL), b = ptx_dec_source(d, &o[1], t, false, NULL);
    uint32_t p = sources > 2 ? ptx_dec_source(d, &o[2], TY_pred, false, NULL) : 0;
    ptx_insn *i = ptx_dec_emit(d, OP_compare_pair);
    i->a = a, i->b = b, i->c = p;
    i->sub = (uint8_t)c;
    i->type = (uint8_t)t;
    i->from = (uint8_t)result;
    i->boolean = sources > 2 ? (uint8_t)(ptx_dec_choose(d, BOOLEANS) + 1) : BOOL_none;
    i->negate_c = sources > 2 && o[2].negated;
    return i;
}
static bool is_pair(enum ptx_type t) { return t == TY_f16x2 || t == TY_bf16x2; }

static void setp(decoder *d) {
    ptx_dec_read_modifiers(d, own_compare());
    ptx_dec_need(d, 3, 4);
    operand *o = d->s->operands;
    uint32_t p = ptx_dec_dest(d, &o[0], TY_pred, false, NULL);
    ptx_insn *i = is_pair(d->types[0]) ? compare_pair(d, TY_pred, d->types[0], o + 1, d->s->noperands - 1)
                                       : compare(d, d->types[0], o + 1, d->s->noperands - 1);
    i->d = p;
    i->d2 = o[0].pair ? o[0].pair->row : NO_ROW;
}

/* Decodes set.cmp.dtype.stype as a comparison into the scratch predicate and its conversion to a number. */
static void set(decoder *d) {
    ptx_dec_read_modifiers(d, own_compare());
    ptx_dec_need(d, 3, 4);
    if (d->ntypes != 2) ptx_dec_unsupported(d, "set needs two types");
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    uint32_t to = ptx_dec_dest(d, &o[0], t, false, NULL);
    if (is_pair(d->types[1])) {
        compare_pair(d, t, d->types[1], o + 1, d->s->noperands - 1)->d = to;
        return;
    }
    compare(d, d->types[1], o + 1, d->s->noperands - 1)->d = NO_ROW;
    ptx_insn *i = ptx_dec_emit(d, OP_set_result);
    i->d = to;
    i->a = NO_ROW;
    i->type = (uint8_t)t;
}

static void selp(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 4, 4);
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    uint32_t to = ptx_dec_dest(d, &o[0], t, false, NULL), a = ptx_dec_source(d, &o[1], t, false, NULL),
             b = ptx_dec_source(d, &o[2], t, false, NULL);
    uint32_t p = ptx_dec_source(d, &o[3], TY_pred, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_selp);
    i->d = to, i->a = a, i->b = b, i->c = p;
    i->negate_c = o[3].negated;
}

static void testp(decoder *d) {
    const char *names = ".finite .infinite .number .notanumber .normal .subnormal";
    ptx_dec_read_modifiers(d, names);
    ptx_dec_need(d, 2, 2);
    uint32_t to = ptx_dec_dest(d, &d->s->operands[0], TY_pred, false, NULL),
             a = ptx_dec_source(d, &d->s->operands[1], d->types[0], false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_testp);
    i->d = to, i->a = a;
    i->sub = (uint8_t)ptx_dec_choose(d, names);
}

static void bfi(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 5, 5);
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    uint32_t to = ptx_dec_dest(d, &o[0], t, false, NULL), a = ptx_dec_source(d, &o[1], t, false, NULL),
             b = ptx_dec_source(d, &o[2], t, false, NULL);
    uint32_t c = ptx_dec_source(d, &o[3], TY_u32, false, NULL), e = ptx_dec_source(d, &o[4], TY_u32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_bfi);
    i->d = to, i->a = a, i->b = b, i->c = c, i->e = e;
}

static void lop3(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 5, 5);
    operand *o = d->s->operands;
    if (o[4].kind != OPERAND_INTEGER || o[0].pair) ptx_dec_unsupported(d, "this form of lop3");
    uint32_t to = ptx_dec_dest(d, &o[0], TY_u32, false, NULL), a = ptx_dec_source(d, &o[1], TY_u32, false, NULL);
    uint32_t b = ptx_dec_source(d, &o[2], TY_u32, false, NULL), c = ptx_dec_source(d, &o[3], TY_u32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_lop3);
    i->d = to, i->a = a, i->b = b, i->c = c;
    i->imm = (int64_t)(o[4].value & 0xff);
}

/* Decodes vabsdiff4.u32.u32.u32{.add} d, a, b, c. */
static void vabsdiff4(decoder *d) {
    ptx_dec_read_modifiers(d, ".add");
    for (uint32_t k = 0; k < 3; k++)
        if (d->ntypes != 3 || d->types[k] != TY_u32)
            ptx_dec_unsupported(d, "these types of vabsdiff4 are not supported");
    emit_lanes(d, ptx_dec_has(d, ".add") ? OP_vabsdiff4_add : OP_vabsdiff4, d->s->operands, d->s->noperands);
}

static void prmt(decoder *d) {
    const char *modes = ".f4e .b4e .rc8 .ecl .ecr .rc16";
    ptx_dec_read_modifiers(d, modes);
    ptx_dec_need(d, 4, 4);
    operand *o = d->s->operands;
    uint32_t to = ptx_dec_dest(d, &o[0], TY_u32, false, NULL), a = ptx_dec_source(d, &o[1], TY_u32, false, NULL);
    uint32_t b = ptx_dec_source(d, &o[2], TY_u32, false, NULL), c = ptx_dec_source(d, &o[3], TY_u32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_prmt);
    i->d = to, i->a = a, i->b = b, i->c = c;
    i->sub = (uint8_t)(ptx_dec_choose(d, modes) + 1);
}

/* Mnemonics with their own decoder; all others are lane arithmetic. */
static const struct {
    const char *name;
    void (*decode)(decoder *);
} decoders[] = {
    {"add", carry},
    {"addc", carry},
    {"sub", carry},
    {"subc", carry},
    {"mad", carry},
    {"madc", carry},
    {"and", ptx_dec_logic},
    {"or", ptx_dec_logic},
    {"xor", ptx_dec_logic},
    {"not", ptx_dec_logic},
    {"setp", setp},
    {"set", set},
    {"selp", selp},
    {"testp", testp},
    {"bfi", bfi},
    {"lop3", lop3},
    {"prmt", prmt},
    {"vabsdiff4", vabsdiff4},
    {"mov", ptx_dec_mov},
    {"ld", ptx_dec_load_or_store},
    {"ldu", ptx_dec_load_or_store},
    {"st", ptx_dec_load_or_store},
    {"atom", ptx_dec_atomic},
    {"red", ptx_dec_atomic},
    {"cvta", ptx_dec_cvta},
    {"isspacep", ptx_dec_isspacep},
    {"cvt", ptx_dec_cvt},
    {"tex", ptx_dec_tex},
    {"tld4", ptx_dec_tex},
    {"txq", ptx_dec_txq},
    {"suq", ptx_dec_txq},
    {"suld", ptx_dec_surface},
    {"sust", ptx_dec_surface},
    {"bra", ptx_dec_bra},
    {"brx", ptx_dec_brx},
    {"call", ptx_dec_call},
    {"ret", ptx_dec_ret},
    {"exit", ptx_dec_exit},
    {"trap", ptx_dec_trap},
    {"brkpt", ptx_dec_trap},
    {"bar", ptx_dec_bar},
    {"barrier", ptx_dec_bar},
    {"shfl", ptx_dec_shfl},
    {"vote", ptx_dec_vote},
    {"match", ptx_dec_match},
    {"redux", ptx_dec_redux},
    {"activemask", ptx_dec_activemask},
    {"mma", ptx_dec_mma},
    {"wmma", ptx_dec_wmma},
    {"ldmatrix", ptx_dec_ldmatrix},
    {"movmatrix", ptx_dec_movmatrix},
    {"cp", ptx_dec_cp},
    {"mbarrier", ptx_dec_mbarrier},
    {"nanosleep", ptx_dec_nanosleep},
    {"membar", ptx_dec_fence},
    {"fence", ptx_dec_fence},
    {"prefetch", ptx_dec_nop},
    {"prefetchu", ptx_dec_nop},
    {"pmevent", ptx_dec_nop},
};

/* What SimGPU lacks, by the first part of the name. */
static const struct {
    const char *name, *why;
} missing[] = {{"wgmma", "SimGPU has no products of warp groups; mma.sync does the same"},
               {"tcgen05", "SimGPU has no tensor memory; mma.sync does the same"},
               {"mapa", "SimGPU has no clusters of blocks"},
               {"getctarank", "SimGPU has no clusters of blocks"},
               {"clusterlaunchcontrol", "SimGPU has no clusters of blocks"},
               {"tensormap", "SimGPU has no bulk copies (TMA)"},
               {"multimem", "SimGPU has no memory of several devices"}};

static void decode_statement(decoder *d) {
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (strcmp(missing[i].name, d->s->name) == 0) ptx_dec_unsupported(d, missing[i].why);
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        if (strcmp(decoders[i].name, d->s->name) == 0) {
            decoders[i].decode(d);
            return;
        }
    arithmetic(d);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const label_place *)a)->name, ((const label_place *)b)->name);
}

static void resolve_labels(decoder *d) {
    if (d->nlabels) qsort(d->labels, d->nlabels, sizeof *d->labels, by_name);
    for (uint32_t i = 0; i < d->nfixups; i++) {
        label_place wanted = {d->fixups[i].label, 0}, *found = NULL;
        if (d->nlabels) found = bsearch(&wanted, d->labels, d->nlabels, sizeof wanted, by_name);
        if (!found) {
            d->error = ptx_format("bra: label %s is not in this function (PTX line %u)", d->fixups[i].label,
                                  d->fixups[i].ptx_line);
            longjmp(d->on_error, 1);
        }
        *(d->fixups[i].where ? d->fixups[i].where : &d->code->insns[d->fixups[i].insn].target) = found->insn;
    }
}

/* Returns whether the result of a call of this builtin depends on the order of blocks: memory from the heap of kernels,
 * CUDA's device runtime. */
static bool orders_blocks(const char *name) {
    return !strcmp(name, "malloc") || !strcmp(name, "free") || !strncmp(name, "cuda", 4) ||
           !strncmp(name, "__cudaCDP2", 10);
}

static void finish(decoder *d) {
    ptx_code *c = d->code;
    ptx_function *f = d->pf->function;
    statement *last = ptx_alloc(sizeof *last);
    *last = (statement){.name = "ret"};
    if (c->ninsns) last->line = c->insns[c->ninsns - 1].line, last->file = c->insns[c->ninsns - 1].file;
    d->s = last;
    d->flags = (ptx_insn){0};
    ptx_dec_emit(d, OP_ret); /* every path ends here */
    resolve_labels(d);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        ptx_insn *x = &c->insns[i];
        if (x->op != OP_atom) continue;
        for (uint32_t r = 0; r < d->pf->nregisters; r++)
            if (d->pf->registers[r]->row == x->d && d->uses[d->pf->registers[r]->id] == 0) x->unused = true;
        bool global = x->space == SPACE_GLOBAL || x->space == SPACE_GENERIC;
        if (global && (!x->unused || ptx_is_float((enum ptx_type)x->type) || x->sub == ATOM_exch || x->sub == ATOM_cas))
            c->serial = true;
        if (x->space == SPACE_CONST) ptx_dec_unsupported(d, "an atomic on constants");
    }
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const ptx_function *f = c->insns[i].op == OP_call ? c->insns[i].call->callee : NULL;
        if (f && !f->has_body && orders_blocks(f->name)) c->serial = true;
        if (f && !f->has_body && strstr(f->name, "LaunchDevice")) d->pf->function->launches = true;
    }
    c->frame_bytes = (d->top + 63) & ~63u;
    c->params = d->pf->slots;
    c->nparams = d->pf->nparam_slots;
    c->has_result = d->pf->result_slot >= 0;
    if (c->has_result) {
        c->result = d->pf->slots[d->pf->result_slot];
        c->params = d->pf->slots + 1; /* slot 0 is the result */
        c->nparams--;
    }
    f->code = c;
}

/* --- placement of variables --------------------------------------------------------------------------------- */

static uint64_t aligned_up(uint64_t n, uint64_t align) { return align ? (n + align - 1) & ~(align - 1) : n; }

/* Lists the functions that a kernel can reach in reached[], itself first, and marks the variables whose address they
 * take. A call through a pointer may reach every device function. Returns the number of functions. */
static uint32_t reach(ptx_module *m, ptx_function *kernel, ptx_function **reached) {
    uint32_t n = 0, mark = kernel->number;
    kernel->user = mark;
    reached[n++] = kernel;
    for (uint32_t k = 0; k < n; k++) {
        const ptx_code *c = reached[k]->code;
        for (uint32_t r = 0; r < c->nrows; r++)
            if (c->rows[r].kind == ROW_ADDRESS && c->rows[r].var) c->rows[r].var->user = mark;
        for (uint32_t i = 0; c->calls && i < c->ninsns; i++) {
            if (c->insns[i].op != OP_call) continue;
            ptx_function *callee = c->insns[i].call->callee, **to = callee ? &callee : m->functions;
            for (uint32_t f = 0; f < (callee ? 1 : m->nfunctions); f++) {
                if (!to[f]->code || to[f]->is_kernel || to[f]->user == mark) continue;
                to[f]->user = mark;
                reached[n++] = to[f];
            }
        }
    }
    return n;
}

static uint64_t place_shared(ptx_function *kernel, ptx_var *const *vars, uint32_t n, uint64_t top) {
    for (uint32_t k = 0; k < n; k++) {
        if (vars[k]->space != SPACE_SHARED || !vars[k]->size || vars[k]->user != kernel->number) continue;
        top = aligned_up(top, vars[k]->align);
        kernel->shared = ptx_grow(kernel->shared, kernel->nshared, sizeof *kernel->shared);
        kernel->shared[kernel->nshared++] = (ptx_place){vars[k], top};
        top += vars[k]->size;
    }
    return top;
}

/* Places .local variables from 0, and the .shared variables that the kernel can reach in the order of ptxas: the
 * module's first, the kernel's own last, extern __shared__ behind them. */
static void place_variables(ptx_module *m, ptx_function *f, ptx_function **reached) {
    uint64_t local = 0, shared = 0;
    for (uint32_t i = 0; i < f->nvars; i++) {
        ptx_var *v = f->vars[i];
        if (v->space != SPACE_LOCAL) continue;
        v->address = aligned_up(local, v->align);
        local = v->address + v->size;
    }
    if (f->is_kernel) {
        uint32_t n = reach(m, f, reached);
        shared = place_shared(f, m->vars, m->nvars, shared);
        for (uint32_t k = 1; k < n; k++) {
            shared = place_shared(f, reached[k]->vars, reached[k]->nvars, shared);
            f->code->serial |= reached[k]->code->serial;
            f->code->waits |= reached[k]->code->waits;
            f->code->meets |= reached[k]->code->meets;
            f->code->async |= reached[k]->code->async;
            f->launches |= reached[k]->launches;
        }
        shared = place_shared(f, f->vars, f->nvars, shared);
    }
    f->local_bytes = (uint32_t)((local + 15) & ~15ull);
    f->static_shared = (uint32_t)shared;
    f->dynamic_shared_offset = (uint32_t)((shared + 15) & ~15ull);
    if (shared > 227 * 1024 || local > 512 * 1024) {
        f->unsupported =
            ptx_format("%s needs %llu bytes of static shared and %llu of local memory: more than a GPU has", f->name,
                       (unsigned long long)shared, (unsigned long long)local);
        f->code = NULL;
    }
}

/* Numbers instructions and variables through the module, as indices for a device's arrays. */
static void number_all(ptx_module *m) {
    for (uint32_t i = 0; i < m->nvars; i++) m->vars[i]->number = m->variables++;
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        const ptx_function *f = m->functions[i];
        for (uint32_t k = 0; k < f->nvars; k++) f->vars[k]->number = m->variables++;
        if (!f->code) continue;
        f->code->first = m->instructions;
        m->instructions += f->code->ninsns;
    }
}

void ptx_decode_finish(ptx_module *m) {
    ptx_function **reached = ptx_alloc((m->nfunctions + 1) * sizeof(ptx_function *));
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->code) place_variables(m, m->functions[i], reached);
    ptx_free(reached);
    number_all(m);
}

/* Adds the registers that wmma.load and wmma.store need besides the function's own. */
static void add_hidden(decoder *d) {
    parsed_function *pf = d->pf;
    bool wmma = false;
    for (uint32_t i = 0; i < pf->nstatements; i++)
        wmma |= pf->statements[i].name && strcmp(pf->statements[i].name, "wmma") == 0;
    for (int k = 0; k < HIDDEN && wmma; k++) {
        reg *r = d->hidden[k] = ptx_alloc(sizeof *r);
        *r = (reg){.name = "%hidden", .type = k ? TY_b32 : TY_b64, .id = pf->nregisters + 1};
        pf->registers = ptx_grow(pf->registers, pf->nregisters, sizeof r);
        pf->registers[pf->nregisters++] = r;
    }
}

void ptx_decode_function(parsed_function *pf) {
    decoder *d = ptx_alloc(sizeof *d);
    ptx_function *f = pf->function;
    d->pf = pf;
    add_hidden(d);
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
    ptx_cfg_analyse(pf, d->code);
}
