/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *hint, *next;
} advice;

static void give(lab_verdict *v, const advice *a) {
    v->hint = a->hint;
    LAB_SAY(v->next, "%s", a->next);
}

/* --- costs of a line -------------------------------------------------------------------------- */

static double launches_of(const lab_line *l) { return l->launches; }
static double stores_of(const lab_line *l) { return l->c.st_requests; }
static double atomics_of(const lab_line *l) { return l->c.atom_requests; }
static double work_of(const lab_line *l) { return l->c.inst; }

/* --- a wrong answer of a session ----------------------------------------------------------------- */

/* The line to begin with, of those that ran, or by its text. */
enum look { AT_NOTHING, AT_LAUNCH, AT_STORE, AT_ATOMIC, AT_RESIDUALS, AT_RETURN };

static const struct {
    advice advice;
    enum look look;
} for_mistake[] = {
    [NO_MISTAKE] = {{"correct", ""}, AT_NOTHING},
    [TAKEN_NONSENSE] = {{"correct", "return the number of steps taken: a multiple of every, and not more than most"},
                        AT_RETURN},
    [AS_IT_WAS] = {{"buffers",
                    "the last step must leave its cells in `plate`: copy them there where they lie elsewhere"},
                   AT_LAUNCH},
    [OTHER_STEP] = {{"buffers", "which of your two plates holds the last step? After an odd number of steps it is not "
                                "the one you began with"},
                    AT_LAUNCH},
    [EDGE_CHANGED] = {{"edge", "let no thread write a cell of row 0, column 0, the last row or the last column"},
                      AT_STORE},
    [FRESH] = {{"edge", "the second plate needs its edge, too: copy it there once, before the first step"}, AT_STORE},
    [SOME_CELLS] = {{"correct", "follow the cell named here: which thread computes it, and from cells of which step?"},
                    AT_STORE},
    [ALL_CELLS] = {{"correct", "a step reads the cells of the step before, all four neighbours, and writes to another "
                               "plate"},
                   AT_STORE},
    [OUT_OF_BOUNDS] = {{"bounds", "test row and column before each access, of the margin's cells, too"}, AT_STORE},
    [NOT_REPORTED] = {{"residuals", "write the residual of each check to residuals[], also of the last one"},
                      AT_RESIDUALS},
    [BEHIND_RESIDUALS] = {{"residuals", "the residual of step n * every is residuals[n - 1]"}, AT_RESIDUALS},
    [OF_ANOTHER_STEP] = {{"residuals", "a check's residual is the change in the step that ends it: look which step "
                                       "computes it, and when it is read"},
                         AT_RESIDUALS},
    [NEVER_RESET] = {{"residuals",
                      "set the largest change to 0 before the step of each check, or give each check a place "
                      "of its own"},
                     AT_ATOMIC},
    [SMALLER] = {{"residuals", "follow the cell with the largest change: does its change reach the largest one of its "
                               "block, and that of the plate?"},
                 AT_ATOMIC},
    [OTHER_NUMBER] = {{"residuals", "compute |new - old| of each cell in that step alone, and take the largest"},
                      AT_ATOMIC},
    [TOO_EARLY] = {{"stops", "compare the residual of a check with the tolerance, by <=, and no other number"},
                   AT_RESIDUALS},
    [TOO_LATE] = {{"stops", "look at each residual before you queue more than two further checks"}, AT_RESIDUALS},
    [A_CALL_FAILED] = {{"error", "check what each CUDA call returns, and look at the first that does not return "
                                 "cudaSuccess"},
                       AT_LAUNCH},
};

static void look_at(lab_verdict *v, enum look look, const lab_usage *u) {
    const lab_line *launch = lab_worst(u, launches_of), *store = lab_worst(u, stores_of);
    const lab_line *atomic = lab_worst(u, atomics_of);
    switch (look) {
    case AT_NOTHING: return;
    case AT_LAUNCH: return lab_blame(v, launch);
    case AT_STORE: return lab_blame(v, store ? store : launch);
    case AT_ATOMIC: return atomic ? lab_blame(v, atomic) : lab_blame_text(v, u, "residuals");
    case AT_RESIDUALS: return lab_blame_text(v, u, "residuals[");
    case AT_RETURN: return lab_blame_return(v, "solve(");
    }
}

