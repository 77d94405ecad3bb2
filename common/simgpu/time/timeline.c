/* timeline.c — a discrete-event simulation of one GPU and the host thread that feeds it.
 *
 * Each stream is a queue; its head starts when its dependencies are done, the command has arrived and its engine has
 * room. The device's clock jumps to the next step: a start, the begin of a copy's flow, an end. It runs only as far as
 * the host can observe: to the host's present (time_catch_up), or to the end of a wait (time_wait_*).
 *
 * Engines: host-to-device copies one at a time, device-to-host copies one at a time (both together share the bus a
 * little), and the SMs: kernels of different streams run side by side while their blocks fit.
 *
 * Dependencies: a stream is in order, so "that command is done" is "stream S has completed its Nth". The legacy default
 * stream waits for all earlier work of blocking streams, and their later work waits for it.
 *
 * A kernel that launches kernels encloses them: they run in streams of their own, and it ends when they have.
 *
 * A kernel changes memory when it starts, since its duration follows from its run; a copy changes memory when it ends.
 * Ordered streams cannot observe this; racing streams get one of the results that a GPU could give. */
#include "listen.h"
#include "moves.h"
#include "price.h"
#include "staging.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER DBL_MAX

/* BUSY lasts until `until`; then a copy over the bus is FLOWING, a host function is CALLED, and a kernel with children
 * ENCLOSES them. */
enum phase { QUEUED, BUSY, FLOWING, CALLED, ENCLOSES };

/* Where a command runs. NOWHERE: neither the SMs nor a copy engine, and small copies to the device, which any of them
 * writes. */
enum place { NOWHERE, ON_SMS, ON_H2D, ON_D2H, ON_PEER, ON_HOST };

typedef struct node {
    time_command c;
    struct node *next; /* in its stream */
    uint64_t sequence; /* order of submission over all streams; breaks ties */
    uint64_t count;    /* its number in its stream, from 1 */
    double called;     /* start of the host's call, ns */
    double arrive;     /* arrival at the device, ns */
    time_point *after; /* dependencies on other streams */
    uint32_t nafter;
    void *staged;          /* a copy of the pageable source, made in the call */
    time_event_slot *slot; /* of its event, or NULL */
    enum phase phase;
    double start, until, left, cap; /* left: bytes still to flow, at most at cap GB/s (bytes per ns) */
    double fixed;                   /* a copy's time before it flows, ns */
    uint64_t fills;                 /* parts of the SMs that it occupies */
    double wave;                    /* of a kernel: ns from one wave of its blocks to the next */
    exec_fault *fault;              /* the kernel's fault, which stops the device at the kernel's end */
    struct node *parent;            /* whose kernel has launched it, or NULL */
    struct family *family;          /* what its kernel has launched, or NULL */
    double not_before;              /* of a child: its arrival from the parent, ns */
} node;

/* The children of a launch. */
typedef struct family {
    uint32_t running; /* children that have not ended */
    exec_child *tails;
    uint32_t ntails, next_tail; /* that wait for all others */
    struct queue {
        uint64_t name; /* exec_child.queue */
        uint32_t stream;
    } * queues; /* each runs in a stream */
    uint32_t nqueues;
} family;

typedef struct {
    bool blocking, ended;
    node *head, *tail;
    uint64_t submitted, completed;
    double done_ns;  /* end of the last completed command */
    enum place last; /* where the last command that had a place ran */
    double left_ns;  /* when it could leave that place for another engine */
    uint64_t queued; /* its commands in the queue to the device */
    uint8_t card;    /* the device that has it */
    int priority;    /* 0, or less: its commands start first */
} stream;

struct time_event {
    uint32_t stream; /* of the latest record */
    uint64_t count;  /* 0: never recorded */
    double ns;
    enum place place; /* the stream's last one there */
    uint32_t pending; /* records not yet reached */
    bool ended;
};

/* A copy engine: its copy, if any, and the stream of its last one. */
typedef struct {
    node *copy;
    uint32_t last;
} copy_engine;

/* A device of the machine. */
typedef struct {
    exec_device *exec;
    uint32_t legacy;            /* its legacy default stream */
    copy_engine h2d, d2h, peer; /* peer: to or from another device */
    uint64_t filled;            /* occupied parts of the SMs */
    double dispatched;          /* the arrival of the last child of a kernel, ns */
    double held;                /* nothing that the host submits starts before, ns */
    exec_fault fault;
} time_card_state;

/* The devices of a machine have one host, so their commands stand in one timeline. */
struct time_device {
    time_card_state cards[TIME_CARDS];
    uint32_t ncards, now; /* now: the one in use */
    time_activity *activity;
    stream *streams;
    uint32_t nstreams;
    uint64_t sequence;
    double host, device; /* the two clocks; the device's may lag behind the host's, or lead while the host waits */
    bool in_function;    /* a host function runs, at the device's present */
    double function_ns;  /* its work so far */
};

static time_device *line; /* of the device in use */

enum { MAX_LISTENERS = 8 };
static const time_listener *listeners[MAX_LISTENERS + 1]; /* NULL ends the list */

void time_listen(const time_listener *l, bool on) {
    uint32_t n = 0, kept = 0;
    for (; listeners[n]; n++)
        if (listeners[n] != l) listeners[kept++] = listeners[n];
    if (on && kept < MAX_LISTENERS) listeners[kept++] = l;
    while (kept <= n && kept <= MAX_LISTENERS) listeners[kept++] = NULL;
}

