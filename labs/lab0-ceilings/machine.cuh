/* machine.cuh — the machine's ceilings, measured: small kernels and copies, the same ones in both lanes.
 *
 * A rate is the slope between a piece of work and one several times as large. What both have alike (the call, the
 * start, the wait) falls out of it; that part is measured by itself, as `wait_us`.
 */
#ifndef MACHINE_CUH
#define MACHINE_CUH

#include "lab.h"

#include <stdlib.h>
#include <string.h>

/* Rates in 10^9 a second, times in microseconds. */
struct machine {
    double up, down, pageable_up, pageable_down; /* the link: to the card and back */
    double dram_read, dram_copy, l2, shared;     /* bytes; a copy's are those read and those written */
    double fp32;                                 /* operations */
    double launch_us;                            /* to hand one more kernel to a busy card */
    double wait_us;                              /* to start an empty kernel and wait for its end */
    double sync_us;                              /* to wait for nothing */
    double one_flop_us;                          /* to add two numbers, and wait */
};

/* --- the kernels ------------------------------------------------------------------------------- */

enum { THREADS = 256, CHAINS = 8, UNLIKELY = 0x7ADE };

static __global__ void nothing() {}

static __global__ void add_one(const float *a, const float *b, float *c) { *c = *a + *b; }

static __global__ void copy_quads(const float4 *from, float4 *to, long quads) {
    long i = blockIdx.x * (long)THREADS + threadIdx.x;
    if (i < quads) to[i] = from[i];
}

/* Reads the array `rounds` times; each time another block reads a stretch, so that no SM finds it in its own L1. */
static __global__ void read_quads(const float4 *from, float *out, int rounds) {
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        unsigned block = (blockIdx.x + r * 1009u) % gridDim.x;
        for (int k = 0; k < 4; k++) {
            float4 v = from[(block * 4l + k) * THREADS + threadIdx.x];
            sum += v.x + v.y + v.z + v.w;
        }
    }
    if (sum == UNLIKELY) *out = sum;
}

/* Reads shared memory, 16 bytes a thread, no two threads of a quarter-warp in one bank. */
static __global__ void read_shared(float *out, int rounds) {
    __shared__ float4 s[2 * THREADS];
    s[threadIdx.x] = s[threadIdx.x + THREADS] = make_float4(threadIdx.x, 1, 2, 3);
    __syncthreads();
    float a = 0, b = 0, c = 0, d = 0;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 v = s[(threadIdx.x + 32 * k + r) % (2 * THREADS)];
            a += v.x, b += v.y, c += v.z, d += v.w;
        }
    if (a + b + c + d == UNLIKELY) *out = a;
}

/* Multiply-adds in registers: chains that do not wait for each other, 16 of each a round. */
static __global__ void multiply_add(float *out, float x, int rounds) {
    float v[CHAINS];
    for (int k = 0; k < CHAINS; k++) v[k] = x * (threadIdx.x + k);
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int k = 0; k < CHAINS; k++) v[k] = v[k] * x + 1.0f;
    float sum = 0;
    for (int k = 0; k < CHAINS; k++) sum += v[k];
    if (sum == UNLIKELY) *out = sum;
}
enum { FLOPS_A_ROUND = 2 * 16 * CHAINS };

/* --- one experiment ---------------------------------------------------------------------------- */

/* What the works below share: buffers, and how much of it to do. */
struct bench_bed {
    float4 *from, *to; /* on the card */
    void *pinned, *pageable;
    size_t device_bytes, host_bytes;
    int sms;
    bool page_locked;
    long amount; /* bytes, blocks or rounds, as the work says */
};

static const int repetitions = 9; /* gpu lane; the sim lane's clock has no noise */

static double time_of(void (*work)(void *), struct bench_bed *bed, long amount) {
    bed->amount = amount;
    lab_timer how = {LAB_HOST_CLOCK, 2, repetitions, true};
    lab_work w = {NULL, work, NULL, bed};
    lab_time t = lab_time_work(how, &w);
    if (t.error) lab_die("a kernel of the harness failed: %s", cudaGetErrorString(t.error));
    return t.median;
}

/* Units in 10^9 a second, of a work that does `units` for each of its amount: the slope between two amounts. */
static double rate_of(void (*work)(void *), struct bench_bed *bed, long small, long large, double units) {
    double us = time_of(work, bed, large) - time_of(work, bed, small);
    return us > 0 ? (double)(large - small) * units / us / 1e3 : 0;
}

#define BED struct bench_bed *bed = (struct bench_bed *)context

