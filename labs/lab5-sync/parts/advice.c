/* advice.c — the next steps; see advice.h. */
#include "advice.h"
#include "blame.h"

#include <string.h>

/* --- a call that failed --------------------------------------------------------------------------- */

/* Does the copy's kind contradict the memory at its ends? */
static bool is_backwards(const heard *h) {
    const bool to_device = h->to.type == cudaMemoryTypeDevice, from_device = h->from.type == cudaMemoryTypeDevice;
    return (h->failed.kind == cudaMemcpyHostToDevice && from_device) ||
           (h->failed.kind == cudaMemcpyDeviceToHost && to_device);
}

/* Returns the end of the copy that is too small, or NULL. */
static const memory *short_end(const heard *h) {
    const memory *ends[] = {&h->to, &h->from};
    for (int i = 0; i < 2; i++) {
        const lab_thing_made *in = &ends[i]->in;
        if (in->thing && ends[i]->address + h->failed.bytes > in->address + in->bytes) return ends[i];
    }
    return NULL;
}

static const char *advice_for_failed_copy(const heard *h, char *text, size_t size) {
    const memory *end = short_end(h);
    if (is_backwards(h))
        return "a copy's kind says from where to where: cudaMemcpyHostToDevice for a batch, cudaMemcpyDeviceToHost for "
               "a loss";
    if (!end) return "are both addresses of this copy set, and allocated by cudaMalloc or cudaMallocHost?";
    const char *file = end->in.file ? lab_file_name(end->in.file) : "your file";
    lab_text(text, size, "allocate as many bytes as you copy and index: %s, %s:%d, allocates %llu", end->in.name, file,
             end->in.line, (unsigned long long)end->in.bytes);
    return text;
}

static const char *advice_for_failed_free(const heard *h) {
    const lab_thing in = h->to.in.address == h->to.address ? h->to.in.thing : LAB_NO_THING;
    if (in == LAB_PINNED_MEMORY) return "memory of cudaMallocHost is freed by cudaFreeHost";
    if (in == LAB_REGISTERED_MEMORY) return "cudaHostUnregister ends page-locking; the memory itself is freed as ever";
    if (in == LAB_DEVICE_MEMORY) return "memory of cudaMalloc is freed by cudaFree";
    return "free each allocation once, by the pointer that allocated it";
}

const char *advice_for_call(const heard *h, char *text, size_t size) {
    const lab_call *c = &h->failed;
    if (h->no_event)
        return "create the event before the loop (cudaEventCreateWithFlags), and destroy it after the last use";
    if (h->no_stream)
        return "create the stream before the loop (cudaStreamCreateWithFlags), and destroy it after the last use";
    if (c->error == cudaErrorInvalidResourceHandle)
        return "create each event and stream before the loop, and destroy it after the last use";
    if (c->what == LAB_CALL_COPIES) return advice_for_failed_copy(h, text, size);
    if (c->what == LAB_CALL_FREES || c->what == LAB_CALL_UNPINS) return advice_for_failed_free(h);
    return "check what each CUDA call returns, in order, and look at the first that does not return cudaSuccess";
}

/* --- an address ------------------------------------------------------------------------------------- */

const char *advice_for_address(const struct simgpu_address *a) {
    switch (a->where) {
    case SIMGPU_NULL_POINTER:
        return "which pointer of this line was never set? Allocate it by cudaMalloc, before the loop";
    case SIMGPU_NO_DEVICE_MEMORY:
        return room_at(a->address) >= 0
                   ? "the kernels need device memory: pass the pointer of cudaMalloc, not that of the host's buffer"
                   : "no memory of yours is at that address: is it a pointer of cudaMalloc's, and is its index set?";
    case SIMGPU_NONE_ALLOCATED: return "allocate the memory by cudaMalloc before the loop, and free it after it";
    case SIMGPU_INSIDE: break;
    case SIMGPU_PAST_END:
    case SIMGPU_BEFORE:
        if (a->freed) break;
        return a->distance > a->bytes
                   ? "which index of this line is far too large, or was never set?"
                   : "is this memory large enough? A batch has job->batch_bytes, and each loss a float";
    }
    return a->freed ? "free this memory only when no queued kernel uses it"
                    : "check each pointer and each index of this line";
}

