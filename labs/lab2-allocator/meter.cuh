/* meter.cuh — the device as allocator.cu sees it: CUDA's own calls, counted on the way.
 *
 * Every call remembers the line of the allocator that made it, so that a row can name it. Calls that make the host wait
 * are counted as waits: the three synchronizations, and cudaFree, which waits for everything that runs. A trace may set
 * `capacity`, and then the device is full when so many bytes are taken.
 */
#ifndef METER_CUH
#define METER_CUH

#include "lab.h"
#include "lab2.h"

#include <stdio.h>
#include <string.h>

/* SimGPU's calls are told where they come from, so that its reports name the allocator's line and not ours. */
#ifdef SIMGPU_CUDA_RUNTIME_H
#define PLACE     file, line
#define AND_PLACE , PLACE
#else
#define PLACE
#define AND_PLACE
#endif

typedef struct {
    char *at;
    size_t bytes;
} region;

typedef struct {
    const char *file;
    int line, mallocs, waits;
} call_site;

enum { MOST_REGIONS = 8192, MOST_SITES = 64 };

static struct {
    region regions[MOST_REGIONS]; /* what cudaMalloc gave and cudaFree did not take back, by address */
    int nregions;
    size_t capacity; /* 0: as much as there is */
    size_t reserved, peak;
    long mallocs, waits;
    call_site sites[MOST_SITES];
    int nsites;
    bool foreign; /* cudaFree was given something else than a region */
} meter;

/* Counts begin anew; the regions stay, they are real. */
static void meter_reset(void) {
    meter.capacity = 0;
    meter.peak = meter.reserved;
    meter.mallocs = meter.waits = 0;
    meter.nsites = 0;
    meter.foreign = false;
}

static call_site *meter_site(const char *file, int line) {
    for (int i = 0; i < meter.nsites; i++)
        if (meter.sites[i].line == line && !strcmp(meter.sites[i].file, file)) return &meter.sites[i];
    if (meter.nsites == MOST_SITES) return &meter.sites[MOST_SITES - 1];
    call_site fresh = {file, line, 0, 0};
    meter.sites[meter.nsites] = fresh;
    return &meter.sites[meter.nsites++];
}

/* The index of the first region that begins after p. */
static int meter_after(const char *p) {
    int lo = 0, hi = meter.nregions;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (meter.regions[mid].at <= p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Do these bytes lie in one region? */
static bool meter_holds(const void *p, size_t bytes) {
    int i = meter_after((const char *)p) - 1;
    if (i < 0) return false;
    size_t offset = (size_t)((const char *)p - meter.regions[i].at);
    return offset < meter.regions[i].bytes && bytes <= meter.regions[i].bytes - offset;
}

extern "C" cudaError_t metered_malloc(void **p, size_t bytes, const char *file, int line) {
    meter.mallocs++;
    meter_site(file, line)->mallocs++;
    if (!p) return cudaErrorInvalidValue;
    *p = NULL;
    if (meter.capacity && meter.reserved + bytes > meter.capacity) return cudaErrorMemoryAllocation;
    if (meter.nregions == MOST_REGIONS) lab_die("the allocator holds %d pieces from cudaMalloc at once", MOST_REGIONS);
    cudaError_t e = cudaMalloc(p, bytes AND_PLACE);
    if (e != cudaSuccess || !*p) return e;
    int at = meter_after((const char *)*p);
    memmove(&meter.regions[at + 1], &meter.regions[at], (size_t)(meter.nregions - at) * sizeof *meter.regions);
    region r = {(char *)*p, bytes};
    meter.regions[at] = r;
    meter.nregions++;
    meter.reserved += bytes;
    if (meter.reserved > meter.peak) meter.peak = meter.reserved;
    return cudaSuccess;
}

extern "C" cudaError_t metered_free(void *p, const char *file, int line) {
    if (!p) return cudaSuccess;
    int i = meter_after((const char *)p) - 1;
    if (i < 0 || meter.regions[i].at != p) {
        meter.foreign = true;
        meter_site(file, line)->waits++;
        return cudaErrorInvalidValue;
    }
    meter.waits++;
    meter_site(file, line)->waits++;
    meter.reserved -= meter.regions[i].bytes;
    memmove(&meter.regions[i], &meter.regions[i + 1], (size_t)(meter.nregions - i - 1) * sizeof *meter.regions);
    meter.nregions--;
    return cudaFree(p AND_PLACE);
}

static void meter_wait(const char *file, int line) {
    meter.waits++;
    meter_site(file, line)->waits++;
}

extern "C" cudaError_t metered_wait_device(const char *file, int line) {
    meter_wait(file, line);
    return cudaDeviceSynchronize(PLACE);
}

extern "C" cudaError_t metered_wait_stream(cudaStream_t stream, const char *file, int line) {
    meter_wait(file, line);
    return cudaStreamSynchronize(stream AND_PLACE);
}

extern "C" cudaError_t metered_wait_event(cudaEvent_t event, const char *file, int line) {
    meter_wait(file, line);
    return cudaEventSynchronize(event AND_PLACE);
}

static int mallocs_of(const call_site *s) { return s->mallocs; }
static int waits_of(const call_site *s) { return s->waits; }
static int cost_of(const call_site *s) { return s->mallocs + 2 * s->waits; } /* a wait empties the queue, too */

/* The line with the most such calls; line 0 if there was none. */
static call_site meter_worst(int (*count)(const call_site *)) {
    call_site worst = {"", 0, 0, 0};
    for (int i = 0; i < meter.nsites; i++)
        if (count(&meter.sites[i]) > count(&worst)) worst = meter.sites[i];
    return worst;
}

/* Places a row's blame there. */
static void meter_blame(const char *row, call_site site) {
    lab_line line;
    if (!site.line) return;
    memset(&line, 0, sizeof line);
    snprintf(line.file, sizeof line.file, "%s", site.file);
    line.line = site.line;
    lab_blame(row, &line);
}

#endif
