/* harness.cu — runs and grades lab 3. You need not edit it, but do read it: nothing about your grade is hidden.
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
 */
#include "lab.h"
#include "lab3.h"
#include "job.cuh"
#include "advice.cuh"
#include "rungs.cuh"
#include "bench.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTED_SIZE = 128 }; /* in the gpu lane: ncu takes milliseconds a launch, and the starter has many */

/* --- the rows --------------------------------------------------------------------------------- */

// clang-format off
static const lab_row rows[] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step */
    {"correct", "correct", "every element lands where it belongs, for square, odd, thin and hidden shapes",
     "", 0, 1, 1, 20, LAB_BOTH, "correct",
     "draw a 2x3 matrix and follow one element through your indices"},
    {"launches", "launches", "the whole matrix is transposed by one kernel launch",
     "", 0, 1, 32, 10, LAB_BOTH, "launches",
     "give the kernel a second index, and let one grid cover rows and columns"},
    {"load-sectors", "load sectors per 128 B", "loads are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "load-sectors",
     "let neighbouring threads (threadIdx.x) read neighbouring floats of a row"},
    {"store-sectors", "store sectors per 128 B", "stores are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "store-sectors",
     "let neighbouring threads (threadIdx.x) write neighbouring floats of a row"},
    {"bank-conflicts", "bank conflicts per access", "shared memory is read and written without bank conflicts",
     "", 2, 0, 1, 10, LAB_BOTH, "bank-conflicts",
     "write down the bank, address / 4 mod 32, of each of the 32 lanes"},
    {"virtual-time", "virtual time", "virtual time is at most 1.15 times that of a plain copy",
     "x copy", 2, 1.15, 3, 30, LAB_SIM, "time",
     "give each thread more than one element, so that more bytes are on their way at a time"},
    {"time", "time", "at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 30, LAB_GPU, "time",
     "give each thread more than one element, so that more bytes are on their way at a time"},
    {"view", "strided view", "view_transpose swaps rows and columns and moves nothing",
     "", 0, 1, 1, 10, LAB_BOTH, "view",
     "write down where element [i][j] of the view lies in memory, then where [j][i] does"},
};
// clang-format on
static lab_spec spec = {"lab3", "transpose 2048x2048 fp32", "transpose.cu",
                        rows,   sizeof rows / sizeof *rows, "'the last tenth' and the bonus question in the handout"};

/* --- correct ---------------------------------------------------------------------------------- */

/* CUDA's error; in the sim lane also what happened, and where in the source. */
static void blame_error(const job *j, cudaError_t error) {
    lab_usage u;
    char none[256];
    lab_why("correct", "%s on %dx%d", cudaGetErrorName(error), j->rows, j->cols);
    if (lab_count_read(j->counted, &u, none, sizeof none) == 0) lab_blame_fault("correct", &u);
    advise_on_fault(error, lab_fault(&u));
    lab_usage_free(&u);
}

/* False when CUDA itself failed: after that nothing more can be run. */
static bool run_shape(job *j, lab_time *t) {
    lab_timer once = {LAB_DEVICE_CLOCK, 0, 1, false};
    *t = lab_time_work(once, work_of(j));
    if (lab_passed("correct") && (t->error || j->failure[0])) {
        lab_fail("correct");
        lab_where("correct", "%dx%d", j->rows, j->cols);
        lab_why("correct", "%s", j->failure);
        advise_on_output(j->mistake);
        if (t->error) blame_error(j, t->error);
    }
    return t->error == cudaSuccess;
}

