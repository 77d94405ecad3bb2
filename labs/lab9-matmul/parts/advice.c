/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "hazards.h"
#include "usage.h"

#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

static double sectors_of(const lab_line *l) { return l->c.ld_sectors; }
/* Load sectors beyond those that the lanes' bytes need. */
static double excess_of(const lab_line *l) { return l->c.ld_sectors - l->c.ld_bytes / 32; }
static double loads_of(const lab_line *l) { return l->c.ld_requests + l->c.shared_ld_wavefronts; }
static double stores_of(const lab_line *l) { return l->c.st_requests + l->c.atom_requests; }
static double atomics_of(const lab_line *l) { return l->c.atom_requests; }

/* --- a wrong result ----------------------------------------------------------------------------- */

/* The line to begin with, of those that ran. */
enum look { AT_LAUNCH, AT_STORE, AT_LOAD };

static const struct {
    lab_advice advice;
    enum look look;
} for_mistake[] = {
    [NO_MISTAKE] = {{"correct", ""}, AT_LAUNCH},
    [NOTHING_WRITTEN] = {{"unwritten", "see which test sends every thread away before its store, and whether the "
                                       "address of the store comes from c"},
                         AT_STORE},
    [LAST_COLUMNS] = {{"unwritten", "round up: n columns take (n + tile - 1) / tile blocks, and the last of them is "
                                    "seldom whole. Or do x and y of the grid stand for each other?"},
                      AT_LAUNCH},
    [LAST_ROWS] = {{"unwritten", "round up: m rows take (m + tile - 1) / tile blocks, and the last of them is seldom "
                                 "whole. Or do x and y of the grid stand for each other?"},
                   AT_LAUNCH},
    [UNWRITTEN] = {{"unwritten", "take the element named here: which block and which thread should write it, and what "
                                 "stops them?"},
                   AT_STORE},
    [STALE] = {{"correct", "keep nothing from one call to the next: each call brings other data"}, AT_STORE},
    [NOT_A_NUMBER] = {{"nan", "find the value that nobody wrote: a sum that does not begin at 0, a place of the tile "
                              "beyond the edge, or c itself, which holds NaNs at first"},
                      AT_STORE},
    [TRANSPOSED] = {{"indices", "store the sum for row i and column j at c[i * n + j]"}, AT_STORE},
    [A_TRANSPOSED] = {{"indices", "A has rows of k floats: its element of row i and column x is a[i * k + x]"},
                      AT_LOAD},
    [B_TRANSPOSED] = {{"indices", "B has rows of n floats: its element of row x and column j is b[x * n + j]"},
                      AT_LOAD},
    [FACTORS_SWAPPED] = {{"indices", "compare the order of the arguments in the launch with that in the kernel: A B "
                                     "is not B A"},
                         AT_LAUNCH},
    [PRODUCTS_MISSING] = {{"edges", "count the turns of the loop over k: (k + depth - 1) / depth slices, and the last "
                                    "of them is seldom whole"},
                          AT_LOAD},
    [FIRST_MISSING] = {{"edges", "let the loop begin at 0, and the first slice at column 0 of A"}, AT_LOAD},
    [PRODUCTS_BEYOND] = {{"edges", "fill what lies beyond k with 0 in the tile, or stop the inner loop at k: behind a "
                                   "row of A lies its next row"},
                         AT_LOAD},
    [TWICE] = {{"edges", "add each product once: do two turns of a loop, or two threads, have the same x?"}, AT_LOAD},
    [ELSEWHERE] = {{"indices", ""}, AT_STORE}, /* say_more */
    [ROUNDED] = {{"precision", "keep fp32 throughout: products and sums of half, bf16 or tf32 have 11 bits or fewer"},
                 AT_STORE},
    [WRONG] = {{"sums", ""}, AT_LOAD}, /* say_more */
    [INPUT_CHANGED] = {{"bounds", "write to c only: find the store whose address comes from a or b"}, AT_STORE},
    [OUT_OF_BOUNDS] = {{"bounds", "test row < m and column < n before each store"}, AT_STORE},
};

