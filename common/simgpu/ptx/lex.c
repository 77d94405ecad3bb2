/* lex.c — splits PTX text into tokens. See lex.h. */
#include "lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool name_start(int c) { return isalpha(c) || c == '_' || c == '$' || c == '%'; }
static bool name_char(int c) { return isalnum(c) || c == '_' || c == '$'; }

/* Returns whether the comment at lx->p, which has two characters at least, says this behind its blanks. */
static bool comment_says(const lexer *lx, const char *text) {
    const char *p = lx->p + 2;
    const size_t n = strlen(text);
    while (p < lx->end && (*p == ' ' || *p == '\t')) p++;
    return (size_t)(lx->end - p) >= n && memcmp(p, text, n) == 0;
}

static void skip_blanks_and_comments(lexer *lx) {
    while (lx->p < lx->end) {
        if (*lx->p == '\n') lx->line++;
        if (isspace((unsigned char)*lx->p) || *lx->p == '\0') {
            lx->p++;
        } else if (lx->end - lx->p > 1 && lx->p[0] == '/' && lx->p[1] == '/') {
            lx->in_asm = lx->in_asm ? !comment_says(lx, "end inline asm") : comment_says(lx, "begin inline asm");
            while (lx->p < lx->end && *lx->p != '\n') lx->p++;
        } else if (lx->end - lx->p > 1 && lx->p[0] == '/' && lx->p[1] == '*') {
            for (lx->p += 2; lx->p < lx->end && !(lx->p[-1] == '*' && lx->p[0] == '/'); lx->p++)
                if (*lx->p == '\n') lx->line++;
            if (lx->p < lx->end) lx->p++;
        } else {
            return;
        }
    }
}

/* Reads the digits of a number in `base` up to the first other character. Returns the number modulo 2^64. */
static uint64_t digits(const char **p, const char *end, int base) {
    uint64_t value = 0;
    for (; *p < end; (*p)++) {
        int c = tolower((unsigned char)**p), d = isdigit(c) ? c - '0' : isalpha(c) ? c - 'a' + 10 : 99;
        if (d >= base) break;
        value = value * (unsigned)base + (unsigned)d;
    }
    return value;
}

/* Reads a number = 0[fF]hex8 | 0[dD]hex16 | decimal with . or e | 0x hex | 0b binary | 0 octal | decimal. An integer
 * may end in U. */
static token number(lexer *lx, token t) {
    const char *p = lx->p;
    int prefix = lx->end - p > 1 && *p == '0' ? tolower((unsigned char)p[1]) : 0;
    t.kind = TOKEN_INTEGER;
    if (prefix == 'f' || prefix == 'd') {
        p += 2;
        t.kind = TOKEN_FLOAT;
        t.single = prefix == 'f';
        t.bits = digits(&p, lx->end, 16);
    } else if (prefix == 'x' || prefix == 'b') {
        p += 2;
        t.bits = digits(&p, lx->end, prefix == 'x' ? 16 : 2);
    } else {
        const char *q = p;
        while (q < lx->end && isdigit((unsigned char)*q)) q++;
        if (q < lx->end && (*q == '.' || *q == 'e' || *q == 'E') &&
            !(*q == '.' && q + 1 < lx->end && isalpha((unsigned char)q[1]))) {
            char copy[64];
            size_t n = (size_t)(lx->end - p) < sizeof copy - 1 ? (size_t)(lx->end - p) : sizeof copy - 1;
            memcpy(copy, p, n);
            copy[n] = '\0';
            char *stop;
            double d = strtod(copy, &stop);
            memcpy(&t.bits, &d, 8);
            t.kind = TOKEN_FLOAT;
            p += stop - copy;
        } else {
            t.bits = digits(&p, lx->end, *p == '0' ? 8 : 10);
        }
    }
    if (t.kind == TOKEN_INTEGER && p < lx->end && *p == 'U') p++;
    t.length = (uint32_t)(p - lx->p);
    lx->p = p;
    return t;
}

token ptx_lex_next(lexer *lx) {
    skip_blanks_and_comments(lx);
    token t = {.kind = TOKEN_END, .text = lx->p, .line = lx->line};
    if (lx->p >= lx->end) return t;
    const char *p = lx->p;
    unsigned char c = (unsigned char)*p;
    if (isdigit(c)) return number(lx, t);
    if (name_start(c)) {
        for (p++; p < lx->end && name_char((unsigned char)*p); p++) {}
        t.kind = TOKEN_NAME;
    } else if (c == '.' && p + 1 < lx->end && name_char((unsigned char)p[1])) {
        for (p++; p < lx->end && (name_char((unsigned char)*p) || *p == ':'); p++) {}
        if (p[-1] == ':') p--; /* "label.x:" does not occur; "::" does */
        t.kind = TOKEN_DIRECTIVE;
    } else if (c == '"') {
        t.text = ++p;
        while (p < lx->end && *p != '"' && *p != '\n') p++;
        t.kind = p < lx->end && *p == '"' ? TOKEN_STRING : TOKEN_BAD;
        t.length = (uint32_t)(p - t.text);
        lx->p = p < lx->end ? p + 1 : p;
        return t;
    } else {
        t.kind = strchr("{}()[]<>,;:=@!|+-*/~&^?", c) ? TOKEN_PUNCT : TOKEN_BAD;
        p++;
    }
    t.length = (uint32_t)(p - t.text);
    lx->p = p;
    return t;
}

bool ptx_token_begins(const token *t, const char *text) {
    const size_t n = strlen(text);
    return n <= t->length && memcmp(t->text, text, n) == 0;
}

bool ptx_token_is(const token *t, const char *text) { return strlen(text) == t->length && ptx_token_begins(t, text); }
