/* bench.c — lab 2's `--bench`: every allocator of the lab on the same traces, as TSV, for the handout's table.
 *
 * The step is that of the training loop; `light` is the time with memory allocated beforehand over it, so 1 is the
 * speed of light. The ratios are peak reserved over peak live. A pair is one alloc and one free, on the host alone: no
 * kernel runs. The vendor's memory does not come from cudaMalloc, so its ratios are not known.
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>

/* Takes the trace. */
static double ratio_of(allocator *a, trace *t) {
    replay *r = replay_new(a, t);
    meter_reset(&a->meter);
    replay_pass(r);
    double ratio = (double)a->meter.peak / (double)r->peak_live;
    char text[256];
    if (replay_verdict(r) || r->fault.kind) lab_die("%s: %s", a->name, fault_text(r, text, sizeof text));
    replay_end(r);
    replay_free(r);
    free(t);
    return ratio;
}

/* The ratios come first, since a program's calls are not counted while it is timed. steps 0: its time is `least`. */
static void bench_row(allocator *a, uint64_t seed, int steps, double least) {
    double ratio[3] = {0};
    trace *t = trace_train(seed);
    if (!a->vendor) {
        ratio[0] = ratio_of(a, trace_train(seed));
        ratio[1] = ratio_of(a, trace_lengths(seed));
        ratio[2] = ratio_of(a, trace_holes(seed));
    }
    double us = steps ? time_of(a, t, steps) : least;
    printf("%s\t%.2f\t%.3f\t", a->name, us, least / us);
    if (a->vendor)
        printf("n/a\tn/a\tn/a\t");
    else
        printf("%.2f\t%.2f\t%.2f\t", ratio[0], ratio[1], ratio[2]);
    if (lab_lane() == LAB_GPU)
        printf("%.0f\n", pair_of(a, t));
    else
        printf("n/a\n");
    fflush(stdout);
    free(t);
}

void lab_bench(void) {
    const int steps = lab_small_job() ? SIM_STEPS : GPU_STEPS;
    const uint64_t seed = lab_fresh_seed();
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("allocator\tstep us\tlight\ttraining\tlengths\tholes\tpair ns\n");
    trace *t = trace_train(seed);
    allocator *light = allocator_open("bought beforehand", LAB_LADDER, "light", true);
    double least = time_of(light, t, steps);
    free(t);
    bench_row(allocator_open("starter", LAB_STARTER, NULL, false), seed, START_STEPS, least);
    bench_row(allocator_open("exact sizes", LAB_LADDER, "exact", false), seed, steps, least);
    bench_row(allocator_open("powers of two", LAB_LADDER, "classes", false), seed, steps, least);
    bench_row(allocator_open("reference", LAB_REFERENCE, NULL, false), seed, steps, least);
    bench_row(allocator_open("yours", LAB_MINE, NULL, false), seed, steps, least);
    bench_row(allocator_open("cudaMallocAsync", LAB_LADDER, "vendor", true), seed, steps, least);
    bench_row(light, seed, 0, least);
}

void lab_ladder(void) {} /* the kernels are the judge's own: nothing to count */