static const lab_line *line_to_see(enum look look, const lab_usage *u) {
    const lab_line *launch = lab_worst(u, lab_commands_of), *l = NULL;
    if (look == AT_STORE) l = lab_worst(u, stores_of);
    if (look == AT_LOAD) l = lab_worst(u, sectors_of);
    return l ? l : launch;
}

/* What the mistake's own next step does not know: the shape. */
static void say_more(lab_verdict *v, const job *j) {
    const int m = j->shape.m, n = j->shape.n;
    if (j->mistake == LAST_COLUMNS && n > 65535 / 32)
        LAB_SAY(v->next, "start a block for each tile: let the grid grow with n");
    if (j->mistake == ELSEWHERE)
        LAB_SAY(v->next,
                "write down for one thread which rows and columns its sums have: where it loads its floats, and "
                "where it stores its sums");
    if (j->mistake == WRONG)
        LAB_SAY(v->next,
                "write down for %dx%dx%d which floats the thread of c[%d][%d] multiplies in its first turn, and in its "
                "last",
                m, n, j->shape.k, j->row, j->col);
}

static const lab_advice race = {"races", "do what the row 'races' says; this may be its effect"};
static bool wrong_sums; /* the first wrong result may be a race's effect */

void advise_on_effect(lab_verdict *v) {
    if (wrong_sums) lab_advise(v, &race);
}

void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u) {
    static const lab_advice none = {"unwritten", "launch your kernel in each call of matmul: each brings other data"};
    const enum mistake m = j->mistake;
    lab_advise(v, &for_mistake[m].advice);
    say_more(v, j);
    if (lab_lane() == LAB_GPU) return;
    if (!lab_started(u, j->begin)) {
        lab_blame_code(v, "matmul(");
        return lab_advise(v, &none);
    }
    lab_usage last = lab_usage_of_last(j->counted);
    lab_blame(v, line_to_see(for_mistake[m].look, &last));
    lab_usage_free(&last);
    const bool sums = m == WRONG || m == NOT_A_NUMBER || m == STALE || m == ELSEWHERE || m == TWICE ||
                      m == PRODUCTS_MISSING || m == FIRST_MISSING || m == PRODUCTS_BEYOND;
    wrong_sums = sums;
    if (sums && lab_finding(u)) lab_advise(v, &race);
}

/* --- CUDA's errors ---------------------------------------------------------------------------- */

const lab_advice advice_on_errors[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds",
                          "work out row and column of this access: does it lie beyond the edge of this shape? "
                          "A tile at the edge is not whole"},
    [LAB_HOST_ADDRESS] = {"pointer", "pass a, b and c to the kernel as they are; a kernel cannot follow an address of "
                                     "the host's"},
    [LAB_FREED_ADDRESS] = {"pointer", "free memory only when no kernel uses it any more"},
    [LAB_LANES_MISSED] = {"deadlock", "let every lane that the mask names reach this line"},
    [LAB_TWO_BARRIERS] = {"deadlock",
                          "move the barrier out of the condition: all threads of the block must come to it, "
                          "those beyond the edge, too"},
    [LAB_MISALIGNED] = {"misaligned", "a float4 needs an address that is a multiple of 16: does this row begin at one, "
                                      "if its length is no multiple of 4?"},
    [LAB_PAST_SHARED] = {"shared", "compare the array's declared size with the largest index on this line"},
    [LAB_RUNAWAY] = {"runaway", "print the loop's bounds for this shape"},
    [LAB_SOME_ADDRESS] = {"bounds", "find the threads beyond the edge of this shape: which test keeps them from their "
                                    "access?"},
    [LAB_SOME_MISALIGNED] = {"misaligned", "a float4 needs an address that is a multiple of 16: does this row begin at "
                                           "one, if its length is no multiple of 4?"},
    [LAB_REFUSED + SIMGPU_REFUSED_ZERO] = {"error", "round the number of blocks up: (n + 127) / 128 is at least 1, n / "
                                                    "128 is not"},
    [LAB_REFUSED + SIMGPU_REFUSED_BLOCK] = {"error", "use at most 1024 threads a block, and let each compute several "
                                                     "elements"},
    [LAB_REFUSED + SIMGPU_REFUSED_STATIC_SHARED] = {"shared", "a block has 48 KB of __shared__ arrays: fetch fewer "
                                                              "columns of A and rows of B at a time"},
    [LAB_REFUSED + SIMGPU_REFUSED_SHARED] = {"shared", "ask for more than 48 KB by cudaFuncSetAttribute with "
                                                       "cudaFuncAttributeMaxDynamicSharedMemorySize"},
    [LAB_REFUSED + SIMGPU_REFUSED_REGISTERS] = {"warps", "a block's threads share 65536 registers: use fewer threads, "
                                                         "or __launch_bounds__ to have the compiler keep within them"},
    [LAB_REFUSED + SIMGPU_REFUSED_UNSUPPORTED] = {"error", "do without it: a matmul needs loads, stores, barriers and "
                                                           "cp.async"},
};

