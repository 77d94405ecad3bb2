/* blame.c — see blame.h. */
#include "blame.h"

#include <string.h>

/* Blames the line that allocated it, where that is known. */
static void blame_memory(lab_verdict *v, const lab_thing_made *m) {
    if (m->thing) lab_blame_place(v, &(struct simgpu_place){.file = m->file, .line = m->line});
}

/* --- wrong results ------------------------------------------------------------------------------ */

static const struct {
    const char *call, *next; /* NULL: the call that was asked */
} troubles[] = {
    [UNKNOWN_BATCH] = {NULL, "count batches from 0 to job->batches - 1; a slot of the ring may have none"},
    [NOT_LOADED_ONCE] = {"load_batch(", "call load_batch once for each batch, however few or many there are"},
    [NOT_PROCESSED_ONCE] = {"process_batch(", "call process_batch once for each batch, behind its copy to the device"},
    [NEVER_TAKEN] = {"take_result(", "results are still in the ring when the last batch is loaded: take these, too"},
    [TAKEN_AGAIN] = {"take_result(", "take each result once: in its first turns a ring has none, in its last no batch"},
    [NOT_ON_DEVICE] = {"process_batch(",
                       "the kernel works in device memory: hand in what cudaMalloc gave, and has not freed"},
    [TOO_SHORT] = {"process_batch(", "allocate in_bytes for d_in and out_bytes for d_out; either may be the larger"},
    [NOT_ON_HOST] = {NULL, "the loader and the taker are the host's: hand them memory of cudaMallocHost or malloc"},
    [SHORT_BUFFER] = {NULL, "allocate in_bytes for a batch and out_bytes for a result; either may be the larger"},
    [ONE_PLACE] = {"process_batch(", "give the result device memory of its own"},
    [OUT_OF_ORDER] = {"process_batch(",
                      "of each batch: load it, copy it up, process it, copy its result down, wait, take it"},
    [UP_TO_OUT] = {"process_batch(", "exchange the two: process_batch takes d_in first, then d_out"},
    [NOT_UP] = {"process_batch(", "queue the copy of all in_bytes, to the d_in that process_batch is given, before it"},
    [NOT_HOME] = {"take_result(", "queue the copy of all out_bytes, from the d_out of process_batch, behind it"},
    [OTHER_RESULT] = {"take_result(",
                      "two batches met in one buffer: batches under way need buffers of their own, all four"},
    [UNPROCESSED] = {"take_result(", "take the result from the buffer that d_out was copied to"},
    [NO_RESULT] = {"take_result(", "before take_result, wait for the copy of this result, and for no other's"},
};

void blame_trouble(lab_verdict *v, const run *r, const char *shape) {
    static const char *const asked[] = {[LAB1_LOAD] = "load_batch(",
                                        [LAB1_LOADED] = "load_batch(",
                                        [LAB1_PROCESS] = "process_batch(",
                                        [LAB1_TAKE] = "take_result(",
                                        [LAB1_TAKEN] = "take_result("};
    const char *call = troubles[r->trouble].call, *next = troubles[r->trouble].next;
    lab_fail(v, "%s\nin the job %s", r->failure, shape);
    lab_blame_code(v, call ? call : asked[r->asked]);
    if (!v->where[0]) lab_blame_code(v, "run_batches(");
    LAB_SAY(v->next, "%s", next);
    blame_memory(v, &r->too_short);
}

/* --- a call that failed --------------------------------------------------------------------------- */

static const char *next_of_error(cudaError_t error, const place *by) {
    const bool copies = by && by->what == LAB_CALL_COPIES;
    switch (error) {
    case cudaErrorMemoryAllocation: return "allocate for a few batches and use that in turn, for however many";
    case cudaErrorInvalidResourceHandle:
        return "create a stream or event before its first use, and destroy it once, after its last";
    case cudaErrorHostMemoryAlreadyRegistered:
        return "page-lock a block once; what cudaMallocHost gives is page-locked already";
    case cudaErrorHostMemoryNotRegistered:
        return "cudaHostUnregister is for what cudaHostRegister was given; cudaMallocHost goes with cudaFreeHost";
    case cudaErrorInvalidValue:
        if (copies) return "check this copy: destination first, in_bytes up or out_bytes down, and the direction";
        return "free each block once, by the call that goes with its allocation: cudaFree, cudaFreeHost";
    default: return "find out what this call was given: its memory, its size, its stream";
    }
}

