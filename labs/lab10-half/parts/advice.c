/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "hazards.h"
#include "usage.h"

#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

double requests_of(const lab_line *l) { return l->c.ld_requests + l->c.st_requests; }
double small_requests_of(const lab_line *l) { return requests_of(l) - (l->c.ld_bytes + l->c.st_bytes) / 512; }
double others_of(const lab_line *l) { return l->c.issue_slots - l->c.tensor; }
static double stores_of(const lab_line *l) { return l->c.st_requests + l->c.atom_requests; }

/* --- a wrong result ----------------------------------------------------------------------------- */

static const lab_advice for_mistake[] = {
    [NO_MISTAKE] = {"correct", ""},
    [NOTHING_WRITTEN] = {"unwritten",
                         "see which test sends every thread away before its store, and whether the address "
                         "of the store comes from the result"},
    [LAST_ROWS] = {"unwritten", "round up: m rows take (m + n - 1) / n tiles of n rows, and the last of them is seldom "
                                "whole"},
    [LAST_COLUMNS] = {"unwritten", "round up: the last tile, or the last group of eight, is seldom whole, and its "
                                   "elements must be stored too"},
    [UNWRITTEN] = {"unwritten", "take the element named here: which block and which thread should write it, and what "
                                "stops them?"},
    [STALE] = {"correct", "keep nothing from one call to the next: each call brings other data"},
    [NOT_A_NUMBER] = {"finite", "find what makes the infinity or the NaN: a sum of halves above 65504, a value that "
                                "nobody wrote, or 0 times infinity"},
    [NO_RELU] = {"formula", "put the relu back: what is below 0 becomes 0, behind the bias"},
    [NO_BIAS] = {"formula", "add bias[j] to the sum, before relu"},
    [BIAS_LAST] = {"formula", "add the bias first, then take the larger of the sum and 0"},
    [BIAS_BY_ROW] = {"formula", "take the bias by the column, bias[j]: it has n halves"},
    [BIAS_OFTEN] = {"formula", "add the bias once to each element: when its sum is complete"},
    [TRANSPOSED] = {"formula", "w is k x n, row after row: element (a, j) stands at w[a * n + j]"},
    [TILES_TURNED] = {"fragments",
                      "let ldmatrix turn w's tiles on their way (.trans), or name w's fragment row_major: w "
                      "lies row after row"},
    [NO_LAST_K] = {"sums",
                   "round up: k products take (k + n - 1) / n turns of n, and the last is seldom whole. Fill what "
                   "lies beyond k with 0"},
    [OTHER_PLACE] = {"fragments", "write down which lane has which elements of its fragment: the PTX ISA has a picture "
                                  "for each shape. Then compare your store with it"},
    [PASSES_ZERO] = {"mask", "let dy pass where y > 0 only: relu gives 0 for 0, and nothing goes back there"},
    [PASSES_PLUS_ZERO] = {"mask", "let dy pass where y > 0 only: relu gives 0 for 0, and nothing goes back there"},
    [MASK_MULTIPLIED] = {"mask", "choose, do not multiply: 0 times infinity is a NaN"},
    [NOT_PASSED] = {"mask",
                    "take the element named here: y may be 0, -0 or below 0, and dy infinite. Does each half of a pair "
                    "have a test of its own?"},
    [PASSES_ALL] = {"mask", "test y for each of the two halves of a pair by itself"},
    [PASSES_Y] = {"mask", "y decides, dy passes: compare the arguments with the launch"},
    [WRONG] = {"sums", "compute the element named here by hand: which products enter its sum, in which tile?"},
    [INPUT_CHANGED] = {"bounds", "write to the result only: find the store whose address comes from an input"},
    [OUT_OF_BOUNDS] = {"bounds", "test row and column before each store"},
};

/* Of the lines that ran on this shape: other shapes may have had other kernels. */
static void blame_last_run(lab_verdict *v, const job *j) {
    lab_usage last = lab_usage_of_last(j->counted);
    const lab_line *store = lab_worst(&last, stores_of);
    lab_blame(v, store ? store : lab_worst(&last, lab_commands_of));
    lab_usage_free(&last);
}

