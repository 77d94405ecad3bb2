/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "hazards.h"
#include "usage.h"

#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

double traffic_of(const lab_line *l) { return l->c.ld_sectors + l->c.st_sectors + l->c.atom_sectors; }
double loads_of(const lab_line *l) { return l->c.ld_requests; }
static double excess_of(const lab_line *l) {
    return traffic_of(l) - (l->c.ld_bytes + l->c.st_bytes) / 32; /* of accesses that are not coalesced */
}
static double stores_of(const lab_line *l) { return l->c.st_requests + l->c.atom_requests; }
double sums_of(const lab_line *l) { return l->c.shuffles + l->c.shared_st; }

/* --- a wrong result ----------------------------------------------------------------------------- */

/* The line to begin with, of those that ran. */
enum look { AT_LAUNCH, AT_STORE, AT_EXCHANGE, AT_ROOT };

static const struct {
    lab_advice advice;
    enum look look;
} for_mistake[] = {
    [NO_MISTAKE] = {{"correct", ""}, AT_LAUNCH},
    [NOTHING_WRITTEN] = {{"unwritten", "see which test sends every thread away before its store, and whether the "
                                       "address of the store comes from y"},
                         AT_STORE},
    [LAST_COLUMNS] = {{"unwritten",
                       "round up: a row of cols floats takes (cols + n - 1) / n turns of n floats, and the "
                       "last of them is seldom whole"},
                      AT_STORE},
    [LAST_ROWS] = {{"unwritten", "round up: with n rows a block the grid needs (rows + n - 1) / n blocks, and the last "
                                 "of them is seldom whole"},
                   AT_LAUNCH},
    [UNWRITTEN] = {{"unwritten", "take the element named here: which block and which thread should write it, and what "
                                 "stops them?"},
                   AT_STORE},
    [STALE] = {{"correct", "keep nothing from one call to the next: each call brings other data, and scratch holds "
                           "whatever it holds"},
               AT_STORE},
    [NOT_A_NUMBER] = {{"nan", "find what makes the NaN: a root of a number below 0, a quotient of 0, or a value that "
                              "nobody wrote, as scratch has at first"},
                      AT_EXCHANGE},
    [NO_RELU] = {{"formula", "put the relu back: fmaxf(h, 0), before x is added"}, AT_STORE},
    [RELU_LAST] = {{"formula", "take fmaxf of h alone, and add x to what it gives"}, AT_STORE},
    [NO_ADD] = {{"formula", "add the row as it came, x, to the result of the relu"}, AT_STORE},
    [ADDS_NORM] = {{"formula", "keep x itself for the last addition: the register has its normalised value by now"},
                   AT_STORE},
    [NO_GAMMA] = {{"formula", "multiply the normalised element by gamma[c]"}, AT_STORE},
    [NO_BETA] = {{"formula", "add beta[c] before the relu"}, AT_STORE},
    [SWAPPED] = {{"formula", "multiply by gamma, add beta: compare the order of the arguments in the launch with that "
                             "in the kernel"},
                 AT_STORE},
    [BY_ROW] = {{"formula", "take gamma and beta by the column, gamma[c]: they have cols floats"}, AT_STORE},
    [NO_MEAN] = {{"formula", "subtract the row's mean from each element before you scale it"}, AT_STORE},
    [UNBIASED] = {{"formula", "divide the sum of the squares by cols: layernorm uses the variance of the row itself, "
                              "not an estimate from a sample"},
                  AT_ROOT},
    [NO_EPSILON] = {{"formula", "add EPSILON to the variance before the root"}, AT_ROOT},
    [EPSILON_OUTSIDE] = {{"formula", "add EPSILON inside the root: rsqrtf(variance + EPSILON)"}, AT_ROOT},
    [NO_ROOT] = {{"formula", "divide by the root of the variance: rsqrtf(variance + EPSILON)"}, AT_ROOT},
    [TIMES_ROOT] = {{"formula", "divide by the root: rsqrtf is 1 / sqrtf, and sqrtf is not"}, AT_ROOT},
    [RAW_SQUARES] = {{"formula", "subtract the square of the mean from the mean of the squares, or square the "
                                 "differences to the mean"},
                     AT_ROOT},
    [OTHER_ROW] = {{"formula", "follow the number of the row: the one that the statistics are stored under, and the "
                               "one that they are read by"},
                   AT_STORE},
    [OF_A_PART] = {{"sums", "let every float of the row enter the sums: count the turns of the loop, and the warps "
                            "whose sums are added"},
                   AT_EXCHANGE},
    [OTHER_COUNT] = {{"sums", "divide by cols, not by the number of places that your threads have"}, AT_EXCHANGE},
    [PADDED] = {{"sums",
                 "let a place beyond the end add nothing: fill it with what is subtracted, or test c < cols at the "
                 "sums, too"},
                AT_EXCHANGE},
    [THREADS_DIFFER] = {{"sums", "let every thread get both sums of the whole row: across the warp, then across the "
                                 "warps through shared memory"},
                        AT_EXCHANGE},
    [OTHER_STATISTICS] = {{"sums", "compute both numbers by hand for the shortest row that fails: which floats, or "
                                   "which division, is missing?"},
                          AT_EXCHANGE},
    [WRONG] = {{"sums", ""}, AT_EXCHANGE}, /* say_more */
    [INPUT_CHANGED] = {{"bounds", "write to y and to scratch only: find the store whose address comes from x"},
                       AT_STORE},
    [OUT_OF_BOUNDS] = {{"bounds", "test c < cols and r < rows before each store"}, AT_STORE},
};

