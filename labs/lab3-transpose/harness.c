/* harness.c — runs and grades lab 3. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several shapes, square and not, one of them chosen by the seed. Each run has fresh data, each output is
 *      poisoned before it, and what is right is computed only after your code has run (parts/job.c). In the sim lane
 *      these runs are watched for races, too.
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
 * What the card advises for each kind of mistake is in parts/advice.c. Rows, then the verdicts, then the run and main.
 */
#include "advice.h"
#include "frame.h"
#include "hazards.h"
#include "job.h"
#include "lab.h"
#include "usage.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FAILED[] = "not measured: CUDA reported an error, see 'correct'";
enum { COUNTED_SIZE = 128 }; /* in the gpu lane: ncu takes milliseconds a launch, and the starter has many */

/* --- the rows --------------------------------------------------------------------------------- */

enum { CORRECT, RACES, LAUNCHES, LOAD_SECTORS, STORE_SECTORS, BANK_CONFLICTS, VIRTUAL_TIME, TIME, VIEW, ROWS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every element lands where it belongs, for square, odd, thin and hidden shapes",
     "", 0, 1, 1, 15, LAB_BOTH, "correct",
     "draw a 2x3 matrix and follow one element through your indices", NULL},
    [RACES] = {"races", "races", "no thread reads or writes what another one may be writing, or what was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "put a __syncthreads() between the write and the read, where every thread of the block reaches it", NULL},
    [LAUNCHES] = {"launches", "launches", "the whole matrix is transposed by one kernel launch",
     "", 0, 1, 32, 10, LAB_BOTH, "launches",
     "give the kernel a second index, and let one grid cover rows and columns", "correct races"},
    [LOAD_SECTORS] = {"load-sectors", "load sectors per 128 B",
     "loads are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "load-sectors",
     "let neighbouring threads (threadIdx.x) read neighbouring floats of a row", "correct races"},
    [STORE_SECTORS] = {"store-sectors", "store sectors per 128 B",
     "stores are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "store-sectors",
     "let neighbouring threads (threadIdx.x) write neighbouring floats of a row", "correct races"},
    [BANK_CONFLICTS] = {"bank-conflicts", "bank conflicts per access",
     "shared memory is read and written without bank conflicts",
     "", 2, 0, 1, 10, LAB_BOTH, "bank-conflicts",
     "write down the bank, address / 4 mod 32, of each of the 32 lanes", "correct races"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time", "virtual time is at most 1.15 times that of a plain copy",
     "x copy", 2, 1.15, 3, 30, LAB_SIM, "time",
     "give each thread more than one element, so that more bytes are on their way at a time", "correct races"},
    [TIME] = {"time", "time", "at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 30, LAB_GPU, "time",
     "give each thread more than one element, so that more bytes are on their way at a time", "correct races"},
    [VIEW] = {"view", "strided view", "view_transpose swaps rows and columns and moves nothing",
     "", 0, 1, 1, 10, LAB_BOTH, "view",
     "write down where element [i][j] of the view lies in memory, then where [j][i] does", NULL},
};
// clang-format on
static lab_spec spec = {"lab3",         "transpose 2048x2048 fp32",
                        "transpose.cu", rows,
                        ROWS,           "'the last tenth' and the ungraded question in the handout"};

/* --- verdict: correct ------------------------------------------------------------------------- */

/* Returns the cost of the runs of the shapes, to be freed; in the gpu lane it is empty. */
static lab_usage usage_of_shapes(const job *j) {
    lab_usage u;
    char none[256];
    lab_count_read(j->counted, &u, none, sizeof none);
    return u;
}

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_shape(job *j, lab_time *t) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    *t = lab_time_work((lab_timer){LAB_DEVICE_CLOCK, 0, 1, true}, &j->work);
    if (lab_passed(v) && (t->error || j->failure[0])) {
        lab_usage u = usage_of_shapes(j);
        LAB_SAY(v->where, "%dx%d", j->rows, j->cols);
        if (t->error) {
            lab_fail_by_error(v, t->error, v->where, &u, advice_on_errors);
        } else {
            lab_fail(v, "%s", j->failure);
            advise_on_output(v, j, &u);
        }
        lab_usage_free(&u);
    }
    return t->error == cudaSuccess;
}

/* Each shape finds another kind of mistake: 64x64 comes twice, so an output kept from the first call is wrong in the
 * second; 61x67 and 67x61 are odd; 62x128 and 128x62 have rows of whole float4s on one side only, 68x132 on both, and
 * tiles that are not full; 128x192 has full tiles and is not square; 1x1000 and 1000x1 are thin. The seed draws the
 * last. */
static bool check_shapes(lab_program *mine, int big) {
    int shapes[][2] = {{64, 64},  {64, 64},   {61, 67},  {67, 61},  {62, 128}, {128, 62},
                       {68, 132}, {128, 192}, {1, 1000}, {1000, 1}, {0, 0}};
    const int n = sizeof shapes / sizeof *shapes;
    uint64_t before[2] = {0};
    shapes[n - 1][0] = 33 + (int)(lab_fresh_seed() % 97) * 2;
    shapes[n - 1][1] = 32 + (int)(lab_fresh_seed() % 89) * 3;
    LAB_SAY(lab_verdict_of(CORRECT)->want, "64, 61x67, 62x128, 128x192, 1x1000, %d, hidden", big);
    for (int i = 0; i < n; i++) {
        job *j = job_new(mine, "shape", shapes[i][0], shapes[i][1]);
        lab_time t;
        memcpy(j->before, before, sizeof before);
        if (!run_shape(j, &t)) return false;
        before[0] = j->seed;
        before[1] = (uint64_t)shapes[i][0] * (uint64_t)shapes[i][1];
        job_free(j);
    }
    return true;
}

