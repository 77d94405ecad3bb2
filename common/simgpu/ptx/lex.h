/* lex.h — the tokens of PTX text (PTX ISA chapter 4), one at a time. A token points into the text without a copy. */
#ifndef SIMGPU_LEX_H
#define SIMGPU_LEX_H

#include "ptx.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,      /* add, %r1, $L__BB0_2, _Z4copyPf, _ */
    TOKEN_DIRECTIVE, /* .global, .f32, .shared::cta, with its dot */
    TOKEN_INTEGER,   /* 7, 0x1F, 017, 0b101, 3U; value in `bits` */
    TOKEN_FLOAT,     /* 1.5 (a double), 0f3F800000, 0d...; `bits` holds a double's bits, or a float's if `single` */
    TOKEN_STRING,    /* without the quotes */
    TOKEN_PUNCT,     /* text[0] */
    TOKEN_BAD,
};

typedef struct {
    enum token_kind kind;
    const char *text;
    uint32_t length, line;
    uint64_t bits;
    bool single;
} token;

typedef struct {
    const char *p, *end;
    uint32_t line;
    bool in_asm; /* between a compiler's comments `// begin inline asm` and `// end inline asm` */
} lexer;

token ptx_lex_next(lexer *lx);
bool ptx_token_is(const token *t, const char *text);
bool ptx_token_begins(const token *t, const char *text);

/* constant.c: reads the constant expression that begins with *t, or a product of it (what may stand behind a plus), up
 * to the token behind it. Returns NULL, or what is wrong at *t. */
const char *ptx_constant(lexer *lx, token *t, bool product, uint64_t *value);

#endif
