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

/* Something that a line does some number of times. */
typedef struct {
    const struct simgpu_event *what; /* the first time; lives as long as the usage that was read */
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

/* Do two events come from one line, and from the same call or for the same cause? */
static bool alike(const struct simgpu_event *a, const struct simgpu_event *b) {
    bool here = a->at.line == b->at.line &&
                (a->at.file == b->at.file || (a->at.file && b->at.file && !strcmp(a->at.file, b->at.file)));
    if (!here || a->kind != b->kind) return false;
    if (a->kind == SIMGPU_CALL) return !strcmp(a->is.call.name, b->is.call.name);
    if (a->kind != SIMGPU_GAP) return true;
    return a->is.gap.cause == b->is.gap.cause && (!a->is.gap.call || !strcmp(a->is.gap.call, b->is.gap.call));
}

static void blame(culprits *c, const struct simgpu_event *e, double ns) {
    int i = 0;
    while (i < c->n && !alike(c->list[i].what, e)) i++;
    if (i == CULPRITS) return;
    if (i == c->n) c->list[c->n++] = (culprit){e, 0, 0};
    c->list[i].count++;
    c->list[i].ns += ns;
}

/* "cudaMemcpy", "host blocked in cudaMemcpy", "copy" */
static const char *name_of(const culprit *c, char *text, size_t size) {
    if (c->what->kind == SIMGPU_GAP) return lab_say_gap(&c->what->is.gap, text, size);
    return c->what->kind == SIMGPU_CALL ? c->what->is.call.name : "copy";
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
static interval inside(const timeline *t, const struct simgpu_event *e) {
    interval i = {(double)e->start_ns, (double)(e->start_ns + e->duration_ns)};
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
        const struct simgpu_event *e = &u->events[i];
        if (e->kind != SIMGPU_LAUNCH || strcmp(e->is.launch.name, "update")) continue;
        t->window.to = ends[updates % (SHOWN + 1)] = (double)(e->start_ns + e->duration_ns);
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
        if (u->events[i].kind == SIMGPU_LAUNCH && part.from < part.to) t->busy[n++] = part;
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

static bool is_allocation(enum simgpu_class c) {
    return c == SIMGPU_ALLOCATES || c == SIMGPU_FREES || c == SIMGPU_PINS || c == SIMGPU_UNPINS;
}

static bool read_timeline(timeline *t, const lab_usage *u, int warm) {
    memset(t, 0, sizeof *t);
    if (!find_window(t, u, warm)) return false;
    find_busy(t, u);
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        interval part = inside(t, e);
        double start = (double)e->start_ns, ns = (double)e->duration_ns;
        bool whole = part.from == start && part.to == start + ns;
        if (e->kind == SIMGPU_COPY && e->is.copy.pageable && part.from < part.to) blame(&t->pageable, e, ns);
        /* SimGPU counts the launching of a kernel as idle; here a kernel that is being launched is under way. */
        double idle = e->kind == SIMGPU_GAP && part.from < part.to ? idle_within(t, part) : 0;
        if (idle > 0) blame(&t->gaps, e, idle);
        if (e->kind != SIMGPU_CALL || part.to < start + ns || part.from >= part.to) continue;
        enum simgpu_class what = e->is.call.what;
        if (is_allocation(what)) blame(&t->allocs, e, ns);
        if (whole && !busy_at(t, part.to))
            blame(&t->drains, e, ns);
        else if (whole && (what == SIMGPU_WAITS || what == SIMGPU_COPIES))
            blame(&t->harmless, e, ns);
    }
    culprits *all[] = {&t->drains, &t->harmless, &t->pageable, &t->allocs, &t->gaps};
    for (int i = 0; i < 5; i++) qsort(all[i]->list, (size_t)all[i]->n, sizeof(culprit), most_first);
    return true;
}

#endif
