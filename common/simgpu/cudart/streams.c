/* streams.c — streams, events and host functions: handles for the program, numbers for time/.
 *
 * A handle is not a pointer but a device, a generation and an index in one word, so that a destroyed or invented handle
 * is detected, and one of another device too. */
#include "array.h"
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_HANDLE = 16, GENERATION_AT = 32, DEVICE_AT = 56 }; /* 0, 1, 2 are the default streams */

static uintptr_t handle_of(const struct device *d, uint32_t index) {
    uintptr_t generation = d->handles[index].generation & 0xffffff;
    return (uintptr_t)d->number << DEVICE_AT | generation << GENERATION_AT | (index + FIRST_HANDLE);
}

static uintptr_t handle_new(rt_handle e) {
    struct device *d = rt_device;
    uint32_t i = d->free_handle;
    while (i < d->nhandles && d->handles[i].kind != HANDLE_FREE) i++;
    d->free_handle = i;
    if (i == d->nhandles) {
        rt_handle *more = realloc(d->handles, (d->nhandles + 16) * sizeof *more);
        if (!more) return 0;
        d->handles = more;
        for (; d->nhandles < i + 16; d->nhandles++) d->handles[d->nhandles] = (rt_handle){0};
    }
    d->free_handle = i + 1;
    e.generation = d->handles[i].generation + 1;
    e.context = rt_context();
    d->handles[i] = e;
    return handle_of(d, i);
}

struct device *rt_maker(const void *handle) {
    for (uint32_t k = 0; k < rt_cards(); k++)
        if (rt_device->machine[k]->number == (uintptr_t)handle >> DEVICE_AT) return rt_device->machine[k];
    return NULL;
}

static rt_handle *handle_find(const void *handle, enum rt_handle_kind kind) {
    uintptr_t bits = (uintptr_t)handle;
    uint32_t i = (uint32_t)bits - FIRST_HANDLE;
    struct device *d = rt_maker(handle);
    if (!d || i >= d->nhandles || d->handles[i].kind != kind || handle_of(d, i) != bits) return NULL;
    return &d->handles[i];
}

const void *rt_context_of(const void *handle) {
    const struct device *d = rt_maker(handle);
    const uint32_t i = (uint32_t)(uintptr_t)handle - FIRST_HANDLE;
    return d && i < d->nhandles ? d->handles[i].context : rt_context();
}

/* Returns the device that has this handle in its list. */
static struct device *holder_of(const rt_handle *e) {
    for (uint32_t k = 0; k < rt_cards(); k++) {
        struct device *d = rt_device->machine[k];
        if (e >= d->handles && e < d->handles + d->nhandles) return d;
    }
    return rt_device;
}

/* Returns the event of a handle. Returns NULL and prints a message if the handle is invalid. */
static rt_handle *find_event(cudaEvent_t handle) {
    rt_handle *e = handle_find(handle, HANDLE_EVENT);
    if (!e) rt_say("this is not an event; create it first, and do not use it after cudaEventDestroy");
    return e;
}

static void end_handle(rt_handle *e) {
    struct device *d = holder_of(e);
    uint32_t i = (uint32_t)(e - d->handles);
    if (e->kind == HANDLE_STREAM) rt_capture_leave(e->stream), time_stream_end(e->stream);
    if (e->kind == HANDLE_EVENT) rt_mark_free(e->mark), time_event_end(e->event);
    if (e->kind == HANDLE_GRAPH) rt_graph_end(e->object);
    if (e->kind == HANDLE_EXEC) rt_exec_free(e->object);
    if (e->kind == HANDLE_ARRAY || e->kind == HANDLE_MIPMAP) rt_array_free(e->object);
    e->kind = HANDLE_FREE;
    e->mark = NULL;
    if (i < d->free_handle) d->free_handle = i;
}

void *rt_handle_make(enum rt_handle_kind kind, void *object) {
    return (void *)handle_new((rt_handle){.kind = kind, .object = object});
}

void *rt_object(const void *handle, enum rt_handle_kind kind) {
    const rt_handle *e = handle_find(handle, kind);
    return e ? e->object : NULL;
}

void rt_handle_drop(const void *handle, enum rt_handle_kind kind) {
    rt_handle *e = handle_find(handle, kind);
    if (!e) return;
    struct device *d = holder_of(e);
    e->kind = HANDLE_FREE;
    if (e < d->handles + d->free_handle) d->free_handle = (uint32_t)(e - d->handles);
}

