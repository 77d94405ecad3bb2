/* times.cuh — how long your code takes beside the starter, the reference, and a kernel that only reads the same bytes;
 * and what that is worth.
 */
#ifndef TIMES_CUH
#define TIMES_CUH

#include "lab.h"
#include "job.cuh"
#include "rungs.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "5.13 ms", "12.4 us" */
static const char *span(char *to, double us) {
    snprintf(to, 32, us >= 1000 ? "%.2f ms" : "%.1f us", us >= 1000 ? us / 1000 : us);
    return to;
}

/* Microseconds of another program on a job like this one. */
static double time_of(const program *p, const job *like, int repetitions) {
    asked_length = like->longest;
    job j = job_new(p, NULL, like->array, like->count, like->length, JOB_ALIGNED, like->shape);
    lab_timer how = {LAB_HOST_CLOCK, 1, repetitions, true};
    lab_work w = work_of(&j);
    lab_time t = lab_time_work(how, &w);
    job_free(&j);
    if (t.error) lab_die("a kernel of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

/* Only reading the floats of the job, as one array. */
static double time_of_reading(const job *like, int repetitions) {
    static const program reading = {rung_read, NULL, NULL};
    job one = *like;
    one.array = true, one.count = 1, one.length = just_length, one.longest = (int)like->floats;
    return time_of(&reading, &one, repetitions);
}

/* --- the sim lane: a multiple of the time that reading takes ---------------------------------- */

static double launches_of(const lab_line *l) { return l->launches; }
static double wavefronts_of(const lab_line *l) { return l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts; }
static double barriers_of(const lab_line *l) { return l->c.barriers; }
/* The line that started the most kernels: lab_line counts the copies and fills of a line, too. The gpu lane has no
 * events, and there ncu has seen nothing but kernels. */
static const lab_line *busiest_launch(const lab_usage *u) {
    if (!u->nevents) return lab_worst(u, launches_of);
    const lab_line *busiest = NULL;
    int most = 0;
    for (int i = 0; i < u->nlines; i++) {
        const lab_line *l = &u->lines[i];
        int n = 0;
        for (int k = 0; k < u->nevents; k++)
            n += u->events[k].line == l->line && !strcmp(u->events[k].kind, "launch") &&
                 !strcmp(u->events[k].file, l->file);
        if (n > most) most = n, busiest = l;
    }
    return busiest;
}
static double traffic_of(const lab_line *l) { return l->c.ld_sectors + wavefronts_of(l) + barriers_of(l); }

/* All microseconds. */
static void grade_virtual_time(const char *id, double you, double start, double reference, double light,
                               const lab_usage *u) {
    char a[32], b[32], c[32];
    lab_grade(id, you / light);
    lab_value(id, "%s", span(a, you));
    lab_want(id, "start %s · reference %s · reading %s", span(a, start), span(b, reference), span(c, light));
    if (lab_passed(id)) return;
    lab_blame(id, u->launches > 2 ? busiest_launch(u) : lab_worst(u, traffic_of));
    lab_why(id, "%.2f times reading, want ≤ 1.2%s%s", you / light, u->why[0] ? "; the slowest kernel: " : "", u->why);
}

/* --- the gpu lane: a share of the reference's gain -------------------------------------------- */

/* The share of the reference's gain over the starter, on a logarithmic scale, from interleaved runs. */
static void grade_time(const char *id, job *student) {
    const job *l = student;
    asked_length = l->longest;
    job start = job_new(&starter, NULL, l->array, l->count, l->length, JOB_ALIGNED, l->shape);
    job ref = job_new(&reference, NULL, l->array, l->count, l->length, JOB_ALIGNED, l->shape);
    lab_work you = work_of(student), s = work_of(&start), r = work_of(&ref);
    lab_timer how = {LAB_HOST_CLOCK, 2, 1, true};
    lab_duel gain = lab_time_duel(how, &s, &r, 9), duel = {};
    if (!(gain.ratio > 1)) return lab_skip(id, "on this card the reference is no faster than the starter");
    double value = 0, lo = 0, hi = 0;
    for (int pairs = 15; pairs <= 31; pairs += 16) { /* a close call is measured again, longer */
        duel = lab_time_duel(how, &r, &you, pairs);
        value = 1 + log(duel.ratio) / log(gain.ratio);
        lo = 1 + log(duel.lo) / log(gain.ratio);
        hi = 1 + log(duel.hi) / log(gain.ratio);
        if (!(lo < 0.95 && hi >= 0.95)) break;
    }
    char a[32], b[32], c[32];
    if (value < 0.95) lab_why(id, "%.2f of the reference's gain, want ≥ 0.95", value);
    lab_grade_interval(id, value, lo, hi); /* says so if it is inconclusive */
    lab_value(id, "%s", span(a, duel.b));
    lab_want(id, "start %s · reference %s · reading %s", span(a, gain.a), span(b, duel.a),
             span(c, time_of_reading(student, 9)));
    job_free(&start);
    job_free(&ref);
}

#endif
