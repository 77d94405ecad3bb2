/* session.c — plays a session's calls and checks what they have done; see session.h. */
#include "session.h"
#include "lab8.h"
#include "plate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_of(const session *s) { return (size_t)s->rows * (size_t)s->cols; }
static size_t bytes_of(const session *s) { return count_of(s) * sizeof(float); }

/* --- mistakes ------------------------------------------------------------------------------------ */

/* "37x53, 21 steps, a check each 7, second plate" */
static const char *say_solve(const session *s) {
    static char text[96];
    LAB_SAY(text, "%dx%d, %d step%s, a check each %d%s%s", s->rows, s->cols, s->most, s->most == 1 ? "" : "s", s->every,
            s->cold ? ", one hot cell" : "", s->checked > 1 ? ", second plate" : "");
    return text;
}

static void mistaken(session *s, enum mistake which, const char *fmt, ...) LAB_PRINTF(3, 4);
static void mistaken(session *s, enum mistake which, const char *fmt, ...) {
    char what[384];
    va_list args;
    if (s->mistake) return;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    s->mistake = which;
    s->wrong = s->checked;
    LAB_SAY(s->failure, "%s: %s", say_solve(s), what);
}

/* --- the right history ----------------------------------------------------------------------------- */

/* The plate of the last solve, step by step as far as needed, and the largest change of each step, from 1 on. */
typedef struct {
    plate now;
    int steps;
    float *change;
} history;

/* The plate that a solve with this seed gets; where all plates are cold, that of the last solve. */
static plate fresh_plate(const session *s, uint64_t seed) {
    return s->cold ? plate_cold(s->rows, s->cols, s->solves % 2 == 0) : plate_new(s->rows, s->cols, seed);
}

static history history_begin(uint64_t seed, const session *s, int most) {
    history h = {.now = fresh_plate(s, seed)};
    h.change = calloc((size_t)most + 2, sizeof *h.change);
    if (!h.change) lab_die("out of memory");
    return h;
}

static void history_go_to(history *h, int step) {
    while (h->steps < step) {
        const float change = plate_step(&h->now);
        h->change[++h->steps] = change;
    }
}

static void history_end(history *h) {
    plate_free(&h->now);
    free(h->change);
}

float session_tolerance(session *s, int check) {
    history h = history_begin(s->seed + 1, s, check * s->every);
    history_go_to(&h, check * s->every);
    const float here = h.change[check * s->every], before = check > 1 ? h.change[(check - 1) * s->every] : 4 * here;
    history_end(&h);
    return sqrtf(here * before);
}

/* --- checks ---------------------------------------------------------------------------------------- */

/* A change is the difference of two cells. */
static bool is_near(float got, float want) { return fabsf(got - want) <= 2 * PLATE_TOLERANCE; }

/* Checks the number of steps that solve returned, apart from when it should have stopped. */
static bool check_taken(session *s) {
    const int taken = s->reply.taken;
    char what[128];
    if (taken >= s->every && taken <= s->most && taken % s->every == 0) return true;
    if (taken > s->most)
        LAB_SAY(what, "solve returned %d, and %d step%s the most that it may take", taken, s->most,
                s->most == 1 ? " is" : "s are");
    else if (s->every == s->most)
        LAB_SAY(what, "solve returned %d; the only check comes after step %d", taken, s->every);
    else if (s->every == 1)
        LAB_SAY(what, "solve returned %d; it takes 1 to %d steps", taken, s->most);
    else
        LAB_SAY(what, "solve returned %d; it is to be a multiple of %d, at least that and at most %d", taken, s->every,
                s->most);
    mistaken(s, TAKEN_NONSENSE, "%s", what);
    return false;
}

/* Returns the number of steps, other than taken, after which the plate is as `got`; -1: none up to most + 1. */
static int step_of(const session *s, const float *got, int taken) {
    history h = history_begin(s->seed, s, s->most + 1);
    int found = -1;
    for (int step = 0; step <= s->most + 1 && found < 0; step++) {
        history_go_to(&h, step);
        if (step != taken && plate_equals(&h.now, got)) found = step;
    }
    history_end(&h);
    return found;
}

/* The plate is as it was after `step`, and solve returned another number. */
static enum mistake kind_of_step(const session *s, int step) {
    const int check = step / s->every; /* the last that has passed by then */
    if (step == s->reply.taken - 1 || step == s->reply.taken + 1) return OTHER_PLATE;
    if (step > s->reply.taken) return OTHER_COUNT;
    return step % s->every == 0 && s->reply.residuals[check] == LAB8_NOTHING ? OTHER_COUNT : OTHER_STEP;
}

