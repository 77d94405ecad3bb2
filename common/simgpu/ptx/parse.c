/* parse.c — the parser, which turns tokens into a ptx_module. parse.h has the grammar; the comment of a function has
 * its rule. */
#include "parse.h"
#include "lex.h"
#include "names.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ptx_type_names[NTYPES] = {"",      ".u8",     ".s8",     ".b8",    ".u16",   ".s16",  ".b16",
                                            ".u32",  ".s32",    ".b32",    ".u64",   ".s64",   ".b64",  ".f16",
                                            ".f32",  ".f64",    ".pred",   ".b128",  ".f16x2", ".bf16", ".bf16x2",
                                            ".tf32", ".e4m3x2", ".e5m2x2", ".u16x2", ".s16x2"};
const uint8_t ptx_type_bytes[NTYPES] = {0, 1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 2, 4, 8, 4, 16, 4, 2, 4, 4, 2, 2, 4, 4};

enum {
    MAX_INITIAL = 1 << 28,
    MAX_PARAMETERS = 1 << 16,
    MAX_REGISTERS = 1 << 20
}; /* bytes of a module, bytes, of a function */

typedef struct {
    lexer lx;
    token t; /* the token to be read next */
    ptx_module *m;
    scope *scope;        /* innermost; the outermost is the module's */
    parsed_function *pf; /* the function being parsed, or NULL */
    uint32_t line;       /* from the last .loc */
    uint16_t file, column;
    uint64_t initial; /* bytes of initial values so far */
    uint32_t depth;   /* of nested brackets and braces */
    bool rolled;      /* `.pragma "nounroll"` was read, and no instruction since */
    bool in_call;     /* the operands are those of a call: ( ) enclose a list, not a constant */
    /* Of a text that is several modules to be linked, one behind the other (ptx_load). A name without linkage is known
     * in its module only, and the numbers of files are. */
    scope *outermost;   /* of names with linkage; NULL: the text is one module */
    uint32_t file_base; /* added to the numbers of files */
    bool linkage, weak; /* the declaration has linkage; is weak, so that it may be repeated */
    jmp_buf on_error;
    const char *error;
    uint32_t error_line;
} parser;

static _Noreturn void fail(parser *p, const char *message) {
    p->error = message;
    p->error_line = p->t.line;
    longjmp(p->on_error, 1);
}

/* deeper and higher enclose a recursive rule, to limit the use of the host's stack. */
static void deeper(parser *p) {
    if (++p->depth > 64) fail(p, "brackets nest more than 64 deep");
}
static void higher(parser *p) { p->depth--; }

static void advance(parser *p) { p->t = ptx_lex_next(&p->lx); }
static bool at(parser *p, const char *text) {
    return p->t.kind != TOKEN_STRING && p->t.kind != TOKEN_END && ptx_token_is(&p->t, text);
}
static bool accept(parser *p, const char *text) {
    if (!at(p, text)) return false;
    advance(p);
    return true;
}
static void expect(parser *p, const char *text) {
    if (!accept(p, text)) fail(p, ptx_format("expected '%s' before '%.*s'", text, (int)p->t.length, p->t.text));
}
static const char *copy_text(const token *t) {
    char *s = ptx_alloc(t->length + 1u);
    memcpy(s, t->text, t->length);
    return s;
}
static const char *name(parser *p) {
    if (p->t.kind != TOKEN_NAME) fail(p, ptx_format("expected a name before '%.*s'", (int)p->t.length, p->t.text));
    const char *s = copy_text(&p->t);
    advance(p);
    return s;
}
static uint64_t integer(parser *p) {
    bool minus = accept(p, "-");
    if (p->t.kind != TOKEN_INTEGER) fail(p, ptx_format("expected a number before '%.*s'", (int)p->t.length, p->t.text));
    uint64_t v = p->t.bits;
    advance(p);
    return minus ? 0 - v : v;
}

static uint64_t constant_of(parser *p, bool product) {
    uint64_t value;
    const char *error = ptx_constant(&p->lx, &p->t, product, &value);
    if (error) fail(p, error);
    return value;
}
static uint64_t constant_value(parser *p) { return constant_of(p, false); }

/* --- names -------------------------------------------------------------------------------------------------- */

/* Declares a name in the innermost braces; in a text of several modules, one with linkage outside of them all. */
static symbol *declare(parser *p, int kind, const char *text) {
    const bool of_module = kind == SYMBOL_FUNCTION || (kind == SYMBOL_VARIABLE && !p->pf);
    return ptx_declare(p->outermost && p->linkage && of_module ? p->outermost : p->scope, kind, text);
}

static symbol *lookup(parser *p, const char *text, reg **r) { return ptx_lookup(p->scope, p->pf, text, r); }
static void open_scope(parser *p) { p->scope = ptx_scope_within(p->scope); }
static void close_scope(parser *p) { p->scope = p->scope->outer; }

