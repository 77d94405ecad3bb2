/* harness.c — runs and grades lab 0. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Ask: every function of yours is called with the sizes of the handout, with sizes and machines that the seed
 *      chooses, and for four predictions, each for two sizes; forwards, then backwards (questions.c). All this comes
 *      before any measurement.
 *   2. Measure: the machine's ceilings (machine.c), and the four things that you have predicted.
 *   3. Ask once more: an answer that differs now has looked at the measurements.
 *   4. Compare. Formulas are right or wrong; a prediction earns by its distance, in doublings.
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your functions
 * and sends back copies of what they return. Rows, then the verdicts, then the run, then main.
 */
#include "lab.h"
#include "causes.h"
#include "machine.h"
#include "messages.h"
#include "questions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------- */

enum {
    ROW_PURE,
    ROW_BYTES,
    ROW_FLOPS,
    ROW_INTENSITY,
    ROW_LEAST_TIME,
    ROW_BOUND,
    ROW_SHEET,
    ROW_ONE_FLOP,
    ROW_SEND,
    ROW_COPY,
    ROW_FMA,
    LAB0_ROWS
};

// clang-format off
static const lab_row rows[LAB0_ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [ROW_PURE] = {"pure", "same answer each time",
     "the same arguments give the same answer every time, and no function calls CUDA",
     "", 0, 1, 1, 6, LAB_BOTH, "pure", "compute from the arguments alone: no statics, no CUDA calls", NULL},
    [ROW_BYTES] = {"bytes", "bytes that must move", "the least traffic of all five works is right, for every size",
     "of 5", 0, 5, 0, 12, LAB_BOTH, "bytes",
     "list the arrays; for each: is it read, is it written, how many floats?", "pure"},
    [ROW_FLOPS] = {"flops", "operations", "the operations of all five works are right, for every size",
     "of 5", 0, 5, 0, 12, LAB_BOTH, "flops",
     "count for one element of the result, then multiply by the elements", "pure"},
    [ROW_INTENSITY] = {"intensity", "arithmetic intensity", "operations for each byte, for any work",
     "", 0, 1, 1, 8, LAB_BOTH, "intensity", "which of the two belongs on top, if more means more arithmetic?", "pure"},
    [ROW_LEAST_TIME] = {"least-time", "least time", "the roofline's time is right, for any work on any machine",
     "", 0, 1, 1, 8, LAB_BOTH, "least-time",
     "compute the time under each of the three ceilings, and take the longest: they do not add up", "pure"},
    [ROW_BOUND] = {"bound", "what bounds it", "the right ceiling is named, for any work on any machine",
     "right", 2, 1, 0.7, 12, LAB_BOTH, "bound",
     "compare the three times; the ceiling with the longest one bounds the work", "pure"},
    [ROW_SHEET] = {"sheet", "reading a data sheet", "both peak rates follow from the data sheet, for any card",
     "of 2", 0, 2, 0, 10, LAB_BOTH, "sheet",
     "check the units: bits or bytes, edges or clocks, lanes or operations?", "pure"},
    /* A factor of two: here the host decides, and hosts differ more than cards. */
    [ROW_ONE_FLOP] = {"one-flop", "one addition",
     "the time of one addition on the card is predicted within a factor of two",
     "doublings off", 2, 1, 3, 8, LAB_BOTH, "one-flop",
     "what must happen before the first number is added, and after?", "pure"},
    [ROW_SEND] = {"send", "to the card", "the time of a page-locked copy to the card is predicted within a third",
     "doublings off", 2, 0.4, 2, 8, LAB_BOTH, "send",
     "divide the bytes by the link's rate, and add what every call costs", "pure"},
    [ROW_COPY] = {"copy", "copy on the card", "the time of a copy on the card is predicted within a third",
     "doublings off", 2, 0.4, 2, 8, LAB_BOTH, "copy",
     "divide the bytes by the memory's rate, and add what every launch costs", "pure"},
    [ROW_FMA] = {"fma", "arithmetic on the card", "the time of pure arithmetic is predicted within a third",
     "doublings off", 2, 0.4, 2, 8, LAB_BOTH, "fma",
     "divide the operations by the arithmetic's rate, and add what every launch costs", "pure"},
};
// clang-format on
static const lab_spec spec = {"lab0", "ceilings", "ceilings.cu", rows, LAB0_ROWS, NULL};

