/* events.c — sends events to the listeners, in the order of the host's calls.
 *
 * Commands finish in another order than they were submitted in. So each command reserves a slot when it is submitted,
 * and an event is sent as soon as all earlier slots are filled. A waiting event is a deep copy. */
#include "time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct time_event_slot {
    bool known, dropped;
    struct simgpu_event event;
    struct simgpu_line *lines; /* copies of the event's arrays, or NULL */
    struct simgpu_fault *fault;
    char *text; /* of a mark or a refusal */
    time_event_slot *next;
};

enum { LISTENERS = 8, SECTOR = 32 };
static struct {
    simgpu_listener hear;
    void *context;
} listeners[LISTENERS];
static int nlisteners;
static time_event_slot *first, *last;

/* --- listeners ----------------------------------------------------------------------------------------------- */

int time_events_listen(simgpu_listener hear, void *context) {
    if (nlisteners == LISTENERS) return -1;
    listeners[nlisteners].hear = hear;
    listeners[nlisteners++].context = context;
    return 0;
}

void time_events_stop(simgpu_listener hear, void *context) {
    int kept = 0;
    for (int i = 0; i < nlisteners; i++)
        if (listeners[i].hear != hear || listeners[i].context != context) listeners[kept++] = listeners[i];
    nlisteners = kept;
}

bool time_events_on(void) { return nlisteners > 0; }

static uint32_t
    device_number; /* of the first device of the machine in use; its events are all sent before another is selected */

void time_events_device(uint32_t number) { device_number = number; }

static void send(const struct simgpu_event *e) {
    struct simgpu_event numbered = *e;
    numbered.device = device_number + e->device;
    for (int i = 0; i < nlisteners; i++) listeners[i].hear(&numbered, listeners[i].context);
}

/* --- the queue ----------------------------------------------------------------------------------------------- */

static void *need(void *memory) {
    if (!memory) base_refuse("the host has no memory left for the report; mark it more often (simgpuMark)");
    return memory;
}

time_event_slot *time_events_reserve(void) {
    time_event_slot *s = need(calloc(1, sizeof *s));
    if (last)
        last->next = s;
    else
        first = s;
    return last = s;
}

static void send_known(void) {
    while (first && first->known) {
        time_event_slot *s = first;
        if (!s->dropped) send(&s->event);
        first = s->next;
        if (!first) last = NULL;
        free(s->lines);
        free(s->fault);
        free(s->text);
        free(s);
    }
}

static void *copy_of(const void *from, size_t size) { return memcpy(need(malloc(size)), from, size); }

void time_events_send(time_event_slot *s, const struct simgpu_event *e) {
    if (!s && !first) {
        send(e);
        return;
    }
    if (!s) s = time_events_reserve();
    s->known = true;
    s->event = *e;
    if (s != first && e->kind == SIMGPU_LAUNCH) {
        struct simgpu_launch *l = &s->event.is.launch;
        if (l->nlines) l->lines = s->lines = copy_of(l->lines, l->nlines * sizeof *l->lines);
        if (l->fault) l->fault = s->fault = copy_of(l->fault, sizeof *l->fault);
    }
    if (s != first && e->kind == SIMGPU_MARK) s->event.is.mark = s->text = copy_of(e->is.mark, strlen(e->is.mark) + 1);
    if (s != first && e->kind == SIMGPU_RANGE)
        s->event.is.range.name = s->text = copy_of(e->is.range.name, strlen(e->is.range.name) + 1);
    if (s != first && e->kind == SIMGPU_REFUSAL)
        s->event.is.refusal.text = s->text = copy_of(e->is.refusal.text, strlen(e->is.refusal.text) + 1);
    send_known();
}

void time_events_drop(time_event_slot *s) {
    s->known = s->dropped = true;
    send_known();
}

/* --- events of each kind ------------------------------------------------------------------------------------- */

/* The legacy default stream of each device is shown as 0. */
static uint32_t shown(uint32_t stream) { return time_is_legacy(stream) ? 0 : stream; }

static struct simgpu_event event_of(enum simgpu_kind kind, const time_command *c, double start_ns, double end_ns) {
    return (struct simgpu_event){.kind = kind,
                                 .device = time_card_of(c->stream),
                                 .stream = shown(c->in_graph || c->parent ? c->graph_stream : c->stream),
                                 .at = {.file = c->host_file, .line = c->host_line},
                                 .start_ns = whole_ns(start_ns),
                                 .duration_ns = whole_ns(end_ns - start_ns)};
}