static enum ptx_type type_of(const token *t) {
    for (int i = 1; i < NTYPES; i++)
        if (ptx_token_is(t, ptx_type_names[i])) return (enum ptx_type)i;
    return TY_none;
}

/* --- declarations ------------------------------------------------------------------------------------------- */

/* registers = ".reg" [ ".v2" | ".v4" ] type name [ "<" n ">" ] { "," ... } ";" */
static void register_declaration(parser *p) {
    expect(p, ".reg");
    enum ptx_type type = type_of(&p->t);
    if (!type) fail(p, ptx_format("registers of type %.*s are not supported", (int)p->t.length, p->t.text));
    advance(p);
    do {
        const char *text = name(p);
        bool range = accept(p, "<");
        uint64_t n = range ? integer(p) : 1;
        if (range) expect(p, ">");
        if (n > MAX_REGISTERS) fail(p, "too many registers");
        symbol *s = declare(p, range ? SYMBOL_RANGE : SYMBOL_REGISTER, text);
        s->type = type;
        s->count = (uint32_t)n;
        if ((p->pf->declared += s->count) > MAX_REGISTERS) fail(p, "too many registers");
        s->range = ptx_alloc((s->count + 1) * sizeof *s->range);
    } while (accept(p, ","));
    expect(p, ";");
}

/* Returns the bits of the float token as an initial value of this type. A token of the same width keeps its bits. */
static uint64_t float_bits(parser *p, enum ptx_type type, bool minus) {
    double d;
    float f;
    uint64_t bits = p->t.bits;
    bool single = p->t.single;
    memcpy(&f, &bits, 4);
    memcpy(&d, &bits, 8);
    if (single && type == TY_f64) d = f, memcpy(&bits, &d, 8);
    if (!single && type == TY_f32) f = (float)d, bits = 0, memcpy(&bits, &f, 4);
    advance(p);
    return minus ? bits ^ (type == TY_f32 ? 1ull << 31 : 1ull << 63) : bits;
}

/* Returns the name by which the whole link knows what a module calls `text`. */
static const char *linked_name(parser *p, const char *text) {
    reg *unused;
    const symbol *s = lookup(p, text, &unused);
    return s && s->kind == SYMBOL_VARIABLE ? s->var->name : s && s->kind == SYMBOL_FUNCTION ? s->function->name : text;
}

static void initial_value(parser *p, ptx_var *v, enum ptx_type type, uint64_t *used, uint64_t capacity) {
    uint32_t width = ptx_type_bytes[type];
    if (accept(p, "{")) {
        deeper(p);
        if (!at(p, "}")) do
                initial_value(p, v, type, used, capacity);
            while (accept(p, ","));
        expect(p, "}");
        higher(p);
        return;
    }
    if (*used + width > capacity) fail(p, ptx_format("too many initial values for %s", v->name));
    uint64_t bits = 0;
    if (p->t.kind == TOKEN_NAME) { /* an address: name, generic(name), name+4 */
        const char *text = name(p);
        if (strcmp(text, "generic") == 0) {
            expect(p, "(");
            text = name(p);
            expect(p, ")");
        }
        if (p->outermost) text = linked_name(p, text);
        uint64_t addend = accept(p, "+") ? constant_value(p) : 0;
        if (width != 8) fail(p, "an address needs an 8-byte initial value");
        v->relocs = ptx_grow(v->relocs, v->nrelocs, sizeof *v->relocs);
        v->relocs[v->nrelocs++] = (ptx_reloc){*used, addend, text};
    } else {
        bool minus = at(p, "-");
        lexer lx = p->lx;
        token next = minus ? ptx_lex_next(&lx) : p->t;
        if (next.kind == TOKEN_FLOAT) {
            if (minus) advance(p);
            bits = float_bits(p, type, minus);
        } else {
            bits = constant_value(p);
        }
    }
    memcpy(v->initial + *used, &bits, width);
    *used += width;
}

/* What stands before the names of a declaration. */
typedef struct {
    enum ptx_type type;
    uint64_t align; /* 0: that of the type */
    uint32_t vector;
    bool managed;
} attributes;

/* attribute = ".attribute" "(" ".managed" { "," ... } ")"; a variable that the host uses too. */
static void attribute(parser *p, bool *managed) {
    advance(p);
    expect(p, "(");
    if (!accept(p, ".managed")) fail(p, "the only attribute that is supported is .managed");
    *managed = true;
    expect(p, ")");
}

/* pointee = ".ptr" [ space ] [ ".align" n ], of a parameter: where it points. */
static void pointee(parser *p) {
    advance(p);
    if (at(p, ".global") || at(p, ".const") || at(p, ".shared") || at(p, ".local")) advance(p);
    if (accept(p, ".align")) integer(p);
}