/* --- verdict: pure ------------------------------------------------------------------------------ */

/* Asks all questions, in their order or the other. */
static void ask_all(lab_program *mine, const struct exam *e, struct lab0_answer *answers, bool backwards) {
    lab_verdict *pure = lab_verdict_of(ROW_PURE);
    for (int i = 0; i < e->count; i++) {
        const struct lab0_question *q = &e->question[backwards ? e->count - 1 - i : i];
        const char *name = lab_entries[q->function];
        lab_stage("your %s", name);
        lab_use(mine);
        double before = lab_now();
        answers[q - e->question] = ask(mine, q);
        /* The virtual clock stands still while the host computes: only CUDA's calls move it. */
        if (lab_lane() == LAB_SIM && lab_now() != before && lab_passed(pure)) {
            lab_fail(pure, "%s called CUDA: a prediction is made before anything is measured", name);
            lab_blame_return(pure, name);
        }
    }
    lab_stage("the harness");
}

/* The same bits, not just the same value. */
static void hold_pure(const struct exam *e, const struct lab0_answer *first, const struct lab0_answer *again,
                      const char *when) {
    lab_verdict *pure = lab_verdict_of(ROW_PURE);
    for (int i = 0; i < e->count && lab_passed(pure); i++) {
        const char *name = lab_entries[e->question[i].function];
        if (!memcmp(&first[i], &again[i], sizeof *first)) continue;
        lab_fail(pure, "%s gave %g at first, and %g to the same question %s", name, first[i].a, again[i].a, when);
        lab_blame_return(pure, name);
    }
}

/* --- verdicts: formulas -------------------------------------------------------------------------- */

/* All answers: the student's at first, and the right ones. */
struct paper {
    const struct exam *exam;
    const struct lab0_answer *got, *want;
};

static bool right(double got, double want) { return isfinite(got) && fabs(got - want) <= 1e-9 * fabs(want); }

static void advise(lab_verdict *v, struct cause c) {
    if (c.next) LAB_SAY(v->next, "%s", c.next);
}

/* Shows the first wrong answer of a work. */
static void show_work(lab_verdict *v, bool bytes, const struct paper *p, int i, long right_up_to) {
    const struct lab0_question *q = &p->exam->question[i];
    const struct lab0_answer got = p->got[i], want = p->want[i];
    const struct cause c = bytes ? cause_of_count(true, q, got.a, want.a, want.b, right_up_to)
                                 : cause_of_count(false, q, got.b, want.b, want.a, right_up_to);
    char size[64] = "";
    if (q->function != ONE_FLOP_WORK) LAB_SAY(size, " for n = %ld", (long)q->n);
    if (q->function == SCORES_WORK) LAB_SAY(size, " for n = %ld, d = %ld", (long)q->n, (long)q->d);
    lab_blame_return(v, lab_entries[q->function]);
    LAB_SAY(v->why, "%s%s: %.0f %s%s", lab_entries[q->function], size, bytes ? got.a : got.b,
            bytes ? "bytes" : "operations", c.what);
    advise(v, c);
}

