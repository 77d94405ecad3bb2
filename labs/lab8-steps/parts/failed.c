/* failed.c — see failed.h. What this lab does not know better comes from common/lab/errors.c. */
#include "failed.h"
#include "errors.h"

#include <string.h>

/* --- kernels ------------------------------------------------------------------------------------ */

static const lab_advice table[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds", "work out row and column of this thread: do they lie beyond the edge of this "
                                    "shape? The margin of a tile does, at the plate's edge"},
    [LAB_HOST_ADDRESS] = {"pointer", "pass the kernel memory of cudaMalloc; residuals is memory of the host"},
    [LAB_NULL_ADDRESS] = {"pointer", "find out where this pointer gets its value: does setup run before this line, and "
                                     "does its call succeed?"},
    [LAB_FREED_ADDRESS] = {"pointer", "free memory in cleanup, when nothing uses it any more"},
    [LAB_PAST_SHARED] = {"shared", "compare the size of the tile with the largest indices of this line: tile plus two "
                                   "margins, in both directions"},
    [LAB_BARRIER_MISSED] = {"deadlock", "every thread of the block must come to this barrier, and to each grid.sync() "
                                        "every thread of the grid: no return and no if before it"},
    [LAB_TWO_BARRIERS] = {"deadlock", "let all threads of the block come to one barrier: none belongs into an if that "
                                      "only some of them enter"},
    [LAB_RUNAWAY] = {"deadlock", "a loop does not end: which number should end it, and who writes that?"},
    [LAB_SOME_ADDRESS] = {"bounds", "work out row and column of a thread at the plate's edge: which test keeps its "
                                    "margin from an access beyond? Then the places of the checks"},
    [LAB_REFUSED + SIMGPU_REFUSED_STATIC_SHARED] = {"shared", "use a smaller tile: with its margin, and twice, it must "
                                                              "fit into 48 KB"},
};

/* An access of memory beside what this thread may use. */
static const lab_advice *on_place(const struct simgpu_fault *f, const session *s) {
    static const lab_advice
        below = {"bounds",
                 "which index is below 0 here? At the plate's edge r - 1 or c - 1 of a cell in the margin is; "
                 "and the row above begins cols floats before"},
        small = {"bounds", "compare the bytes that you allocate with those of a plate: rows * cols * sizeof(float)"},
        report = {
            "bounds",
            "which check's place is this, and is there one? The count of checks or steps must begin at 0 for each "
            "plate, a round must end at a check, and what lies beside the residuals needs a place, too"};
    const struct simgpu_address *at = &f->address;
    const uint64_t cells = (uint64_t)s->rows * (uint64_t)s->cols, checks = (uint64_t)(s->most / s->every);
    if (at->freed || at->where == SIMGPU_NULL_POINTER || at->where == SIMGPU_NO_DEVICE_MEMORY) return NULL;
    if (f->did == SIMGPU_DID_ATOMIC || at->bytes <= (checks + 2) * sizeof(float)) return &report;
    if (at->bytes < cells * sizeof(float)) return &small;
    return at->where == SIMGPU_BEFORE ? &below : NULL;
}

static const lab_advice *on_fault(const struct simgpu_fault *f, const session *s) {
    static const lab_advice
        meeting = {"deadlock", "let all blocks leave the loop together: decide by a number that all of them read "
                               "behind the same meeting"},
        waiting = {"deadlock",
                   "blocks that wait for each other must all be on the GPU at once, and only a cooperative launch "
                   "promises that: cudaLaunchCooperativeKernel, and grid.sync()"},
        ordinary = {"deadlock",
                    "start it by cudaLaunchCooperativeKernel: in an ordinary launch the blocks cannot meet"},
        arguments = {"pointer", "count the entries of the array that cudaLaunchCooperativeKernel gets: the address of "
                                "each of the kernel's parameters, in their order"};
    const bool odd_address = f->cause == SIMGPU_CAUSE_MISALIGNED ||
                             (f->cause == SIMGPU_CAUSE_ADDRESS && f->address.where == SIMGPU_NO_DEVICE_MEMORY);
    if (odd_address && heard_has(&s->heard, "cudaLaunchCooperativeKernel")) return &arguments;
    switch (f->cause) {
    case SIMGPU_CAUSE_ADDRESS: return on_place(f, s);
    case SIMGPU_CAUSE_GRID_SYNC: return &meeting;
    case SIMGPU_CAUSE_BLOCKS: return &waiting;
    case SIMGPU_CAUSE_NOT_COOPERATIVE: return &ordinary;
    default: return NULL;
    }
}

/* --- calls -------------------------------------------------------------------------------------- */

static bool begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

