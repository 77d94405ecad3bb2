/* harness.c — runs and grades lab 11. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Learns: trainings of several shapes, one of them chosen by the seed. Every loss and the final weights are
 *      compared with the network in double precision (parts/model.c). In the sim lane these runs are watched for races,
 *      too. After each, nothing may be left.
 *   2. Stops at a NaN: three trainings in which the text comes to a character whose embedding is infinite.
 *   3. Memory: the most device memory that a training of one step on a long text holds, beside the reference's.
 *   4. Time of a step, in a whole training, beside the untouched starter's and the reference's, on this machine and
 * now.
 *   5. Your report, if there is one beside your program: its numbers against the run's (parts/report.c). No points.
 *
 * In the sim lane the clock is virtual; the gpu lane trains a larger network, and times you against the reference in
 * turn (a b b a). When that is over, the reference trains on the text of each of your timed runs, and its losses and
 * weights are compared with yours.
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your `train`.
 * What the card advises for each kind of mistake is in parts/advice.c. Rows, then the verdicts, then main.
 */
#include "hazards.h"
#include "lab.h"
#include "advice.h"
#include "profile.h"
#include "report.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* V, N, D, heads, steps, rate */
static const shape timed_sim = {32, 64, 32, 2, 48, 0.02f}, timed_gpu = {64, 256, 64, 4, 128, 0.02f};
static const shape long_text = {20, 256, 16, 1, 1, 0.02f};
static const shape broken_sim = {24, 8, 16, 1, 14, 0.02f}, broken_gpu = {24, 16, 16, 1, 256, 0.02f};
/* A program that takes SLOW times as long as the reference, or more, is timed in fewer steps: its time of a step hardly
 * depends on how many there are. So is the starter. */
enum { STARTER_STEPS = 1, SLOW = 40 };

/* --- the rows --------------------------------------------------------------------------------- */

enum { LEARNS, RACES, STOPS, LEAKS, MEMORY, VIRTUAL_TIME, TIME, ROWS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [LEARNS] = {"learns", "learns", "every loss and every weight is right, for even, odd, tiny and hidden shapes",
     "", 0, 1, 1, 15, LAB_BOTH, "learns",
     "take the smallest shape that fails, and compare what your program has there with the formulas of lab11.h", NULL},
    [RACES] = {"races", "races", "no thread reads or writes what another one may be writing, or what was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "for each array, write down which kernel writes it, which reads it, and what keeps the two apart", NULL},
    [STOPS] = {"nan", "stops at a NaN", "a loss that is not a number stops training within 8 steps, and train says which step it was",
     "", 0, 1, 1, 10, LAB_BOTH, "nan",
     "look at every loss once, but not in the step that computes it", "learns"},
    [LEAKS] = {"leaks", "left behind", "train destroys and frees all that it has created",
     "", 0, 0, 1, 5, LAB_BOTH, "leaks",
     "destroy what you create, on every way out", "learns"},
    [MEMORY] = {"memory", "device memory", "256 characters need at most 1.25 times the reference's device memory",
     "x reference", 2, 1.25, 2.25, 20, LAB_BOTH, "memory",
     "hold no array of N x N numbers, and none that you could compute again as fast as you read it", "learns"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time a step", "a step is as fast as the reference's (mark 4), or faster (mark 5)",
     "of 5", 0, 4, 1, 45, LAB_SIM, "time",
     "take the largest part of the time first, whatever it is", "learns nan"},
    [TIME] = {"time", "time a step", "a step is as fast as the reference's (mark 4), or faster (mark 5), on this card",
     "of 5", 0, 4, 1, 45, LAB_GPU, "time",
     "take the largest part of the time first, whatever it is", "learns nan"},
};
// clang-format on
static lab_spec spec = {"lab11", "64 characters, D = 32, 48 steps",     "transformer.cu", rows,
                        ROWS,    "the ungraded question in the handout"};

static const char FAILED[] = "not run: see 'learns'";

/* --- verdicts: learns, races, leaks ----------------------------------------------------------- */

/* Fails the row for the run's mistake, if there is one and the row is still full. */
static void judge(lab_verdict *v, const run *r) {
    lab_usage u;
    char none[256];
    if (!r->mistake || !lab_passed(v)) return;
    lab_count_read(r->counted, &u, none, sizeof none); /* empty in the gpu lane */
    lab_fail(v, "%s", r->failure);
    advise_on_run(v, r, &u);
    lab_usage_free(&u);
}

/* Each shape finds another kind of mistake. The first takes one step, so that the card names the first gradient that is
 * wrong; the second shows what is kept from step to step; 47 characters with 48 columns are several tiles and a rest;
 * one character with one head has nothing to attend to; 64 columns are the widest here, and 300 characters are more
 * than any block has threads for; the seed draws the last. */
static bool check_learning(lab_program *mine) {
    enum { WATCHED = 64 }; /* characters */
    lab_verdict *v = lab_verdict_of(LEARNS), *leaks = lab_verdict_of(LEAKS);
    const int heads = 1 + (int)(lab_fresh_seed() % 2), characters = 33 + (int)(lab_fresh_seed() % 12);
    const int symbols = 20 + (int)(lab_fresh_seed() % 40);
    const shape shapes[] = {{23, 20, 32, 2, 1, 0.05f}, {23, 20, 32, 2, 3, 0.05f},
                            {41, 47, 48, 3, 1, 0.05f}, {5, 1, 16, 1, 3, 0.05f},
                            {33, 40, 32, 1, 1, 0.05f}, {9, 7, 64, 4, 1, 0.05f},
                            {7, 300, 16, 1, 1, 0.05f}, {symbols, characters, 16 * heads, heads, 2, 0.05f}};
    LAB_SAY(v->want, "1 to 300 characters, D to 64, hidden");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        run *r = run_new(mine, "check", shapes[i], -1);
        lab_check_hazards(shapes[i].context <= WATCHED); /* which takes several times as long */
        lab_forget_things();
        const bool alive = run_play(r);
        lab_check_hazards(false);
        judge(v, r);
        if (!alive) return false;
        if (leaks->status == LAB_OPEN || lab_passed(leaks)) lab_grade_leaks(leaks, "when train returns");
    }
    return true;
}

