/* decode_memory.c — decoders of moves, conversions, loads, stores and atomics. Each reads its modifiers and operands
 * and emits instructions. decode.c has the parts that all decoders share. */
#include "decoder.h"

#include <stdio.h>
#include <string.h>

static void emit_move(decoder *d, enum ptx_type t, uint32_t to, uint32_t from) {
    ptx_insn *i = ptx_dec_emit(d, ptx_dec_is_wide(t) ? OP_mov_b64 : ptx_type_bytes[t] == 4 ? OP_mov_b32 : OP_mov_b16);
    i->d = to, i->a = from;
}

/* The same for mov.b32 d, {lo, hi} of 16 bits each, which code with halves is full of: lane arithmetic. */
static void pack_pair(decoder *d, const operand *vector, const operand *scalar, bool unpack) {
    uint32_t row[2];
    for (int k = 0; k < 2; k++)
        row[k] = unpack ? ptx_dec_dest(d, &vector->items[k], TY_b16, false, NULL)
                        : ptx_dec_source(d, &vector->items[k], TY_b16, false, NULL);
    if (unpack) {
        uint32_t a = ptx_dec_source(d, scalar, TY_b32, false, NULL);
        ptx_insn *low = row[0] ? ptx_dec_emit(d, OP_mov_low) : NULL;
        if (low) low->d = row[0], low->a = a;
        ptx_insn *high = row[1] ? ptx_dec_emit(d, OP_mov_high) : NULL;
        if (high) high->d = row[1], high->a = a;
        return;
    }
    uint32_t to = ptx_dec_dest(d, scalar, TY_b32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_mov_pair);
    i->d = to, i->a = row[0], i->b = row[1];
}

/* Decodes mov.b64 d, {lo, hi} (pack) and mov.b64 {lo, hi}, a (unpack). whole: the type of the scalar. The instruction's
 * sub is 0 for pack, 1 for unpack. */
static void pack(decoder *d, enum ptx_type whole, const operand *vector, const operand *scalar, bool unpack) {
    uint32_t n = vector->nitems;
    if (n != 2 && n != 4) ptx_dec_unsupported(d, "a vector of other than 2 or 4 pieces");
    uint32_t bytes = ptx_type_bytes[whole] / n;
    enum ptx_type piece = bytes == 4 ? TY_b32 : bytes == 2 ? TY_b16 : bytes == 1 ? TY_b8 : TY_none;
    if (!piece) ptx_dec_unsupported(d, "this split of a register");
    if (bytes == 2 && n == 2) return pack_pair(d, vector, scalar, unpack);
    ptx_insn x = {0};
    for (uint32_t k = 0; k < n; k++)
        x.v[k] = unpack ? ptx_dec_dest(d, &vector->items[k], piece, false, NULL)
                        : ptx_dec_source(d, &vector->items[k], piece, false, NULL);
    uint32_t row = unpack ? ptx_dec_source(d, scalar, whole, false, NULL) : ptx_dec_dest(d, scalar, whole, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_mov_pack);
    memcpy(i->v, x.v, sizeof x.v);
    i->vector = (uint8_t)n;
    i->type = (uint8_t)whole;
    i->from = (uint8_t)piece;
    i->sub = unpack;
    if (unpack)
        i->a = row;
    else
        i->d = row;
}

/* Decodes the address of a device function's own parameter. As the PTX ISA says, the parameter is copied to local
 * memory for that, and has its address there; clang reads it by ld.param or, since version 20, ld.local. */
static void slot_address(decoder *d, enum ptx_type t, const operand *to, const operand *of) {
    ptx_function *f = d->pf->function;
    const ptx_var *parameter = of->symbol->var;
    ptx_var *copy = NULL;
    for (uint32_t k = 0; k < f->nvars && !copy; k++)
        if (f->vars[k]->space == SPACE_LOCAL && f->vars[k]->name == parameter->name) copy = f->vars[k];
    if (!copy) {
        copy = ptx_alloc(sizeof *copy);
        *copy = *parameter;
        copy->space = SPACE_LOCAL;
        f->vars = ptx_grow(f->vars, f->nvars, sizeof *f->vars);
        f->vars[f->nvars++] = copy;
    }
    ptx_row row = {.kind = ROW_ADDRESS, .bytes = 8, .bits = of->value, .var = copy};
    uint32_t from = ptx_dec_add_row(d, row), dest = ptx_dec_dest(d, to, t, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_mov_slot);
    i->a = from;
    i->d = dest;
    i->imm = (int64_t)of->value;
    i->call = ptx_alloc(sizeof *i->call);
    i->call->result = d->pf->slots[of->symbol->index];
}

