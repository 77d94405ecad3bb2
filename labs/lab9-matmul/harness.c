/* harness.c — runs and grades lab 9. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several shapes, most of them of no whole tiles, one of them chosen by the seed. Each run has fresh
 * data, each result is poisoned before it, and what is right is computed only after your code has run (parts/job.c). In
 *      the sim lane these runs are watched for races, too.
 *   2. Counted and timed: one more call on matrices that keep a whole GPU busy, and one on matrices whose sides are
 * odd. Both results are checked as well.
 *   3. Beside them, on this machine and now: the untouched starter, the reference solution, and the roof: a kernel with
 *      as many multiply-adds, on numbers in registers. In the gpu lane there is cuBLAS, too.
 *
 * The sim lane grades counters and virtual time. Its matrices are 2048 x 64 and 64 x 1024: C is as large as in the gpu
 * lane's smaller case, or half, and the sums are shorter, which matters for none of the counters. The gpu lane grades
 * loads and conflicts, with ncu's counters if it may, and times you against the reference in turn (a b b a).
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

#include <stdlib.h>
#include <string.h>

static const char FAILED[] = "not measured: CUDA reported an error, see 'correct'";

/* --- the rows --------------------------------------------------------------------------------- */

enum {
    CORRECT,
    RACES,
    GLOBAL,
    LOADS,
    CONFLICTS,
    LOCAL,
    WARPS,
    VIRTUAL,
    VIRTUAL_ODD,
    TIME_2048,
    TIME_4096,
    TIME_ODD,
    LAB9_ROWS
};

// clang-format off
static const lab_row rows[LAB9_ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every element is right to 10^-6 of its products, for odd, thin, long and hidden shapes",
     "", 0, 1, 1, 15, LAB_BOTH, "correct",
     "take the smallest shape that fails, and write down which thread computes the element named here", NULL},
    [RACES] = {"races", "races", "no thread reads or writes what another one may be writing, or what was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "put a __syncthreads() between the write and the read, where every thread of the block reaches it", NULL},
    [GLOBAL] = {"global", "global floats /1000 FMA", "global memory delivers at most 24 floats for 1000 multiply-adds",
     "", 1, 24, 128, 15, LAB_BOTH, "global",
     "use each float that a block has fetched for more multiply-adds: a larger tile of C for each block", "correct"},
    [LOADS] = {"loads", "load wavefronts /FMA", "a warp's multiply-add takes at most 0.15 wavefronts of loads",
     "", 2, 0.15, 1, 15, LAB_BOTH, "loads",
     "keep more sums in each thread: p x p of them need 2 p floats for p x p multiply-adds", "correct"},
    [CONFLICTS] = {"conflicts", "bank conflicts / access", "shared memory is read and written with at most one bank conflict for ten accesses",
     "", 2, 0.1, 1, 5, LAB_BOTH, "conflicts",
     "write down the bank, address / 4 mod 32, of each of the 32 lanes", "correct"},
    [LOCAL] = {"local", "local sectors /1000 FMA", "registers hold all sums: no sector of local memory",
     "", 1, 0, 100, 5, LAB_BOTH, "local",
     "index arrays of registers by constants only: unroll every loop over them, also the one that stores the sums", "correct"},
    [WARPS] = {"warps", "warps on an SM", "at least 8 warps fit on an SM at a time, 2 for each of its schedulers",
     "", 0, 8, 2, 5, LAB_BOTH, "warps",
     "use fewer registers a thread, or less shared memory a block", "correct"},
    [VIRTUAL] = {"virtual-time", "virtual time", "virtual time is at most 2 times that of the multiply-adds alone",
     "x roof", 2, 2, 8, 25, LAB_SIM, "time",
     "fix the rows above first; then let nothing but multiply-adds be in the inner loop", "correct"},
    [VIRTUAL_ODD] = {"virtual-odd", "odd sides: virtual time", "with odd sides it is at most 1.25 times that of the reference",
     "x reference", 2, 1.25, 2.5, 10, LAB_SIM, "odd",
     "let odd sides take the same kernel: only where a row begins is different", "correct"},
    [TIME_2048] = {"time-2048", "2048: time", "2048: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 15, LAB_GPU, "time",
     "fix the rows above first; then let nothing but multiply-adds be in the inner loop", "correct"},
    [TIME_4096] = {"time-4096", "4096: time", "4096: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 10, LAB_GPU, "time",
     "fix the rows above first; then let nothing but multiply-adds be in the inner loop", "correct"},
    [TIME_ODD] = {"time-odd", "2047: time", "odd sides: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 10, LAB_GPU, "odd",
     "let odd sides take the same kernel: only where a row begins is different", "correct"},
};
// clang-format on
static lab_spec spec = {"lab9",      "matmul 2048x1024x64 fp32",
                        "matmul.cu", rows,
                        LAB9_ROWS,   "the last rung and the ungraded question in the handout"};

