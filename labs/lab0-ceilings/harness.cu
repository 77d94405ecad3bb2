/* harness.cu — runs and grades lab 0. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Ask: every function of yours is called with the sizes of the handout, with sizes and machines that the seed
 *      chooses, and for four predictions; forwards, then backwards. Nothing has been measured yet.
 *   2. Measure: the machine's ceilings (machine.cuh), and the four things that you have predicted.
 *   3. Ask once more: who answers otherwise now has looked.
 *   4. Compare. Formulas are right or wrong; a prediction earns by its distance, in doublings.
 */
#define LAB0_HARNESS
#include "lab.h"
#include "lab0.h"

extern "C" {
struct work reference_copy_work(long), reference_saxpy_work(long), reference_one_flop_work(void),
    reference_matmul_work(long), reference_scores_work(long, long);
double reference_intensity(struct work), reference_least_us(struct work, struct ceilings);
enum bound reference_bound_of(struct work, struct ceilings);
double reference_sheet_bytes_per_us(struct sheet), reference_sheet_flops_per_us(struct sheet);
double reference_predict_us(enum trial, double, struct sheet), starter_predict_us(enum trial, double, struct sheet);
}

#include "machine.cuh"
#include "questions.cuh"
#include "roofline.cuh"

/* --- the rows --------------------------------------------------------------------------------- */

// clang-format off
static const lab_row rows[] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step */
    {"pure", "answers are answers", "every function gives the same answer whenever it is asked, and asks nobody else",
     "", 0, 1, 1, 6, LAB_BOTH, "pure", "compute from the arguments alone: no statics, no CUDA calls"},
    {"bytes", "bytes that must move", "the least traffic of all five works is right, for every size",
     "of 5", 0, 5, 0, 12, LAB_BOTH, "bytes", "list the arrays; for each: is it read, is it written, how many floats?"},
    {"flops", "operations", "the operations of all five works are right, for every size",
     "of 5", 0, 5, 0, 12, LAB_BOTH, "flops", "count for one element of the result, then multiply by the elements"},
    {"intensity", "arithmetic intensity", "operations for each byte, for any work",
     "", 0, 1, 1, 8, LAB_BOTH, "intensity", "which of the two belongs on top, if more means more arithmetic?"},
    {"least-time", "least time", "the roofline's time is right, for any work on any machine",
     "", 0, 1, 1, 8, LAB_BOTH, "least-time", "three ceilings, three times: none of them can be beaten"},
    {"bound", "what bounds it", "the right ceiling is named, for any work on any machine",
     "right", 2, 1, 0.7, 12, LAB_BOTH, "bound", "compare the three times: the ceiling with the longest one bounds"},
    {"sheet", "reading a data sheet", "both peak rates follow from the data sheet, for any card",
     "of 2", 0, 2, 0, 10, LAB_BOTH, "sheet", "check the units: bits or bytes, edges or clocks, lanes or operations?"},
    /* A factor of two: here the host decides, and hosts differ more than cards. */
    {"one-flop", "one addition", "the time of one addition on the card is predicted within a factor of two",
     "doublings off", 2, 1, 3, 8, LAB_BOTH, "one-flop", "what must happen before the first number is added, and after?"},
    {"send", "to the card", "the time of a page-locked copy to the card is predicted within a third",
     "doublings off", 2, 0.4, 2, 8, LAB_BOTH, "send", "bytes over the link's rate, and what every call costs"},
    {"copy", "copy on the card", "the time of a copy on the card is predicted within a third",
     "doublings off", 2, 0.4, 2, 8, LAB_BOTH, "copy", "bytes over the memory's rate, and what every launch costs"},
    {"fma", "arithmetic on the card", "the time of pure arithmetic is predicted within a third",
     "doublings off", 2, 0.4, 2, 8, LAB_BOTH, "fma", "operations over the arithmetic's rate, and what every launch costs"},
};
// clang-format on
static const lab_spec spec = {"lab0", "ceilings", "ceilings.cu", rows, sizeof rows / sizeof *rows};
static const char *const trial_rows[] = {"one-flop", "send", "copy", "fma"}; /* in the order of enum trial */
static const char *const trial_cases[] = {"case ONE_FLOP", "case SEND", "case COPY", "case FMA"};

/* --- grading ------------------------------------------------------------------------------------ */

static bool right(double got, double want) { return isfinite(got) && fabs(got - want) <= 1e-9 * fabs(want); }

/* What a wrong count usually is, by its ratio to the right one. */
static const char *usual_cause(bool bytes, double ratio) {
    if (bytes && fabs(ratio - 0.25) < 1e-6) return ": floats were counted, and a float has 4 bytes";
    if (!bytes && fabs(ratio - 0.5) < 1e-2) return ": a multiply-add is two operations";
    if (!(fabs(ratio) < 1e15)) return "";
    if (ratio < 0) return ": it has run over; an int ends at 2147483647";
    return ratio < 1 ? ": something was left out" : ": something was counted that need not be done";
}

