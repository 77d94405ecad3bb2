/* trace.c — TRACE=trace.json on a real card: its timeline in the format of the virtual one's (trace_file.h).
 *
 * A library that NVIDIA's driver opens when a program begins (CUDA_INJECTION64_PATH). CUPTI hands over the program's
 * calls, copies, fills and kernels in buffers; they are kept, and written, by time, when the program ends. Times count
 * from the first of them. Measuring costs the host about a microsecond a call, so calls here are longer than without.
 *
 *   bluebar_trace_mark(NAME)   a mark, as simgpuMark's; common/lab/lane.c looks it up */
#include "../simgpu/base/base.h"
#include "../simgpu/time/trace_file.h"

#include <cupti.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 20, ALIGN = 8, STREAMS = 1024 };

typedef struct {
    enum simgpu_kind kind;
    enum simgpu_direction direction;
    bool pageable;
    uint32_t stream;
    uint64_t start, end, bytes;
    char *name; /* of a call, a kernel, a mark */
} record;

static record *records;
static size_t nrecords;
static uint32_t streams[STREAMS], nstreams, thread;

__attribute__((visibility("default"))) int InitializeInjection(void);
__attribute__((visibility("default"))) void bluebar_trace_mark(const char *name);

__attribute__((noreturn)) static void lost(const char *what, const char *why) {
    fprintf(stderr, "TRACE: %s: %s\n", what, why);
    _Exit(1);
}

static void must(CUptiResult r, const char *call) {
    const char *why = "";
    if (r == CUPTI_SUCCESS) return;
    cuptiGetResultString(r, &why);
    lost(call, why);
}
#define MUST(call) must((call), #call)

static void *need(void *memory) {
    if (!memory) lost("the host has no memory left for the trace", strerror(errno));
    return memory;
}

/* --- what CUPTI hands over ------------------------------------------------------------------------------------ */

static void keep(record r) {
    if ((nrecords & (nrecords - 1)) == 0)
        records = need(realloc(records, (nrecords ? 2 * nrecords : 1) * sizeof *records));
    records[nrecords++] = r;
}

/* Streams are numbered as they come; CUPTI's own numbers have gaps. */
static uint32_t number_of(uint32_t stream) {
    uint32_t i = 0;
    while (i < nstreams && streams[i] != stream) i++;
    if (i == nstreams && nstreams < STREAMS) streams[nstreams++] = stream;
    return i;
}

static void take_call(const CUpti_ActivityAPI *a) {
    const char *name = NULL;
    if (!thread) thread = a->threadId;
    if (a->threadId != thread) return; /* one row shows one thread */
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, a->cbid, &name) != CUPTI_SUCCESS || !name) return;
    size_t length = strlen(name); /* cudaMemcpy_v3020 */
    const char *version = strrchr(name, '_');
    if (version && version[1] == 'v') length = (size_t)(version - name);
    keep((record){.kind = SIMGPU_CALL, .start = a->start, .end = a->end, .name = need(strndup(name, length))});
}

static void take_kernel(const CUpti_ActivityKernel9 *k) {
    keep((record){.kind = SIMGPU_LAUNCH,
                  .stream = number_of(k->streamId),
                  .start = k->start,
                  .end = k->end,
                  .name = need(strdup(base_kernel_name(k->name).text))});
}

static void take_copy(const CUpti_ActivityMemcpy5 *c) {
    static const enum simgpu_direction directions[] = {[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = SIMGPU_H2D + 1,
                                                       [CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = SIMGPU_D2H + 1,
                                                       [CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = SIMGPU_D2D + 1,
                                                       [CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = SIMGPU_H2H + 1};
    size_t kinds = sizeof directions / sizeof *directions;
    enum simgpu_direction d = c->copyKind < kinds ? directions[c->copyKind] : 0;
    keep((record){.kind = SIMGPU_COPY,
                  .direction = d ? d - 1 : SIMGPU_D2D,
                  .pageable = c->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
                              c->dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
                  .stream = number_of(c->streamId),
                  .start = c->start,
                  .end = c->end,
                  .bytes = c->bytes});
}

static void take_fill(const CUpti_ActivityMemset4 *m) {
    keep((record){
        .kind = SIMGPU_FILL, .stream = number_of(m->streamId), .start = m->start, .end = m->end, .bytes = m->bytes});
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most) {
    *buffer = need(aligned_alloc(ALIGN, BUFFER));
    *size = BUFFER;
    *most = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *a = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS) {
        switch (a->kind) {
        case CUPTI_ACTIVITY_KIND_RUNTIME: take_call((const CUpti_ActivityAPI *)a); break;
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: take_kernel((const CUpti_ActivityKernel9 *)a); break;
        case CUPTI_ACTIVITY_KIND_MEMCPY: take_copy((const CUpti_ActivityMemcpy5 *)a); break;
        case CUPTI_ACTIVITY_KIND_MEMSET: take_fill((const CUpti_ActivityMemset4 *)a); break;
        default: break;
        }
    }
    free(buffer);
}

void bluebar_trace_mark(const char *name) {
    uint64_t now = 0;
    MUST(cuptiGetTimestamp(&now));
    keep((record){.kind = SIMGPU_MARK, .start = now, .end = now, .name = need(strdup(name))});
}

/* --- the file ------------------------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b) {
    const record *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void put(const record *r, uint64_t zero) {
    struct simgpu_event e = {
        .kind = r->kind, .stream = r->stream, .start_ns = r->start - zero, .duration_ns = r->end - r->start};
    if (r->kind == SIMGPU_LAUNCH) snprintf(e.is.launch.name, sizeof e.is.launch.name, "%s", r->name);
    if (r->kind == SIMGPU_CALL) e.is.call.name = r->name;
    if (r->kind == SIMGPU_MARK) e.is.mark = r->name;
    if (r->kind == SIMGPU_COPY || r->kind == SIMGPU_FILL)
        e.is.copy = (struct simgpu_copy){.bytes = r->bytes, .direction = r->direction, .pageable = r->pageable};
    if (time_trace_file_put(&e, "")) lost(getenv("TRACE"), strerror(errno));
}

static void finish(void) {
    const char *path = getenv("TRACE");
    MUST(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    if (nrecords) qsort(records, nrecords, sizeof *records, by_start);
    if (time_trace_file_open(path, getenv("TRACE_CARD"))) lost(path, strerror(errno));
    for (size_t i = 0; i < nrecords; i++) put(&records[i], records[0].start);
    if (time_trace_file_close()) lost(path, strerror(errno));
}

/* The driver calls this when it begins. TRACE names the file, TRACE_CARD the card. */
int InitializeInjection(void) {
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                               CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
    if (!getenv("TRACE") || !getenv("TRACE_CARD")) return 1;
    MUST(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) MUST(cuptiActivityEnable(kinds[i]));
    atexit(finish);
    return 1;
}
