/* calls.cuh — the harness's ear on your CUDA calls: how much host memory you pin, what you allocate in the loop, what
 * is staged, where the host waits, and whether a buffer is touched while a copy on it is under way.
 *
 * Calls that counted.txt names come here first (the linker's doing; your file knows nothing of it), are noted with the
 * line they come from (sim lane), and go on to the real function. That works in both lanes, with no profiler.
 *
 * The rule for buffers: behind each asynchronous copy of page-locked memory an event is recorded in the same stream.
 * Any wait that covers the copy covers the event. So a buffer whose event is not reached when the loader writes it, or
 * when a result is read from it, was touched too early, even if the bytes happen to be right today. Only in runs that
 * are checked: an event takes time, so the timed runs go without.
 */
#ifndef CALLS_CUH
#define CALLS_CUH

#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<simgpu.h>)
#include <simgpu.h>
static void host_works(double ns) { simgpuHostWork((uint64_t)ns); }
#else
static void host_works(double ns) { (void)ns; } /* a real host takes its time by itself */
#endif

enum { MOST_PLACES = 64, MOST_BLOCKS = 4096, MOST_COPIES = 256 };

/* One line of the student's file that calls. */
typedef struct {
    const char *file, *call; /* file NULL: not known */
    int line;
    double calls, bytes, staged, blocked_ns, allocations; /* allocations: those in the loop */
} place;

typedef struct {
    const char *start;
    size_t bytes;
    const place *by;
} block;

typedef struct {
    const char *start;
    size_t bytes;
    bool to_host;
    cudaEvent_t reached;
    const place *by;
} flight;

static struct {
    bool in_loop, checking;
    place places[MOST_PLACES];
    int nplaces;
    block pinned[MOST_BLOCKS];
    int npinned;
    size_t pinned_now, pinned_most;
    const place *pinned_first; /* where the first block of the run was pinned */
    flight flights[MOST_COPIES];
    int nflights;
    double allocations, bytes, staged;
    char early[320]; /* the first buffer touched too early */
    const place *early_by;
} calls;

static void calls_reset(bool checking) {
    while (calls.nflights) cudaEventDestroy(calls.flights[--calls.nflights].reached);
    calls.in_loop = false;
    calls.checking = checking;
    calls.nplaces = 0;
    calls.pinned_most = calls.pinned_now;
    calls.allocations = calls.bytes = calls.staged = 0;
    calls.early[0] = 0;
    calls.early_by = calls.pinned_first = NULL;
}

