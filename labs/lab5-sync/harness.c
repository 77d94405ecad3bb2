/* harness.c — runs and grades lab 5. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Learns: a whole training with a seed of its own. It checks every loss, the final weights, and the batch of each
 *      step against results that are computed after your code has run (training.c, task.c).
 *   2. Stops: three more trainings in which one update, at a step that you cannot know, ruins the weights. The next
 *      loss is not a number; you have to say which, and to stop.
 *   3. The timeline of the first training, without its first third: which calls left the GPU idle, and how long
 *      (timeline.c).
 *   4. Beside it, on this machine and now: the starter, the reference, and the kernels of a step alone.
 *
 * In the sim lane the timeline is made of SimGPU's events and the clock is virtual. In the gpu lane a larger network is
 * timed by events on the device, and your loop is compared with the kernels alone in turn (a b b a). The batches and
 * losses of these runs are checked when the clock has stopped, too.
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your `train`,
 * and training.c answers what the functions of lab5.h ask. Rows, then the checks, then the verdicts, then main.
 */
#include "lab.h"
#include "advice.h"
#include "blame.h"
#include "timeline.h"
#include "training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* features, hidden units, batch; ballast, time of the loader */
static const shape small = {384, 32, 32, 0, 40000};  /* few instructions, long waits for memory */
static const shape eager = {64, 32, 32, 0, 0};       /* a loader that takes no time, */
static const shape bulky = {64, 32, 32, 1 << 20, 0}; /* and copies that take longer than a step */
static const shape large = {1024, 1024, 512, 0, 0};  /* the gpu lane's timed network: about half a millisecond a step */
enum { STEPS = 48, FEW_STEPS = 12, NAN_STEPS = 24, GPU_STEPS = 192 };

/* --- the rows --------------------------------------------------------------------------------- */

enum { LEARNS, STOPS, DRAINS, IDLE_LAUNCHES, PAGEABLE, ALLOCATIONS, LEAKS, BUSY, VIRTUAL_TIME, TIME, ROWS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [LEARNS] = {"learns", "learns",
     "every step trains on its own batch, every loss is reported, the weights end where they should",
     "", 0, 1, 1, 15, LAB_BOTH, "learns",
     "for each buffer, write down who writes it, who reads it, and what keeps the two apart", NULL},
    [STOPS] = {"nan", "stops at a NaN",
     "a loss that is not a number stops training within 8 steps, and train says which step it was",
     "", 0, 1, 1, 15, LAB_BOTH, "nan",
     "look at every loss once, but not in the step that computes it", "learns"},
    [DRAINS] = {"drains", "idle calls a step", "no call of the loop ends with an idle GPU",
     "", 1, 0.1, 2, 15, LAB_SIM, "drains",
     "ask of each call: when it returns, what has the GPU left to do?", "learns nan"},
    [IDLE_LAUNCHES] = {"idle-launches", "idle launches a step",
     "no part of a step finds its stream with nothing left to do",
     "", 1, 0.1, 1, 20, LAB_GPU, "drains",
     "ask of each call: when it returns, what has the GPU left to do?", "learns nan"},
    [PAGEABLE] = {"pageable", "pageable copies a step", "nothing is copied from or to ordinary memory in the loop",
     "", 1, 0, 1, 10, LAB_BOTH, "pageable",
     "give the copy page-locked memory at the host's end, allocated once", "learns nan"},
    [ALLOCATIONS] = {"allocations", "allocations a step", "nothing is allocated or freed in the loop",
     "", 1, 0, 1, 5, LAB_SIM, "allocations",
     "allocate before the loop, free after it", "learns nan"},
    [LEAKS] = {"leaks", "left behind", "train destroys and frees all that it has created, also when it stops at a NaN",
     "", 0, 0, 1, 5, LAB_BOTH, "leaks",
     "destroy what you create, on every way out", "learns nan"},
    [BUSY] = {"busy", "GPU busy", "the GPU is busy with the kernels of the steps for at least 95 % of the time",
     "%", 1, 95, 60, 15, LAB_BOTH, "busy",
     "fix the line with the largest share first, then measure again", "learns nan"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time of a step", "a step takes at most 1.05 times its own kernels",
     "x kernels", 2, 1.05, 1.6, 20, LAB_SIM, "time",
     "draw three steps as in the handout: what could the host have queued while it waited?", "learns nan"},
    [TIME] = {"time", "time of a step", "a step takes at most 1.05 times its own kernels",
     "x kernels", 2, 1.05, 1.6, 20, LAB_GPU, "time",
     "draw three steps as in the handout: what could the host have queued while it waited?", "learns nan"},
};
// clang-format on
static const lab_spec spec = {
    "lab5", "training without waiting", "train.cu", rows, ROWS, "the ungraded question in the handout"};

