/* profile.c — see profile.h. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

static void add_launch(profile *p, const struct simgpu_event *e) {
    const struct simgpu_launch *l = &e->is.launch;
    int i = 0;
    while (i < p->nkernels && strcmp(p->kernels[i].name, l->name) != 0) i++;
    if (i == PROFILE_KERNELS) i--;
    if (i == p->nkernels) LAB_SAY(p->kernels[p->nkernels++].name, "%s", l->name);
    profile_kernel *k = &p->kernels[i];
    k->launches++;
    k->ns += (double)e->duration_ns;
    k->ld_sectors += (double)l->total.ld_sectors;
    k->ld_bytes += (double)l->total.ld_bytes;
    p->launches++;
    p->kernel_ns += (double)e->duration_ns;
}

static void add_gap(profile *p, const struct simgpu_event *e) {
    char what[96];
    int i = 0;
    lab_say_gap(&e->is.gap, what, sizeof what);
    while (i < p->ncauses && strcmp(p->causes[i].what, what) != 0) i++;
    if (i == PROFILE_CAUSES) i--;
    if (i == p->ncauses) {
        p->causes[i].at = e->at;
        LAB_SAY(p->causes[p->ncauses++].what, "%s", what);
    }
    p->causes[i].ns += (double)e->duration_ns;
}

/* The order of the names decides between equals, so that it is the same everywhere. */
static int by_time(const void *a, const void *b) {
    const profile_kernel *p = a, *q = b;
    return p->ns != q->ns ? (p->ns < q->ns) - (p->ns > q->ns) : strcmp(p->name, q->name);
}
static int by_idle_time(const void *a, const void *b) {
    const profile_cause *p = a, *q = b;
    return p->ns != q->ns ? (p->ns < q->ns) - (p->ns > q->ns) : strcmp(p->what, q->what);
}

/* Kernels of several streams may overlap. Their events come in the order of the host's calls, in each stream also in
 * that of their starts; where streams cross, what is counted twice is left out as far as the latest end tells it. */
static void add_busy(profile *p, const struct simgpu_event *e, double *until) {
    const double start = (double)e->start_ns, end = start + (double)e->duration_ns;
    if (end <= *until) return;
    p->busy_ns += end - (start > *until ? start : *until);
    *until = end;
}

profile profile_of(const run *r, const lab_usage *u) {
    profile p = {.ns = r->end - r->begin, .waits = r->meter.waits};
    double until = 0;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind == SIMGPU_LAUNCH) add_launch(&p, e), add_busy(&p, e, &until);
        if (e->kind == SIMGPU_GAP && e->is.gap.cause != SIMGPU_KERNEL_STARTING) add_gap(&p, e);
    }
    qsort(p.kernels, (size_t)p.nkernels, sizeof *p.kernels, by_time);
    qsort(p.causes, (size_t)p.ncauses, sizeof *p.causes, by_idle_time);
    return p;
}

void profile_note(const profile *p, const lab_usage *u, int steps) {
    enum { SHOWN = 3 };
    char text[400] = "";
    for (int i = 0; i < p->nkernels && i < SHOWN; i++) {
        const profile_kernel *k = &p->kernels[i];
        const bool seldom = k->launches < steps; /* as where one launch takes all steps */
        const size_t n = strlen(text);
        lab_text(text + n, sizeof text - n, "%s%s %.0f %% (%.0f %s)", i ? ", " : "", k->name,
                 100 * k->ns / p->kernel_ns, seldom ? k->launches : k->launches / steps, seldom ? "in all" : "a step");
    }
    lab_note("kernels", "%s", text);
    static const char before[] = "; the slowest kernel";
    const char *slowest = lab_say_slowest(u, text, sizeof text);
    if (!strncmp(slowest, before, sizeof before - 1)) lab_note("longest launch", "%s", slowest + sizeof before + 1);
    text[0] = 0;
    for (int i = 0; i < p->ncauses && i < SHOWN; i++) {
        const size_t n = strlen(text);
        lab_text(text + n, sizeof text - n, "%s%s %.0f %%", i ? ", " : "", p->causes[i].what,
                 100 * p->causes[i].ns / p->ns);
    }
    lab_note("idle", "%.0f %% of the time: %s", 100 * (p->ns - p->busy_ns) / p->ns, text);
}
