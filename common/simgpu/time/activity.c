/* activity.c — logs the work of the host, the engines and the SMs, and explains each time in which the SMs were idle.
 *
 * A stretch has logs in order of time: of the host thread, the SMs, each copy engine and the host functions. At the end
 * of the stretch the idle times between the SMs' spans are cut into gaps:
 *
 *     host    | launch A |  blocked in cudaMemcpy  | works | launch B |
 *     SMs            [ A ]                                        [ B ]
 *     gap                 |  host blocked in ...   | works | launch.. |
 *
 * The command that ends an idle time decides the cause of each part. Until its call began, the cause is the host's
 * activity in the log; until it arrived at the device, the launching; after that, a copy or a host function that it
 * waited for, or the device's own overhead.
 *
 * The logs are kept only while a listener is registered, the sums always. */
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

struct time_activity {
    span_log host_log, sm_log, other_logs[OTHERS];
    struct {
        time_site site;
        double start, waited, inside; /* inside: time that is neither submitting nor the program's own work */
        double worked;
        enum simgpu_class what;
        uint64_t bytes;
        bool syncs;
    } call;
    struct {                      /* the sums of a stretch, from one mark to the next */
        struct simgpu_totals all; /* its times are set at the end from the fields below */
        double waited, start, busy, working;
    } totals;
    struct { /* the last gap; it grows while the next has the same cause and line */
        span s;
        enum simgpu_gap_cause cause;
    } pending;
};

static time_activity *of; /* the device in use */

time_activity *time_activity_new(void) {
    return base_must(calloc(1, sizeof(time_activity)), "the host has no memory left for a device");
}
void time_activity_use(time_activity *a) { of = a; }

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static void add(span_log *l, span s) {
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->spans = realloc(l->spans, l->room * sizeof *l->spans);
        if (!l->spans) base_refuse("the host has no memory left for the report; mark it more often (simgpuMark)");
    }
    l->spans[l->count++] = s;
}

/* Drops the spans that ended by then. */
static void drop_before(span_log *l, double ns) {
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->spans[i].end > ns) l->spans[kept++] = l->spans[i];
    l->count = kept;
}

/* --- the host ----------------------------------------------------------------------------------------------- */

void time_activity_call(time_site site, enum simgpu_class what) {
    memset(&of->call, 0, sizeof of->call);
    of->call.site = site;
    of->call.what = what;
    of->call.start = time_host_ns();
}

double time_activity_call_ns(void) { return of->call.start; }
void time_activity_call_bytes(uint64_t bytes) { of->call.bytes = bytes; }
void time_activity_call_syncs(void) { of->call.syncs = true; }

void time_activity_host(enum time_doing what, double start_ns, double end_ns) {
    if (end_ns <= start_ns) return;
    if (what == HOST_WAITS) of->call.waited += end_ns - start_ns;
    if (what == HOST_WAITS || what == HOST_IN_CALL) of->call.inside += end_ns - start_ns;
    if (what == HOST_WORKS) of->call.worked += end_ns - start_ns;
    if (!time_events_on()) return;
    span *last = of->host_log.count ? &of->host_log.spans[of->host_log.count - 1] : NULL;
    if (last && last->end == start_ns && last->doing == what && last->site.name == of->call.site.name &&
        last->site.file == of->call.site.file && last->site.line == of->call.site.line)
        last->end = end_ns;
    else
        add(&of->host_log, (span){.start = start_ns, .end = end_ns, .site = of->call.site, .doing = what});
}

static struct simgpu_event event_at(enum simgpu_kind kind, const time_site *site, double start_ns, double end_ns) {
    return (struct simgpu_event){.kind = kind,
                                 .at = {.file = site->file, .line = site->line},
                                 .start_ns = whole_ns(start_ns),
                                 .duration_ns = whole_ns(end_ns - start_ns)};
}

