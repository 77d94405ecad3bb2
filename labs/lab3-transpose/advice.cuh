/* advice.cuh — the next step for a row that is not full, by what went wrong.
 *
 * A row of the table has one next step for everybody. Where the harness knows more (what the wrong element holds, what
 * stopped the kernel, what the slowest kernel waits for), these give the step that fits, the line to look at, and the
 * section of hints.md to go on with.
 */
#ifndef ADVICE_CUH
#define ADVICE_CUH

#include "job.cuh"
#include "lab.h"

/* --- a wrong output, a stopped kernel --------------------------------------------------------- */

/* What to do, and which hint fits, for each way to be wrong. */
typedef struct {
    const char *hint, *next;
} advice;

static void advise(const advice *a) {
    lab_hint("correct", a->hint);
    lab_next("correct", "%s", a->next);
}

static void advise_on_output(enum mistake m) {
    static const advice for_mistake[] = {
        {"correct", ""}, /* no mistake */
        {"correct", "draw a 2x3 matrix and follow one element through your indices"},
        {"unwritten", "count rows and columns that your grid covers, for this shape: who writes the last of each?"},
        {"barrier", "find what a thread reads and another one writes: a __syncthreads() belongs between the two"},
        {"bounds", "write to d_out only: find the store whose address comes from d_in"},
        {"bounds", "test row < rows and col < cols before each access, not only before the first"},
    };
    advise(&for_mistake[m]);
}

/* CUDA's error is known in both lanes; what SimGPU says of a fault (NULL: nothing) is finer. */
static void advise_on_fault(cudaError_t error, const struct simgpu_fault *fault) {
    static const advice
        bounds = {"bounds", "find the threads beyond the edge of this shape: which test keeps them from this line?"},
        misaligned = {"misaligned", "a wide access needs an address that is a multiple of its width: is "
                                    "a row of this shape one?"},
        deadlock = {"deadlock", "let every thread of the block reach the barrier: move it out of the "
                                "if, or the return behind it"},
        mask = {"deadlock", "let every thread that the mask names reach this line"},
        runaway = {"runaway", "a loop does not end, or one thread does the work of many: print its "
                              "bounds for this shape"},
        shape = {"error", "a block holds at most 1024 threads, and no side of block or grid may be 0"},
        other = {"error", "read the message above: it names what CUDA could not do"};
    if (error == cudaErrorIllegalAddress) return advise(&bounds);
    if (error == cudaErrorMisalignedAddress) return advise(&misaligned);
    if (error == cudaErrorInvalidConfiguration) return advise(&shape);
    switch (fault ? fault->kind : SIMGPU_FAULT_NONE) {
    case SIMGPU_FAULT_DEADLOCK: return advise(&deadlock);
    case SIMGPU_FAULT_BAD_SYNC: return advise(&mask);
    case SIMGPU_FAULT_BUDGET: return advise(&runaway);
    default: advise(&other);
    }
}

/* --- what a line costs ------------------------------------------------------------------------ */

static double commands_of(const lab_line *l) { return l->launches + l->copies; }
static double copies_of(const lab_line *l) { return l->copies; }
static double loads_of(const lab_line *l) { return l->c.ld_sectors; }
static double excess_loads(const lab_line *l) { return l->c.ld_sectors - l->c.ld_bytes / 32; }
/* An atomic may stand in for a load or for a store; nobody needs one here, so it is a store on top of the others. */
static double atomics(const lab_counters *c) { return c->atom_sectors; }
static double excess_stores(const lab_line *l) { return l->c.st_sectors - l->c.st_bytes / 32 + atomics(&l->c); }
static double conflicts_of(const lab_line *l) { return l->c.shared_ld_conflicts + l->c.shared_st_conflicts; }
static double traffic_of(const lab_line *l) {
    return l->c.ld_sectors + l->c.st_sectors + l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts;
}

/* --- a slow kernel ---------------------------------------------------------------------------- */

/* The line to look at and the next step, by what the slowest kernel waits for. */
static void advise_on_time(const lab_usage *u) {
    bool conflicts = u->total.shared_ld_conflicts + u->total.shared_st_conflicts > 0;
    const struct simgpu_launch *slowest = lab_slowest(u);
    if (!slowest) return;
    const struct simgpu_bound *bound = &slowest->bound;
    lab_blame("virtual-time", lab_worst(u, traffic_of));
    if (u->launches + u->copies > 1 && (u->launches > 2 || bound->term == SIMGPU_TERM_LAUNCH)) {
        lab_blame("virtual-time", lab_worst(u, commands_of));
        lab_next("virtual-time",
                 "fewer launches: most of this time the device waits for the host to start the next one");
    } else if (bound->term == SIMGPU_TERM_LSU && conflicts) {
        lab_blame("virtual-time", lab_worst(u, conflicts_of));
        lab_next("virtual-time", "take the bank conflicts out of this line: each access now passes in several turns");
    } else if (bound->term == SIMGPU_TERM_LSU || bound->term == SIMGPU_TERM_L2_READ) {
        lab_blame("virtual-time", lab_worst(u, excess_loads));
        lab_next("virtual-time",
                 "coalesce this line: let the lanes of a warp touch few sectors, and each of them whole");
    } else if (bound->term == SIMGPU_TERM_L2_WRITE) {
        lab_blame("virtual-time", lab_worst(u, excess_stores));
        lab_next("virtual-time", "fill whole sectors: let 8 neighbouring threads store 8 neighbouring floats");
    } else if (bound->term == SIMGPU_TERM_LATENCY && bound->by_loads && bound->rounds > 1) {
        lab_blame("virtual-time", lab_worst(u, loads_of));
        lab_next("virtual-time",
                 "give the loop constant bounds, so that the compiler unrolls it and its loads start together");
    } else if (bound->term == SIMGPU_TERM_ISSUE) {
        lab_next("virtual-time",
                 "fewer instructions an element: several elements a thread share their index arithmetic");
    } else if (bound->term == SIMGPU_TERM_DRAM) {
        lab_next("virtual-time", "move each byte once, in wider accesses: a float4 is 16 bytes in one instruction");
    }
}

/* On a card nothing names the bound; the first counter that is not full is the likely one. */
static void advise_on_card(void) {
    static const char *const by_row[][2] = {
        {"launches", "fewer launches: most of this time the GPU waits for the host to start the next one"},
        {"load-sectors", "coalesce the loads: let the lanes of a warp touch few sectors, and each of them whole"},
        {"store-sectors", "coalesce the stores: let 8 neighbouring threads fill a sector of 8 floats"},
        {"bank-conflicts", "take out the bank conflicts: an access of shared memory now passes in several turns"},
    };
    for (int i = 0; i < 4 && !lab_passed("time"); i++)
        if (!lab_passed(by_row[i][0])) return lab_next("time", "%s", by_row[i][1]);
}

#endif
