/* harness.cu — runs and grades lab 5. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Learns: a whole training with a seed of its own. Every loss, the final weights, and which batch each step worked
 *      on. What is right is computed after your code has run.
 *   2. Stops: three more trainings in which one update, at a step that you cannot know, ruins the weights. The next
 * loss is not a number; you have to say which, and to stop.
 *   3. The timeline of the first training, without its first third: which calls left the GPU idle, and how long.
 *   4. Beside it, on this machine and now: the starter, the reference, and the kernels of a step alone.
 *
 * In the sim lane the timeline is SimGPU's report and the clock is virtual. In the gpu lane a larger network is timed
 * by events on the device, and your loop is compared with the kernels alone in turn (a b b a).
 */
#include "lab.h"
#include "lab5.h"
#include "job.cuh"
#include "rungs.cuh"
#include "bench.cuh"
#include "gaps.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* features, hidden units, batch; ballast, time of the loader */
static const shape small = {168, 32, 32, 0, 40000};  /* few instructions, long waits for memory */
static const shape eager = {64, 32, 32, 0, 0};       /* a loader that takes no time, */
static const shape bulky = {64, 32, 32, 1 << 20, 0}; /* and copies that take longer than a step */
static const shape large = {1024, 1024, 512, 0, 0};  /* the gpu lane's timed network: about half a millisecond a step */
enum { STEPS = 48, FEW_STEPS = 12, NAN_STEPS = 24, TIMED_STEPS = 15, GPU_STEPS = 192 };

/* --- the rows --------------------------------------------------------------------------------- */

// clang-format off
static const lab_row rows[] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step */
    {"learns", "learns", "every step trains on its own batch, every loss is reported, the weights end where they should",
     "", 0, 1, 1, 20, LAB_BOTH, "learns",
     "for each buffer, write down who writes it, who reads it, and what keeps the two apart"},
    {"nan", "stops at a NaN", "a loss that is not a number stops training within 8 steps, and train says which step it was",
     "", 0, 1, 1, 15, LAB_BOTH, "nan",
     "every loss has to be looked at once, but not in the step that computes it"},
    {"drains", "idle calls a step", "no call of the loop ends with an idle GPU",
     "", 1, 0.1, 2, 15, LAB_SIM, "drains",
     "ask of each call: when it returns, what has the GPU left to do?"},
    {"idle-launches", "idle launches a step", "no part of a step finds its stream with nothing left to do",
     "", 1, 0.1, 1, 20, LAB_GPU, "drains",
     "ask of each call: when it returns, what has the GPU left to do?"},
    {"pageable", "pageable copies a step", "nothing is copied from or to ordinary memory in the loop",
     "", 1, 0, 1, 10, LAB_SIM, "pageable",
     "give the copy page-locked memory at the host's end, allocated once"},
    {"pinned", "pageable batches a step", "the loader fills page-locked memory",
     "", 1, 0, 1, 10, LAB_GPU, "pageable",
     "give the copy page-locked memory at the host's end, allocated once"},
    {"allocations", "allocations a step", "nothing is allocated or freed in the loop",
     "", 1, 0, 1, 5, LAB_SIM, "allocations",
     "allocate before the loop, free after it"},
    {"busy", "GPU busy", "the GPU is busy for at least 95 % of the time",
     "%", 1, 95, 60, 15, LAB_BOTH, "busy",
     "mend the line with the largest share first, then look again"},
    {"virtual-time", "virtual time of a step", "a step takes at most 1.05 times its own kernels",
     "x kernels", 2, 1.05, 1.6, 20, LAB_SIM, "time",
     "draw three steps as in the handout: what could the host have queued while it waited?"},
    {"time", "time of a step", "a step takes at most 1.05 times its own kernels",
     "x kernels", 2, 1.05, 1.6, 20, LAB_GPU, "time",
     "draw three steps as in the handout: what could the host have queued while it waited?"},
};
// clang-format on
static const lab_spec spec = {"lab5", "training without waiting", "train.cu",
                              rows,   sizeof rows / sizeof *rows, "the question that nobody grades, in the handout"};

