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
    if (time_trace_file_put(e, cause)) lost();
}

int time_trace_to(const char *path) {
    if (open_now) {
        time_events_stop(hear, NULL);
        if (time_trace_file_close()) lost();
    }
    open_now = false;
    if (!path) return 0;
    char gpu[96];
    snprintf(gpu, sizeof gpu, "virtual %s", time_profile_get()->name);
    if (time_trace_file_open(path, gpu)) return -1;
    open_now = true;
    return time_events_listen(hear, NULL);
}