/* --- what nothing orders --------------------------------------------------------------------------- */

static bool is_copy(const struct simgpu_side *s, enum simgpu_direction d) {
    return s->command == SIMGPU_COPYING && s->direction == d;
}

const char *advice_for_finding(const struct simgpu_finding *f) {
    const struct simgpu_side *later = &f->side[0], *earlier = &f->side[1];
    if (f->kind == SIMGPU_IN_FLIGHT)
        return later->at.did == SIMGPU_DID_WRITE
                   ? "before lab5_load fills this buffer again, wait for an event behind its copy: cudaEventSynchronize"
                   : "before you read what this copy brings, wait for an event behind it: cudaEventSynchronize";
    if (is_copy(later, SIMGPU_H2D))
        return "before this copy fills the device's buffer again, its last reader must be over: wait for an event "
               "recorded behind lab5_backward";
    if (is_copy(earlier, SIMGPU_H2D))
        return "let the kernels wait for this copy: an event behind it, and cudaStreamWaitEvent before lab5_forward";
    if (is_copy(later, SIMGPU_D2H))
        return "let this copy wait for the kernel that writes: an event behind it, and cudaStreamWaitEvent before the "
               "copy";
    if (is_copy(earlier, SIMGPU_D2H))
        return "give the loss of each step a place of its own on the device, so that no step writes what is still read";
    return "only an event orders two streams: cudaEventRecord on the one, cudaStreamWaitEvent on the other";
}

/* --- time ------------------------------------------------------------------------------------------- */

static const char *advice_for_wait(const char *call) {
    if (!strcmp(call, "cudaEventSynchronize"))
        return "this event stands behind the newest work: wait for that of two steps ago";
    if (!strcmp(call, "cudaStreamSynchronize") || !strcmp(call, "cudaDeviceSynchronize"))
        return "this waits for all that is queued: remove it, or wait for an event of an older step";
    if (!strcmp(call, "cudaMemcpyAsync"))
        return "only page-locked memory is missing: with ordinary memory this call waits like cudaMemcpy";
    if (!strncmp(call, "cudaMemcpy", 10))
        return "copy by cudaMemcpyAsync and page-locked memory, and look at the loss some steps later";
    return "allocate before the loop, free after it";
}

const char *advice_for_drain(const culprit *c) {
    if (c->held)
        return "a newer step is queued, and waits for a copy (see 'GPU busy'): what stands before that copy "
               "in "
               "its stream?";
    return advice_for_wait(c->what->is.call.name);
}

const char *advice_for_pageable(const culprit *c) {
    return c->what->is.copy.direction == SIMGPU_H2D
               ? "let lab5_load fill memory of cudaMallocHost, allocated once"
               : "copy the loss to memory of cudaMallocHost, allocated once, and from there to losses";
}

const char *advice_for_gap(const culprit *c) {
    const struct simgpu_event *e = c->what;
    if (e->kind != SIMGPU_GAP) return "only the kernels of a step count; let the GPU run those instead";
    switch (e->is.gap.cause) {
    case SIMGPU_HOST_WORKING:
        return "load the next batch while the GPU works: queue a step before you wait for an older one";
    case SIMGPU_HOST_BLOCKED: return advice_for_wait(e->is.gap.call);
    case SIMGPU_HOST_LAUNCHING: return "queue a step before the GPU has come to the end of the one before";
    case SIMGPU_WAITING_FOR_COPY:
        return "this copy holds up the kernels: which stream is it in, and what does it wait for?";
    case SIMGPU_WAITING_FOR_FUNCTION:
        return "the host's function holds up the stream: queue it where no kernel waits for it";
    case SIMGPU_BETWEEN_COMMANDS:
        return "each event between kernels costs the GPU a microsecond: one behind a step is enough";
    case SIMGPU_KERNEL_STARTING: break;
    }
    return "fix the line with the largest share first, then measure again";
}