static void put_three(uint32_t to[3], exec_dim from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

void time_events_launch(time_event_slot *s, const time_command *c, const exec_result *r, const time_estimate *e,
                        const time_moments *m) {
    struct simgpu_event event = event_of(SIMGPU_LAUNCH, c, m->start, m->start + e->duration_ns);
    struct simgpu_launch *l = &event.is.launch;
    *l = (struct simgpu_launch){.kernel = c->is.launch.kernel->name,
                                .registers = r->registers,
                                .spilled = r->spilled,
                                .shared_bytes = r->shared_bytes,
                                .blocks_per_sm = e->per_sm,
                                .call_ns = whole_ns(m->called),
                                .arrive_ns = whole_ns(m->arrive),
                                .launch_ns = whole_ns(e->bound.term_ns[SIMGPU_TERM_LAUNCH]),
                                .read_bytes = r->footprint_read * SECTOR,
                                .written_bytes = r->footprint_written * SECTOR,
                                .dram_read_bytes = r->dram_read_bytes,
                                .dram_write_bytes = r->dram_write_bytes,
                                .l2_read_sectors = r->l2_read_sectors,
                                .l2_read_hits = r->l2_read_hits,
                                .l2_write_sectors = r->l2_write_sectors,
                                .l1_hit_pct = r->l1_hit_pct,
                                .l2_hit_pct = r->l2_hit_pct,
                                .bound = e->bound,
                                .total = r->total,
                                .lines = r->lines,
                                .nlines = r->nlines,
                                .in_graph = c->in_graph,
                                .parent = c->parent,
                                .cooperative = c->is.launch.cooperative,
                                .fault = r->fault.kind == SIMGPU_FAULT_NONE ? NULL : &r->fault};
    event.duration_ns = whole_ns(e->duration_ns);
    snprintf(l->name, sizeof l->name, "%s", base_kernel_name(l->kernel).text);
    put_three(l->grid, c->is.launch.grid);
    put_three(l->block, c->is.launch.block);
    time_events_send(s, &event);
}

void time_events_command(time_event_slot *s, const time_command *c, const time_moments *m, double end_ns,
                         double gbs_cap) {
    enum simgpu_kind kind = c->kind == TIME_COPY ? SIMGPU_COPY : c->kind == TIME_MEMSET ? SIMGPU_FILL : SIMGPU_FUNCTION;
    struct simgpu_event event = event_of(kind, c, m->start, end_ns);
    if (kind != SIMGPU_FUNCTION)
        event.is.copy = (struct simgpu_copy){.bytes = time_bytes(c),
                                             .in_graph = c->in_graph,
                                             .call_ns = whole_ns(m->called),
                                             .arrive_ns = whole_ns(m->arrive)};
    if (kind == SIMGPU_COPY) {
        event.is.copy.direction = c->is.copy.direction;
        event.is.copy.pageable = c->is.copy.pageable;
        event.is.copy.limit_gbs = c->is.copy.direction < SIMGPU_D2D ? gbs_cap : 0;
    }
    time_events_send(s, &event);
}

void time_events_migration(const struct simgpu_migration *m, const time_command *c, double start_ns, double end_ns) {
    if (!time_events_on()) return;
    const time_command nobody = {.stream = TIME_LEGACY_STREAM};
    struct simgpu_event event = event_of(SIMGPU_MIGRATION, c ? c : &nobody, start_ns, end_ns);
    event.is.migration = *m;
    time_events_send(NULL, &event);
}

void time_events_finding(const struct simgpu_finding *f) {
    if (!time_events_on()) return;
    struct simgpu_event event = {.kind = SIMGPU_FINDING};
    event.is.finding = *f;
    event.start_ns = whole_ns(time_host_ns());
    time_events_send(NULL, &event);
}

void time_events_range(const struct simgpu_range *r, double start_ns, double end_ns) {
    struct simgpu_event event = {.kind = SIMGPU_RANGE, .start_ns = whole_ns(start_ns)};
    event.duration_ns = whole_ns(end_ns) - event.start_ns;
    event.is.range = *r;
    time_events_send(NULL, &event);
}

void time_events_refusal(const struct simgpu_refusal *r, const char *file, int line) {
    if (!time_events_on()) return;
    struct simgpu_event event = {.kind = SIMGPU_REFUSAL, .at = {.file = file, .line = file ? line : 0}};
    event.is.refusal = *r;
    event.start_ns = whole_ns(time_host_ns());
    time_events_send(NULL, &event);
}
