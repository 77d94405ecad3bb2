/* harness.c — runs and grades lab 2. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Six traces (traces.c) are played on your allocator (replay.c). Its calls of the driver are counted on the way
 *      (meter.c). Kernels write and read the contents of the blocks (stamps.cu), in stream order.
 *   2. The first trace, a training step, is played over and over; that loop is counted and timed.
 *   3. Beside it, on this machine and now: the starter, the vendor's own pool (cudaMallocAsync), and a program that
 *      allocated its memory beforehand: the speed of light here. Each has a device of its own. In the gpu lane also the
 *      time of alloc and free alone.
 *
 * These files judge and run none of your code: they send messages (messages.h) to player.c, which calls your functions.
 * Rows, then the traces, then the training loop, then main.
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the rows --------------------------------------------------------------------------------- */

enum {
    CORRECT,
    MALLOCS,
    WAITS,
    VIRTUAL_TIME,
    TIME,
    PAIR,
    TRAINING,
    LENGTHS,
    HOLES,
    TWO_STREAMS,
    FULL,
    EMPTY,
    STATS,
    ROWS
};

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "blocks are aligned, apart from each other, and keep what was written into them",
     "", 0, 1, 1, 10, LAB_BOTH, "correct",
     "follow the block that the message names from pool_alloc to pool_free on paper", NULL},
    [MALLOCS] = {"mallocs", "cudaMalloc calls a step", "after the second step the training loop calls cudaMalloc no more",
     "", 2, 0, 1, 15, LAB_BOTH, "mallocs",
     "keep freed blocks in a list, and look there before you call cudaMalloc", "correct"},
    [WAITS] = {"waits", "waits a step", "no call makes the host wait for the GPU, on one stream or on two",
     "", 2, 0, 1, 15, LAB_BOTH, "waits",
     "keep the memory instead of calling cudaFree; query an event with cudaEventQuery instead of waiting for it", "correct"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time of a step", "a step takes at most 1.03 times as long as with memory allocated beforehand",
     "x light", 2, 1.03, 3, 20, LAB_SIM, "time",
     "fix the two rows above; only calls of the driver cost time here", "correct"},
    [TIME] = {"time", "time of a step", "a step takes no longer than with cudaMallocAsync, on this card",
     "x vendor", 2, 1.03, 2, 10, LAB_GPU, "time",
     "fix the two rows above; calls of the driver cost most of the time here", "correct"},
    [PAIR] = {"pair", "alloc and free", "a pair of pool_alloc and pool_free takes at most 100 ns on this host",
     "ns", 0, 100, 500, 10, LAB_GPU, "pair",
     "search no growing list from end to end, and call no function of the driver", "correct"},
    [TRAINING] = {"training", "reserved / live, training", "at its peak the training loop holds at most 1.25 times the bytes in use",
     "x", 2, 1.25, 2, 10, LAB_BOTH, "training",
     "find out which blocks lie free at the peak, and why no request reuses them", "correct"},
    [LENGTHS] = {"lengths", "reserved / live, lengths", "with sizes that change each batch the bytes held are at most 1.67 times those in use",
     "x", 2, 1.67, 4, 5, LAB_BOTH, "lengths",
     "let a larger free block serve a smaller request, and cut off the rest", "correct"},
    [HOLES] = {"holes", "reserved / live, holes", "with pieces that double in size six times over it holds at most 1.5 times the bytes in use",
     "x", 2, 1.5, 4, 5, LAB_BOTH, "holes",
     "join a freed block with free neighbours of the same cudaMalloc", "correct"},
    [TWO_STREAMS] = {"streams", "two streams", "a block that two streams use is handed out again when both are done, and not before",
     "", 0, 1, 1, 10, LAB_BOTH, "streams",
     "draw both streams as two lines; when does the last kernel that uses the block end?", "correct"},
    [FULL] = {"full", "full device", "on a full device pool_alloc frees the cache and tries again before it returns NULL",
     "", 0, 1, 1, 5, LAB_BOTH, "full",
     "when cudaMalloc fails, call pool_empty and try once more; only then return NULL", "correct"},
    [EMPTY] = {"empty", "left behind", "when all blocks are freed, pool_empty frees all memory and destroys all events",
     "", 0, 0, 1, 2, LAB_BOTH, "empty",
     "destroy in pool_empty the events that you keep for later", "correct"},
    [STATS] = {"stats", "statistics", "pool_stats tells the bytes live and reserved, after every call",
     "", 0, 1, 1, 3, LAB_BOTH, "stats",
     "count in live the bytes asked for, not the bytes after rounding", "correct"},
};
// clang-format on
static lab_spec spec = {"lab2",         "caching allocator, 50 steps",
                        "allocator.cu", rows,
                        ROWS,           "'Nobody grades this', at the end of the handout"};