static place *place_at(const char *call, const char *file, int line) {
    for (int i = 0; i < calls.nplaces; i++) {
        place *p = &calls.places[i];
        if (p->line == line && !strcmp(p->call, call)) return p->calls++, p;
    }
    if (calls.nplaces == MOST_PLACES) return &calls.places[MOST_PLACES - 1];
    place *p = &calls.places[calls.nplaces++];
    *p = {file, call, line, 1, 0, 0, 0, 0};
    return p;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void note_allocation(place *p) {
    if (!calls.in_loop) return;
    p->allocations++;
    calls.allocations++;
}

static void note_pinned(const void *start, size_t bytes, const place *p) {
    if (calls.npinned == MOST_BLOCKS) lab_die("your code holds more than %d page-locked blocks", MOST_BLOCKS);
    calls.pinned[calls.npinned++] = {(const char *)start, bytes, p};
    calls.pinned_now += bytes;
    if (!calls.pinned_first) calls.pinned_first = p;
    if (calls.pinned_now > calls.pinned_most) calls.pinned_most = calls.pinned_now;
}

static void note_unpinned(const void *start) {
    for (int i = 0; i < calls.npinned; i++)
        if (calls.pinned[i].start == start) {
            calls.pinned_now -= calls.pinned[i].bytes;
            calls.pinned[i] = calls.pinned[--calls.npinned];
            return;
        }
}

static bool is_pinned(const char *start, size_t bytes) {
    for (int i = 0; i < calls.npinned; i++)
        if (start >= calls.pinned[i].start && start + bytes <= calls.pinned[i].start + calls.pinned[i].bytes)
            return true;
    return false;
}

/* --- copies ----------------------------------------------------------------------------------- */

static bool is_device(const void *p) {
    struct cudaPointerAttributes a;
    return cudaPointerGetAttributes(&a, p) == cudaSuccess && a.type == cudaMemoryTypeDevice;
}

/* Behind a copy, in its stream: how we shall know that it is over. */
static void note_flight(const char *host, size_t bytes, bool to_host, cudaStream_t stream, const place *p) {
    if (!calls.checking) return;
    if (calls.nflights == MOST_COPIES) lab_die("your code has more than %d copies under way", MOST_COPIES);
    flight f = {host, bytes, to_host, NULL, p};
    LAB_CUDA(cudaEventCreateWithFlags(&f.reached, cudaEventDisableTiming));
    if (cudaEventRecord(f.reached, stream) == cudaSuccess) calls.flights[calls.nflights++] = f;
}

static void note_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, bool async,
                      cudaStream_t stream, place *p) {
    if (kind == cudaMemcpyDefault)
        kind = is_device(to) ? (is_device(from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                             : cudaMemcpyDeviceToHost;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToHost) return;
    const char *host = (const char *)(kind == cudaMemcpyHostToDevice ? from : to);
    p->bytes += (double)bytes;
    calls.bytes += (double)bytes;
    if (is_pinned(host, bytes)) {
        if (async) note_flight(host, bytes, kind == cudaMemcpyDeviceToHost, stream, p);
    } else {
        p->staged += (double)bytes;
        calls.staged += (double)bytes;
    }
}

/* The host is about to touch these bytes: to write them (a batch is loaded), or to read them (a result is taken). */
static void calls_touch(const void *start, size_t bytes, bool writes, int batch) {
    const char *a = (const char *)start;
    for (int i = 0; i < calls.nflights; i++) {
        flight *f = &calls.flights[i];
        if (cudaEventQuery(f->reached) == cudaSuccess) {
            cudaEventDestroy(f->reached);
            calls.flights[i--] = calls.flights[--calls.nflights];
        } else if (a < f->start + f->bytes && f->start < a + bytes && (writes || f->to_host) && !calls.early[0]) {
            calls.early_by = f->by;
            snprintf(calls.early, sizeof calls.early, "batch %d: %s touched the buffer while this copy was still %s it",
                     batch, writes ? "load_batch" : "take_result", f->to_host ? "writing" : "reading");
        }
    }
}

/* --- the calls themselves ----------------------------------------------------------------------- */

/* In the sim lane our headers pass the caller's place along; nvcc's know no such thing. */
#ifdef SIMGPU_AT
#define COUNTED(name, ...) extern "C" cudaError_t counted_simgpu##name(__VA_ARGS__, const char *file, int line)
#define AT                 , file, line
#define AT_PLACE(p)        , (p)->file, (p)->line
#else
#define COUNTED(name, ...) extern "C" cudaError_t counted_cuda##name(__VA_ARGS__)
#define AT
#define AT_PLACE(p)
static const char *const file = NULL;
static const int line = 0;
#endif

/* Makes the call and adds the time for which it held the host up. */
#define HELD(p, call)                                                                                                  \
    double t0_ = lab_now();                                                                                            \
    cudaError_t e = (call);                                                                                            \
    (p)->blocked_ns += lab_now() - t0_

COUNTED(Malloc, void **to, size_t bytes) {
    place *p = place_at("cudaMalloc", file, line);
    note_allocation(p);
    HELD(p, cudaMalloc(to, bytes AT));
    return e;
}

static cudaError_t pin(void **to, size_t bytes, unsigned flags, place *p) {
    note_allocation(p);
    HELD(p, cudaHostAlloc(to, bytes, flags AT_PLACE(p)));
    if (e == cudaSuccess) note_pinned(*to, bytes, p);
    return e;
}
COUNTED(HostAlloc, void **to, size_t bytes, unsigned flags) {
    return pin(to, bytes, flags, place_at("cudaMallocHost", file, line));
}
COUNTED(MallocHost, void **to, size_t bytes) { return pin(to, bytes, 0, place_at("cudaMallocHost", file, line)); }

COUNTED(FreeHost, void *start) {
    place *p = place_at("cudaFreeHost", file, line);
    HELD(p, cudaFreeHost(start AT));
    if (e == cudaSuccess) note_unpinned(start);
    return e;
}

static cudaError_t register_host(void *start, size_t bytes, unsigned flags, place *p) {
    note_allocation(p);
    HELD(p, cudaHostRegister(start, bytes, flags));
    if (e == cudaSuccess) note_pinned(start, bytes, p);
    return e;
}
static cudaError_t unregister_host(void *start, place *p) {
    HELD(p, cudaHostUnregister(start));
    if (e == cudaSuccess) note_unpinned(start);
    return e;
}
COUNTED(HostRegister, void *start, size_t bytes, unsigned flags) {
    return register_host(start, bytes, flags, place_at("cudaHostRegister", file, line));
}
COUNTED(HostUnregister, void *start) { return unregister_host(start, place_at("cudaHostUnregister", file, line)); }
#ifdef SIMGPU_AT /* these two may come without a place */
extern "C" cudaError_t counted_cudaHostRegister(void *start, size_t bytes, unsigned flags) {
    return register_host(start, bytes, flags, place_at("cudaHostRegister", NULL, 0));
}
extern "C" cudaError_t counted_cudaHostUnregister(void *start) {
    return unregister_host(start, place_at("cudaHostUnregister", NULL, 0));
}
#endif

COUNTED(Memcpy, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    place *p = place_at("cudaMemcpy", file, line);
    note_copy(to, from, bytes, kind, false, 0, p);
    HELD(p, cudaMemcpy(to, from, bytes, kind AT));
    return e;
}
COUNTED(MemcpyAsync, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    place *p = place_at("cudaMemcpyAsync", file, line);
    HELD(p, cudaMemcpyAsync(to, from, bytes, kind, stream AT));
    if (e == cudaSuccess) note_copy(to, from, bytes, kind, true, stream, p);
    return e;
}
COUNTED(Memcpy2D, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
        enum cudaMemcpyKind kind) {
    place *p = place_at("cudaMemcpy2D", file, line);
    note_copy(to, from, width * height, kind, false, 0, p);
    HELD(p, cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind AT));
    return e;
}
COUNTED(Memcpy2DAsync, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
        enum cudaMemcpyKind kind, cudaStream_t stream) {
    place *p = place_at("cudaMemcpy2DAsync", file, line);
    HELD(p, cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream AT));
    if (e == cudaSuccess) note_copy(to, from, width * height, kind, true, stream, p);
    return e;
}