#define TELL(event, ...)                                                                                               \
    for (const time_listener *const *l = listeners; *l; l++)                                                           \
        if ((*l)->event) (*l)->event(__VA_ARGS__)

static double larger(double a, double b) { return a > b ? a : b; }

static time_point add_child(node *parent, exec_child *child, double arrives);

static void *need(void *memory) {
    return base_must(memory, "the host has no memory left for queued commands; synchronize more often");
}

/* --- devices ------------------------------------------------------------------------------------------------ */

time_device *time_device_new(exec_device *exec) {
    time_device *d = need(calloc(1, sizeof *d));
    d->cards[0].exec = exec;
    d->ncards = 1;
    d->activity = time_activity_new();
    return d;
}

void time_use(time_device *d) {
    line = d;
    time_activity_use(d->activity);
}

exec_device *time_exec(void) { return line->cards[line->now].exec; }

/* --- streams and events ------------------------------------------------------------------------------------- */

static uint32_t add_stream(bool blocking) {
    line->streams = need(realloc(line->streams, (line->nstreams + 1) * sizeof *line->streams));
    line->streams[line->nstreams] = (stream){.blocking = blocking, .card = (uint8_t)line->now};
    return line->nstreams++;
}

static stream *stream_at(uint32_t id) {
    if (line->nstreams == 0) add_stream(true); /* the legacy default stream */
    return &line->streams[id];
}

uint32_t time_stream_new(bool blocking) {
    stream_at(TIME_LEGACY_STREAM);
    for (uint32_t i = 1; i < line->nstreams; i++) {
        stream *s = &line->streams[i];
        if (s->ended && !s->head) { /* reuse it; its counts continue, so old dependencies stay true */
            s->ended = false;
            s->blocking = blocking;
            s->last = NOWHERE;
            s->priority = 0;
            s->card = (uint8_t)line->now;
            return i;
        }
    }
    return add_stream(blocking);
}

static time_card_state *card_of_stream(uint32_t id) { return &line->cards[stream_at(id)->card]; }
static time_card_state *card_of(const node *n) { return card_of_stream(n->c.stream); }

void time_use_card(uint32_t number) {
    stream_at(TIME_LEGACY_STREAM);
    line->now = number;
    if (number < line->ncards) return;
    line->cards[number].legacy = add_stream(true);
    line->ncards = number + 1;
}
void time_add_card(exec_device *exec, uint32_t number) {
    line->cards[number].exec = exec;
    time_use_card(number);
}
uint32_t time_cards(void) { return line->ncards; }
uint32_t time_card_of(uint32_t id) { return stream_at(id)->card; }
uint32_t time_legacy(void) { return line->cards[line->now].legacy; }
bool time_is_legacy(uint32_t id) { return card_of_stream(id)->legacy == id; }

bool time_stream_blocking(uint32_t id) { return stream_at(id)->blocking; }

void time_stream_priority(uint32_t id, int priority) { stream_at(id)->priority = priority; }

void time_stream_end(uint32_t id) { stream_at(id)->ended = true; }

time_event *time_event_new(void) { return need(calloc(1, sizeof(time_event))); }

void time_event_end(time_event *e) {
    e->ended = true;
    if (e->pending == 0) free(e);
}

bool time_event_recorded(const time_event *e) { return e->count != 0; }
bool time_event_reached(const time_event *e) { return time_point_passed((time_point){e->stream, e->count}); }
bool time_event_done(const time_event *e) {
    if (!time_event_reached(e)) return false;
    time_managed_host_may_look();
    if (e->count) TELL(host_saw, e->stream, e->count);
    return true;
}
double time_event_ns(const time_event *e) { return e->ns; }

time_point time_point_now(uint32_t id) { return (time_point){id, stream_at(id)->submitted}; }
void time_point_joins(time_point p, uint32_t stream) {
    if (p.count) TELL(joined, stream, p);
}
bool time_point_passed(time_point p) { return stream_at(p.stream)->completed >= p.count; }

/* --- starting and finishing --------------------------------------------------------------------------------- */

static bool between_devices(const node *n) { return n->c.kind == TIME_COPY && n->c.is.copy.peer_gbs > 0; }

static enum place place_of(const node *n) {
    if (n->c.kind == TIME_HOST_CALL) return ON_HOST;
    if (between_devices(n)) return ON_PEER;
    if (time_on_sms(&n->c)) return ON_SMS;
    if (!time_on_bus(&n->c)) return NOWHERE;
    if (n->c.is.copy.direction == SIMGPU_D2H) return ON_D2H;
    return (double)time_bytes(&n->c) <= time_profile_get()->small_bytes ? NOWHERE : ON_H2D;
}

/* Returns the engine of a copy over the bus, or between devices. */
static copy_engine *engine(const node *n) {
    time_card_state *c = card_of(n);
    return between_devices(n) ? &c->peer : n->c.is.copy.direction == SIMGPU_H2D ? &c->h2d : &c->d2h;
}

static bool has_room(const node *n) {
    if (time_on_bus(&n->c) || between_devices(n)) return !engine(n)->copy;
    return card_of(n)->filled + n->fills <= time_all_parts(time_profile_get());
}

static time_moments moments_of(const node *n) { return (time_moments){n->called, n->arrive, n->start}; }