static void *host_buffer(const struct bench_bed *bed) { return bed->page_locked ? bed->pinned : bed->pageable; }
static void send(void *context) {
    BED;
    cudaMemcpy(bed->from, host_buffer(bed), (size_t)bed->amount, cudaMemcpyHostToDevice);
}
static void fetch(void *context) {
    BED;
    cudaMemcpy(host_buffer(bed), bed->from, (size_t)bed->amount, cudaMemcpyDeviceToHost);
}
static void copy(void *context) { /* amount: bytes read, and as many written */
    BED;
    long quads = bed->amount / 16;
    copy_quads<<<(unsigned)((quads + THREADS - 1) / THREADS), THREADS>>>(bed->from, bed->to, quads);
}
static void read_dram(void *context) {
    BED;
    read_quads<<<(unsigned)(bed->amount / (THREADS * 64)), THREADS>>>(bed->from, (float *)bed->to, 1);
}
enum { L2_BYTES = 16 << 20 };
static void read_l2(void *context) { /* amount: times 16 MiB */
    BED;
    read_quads<<<L2_BYTES / (THREADS * 64), THREADS>>>(bed->from, (float *)bed->to, (int)bed->amount);
}
static void read_in_shared(void *context) {
    BED;
    read_shared<<<bed->sms * 4, THREADS>>>((float *)bed->to, (int)bed->amount);
}
static void compute(void *context) {
    BED;
    multiply_add<<<bed->sms * 8, THREADS>>>((float *)bed->to, 0.5f, (int)bed->amount);
}
static void launch_many(void *context) {
    BED;
    for (long i = 0; i < bed->amount; i++) nothing<<<1, 32>>>();
}
static void wait_only(void *) {} /* the timer itself waits for the card */
static void one_flop(void *context) {
    BED;
    float *f = (float *)bed->from;
    add_one<<<1, 1>>>(f, f + 1, f + 2);
}
#undef BED

/* --- all of them --------------------------------------------------------------------------------- */

static struct bench_bed bed_new(void) {
    struct bench_bed bed = {};
    const bool sim = lab_lane() == LAB_SIM;
    bed.host_bytes = (size_t)(sim ? 16 : 64) << 20;
    bed.device_bytes = (size_t)(sim ? 192 : 1024) << 20;
    LAB_CUDA(cudaDeviceGetAttribute(&bed.sms, cudaDevAttrMultiProcessorCount, 0));
    LAB_CUDA(cudaMallocHost(&bed.pinned, bed.host_bytes));
    bed.pageable = malloc(bed.host_bytes);
    if (!bed.pageable) lab_die("out of memory");
    memset(bed.pinned, 1, bed.host_bytes);
    memset(bed.pageable, 1, bed.host_bytes);
    LAB_CUDA(cudaMalloc((void **)&bed.from, bed.device_bytes));
    LAB_CUDA(cudaMalloc((void **)&bed.to, bed.device_bytes));
    LAB_CUDA(cudaMemset(bed.from, 0, bed.device_bytes));
    return bed;
}

static void bed_free(struct bench_bed *bed) {
    LAB_CUDA(cudaFreeHost(bed->pinned));
    LAB_CUDA(cudaFree(bed->from));
    LAB_CUDA(cudaFree(bed->to));
    free(bed->pageable);
}

static struct machine measure(struct bench_bed *bed) {
    struct machine m = {};
    const long host = (long)bed->host_bytes, device = (long)bed->device_bytes;
    bed->page_locked = true;
    m.up = rate_of(send, bed, host / 4, host, 1);
    m.down = rate_of(fetch, bed, host / 4, host, 1);
    bed->page_locked = false;
    m.pageable_up = rate_of(send, bed, host / 4, host, 1);
    m.pageable_down = rate_of(fetch, bed, host / 4, host, 1);
    m.dram_read = rate_of(read_dram, bed, device / 2, device, 1);
    m.dram_copy = rate_of(copy, bed, device / 2, device, 2);
    m.l2 = rate_of(read_l2, bed, 4, 8, L2_BYTES);
    m.shared = rate_of(read_in_shared, bed, 16, 64, bed->sms * 4.0 * THREADS * 8 * 16);
    m.fp32 = rate_of(compute, bed, 8, 24, bed->sms * 8.0 * THREADS * FLOPS_A_ROUND);
    m.sync_us = time_of(wait_only, bed, 0);
    m.wait_us = time_of(launch_many, bed, 1);
    m.launch_us = (time_of(launch_many, bed, 200) - time_of(launch_many, bed, 100)) / 100;
    m.one_flop_us = time_of(one_flop, bed, 1);
    return m;
}

#endif