void ptx_dec_mov(decoder *d) {
    if (ptx_dec_has(d, ".pred")) return ptx_dec_logic(d);
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 2, 2);
    operand *o = d->s->operands;
    enum ptx_type t = d->types[0];
    if (o[0].kind == OPERAND_VECTOR) return pack(d, t, &o[0], &o[1], true);
    if (o[1].kind == OPERAND_VECTOR) return pack(d, t, &o[1], &o[0], false);
    if (o[1].kind == OPERAND_SPECIAL && o[1].special >= SREG_clock) {
        ptx_insn *i = ptx_dec_emit(d, OP_mov_clock);
        i->sub = (uint8_t)o[1].special;
        i->d = ptx_dec_dest(d, &o[0], t, false, &i->d_wide);
        return;
    }
    if (o[1].kind == OPERAND_SYMBOL && o[1].symbol->kind == SYMBOL_SLOT && ptx_type_bytes[t] == 8)
        return slot_address(d, t, &o[0], &o[1]);
    uint32_t to = ptx_dec_dest(d, &o[0], t, false, NULL);
    emit_move(d, t, to, ptx_dec_source(d, &o[1], t, false, NULL));
}

/* Sets the rows of a value operand of ld, st: one register, or {..} of x->vector registers. */
static void value_rows(decoder *d, ptx_insn *x, const operand *o, bool load) {
    enum ptx_type t = (enum ptx_type)x->type;
    uint32_t n = o->kind == OPERAND_VECTOR ? o->nitems : 1;
    if (n != x->vector) ptx_dec_unsupported(d, "the vector has another length than the instruction says");
    for (uint32_t k = 0; k < n; k++) {
        const operand *item = o->kind == OPERAND_VECTOR ? &o->items[k] : o;
        bool wide;
        x->v[k] = load ? ptx_dec_dest(d, item, t, true, &wide) : ptx_dec_source(d, item, t, true, &wide);
        if (k == 0) x->d_wide = wide;
        if (item->kind == OPERAND_SINK || item->kind == OPERAND_INTEGER || item->kind == OPERAND_FLOAT) {
            if (wide != x->d_wide) ptx_dec_unsupported(d, "a vector of mixed widths");
        } else if (wide != x->d_wide) {
            ptx_dec_unsupported(d, "a vector of mixed widths");
        }
    }
}

void ptx_dec_address(decoder *d, ptx_insn *x, const operand *o) {
    if (!o->is_address) ptx_dec_unsupported(d, "an address in [ ] is missing");
    operand base = *o;
    if (o->kind == OPERAND_REGISTER) {
        base.value = 0;
        x->imm = (int64_t)o->value;
        x->a = ptx_dec_source(d, &base, ptx_dec_is_wide(o->reg->type) ? TY_u64 : TY_u32, false, &x->a_wide);
    } else {
        x->a = ptx_dec_source(d, &base, TY_u64, false, &x->a_wide);
    }
}

/* Returns whether `bytes` at offset `at` lie inside `size`. A negative offset appears as a large one. */
static bool inside(uint64_t at, uint64_t bytes, uint64_t size) { return at <= size && bytes <= size - at; }

/* Decodes ld.param of a kernel's own parameter as a move from a row that the launch fills in. */
static void load_parameter(decoder *d, ptx_insn *x, const operand *o) {
    enum ptx_type t = (enum ptx_type)x->type;
    uint64_t offset = o->symbol->var->address + o->value;
    if (!inside(o->value, (uint64_t)x->vector * ptx_type_bytes[t], o->symbol->var->size))
        ptx_dec_unsupported(d, "reads past the end of the parameter");
    for (uint32_t k = 0; k < x->vector; k++) {
        ptx_row row = {
            .kind = ROW_PARAM, .bytes = x->d_wide ? 8 : 4, .type = (uint8_t)t, .bits = offset + k * ptx_type_bytes[t]};
        emit_move(d, x->d_wide ? TY_b64 : TY_b32, x->v[k], ptx_dec_add_row(d, row));
    }
}

