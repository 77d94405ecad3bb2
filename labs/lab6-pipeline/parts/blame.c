/* blame.c — see blame.h. */
#include "blame.h"

#include <math.h>
#include <string.h>

/* --- wrong results ------------------------------------------------------------------------------ */

static const struct {
    const char *call, *next; /* NULL: the call that was asked */
} troubles[] = {
    [OUT_OF_ORDER] = {NULL, "receive and send chunk after chunk, in the order of their numbers, each frame once"},
    [BEYOND] = {NULL, "the last chunk may have fewer frames than the others, and a job may have none"},
    [NOT_RECEIVED] = {"process_frames(",
                      "of each chunk: receive it, copy it up, process it, copy it down, wait, send it"},
    [AGAIN] = {"process_frames(", "process each frame once: chunk k begins where chunk k - 1 ended"},
    [UNPROCESSED] = {"process_frames(", "call process_frames for every chunk, the last, shorter one too"},
    [NEVER_RECEIVED] = {"receive_frames(",
                        "receive every frame: round the number of chunks up, since the last may have fewer"},
    [NEVER_SENT] = {"send_frames(", "chunks are still in the ring when the last one is received: send these, too"},
    [NOT_ON_DEVICE] = {"process_frames(",
                       "the kernel works in device memory: hand in what cudaMalloc gave, and has not freed"},
    [ODD_ADDRESS] = {"process_frames(", "let a chunk begin where cudaMalloc's memory does, or whole frames behind"},
    [TOO_SHORT] = {"process_frames(", "allocate frame_bytes for each frame of the largest chunk"},
    [NOT_ON_HOST] = {NULL, "the network card reads and writes host memory: hand it that of cudaMallocHost"},
    [SHORT_BUFFER] = {NULL, "allocate frame_bytes for each frame of the largest chunk"},
    [NOT_UP] = {"process_frames(", "queue the copy of all the chunk's bytes to the device before process_frames"},
    [NOT_HOME] = {"send_frames(", "queue the copy of all the chunk's bytes to the host before you wait for it"},
    [OTHER_FRAME] = {"send_frames(", "two chunks met in one buffer: chunks under way need buffers of their own"},
    [OTHER_SLOT] = {"send_frames(", "send a chunk from the slot that it was received in: chunk k from slot k % slots, "
                                    "behind the loop too"},
    [AS_RECEIVED] =
        {"process_frames(",
         "sent before it was home, or home before it was processed: wait for the copy down, and let that wait for the "
         "kernel"},
    [NO_WORD] = {"send_frames(", "before send_frames, wait for the copy down of this chunk, and for no other's"},
};

void blame_trouble(lab_verdict *v, const run *r, const char *shape, bool early) {
    static const char *const asked[] = {[LAB6_RECEIVE] = "receive_frames(",
                                        [LAB6_RECEIVED] = "receive_frames(",
                                        [LAB6_PROCESS] = "process_frames(",
                                        [LAB6_SEND] = "send_frames(",
                                        [LAB6_SENT] = "send_frames("};
    const char *call = troubles[r->trouble].call, *next = troubles[r->trouble].next;
    const bool word =
        r->trouble == OTHER_FRAME || r->trouble == OTHER_SLOT || r->trouble == AS_RECEIVED || r->trouble == NO_WORD;
    const bool sends = r->asked >= LAB6_SEND && r->troubled_late;
    if (!call) call = asked[r->asked];
    lab_fail(v, "%s\nin the job %s", r->failure, shape);
    if (sends && !strcmp(call, "send_frames("))
        lab_blame_last(v, call); /* what is sent when all has come stands behind the loop, if it stands twice */
    else
        lab_blame_code(v, call);
    if (!v->where[0]) lab_blame_code(v, "run_pipeline(");
    LAB_SAY(v->next, "%s",
            word && early ? "do what the row 'buffers used too early' says; this may be its effect" : next);
}

/* --- a call that failed --------------------------------------------------------------------------- */

