/* harness.cu — runs and grades lab 1. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: several jobs, small and large, one of them chosen by the seed. In these runs each buffer that a copy
 *      uses is watched: touch it too early and the card says which copy.
 *   2. Timed: a job whose batches are large and results small (to the device), one the other way round (to the host),
 *      and one where both are large (both ways). Same function, same rules; spot checks find what was left out.
 *   3. Beside it, on this machine and now: the link itself, which is one long copy of page-locked memory, and the
 *      untouched starter.
 *
 * Both lanes grade the same rows. Your CUDA calls are noted on their way (calls.cuh), so no profiler is needed.
 */
#include "lab.h"
#include "lab1.h"
#include "calls.cuh"
#include "job.cuh"
#include "rungs.cuh"
#include "bench.cuh"

/* --- the rows --------------------------------------------------------------------------------- */

// clang-format off
static const lab_row rows[] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step */
    {"correct", "correct", "every result is right, for few and many batches, small, large, odd and hidden sizes",
     "", 0, 1, 1, 20, LAB_BOTH, "correct",
     "follow one batch: which memory holds it, from load_batch to take_result, and until when?"},
    {"in-flight", "buffers touched too early", "no buffer is used again, by host or card, before its last use is over",
     "", 0, 1, 1, 10, LAB_BOTH, "in-flight",
     "between two uses of a buffer: the same stream, or a wait for the stream (or an event in it) of the first"},
    {"allocations", "allocations in the loop", "no memory is allocated or pinned between the first load and the last take",
     "", 0, 0, 32, 10, LAB_BOTH, "allocations",
     "allocate before the loop, use it for every batch, free it after the loop"},
    {"staged", "staged by the CPU", "no byte takes the detour through the driver's staging buffer",
     "%", 0, 0, 100, 10, LAB_BOTH, "staged",
     "make both host buffers page-locked: the batch's and the result's"},
    {"page-locked", "page-locked at peak", "page-locked memory has room for at most four batches, and is given back",
     "x allowed", 2, 1, 4, 10, LAB_BOTH, "page-locked",
     "use a ring: a few buffers, again and again"},
    {"to-device", "to the device", "large batches reach the device at 0.94 of the link's speed",
     "of link", 2, 0.94, 0.33, 10, LAB_BOTH, "one-way",
     "load another buffer while a copy runs: cudaMemcpyAsync, and before a buffer is used again a wait for its own copy only"},
    {"to-host", "to the host", "large results reach the host at 0.94 of the link's speed",
     "of link", 2, 0.94, 0.33, 10, LAB_BOTH, "one-way",
     "queue the next batch before you wait for the result of this one"},
    {"both-ways", "both ways at once", "large batches and results together flow at 0.90 of what both directions carry",
     "of both", 2, 0.9, 0.17, 20, LAB_BOTH, "both-ways",
     "one batch goes up, one comes down, one is with the loader: give each its own stream and buffers"},
};
// clang-format on
enum { FIRST_SPEED_ROW = 5 }; /* one row for each way, in the order of enum way */
static lab_spec spec = {
    "lab1", "pinning: 32 batches of 4 MiB", "pinning.cu",
    rows,   sizeof rows / sizeof *rows,     "how small the pieces can be, at the end of the handout"};

/* --- places ------------------------------------------------------------------------------------- */

/* In the sim lane the line; in the gpu lane the call's name. */
static void blame(const char *id, const place *p) {
    if (!p) return;
    if (p->file) {
        lab_line l = {};
        snprintf(l.file, sizeof l.file, "%s", p->file);
        l.line = p->line;
        return lab_blame(id, &l);
    }
    lab_where(id, "%s in pinning.cu", p->call);
    for (int i = 0; i < calls.nplaces; i++) /* the C library's calls bring no line: look for the word */
        if (calls.places[i].file) {
            lab_line l = {};
            lab_usage u = {};
            char word[64];
            snprintf(l.file, sizeof l.file, "%s", calls.places[i].file);
            snprintf(word, sizeof word, strcmp(p->call, "new") ? "%s(" : "%s", p->call);
            u.lines = &l;
            u.nlines = 1;
            return lab_blame_text(id, &u, word);
        }
}