/* --- CUDA's errors -------------------------------------------------------------------------------- */

/* An address of global memory. */
static const advice *on_address(const struct simgpu_address *at) {
    static const advice bounds = {"bounds",
                                  "work out row and column of this thread: do they lie beyond the edge of this "
                                  "shape? The margin of a tile does, at the plate's edge"},
                        host = {"pointer", "pass the kernel memory of cudaMalloc; residuals is memory of the host"},
                        null = {"pointer",
                                "find out where this pointer gets its value: does setup run before this line, "
                                "and does its call succeed?"},
                        freed = {"pointer", "free memory in cleanup, when nothing uses it any more"};
    if (at->freed) return &freed;
    if (at->where == SIMGPU_NULL_POINTER) return &null;
    return at->where == SIMGPU_NO_DEVICE_MEMORY || at->where == SIMGPU_NONE_ALLOCATED ? &host : &bounds;
}

static const advice *on_fault(const struct simgpu_fault *f) {
    static const advice
        meeting = {"deadlock",
                   "let all blocks leave the loop together: decide by a number that all of them read behind the "
                   "same meeting"},
        shared = {"shared",
                  "compare the size of the tile with the largest indices of this line: tile plus two margins, "
                  "in both directions"},
        deadlock = {"deadlock",
                    "every thread of the block must come to this barrier, and to each grid.sync() every thread "
                    "of the grid: no return and no if before it"},
        mask = {"deadlock", "let every thread that the mask names reach this line"},
        waiting = {"deadlock",
                   "blocks that wait for each other must all be on the GPU at once, and only a cooperative launch "
                   "promises that: cudaLaunchCooperativeKernel, and grid.sync()"},
        runaway = {"deadlock", "a loop does not end: which number should end it, and who writes that?"},
        unsupported = {"error", "use another instruction; SimGPU has none of this kind"},
        other = {"error", "read the line above: it names what stopped the kernel"};
    switch (f->cause) {
    case SIMGPU_CAUSE_ADDRESS: return on_address(&f->address);
    case SIMGPU_CAUSE_BEFORE_SPACE:
    case SIMGPU_CAUSE_PAST_SPACE: return &shared;
    case SIMGPU_CAUSE_GRID_SYNC: return &meeting;
    case SIMGPU_CAUSE_BLOCKS: return &waiting;
    default: break;
    }
    switch (f->kind) {
    case SIMGPU_FAULT_DEADLOCK: return &deadlock;
    case SIMGPU_FAULT_BAD_SYNC: return &mask;
    case SIMGPU_FAULT_BUDGET: return &runaway;
    case SIMGPU_FAULT_UNSUPPORTED: return &unsupported;
    default: return &other;
    }
}

/* A call that was refused, by its error. */
static const advice *on_refusal(cudaError_t e) {
    static const advice
        large = {"occupancy",
                 "ask cudaOccupancyMaxActiveBlocksPerMultiprocessor how many blocks fit on an SM, launch at "
                 "most so many times the number of SMs, and give a block several tiles"},
        capture = {"capture", "between BeginCapture and EndCapture only queue work, on the captured stream: no "
                              "synchronise, no stream 0, no cudaMalloc, no query"},
        shape = {"error", "a block holds at most 1024 threads, and no side of block or grid may be 0"},
        handle = {"error", "create streams, events and graphs in setup, once, and destroy them in cleanup"},
        other = {"error", "look this call up: which of its arguments can it not take?"};
    if (e == cudaErrorCooperativeLaunchTooLarge) return &large;
    if (e >= cudaErrorStreamCaptureUnsupported && e <= cudaErrorStreamCaptureWrongThread) return &capture;
    if (e == cudaErrorInvalidConfiguration) return &shape;
    if (e == cudaErrorInvalidResourceHandle) return &handle;
    return &other;
}