static void adopt(node *n, const exec_result *r, const time_estimate *e);
static void start_launch(node *n, const time_profile *p) {
    static exec_result r; /* too large for the stack, because of its fault */
    time_estimate e;
    time_pages pages;
    memset(&r, 0, sizeof r);
    time_managed_before_launch();
    exec_run(&n->c.is.launch, &r);
    time_managed_launched(exec_device_of(n->c.is.launch.program), &r, &pages);
    time_model(p, &r, &pages, time_launch_ns(&n->c, p), n->c.in_graph, &e);
    if (r.nchildren) adopt(n, &r, &e);
    if (r.fault.kind != SIMGPU_FAULT_NONE) {
        r.fault.library = n->c.library;
        r.fault.library_site = n->c.library_site;
        n->fault = need(malloc(sizeof r.fault));
        *n->fault = r.fault;
    }
    n->until = n->start + e.duration_ns;
    n->wave = e.duration_ns / larger(1, time_waves_of(&n->c.is.launch, p));
    time_activity_device(&n->c, n->called, n->arrive, n->start, n->start + e.bound.term_ns[SIMGPU_TERM_LAUNCH],
                         n->until);
    time_moments m = moments_of(n);
    if (n->slot) time_events_launch(n->slot, &n->c, &r, &e, &m);
    n->slot = NULL;
    struct simgpu_migration pulled = {.direction = SIMGPU_H2D,
                                      .cause = SIMGPU_BY_KERNEL,
                                      .bytes = pages.bytes,
                                      .faults = pages.faults,
                                      .kernel = n->c.is.launch.kernel->name};
    double begin = n->start + e.bound.term_ns[SIMGPU_TERM_LAUNCH];
    if (pages.bytes) time_events_migration(&pulled, &n->c, begin, begin + pages.ns);
}

static uint64_t migrates(const time_command *c) {
    return time_managed_to_move(c->is.copy.to.address, c->is.copy.width, c->is.copy.direction);
}

/* Ends a prefetch. */
static void migrate(const node *n) {
    const time_copy *c = &n->c.is.copy;
    struct simgpu_migration m = {.direction = c->direction, .cause = SIMGPU_BY_PREFETCH, .bytes = migrates(&n->c)};
    if (m.bytes) time_events_migration(&m, &n->c, n->start, line->device);
    time_managed_moved(c->to.address, c->width, c->direction);
}

/* Moves the managed memory that a copy or memset uses. Returns the time of its page faults. */
static double touch_managed(const node *n) {
    const time_copy *c = &n->c.is.copy;
    const time_place *ends[2] = {&c->to, n->c.kind == TIME_COPY ? &c->from : &c->to};
    struct simgpu_migration m = {.direction = SIMGPU_H2D, .cause = SIMGPU_BY_COPY};
    double ns = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t bytes = (c->depth ? c->depth - 1 : 0) * ends[k]->slice + (c->height - 1) * ends[k]->pitch + c->width;
        if (exec_managed((void *)(uintptr_t)ends[k]->address))
            ns += time_managed_touched(ends[k]->address, bytes, &m.bytes, &m.faults);
    }
    if (m.bytes) time_events_migration(&m, &n->c, n->start, n->start + ns);
    return ns;
}

static void take_engine(node *n) { *engine(n) = (copy_engine){n, n->c.stream + 1}; }

/* Returns how long a host function's thread takes to begin. It sleeps while the stream's work on the device goes on. */
static double function_ns(const node *n, const time_profile *p) {
    const stream *s = stream_at(n->c.stream);
    bool slept = s->last != ON_HOST && s->done_ns > n->called;
    return slept ? p->function_ns : p->function_next_ns;
}

/* Returns the launch by the host whose kernel, or a descendant of it, has launched this. Listeners know that one only:
 * what its children do is its work. */
static const node *first_of(const node *n) {
    while (n->parent) n = n->parent;
    return n;
}

static void start(node *n) {
    const time_profile *p = time_profile_get();
    double bytes = (double)time_bytes(&n->c);
    n->start = n->until = line->device;
    n->phase = BUSY;
    if (card_of(n)->fault.kind != SIMGPU_FAULT_NONE) { /* the context is dead, so the command has no effect */
        n->fills = 0;
        return;
    }
    if ((n->c.kind == TIME_COPY || n->c.kind == TIME_MEMSET) && bytes > 0) n->until += touch_managed(n);
    if (n->c.kind == TIME_LAUNCH) {
        const node *named = first_of(n);
        TELL(launches, &named->c, named->count);
        start_launch(n, p);
    } else if (time_on_bus(&n->c)) {
        n->until += n->fixed;
        take_engine(n);
        n->left = n->c.kind == TIME_MIGRATE ? (double)migrates(&n->c) : bytes;
    } else if (between_devices(n)) {
        n->until += p->copy_fixed_ns + bytes / n->c.is.copy.peer_gbs;
        take_engine(n);
    } else if (n->c.kind == TIME_MEMSET) {
        bool own = exec_mem_in_window((void *)(uintptr_t)n->c.is.copy.to.address);
        time_moves_l2(line->cards[0].exec, &n->c);
        n->until += time_fixed_ns(&n->c, p) + bytes / (own ? p->dram_write_gbs : p->link_write_gbs);
    } else if (time_on_sms(&n->c)) {
        const double dram = (double)time_moves_l2(line->cards[0].exec, &n->c);
        n->until += time_fixed_ns(&n->c, p) + larger(dram / p->device_copy_gbs, 2 * bytes / p->device_copy_l2_gbs);
    } else if (n->c.kind == TIME_PAUSE) {
        n->until += n->c.is.pause_ns;
    } else if (n->c.kind == TIME_EVENT) {
        n->until += p->event_ns;
    } else if (n->c.kind == TIME_HOST_CALL) {
        n->until += function_ns(n, p);
    } else if (n->c.kind == TIME_COPY) {
        n->until += bytes / p->pageable_d2h_gbs; /* host to host, by the CPU's memcpy in the stream's order */
    }
    card_of(n)->filled += n->fills;
    if (time_on_sms(&n->c) && n->c.kind != TIME_LAUNCH)
        time_activity_device(&n->c, n->called, n->arrive, n->start, n->start + time_fixed_ns(&n->c, p), n->until);
}

