/* harness.c — runs and grades lab 6. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several jobs, few and many frames, small and large, one of them chosen by the seed. In these runs each
 *      buffer that a copy uses is watched: use it too early and the card says which copy.
 *   2. Timed: one job, 256 MiB on a card. On SimGPU it has 32 MiB, since each instruction is simulated; the kernel is
 * as long beside the copies as on a card.
 *   3. Beside it, on this machine and now: each engine alone, and the untouched starter. The longest engine's time is
 *      the limit.
 *
 * This file judges and runs none of your code: job.c sends messages (messages.h) to player.c, which calls your function
 * and plays the network card. Your calls of CUDA are noted (common/lab/ear.h), so it needs no profiler. In the sim lane
 * engines.c reads from SimGPU's events when each engine worked.
 *
 * Rows, then the verdicts, then main.
 */
#include "lab.h"
#include "blame.h"
#include "ear.h"
#include "engines.h"
#include "job.h"
#include "rates.h"

#include <stdio.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------- */

enum { CORRECT, IN_FLIGHT, LEFT_BEHIND, DEFAULT_STREAM, PINNED, DEVICE, OVERLAP, VIRTUAL_TIME, TIME, ROWS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every frame is processed and sent, for few and many frames, small, large, odd and hidden sizes",
     "", 0, 1, 1, 10, LAB_BOTH, "correct",
     "follow one chunk: which memory holds it, from receive_frames to send_frames, and until when?", NULL},
    [IN_FLIGHT] = {"in-flight", "buffers used too early", "no buffer is used again, by host or card, before its last use is over",
     "", 0, 1, 1, 10, LAB_BOTH, "in-flight",
     "keep two uses of a buffer in one stream, or wait for the first use (its stream, or an event in it) before the second", NULL},
    [LEFT_BEHIND] = {"left-behind", "left behind", "what a call of run_pipeline creates, it frees or destroys before it returns: memory, streams, events",
     "", 0, 0, 1, 5, LAB_BOTH, "left-behind",
     "free or destroy what you create, on every way out", "correct"},
    [DEFAULT_STREAM] = {"default-stream", "in the default stream", "no copy and no kernel is in the default stream, for which ordinary streams wait",
     "", 0, 0, 3, 5, LAB_BOTH, "default-stream",
     "put copies and kernels into streams of your own", "correct"},
    [PINNED] = {"pinned", "page-locked at peak", "page-locked memory has room for at most a quarter of all frames",
     "x allowed", 2, 1, 4, 10, LAB_BOTH, "memory",
     "use a few buffers in turn, as a ring", "correct"},
    [DEVICE] = {"device", "device memory at peak", "device memory has room for at most a quarter of all frames",
     "x allowed", 2, 1, 4, 5, LAB_BOTH, "memory",
     "give each slot of the ring device memory for one chunk", "correct"},
    [OVERLAP] = {"overlap", "all engines at work", "copies up, kernels and copies down are at work at the same time, for most of the time",
     "%", 0, 65, 0, 20, LAB_SIM, "overlap",
     "draw the three engines for four chunks: which of them waits, and for whom?", "correct in-flight"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time", "the job takes hardly longer than its longest engine: 0.80 of the limit's speed",
     "of limit", 2, 0.80, 0.37, 35, LAB_SIM, "time",
     "find what the job does while one of its engines waits", "correct in-flight"},
    [TIME] = {"time", "time", "the job takes hardly longer than its longest engine: 0.92 of the limit's speed",
     "of limit", 2, 0.92, 0.38, 55, LAB_GPU, "time",
     "find what the job does while one of its engines waits", "correct in-flight"},
};
// clang-format on
static lab_spec spec = {"lab6",        "pipeline: 32 MiB in 8192 frames",
                        "pipeline.cu", rows,
                        ROWS,          "the question that nobody grades, at the end of the handout"};

/* --- one run -------------------------------------------------------------------------------------- */

static void grade_left(lab_verdict *v) {
    const lab_thing_made *list;
    if (v->status != LAB_OPEN || !lab_things(&list)) return;
    lab_grade_leaks(v, "when run_pipeline returns");
    lab_forget_things();
}

static bool cuda_shown; /* 'correct' shows an error of CUDA */

/* Plays it, and gives a verdict to the rows that any run may fail. The run is a stretch of the report and the trace,
 * under this name or else the job's shape. False when CUDA itself failed: after that nothing more can be run. */