static const lab_line *line_to_see(enum look look, const lab_usage *u) {
    const lab_line *launch = lab_worst(u, lab_commands_of), *l = NULL;
    if (look == AT_STORE) l = lab_worst(u, stores_of);
    if (look == AT_EXCHANGE) l = lab_worst(u, sums_of);
    return l ? l : launch;
}

/* The blocks of the last launch; 0: there was none. */
static double blocks_of(const lab_usage *u) {
    double blocks = 0;
    for (int i = 0; i < u->nevents; i++) {
        const uint32_t *grid = u->events[i].is.launch.grid;
        if (u->events[i].kind == SIMGPU_LAUNCH) blocks = (double)grid[0] * grid[1] * grid[2];
    }
    return blocks;
}

/* What the mistake's own next step does not know: the shape, and how many blocks there were. */
static void say_more(lab_verdict *v, const job *j, const lab_usage *u) {
    enum { LONG = 4096 }; /* shorter rows of all remainders were right before */
    const double blocks = blocks_of(u);
    if (j->mistake == LAST_ROWS && blocks >= j->shape.rows)
        LAB_SAY(v->next,
                "take the row from the index that the grid counts: <<<%d, ...>>> counts blockIdx.x, and "
                "blockIdx.y is always 0",
                j->shape.rows);
    if (j->mistake == LAST_ROWS && blocks == j->shape.rows - 1)
        LAB_SAY(v->next, "start a block for each row: the last launch had %.0f blocks for %d rows", blocks,
                j->shape.rows);
    if (j->mistake == LAST_COLUMNS && j->shape.cols > LONG)
        LAB_SAY(v->next, "your kernel has no room for so long a row: give each thread more of it, or the block more "
                         "threads, up to 16384 floats");
    if (j->mistake == WRONG)
        LAB_SAY(v->next,
                "write down for this shape which thread has which floats of row %d, and how its sums reach all "
                "the others",
                j->first_row);
}

void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u) {
    static const lab_advice none = {"unwritten",
                                    "launch your kernel in each call of norm_relu_add: each brings other data"},
                            race = {"races", "do what the row 'races' says; this may be its effect"};
    const enum mistake m = j->mistake;
    lab_advise(v, &for_mistake[m].advice);
    say_more(v, j, u);
    if (lab_lane() == LAB_GPU) return;
    if (!lab_started(u, j->begin)) {
        lab_blame_code(v, "norm_relu_add(");
        return lab_advise(v, &none);
    }
    lab_usage last = lab_usage_of_last(j->counted);
    lab_blame(v, line_to_see(for_mistake[m].look, &last));
    lab_usage_free(&last);
    if (for_mistake[m].look == AT_ROOT) {
        lab_blame_text(v, u, "sqrtf(");
        lab_blame_text(v, u, "rsqrtf(");
    }
    const bool sums = m == WRONG || m == NOT_A_NUMBER || m == STALE || m == OTHER_ROW || m == OF_A_PART ||
                      m == THREADS_DIFFER || m == OTHER_STATISTICS;
    if (sums && lab_finding(u)) lab_advise(v, &race);
}

/* --- CUDA's errors ---------------------------------------------------------------------------- */

