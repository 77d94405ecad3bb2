/* heard.c — counts the calls of one `solve`; see heard.h. */
#include "heard.h"

#include <stdlib.h>
#include <string.h>

static heard *now;

static bool asks_for_an_error(const lab_call *c) {
    return !strcmp(c->name, "cudaGetLastError") || !strcmp(c->name, "cudaPeekAtLastError");
}

static bool waits_for_the_device(const lab_call *c) {
    return c->what == LAB_CALL_WAITS || (c->what == LAB_CALL_COPIES && !c->async) ||
           (c->what == LAB_CALL_FREES && !c->async);
}

static heard_place *place_of(const lab_call *c) {
    int i = 0;
    while (i < now->n && (strcmp(now->places[i].name, c->name) != 0 || now->places[i].line != c->line)) i++;
    if (i == HEARD_PLACES) return &now->places[i - 1];
    if (i == now->n) now->places[now->n++] = (heard_place){.name = c->name, .file = c->file, .line = c->line};
    return &now->places[i];
}

static void hear(const lab_call *c) {
    const bool waits = waits_for_the_device(c);
    if (c->what == LAB_CALL_C_ALLOCATES || asks_for_an_error(c)) return;
    if (c->error && c->error != cudaErrorNotReady && !now->failed.name) now->failed = *c;
    for (int i = 0; i < 2 && c->what == LAB_CALL_FREES && !now->freed.name; i++)
        if (c->to && c->to == (uint64_t)now->plates[i]) now->freed = *c;
    heard_place *p = place_of(c);
    p->waits = waits;
    p->count++;
    p->ns += c->end - c->begin;
    now->calls++;
    now->waits += waits;
    if (!waits) now->working_ns += c->end - c->begin;
}

void heard_begin(heard *h, float *const *plates) {
    static const lab_ear ear = {NULL, hear};
    *h = (heard){.plates = {plates[0], plates[1]}};
    now = h;
    lab_listen(&ear);
}

void heard_end(void) { lab_listen(NULL); }

const heard_place *heard_has(const heard *h, const char *name) {
    for (int i = 0; i < h->n; i++)
        if (!strcmp(h->places[i].name, name)) return &h->places[i];
    return NULL;
}

/* --- order ---------------------------------------------------------------------------------------- */

static enum heard_by order;

static double rank(const heard_place *p) {
    if (order == HEARD_TIME) return p->waits ? 0 : p->ns;
    return order == HEARD_CALLS || p->waits ? p->count : 0;
}

/* Those of equal rank by line, so that the order is the same everywhere. */
static int by_rank(const void *a, const void *b) {
    const heard_place *p = a, *q = b;
    const double x = rank(p), y = rank(q);
    if (x != y) return x < y ? 1 : -1;
    return p->line != q->line ? (p->line > q->line) - (p->line < q->line) : strcmp(p->name, q->name);
}

void heard_sort(heard *h, enum heard_by by) {
    order = by;
    qsort(h->places, (size_t)h->n, sizeof *h->places, by_rank);
}
