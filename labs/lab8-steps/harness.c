/* harness.c — runs and grades lab 8. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: plates of several shapes, one of them chosen by the seed, with a check each step, each 7, each few.
 * Every shape has a setup, several solves on plates at different addresses, and a cleanup (parts/session.c). In the sim
 *      lane these runs are watched for races, too. After each cleanup nothing may be left.
 *   2. Stops: three tolerances that are met at the first check, at one that the seed picks, and at none.
 *   3. Counted and timed: the second solve of a session on a plate of 256x256, so that what is prepared once does not
 *      count, and what is prepared again does. A listener hears each call of the host (parts/heard.c).
 *   4. Beside it, on this machine and now: the untouched starter, the reference solution, and the sums alone: as many
 *      averages in registers, of blocks that never meet. No program can be faster than that.
 *
 * The sim lane takes 100 steps and its clock is virtual; the gpu lane takes 1000, and times you against the reference
 * in turn (a b b a).
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your functions.
 * What the card advises for each kind of mistake is in parts/advice.c. Rows, then the verdicts, then main.
 */
#include "advice.h"
#include "heard.h"
#include "hazards.h"
#include "lab.h"
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 256, EVERY = 50, SIM_STEPS = 100, GPU_STEPS = 1000 };

/* --- the rows --------------------------------------------------------------------------------- */

enum { CORRECT, RACES, STOPS, LEAKS, CALLS, WAITS, HOST_TIME, VIRTUAL_TIME, TIME, ROWS };

// clang-format off
static const lab_row rows[ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every plate and every residual is right, for square, odd, thin, large and hidden shapes",
     "", 0, 1, 1, 20, LAB_BOTH, "correct",
     "take the shape and the number of steps named here, and follow that one cell through your steps", NULL},
    [RACES] = {"races", "races", "no thread reads or writes what another one may be writing, or what was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "a step reads one plate and writes another, and all blocks meet before the next step reads that", NULL},
    [STOPS] = {"stops", "stops in time", "solve ends at most two checks after the one that meets the tolerance, and not before it",
     "", 0, 1, 1, 10, LAB_BOTH, "stops",
     "compare each check's residual with the tolerance, soon after that check", "correct"},
    [LEAKS] = {"leaks", "left behind", "cleanup frees and destroys all that setup and solve have created",
     "", 0, 0, 1, 5, LAB_BOTH, "leaks",
     "destroy in cleanup what setup has created, and in solve what solve has", "correct"},
    [CALLS] = {"calls", "host calls a step", "solve makes at most one call of CUDA for each five steps",
     "", 2, 0.2, 1, 15, LAB_BOTH, "calls",
     "launch many steps by one call: a graph of all steps up to a check, or one kernel that takes them", "correct races stops"},
    [WAITS] = {"waits", "waits a check", "the host waits at most three times for two checks",
     "", 1, 1.5, 10, 10, LAB_BOTH, "waits",
     "ask for a residual only at a check, and wait for that alone", "correct races stops"},
    [HOST_TIME] = {"host-time", "host time a step", "solve's calls cost the host at most 0.2 us a step, waits apart",
     "us", 2, 0.2, 2, 10, LAB_BOTH, "host-time",
     "prepare in setup what solve need not do again: capture, instantiation, allocation", "correct races stops"},
    [VIRTUAL_TIME] = {"virtual-time", "virtual time a step", "a step takes at most 1.3 times as long as the reference's",
     "x reference", 2, 1.3, 6, 25, LAB_SIM, "time",
     "find out what a step waits for: the host, the next launch, or the meeting of all blocks", "correct races stops"},
    [TIME] = {"time", "time", "at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 25, LAB_GPU, "time",
     "find out what a step waits for: the host, the next launch, or the meeting of all blocks", "correct races stops"},
};
// clang-format on
static lab_spec spec = {"lab8", "a plate of 256x256, 100 steps",       "steps.cu", rows,
                        ROWS,   "the ungraded question in the handout"};

static const char FAILED[] = "not run: see 'correct'";

/* --- verdicts: correct, races, leaks ---------------------------------------------------------- */

