/* harness.c — runs and grades lab 3. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several shapes, square and not, one of them chosen by the seed. Each run has fresh data, each output is
 *      poisoned before it, and what is right is computed only after your code has run.
 *   2. Counted and timed: one more call, on a large matrix, whose output is checked as well. In the sim lane
 *      the time is the device's, from event to event; in the gpu lane it is what a caller waits for.
 *   3. Beside it, on this machine and now: the untouched starter, the reference solution, and a plain copy of the same
 *      bytes. No transpose can beat the copy, so the copy is the speed of light here.
 *   4. The view: your O(1) transpose, on the host.
 *
 * The sim lane grades counters and virtual time; the gpu lane grades the same rows, with ncu's counters if it may, and
 * times you against the reference in turn (a b b a).
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your functions.
 * Rows, then the experiment, then the verdicts, then main.
 */
#include "lab.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTED_SIZE = 128 }; /* in the gpu lane: ncu takes milliseconds a launch, and the starter has many */

/* --- the rows --------------------------------------------------------------------------------- */

enum { CORRECT, LAUNCHES, LOAD_SECTORS, STORE_SECTORS, BANK_CONFLICTS, VIRTUAL_TIME, TIME, VIEW, ROWS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every element lands where it belongs, for square, odd, thin and hidden shapes",
     "", 0, 1, 1, 20, LAB_BOTH, "correct",
     "draw a 2x3 matrix and follow one element through your indices", NULL},
    [LAUNCHES] = {"launches", "launches", "the whole matrix is transposed by one kernel launch",
     "", 0, 1, 32, 10, LAB_BOTH, "launches",
     "give the kernel a second index, and let one grid cover rows and columns", "correct"},
    [LOAD_SECTORS] = {"load-sectors", "load sectors per 128 B",
     "loads are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "load-sectors",
     "let neighbouring threads (threadIdx.x) read neighbouring floats of a row", "correct"},
    [STORE_SECTORS] = {"store-sectors", "store sectors per 128 B",
     "stores are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "store-sectors",
     "let neighbouring threads (threadIdx.x) write neighbouring floats of a row", "correct"},
    [BANK_CONFLICTS] = {"bank-conflicts", "bank conflicts per access",
     "shared memory is read and written without bank conflicts",
     "", 2, 0, 1, 10, LAB_BOTH, "bank-conflicts",
     "write down the bank, address / 4 mod 32, of each of the 32 lanes", "correct"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time", "virtual time is at most 1.15 times that of a plain copy",
     "x copy", 2, 1.15, 3, 30, LAB_SIM, "time",
     "give each thread more than one element, so that more bytes are on their way at a time", "correct"},
    [TIME] = {"time", "time", "at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 30, LAB_GPU, "time",
     "give each thread more than one element, so that more bytes are on their way at a time", "correct"},
    [VIEW] = {"view", "strided view", "view_transpose swaps rows and columns and moves nothing",
     "", 0, 1, 1, 10, LAB_BOTH, "view",
     "write down where element [i][j] of the view lies in memory, then where [j][i] does", NULL},
};
// clang-format on
static lab_spec spec = {"lab3",         "transpose 2048x2048 fp32",
                        "transpose.cu", rows,
                        ROWS,           "'the last tenth' and the bonus question in the handout"};

/* --- the experiment: one call of a transpose, from fresh data to a checked output --------------- */

/* Kinds of mistakes, since each has its own next step. */
enum mistake { NO_MISTAKE, MISPLACED, UNWRITTEN, NOWHERE, INPUT_CHANGED, OUT_OF_BOUNDS };

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL for the others, which are only timed */
    struct lab3_message message;
    int rows, cols;
    uint64_t seed; /* of the last run's data */
    float *d_in, *d_out, *host;
    double begin, end;    /* of the last run, on this lane's clock */
    enum mistake mistake; /* the first one's kind */
    char failure[384];    /* the mistake in the output; "": none */
    lab_work work;        /* what the timing helper plays */
} job;

