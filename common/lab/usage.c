/* usage.c — see usage.h. */
#include "usage.h"

lab_usage lab_usage_if_any(const char *name) {
    lab_usage u;
    char none[256];
    lab_count_read(name, &u, none, sizeof none);
    return u;
}

double lab_commands_of(const lab_line *l) { return l->launches + l->copies; }
double lab_conflicts_of(const lab_line *l) { return l->c.shared_ld_conflicts + l->c.shared_st_conflicts; }
double lab_barriers_of(const lab_line *l) { return l->c.barriers; }
double lab_local_of(const lab_line *l) { return l->c.local_sectors; }

bool lab_is_copy(const struct simgpu_event *e) { return e->kind == SIMGPU_COPY || e->kind == SIMGPU_FILL; }

bool lab_started(const lab_usage *u, double begin) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind == SIMGPU_LAUNCH && (double)e->is.launch.call_ns >= begin) return true;
        if (lab_is_copy(e) && (double)e->is.copy.call_ns >= begin) return true;
    }
    return false;
}

double lab_bytes_of_event(const struct simgpu_event *e) {
    if (e->kind == SIMGPU_LAUNCH) return (double)(e->is.launch.read_bytes + e->is.launch.written_bytes);
    if (!lab_is_copy(e)) return 0;
    return (double)e->is.copy.bytes * (e->kind == SIMGPU_COPY && e->is.copy.direction == SIMGPU_D2D ? 2 : 1);
}

double lab_bytes_of(const lab_usage *u) {
    double bytes = 0;
    for (int i = 0; i < u->nevents; i++) bytes += lab_bytes_of_event(&u->events[i]);
    return bytes;
}

const struct simgpu_event *lab_long_call(const lab_usage *u, double us) {
    const struct simgpu_event *longest = NULL;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind != SIMGPU_CALL || !e->at.file) continue;
        if (!longest || e->duration_ns > longest->duration_ns) longest = e;
    }
    return longest && (double)longest->duration_ns >= us * 1000 / 5 ? longest : NULL;
}

const struct simgpu_call *lab_blame_call(lab_verdict *v, const lab_usage *u, double us) {
    const struct simgpu_event *e = lab_long_call(u, us);
    if (!e) return NULL;
    lab_blame_place(v, &e->at);
    LAB_SAY(v->why, "%s took %s, in which the host gave the GPU nothing else to do", e->is.call.name,
            lab_us((double)e->duration_ns / 1000));
    return &e->is.call;
}