/* --- learns ------------------------------------------------------------------------------------ */

/* Checks a training with another loader. Returns false when CUDA failed. */
static bool check_other(lab_program *mine, const char *name, shape s, const char *what) {
    lab_verdict *v = lab_verdict_of(LEARNS);
    training *t = training_new(mine, name, s, FEW_STEPS);
    lab_check_hazards(true);
    training_run(t);
    lab_check_hazards(false);
    training_check(t);
    training_free(t);
    if (t->failure[0]) {
        const size_t n = strlen(t->failure);
        lab_text(t->failure + n, sizeof t->failure - n, " (%s)", what);
        blame_run(v, t);
    } else {
        blame_hazard(v, t);
    }
    return !t->error;
}

/* Checks the graded training, and two short ones that expose loops which are right by luck: a loader that takes no time
 * fills the next buffer at once, and a large batch is long under way. Both are also watched for hazards. Returns false
 * when no more can be run. */
static bool check_learning(lab_program *mine, training *t) {
    lab_verdict *v = lab_verdict_of(LEARNS);
    lab_forget_things();
    training_run(t);
    if (!t->error) lab_grade_leaks(lab_verdict_of(LEAKS), "when train returns");
    training_check(t);
    training_free(t);
    LAB_SAY(v->want, "every loss and weight as in plain training");
    if (t->failure[0]) return blame_run(v, t), !t->error;
    LAB_SAY(v->want, "loss %.2f falls to %.2f; two other loaders", (double)t->reply.losses[0],
            (double)t->reply.losses[t->steps - 1]);
    return check_other(mine, "eager", eager, "with a loader that takes no time") &&
           (!lab_passed(v) || check_other(mine, "bulky", bulky, "with batches of 4 MB"));
}

/* --- stops -------------------------------------------------------------------------------------- */

/* Checks the end of a training; the first training has checked the losses before the ruined update. */
static void check_stop(training *t) {
    const int over = t->queued - (t->poison + 1), said = t->reply.result;
    const double loss = (double)t->reply.losses[t->poison];
    if (t->failure[0]) return;
    t->blame = "isnan(";
    t->blame_else = "return";
    if (said != t->poison && said < 0) {
        LAB_SAY(t->failure, "the loss of step %d was not a number, and train returned %d", t->poison, said);
        t->next = "look at every loss once; those of the last steps are still to come when the loop ends";
    } else if (said != t->poison) {
        LAB_SAY(t->failure, "the first loss that is not a number was that of step %d; train returned %d", t->poison,
                said);
        t->next = "look at every loss in turn, and return the step whose loss it is, not the step in which you look";
    } else if (over > LAB5_GRACE) {
        LAB_SAY(t->failure, "after the broken step %d another %d steps were queued; at most %d may be", t->poison, over,
                LAB5_GRACE);
        t->next = "look at each loss sooner: a few steps after its own, and before you queue another";
    } else if (!isnan(loss)) {
        LAB_SAY(t->failure, "losses[%d] is %g where the loss was not a number", t->poison, loss);
        t->blame = "losses[";
        t->blame_else = "losses";
        t->next = "the broken loss is reported too: write it to losses before you stop";
    }
}

/* Ruins an even step that the seed picks, the last step, and the first possible one. A loop that looks at every second
 * loss, or at every third, up to the eighth, misses one of the three whatever the seed. Returns false when no more can
 * be run. */