/* Works: a row counts the functions whose answers are all right. */
static void grade_works(lab_verdict *v, bool bytes, const struct paper *p) {
    int good = 0;
    for (int k = 0; k < LAB0_WORKS; k++) {
        int wrongs = 0;
        long right_up_to = 0;
        for (int i = 0; i < p->exam->count; i++) {
            if ((int)p->exam->question[i].function != k) continue;
            const bool ok = bytes ? right(p->got[i].a, p->want[i].a) : right(p->got[i].b, p->want[i].b);
            if (!ok && !wrongs && !v->why[0]) show_work(v, bytes, p, i, right_up_to);
            if (ok && p->exam->question[i].n > right_up_to) right_up_to = (long)p->exam->question[i].n;
            wrongs += !ok;
        }
        good += !wrongs;
    }
    lab_grade(v, good);
    LAB_SAY(v->want, "want %d", LAB0_WORKS);
}

static const char *bound_name(double bound) {
    return bound == OVERHEAD ? "OVERHEAD" : bound == MEMORY ? "MEMORY" : bound == ARITHMETIC ? "ARITHMETIC" : "that";
}

/* How often bound_of gave each of its three answers. */
static void count_bounds(const struct paper *p, int given[3]) {
    for (int i = 0; i < p->exam->count; i++)
        for (int b = 0; b < 3; b++) given[b] += p->exam->question[i].function == BOUND_OF && p->got[i].a == b;
}

/* Shows a question with the answer that was wrong. */
static void show_wrong(lab_verdict *v, const struct paper *p, const struct lab0_question *q, double got, double want) {
    const double memory = q->w.bytes / q->c.bytes_per_us, arithmetic = q->w.flops / q->c.flops_per_us;
    const char *name = lab_entries[q->function];
    char times[128];
    struct cause c = {"", NULL};
    int given[3] = {0};
    LAB_SAY(times, "bytes alone need %.3g us, operations alone %.3g, the overhead %.3g", memory, arithmetic,
            q->c.overhead_us);
    lab_blame_return(v, name);
    if (q->function == SHEET_BYTES || q->function == SHEET_FLOPS) {
        c = cause_of_peak(q, got, want);
        LAB_SAY(v->why, "%s: %.4g for %d SMs of %d lanes at %.0f MHz, %d wires at %.0f MHz: %.3g times the peak%s",
                name, got, q->s.sms, q->s.lanes, q->s.clock_mhz, q->s.bus_bits, q->s.mem_clock_mhz, got / want, c.what);
    } else if (q->function == INTENSITY) {
        c = cause_of_intensity(got, want);
        LAB_SAY(v->why, "%.4g flops and %.4g bytes gave %.4g%s", q->w.flops, q->w.bytes, got, c.what);
    } else if (q->function == BOUND_OF) {
        count_bounds(p, given);
        c = cause_of_bound(q, got, given);
        LAB_SAY(v->why, "%s: not bound by %s%s", times, bound_name(got), c.what);
    } else {
        c = cause_of_least(q, got);
        LAB_SAY(v->why, "%s: %s gave %.3g%s", times, name, got, c.what);
    }
    advise(v, c);
}

/* Returns the number of questions about this function. */
static int questions_of(enum lab0_function f, const struct paper *p) {
    int all = 0;
    for (int i = 0; i < p->exam->count; i++) all += p->exam->question[i].function == f;
    return all;
}

/* All others: how many of the answers are right; the first that is not is shown. */
static double share_right(lab_verdict *v, enum lab0_function f, const struct paper *p) {
    int good = 0, all = 0;
    for (int i = 0; i < p->exam->count; i++) {
        const struct lab0_question *q = &p->exam->question[i];
        if (q->function != f) continue;
        const double got = p->got[i].a, want = p->want[i].a;
        bool ok = f == BOUND_OF ? got == want : right(got, want);
        all++;
        good += ok;
        if (!ok && good + 1 == all) show_wrong(v, p, q, got, want);
    }
    return all ? (double)good / all : 0;
}