/* Fails the row for the session's first mistake, if there is one and the row is still full. */
static void judge_session(lab_verdict *v, const session *s) {
    if (!s->mistake || !lab_passed(v)) return;
    lab_usage u;
    char none[256];
    lab_count_read(s->counted, &u, none, sizeof none); /* empty in the gpu lane */
    lab_fail(v, "%s", s->failure);
    advise_on_session(v, s, &u);
    lab_usage_free(&u);
}

/* A shape, and the steps that its solves take. */
typedef struct {
    int rows, cols, every, most;
    bool cold;
} trial;

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_trial(lab_program *mine, const trial *t, bool watched) {
    lab_verdict *leaks = lab_verdict_of(LEAKS);
    session *s = session_new(mine, "check", t->rows, t->cols, t->every, t->most);
    s->cold = t->cold;
    lab_check_hazards(watched);
    lab_forget_things();
    bool alive = session_setup(s);
    for (int i = 0; alive && i < 2; i++) alive = session_solve(s, 0);
    alive = alive && session_cleanup(s);
    lab_check_hazards(false);
    judge_session(lab_verdict_of(CORRECT), s);
    if (alive && (leaks->status == LAB_OPEN || lab_passed(leaks))) lab_grade_leaks(leaks, "when cleanup returns");
    return alive;
}

/* Each shape finds another kind of mistake. 48x70 takes one step, then two, then five, so that the card names the first
 * wrong one; 37x53 and 97x81 have an odd number of steps to a check, few and many; 97x81 is cold but for one cell, and
 * large enough for several tiles; 100x3 and 2x40 have hardly an inner cell, or none; the seed draws the next. The last
 * is large: more cells than the GPU has places for threads. */
static bool check_trials(lab_program *mine) {
    const int rows = 33 + (int)(lab_fresh_seed() % 60), cols = 41 + (int)(lab_fresh_seed() % 90);
    const int every = 3 + (int)(lab_fresh_seed() % 9);
    const trial trials[] = {
        {48, 70, 1, 1, false},
        {48, 70, 1, 2, false},
        {48, 70, 1, 5, false},
        {37, 53, 7, 21, false},
        {97, 81, 25, 50, true},
        {100, 3, 4, 8, false},
        {2, 40, 3, 3, false},
        {rows, cols, every, 3 * every, false},
        {LARGE_ROWS, LARGE_COLS, 2, 2, false},
    };
    const int n = sizeof trials / sizeof *trials;
    LAB_SAY(lab_verdict_of(CORRECT)->want, "48x70, 37x53, 97x81, 100x3, 2x40, 600x700, hidden");
    for (int i = 0; i < n; i++)
        if (!run_trial(mine, &trials[i], true)) return false;
    return true;
}

/* Whether a call was refused in these runs: what is found behind it may follow from that. */
static bool was_refused(const char *counted) {
    lab_usage u = lab_usage_of(counted);
    bool refused = false;
    for (int i = 0; i < u.nevents; i++) refused = refused || u.events[i].kind == SIMGPU_REFUSAL;
    lab_usage_free(&u);
    return refused;
}

/* Fails the row for what the checks found, even if all plates came out right: this run's order of warps is one of many.
 * A race is shown beside a wrong plate, since it may be the cause; without one, a wrong plate says nothing about
 * races. */
static void grade_races(lab_verdict *v, bool alive) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card cannot find races; the sim lane can");
    if (!alive && was_refused("check")) return lab_unmeasured(v, FAILED);
    if (lab_fail_for_hazard(v, "check", advise_on_finding)) return;
    lab_pass_races(v, lab_verdict_of(CORRECT), alive, FAILED);
}

/* --- verdict: stops ---------------------------------------------------------------------------- */

/* Plays solves of one shape, one for each check that should be the last; on a plate without inner cells the residual is
 * 0, and so is the tolerance. Returns false when CUDA failed. */
static bool run_stops(lab_program *mine, int rows, int cols, const int *due, int n) {
    enum { CHECKS = 8, APART = 4 };
    session *s = session_new(mine, "stops", rows, cols, APART, CHECKS * APART);
    lab_check_hazards(true);
    bool alive = session_setup(s);
    for (int i = 0; alive && i < n; i++) alive = session_solve(s, due[i] ? session_tolerance(s, due[i]) : 0);
    alive = alive && session_cleanup(s);
    lab_check_hazards(false);
    judge_session(lab_verdict_of(STOPS), s);
    return alive;
}

/* These runs are watched, too: a program that stops early takes another way through its waits than one that does not.
 */
