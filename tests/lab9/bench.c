/* bench.c — lab 9's ladder by shape, as TSV, for the handout's table and for the curious (`--bench`); and each of its
 * kernels once, for a profiler to count (`--ladder`).
 *
 * Every kernel runs in turn with the roof (a b b a), timed from event to event on the device. `share` is the roof's
 * time over the kernel's: 1 would be a kernel of nothing but multiply-adds. GFLOP/s counts two operations for each of
 * them.
 */
#include "job.h"
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_ROUNDS = 9 };

static const struct rung {
    const char *name;
    lab_who who;
    bool edges; /* takes odd sides, too */
} rungs[] = {
    {"starter", LAB_STARTER, true}, {"coalesced", LAB_LADDER, true},   {"tile", LAB_LADDER, false},
    {"column", LAB_LADDER, false},  {"patch", LAB_LADDER, false},      {"wide", LAB_LADDER, false},
    {"warp", LAB_LADDER, false},    {"spilled", LAB_LADDER, false},    {"reference", LAB_REFERENCE, true},
    {"yours", LAB_MINE, true},      {"cublasSgemm", LAB_LADDER, true}, {"roof", LAB_LADDER, true},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

static const job_shape in_sim[] = {{2048, 1024, 64}, {1021, 1019, 35}, {0, 0, 0}};
static const job_shape on_card[] = {
    {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {2047, 2045, 2049}, {0, 0, 0}};

static const job_shape *shapes(void) { return lab_small_job() ? in_sim : on_card; }

/* Each program is opened once, since its statics belong to one device. */
static lab_program *program_of(int i) {
    static lab_program *open[RUNGS];
    if (!open[i]) open[i] = lab_open(rungs[i].who, rungs[i].who == LAB_LADDER ? rungs[i].name : NULL);
    return open[i];
}

static bool is_there(int i, const job_shape *s) {
    const bool whole = s->m % 128 == 0 && s->n % 128 == 0 && s->k % 32 == 0;
    return (whole || rungs[i].edges) && (rungs[i].who != LAB_LADDER || lab_has_rung(rungs[i].name));
}

static lab_work work_of(const job *j) {
    return (lab_work){.program = j->program, .message = &j->message, .size = sizeof j->message};
}

/* A fast kernel that is wrong has no time. */
static bool is_right(job *j) {
    lab_use(j->program);
    lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
    return job_is_right(j);
}

static double gflops(const job_shape *s, double us) { return 2.0 * s->m * s->n * s->k / us / 1e3; }

static void bench_rung(int i, const job_shape *s, const job *roof) {
    const lab_timer how = {LAB_DEVICE_CLOCK, 3, 1, false};
    job *j = job_new(program_of(i), NULL, s);
    job_prepare(j);
    const bool right = is_right(j); /* all rungs run once, so that each finds in L2 what it has left */
    if (strcmp(rungs[i].name, "roof") != 0 && !right) {
        printf("%dx%dx%d\t%s\twrong\t\t\n", s->m, s->n, s->k, rungs[i].name);
    } else {
        const lab_work least = work_of(roof), w = work_of(j);
        lab_duel d = {.ratio = NAN};
        for (int tries = 0; tries < 3 && isnan(d.ratio); tries++) /* the host was late */
            d = lab_time_duel(how, &least, &w, BENCH_ROUNDS);
        if (isnan(d.ratio)) lab_die("%s: %s (three times)", rungs[i].name, lab_untimed(&d));
        printf("%dx%dx%d\t%s\t%.2f\t%.0f\t%.3f\n", s->m, s->n, s->k, rungs[i].name, d.b, gflops(s, d.b), d.ratio);
    }
    fflush(stdout);
    job_free(j);
}

void lab_bench(void) {
    printf("# lane %s, device %s\n# share of the roof\nshape\tkernel\tus\tGFLOP/s\tshare\n", lab_lane_name(),
           lab_device_name());
    lab_fence(false); /* all programs here are ours, or have been judged */
    for (const job_shape *s = shapes(); s->m; s++) {
        job *roof = job_new(program_of(RUNGS - 1), NULL, s);
        job_prepare(roof);
        for (int i = 0; i < RUNGS; i++)
            if (is_there(i, s)) bench_rung(i, s, roof);
        job_free(roof);
    }
}

void lab_ladder(void) {
    for (int i = 0; i < RUNGS; i++) {
        if (rungs[i].who == LAB_MINE || !is_there(i, &in_sim[0])) continue;
        job *j = job_new(program_of(i), NULL, &in_sim[0]);
        job_prepare(j);
        lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
        LAB_CUDA(cudaDeviceSynchronize());
        job_free(j);
    }
}
