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
#include "ear.h"
#include "job.h"
#include "messages.h"
#include "rates.h"

#include <stdio.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------- */

enum { CORRECT, IN_FLIGHT, ALLOCATIONS, STAGED, PAGE_LOCKED, LEFT_BEHIND, SPEEDS, ROWS = SPEEDS + WAYS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every result is right, for few and many batches, small, large, odd and hidden sizes",
     "", 0, 1, 1, 10, LAB_BOTH, "correct",
     "follow one batch: which memory holds it, from load_batch to take_result, and until when?", NULL},
    [IN_FLIGHT] = {"in-flight", "buffers touched too early", "no buffer is used again, by host or card, before its last use is over",
     "", 0, 1, 1, 5, LAB_BOTH, "in-flight",
     "keep two uses of a buffer in one stream, or wait for the first use (its stream, or an event in it) before the second", NULL},
    [ALLOCATIONS] = {"allocations", "allocations in the loop", "no memory is allocated or pinned between the first load and the last take",
     "", 0, 0, 32, 5, LAB_BOTH, "allocations",
     "allocate before the loop, use it for every batch, free it after the loop", "correct"},
    [STAGED] = {"staged", "staged by the CPU", "no byte takes the detour through the driver's staging buffer",
     "%", 0, 0, 100, 5, LAB_BOTH, "staged",
     "page-lock both host buffers, the batch's and the result's", "correct"},
    [PAGE_LOCKED] = {"page-locked", "page-locked at peak", "page-locked memory has room for at most four batches and their results",
     "x allowed", 2, 1, 4, 5, LAB_BOTH, "page-locked",
     "use a few buffers in turn, as a ring", "correct"},
    [LEFT_BEHIND] = {"left-behind", "left behind", "what a call of run_batches creates, it frees or destroys before it returns: memory, streams, events",
     "", 0, 0, 1, 5, LAB_BOTH, "left-behind",
     "free or destroy what you create, on every way out", "correct"},
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

/* --- places ------------------------------------------------------------------------------------- */

/* The C library's calls bring no line: looks for the word in the file that other calls came from. */
static void blame_word(lab_verdict *v, const place *p) {
    for (int i = 0; i < ear.nplaces; i++) {
        if (!ear.places[i].file[0]) continue;
        lab_line l = {.line = 0};
        lab_usage u = {.lines = &l, .nlines = 1};
        char word[64];
        LAB_SAY(l.file, "%s", ear.places[i].file);
        LAB_SAY(word, strcmp(p->call, "new") ? "%s(" : "%s", p->call);
        return lab_blame_text(v, &u, word);
    }
}

/* In the sim lane the line; in the gpu lane the call's name. */
static void blame(lab_verdict *v, const place *p) {
    if (!p) return;
    if (p->file[0]) {
        lab_line l = {.line = p->line};
        LAB_SAY(l.file, "%s", p->file);
        return lab_blame(v, &l);
    }
    LAB_SAY(v->where, "%s in pinning.cu", p->call);
    blame_word(v, p);
}

static double allocations_of(const place *p) { return p->allocations; }
static double staged_of(const place *p) { return p->staged; }
static double blocked_of(const place *p) { return p->loop_ns; }

/* --- correct ------------------------------------------------------------------------------------ */

static void grade_early(lab_verdict *v) {
    if (!ear.early[0] || !lab_passed(v)) return;
    lab_fail(v, "%s", ear.early);
    blame(v, ear.early_by);
}

static void grade_left(lab_verdict *v) {
    const lab_thing_made *list;
    if (v->status != LAB_OPEN || !lab_things(&list)) return;
    lab_grade_leaks(v, "when run_batches returns");
    lab_forget_things();
}

/* CUDA's error with the call that returned it first, or what is wrong in the results. */
static void grade_run(lab_verdict *v, const run *r, cudaError_t error) {
    if (!lab_passed(v) || (!error && !r->failure[0])) return;
    char shape[96];
    LAB_SAY(shape, "%d x %zu -> %zu bytes", r->message.batches, (size_t)r->message.in_bytes,
            (size_t)r->message.out_bytes);
    if (error && ear.error) {
        lab_fail(v, "%s, by %s in the job %s", cudaGetErrorString(ear.error), ear.error_by->call, shape);
        blame(v, ear.error_by);
        LAB_SAY(v->next, "find out what this call of %s was given: its memory, its size, its stream",
                ear.error_by->call);
    } else {
        lab_fail(v, "%s", error ? cudaGetErrorString(error) : r->failure);
        LAB_SAY(v->where, "%s", shape);
    }
}