static void describe_plate(session *s, const plate *want, const difference *d) {
    const float got = s->host[(size_t)d->row * (size_t)s->cols + (size_t)d->col];
    const float right = want->cells[(size_t)d->row * (size_t)s->cols + (size_t)d->col];
    const size_t inner = (size_t)(s->rows - 2) * (size_t)(s->cols - 2);
    const int taken = s->reply.taken, step = step_of(s, s->host, taken);
    if (step == 0)
        mistaken(s, AS_IT_WAS, "the plate is as it was before the call");
    else if (step > 0)
        mistaken(s, kind_of_step(s, step), "the plate holds the cells after step %d, and solve returned %d", step,
                 taken);
    else if (lab_lane() == LAB_SIM && lab_is_fresh(got))
        mistaken(s, FRESH, "cell [%d][%d] holds 0xCD bytes, as fresh memory does here: nobody has written it", d->row,
                 d->col);
    else if (d->edge == d->wrong)
        mistaken(s, EDGE_CHANGED, "cell [%d][%d], at the edge, is %g and was %g; the edge never changes", d->row,
                 d->col, (double)got, (double)right);
    else
        mistaken(s, d->wrong * 10 > inner * 9 ? ALL_CELLS : SOME_CELLS,
                 "cell [%d][%d] is %.7g, wants %.7g (%zu of %zu are wrong%s%s)", d->row, d->col, (double)got,
                 (double)right, d->wrong, count_of(s), d->where[0] ? ", " : "", d->where);
}

static void check_plate(session *s, const plate *want) {
    difference d;
    LAB_CUDA(cudaMemcpy(s->host, (const void *)s->message.plate, bytes_of(s), cudaMemcpyDeviceToHost));
    if (!plate_compare(want, s->host, &d)) return describe_plate(s, want, &d);
    const int side = lab_guards_broken((const float *)s->message.plate, count_of(s));
    if (side) mistaken(s, OUT_OF_BOUNDS, "memory %s the plate was written", side < 0 ? "before" : "behind");
}

static float largest_of(const history *h, int from, int to) {
    float largest = 0;
    for (int i = from; i <= to; i++) largest = fmaxf(largest, h->change[i]);
    return largest;
}

static void describe_residual(session *s, const history *h, int check) {
    const int step = check * s->every, since = step - s->every + 1;
    const float got = s->reply.residuals[check - 1], want = h->change[step];
    char what[96];
    LAB_SAY(what, "residuals[%d], of step %d, is %.5g, wants %.5g", check - 1, step, (double)got, (double)want);
    if (got == LAB8_NOTHING)
        mistaken(s, NOT_REPORTED, "residuals[%d], of step %d, was never written", check - 1, step);
    else if (is_near(got, largest_of(h, since, step)))
        mistaken(s, EACH_STEP_COUNTS, "%s: it is the largest change of the steps %d to %d", what, since, step);
    else if (is_near(got, largest_of(h, 1, step)))
        mistaken(s, NEVER_RESET, "%s: it is the largest change of all steps so far", what);
    else if ((step > 1 && is_near(got, h->change[step - 1])) || is_near(got, h->change[step + 1]))
        mistaken(s, OF_ANOTHER_STEP, "%s: it is that of step %d", what,
                 is_near(got, h->change[step + 1]) ? step + 1 : step - 1);
    else if (check > 1 && is_near(got, h->change[step - s->every]))
        mistaken(s, OF_ANOTHER_STEP, "%s: it is that of the check before", what);
    else if (got < want)
        mistaken(s, SMALLER, "%s: the largest change was left out", what);
    else
        mistaken(s, OTHER_NUMBER, "%s", what);
}

static void check_residuals(session *s, history *h) {
    if (s->reply.behind)
        mistaken(s, BEHIND_RESIDUALS, "residuals[%d] was written, and there are %d, from 0 on", s->most / s->every,
                 s->most / s->every);
    history_go_to(h, s->reply.taken + 1);
    for (int check = 1; check * s->every <= s->reply.taken; check++)
        if (!is_near(s->reply.residuals[check - 1], h->change[check * s->every])) return describe_residual(s, h, check);
}

/* Checks when it stopped. Requires a history up to `most`. */
static void check_stop(session *s, const history *h) {
    int due = s->every;
    while (due < s->most && h->change[due] > s->tolerance) due += s->every;
    if (s->reply.taken < due)
        mistaken(s, TOO_EARLY,
                 "stopped after step %d, whose residual is %.5g; the tolerance is %.5g, and step %d is %s",
                 s->reply.taken, (double)h->change[s->reply.taken], (double)s->tolerance, due,
                 due == s->most ? "the last" : "the first to meet it");
    else if (s->reply.taken > due + LAB8_LATE * s->every)
        mistaken(s, TOO_LATE,
                 "step %d met the tolerance, and solve went on to step %d; at most %d checks more may pass", due,
                 s->reply.taken, LAB8_LATE);
}

static void check_solve(session *s) {
    s->checked++;
    if (s->mistake || !check_taken(s)) return;
    history h = history_begin(s->seed, s, s->most + 1);
    history_go_to(&h, s->reply.taken);
    check_plate(s, &h.now);
    check_residuals(s, &h);
    history_go_to(&h, s->most);
    check_stop(s, &h);
    history_end(&h);
}

/* --- the calls -------------------------------------------------------------------------------------- */

