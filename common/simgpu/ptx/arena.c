/* Memory of modules: each piece has a header that links it into one list. See parse.h. */
#include "parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    struct header *next, *previous;
} header;

static header all = {&all, &all};

static void *link_in(header *h) {
    if (!h) sim_refuse("out of host memory while reading PTX");
    h->next = all.next;
    h->previous = &all;
    all.next->previous = h;
    all.next = h;
    return h + 1;
}

static header *unlink_from(void *p) {
    header *h = (header *)p - 1;
    h->previous->next = h->next;
    h->next->previous = h->previous;
    return h;
}

void *ptx_alloc(size_t bytes) { return link_in(calloc(1, sizeof(header) + bytes)); }

void ptx_free(void *p) {
    if (p) free(unlink_from(p));
}

void *ptx_grow(void *array, uint32_t count, size_t element) {
    if (count & (count - 1)) return array; /* not a power of two: there is room */
    uint32_t capacity = count ? 2 * count : 1;
    header *old = array ? unlink_from(array) : NULL;
    char *p = link_in(realloc(old, sizeof(header) + capacity * element));
    memset(p + count * element, 0, (capacity - count) * element);
    return p;
}

const char *ptx_format(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    char *text = ptx_alloc((size_t)n + 1);
    va_start(ap, format);
    vsnprintf(text, (size_t)n + 1, format, ap);
    va_end(ap);
    return text;
}

void ptx_free_all(void) {
    while (all.next != &all) ptx_free(all.next + 1);
}
