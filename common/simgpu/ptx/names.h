/* names.h — what a name stands for at a place in a PTX text (PTX ISA 4.4, 5.1): registers, variables, parameters,
 * functions. A pair of braces is a scope, which sees the names of those around it; the outermost is the module's. */
#ifndef SIMGPU_NAMES_H
#define SIMGPU_NAMES_H

#include "parse.h"

typedef struct scope {
    struct scope *outer; /* NULL: none */
    symbol **table;      /* by hash of the name; capacity is a power of two, at most half full */
    uint32_t capacity, count;
    symbol **ranges; /* %r<100>: found by their prefix */
    uint32_t nranges, nlabels;
} scope;

/* Returns a new scope without names, within `outer` or, if that is NULL, within none. */
scope *ptx_scope_within(scope *outer);

/* Declares a name; a later declaration replaces an earlier one. `kind`: one of a symbol's. The text must stay. Returns
 * the symbol, of which only kind and name are set. */
symbol *ptx_declare(scope *s, int kind, const char *text);

/* Returns the symbol of a name, not of a range, that was declared in s itself; NULL: none. */
symbol *ptx_declared(const scope *s, const char *text);

/* Returns the symbol that the name stands for in s, NULL: none. If it is a register, *r is that, else NULL; registers
 * come to be in pf, the function that is parsed, at their first use. */
symbol *ptx_lookup(const scope *s, parsed_function *pf, const char *text, reg **r);

#endif