static void grade_formulas(const struct paper *p) {
    static const struct {
        int row;
        enum lab0_function function;
    } all_or_nothing[] = {{ROW_INTENSITY, INTENSITY}, {ROW_LEAST_TIME, LEAST_US}};
    grade_works(lab_verdict_of(ROW_BYTES), true, p);
    grade_works(lab_verdict_of(ROW_FLOPS), false, p);
    for (int i = 0; i < 2; i++) {
        lab_verdict *v = lab_verdict_of(all_or_nothing[i].row);
        v->status = share_right(v, all_or_nothing[i].function, p) == 1 ? LAB_PASS : LAB_FAIL;
    }
    lab_verdict *bound = lab_verdict_of(ROW_BOUND), *sheet = lab_verdict_of(ROW_SHEET);
    const double named = share_right(bound, BOUND_OF, p);
    lab_grade(bound, named);
    LAB_SAY(bound->value_text, "%.0f of %d", named * questions_of(BOUND_OF, p), questions_of(BOUND_OF, p));
    LAB_SAY(bound->want, "cases right, want all");
    bool flops = share_right(sheet, SHEET_FLOPS, p) == 1;
    lab_grade(sheet, flops + (share_right(sheet, SHEET_BYTES, p) == 1));
    LAB_SAY(sheet->want, "want 2");
}

/* --- verdicts: predictions ----------------------------------------------------------------------- */

/* The worse of both sizes counts. The card shows the large one, unless only the small one is wrong. */
static void grade_prediction(enum trial t, const struct forecast of[SIZES]) {
    static const char *const cases[] = {"case ONE_FLOP", "case SEND", "case COPY", "case FMA"};
    static const char *const units[] = {"addition", "bytes", "floats", "operations"};
    lab_verdict *v = lab_verdict_of(ROW_ONE_FLOP + (int)t);
    const double large_off = forecast_distance(&of[LARGE]), small_off = forecast_distance(&of[SMALL]);
    lab_grade(v, small_off);
    const struct forecast *f = &of[lab_passed(v) || large_off >= small_off ? LARGE : SMALL];
    const struct cause c = cause_of_forecast(t, of);
    const double prediction = f->prediction, truth = f->truth;
    LAB_SAY(v->want, "it took %.1f us%s, for %ld %s", truth, lab_lane() == LAB_SIM ? " (virtual)" : "", f->n, units[t]);
    if (isinf(forecast_distance(f))) {
        lab_fail(v, "%g us is not a time", prediction);
        LAB_SAY(v->value_text, "%g us", prediction);
        advise(v, c);
        return lab_blame_return(v, cases[t]);
    }
    lab_grade(v, forecast_distance(f));
    LAB_SAY(v->value_text, "%.*f us", prediction < 0.1 ? 3 : 1, prediction);
    if (lab_passed(v)) return;
    lab_blame_return(v, cases[t]);
    double off = prediction > truth ? prediction / truth : truth / prediction;
    LAB_SAY(v->why, "%.*f times too %s%s", off < 10 ? 1 : 0, off, prediction > truth ? "long" : "short", c.what);
    advise(v, c);
}

/* --- the run -------------------------------------------------------------------------------------- */

enum { SHOWN = 6 };

/* The works of the handout, as your functions describe them. */
static void your_points(lab_program *mine, struct point points[SHOWN]) {
    points[0] = (struct point){'s', "SAXPY, 2^26 floats", ask_work(mine, SAXPY_WORK, 1l << 26, 0)};
    points[1] = (struct point){'1', "one addition", ask_work(mine, ONE_FLOP_WORK, 1, 0)};
    points[2] = (struct point){'m', "matmul, n = 64", ask_work(mine, MATMUL_WORK, 64, 0)};
    points[3] = (struct point){'M', "matmul, n = 1024", ask_work(mine, MATMUL_WORK, 1024, 0)};
    points[4] = (struct point){'a', "scores, 1024 x 64", ask_work(mine, SCORES_WORK, 1024, 64)};
    points[5] = (struct point){'A', "scores, 16384 x 64", ask_work(mine, SCORES_WORK, 16384, 64)};
}