static const lab_advice *on_capture(cudaError_t error, const char *call) {
    static const lab_advice
        nothing_runs = {"capture", "between BeginCapture and EndCapture only queue work, on the captured stream: no "
                                   "synchronise, no stream 0, no cudaMalloc, no query"},
        stream_0 = {"capture", "stream 0 cannot be captured: create a stream, and capture that"},
        implicit = {"capture",
                    "pass the captured stream on: as the fourth argument of <<<blocks, threads, 0, stream>>>, "
                    "as the last one of an Async copy or fill"},
        unjoined = {"capture",
                    "join the other stream before EndCapture: record an event there, behind its last work, and let the "
                    "captured stream wait for it (cudaStreamWaitEvent)"};
    if (error == cudaErrorStreamCaptureUnsupported && begins(call, "cudaStreamBeginCapture")) return &stream_0;
    if (error == cudaErrorStreamCaptureImplicit) return &implicit;
    if (error == cudaErrorStreamCaptureUnjoined) return &unjoined;
    return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread ? &nothing_runs
                                                                                                    : NULL;
}

static const lab_advice *on_call(cudaError_t error, const char *call) {
    static const lab_advice
        large = {"occupancy", "ask cudaOccupancyMaxActiveBlocksPerMultiprocessor how many blocks fit on an SM, launch "
                              "at most so many times the number of SMs, and give a block several tiles"},
        shape = {"error", "a block holds at most 1024 threads, and no side of block or grid may be 0"},
        frees = {"pointer", "free each piece of memory once, in cleanup: by cudaFree what cudaMalloc gave, by "
                            "cudaFreeHost what cudaMallocHost gave"},
        copies = {"pointer", "look at the call's arguments: where to, where from, how many bytes, in which direction"},
        launch = {"capture", "launch what cudaGraphInstantiate has made of the captured graph, in setup"},
        make = {"capture", "instantiate the graph that cudaStreamEndCapture gives, and look whether that call "
                           "succeeds"},
        handle = {"error", "create streams, events and graphs in setup, once; destroy each in cleanup, once, when "
                           "nothing uses it any more"};
    const lab_advice *capture = on_capture(error, call);
    if (capture) return capture;
    if (error == cudaErrorCooperativeLaunchTooLarge) return &large;
    if (error == cudaErrorInvalidConfiguration) return &shape;
    if (begins(call, "cudaFree")) return &frees;
    if (begins(call, "cudaMem") && error == cudaErrorInvalidValue) return &copies;
    if (begins(call, "cudaGraphLaunch")) return &launch;
    if (begins(call, "cudaGraphInstantiate")) return &make;
    if (error == cudaErrorInvalidResourceHandle || strstr(call, "Destroy")) return &handle;
    return NULL;
}

/* Returns where a capture was begun and not ended; NULL: nowhere. */
static const heard_place *open_capture(const heard *h) {
    const heard_place *begun = heard_has(h, "cudaStreamBeginCapture");
    const bool refused = h->failed.name && begins(h->failed.name, "cudaStreamBeginCapture");
    return begun && !refused && !heard_has(h, "cudaStreamEndCapture") ? begun : NULL;
}

/* Whether a deadlock follows from a barrier that some threads pass by or end without. */
static bool skipped_meeting(const lab_usage *u) {
    const struct simgpu_fault *f = lab_fault(u);
    return f->kind == SIMGPU_FAULT_DEADLOCK && f->cause == SIMGPU_CAUSE_WAITING &&
           (lab_finding_of(u, SIMGPU_BARRIER_SKIPPED) || lab_finding_of(u, SIMGPU_BARRIER_EXITED));
}

void advise_on_failure(lab_verdict *v, const session *s, const lab_usage *u) {
    static const lab_advice meeting = {"deadlock",
                                       "do what the row 'races' says: threads pass by a barrier at which the "
                                       "others wait"};
    static const lab_advice open = {"capture", "end the capture that this line begins, by cudaStreamEndCapture: until "
                                               "then nothing on this stream runs, and there is no graph"};
    const heard_place *capture = open_capture(&s->heard);
    const cudaError_t first = s->heard.failed.name ? s->heard.failed.error : s->error;
    const bool refused = lab_refusal(u, first) != NULL;
    const lab_advice *own = NULL;
    lab_advise_on_error(v, first, refused ? u : NULL, u, table);
    if (!refused && lab_fault(u))
        own = skipped_meeting(u) ? &meeting : on_fault(lab_fault(u), s);
    else if (s->heard.failed.name)
        own = on_call(first, s->heard.failed.name);
    if (capture) {
        own = &open;
        lab_blame_place(v, &(struct simgpu_place){.file = capture->file, .line = capture->line});
    }
    if (own) lab_advise(v, own);
}
