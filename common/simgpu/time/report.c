/* report.c — writes every event as a line of JSON, for programs that do not link SimGPU (fields: ../README.md). */
#include "time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static FILE *file;

__attribute__((noreturn)) static void lost(const char *why) { base_refuse("the report cannot be written: %s", why); }

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

static void put_text(FILE *f, const char *key, const char *s) {
    fprintf(f, ",\"%s\":", key);
    put_string(f, s);
}

static void put_number(FILE *f, const char *key, uint64_t v) { fprintf(f, ",\"%s\":%" PRIu64, key, v); }

static void put_times(FILE *f, const struct simgpu_event *e) {
    put_number(f, "start_ns", e->start_ns);
    put_number(f, "duration_ns", e->duration_ns);
}

static void put_site(FILE *f, const struct simgpu_place *at) {
    if (!at->file) return;
    put_text(f, "host_file", at->file);
    fprintf(f, ",\"host_line\":%d", at->line);
}

static void put_counters(FILE *f, const struct simgpu_counters *c, bool zeros) {
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

static void put_lines(FILE *f, const struct simgpu_launch *l) {
    fputs(",\"lines\":[", f);
    for (uint32_t i = 0; i < l->nlines; i++) {
        fputs(i ? ",{\"file\":" : "{\"file\":", f);
        put_string(f, l->lines[i].file ? l->lines[i].file : "");
        fprintf(f, ",\"line\":%u", l->lines[i].line);
        put_counters(f, &l->lines[i].counters, false);
        fputc('}', f);
    }
    fputc(']', f);
}

/* Among several devices: the one of the event, by its number in the program. */
static void put_device(FILE *f, const struct simgpu_event *e) {
    if (time_cards() > 1) put_number(f, "device", (e->device - 1) % time_cards());
}

static void put_launch(FILE *f, const struct simgpu_event *e) {
    const struct simgpu_launch *l = &e->is.launch;
    char text[2048];
    put_device(f, e);
    put_text(f, "kernel", l->kernel);
    put_text(f, "name", l->name);
    fprintf(f, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"stream\":%u", l->grid[0], l->grid[1], l->grid[2],
            l->block[0], l->block[1], l->block[2], e->stream);
    if (l->in_graph) fputs(",\"graph\":true", f);
    if (l->parent) fprintf(f, ",\"parent\":\"%s\"", l->parent);
    put_number(f, "call_ns", l->call_ns);
    put_times(f, e);
    put_text(f, "bound", simgpuTermName(l->bound.term));
    put_text(f, "why", simgpuSayBound(l, text, sizeof text));
    if (l->fault) {
        put_text(f, "fault", simgpuFaultName(l->fault->kind));
        put_text(f, "fault_message", simgpuSayFault(l->fault, SIMGPU_WHOLE, text, sizeof text));
    }
    put_site(f, &e->at);
    fprintf(f, ",\"registers\":%u,\"shared\":%u,\"blocks_per_sm\":%u", l->registers, l->shared_bytes, l->blocks_per_sm);
    if (l->spilled) fputs(",\"spilled\":true", f);
    for (enum simgpu_term t = 0; t < SIMGPU_TERMS; t++)
        if (t < SIMGPU_TERM_LINK || l->bound.term_ns[t] > 0)
            fprintf(f, "%s\"%s\":%" PRIu64, t ? "," : ",\"terms_ns\":{", simgpuTermName(t),
                    whole_ns(l->bound.term_ns[t]));
    fputc('}', f);
    fprintf(f, ",\"dram_bytes\":{\"dram__bytes_read.sum\":%" PRIu64 ",\"dram__bytes_write.sum\":%" PRIu64 "}",
            l->dram_read_bytes, l->dram_write_bytes);
    fprintf(f,
            ",\"l2\":{\"read_sectors\":%" PRIu64 ",\"read_hits\":%" PRIu64 ",\"write_sectors\":%" PRIu64
            "},\"hit_rates\":{\"l1tex__t_sector_hit_rate.pct\":%.2f,\"lts__t_sector_hit_rate.pct\":%.2f}",
            l->l2_read_sectors, l->l2_read_hits, l->l2_write_sectors, l->l1_hit_pct, l->l2_hit_pct);
    put_counters(f, &l->total, true);
    put_lines(f, l);
}

static void put_copy(FILE *f, const struct simgpu_event *e) {
    const struct simgpu_copy *c = &e->is.copy;
    bool copy = e->kind == SIMGPU_COPY;
    put_device(f, e);
    if (copy) put_text(f, "direction", simgpuDirectionName(c->direction));
    if (copy && c->direction != SIMGPU_D2D) put_text(f, "memory", c->pageable ? "pageable" : "pinned");
    put_number(f, "bytes", c->bytes);
    put_number(f, "stream", e->stream);
    if (c->in_graph) fputs(",\"graph\":true", f);
    put_number(f, "call_ns", c->call_ns);
    put_times(f, e);
    if (c->limit_gbs > 0) fprintf(f, ",\"limit_gbs\":%.2f", c->limit_gbs);
    put_site(f, &e->at);
}

static void put_migration(FILE *f, const struct simgpu_event *e) {
    const struct simgpu_migration *m = &e->is.migration;
    put_text(f, "direction", simgpuDirectionName(m->direction));
    put_text(f, "cause", simgpuMigrationName(m->cause));
    if (m->kernel) put_text(f, "kernel", m->kernel);
    put_number(f, "bytes", m->bytes);
    if (m->faults) put_number(f, "faults", m->faults);
    if (m->cause != SIMGPU_BY_HOST) put_number(f, "stream", e->stream);
    put_times(f, e);
    put_site(f, &e->at);
}

static void put_call(FILE *f, const struct simgpu_event *e) {
    put_text(f, "name", e->is.call.name);
    if (e->is.call.bytes) put_number(f, "bytes", e->is.call.bytes);
    put_times(f, e);
    if (e->kind == SIMGPU_CALL) put_number(f, "blocked_ns", e->is.call.waited_ns);
    put_site(f, &e->at);
}

static void put_gap(FILE *f, const struct simgpu_event *e) {
    char cause[160];
    put_times(f, e);
    put_text(f, "cause", simgpuSayGap(&e->is.gap, cause, sizeof cause));
    put_site(f, &e->at);
}

static void put_finding(FILE *f, const struct simgpu_event *e) {
    const struct simgpu_finding *n = &e->is.finding;
    char text[2048];
    put_text(f, "check", simgpuFindingName(n->kind));
    if (n->kernel[0]) put_text(f, "name", n->kernel);
    fputs(",\"lines\":[", f);
    for (int k = 0; k < n->nsides; k++) {
        const struct simgpu_place *at = &n->side[k].at;
        fputs(k ? ",{\"file\":" : "{\"file\":", f);
        put_string(f, at->file ? at->file : "");
        fprintf(f, ",\"line\":%d,\"did\":\"%s\"}", at->line, simgpuDidName(at->did));
    }
    fputc(']', f);
    put_text(f, "message", simgpuSayFinding(n, SIMGPU_WHOLE, text, sizeof text));
}

static void put_totals(FILE *f, const struct simgpu_event *e) {
    static const char *const words[SIMGPU_MEMORIES] = {
        [SIMGPU_MEMORY_DEVICE] = "device", [SIMGPU_MEMORY_POOL] = "pool", [SIMGPU_MEMORY_PINNED] = "pinned"};
    const struct simgpu_totals *t = &e->is.totals;
    put_times(f, e);
    put_number(f, "busy_ns", t->busy_ns);
    put_number(f, "working_ns", t->working_ns);
    put_number(f, "sync_calls", t->sync_calls);
    put_number(f, "blocked_ns", t->waited_ns);
    put_number(f, "staged_bytes", t->staged_bytes);
    for (int m = 0; m < SIMGPU_MEMORIES; m++)
        fprintf(f,
                ",\"%s_allocs\":%" PRIu64 ",\"%s_frees\":%" PRIu64 ",\"%s_live_bytes\":%" PRIu64
                ",\"%s_peak_bytes\":%" PRIu64,
                words[m], t->memory[m].allocs, words[m], t->memory[m].frees, words[m], t->memory[m].live, words[m],
                t->memory[m].peak);
}

static void put_mark(FILE *f, const struct simgpu_event *e) {
    put_text(f, "name", e->is.mark);
    put_number(f, "host_ns", e->start_ns);
}

static void put_range(FILE *f, const struct simgpu_event *e) {
    put_text(f, "name", e->is.range.name);
    put_number(f, "host_ns", e->start_ns);
    put_number(f, "duration_ns", e->duration_ns);
}

/* A kind without a word has no line in the report. */
static const struct {
    const char *word;
    void (*put)(FILE *f, const struct simgpu_event *e);
} kinds[] = {
    [SIMGPU_LAUNCH] = {"launch", put_launch}, [SIMGPU_COPY] = {"copy", put_copy},
    [SIMGPU_FILL] = {"memset", put_copy},     [SIMGPU_FUNCTION] = {NULL, NULL},
    [SIMGPU_CALL] = {"call", put_call},       [SIMGPU_WORK] = {"work", put_call},
    [SIMGPU_GAP] = {"gap", put_gap},          [SIMGPU_FINDING] = {"finding", put_finding},
    [SIMGPU_REFUSAL] = {NULL, NULL},          [SIMGPU_TOTALS] = {"totals", put_totals},
    [SIMGPU_MARK] = {"mark", put_mark},       [SIMGPU_MIGRATION] = {"migration", put_migration},
    [SIMGPU_RANGE] = {"range", put_range},
};

static void hear(const struct simgpu_event *e, void *none) {
    (void)none;
    bool is_call = e->kind == SIMGPU_CALL || e->kind == SIMGPU_WORK;
    if (!kinds[e->kind].word || (is_call && e->is.call.short_one)) return;
    fprintf(file, "{\"kind\":\"%s\"", kinds[e->kind].word);
    kinds[e->kind].put(file, e);
    if (fputs("}\n", file) == EOF || fflush(file)) lost(strerror(errno));
}

int time_report_to(const char *path) {
    time_activity_stretch();
    if (file) {
        time_events_stop(hear, NULL);
        if (fclose(file)) lost(strerror(errno));
    }
    file = NULL;
    if (!path) return 0;
    file = fopen(path, "we");
    if (!file) return -1;
    if (!time_events_listen(hear, NULL)) return 0;
    fclose(file);
    file = NULL;
    errno = EMFILE;
    return -1;
}
