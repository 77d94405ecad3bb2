/* harness.c — runs and grades lab 1. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several jobs, small and large, one of them chosen by the seed. In these runs each buffer that a copy
 *      uses is watched: touch it too early and the card says which copy.
 *   2. Timed: a job whose batches are large and results small (to the device), one the other way round (to the host),
 *      and one where both are large (both ways). Same function, same rules; spot checks find what was left out.
 *   3. Beside it, on this machine and now: the link itself, which is one long copy of page-locked memory, and the
 *      untouched starter.
 *
 * In every run of yours, each byte of a batch must be copied to the device and each byte of its result back; and no
 * rate counts that the link cannot carry. Both lanes grade the same rows. The harness notes your CUDA calls (ear.h), so
 * it needs no profiler.
 *
 * This file judges and runs none of your code: job.c sends messages (messages.h) to player.c, which calls your function
 * and offers it the loader. Rows, then the verdicts, then main.
 */
#include "lab.h"
#include "blame.h"
#include "ear.h"
#include "job.h"
#include "messages.h"
#include "rates.h"

#include <stdio.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------- */

enum { CORRECT, IN_FLIGHT, LEFT_BEHIND, ALLOCATIONS, STAGED, PAGE_LOCKED, SPEEDS, ROWS = SPEEDS + WAYS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every result is right, for few and many batches, small, large, odd and hidden sizes",
     "", 0, 1, 1, 10, LAB_BOTH, "correct",
     "follow one batch: which memory holds it, from load_batch to take_result, and until when?", NULL},
    [IN_FLIGHT] = {"in-flight", "buffers touched too early", "no buffer is used again, by host or card, before its last use is over",
     "", 0, 1, 1, 5, LAB_BOTH, "in-flight",
     "keep two uses of a buffer in one stream, or wait for the first use (its stream, or an event in it) before the second", NULL},
    [LEFT_BEHIND] = {"left-behind", "left behind", "what a call of run_batches creates, it frees or destroys before it returns: memory, streams, events",
     "", 0, 0, 1, 5, LAB_BOTH, "left-behind",
     "free or destroy what you create, on every way out", "correct"},
    [ALLOCATIONS] = {"allocations", "allocations in the loop", "no memory is allocated or pinned between the first load and the last take",
     "", 0, 0, 32, 5, LAB_BOTH, "allocations",
     "allocate before the loop, use it for every batch, free it after the loop", "correct"},
    [STAGED] = {"staged", "staged by the CPU", "no byte takes the detour through the driver's staging buffer",
     "%", 0, 0, 100, 5, LAB_BOTH, "staged",
     "page-lock both host buffers, the batch's and the result's", "correct"},
    [PAGE_LOCKED] = {"page-locked", "page-locked at peak", "page-locked memory has room for at most four batches and their results",
     "x allowed", 2, 1, 4, 5, LAB_BOTH, "page-locked",
     "use a few buffers in turn, as a ring", "correct"},
    [SPEEDS + TO_DEVICE] = {"to-device", "to the device", "large batches reach the device at 0.94 of the link's speed",
     "of link", 2, 0.94, 0.7, 20, LAB_BOTH, "one-way",
     "load another buffer while a copy runs (cudaMemcpyAsync); before you use a buffer again, wait for its own copy only", "correct in-flight staged page-locked"},
    [SPEEDS + TO_HOST] = {"to-host", "to the host", "large results reach the host at 0.94 of the link's speed",
     "of link", 2, 0.94, 0.7, 20, LAB_BOTH, "one-way",
     "queue the next batch before you wait for the result of this one", "correct in-flight staged page-locked"},
    [SPEEDS + BOTH] = {"both-ways", "both ways at once", "large batches and results together flow at 0.90 of what both directions carry",
     "of both", 2, 0.9, 0.5, 25, LAB_BOTH, "both-ways",
     "one batch goes up, one comes down, one is with the loader: give each its own stream and buffers", "correct in-flight staged page-locked"},
};
// clang-format on
static lab_spec spec = {"lab1",       "pinning: 32 batches of 4 MiB",
                        "pinning.cu", rows,
                        ROWS,         "how small the pieces can be, at the end of the handout"};

static lab_verdict *wrong_words; /* hidden: what 'correct' says of wrong results, if they came before other mistakes */

