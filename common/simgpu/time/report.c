/* report.c — the report: JSON Lines, one object a launch, copy, call, gap, mark ... (fields: ../README.md).
 *
 * Lines appear in the order of the host's calls, though commands finish in another: each command reserves its line
 * when it is submitted, and lines are written as soon as all before them are known. A report holds no address, process
 * id or wall time, so two runs give the same bytes. */
#include "time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_slot {
    char *text; /* NULL: not known yet */
    struct report_slot *next;
};

static FILE *file;
static report_slot *first, *last;

/* --- the queue of lines ------------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void lost(const char *why) { sim_refuse("the report cannot be written: %s", why); }

static void write_known(void) {
    while (first && first->text) {
        report_slot *s = first;
        if (file && (fputs(s->text, file) == EOF || fputc('\n', file) == EOF)) lost(strerror(errno));
        first = s->next;
        if (!first) last = NULL;
        free(s->text);
        free(s);
    }
    if (file && fflush(file)) lost(strerror(errno));
}

int report_to(const char *path) {
    activity_stretch();
    write_known();
    if (file && fclose(file)) lost(strerror(errno));
    file = NULL;
    if (!path) return 0;
    file = fopen(path, "we");
    return file ? 0 : -1;
}

bool report_on(void) { return file != NULL; }

report_slot *report_reserve(void) {
    report_slot *s = calloc(1, sizeof *s);
    if (!s) lost("no memory");
    if (last)
        last->next = s;
    else
        first = s;
    return last = s;
}

/* A line is composed in memory, then put into its slot. */
static char *text;
static size_t text_size;

static FILE *begin(void) {
    FILE *f = open_memstream(&text, &text_size);
    if (!f) lost("no memory");
    return f;
}

static void end(report_slot *s, FILE *f) {
    if (fclose(f)) lost("no memory");
    s->text = text;
    write_known();
}

/* --- JSON --------------------------------------------------------------------------------------------------- */

static void put_string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void put_ns(FILE *f, const char *key, double ns) { fprintf(f, ",\"%s\":%" PRIu64, key, (uint64_t)(ns + 0.5)); }

static void put_site(FILE *f, const char *host_file, int host_line) {
    if (!host_file) return;
    fputs(",\"host_file\":", f);
    put_string(f, host_file);
    fprintf(f, ",\"host_line\":%d", host_line);
}

static void put_counters(FILE *f, const exec_counters *c, bool zeros) {
    const uint64_t *values = (const uint64_t *)c;
    const char *comma = "";
    fputs(",\"counters\":{", f);
    for (int i = 0; i < NCOUNTERS; i++) {
        if (!values[i] && !zeros) continue;
        fprintf(f, "%s\"%s\":%" PRIu64, comma, exec_counter_names[i].ncu, values[i]);
        comma = ",";
    }
    fputc('}', f);
}

/* --- the kinds of lines ------------------------------------------------------------------------------------- */

static const char *fault_word(exec_status s) {
    static const char *const words[] = {
        [EXEC_OK] = "none",       [EXEC_UNSUPPORTED] = "unsupported", [EXEC_ILLEGAL_ADDRESS] = "illegal address",
        [EXEC_BUDGET] = "budget", [EXEC_MISALIGNED] = "misaligned",   [EXEC_DEADLOCK] = "deadlock",
        [EXEC_TRAP] = "trap",     [EXEC_BAD_SYNC] = "bad sync",       [EXEC_ASSERT] = "assert",
        [EXEC_STACK] = "stack",
    };
    return words[s];
}

void report_launch(report_slot *s, const time_command *c, const exec_result *r, const time_estimate *e, double call_ns,
                   double start_ns) {
    FILE *f = begin();
    const exec_launch *l = &c->launch;
    fputs("{\"kind\":\"launch\",\"kernel\":", f);
    put_string(f, l->kernel->name);
    fputs(",\"name\":", f);
    int length;
    const char *base = ptx_base_name(l->kernel->name, &length);
    fprintf(f, "\"%.*s\"", length, base);
    fprintf(f, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"stream\":%u", l->grid.x, l->grid.y, l->grid.z, l->block.x,
            l->block.y, l->block.z, c->stream);
    put_ns(f, "call_ns", call_ns);
    put_ns(f, "start_ns", start_ns);
    put_ns(f, "duration_ns", e->duration_ns);
    fprintf(f, ",\"bound\":\"%s\",\"why\":", time_term_names[e->bound]);
    put_string(f, e->why);
    if (r->fault.status != EXEC_OK) {
        fprintf(f, ",\"fault\":\"%s\",\"fault_message\":", fault_word(r->fault.status));
        put_string(f, r->fault.message);
    }
    put_site(f, c->host_file, c->host_line);
    fprintf(f, ",\"registers\":%u,\"shared\":%u,\"blocks_per_sm\":%u", r->registers, r->shared_bytes, e->per_sm);
    for (int t = 0; t < TERMS; t++)
        fprintf(f, "%s\"%s\":%" PRIu64, t ? "," : ",\"terms_ns\":{", time_term_names[t],
                (uint64_t)(e->term_ns[t] + 0.5));
    fputc('}', f);
    put_counters(f, &r->total, true);
    fputs(",\"lines\":[", f);
    for (uint32_t i = 0; i < r->nlines; i++) {
        fputs(i ? ",{\"file\":" : "{\"file\":", f);
        put_string(f, r->lines[i].file ? r->lines[i].file : "");
        fprintf(f, ",\"line\":%u", r->lines[i].line);
        put_counters(f, &r->lines[i].c, false);
        fputc('}', f);
    }
    fputs("]}", f);
    end(s, f);
}

