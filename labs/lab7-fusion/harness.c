/* harness.c — runs and grades lab 7. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several shapes, of whole float4s and not, one of them chosen by the seed. Each run has fresh data, each
 *      result is poisoned before it, and what is right is computed only after your code has run (parts/job.c). In the
 *      sim lane these runs are watched for races, too; so are those of 3, once more, if your blocks have several rows.
 *   2. Exact: rows whose mean is a thousand times their deviation, held against double precision.
 *   3. Counted and timed: one more call on rows of 1024 floats, and one on rows of 4096, whose results are checked as
 *      well.
 *   4. Beside them, on this machine and now: the untouched starter, the reference solution, and a plain copy of the
 *      same bytes. Each float of x must be read and each of y written, so the copy is the speed of light here.
 *
 * The sim lane grades counters and virtual time; it has fewer rows than the gpu lane, which does not matter for what it
 * counts. The gpu lane grades launches and sectors, with ncu's counters if it may, and times you against the reference
 * in turn (a b b a).
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your function.
 * What the card advises for each kind of mistake is in parts/advice.c, what a wrong result shows in parts/explain.c.
 * Rows, then the verdicts, then the run and main.
 */
#include "advice.h"
#include "frame.h"
#include "hazards.h"
#include "job.h"
#include "lab.h"
#include "usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FAILED[] = "not measured: CUDA reported an error, see 'correct'";
enum { COUNTED_ROWS = 512 }; /* in the gpu lane: ncu takes milliseconds a launch */

/* --- the rows --------------------------------------------------------------------------------- */

enum {
    CORRECT,
    ACCURACY,
    RACES,
    LAUNCHES,
    BYTES,
    SECTORS,
    BARRIERS,
    LOCAL,
    VIRTUAL_NARROW,
    VIRTUAL_WIDE,
    TIME_NARROW,
    TIME_WIDE,
    LAB7_ROWS
};

// clang-format off
static const lab_row rows[LAB7_ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every element is right, for odd, short, long and hidden rows",
     "", 0, 1, 1, 15, LAB_BOTH, "correct",
     "take the smallest shape that fails, and follow its first row through your kernels", NULL},
    [ACCURACY] = {"accuracy", "worst error, in 1/1000", "no element is off by more than 0.005, where the mean is a thousand times the deviation",
     "", 2, 5, 50, 15, LAB_BOTH, "accuracy",
     "sum differences to a value near the mean: squares of large numbers cancel", "correct"},
    [RACES] = {"races", "races", "no thread reads or writes what another one may be writing, or what was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "put a __syncthreads() between the write and the read, where every thread of the block reaches it", NULL},
    [LAUNCHES] = {"launches", "launches", "the whole matrix takes one kernel launch",
     "", 0, 1, 6, 10, LAB_BOTH, "launches",
     "let a kernel go on with what it has in registers, where the next one would read it from memory", "correct"},
    [BYTES] = {"bytes", "bytes of DRAM / least", "memory moves at most 1.05 times the bytes of x and y",
     "", 2, 1.05, 5.5, 15, LAB_BOTH, "bytes",
     "write no intermediate result to memory: let the kernel that computes it use it", "correct"},
    [SECTORS] = {"sectors", "sectors per 128 B of x", "loads and stores take at most 17 sectors for each 128 bytes of x",
     "", 1, 17, 29, 10, LAB_BOTH, "sectors",
     "load each float of the row once, and keep it in a register", "correct"},
    [BARRIERS] = {"barriers", "barriers /1024 floats", "warps wait at barriers at most 8 times for each 1024 floats",
     "", 1, 8, 64, 5, LAB_BOTH, "barriers",
     "exchange registers between lanes by __shfl_xor_sync, which needs no barrier", "correct"},
    [LOCAL] = {"local", "local memory", "registers hold everything: no sector of local memory for 128 bytes of x",
     "", 2, 0, 4, 5, LAB_BOTH, "local",
     "index arrays of registers by constants only: unroll the loop over them", "correct"},
    [VIRTUAL_NARROW] = {"virtual-1024", "1024: virtual time", "rows of 1024: virtual time is at most 1.3 times that of a plain copy",
     "x copy", 2, 1.3, 3, 10, LAB_SIM, "time",
     "fix the rows above first; then have more bytes on their way at a time", "correct"},
    [VIRTUAL_WIDE] = {"virtual-4096", "4096: virtual time", "rows of 4096: virtual time is at most 1.3 times that of a plain copy",
     "x copy", 2, 1.3, 3, 10, LAB_SIM, "time",
     "fix the rows above first; then have more bytes on their way at a time", "correct"},
    [TIME_NARROW] = {"time-1024", "1024: time", "rows of 1024: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 10, LAB_GPU, "time",
     "fix the rows above first; then have more bytes on their way at a time", "correct"},
    [TIME_WIDE] = {"time-4096", "4096: time", "rows of 4096: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 10, LAB_GPU, "time",
     "fix the rows above first; then have more bytes on their way at a time", "correct"},
};
// clang-format on
static lab_spec spec = {"lab7",      "2048x1024, 1024x4096 fp32",
                        "fusion.cu", rows,
                        LAB7_ROWS,   "rung 7 and the ungraded question in the handout"};