/* Calls the host function. The stream continues when the device has learned of its return. */
static void call_host_function(node *n) {
    bool dead = card_of(n)->fault.kind != SIMGPU_FAULT_NONE;
    n->phase = CALLED;
    line->function_ns = 0;
    TELL(host_saw, n->c.stream, n->count); /* what the function tells other threads comes behind this point */
    line->in_function = true;
    n->c.is.host.call(n->c.is.host.argument, dead);
    line->in_function = false;
    n->until = line->device + line->function_ns + (dead ? 0 : time_profile_get()->arrive_ns);
}

static bool has_tail(const node *n) {
    return n->family->next_tail < n->family->ntails && card_of(n)->fault.kind == SIMGPU_FAULT_NONE;
}

/* Returns the time until a kernel all of whose children have ended launches at the tail, or ends. */
static double closing_ns(const node *n) {
    const time_profile *p = time_profile_get();
    return has_tail(n) ? p->device_next_ns : n->parent ? 0 : p->device_join_ns;
}

/* A child has ended. Behind the last one, what launches at the tail may begin, or the parent's end. */
static void leave_family(node *parent) {
    parent->family->running--;
    if (!parent->family->running && parent->phase == ENCLOSES) parent->until = line->device + closing_ns(parent);
}

static void end_family(family *f) {
    for (uint32_t k = f->next_tail; k < f->ntails; k++) free((void *)(uintptr_t)f->tails[k].launch.params);
    for (uint32_t k = 0; k < f->nqueues; k++) time_stream_end(f->queues[k].stream);
    free(f->tails);
    free(f->queues);
    free(f);
}

/* Drops the events of what is queued on the device of a faulting kernel: it never happens, and later events wait for
 * them. */
static void drop_events(const node *fault) {
    for (uint32_t i = 0; i < line->nstreams; i++)
        for (node *n = line->streams[i].head; n; n = n->next) {
            if (!n->slot || line->streams[i].card != line->streams[fault->c.stream].card) continue;
            time_events_drop(n->slot);
            n->slot = NULL;
        }
}

static void finish(node *n) {
    stream *s = stream_at(n->c.stream);
    bool alive = card_of(n)->fault.kind == SIMGPU_FAULT_NONE;
    if ((time_on_bus(&n->c) || between_devices(n)) && engine(n)->copy == n) engine(n)->copy = NULL;
    card_of(n)->filled -= n->fills;
    if (alive && (n->c.kind == TIME_COPY || n->c.kind == TIME_MEMSET)) {
        TELL(moves, &n->c);
        if (!time_on_sms(&n->c))
            time_moves_l2(line->cards[0].exec, &n->c); /* the others' have passed when they began */
        time_moves(line->cards[0].exec, &n->c, n->staged);
    }
    if (alive && n->c.kind == TIME_MIGRATE) migrate(n);
    if (alive && (time_on_bus(&n->c) || between_devices(n) || n->c.kind == TIME_HOST_CALL))
        time_activity_device(&n->c, n->called, n->arrive, n->start, n->start, line->device);
    time_moments m = moments_of(n);
    if (n->slot && alive)
        time_events_command(n->slot, &n->c, &m, line->device, n->cap);
    else if (n->slot)
        time_events_drop(n->slot);
    if (n->c.kind == TIME_EVENT) {
        time_event *e = n->c.is.event;
        if (e->stream == n->c.stream && e->count == n->count) {
            e->ns = line->device;
            e->place = s->last;
        }
        if (--e->pending == 0 && e->ended) free(e);
    }
    /* Behind an event that it has waited for, a stream goes on where that event's stream was. */
    if (n->c.kind == TIME_WAIT_EVENT && n->c.is.event->ns >= s->done_ns) s->last = n->c.is.event->place;
    s->head = n->next;
    if (!s->head) s->tail = NULL;
    s->completed = n->count;
    s->queued -= !n->c.in_graph && !n->parent && time_takes_room(&n->c);
    /* An event that a stream without work records holds up no engine; one behind a copy or a kernel is its engine's. */
    if (n->c.kind != TIME_EVENT || n->start <= s->done_ns) s->left_ns = line->device;
    s->done_ns = line->device;
    if (place_of(n) != NOWHERE) s->last = place_of(n);
    if (!n->parent) TELL(ended, &n->c, n->count);
    if (n->parent) leave_family(n->parent);
    if (n->family) end_family(n->family);
    if (n->fault && alive) {
        card_of(n)->fault = *n->fault;
        drop_events(n);
    }
    if (n->c.kind == TIME_LAUNCH) free((void *)n->c.is.launch.params);
    free(n->fault);
    if (n->staged) time_staging_give(n->staged);
    free(n->after);
    free(n);
}

