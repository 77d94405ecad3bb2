/* timeline.c — from the events of a run to busy time, gaps and their causes; see timeline.h. */
#include "timeline.h"
#include "blame.h"
#include "lab5.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether two events have one line and the same call or cause. */
static bool alike(const struct simgpu_event *a, const struct simgpu_event *b) {
    bool here = a->at.line == b->at.line &&
                (a->at.file == b->at.file || (a->at.file && b->at.file && !strcmp(a->at.file, b->at.file)));
    if (!here || a->kind != b->kind) return false;
    if (a->kind == SIMGPU_CALL) return !strcmp(a->is.call.name, b->is.call.name);
    if (a->kind != SIMGPU_GAP) return true;
    return a->is.gap.cause == b->is.gap.cause && (!a->is.gap.call || !strcmp(a->is.gap.call, b->is.gap.call));
}

/* Returns the entry; NULL where the list is full. */
static culprit *blame(culprits *c, const struct simgpu_event *e, double ns) {
    int i = 0;
    while (i < c->n && !alike(c->list[i].what, e)) i++;
    if (i == CULPRITS) return NULL;
    if (i == c->n) c->list[c->n++] = (culprit){e, 0, 0, NULL};
    c->list[i].count++;
    c->list[i].ns += ns;
    return &c->list[i];
}

const char *culprit_name(const culprit *c, char *text, size_t size) {
    if (c->what->kind == SIMGPU_GAP) return lab_say_gap(&c->what->is.gap, text, size);
    if (c->what->kind == SIMGPU_LAUNCH) {
        lab_text(text, size, "your kernel %s", c->what->is.launch.name);
        return text;
    }
    return c->what->kind == SIMGPU_CALL ? c->what->is.call.name : "copy";
}

double count_of(const culprits *c) {
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

/* Returns the part of an event inside the window; from >= to if it is empty. */
static interval inside(const timeline *t, const struct simgpu_event *e) {
    interval i = {(double)e->start_ns, (double)(e->start_ns + e->duration_ns)};
    if (i.from < t->window.from) i.from = t->window.from;
    if (i.to > t->window.to) i.to = t->window.to;
    return i;
}

/* Finds the window, from the end of the `warm`th update to the end of the last, and within it the steps to be shown:
 * three, and so many before the last that their batches were still copied when the first of them ran, however many
 * slots there are. Returns false if there are too few. */
static bool find_window(timeline *t, const lab_usage *u, int warm) {
    enum { SHOWN = 3, BEFORE_END = LAB5_GRACE + 1, KEPT = SHOWN + BEFORE_END + 1 };
    double ends[KEPT] = {0}; /* of the latest updates */
    int updates = 0;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind != SIMGPU_LAUNCH || !is_ours(&e->at) || strcmp(e->is.launch.name, "update")) continue;
        t->window.to = ends[updates % KEPT] = (double)(e->start_ns + e->duration_ns);
        if (++updates == warm) t->window.from = t->window.to;
    }
    if (updates <= warm) return false;
    t->shown.last = updates > warm + KEPT ? updates - BEFORE_END : updates; /* steps are numbered from 0 */
    t->shown.first = t->shown.last - SHOWN;
    t->shown.at.from = ends[(t->shown.first + KEPT - 1) % KEPT];
    t->shown.at.to = ends[(t->shown.last + KEPT - 1) % KEPT];
    return true;
}

/* Of the kernels only those of a step make the GPU busy. One of the student's, which might spin, does not. */
static bool is_work(const struct simgpu_event *e) { return e->kind == SIMGPU_LAUNCH && is_ours(&e->at); }

static void find_busy(timeline *t, const lab_usage *u) {
    t->busy = calloc((size_t)u->nevents + 1, sizeof *t->busy);
    if (!t->busy) lab_die("out of memory");
    int n = 0;
    for (int i = 0; i < u->nevents; i++) {
        interval part = inside(t, &u->events[i]);
        if (is_work(&u->events[i]) && part.from < part.to) t->busy[n++] = part;
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

/* Returns how much of from .. to no kernel fills. */
static double idle_within(const timeline *t, interval gap) {
    double ns = gap.to - gap.from;
    for (int i = 0; i < t->nbusy; i++) {
        double from = t->busy[i].from > gap.from ? t->busy[i].from : gap.from;
        double to = t->busy[i].to < gap.to ? t->busy[i].to : gap.to;
        if (from < to) ns -= to - from;
    }
    return ns;
}

/* Returns the gap at this time if a copy or another command on the device is its cause; NULL: none, or the host is. */
static const struct simgpu_event *held_at(const lab_usage *u, double ns) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind != SIMGPU_GAP || (double)e->start_ns > ns || (double)(e->start_ns + e->duration_ns) < ns) continue;
        if (e->is.gap.cause == SIMGPU_WAITING_FOR_COPY || e->is.gap.cause == SIMGPU_BETWEEN_COMMANDS) return e;
    }
    return NULL;
}

static bool is_allocation(enum simgpu_class c) {
    return c == SIMGPU_ALLOCATES || c == SIMGPU_FREES || c == SIMGPU_PINS || c == SIMGPU_UNPINS;
}

bool timeline_read(timeline *t, const lab_usage *u, int warm) {
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
        bool waste = e->kind == SIMGPU_GAP;
        if (e->kind == SIMGPU_LAUNCH && !is_work(e)) { /* a gap is about its launching */
            waste = true;
            part.from += (double)e->is.launch.launch_ns;
        }
        double idle = waste && part.from < part.to ? idle_within(t, part) : 0;
        if (idle > 0) blame(&t->gaps, e, idle);
        if (e->kind != SIMGPU_CALL || part.to < start + ns || part.from >= part.to) continue;
        enum simgpu_class what = e->is.call.what;
        if (is_allocation(what)) blame(&t->allocs, e, ns);
        if (whole && !busy_at(t, part.to)) {
            culprit *c = blame(&t->drains, e, ns);
            if (c && !c->held) c->held = held_at(u, part.to);
        } else if (whole && (what == SIMGPU_WAITS || what == SIMGPU_COPIES))
            blame(&t->harmless, e, ns);
    }
    culprits *all[] = {&t->drains, &t->harmless, &t->pageable, &t->allocs, &t->gaps};
    for (int i = 0; i < 5; i++) qsort(all[i]->list, (size_t)all[i]->n, sizeof(culprit), most_first);
    return true;
}

void timeline_free(timeline *t) { free(t->busy); }