/* --- learns, stops ---------------------------------------------------------------------------- */

/* The training that is graded, and two short ones in which what depends on luck goes wrong: a loader that takes no time
 * fills the next buffer at once, and a large batch is long under way. They are also watched for hazards. False: no more
 * can be run. */
static bool check_learning(job *j) {
    job_run(j, true);
    lab_want("learns", "loss %.2f falls to %.2f; two other loaders", j->losses[0], j->losses[j->steps - 1]);
    if (j->failure[0]) return blame_run("learns", j), !j->error;
    static const struct {
        shape s;
        const char *name, *what;
    } others[] = {{eager, "eager", "with a loader that takes no time"}, {bulky, "bulky", "with batches of 4 MB"}};
    for (int i = 0; i < 2; i++) {
        static job k;
        k = job_new(train, others[i].name, others[i].s, FEW_STEPS);
        lab_check_hazards(true);
        job_run(&k, true);
        lab_check_hazards(false);
        if (!k.failure[0]) blame_hazard("learns", &k);
        if (!lab_passed("learns")) return true;
        if (!k.failure[0]) continue;
        size_t n = strlen(k.failure);
        snprintf(k.failure + n, sizeof k.failure - n, " (%s)", others[i].what);
        return blame_run("learns", &k), !k.error;
    }
    return true;
}

/* The losses before the ruin were checked in the first training; here it is about the end. */
static void judge_stop(job *j) {
    if (j->failure[0]) return;
    j->blame = "isnan(";
    int over = j->queued - (j->poison + 1);
    if (j->result != j->poison && j->result < 0) {
        snprintf(j->failure, sizeof j->failure, "the loss of step %d was not a number, and train returned %d",
                 j->poison, j->result);
        j->next = "look at every loss once; those of the last steps are still to come when the loop ends";
    } else if (j->result != j->poison) {
        snprintf(j->failure, sizeof j->failure,
                 "the first loss that is no number was that of step %d; train returned %d", j->poison, j->result);
        j->next = "return the number of the step whose loss it is, not of the step in which you look";
    } else if (over > LAB5_GRACE) {
        snprintf(j->failure, sizeof j->failure,
                 "after the broken step %d another %d steps were queued; at most %d may be", j->poison, over,
                 LAB5_GRACE);
        j->next = "look at each loss sooner: a few steps after its own, and before you queue another";
    } else if (!isnan(j->losses[j->poison])) {
        snprintf(j->failure, sizeof j->failure, "losses[%d] is %g where the loss was not a number", j->poison,
                 j->losses[j->poison]);
        j->blame = "losses[";
        j->next = "the broken loss is reported too: write it to losses before you stop";
    }
}

/* Steps that the seed picks, the last step, and an early one. */
static bool check_stops(void) {
    if (!lab_passed("learns")) {
        lab_unmeasured("nan", "not tried: see 'learns'");
        return true;
    }
    int steps[] = {4 + (int)(lab_fresh_seed() % 9), NAN_STEPS - 1, 1};
    lab_want("nan", "stops ≤ %d steps later, says which; 3 trainings", LAB5_GRACE);
    for (int i = 0; i < 3; i++) {
        static job j;
        char name[16];
        snprintf(name, sizeof name, "nan%d", i);
        j = job_new(train, name, eager, NAN_STEPS);
        j.poison = steps[i];
        job_run(&j, false);
        judge_stop(&j);
        if (j.failure[0]) blame_run("nan", &j);
        if (j.error) return false;
        if (j.failure[0]) return true;
    }
    return true;
}

/* --- the timeline, sim lane ------------------------------------------------------------------- */

static bool is_yours(const culprit *c) { /* and not the harness's, which is .cuh */
    const char *file = c->what->at.file;
    return file && strlen(file) > 3 && !strcmp(file + strlen(file) - 3, ".cu");
}

