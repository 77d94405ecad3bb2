/* timing.c — how long a piece of work takes, said with its spread, the same way in both lanes.
 *
 * What is inside the window: the call and everything it started, because the window closes after cudaDeviceSynchronize.
 * Work on another stream or thread of the device cannot hide behind it. What is outside: fresh data, poison, the flush
 * of L2, checking. In the sim lane the clock is virtual and without noise: one repetition, no warm-up, no flush.
 */
#include "lab_internal.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_REPETITIONS = 255 };

/* --- one measurement -------------------------------------------------------------------------- */

/* Microseconds of one run of the work. */
static double run_once(lab_timer how, const lab_work *w, cudaError_t *error) {
    static cudaEvent_t begin, end;
    if (!begin) {
        LAB_CUDA(cudaEventCreate(&begin));
        LAB_CUDA(cudaEventCreate(&end));
    }
    if (w->prepare) w->prepare(w->context);
    if (how.flush) lab_flush_l2();
    LAB_CUDA(cudaDeviceSynchronize());
    void (*work)(void *) = w->work; /* read now: w may lie in what is locked */
    void *context = w->context;
    lab_lock();
    double t0 = lab_now();
    if (how.clock == LAB_DEVICE_CLOCK) LAB_CUDA(cudaEventRecord(begin, 0));
    work(context);
    cudaError_t launched = cudaGetLastError();
    if (how.clock == LAB_DEVICE_CLOCK) cudaEventRecord(end, 0);
    cudaError_t ran = cudaDeviceSynchronize();
    double us = (lab_now() - t0) / 1e3;
    lab_unlock();
    *error = launched ? launched : ran;
    if (*error) return 0;
    if (how.clock == LAB_DEVICE_CLOCK) {
        float ms;
        LAB_CUDA(cudaEventElapsedTime(&ms, begin, end));
        us = ms * 1e3;
    }
    if (w->verify) w->verify(w->context);
    return us;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static int limited(int n) { return n < 1 ? 1 : n > MAX_REPETITIONS ? MAX_REPETITIONS : n; }

lab_time lab_time_work(lab_timer how, const lab_work *work) {
    double samples[MAX_REPETITIONS] = {0};
    lab_time t = {.repetitions = lab_lane() == LAB_SIM ? 1 : limited(how.repetitions)};
    int warmup = lab_lane() == LAB_SIM ? 0 : how.warmup;
    for (int i = 0; i < warmup && !t.error; i++) run_once(how, work, &t.error);
    for (int i = 0; i < t.repetitions && !t.error; i++) samples[i] = run_once(how, work, &t.error);
    if (t.error) return t;
    t.median = median(samples, t.repetitions);
    t.low = samples[0];
    t.high = samples[t.repetitions - 1];
    return t;
}

/* --- two against each other ------------------------------------------------------------------- */

/* The k-th smallest and k-th largest of n ratios enclose the true median with at least 95.7 %, whatever the noise looks
 * like (exact binomial). */
static int interval_rank(int n) { return n >= 63 ? 24 : n >= 31 ? 10 : n >= 15 ? 4 : n >= 9 ? 2 : 1; }

lab_duel lab_time_duel(lab_timer how, const lab_work *a, const lab_work *b, int pairs) {
    double ratio[MAX_REPETITIONS] = {0}, ta[MAX_REPETITIONS] = {0}, tb[MAX_REPETITIONS] = {0};
    lab_duel d = {.pairs = lab_lane() == LAB_SIM ? 1 : limited(pairs)};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < how.warmup && lab_lane() == LAB_GPU; i++) {
        run_once(how, a, &error);
        run_once(how, b, &error);
    }
    for (int i = 0; i < d.pairs; i++) {
        cudaError_t ea, eb;
        if (i % 2 == 0) ta[i] = run_once(how, a, &ea);
        tb[i] = run_once(how, b, &eb);
        if (i % 2 == 1) ta[i] = run_once(how, a, &ea);
        if (ea || eb) return (lab_duel){.ratio = NAN, .lo = NAN, .hi = NAN};
        ratio[i] = ta[i] / tb[i];
    }
    d.ratio = median(ratio, d.pairs); /* sorts */
    int rank = interval_rank(d.pairs);
    d.lo = ratio[rank - 1];
    d.hi = ratio[d.pairs - rank];
    d.a = median(ta, d.pairs);
    d.b = median(tb, d.pairs);
    return d;
}