static bool check_stops(lab_program *mine) {
    lab_verdict *v = lab_verdict_of(STOPS);
    if (!lab_passed(lab_verdict_of(LEARNS))) {
        lab_unmeasured(v, "not tried: see 'learns'");
        return true;
    }
    const int steps[] = {4 + 2 * (int)(lab_fresh_seed() % 5), NAN_STEPS - 1, 1};
    static const char *const names[] = {"nan0", "nan1", "nan2"};
    LAB_SAY(v->want, "stops ≤ %d steps later, says which; 3 trainings", LAB5_GRACE);
    lab_forget_things();
    for (int i = 0; i < 3; i++) {
        training *t = training_new(mine, names[i], eager, NAN_STEPS);
        t->poison = steps[i];
        training_run(t);
        training_check(t);
        training_free(t);
        check_stop(t);
        if (t->failure[0]) blame_run(v, t);
        if (t->error) return false;
        if (t->failure[0]) return true;
        lab_verdict *leaks = lab_verdict_of(LEAKS);
        if (lab_passed(leaks)) lab_grade_leaks(leaks, "when train has stopped at a NaN");
    }
    return true;
}

/* --- the timeline, sim lane ------------------------------------------------------------------- */

/* Returns whether the line is the student's, and not one of offered.cu. */
static bool is_yours(const culprit *c) { return c->what->at.file && !is_ours(&c->what->at); }

/* "host blocked in cudaFree, train.cu:67" */
static const char *place_of(const culprit *c, char *to, size_t size) {
    char text[96];
    const char *name = culprit_name(c, text, sizeof text);
    if (is_yours(c))
        lab_text(to, size, "%s, %s:%d", name, lab_file_name(c->what->at.file), c->what->at.line);
    else
        lab_text(to, size, "%s", name);
    return to;
}

/* Writes the list behind the text, a line each, those with the most time first: "\n22.4 us  cudaFree, train.cu:67". */
static void add_places(char *to, size_t size, const culprits *c) {
    enum { SHOWN = 6 };
    char one[400];
    for (int i = 0; i < c->n && i < SHOWN; i++) {
        const size_t n = strlen(to);
        lab_text(to + n, size - n, "\n%5.1f us  %s", c->list[i].ns / c->list[i].count / 1e3,
                 place_of(&c->list[i], one, sizeof one));
    }
    const size_t n = strlen(to);
    if (c->n > SHOWN) lab_text(to + n, size - n, "\nand %d more", c->n - SHOWN);
}

/* Returns the first that has a line of the student's. */
static const culprit *first_of_yours(const culprits *c) {
    for (int i = 0; i < c->n; i++)
        if (is_yours(&c->list[i])) return &c->list[i];
    return NULL;
}

static void point_at(lab_verdict *v, const culprit *c) { lab_blame_place(v, &c->what->at); }

/* One row that counts calls or copies, and its lines. `advice` may be NULL. */
static void grade_calls(lab_verdict *v, const culprits *c, int steps, const char *what,
                        const char *(*advice)(const culprit *)) {
    lab_grade(v, count_of(c) / steps);
    if (lab_passed(v) || !c->n) return;
    point_at(v, &c->list[0]);
    LAB_SAY(v->why, "%s:", c->list[0].held ? "when these return, the GPU runs nothing, though a step is queued" : what);
    add_places(v->why, sizeof v->why, c);
    if (advice) LAB_SAY(v->next, "%s", advice(&c->list[0]));
}

/* Names the largest causes of idle time, each with its line. */
static void grade_busy(lab_verdict *v, const timeline *t) {
    enum { SHOWN = 5 };
    double all = t->window.to - t->window.from, rest = t->idle_ns;
    char where[400];
    lab_grade(v, 100 * t->busy_ns / all);
    if (lab_passed(v)) return;
    const culprit *first = first_of_yours(&t->gaps);
    if (first) point_at(v, first);
    if (first) LAB_SAY(v->next, "%s", advice_for_gap(first));
    LAB_SAY(v->why, "the GPU had nothing to do, in %% of all time:");
    for (int i = 0; i < t->gaps.n && i < SHOWN; i++) {
        const size_t n = strlen(v->why);
        lab_text(v->why + n, sizeof v->why - n, "\n%4.1f %% %s", 100 * t->gaps.list[i].ns / all,
                 place_of(&t->gaps.list[i], where, sizeof where));
        rest -= t->gaps.list[i].ns;
    }
    const size_t n = strlen(v->why);
    if (t->gaps.n > SHOWN && rest > 0)
        lab_text(v->why + n, sizeof v->why - n, "\n%4.1f %% in smaller pieces", 100 * rest / all);
}