static void advise_on_error(lab_verdict *v, const session *s, const lab_usage *u) {
    if (lab_fault(u)) {
        lab_blame_fault(v, u);
        return give(v, on_fault(lab_fault(u)));
    }
    const cudaError_t first = s->heard.failed.name ? s->heard.failed.error : s->error;
    if (lab_refusal(u, first)) lab_blame_refusal(v, u, first);
    give(v, on_refusal(first));
}

void advise_on_session(lab_verdict *v, const session *s, const lab_usage *u) {
    static const advice
        race = {"races", "do what the row 'races' says; this may be its effect"},
        second = {"second-plate",
                  "the first plate was right: what has your setup, or the first call, noted for good that "
                  "belongs to the first plate, such as its address in a graph?"},
        longer = {"margin",
                  "up to five steps all plates are right: is the margin of a tile as wide as a round has steps, on all "
                  "four sides?"},
        larger = {"occupancy",
                  "smaller plates are right: does your grid, or a loop over cells or tiles, reach all of this "
                  "one?"},
        none = {"correct", "launch your kernel in this function, with <<<blocks, threads>>>"};
    const enum mistake m = s->mistake;
    if (m == A_CALL_FAILED) return advise_on_error(v, s, u);
    give(v, &for_mistake[m].advice);
    if ((m == SOME_CELLS || m == ALL_CELLS) && s->every > 5) give(v, &longer);
    if ((m == SOME_CELLS || m == FRESH) && s->rows == LARGE_ROWS) give(v, &larger);
    if (s->wrong > 1 && m >= AS_IT_WAS && m <= ALL_CELLS && m != EDGE_CHANGED) give(v, &second);
    if (lab_lane() == LAB_GPU) return;
    look_at(v, for_mistake[m].look, u);
    if (!lab_worst(u, launches_of)) {
        lab_blame_code(v, "solve(");
        return give(v, &none);
    }
    const struct simgpu_finding *f = lab_finding(u);
    const bool unreached = f && f->kind == SIMGPU_UNINITIALISED && s->rows == LARGE_ROWS; /* a grid too small */
    if ((m == FRESH || m == SOME_CELLS || m == ALL_CELLS || m == SMALLER || m == OTHER_NUMBER) && f && !unreached)
        give(v, &race);
}

/* --- findings ------------------------------------------------------------------------------------- */

static void advise_on_race(lab_verdict *v, const struct simgpu_finding *f) {
    const bool both_write = f->side[0].at.did != SIMGPU_DID_READ && f->side[1].at.did != SIMGPU_DID_READ;
    if (f->space != SIMGPU_DEVICE_MEMORY)
        LAB_SAY(v->next, "put a __syncthreads() between these two: after each step in the tile, and before the tile is "
                         "filled again");
    else if (both_write)
        LAB_SAY(v->next, "let one thread write each cell, or write by an atomic");
    else if (f->rival == SIMGPU_OTHER_BLOCK)
        LAB_SAY(v->next,
                "nothing orders two blocks of a launch but grid.sync(): a step reads one plate, writes another, "
                "and the blocks meet before the two change places");
    else
        LAB_SAY(v->next, "a step must not write the cells that it reads: write to a second plate");
}

/* The finding to speak of: a race also where something else was found before it, such as cells that a race has spoiled.
 */
