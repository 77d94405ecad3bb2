/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "hazards.h"
#include "usage.h"

#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

double launches_of(const lab_line *l) { return l->launches; }
double wavefronts_of(const lab_line *l) { return l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts; }
double excess_loads(const lab_line *l) { return l->c.ld_sectors - l->c.ld_bytes / 32; }
double divergent_of(const lab_line *l) { return l->c.branches - l->c.uniform_branches; }
static double loads_of(const lab_line *l) { return l->c.ld_requests; }
/* A mean is stored once, a block's sum by each block: of the lines that store, the one that does so least; of several,
 * the last one. */
static double rarely_stores(const lab_line *l) {
    return l->c.st_requests ? (1 + 1e-6 * l->line) / l->c.st_requests : 0;
}

/* --- a wrong mean ----------------------------------------------------------------------------- */

/* The line to begin with, of those that ran. */
enum look { AT_NOTHING, AT_LAUNCH, AT_LOAD, AT_STORE };

static const struct {
    lab_advice advice;
    enum look look;
} for_mistake[] = {
    [NO_MISTAKE] = {{"correct", ""}, AT_NOTHING},
    [UNWRITTEN] = {{"correct", "find the thread that stores this mean; if it belongs to the last block, count how far "
                               "the blocks' counter gets"},
                   AT_STORE},
    [NOT_A_NUMBER] = {{"correct", "stop every loop before index n; and what you atomicAdd to must be 0 before each "
                                  "call"},
                      AT_LOAD},
    [NOT_DATA] = {{"correct", "add only what was written: how many sums does a block of this size leave in shared "
                              "memory, and how many are read?"},
                  AT_LOAD},
    [NOTHING] = {{"correct", "follow float 0: which thread loads it, and how does its sum reach the thread that stores "
                             "the mean? An int on the way cuts it to 0"},
                 AT_LOAD},
    [LAST_MISSING] = {{"correct", "follow the first float that is missing: which thread loads it, and how does that "
                                  "thread's sum reach the mean?"},
                      AT_LOAD},
    [FIRST_MISSING] = {{"correct", "follow float 0: which thread loads it, and how does that thread's sum reach the "
                                   "mean?"},
                       AT_LOAD},
    [IS_SUM] = {{"correct", "divide by the number of floats, once, when all of them are added"}, AT_STORE},
    [WRONG_DIVISOR] = {{"correct", "divide by the number of floats of the whole tensor, not of a part, a block or a "
                                   "round"},
                       AT_STORE},
    [TWICE] = {{"correct", "give each float one thread: where do two loops, or two blocks, take the same one?"},
               AT_LOAD},
    [OF_LAST_CALL] = {{"correct", "keep addresses and lengths from one call to the next, and no sum and no mean: the "
                                  "data is new in each call"},
                      AT_STORE},
    [ADDED_AGAIN] = {{"correct", "set to 0, in each call, what the blocks add to: it still holds the last call's sum"},
                     AT_STORE},
    [OTHER_TENSOR] = {{"correct", "store each mean under the number of its tensor, which is not the number of the "
                                  "block once tensors have parts"},
                      AT_STORE},
    [CHANGED] = {{"correct", "find the store whose address comes from the tensor; sums belong into memory of your own"},
                 AT_STORE},
    [OUTSIDE] = {{"correct", "store one mean a tensor, at d_means[0] to d_means[count - 1]"}, AT_STORE},
    [WRONG] = {{"correct", "write down for this length which thread takes which floats, and where their sums meet"},
               AT_LOAD},
};

static void look_at(lab_verdict *v, enum look look, const lab_usage *u) {
    const lab_line *launch = lab_worst(u, launches_of), *load = lab_worst(u, loads_of);
    const lab_line *store = lab_worst(u, rarely_stores);
    lab_blame(v, look == AT_LOAD && load ? load : look == AT_STORE && store ? store : launch);
}

/* The threads that share the work, in figures of this launch. */
static void ask_for_shares(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_launch *l = lab_slowest(u);
    const uint32_t threads = l ? l->block[0] * l->block[1] * l->block[2] : 0, warps = (threads + 31) / 32;
    if (!l) return;
    LAB_SAY(v->next,
            "write down for this length which floats each of the %u block%s takes, and in it each of its %u "
            "threads; then where the sums of its %u warp%s meet",
            l->grid[0] * l->grid[1] * l->grid[2], l->grid[0] * l->grid[1] * l->grid[2] == 1 ? "" : "s", threads, warps,
            warps == 1 ? "" : "s");
}