static bool grade_stops(lab_verdict *v, lab_verdict *races, lab_program *mine) {
    const int due[] = {1, 3 + (int)(lab_fresh_seed() % 3), 8}, at_once[] = {0};
    if (!lab_passed(lab_verdict_of(CORRECT))) {
        lab_unmeasured(v, "not tried: see 'correct'");
        return true;
    }
    lab_pass(v);
    LAB_SAY(v->want, "≤ 2 checks late; 4 tolerances");
    const bool alive = run_stops(mine, 40, 60, due, 3) && run_stops(mine, 2, 40, at_once, 1);
    if (lab_lane() == LAB_SIM && lab_passed(races)) lab_fail_for_hazard(races, "stops", advise_on_finding);
    return alive;
}

/* --- verdicts: the host -------------------------------------------------------------------------- */

/* Appends the places with the most of what the row counts, a line each: "\n1.00  cudaMemcpy, steps.cu:72". */
static void add_places(lab_verdict *v, const heard *h, enum heard_by by, double per) {
    enum { SHOWN = 5 };
    for (int i = 0; i < h->n && i < SHOWN; i++) {
        const heard_place *p = &h->places[i];
        const size_t n = strlen(v->why);
        char at[128] = "";
        if (by != HEARD_CALLS && p->waits != (by == HEARD_WAITS)) continue;
        if (p->file) LAB_SAY(at, ", %s:%d", lab_file_name(p->file), p->line);
        lab_text(v->why + n, sizeof v->why - n, "\n%6.2f  %s%s", by == HEARD_TIME ? p->ns / 1e3 / per : p->count / per,
                 p->name, at);
    }
}

static void grade_host(lab_verdict *v, heard *h, enum heard_by by, double value, double per, const char *what,
                       const lab_usage *u) {
    lab_grade(v, value);
    if (lab_passed(v)) return;
    heard_sort(h, by);
    LAB_SAY(v->why, "%s:", what);
    add_places(v, h, by, per);
    advise_on_call(v, &h->places[0], h, u);
}

static void grade_calls(heard *h, int steps, const lab_usage *u) {
    const double checks = (double)steps / EVERY;
    grade_host(lab_verdict_of(CALLS), h, HEARD_CALLS, (double)h->calls / steps, steps, "calls for each step", u);
    grade_host(lab_verdict_of(WAITS), h, HEARD_WAITS, h->waits / checks, checks, "calls that wait, for each check", u);
    grade_host(lab_verdict_of(HOST_TIME), h, HEARD_TIME, h->working_ns / 1e3 / steps, steps, "us for each step", u);
}

/* --- verdicts: time ------------------------------------------------------------------------------ */

