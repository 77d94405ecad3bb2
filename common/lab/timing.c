/* timing.c — the time of a piece of work with its spread, the same way in both lanes.
 *
 * The window holds the call and everything it started. The host's window closes after cudaDeviceSynchronize, so no
 * stream or thread of the device can hide work behind it. The device's closes with an event, and then we check that the
 * device is idle. Fresh data, poison, the flush of L2 and checking lie outside the window.
 */
#include "lab_internal.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_REPETITIONS = 255 };

/* --- samples ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The k-th smallest and k-th largest of n samples enclose the true median with at least 95.7 %, whatever the noise
 * looks like (exact binomial). */
static int interval_rank(int n) { return n >= 63 ? 24 : n >= 31 ? 10 : n >= 15 ? 4 : n >= 9 ? 2 : 1; }

lab_middle lab_middle_of(double *samples, int n) {
    lab_middle m = {.median = median(samples, n)}; /* sorts */
    m.lo = samples[interval_rank(n) - 1];
    m.hi = samples[n - interval_rank(n)];
    return m;
}

/* --- one measurement -------------------------------------------------------------------------- */

typedef struct {
    double us;
    double late; /* device clock: how long the device still worked when the closing event had passed */
    cudaError_t error;
} sample;

/* Microseconds of a wait for the device; on an idle device, the cost of the call. */
static double wait_us(cudaError_t *error) {
    double t0 = lab_now();
    *error = cudaDeviceSynchronize();
    return (lab_now() - t0) / 1e3;
}

static sample run_once(lab_timer how, const lab_work *w) {
    cudaEvent_t begin = NULL, end = NULL;
    const bool events = how.clock == LAB_DEVICE_CLOCK;
    sample s = {.us = 0};
    cudaError_t idle;
    lab_use(w->program);
    if (events) {
        LAB_CUDA(cudaEventCreate(&begin));
        LAB_CUDA(cudaEventCreate(&end));
    }
    if (w->prepare) w->prepare(w->context);
    if (how.flush) lab_flush_l2();
    lab_warm_code();
    LAB_CUDA(cudaDeviceSynchronize());
    if (events) lab_hold_device(); /* or the host's time for a launch would count */
    lab_entry **entry;
    void *reply = w->reply; /* read now: w may lie in what is locked */
    const size_t reply_size = w->reply_size;
    lab_play_begin(w->program, w->message, w->size, &entry);
    double t0 = lab_now();
    if (events) LAB_CUDA(cudaEventRecord(begin, 0));
    lab_play_run(entry);
    cudaError_t launched = cudaGetLastError(), ran;
    if (events) cudaEventRecord(end, 0), cudaEventSynchronize(end);
    double waited = wait_us(&ran);
    s.us = (lab_now() - t0) / 1e3;
    lab_play_end(reply, reply_size);
    s.error = launched ? launched : ran;
    if (s.error) return s;
    if (events) {
        float ms;
        LAB_CUDA(cudaEventElapsedTime(&ms, begin, end));
        s.us = ms * 1e3;
        s.late = waited - wait_us(&idle);
    }
    if (w->verify) w->verify(w->context);
    if (w->took) s.us = w->took(w->context);
    if (events) {
        LAB_CUDA(cudaEventDestroy(begin));
        LAB_CUDA(cudaEventDestroy(end));
    }
    return s;
}

static int limited(int n) { return n < 1 ? 1 : n > MAX_REPETITIONS ? MAX_REPETITIONS : n; }

/* Says why there is no time, if the device still worked when the clock had stopped. A virtual clock shows the least
 * delay; any disturbance may hold up a card's host for some microseconds. */
static bool too_late(double late, char *refused, size_t size) {
    if (!(late > (lab_lane() == LAB_SIM ? 0.1 : 20))) return false;
    lab_text(refused, size,
             "not timed: when the clock had stopped, the device still worked for %s. "
             "Wait for your own streams, or let stream 0 wait for them, before you return",
             lab_us(late));
    return true;
}

lab_time lab_time_work(lab_timer how, const lab_work *work) {
    double us[MAX_REPETITIONS] = {0}, late[MAX_REPETITIONS] = {0};
    lab_time t = {.repetitions = lab_lane() == LAB_SIM ? 1 : limited(how.repetitions)};
    int warmup = lab_lane() == LAB_SIM ? 0 : how.warmup;
    for (int i = -warmup; i < t.repetitions; i++) {
        sample s = run_once(how, work);
        t.error = s.error;
        if (t.error) return t;
        if (i < 0) continue;
        us[i] = s.us;
        late[i] = s.late;
    }
    if (too_late(median(late, t.repetitions), t.refused, sizeof t.refused)) return t;
    lab_middle m = lab_middle_of(us, t.repetitions);
    t.median = m.median, t.lo = m.lo, t.hi = m.hi;
    return t;
}