/* The place of the last launch: of the job's own, where the stretch holds those of other jobs before it. */
static const struct simgpu_place *last_launch(const lab_usage *u) {
    const struct simgpu_place *at = NULL;
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_LAUNCH) at = &u->events[i].at;
    return at;
}

static const lab_advice not_called = {"unwritten", "launch your kernel in each call: each brings other data"};
static const lab_advice race = {"races", "do what the row 'races' says; this may be its effect"};

void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u) {
    lab_advise(v, &for_mistake[j->mistake]);
    if (lab_lane() == LAB_GPU) return;
    if (!lab_started(u, j->begin)) {
        lab_blame_code(v, job_is_dense(j) ? "dense(" : "relu_backward(");
        return lab_advise(v, &not_called);
    }
    if (j->mistake == LAST_ROWS || j->mistake == LAST_COLUMNS || j->mistake == NOTHING_WRITTEN)
        lab_blame_place(v, last_launch(u));
    else
        blame_last_run(v, j);
    if ((j->mistake == WRONG || j->mistake == NOT_A_NUMBER || j->mistake == STALE) && lab_finding(u))
        lab_advise(v, &race);
}

static const struct {
    lab_advice advice;
    const char *at; /* the function to look at */
} for_step[] = {
    [NET_RIGHT] = {{"correct", ""}, "gradients("},
    [NET_UNWRITTEN] = {{"unwritten", "write every g[a][j], and *loss"}, "gradients("},
    [NET_NOT_FINITE] = {{"finite", "find what exceeds 65504 here: a sum of halves, or a scale that is too large"},
                        "gradients("},
    [NET_LOSS] = {{"training", "add the squares of out - t over the batch, and divide by m"}, "gradients("},
    [NET_NO_MASK] = {{"training", "let dh go back through relu_backward before it meets x"}, "gradients("},
    [NET_NO_MEAN] = {{"training", "divide by m: the loss is a mean"}, "gradients("},
    [NET_NO_TWO] = {{"training", "the derivative of a square is 2 (out - t)"}, "gradients("},
    [NET_SIGN] = {{"training", "out - t, not t - out: update subtracts"}, "gradients("},
    [NET_NO_SCALE] = {{"scale", "multiply what goes back by the scale, in floats, before it becomes a half"},
                      "gradients("},
    [NET_FACTOR] = {{"scale", "return the very number that dh was multiplied by, once"}, "gradients("},
    [NET_GRADIENT] = {{"training",
                       "g[a][j] is the sum over the batch of x[i][a] * dz[i][j]: check the strides, k for x "
                       "and n for dz"},
                      "gradients("},
    [NET_BAD_SCALE] = {{"scale", "return the scale that g is multiplied by; 1 if there is none"}, "gradients("},
    [NET_UPHILL] = {{"training", "subtract: the gradient points to where the loss grows"}, "update("},
    [NET_NOT_CHANGED] = {{"training", "write the new weights to net->w, which the network computes with"}, "update("},
    [NET_NO_ROOT] = {{"training", "divide by the root of q, and add EPSILON to that"}, "update("},
    [NET_FORGETS] = {{"training", "keep q from step to step: net->state stays as you leave it"}, "update("},
    [NET_FROM_ZERO] = {{"training",
                        "before step 0 net->state is 0 and net->w holds the first weights: begin with those"},
                       "update("},
    [NET_UPDATE] = {{"training", "follow this weight through both lines of the rule in lab10.h: which one differs?"},
                    "update("},
};

void advise_on_step(lab_verdict *v, const net *n, const lab_usage *u) {
    lab_advise(v, &for_step[n->mistake].advice);
    if (lab_lane() == LAB_GPU) return;
    lab_blame_code(v, for_step[n->mistake].at);
    if (lab_finding(u)) lab_advise(v, &race);
}

/* --- a wrong result of dense_bf16 ------------------------------------------------------------------ */