/* What is wrong with CUDA after a call of the program, if anything. */
static bool is_alive(session *s, const char *after) {
    if (s->counted && s->heard.freed.name) {
        s->mistake = NO_MISTAKE; /* this is the cause of any other */
        mistaken(s, PLATE_FREED, "%s freed the plate, which is not yours: solve was only lent it", after);
        return false;
    }
    const cudaError_t left = cudaGetLastError(), ran = cudaDeviceSynchronize();
    s->error = ran ? ran : left;
    if (s->error == cudaErrorNotReady) s->error = cudaSuccess; /* an answer to a query, not an error */
    if (s->error && s->counted && s->heard.failed.name) s->error = s->heard.failed.error; /* the first comes first */
    if (!s->error) return true;
    s->mistake = NO_MISTAKE; /* this is the cause of any other */
    mistaken(s, A_CALL_FAILED, "%s after %s", cudaGetErrorName(s->error), after);
    return false;
}

static void stage(const session *s, const char *call) {
    if (s->counted) lab_stage("your %s (%dx%d)", call, s->rows, s->cols);
}

static void begin(session *s) {
    if (s->counted) lab_count_begin(s->counted);
    if (s->counted) heard_begin(&s->heard, s->d_plate);
}

static void end(session *s) {
    if (s->counted) heard_end();
    if (s->counted) lab_count_end();
    lab_stage("the harness, after a call of yours");
}

static void allocate(session *s) {
    for (int i = 0; i < 2; i++) s->d_plate[i] = lab_alloc(count_of(s));
    s->host = malloc(bytes_of(s));
    if (!s->host) lab_die("out of memory");
}

static void release(session *s) {
    for (int i = 0; i < 2; i++) lab_free(s->d_plate[i]);
    free(s->host);
    s->host = NULL;
}

bool session_setup(session *s) {
    lab_use(s->program);
    allocate(s);
    s->solves = s->checked = 0;
    s->message =
        (struct lab8_message){.what = LAB8_SETUP, .rows = s->rows, .cols = s->cols, .every = s->every, .most = s->most};
    stage(s, "setup");
    begin(s);
    lab_play(s->program, &s->message, sizeof s->message, NULL, 0);
    const bool alive = is_alive(s, "setup");
    end(s);
    return alive;
}

/* Puts fresh cells on the plate that the next solve gets. */
static void prepare_solve(session *s) {
    s->seed++;
    float *d_plate = s->d_plate[s->solves++ % 2];
    plate p = fresh_plate(s, s->seed);
    LAB_CUDA(cudaMemcpy(d_plate, p.cells, bytes_of(s), cudaMemcpyHostToDevice));
    LAB_CUDA(cudaDeviceSynchronize());
    plate_free(&p);
    s->message = (struct lab8_message){
        .what = LAB8_SOLVE, .plate = (uint64_t)d_plate, .checks = s->most / s->every, .tolerance = s->tolerance};
    stage(s, "solve");
}

bool session_solve(session *s, float tolerance) {
    s->tolerance = tolerance;
    prepare_solve(s);
    begin(s);
    lab_play(s->program, &s->message, sizeof s->message, &s->reply, sizeof s->reply);
    const bool alive = is_alive(s, "solve");
    end(s);
    if (alive && s->counted) check_solve(s);
    return alive;
}

bool session_cleanup(session *s) {
    s->message = (struct lab8_message){.what = LAB8_CLEANUP};
    stage(s, "cleanup");
    begin(s);
    lab_play(s->program, &s->message, sizeof s->message, NULL, 0);
    const bool alive = is_alive(s, "cleanup");
    end(s);
    if (alive) release(s);
    return alive;
}

/* --- for the timing helper ------------------------------------------------------------------------- */

#define FIRST_CHECK 1e9f /* a tolerance that any residual meets */

/* setup, and a first solve up to its first check: what a program prepares late, it has prepared then. */
static void prepare(void *context) {
    session *s = context;
    const char *counted = s->counted;
    s->counted = NULL;
    s->seed = lab_fresh_seed();
    const bool alive = session_setup(s) && session_solve(s, FIRST_CHECK);
    s->counted = counted;
    if (!alive) return;
    s->tolerance = 0;
    prepare_solve(s);
    begin(s);
    s->begin = lab_now();
}

static void verify(void *context) {
    session *s = context;
    s->end = lab_now();
    end(s);
    const char *counted = s->counted;
    if (counted || s->judged) check_solve(s);
    s->counted = NULL; /* what was heard stays */
    session_cleanup(s);
    s->counted = counted;
}

session *session_new(lab_program *program, const char *counted, int rows, int cols, int every, int most) {
    session *s = lab_hide(sizeof *s);
    *s = (session){.program = program, .counted = counted, .rows = rows, .cols = cols, .every = every, .most = most};
    s->seed = lab_fresh_seed();
    s->work = (lab_work){program, prepare, verify, s, &s->message, sizeof s->message, &s->reply, sizeof s->reply, NULL};
    return s;
}
