/* capture.c — stream capture: between cudaStreamBeginCapture and cudaStreamEndCapture the work of a stream becomes the
 * nodes of a graph, and nothing runs.
 *
 * A stream of a capture has tails, the nodes that its next one waits for. An event that is recorded there marks its
 * tails; a stream that waits for the event joins the capture with them. A call that would have to wait, or to mix
 * captured work with other work, fails and makes the capture invalid. The error codes are those of an H200's driver for
 * each of these calls. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

typedef struct rt_capture {
    uint64_t id;
    rt_graph *graph;
    enum cudaStreamCaptureMode mode;
    const void *thread; /* that began it */
    uint32_t origin;    /* the stream */
    bool invalid;
    struct rt_capture *next;
} rt_capture;

typedef struct {
    rt_node **nodes;
    uint32_t n;
} node_list;

/* A stream's part in a capture. */
typedef struct rt_member {
    rt_capture *capture;
    node_list tails;
} rt_member;

/* A record of an event in a capture. */
typedef struct rt_mark {
    uint64_t capture;
    node_list tails;
} rt_mark;

static _Thread_local enum cudaStreamCaptureMode thread_mode; /* of cudaThreadExchangeStreamCaptureMode */
static _Thread_local char thread;                            /* its address names the thread */

static void *need(void *memory) { return base_must(memory, "the host has no memory left for a capture"); }

/* --- lists and members ------------------------------------------------------------------------------------------ */

static void add_tail(node_list *l, rt_node *n) {
    for (uint32_t k = 0; k < l->n; k++)
        if (l->nodes[k] == n) return;
    l->nodes = need(realloc(l->nodes, (l->n + 1) * sizeof *l->nodes));
    l->nodes[l->n++] = n;
}

static void add_tails(node_list *to, const node_list *from) {
    for (uint32_t k = 0; k < from->n; k++) add_tail(to, from->nodes[k]);
}

static rt_member *member(uint32_t stream) { return stream < rt_device->nmembers ? rt_device->members[stream] : NULL; }
bool rt_captured(uint32_t stream) { return member(stream) != NULL; }

static rt_member *join(uint32_t stream, rt_capture *c) {
    if (stream >= rt_device->nmembers) {
        rt_device->members = need(realloc(rt_device->members, (stream + 1) * sizeof *rt_device->members));
        while (rt_device->nmembers <= stream) rt_device->members[rt_device->nmembers++] = NULL;
    }
    rt_member *m = rt_device->members[stream] = need(calloc(1, sizeof *m));
    m->capture = c;
    return m;
}

static void leave(uint32_t stream) {
    rt_member *m = member(stream);
    if (!m) return;
    free(m->tails.nodes);
    free(m);
    rt_device->members[stream] = NULL;
}

void rt_mark_free(rt_mark *m) {
    if (m) free(m->tails.nodes);
    free(m);
}

static rt_capture *with_id(uint64_t id) {
    rt_capture *c = rt_device->captures;
    while (c && c->id != id) c = c->next;
    return c;
}

/* Ends the capture; its graph stays. */
static void end(rt_capture *c) {
    rt_capture **at = &rt_device->captures;
    for (uint32_t s = 0; s < rt_device->nmembers; s++)
        if (member(s) && member(s)->capture == c) leave(s);
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    free(c);
}

/* Ends the capture and its graph. */
static void drop(rt_capture *c) {
    rt_handle_drop(c->graph->handle, HANDLE_GRAPH);
    rt_graph_free(c->graph);
    end(c);
}

void rt_capture_leave(uint32_t stream) {
    rt_capture *c = member(stream) ? member(stream)->capture : NULL;
    leave(stream);
    if (c && c->origin == stream) drop(c); /* nothing else could end it */
}

/* Their graphs end as other graphs do, by their handles. */
void rt_captures_clear(void) {
    while (rt_device->captures) {
        rt_device->captures->graph->held = false;
        end(rt_device->captures);
    }
}

/* --- what a capture forbids ----------------------------------------------------------------------------------------
 */

static void invalidate(rt_capture *c, const char *why) {
    if (why && !c->invalid) rt_say("%s; the capture is invalid now", why);
    c->invalid = true;
}