/* Works: a row counts the functions whose answers are all right. */
static void grade_works(const char *id, bool bytes, const struct answer *got, const struct answer *want) {
    int good = 0;
    const char *told = NULL;
    for (int k = 0; k < WORKS; k++) {
        bool all = true;
        for (int i = 0; i < nquestions; i++) {
            if (questions[i].kind != k) continue;
            double g = bytes ? got[i].a : got[i].b, w = bytes ? want[i].a : want[i].b;
            if (right(g, w)) continue;
            all = false;
            if (told) continue;
            told = function_of[k];
            blame(id, told);
            lab_why(id, "%s for n = %ld: %.0f %s%s", told, k == ADDITION ? 1 : questions[i].n, g,
                    bytes ? "bytes" : "operations", w != 0 ? usual_cause(bytes, g / w) : ": nothing is computed there");
        }
        good += all;
    }
    lab_grade(id, good);
}

static const char *bound_name(double bound) {
    return bound == OVERHEAD ? "OVERHEAD" : bound == MEMORY ? "MEMORY" : bound == ARITHMETIC ? "ARITHMETIC" : "that";
}

/* All others: how many of the answers to `kind` are right; the first that is not is shown. */
static double share_right(const char *id, enum kind kind, const struct answer *got, const struct answer *want) {
    int good = 0, all = 0;
    for (int i = 0; i < nquestions; i++) {
        if (questions[i].kind != kind) continue;
        const struct question *q = &questions[i];
        bool ok = right(got[i].a, want[i].a) || (kind == BOUND && got[i].a == want[i].a);
        all++;
        good += ok;
        if (ok || good + 1 != all) continue;
        blame(id, function_of[kind]);
        if (kind == SHEET_BYTES || kind == SHEET_FLOPS)
            lab_why(id, "%s: %.4g for %d SMs of %d lanes at %.0f MHz, %d wires at %.0f MHz: %.3g times the peak",
                    function_of[kind], got[i].a, q->s.sms, q->s.lanes, q->s.clock_mhz, q->s.bus_bits,
                    q->s.mem_clock_mhz, got[i].a / want[i].a);
        else if (kind == INTENSITY)
            lab_why(id, "%.4g flops and %.4g bytes gave %.4g", q->w.flops, q->w.bytes, got[i].a);
        else if (kind == BOUND)
            lab_why(id, "bytes alone need %.3g us, operations alone %.3g, the overhead %.3g: not bound by %s",
                    q->w.bytes / q->c.bytes_per_us, q->w.flops / q->c.flops_per_us, q->c.overhead_us,
                    bound_name(got[i].a));
        else
            lab_why(id, "bytes alone need %.3g us, operations alone %.3g, the overhead %.3g: %s gave %.3g",
                    q->w.bytes / q->c.bytes_per_us, q->w.flops / q->c.flops_per_us, q->c.overhead_us, function_of[kind],
                    got[i].a);
    }
    return all ? (double)good / all : 0;
}

static void pass_or_fail(const char *id, bool pass) { pass ? lab_pass(id) : lab_fail(id); }

static void grade_formulas(const struct answer *got, const struct answer *want) {
    grade_works("bytes", true, got, want);
    grade_works("flops", false, got, want);
    pass_or_fail("intensity", share_right("intensity", INTENSITY, got, want) == 1);
    pass_or_fail("least-time", share_right("least-time", LEAST, got, want) == 1);
    lab_grade("bound", share_right("bound", BOUND, got, want));
    bool flops = share_right("sheet", SHEET_FLOPS, got, want) == 1;
    lab_grade("sheet", flops + (share_right("sheet", SHEET_BYTES, got, want) == 1));
}

static double doublings(double prediction, double truth) { return fabs(log2(prediction / truth)); }

static void grade_prediction(enum trial t, double prediction, double truth, long n) {
    const char *id = trial_rows[t];
    static const char *const units[] = {"addition", "bytes", "floats", "operations"};
    lab_want(id, "really %.1f us%s, for %ld %s", truth, lab_lane() == LAB_SIM ? " virtual" : "", n, units[t]);
    if (!(isfinite(prediction) && prediction > 0)) {
        lab_fail(id);
        lab_value(id, "%g us", prediction);
        blame(id, trial_cases[t]);
        return lab_why(id, "%g us is no time", prediction);
    }
    lab_grade(id, doublings(prediction, truth));
    lab_value(id, "%.*f us", prediction < 0.1 ? 3 : 1, prediction);
    if (lab_passed(id)) return;
    blame(id, trial_cases[t]);
    double off = prediction > truth ? prediction / truth : truth / prediction;
    lab_why(id, "%.*f times too %s", off < 10 ? 1 : 0, off, prediction > truth ? "long" : "short");
}

/* --- the run -------------------------------------------------------------------------------------- */

enum { TRIALS = 4, SHOWN = 6 };

