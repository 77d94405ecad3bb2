/* bench.c — `--bench`: lab 4's whole ladder, for one array by length and for three sets of tensors, as TSV, for the
 * handout's tables and for the curious. `--ladder`: each of its kernels once, for a profiler to count.
 *
 * Every kernel runs in turn with one that only reads the same bytes (a b b a), timed from event to event on the device.
 * `share` is the reader's time over the kernel's: 1 is the speed of light. GB/s counts each byte of the data read once.
 *
 * The sets, of 2000 tensors each:
 *   even     4096 to 12287 floats a tensor
 *   mixed    262144 floats in every fourth, 1024 in the others: weights and biases
 *   skewed   a few of a million, some of 20000 to 40000, and 100 to 1100 in all others. The one that is graded.
 */
#include "job.h"
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_ROUNDS = 9 };

static int even_length(int i, uint64_t seed) { return (void)seed, 4096 + i * 7919 % 8192; }
static int mixed_length(int i, uint64_t seed) { return (void)seed, i % 4 == 0 ? 262144 : 1024; }

/* --- the ladder ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    lab_who who;
    const char *rung;
    bool sums; /* gives sums instead of means */
} entry;

static const entry array_entries[] = {
    {"starter", LAB_STARTER, NULL, false},
    {"interleaved", LAB_LADDER, "interleaved", false},
    {"strided_index", LAB_LADDER, "strided_index", false},
    {"sequential", LAB_LADDER, "sequential", false},
    {"shuffle", LAB_LADDER, "shuffle", false},
    {"chunk", LAB_LADDER, "chunk", false},
    {"strided", LAB_LADDER, "strided", false},
    {"reference", LAB_REFERENCE, NULL, false},
    {"yours", LAB_MINE, NULL, false},
    {"cub::DeviceReduce", LAB_LADDER, "cub", true},
    {"reading", LAB_LADDER, "read", false},
};

static const entry set_entries[] = {
    {"starter", LAB_STARTER, NULL, false},
    {"loop", LAB_LADDER, "loop", false},
    {"tensor_a_block", LAB_LADDER, "tensor_a_block", false},
    {"reference", LAB_REFERENCE, NULL, false},
    {"yours", LAB_MINE, NULL, false},
    {"cub::DeviceSegmentedReduce", LAB_LADDER, "cub", true},
};

enum {
    ARRAY_ENTRIES = sizeof array_entries / sizeof *array_entries,
    SET_ENTRIES = sizeof set_entries / sizeof *set_entries
};

static bool is_there(const entry *e) { return !e->rung || lab_has_rung(e->rung); }
static bool only_reads(const entry *e) { return e->rung && !strcmp(e->rung, "read"); }

/* Each program is opened once, since its statics belong to one device. */
static lab_program *program_of(const entry *e) {
    static struct {
        const entry *is;
        lab_program *program;
    } open[ARRAY_ENTRIES + SET_ENTRIES];
    int i = 0;
    for (; open[i].is; i++)
        if (open[i].is->who == e->who && (!e->rung || !strcmp(open[i].is->rung, e->rung))) return open[i].program;
    open[i].is = e;
    return open[i].program = lab_open(e->who, e->rung);
}

/* Returns whether the means on the device are right. A fast kernel that is wrong has no time. */
static bool is_right(job *j, const double *want, bool sums) {
    const size_t count = (size_t)j->shape.count;
    float *got = malloc(count * sizeof *got);
    bool right = true;
    if (!got) lab_die("out of memory");
    lab_poison(j->d_out, count);
    lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
    LAB_CUDA(cudaMemcpy(got, j->d_out, count * sizeof *got, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        right = right && fabs((double)got[i] / (sums ? j->list[i].length : 1) - want[i]) <= 1e-4 * want[i];
    free(got);
    return right;
}

/* A job's work without its preparation and its checks: the data stays the same. */
static lab_work work_of(const job *j) {
    return (lab_work){.program = j->program, .message = &j->message, .size = sizeof j->message};
}

static void bench_entry(const char *label, const entry *e, const job_shape *shape, const double *want, job *light) {
    job j;
    const lab_timer how = {LAB_DEVICE_CLOCK, 3, 1, true};
    job_open(&j, program_of(e), NULL, shape);
    job_prepare(&j);
    if (!only_reads(e) && !is_right(&j, want, e->sums)) {
        printf("%s\t%s\twrong\t\t\n", label, e->name);
    } else {
        lab_work reading = work_of(light), w = work_of(&j);
        lab_duel d = lab_time_duel(how, &reading, &w, BENCH_ROUNDS);
        printf("%s\t%s\t%.2f\t%.1f\t%.3f\n", label, e->name, d.b, lab_gbs(4.0 * (double)j.floats, d.b), d.ratio);
    }
    fflush(stdout);
    job_close(&j);
}

/* All entries on data of one shape, beside a reader of as many floats. */
static void bench_shape(const char *label, const entry *entries, int n, const job_shape *shape) {
    job j, light;
    double *want = malloc((size_t)shape->count * sizeof *want);
    if (!want) lab_die("out of memory");
    job_open(&j, program_of(&entries[0]), NULL, shape);
    job_prepare(&j);
    for (int i = 0; i < shape->count; i++) want[i] = job_right_mean(&j, i);
    const job_shape one = {
        .array = true, .count = 1, .length = (int)j.floats, .align = JOB_ALIGNED, .seed = shape->seed};
    job_close(&j);
    job_open(&light, program_of(&array_entries[ARRAY_ENTRIES - 1]), NULL, &one);
    job_prepare(&light);
    for (int i = 0; i < n; i++)
        if (is_there(&entries[i])) bench_entry(label, &entries[i], shape, want, &light);
    job_close(&light);
    free(want);
}

static void bench_set(const char *label, length_fn length) {
    const job_shape set = {.count = SET_TENSORS, .length_of = length, .align = JOB_ALIGNED, .seed = 1};
    bench_shape(label, set_entries, SET_ENTRIES, &set);
}

void lab_bench(void) {
    bool small = lab_small_job();
    printf("# share of reading\n# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("n\tkernel\tus\tGB/s\tshare\n");
    for (int p = 20; p <= (small ? 22 : 28); p += 2) {
        char label[32];
        const job_shape shape = {.array = true, .count = 1, .length = 1 << p, .align = JOB_ALIGNED, .seed = 1};
        LAB_SAY(label, "2^%d", p);
        bench_shape(label, array_entries, ARRAY_ENTRIES, &shape);
    }
    printf("tensors\tkernel\tus\tGB/s\tshare\n");
    if (!small) bench_set("even", even_length);
    if (!small) bench_set("mixed", mixed_length);
    bench_set("skewed", skewed_length);
}

void lab_ladder(void) {
    const job_shape shape = {.array = true, .count = 1, .length = 1 << 20, .align = JOB_ALIGNED, .seed = 1};
    for (int i = 0; i < ARRAY_ENTRIES; i++) {
        const entry *e = &array_entries[i];
        job j;
        if (e->who == LAB_MINE || !is_there(e)) continue;
        job_open(&j, program_of(e), NULL, &shape);
        job_prepare(&j);
        lab_play(j.program, &j.message, sizeof j.message, NULL, 0);
        LAB_CUDA(cudaDeviceSynchronize());
        job_close(&j);
    }
}
