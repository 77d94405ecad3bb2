/* bench.c — lab 3's ladder by size, as TSV, for the handout's table and for the curious (`--bench`); and each of its
 * kernels once at n = 4096, for a profiler to count (`--ladder`).
 *
 * Every kernel runs in turn with the copy (a b b a), timed from event to event on the device. `share` is the copy's
 * time over the kernel's: 1 is the speed of light. GB/s counts each byte of the matrix read once and written once.
 */
#include "lab.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rung {
    const char *name;
    lab_who who;
    bool moves_only; /* a copy, not a transpose */
} rungs[] = {
    {"starter", LAB_STARTER, false},  {"naive_read", LAB_LADDER, false},  {"naive_write", LAB_LADDER, false},
    {"tile", LAB_LADDER, false},      {"tile_padded", LAB_LADDER, false}, {"reference", LAB_REFERENCE, false},
    {"yours", LAB_MINE, false},       {"cublasSgeam", LAB_LADDER, false}, {"copy", LAB_LADDER, true},
    {"cudaMemcpy", LAB_LADDER, true},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

typedef struct {
    lab_program *program;
    struct lab3_message message;
} run;

static run open_run(const char *name, lab_who who, int rows, int cols) {
    const size_t count = (size_t)rows * (size_t)cols;
    run r = {lab_open(who, who == LAB_LADDER ? name : NULL), {.what = LAB3_TRANSPOSE, .rows = rows, .cols = cols}};
    r.message.d_in = (uint64_t)lab_alloc(count);
    r.message.d_out = (uint64_t)lab_alloc(count);
    return r;
}

static void close_run(run *r) {
    lab_use(r->program);
    lab_free((float *)r->message.d_in);
    lab_free((float *)r->message.d_out);
}

static lab_work work_of(run *r) {
    return (lab_work){.program = r->program, .message = &r->message, .size = sizeof r->message};
}

static double right_value(size_t k, void *context) {
    uint32_t n = *(const uint32_t *)context, i = (uint32_t)k;
    return lab_data(1, i % n * n + i / n);
}

/* A fast kernel that is wrong has no time. The host's check of one size is enough; it is slow beside the card. */
static bool is_right(run *r, const char *name, float *host) {
    uint32_t n = (uint32_t)r->message.rows;
    size_t count = (size_t)n * n;
    lab_diff d;
    lab_poison((float *)r->message.d_out, count);
    lab_play(r->program, &r->message, sizeof r->message, NULL, 0);
    cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    if (launched || ran)
        lab_die("the kernel `%s` failed at n = %u: %s. No table without it; make lab3 says more.", name, n,
                cudaGetErrorName(launched ? launched : ran));
    LAB_CUDA(cudaMemcpy(host, (float *)r->message.d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    return lab_compare(host, count, right_value, &n, 0, &d);
}

static bool is_there(const struct rung *g) { return g->who != LAB_LADDER || lab_has_rung(g->name); }

static void bench_size(int n, bool check) {
    const size_t count = (size_t)n * (size_t)n;
    float *host = malloc(count * sizeof *host);
    if (!host) lab_die("out of memory");
    const lab_timer how = {LAB_DEVICE_CLOCK, 3, 1, true};
    run light = open_run("copy", LAB_LADDER, n, n);
    for (int i = 0; i < RUNGS; i++) {
        if (!is_there(&rungs[i])) continue;
        run r = open_run(rungs[i].name, rungs[i].who, n, n);
        lab_fill(1, host, count);
        LAB_CUDA(cudaMemcpy((float *)r.message.d_in, host, count * sizeof(float), cudaMemcpyHostToDevice));
        if (check && !rungs[i].moves_only && !is_right(&r, rungs[i].name, host)) {
            printf("%d\t%s\twrong\t\t\n", n, rungs[i].name);
        } else {
            lab_work copy = work_of(&light), w = work_of(&r);
            lab_duel d = lab_time_duel(how, &copy, &w, 9);
            printf("%d\t%s\t%.2f\t%.1f\t%.3f\n", n, rungs[i].name, d.b, lab_gbs(2.0 * 4 * (double)count, d.b), d.ratio);
        }
        fflush(stdout);
        close_run(&r);
    }
    close_run(&light);
    free(host);
}

void lab_bench(void) {
    int largest = lab_small_job() ? 2048 : 16384;
    printf("# lane %s, device %s\nn\tkernel\tus\tGB/s\tshare\n", lab_lane_name(), lab_device_name());
    for (int n = 512; n <= largest; n *= 2) bench_size(n, n <= 2048);
}

/* The starter launches a kernel a column; 64 of its columns show what all would. */
void lab_ladder(void) {
    for (int i = 0; i < RUNGS; i++) {
        if (rungs[i].who == LAB_MINE || !strcmp(rungs[i].name, "cudaMemcpy") || !is_there(&rungs[i])) continue;
        run r = open_run(rungs[i].name, rungs[i].who, 4096, rungs[i].who == LAB_STARTER ? 64 : 4096);
        lab_play(r.program, &r.message, sizeof r.message, NULL, 0);
        LAB_CUDA(cudaDeviceSynchronize());
        close_run(&r);
    }
}