cudaError_t rt_capture_refuse(uint32_t stream, const char *remedy) {
    if (remedy) rt_say("this call does not become a node of the graph; %s", remedy);
    member(stream)->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t rt_capture_legacy(uint32_t stream) {
    cudaError_t e = cudaSuccess;
    if (!time_is_legacy(stream)) return e;
    for (uint32_t s = 1; s < rt_device->nmembers; s++) {
        if (!member(s) || !time_stream_blocking(s)) continue;
        invalidate(member(s)->capture,
                   "the default stream would wait for a stream that is captured; pass a stream of its "
                   "own, or capture a stream made with cudaStreamNonBlocking");
        e = cudaErrorStreamCaptureImplicit;
    }
    return e;
}

/* Returns whether the capture lets this thread make calls that may synchronize or allocate. */
static bool allows_unsafe(const rt_capture *c) {
    if (c->mode == cudaStreamCaptureModeRelaxed || thread_mode == cudaStreamCaptureModeRelaxed) return true;
    if (c->thread == &thread) return false;
    return c->mode == cudaStreamCaptureModeThreadLocal || thread_mode == cudaStreamCaptureModeThreadLocal;
}

cudaError_t rt_capture_forbids_unsafe(void) {
    cudaError_t e = cudaSuccess;
    for (rt_capture *c = rt_device->captures; c; c = c->next) {
        if (allows_unsafe(c)) continue;
        invalidate(c,
                   "this call may wait or allocate, which is not allowed while a stream is captured; move it in front "
                   "of cudaStreamBeginCapture, or capture with cudaStreamCaptureModeRelaxed");
        e = cudaErrorStreamCaptureUnsupported;
    }
    return e;
}

cudaError_t rt_capture_forbids_all(void) {
    cudaError_t e = cudaSuccess;
    for (rt_capture *c = rt_device->captures; c; c = c->next) {
        invalidate(c, "a stream is being captured, so there is nothing to wait for; end the capture first");
        e = cudaErrorStreamCaptureUnsupported;
    }
    return e;
}

cudaError_t rt_capture_forbids_wait(uint32_t stream) {
    cudaError_t e = rt_capture_legacy(stream);
    if (e != cudaSuccess) return e;
    if (!rt_captured(stream)) return rt_capture_forbids_unsafe();
    invalidate(member(stream)->capture,
               "the stream is being captured, so its work does not run; end the capture, launch the graph, then wait");
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t rt_capture_forbids_event(const rt_handle *event, bool changes) {
    rt_capture *c = event->mark ? with_id(event->mark->capture) : NULL;
    if (!event->mark) return changes ? rt_capture_forbids_unsafe() : cudaSuccess;
    rt_say("the event was last recorded in a capture, so it has no time; record it in a stream that runs");
    if (c && changes) c->invalid = true;
    return cudaErrorCapturedEvent;
}

/* --- nodes
 * ------------------------------------------------------------------------------------------------------------ */

rt_graph *rt_capture_graph(uint32_t stream) { return member(stream)->capture->graph; }

rt_node *rt_capture_add(uint32_t stream, enum cudaGraphNodeType type, const time_command *c, const rt_source *source) {
    rt_member *m = member(stream);
    rt_node *n = rt_node_add(m->capture->graph, type, c, source, m->tails.nodes, m->tails.n);
    m->tails.n = 0;
    add_tail(&m->tails, n);
    time_charge(HOST_SUBMITS, time_profile_get()->host_capture_ns);
    return n;
}

cudaError_t rt_submit(const time_command *c, const rt_source *source) {
    static const enum cudaGraphNodeType types[] = {[TIME_LAUNCH] = cudaGraphNodeTypeKernel,
                                                   [TIME_COPY] = cudaGraphNodeTypeMemcpy,
                                                   [TIME_MEMSET] = cudaGraphNodeTypeMemset,
                                                   [TIME_HOST_CALL] = cudaGraphNodeTypeHost};
    const rt_member *m = member(c->stream);
    cudaError_t e = rt_capture_legacy(c->stream);
    if (e == cudaSuccess && m && m->capture->invalid) e = cudaErrorStreamCaptureInvalidated;
    if (e == cudaSuccess && m) {
        rt_capture_add(c->stream, types[c->kind], c, source);
    } else if (e == cudaSuccess) {
        time_submit(c);
    } else if (c->kind == TIME_LAUNCH) {
        free((void *)c->is.launch.params);
    } else if (c->kind == TIME_HOST_CALL) {
        free(c->is.host.argument);
    }
    return e;
}

cudaError_t rt_capture_record(uint32_t stream, rt_handle *event) {
    rt_mark_free(event->mark);
    event->mark = need(calloc(1, sizeof *event->mark));
    event->mark->capture = member(stream)->capture->id;
    add_tails(&event->mark->tails, &member(stream)->tails);
    time_charge(HOST_SUBMITS, time_profile_get()->host_event_ns);
    return cudaSuccess;
}

cudaError_t rt_capture_wait(uint32_t stream, const rt_handle *event) {
    rt_capture *c = event->mark ? with_id(event->mark->capture) : NULL;
    rt_member *m = member(stream);
    cudaError_t e = rt_capture_legacy(stream);
    if (e != cudaSuccess) return e;
    if (c && time_is_legacy(stream)) {
        invalidate(c, "the default stream cannot join a capture; use a stream from cudaStreamCreate");
        return cudaErrorStreamCaptureImplicit;
    }
    if (!c && event->mark) { /* that capture has ended, and with it what the event stood for */
        rt_say("the event was recorded in a capture that has ended; record it again");
        return cudaErrorCapturedEvent;
    }
    if (!c && !time_event_recorded(event->event)) return cudaSuccess;
    if (!c) {
        invalidate(m->capture,
                   "the event was recorded outside the capture, and a graph cannot wait for work outside; record "
                   "it in a stream of the capture, or wait before cudaStreamBeginCapture");
        return cudaErrorStreamCaptureIsolation;
    }
    if (m && m->capture != c) {
        invalidate(c, "the event belongs to another capture, and two captures cannot become one");
        m->capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (!m) m = join(stream, c);
    add_tails(&m->tails, &event->mark->tails);
    time_charge(HOST_SUBMITS, time_profile_get()->host_event_ns);
    return cudaSuccess;
}

/* --- the calls
 * --------------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    RT_BEGIN;
    uint32_t s;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return rt_end(cudaErrorInvalidValue);
    if (time_is_legacy(s)) {
        cudaError_t e = rt_capture_legacy(s);
        rt_say("the default stream cannot be captured; capture a stream from cudaStreamCreate");
        return rt_end(e != cudaSuccess ? e : cudaErrorStreamCaptureUnsupported);
    }
    if (rt_captured(s)) {
        rt_say("the stream is being captured already; end that capture first");
        return rt_end(cudaErrorIllegalState);
    }
    rt_capture *c = need(calloc(1, sizeof *c));
    *c = (rt_capture){.id = ++rt_device->ncaptures,
                      .graph = rt_graph_new(true),
                      .mode = mode,
                      .thread = &thread,
                      .origin = s,
                      .next = rt_device->captures};
    c->graph->held = true;
    rt_device->captures = c;
    join(s, c);
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    return rt_end(cudaSuccess);
}

/* Returns whether a node of the graph is not among the tails and no other node waits for it. */
static bool has_loose_end(const rt_graph *g, const node_list *tails) {
    for (uint32_t k = 0; k < g->n; k++) g->nodes[k]->mark = 0;
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t a = 0; a < g->nodes[k]->nafter; a++) g->nodes[k]->after[a]->mark = 1;
    for (uint32_t k = 0; k < tails->n; k++) tails->nodes[k]->mark = 1;
    for (uint32_t k = 0; k < g->n; k++)
        if (!g->nodes[k]->mark) return true;
    return false;
}

/* Returns the error with which the capture of this stream ends. */
static cudaError_t end_error(const rt_member *m) {
    const rt_capture *c = m->capture;
    if (c->invalid) return cudaErrorStreamCaptureInvalidated;
    if (has_loose_end(c->graph, &m->tails)) {
        rt_say(
            "a stream that joined the capture has work that the first stream does not wait for; record an event behind "
            "it, and let the first stream wait for that (cudaStreamWaitEvent) before the capture ends");
        return cudaErrorStreamCaptureUnjoined;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    RT_BEGIN;
    uint32_t s;
    if (!graph) return rt_end(cudaErrorInvalidValue);
    *graph = NULL;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    const rt_member *m = member(s);
    if (!m) {
        rt_say("the stream is not being captured; call cudaStreamBeginCapture first");
        return rt_end(cudaErrorIllegalState);
    }
    rt_capture *c = m->capture;
    if (c->origin != s) {
        invalidate(c, "the capture began in another stream; end it there");
        return rt_end(cudaErrorStreamCaptureUnmatched);
    }
    if (c->thread != &thread && c->mode != cudaStreamCaptureModeRelaxed) {
        rt_say("the capture began in another thread; end it there, or begin it with cudaStreamCaptureModeRelaxed");
        return rt_end(cudaErrorStreamCaptureWrongThread);
    }
    cudaError_t e = end_error(m);
    if (e == cudaSuccess) {
        *graph = c->graph->handle;
        c->graph->held = false;
        end(c);
    } else {
        drop(c);
    }
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    return rt_end(e);
}

static enum cudaStreamCaptureStatus status_of(const rt_member *m) {
    return !m                    ? cudaStreamCaptureStatusNone
           : m->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
}

/* The default stream cannot be asked while a stream that it would wait for is captured. */
static cudaError_t ask(cudaStream_t stream, uint32_t *s) {
    if (!rt_stream(stream, s)) return cudaErrorInvalidResourceHandle;
    for (uint32_t k = 1; time_is_legacy(*s) && k < rt_device->nmembers; k++)
        if (member(k) && time_stream_blocking(k)) return cudaErrorStreamCaptureImplicit;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    RT_BEGIN;
    uint32_t s;
    cudaError_t e = status ? ask(stream, &s) : cudaErrorInvalidValue;
    if (e == cudaSuccess) *status = status_of(member(s));
    return rt_end(e);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count) {
    static _Thread_local cudaGraphNode_t handles[64];
    RT_BEGIN;
    uint32_t s;
    cudaError_t e = status ? ask(stream, &s) : cudaErrorInvalidValue;
    if (e != cudaSuccess) return rt_end(e);
    const rt_member *m = member(s);
    *status = status_of(m);
    if (*status != cudaStreamCaptureStatusActive) return rt_end(cudaSuccess);
    if (id) *id = m->capture->id;
    if (graph) *graph = m->capture->graph->handle;
    uint32_t n = m->tails.n < 64 ? m->tails.n : 64;
    for (uint32_t k = 0; k < n; k++) handles[k] = m->tails.nodes[k]->handle;
    if (dependencies) *dependencies = handles;
    if (edges) *edges = NULL;
    if (count) *count = n;
    return rt_end(cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    RT_BEGIN;
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed) return rt_end(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return rt_end(cudaSuccess);
}
