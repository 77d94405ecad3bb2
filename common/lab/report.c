/* report.c — listens to SimGPU's events (../simgpu/include/simgpu_event.h) and keeps them by stretch, with the sums of
 * their counters, in all and by source line.
 *
 * A stretch lasts from lab_count_begin to lab_count_end; stretches of one name add up, and the last is kept apart, too.
 * SimGPU calls in the middle of the student's calls, while the lab's state is locked: nothing here lives in it.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct stretch {
    char name[64];
    lab_usage usage;
    lab_usage last; /* since the name was last begun; its events are those of `usage` from this one on */
    int last_from;
    struct stretch *next;
} stretch;
static stretch *stretches, *current; /* current: NULL between stretches */

static void *need(void *memory) {
    if (!memory) lab_die("out of memory for SimGPU's events");
    return memory;
}

/* The list with room for element n; it is moved only when n is a power of two. */
static void *grow(void *list, int n, size_t size) {
    if (n & (n - 1)) return list;
    return need(realloc(list, (size_t)(n ? 2 * n : 1) * size));
}

/* --- strings ---------------------------------------------------------------------------------- */

/* A copy that stays, one for each text. "./labs/x.cu", as one compiler pass writes it, is the other's "labs/x.cu". */
static const char *kept(const char *text) {
    static struct word {
        struct word *next;
        char text[];
    } * words;
    if (!text) return NULL;
    if (!strncmp(text, "./", 2)) text += 2;
    for (struct word *w = words; w; w = w->next)
        if (!strcmp(w->text, text)) return w->text;
    struct word *w = need(malloc(sizeof *w + strlen(text) + 1));
    strcpy(w->text, text);
    w->next = words;
    words = w;
    return w->text;
}

/* An event points to SimGPU's memory, which is freed; a launch's counters by line are in the sums. */
static void keep_strings(struct simgpu_event *e) {
    e->at.file = kept(e->at.file);
    if (e->kind == SIMGPU_LAUNCH) {
        struct simgpu_launch *l = &e->is.launch;
        l->kernel = kept(l->kernel);
        l->bound.at.file = kept(l->bound.at.file);
        l->lines = NULL;
        l->nlines = 0;
        if (!l->fault) return;
        struct simgpu_fault *f = need(malloc(sizeof *f)); /* the first ends all: one a program */
        *f = *l->fault;
        f->at.file = kept(f->at.file);
        f->module = kept(f->module);
        l->fault = f;
    } else if (e->kind == SIMGPU_CALL || e->kind == SIMGPU_WORK) {
        e->is.call.name = kept(e->is.call.name);
    } else if (e->kind == SIMGPU_GAP) {
        e->is.gap.call = kept(e->is.gap.call);
    } else if (e->kind == SIMGPU_FINDING) {
        for (int k = 0; k < 2; k++) e->is.finding.side[k].at.file = kept(e->is.finding.side[k].at.file);
        e->is.finding.variable = kept(e->is.finding.variable);
    } else if (e->kind == SIMGPU_REFUSAL) {
        e->is.refusal.call = kept(e->is.refusal.call);
        e->is.refusal.text = kept(e->is.refusal.text);
    }
}

/* --- sums ------------------------------------------------------------------------------------- */

static void add(lab_counters *to, const struct simgpu_counters *from) {
#define COUNTER(field, ncu, what) to->field += (double)from->field;
#include "../simgpu/include/simgpu_counters.def"
#undef COUNTER
}

static lab_line *line_of(lab_usage *u, const char *file, int line) {
    file = kept(file);
    for (int i = 0; i < u->nlines; i++)
        if (u->lines[i].line == line && !strcmp(u->lines[i].file, file)) return &u->lines[i];
    u->lines = grow(u->lines, u->nlines, sizeof *u->lines);
    lab_line *l = &u->lines[u->nlines++];
    memset(l, 0, sizeof *l);
    lab_text(l->file, sizeof l->file, "%s", file);
    l->line = line;
    return l;
}

/* Returns false for a call so short that it is not kept. */
static bool sum(lab_usage *u, const struct simgpu_event *e) {
    bool launch = e->kind == SIMGPU_LAUNCH, copy = e->kind == SIMGPU_COPY || e->kind == SIMGPU_FILL;
    bool call = e->kind == SIMGPU_CALL || e->kind == SIMGPU_WORK;
    if (call && e->is.call.short_one) return false;
    u->launches += launch;
    u->copies += copy;
    if (launch) {
        const struct simgpu_launch *l = &e->is.launch;
        add(&u->total, &l->total);
        for (uint32_t i = 0; i < l->nlines; i++)
            add(&line_of(u, l->lines[i].file ? l->lines[i].file : "", (int)l->lines[i].line)->c, &l->lines[i].counters);
    }
    if (e->at.file && (launch || copy)) {
        lab_line *l = line_of(u, e->at.file, e->at.line);
        l->launches += launch;
        l->copies += copy;
    }
    return true;
}

void lab_take(lab_usage *u, const struct simgpu_event *e) {
    if (!sum(u, e)) return;
    u->events = grow(u->events, u->nevents, sizeof *u->events);
    u->events[u->nevents] = *e;
    keep_strings(&u->events[u->nevents++]);
}

