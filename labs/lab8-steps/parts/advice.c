/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "errors.h"
#include "failed.h"

#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

static double launches_of(const lab_line *l) { return l->launches; }
static double stores_of(const lab_line *l) { return l->c.st_requests; }
static double atomics_of(const lab_line *l) { return l->c.atom_requests; }
static double work_of(const lab_line *l) { return l->c.inst; }

/* --- a wrong answer of a session ----------------------------------------------------------------- */

/* The line to begin with, of those that ran, or by its text. */
enum look { AT_NOTHING, AT_LAUNCH, AT_STORE, AT_ATOMIC, AT_RESIDUALS, AT_RETURN };

static const struct {
    lab_advice advice;
    enum look look;
} for_mistake[] = {
    [NO_MISTAKE] = {{"correct", ""}, AT_NOTHING},
    [TAKEN_NONSENSE] = {{"correct", "return the number of steps taken: a multiple of every, and not more than most"},
                        AT_RETURN},
    [AS_IT_WAS] = {{"buffers",
                    "the last step must leave its cells in `plate`: copy them there where they lie elsewhere"},
                   AT_LAUNCH},
    [OTHER_PLATE] = {{"buffers", "exchange the two plates after each step, also after the last one, and return the "
                                 "cells of the one that holds that step"},
                     AT_LAUNCH},
    [OTHER_COUNT] = {{"buffers", "return the number of steps taken, and no others"}, AT_RETURN},
    [OTHER_STEP] = {{"buffers", "let each step begin with what the step before has written: exchange the two plates "
                                "after each step, and return the number of steps taken"},
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
    [EACH_STEP_COUNTS] = {{"residuals", "only the step of the check counts: let no other step hand in its change, or "
                                        "set the place to 0 right before that step"},
                          AT_ATOMIC},
    [NEVER_RESET] = {{"residuals",
                      "set the largest change to 0 before the step of each check, or give each check a place "
                      "of its own"},
                     AT_ATOMIC},
    [SMALLER] = {{"residuals", "follow the cell with the largest change: does its change reach the largest one of its "
                               "block, and that of the plate?"},
                 AT_ATOMIC},
    [OTHER_NUMBER] = {{"residuals", "compute |new - old| of each cell in that step alone, and take the largest"},
                      AT_ATOMIC},
    [TOO_EARLY] = {{"stops", "compare the residual of a check with the tolerance that this call was given, by <=, and "
                             "no other number"},
                   AT_RESIDUALS},
    [TOO_LATE] = {{"stops", "look at each residual before you queue more than two further checks"}, AT_RESIDUALS},
    [PLATE_FREED] = {{"pointer",
                      "free what you have allocated, and leave the plate alone: keep your own pointers apart "
                      "from the one that solve gets"},
                     AT_NOTHING},
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

/* --- a session ------------------------------------------------------------------------------------ */

/* What the session as a whole tells: only large plates fail, or only the second one of two; or NULL. */
static const lab_advice *on_session(const session *s, const lab_usage *u) {
    static const lab_advice
        second = {"second-plate", "the first plate was right: what has your setup, or the first call, noted for good "
                                  "that belongs to the first plate, such as its address in a graph?"},
        cleared = {"second-plate", "the first plate was right: who sets the places of the residuals, and the count of "
                                   "checks, back to 0 for the next one?"},
        longer = {"margin", "up to five steps all plates are right: is the margin of a tile as wide as a round has "
                            "steps, on all four sides?"},
        larger = {"occupancy", "smaller plates are right: does your grid, or a loop over cells or tiles, reach all of "
                               "this one?"},
        tiles = {"buffers", "of two tiles, store the one that holds the last step; of two plates, copy the one that "
                            "holds it to `plate`, where it is the other one"};
    const enum mistake m = s->mistake;
    if (s->wrong > 1 && m >= AS_IT_WAS && m <= ALL_CELLS && m != EDGE_CHANGED) return &second;
    if (s->wrong > 1 && m >= NOT_REPORTED && m <= OTHER_NUMBER) return &cleared;
    if ((m == SOME_CELLS || m == FRESH) && s->rows == LARGE_ROWS) return &larger;
    if ((m == SOME_CELLS || m == ALL_CELLS) && s->every > 5) return &longer;
    return m == AS_IT_WAS && u->total.shared_st > 0 ? &tiles : NULL;
}

/* Whether what the checks found is the likely cause: not so where cells are unwritten since the grid is too small. */
static bool is_effect(const session *s, const struct simgpu_finding *f) {
    const enum mistake m = s->mistake;
    if (!f) return false;
    if (f->kind != SIMGPU_UNINITIALISED) return true;
    return s->rows != LARGE_ROWS &&
           (m == FRESH || m == SOME_CELLS || m == ALL_CELLS || m == SMALLER || m == OTHER_NUMBER);
}

void advise_on_session(lab_verdict *v, const session *s, const lab_usage *u) {
    static const lab_advice race = {"races", "do what the row 'races' says; this may be its effect"},
                            none = {"correct", "launch your kernel in this function, with <<<blocks, threads>>>"};
    const enum mistake m = s->mistake;
    const lab_call *freed = &s->heard.freed;
    if (m == A_CALL_FAILED) return advise_on_failure(v, s, u);
    lab_advise(v, on_session(s, u) ? on_session(s, u) : &for_mistake[m].advice);
    if (m == PLATE_FREED) return lab_blame_place(v, &(struct simgpu_place){.file = freed->file, .line = freed->line});
    if (lab_lane() == LAB_GPU) return;
    look_at(v, for_mistake[m].look, u);
    if (!lab_worst(u, launches_of)) {
        lab_blame_code(v, "solve(");
        return lab_advise(v, &none);
    }
    if (is_effect(s, lab_finding(u))) lab_advise(v, &race);
}

/* --- findings ------------------------------------------------------------------------------------- */

/* A place of a residual is in a smaller piece of memory than any plate. */
static bool is_of_residuals(const struct simgpu_finding *f) {
    enum { SMALLEST_PLATE = 256 };
    return f->space == SIMGPU_DEVICE_MEMORY && f->address.bytes < SMALLEST_PLATE;
}

static void advise_on_race(lab_verdict *v, const struct simgpu_finding *f) {
    const bool both_write = f->side[0].at.did != SIMGPU_DID_READ && f->side[1].at.did != SIMGPU_DID_READ;
    if (f->space != SIMGPU_DEVICE_MEMORY)
        LAB_SAY(v->next, "put a __syncthreads() between these two: after each step in the tile, and before the tile is "
                         "filled again");
    else if (is_of_residuals(f))
        LAB_SAY(v->next,
                "hand in by atomicMax, to a place for each check that is 0 before the launch; read it behind a "
                "meeting, or when the kernel is over");
    else if (both_write)
        LAB_SAY(v->next, "let one thread write each cell, or write by an atomic");
    else if (f->rival == SIMGPU_OTHER_BLOCK)
        LAB_SAY(v->next,
                "nothing orders two blocks of a launch but grid.sync(): a step reads one plate, writes another, "
                "and the blocks meet before the two change places");
    else
        LAB_SAY(v->next, "a step must not write the cells that it reads: write to a second plate");
}

/* The finding to speak of: a race also where something else was found before it, such as cells that a race has spoiled;
 * but a barrier first that some threads end without, since races follow from it. */
static const struct simgpu_finding *foremost(const lab_usage *u) {
    const struct simgpu_finding *race = lab_finding_of(u, SIMGPU_RACE), *first = lab_finding(u);
    const struct simgpu_finding *exited = lab_finding_of(u, SIMGPU_BARRIER_EXITED);
    if (exited && first->kind == SIMGPU_RACE) return exited;
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
        LAB_SAY(v->next, "move the barrier out of the condition: every thread of the block must come to it, "
                         "and to a grid.sync() every thread of the grid");
        return;
    case SIMGPU_BARRIER_EXITED:
        LAB_SAY(v->next, "let threads without a cell skip the work only, and come to every barrier and every "
                         "grid.sync()");
        return;
    }
}

/* --- the host ------------------------------------------------------------------------------------- */

static const char *next_for_call(const heard_place *p, const heard *h) {
    if (heard_has(h, "cudaStreamBeginCapture") || heard_has(h, "cudaGraphInstantiate"))
        return "capture and instantiate once, in setup; a plate at another address is no reason to do it again: let "
               "the "
               "graph work on plates of your own, and copy";
    if (p->waits && !strncmp(p->name, "cudaFree", 8)) return "allocate in setup, free in cleanup";
    if (p->waits) return "only the residual of a check is asked for: wait once a check";
    if (!strncmp(p->name, "cudaMalloc", 10)) return "allocate in setup, free in cleanup";
    if (!strncmp(p->name, "cudaMemset", 10)) return "only the step of a check needs it: clear it there, or in a kernel";
    if (!strcmp(p->name, "cudaEventQuery") || !strcmp(p->name, "cudaStreamQuery"))
        return "wait for the event (cudaEventSynchronize) rather than ask again and again";
    if (heard_has(h, "cudaGraphLaunch")) return "put all steps up to a check into the graph";
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
    const bool graph = heard_has(h, "cudaGraphLaunch"), cooperative = heard_has(h, "cudaLaunchCooperativeKernel");
    lab_blame(v, lab_worst(u, graph || cooperative ? work_of : launches_of));
    if (graph)
        LAB_SAY(v->next,
                "a graph's nodes still start one after another, 0.8 us each on an H200: let one cooperative kernel "
                "take several steps in shared memory between two meetings");
    else if (cooperative && u->total.shuffles > u->total.shared_ld)
        LAB_SAY(v->next,
                "count tiles, blocks and SMs: while one block takes another tile, all others wait for it in the "
                "meeting; then count the steps between two meetings");
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