/* Fails the row for what the checks found, even if all came out right: this run's order of warps is one of many. */
static void grade_races(lab_verdict *v, bool alive) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card cannot find races; the sim lane can");
    lab_verdict *learns = lab_verdict_of(LEARNS);
    if (lab_fail_for_hazard(v, "check", advise_on_finding)) {
        if (alive && !lab_passed(learns)) LAB_SAY(learns->next, "do what the row 'races' says; this may be its effect");
    } else if (lab_passed(learns))
        lab_pass(v);
    else
        lab_unmeasured(v, alive ? "no race was found; judged once 'learns' is full" : FAILED);
}

/* --- verdict: stops ---------------------------------------------------------------------------- */

/* The work of a training, in the lane's own measure: warp instructions, or time. */
static double work_of(const run *r) {
    if (lab_lane() == LAB_GPU) return r->end - r->begin;
    lab_usage u = lab_usage_of(r->counted);
    const double inst = u.total.inst;
    lab_usage_free(&u);
    return inst;
}

/* Fails it if the broken training did more than its share of one that broke in its last step. A card's times are loose.
 */
static void check_lateness(run *r, double whole) {
    const int steps = r->job.steps, may = r->broken + 1 + LAB11_GRACE;
    const double share = work_of(r) / whole, most = lab_lane() == LAB_SIM ? (may + 0.5) / steps : 0.5;
    if (r->mistake || share <= most) return;
    r->mistake = NAN_LATE;
    r->step = r->broken;
    LAB_SAY(r->failure,
            "the loss of step %d was not a number, and about %.0f steps more were computed; at most %d may be",
            r->broken, share * steps - r->broken - 1, LAB11_GRACE);
}

/* The last step breaks, then the second, then one that the seed picks, an even one. Returns false when CUDA failed. */
static bool check_stops(lab_program *mine) {
    lab_verdict *v = lab_verdict_of(STOPS);
    const shape s = lab_lane() == LAB_SIM ? broken_sim : broken_gpu;
    const int steps[] = {s.steps - 1, 1, 2 + 2 * (int)(lab_fresh_seed() % 2)};
    static const char *const names[] = {"nan0", "nan1", "nan2"};
    double whole = 0;
    if (!lab_passed(lab_verdict_of(LEARNS))) return lab_unmeasured(v, "not tried: see 'learns'"), true;
    lab_pass(v);
    LAB_SAY(v->want, "stops ≤ %d steps later, says which; 3 trainings", LAB11_GRACE);
    for (int i = 0; i < 3; i++) {
        run *r = run_new(mine, names[i], s, steps[i]);
        lab_verdict *leaks = lab_verdict_of(LEAKS);
        lab_forget_things();
        const bool alive = run_play(r);
        if (alive && i == 0) whole = work_of(r);
        if (alive && i > 0) check_lateness(r, whole);
        judge(v, r);
        if (!alive) return false;
        if (lab_passed(leaks)) lab_grade_leaks(leaks, "when train has stopped at a NaN");
    }
    return true;
}

/* --- verdict: memory --------------------------------------------------------------------------- */

static double memory; /* bytes that your program holds at most with the long text */