static allocator *mine;
static bool dead;   /* CUDA has failed: nothing more can run */
static bool broken; /* the allocator's records are: its functions may crash or never return, so they are not called */

/* --- verdicts on any trace ---------------------------------------------------------------------- */

static void not_measured(lab_verdict *v) {
    v->status = LAB_FAIL;
    LAB_SAY(v->value_text, "-");
    LAB_SAY(v->want, "not measured: the trace did not finish");
}

/* Fails the row to which a trace's fault belongs. */
static void take_fault(const replay *r, lab_verdict *v) {
    if (r->fault.kind && lab_passed(v)) say_fault(v, r);
}

/* Grades what is there after all blocks are freed and pool_empty is called. */
static void grade_left(const char *trace) {
    lab_verdict *v = lab_verdict_of(EMPTY);
    char when[128];
    LAB_SAY(when, "%s: all blocks are freed and pool_empty has returned", trace);
    if (!lab_passed(v) || lab_grade_leaks(v, when)) return;
    if (mine->meter.reserved) {
        const size_t n = strlen(v->why);
        lab_text(v->why + n, sizeof v->why - n, "; %s are still held", kib(mine->meter.reserved));
        LAB_SAY(v->next, "in pool_empty free each segment without a used block; you may wait for parked ones here");
    } else
        LAB_SAY(v->next, "let pool_empty destroy the events that you keep for later, or each as soon as it is done");
}

/* The checks after each trace: verdict, statistics, leaks. */
static void conclude(replay *r, lab_verdict *v) {
    const char *name = r->t->name;
    dead = replay_verdict(r) != cudaSuccess;
    take_fault(r, v);
    say_stats(lab_verdict_of(STATS), r);
    broken |= fault_breaks(r->fault.kind);
    if (dead || broken) return lab_unmeasured(lab_verdict_of(EMPTY), "not measured: the run stopped before its end");
    const bool stopped = r->fault.kind;
    lab_stage("your pool_empty after the trace '%s'", name);
    replay_end(r);
    if (!stopped) take_fault(r, lab_verdict_of(CORRECT));
    grade_left(name);
}

/* Grades the peak of the bytes held over the peak of the bytes in use. */
static void grade_peak(lab_verdict *v, const replay *r, size_t left_before) {
    const meter *m = &mine->meter;
    if (r->fault.kind) return not_measured(v);
    lab_grade(v, (double)m->peak / (double)r->peak_live);
    LAB_SAY(v->want, "%s held at the peak, %s in use", kib(m->peak), kib(r->peak_live));
    if (lab_passed(v)) return;
    blame(v, meter_worst(m, mallocs_of));
    if (!left_before) return say_heap(v, r);
    LAB_SAY(v->why, "%s of it were left over from the trace before: pool_empty did not free them", kib(left_before));
    LAB_SAY(v->next, "fix the row 'left behind' first");
}

/* A row whose trace is not played, since an earlier one ended the run. */
static void not_played(lab_verdict *v) {
    if (v && v != lab_verdict_of(CORRECT)) lab_unmeasured(v, "not measured: an earlier trace stopped the run");
}

/* Plays a trace once on the student's allocator, and takes the trace. `peak`: the row of its peak, or NULL. */
static void play(trace *t, lab_verdict *v, lab_verdict *peak) {
    const size_t left_before = mine->meter.reserved;
    const bool passed = lab_passed(v);
    if (dead || broken) {
        not_played(v);
        not_played(peak);
    } else {
        replay *r = replay_new(mine, t);
        meter_reset(&mine->meter);
        lab_stage("your allocator on the trace '%s'", t->name);
        if (peak) r->heap = heap_new();
        replay_pass(r);
        if (peak) grade_peak(peak, r, left_before);
        conclude(r, v);
        if (left_before && !peak && passed && !lab_passed(v))
            LAB_SAY(v->next, "%s were left over from the trace before: fix the row 'left behind' first",
                    kib(left_before));
        replay_free(r);
    }
    free(t);
}