static void say_time(lab_verdict *v, double you, double start, double reference, lab_floor light) {
    lab_figure("time", you, "us");
    lab_figure(light.name, light.us, "us");
    LAB_SAY(v->value_text, "%s", lab_us(you));
    LAB_SAY(v->want, "start %s · reference %s · kernels %s", lab_us(start), lab_us(reference), lab_us(light.us));
    const double times = you / light.us;
    if (lab_possible(v, you, light) && !lab_passed(v))
        LAB_SAY(v->why, "%.*f times its own kernels, want ≤ %.2f", lab_digits(times, v->row->full, 2), times,
                v->row->full);
}

/* Kernels that read over the link take longer than those of the same step alone. Says so, and returns true, if the step
 * is late by them more than by its idle time. */
static bool say_slow_kernel(lab_verdict *v, const lab_usage *u, double more_us, double idle_us) {
    char text[400];
    const size_t n = strlen(v->why);
    const struct simgpu_launch *l = lab_slowest(u);
    if (!l || l->bound.term != SIMGPU_TERM_LINK || v->unmeasured || more_us <= idle_us) return false;
    lab_text(v->why + n, sizeof v->why - n, "%s", lab_say_slowest(u, text, sizeof text));
    LAB_SAY(v->next,
            "copy the batch to the device first: kernels read the host's memory over the link, which is far slower");
    return true;
}

static void grade_timeline(const training *mine, double start, double reference, lab_floor light) {
    timeline t;
    lab_verdict *time = lab_verdict_of(VIRTUAL_TIME);
    const int steps = mine->steps - mine->warm;
    lab_usage u = lab_usage_of(mine->counted);
    if (!timeline_read(&t, &u, mine->warm)) return lab_skip_rest("not measured: too few steps, see 'learns'");
    grade_calls(lab_verdict_of(DRAINS), &t.drains, steps, "when these return, the GPU has nothing left to do",
                advice_for_drain);
    grade_calls(lab_verdict_of(PAGEABLE), &t.pageable, steps, "the CPU stages the bytes of these", advice_for_pageable);
    grade_calls(lab_verdict_of(ALLOCATIONS), &t.allocs, steps, "memory is allocated or freed in each step", NULL);
    if (t.harmless.n) {
        char line[400];
        lab_note("waits that cost nothing", "%.1f a step, most: %s", count_of(&t.harmless) / steps,
                 place_of(&t.harmless.list[0], line, sizeof line));
    }
    grade_busy(lab_verdict_of(BUSY), &t);
    lab_grade(time, mine->us / light.us);
    say_time(time, mine->us, start, reference, light);
    const culprit *first = first_of_yours(&t.gaps);
    const double idle_us = mine->us * t.idle_ns / (t.window.to - t.window.from);
    if (!lab_passed(time) && !say_slow_kernel(time, &u, mine->us - idle_us - light.us, idle_us) && first) {
        point_at(time, first);
        LAB_SAY(time->next, "%s", advice_for_gap(first));
    }
    lab_note("shown below", "steps %d to %d of %d; 'GPU busy' is about %d to %d", t.shown.first, t.shown.last - 1,
             mine->steps, mine->warm, mine->steps - 1);
    lab_blue_bar(&u, t.shown.at.from, t.shown.at.to, LAB_UNDER_WAY);
    timeline_free(&t);
    lab_usage_free(&u);
}

/* Returns the microseconds of a step, over as many steps as yours: the first and the last counted step overlap with
 * other neighbours than the rest, so fewer steps would change the last digit. */
static double step_time(lab_who who, const char *rung, shape s, int steps) {
    return training_time(training_new(lab_open(who, rung), NULL, s, steps));
}

static void grade_sim(lab_program *mine) {
    training *t = training_new(mine, "train", small, STEPS);
    if (!check_learning(mine, t) || !check_stops(mine))
        return lab_skip_rest("not measured: a CUDA call or a kernel failed, see above");
    if (t->us == 0) return lab_skip_rest("not measured: the training was not finished, see 'learns'");
    const lab_floor light = {"kernels", LAB_OTHER("kernels", step_time(LAB_LADDER, "kernels_alone", small, STEPS))};
    const double start = LAB_OTHER("start", step_time(LAB_STARTER, NULL, small, STEPS));
    const double reference = LAB_OTHER("reference", step_time(LAB_REFERENCE, NULL, small, STEPS));
    grade_timeline(t, start, reference, light);
}