/* --- the clock ---------------------------------------------------------------------------------------------- */

static double rate(const node *n) { /* in GB/s, which is bytes per nanosecond */
    const time_profile *p = time_profile_get();
    const time_card_state *c = card_of(n);
    const node *up = c->h2d.copy, *down = c->d2h.copy;
    bool duplex = up && down && up->phase == FLOWING && down->phase == FLOWING;
    double bus = duplex ? p->pinned_duplex_gbs : p->pinned_gbs;
    return n->cap < bus ? n->cap : bus;
}

static void flow(double to) {
    for (uint32_t k = 0; k < line->ncards; k++) {
        node *copies[2] = {line->cards[k].h2d.copy, line->cards[k].d2h.copy};
        double moved[2] = {0, 0};
        for (int i = 0; i < 2; i++) /* compute both rates before either copy changes */
            if (copies[i] && copies[i]->phase == FLOWING) moved[i] = rate(copies[i]) * (to - line->device);
        for (int i = 0; i < 2; i++)
            if (copies[i]) copies[i]->left -= moved[i];
    }
    line->device = to;
}

static bool runs_below(const stream *s, const node *n) {
    const node *r = s->head;
    return r && r->phase == BUSY && r->c.kind == TIME_LAUNCH && s->priority > stream_at(n->c.stream)->priority &&
           &line->cards[s->card] == card_of(n);
}

/* Returns when a kernel finds room that it has not yet: its blocks go before those that kernels of lower priority have
 * not begun, so it starts when a wave of their blocks ends. NEVER if none of lower priority runs. */
static double room_by_priority(const node *n, double when) {
    double first = NEVER;
    for (uint32_t i = 0; n->c.kind == TIME_LAUNCH && i < line->nstreams; i++) {
        if (!runs_below(&line->streams[i], n)) continue;
        const node *r = line->streams[i].head;
        double end = r->start + r->wave * ceil((when - r->start) / r->wave - 1e-6);
        if (end < first && end < r->until) first = end;
    }
    return first;
}

/* The kernels of lower priority, whose place this one takes for its duration, end later. */
static void delay_lower(const node *n) {
    double taken = 0;
    for (uint32_t i = 0; i < line->nstreams; i++)
        if (runs_below(&line->streams[i], n)) taken += (double)line->streams[i].head->fills;
    for (uint32_t i = 0; i < line->nstreams; i++) {
        node *r = line->streams[i].head;
        if (!runs_below(&line->streams[i], n)) continue;
        double end = r->until + (n->until - n->start) * (double)n->fills / taken;
        time_activity_device(&r->c, r->called, r->arrive, r->until, r->until, end);
        r->until = end;
    }
}

/* Returns the time at which the head of a stream can start, or NEVER while a dependency has no known end. */
static double ready(const stream *s, const node *n) {
    enum place place = place_of(n);
    const time_profile *p = time_profile_get();
    bool turns = place != NOWHERE && place != ON_HOST && s->last != NOWHERE && s->last != ON_HOST && s->last != place;
    double next = n->parent && s->last == ON_SMS ? p->device_next_ns : 0; /* behind another child */
    double when = larger(larger(n->arrive, n->not_before), s->done_ns + next);
    if (!n->parent) when = larger(when, card_of(n)->held);
    if (turns && !n->parent) when = larger(when, s->left_ns + p->engine_switch_ns);
    for (uint32_t i = 0; i < n->nafter; i++)
        if (!time_point_passed(n->after[i])) return NEVER;
    when = larger(when, line->device);
    return has_room(n) ? when : room_by_priority(n, when);
}

/* Returns whether a copy is of the stream that its engine served last: the engine takes what that stream has queued
 * before it turns to another. */
static bool stays(const node *n) {
    return (time_on_bus(&n->c) || between_devices(n)) && engine(n)->last == n->c.stream + 1;
}

/* Of two commands at one instant. */
static bool goes_before(const node *a, const node *b) {
    int pa = stream_at(a->c.stream)->priority, pb = stream_at(b->c.stream)->priority;
    bool stays_a = stays(a), stays_b = stays(b);
    if (pa != pb) return pa < pb;
    return stays_a != stays_b ? stays_a : a->sequence < b->sequence;
}

/* A kernel with children has ended itself: it leaves the SMs to them. */
static void enclose(node *n) {
    card_of(n)->filled -= n->fills;
    n->fills = 0;
    n->phase = ENCLOSES;
    n->until = line->device + (n->family->running ? 0 : closing_ns(n));
}

static void launch_tail(node *n) { add_child(n, &n->family->tails[n->family->next_tail++], line->device); }

/* Lets a held device begin: the host has submitted all that it will before it waits. */
static void let_go(void) {
    for (uint32_t k = 0; k < line->ncards; k++)
        if (line->cards[k].held > line->host) line->cards[k].held = line->host;
}

/* Carries out the device's next step that is not later than `limit`, NEVER while the host waits. Returns false if there
 * is none. */