static void slot_access(decoder *d, ptx_insn *x, const operand *o, enum ptx_op op) {
    const ptx_slot *slot = &d->pf->slots[o->symbol->index];
    if (!inside(o->value, (uint64_t)x->vector * ptx_type_bytes[x->type], slot->size))
        ptx_dec_unsupported(d, "reaches past the end of the parameter");
    ptx_insn *i = ptx_dec_emit(d, op);
    memcpy(i->v, x->v, sizeof x->v);
    i->d_wide = x->d_wide;
    i->imm = (int64_t)(slot->offset + o->value);
    i->a = slot->stride;
}

void ptx_dec_load_or_store(decoder *d) {
    bool load = d->s->name[0] == 'l';
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 2, 2);
    if (!d->ntypes) ptx_dec_unsupported(d, "a memory access without a type");
    const operand *value = &d->s->operands[load ? 0 : 1], *where = &d->s->operands[load ? 1 : 0];
    ptx_insn x = d->flags;
    value_rows(d, &x, value, load);
    if (x.space == SPACE_PARAM && where->kind == OPERAND_SYMBOL) {
        if (where->symbol->kind == SYMBOL_SLOT) return slot_access(d, &x, where, load ? OP_ld_frame : OP_st_frame);
        if (where->symbol->kind == SYMBOL_PARAM && load) return load_parameter(d, &x, where);
    }
    if ((x.space == SPACE_PARAM || x.space == SPACE_CONST) && !load) ptx_dec_unsupported(d, "this memory is read-only");
    ptx_dec_address(d, &x, where);
    ptx_insn *i = ptx_dec_emit(d, load ? OP_ld : OP_st);
    if (x.space == SPACE_PARAM && !d->pf->function->is_kernel) i->space = SPACE_LOCAL; /* see slot_address */
    memcpy(i->v, x.v, sizeof x.v);
    i->a = x.a, i->imm = x.imm, i->a_wide = x.a_wide, i->d_wide = x.d_wide;
}

void ptx_dec_atomic(decoder *d) {
    const char *operations = ".add .min .max .inc .dec .and .or .xor .exch .cas";
    ptx_dec_read_modifiers(d, operations);
    bool red = d->s->name[0] == 'r';
    uint32_t first = red ? 0 : 1;
    int op = ptx_dec_choose(d, operations);
    enum ptx_type t = d->types[0];
    if (op < 0 || d->flags.vector != 1 || !d->ntypes) ptx_dec_unsupported(d, "this atomic is not supported");
    bool half = ptx_is_half(t), short_cas = t == TY_b16 && op == ATOM_cas;
    if (ptx_type_bytes[t] != 4 && ptx_type_bytes[t] != 8 && !half && !short_cas)
        ptx_dec_unsupported(d, "atomics work on 32 and 64 bits");
    if (ptx_is_float(t) && op != ATOM_add) ptx_dec_unsupported(d, "this atomic is not supported");
    ptx_dec_need(d, first + 2, first + 3);
    const operand *o = d->s->operands;
    ptx_insn x = {0};
    x.d = red ? NO_ROW : ptx_dec_dest(d, &o[0], t, false, NULL);
    ptx_dec_address(d, &x, &o[first]);
    x.b = ptx_dec_source(d, &o[first + 1], t, false, NULL);
    if (op == ATOM_cas) {
        ptx_dec_need(d, first + 3, first + 3);
        x.c = ptx_dec_source(d, &o[first + 2], t, false, NULL);
    }
    ptx_insn *i = ptx_dec_emit(d, OP_atom);
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
    default: ptx_dec_unsupported(d, "an address space is missing");
    }
}

