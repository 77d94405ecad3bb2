/* bench.cuh — `--bench`: the whole ladder, for one array by length and for three sets of tensors, as TSV, for the
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
#ifndef BENCH_CUH
#define BENCH_CUH

#include "lab.h"
#include "job.cuh"
#include "rungs.cuh"

enum { SET_TENSORS = 2000, BENCH_PAIRS = 15 };

static int even_length(int i, uint64_t seed) { return (void)seed, 4096 + i * 7919 % 8192; }
static int mixed_length(int i, uint64_t seed) { return (void)seed, i % 4 == 0 ? 262144 : 1024; }
static int skewed_length(int i, uint64_t seed) {
    int part = (int)(hash(mixed(seed), i) % 1000), apart = lab_lane() == LAB_SIM ? 500 : 125;
    return i % apart == 7 ? 900000 + 200 * part : i % 50 == 3 ? 20000 + 20 * part : 100 + part;
}

/* --- CUB, where nvcc builds for a card -------------------------------------------------------- */

#if defined(__NVCC__) && !__has_include(<simgpu.h>) && __has_include(<cub/cub.cuh>)
#define LAB_CUB
#include <cub/cub.cuh>

static void *cub_room(size_t *bytes) {
    static void *room;
    *bytes = (size_t)16 << 20; /* far more than it asks for */
    if (!room) LAB_CUDA(cudaMalloc(&room, *bytes));
    return room;
}

/* The sum: CUB has no mean. */
static void rung_cub(const float *in, int n, float *sum) {
    size_t bytes;
    void *room = cub_room(&bytes);
    LAB_CUDA(cub::DeviceReduce::Sum(room, bytes, in, sum, n));
}

static const float *cub_base;
static int64_t *cub_begin, *cub_end;
static int cub_count;

static void rung_cub_plan(const struct tensor *tensors, int count) {
    size_t bytes = count * sizeof(int64_t);
    int64_t *ends = (int64_t *)malloc(2 * bytes);
    if (!ends) lab_die("out of memory");
    cub_base = tensors[0].data, cub_count = count;
    for (int i = 0; i < count; i++) ends[i] = tensors[i].data - cub_base, ends[count + i] = ends[i] + tensors[i].length;
    LAB_CUDA(cudaFree(cub_begin));
    LAB_CUDA(cudaMalloc((void **)&cub_begin, 2 * bytes));
    LAB_CUDA(cudaMemcpy(cub_begin, ends, 2 * bytes, cudaMemcpyHostToDevice));
    cub_end = cub_begin + count;
    free(ends);
}

static void rung_cub_segmented(float *sums) {
    size_t bytes;
    void *room = cub_room(&bytes);
    LAB_CUDA(cub::DeviceSegmentedReduce::Sum(room, bytes, cub_base, sums, cub_count, cub_begin, cub_end));
}
#endif

/* --- the ladder ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    program run;
    bool sums; /* gives sums instead of means */
} bench_entry;

static const bench_entry array_entries[] = {
    {"starter", {starter_mean, NULL, NULL}, false},
    {"interleaved", {rung_interleaved, NULL, NULL}, false},
    {"strided_index", {rung_strided_index, NULL, NULL}, false},
    {"sequential", {rung_sequential, NULL, NULL}, false},
    {"shuffle", {rung_shuffle, NULL, NULL}, false},
    {"chunk", {rung_chunk, NULL, NULL}, false},
    {"strided", {rung_strided, NULL, NULL}, false},
    {"reference", {reference_mean, NULL, NULL}, false},
    {"yours", {mean, NULL, NULL}, false},
#ifdef LAB_CUB
    {"cub::DeviceReduce", {rung_cub, NULL, NULL}, true},
#endif
    {"reading", {rung_read, NULL, NULL}, false},
};

static const bench_entry set_entries[] = {
    {"starter", {NULL, starter_plan, starter_means}, false},
    {"loop", {NULL, rung_plan, rung_loop}, false},
    {"tensor_a_block", {NULL, rung_plan, rung_tensor_a_block}, false},
    {"reference", {NULL, reference_plan, reference_means}, false},
    {"yours", {NULL, plan, means}, false},
#ifdef LAB_CUB
    {"cub::DeviceSegmentedReduce", {NULL, rung_cub_plan, rung_cub_segmented}, true},
#endif
};

