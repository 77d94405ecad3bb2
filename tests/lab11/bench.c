/* bench.c — `--bench`: starter and reference by size of the network, as TSV, for the handout's tables and for the
 * curious: microseconds of a step, in a training of 48 steps (the starter: of one). `--ladder`: a step of the
 * reference, for a profiler to count.
 */
#include "lab.h"
#include "run.h"

#include <stdio.h>

static const struct {
    const char *name;
    lab_who who;
    int steps;
} programs[] = {{"starter", LAB_STARTER, 1}, {"reference", LAB_REFERENCE, 48}, {"yours", LAB_MINE, 48}};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static const shape sizes[] = {{32, 64, 32, 2, 0, 0.02f}, {64, 256, 64, 4, 0, 0.02f}, {64, 512, 128, 4, 0, 0.02f}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Microseconds of a step; 0 when CUDA reports an error. */
static double time_of(lab_program *program, shape s, int steps) {
    s.steps = steps;
    run *r = run_new(program, NULL, s, -1);
    const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 1, steps > 1 ? 9 : 3, false}, &r->work);
    return t.error ? 0 : t.median / steps;
}

/* The reader's program may be as slow as the starter, so a step tells whether there is time for more. */
static double time_of_yours(lab_program *program, shape s, double reference) {
    const double one = time_of(program, s, 1);
    return one > 40 * reference ? one : time_of(program, s, 48);
}

void lab_bench(void) {
    const bool small = lab_small_job();
    double reference = 0;
    printf("# lane %s, device %s\n# us a step; V x D: 32 x 32, 64 x 64, 64 x 128\n", lab_lane_name(),
           lab_device_name());
    printf("characters\tprogram\tus\n");
    for (int i = 0; i < (small ? 1 : SIZES); i++)
        for (int k = 0; k < PROGRAMS; k++) {
            lab_program *program = lab_open(programs[k].who, NULL);
            const double us = programs[k].who == LAB_MINE ? time_of_yours(program, sizes[i], reference)
                                                          : time_of(program, sizes[i], programs[k].steps);
            if (programs[k].who == LAB_REFERENCE) reference = us;
            printf("%d\t%s\t%.2f\n", sizes[i].context, programs[k].name, us);
            fflush(stdout);
        }
}

/* A step of the reference. The profiler takes milliseconds for each launch, too long for those of the starter. */
void lab_ladder(void) { time_of(lab_open(LAB_REFERENCE, NULL), sizes[0], 1); }
