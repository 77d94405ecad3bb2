/* meter.c — the device as an allocator sees it: CUDA's own calls, intercepted (common/lab/calls.h) and counted.
 *
 * Each call counts for the line that makes it, with the host's time in it, so that a row can name that line. Calls that
 * make the host wait are counted as waits: the three synchronizations, and cudaFree, which waits for everything that
 * runs. A trace may set `capacity`; then cudaMalloc fails once so many bytes are taken.
 */
#include "judge.h"

#include <string.h>

static meter *heard;

void meter_reset(meter *m) {
    m->capacity = 0;
    m->peak = m->reserved;
    m->mallocs = m->frees = m->waits = m->queries = m->records = 0;
    m->nsites = 0;
    m->misuse.kind = MISUSE_NONE;
}

static bool same_site(const call_site *s, const lab_call *c) {
    if (!s->file || !c->file) return !s->file && !c->file && !strcmp(s->name, c->name);
    return s->line == c->line && !strcmp(s->file, c->file) && !strcmp(s->name, c->name);
}

static call_site *site_of(meter *m, const lab_call *c) {
    for (int i = 0; i < m->nsites; i++)
        if (same_site(&m->sites[i], c)) return &m->sites[i];
    if (m->nsites == MOST_SITES) return &m->sites[MOST_SITES - 1];
    m->sites[m->nsites] = (call_site){.file = c->file, .line = c->line, .name = c->name, .what = c->what};
    return &m->sites[m->nsites++];
}

/* The index of the first segment that begins after p. */
static int segment_after(const meter *m, uint64_t p) {
    int lo = 0, hi = m->nsegments;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (m->segments[mid].at <= p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

segment *meter_segment(meter *m, uint64_t p) {
    int i = segment_after(m, p) - 1;
    return i >= 0 && p - m->segments[i].at < m->segments[i].bytes ? &m->segments[i] : NULL;
}

const segment *meter_gone(const meter *m, uint64_t p) {
    for (unsigned i = 0; i < MOST_GONE && i < m->ngone; i++) {
        const segment *s = &m->gone[(m->ngone - 1 - i) % MOST_GONE];
        if (p - s->at < s->bytes) return s;
    }
    return NULL;
}

/* --- the listener ------------------------------------------------------------------------------ */

static void note_misuse(meter *m, misuse_kind kind, const lab_call *c, size_t offset) {
    if (!m->misuse.kind) m->misuse = (misuse){kind, *site_of(m, c), offset};
}

static cudaError_t before_malloc(meter *m, const lab_call *c) {
    m->mallocs++;
    m->now.calls++;
    site_of(m, c)->mallocs++;
    if (m->capacity && (c->bytes > m->capacity || m->reserved > m->capacity - c->bytes)) {
        m->now.failed++;
        m->now.bytes = c->bytes;
        m->now.reserved = m->reserved;
        return cudaErrorMemoryAllocation;
    }
    if (m->nsegments == MOST_SEGMENTS) lab_die("the allocator holds %d pieces from cudaMalloc at once", MOST_SEGMENTS);
    return cudaSuccess;
}

static void after_malloc(meter *m, const lab_call *c) {
    if (c->error || !c->to) return;
    int at = segment_after(m, c->to);
    memmove(&m->segments[at + 1], &m->segments[at], (size_t)(m->nsegments - at) * sizeof *m->segments);
    m->segments[at] = (segment){c->to, c->bytes, c->to, c->to, ++m->clock, m->stream, *site_of(m, c)};
    m->nsegments++;
    m->reserved += c->bytes;
    if (m->reserved > m->peak) m->peak = m->reserved;
}

/* Does not free a pointer that the allocator did not get from cudaMalloc: it may be the harness's. */
static cudaError_t before_free(meter *m, const lab_call *c) {
    if (!c->to) return cudaSuccess;
    int i = segment_after(m, c->to) - 1;
    site_of(m, c)->waits++;
    if (i < 0 || m->segments[i].at != c->to) {
        const segment *in = meter_segment(m, c->to), *gone = meter_gone(m, c->to);
        note_misuse(m, in ? MISUSE_INSIDE : gone ? MISUSE_TWICE : MISUSE_UNKNOWN, c, in ? c->to - in->at : 0);
        return cudaErrorInvalidValue;
    }
    m->waits++;
    m->frees++;
    m->reserved -= m->segments[i].bytes;
    m->gone[m->ngone % MOST_GONE] = m->segments[i];
    m->gone[m->ngone++ % MOST_GONE].site = *site_of(m, c);
    memmove(&m->segments[i], &m->segments[i + 1], (size_t)(m->nsegments - i - 1) * sizeof *m->segments);
    m->nsegments--;
    return cudaSuccess;
}

static bool is(const lab_call *c, const char *name) { return !strcmp(c->name, name); }

static cudaError_t before(const lab_call *c) {
    meter *m = heard;
    if (c->what == LAB_CALL_C_ALLOCATES) return cudaSuccess;
    if (is(c, "cudaMalloc")) return before_malloc(m, c);
    if (is(c, "cudaFree")) return before_free(m, c);
    if (c->what == LAB_CALL_WAITS)
        m->waits++, site_of(m, c)->waits++;
    else
        site_of(m, c)->others++;
    m->queries += is(c, "cudaEventQuery") || is(c, "cudaStreamQuery");
    m->records += is(c, "cudaEventRecord");
    if (c->what != LAB_CALL_ALLOCATES && c->what != LAB_CALL_FREES && c->what != LAB_CALL_PINS) return cudaSuccess;
    note_misuse(m, MISUSE_CALL, c, 0);
    return cudaErrorNotSupported;
}

static void after(const lab_call *c) {
    if (c->what == LAB_CALL_C_ALLOCATES) return;
    site_of(heard, c)->ns += c->end - c->begin;
    if (is(c, "cudaMalloc")) after_malloc(heard, c);
}

void meter_listen(meter *m) {
    static const lab_ear ear = {before, after};
    heard = m;
    lab_listen(m ? &ear : NULL);
}

/* --- the counts -------------------------------------------------------------------------------- */

double mallocs_of(const call_site *s) { return s->mallocs; }
double waits_of(const call_site *s) { return s->waits; }
double time_in(const call_site *s) { return s->ns; }

call_site meter_worst(const meter *m, double (*count)(const call_site *)) {
    call_site worst = {.line = 0};
    for (int i = 0; i < m->nsites; i++)
        if (count(&m->sites[i]) > (worst.line || worst.name ? count(&worst) : 0)) worst = m->sites[i];
    return worst;
}
