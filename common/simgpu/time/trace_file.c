/* trace_file.c — writes events as Chrome Trace Event JSON; trace_file.h says what that holds. */
#include "trace_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static FILE *file;

enum row { ROW_HOST, ROW_FUNCTIONS, ROW_H2D, ROW_D2H, ROW_GAPS, ROW_SMS, ROW_STREAMS = 64, ROW_RANGES = 1 << 16 };
enum { HOST = 1, GPU = 2, SIDE_BY_SIDE = ROW_STREAMS - ROW_SMS };
static uint64_t sms_until[SIDE_BY_SIDE]; /* end of the last span in each row of the SMs */
static bool named[ROW_STREAMS + 1024], named_ranges[64];
static unsigned ranges; /* that were started, not pushed */

static void put_string(const char *s) {
    fputc('"', file);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else
            fputc(c < 0x20 ? ' ' : c, file);
    }
    fputc('"', file);
}

static int process_of(unsigned row) { return row <= ROW_FUNCTIONS || row >= ROW_RANGES ? HOST : GPU; }

static void name_row(unsigned row) {
    static const char *const names[] = {"host thread", "host functions", "H2D", "D2H", "SMs idle because", "SMs"};
    const bool range = row >= ROW_RANGES;
    bool *known = range ? &named_ranges[(row - ROW_RANGES) % sizeof named_ranges] : NULL;
    if (!range && row < sizeof named) known = &named[row];
    if (known && *known) return;
    if (known) *known = true;
    fprintf(file, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":", process_of(row),
            row);
    if (row < sizeof names / sizeof *names)
        put_string(names[row]);
    else if (row < ROW_STREAMS)
        fprintf(file, "\"SMs, side by side %u\"", row - ROW_SMS);
    else if (range)
        fprintf(file, "\"ranges of thread %u\"", row - ROW_RANGES);
    else
        fprintf(file, "\"stream %u\"", row - ROW_STREAMS);
    fprintf(file,
            "}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%u,\"args\":{\"sort_index\":%u}},\n",
            process_of(row), row, row);
}

static void name_process(int pid, const char *name) {
    fprintf(file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":", pid);
    put_string(name);
    fputs("}},\n", file);
}

/* Returns the first row of the SMs that is free at the event's start. */
static unsigned sm_row(const struct simgpu_event *e) {
    unsigned i = 0;
    while (i < SIDE_BY_SIDE - 1 && sms_until[i] > e->start_ns) i++;
    if (e->start_ns + e->duration_ns > sms_until[i]) sms_until[i] = e->start_ns + e->duration_ns;
    return ROW_SMS + i;
}

static void put_span(unsigned row, const char *name, const struct simgpu_event *e) {
    name_row(row);
    fputs("{\"ph\":\"X\",\"name\":", file);
    put_string(name);
    fprintf(file, ",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f", process_of(row), row, (double)e->start_ns / 1000,
            (double)e->duration_ns / 1000);
    if (e->at.file) {
        fputs(",\"args\":{\"from\":", file);
        char place[512];
        snprintf(place, sizeof place, "%.480s:%d", e->at.file, e->at.line);
        put_string(place);
        fputc('}', file);
    }
    fputs("},\n", file);
}

static void put_mark(const struct simgpu_event *e) {
    name_row(ROW_HOST);
    fputs("{\"ph\":\"i\",\"s\":\"g\",\"name\":", file);
    put_string(e->is.mark);
    fprintf(file, ",\"pid\":%d,\"tid\":%d,\"ts\":%.3f},\n", HOST, ROW_HOST, (double)e->start_ns / 1000);
}

/* Ranges that were started, not pushed, need not nest: each is a pair of events with a number of its own. */
static void put_range(const struct simgpu_event *e) {
    const struct simgpu_range *r = &e->is.range;
    if (r->kind == SIMGPU_RANGE_PUSHED) {
        put_span(ROW_RANGES + r->thread, r->name, e);
        return;
    }
    bool point = r->kind == SIMGPU_RANGE_POINT;
    name_row(ROW_HOST);
    ranges++;
    for (int end = 0; end < (point ? 1 : 2); end++) {
        fprintf(file, "{\"ph\":\"%s\",\"name\":", point ? "i" : end ? "e" : "b");
        put_string(r->name);
        if (!point) fprintf(file, ",\"cat\":\"nvtx\",\"id\":%u", ranges);
        fprintf(file, ",\"pid\":%d,\"tid\":%d,\"ts\":%.3f},\n", HOST, ROW_HOST,
                (double)(e->start_ns + (end ? e->duration_ns : 0)) / 1000);
    }
}

static void put_copy(const struct simgpu_event *e) {
    static const char *const directions[] = {"H2D", "D2H", "D2D", "H2H"};
    const struct simgpu_copy *c = &e->is.copy;
    bool copy = e->kind == SIMGPU_COPY;
    char name[96];
    snprintf(name, sizeof name, "%s %llu B%s", copy ? directions[c->direction] : "memset", (unsigned long long)c->bytes,
             c->pageable ? " pageable" : "");
    unsigned row = copy && c->direction == SIMGPU_H2D   ? ROW_H2D
                   : copy && c->direction == SIMGPU_D2H ? ROW_D2H
                                                        : sm_row(e);
    put_span(row, name, e);
    put_span(ROW_STREAMS + e->stream, name, e);
}

static void put_migration(const struct simgpu_event *e) {
    const struct simgpu_migration *m = &e->is.migration;
    char name[96];
    snprintf(name, sizeof name, "%s of %llu B", m->cause == SIMGPU_BY_PREFETCH ? "prefetch" : "page faults",
             (unsigned long long)m->bytes);
    put_span(m->direction == SIMGPU_H2D ? ROW_H2D : ROW_D2H, name, e);
}

int time_trace_file_put(const struct simgpu_event *e, const char *gap) {
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
    case SIMGPU_GAP: put_span(ROW_GAPS, gap, e); break;
    case SIMGPU_MARK: put_mark(e); break;
    case SIMGPU_RANGE: put_range(e); break;
    default: break;
    }
    return ferror(file) ? -1 : 0;
}

int time_trace_file_open(const char *path, const char *gpu) {
    file = fopen(path, "we");
    if (!file) return -1;
    memset(named, 0, sizeof named);
    memset(named_ranges, 0, sizeof named_ranges);
    ranges = 0;
    memset(sms_until, 0, sizeof sms_until);
    fputs("[\n", file);
    name_process(HOST, "host");
    name_process(GPU, gpu);
    return 0;
}

int time_trace_file_close(void) {
    fputs("{}]\n", file); /* each event ends in a comma, so close the array with an empty object */
    return fclose(file);
}
