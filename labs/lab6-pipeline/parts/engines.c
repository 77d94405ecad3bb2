/* engines.c — see engines.h. */
#include "engines.h"

#include <stdlib.h>
#include <string.h>

/* An engine begins or ends a piece. */
typedef struct {
    double ns;
    enum engine engine;
    int step; /* 1: begins, -1: ends */
} turn;

/* Returns ENGINES if the event is work of none. */
static enum engine engine_of(const struct simgpu_event *e) {
    if (e->kind == SIMGPU_LAUNCH && !strcmp(e->is.launch.name, "process")) return ENGINE_KERNELS;
    if (e->kind != SIMGPU_COPY) return ENGINES;
    if (e->is.copy.direction == SIMGPU_H2D) return ENGINE_UP;
    return e->is.copy.direction == SIMGPU_D2H ? ENGINE_DOWN : ENGINES;
}

static int earlier(const void *a, const void *b) {
    const turn *x = a, *y = b;
    if (x->ns != y->ns) return (x->ns > y->ns) - (x->ns < y->ns);
    return y->step - x->step; /* what begins where another ends leaves no gap */
}

static turn *turns_of(const lab_usage *u, double begin, double end, engines *e, int *n) {
    turn *turns = malloc((2 * (size_t)u->nevents + 1) * sizeof *turns);
    if (!turns) lab_die("out of memory");
    *n = 0;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *event = &u->events[i];
        const enum engine k = engine_of(event);
        const double from = (double)event->start_ns, to = from + (double)event->duration_ns;
        if (k == ENGINES || from < begin || to > end) continue;
        e->pieces[k]++;
        turns[(*n)++] = (turn){from, k, 1};
        turns[(*n)++] = (turn){to, k, -1};
    }
    qsort(turns, (size_t)*n, sizeof *turns, earlier);
    return turns;
}

/* Was a kernel or a copy down queued before this time and not over? */
static bool under_way(const lab_usage *u, double begin, double ns) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        const enum engine k = engine_of(e);
        if (k != ENGINE_KERNELS && k != ENGINE_DOWN) continue;
        const double called = (double)(k == ENGINE_KERNELS ? e->is.launch.call_ns : e->is.copy.call_ns);
        if (called >= begin && called < ns && (double)(e->start_ns + e->duration_ns) > ns) return true;
    }
    return false;
}

static int idle_starts_of(const lab_usage *u, double begin) {
    int n = 0;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (engine_of(e) != ENGINE_KERNELS || (double)e->is.launch.call_ns < begin) continue;
        n += !under_way(u, begin, (double)e->is.launch.call_ns);
    }
    return n;
}

static void add_host(const lab_usage *u, double begin, double end, engines *e) {
    double most = 0;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *w = &u->events[i];
        const double ns = (double)w->duration_ns;
        if (w->kind != SIMGPU_WORK || (double)w->start_ns < begin || (double)w->start_ns + ns > end) continue;
        double here = 0; /* of this line, up to here */
        for (int k = 0; k <= i; k++)
            if (u->events[k].kind == SIMGPU_WORK && u->events[k].at.line == w->at.line)
                here += (double)u->events[k].duration_ns;
        if (here > most) most = here, e->host_at = w->at;
        e->host += ns;
    }
}

engines engines_of(const lab_usage *u, double begin, double end) {
    enum { SHORT = 1000 }; /* ns */
    engines e = {.ends = end - begin, .idle_starts = idle_starts_of(u, begin)};
    int n, at_work[ENGINES] = {0};
    turn *turns = turns_of(u, begin, end, &e, &n);
    double since = begin, together = 0, first = -1, last = 0; /* together: without a pause, up to `since` */
    for (int i = 0; i < n; i++) {
        const double ns = turns[i].ns - since;
        bool all = true;
        for (enum engine k = ENGINE_UP; k < ENGINES; k++) {
            if (at_work[k]) e.busy[k] += ns;
            all = all && at_work[k];
        }
        if (ns > 0) together = all ? together + ns : 0;
        if (all) e.together += ns;
        if (together >= SHORT) {
            if (first < 0) first = turns[i].ns - together;
            last = turns[i].ns;
        }
        at_work[turns[i].engine] += turns[i].step;
        since = turns[i].ns;
    }
    free(turns);
    add_host(u, begin, end, &e);
    if (first >= 0) e.ends -= last - first;
    return e;
}
