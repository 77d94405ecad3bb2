/* activity.c — who was busy when, and so: why were the SMs idle?
 *
 * Logs of a stretch, each in order of time: what the host thread did, what the SMs ran, what each copy engine and the
 * host functions did. At the end of the stretch the holes between the SMs' spans are cut into gaps:
 *
 *     host    | launch A |  blocked in cudaMemcpy  | works | launch B |
 *     SMs            [ A ]                                        [ B ]
 *     gap                 |  host blocked in ...   | works | launch.. |
 *
 * The command that ends a hole tells whose fault each part of it was. Before its call began: the host's, doing what the
 * log says. Until it arrived: the launching itself. After that: a copy or a host function that it had to wait for, or
 * the device's own overhead.
 *
 * Nothing is logged while no report and no trace is written; the sums are always kept. */
#include "time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double start, end;
    time_site site;
    enum time_doing doing; /* the host's log */
    double called, arrive, work;
} span;

typedef struct {
    span *spans;
    size_t count, room;
} span_log;

enum other { ENGINE_H2D, ENGINE_D2H, FUNCTIONS, OTHERS };
static span_log host_log, sm_log, other_logs[OTHERS];

static struct {
    time_site site;
    double start, waited, inside; /* inside: neither submitting nor the program's own work */
    double worked;
    uint64_t bytes;
    bool syncs;
} call;

static time_totals totals;

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static bool logging(void) { return report_on() || trace_on(); }

static void add(span_log *l, span s) {
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->spans = realloc(l->spans, l->room * sizeof *l->spans);
        if (!l->spans) sim_refuse("the host has no memory left for the report; mark it more often (simgpuMark)");
    }
    l->spans[l->count++] = s;
}

/* Forgets what ended by then. */
static void drop_before(span_log *l, double ns) {
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->spans[i].end > ns) l->spans[kept++] = l->spans[i];
    l->count = kept;
}

/* --- the host ----------------------------------------------------------------------------------------------- */

void activity_call(time_site site) {
    memset(&call, 0, sizeof call);
    call.site = site;
    call.start = time_host_ns();
}

double activity_call_ns(void) { return call.start; }
void activity_call_bytes(uint64_t bytes) { call.bytes = bytes; }
void activity_call_syncs(void) { call.syncs = true; }

void activity_host(enum time_doing what, double start_ns, double end_ns) {
    if (end_ns <= start_ns) return;
    if (what == HOST_WAITS) call.waited += end_ns - start_ns;
    if (what == HOST_WAITS || what == HOST_IN_CALL) call.inside += end_ns - start_ns;
    if (what == HOST_WORKS) call.worked += end_ns - start_ns;
    if (!logging()) return;
    span *last = host_log.count ? &host_log.spans[host_log.count - 1] : NULL;
    if (last && last->end == start_ns && last->doing == what && last->site.name == call.site.name &&
        last->site.file == call.site.file && last->site.line == call.site.line)
        last->end = end_ns;
    else
        add(&host_log, (span){.start = start_ns, .end = end_ns, .site = call.site, .doing = what});
}

void activity_call_end(void) {
    enum { WORK_WORTH_A_LINE = 1000 }; /* ns: a loop of small memcpys would fill the report */
    double duration = time_host_ns() - call.start;
    totals.sync_calls += call.syncs;
    totals.waited_ns += call.waited;
    if (duration > 0 && trace_on())
        trace_span(TRACE_HOST, call.site.name, call.site.file, call.site.line, call.start, call.start + duration);
    if (report_on() && (call.inside > 0 || call.worked >= WORK_WORTH_A_LINE))
        report_call(&call.site, call.worked > 0, call.start, duration, call.waited, call.bytes);
    call.start = time_host_ns();
    call.inside = call.worked = call.waited = 0;
}

/* --- the device --------------------------------------------------------------------------------------------- */

static const char *describe(const time_command *c, char *text, size_t size) {
    static const char *const directions[] = {"H2D", "D2H", "D2D", "H2H"};
    int length;
    const char *base;
    switch (c->kind) {
    case TIME_LAUNCH:
        base = ptx_base_name(c->launch.kernel->name, &length);
        snprintf(text, size, "%.*s", length, base);
        break;
    case TIME_COPY:
        snprintf(text, size, "%s %llu B%s", directions[c->direction], (unsigned long long)(c->width * c->height),
                 c->pageable ? " pageable" : "");
        break;
    case TIME_MEMSET: snprintf(text, size, "memset %llu B", (unsigned long long)(c->width * c->height)); break;
    default: snprintf(text, size, "host function");
    }
    return text;
}

void activity_device(const time_command *c, double call_ns, double arrive_ns, double start_ns, double work_ns,
                     double end_ns) {
    if (!logging()) return;
    bool function = c->kind == TIME_HOST_CALL;
    bool h2d = c->kind == TIME_COPY && c->direction == TIME_H2D, d2h = c->kind == TIME_COPY && c->direction == TIME_D2H;
    span_log *log = function ? &other_logs[FUNCTIONS]
                    : h2d    ? &other_logs[ENGINE_H2D]
                    : d2h    ? &other_logs[ENGINE_D2H]
                             : &sm_log;
    add(log, (span){.start = start_ns,
                    .end = end_ns,
                    .site = {NULL, c->host_file, c->host_line},
                    .called = call_ns,
                    .arrive = arrive_ns,
                    .work = work_ns});
    if (!trace_on()) return;
    char name[160];
    describe(c, name, sizeof name);
    unsigned row = function ? TRACE_CALLBACK : h2d ? TRACE_H2D : d2h ? TRACE_D2H : TRACE_SMS;
    trace_span(row, name, c->host_file, c->host_line, start_ns, end_ns);
    if (!function) trace_span(TRACE_STREAMS + c->stream, name, c->host_file, c->host_line, start_ns, end_ns);
}