enum { NARROW, WIDE, SHAPES };
static const char *const shape_name[SHAPES] = {"narrow", "wide"};

static job_shape shape_of(int which) {
    const bool sim = lab_lane() == LAB_SIM;
    return which == NARROW ? (job_shape){sim ? 2048 : 8192, 1024, JOB_TAME}
                           : (job_shape){sim ? 1024 : 8192, 4096, JOB_TAME};
}
static double floats_of(const job *j) { return (double)j->shape.rows * j->shape.cols; }

/* --- verdict: correct ------------------------------------------------------------------------- */

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_job(job *j, lab_time *t) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    *t = lab_time_work((lab_timer){LAB_DEVICE_CLOCK, 0, 1, lab_lane() == LAB_SIM}, &j->work);
    if (lab_passed(v) && (t->error || j->failure[0])) {
        lab_usage u = lab_usage_if_any(j->counted);
        LAB_SAY(v->where, "%dx%d", j->shape.rows, j->shape.cols);
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

/* Runs a shape, the first time with one seed's data and, if it comes twice, then with another's. */
static bool run_shape(lab_program *mine, const char *counted, const job_shape *shape, int times, double *worst) {
    bool alive = true;
    job *j = job_new(mine, counted, shape);
    for (int i = 0; alive && i < times; i++) {
        lab_time t;
        alive = run_job(j, &t);
    }
    if (worst && j->worst > *worst) *worst = j->worst;
    job_free(j);
    return alive;
}

/* Each shape finds another kind of mistake. 64x1024 comes twice, so what is kept from the first call is wrong in the
 * second. 33x1000 has rows of whole float4s that fill no block; 9x61 and 13x999 have rows that begin where no float4
 * may; 5x33 lies beside a warp; 6x4096 and 3x5000 are long, and 2x16384 is the longest; 300x128 has many short rows.
 * 2200x36 and 2200x21 have more rows than a card holds blocks of 128 threads, 132 SMs with 16 each: blocks that stay
 * come to a second row here, however many there are. One row and one column have neither neighbours nor variance. The
 * seed draws the last, which is odd and longer than 1024.
 */
static bool check_shapes(lab_program *mine) {
    job_shape shapes[] = {{64, 1024, JOB_TAME}, {33, 1000, JOB_TAME}, {9, 61, JOB_TAME},    {13, 999, JOB_TAME},
                          {5, 33, JOB_TAME},    {6, 4096, JOB_TAME},  {3, 5000, JOB_TAME},  {2, 16384, JOB_TAME},
                          {300, 128, JOB_TAME}, {2200, 36, JOB_TAME}, {2200, 21, JOB_TAME}, {1, 1, JOB_TAME},
                          {0, 0, JOB_TAME}};
    const int n = sizeof shapes / sizeof *shapes;
    shapes[n - 1].rows = 9 + (int)(lab_fresh_seed() % 9);
    shapes[n - 1].cols = 1027 + 2 * (int)(lab_fresh_seed() % 900);
    LAB_SAY(lab_verdict_of(CORRECT)->want, "64x1024, 33x1000, 9x61, ..., 2x16384, 1x1, hidden");
    for (int i = 0; i < n; i++)
        if (!run_shape(mine, "shape", &shapes[i], i ? 1 : 2, NULL)) return false;
    return true;
}

/* --- verdict: worst error ---------------------------------------------------------------------- */

/* Runs the rows that lie far from zero. Returns the worst error in *worst. */
static bool check_far(lab_program *mine, double *worst) {
    static const job_shape shapes[] = {{16, 1024, JOB_FAR}, {16, 999, JOB_FAR}, {8, 4096, JOB_FAR}};
    *worst = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!run_shape(mine, "far", &shapes[i], 1, worst)) return false;
    return true;
}

