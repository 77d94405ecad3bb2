/* times.cuh — how long your code takes beside the starter, the reference, and a kernel that only reads the same bytes;
 * and what that is worth.
 */
#ifndef TIMES_CUH
#define TIMES_CUH

#include "lab.h"
#include "job.cuh"
#include "rungs.cuh"

#include <string.h>

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

/* No mean can be had without reading: the floats of the job, as one array. */
static lab_floor reading_floor(const job *like, int repetitions) {
    static const program reading = {rung_read, NULL, NULL};
    job one = *like;
    one.array = true, one.count = 1, one.length = just_length, one.longest = (int)like->floats;
    lab_floor floor = {"reading", time_of(&reading, &one, repetitions)};
    return floor;
}

/* --- the sim lane: a multiple of the time that reading takes ---------------------------------- */

static double launches_of(const lab_line *l) { return l->launches; }
static double wavefronts_of(const lab_line *l) { return l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts; }
static double barriers_of(const lab_line *l) { return l->c.barriers; }
static double traffic_of(const lab_line *l) { return l->c.ld_sectors + wavefronts_of(l) + barriers_of(l); }

/* All microseconds. */
static void grade_virtual_time(const char *id, double you, double start, double reference, lab_floor light,
                               const lab_usage *u) {
    lab_grade(id, you / light.us);
    lab_value(id, "%s", lab_us(you));
    lab_want(id, "start %s · reference %s · reading %s", lab_us(start), lab_us(reference), lab_us(light.us));
    if (!lab_possible(id, you, light) || lab_passed(id)) return;
    lab_blame(id, u->launches > 2 ? lab_worst(u, launches_of) : lab_worst(u, traffic_of));
    char slowest[320];
    lab_why(id, "%.2f times reading, want ≤ 1.2%s", you / light.us, lab_say_slowest(u, slowest, sizeof slowest));
}

/* --- the gpu lane: a share of the reference's gain -------------------------------------------- */

/* The share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(const char *id, job *student) {
    const job *l = student;
    asked_length = l->longest;
    job start = job_new(&starter, NULL, l->array, l->count, l->length, JOB_ALIGNED, l->shape);
    job ref = job_new(&reference, NULL, l->array, l->count, l->length, JOB_ALIGNED, l->shape);
    lab_work you = work_of(student), s = work_of(&start), r = work_of(&ref);
    lab_timer how = {LAB_HOST_CLOCK, 2, 1, true};
    lab_grade_gain(id, how, &s, &r, &you, reading_floor(student, 9));
    job_free(&start);
    job_free(&ref);
}

#endif