/* attributes = { ".align" n | pointee | attribute | ".v2" | ".v4" | type } */
static attributes read_attributes(parser *p) {
    attributes a = {.vector = 1};
    enum ptx_type type;
    while (p->t.kind == TOKEN_DIRECTIVE) {
        if (accept(p, ".align")) {
            a.align = integer(p);
            if (a.align == 0 || (a.align & (a.align - 1)) || a.align > 1u << 16)
                fail(p, "an alignment must be a power of two");
        } else if (at(p, ".attribute")) {
            attribute(p, &a.managed);
        } else if (accept(p, ".v2")) {
            a.vector = 2;
        } else if (accept(p, ".v4")) {
            a.vector = 4;
        } else if (at(p, ".ptr")) {
            pointee(p);
        } else if (at(p, ".volatile")) {
            advance(p);
        } else if (accept(p, ".texref") || accept(p, ".surfref") || accept(p, ".samplerref")) {
            a.type = TY_u64; /* a kernel that uses one is refused (decode_texture.c) */
        } else if ((type = type_of(&p->t))) {
            a.type = type;
            advance(p);
        } else {
            fail(p, ptx_format("'%.*s' is not supported in a declaration", (int)p->t.length, p->t.text));
        }
    }
    if (!a.type) fail(p, "a declaration without a type");
    return a;
}

/* Returns how many values the braces at this place have, without a step forward. */
static uint64_t count_values(const parser *p) {
    lexer lx = p->lx;
    token t = p->t;
    uint64_t n = 0, depth = 0;
    bool value = false;
    do {
        bool opens = ptx_token_is(&t, "{"), closes = ptx_token_is(&t, "}"), comma = ptx_token_is(&t, ",");
        if (opens) depth++;
        if ((closes || comma) && value) n++, value = false;
        if (closes) depth--;
        if (!opens && !closes && !comma) value = true;
        t = ptx_lex_next(&lx);
    } while (depth > 0 && t.kind != TOKEN_END);
    return n;
}

/* "=" value, of a variable whose first dimension is open or not. unit: bytes of an element of that dimension. */
static void initialise(parser *p, ptx_var *v, enum ptx_type type, bool open, uint64_t unit) {
    if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
        fail(p, "only .global and .const variables have initial values");
    if (open && unit && unit <= MAX_INITIAL && at(p, "{"))
        v->size = (count_values(p) * ptx_type_bytes[type] + unit - 1) / unit * unit;
    if (v->size > MAX_INITIAL || (p->initial += v->size) > MAX_INITIAL)
        fail(p, ptx_format("%s is too large for initial values", v->name));
    v->initial = ptx_alloc(v->size);
    uint64_t used = 0;
    initial_value(p, v, type, &used, v->size);
}

/* declarator = name { "[" [n] "]" } [ "=" value ] */
static ptx_var *declarator(parser *p, const attributes *a, enum ptx_space space, bool external) {
    ptx_var *v = ptx_alloc(sizeof *v);
    v->name = name(p);
    v->space = space;
    v->external = external;
    v->managed = a->managed;
    v->element = ptx_type_bytes[a->type];
    v->size = (uint64_t)v->element * a->vector;
    v->align = a->align ? a->align : v->size;
    bool open = false;
    while (accept(p, "[")) {
        uint64_t n = at(p, "]") ? 0 : constant_value(p);
        if (n == 0) open = true;
        if (n && v->size > (1ull << 40) / n) fail(p, ptx_format("%s is too large", v->name));
        if (n) v->size *= n;
        expect(p, "]");
    }
    uint64_t unit = v->size;
    if (open) v->size = 0;
    if (accept(p, "=")) initialise(p, v, a->type, open, unit);
    return v;
}

/* variable = attributes declarator */
static ptx_var *variable(parser *p, enum ptx_space space, bool external) {
    attributes a = read_attributes(p);
    return declarator(p, &a, space, external);
}

/* Declares a variable. Returns NULL if the module declared it before. */
static symbol *declare_variable(parser *p, const attributes *a, enum ptx_space space, bool external) {
    ptx_var *v = declarator(p, a, space, external);
    reg *unused;
    symbol *old = p->pf ? NULL : lookup(p, v->name, &unused);
    if (old && old->kind == SYMBOL_VARIABLE) { /* an extern declaration and its definition */
        if (old->var->external && !external) {
            v->space = old->var->space;
            *old->var = *v;
        }
        return NULL;
    }
    symbol *s = declare(p, SYMBOL_VARIABLE, v->name);
    s->var = v;
    if (p->outermost && !p->linkage && !p->pf && ptx_find_var(p->m, v->name)) /* another module's */
        v->name = ptx_format("%s@%u", v->name, p->m->nvars);
    if (p->pf) {
        ptx_function *f = p->pf->function;
        f->vars = ptx_grow(f->vars, f->nvars, sizeof *f->vars);
        f->vars[f->nvars++] = v;
    }
    return s;
}

