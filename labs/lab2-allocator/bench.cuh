/* bench.cuh — `--bench`: every allocator of the lab on the same traces, as TSV, for the handout's table.
 *
 * The step is that of the training loop; `light` is the time with memory bought beforehand over it, so 1 is the speed
 * of light. The ratios are peak reserved over peak live. A pair is one alloc and one free, on the host alone: no kernel
 * runs. It is the best of up to 50 tries, within a second.
 * The vendor's memory does not pass our meter, so its calls and ratios are not known.
 */
#ifndef BENCH_CUH
#define BENCH_CUH

#include "rungs.cuh"

#include <stdio.h>

enum { START_STEPS = 20 }; /* each is like the others, and dear */

static double time_of(const allocator *a, const trace *t, int steps);

/* Nanoseconds of an alloc and a free, over the sizes and in the order of a training step. 0 in the sim lane, whose
 * clock does not see host code. */
static double bench_pair(const allocator *a, const trace *t) {
    enum { PASSES = 200, TRIES = 50 };
    double best = 0, spent = 0;
    replay *r = replay_new(a, t);
    r->checked = false;
    int pairs = 0;
    for (int i = 0; i < t->nops; i++) pairs += t->ops[i].kind == OP_ALLOC;
    for (int i = 0; i < TRIES && spent < 1e9; i++) {
        double begin = lab_now();
        for (int pass = 0; pass < PASSES; pass++)
            for (int k = 0; k < t->nops; k++)
                if (t->ops[k].kind == OP_ALLOC || t->ops[k].kind == OP_FREE) step(r, &t->ops[k]);
        double ns = lab_now() - begin;
        if (!i || ns < best) best = ns;
        spent += ns;
    }
    if (replay_verdict(r) || r->failure[0]) lab_die("%s: %s", a->name, r->failure);
    replay_end(r);
    replay_free(r);
    return best / PASSES / pairs;
}

static double bench_ratio(const allocator *a, trace *t) {
    replay *r = replay_new(a, t);
    meter_reset();
    replay_pass(r);
    double ratio = (double)meter.peak / (double)r->peak_live;
    if (replay_verdict(r) || r->failure[0]) lab_die("%s: %s", a->name, r->failure);
    replay_end(r);
    replay_free(r);
    free(t);
    return ratio;
}

static void bench_row(const allocator *a, uint64_t seed, int steps, double least) {
    trace *t = trace_train(seed);
    int own = a == &starter ? START_STEPS : steps;
    meter_reset();
    double us = a == &light ? least : time_of(a, t, own);
    if (a->vendor)
        printf("%s\t%.2f\t%.3f\tn/a\tn/a\tn/a\t", a->name, us, least / us);
    else
        printf("%s\t%.2f\t%.3f\t%.2f\t%.2f\t%.2f\t", a->name, us, least / us, bench_ratio(a, trace_train(seed)),
               bench_ratio(a, trace_lengths(seed)), bench_ratio(a, trace_holes(seed)));
    if (lab_lane() == LAB_GPU)
        printf("%.0f\n", bench_pair(a, t));
    else
        printf("n/a\n");
    fflush(stdout);
    free(t);
}

static void bench(uint64_t seed, int steps) {
    static const allocator *const all[] = {&starter, &exact_sizes, &power_classes, &reference, &yours, &vendor, &light};
    trace *t = trace_train(seed);
    double least = time_of(&light, t, steps);
    free(t);
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("allocator\tstep us\tlight\ttraining\tlengths\tholes\tpair ns\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) bench_row(all[i], seed, steps, least);
}

#endif