enum { WHOLE, ODD, LARGE, SHAPES };
static const char *const shape_name[SHAPES] = {"whole", "odd", "large"};
static const job_shape in_sim[SHAPES] = {{2048, 1024, 64}, {1021, 1019, 35}, {0, 0, 0}};
static const job_shape on_card[SHAPES] = {{2048, 2048, 2048}, {2047, 2045, 2049}, {4096, 4096, 4096}};

static const job_shape *shape_of(int which) { return lab_lane() == LAB_SIM ? &in_sim[which] : &on_card[which]; }
/* How many shapes this lane times. */
static int shapes(void) { return lab_lane() == LAB_SIM ? LARGE : SHAPES; }
/* Multiply-adds of a warp, at least. */
static double fmas_of(const job_shape *s) { return (double)s->m * s->n * s->k / 32; }

/* --- verdict: correct ------------------------------------------------------------------------- */

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_job(job *j, lab_time *t) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    *t = lab_time_work((lab_timer){LAB_DEVICE_CLOCK, 0, 1, false}, &j->work);
    if (lab_passed(v) && (t->error || j->failure[0])) {
        lab_usage u = lab_usage_if_any(j->counted);
        LAB_SAY(v->where, "%dx%dx%d", j->shape.m, j->shape.n, j->shape.k);
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

/* Each shape finds another kind of mistake. 128x128x64 has whole tiles of most kinds and comes twice, so what is kept
 * from the first call is wrong in the second; 61x67x45 is odd on all sides; 132x68x36 has rows of whole float4s and no
 * whole tile; 128x256x37 has whole tiles and a last slice that is not, 256x100x40 whole tiles in one direction only; B
 * of 33x1030x70 has more than 65536 floats; 130x258x7 begins a tile with 2 rows, and its sum is shorter than most
 * slices; 1x300x50 and 300x1x50 are thin, 5x3x1000 has a long sum and 1x1x1 hardly one. In 100x256x40, 128x128x44 and
 * 256x128x40 one side is no whole tile, or no multiple of 8: a program that rounds it down leaves its rest out. The
 * seed draws the last. */
static bool check_shapes(lab_program *mine) {
    job_shape list[] = {{128, 128, 64}, {61, 67, 45},  {132, 68, 36},  {128, 256, 37}, {256, 100, 40},
                        {33, 1030, 70}, {130, 258, 7}, {100, 256, 40}, {128, 128, 44}, {256, 128, 40},
                        {1, 300, 50},   {300, 1, 50},  {5, 3, 1000},   {1, 1, 1},      {0, 0, 0}};
    const int n = sizeof list / sizeof *list;
    list[n - 1].m = 65 + 2 * (int)(lab_fresh_seed() % 60);
    list[n - 1].n = 65 + 2 * (int)(lab_fresh_seed() % 60);
    list[n - 1].k = 9 + 2 * (int)(lab_fresh_seed() % 30);
    LAB_SAY(lab_verdict_of(CORRECT)->want, "128x128x64, 61x67x45, ..., 5x3x1000, 1x1x1, hidden");
    for (int i = 0; i < n; i++) {
        job *j = job_new(mine, "shape", &list[i]);
        bool alive = true;
        for (int times = i ? 1 : 2; alive && times > 0; times--) {
            lab_time t;
            alive = run_job(j, &t);
        }
        job_free(j);
        if (!alive) return false;
    }
    return true;
}

/* --- verdicts: counters ------------------------------------------------------------------------ */

/* Each C needs every float of A and of B once at least. */
static double least_floats(const job_shape *s) { return ((double)s->m + s->n) * s->k; }

static void grade_global(lab_verdict *v, const lab_usage *u, const job_shape *s) {
    const double floats = u->total.ld_sectors * 8, fmas = fmas_of(s) * 32;
    lab_grade(v, floats / fmas * 1000);
    if (floats < 0.99 * least_floats(s)) {
        lab_fail(v, "your kernels loaded only a part of A and B here; the rest went another way");
        LAB_SAY(v->next, "let your kernel load both matrices and multiply them");
    } else if (!lab_passed(v)) {
        LAB_SAY(v->why, "each float that arrives serves %.1f multiply-adds", fmas / floats);
        advise_on_global(v, u);
    }
}

/* A load of global memory counts once, whatever its sectors cost: they have a row of their own. */
static void grade_loads(lab_verdict *v, const lab_usage *u, const job_shape *s) {
    const double loads = u->total.ld_requests + u->total.shared_ld_wavefronts, fmas = fmas_of(s);
    lab_grade(v, loads / fmas);
    if (lab_passed(v)) return;
    LAB_SAY(v->why,
            "a wavefront of loads serves %.1f multiply-adds of a warp; there is one pipe for loads and four for "
            "multiply-adds",
            fmas / loads);
    advise_on_loads(v, u, loads / fmas);
}

static void grade_conflicts(lab_verdict *v, const lab_usage *u) {
    const double accesses = u->total.shared_ld + u->total.shared_st;
    const double conflicts = u->total.shared_ld_conflicts + u->total.shared_st_conflicts;
    double share = accesses > 0 ? conflicts / accesses : 0;
    lab_grade(v, share);
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(u, lab_conflicts_of));
    LAB_SAY(v->why, "%.0f wavefronts more than %.0f accesses need: several lanes want one bank at a time", conflicts,
            accesses);
}