static void grade_accuracy(lab_verdict *v, double worst) {
    LAB_SAY(v->want, "want ≤ 5, for rows of about 1500 ± 1");
    if (isfinite(worst)) {
        lab_grade(v, worst * 1000);
        if (worst >= 1) LAB_SAY(v->value_text, "%.2g", worst * 1000);
    } else {
        lab_fail(v, "an element is NaN or infinite: the variance came out below 0");
        LAB_SAY(v->value_text, "NaN");
    }
    if (lab_passed(v)) return;
    lab_usage u = lab_usage_if_any("far");
    lab_blame(v, lab_worst(&u, sums_of));
    if (isfinite(worst))
        LAB_SAY(v->why,
                "an element is off by %.2g, though one step of a float is 0.00012 there: digits were lost in "
                "the sums that meet here",
                worst);
    lab_usage_free(&u);
}

/* --- verdicts: counters ------------------------------------------------------------------------ */

/* What one call on each shape cost: u[NARROW], u[WIDE]. */
typedef struct {
    const lab_usage *u;
    double floats[SHAPES];
    int shapes; /* the gpu lane counts one */
} costs;

/* Grades a counter for each `unit` floats, on the shape where it is largest, and blames the line with most of it.
 * Returns that shape. */
static int grade_rate(lab_verdict *v, const costs *c, double (*count)(const lab_line *), double unit) {
    double most = -1;
    int where = NARROW;
    for (int i = 0; i < c->shapes; i++) {
        const double rate = count(&(lab_line){.c = c->u[i].total}) / c->floats[i] * unit;
        if (rate > most) most = rate, where = i;
    }
    lab_grade(v, most);
    if (!lab_passed(v)) lab_blame(v, lab_worst(&c->u[where], count));
    return where;
}

static void grade_launches(lab_verdict *v, const costs *c) {
    int most = NARROW;
    for (int i = 1; i < c->shapes; i++)
        if (c->u[i].launches + c->u[i].copies > c->u[most].launches + c->u[most].copies) most = i;
    lab_grade(v, c->u[most].launches + c->u[most].copies);
    if (!lab_passed(v)) advise_on_launches(v, &c->u[most]);
}

static void grade_sectors(lab_verdict *v, const costs *c) {
    const int where = grade_rate(v, c, traffic_of, 32);
    if (v->value < 7.9) {
        lab_fail(v, "your kernels moved only a part of x and y here; the rest went another way");
        LAB_SAY(v->next, "let your kernel load every element of x and store every one of y");
    } else if (!lab_passed(v)) {
        LAB_SAY(v->why, "each 128 bytes of x cost %.1f sectors of 32 bytes; x, gamma, beta and y take 4 each",
                v->value);
        advise_on_sectors(v, &c->u[where], c->floats[where]);
    }
}

static double bytes_for(double floats, int which) { return 8 * floats + 8 * (double)shape_of(which).cols; }