/* "host blocked in cudaFree, train.cu:67" */
static const char *place(const culprit *c, char *to, size_t size) {
    char text[96];
    const char *name = name_of(c, text, sizeof text);
    if (is_yours(c))
        snprintf(to, size, "%s, %s:%d", name, base_name(c->what->at.file), c->what->at.line);
    else
        snprintf(to, size, "%s", name);
    return to;
}

/* The lines of the list, those with the most time first: "cudaFree, train.cu:67 (22.4 us); ..." */
static const char *places(const culprits *c, char *to, size_t size) {
    enum { SHOWN = 6 };
    char one[400];
    size_t n = 0;
    for (int i = 0; i < c->n && i < SHOWN && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%s (%.1f us)", i ? "; " : "", place(&c->list[i], one, sizeof one),
                              c->list[i].ns / c->list[i].count / 1e3);
    if (c->n > SHOWN && n < size) snprintf(to + n, size - n, " ...");
    return to;
}

/* The first that has a line of the student's. */
static const culprit *first_of_yours(const culprits *c) {
    for (int i = 0; i < c->n; i++)
        if (is_yours(&c->list[i])) return &c->list[i];
    return NULL;
}

static void point_at(const char *row, const culprit *c) { lab_blame_place(row, &c->what->at); }

/* One row that counts calls or copies, and its lines. */
static void grade_calls(const char *row, const culprits *c, int steps, const char *what) {
    lab_grade(row, count_of(c) / steps);
    if (lab_passed(row) || !c->n) return;
    char list[600];
    point_at(row, &c->list[0]);
    lab_why(row, "%s: %s", what, places(c, list, sizeof list));
}

/* Where the idle time went: the largest causes, each with its line. */
static void grade_busy(const timeline *t) {
    enum { SHOWN = 5 };
    double all = t->window.to - t->window.from, rest = t->idle_ns;
    char text[600] = "", where[400];
    size_t n = 0;
    lab_grade("busy", 100 * t->busy_ns / all);
    if (lab_passed("busy")) return;
    const culprit *first = first_of_yours(&t->gaps);
    if (first) point_at("busy", first);
    for (int i = 0; i < t->gaps.n && i < SHOWN && n < sizeof text - 120; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%4.1f %% %s",
                              i ? "\n" : "the GPU had nothing to do, in % of all time:\n",
                              100 * t->gaps.list[i].ns / all, place(&t->gaps.list[i], where, sizeof where)),
            rest -= t->gaps.list[i].ns;
    if (t->gaps.n > SHOWN) snprintf(text + n, sizeof text - n, "\n%4.1f %% in smaller pieces", 100 * rest / all);
    lab_why("busy", "%s", text);
}

static void say_time(const char *row, double you, double start, double reference, lab_floor light) {
    lab_value(row, "%s", lab_us(you));
    lab_want(row, "start %s · reference %s · kernels %s", lab_us(start), lab_us(reference), lab_us(light.us));
    double times = you / light.us; /* near the mark, two decimals would say 1.05 of what is more */
    if (lab_possible(row, you, light) && !lab_passed(row))
        lab_why(row, "%.*f times its own kernels, want ≤ 1.05", times < 1.1 ? 3 : 2, times);
}

static void grade_timeline(const job *j, double start, double reference, lab_floor light) {
    timeline t;
    int steps = j->steps - j->warm;
    lab_usage u = lab_usage_of(j->counted);
    if (!read_timeline(&t, &u, j->warm)) return lab_skip_rest("not measured: too few steps, see 'learns'");
    grade_calls("drains", &t.drains, steps, "when these return, the GPU has nothing left to do");
    grade_calls("pageable", &t.pageable, steps, "the CPU carries the bytes of these");
    grade_calls("allocations", &t.allocs, steps, "memory comes and goes each step");
    if (t.harmless.n) {
        char line[400];
        lab_note("waits that cost nothing", "%.1f a step, most: %s", count_of(&t.harmless) / steps,
                 place(&t.harmless.list[0], line, sizeof line));
    }
    grade_busy(&t);
    lab_grade("virtual-time", j->us / light.us);
    say_time("virtual-time", j->us, start, reference, light);
    const culprit *first = first_of_yours(&t.gaps);
    if (!lab_passed("virtual-time") && first) point_at("virtual-time", first);
    lab_blue_bar(&u, t.shown.from, t.shown.to, LAB_UNDER_WAY);
    free(t.busy);
    lab_usage_free(&u);
}