/* A thread has 255 registers at most: ptxas puts the rest into local memory. */
static void grade_local(lab_verdict *v, const lab_usage *u, const job_shape *s) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "nvcc -Xptxas -v says what it spilled; the sim lane counts");
    const struct simgpu_launch *l = lab_slowest(u);
    lab_grade(v, u->total.local_sectors / fmas_of(s) * 1000);
    if (l) LAB_SAY(v->want, "want 0 · %u registers a thread", l->registers);
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(u, lab_local_of));
    advise_on_local(v, u);
}

static unsigned warps_of(const struct simgpu_launch *l) {
    return (l->block[0] * l->block[1] * l->block[2] + 31) / 32 * l->blocks_per_sm;
}

static void grade_warps(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_launch *l = lab_slowest(u);
    if (lab_lane() == LAB_GPU) return lab_skip(v, "ncu's report has it as theoretical occupancy; the sim lane counts");
    if (!l) return lab_fail(v, "no kernel ran");
    lab_grade(v, warps_of(l));
    LAB_SAY(v->want, "want ≥ 8 · %u registers, %u bytes of shared memory", l->registers, l->shared_bytes);
    if (lab_passed(v)) return;
    LAB_SAY(v->why, "a block of %u threads with %u registers each and %u bytes of shared memory: %u at a time on an SM",
            l->block[0] * l->block[1] * l->block[2], l->registers, l->shared_bytes, l->blocks_per_sm);
}

static void grade_counters(const lab_usage *u, const job_shape *s) {
    grade_global(lab_verdict_of(GLOBAL), u, s);
    grade_loads(lab_verdict_of(LOADS), u, s);
    grade_conflicts(lab_verdict_of(CONFLICTS), u);
    grade_local(lab_verdict_of(LOCAL), u, s);
    grade_warps(lab_verdict_of(WARPS), u);
}

/* --- verdicts: times --------------------------------------------------------------------------- */

/* Another program on a shape, as you are timed in this lane. Microseconds. */
static double time_of(lab_program *program, const job_shape *shape, int repetitions) {
    job *j = job_new(program, NULL, shape);
    const double us = lab_time_ours((lab_timer){LAB_DEVICE_CLOCK, 1, repetitions, false}, &j->work);
    job_free(j);
    return us;
}

/* Nothing can beat the multiply-adds alone. */
static lab_floor roof_of(const job_shape *shape, int repetitions) {
    return (lab_floor){"roof", time_of(lab_opened(LAB_LADDER, "roof"), shape, repetitions)};
}

/* Sim lane: a multiple of the roof's time, or of the reference's: the odd matrices are too small to keep every SM busy.
 */
static void grade_virtual_time(int which, const lab_time *you, const lab_usage *u) {
    lab_verdict *v = lab_verdict_of(which == WHOLE ? VIRTUAL : VIRTUAL_ODD);
    const job_shape *shape = shape_of(which);
    const double reference =
        LAB_OTHER(which == WHOLE ? "reference" : "reference-odd", time_of(lab_opened(LAB_REFERENCE, NULL), shape, 1));
    const lab_floor roof = {"roof", LAB_OTHER(which == WHOLE ? "roof" : "roof-odd", roof_of(shape, 1).us)};
    lab_figure(which == WHOLE ? "time" : "time-odd", you->median, "us");
    lab_figure(which == WHOLE ? "roof" : "roof-odd", roof.us, "us");
    const double unit = which == WHOLE ? roof.us : reference, ratio = you->median / unit;
    lab_grade(v, ratio);
    LAB_SAY(v->value_text, "%s", lab_us(you->median));
    LAB_SAY(v->want, "reference %s · roof %s", lab_us(reference), lab_us(roof.us));
    if (lab_refused(v, you, u)) return;
    if (lab_possible(v, you->median, roof) && !lab_passed(v)) {
        char slowest[320];
        LAB_SAY(v->why, "%.*f times the %s, want ≤ %.2f%s", lab_digits(ratio, v->row->full, 2), ratio,
                which == WHOLE ? "roof" : "reference", v->row->full, lab_say_slowest(u, slowest, sizeof slowest));
        if (which == ODD && !lab_passed(lab_verdict_of(VIRTUAL)))
            LAB_SAY(v->next, "do what the rows above ask for: it holds for odd sides, too");
        advise_on_time(v, u, you->median, which == ODD, shape->k);
    }
}

