/* harness.cu — runs and grades lab 2. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Five traces (traces.cuh) are played on your allocator (replay.cuh). What it does with the device goes through a
 *      meter (meter.cuh). What the blocks hold is written and read by kernels, in stream order.
 *   2. The first trace, a training step, is played over and over; that loop is counted and timed.
 *   3. Beside it, on this machine and now: the starter, the vendor's own pool (cudaMallocAsync), and a program that
 *      bought its memory beforehand: the speed of light here. In the gpu lane also the time of alloc and free alone.
 */
#define LAB2_HARNESS
#include "lab.h"
#include "lab2.h"
#include "meter.cuh"
#include "traces.cuh"
#include "replay.cuh"
#include "rungs.cuh"
#include "bench.cuh"

#include <stdio.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------- */

// clang-format off
static const lab_row rows[] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step */
    {"correct", "correct", "blocks are aligned, apart from each other, and keep what was written into them",
     "", 0, 1, 1, 10, LAB_BOTH, "correct",
     "follow the block that the message names from pool_alloc to pool_free on paper"},
    {"mallocs", "cudaMalloc calls a step", "after the second step the training loop calls cudaMalloc no more",
     "", 2, 0, 1, 15, LAB_BOTH, "mallocs",
     "keep what pool_free gets in a list, and look there first"},
    {"waits", "waits a step", "no call makes the host wait for the GPU, on one stream or on two",
     "", 2, 0, 1, 15, LAB_BOTH, "waits",
     "keep the memory instead of giving it back; ask an event with cudaEventQuery instead of waiting for it"},
    {"virtual-time", "virtual time of a step", "a step takes at most 1.03 times as long as with memory bought beforehand",
     "x light", 2, 1.03, 3, 20, LAB_SIM, "time",
     "mend the two rows above: calls of the driver are all that costs time here"},
    {"time", "time of a step", "a step takes no longer than with cudaMallocAsync, on this card",
     "x vendor", 2, 1.03, 2, 10, LAB_GPU, "time",
     "mend the two rows above: calls of the driver are what costs time here"},
    {"pair", "alloc and free", "a pair of pool_alloc and pool_free takes at most 100 ns on this host",
     "ns", 0, 100, 500, 10, LAB_GPU, "pair",
     "no list that grows may be searched from end to end, and no driver call made"},
    {"peak", "reserved / live, training", "at its peak the training loop holds at most 1.25 times the bytes in use",
     "x", 2, 1.25, 2, 10, LAB_BOTH, "peak",
     "find out which blocks lie free at the peak, and why nobody takes them"},
    {"lengths", "reserved / live, lengths", "with sizes that change each batch it is at most 1.6 times",
     "x", 2, 1.6, 4, 5, LAB_BOTH, "lengths",
     "let a larger free block serve a smaller request, and cut off the rest"},
    {"holes", "reserved / live, holes", "with pieces that double in size six times over it is at most 1.5 times",
     "x", 2, 1.5, 4, 5, LAB_BOTH, "holes",
     "join a freed block with free neighbours of the same cudaMalloc"},
    {"streams", "two streams", "a block that two streams use is handed out again when both are done, and not before",
     "", 0, 1, 1, 10, LAB_BOTH, "streams",
     "draw both streams as two lines; when does the last kernel that uses the block end?"},
    {"full", "full device", "a full device is answered by giving the cache back, and only then by NULL",
     "", 0, 1, 1, 5, LAB_BOTH, "full",
     "when cudaMalloc fails: pool_empty, once more, and then return NULL"},
    {"empty", "nothing leaked", "when all blocks are freed, pool_empty gives every byte back to the device",
     "", 0, 1, 1, 2, LAB_BOTH, "empty",
     "cudaFree each piece that cudaMalloc gave and of which nothing is in use; for parked blocks you may wait here"},
    {"stats", "statistics", "pool_stats tells the bytes live and reserved, after every call",
     "", 0, 1, 1, 3, LAB_BOTH, "stats",
     "live counts what was asked for, not what you rounded it to"},
};
// clang-format on
static lab_spec spec = {"lab2", "caching allocator, 50 steps", "allocator.cu",
                        rows,   sizeof rows / sizeof *rows,    "'Nobody grades this', at the end of the handout"};

enum { SIM_STEPS = 50, GPU_STEPS = 3000, WARM_STEPS = 2 };

/* --- traces ------------------------------------------------------------------------------------- */

static bool dead;                           /* CUDA has failed: nothing more can run */
static double training_begin, training_end; /* of the student's loop, on this lane's clock */
static call_site dearest;                   /* its line whose calls of the driver cost most; line 0: none */

static void not_measured(const char *row) {
    lab_fail(row);
    lab_value(row, "-");
    lab_want(row, "not measured: the trace came to no end");
}

