/* bench.c — `--bench`: starter, rungs and reference as TSV, for the handout's table and for the curious; and the
 * network's kernels twice each, for a profiler to count (`--ladder`).
 *
 * `us` is the time of a step once the loop has got going; `share` is the kernels' own time over it: 1 is the speed of
 * light, and no other number of this lab says better how blue the bar is. `idle launches`: parts of a step (of four)
 * that found the GPU with nothing to do.
 */
#include "lab.h"
#include "training.h"

#include <stdio.h>

static const struct {
    const char *name;
    lab_who who;
    const char *rung;
} programs[] = {
    {"starter", LAB_STARTER, NULL},     {"less one sync", LAB_LADDER, "less_one_sync"},
    {"tidy", LAB_LADDER, "tidy"},       {"pinned", LAB_LADDER, "pinned"},
    {"seldom", LAB_LADDER, "seldom"},   {"yours", LAB_MINE, NULL},
    {"reference", LAB_REFERENCE, NULL}, {"kernels alone", LAB_LADDER, "kernels_alone"},
};

static const shape small = {384, 32, 32, 0, 40000}, large = {1024, 1024, 512, 0, 0}; /* as the harness has them */

void lab_bench(void) {
    const bool brief = lab_small_job();
    const shape s = brief ? small : large;
    const int steps = brief ? 15 : 192;
    const lab_floor light = {"kernels",
                             training_time(training_new(lab_open(LAB_LADDER, "kernels_alone"), NULL, s, steps))};
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("# %d features, %d hidden units, batches of %d, %d steps\n", s.features, s.hidden, s.batch, steps);
    printf("program\tus\tshare\tidle launches\n");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        training *t = training_new(lab_open(programs[i].who, programs[i].rung), NULL, s, steps);
        double us = training_time(t);
        printf("%s\t%.1f\t%.3f\t%.1f\n", programs[i].name, us, lab_share(us, light), t->idle_launches);
        fflush(stdout);
    }
}

void lab_ladder(void) { training_time(training_new(lab_open(LAB_LADDER, "kernels_alone"), NULL, small, 2)); }