/* Gpu lane: the share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(lab_verdict *v, job *yours) {
    const job_shape *shape = &yours->shape;
    job *start = job_new(lab_opened(LAB_STARTER, NULL), NULL, shape);
    job *reference = job_new(lab_opened(LAB_REFERENCE, NULL), NULL, shape);
    const lab_timer how = {LAB_DEVICE_CLOCK, 2, 1, false};
    lab_fence(false); /* correct by now */
    lab_grade_gain(v, how, &start->work, &reference->work, &yours->work, roof_of(shape, 9));
    lab_fence(true);
    job_free(start);
    job_free(reference);
    if (lab_has_rung("cublasSgemm")) {
        char name[64];
        lab_text(name, sizeof name, "cublasSgemm %dx%dx%d", shape->m, shape->n, shape->k);
        lab_note(name, "%s", lab_us(time_of(lab_open(LAB_LADDER, "cublasSgemm"), shape, 15)));
    }
}

/* --- the run ------------------------------------------------------------------------------------ */

/* --lines: one call, right or wrong, and what each line of it cost. */
static void print_lines(lab_program *mine) {
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines9 DEVICE=sim");
    lab_time once;
    job *j = job_new(mine, "lines", shape_of(WHOLE));
    if (!run_job(j, &once)) lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
    lab_print_counted("lines");
    job_free(j);
}

static void grade_sim(job *const j[SHAPES], const lab_time you[SHAPES]) {
    lab_usage u[SHAPES];
    for (int i = 0; i < shapes(); i++) u[i] = lab_usage_of(shape_name[i]);
    grade_counters(&u[WHOLE], shape_of(WHOLE));
    for (int i = 0; i < shapes(); i++) grade_virtual_time(i, &you[i], &u[i]);
    lab_figures_of("matmul", &u[WHOLE]);
    lab_blue_bar(&u[WHOLE], j[WHOLE]->begin, j[WHOLE]->end, LAB_RUNNING);
    for (int i = 0; i < shapes(); i++) lab_usage_free(&u[i]);
}

static void grade_gpu(job *const j[SHAPES]) {
    static const int row[SHAPES] = {[WHOLE] = TIME_2048, [ODD] = TIME_ODD, [LARGE] = TIME_4096};
    lab_usage u;
    lab_verdict *correct = lab_verdict_of(CORRECT);
    for (int i = 0; i < shapes(); i++) {
        grade_time(lab_verdict_of(row[i]), j[i]);
        if (j[i]->failure[0] && lab_passed(correct)) lab_fail(correct, "%s", j[i]->failure); /* in a timed run */
    }
    if (!lab_card_counters(&u, GLOBAL, WARPS)) return;
    grade_counters(&u, &in_sim[WHOLE]);
    lab_usage_free(&u);
}

static void grade(lab_program *mine) {
    job *j[SHAPES] = {NULL, NULL, NULL};
    lab_time you[SHAPES];
    lab_check_hazards(true);
    bool alive = check_shapes(mine);
    lab_check_hazards(false);
    for (int i = 0; alive && i < shapes(); i++)
        alive = run_job(j[i] = job_new(mine, shape_name[i], shape_of(i)), &you[i]);
    lab_grade_races(lab_verdict_of(RACES), lab_verdict_of(CORRECT), "shape", alive, FAILED, advise_on_finding);
    const lab_verdict *races = lab_verdict_of(RACES);
    if (races->status == LAB_FAIL && !races->unmeasured) advise_on_effect(lab_verdict_of(CORRECT));
    if (!alive)
        lab_skip_rest(FAILED);
    else if (lab_lane() == LAB_SIM)
        grade_sim(j, you);
    else
        grade_gpu(j);
    for (int i = 0; i < SHAPES; i++)
        if (j[i]) job_free(j[i]);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "matmul 2048, 2047, 4096 fp32";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    if (opt.lines) return print_lines(mine), lab_leave();
    if (opt.counted) {
        lab_time once;
        job *j = job_new(mine, "counted", &in_sim[WHOLE]);
        run_job(j, &once);
        if (j->failure[0]) lab_die("the run under ncu is wrong: %s", j->failure);
        return lab_leave();
    }
    grade(mine);
    return lab_end();
}