rt_handle *rt_event_handle(cudaEvent_t event) { return find_event(event); }

void rt_streams_clear(void) {
    struct device *d = rt_device;
    rt_captures_clear();
    for (uint32_t i = 0; i < d->nhandles; i++) end_handle(&d->handles[i]);
    for (uint32_t i = 0; i < d->nthread_streams; i++)
        if (d->thread_streams[i]) time_stream_end(d->thread_streams[i]);
    d->nthread_streams = 0;
}

/* The levels of a mipmapped array, which may have been asked for in another context. */
static void end_levels(const rt_mipmap *m) {
    for (unsigned k = 0; k < m->n; k++) {
        rt_handle *e = m->handle[k] ? handle_find(m->handle[k], HANDLE_ARRAY) : NULL;
        if (e) end_handle(e);
    }
}

void rt_handles_end(const void *context) {
    for (uint32_t i = 0; i < rt_device->nhandles; i++) {
        rt_handle *e = &rt_device->handles[i];
        if (e->context != context) continue;
        if (e->kind == HANDLE_MIPMAP) end_levels(e->object);
        if (e->kind == HANDLE_STREAM || e->kind == HANDLE_EVENT || e->kind == HANDLE_ARRAY || e->kind == HANDLE_MIPMAP)
            end_handle(e);
    }
}

/* --- streams ------------------------------------------------------------------------------------------------ */

/* Returns the number in time/ of this host thread's default stream. */
static uint32_t thread_stream(void) {
    static uint32_t threads;
    static _Thread_local uint32_t number; /* from 1 */
    struct device *d = rt_device;
    if (!number) number = ++threads;
    if (number > d->nthread_streams) {
        d->thread_streams = base_must(realloc(d->thread_streams, number * sizeof *d->thread_streams),
                                      "the host has no memory left for streams");
        while (d->nthread_streams < number) d->thread_streams[d->nthread_streams++] = 0;
    }
    uint32_t *s = &d->thread_streams[number - 1];
    return *s ? *s : (*s = time_stream_new(true));
}

bool rt_stream(cudaStream_t handle, uint32_t *stream) {
    *stream = time_legacy();
    if (!handle && rt_default_is_own()) handle = cudaStreamPerThread;
    if (handle == NULL || handle == cudaStreamLegacy) return true;
    if (handle == cudaStreamPerThread) {
        *stream = thread_stream();
        return true;
    }
    const rt_handle *e = handle_find(handle, HANDLE_STREAM);
    if (!e) {
        rt_say("this is not a stream; create it first, and do not use it after cudaStreamDestroy");
        return false;
    }
    *stream = e->stream;
    return true;
}

static int nearest_priority(int p) { return p > 0 ? 0 : p < RT_HIGHEST_PRIORITY ? RT_HIGHEST_PRIORITY : p; }