void report_transfer(report_slot *s, const time_command *c, double call_ns, double start_ns, double duration_ns,
                     double gbs_cap) {
    static const char *const directions[] = {"h2d", "d2h", "d2d", "h2h"};
    FILE *f = begin();
    fprintf(f, "{\"kind\":\"%s\"", c->kind == TIME_MEMSET ? "memset" : "copy");
    if (c->kind == TIME_COPY) {
        fprintf(f, ",\"direction\":\"%s\"", directions[c->direction]);
        if (c->direction != TIME_D2D) fprintf(f, ",\"memory\":\"%s\"", c->pageable ? "pageable" : "pinned");
    }
    fprintf(f, ",\"bytes\":%" PRIu64 ",\"stream\":%u", c->width * c->height, c->stream);
    put_ns(f, "call_ns", call_ns);
    put_ns(f, "start_ns", start_ns);
    put_ns(f, "duration_ns", duration_ns);
    if (c->kind == TIME_COPY && c->direction < TIME_D2D) fprintf(f, ",\"limit_gbs\":%.2f", gbs_cap);
    put_site(f, c->host_file, c->host_line);
    fputc('}', f);
    end(s, f);
}

/* A line that is known at once. */
static FILE *begin_line(report_slot **s, const char *kind) {
    *s = report_reserve();
    FILE *f = begin();
    fprintf(f, "{\"kind\":\"%s\"", kind);
    return f;
}

void report_call(const time_site *site, bool declared, double start_ns, double duration_ns, double waited_ns,
                 uint64_t bytes) {
    report_slot *s;
    FILE *f = begin_line(&s, declared ? "work" : "call");
    fputs(",\"name\":", f);
    put_string(f, site->name);
    if (bytes) fprintf(f, ",\"bytes\":%" PRIu64, bytes);
    put_ns(f, "start_ns", start_ns);
    put_ns(f, "duration_ns", duration_ns);
    if (!declared) put_ns(f, "blocked_ns", waited_ns);
    put_site(f, site->file, site->line);
    fputc('}', f);
    end(s, f);
}

void report_gap(const time_site *site, const char *cause, double start_ns, double duration_ns) {
    report_slot *s;
    FILE *f = begin_line(&s, "gap");
    put_ns(f, "start_ns", start_ns);
    put_ns(f, "duration_ns", duration_ns);
    fputs(",\"cause\":", f);
    put_string(f, cause);
    put_site(f, site->file, site->line);
    fputc('}', f);
    end(s, f);
}

void report_totals(const time_totals *t) {
    static const char *const words[MEMORIES] = {
        [MEMORY_DEVICE] = "device", [MEMORY_POOL] = "pool", [MEMORY_PINNED] = "pinned"};
    report_slot *s;
    FILE *f = begin_line(&s, "totals");
    put_ns(f, "start_ns", t->start_ns);
    put_ns(f, "duration_ns", t->duration_ns);
    put_ns(f, "busy_ns", t->busy_ns);
    put_ns(f, "working_ns", t->working_ns);
    fprintf(f, ",\"sync_calls\":%" PRIu64, t->sync_calls);
    put_ns(f, "blocked_ns", t->waited_ns);
    fprintf(f, ",\"staged_bytes\":%" PRIu64, t->staged_bytes);
    for (int m = 0; m < MEMORIES; m++)
        fprintf(f,
                ",\"%s_allocs\":%" PRIu64 ",\"%s_frees\":%" PRIu64 ",\"%s_live_bytes\":%" PRIu64
                ",\"%s_peak_bytes\":%" PRIu64,
                words[m], t->memory[m].allocs, words[m], t->memory[m].frees, words[m], t->memory[m].live, words[m],
                t->memory[m].peak);
    fputc('}', f);
    end(s, f);
}

void report_mark(const char *name) {
    activity_stretch();
    if (trace_on()) trace_mark(name, time_host_ns());
    if (!file) return;
    report_slot *s;
    FILE *f = begin_line(&s, "mark");
    fputs(",\"name\":", f);
    put_string(f, name);
    put_ns(f, "host_ns", time_host_ns());
    fputc('}', f);
    end(s, f);
}

void report_finding(const char *check, const char *kernel, const report_place *places, int nplaces,
                    const char *message) {
    if (!file) return;
    report_slot *s = report_reserve();
    FILE *f = begin();
    fprintf(f, "{\"kind\":\"finding\",\"check\":\"%s\"", check);
    if (kernel) {
        fputs(",\"name\":", f);
        put_string(f, kernel);
    }
    fputs(",\"lines\":[", f);
    for (int k = 0; k < nplaces; k++) {
        fputs(k ? ",{\"file\":" : "{\"file\":", f);
        put_string(f, places[k].file ? places[k].file : "");
        fprintf(f, ",\"line\":%d,\"did\":\"%s\"}", places[k].line, places[k].did);
    }
    fputs("],\"message\":", f);
    put_string(f, message);
    fputc('}', f);
    end(s, f);
}