static void grade_bytes(lab_verdict *v, const costs *c) {
    double most = -1;
    int where = NARROW;
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card's L2 keeps a part of what was written; the sim lane counts");
    for (int i = 0; i < c->shapes; i++) {
        const double ratio = lab_bytes_of(&c->u[i]) / bytes_for(c->floats[i], i);
        if (ratio > most) most = ratio, where = i;
    }
    lab_grade(v, most);
    if (most < 0.99)
        lab_fail(v, "your kernels moved only a part of x and y");
    else if (!lab_passed(v))
        advise_on_bytes(v, &c->u[where], bytes_for(c->floats[where], where));
}

static void grade_barriers(lab_verdict *v, const costs *c) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card has no counter of barriers; the sim lane has one");
    const int where = grade_rate(v, c, lab_barriers_of, 1024);
    if (lab_passed(v)) return;
    LAB_SAY(v->why, "%.0f waits of a warp at a barrier, for %d rows", c->u[where].total.barriers, shape_of(where).rows);
    advise_on_barriers(v, &c->u[where], shape_of(where).rows);
}

/* The registers of the slowest kernel, and how many of an SM's warps they let in, as the card's "want". */
static void say_registers(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_launch *l = lab_slowest(u);
    if (!l) return;
    const unsigned warps = (l->block[0] * l->block[1] * l->block[2] + 31) / 32 * l->blocks_per_sm;
    LAB_SAY(v->want, "want 0 · %u registers a thread, %u of 64 warps on an SM", l->registers, warps);
}

/* A thread has 255 registers at most, or fewer where __launch_bounds__ wants more blocks on an SM. ptxas puts the rest
 * into local memory. */
static void grade_local(lab_verdict *v, const costs *c) {
    enum { MOST_REGISTERS = 255 };
    if (lab_lane() == LAB_GPU) return lab_skip(v, "nvcc -Xptxas -v says what it spilled; the sim lane counts");
    const int where = grade_rate(v, c, lab_local_of, 32);
    const struct simgpu_launch *slowest = lab_slowest(&c->u[where]);
    const bool spilled = slowest && slowest->spilled;
    say_registers(v, &c->u[WIDE]);
    if (!lab_passed(v))
        LAB_SAY(v->why, "%.0f sectors of local memory: %s", c->u[where].total.local_sectors,
                spilled ? "the thread's values do not fit into its registers, and the compiler spills the rest"
                        : "an array that is indexed by a variable has no registers");
    if (!lab_passed(v) && spilled && slowest->registers < MOST_REGISTERS)
        LAB_SAY(v->next,
                "keep fewer values at a time, or ask for fewer blocks an SM: __launch_bounds__ leaves %u registers a "
                "thread",
                slowest->registers);
    for (int i = 0; i < c->shapes; i++) {
        const struct simgpu_launch *l = lab_slowest(&c->u[i]);
        if (!lab_passed(v) || !l || l->registers < MOST_REGISTERS) continue;
        lab_fail(v, "a thread of %s wants all %d registers that there are, or more: the compiler spills the rest",
                 l->name, MOST_REGISTERS);
        lab_blame(v, lab_worst(&c->u[i], loads_of));
        LAB_SAY(v->next, "let more threads share a row: each then keeps fewer floats");
    }
}

static void grade_counters(const costs *c) {
    grade_launches(lab_verdict_of(LAUNCHES), c);
    grade_bytes(lab_verdict_of(BYTES), c);
    grade_sectors(lab_verdict_of(SECTORS), c);
    grade_barriers(lab_verdict_of(BARRIERS), c);
    grade_local(lab_verdict_of(LOCAL), c);
}

/* --- verdicts: times --------------------------------------------------------------------------- */