static bool graded_run(run *r, bool checking, const char *name) {
    lab_verdict *correct = lab_verdict_of(CORRECT), *in_flight = lab_verdict_of(IN_FLIGHT);
    char shape[64];
    LAB_SAY(shape, "%llu frame%s of %llu bytes", (unsigned long long)r->message.frames,
            r->message.frames == 1 ? "" : "s", (unsigned long long)r->message.frame_bytes);
    if (!name) name = shape;
    lab_stage("your run_pipeline: %s", shape);
    lab_use(r->program);
    lab_count_begin(name);
    cudaError_t error = run_once(r, true, checking);
    lab_count_end();
    lab_stage("the harness, after your run_pipeline");
    /* What a buffer used too early holds in the timed run says nothing more. */
    lab_usage u = {.launches = 0};
    if (lab_lane() == LAB_SIM) u = lab_usage_of(name);
    if (lab_passed(in_flight) && lab_order_finding(&u)) blame_finding(in_flight, lab_order_finding(&u));
    if (lab_passed(in_flight) && ear->early.by) blame_early(in_flight, &ear->early);
    grade_left(lab_verdict_of(LEFT_BEHIND));
    if (lab_passed(correct) && error && !(r->trouble && r->troubled_first)) {
        blame_error(correct, &u, error, shape);
        cuda_shown = true;
    } else if (lab_passed(correct) && r->trouble && (!r->timed || lab_passed(in_flight))) {
        blame_trouble(correct, r, shape, !lab_passed(in_flight));
    }
    lab_usage_free(&u);
    return error == cudaSuccess;
}

/* --- correct, in flight ----------------------------------------------------------------------------- */

/* Jobs with every word compared; the last one is the seed's. In the sim lane SimGPU watches these: it finds accesses
 * that no order separates, even if the results are right. On a card events behind the copies do. */
static bool check_jobs(lab_program *mine) {
    uint64_t jobs[][2] = {{1, 4096}, {100, 1040}, {3, 65552}, {7, 16}, {509, 2064}, {0, 4096}, {0, 0}};
    const int n = sizeof jobs / sizeof *jobs;
    jobs[n - 1][0] = 301 + lab_fresh_seed() % 600;
    jobs[n - 1][1] = 16 * (33 + lab_fresh_seed() % 60);
    LAB_SAY(lab_verdict_of(CORRECT)->want, "%d jobs, 0 to 1024 frames; hidden: %llu of %llu B", n + 1,
            (unsigned long long)jobs[n - 1][0], (unsigned long long)jobs[n - 1][1]);
    bool alive = true;
    lab_use(mine);
    lab_check_hazards(true);
    for (int i = 0; i < n && alive; i++)
        alive = graded_run(run_new(mine, jobs[i][0], jobs[i][1], false), lab_lane() == LAB_GPU, NULL);
    lab_check_hazards(false);
    /* So large that the network card comes back to a buffer while much is under way. */
    if (alive) alive = graded_run(run_new(mine, 1024, FRAME_BYTES, false), true, NULL);
    if (alive && lab_passed(lab_verdict_of(CORRECT)))
        LAB_SAY(lab_verdict_of(IN_FLIGHT)->want, "in these jobs every buffer is watched");
    return alive;
}

/* --- streams and memory, in the timed job ------------------------------------------------------------ */

static void grade_default_stream(lab_verdict *v, const run *r) {
    double copies = 0;
    for (int i = 0; i < ear->nplaces; i++) copies += ear->places[i].in_default;
    lab_grade(v, copies + r->in_default);
    if (!lab_passed(v)) blame_default(v, r);
}

/* before: what earlier calls left there. by: where the first of it was allocated. */
static void grade_peak(lab_verdict *v, const char *figure, double most, double allowed, double before,
                       const place *by) {
    const double mib = 1 << 20;
    lab_grade(v, most / allowed);
    LAB_SAY(v->value_text, "%.1f MiB", most / mib);
    lab_figure(figure, most / mib, "MiB");
    LAB_SAY(v->want, "want ≤ %.1f MiB, of %.0f MiB of frames", allowed / mib, 4 * allowed / mib);
    if (lab_passed(v)) return;
    if (before > 0) {
        v->unmeasured = true;
        return lab_fail(v, "what earlier calls left is in it, see 'left behind'");
    }
    ear_blame(v, by);
    LAB_SAY(v->why, "%.1f times what you may hold at one time", most / allowed);
}

static void grade_memory(const run *r) {
    lab_verdict *pinned = lab_verdict_of(PINNED);
    grade_peak(pinned, "pinned-mib", (double)ear->pinned_most, (double)r->message.pinned_most,
               (double)ear->pinned_before, ear->pinned_first);
    if (lab_passed(pinned) && ear->staged > 0) {
        pinned->unmeasured = true;
        lab_fail(pinned, "counts once no copy is from or to pageable memory, which takes room as well");
    }
    grade_peak(lab_verdict_of(DEVICE), "device-mib", (double)ear->device_most, (double)r->message.device_most,
               (double)ear->device_before, ear->device_first);
    lab_figure("host-mib", ((double)ear->pinned_most + ear->c_bytes) / (1 << 20), "MiB");
}

/* --- time ----------------------------------------------------------------------------------------- */

