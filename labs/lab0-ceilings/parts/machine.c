/* machine.c — the machine's ceilings, measured: small kernels and copies (ladder.cu), the same ones in both lanes. */
#include "machine.h"

#include <math.h>

enum { REPETITIONS = 9 }; /* gpu lane; the sim lane's clock has no noise */

/* --- one experiment ---------------------------------------------------------------------------- */

static double measure(struct bench_bed *bed, enum lab0_piece piece, long amount) {
    bed->message.job.piece = piece;
    bed->message.job.amount = amount;
    lab_timer how = {LAB_HOST_CLOCK, 2, REPETITIONS, true};
    lab_work w = {.program = bed->program, .message = &bed->message, .size = sizeof bed->message};
    return lab_time_ours(how, &w);
}

double bed_time(struct bench_bed *bed, enum lab0_piece piece, long amount) {
    char name[48];
    LAB_SAY(name, "piece %d of %ld", (int)piece, amount);
    return LAB_OTHER(name, measure(bed, piece, amount));
}

/* Returns units in 10^9 a second, of a work that does `units` for each of its amount. */
static double rate_of(struct bench_bed *bed, enum lab0_piece piece, long small, long large, double units) {
    double us = bed_time(bed, piece, large) - bed_time(bed, piece, small);
    return us > 0 ? (double)(large - small) * units / us / 1e3 : 0;
}

struct bench_bed bed_new(void) {
    const bool sim = lab_lane() == LAB_SIM;
    void *from, *to;
    struct bench_bed bed = {.program = lab_open(LAB_LADDER, "machine")};
    bed.host_bytes = (size_t)(sim ? 16 : 64) << 20;
    bed.device_bytes = (size_t)(sim ? 192 : 1024) << 20;
    LAB_CUDA(cudaDeviceGetAttribute(&bed.sms, cudaDevAttrMultiProcessorCount, 0));
    struct lab0_job *job = &bed.message.job;
    bed.message.what = LAB0_RUN;
    *job = (struct lab0_job){.piece = GET_READY, .sms = bed.sms, .amount = (int64_t)bed.host_bytes};
    lab_play(bed.program, &bed.message, sizeof bed.message, NULL, 0);
    LAB_CUDA(cudaGetLastError());
    LAB_CUDA(cudaMalloc(&from, bed.device_bytes));
    LAB_CUDA(cudaMalloc(&to, bed.device_bytes));
    LAB_CUDA(cudaMemset(from, 0, bed.device_bytes));
    job->from = (uint64_t)from;
    job->to = (uint64_t)to;
    return bed;
}

void bed_free(struct bench_bed *bed) {
    lab_use(bed->program);
    LAB_CUDA(cudaFree((void *)bed->message.job.from));
    LAB_CUDA(cudaFree((void *)bed->message.job.to));
}

/* --- all of them --------------------------------------------------------------------------------- */

struct machine bed_measure(struct bench_bed *bed) {
    struct machine m;
    const long host = (long)bed->host_bytes, device = (long)bed->device_bytes;
    const double threads = (double)bed->sms * LAB0_THREADS;
    m.up = rate_of(bed, SEND_PINNED, host / 4, host, 1);
    m.down = rate_of(bed, FETCH_PINNED, host / 4, host, 1);
    m.pageable_up = rate_of(bed, SEND_PAGEABLE, host / 4, host, 1);
    m.pageable_down = rate_of(bed, FETCH_PAGEABLE, host / 4, host, 1);
    m.dram_read = rate_of(bed, READ_MEMORY, device / 2, device, 1);
    m.dram_copy = rate_of(bed, COPY_ARRAY, device / 2, device, 2);
    m.l2 = rate_of(bed, READ_L2, 4, 8, LAB0_L2_BYTES);
    m.shared = rate_of(bed, READ_SHARED, 16, 64, threads * LAB0_SHARED_BLOCKS * LAB0_SHARED_BYTES);
    m.fp32 = rate_of(bed, COMPUTE, 8, 24, threads * LAB0_FMA_BLOCKS * LAB0_ROUND_FLOPS);
    m.sync_us = bed_time(bed, WAIT_ONLY, 0);
    m.wait_us = bed_time(bed, LAUNCH_MANY, 1);
    m.launch_us = (bed_time(bed, LAUNCH_MANY, 200) - bed_time(bed, LAUNCH_MANY, 100)) / 100;
    m.one_flop_us = bed_time(bed, ADD_ONCE, 1);
    return m;
}

struct sheet this_sheet(void) {
    struct sheet s = {.link_gbs = lab_link_gbs()};
    int khz = 0, mem_khz = 0, major = 0, minor = 0;
    LAB_CUDA(cudaDeviceGetAttribute(&s.sms, cudaDevAttrMultiProcessorCount, 0));
    LAB_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    LAB_CUDA(cudaDeviceGetAttribute(&mem_khz, cudaDevAttrMemoryClockRate, 0));
    LAB_CUDA(cudaDeviceGetAttribute(&s.bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    LAB_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    LAB_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    int capability = 10 * major + minor; /* 64 fp32 lanes in an SM of Volta, Turing and the A100; 128 elsewhere */
    s.lanes = capability == 70 || capability == 75 || capability == 80 ? 64 : 128;
    s.clock_mhz = khz / 1e3;
    s.mem_clock_mhz = mem_khz / 1e3;
    return s;
}

/* --- five kernels for the drawn roofline ----------------------------------------------------------- */

/* The element i of what FILL writes. */
static double number(long i) { return (double)((float)((unsigned)i * 7919u % 1000u) / 1000); }

/* A kernel that multiplies wrongly has no place in the picture. */
static void hold_product(const struct bench_bed *bed, const char *name) {
    const long n = bed->message.job.amount, places[] = {0, n * n / 2 + n / 3, n * n - 1};
    const float *to = (const float *)bed->message.job.to;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const long place = places[i];
        double want = 0;
        for (long k = 0; k < n; k++) want += number(place / n * n + k) * number(n * n + k * n + place % n);
        float got;
        LAB_CUDA(cudaMemcpy(&got, to + place, sizeof got, cudaMemcpyDeviceToHost));
        if (!(fabs(got - want) <= 1e-4 * want)) lab_die("%s gave %g in place of %g", name, (double)got, want);
    }
}

void bed_spots(struct bench_bed *bed, struct spot spots[SPOTS]) {
    spots[0] = (struct spot){.name = "SAXPY, 2^25 floats", .us = bed_time(bed, SAXPY, SPOT_FLOATS), .nudge = 0.67};
    spots[1] = (struct spot){.name = "one addition", .us = bed_time(bed, ADD_ONCE, 1), .nudge = 1};
    bed_time(bed, FILL, 2 * SPOT_LARGE * SPOT_LARGE);
    spots[2] = (struct spot){.name = "matmul 64", .us = bed_time(bed, MATMUL_SIMPLE, SPOT_SMALL), .nudge = 1};
    hold_product(bed, "matmul_simple");
    spots[3] =
        (struct spot){.name = "matmul 512, simple", .us = bed_time(bed, MATMUL_SIMPLE, SPOT_LARGE), .nudge = 0.67};
    hold_product(bed, "matmul_simple");
    spots[4] =
        (struct spot){.name = "matmul 512, in tiles", .us = bed_time(bed, MATMUL_TILED, SPOT_LARGE), .nudge = 1.5};
    hold_product(bed, "matmul_tiled");
}