/* Another program on a shape, as you are timed in this lane. Microseconds. */
static double time_of(lab_program *program, const job_shape *shape, int repetitions) {
    job *j = job_new(program, NULL, shape);
    const lab_timer how = {LAB_DEVICE_CLOCK, 1, repetitions, lab_lane() == LAB_SIM};
    lab_time t = lab_time_work(how, &j->work);
    job_free(j);
    if (t.error) lab_die("a kernel of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

/* Nothing can beat a plain copy of the bytes. */
static lab_floor copy_floor(const job_shape *shape, int repetitions) {
    return (lab_floor){"copy", time_of(lab_opened(LAB_LADDER, "copy"), shape, repetitions)};
}

/* Sim lane: a multiple of the copy's time. */
static void grade_virtual_time(int which, const lab_time *you, const lab_usage *u) {
    static const char *const names[SHAPES][3] = {{"start-1024", "reference-1024", "copy-1024"},
                                                 {"start-4096", "reference-4096", "copy-4096"}};
    lab_verdict *v = lab_verdict_of(which == NARROW ? VIRTUAL_NARROW : VIRTUAL_WIDE);
    const job_shape shape = shape_of(which);
    const double start = LAB_OTHER(names[which][0], time_of(lab_opened(LAB_STARTER, NULL), &shape, 1));
    const double reference = LAB_OTHER(names[which][1], time_of(lab_opened(LAB_REFERENCE, NULL), &shape, 1));
    const lab_floor copy = {"copy", LAB_OTHER(names[which][2], copy_floor(&shape, 1).us)};
    lab_figure(which == NARROW ? "time-1024" : "time-4096", you->median, "us");
    lab_figure(which == NARROW ? "copy-1024" : "copy-4096", copy.us, "us");
    lab_grade(v, you->median / copy.us);
    LAB_SAY(v->value_text, "%s", lab_us(you->median));
    LAB_SAY(v->want, "start %s · reference %s · copy %s", lab_us(start), lab_us(reference), lab_us(copy.us));
    if (lab_refused(v, you, u)) return;
    if (lab_possible(v, you->median, copy) && !lab_passed(v)) {
        char slowest[320];
        const double ratio = you->median / copy.us;
        LAB_SAY(v->why, "%.*f times the copy, want ≤ %.2f%s", lab_digits(ratio, v->row->full, 2), ratio, v->row->full,
                lab_say_slowest(u, slowest, sizeof slowest));
        advise_on_time(v, u, you->median, (double)shape.rows * shape.cols);
    }
}

/* Gpu lane: the share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(lab_verdict *v, job *yours) {
    const job_shape *shape = &yours->shape;
    job *start = job_new(lab_opened(LAB_STARTER, NULL), NULL, shape);
    job *reference = job_new(lab_opened(LAB_REFERENCE, NULL), NULL, shape);
    /* The matrices are larger than L2, unlike those of the sim lane. To flush it would leave other data there, for your
     * kernel to write back. */
    const lab_timer how = {LAB_DEVICE_CLOCK, 2, 1, false};
    lab_fence(false); /* correct by now */
    lab_grade_gain(v, how, &start->work, &reference->work, &yours->work, copy_floor(shape, 9));
    lab_fence(true);
    job_free(start);
    job_free(reference);
}

/* --- the run ------------------------------------------------------------------------------------ */

/* --lines: one call, right or wrong, and what each line of it cost. */
static void print_lines(lab_program *mine) {
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines7 DEVICE=sim");
    lab_time once;
    const job_shape shape = shape_of(NARROW);
    job *j = job_new(mine, "lines", &shape);
    spec.title = "2048x1024 fp32"; /* of the two shapes */
    if (!run_job(j, &once)) lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
    lab_print_counted("lines");
    job_free(j);
}

/* Has a launch fewer blocks than the matrix has rows? */
static bool shares_blocks(const lab_usage *u, int rows_of_matrix) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_launch *l = &u->events[i].is.launch;
        if (u->events[i].kind != SIMGPU_LAUNCH) continue;
        if ((double)l->grid[0] * l->grid[1] * l->grid[2] < rows_of_matrix) return true;
    }
    return false;
}