/* False when CUDA itself failed: after that nothing more can be run. */
static bool graded_run(run *r, bool checking) {
    lab_stage("your run_batches: %d batches of %zu bytes, results of %zu", r->message.batches,
              (size_t)r->message.in_bytes, (size_t)r->message.out_bytes);
    cudaError_t error = run_once(r, true, checking);
    lab_stage("the harness, after your run_batches");
    grade_early(lab_verdict_of(IN_FLIGHT));
    grade_left(lab_verdict_of(LEFT_BEHIND));
    grade_run(lab_verdict_of(CORRECT), r, error);
    return error == cudaSuccess;
}

/* Small jobs, with every word compared; the last one is the seed's. In the sim lane SimGPU watches these: it finds
 * accesses that no order separates, even if the results are right. */
static bool check_small_jobs(lab_program *mine) {
    uint32_t jobs[][3] = {{1, 1000, 1000}, {9, 4096, 4096}, {7, 10007, 33}, {3, 17, 5000},
                          {2, 1, 1},       {0, 64, 64},     {0, 0, 0}};
    int n = sizeof jobs / sizeof *jobs;
    jobs[n - 1][0] = 5 + (uint32_t)(lab_fresh_seed() % 7);
    jobs[n - 1][1] = 3000 + (uint32_t)(lab_fresh_seed() % 30000);
    jobs[n - 1][2] = 3000 + (uint32_t)(lab_fresh_seed() % 30000);
    LAB_SAY(lab_verdict_of(CORRECT)->want, "14 jobs, 0 to 32 batches, hidden %u -> %u", jobs[n - 1][1] * 4,
            jobs[n - 1][2] * 4);
    bool alive = true;
    lab_use(mine);
    lab_count_begin("small");
    lab_check_hazards(true);
    for (int i = 0; i < n && alive; i++)
        alive = graded_run(run_new(mine, (int)jobs[i][0], jobs[i][1], jobs[i][2], false), lab_lane() == LAB_GPU);
    lab_check_hazards(false);
    lab_count_end();
    return alive;
}

/* Jobs with large batches, in which the loader comes back to a buffer while much is under way: one with every word
 * compared, then three like the timed ones. The harness watches the buffers. */