/* The drawn picture's works, in the order of bed_spots. */
static void your_spots(lab_program *mine, struct spot spots[SPOTS]) {
    spots[0].work = ask_work(mine, SAXPY_WORK, SPOT_FLOATS, 0);
    spots[1].work = ask_work(mine, ONE_FLOP_WORK, 1, 0);
    spots[2].work = ask_work(mine, MATMUL_WORK, SPOT_SMALL, 0);
    spots[3].work = spots[4].work = ask_work(mine, MATMUL_WORK, SPOT_LARGE, 0);
}

static struct lab0_answer *hidden_answers(void) { return lab_hide(LAB0_MOST * sizeof(struct lab0_answer)); }

/* What `make predict0` asks for. */
static void give_figures(const struct machine *m) {
    lab_figure("launch-and-wait", m->wait_us, "us");
    lab_figure("one-more-launch", m->launch_us, "us");
    lab_figure("link-pinned", m->up, "GB/s");
    lab_figure("link-pageable", m->pageable_up, "GB/s");
    lab_figure("memory", m->dram_copy, "GB/s");
    lab_figure("fp32", m->fp32, "Gflop/s");
}

static void grade(lab_program *mine, struct bench_bed *bed) {
    struct sheet sheet = this_sheet();
    struct exam *e = lab_hide(sizeof *e);
    struct lab0_answer *first = hidden_answers(), *again = hidden_answers(), *want = hidden_answers();
    double truth[SIZES][TRIALS];
    exam_draw(e, sheet, bed);
    lab_pass(lab_verdict_of(ROW_PURE)); /* until an answer says otherwise */
    ask_all(mine, e, first, false);
    ask_all(mine, e, again, true);
    hold_pure(e, first, again, "in another order");
    struct machine m = bed_measure(bed);
    for (int size = LARGE; size < SIZES; size++)
        for (int t = 0; t < TRIALS; t++) truth[size][t] = trial_time((enum trial)t, bed, e->amount[size][t]);
    ask_all(mine, e, again, false);
    hold_pure(e, first, again, "after the measurements");
    struct point points[SHOWN];
    your_points(mine, points);
    lab_program *reference = lab_open(LAB_REFERENCE, NULL);
    for (int i = 0; i < e->count; i++) want[i] = ask(reference, &e->question[i]);
    const struct paper paper = {e, first, want};
    grade_formulas(&paper);
    for (int t = 0; t < TRIALS; t++) {
        struct forecast of[SIZES];
        for (int size = LARGE; size < SIZES; size++) {
            const int i = e->predictions + size * TRIALS + t;
            of[size] = (struct forecast){first[i].a, truth[size][t], (long)e->question[i].n};
        }
        if (t == SEND && !(sheet.link_gbs > 0))
            lab_skip(lab_verdict_of(ROW_SEND), "neither nvidia-smi nor /sys says what kind of link this card has");
        else
            grade_prediction((enum trial)t, of);
    }
    give_figures(&m);
    print_machine(&m);
    print_roofline(&m, points, SHOWN);
}

/* --roofline: prints a script for gnuplot. */
static void draw(lab_program *mine, struct bench_bed *bed) {
    struct machine m = bed_measure(bed);
    struct spot spots[SPOTS];
    bed_spots(bed, spots);
    your_spots(mine, spots);
    write_roofline(stdout, &m, spots);
}

int main(int argc, char **argv) {
    bool picture = argc == 2 && !strcmp(argv[1], "--roofline");
    lab_options opt = lab_begin(&spec, picture ? 1 : argc, argv);
    if (opt.counted) return lab_leave(); /* all kernels are the harness's own, so none is counted */
    if (opt.lines) {
        puts("No kernel of this lab is yours, so there are no counters beside your lines. The card names the line of "
             "each\n"
             "wrong answer: make lab0");
        return lab_leave();
    }
    struct bench_bed bed = bed_new();
    lab_program *mine = lab_open(LAB_MINE, NULL);
    picture ? draw(mine, &bed) : grade(mine, &bed);
    bed_free(&bed);
    return picture ? lab_leave() : lab_end();
}