static double allocations_of(const place *p) { return p->allocations; }
static double staged_of(const place *p) { return p->staged; }

/* --- one run -------------------------------------------------------------------------------------- */

static void grade_left(lab_verdict *v) {
    const lab_thing_made *list;
    if (v->status != LAB_OPEN || !lab_things(&list)) return;
    lab_grade_leaks(v, "when run_batches returns");
    lab_forget_things();
}

/* Plays it, and gives a verdict to the rows that any run may fail. The run is a stretch of the report and the trace,
 * under this name or else the job's shape. False when CUDA itself failed: after that nothing more can be run. */
static bool graded_run(run *r, bool checking, const char *name) {
    lab_verdict *correct = lab_verdict_of(CORRECT), *in_flight = lab_verdict_of(IN_FLIGHT);
    char shape[64];
    LAB_SAY(shape, "%d x %zu bytes, results of %zu", r->message.batches, (size_t)r->message.in_bytes,
            (size_t)r->message.out_bytes);
    if (!name) name = shape;
    lab_stage("your run_batches: %s", shape);
    lab_use(r->program);
    lab_count_begin(name);
    cudaError_t error = run_once(r, true, checking);
    lab_count_end();
    lab_stage("the harness, after your run_batches");
    lab_usage u = {.launches = 0};
    if (lab_lane() == LAB_SIM) u = lab_usage_of(name);
    if (lab_passed(in_flight) && lab_order_finding(&u)) blame_finding(in_flight, lab_order_finding(&u));
    if (lab_passed(in_flight) && ear->early.by) blame_early(in_flight, &ear->early);
    grade_left(lab_verdict_of(LEFT_BEHIND));
    const bool by_words = r->trouble >= WRONG_WORDS, by_calls = r->trouble && !by_words;
    if (lab_passed(correct) && error && !(by_calls && r->troubled_first))
        blame_error(correct, r, &u, error, shape);
    else if (lab_passed(correct) && by_calls)
        blame_trouble(correct, r, shape);
    else if (lab_passed(correct) && by_words && lab_passed(wrong_words))
        blame_trouble(wrong_words, r, shape);
    lab_usage_free(&u);
    return error == cudaSuccess;
}

/* --- correct, in flight ----------------------------------------------------------------------------- */

/* Small jobs, with every word compared; the last one is the seed's. In the sim lane SimGPU watches these: it finds
 * accesses that no order separates, even if the results are right. */
static bool check_small_jobs(lab_program *mine) {
    uint32_t jobs[][3] = {{1, 1000, 1000}, {9, 4096, 4096}, {7, 10007, 33}, {3, 17, 5000},
                          {2, 1, 1},       {0, 64, 64},     {0, 0, 0}};
    int n = sizeof jobs / sizeof *jobs;
    jobs[n - 1][0] = 5 + (uint32_t)(lab_fresh_seed() % 7);
    jobs[n - 1][1] = 3000 + (uint32_t)(lab_fresh_seed() % 30000);
    jobs[n - 1][2] = 3000 + (uint32_t)(lab_fresh_seed() % 30000);
    LAB_SAY(lab_verdict_of(CORRECT)->want, "14 jobs; the hidden one: %u B up, %u B down", jobs[n - 1][1] * 4,
            jobs[n - 1][2] * 4);
    bool alive = true;
    lab_use(mine);
    lab_check_hazards(true);
    for (int i = 0; i < n && alive; i++)
        alive = graded_run(run_new(mine, (int)jobs[i][0], jobs[i][1], jobs[i][2], false), lab_lane() == LAB_GPU, NULL);
    lab_check_hazards(false);
    return alive;
}

/* Jobs with large batches, in which the loader comes back to a buffer while much is under way: one with every word
 * compared, then three like the timed ones. The harness watches the buffers. */
static bool check_large_jobs(lab_program *mine) {
    bool alive = graded_run(run_new(mine, 6, 1 << 18, 1 << 18, false), true, NULL);
    for (int w = 0; w < WAYS && alive; w++) {
        run *r = way_job(mine, (enum way)w);
        r->message.batches = 12;
        alive = graded_run(r, true, NULL);
    }
    LAB_SAY(lab_verdict_of(IN_FLIGHT)->want, "11 of the jobs, every buffer watched");
    return alive;
}

/* Gives 'correct' its verdict after checked or timed runs. A buffer that is used too early may hold the right words
 * today and others tomorrow, so the row says neither: one mistake fails the same rows with every seed. */
