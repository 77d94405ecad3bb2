/* bench.cuh — `--bench`: the whole ladder by size, as TSV, for the handout's table and for the curious. `--ladder`:
 * each of its kernels once at n = 4096, for a profiler to count.
 *
 * Every kernel runs in turn with the copy (a b b a), timed from event to event on the device. `share` is the copy's
 * time over the kernel's: 1 is the speed of light. GB/s counts each byte of the matrix read once and written once.
 */
#ifndef BENCH_CUH
#define BENCH_CUH

#include "lab.h"
#include "rungs.cuh"

#include <stdio.h>
#include <string.h>

extern "C" void transpose(const float *, float *, int, int);
extern "C" void starter_transpose(const float *, float *, int, int);
extern "C" void reference_transpose(const float *, float *, int, int);

typedef void (*transpose_fn)(const float *, float *, int, int);

static void bench_memcpy(const float *in, float *out, int rows, int cols) {
    LAB_CUDA(cudaMemcpyAsync(out, in, (size_t)rows * cols * sizeof(float), cudaMemcpyDeviceToDevice, 0));
}

#ifdef LAB_CUBLAS
#include <cublas_v2.h>

/* cuBLAS is column-major: our rows x cols matrix is its cols x rows one, and the result is again read the other way
 * round. */
static void rung_cublas(const float *in, float *out, int rows, int cols) {
    static cublasHandle_t handle;
    const float one = 1, zero = 0;
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) lab_die("cuBLAS could not be started");
    if (cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero, out, rows, out, rows) !=
        CUBLAS_STATUS_SUCCESS)
        lab_die("cublasSgeam failed");
}
#endif

typedef struct {
    const char *name;
    transpose_fn fn;
    bool moves_only; /* a copy, not a transpose */
} bench_entry;

static const bench_entry bench_entries[] = {
    {"starter", starter_transpose, false},
    {"naive_read", rung_naive_read, false},
    {"naive_write", rung_naive_write, false},
    {"tile", rung_tile, false},
    {"tile_padded", rung_tile_padded, false},
    {"reference", reference_transpose, false},
    {"yours", transpose, false},
#ifdef LAB_CUBLAS
    {"cublasSgeam", rung_cublas, false},
#endif
    {"copy", rung_copy, true},
    {"cudaMemcpy", bench_memcpy, true},
};

typedef struct {
    transpose_fn fn;
    float *in, *out;
    int n;
} bench_run;

static void bench_work(void *context) {
    const bench_run *b = (const bench_run *)context;
    b->fn(b->in, b->out, b->n, b->n);
}

static double bench_right(size_t k, void *context) {
    const bench_run *b = (const bench_run *)context;
    uint32_t n = (uint32_t)b->n, i = (uint32_t)k;
    return lab_data(1, i % n * n + i / n);
}

/* A fast kernel that is wrong has no time. The host's check of one size is enough; it is slow beside the card. */
static bool bench_checked(const bench_run *b, const char *name, float *host) {
    size_t count = (size_t)b->n * b->n;
    lab_diff d;
    lab_poison(b->out, count);
    bench_work((void *)b);
    cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    if (launched || ran)
        lab_die("the kernel `%s` failed at n = %d: %s. No table without it; make lab3 says more.", name, b->n,
                cudaGetErrorName(launched ? launched : ran));
    LAB_CUDA(cudaMemcpy(host, b->out, count * sizeof(float), cudaMemcpyDeviceToHost));
    return lab_compare(host, count, bench_right, (void *)b, 0, &d);
}

static void bench_size(int n, bool check) {
    size_t count = (size_t)n * n;
    float *host = (float *)malloc(count * sizeof *host);
    if (!host) lab_die("out of memory");
    bench_run light = {rung_copy, lab_alloc(count), lab_alloc(count), n};
    lab_fill(1, host, count);
    LAB_CUDA(cudaMemcpy(light.in, host, count * sizeof(float), cudaMemcpyHostToDevice));
    lab_work copy_work = {NULL, bench_work, NULL, &light};
    lab_timer how = {LAB_DEVICE_CLOCK, 3, 1, false};
    for (size_t i = 0; i < sizeof bench_entries / sizeof *bench_entries; i++) {
        bench_run run = light;
        run.fn = bench_entries[i].fn;
        if (check && !bench_entries[i].moves_only && !bench_checked(&run, bench_entries[i].name, host)) {
            printf("%d\t%s\twrong\t\t\n", n, bench_entries[i].name);
            continue;
        }
        lab_work w = {NULL, bench_work, NULL, &run};
        lab_duel d = lab_time_duel(how, &copy_work, &w, 15);
        printf("%d\t%s\t%.2f\t%.1f\t%.3f\n", n, bench_entries[i].name, d.b, lab_gbs(2.0 * 4 * (double)count, d.b),
               d.ratio);
        fflush(stdout);
    }
    lab_free(light.in);
    lab_free(light.out);
    free(host);
}

/* The starter launches a kernel a column; 64 of its columns show what all would. */
static void ladder(void) {
    const int n = 4096, columns = 64;
    bench_run run = {NULL, lab_alloc((size_t)n * n), lab_alloc((size_t)n * n), n};
    starter_transpose(run.in, run.out, n, columns);
    for (size_t i = 1; i < sizeof bench_entries / sizeof *bench_entries; i++)
        if (strcmp(bench_entries[i].name, "yours") && strcmp(bench_entries[i].name, "cudaMemcpy")) {
            run.fn = bench_entries[i].fn;
            bench_work(&run);
        }
    LAB_CUDA(cudaDeviceSynchronize());
    lab_free(run.in);
    lab_free(run.out);
}

static void bench(void) {
    int largest = lab_lane() == LAB_SIM ? 2048 : 16384;
    printf("# lane %s, device %s\nn\tkernel\tus\tGB/s\tshare\n", lab_lane_name(), lab_device_name());
    for (int n = 512; n <= largest; n *= 2) bench_size(n, n <= 2048);
}

#endif
