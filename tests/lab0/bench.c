/* bench.c — the ceilings of lab 0, and its four trials as the starter, the reference and the clock have them, as TSV
 * (`--bench`). */
#include "lab.h"
#include "machine.h"
#include "questions.h"

#include <math.h>
#include <stdio.h>

static void bench_ceilings(const struct machine *m, lab_program *reference, struct sheet s) {
    const struct lab0_question memory = {.function = SHEET_BYTES, .s = s}, fp32 = {.function = SHEET_FLOPS, .s = s};
    printf("ceiling\tvalue\tunit\n");
    printf("page-locked, to the card\t%.1f\tGB/s\npage-locked, to the host\t%.1f\tGB/s\n", m->up, m->down);
    printf("pageable, to the card\t%.1f\tGB/s\npageable, to the host\t%.1f\tGB/s\n", m->pageable_up, m->pageable_down);
    printf("device memory, read\t%.0f\tGB/s\ndevice memory, copied\t%.0f\tGB/s\n", m->dram_read, m->dram_copy);
    printf("L2 cache\t%.0f\tGB/s\nshared memory\t%.0f\tGB/s\n", m->l2, m->shared);
    printf("fp32 arithmetic\t%.0f\tGflop/s\n", m->fp32);
    printf("one more launch\t%.2f\tus\nlaunch and wait\t%.2f\tus\n", m->launch_us, m->wait_us);
    printf("wait for nothing\t%.2f\tus\none addition\t%.2f\tus\n", m->sync_us, m->one_flop_us);
    printf("data sheet, device memory\t%.0f\tGB/s\n", ask(reference, &memory).a / 1e3);
    printf("data sheet, fp32\t%.0f\tGflop/s\n", ask(reference, &fp32).a / 1e3);
}

void lab_bench(void) {
    static const char *const names[] = {"one-flop", "send", "copy", "fma"};
    struct bench_bed bed = bed_new();
    struct machine m = bed_measure(&bed);
    struct sheet s = this_sheet();
    lab_program *starter = lab_open(LAB_STARTER, NULL), *reference = lab_open(LAB_REFERENCE, NULL);
    bench_ceilings(&m, reference, s);
    for (int t = 0; t < TRIALS; t++) {
        long amount = trial_amount((enum trial)t, &bed);
        const struct lab0_question q = {
            .function = PREDICT_US, .trial = (enum trial)t, .n = trial_n((enum trial)t, &bed, amount), .s = s};
        printf("%s: measured\t%.2f\tus\n", names[t], trial_time((enum trial)t, &bed, amount));
        printf("%s: starter\t%.3f\tus\n", names[t], ask(starter, &q).a);
        double predicted = ask(reference, &q).a;
        printf(isfinite(predicted) ? "%s: reference\t%.2f\tus\n" : "%s: reference\tn/a\tus\n", names[t], predicted);
    }
    printf("# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    bed_free(&bed);
}

/* The kernels are the harness's own: a profiler has nothing to compare. */
void lab_ladder(void) {}