const lab_advice advice_on_errors[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds",
                          "work out row and column of this thread: do they lie beyond the edge of this shape, or does "
                          "scratch hold fewer floats than you use?"},
    [LAB_HOST_ADDRESS] = {"pointer",
                          "pass x, gamma, beta, y and scratch to the kernel as they are; a kernel cannot follow an "
                          "address of the host's"},
    [LAB_FREED_ADDRESS] = {"pointer",
                           "free memory only when no kernel uses it any more; scratch is there without any allocation"},
    [LAB_LANES_MISSED] = {"deadlock",
                          "let every lane that the mask names reach this line: a thread without a float takes part "
                          "with a 0"},
    [LAB_TWO_BARRIERS] = {"deadlock",
                          "move the barrier out of the condition: all lanes of a warp must come to it together"},
    [LAB_MISALIGNED] = {"misaligned", "a float4 needs an address that is a multiple of 16: does row r begin at one, if "
                                      "cols is no multiple of 4?"},
    [LAB_PAST_SHARED] = {"shared",
                         "compare the array's declared size with the largest index on this line: a block of n "
                         "threads has n / 32 warps"},
    [LAB_RUNAWAY] = {"runaway", "print the loop's bounds for this shape; and never wait in a loop for another block, "
                                "which may not have begun"},
    [LAB_WAITS_FOR_BLOCK] = {"runaway",
                             "let no block wait for another: of an ordinary launch it may not have begun. Each "
                             "block finds out about its rows by itself"},
    [LAB_ASSERTION] = {"error", "the condition of your assertion does not hold for this shape: handle the shape, or "
                                "correct the condition"},
    [LAB_SOME_ADDRESS] = {"bounds",
                          "find the threads beyond the edge of this shape: which test keeps them from their access?"},
    [LAB_SOME_MISALIGNED] = {"misaligned",
                             "a float4 needs an address that is a multiple of 16: does row r begin at one, if "
                             "cols is no multiple of 4?"},
    [LAB_REFUSED +
        SIMGPU_REFUSED_ZERO] = {"error",
                                "round the number of blocks up: (rows + 7) / 8 is at least 1, rows / 8 is not"},
    [LAB_REFUSED +
        SIMGPU_REFUSED_BLOCK] = {"error",
                                 "use at most 1024 threads a block, and let each take several floats of the row"},
    [LAB_REFUSED +
        SIMGPU_REFUSED_GRID] = {"error",
                                "put the rows into the grid's x, which may have 2147483647 blocks; y and z end "
                                "at 65535"},
    [LAB_REFUSED +
        SIMGPU_REFUSED_STATIC_SHARED] = {"shared",
                                         "keep one sum a warp in shared memory; the row has room in registers"},
    [LAB_REFUSED + SIMGPU_REFUSED_SHARED] = {"shared",
                                             "keep the row in registers: 16384 floats do not fit into the 48 KB that a "
                                             "block may ask for"},
    [LAB_REFUSED +
        SIMGPU_REFUSED_REGISTERS] = {"registers", "let more threads share a row: each then keeps fewer floats"},
    [LAB_REFUSED +
        SIMGPU_REFUSED_UNSUPPORTED] = {"error", "do without it: a row needs loads, stores, shuffles and a barrier"},
};

/* --- findings --------------------------------------------------------------------------------- */

/* Does a barrier that threads came to stand on a line from one place to the other? Of a write and a read behind it in a
 * loop, or in a function that is called twice, the barrier between them is there then, and the one that is missing
 * stands behind the read: before the next write. */
static bool barrier_between(const lab_usage *u, const struct simgpu_place *from, const struct simgpu_place *to) {
    if (!from->file || !to->file || strcmp(from->file, to->file) != 0) return false;
    for (int i = 0; i < u->nlines; i++) {
        const lab_line *l = &u->lines[i];
        if (lab_barriers_of(l) > 0 && !strcmp(l->file, from->file) && l->line >= from->line && l->line < to->line)
            return true;
    }
    return false;
}

/* Which side of a race in shared memory is a write that comes before others have read? NULL: none. */
static const struct simgpu_side *too_early(const struct simgpu_finding *f, const lab_usage *u) {
    const struct simgpu_side *now = &f->side[0], *then = &f->side[1];
    if (f->space == SIMGPU_DEVICE_MEMORY || f->rival == SIMGPU_SAME_STORE) return NULL;
    if (now->at.did == SIMGPU_DID_WRITE && then->at.did == SIMGPU_DID_READ) return now;
    if (now->at.did != SIMGPU_DID_READ || then->at.did != SIMGPU_DID_WRITE) return NULL;
    return barrier_between(u, &then->at, &now->at) ? then : NULL;
}