void time_activity_call_end(void) {
    enum { WORK_WORTH_A_LINE = 1000 }; /* ns; keeps loops of small memcpys out of the report */
    double now = time_host_ns();
    of->totals.all.sync_calls += of->call.syncs;
    of->totals.waited += of->call.waited;
    if (now > of->call.start && time_events_on()) {
        struct simgpu_event e =
            event_at(of->call.worked > 0 ? SIMGPU_WORK : SIMGPU_CALL, &of->call.site, of->call.start, now);
        e.is.call = (struct simgpu_call){.name = of->call.site.name,
                                         .what = of->call.what,
                                         .syncs = of->call.syncs,
                                         .short_one = of->call.inside <= 0 && of->call.worked < WORK_WORTH_A_LINE,
                                         .waited_ns = whole_ns(of->call.waited),
                                         .bytes = of->call.bytes};
        time_events_send(NULL, &e);
    }
    of->call.start = now;
    of->call.inside = of->call.worked = of->call.waited = 0;
}

/* --- the device --------------------------------------------------------------------------------------------- */

void time_activity_device(const time_command *c, double call_ns, double arrive_ns, double start_ns, double work_ns,
                          double end_ns) {
    if (!time_events_on()) return;
    bool copy = c->kind == TIME_COPY || c->kind == TIME_MIGRATE;
    span_log *log = c->kind == TIME_HOST_CALL                    ? &of->other_logs[FUNCTIONS]
                    : copy && c->is.copy.direction == SIMGPU_H2D ? &of->other_logs[ENGINE_H2D]
                    : copy && (c->is.copy.direction == SIMGPU_D2H || c->is.copy.peer_gbs > 0)
                        ? &of->other_logs[ENGINE_D2H]
                        : &of->sm_log;
    add(log, (span){.start = start_ns,
                    .end = end_ns,
                    .site = {NULL, c->host_file, c->host_line},
                    .called = call_ns,
                    .arrive = arrive_ns,
                    .work = work_ns});
}

/* --- memory ------------------------------------------------------------------------------------------------- */

void time_activity_alloc(enum simgpu_memory what, uint64_t bytes) {
    of->totals.all.memory[what].allocs++;
    of->totals.all.memory[what].live += bytes;
    if (of->totals.all.memory[what].live > of->totals.all.memory[what].peak)
        of->totals.all.memory[what].peak = of->totals.all.memory[what].live;
}

void time_activity_free(enum simgpu_memory what, uint64_t bytes) {
    of->totals.all.memory[what].frees++;
    of->totals.all.memory[what].live -= bytes;
}

void time_activity_staged(uint64_t bytes) { of->totals.all.staged_bytes += bytes; }

/* --- gaps --------------------------------------------------------------------------------------------------- */

static void flush_gap(void) {
    if (of->pending.s.end > of->pending.s.start) {
        struct simgpu_event e = event_at(SIMGPU_GAP, &of->pending.s.site, of->pending.s.start, of->pending.s.end);
        e.is.gap.cause = of->pending.cause;
        e.is.gap.call = of->pending.cause == SIMGPU_HOST_BLOCKED ? of->pending.s.site.name : NULL;
        time_events_send(NULL, &e);
    }
    of->pending.s.end = of->pending.s.start = 0;
}

/* Returns whether a gap with this start, place and cause continues the last one. The site's name matters only for
 * SIMGPU_HOST_BLOCKED. */
static bool goes_on(double start, const time_site *site, enum simgpu_gap_cause cause) {
    const time_site *last = &of->pending.s.site;
    return of->pending.s.end > of->pending.s.start && of->pending.s.end == start && cause == of->pending.cause &&
           last->file == site->file && last->line == site->line &&
           (cause != SIMGPU_HOST_BLOCKED || !strcmp(last->name, site->name));
}

static void put_gap(double start, double end, const time_site *site, enum simgpu_gap_cause cause) {
    if (end <= start) return;
    if (goes_on(start, site, cause)) {
        of->pending.s.end = end;
        return;
    }
    flush_gap();
    of->pending.s = (span){.start = start, .end = end, .site = *site};
    of->pending.cause = cause;
}