/* A failure of a trace, as the row that it belongs to tells it. */
static void take_failure(const replay *r, const char *row) {
    if (!r->failure[0] || !lab_passed(row)) return;
    lab_fail(row);
    lab_why(row, "%s", r->failure);
}

/* What is asked after each trace: verdict, statistics, leaks. */
static void conclude(replay *r, const char *row) {
    dead = replay_verdict(r) != cudaSuccess;
    take_failure(r, row);
    if (r->stats_failure[0] && lab_passed("stats")) {
        lab_fail("stats");
        lab_why("stats", "%s", r->stats_failure);
        lab_next("stats", "%s", r->stats_next);
    }
    if (dead) return;
    lab_stage("your pool_empty after the trace '%s'", r->t->name);
    lab_lock();
    replay_end(r);
    lab_unlock();
    if (meter.foreign && lab_passed("correct")) {
        lab_fail("correct");
        lab_why("correct", "%s: cudaFree was given a pointer that cudaMalloc had not given", r->t->name);
    }
    if (!meter.reserved || !lab_passed("empty")) return;
    lab_fail("empty");
    lab_why("empty", "%s: all blocks were freed and pool_empty called, but %s of the device are still held", r->t->name,
            kib(meter.reserved));
}

/* Peak of what was held over peak of what was in use. */
static void grade_peak(const char *row, const replay *r, size_t left_before) {
    if (r->failure[0]) return not_measured(row);
    lab_grade(row, (double)meter.peak / (double)r->peak_live);
    lab_want(row, "%s held at the peak, %s in use", kib(meter.peak), kib(r->peak_live));
    if (lab_passed(row)) return;
    meter_blame(row, meter_worst(mallocs_of));
    if (left_before) {
        lab_why(row, "%s of it were left over from the trace before: pool_empty did not give them back",
                kib(left_before));
        lab_next(row, "mend the row 'nothing leaked' first");
    } else
        lab_why(row, "cudaMalloc was called %ld times, up to %s in all; what lay free did not fit what was asked for",
                meter.mallocs, kib(meter.peak));
}

/* Plays a trace once on the student's allocator. */
static void play(trace *t, const char *row, const char *peak_row) {
    size_t left_before = meter.reserved;
    if (!dead) {
        replay *r = replay_new(&yours, t);
        meter_reset();
        lab_stage("your allocator on the trace '%s'", t->name);
        lab_lock();
        replay_pass(r);
        lab_unlock();
        if (peak_row) grade_peak(peak_row, r, left_before);
        conclude(r, row);
        if (left_before && !peak_row && !lab_passed(row))
            lab_next(row, "%s were left over from the trace before: mend the row 'nothing leaked' first",
                     kib(left_before));
        replay_free(r);
    }
    free(t);
}

/* --- two streams --------------------------------------------------------------------------------- */

/* How often a call made the host wait for the GPU here, openly or in disguise: a turn of the trace keeps a stream busy,
 * and it must still be busy when your calls have returned. `before`: waits a step of the training loop. */
static void grade_stream_waits(const replay *r, double before) {
    bool disguised = r->drained > meter.waits;
    double waits = (double)(disguised ? r->drained : meter.waits) / TURNS;
    if (r->failure[0] || waits <= before) return;
    lab_grade("waits", waits);
    lab_why("waits", "streams: %.2f times a turn %s", waits,
            disguised ? "your call came back when a busy stream had run dry: it had waited for the GPU"
                      : "a call waits for the GPU");
    lab_next("waits", disguised
                          ? "if an event is not done, leave its block parked and take another; do not ask until it is"
                          : "before you buy for a stream, give back only free memory of that stream, and ask events "
                            "with cudaEventQuery");
    meter_blame("waits", meter_worst(waits_of));
}

/* What is parked must come back: in the second half of the turns nothing new has to be bought. */
static void look_at_growth(replay *r) {
    if (r->failure[0] || meter.peak - r->marked <= TURNS / 4 * r->peak_live) return;
    snprintf(r->failure, sizeof r->failure,
             "streams: in turns %d to %d what is held grew by %s, and only %s are in use: blocks that two streams used "
             "never come back",
             TURNS / 2 + 1, TURNS, kib(meter.peak - r->marked), kib(r->peak_live));
    lab_next("streams", "in pool_alloc ask the events of all parked blocks; those that are done are free again");
}

static void play_streams(double waits) {
    trace *t = trace_streams(lab_fresh_seed());
    if (!dead) {
        replay *r = replay_new(&yours, t);
        meter_reset();
        lab_stage("your allocator on the trace 'streams'");
        lab_lock();
        replay_pass(r);
        lab_unlock();
        grade_stream_waits(r, waits);
        look_at_growth(r);
        conclude(r, "streams");
        replay_free(r);
    }
    free(t);
}

/* --- the training loop --------------------------------------------------------------------------- */