COUNTED(StreamSynchronize, cudaStream_t stream) {
    place *p = place_at("cudaStreamSynchronize", file, line);
    HELD(p, cudaStreamSynchronize(stream AT));
    return e;
}
COUNTED(EventSynchronize, cudaEvent_t event) {
    place *p = place_at("cudaEventSynchronize", file, line);
    HELD(p, cudaEventSynchronize(event AT));
    return e;
}
#ifdef SIMGPU_AT
extern "C" cudaError_t counted_simgpuDeviceSynchronize(const char *file, int line) {
#else
extern "C" cudaError_t counted_cudaDeviceSynchronize(void) {
#endif
    place *p = place_at("cudaDeviceSynchronize", file, line);
#ifdef SIMGPU_AT
    HELD(p, cudaDeviceSynchronize(file, line));
#else
    HELD(p, cudaDeviceSynchronize());
#endif
    return e;
}

/* --- the C library's ----------------------------------------------------------------------------- */

/* Its callers are not known by line; the card looks for the word in the file. */
static void c_allocation(const char *word) { note_allocation(place_at(word, NULL, 0)); }

extern "C" void *counted_malloc(size_t bytes) { return c_allocation("malloc"), malloc(bytes); }
extern "C" void *counted_calloc(size_t n, size_t bytes) { return c_allocation("calloc"), calloc(n, bytes); }
extern "C" void *counted_realloc(void *p, size_t bytes) { return c_allocation("realloc"), realloc(p, bytes); }
extern "C" void *counted_aligned_alloc(size_t to, size_t bytes) {
    return c_allocation("aligned_alloc"), aligned_alloc(to, bytes);
}
extern "C" int counted_posix_memalign(void **p, size_t to, size_t bytes) {
    return c_allocation("posix_memalign"), posix_memalign(p, to, bytes);
}
extern "C" void *counted__Znwm(size_t bytes) { return c_allocation("new"), operator new(bytes); }
extern "C" void *counted__Znam(size_t bytes) { return c_allocation("new"), operator new[](bytes); }

#endif