/* A block that comes to its second row does what no block of a small shape does, and it may do so for these columns
 * only. So where blocks have several rows the run is repeated, watched. `before`: was everything right before the run?
 */
static bool watch_again(lab_program *mine, const job *yours, bool before) {
    lab_usage u = lab_usage_if_any(yours->counted);
    const bool shared = shares_blocks(&u, yours->shape.rows);
    lab_usage_free(&u);
    if (!shared) return true;
    lab_check_hazards(true);
    const bool alive = run_shape(mine, "shape", &yours->shape, 1, NULL);
    lab_check_hazards(false);
    if (before && yours->failure[0]) {
        u = lab_usage_of("shape");
        advise_on_output(lab_verdict_of(CORRECT), yours, &u); /* a race may be why */
        lab_usage_free(&u);
    }
    return alive;
}

static void grade_sim(job *const j[SHAPES], const lab_time you[SHAPES]) {
    lab_usage u[SHAPES];
    costs c = {u, {floats_of(j[NARROW]), floats_of(j[WIDE])}, SHAPES};
    for (int i = 0; i < SHAPES; i++) u[i] = lab_usage_of(shape_name[i]);
    grade_counters(&c);
    for (int i = 0; i < SHAPES; i++) grade_virtual_time(i, &you[i], &u[i]);
    lab_figure("megabytes", lab_bytes_of(&u[WIDE]) / 1e6, "MB");
    lab_blue_bar(&u[WIDE], j[WIDE]->begin, j[WIDE]->end, LAB_RUNNING);
    for (int i = 0; i < SHAPES; i++) lab_usage_free(&u[i]);
}

static void grade_gpu(job *const j[SHAPES]) {
    lab_usage u;
    lab_verdict *correct = lab_verdict_of(CORRECT);
    for (int i = 0; i < SHAPES; i++) {
        grade_time(lab_verdict_of(i == NARROW ? TIME_NARROW : TIME_WIDE), j[i]);
        if (j[i]->failure[0] && lab_passed(correct)) lab_fail(correct, "%s", j[i]->failure); /* in a timed run */
    }
    if (!lab_card_counters(&u, LAUNCHES, LOCAL)) return;
    const costs c = {&u, {COUNTED_ROWS * 1024.0, 0}, 1};
    grade_counters(&c);
    lab_usage_free(&u);
}

static void grade(lab_program *mine) {
    job *j[SHAPES] = {NULL, NULL};
    lab_time you[SHAPES];
    double worst;
    lab_check_hazards(true);
    bool alive = check_shapes(mine);
    lab_check_hazards(false);
    alive = alive && check_far(mine, &worst);
    for (int i = 0; alive && i < SHAPES; i++) {
        const job_shape shape = shape_of(i);
        const bool before = lab_passed(lab_verdict_of(CORRECT));
        alive = run_job(j[i] = job_new(mine, shape_name[i], &shape), &you[i]);
        if (alive && lab_lane() == LAB_SIM) alive = watch_again(mine, j[i], before);
    }
    lab_grade_races(lab_verdict_of(RACES), lab_verdict_of(CORRECT), "shape", alive, FAILED, advise_on_finding);
    if (!alive) {
        lab_skip_rest(FAILED);
    } else {
        grade_accuracy(lab_verdict_of(ACCURACY), worst);
        if (lab_lane() == LAB_SIM)
            grade_sim(j, you);
        else
            grade_gpu(j);
    }
    for (int i = 0; i < SHAPES; i++)
        if (j[i]) job_free(j[i]);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "8192x1024, 8192x4096 fp32";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    if (opt.lines) return print_lines(mine), lab_leave();
    if (opt.counted) {
        const job_shape shape = {COUNTED_ROWS, 1024, JOB_TAME};
        lab_time once;
        job *j = job_new(mine, "counted", &shape);
        run_job(j, &once);
        if (j->failure[0]) lab_die("the run under ncu is wrong: %s", j->failure);
        return lab_leave();
    }
    grade(mine);
    return lab_end();
}