/* The works of the handout, as your functions describe them. */
static void your_points(struct point *points) {
    points[0] = {'s', "SAXPY, 2^26 floats", saxpy_work(1l << 26)};
    points[1] = {'1', "one addition", one_flop_work()};
    points[2] = {'m', "matmul, n = 64", matmul_work(64)};
    points[3] = {'M', "matmul, n = 1024", matmul_work(1024)};
    points[4] = {'a', "scores, 1024 x 64", scores_work(1024, 64)};
    points[5] = {'A', "scores, 16384 x 64", scores_work(16384, 64)};
}

static void grade(struct bench_bed *bed) {
    struct sheet sheet = this_sheet();
    struct answer *first = (struct answer *)lab_hide(sizeof *first * MOST), again[MOST], want[MOST];
    long amount[TRIALS];
    double truth[TRIALS];
    ask_about_works();
    ask_about_ceilings();
    ask_about_sheets(sheet);
    int predictions = nquestions;
    for (int t = 0; t < TRIALS; t++) {
        amount[t] = trial_amount((enum trial)t, bed);
        struct question q = {PREDICT, trial_n((enum trial)t, bed, amount[t])};
        q.s = sheet, q.trial = (enum trial)t;
        add(q);
    }
    lab_pass("pure"); /* until an answer says otherwise */
    ask_all(first, false);
    ask_all(again, true);
    hold_pure(first, again, "in another order");
    struct machine m = measure(bed);
    for (int t = 0; t < TRIALS; t++) truth[t] = trial_time((enum trial)t, bed, amount[t]);
    ask_all(again, false);
    hold_pure(first, again, "after the measurements");
    for (int i = 0; i < nquestions; i++) want[i] = ask_reference(&questions[i]);
    grade_formulas(first, want);
    for (int t = 0; t < TRIALS; t++)
        if (t == SEND && !(sheet.link_gbs > 0))
            lab_skip(trial_rows[t], "neither nvidia-smi nor /sys says what kind of link this card has");
        else
            grade_prediction((enum trial)t, first[predictions + t].a, truth[t], questions[predictions + t].n);
    lab_gate("pure", "");
    struct point points[SHOWN];
    your_points(points);
    print_machine(&m);
    print_roofline(&m, points, SHOWN);
}

/* --bench: the ceilings, and the four trials as the starter, the reference and the clock have them. */
static void bench(struct bench_bed *bed) {
    struct machine m = measure(bed);
    struct sheet s = this_sheet();
    printf("ceiling\tvalue\tunit\n");
    printf("page-locked, to the card\t%.1f\tGB/s\npage-locked, to the host\t%.1f\tGB/s\n", m.up, m.down);
    printf("pageable, to the card\t%.1f\tGB/s\npageable, to the host\t%.1f\tGB/s\n", m.pageable_up, m.pageable_down);
    printf("device memory, read\t%.0f\tGB/s\ndevice memory, copied\t%.0f\tGB/s\n", m.dram_read, m.dram_copy);
    printf("L2 cache\t%.0f\tGB/s\nshared memory\t%.0f\tGB/s\n", m.l2, m.shared);
    printf("fp32 arithmetic\t%.0f\tGflop/s\n", m.fp32);
    printf("one more launch\t%.2f\tus\nlaunch and wait\t%.2f\tus\n", m.launch_us, m.wait_us);
    printf("wait for nothing\t%.2f\tus\none addition\t%.2f\tus\n", m.sync_us, m.one_flop_us);
    printf("data sheet, device memory\t%.0f\tGB/s\n", reference_sheet_bytes_per_us(s) / 1e3);
    printf("data sheet, fp32\t%.0f\tGflop/s\n", reference_sheet_flops_per_us(s) / 1e3);
    for (int t = 0; t < TRIALS; t++) {
        long amount = trial_amount((enum trial)t, bed), n = trial_n((enum trial)t, bed, amount);
        const char *name = trial_rows[t];
        printf("%s: measured\t%.2f\tus\n", name, trial_time((enum trial)t, bed, amount));
        printf("%s: starter\t%.3f\tus\n", name, starter_predict_us((enum trial)t, (double)n, s));
        double reference = reference_predict_us((enum trial)t, (double)n, s);
        printf(isfinite(reference) ? "%s: reference\t%.2f\tus\n" : "%s: reference\tn/a\tus\n", name, reference);
    }
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
}

int main(int argc, char **argv) {
    bool picture = argc == 2 && !strcmp(argv[1], "--roofline"); /* prints a script for gnuplot */
    lab_options opt = lab_begin(&spec, picture ? 1 : argc, argv);
    if (opt.ladder || opt.counted) return lab_leave(); /* the kernels are the harness's own: nothing to count */
    if (opt.lines) lab_die("no kernel here is yours, so no line has counters; the card names its lines");
    struct bench_bed bed = bed_new();
    if (opt.bench)
        bench(&bed);
    else if (picture) {
        struct machine m = measure(&bed);
        struct spot spots[SPOTS];
        measure_spots(&bed, spots);
        write_roofline(stdout, &m, spots);
    } else {
        grade(&bed);
        bed_free(&bed);
        return lab_end();
    }
    bed_free(&bed);
    return lab_leave();
}