static bool step(double limit) {
    node *next = NULL;
    double when = NEVER;
    bool next_starts = false;
    if (!(limit < NEVER)) let_go();
    for (uint32_t i = 0; i < line->nstreams; i++) {
        stream *s = &line->streams[i];
        node *n = s->head;
        if (!n) continue;
        bool starts = n->phase == QUEUED;
        if (n->phase == ENCLOSES && n->family->running) continue;
        double t = starts ? ready(s, n) : n->phase != FLOWING ? n->until : line->device + larger(0, n->left) / rate(n);
        /* At one instant, ends come before starts, then the order of submission decides. */
        bool sooner = t < when || (t == when && next && starts == next_starts && goes_before(n, next)) ||
                      (t == when && next && !starts && next_starts);
        if (t == NEVER || !sooner) continue;
        next = n;
        when = t;
        next_starts = starts;
    }
    if (!next || when > limit) return false;
    flow(larger(when, line->device));
    if (next->phase == QUEUED) {
        bool room = has_room(next);
        start(next);
        if (!room) delay_lower(next);
    } else if (next->phase == BUSY && time_on_bus(&next->c) && card_of(next)->fault.kind == SIMGPU_FAULT_NONE)
        next->phase = FLOWING;
    else if (next->phase == BUSY && next->c.kind == TIME_HOST_CALL)
        call_host_function(next);
    else if (next->family && next->phase == BUSY)
        enclose(next);
    else if (next->family && has_tail(next))
        launch_tail(next);
    else
        finish(next);
    return true;
}

void time_catch_up(void) {
    if (line->in_function) return; /* a host function runs inside a step */
    while (step(line->host)) {}
    if (line->device < line->host) flow(line->host);
}

/* --- submitting --------------------------------------------------------------------------------------------- */

/* Lets the node start behind a point of another stream. */
static void depend(node *n, time_point p) {
    if (!p.count || p.stream == n->c.stream || time_point_passed(p)) return;
    n->after = need(realloc(n->after, (n->nafter + 1) * sizeof *n->after));
    n->after[n->nafter++] = p;
}

/* Lets the node wait for a point of another stream, and tells listeners. */
static void wait_for(node *n, time_point p) {
    if (!p.count) return;
    TELL(after, p.stream, p.count);
    depend(n, p);
}

static void find_dependencies(node *n) {
    const stream *s = stream_at(n->c.stream);
    if (time_is_legacy(n->c.stream)) {
        for (uint32_t i = 1; i < line->nstreams; i++)
            if (line->streams[i].blocking && line->streams[i].card == s->card) wait_for(n, time_point_now(i));
    } else if (s->blocking) {
        wait_for(n, time_point_now(card_of(n)->legacy));
    }
    if (n->c.kind == TIME_WAIT_EVENT) wait_for(n, (time_point){n->c.is.event->stream, n->c.is.event->count});
}

/* Copies a pageable source now, as the driver does into its page-locked buffer, since the program may change it later.
 * Returns the copy. */
static void *stage(const time_command *c) {
    void *buffer = need(time_staging_take(time_bytes(c) + 1));
    time_moves_stage(line->cards[0].exec, c, buffer);
    return buffer;
}

/* Plans a copy over the bus, and stages it if its source is pageable. Returns the host's time for that, in ns. */
static double plan_copy(node *n, const time_profile *p) {
    time_copy_plan plan = time_plan_copy(&n->c, p);
    n->fixed = plan.fixed_ns;
    n->cap = plan.cap_gbs;
    if (plan.stages && n->c.is.copy.direction == SIMGPU_H2D) n->staged = stage(&n->c);
    if (plan.stages) time_activity_staged(time_bytes(&n->c));
    return plan.staging_ns;
}

/* Advances the host's clock and logs the activity. */
static void spend(enum time_doing what, double ns) {
    time_activity_host(what, line->host, line->host + ns);
    line->host += ns;
}

static node *new_node(const time_command *c) {
    node *n = need(calloc(1, sizeof *n));
    n->c = *c;
    n->sequence = ++line->sequence;
    bool bulk = c->kind == TIME_LAUNCH || c->kind == TIME_COPY || c->kind == TIME_MEMSET || c->kind == TIME_HOST_CALL;
    if (bulk && time_events_on()) n->slot = time_events_reserve();
    n->fills = time_parts_of(c, time_profile_get());
    n->called = time_activity_call_ns();
    return n;
}

/* Puts the node at the end of its stream, without a word to listeners. */
static void put_last(node *n) {
    stream *s = stream_at(n->c.stream);
    n->count = ++s->submitted;
    if (s->tail)
        s->tail->next = n;
    else
        s->head = n;
    s->tail = n;
}

/* Puts the node at the end of its stream. */
static void enqueue(node *n) {
    put_last(n);
    TELL(submitted, &n->c, n->count);
    if (n->c.kind == TIME_EVENT) {
        n->c.is.event->stream = n->c.stream;
        n->c.is.event->count = n->count;
        n->c.is.event->pending++;
    }
}

/* Lets the host wait until the queue from the stream to the device has room. */
static void wait_for_room(uint32_t id, const time_profile *p) {
    while ((double)stream_at(id)->queued >= p->queue_commands && step(NEVER)) {}
    if (line->device > line->host) spend(HOST_WAITS, line->device - line->host);
}

/* --- children: what kernels launch ---------------------------------------------------------------------------- */

/* Returns the stream of a queue of children. */
static uint32_t stream_of_queue(family *f, const node *parent, uint64_t name) {
    for (uint32_t k = f->nqueues; k-- > 0 && name != EXEC_ALONE;)
        if (f->queues[k].name == name) return f->queues[k].stream;
    uint32_t stream = time_stream_new(false);
    line->streams[stream].card = line->streams[parent->c.stream].card;
    line->streams[stream].priority = line->streams[parent->c.stream].priority;
    if ((f->nqueues & (f->nqueues - 1)) == 0)
        f->queues = need(realloc(f->queues, (f->nqueues ? 2 * f->nqueues : 1) * sizeof *f->queues));
    f->queues[f->nqueues++] = (struct queue){name, stream};
    return stream;
}