typedef struct {
    replay *r;
    int steps;
    bool counted;        /* the student's: its counters have a name */
    long mallocs, waits; /* before the timed steps */
    double begin;
} loop;

/* The first steps fill the cache, and are not counted. */
static void loop_prepare(void *context) {
    loop *l = (loop *)context;
    lab_lock();
    for (int i = 0; i < WARM_STEPS; i++) replay_pass(l->r);
    lab_unlock();
    l->mallocs = meter.mallocs;
    l->waits = meter.waits;
    LAB_CUDA(cudaDeviceSynchronize());
    if (l->counted) lab_count_begin("training");
    l->begin = lab_now();
}

static void loop_work(void *context) {
    const loop *l = (const loop *)context;
    for (int i = 0; i < l->steps && replay_pass(l->r); i++) continue;
}

static lab_work work_of(loop *l) {
    lab_work w = {loop_prepare, loop_work, NULL, l};
    return w;
}

/* Microseconds a step of an allocator that is known to be right. */
static double time_of(const allocator *a, const trace *t, int steps) {
    replay *r = replay_new(a, t);
    r->checked = false;
    loop l = {r, steps, false, 0, 0, 0};
    lab_work w = work_of(&l);
    lab_timer how = {LAB_HOST_CLOCK, 1, 3, false};
    lab_time time = lab_time_work(how, &w);
    if (replay_verdict(r) || r->failure[0]) lab_die("%s: %s", a->name, r->failure);
    replay_end(r);
    replay_free(r);
    return time.median / steps;
}

/* Calls a step, and the line with most of them. `seldom`: the next step when it is not a call in each step. */
static void grade_calls(const char *row, double calls, const char *what, int (*count)(const call_site *),
                        const char *seldom) {
    lab_grade(row, calls);
    if (lab_passed(row)) return;
    lab_why(row, "%.2f calls a step %s, beginning with the third step", calls, what);
    if (calls < 1) lab_next(row, "%s", seldom);
    meter_blame(row, meter_worst(count));
}

/* Plays the loop and counts. Leaves the time of a step in *us; returns the waits in one. */
static double play_training(const trace *t, int steps, double *us) {
    size_t left_before = meter.reserved;
    replay *r = replay_new(&yours, t);
    meter_reset();
    lab_stage("your allocator on the training loop");
    loop l = {r, steps, true, 0, 0, 0};
    lab_work w = work_of(&l);
    lab_timer how = {LAB_HOST_CLOCK, 0, 1, false};
    *us = lab_time_work(how, &w).median / steps;
    training_end = lab_now();
    training_begin = l.begin;
    lab_count_end();
    double mallocs = (double)(meter.mallocs - l.mallocs) / steps, waits = (double)(meter.waits - l.waits) / steps;
    grade_peak("peak", r, left_before);
    if (r->failure[0]) {
        not_measured("mallocs");
        not_measured("waits");
    } else {
        grade_calls("mallocs", mallocs, "buy memory", mallocs_of,
                    "most steps need nothing new: is each block that was cut joined again, with both neighbours?");
        grade_calls("waits", waits, "wait for the GPU", waits_of,
                    "if it is the cudaFree before you buy: who does not buy in the loop need not sell there");
    }
    if (mallocs + waits > 0) dearest = meter_worst(cost_of);
    conclude(r, "correct");
    replay_free(r);
    return waits;
}

/* No allocator can beat memory that was bought beforehand. */
static lab_floor light_floor(const trace *t, int steps) {
    lab_floor floor = {"light", time_of(&light, t, steps)};
    return floor;
}

/* Sim lane: a multiple of the time with memory that costs nothing. */
static void grade_virtual_time(const trace *t, double you) {
    double start = time_of(&starter, t, START_STEPS), theirs = time_of(&vendor, t, SIM_STEPS);
    lab_floor least = light_floor(t, SIM_STEPS);
    if (!(you > 0) || !lab_passed("correct")) return not_measured("virtual-time");
    lab_grade("virtual-time", you / least.us);
    lab_value("virtual-time", "%s", lab_us(you));
    lab_want("virtual-time", "start %s · vendor %s · light %s", lab_us(start), lab_us(theirs), lab_us(least.us));
    if (!lab_possible("virtual-time", you, least) || lab_passed("virtual-time")) return;
    meter_blame("virtual-time", dearest);
    if (!dearest.line)
        lab_next("virtual-time", "nothing is bought and nothing waits: then it is the events, 0.2 us each");
    lab_why("virtual-time", "%.2f times a step whose memory was bought beforehand, want ≤ 1.03", you / least.us);
}

static void show_bar(void) {
    lab_usage u = lab_usage_of("training");
    lab_blue_bar(&u, training_begin, training_end, LAB_RUNNING);
    lab_usage_free(&u);
}

