/* bench.cuh — `--bench`: starter, rungs and reference as TSV, for the handout's table and for the curious.
 *
 * `us` is the time of a step once the loop has got going; `share` is the kernels' own time over it: 1 is the speed of
 * light, and no other number of this lab says better how blue the bar is. `idle launches`: parts of a step (of four)
 * that found the GPU with nothing to do.
 */
#ifndef BENCH_CUH
#define BENCH_CUH

#include "job.cuh"
#include "rungs.cuh"

extern "C" int starter_train(const struct lab5_job *job, float *losses);
extern "C" int reference_train(const struct lab5_job *job, float *losses);

typedef struct {
    const char *name;
    train_fn fn;
} bench_entry;

static const bench_entry bench_entries[] = {
    {"starter", starter_train},
    {"less one sync", rung_less_one_sync},
    {"tidy", rung_tidy},
    {"pinned", rung_pinned},
    {"seldom", rung_seldom},
    {"yours", train},
    {"reference", reference_train},
    {"kernels alone", rung_kernels_alone},
};

/* --- a loop as the timing helper sees it ------------------------------------------------------- */

typedef struct {
    train_fn fn;
    shape s;
    int steps;
    job last;
} timed_loop;

static void new_run(void *context) {
    timed_loop *l = (timed_loop *)context;
    l->last = job_new(l->fn, NULL, l->s, l->steps);
}

static void whole_run(void *context) { job_run(&((timed_loop *)context)->last, false); }

/* Of a step, once the loop has got going: the job's own clock. */
static double step_took(void *context) { return ((const timed_loop *)context)->last.us; }

static lab_work work_of(timed_loop *l) {
    lab_work w = {new_run, whole_run, NULL, l, step_took};
    return w;
}

/* Microseconds a step: the median of some runs. */
static double step_time(timed_loop *l) {
    lab_timer how = {LAB_HOST_CLOCK, 0, 5, false};
    lab_work w = work_of(l);
    lab_time t = lab_time_work(how, &w);
    if (l->last.error) lab_die("a loop of the harness failed: %s", cudaGetErrorString(l->last.error));
    return t.median;
}

/* Each kernel twice, for a profiler to count. */
static void ladder(shape s) {
    static timed_loop alone;
    alone = {rung_kernels_alone, s, 2, {}};
    step_time(&alone);
}

static void bench(shape s, int steps) {
    static timed_loop l;
    l = {rung_kernels_alone, s, steps, {}};
    lab_floor light = {"kernels", step_time(&l)};
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("# %d features, %d hidden units, batches of %d, %d steps\n", s.features, s.hidden, s.batch, steps);
    printf("program\tus\tshare\tidle launches\n");
    for (size_t i = 0; i < sizeof bench_entries / sizeof *bench_entries; i++) {
        l.fn = bench_entries[i].fn;
        double us = step_time(&l);
        printf("%s\t%.1f\t%.3f\t%.1f\n", bench_entries[i].name, us, lab_share(us, light), l.last.idle_launches);
        fflush(stdout);
    }
}

#endif
