/* bench.c — `--bench`: starter, rungs and reference by size of the plate, as TSV, for the handout's tables and for the
 * curious: microseconds of a step, all in all, in a second solve of 1000 steps (sim lane: 100) with a check each 50.
 * `--ladder`: a solve of four steps by each program, for a profiler to count.
 */
#include "lab.h"
#include "session.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    lab_who who;
    const char *rung;
} programs[] = {
    {"starter", LAB_STARTER, NULL},           {"seldom", LAB_LADDER, "seldom"},
    {"graph", LAB_LADDER, "graph"},           {"graph, early", LAB_LADDER, "early"},
    {"persistent", LAB_LADDER, "persistent"}, {"tile", LAB_LADDER, "tile"},
    {"reference", LAB_REFERENCE, NULL},       {"yours", LAB_MINE, NULL},
    {"sums alone", LAB_LADDER, "sums"},
};
enum { PROGRAMS = sizeof programs / sizeof *programs, EVERY = 50 };

/* Launches that overlap are a card's alone, and nvcc's. */
static bool is_here(int i) {
    if (programs[i].who != LAB_LADDER || strcmp(programs[i].rung, "early") != 0) return true;
    return lab_lane() == LAB_GPU && lab_has_rung("early");
}

/* Microseconds of a step; 0 when CUDA reports an error. Each program has one session, of one shape after the other. */
static double time_of(int i, int side, int steps) {
    static session *of[PROGRAMS];
    if (!of[i]) of[i] = session_new(lab_open(programs[i].who, programs[i].rung), NULL, side, side, EVERY, steps);
    of[i]->rows = of[i]->cols = side;
    const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 2, 9, false}, &of[i]->work);
    return t.error ? 0 : t.median / steps;
}

void lab_bench(void) {
    static const int card[] = {64, 128, 256, 512, 1024, 2048, 0}, here[] = {64, 256, 0};
    const bool small = lab_small_job();
    const int *side = small ? here : card, steps = small ? 100 : 1000;
    printf("# lane %s, device %s\n# us a step, %d steps, a check each %d\n", lab_lane_name(), lab_device_name(), steps,
           EVERY);
    printf("side\tprogram\tus\n");
    for (; *side; side++)
        for (int i = 0; i < PROGRAMS; i++) {
            if (!is_here(i)) continue;
            printf("%d\t%s\t%.2f\n", *side, programs[i].name, time_of(i, *side, steps));
            fflush(stdout);
        }
}

/* Few steps: the profiler takes milliseconds for each launch. */
void lab_ladder(void) {
    enum { SIDE = 256, FEW = 4 };
    for (int i = 0; i < PROGRAMS; i++) {
        if (programs[i].who == LAB_MINE || !is_here(i)) continue;
        session *s = session_new(lab_open(programs[i].who, programs[i].rung), NULL, SIDE, SIDE, FEW, FEW);
        if (session_setup(s) && session_solve(s, 0)) session_cleanup(s);
    }
}