/* 64x64 comes twice: what was kept from one call is worth nothing in the next. The last shape is the seed's. */
static bool check_shapes(int big) {
    int shapes[][2] = {{64, 64}, {64, 64}, {61, 67}, {67, 61}, {68, 132}, {1, 1000}, {1000, 1}, {0, 0}};
    int n = sizeof shapes / sizeof *shapes;
    shapes[n - 1][0] = 33 + (int)(lab_fresh_seed() % 97) * 2;
    shapes[n - 1][1] = 32 + (int)(lab_fresh_seed() % 89) * 3;
    lab_want("correct", "64, 61x67, 68x132, 1x1000, %d, hidden %dx%d", big, shapes[n - 1][0], shapes[n - 1][1]);
    for (int i = 0; i < n; i++) {
        job *j = job_new(transpose, "shape", shapes[i][0], shapes[i][1]);
        lab_time t;
        if (!run_shape(j, &t)) return false;
        job_free(j);
    }
    return true;
}

/* --- counters --------------------------------------------------------------------------------- */

/* Sectors are counted against the matrix, not against what the lanes asked for: extra loads cannot improve the ratio.
 */
static void grade_sectors(const char *id, double sectors, const lab_line *worst, int n) {
    double per_line = sectors / ((double)n * n / 32);
    lab_grade(id, per_line);
    if (per_line < 3.99) {
        lab_fail(id);
        lab_why(id, "your kernels moved only a part of the matrix here; the rest went another way");
        lab_next(id, "let your kernel load every element from d_in and store every one to d_out");
    } else if (!lab_passed(id)) {
        lab_blame(id, worst);
        lab_why(id, "each 128 bytes cost %.1f sectors of 32 bytes where 4 would do: the lanes of a warp are far apart",
                per_line);
    }
}

static void grade_counters(const lab_usage *u, int n) {
    lab_grade("launches", u->launches + u->copies);
    if (!lab_passed("launches")) {
        bool only_copies = u->launches == 1; /* too many */
        const lab_line *l = lab_worst(u, only_copies ? copies_of : commands_of);
        lab_blame("launches", l);
        if (only_copies) {
            lab_value("launches", "1 + %d cop%s", u->copies, u->copies == 1 ? "y" : "ies");
            lab_why("launches", "the kernel is one; a copy or fill beside it is a command of its own for the GPU");
            lab_next("launches", "leave the copy out: hand what the kernel needs over as an argument");
        } else if (!l)
            lab_why("launches", "%d kernels and %d copies for one %dx%d matrix", u->launches, u->copies, n, n);
        else
            lab_why("launches", "this line started %.0f of the %d kernels and copies for one %dx%d matrix", l->launches,
                    u->launches + u->copies, n, n);
    }
    grade_sectors("load-sectors", u->total.ld_sectors, lab_worst(u, excess_loads), n);
    grade_sectors("store-sectors", u->total.st_sectors + atomics(&u->total), lab_worst(u, excess_stores), n);
    double accesses = u->total.shared_ld + u->total.shared_st;
    double conflicts = u->total.shared_ld_conflicts + u->total.shared_st_conflicts;
    /* A tile is written once and read once. More accesses than that do not dilute the conflicts. */
    double needed = 2 * (double)n * n / 32;
    double share = accesses ? conflicts / (accesses < needed ? accesses : needed) : 0;
    /* A card's counter also counts waits for other traffic, some percent of the accesses; the rule itself does not. */
    if (lab_lane() == LAB_GPU && share < 0.1) share = 0;
    lab_grade("bank-conflicts", share);
    if (!lab_passed("bank-conflicts")) {
        lab_blame("bank-conflicts", lab_worst(u, conflicts_of));
        lab_why("bank-conflicts", "%.0f wavefronts more than %.0f accesses need: several lanes want one bank at a time",
                conflicts, accesses);
    }
}

static const char *const counter_rows[] = {"launches", "load-sectors", "store-sectors", "bank-conflicts"};
enum { COUNTER_ROWS = 4 };

static void skip_counters(const char *why) {
    for (int i = 0; i < COUNTER_ROWS; i++) lab_skip(counter_rows[i], "%s", why);
}

static void fail_counters(const char *why) {
    for (int i = 0; i < COUNTER_ROWS; i++) {
        lab_fail(counter_rows[i]);
        lab_why(counter_rows[i], "%s", why);
    }
}

/* --- time ------------------------------------------------------------------------------------- */