/* --- the gpu lane ----------------------------------------------------------------------------- */

/* The large network against the plain loop of the harness: the same kernels, so the same losses. */
static bool check_large(training *t) {
    double want[GPU_STEPS];
    training *plain = training_new(lab_open(LAB_LADDER, "tidy"), NULL, large, GPU_STEPS);
    training_run(plain);
    training_free(plain);
    t->seed = plain->seed;
    training_run(t);
    for (int k = 0; k < GPU_STEPS; k++) want[k] = (double)plain->reply.losses[k];
    if (!t->error) training_check_losses(t, want);
    training_free(t);
    if (t->failure[0]) blame_run(lab_verdict_of(LEARNS), t);
    return !t->failure[0];
}

/* Your loop and the kernels alone, in turn. */
static void grade_time(lab_program *mine) {
    const double start = step_time(LAB_STARTER, NULL, large, GPU_STEPS);
    const double reference = step_time(LAB_REFERENCE, NULL, large, GPU_STEPS);
    training *you = training_new(mine, NULL, large, GPU_STEPS);
    training *alone = training_new(lab_open(LAB_LADDER, "kernels_alone"), NULL, large, GPU_STEPS);
    training_keep(you);
    lab_fence(false); /* five questions a step */
    lab_duel d = lab_time_duel((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &you->work, &alone->work, 9);
    lab_fence(true);
    lab_verdict *time = lab_verdict_of(TIME);
    if (isnan(d.ratio)) return lab_skip_rest(lab_untimed(&d));
    training_check_kept(you, training_new(lab_open(LAB_LADDER, "tidy"), NULL, large, GPU_STEPS));
    if (you->failure[0]) blame_run(lab_verdict_of(LEARNS), you);
    lab_grade_interval(lab_verdict_of(BUSY), 100 / d.ratio, 100 / d.hi, 100 / d.lo);
    lab_grade_interval(time, d.ratio, d.lo, d.hi);
    say_time(time, d.a, start, reference, (lab_floor){"kernels", d.b});
}

/* A busy host comes late to some launches, which is not the loop's doing. So of several trainings the best counts, the
 * first of which is over. */
static double least_idle(training *t) {
    enum { TRAININGS = 5 };
    double least = t->idle_launches;
    for (int i = 1; i < TRAININGS && least > rows[IDLE_LAUNCHES].full && !t->error; i++) {
        training_run(t);
        training_free(t);
        if (!t->error) least = fmin(least, t->idle_launches);
    }
    return least;
}

static void grade_gpu(lab_program *mine) {
    training *t = training_new(mine, "train", small, STEPS);
    if (!check_learning(mine, t) || !check_stops(mine))
        return lab_skip_rest("not measured: a CUDA call or a kernel failed, see above");
    training *big = training_new(mine, "large", large, GPU_STEPS);
    if (!check_large(big)) return lab_skip_rest("not measured: the training went wrong, see 'learns'");
    lab_verdict *idle = lab_verdict_of(IDLE_LAUNCHES), *pageable = lab_verdict_of(PAGEABLE);
    lab_grade(pageable, big->pageable_copies);
    if (!lab_passed(pageable)) LAB_SAY(pageable->why, "the CPU stages the bytes of copies from or to ordinary memory");
    lab_grade(idle, least_idle(big));
    if (!lab_passed(idle))
        LAB_SAY(idle->why, "%.1f of the 4 parts of a step found the GPU with nothing to do", idle->value);
    if (big->error) {
        blame_run(lab_verdict_of(LEARNS), big);
        return lab_skip_rest("not measured: a CUDA call or a kernel failed, see above");
    }
    grade_time(mine);
}

int main(int argc, char **argv) {
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.lines) {
        puts("The kernels of this lab are not yours, so they have no counters beside your lines. The card itself names "
             "the\n"
             "lines of your loop, with the time that each costs the GPU: make lab5");
        return lab_leave();
    }
    lab_hazards_on_card();
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(LEARNS)); /* until a run says otherwise */
    lab_pass(lab_verdict_of(STOPS));
    if (lab_lane() == LAB_SIM)
        grade_sim(mine);
    else
        grade_gpu(mine);
    return lab_end();
}
