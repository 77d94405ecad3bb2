/* constant.c — constant expressions (PTX ISA 4.6): C's operators on 64-bit integers. They stand where a number may: in
 * an operand, an offset, the length of an array, an initial value. */
#include "lex.h"
#include "parse.h"

#include <string.h>

enum { DEEPEST = 64, PRODUCT_PRECEDENCE = 10 };

typedef struct {
    lexer *lx;
    token *t; /* the token to be read next */
    uint32_t depth;
    const char *error;
} reader;

typedef struct {
    uint64_t v;
    bool is_unsigned; /* it ends in U, does not fit into 63 bits, or has such an operand */
} constant;

static void advance(reader *r) { *r->t = ptx_lex_next(r->lx); }

static bool at(const reader *r, const char *text) {
    return r->t->kind != TOKEN_STRING && r->t->kind != TOKEN_END && ptx_token_is(r->t, text);
}

static bool accept(reader *r, const char *text) {
    if (!at(r, text)) return false;
    advance(r);
    return true;
}

static void expect(reader *r, const char *text) {
    if (!accept(r, text) && !r->error)
        r->error = ptx_format("expected '%s' before '%.*s'", text, (int)r->t->length, r->t->text);
}

static constant expression(reader *r, int above);

static constant number(reader *r) {
    constant c = {0};
    if (accept(r, "WARP_SZ")) return (constant){.v = 32};
    if (r->t->kind != TOKEN_INTEGER) {
        if (!r->error) r->error = ptx_format("expected a number before '%.*s'", (int)r->t->length, r->t->text);
        return c;
    }
    c.v = r->t->bits;
    c.is_unsigned = r->t->text[r->t->length - 1] == 'U' || c.v >> 63;
    advance(r);
    return c;
}

/* unary = ("-" | "+" | "~" | "!") unary | "(" (".s64" | ".u64") ")" unary | "(" expression ")" | number | WARP_SZ */
static constant unary(reader *r) {
    constant c = {0};
    const char mark = r->t->kind == TOKEN_PUNCT ? r->t->text[0] : '\0';
    if (!mark) return number(r);
    if (++r->depth > DEEPEST && !r->error) r->error = "a constant expression nests more than 64 deep";
    if (r->error) return c;
    if (strchr("-+~!", mark)) {
        advance(r);
        c = unary(r);
        c.v = mark == '-' ? 0 - c.v : mark == '~' ? ~c.v : mark == '!' ? !c.v : c.v;
    } else if (accept(r, "(")) {
        bool to_unsigned = at(r, ".u64");
        if (accept(r, ".s64") || accept(r, ".u64")) {
            expect(r, ")");
            c = unary(r);
            c.is_unsigned = to_unsigned;
        } else {
            c = expression(r, 0);
            expect(r, ")");
        }
    } else {
        c = number(r);
    }
    r->depth--;
    return c;
}

static const struct {
    const char *text;
    int precedence;
} operators[] = {{"<<", 8},
                 {">>", 8},
                 {"<=", 7},
                 {">=", 7},
                 {"==", 6},
                 {"!=", 6},
                 {"&&", 2},
                 {"||", 1},
                 {"<", 7},
                 {">", 7},
                 {"&", 5},
                 {"^", 4},
                 {"|", 3},
                 {"+", 9},
                 {"-", 9},
                 {"*", PRODUCT_PRECEDENCE},
                 {"/", PRODUCT_PRECEDENCE},
                 {"%", PRODUCT_PRECEDENCE}};

/* Returns the number of the operator at this place, or -1. One of two characters is two tokens. */
static int operator_at(const reader *r) {
    if (r->error || r->t->kind == TOKEN_END || r->t->length != 1) return -1;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
        size_t n = strlen(operators[k].text);
        if ((size_t)(r->lx->end - r->t->text) >= n && memcmp(r->t->text, operators[k].text, n) == 0) return (int)k;
    }
    return -1;
}

static uint64_t shifted_right(constant a, uint64_t by) {
    const bool fills = !a.is_unsigned && a.v >> 63;
    if (by >= 64) return fills ? UINT64_MAX : 0;
    return a.v >> by | (fills && by ? UINT64_MAX << (64 - by) : 0);
}

/* Returns the quotient or the remainder, from the magnitudes, so that no pair of operands overflows. */
static uint64_t divided(reader *r, char op, constant a, constant b, bool is_unsigned) {
    const bool a_minus = !is_unsigned && a.v >> 63, b_minus = !is_unsigned && b.v >> 63;
    const uint64_t m = a_minus ? 0 - a.v : a.v, n = b_minus ? 0 - b.v : b.v;
    if (n == 0) {
        r->error = "a constant expression divides by 0";
        return 0;
    }
    const uint64_t v = op == '/' ? m / n : m % n;
    return (op == '/' ? a_minus != b_minus : a_minus) ? 0 - v : v;
}

static constant combine(reader *r, const char *op, constant a, constant b) {
    constant c = {.is_unsigned = a.is_unsigned || b.is_unsigned};
    const bool twice = op[1] == op[0];
    const bool less = c.is_unsigned ? a.v < b.v : (int64_t)a.v < (int64_t)b.v;
    switch (op[0]) {
    case '*': c.v = a.v * b.v; break;
    case '+': c.v = a.v + b.v; break;
    case '-': c.v = a.v - b.v; break;
    case '^': c.v = a.v ^ b.v; break;
    case '&': c.v = twice ? a.v && b.v : a.v & b.v; break;
    case '|': c.v = twice ? a.v || b.v : a.v | b.v; break;
    case '=': c.v = a.v == b.v; break;
    case '!': c.v = a.v != b.v; break;
    case '<': c.v = twice ? (b.v < 64 ? a.v << b.v : 0) : op[1] ? less || a.v == b.v : less; break;
    case '>': c.v = twice ? shifted_right(a, b.v) : op[1] ? !less : !less && a.v != b.v; break;
    default: c.v = divided(r, op[0], a, b, c.is_unsigned);
    }
    return c;
}

/* Reads operators of a higher precedence than `above`. */
static constant expression(reader *r, int above) {
    constant a = unary(r);
    for (int k; (k = operator_at(r)) >= 0 && operators[k].precedence > above;) {
        advance(r);
        if (operators[k].text[1]) advance(r);
        a = combine(r, operators[k].text, a, expression(r, operators[k].precedence));
    }
    if (above > 0 || r->error || !accept(r, "?")) return a;
    if (++r->depth > DEEPEST) r->error = "a constant expression nests more than 64 deep";
    constant b = expression(r, 0);
    expect(r, ":");
    constant c = expression(r, 0);
    r->depth--;
    return a.v ? b : c;
}

const char *ptx_constant(lexer *lx, token *t, bool product, uint64_t *value) {
    reader r = {.lx = lx, .t = t};
    *value = expression(&r, product ? PRODUCT_PRECEDENCE - 1 : 0).v;
    return r.error;
}