/* As the student is timed in this lane. */
static double time_of(transpose_fn fn, int n, int repetitions) {
    job *j = job_new(fn, NULL, n, n);
    lab_timer how = {lab_lane() == LAB_SIM ? LAB_DEVICE_CLOCK : LAB_HOST_CLOCK, 1, repetitions, true};
    lab_time t = lab_time_work(how, work_of(j));
    job_free(j);
    if (t.error) lab_die("a kernel of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

/* No transpose can beat a plain copy of the bytes. */
static lab_floor copy_floor(int n, int repetitions) {
    lab_floor copy = {"copy", time_of(rung_copy, n, repetitions)};
    return copy;
}

/* Sim lane: a multiple of the copy's time. All microseconds. `least`: the sectors of one matrix; who moved fewer has
 * gone round the kernels' loads and stores, and with them round the model. */
static void grade_virtual_time(const lab_time *you, double start, double reference, lab_floor copy, double least,
                               const lab_usage *u) {
    lab_grade("virtual-time", you->median / copy.us);
    lab_value("virtual-time", "%s", lab_us(you->median));
    lab_want("virtual-time", "start %s · reference %s · copy %s", lab_us(start), lab_us(reference), lab_us(copy.us));
    if (you->refused[0]) return lab_fail("virtual-time"), lab_why("virtual-time", "%s", you->refused);
    bool part = u->total.ld_sectors < least || u->total.st_sectors < least;
    if (part || atomics(&u->total)) {
        lab_fail("virtual-time");
        lab_next("virtual-time", "let your kernel load every element from d_in and store every one to d_out");
        return lab_why("virtual-time",
                       part ? "no time counts for kernels that moved only a part of the matrix"
                            : "no time counts for a transpose by atomics: the model knows no price for them");
    }
    if (!lab_possible("virtual-time", you->median, copy) || lab_passed("virtual-time")) return;
    char slowest[320];
    lab_why("virtual-time", "%.2f times the copy, want ≤ 1.15%s", you->median / copy.us,
            lab_say_slowest(u, slowest, sizeof slowest));
    advise_on_time(u);
}

/* Gpu lane: the share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(job *student, int n) {
    job *start = job_new(starter_transpose, NULL, n, n), *ref = job_new(reference_transpose, NULL, n, n);
    lab_timer how = {LAB_HOST_CLOCK, 2, 1, true};
    lab_grade_gain("time", how, work_of(start), work_of(ref), work_of(student), copy_floor(n, 9));
    job_free(start);
    job_free(ref);
}

/* The vendor's own transpose on the same matrix, where it is linked. */
static void note_cublas(int n) {
#ifdef LAB_CUBLAS
    lab_note("cublasSgeam", "%s", lab_us(time_of(rung_cublas, n, 9)));
#else
    (void)n;
#endif
}

/* --- the view --------------------------------------------------------------------------------- */

static bool view_is_right(struct view v) {
    lab_stage("your view_transpose on a %dx%d view", v.shape[0], v.shape[1]);
    lab_lock();
    struct view t = view_transpose(v);
    lab_unlock();
    if (t.shape[0] != v.shape[1] || t.shape[1] != v.shape[0]) {
        lab_why("view", "a %dx%d view became %dx%d, wants %dx%d", v.shape[0], v.shape[1], t.shape[0], t.shape[1],
                v.shape[1], v.shape[0]);
        return false;
    }
    for (int i = 0; i < t.shape[0]; i++)
        for (int j = 0; j < t.shape[1]; j++) {
            long got = t.data - v.data + i * t.strides[0] + j * t.strides[1],
                 want = j * v.strides[0] + i * v.strides[1];
            if (got == want) continue;
            lab_why("view", "of a %dx%d view, element [%d][%d] lies %ld floats from the start, wants %ld", v.shape[0],
                    v.shape[1], i, j, got, want);
            return false;
        }
    return true;
}

static void grade_view(void) {
    static float data[60];
    struct view views[] = {{data, {3, 5}, {5, 1}},       /* a whole matrix, row after row */
                           {data, {5, 3}, {1, 5}},       /* one that is a transpose already */
                           {data + 12, {4, 2}, {10, 2}}, /* a window into a larger one */
                           {data, {1, 7}, {7, 1}}};
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) data[i] = lab_data(3, (uint32_t)i);
    bool right = true;
    lab_count_begin("view");
    for (size_t i = 0; right && i < sizeof views / sizeof *views; i++) right = view_is_right(views[i]);
    lab_count_end();
    lab_stage("the harness, after your view_transpose");
    for (size_t i = 0; right && i < sizeof data / sizeof *data; i++)
        if (data[i] != lab_data(3, (uint32_t)i)) {
            lab_why("view", "the data moved; only shape and strides should change");
            right = false;
        }
    if (right)
        lab_pass("view");
    else
        lab_fail("view");
    lab_want("view", "shape and strides swapped, nothing moved");
}

/* --- the run ---------------------------------------------------------------------------------- */

/* --lines: one call, right or wrong, and what each line of it cost. */
static void print_lines(job *large) {
    lab_time once;
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines3 DEVICE=sim");
    if (!run_shape(large, &once)) lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
    lab_usage u = lab_usage_of(large->counted);
    lab_print_lines(&u);
    lab_usage_free(&u);
}

/* Everything runs before the counters are read, so that one report holds it all. */
static void grade_sim(job *large) {
    lab_time you;
    bool alive = check_shapes(large->cols) && run_shape(large, &you);
    double start = 0, reference = 0;
    lab_floor copy = {};
    if (alive) {
        start = time_of(starter_transpose, large->cols, 1);
        reference = time_of(reference_transpose, large->cols, 1);
        copy = copy_floor(large->cols, 1);
    }
    grade_view();
    if (!alive) return lab_skip_rest("not measured: the kernel failed, see 'correct'");
    lab_usage u = lab_usage_of(large->counted);
    if (!lab_passed("view")) lab_blame_text("view", &u, "view_transpose(");
    grade_counters(&u, large->cols);
    grade_virtual_time(&you, start, reference, copy, (double)large->rows * large->cols / 8, &u);
    lab_blue_bar(&u, large->begin, large->end, LAB_RUNNING);
    lab_usage_free(&u);
}

static void grade_gpu(job *large) {
    lab_usage u;
    lab_time you;
    char why[256];
    bool alive = check_shapes(large->cols) && run_shape(large, &you);
    grade_view();
    if (!alive) return lab_skip_rest("not measured: the kernel failed, see 'correct'");
    grade_time(large, large->cols);
    if (large->failure[0] && lab_passed("correct")) { /* in one of the timed runs */
        lab_fail("correct");
        lab_why("correct", "%s", large->failure);
    }
    note_cublas(large->cols);
    int rc = lab_count_ncu(&u, why, sizeof why);
    if (rc == -1) return skip_counters(why);
    if (rc) return fail_counters(why);
    grade_counters(&u, COUNTED_SIZE);
    advise_on_card();
    lab_usage_free(&u);
}

int main(int argc, char **argv) {
    int n = lab_lane() == LAB_SIM ? 2048 : 4096;
    if (lab_lane() == LAB_GPU) spec.title = "transpose 4096x4096 fp32";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.bench) return bench(), lab_leave();
    if (opt.ladder) return ladder(), lab_leave();
    if (opt.counted) n = COUNTED_SIZE;
    job *large = job_new(transpose, "transpose", n, n);
    lab_time once;
    lab_pass("correct"); /* until a run says otherwise */
    if (opt.counted) {
        run_shape(large, &once);
        if (!lab_passed("correct")) lab_die("the run under ncu is wrong: %s", large->failure);
        return lab_leave();
    }
    if (opt.lines) return print_lines(large), lab_leave();
    if (lab_lane() == LAB_SIM)
        grade_sim(large);
    else
        grade_gpu(large);
    job_free(large);
    lab_gate("correct", "view");
    return lab_end();
}