static const lab_advice for_wide[] = {
    [WIDE_ROUNDED] = {"bf16", "sum in floats, and round to a bfloat16 once, at the end"},
    [WIDE_CUT] = {"bf16",
                  "round to the nearest, by __float2bfloat16: to cut the lower bits off is off by twice as much"},
    [WIDE_NO_RELU] = {"formula", "take the larger of the sum and 0 here, too"},
    [WIDE_OTHER_BITS] = {"bf16",
                         "take the 16 bits as those of a bfloat16, by __bfloat162float: a half's lie otherwise"},
    [WIDE_NO_BIAS] = {"formula", "add bias[j] to the sum here, too, before relu"},
};

void advise_on_wide(lab_verdict *v, const wide *r) {
    static const lab_advice unwritten = {"unwritten", "round the number of blocks up: the last rows and columns are "
                                                      "seldom a whole block"},
                            overflow = {"bf16",
                                        "pass no half on the way: a float holds all that a bfloat16 does, a half "
                                        "does not"};
    if (r->poison || r->odd) LAB_SAY(v->value_text, r->poison ? "-" : "inf");
    if (r->poison) {
        lab_fail(v, "%d of %d elements were never written", r->poison, r->m * r->n);
        lab_advise(v, &unwritten);
    } else if (r->odd) {
        lab_fail(v, "%d of %d elements are infinite or no number; one should be %.6g, and the largest half is 65504",
                 r->odd, r->m * r->n, r->want);
        lab_advise(v, &overflow);
    } else {
        LAB_SAY(v->why, "an element is %.6g, wants %.6g: off by %.3g roundings of a bfloat16", r->got, r->want,
                r->worst);
        if (r->worst >= 1e6) LAB_SAY(v->value_text, "%.1e", r->worst);
        lab_advise(v, &for_wide[r->mistake]);
    }
}

/* --- CUDA's errors ---------------------------------------------------------------------------- */

const lab_advice advice_on_errors[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds",
                          "work out row and column of this access: do they lie beyond the edge of this shape?"},
    [LAB_HOST_ADDRESS] = {"pointer",
                          "pass the pointers to the kernel as they are; a kernel cannot follow an address of "
                          "the host's, nor can the host follow net->w"},
    [LAB_FREED_ADDRESS] = {"pointer",
                           "free memory only when no kernel uses it any more; net->state needs no allocation"},
    [LAB_MISALIGNED] = {"misaligned",
                        "16 bytes at a time need an address that is a multiple of 16: does row r begin at "
                        "one, if n is no multiple of 8?"},
    [LAB_SOME_MISALIGNED] = {"misaligned",
                             "16 bytes at a time need an address that is a multiple of 16: does row r begin "
                             "at one, if n is no multiple of 8?"},
    [LAB_SOME_ADDRESS] = {"bounds", "find the threads beyond the edge of this shape: which test keeps them from their "
                                    "access?"},
    [LAB_PAST_SHARED] = {"shared", "compare the array's size with the largest index on this line; halves are 2 bytes, "
                                   "and floats 4"},
    [LAB_NO_SHARED] = {"shared", "give the launch the array's bytes as its third number: <<<blocks, threads, bytes>>>"},
    [LAB_LANES_MISSED] = {"deadlock",
                          "let all 32 lanes come to this line together: wmma, mma.sync and ldmatrix are of a "
                          "whole warp"},
    [LAB_TWO_BARRIERS] = {"deadlock", "move the barrier out of the condition: all threads of the block come to it"},
    [LAB_BARRIER_MISSED] = {"deadlock", "move the barrier out of the condition: all threads of the block come to it"},
    [LAB_BARRIER_PARTLY] = {"deadlock", "let no thread return before the last barrier"},
    [LAB_ASSERTION] = {"error",
                       "pad rows by 4 floats or by 8 halves, if this is a fragment's stride; an assertion of your own "
                       "names its case"},
    [LAB_RUNAWAY] = {"error", "print the loop's bounds for this shape"},
    [LAB_REFUSED + SIMGPU_REFUSED_ZERO] = {"error",
                                           "round the number of blocks up: (count + 2047) / 2048 is at least 1, "
                                           "count / 2048 is not"},
    [LAB_REFUSED + SIMGPU_REFUSED_BLOCK] = {"error", "use at most 1024 threads a block"},
    [LAB_REFUSED + SIMGPU_REFUSED_STATIC_SHARED] = {"shared",
                                                    "declare what is over 48 KB as extern __shared__, and ask "
                                                    "for it in the launch"},
    [LAB_REFUSED + SIMGPU_REFUSED_SHARED] = {"shared", "over 48 KB a kernel must be told: cudaFuncSetAttribute(kernel, "
                                                       "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"},
    [LAB_REFUSED + SIMGPU_REFUSED_REGISTERS] = {"registers",
                                                "give each warp a smaller tile: its sums are registers, 65536 "
                                                "of which are in an SM"},
};

