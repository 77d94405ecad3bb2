/* names.c — scopes and the tables of their names; see names.h. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

scope *ptx_scope_within(scope *outer) {
    scope *s = ptx_alloc(sizeof *s);
    s->outer = outer;
    return s;
}

/* Returns the place of `text` in the table, or the empty place for it. */
static symbol **place_of(symbol **table, uint32_t capacity, const char *text) {
    uint32_t h = 2166136261u;
    for (const char *c = text; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
    for (h &= capacity - 1; table[h] && strcmp(table[h]->name, text) != 0;) h = (h + 1) & (capacity - 1);
    return &table[h];
}

static void make_room(scope *s) {
    if (2 * s->count < s->capacity) return;
    uint32_t capacity = s->capacity ? 2 * s->capacity : 8;
    symbol **table = ptx_alloc(capacity * sizeof *table);
    for (uint32_t k = 0; k < s->capacity; k++)
        if (s->table[k]) *place_of(table, capacity, s->table[k]->name) = s->table[k];
    ptx_free(s->table);
    s->table = table;
    s->capacity = capacity;
}

symbol *ptx_declared(const scope *s, const char *text) {
    return s->capacity ? *place_of(s->table, s->capacity, text) : NULL;
}

symbol *ptx_declare(scope *s, int kind, const char *text) {
    symbol *sym = ptx_alloc(sizeof *sym);
    sym->kind = kind;
    sym->name = text;
    if (kind == SYMBOL_RANGE) {
        s->ranges = ptx_grow(s->ranges, s->nranges, sizeof sym);
        s->ranges[s->nranges++] = sym;
        return sym;
    }
    make_room(s);
    symbol **place = place_of(s->table, s->capacity, text);
    if (!*place) s->count++;
    *place = sym;
    return sym;
}

static reg *new_register(parsed_function *pf, const char *text, enum ptx_type type) {
    reg *r = ptx_alloc(sizeof *r);
    *r = (reg){.name = text, .type = type, .id = pf->nregisters + 1};
    pf->registers = ptx_grow(pf->registers, pf->nregisters, sizeof r);
    pf->registers[pf->nregisters++] = r;
    return r;
}

/* Returns the register "%r12" of the range %r<20>, or NULL if the name is not in the range. */
static reg *in_range(symbol *s, parsed_function *pf, const char *text) {
    const size_t n = strlen(s->name);
    if (strncmp(text, s->name, n) != 0 || text[n] < '0' || text[n] > '9') return NULL;
    char *stop;
    const unsigned long i = strtoul(text + n, &stop, 10);
    if (*stop || i >= s->count) return NULL;
    if (!s->range[i]) s->range[i] = new_register(pf, text, s->type);
    return s->range[i];
}

symbol *ptx_lookup(const scope *s, parsed_function *pf, const char *text, reg **r) {
    *r = NULL;
    for (; s; s = s->outer) {
        for (uint32_t k = s->nranges; k-- > 0;)
            if ((*r = in_range(s->ranges[k], pf, text))) return s->ranges[k];
        symbol *sym = ptx_declared(s, text);
        if (!sym) continue;
        if (sym->kind == SYMBOL_REGISTER) {
            if (!sym->range[0]) sym->range[0] = new_register(pf, text, sym->type);
            *r = sym->range[0];
        }
        return sym;
    }
    return NULL;
}