/* Declares a .param of a body or .func as a slot of the frame, and returns the slot's index. */
static uint32_t declare_slot(parser *p, ptx_var *v) {
    parsed_function *pf = p->pf;
    if (v->size > MAX_PARAMETERS) fail(p, ptx_format("%s: parameters of more than 64 KB", v->name));
    pf->slots = ptx_grow(pf->slots, pf->nslots, sizeof *pf->slots);
    pf->slots[pf->nslots] = (ptx_slot){v->name, 0, (uint32_t)v->size, (uint32_t)(v->size + 15) & ~15u};
    symbol *s = declare(p, SYMBOL_SLOT, v->name);
    s->index = pf->nslots;
    s->var = v;
    return pf->nslots++;
}

/* --- operands ----------------------------------------------------------------------------------------------- */

/* Parses a name in operand position, with the ".x" of `%tid.x`. */
static operand named(parser *p) {
    operand o = {0};
    const char *text = name(p);
    if (strcmp(text, "_") == 0) {
        o.kind = OPERAND_SINK;
        return o;
    }
    symbol *s = lookup(p, text, &o.reg);
    if (o.reg) {
        o.kind = OPERAND_REGISTER;
        return o;
    }
    if (s) {
        o.kind = OPERAND_SYMBOL;
        o.symbol = s;
        if (s->var && accept(p, "[")) { /* the address of an element; in a load also the element */
            if (p->t.kind == TOKEN_NAME && !at(p, "WARP_SZ"))
                fail(p, ptx_format("an index of %s in a register is not supported; add it to the address", text));
            o.value = constant_value(p) * s->var->element;
            o.is_address = true;
            expect(p, "]");
        }
        return o;
    }
    if (text[0] != '%') {
        o.kind = OPERAND_LABEL;
        o.label = text;
        return o;
    }
    if (p->t.kind == TOKEN_DIRECTIVE && p->t.length == 2) {
        text = ptx_format("%s%.*s", text, 2, p->t.text);
        advance(p);
    }
    if (ptx_special_named(text, &o.special)) {
        o.kind = OPERAND_SPECIAL;
        return o;
    }
    fail(p, ptx_format("special register %s is not supported, or the register is not declared", text));
}

static operand operand_list(parser *p, const char *close, int kind);
static operand *one_operand(parser *p);

/* A constant expression, or a float behind a minus. */
static operand signed_constant(parser *p) {
    lexer lx = p->lx;
    token next = at(p, "-") ? ptx_lex_next(&lx) : p->t;
    if (next.kind != TOKEN_FLOAT) return (operand){.kind = OPERAND_INTEGER, .value = constant_value(p)};
    advance(p);
    operand o = {.kind = OPERAND_FLOAT, .value = next.bits ^ 1ull << (next.single ? 31 : 63), .single = next.single};
    advance(p);
    return o;
}

/* operand = [ "!" ] name [ "[" constant "]" ] [ "|" name ] { ("+"|"-") product } | constant
 *         | "[" operand [ "," coordinates ] "]"
 *         | "{" operands "}" | "(" operands ")" */
static operand parse_operand(parser *p) {
    operand o = {0};
    deeper(p);
    if (accept(p, "!")) {
        o = parse_operand(p);
        if (o.kind == OPERAND_INTEGER)
            o.value = !o.value;
        else
            o.negated = true;
    } else if (accept(p, "{")) {
        o = operand_list(p, "}", OPERAND_VECTOR);
    } else if (at(p, "(") && !p->in_call) {
        o = (operand){.kind = OPERAND_INTEGER, .value = constant_value(p)};
    } else if (accept(p, "(")) {
        o = operand_list(p, ")", OPERAND_LIST);
    } else if (accept(p, "[")) {
        o = parse_operand(p);
        o.is_address = true;
        if (accept(p, ",")) o.coordinates = one_operand(p);
        expect(p, "]");
    } else if (p->t.kind == TOKEN_FLOAT) {
        o = (operand){.kind = OPERAND_FLOAT, .value = p->t.bits, .single = p->t.single};
        advance(p);
    } else if (p->t.kind == TOKEN_INTEGER || at(p, "-") || at(p, "+") || at(p, "~") || at(p, "WARP_SZ")) {
        o = signed_constant(p);
    } else {
        o = named(p);
        if (accept(p, "|")) {
            operand q = named(p);
            if (q.kind == OPERAND_REGISTER && q.reg->type == TY_pred)
                o.pair = q.reg;
            else if (q.kind != OPERAND_SINK)
                fail(p, "expected a predicate after '|'");
        }
        while (at(p, "+") || at(p, "-")) {
            bool minus = at(p, "-");
            advance(p);
            uint64_t v = constant_of(p, true);
            o.value += minus ? 0 - v : v;
        }
    }
    higher(p);
    return o;
}