/* --- findings --------------------------------------------------------------------------------- */

static const char *on_race(const struct simgpu_finding *f) {
    const bool both = lab_both_write(f);
    if (f->rival == SIMGPU_SAME_STORE) return "let one lane store: here several store different values to one place";
    if (f->space == SIMGPU_DEVICE_MEMORY)
        return both ? "let one thread write each element: two write this one"
                    : "start a kernel of its own for what reads here: nothing else orders blocks";
    if (f->rival == SIMGPU_OTHER_LANE)
        return "put a __syncwarp() between the two: they are lanes of one warp, and not in step";
    if (both) return "give each place of shared memory one thread, or put a __syncthreads() between the two writes";
    return "put a __syncthreads() between this write and the read. If there is one, it is the next turn's write: a "
           "tile may "
           "be filled again when all warps have read it, so a second barrier ends the turn";
}

static const lab_hazard_words words = {
    .unwritten_memory = "write this memory before a kernel reads it; net->state alone is 0 at first",
    .unwritten_shared = "wait for the copy (cp.async.wait_group, then __syncthreads()), and fill what lies beyond the "
                        "edge with 0",
    .stream_order = "start both on one stream: its commands run in their order",
    .in_flight = "wait for the copy before the host touches its memory",
};

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = lab_first_hazard(u);
    lab_advise_on_hazard(v, f, on_race(f), &words);
}

/* --- time --------------------------------------------------------------------------- */

static const char *on_bound(const struct simgpu_launch *l, bool product) {
    const bool tensor = l->total.tensor > 0;
    if (product && !tensor) return "let the tensor cores multiply: they do in one instruction what takes 64 here";
    switch (l->bound.term) {
    case SIMGPU_TERM_BLOCKS: return "start fewer blocks: give each more elements";
    case SIMGPU_TERM_LSU:
        return tensor
                   ? "load each half fewer times: larger tiles of a warp in registers, by ldmatrix, four matrices at a "
                     "time, and no two lanes in a bank"
                   : "move 16 bytes a lane with each load and store";
    case SIMGPU_TERM_L2_READ:
    case SIMGPU_TERM_L2_WRITE:
        return product ? "let a block load each tile once into shared memory, and all its warps use it"
                       : "move 16 bytes a lane with each load and store";
    case SIMGPU_TERM_ISSUE:
        return product ? "use fewer instructions a product: larger tiles of a warp, unrolled loops"
                       : "use fewer instructions an element: eight halves a thread";
    case SIMGPU_TERM_BARRIER: return "wait less often: more of k between two barriers";
    case SIMGPU_TERM_LATENCY:
        return tensor
                   ? "have the next tiles on their way while these are multiplied: cp.async, three stages or four; and "
                     "enough blocks for all SMs"
                   : "have more bytes on their way: 16 bytes a lane, and blocks enough";
    case SIMGPU_TERM_TENSOR: return "the tensor cores are busy all the time: multiply nothing twice";
    default: return "move each byte once";
    }
}

void advise_on_time(lab_verdict *v, const lab_usage *u, double us, bool product) {
    const struct simgpu_launch *slowest = lab_slowest(u);
    if (!slowest) return;
    if (lab_blame_call(v, u, us)) {
        LAB_SAY(v->next, "allocate nothing and wait for nothing here: who needs the result waits for it");
    } else {
        lab_blame_place(v, &slowest->bound.at);
        LAB_SAY(v->next, "%s", on_bound(slowest, product));
        if (product && slowest->bound.term == SIMGPU_TERM_LATENCY && strstr(v->code, "bias["))
            LAB_SAY(v->next,
                    "load the bias before the loop over k, into registers: nothing else is on its way behind it");
    }
}