static const char *next_of_error(cudaError_t error, const place *by) {
    const bool copies = by && by->what == LAB_CALL_COPIES;
    switch (error) {
    case cudaErrorMemoryAllocation: return "allocate for a few chunks and use that in turn, for however many";
    case cudaErrorInvalidResourceHandle:
        return "create a stream or event before its first use, and destroy it once, after its last";
    case cudaErrorHostMemoryAlreadyRegistered:
        return "page-lock a block once; what cudaMallocHost gives is page-locked already";
    case cudaErrorHostMemoryNotRegistered:
        return "cudaHostUnregister is for what cudaHostRegister was given; cudaMallocHost goes with cudaFreeHost";
    case cudaErrorInvalidValue:
        if (copies) return "check this copy: destination first, the bytes of this chunk's frames, and the direction";
        return "free each block once, by the call that goes with its allocation: cudaFree, cudaFreeHost";
    default: return "find out what this call was given: its memory, its size, its stream";
    }
}

void blame_error(lab_verdict *v, const lab_usage *u, cudaError_t error, const char *shape) {
    const cudaError_t first = ear->error ? ear->error : error;
    lab_fail(v, "%s, in the job %s", cudaGetErrorName(first), shape);
    LAB_SAY(v->next, "%s", next_of_error(first, ear->error_by));
    ear_blame(v, ear->error_by);
    if (lab_fault(u)) {
        lab_blame_fault(v, u);
        lab_blame_code(v, "process_frames(");
    } else if (lab_refusal(u, first)) {
        lab_blame_refusal(v, u, first);
    } else if (ear->error_by) {
        const size_t n = strlen(v->why);
        lab_text(v->why + n, sizeof v->why - n, "\n%s returned it", ear->error_by->call);
    }
}

/* --- buffers used too early -------------------------------------------------------------------- */

static const char *next_of_touch(bool receiving, bool to_host) {
    if (!receiving) return "before send_frames, wait for this chunk's copy down: an event behind it, or its stream";
    return to_host ? "a chunk is still on its way home into this buffer: wait for it, and send it, before you receive "
                     "another there"
                   : "before you receive into a buffer again, wait for its copy up: an event behind it, or its stream";
}

void blame_early(lab_verdict *v, const early_touch *t) {
    lab_fail(v, "frame %d: %s touched the buffer while this copy was still %s it", t->number,
             t->loading ? "receive_frames" : "send_frames", t->to_host ? "writing" : "reading");
    ear_blame(v, t->by);
    LAB_SAY(v->next, "%s", next_of_touch(t->loading, t->to_host));
}

/* The kernel is the harness's, so a finding's place may be none of yours. */
static const char *next_of_order(const struct simgpu_finding *f) {
    const struct simgpu_side *a = &f->side[0], *b = &f->side[1];
    const bool kernel = a->command == SIMGPU_KERNEL, other = b->command == SIMGPU_KERNEL;
    const struct simgpu_side *copy = kernel ? b : a;
    if ((!a->stream) != (!b->stream))
        return "queue all steps of a chunk in streams of your own, copies by cudaMemcpyAsync: a stream of "
               "cudaStreamNonBlocking does not wait for the default stream, nor the default stream for it";
    if (f->space == SIMGPU_HOST_MEMORY) return "give each slot of the ring host memory of its own";
    if (kernel != other && copy->command == SIMGPU_COPYING && copy->direction == SIMGPU_H2D)
        return "let the kernel wait for an event behind its copy up, and the next copy up to this memory for the "
               "kernel";
    if (kernel != other && copy->command == SIMGPU_COPYING && copy->direction == SIMGPU_D2H)
        return "let the copy down wait for an event behind its kernel, and the next use of this memory for the copy";
    if (a->command == SIMGPU_COPYING && b->command == SIMGPU_COPYING && a->direction == SIMGPU_D2H &&
        b->direction == SIMGPU_H2D)
        return "let the copy down wait for an event behind its kernel: the bytes that came up are still being "
               "processed; or, if they belong to another chunk, give each slot device memory of its own";
    return "give each slot device memory of its own, or let the later stream wait for an event behind the first use";
}