/* Is this a time in which the bytes can have crossed the link, and was all done when the clock stopped? */
static bool possible(lab_verdict *v, const run *r, double us, lab_floor limit) {
    if (!lab_possible(v, us, limit)) return false;
    if (r->late <= (lab_lane() == LAB_SIM ? 100 : 20e3)) return true;
    lab_fail(v,
             "at the last send_frames the device still worked for %s: not all frames were home. Wait for "
             "each chunk's copy down before send_frames",
             lab_us(r->late / 1e3));
    v->unmeasured = true;
    return false;
}

static void grade_overlap(lab_verdict *v, const run *r, lab_floor limit, const engines *e) {
    lab_grade(v, r->end > r->begin ? 100 * e->together / (r->end - r->begin) : 0);
    LAB_SAY(v->want, "want ≥ %.0f, of the time of the job", v->row->full);
    lab_figure("ends", e->ends / 1e3, "us");
    if (!lab_passed(v)) blame_overlap(v, r, limit, e);
}

static void say_engines(const engine_times *t) {
    lab_note("each engine alone", "up %s · kernels %s · down %s · up and down %s", lab_us(t->up), lab_us(t->kernels),
             lab_us(t->down), lab_us(t->both));
    lab_figure("up-alone", t->up, "us");
    lab_figure("kernels-alone", t->kernels, "us");
    lab_figure("down-alone", t->down, "us");
}

/* False when CUDA failed. */
static bool timed_runs(run *r, double *us) {
    bool alive = true;
    lab_fence(lab_lane() == LAB_SIM); /* see program_measured; yours has been judged behind the lock before */
    for (int i = 0; i < rate_runs() && alive; i++) {
        alive = graded_run(r, false, "timed");
        us[i] = run_us(r);
    }
    lab_fence(true);
    return alive;
}

static bool grade_time(lab_program *mine) {
    const bool sim = lab_lane() == LAB_SIM;
    lab_verdict *v = lab_verdict_of(sim ? VIRTUAL_TIME : TIME);
    const engine_times t = engine_times_of();
    const lab_floor limit = limit_of(&t);
    const double start = LAB_OTHER("start", program_measured(lab_open(LAB_STARTER, NULL)).us);
    double samples[MOST_RUNS];
    run *r = timed_job(mine);
    if (!timed_runs(r, samples)) return false;
    if (!lab_passed(lab_verdict_of(CORRECT))) return true;
    const lab_middle us = lab_middle_of(samples, rate_runs());
    lab_grade_interval(v, limit.us / us.median, limit.us / us.hi, limit.us / us.lo);
    const bool is_possible = possible(v, r, us.median, limit);
    lab_figure("time", us.median, "us");
    lab_figure("chunks", r->chunks, "");
    LAB_SAY(v->value_text, "%s", lab_us(us.median));
    LAB_SAY(v->want, "start %s · limit %s · want %.2f of it", lab_us(start), lab_us(limit.us), v->row->full);
    grade_default_stream(lab_verdict_of(DEFAULT_STREAM), r);
    grade_memory(r);
    say_engines(&t);
    engines e;
    if (sim) {
        lab_usage u = lab_usage_of("timed");
        e = engines_of(&u, r->begin, r->end);
        grade_overlap(lab_verdict_of(OVERLAP), r, limit, &e);
        lab_blue_bar(&u, r->begin, r->end, LAB_UNDER_WAY);
        lab_usage_free(&u);
    }
    if (!lab_passed(v) && is_possible) blame_slow(v, r, limit, sim ? &e : NULL);
    return true;
}

/* A run that failed earns nothing for the rows that it did not reach: code that never gets to a buffer cannot use it
 * too early. */
static void grade(lab_program *mine) {
    lab_verdict *correct = lab_verdict_of(CORRECT), *in_flight = lab_verdict_of(IN_FLIGHT),
                *left = lab_verdict_of(LEFT_BEHIND);
    bool alive = check_jobs(mine);
    if (alive && lab_passed(correct)) alive = grade_time(mine);
    const char *why = alive        ? "not measured: frames are wrong, see 'correct'"
                      : cuda_shown ? "not measured: CUDA failed, see 'correct'"
                                   : "not measured: a call was wrong, see 'correct', and then CUDA failed, too";
    if (!lab_passed(correct) && lab_passed(in_flight)) lab_unmeasured(in_flight, why);
    if (lab_passed(correct) && left->status == LAB_OPEN) lab_grade(left, 0);
    if (!lab_passed(correct)) lab_skip_rest(why);
}

/* --lines: your source, with what each line's CUDA calls did in the timed job. */
static void print_lines(lab_program *mine) {
    if (lab_lane() == LAB_GPU)
        lab_die("a card's calls bring no line; SimGPU knows the line of each: make lines6 DEVICE=sim");
    if (run_once(timed_job(mine), true, false)) lab_die("your code failed: see make lab6");
    ear_print_lines("the timed job", "Kernels are");
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "pipeline: 256 MiB in 65536 frames";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.counted) return lab_ladder(), lab_leave();
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    lab_pass(lab_verdict_of(IN_FLIGHT));
    if (opt.lines) return print_lines(mine), lab_leave();
    grade(mine);
    return lab_end();
}