/* --- stretches -------------------------------------------------------------------------------- */

static stretch *stretch_of(const char *name) {
    stretch *s = stretches;
    while (s && strcmp(s->name, name)) s = s->next;
    return s;
}

void lab_hear(const struct simgpu_event *e, void *none) {
    (void)none;
    if (e->kind != SIMGPU_MARK) {
        if (current) lab_take(&current->usage, e), sum(&current->last, e);
        return;
    }
    current = strcmp(e->is.mark, LAB_COUNT_END) ? stretch_of(e->is.mark) : NULL;
    if (current) lab_usage_free(&current->last), current->last_from = current->usage.nevents;
    if (current || !strcmp(e->is.mark, LAB_COUNT_END)) return;
    current = need(calloc(1, sizeof *current));
    lab_text(current->name, sizeof current->name, "%s", e->is.mark);
    current->next = stretches;
    stretches = current;
}

static void *copy_of(const void *list, int n, size_t size) {
    return n ? memcpy(need(malloc((size_t)n * size)), list, (size_t)n * size) : NULL;
}

static lab_usage copied(const lab_usage *from) {
    lab_usage u = *from;
    u.lines = copy_of(u.lines, u.nlines, sizeof *u.lines);
    u.events = copy_of(u.events, u.nevents, sizeof *u.events);
    return u;
}

int lab_count_read(const char *name, lab_usage *u, char *why, size_t why_size) {
    memset(u, 0, sizeof *u);
    why[0] = 0;
    if (lab_lane() != LAB_SIM) return lab_text(why, why_size, "the gpu lane counts with ncu"), -1;
    const stretch *s = stretch_of(name);
    if (!s) return lab_text(why, why_size, "nothing was counted under the name '%s'", name), -1;
    *u = copied(&s->usage);
    return 0;
}

lab_usage lab_usage_of_last(const char *name) {
    const stretch *s = stretch_of(name);
    lab_usage last = s ? s->last : (lab_usage){0};
    if (s && s->usage.nevents > s->last_from) {
        last.events = s->usage.events + s->last_from;
        last.nevents = s->usage.nevents - s->last_from;
    }
    return copied(&last);
}

lab_usage lab_usage_of(const char *name) {
    lab_usage u;
    char why[256];
    if (lab_count_read(name, &u, why, sizeof why)) lab_die("%s", why);
    return u;
}

void lab_usage_free(lab_usage *u) {
    free(u->lines);
    free(u->events);
    memset(u, 0, sizeof *u);
}

/* --- questions -------------------------------------------------------------------------------- */

const struct simgpu_launch *lab_slowest(const lab_usage *u) {
    const struct simgpu_event *slowest = NULL;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind != SIMGPU_LAUNCH || !e->duration_ns) continue; /* ncu gives no time */
        if (!slowest || e->duration_ns >= slowest->duration_ns) slowest = e;
    }
    return slowest ? &slowest->is.launch : NULL;
}

const struct simgpu_fault *lab_fault(const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_LAUNCH && u->events[i].is.launch.fault) return u->events[i].is.launch.fault;
    return NULL;
}

const struct simgpu_finding *lab_finding_of(const lab_usage *u, enum simgpu_finding_kind kind) {
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_FINDING && u->events[i].is.finding.kind == kind)
            return &u->events[i].is.finding;
    return NULL;
}

const struct simgpu_finding *lab_order_finding(const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_finding *f = &u->events[i].is.finding;
        if (u->events[i].kind == SIMGPU_FINDING && (f->kind == SIMGPU_IN_FLIGHT || f->kind == SIMGPU_STREAM_ORDER))
            return f;
    }
    return NULL;
}

const struct simgpu_finding *lab_finding(const lab_usage *u) {
    const struct simgpu_finding *cause = lab_finding_of(u, SIMGPU_BARRIER_SKIPPED);
    if (!cause) cause = lab_order_finding(u);
    const struct simgpu_finding *first = NULL;
    if (cause) return cause;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_finding *f = &u->events[i].is.finding;
        if (u->events[i].kind != SIMGPU_FINDING || f->kind == SIMGPU_BARRIER_EXITED) continue;
        if (f->kind == SIMGPU_UNINITIALISED && f->space == SIMGPU_DEVICE_MEMORY) return f;
        if (!first) first = f;
    }
    return first;
}

const struct simgpu_event *lab_refusal(const lab_usage *u, cudaError_t error) {
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_REFUSAL && u->events[i].is.refusal.error == (int)error) return &u->events[i];
    return NULL;
}

/* A stretch holds the student's launches only, so every .cu file in it is the student's. */
bool lab_is_source(const char *file) {
    size_t n = strlen(file);
    return n > 3 && !strcmp(file + n - 3, ".cu");
}

const lab_line *lab_worst(const lab_usage *u, double (*cost)(const lab_line *)) {
    const lab_line *worst = NULL;
    double most = 0;
    for (int i = 0; i < u->nlines; i++) {
        if (!lab_is_source(u->lines[i].file)) continue;
        double v = cost(&u->lines[i]);
        if (v > most) most = v, worst = &u->lines[i];
    }
    return worst;
}