/* Everything runs before the report is read, so that one report holds it all. */
static void grade_sim(void) {
    static job j;
    static timed_loop l;
    j = job_new(train, "train", small, STEPS);
    if (!check_learning(&j) || !check_stops())
        return lab_skip_rest("not measured: a CUDA call or a kernel failed, see above");
    if (j.us == 0) return lab_skip_rest("not measured: the training was not finished, see 'learns'");
    l = {rung_kernels_alone, small, TIMED_STEPS, {}};
    lab_floor light = {"kernels", step_time(&l)};
    l.fn = starter_train;
    double start = step_time(&l);
    l.fn = reference_train;
    double reference = step_time(&l);
    grade_timeline(&j, start, reference, light);
}

/* --- the gpu lane ----------------------------------------------------------------------------- */

/* The large network against the plain loop of the harness: the same kernels, so the same losses. */
static bool check_large(job *j) {
    static job plain;
    double want[MOST_STEPS];
    plain = job_new(rung_tidy, NULL, large, GPU_STEPS);
    job_run(&plain, false);
    for (int k = 0; k < GPU_STEPS; k++) want[k] = plain.losses[k];
    *j = job_new(train, "large", large, GPU_STEPS);
    j->seed = plain.seed;
    job_run(j, false);
    if (!j->error) check_losses(j, want, GPU_STEPS);
    if (j->failure[0]) blame_run("learns", j);
    return !j->error && !j->failure[0];
}

/* Your loop and the kernels alone, in turn. */
static void grade_time(void) {
    static timed_loop l, alone;
    l = {starter_train, large, GPU_STEPS, {}};
    double start = step_time(&l);
    l.fn = reference_train;
    double reference = step_time(&l);
    l.fn = train;
    alone = {rung_kernels_alone, large, GPU_STEPS, {}};
    lab_timer how = {LAB_HOST_CLOCK, 0, 1, false};
    lab_work you = work_of(&l), light = work_of(&alone);
    lab_duel d = lab_time_duel(how, &you, &light, 9);
    lab_floor kernels = {"kernels", d.b};
    lab_grade_interval("busy", 100 / d.ratio, 100 / d.hi, 100 / d.lo);
    lab_grade_interval("time", d.ratio, d.lo, d.hi);
    say_time("time", d.a, start, reference, kernels);
}

static void grade_gpu(void) {
    static job j, big;
    j = job_new(train, "train", small, STEPS);
    if (!check_learning(&j) || !check_stops())
        return lab_skip_rest("not measured: a CUDA call or a kernel failed, see above");
    if (!check_large(&big)) return lab_skip_rest("not measured: the training went wrong, see 'learns'");
    lab_grade("idle-launches", big.idle_launches);
    if (!lab_passed("idle-launches"))
        lab_why("idle-launches", "%.1f of the 4 parts of a step found the GPU with nothing to do", big.idle_launches);
    lab_grade("pinned", big.pageable_batches);
    if (!lab_passed("pinned")) lab_why("pinned", "lab5_load was handed memory that is not page-locked");
    grade_time();
}

int main(int argc, char **argv) {
    bool sim = lab_lane() == LAB_SIM;
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.bench) return bench(sim ? small : large, sim ? TIMED_STEPS : GPU_STEPS), lab_leave();
    if (opt.ladder) return ladder(small), lab_leave();
    if (opt.lines) lab_die("a training loop has no counters by line; the card of make lab5 names its lines");
    lab_pass("learns"); /* until a run says otherwise */
    lab_pass("nan");
    if (sim)
        grade_sim();
    else
        grade_gpu();
    lab_gate("learns", "");
    lab_gate("nan", "");
    return lab_end();
}