/* Returns the memory at one end of a copy that is right in its length and does not fit there. */
static const lab_thing_made *short_memory(const run *r) {
    const lab_failure *f = lab_first_failure();
    if (!f || f->call.what != LAB_CALL_COPIES) return NULL;
    const lab_call *c = &f->call;
    if (c->bytes != (c->kind == cudaMemcpyDeviceToHost ? r->message.out_bytes : r->message.in_bytes)) return NULL;
    if (f->to.thing && c->to + c->bytes > f->to.address + f->to.bytes) return &f->to;
    if (f->from.thing && c->from + c->bytes > f->from.address + f->from.bytes) return &f->from;
    return NULL;
}

void blame_error(lab_verdict *v, const run *r, const lab_usage *u, cudaError_t error, const char *shape) {
    const cudaError_t first = ear->error ? ear->error : error;
    const lab_thing_made *too_short = short_memory(r);
    lab_fail(v, "%s, in the job %s", cudaGetErrorName(first), shape);
    LAB_SAY(v->next, "%s", next_of_error(first, ear->error_by));
    ear_blame(v, ear->error_by);
    if (lab_fault(u)) {
        lab_blame_fault(v, u);
        lab_blame_code(v, "process_batch(");
    } else if (lab_refusal(u, first)) {
        lab_blame_refusal(v, u, first);
    } else if (ear->error_by) {
        const size_t n = strlen(v->why);
        lab_text(v->why + n, sizeof v->why - n, "\n%s returned it", ear->error_by->call);
    }
    if (!too_short) return;
    blame_memory(v, too_short);
    LAB_SAY(v->next, "allocate %s here: either of the two sizes may be the larger",
            lab_first_failure()->call.kind == cudaMemcpyDeviceToHost ? "out_bytes" : "in_bytes");
}

/* --- buffers touched too early -------------------------------------------------------------------- */

static const char *next_of_touch(bool loading, bool to_host) {
    if (!loading) return "before take_result, wait for this result's copy: its stream, or an event behind the copy";
    return to_host ? "a result is still on its way into this buffer: give batches and results buffers of their own"
                   : "before load_batch fills a buffer again, wait for its copy up: its stream, or an event behind it";
}

void blame_early(lab_verdict *v, const early_touch *t) {
    lab_fail(v, "batch %d: %s touched the buffer while this copy was still %s it", t->number,
             t->loading ? "load_batch" : "take_result", t->to_host ? "writing" : "reading");
    ear_blame(v, t->by);
    LAB_SAY(v->next, "%s", next_of_touch(t->loading, t->to_host));
}

/* Is one side, of this kind, in stream 0, and the other one in a stream of its own? */
static bool in_stream_0(const struct simgpu_finding *f, enum simgpu_command command) {
    for (int k = 0; k < 2; k++)
        if (f->side[k].command == command && !f->side[k].stream && f->side[1 - k].stream) return true;
    return false;
}

static const char *next_of_finding(const struct simgpu_finding *f) {
    if (f->kind == SIMGPU_IN_FLIGHT)
        return next_of_touch(f->side[0].at.did == SIMGPU_DID_WRITE, f->side[1].direction == SIMGPU_D2H);
    if (f->kind != SIMGPU_STREAM_ORDER) return "";
    if (f->space == SIMGPU_HOST_MEMORY) return "give each slot of the ring host buffers of its own";
    if (in_stream_0(f, SIMGPU_KERNEL))
        return "hand process_batch the stream of its batch's copies: stream 0 does not wait for yours, nor yours for "
               "it";
    if (in_stream_0(f, SIMGPU_COPYING))
        return "hand this copy the stream of its batch: stream 0 does not wait for yours, nor yours for it";
    const bool kernel_later = f->side[0].command == SIMGPU_KERNEL, kernel_first = f->side[1].command == SIMGPU_KERNEL;
    if (kernel_later && !kernel_first && f->side[1].direction == SIMGPU_H2D)
        return "queue process_batch in the stream of its batch's copy, or let its stream wait for an event behind that "
               "copy";
    if (kernel_first && !kernel_later && f->side[0].direction == SIMGPU_D2H)
        return "queue the copy of a result in the stream of its process_batch, or let its stream wait for an event "
               "behind it";
    return "give each slot device buffers of its own, or let the later stream wait for an event behind the first use";
}

