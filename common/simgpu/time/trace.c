/* trace.c — the timeline as Chrome Trace Event JSON, which ui.perfetto.dev and chrome://tracing draw.
 *
 * One array of events. Rows are threads of two processes: the host (its calls, its host functions) and the GPU (the two
 * copy engines, the SMs, why the SMs were idle, and each stream). Times are microseconds. A row must not hold spans
 * that overlap in part, so kernels that run side by side get rows of their own. */
#include "time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;

enum { HOST = 1, GPU = 2, SIDE_BY_SIDE = TRACE_STREAMS - TRACE_SMS };
static double sms_until[SIDE_BY_SIDE]; /* the last span's end in each row of the SMs */
static bool named[TRACE_STREAMS + 1024];

__attribute__((noreturn)) static void lost(const char *why) { sim_refuse("the trace cannot be written: %s", why); }

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

static int process_of(unsigned row) { return row <= TRACE_CALLBACK ? HOST : GPU; }

static void name_row(unsigned row) {
    static const char *const names[] = {"host thread", "host functions", "H2D", "D2H", "SMs idle because", "SMs"};
    if (row < sizeof named && named[row]) return;
    if (row < sizeof named) named[row] = true;
    fprintf(file, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":", process_of(row),
            row);
    if (row < sizeof names / sizeof *names)
        put_string(names[row]);
    else if (row < TRACE_STREAMS)
        fprintf(file, "\"SMs, side by side %u\"", row - TRACE_SMS);
    else
        fprintf(file, "\"stream %u\"", row - TRACE_STREAMS);
    fprintf(file,
            "}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%u,\"args\":{\"sort_index\":%u}},\n",
            process_of(row), row, row);
}

static void name_process(int pid, const char *name) {
    fprintf(file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":", pid);
    put_string(name);
    fputs("}},\n", file);
}

int trace_to(const char *path) {
    if (file) {
        fputs("{}]\n", file); /* every line before ends in a comma */
        if (fclose(file)) lost(strerror(errno));
    }
    file = NULL;
    if (!path) return 0;
    file = fopen(path, "we");
    if (!file) return -1;
    char gpu[96];
    snprintf(gpu, sizeof gpu, "virtual %s", time_profile_get()->name);
    fputs("[\n", file);
    name_process(HOST, "host");
    name_process(GPU, gpu);
    return 0;
}

bool trace_on(void) { return file != NULL; }

/* The first row of the SMs that is free by then. */
static unsigned sm_row(double start_ns, double end_ns) {
    unsigned i = 0;
    while (i < SIDE_BY_SIDE - 1 && sms_until[i] > start_ns) i++;
    sms_until[i] = end_ns;
    return TRACE_SMS + i;
}

void trace_span(unsigned row, const char *name, const char *source, int line, double start_ns, double end_ns) {
    if (row == TRACE_SMS) row = sm_row(start_ns, end_ns);
    name_row(row);
    fputs("{\"ph\":\"X\",\"name\":", file);
    put_string(name);
    fprintf(file, ",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f", process_of(row), row, start_ns / 1000,
            (end_ns - start_ns) / 1000);
    if (source) {
        fputs(",\"args\":{\"from\":", file);
        char place[512];
        snprintf(place, sizeof place, "%.480s:%d", source, line);
        put_string(place);
        fputc('}', file);
    }
    fputs("},\n", file);
    if (ferror(file)) lost(strerror(errno));
}

void trace_mark(const char *name, double at_ns) {
    name_row(TRACE_HOST);
    fputs("{\"ph\":\"i\",\"s\":\"g\",\"name\":", file);
    put_string(name);
    fprintf(file, ",\"pid\":%d,\"tid\":%d,\"ts\":%.3f},\n", HOST, TRACE_HOST, at_ns / 1000);
}