/* Two threads of a block, in shared memory. */
static const char *on_shared(const struct simgpu_finding *f, const lab_usage *u) {
    if (lab_both_write(f)) return "give each place one thread: two of them write this one";
    if (too_early(f, u))
        return "put a __syncthreads() before this write: others may still read what the sum, or the row, before left "
               "there; or take two arrays in turn";
    return "put a __syncthreads() between the write and this read, where every thread of the block reaches it";
}

static const char *on_race(const struct simgpu_finding *f, const lab_usage *u) {
    const bool both = lab_both_write(f);
    if (f->rival == SIMGPU_SAME_STORE) return "let one lane store: here several store different values to one place";
    if (f->space != SIMGPU_DEVICE_MEMORY) return on_shared(f, u);
    if (f->rival == SIMGPU_OTHER_BLOCK)
        return both ? "let one block write each row: two blocks write this place"
                    : "give a row to one block alone: nothing orders a block that reads behind one that writes";
    return both ? "let one thread write each element: two threads write this place"
                : "keep the value in a register, or put a __syncthreads() between the write and the read";
}

static const lab_hazard_words words = {
    .unwritten_memory = "write this memory before a kernel reads it: scratch holds nothing when you are called",
    .unwritten_shared = "read only what was written: a block of 256 threads leaves 8 sums, not 32; or a "
                        "__syncthreads() is missing before this line",
};

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = lab_first_hazard(u);
    const struct simgpu_side *early = f->kind == SIMGPU_RACE ? too_early(f, u) : NULL;
    lab_advise_on_hazard(v, f, on_race(f, u), &words);
    if (!early || early == &f->side[0]) return;
    lab_blame_place(v, &early->at);
    LAB_SAY(v->why, "race: a fast thread writes here for its next sum, or its next row, while slower ones still read "
                    "the last: no barrier stands between that reading and this write");
}

/* --- launches and bytes ----------------------------------------------------------------------- */

/* The first copy or fill. NULL: none. */
static const struct simgpu_event *first_copy(const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++)
        if (lab_is_copy(&u->events[i])) return &u->events[i];
    return NULL;
}

static const char *without(const struct simgpu_event *copy) {
    return copy->kind == SIMGPU_FILL ? "remove the fill: your kernel writes every element"
                                     : "remove the copy: pass x and y to the kernel as they are";
}

void advise_on_launches(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_event *copy = first_copy(u);
    if (u->launches <= 1 && copy) {
        LAB_SAY(v->value_text, "%d + %d %s", u->launches, u->copies, copy->kind == SIMGPU_FILL ? "fill" : "copy");
        lab_blame_place(v, &copy->at);
        LAB_SAY(v->why, "one kernel is right, but the %s beside it is a command of its own for the GPU",
                copy->kind == SIMGPU_FILL ? "fill" : "copy");
        LAB_SAY(v->next, "%s", without(copy));
        return;
    }
    lab_blame(v, lab_worst(u, lab_commands_of));
    LAB_SAY(v->why,
            "%d kernels and %d copies for one matrix: what one of them knows is lost to the next, unless it "
            "goes through memory",
            u->launches, u->copies);
}

static double written_of(const lab_usage *u) {
    double bytes = 0;
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_LAUNCH) bytes += (double)u->events[i].is.launch.written_bytes;
    return bytes;
}

/* How many kernels read so many bytes, or nearly? */
static int readers_of(const lab_usage *u, double bytes) {
    int n = 0;
    for (int i = 0; i < u->nevents; i++)
        n += u->events[i].kind == SIMGPU_LAUNCH && (double)u->events[i].is.launch.read_bytes > 0.9 * bytes;
    return n;
}