/* --- two streams --------------------------------------------------------------------------------- */

/* How often a call made the host wait for the GPU here, openly or in disguise: a turn of the trace keeps a stream busy,
 * and it must still be busy when your calls have returned. `before`: waits a step of the training loop. */
static void grade_stream_waits(lab_verdict *v, const replay *r, double before) {
    const meter *m = &mine->meter;
    const bool disguised = r->drained > m->waits;
    const double waits = (double)(disguised ? r->drained : m->waits) / TURNS;
    if (r->fault.kind || waits <= before) return;
    lab_grade(v, waits);
    LAB_SAY(v->why, "streams: in each of its %d turns, %.2f times %s", TURNS, waits,
            disguised ? "a call returned when a busy stream had run dry, so it had waited for the GPU"
                      : "a call waits for the GPU");
    const call_site worst = meter_worst(m, waits_of);
    LAB_SAY(v->next, "%s",
            disguised ? "if an event is not done, leave its block parked and take another; do not ask until it is"
            : worst.what == LAB_CALL_FREES
                ? "before cudaMalloc, release only the idle segments of the request's own stream"
                : "record an event in pool_free and ask it with cudaEventQuery instead");
    blame(v, worst);
}

/* Parked blocks must be reused: in the second half of the turns hardly any new memory may be needed. */
static void look_at_growth(replay *r) {
    const size_t peak = mine->meter.peak;
    if (!r->fault.kind && peak - r->marked > r->peak_live)
        r->fault = (fault){.kind = FAULT_GROWS, .by = peak - r->marked};
}

static void play_streams(trace *t, double waits) {
    lab_verdict *v = lab_verdict_of(TWO_STREAMS);
    if (dead || broken) {
        not_played(v);
    } else {
        replay *r = replay_new(mine, t);
        meter_reset(&mine->meter);
        lab_stage("your allocator on the trace 'streams'");
        replay_pass(r);
        grade_stream_waits(lab_verdict_of(WAITS), r, waits);
        look_at_growth(r);
        conclude(r, v);
        replay_free(r);
    }
    free(t);
}

/* --- the training loop --------------------------------------------------------------------------- */

typedef struct {
    double us;             /* a step took; 0: CUDA failed */
    double mallocs, waits; /* calls a step */
    double begin, end;     /* of the loop, on this lane's clock */
    call_site dearest;     /* the line in whose calls of CUDA the host was longest; no name: none */
} training;

/* The first steps fill the cache, and are not counted. */
static void play_loop(replay *r, int steps, training *loop) {
    const meter *m = &mine->meter;
    lab_stage("your allocator on the training loop");
    meter_reset(&mine->meter);
    r->heap = heap_new();
    for (int i = 0; i < WARM_STEPS; i++) replay_pass(r);
    const long mallocs = m->mallocs, waits = m->waits;
    const heap first = *r->heap;
    memset(r->heap->calls, 0, sizeof r->heap->calls);
    r->heap->released = 0;
    LAB_CUDA(cudaDeviceSynchronize());
    lab_count_begin("training");
    loop->begin = lab_now();
    LAB_CUDA(cudaDeviceSynchronize());
    const double from = lab_now();
    for (int i = 0; i < steps && replay_pass(r); i++) continue;
    const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    if (!launched && !ran) loop->us = (lab_now() - from) / 1e3 / steps;
    loop->end = lab_now();
    lab_count_end();
    loop->mallocs = (double)(m->mallocs - mallocs) / steps;
    loop->waits = (double)(m->waits - waits) / steps;
    loop->dearest = meter_worst(m, time_in);
    if (m->mallocs > mallocs) return; /* else the calls of the first steps are those to speak of */
    memcpy(r->heap->calls, first.calls, sizeof first.calls);
    memcpy(r->heap->example, first.example, sizeof first.example);
}