/* --- findings --------------------------------------------------------------------------------- */

/* Two threads of a block, in shared memory: a write that others may still be reading needs its barrier before it. */
static const char *on_shared(const struct simgpu_finding *f) {
    if (lab_both_write(f)) return "give each place of the tile one thread: two of them write this one";
    if (f->side[0].at.did == SIMGPU_DID_WRITE)
        return "put a __syncthreads() between the last read of this tile and this write; or fetch into another tile in "
               "turn";
    return "put a __syncthreads() between the write and this read, which every thread reaches. After cp.async: a wait "
           "is "
           "for a thread's own copies, and its number says how many groups may still be under way";
}

static const char *on_race(const struct simgpu_finding *f) {
    if (f->rival == SIMGPU_SAME_STORE) return "let one lane store: here several store different values to one place";
    if (f->space != SIMGPU_DEVICE_MEMORY && f->rival == SIMGPU_OTHER_LANE)
        return "put a __syncwarp() between the two: they are lanes of one warp, and not in step";
    if (f->space != SIMGPU_DEVICE_MEMORY) return on_shared(f);
    return "let one thread write each element: two threads write this place";
}

static const lab_hazard_words words = {
    .unwritten_memory = "write c, and do not read it: it holds nothing when you are called",
    .unwritten_shared =
        "write every place of the tile that is read, beyond the edge with 0. Or before this line a "
        "__syncthreads() is missing, or a wait for cp.async, or its number leaves a group too many under "
        "way: commit in every turn",
    .exited =
        "let this thread fetch its part of the tile, come to each barrier, and store nothing: test before the store, "
        "and do not return",
    .skipped = "let every thread of the block come to the __syncthreads(): a thread beyond the edge fetches its part "
               "of the tile and stores nothing",
};

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = lab_first_hazard(u);
    lab_advise_on_hazard(v, f, on_race(f), &words);
}

/* --- loads ------------------------------------------------------------------------------------ */

void advise_on_global(lab_verdict *v, const lab_usage *u) {
    const lab_line *scattered = lab_worst(u, excess_of);
    if (scattered && excess_of(scattered) > 0.1 * u->total.ld_sectors) {
        lab_blame(v, scattered);
        LAB_SAY(v->next, "let neighbouring threads (threadIdx.x) take neighbouring columns: then a warp's floats of B "
                         "are neighbours, and it needs one of A");
        return;
    }
    lab_blame(v, lab_worst(u, sectors_of));
    if (u->total.shared_ld == 0)
        LAB_SAY(v->next, "fetch a tile of A and a tile of B into shared memory, and let the whole block use them");
}

void advise_on_loads(lab_verdict *v, const lab_usage *u, double rate) {
    lab_blame(v, lab_worst(u, loads_of));
    if (u->total.shared_ld > 0 && u->total.shared_ld_conflicts > 0.3 * u->total.shared_ld) {
        LAB_SAY(v->next, "remove the bank conflicts first: an access takes several wavefronts now");
        return;
    }
    if (rate > 1.5) LAB_SAY(v->next, "let each thread compute a column of 8 elements: it needs each float of B once");
    if (rate < 0.5)
        LAB_SAY(v->next, "load float4s, lay the 32 patches of a warp in a rectangle, and number its lanes so that a "
                         "lane and lane ^ 1, "
                         "or lane ^ 2, want the same float4");
}