void ptx_dec_cvta(decoder *d) {
    ptx_dec_read_modifiers(d, ".to");
    ptx_dec_need(d, 2, 2);
    if (!ptx_dec_is_wide(d->types[0])) ptx_dec_unsupported(d, "32-bit generic addresses");
    uint64_t window = window_of(d, (enum ptx_space)d->flags.space);
    uint32_t to = ptx_dec_dest(d, &d->s->operands[0], TY_u64, false, NULL),
             a = ptx_dec_source(d, &d->s->operands[1], TY_u64, false, NULL);
    uint32_t b = ptx_dec_constant(d, ptx_dec_has(d, ".to") ? 0 - window : window, true);
    ptx_insn *i = ptx_dec_emit(d, OP_cvta);
    i->d = to, i->a = a, i->b = b;
}

void ptx_dec_isspacep(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 2, 2);
    uint32_t to = ptx_dec_dest(d, &d->s->operands[0], TY_pred, false, NULL),
             a = ptx_dec_source(d, &d->s->operands[1], TY_u64, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_isspacep);
    i->d = to, i->a = a;
}

/* Conversions of two numbers: cvt.rn.f16x2.f32 d, a, b (a is the upper half), and those from and to 8-bit floats. */
static void convert_pair(decoder *d, enum ptx_type t, enum ptx_type from) {
    bool two = from == TY_f32, narrow = t == TY_e4m3x2 || t == TY_e5m2x2;
    bool from_8 = from == TY_e4m3x2 || from == TY_e5m2x2;
    if (!two && !(narrow && from == TY_f16x2) && !(from_8 && t == TY_f16x2))
        ptx_dec_unsupported(d, "this conversion is not supported");
    const operand *o = d->s->operands;
    ptx_dec_need(d, two ? 3 : 2, two ? 3 : 2);
    uint32_t to = ptx_dec_dest(d, &o[0], t, false, NULL), a = ptx_dec_source(d, &o[1], from, false, NULL);
    uint32_t b = two ? ptx_dec_source(d, &o[2], from, false, NULL) : a;
    enum ptx_op op = OP_cvt_pair;
    if (t == TY_f16x2 || t == TY_bf16x2) {
        bool plain = two && !d->flags.modified && !d->flags.relu && !d->flags.satfinite;
        if (plain) op = t == TY_f16x2 ? OP_cvt_f16x2_f32 : OP_cvt_bf16x2_f32;
    }
    ptx_insn *i = ptx_dec_emit(d, op);
    i->d = to, i->a = a, i->b = b;
    i->type = (uint8_t)t, i->from = (uint8_t)from;
}

static bool has_two(enum ptx_type t) { return t == TY_f16x2 || t == TY_bf16x2 || t == TY_e4m3x2 || t == TY_e5m2x2; }

void ptx_dec_cvt(decoder *d) {
    const char *to_integer = ".rni .rzi .rmi .rpi";
    ptx_dec_read_modifiers(d, ".rni .rzi .rmi .rpi .satfinite");
    d->flags.satfinite = ptx_dec_has(d, ".satfinite");
    if (d->ntypes != 2) ptx_dec_unsupported(d, "cvt needs two types");
    const operand *o = d->s->operands;
    enum ptx_type t = d->types[0], from = d->types[1];
    if (has_two(t) || has_two(from)) return convert_pair(d, t, from);
    ptx_dec_need(d, 2, 2);
    if (d->flags.round == ROUND_AWAY && t != TY_tf32) ptx_dec_unsupported(d, ".rna rounds to tf32 only");
    if (from == TY_tf32 || (t == TY_tf32 && from != TY_f32)) ptx_dec_unsupported(d, "this conversion is not supported");
    int rint = ptx_dec_choose(d, to_integer) + 1;
    bool wide_d, wide_a;
    uint32_t to = ptx_dec_dest(d, &o[0], t, true, &wide_d), a = ptx_dec_source(d, &o[1], from, true, &wide_a);
    enum ptx_op op;
    snprintf(d->key, sizeof d->key, "cvt%s", ptx_type_names[t]);
    bool plain = !d->flags.modified && !d->flags.relu && !d->flags.satfinite && !rint && wide_d == ptx_dec_is_wide(t) &&
                 wide_a == ptx_dec_is_wide(from);
    ptx_insn *i = ptx_dec_emit(d, plain && ptx_dec_has_type(d->key, from, &op) ? op : OP_cvt);
    i->d = to, i->a = a, i->d_wide = wide_d, i->a_wide = wide_a;
    i->type = (uint8_t)t, i->from = (uint8_t)from;
    i->sub = (uint8_t)rint;
}
