/* gaps.cuh — reads the timeline of one run: when the GPU worked, when it did not, and which line of yours was behind
 * it. Sim lane only: it comes from SimGPU's report.
 *
 * The GPU is busy while a kernel is under way. The window is that of the clock: from the end of one step's last kernel
 * to the end of another's, so that what happens once, before and after the loop, does not count.
 */
#ifndef GAPS_CUH
#define GAPS_CUH

#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double from, to; /* ns */
} interval;

/* Something that several lines do, each some number of times. */
typedef struct {
    char name[64], file[256];
    int line;
    double count, ns;
} culprit;

enum { CULPRITS = 32 };
typedef struct {
    culprit list[CULPRITS];
    int n;
} culprits;

typedef struct {
    interval window;
    interval shown; /* of it, by the blue bar: the last steps */
    interval *busy; /* merged, in order */
    int nbusy;
    double busy_ns, idle_ns;
    culprits drains, harmless; /* calls that ended with the GPU idle; waits that ended with work left */
    culprits pageable, allocs; /* copies and calls */
    culprits gaps;             /* idle time by cause */
} timeline;

static void blame(culprits *c, const lab_event *e, double ns) {
    int i = 0;
    while (i < c->n &&
           (c->list[i].line != e->line || strcmp(c->list[i].name, e->name) || strcmp(c->list[i].file, e->file)))
        i++;
    if (i == CULPRITS) return;
    culprit *to = &c->list[i];
    if (i == c->n) {
        c->n++;
        memset(to, 0, sizeof *to);
        memcpy(to->name, e->name, sizeof to->name);
        memcpy(to->file, e->file, sizeof to->file);
        to->line = e->line;
    }
    to->count++;
    to->ns += ns;
}

static double count_of(const culprits *c) {
    double n = 0;
    for (int i = 0; i < c->n; i++) n += c->list[i].count;
    return n;
}

static int most_first(const void *a, const void *b) {
    double x = ((const culprit *)a)->ns, y = ((const culprit *)b)->ns;
    return (x < y) - (x > y);
}

static int earlier(const void *a, const void *b) {
    double x = ((const interval *)a)->from, y = ((const interval *)b)->from;
    return (x > y) - (x < y);
}

/* The part of an event that lies in the window; from >= to when none does. */
static interval inside(const timeline *t, const lab_event *e) {
    interval i = {e->start, e->start + e->duration};
    if (i.from < t->window.from) i.from = t->window.from;
    if (i.to > t->window.to) i.to = t->window.to;
    return i;
}

/* The window: from the end of the `warm`th update to the end of the last. False when there are too few. */
static bool find_window(timeline *t, const lab_usage *u, int warm) {
    enum { SHOWN = 3 };
    double ends[SHOWN + 1] = {}; /* of the latest updates */
    int updates = 0;
    for (int i = 0; i < u->nevents; i++) {
        const lab_event *e = &u->events[i];
        if (strcmp(e->kind, "launch") || strcmp(e->name, "update")) continue;
        t->window.to = ends[updates % (SHOWN + 1)] = e->start + e->duration;
        if (++updates == warm) t->window.from = t->window.to;
    }
    t->shown.to = t->window.to;
    t->shown.from = ends[updates % (SHOWN + 1)];
    return updates > warm;
}

static void find_busy(timeline *t, const lab_usage *u) {
    t->busy = (interval *)calloc((size_t)u->nevents + 1, sizeof *t->busy);
    if (!t->busy) lab_die("out of memory");
    int n = 0;
    for (int i = 0; i < u->nevents; i++) {
        interval part = inside(t, &u->events[i]);
        if (!strcmp(u->events[i].kind, "launch") && part.from < part.to) t->busy[n++] = part;
    }
    qsort(t->busy, (size_t)n, sizeof *t->busy, earlier);
    for (int i = 0; i < n; i++) {
        interval *last = &t->busy[t->nbusy - 1];
        if (t->nbusy && t->busy[i].from <= last->to) {
            if (t->busy[i].to > last->to) last->to = t->busy[i].to;
        } else {
            t->busy[t->nbusy++] = t->busy[i];
        }
    }
    for (int i = 0; i < t->nbusy; i++) t->busy_ns += t->busy[i].to - t->busy[i].from;
    t->idle_ns = t->window.to - t->window.from - t->busy_ns;
}

static bool busy_at(const timeline *t, double ns) {
    for (int i = 0; i < t->nbusy; i++)
        if (t->busy[i].from <= ns && ns < t->busy[i].to) return true;
    return false;
}

/* How much of from .. to no kernel fills. */
static double idle_within(const timeline *t, interval gap) {
    double ns = gap.to - gap.from;
    for (int i = 0; i < t->nbusy; i++) {
        double from = t->busy[i].from > gap.from ? t->busy[i].from : gap.from;
        double to = t->busy[i].to < gap.to ? t->busy[i].to : gap.to;
        if (from < to) ns -= to - from;
    }
    return ns;
}

static bool is_allocation(const char *call) {
    return !strncmp(call, "cudaMalloc", 10) || !strncmp(call, "cudaFree", 8) || !strncmp(call, "cudaHost", 8);
}

static bool is_wait(const char *call) { return strstr(call, "Synchronize") || !strncmp(call, "cudaMemcpy", 10); }

static bool read_timeline(timeline *t, const lab_usage *u, int warm) {
    memset(t, 0, sizeof *t);
    if (!find_window(t, u, warm)) return false;
    find_busy(t, u);
    for (int i = 0; i < u->nevents; i++) {
        const lab_event *e = &u->events[i];
        interval part = inside(t, e);
        bool whole = part.from == e->start && part.to == e->start + e->duration;
        if (!strcmp(e->kind, "copy") && e->pageable && part.from < part.to) blame(&t->pageable, e, e->duration);
        /* SimGPU counts the launching of a kernel as idle; here a kernel that is being launched is under way. */
        double idle = !strcmp(e->kind, "gap") && part.from < part.to ? idle_within(t, part) : 0;
        if (idle > 0) blame(&t->gaps, e, idle);
        if (strcmp(e->kind, "call") || part.to < e->start + e->duration || part.from >= part.to) continue;
        if (is_allocation(e->name)) blame(&t->allocs, e, e->duration);
        if (whole && !busy_at(t, part.to))
            blame(&t->drains, e, e->duration);
        else if (whole && is_wait(e->name))
            blame(&t->harmless, e, e->duration);
    }
    culprits *all[] = {&t->drains, &t->harmless, &t->pageable, &t->allocs, &t->gaps};
    for (int i = 0; i < 5; i++) qsort(all[i]->list, (size_t)all[i]->n, sizeof(culprit), most_first);
    return true;
}

/* The blue bar over the last steps, from the kernels alone. */
static void draw_bar(const timeline *t, lab_usage *u) {
    u->nspans = 0;
    for (int i = 0; i < t->nbusy; i++)
        u->spans[u->nspans++] = (lab_span){t->busy[i].from, t->busy[i].to - t->busy[i].from};
    lab_blue_bar(u, t->shown.from, t->shown.to);
}

#endif