static double allocations_of(const place *p) { return p->allocations; }
static double staged_of(const place *p) { return p->staged; }
static double blocked_of(const place *p) { return p->loop_ns; }

static const place *worst(double (*cost)(const place *)) {
    const place *w = NULL;
    for (int i = 0; i < calls.nplaces; i++)
        if (cost(&calls.places[i]) > (w ? cost(w) : 0)) w = &calls.places[i];
    return w;
}

/* --- correct ------------------------------------------------------------------------------------ */

static bool leaked; /* page-locked memory was not given back: the row has its verdict */

/* False when CUDA itself failed: after that nothing more can be run. */
static bool graded_run(run *r, bool checking) {
    lab_stage("your run_batches: %d batches of %zu bytes, results of %zu", r->job.batches, r->job.in_bytes,
              r->job.out_bytes);
    cudaError_t error = run_once(r, checking);
    lab_stage("the harness, after your run_batches");
    if (calls.early[0] && lab_passed("in-flight")) {
        lab_fail("in-flight");
        blame("in-flight", calls.early_by);
        lab_why("in-flight", "%s", calls.early);
    }
    if (calls.pinned_now && !leaked) {
        leaked = true;
        lab_fail("page-locked");
        lab_value("page-locked", "kept");
        blame("page-locked", calls.pinned[0].by);
        lab_want("page-locked", "want all of it given back");
        lab_why("page-locked", "%zu bytes are still page-locked after run_batches has returned", calls.pinned_now);
        lab_next("page-locked", "give back what you have locked before you return: cudaFreeHost or cudaHostUnregister");
    }
    if (lab_passed("correct") && (error || r->failure[0])) {
        lab_fail("correct");
        lab_where("correct", "%d x %zu -> %zu bytes", r->job.batches, r->job.in_bytes, r->job.out_bytes);
        lab_why("correct", "%s", error ? cudaGetErrorString(error) : r->failure);
    }
    return error == cudaSuccess;
}

/* Small jobs, with every word compared; the last one is the seed's. In the sim lane SimGPU watches these: what is used
 * without an order is found, even if it went well. */
static bool check_small_jobs(void) {
    uint32_t jobs[][3] = {{1, 1000, 1000}, {9, 4096, 4096}, {7, 10007, 33}, {3, 17, 5000},
                          {2, 1, 1},       {0, 64, 64},     {0, 0, 0}};
    int n = sizeof jobs / sizeof *jobs;
    jobs[n - 1][0] = 5 + (uint32_t)(lab_fresh_seed() % 7);
    jobs[n - 1][1] = 3000 + (uint32_t)(lab_fresh_seed() % 30000);
    jobs[n - 1][2] = 3000 + (uint32_t)(lab_fresh_seed() % 30000);
    lab_want("correct", "14 jobs, 0 to 32 batches, hidden %u -> %u", jobs[n - 1][1] * 4, jobs[n - 1][2] * 4);
    bool alive = true;
    lab_count_begin("small");
    lab_check_hazards(true);
    for (int i = 0; i < n && alive; i++) {
        run r = run_new(run_batches, (int)jobs[i][0], jobs[i][1], jobs[i][2], false);
        alive = graded_run(&r, lab_lane() == LAB_GPU);
    }
    lab_check_hazards(false);
    lab_count_end();
    return alive;
}

/* Jobs with large batches, in which the loader comes back to a buffer while much is under way: one with every word
 * compared, then three as the timed ones are. The harness watches the buffers. */
