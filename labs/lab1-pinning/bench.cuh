/* bench.cuh — the timed jobs, the link they are measured against, and `--bench`: every rung in each of the three ways,
 * as TSV, for the handout's table and for the curious.
 */
#ifndef BENCH_CUH
#define BENCH_CUH

#include "lab.h"
#include "job.cuh"
#include "rungs.cuh"

extern "C" void starter_run_batches(const struct job *);
extern "C" void reference_run_batches(const struct job *);

enum way { TO_DEVICE, TO_HOST, BOTH, WAYS };

/* Gpu lane: 64 batches of 16 MiB. The virtual link has no noise, and needs only as many as show what a real one does.
 */
static run bench_job(run_fn fn, enum way way) {
    bool sim = lab_lane() == LAB_SIM;
    uint32_t large = sim ? 1 << 20 : 4 << 20, small = large / STAMP_WORDS; /* words */
    return run_new(fn, sim ? 32 : 64, way == TO_HOST ? small : large, way == TO_DEVICE ? small : large, true);
}

/* --- rates, in GB/s ------------------------------------------------------------------------------- */

enum { MOST_RUNS = 9 };
#define RATE_RUNS (lab_lane() == LAB_SIM ? 1 : MOST_RUNS)

/* Also the time outside the loop: before the first load and after the last take. */
static double bench_rate(run_fn fn, enum way way, double *around_us = NULL, bool *right = NULL) {
    run r = bench_job(fn, way);
    double gbs[MOST_RUNS];
    for (int i = 0; i < RATE_RUNS; i++) {
        cudaError_t error = run_once(&r, false);
        if (error) lab_die("a program of the harness failed: %s", cudaGetErrorString(error));
        if (around_us) *around_us = (lab_now() - r.called - (r.end - r.begin)) / 1e3;
        if (right) *right = !r.failure[0];
        gbs[i] = rate_of(&r);
    }
    return lab_middle_of(gbs, RATE_RUNS).median;
}

/* --- the link --------------------------------------------------------------------------------------- */

typedef struct {
    enum way way;
    size_t bytes;
    void *host[2], *device[2];
    cudaStream_t stream[2];
} link_ends;

static void link_work(void *context) {
    const link_ends *l = (const link_ends *)context;
    if (l->way != TO_HOST) cudaMemcpyAsync(l->device[0], l->host[0], l->bytes, cudaMemcpyHostToDevice, l->stream[0]);
    if (l->way != TO_DEVICE) cudaMemcpyAsync(l->host[1], l->device[1], l->bytes, cudaMemcpyDeviceToHost, l->stream[1]);
}

/* What page-locked memory and the copy engines can do, in GB/s: one long copy each way, alone or both at once. */
static double link_rate(enum way way) {
    link_ends l = {way, (size_t)(lab_lane() == LAB_SIM ? 64 : 256) << 20, {}, {}, {}};
    for (int i = 0; i < 2; i++) {
        LAB_CUDA(cudaHostAlloc(&l.host[i], l.bytes, cudaHostAllocDefault));
        LAB_CUDA(cudaMalloc(&l.device[i], l.bytes));
        LAB_CUDA(cudaStreamCreateWithFlags(&l.stream[i], cudaStreamNonBlocking));
    }
    lab_work w = {NULL, link_work, NULL, &l, NULL};
    lab_timer how = {LAB_HOST_CLOCK, 0, RATE_RUNS, false};
    lab_time t = lab_time_work(how, &w);
    if (t.error) lab_die("the copy over the link failed: %s", cudaGetErrorString(t.error));
    for (int i = 0; i < 2; i++) {
        cudaStreamDestroy(l.stream[i]);
        cudaFree(l.device[i]);
        cudaFreeHost(l.host[i]);
    }
    return lab_gbs((way == BOTH ? 2.0 : 1.0) * (double)l.bytes, t.median);
}

/* --- --bench ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    run_fn fn;
} bench_entries[] = {
    {"starter", starter_run_batches},     {"pin_each", rung_pin_each},     {"reuse", rung_reuse},
    {"pin_once", rung_pin_once},          {"one_stream", rung_one_stream}, {"pin_all", rung_pin_all},
    {"reference", reference_run_batches}, {"yours", run_batches},
};

enum { ENTRIES = sizeof bench_entries / sizeof *bench_entries };

/* A row a program; its time runs from the first load to the last take. Returns the time outside of that, in ms. */
static double bench_row(int entry, enum way way, const char *name, double link) {
    run job = bench_job(NULL, way);
    double bytes = job.job.batches * (double)(job.job.in_bytes + job.job.out_bytes), around_us = 0;
    bool right = true;
    double gbs = bench_rate(bench_entries[entry].fn, way, &around_us, &right);
    if (right)
        printf("%s\t%s\t%.1f\t%.2f\t%.3f\n", name, bench_entries[entry].name, bytes / gbs / 1e3, gbs, gbs / link);
    else
        printf("%s\t%s\twrong\t\t\n", name, bench_entries[entry].name);
    if (entry == ENTRIES - 1) printf("%s\tlink\t%.1f\t%.2f\t1.000\n", name, bytes / link / 1e3, link);
    fflush(stdout);
    return around_us / 1e3;
}

static void bench(void) {
    static const char *const names[WAYS] = {"to device", "to host", "both ways"};
    run shape = bench_job(NULL, BOTH);
    double around[ENTRIES];
    printf("# lane %s, device %s, %d batches of %zu MiB\nway\tprogram\tus\tGB/s\tshare\n", lab_lane_name(),
           lab_device_name(), shape.job.batches, shape.job.in_bytes >> 20);
    for (int w = 0; w < WAYS; w++) {
        double link = link_rate((enum way)w);
        for (int i = 0; i < ENTRIES; i++) around[i] = bench_row(i, (enum way)w, names[w], link);
    }
    printf("# before the first load and after the last take, both ways, ms:");
    for (int i = 0; i < ENTRIES; i++)
        if (bench_entries[i].fn != run_batches) printf("%s %s %.1f", i ? "," : "", bench_entries[i].name, around[i]);
    printf("\n");
}

/* A short job through the reference, so that a profiler sees the kernel. */
static void ladder(void) {
    run r = run_new(reference_run_batches, 2, 1 << 20, 1 << 20, false);
    if (run_once(&r, false)) lab_die("the reference failed");
}

#endif