/* Calls of cudaMalloc a step, the line with most of them, and why free memory did not serve. */
static void grade_mallocs(lab_verdict *v, const replay *r, double calls, int steps) {
    char text[400];
    const char *next = NULL;
    lab_grade(v, calls);
    if (lab_passed(v)) return;
    const char *need = say_need(r, &next, text, sizeof text);
    call_site place = meter_worst(&mine->meter, mallocs_of);
    if (!need && releases_too_much(r->heap)) {
        LAB_SAY(text, "%.2f calls of cudaFree a step, in pool_alloc, free what later requests of the step take anew",
                (double)r->heap->released / steps);
        next = "keep free blocks: remove this cudaFree until blocks are cut and joined";
        need = text;
        place = r->heap->release;
    } else if (!need && r->heap->reused) { /* it has a cache, and that holds the wrong pieces */
        next = say_peak(r, text, sizeof text);
        need = text;
    }
    LAB_SAY(v->why, "%.2f calls a step allocate memory, from the third step on%s%s", calls, need ? "\n" : "",
            need ? need : "");
    if (next) LAB_SAY(v->next, "%s", next);
    blame(v, place);
}

/* Calls a step that wait, and the line with most of them. */
static void grade_waits(lab_verdict *v, const replay *r, double calls) {
    const call_site worst = meter_worst(&mine->meter, waits_of);
    lab_grade(v, calls);
    if (lab_passed(v)) return;
    LAB_SAY(v->why, "%.2f calls a step wait for the GPU, from the third step on, most of them this %s", calls,
            worst.name);
    LAB_SAY(v->next, "%s",
            worst.what != LAB_CALL_FREES
                ? "drop the wait: on one stream the order is enough, on two an event that is queried"
            : calls < 1 || r->heap->released ? "drop the cudaFree before cudaMalloc; the steady loop needs neither"
                                             : "keep the memory in a list instead of calling cudaFree");
    blame(v, worst);
}

static training grade_training(const trace *t, int steps) {
    training loop = {.us = 0};
    replay *r = replay_new(mine, t);
    play_loop(r, steps, &loop);
    grade_peak(lab_verdict_of(TRAINING), r, 0);
    if (r->fault.kind) {
        not_measured(lab_verdict_of(MALLOCS));
        not_measured(lab_verdict_of(WAITS));
    } else {
        grade_mallocs(lab_verdict_of(MALLOCS), r, loop.mallocs, steps);
        grade_waits(lab_verdict_of(WAITS), r, loop.waits);
    }
    conclude(r, lab_verdict_of(CORRECT));
    replay_free(r);
    return loop;
}

/* --- verdicts: time ------------------------------------------------------------------------------ */

/* No allocator can beat memory that was allocated beforehand. */
static lab_floor light_floor(const trace *t, int steps) {
    return (lab_floor){"light", time_of(allocator_open("light", LAB_LADDER, "light", true), t, steps)};
}

static double start_us(const trace *t) {
    return time_of(allocator_open("starter", LAB_STARTER, NULL, false), t, START_STEPS);
}

static allocator *vendor_open(void) { return allocator_open("cudaMallocAsync", LAB_LADDER, "vendor", true); }

/* Names the call that takes most of the host's time. */
static void say_time(lab_verdict *v, const training *loop, double ratio) {
    const call_site *s = &loop->dearest;
    LAB_SAY(v->why, "%.2f times a step whose memory was allocated beforehand, want ≤ 1.03", ratio);
    if (!s->name) return LAB_SAY(v->next, "launch nothing of your own: the host calls no function of CUDA in a step");
    const size_t n = strlen(v->why);
    lab_text(v->why + n, sizeof v->why - n, "\n%s takes the host %s a step", s->name,
             lab_us(s->ns / 1e3 / (SIM_STEPS + WARM_STEPS)));
    if (s->what == LAB_CALL_FILLS || s->what == LAB_CALL_COPIES)
        LAB_SAY(v->next, "remove it: pool_alloc promises no contents");
    else if (s->what == LAB_CALL_SUBMITS)
        LAB_SAY(v->next, "a block that one stream used needs no event and no query: free it at once");
    blame(v, *s);
}

