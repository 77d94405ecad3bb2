/* bench.c — lab 1's ladder in each of the three ways, as TSV, for the handout's table and for the curious (`--bench`);
 * and its kernel once, for a profiler to count (`--ladder`). A program's time runs from the first load to the last
 * take; `share` is its rate over the link's.
 */
#include "lab.h"
#include "rates.h"

#include <stdio.h>

static const struct rung {
    const char *name;
    lab_who who;
} rungs[] = {
    {"starter", LAB_STARTER},   {"pin_each", LAB_LADDER}, {"reuse", LAB_LADDER},        {"pin_once", LAB_LADDER},
    {"one_stream", LAB_LADDER}, {"pin_all", LAB_LADDER},  {"reference", LAB_REFERENCE}, {"yours", LAB_MINE},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

/* Returns the time outside of the loop, in ms. */
static double bench_row(const struct rung *g, lab_program *program, enum way way, const char *name, double link) {
    const double bytes = run_bytes(way_job(program, way));
    double around_us = 0;
    bool right = true;
    double gbs = way_rate(program, way, &around_us, &right);
    if (right)
        printf("%s\t%s\t%.1f\t%.2f\t%.3f\n", name, g->name, bytes / gbs / 1e3, gbs, gbs / link);
    else
        printf("%s\t%s\twrong\t\t\n", name, g->name);
    return around_us / 1e3;
}

static void bench_way(enum way way, const char *name, lab_program **programs, double *around) {
    const double link = link_rate(way);
    for (int i = 0; i < RUNGS; i++) {
        around[i] = bench_row(&rungs[i], programs[i], way, name, link);
        if (i == RUNGS - 1)
            printf("%s\tlink\t%.1f\t%.2f\t1.000\n", name, run_bytes(way_job(programs[i], way)) / link / 1e3, link);
        fflush(stdout);
    }
}

void lab_bench(void) {
    static const char *const names[WAYS] = {"to device", "to host", "both ways"};
    lab_program *programs[RUNGS];
    double around[RUNGS];
    for (int i = 0; i < RUNGS; i++)
        programs[i] = lab_open(rungs[i].who, rungs[i].who == LAB_LADDER ? rungs[i].name : NULL);
    const run *shape = way_job(programs[0], BOTH);
    printf("# lane %s, device %s, %d batches of %zu MiB\nway\tprogram\tus\tGB/s\tshare\n", lab_lane_name(),
           lab_device_name(), shape->message.batches, (size_t)shape->message.in_bytes >> 20);
    for (int w = 0; w < WAYS; w++) bench_way((enum way)w, names[w], programs, around);
    printf("# before the first load and after the last take, both ways, ms:");
    for (int i = 0; i < RUNGS; i++)
        if (rungs[i].who != LAB_MINE) printf("%s %s %.1f", i ? "," : "", rungs[i].name, around[i]);
    printf("\n");
}

/* A short job through the reference, so that a profiler sees the kernel. */
void lab_ladder(void) {
    if (run_once(run_new(lab_open(LAB_REFERENCE, NULL), 2, 1 << 20, 1 << 20, false), false, false))
        lab_die("the reference failed");
}