static void settle_correct(lab_verdict *v, bool alive) {
    char found[sizeof v->why];
    if (lab_passed(lab_verdict_of(IN_FLIGHT))) {
        if (!alive || lab_passed(wrong_words)) return;
        LAB_SAY(wrong_words->want, "%s", v->want);
        *v = *wrong_words;
        return;
    }
    if (!lab_passed(v)) return;
    LAB_SAY(found, "%s", wrong_words->why);
    lab_unmeasured(v, "luck decides what the results are while a buffer is used too early: see the row below");
    const size_t n = strlen(v->why);
    if (found[0]) lab_text(v->why + n, sizeof v->why - n, "\nthis time: %s", found);
}

/* --- memory, from the timed job with large batches and large results ------------------------------- */

static void grade_allocations(lab_verdict *v) {
    lab_grade(v, ear->allocations);
    if (lab_passed(v)) return;
    const place *p = ear_worst(allocations_of);
    ear_blame(v, p);
    LAB_SAY(v->why, "%s was called %.0f times between the first load and the last take", p->call, p->allocations);
}

static void grade_staged(lab_verdict *v) {
    const double mib = 1 << 20;
    lab_grade(v, ear->bytes ? 100 * ear->staged / ear->bytes : 0);
    if (lab_passed(v)) return;
    ear_blame(v, ear_worst(staged_of));
    LAB_SAY(v->why, "%.0f of %.0f MiB went from or to pageable memory: the CPU copied them, a piece at a time",
            ear->staged / mib, ear->bytes / mib);
}

static void grade_page_locked(lab_verdict *v, const run *r) {
    const double mib = 1 << 20, most = (double)ear->pinned_most, allowed = (double)r->message.page_locked_most;
    lab_grade(v, most / allowed);
    LAB_SAY(v->value_text, "%.1f MiB", most / mib);
    lab_figure("page-locked-mib", most / mib, "MiB");
    LAB_SAY(v->want, "want ≤ %.1f MiB, of batches of %.0f MiB in all", allowed / mib, run_bytes(r) / mib);
    if (lab_passed(v) && ear->staged == 0) return;
    if (lab_passed(v) || ear->pinned_before) {
        v->unmeasured = true;
        return lab_fail(v, lab_passed(v) ? "counts once nothing is staged: memory that is not page-locked takes no room"
                                         : "what earlier calls left page-locked is in it, see 'left behind'");
    }
    ear_blame(v, ear->pinned_first);
    LAB_SAY(v->why, "%.1f times what you may hold at one time", most / allowed);
}

/* --- speed ---------------------------------------------------------------------------------------- */

/* Is this a rate that the link can carry, and was all done when the clock stopped? lab_possible leaves a tenth for the
 * noise of two measurements; the virtual link has none, and no real one is faster than its generation and width allow.
 * A rate of something else has no next step. */
static bool carried(lab_verdict *v, enum way way, const run *r, double gbs, double link) {
    const bool sim = lab_lane() == LAB_SIM;
    const double most = sim ? link : (way == BOTH ? 2 : 1) * lab_link_gbs(), bytes = run_bytes(r);
    if (!lab_possible(v, bytes / gbs / 1e3, (lab_floor){"link", bytes / link / 1e3})) return false;
    if (most > 0 && gbs > 1.01 * most) {
        lab_fail(v,
                 "%.1f GB/s is more than the link carries, %.1f: some of the bytes did not cross it in this time. Wait "
                 "for each result's copy before take_result",
                 gbs, most);
    } else if (r->late > (sim ? 100 : 20e3)) {
        lab_fail(v,
                 "at the last take_result the device still worked for %s: not all bytes had crossed the link. Wait for "
                 "the last "
                 "copies before take_result",
                 lab_us(r->late / 1e3));
    } else {
        return true;
    }
    v->unmeasured = true;
    return false;
}

/* The figures of make predict1, and the rows beside the blue bar. */
static void show_both_ways(const run *r, double gbs) {
    lab_figure("both-ways-gbs", gbs, "GB/s");
    lab_figure("both-ways-us", (r->end - r->begin) / 1e3, "us");
    lab_figure("under-way", r->ahead, "batches");
    if (lab_lane() != LAB_SIM) return;
    lab_usage u = lab_usage_of(way_name(BOTH));
    lab_blue_bar(&u, r->begin, r->end, LAB_UNDER_WAY);
    lab_usage_free(&u);
}