double lab_time_ours(lab_timer how, const lab_work *work) {
    const lab_time t = lab_time_work(how, work);
    if (t.error) lab_die("a program of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

/* --- two against each other ------------------------------------------------------------------- */

typedef struct {
    double us, late;
} side; /* means of one round */

/* Plays a b b a, or in the sim lane a b, until one fails; *first says whether that is a. A run may find in a cache what
 * the run before it has left, if that was of the same program; in a b b a, behind another a, this happens to both
 * alike. */
static cudaError_t run_round(lab_timer how, const lab_work *a, const lab_work *b, side *of_a, side *of_b, bool *first) {
    const lab_work *const order[] = {a, b, b, a};
    const int runs = lab_lane() == LAB_SIM ? 2 : 4;
    *of_a = *of_b = (side){0};
    for (int i = 0; i < runs; i++) {
        const sample s = run_once(how, order[i]);
        *first = i % 3 == 0;
        if (s.error) return s.error;
        side *to = *first ? of_a : of_b;
        to->us += s.us * 2 / runs;
        to->late += s.late * 2 / runs;
    }
    return cudaSuccess;
}

lab_duel lab_time_duel(lab_timer how, const lab_work *a, const lab_work *b, int rounds) {
    double ratio[MAX_REPETITIONS], ta[MAX_REPETITIONS], tb[MAX_REPETITIONS], later[MAX_REPETITIONS];
    lab_duel d = {.rounds = lab_lane() == LAB_SIM ? 1 : limited(rounds), .ratio = NAN, .lo = NAN, .hi = NAN};
    for (int i = 0; i < how.warmup && lab_lane() == LAB_GPU; i++) {
        run_once(how, b);
        run_once(how, a);
    }
    for (int i = 0; i < d.rounds; i++) {
        side of_a, of_b;
        if ((d.error = run_round(how, a, b, &of_a, &of_b, &d.first))) return d;
        ratio[i] = of_a.us / of_b.us;
        ta[i] = of_a.us;
        tb[i] = of_b.us;
        later[i] = of_a.late - of_b.late; /* a machine that is busy delays both */
    }
    const double more = median(later, d.rounds);
    d.first = more > 0;
    if (too_late(fabs(more), d.refused, sizeof d.refused)) return d;
    lab_middle m = lab_middle_of(ratio, d.rounds);
    d.ratio = m.median, d.lo = m.lo, d.hi = m.hi;
    d.a = median(ta, d.rounds);
    d.b = median(tb, d.rounds);
    return d;
}

const char *lab_untimed(const lab_duel *d) {
    static char text[256];
    lab_text(text, sizeof text, d->error ? "not timed: %s" : "%s",
             d->error ? cudaGetErrorString(d->error) : d->refused);
    return text;
}

/* --- what a time means ------------------------------------------------------------------------ */

double lab_gbs(double bytes, double us) { return us > 0 ? bytes / us / 1e3 : 0; }
double lab_share(double us, lab_floor floor) { return us > 0 ? floor.us / us : 0; }

const char *lab_us(double us) {
    static char texts[8][32];
    static int turn;
    char *to = texts[turn = (turn + 1) % 8];
    lab_text(to, sizeof texts[0], us >= 1000 ? "%.2f ms" : "%.1f us", us >= 1000 ? us / 1000 : us);
    return to;
}

bool lab_possible(lab_verdict *v, double us, lab_floor floor) {
    if (!(us < 0.9 * floor.us)) return true;
    v->unmeasured = true; /* a time of something else: no gate and no next step says more */
    lab_fail(v, "%s is less than the floor, %s %s: some of the work was not done, or not while the clock ran",
             lab_us(us), floor.name, lab_us(floor.us));
    return false;
}

void lab_grade_gain(lab_verdict *v, lab_timer how, const lab_work *start, const lab_work *reference,
                    const lab_work *you, lab_floor floor) {
    const double full = v->row->full;
    lab_duel gain = lab_time_duel(how, start, reference, 3), duel = {0}; /* a factor of tens: three rounds will do */
    if (gain.error || gain.refused[0]) lab_die("a program of the harness was %s", lab_untimed(&gain));
    if (!(gain.ratio > 1)) return lab_skip(v, "on this card the reference is no faster than the starter");
    double value = 0, lo = 0, hi = 0;
    for (int rounds = 9; rounds <= 31; rounds += 22) { /* a close call is measured again, longer */
        duel = lab_time_duel(how, reference, you, rounds);
        if (duel.first && (duel.error || duel.refused[0])) lab_die("the reference was %s", lab_untimed(&duel));
        if (duel.error || duel.refused[0]) return lab_fail(v, "%s", lab_untimed(&duel));
        value = 1 + log(duel.ratio) / log(gain.ratio);
        lo = 1 + log(duel.lo) / log(gain.ratio);
        hi = 1 + log(duel.hi) / log(gain.ratio);
        if (!(lo < full && hi >= full)) break;
    }
    if (value < full) LAB_SAY(v->why, "%.2f of the reference's gain, want ≥ %.2f", value, full);
    lab_grade_interval(v, value, lo, hi); /* says so if it is inconclusive */
    lab_possible(v, duel.b, floor);
    lab_figure("time", duel.b, "us");
    lab_figure(floor.name, floor.us, "us");
    LAB_SAY(v->value_text, "%s", lab_us(duel.b));
    LAB_SAY(v->want, "start %s · reference %s · %s %s", lab_us(gain.a), lab_us(duel.a), floor.name, lab_us(floor.us));
}