/* The rest of a call that creates a stream. */
static cudaError_t create_stream(cudaStream_t *stream, unsigned flags, int priority) {
    if (!stream || flags > cudaStreamNonBlocking) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, time_profile_get()->host_stream_create_ns);
    priority = nearest_priority(priority);
    rt_handle e = {.kind = HANDLE_STREAM,
                   .stream = time_stream_new(flags == cudaStreamDefault),
                   .flags = flags,
                   .priority = priority,
                   .hints = RT_NO_HINTS};
    time_stream_priority(e.stream, priority);
    *stream = (cudaStream_t)handle_new(e);
    return rt_end(*stream ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    RT_BEGIN;
    return create_stream(stream, flags, priority);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    RT_BEGIN;
    return create_stream(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    RT_BEGIN;
    return create_stream(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    RT_BEGIN;
    rt_handle *e = handle_find(stream, HANDLE_STREAM);
    if (!e) {
        rt_say("this is not a stream that can be destroyed; create it first, and destroy it once");
        return rt_end(cudaErrorInvalidResourceHandle);
    }
    time_charge(HOST_SUBMITS, time_profile_get()->host_stream_destroy_ns);
    end_handle(e);
    return rt_end(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    RT_BEGIN;
    uint32_t s;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    cudaError_t e = rt_capture_forbids_wait(s);
    if (e != cudaSuccess) return rt_end(e);
    time_wait_stream(s);
    rt_pool_synced();
    return rt_end(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    RT_BEGIN;
    uint32_t s;
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    time_charge(HOST_SUBMITS, time_profile_get()->host_query_ns);
    cudaError_t e = rt_capture_forbids_wait(s);
    if (e != cudaSuccess) return rt_end(e);
    return rt_end(time_stream_idle(s) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    RT_BEGIN;
    uint32_t s;
    if (!flags) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    const rt_handle *e = handle_find(stream, HANDLE_STREAM);
    *flags = e ? e->flags : cudaStreamDefault;
    return rt_end(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    RT_BEGIN;
    uint32_t s;
    if (!priority) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    const rt_handle *e = handle_find(stream, HANDLE_STREAM);
    *priority = e ? e->priority : 0;
    return rt_end(cudaSuccess);
}

/* Any number that tells the stream from all others of the process. */
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    RT_BEGIN;
    uint32_t s;
    if (!id) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    *id = (unsigned long long)rt_first()->number << 32 | (s + 1);
    return rt_end(cudaSuccess);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    RT_BEGIN;
    uint32_t s;
    if (!device) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    *device = (int)time_card_of(s);
    return rt_end(cudaSuccess);
}

/* The attributes of a stream are hints here, but for the priority: a window of L2 that should persist, the way to wait,
 * the domains of fences. The errors, the values that are taken and those of a stream that never set them are an H100's.
 */
static rt_hints *hints_of(cudaStream_t stream) {
    rt_handle *e = handle_find(stream, HANDLE_STREAM);
    return e ? &e->hints : &rt_device->hints;
}

static cudaError_t no_attribute(cudaLaunchAttributeID id) {
    rt_say("%d is not an attribute of a stream", (int)id);
    return cudaErrorInvalidValue;
}

static cudaError_t wrong_attribute(const char *what) {
    rt_say("%s", what);
    return cudaErrorInvalidValue;
}

static void set_priority(cudaStream_t stream, uint32_t s, int priority) {
    rt_handle *e = handle_find(stream, HANDLE_STREAM);
    if (e) time_stream_priority(s, e->priority = nearest_priority(priority));
}

static cudaError_t set_attribute(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *v) {
    enum { DOMAINS = 4 };
    uint32_t s;
    if (!v) return cudaErrorInvalidValue;
    if (!rt_stream(stream, &s)) return cudaErrorInvalidResourceHandle;
    rt_hints *h = hints_of(stream);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        if (!(v->accessPolicyWindow.hitRatio >= 0 && v->accessPolicyWindow.hitRatio <= 1))
            return wrong_attribute("the hitRatio of the window must be from 0 to 1");
        if (v->accessPolicyWindow.missProp == cudaAccessPropertyPersisting)
            return wrong_attribute("the missProp of the window must not be cudaAccessPropertyPersisting");
        h->window = v->accessPolicyWindow;
        return cudaSuccess;
    case cudaLaunchAttributeSynchronizationPolicy:
        if ((int)v->syncPolicy < cudaSyncPolicyAuto || v->syncPolicy > cudaSyncPolicyBlockingSync)
            return wrong_attribute("the policy must be cudaSyncPolicyAuto, ...Spin, ...Yield or ...BlockingSync");
        h->policy = (int)v->syncPolicy;
        return cudaSuccess;
    case cudaLaunchAttributePriority: set_priority(stream, s, v->priority); return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomainMap:
        if (v->memSyncDomainMap.default_ >= DOMAINS || v->memSyncDomainMap.remote >= DOMAINS)
            return wrong_attribute("a domain of the map must be from 0 to 3");
        h->domains = v->memSyncDomainMap;
        return cudaSuccess;
    case cudaLaunchAttributeMemSyncDomain:
        if ((unsigned)v->memSyncDomain > cudaLaunchMemSyncDomainRemote)
            return wrong_attribute("the domain must be cudaLaunchMemSyncDomainDefault or ...Remote");
        h->domain = v->memSyncDomain;
        return cudaSuccess;
    default: return no_attribute(id);
    }
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue *value) {
    RT_BEGIN;
    return rt_end(set_attribute(stream, id, value));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value) {
    RT_BEGIN;
    uint32_t s;
    if (!value) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    const rt_handle *e = handle_find(stream, HANDLE_STREAM);
    const rt_hints *h = hints_of(stream);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: value->accessPolicyWindow = h->window; break;
    case cudaLaunchAttributeSynchronizationPolicy: value->syncPolicy = (enum cudaSynchronizationPolicy)h->policy; break;
    case cudaLaunchAttributePriority: value->priority = e ? e->priority : 0; break;
    case cudaLaunchAttributeMemSyncDomainMap: value->memSyncDomainMap = h->domains; break;
    case cudaLaunchAttributeMemSyncDomain: value->memSyncDomain = h->domain; break;
    default: return rt_end(no_attribute(id));
    }
    return rt_end(cudaSuccess);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    RT_BEGIN;
    uint32_t a, b;
    if (!rt_stream(to, &a) || !rt_stream(from, &b)) return rt_end(cudaErrorInvalidResourceHandle);
    if (time_card_of(a) != time_card_of(b) || rt_context_of(to) != rt_context_of(from))
        return rt_end(wrong_attribute("the streams belong to different contexts"));
    const rt_handle *source = handle_find(from, HANDLE_STREAM);
    *hints_of(to) = *hints_of(from);
    set_priority(to, a, source ? source->priority : 0);
    return rt_end(cudaSuccess);
}

/* --- functions of the program in a stream -------------------------------------------------------------------- */

/* A host function or a stream callback; exactly one of the two pointers is set. */
typedef struct {
    cudaHostFn_t function;
    cudaStreamCallback_t callback;
    cudaStream_t stream;
    void *argument;
} host_call;

/* After a fault (dead) a host function is not called; a callback is, with the error. */
static void run_host_call(void *argument, bool dead) {
    host_call *c = argument;
    if (c->callback)
        c->callback(c->stream, dead ? cudaErrorLaunchFailure : cudaSuccess, c->argument);
    else if (!dead)
        c->function(c->argument);
    free(c);
}

void *rt_host_argument(cudaHostFn_t function, cudaStreamCallback_t callback, cudaStream_t stream, void *argument) {
    host_call *kept = base_must(malloc(sizeof *kept), "the host has no memory left for queued functions");
    *kept = (host_call){function, callback, stream, argument};
    return kept;
}
void rt_host_run(void *argument, bool dead) { run_host_call(argument, dead); }

static cudaError_t queue_host_call(host_call h) {
    time_command c = {
        .kind = TIME_HOST_CALL, .host_file = rt_file(), .host_line = rt_line(), .is.host.call = run_host_call};
    if (!h.function && !h.callback) return cudaErrorInvalidValue;
    if (!rt_stream(h.stream, &c.stream)) return cudaErrorInvalidResourceHandle;
    if (h.callback && rt_captured(c.stream)) return rt_capture_refuse(c.stream, "use cudaLaunchHostFunc in a capture");
    if (rt_captured(c.stream)) return rt_submit(&c, &(rt_source){.host = {h.function, h.argument}});
    c.is.host.argument = rt_host_argument(h.function, h.callback, h.stream, h.argument);
    return rt_submit(&c, NULL);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    RT_BEGIN;
    return rt_end(queue_host_call((host_call){.function = function, .stream = stream, .argument = argument}));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *argument, unsigned flags) {
    RT_BEGIN;
    if (flags) return rt_end(cudaErrorInvalidValue);
    return rt_end(queue_host_call((host_call){.callback = callback, .stream = stream, .argument = argument}));
}

cudaError_t cudaDeviceSynchronize(void) {
    RT_BEGIN;
    cudaError_t e = rt_capture_forbids_all();
    if (e != cudaSuccess) return rt_end(e);
    time_wait_all();
    rt_pool_synced();
    return rt_end(cudaSuccess);
}

/* --- events ------------------------------------------------------------------------------------------------- */

/* The rest of a call that creates an event. */
static cudaError_t create_event(cudaEvent_t *event, unsigned flags) {
    if (!event || flags > 7) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, time_profile_get()->host_event_create_ns);
    rt_handle e = {.kind = HANDLE_EVENT, .event = time_event_new(), .flags = flags};
    *event = (cudaEvent_t)handle_new(e);
    return rt_end(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    RT_BEGIN;
    return create_event(event, flags);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    RT_BEGIN;
    return create_event(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    RT_BEGIN;
    rt_handle *e = find_event(event);
    if (!e) return rt_end(cudaErrorInvalidResourceHandle);
    time_charge(HOST_SUBMITS, time_profile_get()->host_event_destroy_ns);
    end_handle(e);
    return rt_end(cudaSuccess);
}

/* Queues a record of the event, or a wait for it. */
static cudaError_t queue_event(enum time_kind kind, cudaStream_t stream, cudaEvent_t event) {
    rt_handle *e = find_event(event);
    time_command c = {.kind = kind, .host_file = rt_file(), .host_line = rt_line()};
    if (!e || !rt_stream(stream, &c.stream)) return cudaErrorInvalidResourceHandle;
    c.is.event = e->event;
    if (kind == TIME_EVENT && holder_of(e)->ordinal != time_card_of(c.stream)) {
        rt_say("the event belongs to device %u, and the stream to device %u; record events of the stream's device",
               holder_of(e)->ordinal, time_card_of(c.stream));
        return cudaErrorInvalidResourceHandle;
    }
    if (kind == TIME_EVENT && e->context != rt_context_of(stream)) {
        rt_say("the event and the stream belong to different contexts; record events of the stream's context");
        return cudaErrorInvalidResourceHandle;
    }
    if (kind == TIME_WAIT_EVENT && (e->mark || rt_captured(c.stream))) return rt_capture_wait(c.stream, e);
    if (kind == TIME_EVENT && rt_captured(c.stream)) return rt_capture_record(c.stream, e);
    cudaError_t error = rt_submit(&c, NULL);
    if (kind == TIME_EVENT && error == cudaSuccess) rt_mark_free(e->mark), e->mark = NULL;
    return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(queue_event(TIME_EVENT, stream, event));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    RT_BEGIN;
    return rt_end(flags == cudaEventRecordDefault ? queue_event(TIME_EVENT, stream, event) : cudaErrorNotSupported);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    RT_BEGIN;
    return rt_end(flags == cudaEventWaitDefault ? queue_event(TIME_WAIT_EVENT, stream, event) : cudaErrorNotSupported);
}

/* A host function may ask, too, as on a card. */
cudaError_t cudaEventQuery(cudaEvent_t event) {
    cudaError_t dead = rt_begin(__func__);
    const bool asked_by_device = dead == cudaErrorNotPermitted && time_in_host_function();
    if (dead != cudaSuccess && !asked_by_device) return rt_end(dead);
    const rt_handle *e = find_event(event);
    if (!e) return rt_end(cudaErrorInvalidResourceHandle);
    if (asked_by_device) return rt_end(time_event_reached(e->event) ? cudaSuccess : cudaErrorNotReady);
    time_charge(HOST_SUBMITS, time_profile_get()->host_query_ns);
    cudaError_t forbidden = rt_capture_forbids_event(e, true);
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    return rt_end(time_event_done(e->event) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    RT_BEGIN;
    const rt_handle *e = find_event(event);
    if (!e) return rt_end(cudaErrorInvalidResourceHandle);
    cudaError_t forbidden = rt_capture_forbids_event(e, true);
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    time_wait_event(e->event);
    rt_pool_synced();
    return rt_end(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    RT_BEGIN;
    if (!ms) return rt_end(cudaErrorInvalidValue);
    const rt_handle *a = find_event(start), *b = a ? find_event(end) : NULL;
    if (!a || !b) return rt_end(cudaErrorInvalidResourceHandle);
    if (holder_of(a) != holder_of(b)) {
        rt_say("the events belong to different devices; only the time between events of one device is known");
        return rt_end(cudaErrorInvalidResourceHandle);
    }
    if (a->context != b->context) {
        rt_say("the events belong to different contexts; only the time between events of one context is known");
        return rt_end(cudaErrorInvalidResourceHandle);
    }
    cudaError_t captured = rt_capture_forbids_event(a->mark ? a : b, false);
    if (captured != cudaSuccess) return rt_end(captured);
    if ((a->flags | b->flags) & cudaEventDisableTiming) {
        rt_say("an event with cudaEventDisableTiming records no time; create it without that flag");
        return rt_end(cudaErrorInvalidResourceHandle);
    }
    if (!time_event_recorded(a->event) || !time_event_recorded(b->event)) {
        rt_say("the event was never recorded; call cudaEventRecord first");
        return rt_end(cudaErrorInvalidResourceHandle);
    }
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    if (!time_event_done(a->event) || !time_event_done(b->event)) return rt_end(cudaErrorNotReady);
    *ms = (float)((time_event_ns(b->event) - time_event_ns(a->event)) / 1e6);
    return rt_end(cudaSuccess);
}
