/* streams.c — finds commands on two streams that use the same bytes, at least one writing, without an order between
 * them.
 *
 * Each command carries its predecessors, as a number for each stream: its own stream so far, the commands that the host
 * had waited for when it submitted this one, the events that its stream waited for, the legacy default stream's rules.
 * Two commands of which neither comes after the other may run in either order, whatever the clock of this run shows.
 * The memory of a copy is known when it is submitted, that of a kernel when it has run; a pair is compared when both
 * are known.
 *
 * A command is forgotten as soon as every later command must come after it. */
#include "parts.h"
#include "finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 256, MAX_RANGES = 4096 }; /* further streams and ranges are not checked */

typedef struct {
    uint64_t lo, hi;
    bool writes;
} range;

typedef struct {
    uint64_t count;
    uint64_t *seen; /* for each stream below nseen: the command comes after that stream's first seen[...] */
    uint32_t nseen;
    enum time_kind kind;
    struct simgpu_side side; /* its side of a finding */
    range *ranges;
    uint32_t nranges;
    uint64_t lo, hi; /* the bounds of all ranges */
} command;

typedef struct {
    command *list; /* in order, without the forgotten ones */
    uint32_t n, room;
    uint64_t ended;
    uint64_t seen[STREAMS]; /* by its latest command, that one included */
} stream_order;

/* Of a card. */
typedef struct {
    stream_order *streams[STREAMS];
    uint32_t nstreams;
    uint64_t host[STREAMS], pending[STREAMS]; /* seen by the host; seen by the next command to be submitted */
    command *running;                         /* the launch in progress */
    uint32_t running_stream;
} streams_state;
static streams_state *here;

static stream_order *stream_of(uint32_t id) {
    while (here->nstreams <= id) here->streams[here->nstreams++] = check_must(calloc(1, sizeof **here->streams));
    return here->streams[id];
}

static void join(uint64_t *to, const uint64_t *from, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (from[k] > to[k]) to[k] = from[k];
}

static command *find(uint32_t stream, uint64_t count) {
    if (stream >= here->nstreams) return NULL;
    stream_order *s = here->streams[stream];
    uint32_t lo = 0, hi = s->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->list[mid].count < count)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && s->list[lo].count == count ? &s->list[lo] : NULL;
}

/* Adds the command and all its predecessors to `to`. */
static void join_command(uint64_t *to, uint32_t stream, uint64_t count) {
    const command *c = find(stream, count);
    if (c) join(to, c->seen, c->nseen);
    if (stream < STREAMS && count > to[stream]) to[stream] = count;
}

/* --- the report ---------------------------------------------------------------------------------------------- */

static struct simgpu_side side_of(const time_command *c) {
    struct simgpu_side s = {.at = {.file = c->host_file, .line = c->host_line},
                            .stream = c->in_graph ? c->graph_stream : c->stream};
    s.command = c->kind == TIME_LAUNCH ? SIMGPU_KERNEL : c->kind == TIME_COPY ? SIMGPU_COPYING : SIMGPU_FILLING;
    if (c->kind == TIME_COPY) s.direction = c->is.copy.direction;
    if (c->kind == TIME_LAUNCH) {
        snprintf(s.name, sizeof s.name, "%s", base_kernel_name(c->is.launch.kernel->name).text);
    }
    return s;
}

static void say(const command *a, const range *x, const command *b, const range *y) {
    struct simgpu_finding n = {.kind = SIMGPU_STREAM_ORDER, .nsides = 2, .side = {b->side, a->side}};
    n.side[0].at.did = y->writes ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
    n.side[1].at.did = x->writes ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
    if (!check_finding_is_new(&n)) return;
    uint64_t lo = x->lo > y->lo ? x->lo : y->lo, hi = x->hi < y->hi ? x->hi : y->hi;
    bool device = exec_mem_in_window((const void *)(uintptr_t)lo);
    n.space = device ? SIMGPU_DEVICE_MEMORY : SIMGPU_HOST_MEMORY;
    n.bytes = hi - lo;
    if (device) n.address = exec_mem_locate(time_exec(), lo);
    check_finding_say(&n);
}

/* --- pairs --------------------------------------------------------------------------------------------------- */

static bool comes_after(const command *later, uint32_t stream, uint64_t count) {
    return stream < later->nseen && later->seen[stream] >= count;
}

static bool overlap(const command *a, const command *b, const range **x, const range **y) {
    if (a->hi <= b->lo || b->hi <= a->lo) return false;
    for (uint32_t i = 0; i < a->nranges; i++)
        for (uint32_t k = 0; k < b->nranges; k++) {
            *x = &a->ranges[i];
            *y = &b->ranges[k];
            if (((*x)->writes || (*y)->writes) && (*x)->lo < (*y)->hi && (*y)->lo < (*x)->hi) return true;
        }
    return false;
}

static void compare(const command *b, uint32_t b_stream) {
    for (uint32_t t = 0; t < here->nstreams && b->nranges; t++) {
        const stream_order *s = here->streams[t];
        if (t == b_stream) continue;
        for (uint32_t k = s->n; k-- > 0 && !comes_after(b, t, s->list[k].count);) {
            const command *a = &s->list[k];
            const range *x, *y;
            if (comes_after(a, b_stream, b->count) || !overlap(a, b, &x, &y)) continue;
            say(a, x, b, y);
        }
    }
}