/* Sim lane: a multiple of the time with memory that costs nothing. */
static void grade_virtual_time(lab_verdict *v, const trace *t, const training *loop) {
    if (!(loop->us > 0) || !lab_passed(lab_verdict_of(CORRECT))) return not_measured(v);
    const double start = LAB_OTHER("start", start_us(t));
    const double vendor = LAB_OTHER("vendor", time_of(vendor_open(), t, SIM_STEPS));
    const lab_floor least = {"light", LAB_OTHER("light", light_floor(t, SIM_STEPS).us)};
    lab_grade(v, loop->us / least.us);
    lab_figure("step", loop->us, "us");
    LAB_SAY(v->value_text, "%s", lab_us(loop->us));
    LAB_SAY(v->want, "start %s · vendor %s · light %s", lab_us(start), lab_us(vendor), lab_us(least.us));
    if (!lab_possible(v, loop->us, least) || lab_passed(v)) return;
    say_time(v, loop, loop->us / least.us);
}

static void show_bar(const training *loop) {
    lab_usage u = lab_usage_of("training");
    lab_blue_bar(&u, loop->begin, loop->end, LAB_RUNNING);
    lab_usage_free(&u);
}

/* Gpu lane: your loop against the vendor's, run in turn. */
static void grade_time(lab_verdict *v, const trace *t, int steps, allocator *vendor) {
    const lab_floor least = light_floor(t, steps);
    replay *yours = replay_new(mine, t), *theirs = replay_new(vendor, t);
    loop *you = loop_new(yours, steps), *ven = loop_new(theirs, steps);
    lab_duel d = lab_time_duel((lab_timer){LAB_HOST_CLOCK, 1, 1, false}, &you->work, &ven->work, 9);
    if (d.ratio > 1.03) LAB_SAY(v->why, "%.2f times a step with cudaMallocAsync, want ≤ 1.03", d.ratio);
    lab_grade_interval(v, d.ratio, d.lo, d.hi);
    lab_possible(v, d.a / steps, least);
    LAB_SAY(v->value_text, "%s", lab_us(d.a / steps));
    LAB_SAY(v->want, "start %s · vendor %s · light %s", lab_us(start_us(t)), lab_us(d.b / steps), lab_us(least.us));
    dead |= replay_verdict(yours) != cudaSuccess;
    take_fault(yours, lab_verdict_of(CORRECT));
    char text[256];
    if (replay_verdict(theirs) || theirs->fault.kind)
        lab_die("cudaMallocAsync: %s", fault_text(theirs, text, sizeof text));
    replay_end(yours);
    replay_end(theirs);
    replay_free(yours);
    replay_free(theirs);
    free(you);
    free(ven);
}

static void grade_pair(lab_verdict *v, const trace *t, allocator *vendor) {
    const double ns = pair_of(mine, t);
    lab_grade(v, ns);
    LAB_SAY(v->want, "cudaMallocAsync and cudaFreeAsync %.0f ns", pair_of(vendor, t));
    if (!lab_passed(v)) LAB_SAY(v->why, "%.0f ns on this host, want ≤ 100", ns);
}

/* --- the run -------------------------------------------------------------------------------------- */

static void grade(int steps) {
    trace *t = trace_train(lab_fresh_seed());
    const training loop = grade_training(t, steps);
    play(trace_lengths(lab_fresh_seed()), lab_verdict_of(CORRECT), lab_verdict_of(LENGTHS));
    play(trace_holes(lab_fresh_seed()), lab_verdict_of(CORRECT), lab_verdict_of(HOLES));
    play(trace_sizes(lab_fresh_seed()), lab_verdict_of(CORRECT), NULL);
    play_streams(trace_streams(lab_fresh_seed()), loop.waits);
    play(trace_full(lab_fresh_seed()), lab_verdict_of(FULL), NULL);
    if (dead || (broken && lab_lane() == LAB_GPU)) {
        free(t);
        return lab_skip_rest("not measured: an earlier trace stopped the run");
    }
    lab_stage("the harness, after your allocator");
    if (lab_lane() == LAB_SIM) {
        grade_virtual_time(lab_verdict_of(VIRTUAL_TIME), t, &loop);
        show_bar(&loop);
        lab_note("alloc and free", "n/a: the virtual clock charges calls of CUDA, not your own instructions");
    } else {
        allocator *vendor = vendor_open();
        grade_time(lab_verdict_of(TIME), t, steps, vendor);
        grade_pair(lab_verdict_of(PAIR), t, vendor);
    }
    free(t);
}