static void prepare(void *context) {
    job *j = context;
    size_t count = (size_t)j->rows * j->cols;
    j->seed = lab_fresh_seed();
    lab_fill(j->seed, j->host, count);
    LAB_CUDA(cudaMemcpy(j->d_in, j->host, count * sizeof(float), cudaMemcpyHostToDevice));
    memset(j->host, 0, count * sizeof(float));
    lab_poison(j->d_out, count);
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    lab_stage("your transpose on %dx%d", j->rows, j->cols);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* The oracle: element k of the output is A[k % rows][k / rows]. */
static double right_value(size_t k, void *context) {
    const job *j = context;
    uint32_t i = (uint32_t)k, down = (uint32_t)j->rows;
    return lab_data(j->seed, i % down * (uint32_t)j->cols + i / down);
}

/* "out[0][1] holds A[0][1], wants A[1][0] (4032 of 4096 are wrong)" */
static void describe(job *j, const lab_diff *d) {
    int64_t at = (int64_t)d->first[0], from = lab_data_index(j->seed, d->got[0], (size_t)j->rows * j->cols);
    int r = (int)(at / j->rows), c = (int)(at % j->rows);
    char holds[64];
    if (lab_is_poison(d->got[0])) {
        j->mistake = UNWRITTEN;
        LAB_SAY(holds, "was never written");
    } else if (from < 0) {
        j->mistake = NOWHERE;
        LAB_SAY(holds, "holds a value that is nowhere in A");
    } else {
        j->mistake = MISPLACED;
        LAB_SAY(holds, "holds A[%d][%d]", (int)(from / j->cols), (int)(from % j->cols));
    }
    bool fresh = lab_lane() == LAB_SIM && lab_is_fresh(d->got[0]);
    LAB_SAY(j->failure, "out[%d][%d] %s, wants A[%d][%d] (%zu of %zu are wrong)%s", r, c, holds, c, r, d->wrong,
            (size_t)j->rows * j->cols,
            fresh ? "\nread before it was written? Fresh shared memory holds 0xCD bytes here, as this value does" : "");
}

static void find_changed_input(job *j, size_t count) {
    LAB_CUDA(cudaMemcpy(j->host, j->d_in, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < count && !j->failure[0]; k++) {
        if (j->host[k] == lab_data(j->seed, (uint32_t)k)) continue;
        j->mistake = INPUT_CHANGED;
        LAB_SAY(j->failure, "the input was changed at A[%zu][%zu]; it is const", k / (size_t)j->cols,
                k % (size_t)j->cols);
    }
}

/* Computes the right output element by element, after the call has returned and the device is idle, so no memory ever
 * holds an expected output that a program could copy. */
static void verify(void *context) {
    job *j = context;
    size_t count = (size_t)j->rows * j->cols;
    lab_diff d;
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your transpose");
    if (j->failure[0]) return;
    LAB_CUDA(cudaMemcpy(j->host, j->d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    if (!lab_compare(j->host, count, right_value, j, 0, &d)) return describe(j, &d);
    find_changed_input(j, count);
    int side = j->failure[0] ? 0 : lab_guards_broken(j->d_out, count);
    if (!side) return;
    j->mistake = OUT_OF_BOUNDS;
    LAB_SAY(j->failure, "memory %s the output was written", side < 0 ? "before" : "behind");
}

static job *job_new(lab_program *program, const char *counted, int down, int across) {
    size_t count = (size_t)down * across;
    job *j = lab_hide(sizeof *j);
    lab_use(program);
    *j = (job){.program = program, .counted = counted, .rows = down, .cols = across};
    j->d_in = lab_alloc(count);
    j->d_out = lab_alloc(count);
    j->host = malloc(count * sizeof *j->host);
    if (!j->host) lab_die("out of memory");
    j->message = (struct lab3_message){
        .what = LAB3_TRANSPOSE, .d_in = (uint64_t)j->d_in, .d_out = (uint64_t)j->d_out, .rows = down, .cols = across};
    j->work = (lab_work){program, prepare, verify, j, &j->message, sizeof j->message, NULL, 0, NULL};
    return j;
}

static void job_free(job *j) {
    lab_use(j->program);
    lab_free(j->d_in);
    lab_free(j->d_out);
    free(j->host);
}

/* --- verdict: correct ------------------------------------------------------------------------- */

typedef struct {
    const char *hint, *next;
} advice;

static void advise(const advice *a) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    v->hint = a->hint;
    LAB_SAY(v->next, "%s", a->next);
}

static void advise_on_output(enum mistake m) {
    static const advice for_mistake[] = {
        [NO_MISTAKE] = {"correct", ""},
        [MISPLACED] = {"correct", "draw a 2x3 matrix and follow one element through your indices"},
        [UNWRITTEN] =
            {"unwritten",
             "count rows and columns that your grid covers, for this shape: which thread writes the last of each?"},
        [NOWHERE] = {"barrier",
                     "find what one thread writes and another reads, and put a __syncthreads() between the two"},
        [INPUT_CHANGED] = {"bounds", "write to d_out only: find the store whose address comes from d_in"},
        [OUT_OF_BOUNDS] = {"bounds", "test row < rows and col < cols before each access, not only before the first"},
    };
    advise(&for_mistake[m]);
}

/* Sets hint and next step by CUDA's error, or by SimGPU's finer description of the fault (NULL: none). */
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

/* Fails the row with CUDA's error; in the sim lane also with the fault and its source line. */
static void blame_error(lab_verdict *v, const job *j, cudaError_t error) {
    lab_usage u;
    char none[256];
    lab_fail(v, "%s on %dx%d", cudaGetErrorName(error), j->rows, j->cols);
    if (lab_count_read(j->counted, &u, none, sizeof none) == 0) lab_blame_fault(v, &u);
    advise_on_fault(error, lab_fault(&u));
    lab_usage_free(&u);
}

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_shape(job *j, lab_time *t) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    *t = lab_time_work((lab_timer){LAB_DEVICE_CLOCK, 0, 1, false}, &j->work);
    if (lab_passed(v) && (t->error || j->failure[0])) {
        lab_fail(v, "%s", j->failure);
        LAB_SAY(v->where, "%dx%d", j->rows, j->cols);
        advise_on_output(j->mistake);
        if (t->error) blame_error(v, j, t->error);
    }
    return t->error == cudaSuccess;
}

/* 64x64 comes twice, so an output kept from the first call is wrong in the second. The last shape is the seed's. */
static bool check_shapes(lab_program *mine, int big) {
    int shapes[][2] = {{64, 64}, {64, 64}, {61, 67}, {67, 61}, {68, 132}, {1, 1000}, {1000, 1}, {0, 0}};
    int n = sizeof shapes / sizeof *shapes;
    shapes[n - 1][0] = 33 + (int)(lab_fresh_seed() % 97) * 2;
    shapes[n - 1][1] = 32 + (int)(lab_fresh_seed() % 89) * 3;
    LAB_SAY(lab_verdict_of(CORRECT)->want, "64, 61x67, 68x132, 1x1000, %d, hidden %dx%d", big, shapes[n - 1][0],
            shapes[n - 1][1]);
    for (int i = 0; i < n; i++) {
        job *j = job_new(mine, "shape", shapes[i][0], shapes[i][1]);
        lab_time t;
        if (!run_shape(j, &t)) return false;
        job_free(j);
    }
    return true;
}

/* --- verdicts: counters ------------------------------------------------------------------------ */

static double commands_of(const lab_line *l) { return l->launches + l->copies; }
static double copies_of(const lab_line *l) { return l->copies; }
static double loads_of(const lab_line *l) { return l->c.ld_sectors; }
static double excess_loads(const lab_line *l) { return l->c.ld_sectors - l->c.ld_bytes / 32; }
/* An atomic may replace a load or a store. No transpose needs one, so each counts as one more store. */
static double atomics(const lab_counters *c) { return c->atom_sectors; }
static double excess_stores(const lab_line *l) { return l->c.st_sectors - l->c.st_bytes / 32 + atomics(&l->c); }
static double conflicts_of(const lab_line *l) { return l->c.shared_ld_conflicts + l->c.shared_st_conflicts; }
static double traffic_of(const lab_line *l) {
    return l->c.ld_sectors + l->c.st_sectors + l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts;
}

static void grade_launches(lab_verdict *v, const lab_usage *u, int n) {
    lab_grade(v, u->launches + u->copies);
    if (lab_passed(v)) return;
    const bool only_copies = u->launches == 1; /* too many */
    const lab_line *l = lab_worst(u, only_copies ? copies_of : commands_of);
    lab_blame(v, l);
    if (only_copies) {
        LAB_SAY(v->value_text, "1 + %d cop%s", u->copies, u->copies == 1 ? "y" : "ies");
        LAB_SAY(v->why, "one kernel is right, but the copy or fill beside it is a command of its own for the GPU");
        LAB_SAY(v->next, "remove the copy, and pass what the kernel needs as an argument");
    } else if (l) {
        LAB_SAY(v->why, "this line started %.0f of the %d kernels and copies for one %dx%d matrix",
                l->launches + l->copies, u->launches + u->copies, n, n);
    } else {
        LAB_SAY(v->why, "%d kernels and %d copies for one %dx%d matrix", u->launches, u->copies, n, n);
    }
}

/* Sectors are counted against the matrix, not against what the lanes asked for: extra loads cannot improve the ratio.
 */
static void grade_sectors(lab_verdict *v, double sectors, const lab_line *worst, int n) {
    double per_line = sectors / ((double)n * n / 32);
    lab_grade(v, per_line);
    if (per_line < 3.99) {
        lab_fail(v, "your kernels moved only a part of the matrix here; the rest went another way");
        LAB_SAY(v->next, "let your kernel load every element from d_in and store every one to d_out");
    } else if (!lab_passed(v)) {
        lab_blame(v, worst);
        LAB_SAY(v->why,
                "each 128 bytes cost %.1f sectors of 32 bytes where 4 would do: the lanes of a warp are far apart",
                per_line);
    }
}

static void grade_conflicts(lab_verdict *v, const lab_usage *u, int n) {
    double accesses = u->total.shared_ld + u->total.shared_st;
    double conflicts = u->total.shared_ld_conflicts + u->total.shared_st_conflicts;
    /* A tile is written once and read once. More accesses than that do not dilute the conflicts. */
    double needed = 2 * (double)n * n / 32;
    double share = accesses ? conflicts / (accesses < needed ? accesses : needed) : 0;
    /* A card's counter also counts waits for other traffic, some percent of the accesses; the rule itself does not. */
    if (lab_lane() == LAB_GPU && share < 0.1) share = 0;
    lab_grade(v, share);
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(u, conflicts_of));
    LAB_SAY(v->why, "%.0f wavefronts more than %.0f accesses need: several lanes want one bank at a time", conflicts,
            accesses);
}

static void grade_counters(const lab_usage *u, int n) {
    grade_launches(lab_verdict_of(LAUNCHES), u, n);
    grade_sectors(lab_verdict_of(LOAD_SECTORS), u->total.ld_sectors, lab_worst(u, excess_loads), n);
    grade_sectors(lab_verdict_of(STORE_SECTORS), u->total.st_sectors + atomics(&u->total), lab_worst(u, excess_stores),
                  n);
    grade_conflicts(lab_verdict_of(BANK_CONFLICTS), u, n);
}

/* --- verdict: time ----------------------------------------------------------------------------- */

/* Names the line to look at and the next step, by the bound of the slowest kernel. */
static void advise_on_time(lab_verdict *v, const lab_usage *u) {
    bool conflicts = u->total.shared_ld_conflicts + u->total.shared_st_conflicts > 0;
    const struct simgpu_launch *slowest = lab_slowest(u);
    if (!slowest) return;
    const struct simgpu_bound *bound = &slowest->bound;
    lab_blame(v, lab_worst(u, traffic_of));
    if (u->launches + u->copies > 1 && (u->launches > 2 || bound->term == SIMGPU_TERM_LAUNCH)) {
        lab_blame(v, lab_worst(u, commands_of));
        LAB_SAY(v->next, "use fewer launches; most of this time the device waits for the host to start the next one");
    } else if (bound->term == SIMGPU_TERM_LSU && conflicts) {
        lab_blame(v, lab_worst(u, conflicts_of));
        LAB_SAY(v->next, "remove the bank conflicts of this line, where each access now takes several turns");
    } else if (bound->term == SIMGPU_TERM_LSU || bound->term == SIMGPU_TERM_L2_READ) {
        lab_blame(v, lab_worst(u, excess_loads));
        LAB_SAY(v->next, "coalesce this line: let the lanes of a warp touch few sectors, and each of them whole");
    } else if (bound->term == SIMGPU_TERM_L2_WRITE) {
        lab_blame(v, lab_worst(u, excess_stores));
        LAB_SAY(v->next, "fill whole sectors: let 8 neighbouring threads store 8 neighbouring floats");
    } else if (bound->term == SIMGPU_TERM_LATENCY && bound->by_loads && bound->rounds > 1) {
        lab_blame(v, lab_worst(u, loads_of));
        LAB_SAY(v->next, "give the loop constant bounds, so that the compiler unrolls it and its loads start together");
    } else if (bound->term == SIMGPU_TERM_ISSUE) {
        LAB_SAY(v->next, "use fewer instructions an element: let several elements of a thread share index arithmetic");
    } else if (bound->term == SIMGPU_TERM_DRAM) {
        LAB_SAY(v->next, "move each byte once, in wider accesses: a float4 is 16 bytes in one instruction");
    }
}

/* On a card nothing names the bound; the first counter that is not full is the likely one. */
static void advise_on_card(lab_verdict *v) {
    static const struct {
        int row;
        const char *next;
    } by_row[] = {
        {LAUNCHES, "use fewer launches; most of this time the GPU waits for the host to start the next one"},
        {LOAD_SECTORS, "coalesce the loads: let the lanes of a warp touch few sectors, and each of them whole"},
        {STORE_SECTORS, "coalesce the stores: let 8 neighbouring threads fill a sector of 8 floats"},
        {BANK_CONFLICTS, "remove the bank conflicts; an access of shared memory now takes several turns"},
    };
    for (int i = 0; i < 4 && !lab_passed(v); i++)
        if (!lab_passed(lab_verdict_of(by_row[i].row))) {
            LAB_SAY(v->next, "%s", by_row[i].next);
            return;
        }
}

/* A program on a large matrix, as you are timed in this lane. Microseconds. */
static double time_of(lab_program *program, int n, int repetitions) {
    job *j = job_new(program, NULL, n, n);
    lab_timer how = {lab_lane() == LAB_SIM ? LAB_DEVICE_CLOCK : LAB_HOST_CLOCK, 1, repetitions, true};
    lab_time t = lab_time_work(how, &j->work);
    job_free(j);
    if (t.error) lab_die("a kernel of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

/* No transpose can beat a plain copy of the bytes. */
static lab_floor copy_floor(int n, int repetitions) {
    return (lab_floor){"copy", time_of(lab_open(LAB_LADDER, "copy"), n, repetitions)};
}

/* Sim lane: a multiple of the copy's time. A program that moved fewer sectors than a matrix has avoided the loads and
 * stores that the model times. */
static void grade_virtual_time(lab_verdict *v, const lab_time *you, int n, const lab_usage *u) {
    const double start = time_of(lab_open(LAB_STARTER, NULL), n, 1);
    const double reference = time_of(lab_open(LAB_REFERENCE, NULL), n, 1), least = (double)n * n / 8;
    const lab_floor copy = copy_floor(n, 1);
    lab_figure("copy", copy.us, "us");
    lab_grade(v, you->median / copy.us);
    LAB_SAY(v->value_text, "%s", lab_us(you->median));
    LAB_SAY(v->want, "start %s · reference %s · copy %s", lab_us(start), lab_us(reference), lab_us(copy.us));
    if (you->refused[0]) {
        lab_fail(v, "%s", you->refused);
    } else if (u->total.ld_sectors < least || u->total.st_sectors < least || atomics(&u->total)) {
        lab_fail(v, atomics(&u->total) ? "no time counts for a transpose by atomics: the model has no cost for them"
                                       : "no time counts for kernels that moved only a part of the matrix");
        LAB_SAY(v->next, "let your kernel load every element from d_in and store every one to d_out");
    } else if (lab_possible(v, you->median, copy) && !lab_passed(v)) {
        char slowest[320];
        LAB_SAY(v->why, "%.2f times the copy, want ≤ 1.15%s", you->median / copy.us,
                lab_say_slowest(u, slowest, sizeof slowest));
        advise_on_time(v, u);
    }
}

/* Gpu lane: the share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(lab_verdict *v, job *yours, int n) {
    job *start = job_new(lab_open(LAB_STARTER, NULL), NULL, n, n);
    job *reference = job_new(lab_open(LAB_REFERENCE, NULL), NULL, n, n);
    lab_timer how = {LAB_HOST_CLOCK, 2, 1, true};
    lab_grade_gain(v, how, &start->work, &reference->work, &yours->work, copy_floor(n, 9));
    job_free(start);
    job_free(reference);
}

/* --- verdict: the view -------------------------------------------------------------------------- */

/* Returns whether the view is right; if not, fills in the verdict's reason. */
static bool view_is_right(lab_verdict *v, lab_program *mine, struct lab3_view view) {
    struct lab3_message m = {.what = LAB3_VIEW, .view = view};
    struct lab3_reply reply;
    const struct lab3_view *t = &reply.view;
    for (int i = 0; i < LAB3_VIEW_FLOATS; i++) m.data[i] = lab_data(3, (uint32_t)i);
    lab_stage("your view_transpose on a %dx%d view", view.shape[0], view.shape[1]);
    lab_play(mine, &m, sizeof m, &reply, sizeof reply);
    if (t->shape[0] != view.shape[1] || t->shape[1] != view.shape[0]) {
        LAB_SAY(v->why, "a %dx%d view became %dx%d, wants %dx%d", view.shape[0], view.shape[1], t->shape[0],
                t->shape[1], view.shape[1], view.shape[0]);
        return false;
    }
    for (int i = 0; i < t->shape[0]; i++)
        for (int j = 0; j < t->shape[1]; j++) {
            long got = (long)(t->offset - view.offset + i * t->strides[0] + j * t->strides[1]);
            long want = (long)(j * view.strides[0] + i * view.strides[1]);
            if (got == want) continue;
            LAB_SAY(v->why, "of a %dx%d view, element [%d][%d] lies %ld floats from the start, wants %ld",
                    view.shape[0], view.shape[1], i, j, got, want);
            return false;
        }
    if (!memcmp(m.data, reply.data, sizeof m.data)) return true;
    LAB_SAY(v->why, "the data moved; only shape and strides should change");
    return false;
}

static void grade_view(lab_verdict *v, lab_program *mine) {
    static const struct lab3_view views[] = {{{3, 5}, 0, {5, 1}},   /* a whole matrix, row after row */
                                             {{5, 3}, 0, {1, 5}},   /* one that is a transpose already */
                                             {{4, 2}, 12, {10, 2}}, /* a window into a larger one */
                                             {{1, 7}, 0, {7, 1}}};
    bool right = true;
    lab_use(mine);
    lab_count_begin("view");
    for (size_t i = 0; right && i < sizeof views / sizeof *views; i++) right = view_is_right(v, mine, views[i]);
    lab_count_end();
    lab_stage("the harness, after your view_transpose");
    v->status = right ? LAB_PASS : LAB_FAIL;
    LAB_SAY(v->want, "shape and strides swapped, nothing moved");
}

/* --- the run ------------------------------------------------------------------------------------ */

/* --lines: one call, right or wrong, and what each line of it cost. */
static void print_lines(job *large) {
    lab_time once;
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines3 DEVICE=sim");
    if (!run_shape(large, &once)) lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
    lab_usage u = lab_usage_of(large->counted);
    lab_print_lines(&u);
    lab_usage_free(&u);
}

static void grade_sim(job *large, bool alive, const lab_time *you) {
    if (!alive) return lab_skip_rest("not measured: the kernel failed, see 'correct'");
    lab_usage u = lab_usage_of(large->counted);
    lab_figure("time", you->median, "us");
    lab_verdict *view = lab_verdict_of(VIEW);
    if (!lab_passed(view)) lab_blame_text(view, &u, "view_transpose(");
    grade_counters(&u, large->cols);
    grade_virtual_time(lab_verdict_of(VIRTUAL_TIME), you, large->cols, &u);
    lab_blue_bar(&u, large->begin, large->end, LAB_RUNNING);
    lab_usage_free(&u);
}

static void grade_gpu(job *large, bool alive) {
    lab_usage u;
    char why[256];
    lab_verdict *correct = lab_verdict_of(CORRECT), *time = lab_verdict_of(TIME);
    if (!alive) return lab_skip_rest("not measured: the kernel failed, see 'correct'");
    grade_time(time, large, large->cols);
    if (large->failure[0] && lab_passed(correct))
        lab_fail(correct, "%s", large->failure); /* in one of the timed runs */
    if (lab_has_rung("cublasSgeam"))
        lab_note("cublasSgeam", "%s", lab_us(time_of(lab_open(LAB_LADDER, "cublasSgeam"), large->cols, 9)));
    int rc = lab_count_ncu(&u, why, sizeof why);
    for (int row = LAUNCHES; rc && row <= BANK_CONFLICTS; row++)
        if (rc == -1)
            lab_skip(lab_verdict_of(row), "%s", why);
        else
            lab_fail(lab_verdict_of(row), "%s", why);
    if (rc) return;
    grade_counters(&u, COUNTED_SIZE);
    advise_on_card(time);
    lab_usage_free(&u);
}

int main(int argc, char **argv) {
    int n = lab_lane() == LAB_SIM ? 2048 : 4096;
    if (lab_lane() == LAB_GPU) spec.title = "transpose 4096x4096 fp32";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.counted) n = COUNTED_SIZE;
    lab_program *mine = lab_open(LAB_MINE, NULL);
    job *large = job_new(mine, "transpose", n, n);
    lab_time you;
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    if (opt.counted) {
        run_shape(large, &you);
        if (large->failure[0]) lab_die("the run under ncu is wrong: %s", large->failure);
        return lab_leave();
    }
    if (opt.lines) return print_lines(large), lab_leave();
    bool alive = check_shapes(mine, n) && run_shape(large, &you);
    grade_view(lab_verdict_of(VIEW), mine);
    if (lab_lane() == LAB_SIM)
        grade_sim(large, alive, &you);
    else
        grade_gpu(large, alive);
    job_free(large);
    return lab_end();
}
