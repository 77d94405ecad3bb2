/* ranges.c — NVTX: ranges and marks that a program names, for the trace and the report (nvToolsExt.h calls these). They
 * take no virtual time. Without a listener nothing is kept, and the answers are those of NVTX without a profiler. */
#include "rt.h"

#include "../include/simgpu_ranges.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_TRACKED = -2 };

typedef struct range {
    struct range *next; /* the one around it, or the next started one */
    uint64_t id;
    double start_ns;
    char name[];
} range;

static _Thread_local range *pushed; /* the innermost */
static _Thread_local int depth;
static _Thread_local uint32_t thread; /* 0: it has no number yet */
static range *started;

static range *new_range(const char *name) {
    size_t bytes = strlen(name) + 1;
    range *r = base_must(malloc(sizeof *r + bytes), "the host has no memory left for a range");
    memcpy(r->name, name, bytes);
    r->start_ns = time_host_ns();
    return r;
}

static void end(range *r, enum simgpu_range_kind kind) {
    time_events_range(&(struct simgpu_range){.name = r->name, .kind = kind, .thread = thread ? thread - 1 : 0},
                      r->start_ns, time_host_ns());
    free(r);
}

/* Returns whether anybody listens; holds the lock then. */
static bool begin(const char *name) {
    rt_lock();
    rt_set_up();
    if (name && time_events_on()) return true;
    rt_unlock();
    return false;
}

int simgpuRangePush(const char *name) {
    static uint32_t threads;
    if (!begin(name)) return NOT_TRACKED;
    if (!thread) thread = ++threads;
    range *r = new_range(name);
    r->next = pushed;
    pushed = r;
    rt_unlock();
    return depth++;
}

int simgpuRangePop(void) {
    if (!pushed || !begin("")) return NOT_TRACKED;
    range *r = pushed;
    pushed = r->next;
    end(r, SIMGPU_RANGE_PUSHED);
    rt_unlock();
    return --depth;
}

uint64_t simgpuRangeStart(const char *name) {
    static uint64_t last;
    if (!begin(name)) return 0;
    range *r = new_range(name);
    r->id = ++last;
    r->next = started;
    started = r;
    rt_unlock();
    return r->id;
}

void simgpuRangeEnd(uint64_t id) {
    if (!begin("")) return;
    range **at = &started;
    while (*at && (*at)->id != id) at = &(*at)->next;
    range *r = *at;
    if (r) *at = r->next;
    if (r) end(r, SIMGPU_RANGE_STARTED);
    rt_unlock();
}

void simgpuRangePoint(const char *name) {
    if (!begin(name)) return;
    end(new_range(name), SIMGPU_RANGE_POINT);
    rt_unlock();
}