/* False when CUDA failed. link, start: GB/s. */
static bool grade_speed(lab_program *mine, enum way way, const double *links, double start) {
    lab_verdict *v = lab_verdict_of(SPEEDS + (int)way);
    const double link = links[way];
    run *r = way_job(mine, way);
    double gbs[MOST_RUNS];
    int n = 0;
    bool alive = true;
    while (n < rate_runs() && alive) {
        alive = graded_run(r, false, way_name(way));
        gbs[n++] = run_rate(r);
    }
    if (!alive) return false;
    lab_middle rate = lab_middle_of(gbs, n);
    if (way == BOTH) {
        grade_allocations(lab_verdict_of(ALLOCATIONS));
        grade_staged(lab_verdict_of(STAGED));
        grade_page_locked(lab_verdict_of(PAGE_LOCKED), r);
        show_both_ways(r, rate.median);
    }
    lab_grade_interval(v, rate.median / link, rate.lo / link, rate.hi / link);
    bool possible = rate.median <= 0 || carried(v, way, r, rate.median, link);
    LAB_SAY(v->value_text, "%.1f GB/s", rate.median);
    LAB_SAY(v->want, "start %.1f · link %.1f%s · want %.2f of it", start, link, lab_lane() == LAB_SIM ? " virtual" : "",
            v->row->full);
    if (!lab_passed(v) && possible) blame_slow(v, way, r, links);
    return true;
}

static bool grade_speeds(lab_program *mine) {
    lab_program *starter = lab_open(LAB_STARTER, NULL);
    double link[WAYS], start[WAYS];
    bool alive = true;
    for (int w = 0; w < WAYS; w++) {
        char name[48];
        LAB_SAY(name, "link, %s", way_name((enum way)w));
        link[w] = LAB_OTHER(name, link_rate((enum way)w));
        LAB_SAY(name, "start, %s", way_name((enum way)w));
        start[w] = LAB_OTHER(name, way_rate(starter, (enum way)w, NULL, NULL));
    }
    for (int w = 0; w < WAYS && alive; w++) alive = grade_speed(mine, (enum way)w, link, start[w]);
    return alive;
}

/* A run that failed earns nothing for the rows that it did not reach: code that never gets to a buffer cannot touch it
 * too early. */
static void grade(lab_program *mine) {
    lab_verdict *correct = lab_verdict_of(CORRECT), *in_flight = lab_verdict_of(IN_FLIGHT),
                *left = lab_verdict_of(LEFT_BEHIND);
    bool alive = check_small_jobs(mine) && check_large_jobs(mine);
    settle_correct(correct, alive);
    if (alive && lab_passed(correct)) alive = grade_speeds(mine);
    settle_correct(correct, alive);
    const char *why = !alive                ? "not measured: CUDA failed, see 'correct'"
                      : correct->unmeasured ? "not measured: a buffer is used too early, see above"
                                            : "not measured: results are wrong, see 'correct'";
    if (!lab_passed(correct) && lab_passed(in_flight)) lab_unmeasured(in_flight, why);
    if (lab_passed(correct) && left->status == LAB_OPEN) lab_grade(left, 0);
    if (!lab_passed(correct)) lab_skip_rest(why);
}

/* --- the run -------------------------------------------------------------------------------------- */

/* --lines: your source, with what each line's CUDA calls did in one timed run both ways. */
static void print_lines(lab_program *mine) {
    if (lab_lane() == LAB_GPU)
        lab_die("a card's calls bring no line; SimGPU knows the line of each: make lines1 DEVICE=sim");
    if (!graded_run(way_job(mine, BOTH), false, way_name(BOTH))) lab_die("your code failed: see make lab1");
    ear_print_lines("both ways", "Kernels, loads and takes are");
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "pinning: 64 batches of 16 MiB";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.counted) return lab_ladder(), lab_leave();
    lab_hazards_on_card();
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    lab_pass(lab_verdict_of(IN_FLIGHT));
    wrong_words = lab_hide(sizeof *wrong_words);
    *wrong_words = *lab_verdict_of(CORRECT);
    if (opt.lines) return print_lines(mine), lab_leave();
    grade(mine);
    return lab_end();
}