/* Gpu lane: your loop against the vendor's, run in turn. */
static void grade_time(const trace *t, int steps) {
    lab_floor least = light_floor(t, steps);
    replay *mine = replay_new(&yours, t), *theirs = replay_new(&vendor, t);
    mine->checked = theirs->checked = false;
    loop m = {mine, steps, false, 0, 0, 0}, v = {theirs, steps, false, 0, 0, 0};
    lab_work you = work_of(&m), ven = work_of(&v);
    lab_timer how = {LAB_HOST_CLOCK, 1, 1, false};
    lab_duel d = lab_time_duel(how, &you, &ven, 9);
    if (d.ratio > 1.03) lab_why("time", "%.2f times a step with cudaMallocAsync, want ≤ 1.03", d.ratio);
    lab_grade_interval("time", d.ratio, d.lo, d.hi);
    lab_possible("time", d.a / steps, least);
    lab_value("time", "%s", lab_us(d.a / steps));
    lab_want("time", "start %s · vendor %s · light %s", lab_us(time_of(&starter, t, START_STEPS)), lab_us(d.b / steps),
             lab_us(least.us));
    dead |= replay_verdict(mine) != cudaSuccess;
    take_failure(mine, "correct");
    if (replay_verdict(theirs)) lab_die("cudaMallocAsync: %s", theirs->failure);
    replay_end(mine);
    replay_end(theirs);
    replay_free(mine);
    replay_free(theirs);
}

/* --- the run -------------------------------------------------------------------------------------- */

static void grade(int steps) {
    trace *t = trace_train(lab_fresh_seed());
    double us = 0, waits = play_training(t, steps, &us);
    play(trace_lengths(lab_fresh_seed()), "correct", "lengths");
    play(trace_holes(lab_fresh_seed()), "correct", "holes");
    play_streams(waits);
    play(trace_full(lab_fresh_seed()), "full", NULL);
    if (dead) {
        free(t);
        return lab_skip_rest("not measured: a kernel failed, see 'correct'");
    }
    lab_stage("the harness, after your allocator");
    meter_reset();
    if (lab_lane() == LAB_SIM) {
        grade_virtual_time(t, us);
        show_bar();
        lab_note("alloc and free", "n/a: the virtual clock charges calls of CUDA, not your own instructions");
    } else {
        grade_time(t, steps);
        double ns = bench_pair(&yours, t);
        lab_grade("pair", ns);
        lab_want("pair", "cudaMallocAsync and cudaFreeAsync %.0f ns", bench_pair(&vendor, t));
        if (!lab_passed("pair")) lab_why("pair", "%.0f ns on this host, want ≤ 100", ns);
    }
    free(t);
}

/* Rows that tell of no number say what they were asked. */
static void name_wants(void) {
    lab_want("correct", "every block of train, lengths and holes");
    lab_want("streams", "used by one, and by two, %d times each", TURNS);
    lab_want("full", "26 of 32 MiB kept, and 8 more asked for");
    lab_want("empty", "0 bytes held at the end of each trace");
    lab_want("stats", "live and reserved, after every call");
}

/* --lines: the lines of the student's file that call the driver, in one training loop. */
static void print_lines(const trace *t) {
    replay *r = replay_new(&yours, t);
    loop l = {r, SIM_STEPS, false, 0, 0, 0};
    lab_work w = work_of(&l);
    lab_timer how = {LAB_HOST_CLOCK, 0, 1, false};
    meter_reset();
    lab_stage("your allocator on the training loop");
    lab_time_work(how, &w);
    printf("%10s %10s   calls of the driver in %d training steps\n", "cudaMalloc", "waits", SIM_STEPS + WARM_STEPS);
    for (int i = 0; i < meter.nsites; i++) {
        const char *slash = strrchr(meter.sites[i].file, '/');
        printf("%10d %10d   %s:%d\n", meter.sites[i].mallocs, meter.sites[i].waits,
               slash ? slash + 1 : meter.sites[i].file, meter.sites[i].line);
    }
    replay_verdict(r);
    if (r->failure[0]) printf("stopped: %s\n", r->failure);
}

int main(int argc, char **argv) {
    int steps = lab_lane() == LAB_SIM ? SIM_STEPS : GPU_STEPS;
    if (lab_lane() == LAB_GPU) spec.title = "caching allocator, 3000 steps";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.bench) return bench(lab_fresh_seed(), steps), lab_leave();
    if (opt.lines) return print_lines(trace_train(lab_fresh_seed())), lab_leave();
    if (opt.ladder || opt.counted) return lab_leave(); /* the kernels are the harness's own: nothing to count */
    static const char *const held[] = {"correct", "streams", "full", "empty", "stats"};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) lab_pass(held[i]); /* until a trace says otherwise */
    name_wants();
    grade(steps);
    lab_gate("correct", "");
    return lab_end();
}