void blame_finding(lab_verdict *v, const struct simgpu_finding *f) {
    char what[640];
    lab_fail(v, "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
    if (!ear_blame_line(v, &f->side[0].at) && f->nsides > 1) ear_blame_line(v, &f->side[1].at);
    if (f->kind == SIMGPU_STREAM_ORDER && in_stream_0(f, SIMGPU_KERNEL)) lab_blame_code(v, "process_batch(");
    LAB_SAY(v->next, "%s", next_of_finding(f));
}

/* --- speed ---------------------------------------------------------------------------------------- */

static double blocked_of(const place *p) { return p->loop_ns; }

/* What keeps the link idle, by what the run did: the cause, the next step, and the hint in hints.md; NULL: the row's.
 */
typedef struct {
    const char *cause, *next, *hint;
} reason;

static bool is_call(const place *p, const char *name) { return p && !strcmp(p->call, name); }

/* All copies are in one stream. */
static reason reason_of_one_stream(enum way way, const place *longest) {
    if (way == BOTH)
        return (reason){"all copies are in one stream, which works in order: none goes up while one comes down",
                        "give each slot of the ring a stream and device buffers of its own", NULL};
    if (is_call(longest, "cudaStreamSynchronize"))
        return (reason){"cudaStreamSynchronize waits for all of its stream, the batch just queued, too",
                        "record an event for each slot behind its last copy, and wait for that (cudaEventSynchronize)",
                        "own-wait"};
    return (reason){"in one stream a batch waits until the one before is processed and its result is back",
                    "give each slot of the ring a stream and device buffers of its own", "own-stream"};
}

/* Causes that the ways of the copies do not show. */
static reason reason_of_the_program(const run *r) {
    if (ear->allocations)
        return (reason){"memory was allocated in the loop", "fix the rows above first, and measure again",
                        "allocations"};
    if (3 * r->carried > ear->bytes)
        return (reason){"load_batch wrote elsewhere than the copies read: the CPU carried each batch on",
                        "let load_batch write into the page-locked buffer that is copied", "carried"};
    if (2 * ear->waited > ear->bytes)
        return (reason){"cudaMemcpy waits for its copy: no batch is loaded or taken meanwhile",
                        "copy by cudaMemcpyAsync, and load another buffer while the copy runs", "one-way"};
    if (r->ahead <= 1)
        return (reason){"never more than one batch was under way: each was over before the next was loaded",
                        "use several buffers in turn, and wait for a batch when its buffer is needed again", "one-way"};
    return (reason){NULL, NULL, NULL};
}

static reason reason_of(enum way way, const run *r, const place *longest) {
    static const reason pieces = {"each batch crosses the link in many copies, and each copy has a fixed time",
                                  "send a batch, and bring a result, in one copy", "pieces"};
    const bool elsewhere = ear->nstreams > 1 || ear->streams[0];
    const reason program = reason_of_the_program(r);
    if (program.cause) return program;
    if (ear->copies > 8 * r->message.batches) return pieces;
    if (r->kernels_in_0 && elsewhere)
        return (reason){"process_batch ran in stream 0, which waits for other streams, and they for it",
                        "hand process_batch the stream of its batch's copies", "own-stream"};
    if (ear->nstreams == 1) return reason_of_one_stream(way, longest);
    if (is_call(longest, "cudaDeviceSynchronize"))
        return (reason){"cudaDeviceSynchronize waits for all streams, the batch just queued, too",
                        "wait for the stream of the one slot that is needed again", "own-wait"};
    if (r->ahead == 2 && way == BOTH)
        return (reason){"never more than two batches were under way: one up, one down, and none with the loader",
                        "use a third slot, or a fourth", "third-slot"};
    if (ear->copies > 2 * r->message.batches) return pieces;
    return (reason){"", "", NULL};
}

/* The time, the least time of the bytes, and the place where the host was held up longest. */
void blame_slow(lab_verdict *v, enum way way, const run *r, const double *link) {
    const place *p = ear_worst(blocked_of);
    const double in = r->message.batches * (double)r->message.in_bytes,
                 out = r->message.batches * (double)r->message.out_bytes;
    const double all = r->end - r->begin,
                 least = way == BOTH ? 2 * in / link[BOTH] : in / link[TO_DEVICE] + out / link[TO_HOST];
    const reason why = reason_of(way, r, p);
    const bool carried = why.hint && !strcmp(why.hint, "carried");
    if (all <= 0) return;
    ear_blame(v, p);
    if (carried) lab_blame_code(v, "load_batch(");
    LAB_SAY(v->why, "%.0f us%s for bytes that need %.0f", all / 1e3, lab_lane() == LAB_SIM ? " (virtual)" : "",
            least / 1e3);
    size_t n = strlen(v->why);
    if (p && !carried)
        lab_text(v->why + n, sizeof v->why - n, "; %s held the host up for %.0f %%", p->call, 100 * p->loop_ns / all);
    n = strlen(v->why);
    if (*why.cause) lab_text(v->why + n, sizeof v->why - n, "\n%s", why.cause);
    if (*why.next) LAB_SAY(v->next, "%s", why.next);
    if (why.hint) v->hint = why.hint;
}