static operand operand_list(parser *p, const char *close, int kind) {
    operand o = {.kind = kind};
    if (!at(p, close)) do {
            operand item = parse_operand(p);
            o.items = ptx_grow(o.items, o.nitems, sizeof item);
            o.items[o.nitems++] = item;
        } while (accept(p, ","));
    expect(p, close);
    return o;
}

static operand *one_operand(parser *p) {
    operand *o = ptx_alloc(sizeof *o);
    *o = parse_operand(p);
    return o;
}

/* --- statements --------------------------------------------------------------------------------------------- */

static statement *new_statement(parser *p) {
    parsed_function *pf = p->pf;
    if (pf->nstatements == pf->capacity) {
        pf->capacity = pf->capacity ? 2 * pf->capacity : 8;
        statement *s = ptx_alloc(pf->capacity * sizeof *s);
        if (pf->nstatements) memcpy(s, pf->statements, pf->nstatements * sizeof *s);
        ptx_free(pf->statements);
        pf->statements = s;
    }
    statement *s = &pf->statements[pf->nstatements++];
    s->ptx_line = p->t.line;
    s->line = p->line;
    s->file = p->file;
    s->column = p->column;
    return s;
}

static void instruction(parser *p) {
    statement *s = new_statement(p);
    s->in_asm = p->lx.in_asm;
    s->rolled = p->rolled;
    p->rolled = false;
    if (accept(p, "@")) {
        s->guard_not = accept(p, "!");
        operand g = named(p);
        if (g.kind != OPERAND_REGISTER || g.reg->type != TY_pred) fail(p, "a guard must be a predicate register");
        s->guard = g.reg;
    }
    s->name = name(p);
    p->in_call = strcmp(s->name, "call") == 0;
    for (; p->t.kind == TOKEN_DIRECTIVE; advance(p)) {
        if (s->nmodifiers == MAX_MODIFIERS) fail(p, "too many modifiers");
        s->modifiers[s->nmodifiers++] = copy_text(&p->t);
    }
    if (!at(p, ";")) do {
            if (s->noperands == MAX_OPERANDS) fail(p, "too many operands");
            s->operands[s->noperands++] = parse_operand(p);
        } while (accept(p, ","));
    expect(p, ";");
}

/* .loc file line column [ "," "function_name" sym ["+" n] "," "inlined_at" file line column ] */
static void location(parser *p) {
    expect(p, ".loc");
    p->file = (uint16_t)(integer(p) + p->file_base);
    uint32_t line = (uint32_t)integer(p);
    p->column = (uint16_t)integer(p);
    /* Line 0 means no single line; keep the last one, which is a useful place for a reader. */
    if (line) p->line = line;
    while (accept(p, ",")) {
        const char *what = name(p);
        if (strcmp(what, "inlined_at") == 0) {
            integer(p), integer(p), integer(p);
        } else {
            name(p);
            if (accept(p, "+")) integer(p);
        }
    }
}

static void to_semicolon(parser *p) {
    while (!at(p, ";") && p->t.kind != TOKEN_END) advance(p);
    expect(p, ";");
}

/* ".pragma" string { "," string } ";"   "nounroll" belongs to the next instruction. */
static void pragma(parser *p) {
    for (; !at(p, ";") && p->t.kind != TOKEN_END; advance(p))
        if (p->t.kind == TOKEN_STRING && ptx_token_begins(&p->t, "nounroll")) p->rolled = true;
    expect(p, ";");
}

/* --- labels: known in their braces, and in those inside --------------------------------------------------------- */

/* The scope's own name of a label: no other symbol begins with a colon. */
static const char *label_name(const char *text) { return ptx_format(":%s", text); }

static void declare_label(parser *p, const char *text) {
    const char *own = label_name(text);
    if (ptx_declared(p->scope, own)) fail(p, ptx_format("the label %s stands twice in one pair of braces", text));
    declare(p, SYMBOL_LABEL, own);
    p->scope->nlabels++;
    new_statement(p)->label = text;
}

static void rename_label(const parser *p, uint32_t first, const char **label) {
    if (ptx_declared(p->scope, label_name(*label)))
        *label = ptx_format("%s of %u to %u", *label, first, p->pf->nstatements);
}

/* A label of the scope that ends gets a name that no label of another scope has, where it stands and where it is used:
 * in statements from `first` on, and in lists of targets from `list` on. Inner scopes have renamed theirs before. */