static bool check_large_jobs(lab_program *mine) {
    bool alive = graded_run(run_new(mine, 6, 1 << 18, 1 << 18, false), true);
    for (int w = 0; w < WAYS && alive; w++) {
        run *r = way_job(mine, (enum way)w);
        r->message.batches = 12;
        alive = graded_run(r, true);
    }
    LAB_SAY(lab_verdict_of(IN_FLIGHT)->want, "11 of the jobs, every buffer watched");
    return alive;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Blames this place if it is one of yours. */
static void blame_place(lab_verdict *v, const struct simgpu_place *at) {
    for (int i = 0; i < ear.nplaces; i++) {
        const place *p = &ear.places[i];
        if (at->file && p->file[0] && p->line == at->line && !strcmp(base_name(p->file), base_name(at->file)))
            return blame(v, p);
    }
}

/* Blames SimGPU's finding in the small jobs: on your line if it came too early, or on your copy if the loader or the
 * taker came too early. */
static void grade_findings(lab_verdict *v) {
    if (lab_lane() != LAB_SIM) return;
    lab_usage u = lab_usage_of("small");
    const struct simgpu_finding *f = lab_finding(&u);
    if (f && lab_passed(v)) {
        char what[640];
        lab_fail(v, "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
        blame_place(v, &f->side[1].at);
        blame_place(v, &f->side[0].at);
    }
    lab_usage_free(&u);
}

/* --- memory, from the timed job with large batches and large results ------------------------------- */

static void grade_allocations(lab_verdict *v) {
    lab_grade(v, ear.allocations);
    if (lab_passed(v)) return;
    const place *p = ear_worst(allocations_of);
    blame(v, p);
    LAB_SAY(v->why, "%s was called %.0f times between the first load and the last take", p->call, p->allocations);
}

static void grade_staged(lab_verdict *v) {
    const double mib = 1 << 20;
    lab_grade(v, ear.bytes ? 100 * ear.staged / ear.bytes : 0);
    if (lab_passed(v)) return;
    blame(v, ear_worst(staged_of));
    LAB_SAY(v->why, "%.0f of %.0f MiB went from or to pageable memory: the CPU copied them, a piece at a time",
            ear.staged / mib, ear.bytes / mib);
}

static void grade_page_locked(lab_verdict *v, const run *r) {
    const double mib = 1 << 20, most = (double)ear.pinned_most, allowed = (double)r->message.page_locked_most;
    lab_grade(v, most / allowed);
    LAB_SAY(v->value_text, "%.1f MiB", most / mib);
    LAB_SAY(v->want, "want ≤ %.1f MiB, of batches of %.0f MiB in all", allowed / mib, run_bytes(r) / mib);
    if (lab_passed(v) && ear.staged == 0) return;
    if (lab_passed(v) || ear.pinned_before) {
        v->unmeasured = true;
        return lab_fail(v, lab_passed(v) ? "counts once nothing is staged: memory that is not page-locked takes no room"
                                         : "what earlier calls left page-locked is in it, see 'left behind'");
    }
    blame(v, ear.pinned_first);
    LAB_SAY(v->why, "%.1f times what you may hold at one time", most / allowed);
}

/* --- speed ---------------------------------------------------------------------------------------- */

/* Writes the least time of the bytes, their measured time, and the place where the host was held up longest. */
static void explain_speed(lab_verdict *v, const run *r, const double *link) {
    const place *p = ear_worst(blocked_of);
    const double in = r->message.batches * (double)r->message.in_bytes,
                 out = r->message.batches * (double)r->message.out_bytes;
    const double all = r->end - r->begin, up = in / link[TO_DEVICE], down = out / link[TO_HOST];
    const char *lane = lab_lane() == LAB_SIM ? " (virtual)" : "";
    if (!p || all <= 0) return;
    blame(v, p);
    if (r->in == r->out)
        LAB_SAY(v->why,
                "the bytes need %.0f us one way after the other, %.0f both at once; here %.0f%s, %s held the host "
                "up for %.0f %% of them",
                (up + down) / 1e3, 2 * in / link[BOTH] / 1e3, all / 1e3, lane, p->call, 100 * p->loop_ns / all);
    else
        LAB_SAY(v->why, "the bytes need %.0f us; here %.0f%s, %s held the host up for %.0f %% of them",
                (up + down) / 1e3, all / 1e3, lane, p->call, 100 * p->loop_ns / all);
}

/* Is this a rate that the link can carry, and was all done when the clock stopped? lab_possible leaves a tenth for the
 * noise of two measurements; the virtual link has none, and no real one is faster than its generation and width allow.
 * A rate of something else has no next step. */
static bool carried(lab_verdict *v, enum way way, const run *r, double gbs, double link) {
    const bool sim = lab_lane() == LAB_SIM;
    const double most = sim ? link : (way == BOTH ? 2 : 1) * lab_link_gbs(), bytes = run_bytes(r);
    if (!lab_possible(v, bytes / gbs / 1e3, (lab_floor){"link", bytes / link / 1e3})) return false;
    if (most > 0 && gbs > 1.01 * most) {
        lab_fail(v, "%.1f GB/s is more than the link carries, %.1f: some of the bytes did not cross it in this time",
                 gbs, most);
    } else if (r->late > (sim ? 100 : 20e3)) {
        lab_fail(v, "at the last take_result the device still worked for %s: not all bytes had crossed the link",
                 lab_us(r->late / 1e3));
    } else {
        return true;
    }
    v->unmeasured = true;
    return false;
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
        alive = graded_run(r, false);
        gbs[n++] = run_rate(r);
    }
    if (!alive) return false;
    lab_middle rate = lab_middle_of(gbs, n);
    if (way == BOTH) {
        grade_allocations(lab_verdict_of(ALLOCATIONS));
        grade_staged(lab_verdict_of(STAGED));
        grade_page_locked(lab_verdict_of(PAGE_LOCKED), r);
    }
    lab_grade_interval(v, rate.median / link, rate.lo / link, rate.hi / link);
    bool possible = rate.median <= 0 || carried(v, way, r, rate.median, link);
    LAB_SAY(v->value_text, "%.1f GB/s", rate.median);
    LAB_SAY(v->want, "start %.1f · link %.1f%s · want %.2f of it", start, link, lab_lane() == LAB_SIM ? " virtual" : "",
            v->row->full);
    if (!lab_passed(v) && possible) explain_speed(v, r, links);
    if (ear.allocations) LAB_SAY(v->next, "fix the rows above first, and measure again");
    return true;
}

static bool grade_speeds(lab_program *mine) {
    lab_program *starter = lab_open(LAB_STARTER, NULL);
    double link[WAYS], start[WAYS];
    bool alive = true;
    for (int w = 0; w < WAYS; w++) {
        link[w] = link_rate((enum way)w);
        start[w] = way_rate(starter, (enum way)w, NULL, NULL);
    }
    for (int w = 0; w < WAYS && alive; w++) alive = grade_speed(mine, (enum way)w, link, start[w]);
    return alive;
}

/* A run that failed earns nothing for the rows that it did not reach: code that never gets to a buffer cannot touch it
 * too early. */
static void grade(lab_program *mine) {
    lab_verdict *correct = lab_verdict_of(CORRECT), *in_flight = lab_verdict_of(IN_FLIGHT),
                *left = lab_verdict_of(LEFT_BEHIND);
    bool alive = check_small_jobs(mine);
    grade_findings(in_flight);
    alive = alive && check_large_jobs(mine) && grade_speeds(mine);
    if (!lab_passed(correct) && lab_passed(in_flight))
        lab_unmeasured(in_flight, alive ? "not measured: results are wrong, see 'correct'"
                                        : "not measured: CUDA failed, see 'correct'");
    if (alive && left->status == LAB_OPEN) lab_grade(left, 0);
    if (!alive) lab_skip_rest("not measured: CUDA failed, see 'correct'");
}

/* --- the run -------------------------------------------------------------------------------------- */

static place place_of_line(int line) {
    place sum = {.line = 0};
    for (int i = 0; i < ear.nplaces; i++) {
        const place *p = &ear.places[i];
        if (!p->file[0] || p->line != line) continue;
        sum.calls += p->calls;
        sum.bytes += p->bytes;
        sum.staged += p->staged;
        sum.blocked_ns += p->blocked_ns;
        sum.line = line;
    }
    return sum;
}

static void print_source(FILE *f) {
    printf("%s  %s, both ways        %s · %s\n", spec.lab, spec.title, lab_lane_name(), lab_device_name());
    printf("%7s %8s %8s %9s\n%7s %8s %8s %9s\n", "", "MiB", "of them", "host held", "calls", "copied", "staged",
           "up, us");
    char text[512];
    for (int n = 1; fgets(text, sizeof text, f); n++) {
        const place p = place_of_line(n);
        if (p.line)
            printf("%7.0f %8.0f %8.0f %9.0f", p.calls, p.bytes / (1 << 20), p.staged / (1 << 20), p.blocked_ns / 1e3);
        else
            printf("%35s", "");
        lab_put_source(35, n, text);
    }
}

/* --lines: your source, with what each line's CUDA calls did in one timed run both ways. */
static void print_lines(lab_program *mine) {
    if (lab_lane() == LAB_GPU) lab_die("calls by line need the sim lane: make lines1 DEVICE=sim");
    if (!graded_run(way_job(mine, BOTH), false)) lab_die("your code failed: see make lab1");
    const char *name = "";
    for (int i = 0; i < ear.nplaces; i++)
        if (ear.places[i].file[0]) name = ear.places[i].file;
    FILE *f = fopen(name, "r");
    if (f) {
        print_source(f);
        fclose(f);
    } else {
        lab_die("cannot read %s", *name ? name : "your file: it makes no CUDA call");
    }
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "pinning: 64 batches of 16 MiB";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.counted) return lab_ladder(), lab_leave();
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    lab_pass(lab_verdict_of(IN_FLIGHT));
    if (opt.lines) return print_lines(mine), lab_leave();
    grade(mine);
    return lab_end();
}