static run *run_long(lab_program *program, const char *counted, shape s) {
    run *r = run_new(program, counted, s, -1);
    run_play(r);
    return r;
}

static double peak_of(lab_who who) {
    run *r = run_long(lab_open(who, NULL), "other", long_text);
    if (r->error) lab_die("a program of the harness failed: %s", cudaGetErrorString(r->error));
    return (double)r->meter.peak;
}

static void grade_memory(lab_verdict *v, lab_program *mine) {
    const double reference =
        lab_lane() == LAB_SIM ? LAB_OTHER("memory", peak_of(LAB_REFERENCE)) : peak_of(LAB_REFERENCE);
    run *r = run_long(mine, "long", long_text);
    judge(lab_verdict_of(LEARNS), r);
    if (r->mistake) return lab_unmeasured(v, "not measured: see 'learns'");
    const double n = long_text.context, square = n * n * sizeof(float), peak = memory = (double)r->meter.peak;
    lab_grade(v, peak / reference);
    lab_figure("memory-kb", peak / 1e3, "KB");
    LAB_SAY(v->value_text, "%.0f KB", peak / 1e3);
    LAB_SAY(v->want, "reference %.0f KB · N x N numbers %.0f KB", reference / 1e3, square / 1e3);
    if (lab_passed(v)) return;
    shape half = long_text;
    half.context /= 2;
    advise_on_memory(v, &r->meter, peak / (double)run_long(mine, "half", half)->meter.peak, reference);
}

/* --- verdicts: time ----------------------------------------------------------------------------- */

static const char *mark_names[] = {"",
                                   "runs",
                                   "ten times as fast as the starter",
                                   "half as fast as the reference",
                                   "as fast as the reference",
                                   "beats the reference"};

/* Five marks, each a step on the way from the starter to the reference and beyond. */
static int mark_of(double us, double start, double reference) {
    if (us <= 0.9 * reference) return 5;
    if (us <= 1.15 * reference) return 4;
    if (us <= 2 * reference) return 3;
    return us <= start / 10 ? 2 : 1;
}

static void say_time(lab_verdict *v, double us, double start, double reference) {
    const int mark = mark_of(us, start, reference);
    lab_figure("time", us, "us");
    lab_figure("start", start, "us");
    lab_figure("reference", reference, "us");
    lab_grade(v, mark);
    LAB_SAY(v->value_text, "%s", lab_us(us));
    LAB_SAY(v->want, "start %s · reference %s · mark %d of 5: %s", lab_us(start), lab_us(reference), mark,
            mark_names[mark]);
}

/* Microseconds of a step of another program. */
static double time_of(lab_who who, shape s, int repetitions) {
    run *r = run_new(lab_open(who, NULL), NULL, s, -1);
    return lab_time_ours((lab_timer){LAB_HOST_CLOCK, 1, repetitions, false}, &r->work) / s.steps;
}

static shape fewer(shape s) { return s.steps = STARTER_STEPS, s; }

/* The training that is timed: a step first, and of a program that is not very slow the whole. NULL: it failed. */
static run *time_yours(lab_program *mine, double reference, double *us) {
    run *r = run_new(mine, "brief", fewer(timed_sim), -1);
    for (int i = 0; i < 2; i++) {
        const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &r->work);
        judge(lab_verdict_of(LEARNS), r);
        if (t.error || r->mistake) return NULL;
        *us = t.median / r->job.steps;
        if (i == 1) return r;
        if (*us > SLOW * reference) break;
        r = run_new(mine, "train", timed_sim, -1);
    }
    lab_note("timed", "%d step in place of %d: it takes %d times the reference's time, or more", STARTER_STEPS,
             timed_sim.steps, SLOW);
    return r;
}

/* The source file of a run's program; "": not known. */
static const char *source_of(const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++)
        if (u->events[i].kind == SIMGPU_LAUNCH && u->events[i].at.file) return u->events[i].at.file;
    return "";
}

/* Multiplications and additions of the products in a step; those of the attention only where a row sees another. */
static double operations_of(shape s) {
    const double n = s.context, d = s.width, v = s.symbols;
    return 3 * 2 * (n * (12 * d * d + d * v) + d * n * (n + 1));
}