static void rename_labels(parser *p, uint32_t first, uint32_t list) {
    parsed_function *pf = p->pf;
    const char **uses[1 + MAX_OPERANDS];
    for (uint32_t k = first; k < pf->nstatements; k++) {
        statement *t = &pf->statements[k];
        uint32_t n = 0;
        if (t->label) uses[n++] = &t->label;
        for (uint32_t i = 0; i < t->noperands; i++)
            if (t->operands[i].kind == OPERAND_LABEL) uses[n++] = &t->operands[i].label;
        while (n--) rename_label(p, first, uses[n]);
    }
    for (; list < pf->ntargets; list++)
        for (uint32_t i = 0; i < pf->targets[list].nlabels; i++) rename_label(p, first, &pf->targets[list].labels[i]);
}

/* name ":" ( ".branchtargets" labels ";" | ".callprototype" ... ";" | nothing ) */
static void label(parser *p, const char *text) {
    if (accept(p, ".branchtargets")) {
        parsed_function *pf = p->pf;
        pf->targets = ptx_grow(pf->targets, pf->ntargets, sizeof *pf->targets);
        target_list *list = &pf->targets[pf->ntargets];
        list->name = text;
        do {
            list->labels = ptx_grow(list->labels, list->nlabels, sizeof *list->labels);
            list->labels[list->nlabels++] = name(p);
        } while (accept(p, ","));
        expect(p, ";");
        declare(p, SYMBOL_TARGETS, text)->index = pf->ntargets++;
    } else if (at(p, ".callprototype") || at(p, ".calltargets")) {
        to_semicolon(p);
        declare(p, SYMBOL_PROTOTYPE, text);
    } else {
        declare_label(p, text);
    }
}

static void skip_section(parser *p) {
    expect(p, ".section");
    advance(p);
    int depth = 0;
    do {
        if (at(p, "{")) depth++;
        if (at(p, "}")) depth--;
        if (p->t.kind == TOKEN_END) fail(p, "a .section without its end");
        advance(p);
    } while (depth > 0);
}

static void file_directive(parser *p) {
    expect(p, ".file");
    uint64_t n = integer(p) + p->file_base;
    if (p->t.kind != TOKEN_STRING || n > 65535) fail(p, ".file needs a number below 65536 and a name");
    while (p->m->nfiles <= n) {
        p->m->files = ptx_grow(p->m->files, p->m->nfiles, sizeof *p->m->files);
        p->m->files[p->m->nfiles++] = "";
    }
    p->m->files[n] = copy_text(&p->t);
    advance(p);
    while (accept(p, ",")) integer(p);
}