/* Microseconds of a second solve by another program. */
static double time_of(lab_who who, const char *rung, int steps, int repetitions) {
    session *s = session_new(lab_open(who, rung), NULL, SIDE, SIDE, EVERY, steps);
    lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 1, repetitions, false}, &s->work);
    if (t.error) lab_die("a program of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

static const char *us_a_step(double us, int steps) {
    static char texts[4][32];
    static int turn;
    char *to = texts[turn = (turn + 1) % 4];
    lab_text(to, sizeof texts[0], "%.2f us", us / steps);
    return to;
}

static bool is_host_full(void) {
    return lab_passed(lab_verdict_of(CALLS)) && lab_passed(lab_verdict_of(WAITS)) &&
           lab_passed(lab_verdict_of(HOST_TIME));
}

static void grade_virtual_time(lab_verdict *v, double us, int steps, const heard *h, const lab_usage *u) {
    const double start = LAB_OTHER("start", time_of(LAB_STARTER, NULL, EVERY, 1)) * steps / EVERY,
                 reference = LAB_OTHER("reference", time_of(LAB_REFERENCE, NULL, steps, 1));
    const lab_floor sums = {"sums alone", LAB_OTHER("sums", time_of(LAB_LADDER, "sums", steps, 1))};
    const double least = 3.0 * (SIDE - 2) * (SIDE - 2) / 32 * steps; /* warp instructions: three additions a cell */
    lab_figure("time", us / steps, "us");
    lab_figure("reference", reference / steps, "us");
    lab_figure("start", start / steps, "us");
    lab_grade(v, us / reference);
    LAB_SAY(v->value_text, "%s", us_a_step(us, steps));
    LAB_SAY(v->want, "start %s · reference %s · sums alone %s", us_a_step(start, steps), us_a_step(reference, steps),
            us_a_step(sums.us, steps));
    if (u->total.inst < least) {
        lab_fail(v, "no time counts for steps that no kernel has taken");
        LAB_SAY(v->next, "let the GPU compute every step of every cell");
    } else if (lab_possible(v, us, sums) && !lab_passed(v)) {
        LAB_SAY(v->why, "%.*f times the reference, want ≤ %g", lab_digits(us / reference, v->row->full, 2),
                us / reference, v->row->full);
        advise_on_time(v, h, u);
        if (!is_host_full() && h->working_ns / 1e3 < us && lab_passed(lab_verdict_of(WAITS)))
            LAB_SAY(v->next, "launch many steps by one call: the host hardly waits, but each launch costs the GPU "
                             "more than a step's averages");
        else if (!is_host_full())
            LAB_SAY(v->next, "do what the rows about the host say first: most of this time is the host's");
    }
}

static void grade_time(lab_verdict *v, session *yours, const heard *h) {
    session *start = session_new(lab_open(LAB_STARTER, NULL), NULL, SIDE, SIDE, EVERY, GPU_STEPS);
    session *reference = session_new(lab_open(LAB_REFERENCE, NULL), NULL, SIDE, SIDE, EVERY, GPU_STEPS);
    const lab_usage none = {.launches = 0};
    const lab_floor sums = {"sums alone", time_of(LAB_LADDER, "sums", GPU_STEPS, 9)};
    lab_grade_gain(v, (lab_timer){LAB_HOST_CLOCK, 2, 1, false}, &start->work, &reference->work, &yours->work, sums);
    if (!lab_passed(v)) advise_on_time(v, h, &none);
    if (yours->mistake) lab_fail(lab_verdict_of(CORRECT), "in a timed run: %s", yours->failure);
}

/* --- main ---------------------------------------------------------------------------------------- */

/* The counted solve, and the rows that depend on it. */
static void grade_counted(lab_program *mine) {
    const int steps = lab_lane() == LAB_SIM ? SIM_STEPS : GPU_STEPS;
    session *s = session_new(mine, "solve", SIDE, SIDE, EVERY, steps);
    /* Behind the lock a card's call takes several times as long, and here the calls are timed. */
    if (lab_lane() == LAB_GPU) lab_fence(false);
    const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &s->work);
    if (lab_lane() == LAB_GPU) lab_fence(true);
    judge_session(lab_verdict_of(CORRECT), s);
    if (t.error || s->mistake) return lab_skip_rest("not measured: see 'correct'");
    lab_usage u;
    char none[256];
    lab_count_read("solve", &u, none, sizeof none);
    heard h = s->heard;
    grade_calls(&h, steps, &u);
    if (lab_lane() == LAB_SIM) {
        grade_virtual_time(lab_verdict_of(VIRTUAL_TIME), t.median, steps, &h, &u);
        lab_figures_of("solve", &u);
        lab_blue_bar(&u, s->begin, s->end, LAB_RUNNING);
    } else {
        session *timed = session_new(mine, NULL, SIDE, SIDE, EVERY, steps);
        timed->judged = true;
        grade_time(lab_verdict_of(TIME), timed, &h);
    }
    lab_usage_free(&u);
}

/* --lines: the counted solve, right or wrong, and what each line of it cost. */
static int print_lines(lab_program *mine) {
    session *s = session_new(mine, "solve", SIDE, SIDE, EVERY, SIM_STEPS);
    const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &s->work);
    if (t.error) lab_die("your program failed: make lab8");
    lab_usage u = lab_usage_of("solve");
    lab_print_lines(&u);
    lab_usage_free(&u);
    return lab_leave();
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "a plate of 256x256, 1000 steps";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    if (opt.lines) return print_lines(mine);
    bool alive = check_trials(mine);
    grade_races(lab_verdict_of(RACES), alive);
    alive = alive && grade_stops(lab_verdict_of(STOPS), lab_verdict_of(RACES), mine);
    if (alive && lab_passed(lab_verdict_of(CORRECT)))
        grade_counted(mine);
    else
        lab_skip_rest(alive ? "not measured: see 'correct'" : FAILED);
    return lab_end();
}