static time_command command_of(const exec_child *child) {
    if (child->kind == EXEC_CHILD_LAUNCH) return (time_command){.kind = TIME_LAUNCH, .is.launch = child->launch};
    time_command c = {.kind = child->kind == EXEC_CHILD_COPY ? TIME_COPY : TIME_MEMSET};
    c.is.copy = (time_copy){.direction = SIMGPU_D2D,
                            .to = {.address = child->to, .pitch = child->to_pitch},
                            .from = {.address = child->from, .pitch = child->from_pitch},
                            .width = child->width,
                            .height = child->height,
                            .value = child->value};
    return c;
}

/* Queues a child that arrives at that time. Returns its point in its stream. */
static time_point add_child(node *parent, exec_child *child, double arrives) {
    const node *root = first_of(parent);
    time_command c = command_of(child);
    c.stream = stream_of_queue(parent->family, parent, child->queue);
    c.graph_stream = root->c.in_graph ? root->c.graph_stream : root->c.stream;
    c.parent = parent->c.is.launch.kernel->name;
    c.host_file = child->at.file;
    c.host_line = child->at.line;
    child->launch.params = NULL; /* the command has them */
    node *n = new_node(&c);
    n->called = root->called;
    n->arrive = root->arrive;
    n->not_before = arrives;
    n->parent = parent;
    parent->family->running++;
    put_last(n);
    return (time_point){c.stream, n->count};
}

/* Returns the part of a launch after which a child leaves: the waves of blocks until its block's, and of this what its
 * block had done. */
static double part_before(const exec_child *child, const exec_result *r, uint64_t wave) {
    const ptx_module *m = child->launch.kernel ? child->launch.kernel->module : NULL;
    double waves = (double)((r->blocks + wave - 1) / wave), done = (double)child->clocks;
    double all = (double)(r->deepest.rounds * (m ? m->costs.round_clocks : 0) + r->deepest.clocks);
    return ((double)(child->block / wave) + (done < all ? done / all : 1)) / waves;
}

/* Takes over what the kernel of n has launched. */
static void adopt(node *n, const exec_result *r, const time_estimate *e) {
    const time_profile *p = time_profile_get();
    uint64_t wave = (uint64_t)e->per_sm * (uint64_t)p->sm_count;
    double begin = n->start + e->bound.term_ns[SIMGPU_TERM_LAUNCH], length = n->start + e->duration_ns - begin;
    family *f = n->family = need(calloc(1, sizeof *f));
    time_point *points = need(calloc(r->nchildren, sizeof *points));
    f->tails = need(malloc(r->nchildren * sizeof *f->tails));
    for (uint32_t k = 0; k < r->nchildren; k++) {
        exec_child *child = &r->children[k];
        if (child->queue == EXEC_TAIL) {
            f->tails[f->ntails++] = *child;
            continue;
        }
        double arrives = begin + part_before(child, r, wave) * length + p->device_launch_ns;
        arrives = card_of(n)->dispatched = larger(arrives, card_of(n)->dispatched + p->device_dispatch_ns);
        points[k] = add_child(n, child, arrives);
        node *added = line->streams[points[k].stream].tail;
        for (int w = 0; w < 4 && child->after[w]; w++) depend(added, points[child->after[w] - 1]);
    }
    free(points);
}

void time_hold(double ns) { line->cards[line->now].held = line->host + ns; }

void time_submit(const time_command *c) {
    const time_profile *p = time_profile_get();
    wait_for_room(c->stream, p);
    node *n = new_node(c);
    find_dependencies(n);
    double begun = line->host, staging = plan_copy(n, p);
    spend(HOST_SUBMITS, time_call_ns(c, p));
    spend(HOST_IN_CALL, staging);
    /* A staged copy flows while the CPU stages it; every other command leaves when its call ends. */
    bool while_staged = n->staged && (double)time_bytes(c) > p->inline_bytes;
    const double left = while_staged ? begun : line->host + time_way_ns(c, p);
    n->arrive = larger(begun + p->arrive_ns, left);
    stream_at(c->stream)->queued += time_takes_room(c);
    enqueue(n);
    time_catch_up();
}

/* --- graphs ------------------------------------------------------------------------------------------------- */

/* A launch of a graph: a pause, the device's time to begin it; the nodes; and behind several lanes a pause that joins
 * them. A node that waits for several others costs the device a pause too. */
typedef struct {
    uint32_t stream; /* of the launch */
    double arrive;
    const uint32_t *stream_of; /* by lane */
} graph_launch;

static node *graph_pause(const graph_launch *g, uint32_t lane, double ns) {
    time_command c = {.kind = TIME_PAUSE, .stream = g->stream_of[lane], .in_graph = true, .is.pause_ns = ns};
    node *n = new_node(&c);
    n->arrive = g->arrive;
    return n;
}