static bool space_of(parser *p, enum ptx_space *space) {
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{".global", SPACE_GLOBAL},
                  {".const", SPACE_CONST},
                  {".shared", SPACE_SHARED},
                  {".local", SPACE_LOCAL},
                  {".param", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (at(p, spaces[i].name)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

static void body(parser *p, bool inner) {
    const uint32_t first = p->pf->nstatements, list = p->pf->ntargets;
    expect(p, "{");
    deeper(p);
    open_scope(p);
    while (!at(p, "}")) {
        enum ptx_space space;
        if (p->t.kind == TOKEN_END) fail(p, "the text ends inside a function");
        if (at(p, "{"))
            body(p, true);
        else if (at(p, ".reg"))
            register_declaration(p);
        else if (at(p, ".loc"))
            location(p);
        else if (at(p, ".file"))
            file_directive(p);
        else if (at(p, ".section"))
            skip_section(p);
        else if (at(p, ".pragma"))
            pragma(p);
        else if (space_of(p, &space)) {
            advance(p);
            if (space == SPACE_PARAM) {
                do declare_slot(p, variable(p, SPACE_PARAM, false));
                while (accept(p, ","));
            } else if (space == SPACE_LOCAL || space == SPACE_SHARED) {
                attributes a = read_attributes(p);
                do declare_variable(p, &a, space, false);
                while (accept(p, ","));
            } else {
                fail(p, "a .global or .const variable inside a function");
            }
            expect(p, ";");
        } else if (p->t.kind == TOKEN_NAME) {
            parser before = *p;
            const char *text = name(p);
            if (accept(p, ":")) {
                label(p, text);
            } else {
                p->lx = before.lx;
                p->t = before.t;
                instruction(p);
            }
        } else {
            instruction(p);
        }
    }
    if (inner && p->scope->nlabels) rename_labels(p, first, list);
    close_scope(p);
    higher(p);
    expect(p, "}");
}

/* --- functions ---------------------------------------------------------------------------------------------- */

static void kernel_param(parser *p, ptx_function *f) {
    ptx_var *v = variable(p, SPACE_PARAM, false);
    uint64_t align = v->align ? v->align : 1, offset = (f->param_bytes + align - 1) & ~(align - 1);
    if (v->size > MAX_PARAMETERS || offset + v->size > MAX_PARAMETERS)
        fail(p, ptx_format("%s: parameters of more than 64 KB", v->name));
    f->params = ptx_grow(f->params, f->nparams, sizeof *f->params);
    f->params[f->nparams] = (ptx_param){v->name, (uint32_t)offset, (uint32_t)v->size};
    symbol *s = declare(p, SYMBOL_PARAM, v->name);
    s->index = f->nparams++;
    s->var = v;
    v->address = offset;
    f->param_bytes = (uint32_t)(offset + v->size);
}

/* params = "(" [ ".param" variable { "," ... } ] ")" */
static void param_list(parser *p, ptx_function *f) {
    if (!accept(p, "(")) return;
    if (!at(p, ")")) do {
            expect(p, ".param");
            if (f->is_kernel)
                kernel_param(p, f);
            else
                declare_slot(p, variable(p, SPACE_PARAM, false));
        } while (accept(p, ","));
    expect(p, ")");
}

/* Returns NULL, or why the function cannot run: it asks for what SimGPU lacks, such as a cluster of blocks. */
static const char *tuning(parser *p, ptx_function *f) {
    const char *lacks = NULL;
    for (;;) {
        if (accept(p, ".maxntid") || accept(p, ".reqntid")) {
            uint64_t n = integer(p);
            while (accept(p, ",")) n *= integer(p);
            f->max_threads = n > 1024 ? 1024 : (uint32_t)n;
        } else if (accept(p, ".minnctapersm")) {
            f->min_blocks = (uint32_t)integer(p);
        } else if (accept(p, ".maxnreg")) {
            integer(p);
        } else if (accept(p, ".noreturn")) {
        } else if (at(p, ".pragma")) {
            to_semicolon(p);
        } else if (p->t.kind == TOKEN_DIRECTIVE) {
            if (!lacks)
                lacks = ptx_format("'%.*s' is not supported (PTX line %u)", (int)p->t.length, p->t.text, p->t.line);
            do advance(p);
            while (p->t.kind == TOKEN_INTEGER || at(p, ","));
        } else {
            return lacks;
        }
    }
}

static ptx_function *function_named(parser *p, const char *text, bool kernel) {
    reg *unused;
    symbol *old = lookup(p, text, &unused);
    if (old && old->kind == SYMBOL_FUNCTION) return old->function;
    ptx_function *f = ptx_alloc(sizeof *f);
    *f = (ptx_function){.name = text, .module = p->m, .is_kernel = kernel};
    p->m->functions = ptx_grow(p->m->functions, p->m->nfunctions, sizeof f);
    p->m->functions[p->m->nfunctions++] = f;
    f->number = p->m->nfunctions;
    declare(p, SYMBOL_FUNCTION, text)->function = f;
    return f;
}

/* Skips a body that did not parse, from its opening brace. */
static void skip_body(parser *p, lexer start) {
    p->lx = start;
    int depth = 0;
    do {
        advance(p);
        if (at(p, "{")) depth++;
        if (at(p, "}")) depth--;
    } while (p->t.kind != TOKEN_END && depth > 0);
    if (p->t.kind != TOKEN_END) advance(p);
}

static void function_body(parser *p, ptx_function *f, parsed_function *pf) {
    lexer start = p->lx;
    start.p = p->t.text;
    start.line = p->t.line;
    scope *outer = p->scope;
    jmp_buf module_error;
    memcpy(&module_error, &p->on_error, sizeof module_error);
    f->has_body = true;
    if (setjmp(p->on_error) == 0) {
        body(p, false);
        ptx_decode_function(pf);
    } else {
        f->malformed = true;
        f->unsupported = ptx_format("%s (PTX line %u)", p->error, p->error_line);
        p->scope = outer;
        p->depth = 0;
        skip_body(p, start);
    }
    memcpy(&p->on_error, &module_error, sizeof module_error);
    ptx_free(pf->statements); /* decoding has replaced them */
    pf->statements = NULL;
}

/* A function of another module of the link that has its body already: a declaration, or a weak definition. */
static void again(parser *p, parsed_function *pf, const ptx_function *f) {
    ptx_function *other = ptx_alloc(sizeof *other); /* nobody sees it */
    *other = (ptx_function){.name = f->name, .module = p->m, .is_kernel = f->is_kernel};
    pf->function = other;
    param_list(p, other);
    tuning(p, other);
    if (accept(p, ";")) return;
    if (!p->outermost || !p->weak) fail(p, ptx_format("%s is defined twice", f->name));
    lexer start = p->lx;
    start.p = p->t.text;
    start.line = p->t.line;
    skip_body(p, start);
}

static void function(parser *p, bool kernel) {
    scope *module_scope = p->scope;
    parsed_function *pf = ptx_alloc(sizeof *pf);
    pf->result_slot = -1;
    p->pf = pf;
    p->line = 0, p->file = 0, p->column = 0;
    open_scope(p);
    if (!kernel && accept(p, "(")) { /* (.param .b32 func_retval0) */
        expect(p, ".param");
        pf->result_slot = (int32_t)declare_slot(p, variable(p, SPACE_PARAM, false));
        expect(p, ")");
    }
    const char *text = name(p);
    scope *inner = p->scope;
    p->scope = module_scope;
    ptx_function *f = function_named(p, text, kernel);
    p->scope = inner;
    if (f->has_body) {
        again(p, pf, f);
        p->scope = module_scope;
        p->pf = NULL;
        return;
    }
    pf->function = f;
    f->params = NULL, f->nparams = 0, f->param_bytes = 0; /* a declaration may have come first */
    param_list(p, f);
    pf->nparam_slots = pf->nslots;
    const char *lacks = tuning(p, f);
    if (at(p, "{"))
        function_body(p, f, pf);
    else
        expect(p, ";");
    if (lacks && !f->malformed) f->unsupported = lacks;
    p->scope = module_scope;
    p->pf = NULL;
}

/* attributes declarator { "," declarator } ";" */
static void module_variables(parser *p, enum ptx_space space, bool external) {
    attributes a = read_attributes(p);
    ptx_module *m = p->m;
    do {
        symbol *s = declare_variable(p, &a, space, external);
        if (!s) continue;
        m->vars = ptx_grow(m->vars, m->nvars, sizeof *m->vars);
        m->vars[m->nvars++] = s->var;
    } while (accept(p, ","));
    expect(p, ";");
}

/* ".version" n, the beginning of a module. */
static void version(parser *p) {
    expect(p, ".version");
    advance(p);
    if (!p->outermost) return;
    p->scope = p->outermost;
    open_scope(p);
    p->file_base = p->m->nfiles;
}

/* ".target" sm_90 { "," option } */
static void target(parser *p) {
    do {
        if (ptx_token_begins(&p->t, "sm_")) {
            p->m->target = 0;
            for (uint32_t i = 3; i < p->t.length && isdigit((unsigned char)p->t.text[i]); i++)
                p->m->target = 10 * p->m->target + (uint32_t)(p->t.text[i] - '0');
        }
        advance(p);
    } while (accept(p, ","));
}

static void module(parser *p) {
    bool external = false;
    while (p->t.kind != TOKEN_END) {
        enum ptx_space space;
        if (at(p, ".version"))
            version(p);
        else if (accept(p, ".target"))
            target(p);
        else if (accept(p, ".address_size")) {
            if (integer(p) != 64) fail(p, "SimGPU runs 64-bit PTX only (.address_size 64)");
        } else if (at(p, ".visible") || at(p, ".weak") || at(p, ".common") || at(p, ".extern")) {
            external = at(p, ".extern");
            p->weak = at(p, ".weak") || at(p, ".common");
            p->linkage = true;
            advance(p);
            continue;
        } else if (accept(p, ".entry"))
            function(p, true), external = false;
        else if (accept(p, ".func"))
            function(p, false), external = false;
        else if (at(p, ".file"))
            file_directive(p);
        else if (at(p, ".loc"))
            location(p);
        else if (at(p, ".section"))
            skip_section(p);
        else if (at(p, ".pragma") || at(p, ".alias"))
            to_semicolon(p);
        else if (space_of(p, &space) && space != SPACE_PARAM && space != SPACE_LOCAL) {
            advance(p);
            module_variables(p, space, external);
            external = false;
        } else {
            fail(p, ptx_format("'%.*s' is not supported here", (int)p->t.length, p->t.text));
        }
        p->linkage = p->weak = false;
    }
}

/* Returns whether the text is several modules. */
static bool is_link(const char *text, size_t length) {
    static const char word[] = "\n.version";
    const size_t n = sizeof word - 1;
    uint32_t count = length >= n - 1 && !memcmp(text, word + 1, n - 1);
    for (const char *at = text, *end = text + length; (at = memmem(at, (size_t)(end - at), word, n)); at += n) count++;
    return count > 1;
}

bool ptx_parse_module(ptx_module *m, const char *text, size_t length, char *err, size_t err_size) {
    parser *p = ptx_alloc(sizeof *p);
    p->lx = (lexer){text, text + length, 1, false};
    p->m = m;
    open_scope(p);
    if (is_link(text, length)) p->outermost = p->scope;
    bool ok = setjmp(p->on_error) == 0;
    if (ok) {
        advance(p);
        module(p);
        ptx_decode_finish(m);
    } else {
        snprintf(err, err_size, "%s: PTX line %u: %s", m->source_name, p->error_line, p->error);
    }
    ptx_free(p);
    return ok;
}