/* A job's work without its checks: the data stays the same. */
static void bench_work(void *context) { work(context); }

static void bench_read(void *context) {
    const job *j = (const job *)context;
    rung_read(j->d_in, (int)j->floats, j->d_out);
}

/* Are the means on the device right? A fast kernel that is wrong has no time. */
static bool bench_checked(job *j, const double *want, bool sums) {
    float *got = (float *)malloc(j->count * sizeof *got);
    bool right = got != NULL;
    lab_poison(j->d_out, j->count);
    bench_work(j);
    LAB_CUDA(cudaMemcpy(got, j->d_out, j->count * sizeof *got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < j->count; i++)
        right = right && fabs(got[i] / (sums ? j->list[i].length : 1) - want[i]) <= 1e-4 * want[i];
    free(got);
    return right;
}

/* All entries on one job's data. Afterwards the job is freed. */
static void bench_job(const char *label, const bench_entry *entries, int n, job j) {
    double *want = (double *)malloc(j.count * sizeof *want);
    if (!want) lab_die("out of memory");
    prepare(&j);
    for (int i = 0; i < j.count; i++) want[i] = right_mean(&j, i);
    lab_work reading = {NULL, bench_read, NULL, &j};
    lab_timer how = {LAB_DEVICE_CLOCK, 3, 1, false};
    for (int i = 0; i < n; i++) {
        job mine = j;
        mine.run = &entries[i].run;
        if (entries[i].run.plan) entries[i].run.plan(j.list, j.count);
        bool light = entries[i].run.mean == rung_read;
        if (!light && !bench_checked(&mine, want, entries[i].sums)) {
            printf("%s\t%s\twrong\t\t\n", label, entries[i].name);
            continue;
        }
        lab_work w = {NULL, light ? bench_read : bench_work, NULL, &mine};
        lab_duel d = lab_time_duel(how, &reading, &w, BENCH_PAIRS);
        printf("%s\t%s\t%.2f\t%.1f\t%.3f\n", label, entries[i].name, d.b, lab_gbs(4.0 * (double)j.floats, d.b),
               d.ratio);
        fflush(stdout);
    }
    free(want);
    job_free(&j);
}

enum {
    ARRAY_ENTRIES = sizeof array_entries / sizeof *array_entries,
    SET_ENTRIES = sizeof set_entries / sizeof *set_entries
};

static void bench_set(const char *label, length_fn length) {
    bench_job(label, set_entries, SET_ENTRIES,
              job_new(&set_entries[1].run, NULL, false, SET_TENSORS, length, JOB_ALIGNED, 1));
}

static void bench(void) {
    bool sim = lab_lane() == LAB_SIM;
    printf("# share of reading\n# lane %s, device %s\n", lab_lane_name(), lab_device_name());
    printf("n\tkernel\tus\tGB/s\tshare\n");
    for (int p = 20; p <= (sim ? 22 : 28); p += 2) {
        char label[32];
        snprintf(label, sizeof label, "2^%d", p);
        asked_length = 1 << p;
        bench_job(label, array_entries, ARRAY_ENTRIES,
                  job_new(&array_entries[0].run, NULL, true, 1, just_length, JOB_ALIGNED, 1));
    }
    printf("tensors\tkernel\tus\tGB/s\tshare\n");
    if (!sim) bench_set("even", even_length);
    if (!sim) bench_set("mixed", mixed_length);
    bench_set("skewed", skewed_length);
}

static void ladder(void) {
    asked_length = 1 << 20;
    job array = job_new(&yours, NULL, true, 1, just_length, JOB_ALIGNED, 1);
    prepare(&array);
    for (int i = 0; i < ARRAY_ENTRIES; i++)
        if (strcmp(array_entries[i].name, "yours")) {
            array.run = &array_entries[i].run;
            bench_work(&array);
        }
    LAB_CUDA(cudaDeviceSynchronize());
    job_free(&array);
}

#endif