void advise_on_bytes(lab_verdict *v, const lab_usage *u, double least) {
    const struct simgpu_event *most = NULL;
    for (int i = 0; i < u->nevents; i++)
        if (!most || lab_bytes_of_event(&u->events[i]) > lab_bytes_of_event(most)) most = &u->events[i];
    if (u->launches == 1 && first_copy(u) && lab_bytes_of_event(most) < 1.05 * least) most = first_copy(u);
    if (!most) return;
    const double all = lab_bytes_of(u), here = lab_bytes_of_event(most);
    lab_blame_place(v, &most->at);
    const int readers = readers_of(u, least / 2);
    if (most->kind != SIMGPU_LAUNCH) {
        LAB_SAY(v->why, "%.1f MB in all, where %.1f MB are the least; this line moves %.1f MB of them", all / 1e6,
                least / 1e6, here / 1e6);
        LAB_SAY(v->next, "%s", without(most));
    } else if (u->launches > 1 && readers > 1 && written_of(u) < 1.1 * least / 2) {
        LAB_SAY(v->why,
                "%.1f MB in %d kernels, where %.1f MB are the least: no intermediate result is written, but %d "
                "kernels read x",
                all / 1e6, u->launches, least / 1e6, readers);
        LAB_SAY(v->next, "let a kernel that has read a row go on with it, so that the next one need not read it again");
    } else if (u->launches > 1) {
        LAB_SAY(v->why, "%.1f MB in %d kernels, where %.1f MB are the least; %s alone reads %.1f MB and writes %.1f MB",
                all / 1e6, u->launches, least / 1e6, most->is.launch.name, (double)most->is.launch.read_bytes / 1e6,
                (double)most->is.launch.written_bytes / 1e6);
    } else {
        LAB_SAY(v->why, "the kernel reads %.1f MB and writes %.1f MB, where %.1f MB are the least in all",
                (double)most->is.launch.read_bytes / 1e6, (double)most->is.launch.written_bytes / 1e6, least / 1e6);
        LAB_SAY(v->next, "keep what you write and read again in registers: y is written once, x is read once");
    }
}

/* Sectors that a line loads though its block has loaded them before. */
static double again_of(const lab_line *l) { return l->c.ld_sectors - l->c.l1_miss_sectors; }

/* Loads that are not coalesced come before loads that are not needed, and of these the second one of x by one block
 * before those of several kernels. */
void advise_on_sectors(lab_verdict *v, const lab_usage *u, double floats) {
    const lab_line *scattered = lab_worst(u, excess_of), *again = lab_worst(u, again_of);
    const double matrix = floats * 4 / 32;
    const size_t n = strlen(v->why);
    if (scattered && excess_of(scattered) >= traffic_of(&(lab_line){.c = u->total}) / 10) {
        lab_blame(v, scattered);
        LAB_SAY(v->next, "let neighbouring threads take neighbouring floats: here the lanes of a warp are far apart");
    } else if (again && again_of(again) > 0.3 * matrix) { /* the rest has left L1 */
        lab_blame(v, again);
        lab_text(v->why + n, sizeof v->why - n, ". This line loads what its block has loaded before");
        LAB_SAY(v->next, "keep the row in registers from its first load on, so that this line need not load it again");
    } else if (u->launches > 1 && u->total.st_sectors > 1.1 * matrix) {
        lab_text(v->why + n, sizeof v->why - n, ". This line takes most");
        LAB_SAY(v->next, "keep it in a register: what one kernel stores and the next one loads takes 4 sectors twice");
    } else if (u->launches > 1) {
        lab_text(v->why + n, sizeof v->why - n, ". This line takes most, but x is what %d kernels load",
                 readers_of(u, floats * 4));
        LAB_SAY(v->next, "let one kernel load the row, keep it in registers, and do the rest as well");
    }
}

/* --- barriers --------------------------------------------------------------------------------- */

void advise_on_barriers(lab_verdict *v, const lab_usage *u, int rows_of_matrix) {
    const struct simgpu_launch *l = lab_slowest(u);
    if (!l || u->total.shuffles == 0) return; /* the row's own next step: shuffles */
    const unsigned warps = (l->block[0] * l->block[1] * l->block[2] + 31) / 32;
    const double waits = u->total.barriers / ((double)rows_of_matrix * warps);
    if (waits > 1.5)
        LAB_SAY(v->next, "wait once a row: let lane 0 of each warp store both sums, side by side, in front of one "
                         "__syncthreads()");
    else
        LAB_SAY(v->next, "let fewer warps share a row of 1024: each of %u waits here, and 4 to 8 are enough", warps);
}

/* --- time ------------------------------------------------------------------------------------- */

static const char *on_call(const struct simgpu_call *c) {
    switch (c->what) {
    case SIMGPU_WAITS: return "return without waiting: who needs the result waits for it";
    case SIMGPU_COPIES:
    case SIMGPU_FILLS: return "copy nothing here: the kernel takes plain numbers as arguments, and x and y are there";
    default: return "allocate nothing: a row lives in registers, and scratch is there if you want memory";
    }
}