/* Rows without a number pass until a trace fails them, and name their checks. */
static void begin_rows(void) {
    static const int held[] = {CORRECT, TWO_STREAMS, FULL, STATS};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) lab_pass(lab_verdict_of(held[i]));
    LAB_SAY(lab_verdict_of(CORRECT)->want, "every block of training, lengths, holes and sizes");
    LAB_SAY(lab_verdict_of(TWO_STREAMS)->want, "%d blocks of one stream, %d shared by two", TURNS, TURNS);
    LAB_SAY(lab_verdict_of(FULL)->want, "none in use: 28 of 32 MiB fit; 26 in use: 8 do not");
    lab_grade(lab_verdict_of(EMPTY), 0);
    LAB_SAY(lab_verdict_of(EMPTY)->want, "allocations and events after each trace, want 0");
    LAB_SAY(lab_verdict_of(STATS)->want, "live and reserved, after every call");
}

/* --- make lines2: one trace, with its calls by line and its heap -------------------------------------- */

static void print_calls(const meter *m) {
    printf("%10s %10s %10s   calls of CUDA by line\n", "cudaMalloc", "waits", "others");
    for (int i = 0; i < m->nsites; i++) {
        const call_site *s = &m->sites[i];
        printf("%10d %10d %10d   ", s->mallocs, s->waits, s->others);
        if (s->file) printf("%s:%d ", lab_file_name(s->file), s->line);
        puts(s->name);
    }
}

static void print_heap(const heap *h) {
    enum { MOST = sizeof h->picture / sizeof *h->picture };
    const heap_peak *p = &h->peak;
    printf("\nthe heap when most was held: %s, %s of it in use\n", kib(p->held), kib(p->live));
    printf("a line is a segment, a character %s: █ in use, ░ free, · never used\n", kib(h->unit));
    for (int i = 0; i < h->drawn && i < MOST; i++) puts(h->picture[i]);
    if (h->drawn > MOST) printf("%9s  and %d segments more\n", "", h->drawn - MOST);
}

/* The trace's place in the order in which the card plays them; exits with a message for another name. */
static int trace_number(const char *name, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (!strcmp(name, names[i])) return i;
    lab_die("ONLY=%s: there is no such trace. The traces: training lengths holes sizes streams full", name);
}

/* The trace that ONLY names, `training` by default, with the seed that it has on the card. */
static void print_lines(void) {
    static const char *const names[] = {"training", "lengths", "holes", "sizes", "streams", "full"};
    static trace *(*const make[])(uint64_t) = {trace_train, trace_lengths, trace_holes,
                                               trace_sizes, trace_streams, trace_full};
    enum { TRACES = sizeof names / sizeof *names };
    const char *only = getenv("ONLY");
    const int chosen = only && *only ? trace_number(only, names, TRACES) : 0;
    char text[640];
    training loop = {.us = 0};
    uint64_t seed = 0;
    if (lab_lane() == LAB_GPU) lab_die("calls by line need the sim lane: make lines2 DEVICE=sim");
    for (int i = 0; i <= chosen; i++) seed = lab_fresh_seed();
    trace *t = make[chosen](seed);
    replay *r = replay_new(mine, t);
    printf("trace %s: %s", t->name, t->what);
    if (chosen) {
        r->heap = heap_new();
        meter_reset(&mine->meter);
        lab_stage("your allocator on the trace '%s'", t->name);
        replay_pass(r);
    } else {
        play_loop(r, SIM_STEPS, &loop);
        printf(", %d times", SIM_STEPS + WARM_STEPS);
    }
    putchar('\n');
    print_calls(&mine->meter);
    print_heap(r->heap);
    if (replay_verdict(r) == cudaSuccess) replay_end(r);
    puts(r->fault.kind ? fault_text(r, text, sizeof text)
                       : "no block was too small, in two places, or reused too early");
    puts("Another trace: make lines2 ONLY=training, lengths, holes, sizes, streams or full.");
    replay_free(r);
    free(t);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "caching allocator, 3000 steps";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.counted) return lab_leave(); /* the kernels are the harness's own: nothing to count */
    mine = allocator_open("yours", LAB_MINE, NULL, false);
    if (opt.lines) return print_lines(), lab_leave();
    begin_rows();
    grade(lab_lane() == LAB_SIM ? SIM_STEPS : GPU_STEPS);
    return lab_end();
}