static profile profile_of_starter(void) {
    run *r = run_new(lab_open(LAB_STARTER, NULL), "before", fewer(timed_sim), -1);
    lab_time_ours((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &r->work);
    lab_usage u = lab_usage_of("before");
    const profile p = profile_of(r, &u);
    lab_usage_free(&u);
    return p;
}

/* The starter holds the shares of each head from forward to backward, and the gradient of one beside them. */
static void check_report(const run *r, const lab_usage *u, const profile *p, double us) {
    const int answered = report_read(source_of(u));
    const profile before = answered ? profile_of_starter() : (profile){.ns = 0};
    const struct simgpu_launch *slowest = lab_slowest(u);
    const report_facts f = {.before = answered ? &before : NULL,
                            .after = p,
                            .before_steps = STARTER_STEPS,
                            .after_steps = r->job.steps,
                            .us = us,
                            .bytes = memory,
                            .square_bytes = 4.0 * (long_text.heads + 1) * long_text.context * long_text.context,
                            .operations = operations_of(timed_sim),
                            .bound = slowest ? slowest->bound.term : SIMGPU_TERM_LAUNCH};
    report_note(&f);
}

static void grade_sim(lab_program *mine) {
    lab_verdict *v = lab_verdict_of(VIRTUAL_TIME);
    const double start = LAB_OTHER("start", time_of(LAB_STARTER, fewer(timed_sim), 1)),
                 reference = LAB_OTHER("reference", time_of(LAB_REFERENCE, timed_sim, 1));
    double us = 0;
    const run *r = time_yours(mine, reference, &us);
    if (!r) return lab_skip_rest("not measured: see 'learns'");
    lab_usage u = lab_usage_of(r->counted);
    say_time(v, us, start, reference);
    const profile p = profile_of(r, &u);
    if (!lab_passed(v)) advise_on_time(v, r, &u, &p);
    profile_note(&p, &u, r->job.steps);
    check_report(r, &u, &p, us);
    lab_figures_of("train", &u);
    lab_blue_bar(&u, r->begin, r->end, LAB_RUNNING);
    lab_usage_free(&u);
}

/* Fails 'learns' if one of the timed trainings went otherwise than the reference's with the same text. */
static bool check_timed(run *timed, shape s) {
    if (run_check_kept(timed, run_new(lab_open(LAB_REFERENCE, NULL), NULL, s, -1))) return true;
    lab_fail(lab_verdict_of(LEARNS), "in a timed run, %s", timed->failure);
    return lab_skip_rest("not measured: see 'learns'"), false;
}

static void grade_gpu(lab_program *mine) {
    lab_verdict *v = lab_verdict_of(TIME);
    const double start = time_of(LAB_STARTER, fewer(timed_gpu), 3);
    run *reference = run_new(lab_open(LAB_REFERENCE, NULL), NULL, timed_gpu, -1),
        *brief = run_new(mine, NULL, fewer(timed_gpu), -1), *yours = run_new(mine, NULL, timed_gpu, -1);
    const lab_timer how = {LAB_HOST_CLOCK, 1, 3, false};
    brief->kept = yours->kept = true;
    const double whole = lab_time_ours(how, &reference->work) / timed_gpu.steps;
    const lab_time t = lab_time_work(how, &brief->work);
    if (t.error) return lab_fail(v, "not timed: %s", cudaGetErrorString(t.error));
    if (!check_timed(brief, fewer(timed_gpu))) return;
    if (t.median / STARTER_STEPS > SLOW * whole) {
        say_time(v, t.median / STARTER_STEPS, start, whole);
        return lab_note("timed", "%d step in place of %d", STARTER_STEPS, timed_gpu.steps);
    }
    const lab_duel d = lab_time_duel((lab_timer){LAB_HOST_CLOCK, 2, 1, false}, &yours->work, &reference->work, 9);
    if (!(d.ratio > 0)) return lab_fail(v, "%s", lab_untimed(&d));
    if (check_timed(yours, timed_gpu)) say_time(v, d.ratio * d.b / timed_gpu.steps, start, d.b / timed_gpu.steps);
}

/* --- main ---------------------------------------------------------------------------------------- */

/* --lines: a step of the timed training, right or wrong, and what each line of it cost. */
static int print_lines(lab_program *mine) {
    spec.title = "64 characters, D = 32, 1 step";
    run *r = run_new(mine, "train", fewer(timed_sim), -1);
    const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &r->work);
    if (t.error) lab_die("your program failed: make lab11");
    lab_usage u = lab_usage_of("train");
    lab_print_lines(&u);
    lab_usage_free(&u);
    return lab_leave();
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "256 characters, D = 64, 128 steps";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(LEARNS)); /* until a run says otherwise */
    if (opt.lines) return print_lines(mine);
    const bool alive = check_learning(mine);
    grade_races(lab_verdict_of(RACES), alive);
    if (alive && check_stops(mine) && lab_passed(lab_verdict_of(LEARNS))) {
        grade_memory(lab_verdict_of(MEMORY), mine);
        if (lab_lane() == LAB_SIM)
            grade_sim(mine);
        else
            grade_gpu(mine);
    } else {
        lab_skip_rest(alive ? "not measured: see 'learns'" : FAILED);
    }
    return lab_end();
}