/* A kernel that waits for its loads, or for its own instructions. */
static const char *on_latency(const struct simgpu_launch *l, bool kept) {
    enum { MANY_ROUNDS = 4 };
    if (!l->bound.by_loads)
        return "shorten the chain: sum in registers, then five shuffles, and one barrier for both sums";
    if (l->bound.share < 0.5) return "start more warps: give each row a block or a warp of its own";
    if (l->total.local_sectors > 0) return "keep the row out of local memory: see the row above";
    if (l->bound.rounds > MANY_ROUNDS && kept)
        return "let no load wait for a store: for all the compiler knows, a store to y changes gamma and beta. Declare "
               "the pointers __restrict__, or load before the first store";
    if (l->bound.rounds > MANY_ROUNDS)
        return "keep the row in registers, in loops of constant bounds that the compiler unrolls: then its loads start "
               "together";
    return "put more bytes on their way at a time: float4s, and smaller blocks so that more of them are resident";
}

/* The pipe of loads, stores, shared memory and shuffles. */
static const char *on_lsu(const struct simgpu_launch *l) {
    const double global = l->total.ld_requests + l->total.st_requests;
    const double bytes = l->total.ld_bytes + l->total.st_bytes;
    const bool sums = l->total.shared_ld + l->total.shared_st + l->total.shuffles > global; /* most of the requests */
    if (sums && l->total.shuffles == 0)
        return "sum within a warp by shuffles, and keep one sum of each warp in shared memory";
    if (!sums && global * 32 * 16 > 1.5 * bytes)
        return "use float4s: one instruction then moves 16 bytes for each lane";
    return "give each thread more of the row, and a row fewer warps: shuffles, and the sums of all warps that each "
           "thread adds, cost a warp as much for one float4 as for four";
}

/* kept: each float of x is loaded once. */
static const char *on_bound(const struct simgpu_launch *l, bool kept) {
    switch (l->bound.term) {
    case SIMGPU_TERM_BLOCKS: return "start fewer blocks: give each several rows, or more threads";
    case SIMGPU_TERM_LSU: return on_lsu(l);
    case SIMGPU_TERM_L2_READ:
    case SIMGPU_TERM_L2_WRITE: return "read the row once: let neighbouring threads take neighbouring float4s";
    case SIMGPU_TERM_ISSUE: return "use fewer instructions an element: float4s, and no division in the loop";
    case SIMGPU_TERM_BARRIER: return "wait once a row: put both sums into shared memory before one __syncthreads()";
    case SIMGPU_TERM_ATOMIC: return "add in registers and by shuffles; no atomic is needed for a row of one block";
    case SIMGPU_TERM_LATENCY: return on_latency(l, kept);
    default: return "move each byte once: one kernel, which keeps the row in registers";
    }
}

/* The line that lab_started this launch. */
static const struct simgpu_place *start_of(const lab_usage *u, const struct simgpu_launch *l) {
    const struct simgpu_place *at = NULL;
    for (int i = 0; i < u->nevents; i++)
        if (&u->events[i].is.launch == l) at = &u->events[i].at;
    return at;
}

void advise_on_time(lab_verdict *v, const lab_usage *u, double us, double floats) {
    const struct simgpu_launch *slowest = lab_slowest(u);
    if (!slowest) return;
    const struct simgpu_call *call = lab_blame_call(v, u, us);
    if (call) {
        LAB_SAY(v->next, "%s", on_call(call));
    } else if (u->launches == 1 && first_copy(u)) {
        lab_blame_place(v, &first_copy(u)->at);
        LAB_SAY(v->next, "%s", without(first_copy(u)));
    } else if (u->launches + u->copies > 1) {
        lab_blame_place(v, start_of(u, slowest));
        LAB_SAY(v->next, "fuse: one kernel moves each float once in each direction, and starts once");
    } else {
        const bool scattered = slowest->bound.term == SIMGPU_TERM_L2_READ ||
                               slowest->bound.term == SIMGPU_TERM_L2_WRITE || slowest->bound.term == SIMGPU_TERM_LSU;
        const bool kept = u->total.ld_bytes < 3.5 * 4 * floats; /* x, gamma, beta */
        lab_blame_place(v, &slowest->bound.at);
        if (scattered && lab_worst(u, excess_of)) lab_blame(v, lab_worst(u, excess_of));
        LAB_SAY(v->next, "%s", on_bound(slowest, kept));
    }
}