void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u) {
    static const lab_advice
        kept = {"second-call", "the first call was right: find what it leaves behind for this one, a counter that is "
                               "not 0 again, a sum, a flag"},
        none = {"correct", "launch your kernel in this function, with <<<blocks, threads>>>"},
        list = {"pointer", "copy the list in plan, since it is gone after the call; then follow a float from its load "
                           "to the mean"},
        race = {"races", "do what the row 'races' says; this may be its effect"},
        no_store = {"correct",
                    "see which test keeps every thread from its store; a compiler also removes a loop that does "
                    "nothing and cannot end, and what follows it"};
    const enum mistake m = j->mistake;
    lab_advise(v, &for_mistake[m].advice);
    if (m == WRONG) ask_for_shares(v, u);
    if (j->calls > 1 && (m == UNWRITTEN || m == WRONG || m == NOT_A_NUMBER || m == LAST_MISSING || m == NOTHING))
        lab_advise(v, &kept);
    if ((m == NOTHING || m == NOT_A_NUMBER) && j->calls == 1 && !j->shape.array) lab_advise(v, &list);
    if (lab_lane() == LAB_GPU) return;
    if (m == UNWRITTEN && !lab_worst(u, launches_of)) {
        lab_blame_code(v, j->shape.array ? "mean(" : "means(");
        return lab_advise(v, &none);
    }
    if (m == UNWRITTEN && !u->total.st_requests && !u->total.atom_sectors) {
        const size_t n = strlen(v->why);
        lab_text(v->why + n, sizeof v->why - n, "\na kernel ran, and none of its threads stored anything");
        lab_blame(v, lab_worst(u, launches_of));
        return lab_advise(v, &no_store);
    }
    if (for_mistake[m].look != AT_NOTHING) look_at(v, for_mistake[m].look, u);
    if (m != CHANGED && m != IS_SUM && m != OF_LAST_CALL && lab_finding(u)) lab_advise(v, &race);
}

/* --- CUDA's errors ---------------------------------------------------------------------------- */

const lab_advice advice_on_errors[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds",
                          "work out the largest index of this line for this length: is there a test against the "
                          "length, and does the allocation have that many elements, each of sizeof *pointer?"},
    [LAB_HOST_ADDRESS] = {"pointer", "copy what the kernel reads to memory of cudaMalloc, in plan; an address of the "
                                     "host's means nothing to the GPU"},
    [LAB_FREED_ADDRESS] = {"pointer", "this memory is gone: take addresses from the last plan only, and free your own "
                                      "memory in the next plan, not before"},
    [LAB_MISALIGNED] = {"misaligned",
                        "a float4 needs an address that is a multiple of 16, and a tensor may begin at any "
                        "float: add the floats before it one by one"},
    [LAB_PAST_SHARED] = {"shared-size",
                         "compare the array's declared size with the largest index on this line: a block "
                         "has blockDim.x / 32 warps"},
    [LAB_NO_SHARED] = {"shared-size", "pass the size of the extern __shared__ array as the launch's third argument: "
                                      "<<<blocks, threads, bytes>>>"},
    [LAB_LANES_MISSED] = {"deadlock",
                          "let every lane that the mask names reach this line: a thread without a float takes "
                          "part with a 0"},
    [LAB_RUNAWAY] = {"runaway", "print the loop's bounds for this length; and never wait in a loop for another block, "
                                "which may not have begun"},
    [LAB_SOME_ADDRESS] = {"bounds", "find the threads beyond the end of this length: which test keeps them from their "
                                    "access?"},
    [LAB_SOME_MISALIGNED] = {"misaligned",
                             "a float4 needs an address that is a multiple of 16, and a tensor may begin at "
                             "any float"},
    [LAB_REFUSED + SIMGPU_REFUSED_OTHER] =
        {"error", "compare the bytes with those allocated, the pointers with the direction; a __device__ "
                  "variable has no address on the host, kernels use it by name"},
    [LAB_REFUSED + SIMGPU_REFUSED_STATIC_SHARED] = {"shared-size",
                                                    "keep one sum a thread or a warp in shared memory, not "
                                                    "the data"},
    [LAB_REFUSED + SIMGPU_REFUSED_SHARED] = {"shared-size",
                                             "pass the bytes of one block's sums as the third argument: 4 a "
                                             "thread"},
    [LAB_REFUSED + SIMGPU_REFUSED_UNSUPPORTED] = {"error",
                                                  "do without it: a sum needs loads, shuffles, a barrier and an "
                                                  "atomic"},
};

/* --- findings --------------------------------------------------------------------------------- */

/* Two threads of a block, in shared memory. */
static const char *on_shared(const struct simgpu_finding *f) {
    const bool reused = f->side[0].at.did == SIMGPU_DID_WRITE && f->side[1].at.did == SIMGPU_DID_READ;
    const bool both = lab_both_write(f);
    if (f->rival == SIMGPU_OTHER_LANE)
        return "put a barrier between the writes of a level and the reads of the next: __syncthreads() for a block's "
               "tree, __syncwarp() where one warp works alone; or use shuffles";
    if (both) return "give each place one thread, or use an atomic: two threads write this one";
    if (reused) return "put a __syncthreads() before this write: other threads may still read what stood there";
    return "put a __syncthreads() between the write and this read, where every thread of the block reaches it";
}

