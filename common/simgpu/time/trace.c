/* trace.c — writes the virtual timeline (TRACE=trace.json); trace_file.h says what the file holds. */
#include "time.h"
#include "trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool open_now;

__attribute__((noreturn)) static void lost(void) { base_refuse("the trace cannot be written: %s", strerror(errno)); }

static void hear(const struct simgpu_event *e, void *none) {
    char cause[160] = "";
    (void)none;
    if (e->kind == SIMGPU_GAP) simgpuSayGap(&e->is.gap, cause, sizeof cause);
    if (trace_file_put(e, cause)) lost();
    switch (e->kind) {
    case SIMGPU_LAUNCH:
        put_span(sm_row(e), e->is.launch.name, e);
        put_span(ROW_STREAMS + e->stream, e->is.launch.name, e);
        break;
    case SIMGPU_COPY:
    case SIMGPU_FILL: put_copy(e); break;
    case SIMGPU_MIGRATION: put_migration(e); break;
    case SIMGPU_FUNCTION: put_span(ROW_FUNCTIONS, "host function", e); break;
    case SIMGPU_CALL:
    case SIMGPU_WORK: put_span(ROW_HOST, e->is.call.name, e); break;
    case SIMGPU_GAP: put_span(ROW_GAPS, simgpuSayGap(&e->is.gap, cause, sizeof cause), e); break;
    case SIMGPU_MARK: put_mark(e); break;
    case SIMGPU_RANGE: put_range(e); break;
    default: return;
    }
    if (ferror(file)) lost(strerror(errno));
}

int time_trace_to(const char *path) {
    if (open_now) {
        time_events_stop(hear, NULL);
        if (trace_file_close()) lost();
    }
    open_now = false;
    if (!path) return 0;
    char gpu[96];
    snprintf(gpu, sizeof gpu, "virtual %s", time_profile_get()->name);
    if (trace_file_open(path, gpu)) return -1;
    open_now = true;
    return time_events_listen(hear, NULL);
}
