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

/* --- rates: the middle of several runs ------------------------------------------------------------ */

#define RATE_RUNS (lab_lane() == LAB_SIM ? 1 : 9)

/* GB/s. low and high hold the true median with 96 % or more: the second and the eighth of nine. */
typedef struct {
    double middle, low, high, all[9];
    int n;
} rates;

static int by_rate(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void rates_add(rates *r, double gbs) { r->all[r->n++] = gbs; }

static void rates_end(rates *r) {
    qsort(r->all, (size_t)r->n, sizeof *r->all, by_rate);
    r->middle = r->all[r->n / 2];
    r->low = r->all[r->n > 2];
    r->high = r->all[r->n > 2 ? r->n - 2 : r->n - 1];
}

/* Also the time outside the loop: before the first load and after the last take. */
static rates bench_rate(run_fn fn, enum way way, double *around_us = NULL, bool *right = NULL) {
    run r = bench_job(fn, way);
    rates rate = {};
    for (int i = 0; i < RATE_RUNS; i++) {
        cudaError_t error = run_once(&r, false);
        if (error) lab_die("a program of the harness failed: %s", cudaGetErrorString(error));
        if (around_us) *around_us = (lab_now() - r.called - (r.end - r.begin)) / 1e3;
        if (right) *right = !r.failure[0];
        rates_add(&rate, rate_of(&r));
    }
    rates_end(&rate);
    return rate;
}

/* --- the link --------------------------------------------------------------------------------------- */

/* What page-locked memory and the copy engines can do, in GB/s: one long copy each way, alone or both at once. */
static double link_rate(enum way way) {
    const size_t bytes = (size_t)(lab_lane() == LAB_SIM ? 64 : 256) << 20;
    void *host[2], *device[2];
    cudaStream_t stream[2];
    rates rate = {};
    for (int i = 0; i < 2; i++) {
        LAB_CUDA(cudaHostAlloc(&host[i], bytes, cudaHostAllocDefault));
        LAB_CUDA(cudaMalloc(&device[i], bytes));
        LAB_CUDA(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    }
    for (int k = 0; k < RATE_RUNS; k++) {
        LAB_CUDA(cudaDeviceSynchronize());
        double t0 = lab_now();
        if (way != TO_HOST) LAB_CUDA(cudaMemcpyAsync(device[0], host[0], bytes, cudaMemcpyHostToDevice, stream[0]));
        if (way != TO_DEVICE) LAB_CUDA(cudaMemcpyAsync(host[1], device[1], bytes, cudaMemcpyDeviceToHost, stream[1]));
        LAB_CUDA(cudaDeviceSynchronize());
        rates_add(&rate, (way == BOTH ? 2.0 : 1.0) * (double)bytes / (lab_now() - t0));
    }
    for (int i = 0; i < 2; i++) {
        cudaStreamDestroy(stream[i]);
        cudaFree(device[i]);
        cudaFreeHost(host[i]);
    }
    rates_end(&rate);
    return rate.middle;
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
    rates r = bench_rate(bench_entries[entry].fn, way, &around_us, &right);
    if (right)
        printf("%s\t%s\t%.1f\t%.2f\t%.3f\n", name, bench_entries[entry].name, bytes / r.middle / 1e3, r.middle,
               r.middle / link);
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