void blame_finding(lab_verdict *v, const struct simgpu_finding *f) {
    char what[640];
    lab_fail(v, "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
    if (!ear_blame_line(v, &f->side[0].at) && !(f->nsides > 1 && ear_blame_line(v, &f->side[1].at)))
        lab_blame_code(v, "process_frames(");
    if (f->kind == SIMGPU_IN_FLIGHT)
        LAB_SAY(v->next, "%s",
                next_of_touch(f->side[0].at.did == SIMGPU_DID_WRITE, f->side[1].direction == SIMGPU_D2H));
    if (f->kind == SIMGPU_UNINITIALISED)
        LAB_SAY(v->next, "%s", "queue the copy up of all the chunk's bytes in front of its process_frames");
    if (f->kind == SIMGPU_STREAM_ORDER) LAB_SAY(v->next, "%s", next_of_order(f));
}

/* --- stream 0 ------------------------------------------------------------------------------------- */

static double in_default_of(const place *p) { return p->in_default; }

void blame_default(lab_verdict *v, const run *r) {
    const place *p = ear_worst(in_default_of);
    if (p)
        ear_blame(v, p);
    else
        lab_blame_code(v, "process_frames(");
    const int copies = (int)v->value - r->in_default, kernels = r->in_default;
    char what[64];
    if (copies && kernels)
        LAB_SAY(what, "%d copies and %d kernel%s", copies, kernels, kernels == 1 ? "" : "s");
    else
        LAB_SAY(what, "%d %s", copies + kernels, copies ? "copies" : "kernels");
    LAB_SAY(v->why, "%s went into the default stream, for which ordinary streams wait, and it for them", what);
}

/* --- speed ---------------------------------------------------------------------------------------- */

static double blocked_of(const place *p) { return p->loop_ns; }
static double staged_of(const place *p) { return p->staged; }
/* malloc takes next to no time. */
static double allocations_of(const place *p) { return p->what == LAB_CALL_C_ALLOCATES ? 0 : p->allocations; }

/* What keeps engines idle, by what the run did: the cause, the next step, and the place; NULL: process_frames. */
typedef struct {
    const char *cause, *next;
    const place *at;
} reason;

/* Where the host works most. */
static const place *host_place(const engines *e) {
    static place at;
    if (!e->host_at.file) return NULL;
    LAB_SAY(at.file, "%s", e->host_at.file);
    at.line = e->host_at.line;
    return &at;
}

static bool is_call(const place *p, const char *name) { return p && !strcmp(p->call, name); }

/* By how the copies were queued. cause NULL: nothing was found. */
static reason reason_of_calls(const run *r, const place *longest) {
    if (ear->staged > 0)
        return (reason){"the CPU staged copies from or to pageable memory", "page-lock the memory that copies use",
                        ear_worst(staged_of)};
    if (2 * r->carried > run_bytes(r))
        return (reason){"receive_frames wrote elsewhere than the copies read: the CPU carried the frames on",
                        "let receive_frames write into the page-locked memory that is copied", NULL};
    if (ear_worst(allocations_of))
        return (reason){"memory was allocated between the first receive_frames and the last send_frames",
                        "allocate before you receive the first frame", ear_worst(allocations_of)};
    if (r->chunks == 1)
        return (reason){"all frames went in one piece: each engine waited for the one before",
                        "cut the frames into chunks, and let one go up while another is processed", NULL};
    if (2 * ear->waited > ear->bytes)
        return (reason){"cudaMemcpy waits for its copy: no other chunk is queued meanwhile",
                        "copy by cudaMemcpyAsync in a stream of your own", longest};
    if (r->in_default)
        return (reason){"process_frames ran in stream 0, which waits for the streams of the copies, and they for it",
                        "hand process_frames a stream of your own", NULL};
    if ((double)r->ahead < 1.5 * (double)r->message.frames / r->chunks)
        return (reason){"never more than one chunk was under way: each was sent before the next was received",
                        "queue the next chunks before you wait for this one", longest};
    if (ear->nstreams == 1 && !r->third_stream)
        return (reason){"all copies are in one stream, which works in order: none goes up while one comes down",
                        "give copies up, kernels and copies down a stream each, or each slot of a ring one", NULL};
    if (r->up_first && ear->nstreams < r->chunks)
        return (reason){"all copies up were queued first: in its stream a kernel waits for the copies of later chunks",
                        "queue chunk by chunk: up, kernel, down, then the next chunk", NULL};
    return (reason){NULL, NULL, NULL};
}

static double waits_of_host(void) {
    double n = 0;
    for (int i = 0; i < ear->nplaces; i++)
        if (ear->places[i].what == LAB_CALL_WAITS) n += ear->places[i].calls;
    return n;
}

static reason reason_of(const run *r, lab_floor limit, const engines *e) {
    const place *longest = ear_worst(blocked_of);
    reason why = reason_of_calls(r, longest);
    const double chunk = (double)r->message.frames / r->chunks, best = sqrt(2 * limit.us / COPY_FIXED_US);
    if (why.cause) return why;
    if (e && 8 * e->host > r->end - r->begin)
        return (reason){"the host works on the bytes itself: meanwhile it neither sends a chunk nor queues the next",
                        "give the ring one slot more, so that the engines have work meanwhile, or the host less to do",
                        host_place(e)};
    if (is_call(longest, "cudaDeviceSynchronize") && (double)r->ahead < (double)r->message.frames)
        return (reason){"cudaDeviceSynchronize waits for all streams, the chunks just queued, too",
                        "wait for the one slot that is needed again: its stream, or an event behind its copy down",
                        longest};
    if (e && 6 * (e->idle_starts - 1) > r->chunks) /* the first finds nothing, always */
        return (reason){"again and again the host waited for all that was queued before it queued more",
                        "when you need a slot again, wait for that slot's chunk only", longest};
    if (waits_of_host() > 1.5 * r->chunks)
        return (reason){"the host waited more than once a chunk: what stands behind such a wait is queued late",
                        "queue the three steps of a chunk without a wait between them", longest};
    if (ear->nstreams == 2 && !r->third_stream && r->chunks < 2 * best)
        return (reason){"in two streams two chunks are under way: one of the three engines always waits",
                        "use as many streams as there are engines, or one more", NULL};
    if ((double)r->ahead < 2.5 * chunk)
        return (reason){"never more than two chunks were under way: one of the three engines always waits",
                        "use a third slot, and a fourth for the host", longest};
    if (r->chunks < best / 2)
        return (reason){"with so few chunks the ends are long: the first goes up alone, the last comes down alone",
                        "use more, smaller chunks: the handout derives how many", NULL};
    if (r->chunks > 2 * best)
        return (reason){"with so many chunks the fixed times of copies and launches add up",
                        "use fewer, larger chunks: the handout derives how many", NULL};
    return (reason){"", "", NULL};
}

static void blame_reason(lab_verdict *v, const reason *why) {
    if (why->at)
        ear_blame(v, why->at);
    else
        lab_blame_code(v, "process_frames(");
    if (*why->next) LAB_SAY(v->next, "%s", why->next);
}

void blame_overlap(lab_verdict *v, const run *r, lab_floor limit, const engines *e) {
    const double all = r->end - r->begin;
    const reason why = reason_of(r, limit, e);
    if (all <= 0) return;
    blame_reason(v, &why);
    char ends[64] = "all three never work at once";
    if (e->ends < all) LAB_SAY(ends, "the ends take %.0f %%", 100 * e->ends / all);
    LAB_SAY(v->why, "copies up %.0f %% of the time, kernels %.0f %%, copies down %.0f %%, in %d chunk%s; %s",
            100 * e->busy[ENGINE_UP] / all, 100 * e->busy[ENGINE_KERNELS] / all, 100 * e->busy[ENGINE_DOWN] / all,
            r->chunks, r->chunks == 1 ? "" : "s", ends);
}

void blame_slow(lab_verdict *v, const run *r, lab_floor limit, const engines *e) {
    const reason why = reason_of(r, limit, e);
    blame_reason(v, &why);
    LAB_SAY(v->why, "%.2f times the longest engine's own time, in %d chunk%s", run_us(r) / limit.us, r->chunks,
            r->chunks == 1 ? "" : "s");
    const size_t n = strlen(v->why);
    if (*why.cause) lab_text(v->why + n, sizeof v->why - n, "\n%s", why.cause);
}