static bool check_large_jobs(void) {
    run dense = run_new(run_batches, 6, 1 << 18, 1 << 18, false);
    bool alive = graded_run(&dense, true);
    for (int w = 0; w < WAYS && alive; w++) {
        run r = bench_job(run_batches, (enum way)w);
        r.job.batches = 12;
        alive = graded_run(&r, true);
    }
    lab_want("in-flight", "11 of the jobs, every buffer watched");
    return alive;
}

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* Blames the place if it is one of yours. */
static void blame_place(const char *id, const struct simgpu_place *at) {
    for (int i = 0; i < calls.nplaces && at->file; i++)
        if (calls.places[i].file && calls.places[i].line == at->line &&
            !strcmp(base_name(calls.places[i].file), base_name(at->file)))
            return blame(id, &calls.places[i]);
}

/* What SimGPU found in the small jobs: a line of yours that came too early, or a copy of yours when it was the loader
 * or the taker that came too early. */
static void grade_findings(void) {
    if (lab_lane() != LAB_SIM) return;
    lab_usage u = lab_usage_of("small");
    const struct simgpu_finding *f = lab_finding(&u);
    if (f && lab_passed("in-flight")) {
        char what[640];
        lab_fail("in-flight");
        blame_place("in-flight", &f->side[1].at);
        blame_place("in-flight", &f->side[0].at);
        lab_why("in-flight", "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
    }
    lab_usage_free(&u);
}

/* --- memory, from the timed job with large batches and large results ------------------------------- */

static void grade_memory(const run *r) {
    const double mib = 1 << 20;
    lab_grade("allocations", calls.allocations);
    if (!lab_passed("allocations")) {
        const place *p = worst(allocations_of);
        blame("allocations", p);
        lab_why("allocations", "%s was called %.0f times between the first load and the last take", p->call,
                p->allocations);
    }
    lab_grade("staged", calls.bytes ? 100 * calls.staged / calls.bytes : 0);
    if (!lab_passed("staged")) {
        blame("staged", worst(staged_of));
        lab_why("staged", "%.0f of %.0f MiB went from or to pageable memory: the CPU copied them, a piece at a time",
                calls.staged / mib, calls.bytes / mib);
    }
    if (leaked) return;
    double most = (double)calls.pinned_most, allowed = (double)r->job.page_locked_most;
    lab_grade("page-locked", most / allowed);
    lab_value("page-locked", "%.1f MiB", most / mib);
    lab_want("page-locked", "want ≤ %.1f MiB, of batches of %.0f MiB in all", allowed / mib,
             r->job.batches * (double)(r->job.in_bytes + r->job.out_bytes) / mib);
    if (lab_passed("page-locked")) return;
    blame("page-locked", calls.pinned_first);
    lab_why("page-locked", "%.1f times what you may hold at one time", most / allowed);
}

/* --- speed ---------------------------------------------------------------------------------------- */

/* What the bytes would need, what they took, and where the host was held up longest meanwhile. */
static void explain_speed(const char *id, const run *r, const double *link) {
    const place *p = worst(blocked_of);
    double all = r->end - r->begin, up = r->job.batches * (double)r->job.in_bytes / link[TO_DEVICE],
           down = r->job.batches * (double)r->job.out_bytes / link[TO_HOST];
    if (!p || all <= 0) return;
    blame(id, p);
    if (r->in == r->out)
        lab_why(id,
                "the bytes need %.0f us one way after the other, %.0f both at once; here %.0f%s, %s held the host "
                "up for %.0f %% of them",
                (up + down) / 1e3, r->job.batches * 2.0 * (double)r->job.in_bytes / link[BOTH] / 1e3, all / 1e3,
                lab_lane() == LAB_SIM ? " (virtual)" : "", p->call, 100 * p->loop_ns / all);
    else
        lab_why(id, "the bytes need %.0f us; here %.0f%s, %s held the host up for %.0f %% of them", (up + down) / 1e3,
                all / 1e3, lab_lane() == LAB_SIM ? " (virtual)" : "", p->call, 100 * p->loop_ns / all);
}

/* False when CUDA failed. link, start: GB/s. */
static bool grade_speed(enum way way, const double *links, double start) {
    const lab_row *row = &rows[FIRST_SPEED_ROW + way];
    const char *id = row->id;
    const double link = links[way];
    run r = bench_job(run_batches, way);
    const double bytes = r.job.batches * (double)(r.job.in_bytes + r.job.out_bytes);
    double gbs[MOST_RUNS];
    int n = 0;
    bool alive = true;
    while (n < RATE_RUNS && alive) {
        alive = graded_run(&r, false);
        gbs[n++] = rate_of(&r);
    }
    lab_middle rate = lab_middle_of(gbs, n);
    lab_floor floor = {"link", bytes / link / 1e3};
    if (way == BOTH) grade_memory(&r);
    lab_grade_interval(id, rate.median / link, rate.lo / link, rate.hi / link);
    bool possible = rate.median <= 0 || lab_possible(id, bytes / rate.median / 1e3, floor);
    lab_value(id, "%.1f GB/s", rate.median);
    lab_want(id, "start %.1f · link %.1f%s · want %.2f of it", start, link, lab_lane() == LAB_SIM ? " virtual" : "",
             row->full);
    if (!lab_passed(id) && possible) explain_speed(id, &r, links);
    if (calls.allocations || calls.staged) lab_next(id, "mend the rows above first, and measure again");
    return alive;
}

static void grade(void) {
    double link[WAYS], start[WAYS];
    bool alive = check_small_jobs();
    grade_findings();
    alive = alive && check_large_jobs();
    if (!alive) return lab_skip_rest("not measured: CUDA failed, see 'correct'");
    for (int w = 0; w < WAYS; w++) {
        link[w] = link_rate((enum way)w);
        start[w] = bench_rate(starter_run_batches, (enum way)w);
    }
    for (int w = 0; w < WAYS; w++)
        if (!grade_speed((enum way)w, link, start[w])) break;
    lab_skip_rest("not measured: CUDA failed, see 'correct'");
    lab_gate("correct", "in-flight");
    lab_gate("in-flight", "allocations staged page-locked");
}

/* --- the run -------------------------------------------------------------------------------------- */

static const place *place_of_line(int line) {
    static place sum;
    sum = {};
    for (int i = 0; i < calls.nplaces; i++)
        if (calls.places[i].file && calls.places[i].line == line) {
            sum.calls += calls.places[i].calls;
            sum.bytes += calls.places[i].bytes;
            sum.staged += calls.places[i].staged;
            sum.blocked_ns += calls.places[i].blocked_ns;
            sum.line = line;
        }
    return &sum;
}

/* --lines: your source, with what each line's CUDA calls did in one timed run both ways. */
static void print_lines(void) {
    run r = bench_job(run_batches, BOTH);
    if (lab_lane() == LAB_GPU) lab_die("calls by line need the sim lane: make lines1 DEVICE=sim");
    if (!graded_run(&r, false)) lab_die("your code failed: see make lab1");
    const char *name = NULL;
    for (int i = 0; i < calls.nplaces; i++)
        if (calls.places[i].file) name = calls.places[i].file;
    FILE *f = name ? fopen(name, "r") : NULL;
    if (!f) lab_die("cannot read %s", name ? name : "your file: it makes no CUDA call");
    printf("%s  %s, both ways        %s · %s\n", spec.lab, spec.title, lab_lane_name(), lab_device_name());
    printf("%7s %8s %8s %9s\n%7s %8s %8s %9s\n", "", "MiB", "of them", "host held", "calls", "copied", "staged",
           "up, us");
    char text[512];
    for (int n = 1; fgets(text, sizeof text, f); n++) {
        const place *p = place_of_line(n);
        if (p->line)
            printf("%7.0f %8.0f %8.0f %9.0f", p->calls, p->bytes / (1 << 20), p->staged / (1 << 20),
                   p->blocked_ns / 1e3);
        else
            printf("%35s", "");
        printf(" %4d │ %s", n, text);
    }
    fclose(f);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "pinning: 64 batches of 16 MiB";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_pass("correct"); /* until a run says otherwise */
    lab_pass("in-flight");
    if (opt.bench) return bench(), lab_leave();
    if (opt.ladder || opt.counted) return ladder(), lab_leave();
    if (opt.lines) return print_lines(), lab_leave();
    grade();
    return lab_end();
}