/* --- memory ------------------------------------------------------------------------------------------------- */

void activity_alloc(enum time_memory what, uint64_t bytes) {
    totals.memory[what].allocs++;
    totals.memory[what].live += bytes;
    if (totals.memory[what].live > totals.memory[what].peak) totals.memory[what].peak = totals.memory[what].live;
}

void activity_free(enum time_memory what, uint64_t bytes) {
    totals.memory[what].frees++;
    totals.memory[what].live -= bytes;
}

void activity_staged(uint64_t bytes) { totals.staged_bytes += bytes; }

/* --- gaps --------------------------------------------------------------------------------------------------- */

/* Neighbouring gaps of one cause and line become one. */
static struct {
    span s;
    char cause[96];
} pending;

static void flush_gap(void) {
    if (pending.s.end > pending.s.start) {
        if (report_on()) report_gap(&pending.s.site, pending.cause, pending.s.start, pending.s.end - pending.s.start);
        if (trace_on())
            trace_span(TRACE_GAPS, pending.cause, pending.s.site.file, pending.s.site.line, pending.s.start,
                       pending.s.end);
    }
    pending.s.end = pending.s.start = 0;
}

static void put_gap(double start, double end, const time_site *site, const char *cause, const char *call_name) {
    char text[sizeof pending.cause];
    if (end <= start) return;
    snprintf(text, sizeof text, "%s%s", cause, call_name ? call_name : "");
    if (pending.s.end == start && !strcmp(text, pending.cause) && pending.s.site.file == site->file &&
        pending.s.site.line == site->line) {
        pending.s.end = end;
        return;
    }
    flush_gap();
    pending.s = (span){.start = start, .end = end, .site = *site};
    memcpy(pending.cause, text, sizeof text);
}

/* Before the call that ends the hole: what the host did instead. */
static void blame_host(double start, double end, size_t *at) {
    static const time_site nowhere;
    while (*at < host_log.count && host_log.spans[*at].end <= start) ++*at;
    for (size_t i = *at; start < end; i++) {
        const span *s = i < host_log.count ? &host_log.spans[i] : NULL;
        double from = s ? smaller(end, larger(start, s->start)) : end;
        put_gap(start, from, &nowhere, "host working", NULL); /* not seen at all: before the first call */
        if (!s) return;
        double to = smaller(end, larger(from, s->end));
        if (s->doing == HOST_SUBMITS)
            put_gap(from, to, &s->site, "host launching", NULL);
        else if (s->doing == HOST_WORKS)
            put_gap(from, to, &s->site, "host working", NULL);
        else
            put_gap(from, to, &s->site, "host blocked in ", s->site.name);
        start = to;
    }
}

/* After the command that ends the hole had arrived: what it waited for. */
static void blame_device(double start, double end, const span *waiter, size_t at[OTHERS]) {
    while (start < end) {
        const span *busy = NULL;
        double until = end;
        int who = 0;
        for (int o = 0; o < OTHERS && !busy; o++) {
            const span_log *l = &other_logs[o];
            while (at[o] < l->count && l->spans[at[o]].end <= start) at[o]++;
            const span *s = at[o] < l->count ? &l->spans[at[o]] : NULL;
            if (!s) continue;
            if (s->start <= start)
                busy = s, who = o;
            else
                until = smaller(until, s->start);
        }
        if (busy) until = smaller(end, busy->end);
        put_gap(start, until, busy ? &busy->site : &waiter->site,
                !busy              ? "device between commands"
                : who == FUNCTIONS ? "waiting for a host function"
                                   : "waiting for copy",
                NULL);
        start = until;
    }
}

static void write_gaps(double from, double to) {
    size_t host_at = 0, others_at[OTHERS] = {0};
    double idle_since = from;
    for (size_t i = 0; i < sm_log.count; i++) {
        const span *s = &sm_log.spans[i];
        double start = smaller(s->start, to), end = smaller(s->end, to), work = smaller(s->work, to);
        if (start > idle_since) {
            double called = smaller(start, larger(idle_since, s->called));
            double arrived = smaller(start, larger(called, s->arrive));
            blame_host(idle_since, called, &host_at);
            put_gap(called, arrived, &s->site, "host launching", NULL);
            blame_device(arrived, start, s, others_at);
        }
        /* The launch's own time: the SMs are taken, but nothing of the kernel runs yet. */
        put_gap(larger(idle_since, start), work, &s->site, "kernel starting", NULL);
        if (end > idle_since) totals.busy_ns += end - larger(idle_since, start);
        if (end > larger(idle_since, work)) totals.working_ns += end - larger(idle_since, work);
        idle_since = larger(idle_since, end);
    }
    blame_host(idle_since, to, &host_at);
    flush_gap();
}

void activity_stretch(void) {
    double now = time_host_ns();
    totals.duration_ns = now - totals.start_ns;
    if (logging()) write_gaps(totals.start_ns, now);
    if (report_on()) report_totals(&totals);
    drop_before(&host_log, now);
    drop_before(&sm_log, now);
    for (int o = 0; o < OTHERS; o++) drop_before(&other_logs[o], now);
    time_totals next = {.start_ns = now};
    for (int m = 0; m < MEMORIES; m++) next.memory[m].live = next.memory[m].peak = totals.memory[m].live;
    totals = next;
}