/* Explains the part before the call that ends the idle time, by the host's log. */
static void blame_host(double start, double end, size_t *at) {
    static const time_site nowhere;
    while (*at < of->host_log.count && of->host_log.spans[*at].end <= start) ++*at;
    for (size_t i = *at; start < end; i++) {
        const span *s = i < of->host_log.count ? &of->host_log.spans[i] : NULL;
        double from = s ? smaller(end, larger(start, s->start)) : end;
        put_gap(start, from, &nowhere, SIMGPU_HOST_WORKING); /* without a log entry, before the first call */
        if (!s) return;
        double to = smaller(end, larger(from, s->end));
        if (s->doing == HOST_SUBMITS)
            put_gap(from, to, &s->site, SIMGPU_HOST_LAUNCHING);
        else if (s->doing == HOST_WORKS)
            put_gap(from, to, &s->site, SIMGPU_HOST_WORKING);
        else
            put_gap(from, to, &s->site, SIMGPU_HOST_BLOCKED);
        start = to;
    }
}

/* Explains the part after the command's arrival, by the commands that it waited for. */
static void blame_device(double start, double end, const span *waiter, size_t at[OTHERS]) {
    while (start < end) {
        const span *busy = NULL;
        double until = end;
        int who = 0;
        for (int o = 0; o < OTHERS && !busy; o++) {
            const span_log *l = &of->other_logs[o];
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
                !busy              ? SIMGPU_BETWEEN_COMMANDS
                : who == FUNCTIONS ? SIMGPU_WAITING_FOR_FUNCTION
                                   : SIMGPU_WAITING_FOR_COPY);
        start = until;
    }
}

static void write_gaps(double from, double to) {
    size_t host_at = 0, others_at[OTHERS] = {0};
    double idle_since = from;
    for (size_t i = 0; i < of->sm_log.count; i++) {
        const span *s = &of->sm_log.spans[i];
        double start = smaller(s->start, to), end = smaller(s->end, to), work = smaller(s->work, to);
        if (start > idle_since) {
            double called = smaller(start, larger(idle_since, s->called));
            double arrived = smaller(start, larger(called, s->arrive));
            blame_host(idle_since, called, &host_at);
            put_gap(called, arrived, &s->site, SIMGPU_HOST_LAUNCHING);
            blame_device(arrived, start, s, others_at);
        }
        /* The launch's own time, in which the SMs are occupied but no instruction of the kernel runs. */
        put_gap(larger(idle_since, start), work, &s->site, SIMGPU_KERNEL_STARTING);
        if (end > idle_since) of->totals.busy += end - larger(idle_since, start);
        if (end > larger(idle_since, work)) of->totals.working += end - larger(idle_since, work);
        idle_since = larger(idle_since, end);
    }
    blame_host(idle_since, to, &host_at);
    flush_gap();
}

static void send_totals(double now) {
    static const time_site nowhere;
    struct simgpu_event e = event_at(SIMGPU_TOTALS, &nowhere, of->totals.start, now);
    e.is.totals = of->totals.all;
    e.is.totals.busy_ns = whole_ns(of->totals.busy);
    e.is.totals.working_ns = whole_ns(of->totals.working);
    e.is.totals.waited_ns = whole_ns(of->totals.waited);
    time_events_send(NULL, &e);
}

void time_activity_stretch(void) {
    double now = time_host_ns();
    if (time_events_on()) {
        write_gaps(of->totals.start, now);
        send_totals(now);
    }
    drop_before(&of->host_log, now);
    drop_before(&of->sm_log, now);
    for (int o = 0; o < OTHERS; o++) drop_before(&of->other_logs[o], now);
    struct simgpu_totals next = {.sync_calls = 0};
    for (int m = 0; m < SIMGPU_MEMORIES; m++) next.memory[m].live = next.memory[m].peak = of->totals.all.memory[m].live;
    of->totals.all = next;
    of->totals.start = now;
    of->totals.waited = of->totals.busy = of->totals.working = 0;
}

void time_activity_mark(const char *name) {
    time_activity_stretch();
    struct simgpu_event e = {.kind = SIMGPU_MARK, .start_ns = whole_ns(time_host_ns())};
    e.is.mark = name;
    if (time_events_on()) time_events_send(NULL, &e);
}