void advise_on_local(lab_verdict *v, const lab_usage *u) {
    enum { MOST_REGISTERS = 255 };
    const struct simgpu_launch *l = lab_slowest(u);
    const bool spilled = l && l->spilled;
    LAB_SAY(v->why, "%.0f sectors of local memory: %s", u->total.local_sectors,
            spilled ? "the thread's values do not fit into its registers, and the compiler spills the rest"
                    : "an array that is indexed by a variable has no registers, nor have the arguments of "
                      "a function that is called and not inlined");
    if (spilled && l->registers < MOST_REGISTERS)
        LAB_SAY(v->next,
                "ask for fewer blocks an SM: __launch_bounds__ leaves %u registers a thread here. Or give each thread "
                "a smaller patch",
                l->registers);
    else if (spilled)
        LAB_SAY(
            v->next,
            "give each thread a smaller patch: 8 x 8 sums and 16 floats fit into 255 registers, 16 x 16 sums do not");
}

/* --- time ------------------------------------------------------------------------------------- */

static const char *on_call(const struct simgpu_call *c) {
    switch (c->what) {
    case SIMGPU_WAITS: return "return without waiting: who needs the result waits for it";
    case SIMGPU_COPIES:
    case SIMGPU_FILLS: return "copy nothing here: a and b are there, and your kernel writes every element of c";
    default: return "allocate nothing: the sums live in registers, and tiles in shared memory";
    }
}

/* A kernel that waits for its loads, or for its own instructions. */
static const char *on_latency(const struct simgpu_launch *l, int k) {
    enum {
        SHALLOWEST = 8
    }; /* columns of a slice: so many turns have a round of loads each, if those of a turn go together */
    if (l->bound.by_loads && l->bound.rounds > (uint64_t)k / SHALLOWEST + 2)
        return "unroll the loop that fetches, with a constant number of turns: now each of its loads waits for the one "
               "before";
    if (l->bound.share < 0.4) return "start more blocks: a tile of C for each SM at least, better two";
    if (l->bound.by_loads) return "fetch the next tile while the block works with this one: two tiles, and cp.async";
    return "give each thread more sums that do not wait for each other";
}

static const char *on_bound(const struct simgpu_launch *l, int k) {
    if (l->total.local_sectors > 0) return "keep the sums out of local memory first: see the row above";
    switch (l->bound.term) {
    case SIMGPU_TERM_LSU: return "load less for each multiply-add: see the rows about loads";
    case SIMGPU_TERM_L2_READ:
    case SIMGPU_TERM_DRAM: return "use each float more often: a larger tile of C for each block";
    case SIMGPU_TERM_L2_WRITE: return "store whole float4s of c, neighbouring threads side by side";
    case SIMGPU_TERM_ISSUE:
        return "count the instructions of the inner loop that are no multiply-adds: unroll it, load "
               "float4s, and compute no address in it";
    case SIMGPU_TERM_BARRIER: return "wait less often: a deeper slice for each barrier";
    case SIMGPU_TERM_ATOMIC: return "add in registers; no atomic is needed where a thread has the whole sum";
    case SIMGPU_TERM_LATENCY: return on_latency(l, k);
    case SIMGPU_TERM_BLOCKS: return "start fewer blocks: let each compute a larger tile of C";
    default: return NULL;
    }
}

void advise_on_time(lab_verdict *v, const lab_usage *u, double us, bool odd, int k) {
    const struct simgpu_launch *slowest = lab_slowest(u);
    if (!slowest) return;
    const struct simgpu_call *call = lab_blame_call(v, u, us);
    if (call) {
        LAB_SAY(v->next, "%s", on_call(call));
        return;
    }
    lab_blame_place(v, &slowest->bound.at);
    if (lab_worst(u, atomics_of) && slowest->bound.term == SIMGPU_TERM_ATOMIC) lab_blame(v, lab_worst(u, atomics_of));
    const char *next = on_bound(slowest, k);
    if (next && !odd) LAB_SAY(v->next, "%s", next);
}