/* Queues a node of a graph behind `begin` and the points of the nodes that it waits for. Returns its own point. */
static time_point enqueue_in_graph(const graph_launch *g, const time_graph_node *k, time_point begin,
                                   const time_point *points) {
    const time_profile *p = time_profile_get();
    time_command c = k->command;
    c.stream = g->stream_of[k->lane];
    c.in_graph = true;
    c.graph_stream = g->stream;
    node *join = k->nafter > 1 ? graph_pause(g, k->lane, (k->nafter - 1) * p->graph_join_ns) : NULL;
    node *n = new_node(&c), *first = join ? join : n;
    plan_copy(n, p);
    n->arrive = g->arrive;
    wait_for(first, begin);
    for (uint32_t a = 0; a < k->nafter; a++) wait_for(first, points[k->after[a]]);
    if (join) enqueue(join);
    enqueue(n);
    return (time_point){c.stream, n->count};
}

void time_submit_graph(const time_graph_node *nodes, uint32_t n, uint32_t lanes, uint32_t stream, time_point *last) {
    const time_profile *p = time_profile_get();
    uint32_t *stream_of = need(malloc((lanes + 1) * sizeof *stream_of));
    time_point *points = need(malloc((n + 1) * sizeof *points));
    graph_launch g = {stream, larger(time_activity_call_ns() + p->arrive_ns, line->host), stream_of};
    stream_at(stream);
    stream_of[0] = stream;
    for (uint32_t k = 1; k < lanes; k++) stream_of[k] = time_stream_new(false);
    node *begin = graph_pause(&g, 0, p->graph_start_ns);
    find_dependencies(begin);
    wait_for(begin, *last);
    enqueue(begin);
    time_point begun = {stream, begin->count};
    for (uint32_t k = 0; k < n; k++) points[k] = enqueue_in_graph(&g, &nodes[k], begun, points);
    if (lanes > 1) {
        node *end = graph_pause(&g, 0, 0);
        for (uint32_t k = 1; k < lanes; k++) wait_for(end, time_point_now(stream_of[k]));
        enqueue(end);
        for (uint32_t k = 1; k < lanes; k++) time_stream_end(stream_of[k]);
    }
    *last = time_point_now(stream);
    free(stream_of);
    free(points);
    time_catch_up();
}

/* --- the host ----------------------------------------------------------------------------------------------- */

/* Tells listeners that the host has waited for all work of the stream. */
static void saw(uint32_t id) {
    const stream *s = stream_at(id);
    if (s->submitted) TELL(host_saw, id, s->submitted);
}

bool time_in_host_function(void) { return line->in_function; }
double time_host_ns(void) { return line->in_function ? line->device + line->function_ns : line->host; }

void time_charge(enum time_doing what, double ns) {
    if (line->in_function) {
        line->function_ns += ns;
        return;
    }
    spend(what, ns);
    time_catch_up();
}

bool time_stream_idle(uint32_t id) {
    const stream *s = stream_at(id);
    if (s->submitted != s->completed) return false;
    time_managed_host_may_look();
    saw(id);
    return true;
}

bool time_all_idle(void) {
    for (uint32_t i = 0; i < line->nstreams; i++)
        if (line->streams[i].card == line->now && !time_stream_idle(i)) return false;
    return true;
}

/* Ends a wait of the host for a point that the device reached at `done`. */
static void wake(double done) {
    const time_profile *p = time_profile_get();
    let_go();
    time_activity_call_syncs();
    time_managed_host_may_look();
    if (done > line->host)
        spend(HOST_WAITS, done + p->host_wake_ns - line->host);
    else
        spend(HOST_IN_CALL, p->host_sync_ns);
    time_catch_up();
}

static void run_until_idle(uint32_t id) {
    const stream *s = stream_at(id);
    uint64_t target = s->submitted;
    while (line->streams[id].completed < target && step(NEVER)) {}
}

void time_wait_stream(uint32_t id) {
    run_until_idle(id);
    saw(id);
    wake(stream_at(id)->done_ns);
}

void time_wait_before(uint32_t id) {
    const time_profile *p = time_profile_get();
    double last = 0;
    for (uint32_t i = 0; i < line->nstreams; i++) {
        if (i != id &&
            !(time_is_legacy(id) && line->streams[i].blocking && line->streams[i].card == line->streams[id].card))
            continue;
        run_until_idle(i);
        saw(i);
        last = larger(last, line->streams[i].done_ns);
    }
    if (last <= line->host) return;
    time_activity_call_syncs();
    time_managed_host_may_look();
    spend(HOST_WAITS, last + p->host_wake_ns - p->host_sync_ns - line->host);
    time_catch_up();
}

void time_wait_all(void) {
    double last = 0;
    for (uint32_t i = 0; i < line->nstreams; i++)
        if (line->streams[i].card == line->now) run_until_idle(i);
    for (uint32_t i = 0; i < line->nstreams; i++)
        if (line->streams[i].card == line->now) last = larger(last, line->streams[i].done_ns);
    for (uint32_t i = 0; i < line->nstreams; i++)
        if (line->streams[i].card == line->now) saw(i);
    wake(last);
}

void time_wait_event(time_event *e) {
    while (!time_event_reached(e) && step(NEVER)) {}
    if (e->count) TELL(host_saw, e->stream, e->count);
    wake(e->count ? e->ns : 0);
}

const exec_fault *time_fault(void) {
    const exec_fault *f = &line->cards[line->now].fault;
    return f->kind == SIMGPU_FAULT_NONE ? NULL : f;
}
void time_forget_fault(void) { line->cards[line->now].fault.kind = SIMGPU_FAULT_NONE; }