/* --- verdicts: counters ------------------------------------------------------------------------ */

/* Returns whether no copy is among the copies and fills. */
static bool only_fills(const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_COPY) return false;
    return true;
}

static void grade_launches(lab_verdict *v, const lab_usage *u, int n) {
    lab_grade(v, u->launches + u->copies);
    if (lab_passed(v)) return;
    const bool only_copies = u->launches == 1; /* too many */
    const lab_line *l = lab_worst(u, only_copies ? copies_of : lab_commands_of);
    lab_blame(v, l);
    if (only_copies) {
        const char *what = only_fills(u) ? "fill" : "copy";
        LAB_SAY(v->value_text, "1 + %d %s", u->copies, u->copies == 1 ? what : "more");
        LAB_SAY(v->why, "one kernel is right, but the %s beside it is a command of its own for the GPU", what);
        advise_on_copy(v, u);
    } else if (!u->launches) {
        LAB_SAY(v->why, "%d copies and no kernel for one %dx%d matrix", u->copies, n, n);
        LAB_SAY(v->next, "turn the matrix on the device: let one kernel load every element and store it");
    } else if (l) {
        LAB_SAY(v->why, "this line started %.0f of the %d kernels and copies for one %dx%d matrix",
                l->launches + l->copies, u->launches + u->copies, n, n);
        if (l->launches < 2) LAB_SAY(v->next, "let one launch do all: one grid can cover the whole matrix");
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
        LAB_SAY(v->why, "each 128 bytes cost %.1f sectors of 32 bytes where 4 would do: %s", per_line,
                per_line > 16 ? "the lanes of a warp are far apart" : "of each sector only a part is used at a time");
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
    lab_blame(v, lab_worst(u, lab_conflicts_of));
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
    const double us = lab_time_ours(how, &j->work);
    job_free(j);
    return us;
}

/* No transpose can beat a plain copy of the bytes. */
static lab_floor copy_floor(int n, int repetitions) {
    return (lab_floor){"copy", time_of(lab_open(LAB_LADDER, "copy"), n, repetitions)};
}

/* Sim lane: a multiple of the copy's time. A program that moved fewer sectors than a matrix has avoided the loads and
 * stores that the model times. */
static void grade_virtual_time(lab_verdict *v, const lab_time *you, int n, const lab_usage *u) {
    const double start = LAB_OTHER("start", time_of(lab_open(LAB_STARTER, NULL), n, 1));
    const double reference = LAB_OTHER("reference", time_of(lab_open(LAB_REFERENCE, NULL), n, 1)),
                 least = (double)n * n / 8;
    const lab_floor copy = {"copy", LAB_OTHER("copy", copy_floor(n, 1).us)};
    lab_figure("copy", copy.us, "us");
    lab_grade(v, you->median / copy.us);
    LAB_SAY(v->value_text, "%s", lab_us(you->median));
    LAB_SAY(v->want, "start %s · reference %s · copy %s", lab_us(start), lab_us(reference), lab_us(copy.us));
    if (lab_refused(v, you, u)) return;
    if (u->total.ld_sectors < least || u->total.st_sectors < least || atomics(&u->total)) {
        lab_fail(v, atomics(&u->total) ? "no time counts for a transpose by atomics: the model has no cost for them"
                                       : "no time counts for kernels that moved only a part of the matrix");
        LAB_SAY(v->next, "let your kernel load every element from d_in and store every one to d_out");
    } else if (lab_possible(v, you->median, copy) && !lab_passed(v)) {
        char slowest[320];
        LAB_SAY(v->why, "%.*f times the copy, want ≤ %.2f%s", lab_digits(you->median / copy.us, v->row->full, 2),
                you->median / copy.us, v->row->full, lab_say_slowest(u, slowest, sizeof slowest));
        advise_on_time(v, u, you->median);
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
    lab_print_counted(large->counted);
}

static void grade_sim(job *large, bool alive, const lab_time *you) {
    if (!alive) return lab_skip_rest(FAILED);
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
    lab_verdict *correct = lab_verdict_of(CORRECT), *time = lab_verdict_of(TIME);
    if (!alive) return lab_skip_rest(FAILED);
    grade_time(time, large, large->cols);
    if (large->failure[0] && lab_passed(correct))
        lab_fail(correct, "%s", large->failure); /* in one of the timed runs */
    if (lab_has_rung("cublasSgeam"))
        lab_note("cublasSgeam", "%s", lab_us(time_of(lab_open(LAB_LADDER, "cublasSgeam"), large->cols, 9)));
    if (!lab_card_counters(&u, LAUNCHES, BANK_CONFLICTS)) return;
    grade_counters(&u, COUNTED_SIZE);
    advise_on_card(time);
    lab_usage_free(&u);
}

int main(int argc, char **argv) {
    int n = lab_small_job() ? 2048 : 4096;
    if (!lab_small_job()) spec.title = "transpose 4096x4096 fp32";
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
    lab_check_hazards(true);
    bool alive = check_shapes(mine, n);
    lab_check_hazards(false);
    alive = alive && run_shape(large, &you);
    lab_grade_races(lab_verdict_of(RACES), lab_verdict_of(CORRECT), "shape", alive, FAILED, advise_on_finding);
    grade_view(lab_verdict_of(VIEW), mine);
    if (lab_lane() == LAB_SIM)
        grade_sim(large, alive, &you);
    else
        grade_gpu(large, alive);
    job_free(large);
    return lab_end();
}
