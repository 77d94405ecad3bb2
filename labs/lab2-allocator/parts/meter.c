/* meter.c — the device as an allocator sees it: CUDA's own calls, intercepted (common/lab/calls.h) and counted.
 *
 * Each call counts for the line that makes it, so that a row can name that line. Calls that make the host wait are
 * counted as waits: the three synchronizations, and cudaFree, which waits for everything that runs. A trace may set
 * `capacity`; then cudaMalloc fails once so many bytes are taken.
 */
#include "judge.h"

#include <string.h>

static meter *heard;

void meter_reset(meter *m) {
    m->capacity = 0;
    m->peak = m->reserved;
    m->mallocs = m->waits = 0;
    m->nsites = 0;
    m->foreign = false;
}

static bool same_site(const call_site *s, const lab_call *c) {
    if (!s->file || !c->file) return !s->file && !c->file;
    return s->line == c->line && !strcmp(s->file, c->file);
}

static call_site *site_of(meter *m, const lab_call *c) {
    for (int i = 0; i < m->nsites; i++)
        if (same_site(&m->sites[i], c)) return &m->sites[i];
    if (m->nsites == MOST_SITES) return &m->sites[MOST_SITES - 1];
    m->sites[m->nsites] = (call_site){.file = c->file, .line = c->line};
    return &m->sites[m->nsites++];
}

/* The index of the first region that begins after p. */
static int region_after(const meter *m, uint64_t p) {
    int lo = 0, hi = m->nregions;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (m->regions[mid].at <= p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool meter_holds(const meter *m, uint64_t p, size_t bytes) {
    int i = region_after(m, p) - 1;
    if (i < 0) return false;
    uint64_t offset = p - m->regions[i].at;
    return offset < m->regions[i].bytes && bytes <= m->regions[i].bytes - offset;
}

/* --- the listener ------------------------------------------------------------------------------ */

static cudaError_t before_malloc(meter *m, const lab_call *c) {
    m->mallocs++;
    site_of(m, c)->mallocs++;
    if (m->capacity && m->reserved + c->bytes > m->capacity) return cudaErrorMemoryAllocation;
    if (m->nregions == MOST_REGIONS) lab_die("the allocator holds %d pieces from cudaMalloc at once", MOST_REGIONS);
    return cudaSuccess;
}

static void after_malloc(meter *m, const lab_call *c) {
    if (c->error || !c->to) return;
    int at = region_after(m, c->to);
    memmove(&m->regions[at + 1], &m->regions[at], (size_t)(m->nregions - at) * sizeof *m->regions);
    m->regions[at] = (region){c->to, c->bytes};
    m->nregions++;
    m->reserved += c->bytes;
    if (m->reserved > m->peak) m->peak = m->reserved;
}

/* Does not free a pointer that the allocator did not get from cudaMalloc: it may be the harness's. */
static cudaError_t before_free(meter *m, const lab_call *c) {
    if (!c->to) return cudaSuccess;
    int i = region_after(m, c->to) - 1;
    site_of(m, c)->waits++;
    if (i < 0 || m->regions[i].at != c->to) {
        m->foreign = true;
        return cudaErrorInvalidValue;
    }
    m->waits++;
    m->reserved -= m->regions[i].bytes;
    memmove(&m->regions[i], &m->regions[i + 1], (size_t)(m->nregions - i - 1) * sizeof *m->regions);
    m->nregions--;
    return cudaSuccess;
}

static cudaError_t before(const lab_call *c) {
    if (c->what == LAB_CALL_ALLOCATES) return before_malloc(heard, c);
    if (c->what == LAB_CALL_FREES) return before_free(heard, c);
    if (c->what == LAB_CALL_WAITS) {
        heard->waits++;
        site_of(heard, c)->waits++;
    }
    return cudaSuccess;
}

static void after(const lab_call *c) {
    if (c->what == LAB_CALL_ALLOCATES) after_malloc(heard, c);
}

void meter_listen(meter *m) {
    static const lab_ear ear = {before, after};
    heard = m;
    lab_listen(m ? &ear : NULL);
}

/* --- the counts -------------------------------------------------------------------------------- */

int mallocs_of(const call_site *s) { return s->mallocs; }
int waits_of(const call_site *s) { return s->waits; }
int cost_of(const call_site *s) { return s->mallocs + 2 * s->waits; } /* a wait empties the queue, too */

call_site meter_worst(const meter *m, int (*count)(const call_site *)) {
    call_site worst = {.line = 0};
    for (int i = 0; i < m->nsites; i++)
        if (count(&m->sites[i]) > count(&worst)) worst = m->sites[i];
    return worst;
}