static const char *on_race(const struct simgpu_finding *f) {
    const bool both = lab_both_write(f);
    if (f->rival == SIMGPU_SAME_STORE) return "let one lane store: here several store different values to one place";
    if (f->space != SIMGPU_DEVICE_MEMORY) return on_shared(f);
    if (both) return "give each block a place of its own for its sum, or add with an atomic";
    if (f->rival == SIMGPU_OTHER_BLOCK)
        return "put a __threadfence() between a block's sum and its count, and one between the count and the sums; if "
               "both are there: was the count 0 before the call, and is it again after?";
    return "put a __syncthreads() between the write and the read, or give each thread its own place";
}

static const lab_hazard_words words = {
    .unwritten_memory = "who writes this place, and before this kernel? A counter begins at 0 by cudaMemset in plan; a "
                        "list is copied with its number times sizeof an element; of the blocks' sums, read as many as "
                        "were stored",
    .unwritten_shared = "read only what was written: a block of 256 leaves 8 sums, not 32; or a __syncthreads() is "
                        "missing before this line",
};

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = lab_finding(u), *race = lab_finding_of(u, SIMGPU_RACE);
    /* A race names both sides; a missing barrier gives both kinds. */
    if (race && f->kind == SIMGPU_UNINITIALISED && f->space != SIMGPU_DEVICE_MEMORY) f = race;
    lab_advise_on_hazard(v, f, on_race(f), &words);
}

/* --- time ------------------------------------------------------------------------------------- */

static const char *on_call(const struct simgpu_call *c) {
    switch (c->what) {
    case SIMGPU_COPIES:
    case SIMGPU_FILLS: return "copy in plan what never changes, and leave the means on the device";
    case SIMGPU_WAITS: return "return without waiting: who needs the means waits for them";
    default: return "allocate and free in plan, or once for all calls: keep the pointer in a static";
    }
}

static double per_warp(const struct simgpu_launch *l, double what) {
    const double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    return what / (blocks * ((l->block[0] * l->block[1] * l->block[2] + 31) / 32));
}

/* A kernel that waits for its loads, for one of four reasons. */
static const char *on_loads(const struct simgpu_launch *l, bool array) {
    enum { FEW_FLOATS = 64 };
    const double average = per_warp(l, (double)l->total.ld_requests);
    if (l->bound.rounds > 4 * average + 8) /* for one warp many more than for the others */
        return array
                   ? "let all threads of a block share the loop that adds the blocks' sums: now one of them waits for "
                     "each load"
                   : "cut long tensors into parts, a block each, and let all threads of a block share the sums of "
                     "the parts";
    if (array && l->bound.share < 0.5) return "start more blocks: fill all SMs, with 2048 threads each";
    if (!array && per_warp(l, (double)l->total.ld_bytes / 4) < 32 * FEW_FLOATS / 8)
        return "give each block more floats: now its warps wait longer for what comes before them, such as addresses, "
               "lengths and other sums, than for the floats";
    return "put several loads of a thread on their way: load four, then add them; then as float4s";
}

/* Each bound has its own remedy. */
static const char *on_bound(const struct simgpu_launch *l, bool array) {
    switch (l->bound.term) {
    case SIMGPU_TERM_BLOCKS: return "give each block more floats: it now costs more to start one than to add its share";
    case SIMGPU_TERM_LSU:
    case SIMGPU_TERM_L2_READ: return "let the lanes of a warp read neighbours, and exchange sums by shuffles";
    case SIMGPU_TERM_ISSUE:
    case SIMGPU_TERM_BARRIER: return "add in registers first, and build one tree a block, by shuffles";
    case SIMGPU_TERM_ATOMIC: return "add in the block first, and let one thread of each block meet the others";
    case SIMGPU_TERM_LATENCY:
        return l->bound.by_loads ? on_loads(l, array)
                                 : "shorten the chain of instructions: one tree a block, by shuffles";
    default: return "read each float once, and start no more kernels than that takes";
    }
}

void advise_on_time(lab_verdict *v, const lab_usage *u, double us, double reading, bool array) {
    const struct simgpu_launch *slowest = lab_slowest(u);
    const struct simgpu_event *call = lab_long_call(u, us);
    char text[320];
    v->hint = array ? "time-array" : "time-tensors";
    LAB_SAY(v->why, "%.2f times reading, want ≤ %.4g%s", us / reading, v->row->full,
            lab_say_slowest(u, text, sizeof text));
    if (!slowest) return;
    if (u->launches > 2) {
        lab_blame(v, lab_worst(u, launches_of));
        LAB_SAY(v->next, "%s",
                array ? "use one launch, or two; most of this time the device waits for the host to start the next one"
                      : "use one launch for all tensors, as 'tensors: launches' says; most of this time the device "
                        "waits for the host");
    } else if (call) {
        lab_blame_place(v, &call->at);
        LAB_SAY(v->why, "%.2f times reading, want ≤ %.4g; %s took %s, and the GPU had nothing to do meanwhile",
                us / reading, v->row->full, call->is.call.name, lab_us((double)call->duration_ns / 1000));
        LAB_SAY(v->next, "%s", on_call(&call->is.call));
    } else {
        lab_blame_place(v, &slowest->bound.at);
        LAB_SAY(v->next, "%s", on_bound(slowest, array));
    }
}
