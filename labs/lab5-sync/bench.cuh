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

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds a step: the median of some runs on a card, one run where the clock has no noise. */
static double step_time(train_fn fn, shape s, int steps, job *last) {
    enum { RUNS = 5 };
    int runs = lab_lane() == LAB_SIM ? 1 : RUNS;
    double us[RUNS];
    for (int i = 0; i < runs; i++) {
        *last = job_new(fn, NULL, s, steps);
        job_run(last, false);
        if (last->error) lab_die("a loop of the harness failed: %s", cudaGetErrorString(last->error));
        us[i] = last->us;
    }
    qsort(us, (size_t)runs, sizeof *us, by_value);
    return us[runs / 2];
}

/* Each kernel twice, for a profiler to count. */
static void ladder(shape s) {
    static job j;
    step_time(rung_kernels_alone, s, 2, &j);
}

static void bench(shape s, int steps) {
    static job j;
    double light = step_time(rung_kernels_alone, s, steps, &j);
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("# %d features, %d hidden units, batches of %d, %d steps\n", s.features, s.hidden, s.batch, steps);
    printf("program\tus\tshare\tidle launches\n");
    for (size_t i = 0; i < sizeof bench_entries / sizeof *bench_entries; i++) {
        double us = step_time(bench_entries[i].fn, s, steps, &j);
        printf("%s\t%.1f\t%.3f\t%.1f\n", bench_entries[i].name, us, us > 0 ? light / us : 0, j.idle_launches);
        fflush(stdout);
    }
}

#endif