static const struct simgpu_finding *foremost(const lab_usage *u) {
    const struct simgpu_finding *race = lab_finding_of(u, SIMGPU_RACE), *first = lab_finding(u);
    return race && first->kind == SIMGPU_UNINITIALISED ? race : first;
}

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = foremost(u);
    char what[512];
    v->hint = "races";
    /* The player, which calls your solve, is no line of yours. */
    const bool ours = f->side[0].at.file && !strcmp(lab_file_name(f->side[0].at.file), "player.c");
    lab_blame_place(v, &f->side[ours && f->nsides > 1].at);
    LAB_SAY(v->why, "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
    switch (f->kind) {
    case SIMGPU_RACE: return advise_on_race(v, f);
    case SIMGPU_UNINITIALISED:
        LAB_SAY(v->next,
                "who writes this first? Each cell of the second plate needs a thread in each step, its edge and each "
                "margin need a value, and the largest change a 0");
        return;
    case SIMGPU_STREAM_ORDER: LAB_SAY(v->next, "queue both on one stream, or order the two by an event"); return;
    case SIMGPU_IN_FLIGHT:
        LAB_SAY(v->next, "wait for the copy before the host reads what it brings, by cudaEventSynchronize or "
                         "cudaStreamSynchronize");
        return;
    case SIMGPU_BARRIER_SKIPPED:
        LAB_SAY(v->next, "move the barrier out of the condition: every thread of the block must come to it");
        return;
    case SIMGPU_BARRIER_EXITED:
        LAB_SAY(v->next, "let threads without a cell skip the work only, and come to every barrier");
        return;
    }
}

/* --- the host ------------------------------------------------------------------------------------- */

static bool has_called(const heard *h, const char *name) {
    for (int i = 0; i < h->n; i++)
        if (!strncmp(h->places[i].name, name, strlen(name))) return true;
    return false;
}

static const char *next_for_call(const heard_place *p, const heard *h) {
    if (has_called(h, "cudaStreamBeginCapture") || has_called(h, "cudaGraphInstantiate"))
        return "capture and instantiate once, in setup; a plate at another address is no reason to do it again: let "
               "the "
               "graph work on plates of your own, and copy";
    if (p->waits && !strncmp(p->name, "cudaFree", 8)) return "allocate in setup, free in cleanup";
    if (p->waits) return "only the residual of a check is asked for: wait once a check";
    if (!strncmp(p->name, "cudaMalloc", 10)) return "allocate in setup, free in cleanup";
    if (!strncmp(p->name, "cudaMemset", 10)) return "only the step of a check needs it: clear it there, or in a kernel";
    if (!strcmp(p->name, "cudaEventQuery") || !strcmp(p->name, "cudaStreamQuery"))
        return "wait for the event (cudaEventSynchronize) rather than ask again and again";
    if (has_called(h, "cudaGraphLaunch")) return "put all steps up to a check into the graph";
    return "capture the steps up to a check into a graph, once, in setup; or let one kernel take them all";
}

void advise_on_call(lab_verdict *v, const heard_place *first, const heard *h, const lab_usage *u) {
    if (first->file)
        lab_blame_place(v, &(struct simgpu_place){.file = first->file, .line = first->line});
    else if (strstr(first->name, "Launch"))
        lab_blame(v, lab_worst(u, launches_of));
    LAB_SAY(v->next, "%s", next_for_call(first, h));
}

/* --- time ----------------------------------------------------------------------------------------- */

void advise_on_time(lab_verdict *v, const heard *h, const lab_usage *u) {
    const bool graph = has_called(h, "cudaGraphLaunch"), cooperative = has_called(h, "cudaLaunchCooperativeKernel");
    lab_blame(v, lab_worst(u, graph || cooperative ? work_of : launches_of));
    if (graph)
        LAB_SAY(v->next,
                "a graph's nodes still start one after another, 0.8 us each on an H200: let one cooperative kernel "
                "take several steps in shared memory between two meetings");
    else if (cooperative && u->total.shared_ld > u->total.ld_requests)
        LAB_SAY(v->next,
                "between two meetings a step waits for shared memory and its barrier: keep a column of cells in "
                "each thread's registers, and let __shfl_up_sync and __shfl_down_sync bring the neighbours");
    else if (cooperative)
        LAB_SAY(v->next, "a meeting of all blocks takes as long as many steps: keep a tile with a margin of k cells in "
                         "shared memory, and meet each k steps");
    else
        LAB_SAY(v->next, "the GPU waits for the host: launch many steps by one call, a graph or a cooperative kernel");
}