static void add_range(command *r, uint64_t lo, uint64_t hi, bool writes) {
    if (lo >= hi || r->nranges == MAX_RANGES) return;
    if ((r->nranges & (r->nranges - 1)) == 0)
        r->ranges = check_must(realloc(r->ranges, (r->nranges ? 2 * r->nranges : 1) * sizeof *r->ranges));
    if (r->nranges == 0 || lo < r->lo) r->lo = lo;
    if (r->nranges == 0 || hi > r->hi) r->hi = hi;
    r->ranges[r->nranges++] = (range){lo, hi, writes};
}

static void add_rows(command *r, const time_command *c, const time_place *at, bool writes) {
    const time_copy *m = &c->is.copy;
    if (at->pitch == m->width && m->depth <= 1) {
        add_range(r, at->address, at->address + m->width * m->height, writes);
        return;
    }
    for (uint64_t row = 0; row < time_rows(m); row++)
        add_range(r, time_row(m, at, row), time_row(m, at, row) + m->width, writes);
}

/* --- forgetting ---------------------------------------------------------------------------------------------- */

static void drop(stream_order *s, uint32_t n) {
    if (n == 0) return; /* the list may not exist yet */
    for (uint32_t k = 0; k < n; k++) {
        free(s->list[k].seen);
        free(s->list[k].ranges);
    }
    memmove(s->list, s->list + n, (s->n - n) * sizeof *s->list);
    s->n -= n;
}

/* Drops the commands that the host and the oldest waiting command of each stream have seen: every later command comes
 * after these. */
static void forget(void) {
    for (uint32_t t = 0; t < here->nstreams; t++) {
        stream_order *s = here->streams[t];
        uint64_t bound = here->host[t] < s->ended ? here->host[t] : s->ended;
        for (uint32_t u = 0; u < here->nstreams; u++) {
            const command *waiting = find(u, here->streams[u]->ended + 1);
            if (!waiting) continue;
            uint64_t seen = t < waiting->nseen ? waiting->seen[t] : 0;
            if (seen < bound) bound = seen;
        }
        uint32_t n = 0;
        while (n < s->n && s->list[n].count <= bound) n++;
        if (n) drop(s, n);
    }
}

/* --- of a card ----------------------------------------------------------------------------------------------- */

static void use(void *state) { here = state; }

static void forget_all(void) {
    for (uint32_t t = 0; t < here->nstreams; t++) {
        drop(here->streams[t], here->streams[t]->n);
        free(here->streams[t]->list);
        free(here->streams[t]);
    }
}

const check_part check_part_streams = {sizeof(streams_state), use, forget_all};

/* --- the hooks ----------------------------------------------------------------------------------------------- */

void check_streams_after(uint32_t stream, uint64_t count) { join_command(here->pending, stream, count); }

void check_streams_joined(uint32_t stream, time_point p) {
    if (stream < STREAMS && stream != p.stream) join_command(stream_of(stream)->seen, p.stream, p.count);
}

void check_streams_submitted(const time_command *c, uint64_t count) {
    if (c->stream >= STREAMS) return;
    stream_order *s = stream_of(c->stream);
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        s->list = check_must(realloc(s->list, s->room * sizeof *s->list));
    }
    join(s->seen, here->host, STREAMS);
    join(s->seen, here->pending, STREAMS);
    memset(here->pending, 0, sizeof here->pending);
    s->seen[c->stream] = count;
    command *r = &s->list[s->n++];
    *r = (command){.count = count, .kind = c->kind, .nseen = here->nstreams};
    r->seen = check_must(malloc(here->nstreams * sizeof *r->seen));
    memcpy(r->seen, s->seen, here->nstreams * sizeof *r->seen);
    if (c->kind == TIME_LAUNCH || c->kind == TIME_COPY || c->kind == TIME_MEMSET) r->side = side_of(c);
    if (c->kind != TIME_COPY && c->kind != TIME_MEMSET) return;
    bool staged = c->kind == TIME_COPY && c->is.copy.direction == SIMGPU_H2D && c->is.copy.pageable && !c->in_graph;
    add_rows(r, c, &c->is.copy.to, true);
    if (c->kind == TIME_COPY && !staged) add_rows(r, c, &c->is.copy.from, false);
    compare(r, c->stream);
}

void check_streams_launches(const time_command *c, uint64_t count) {
    here->running = find(c->stream, count);
    here->running_stream = c->stream;
}
void check_streams_range(uint64_t lo, uint64_t hi, bool writes) {
    if (here->running) add_range(here->running, lo, hi, writes);
}
void check_streams_launched(void) {
    if (here->running) compare(here->running, here->running_stream);
    here->running = NULL;
}

void check_streams_ended(const time_command *c, uint64_t count) {
    if (c->stream < STREAMS) stream_of(c->stream)->ended = count;
}

void check_streams_host_saw(uint32_t stream, uint64_t count) {
    if (stream >= STREAMS || here->host[stream] >= count) return;
    stream_of(stream);
    join_command(here->host, stream, count);
    forget();
}

bool check_streams_host_has_seen(uint32_t stream, uint64_t count) {
    return stream >= STREAMS || here->host[stream] >= count;
}
