/* arena.c — the arena of base.h: the header of each piece links it into the arena's ring, so one piece can be freed
 * without a search, and all of them in one walk. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *link_in(base_arena *a, base_piece *p) {
    base_must(p, "the host has no memory left to read the program's kernels");
    if (!a->all.next) a->all.next = a->all.previous = &a->all;
    p->next = a->all.next;
    p->previous = &a->all;
    a->all.next->previous = p;
    a->all.next = p;
    return p + 1;
}

static base_piece *unlink_from(void *piece) {
    base_piece *p = (base_piece *)piece - 1;
    p->previous->next = p->next;
    p->next->previous = p->previous;
    return p;
}

void *base_arena_alloc(base_arena *a, size_t bytes) { return link_in(a, calloc(1, sizeof(base_piece) + bytes)); }

void base_arena_free(void *piece) {
    if (piece) free(unlink_from(piece));
}

void *base_arena_grow(base_arena *a, void *array, uint32_t count, size_t element) {
    if (count & (count - 1)) return array; /* between powers of two the array has room */
    uint32_t capacity = count ? 2 * count : 1;
    base_piece *old = array ? unlink_from(array) : NULL;
    char *p = link_in(a, realloc(old, sizeof(base_piece) + capacity * element));
    memset(p + count * element, 0, (capacity - count) * element);
    return p;
}

char *base_arena_format(base_arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = base_arena_alloc(a, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

void base_arena_clear(base_arena *a) {
    while (a->all.next && a->all.next != &a->all) base_arena_free(a->all.next + 1);
}
