/* questions.cuh — what your functions are asked, by whom, and where in your file an answer comes from.
 *
 * Sizes, works and machines come from the seed, beside those of the handout. The reference is asked the same; what it
 * says is computed after yours.
 */
#ifndef QUESTIONS_CUH
#define QUESTIONS_CUH

#include "lab.h"
#include "lab0.h"
#include "machine.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- places ------------------------------------------------------------------------------------- */

/* Your file. If the compiler was given a copy, its first line names the original: #line 1 "NAME". */
static const char *your_file(void) {
    static char name[256];
    FILE *f = fopen(ceilings_source(), "r");
    if (!f || fscanf(f, "#line 1 \"%255[^\"]\"", name) != 1) snprintf(name, sizeof name, "%s", ceilings_source());
    if (f) fclose(f);
    return name;
}

/* The first line with this text that is no comment, or the first `return` from there on. */
static void blame(const char *id, const char *text) {
    lab_line l = {};
    snprintf(l.file, sizeof l.file, "%s", your_file());
    FILE *f = fopen(l.file, "r");
    char line[512];
    bool found = false;
    for (int n = 1; f && fgets(line, sizeof line, f); n++) {
        if (line[0] == '/' || !strncmp(line, " *", 2)) continue;
        if (!found && strstr(line, text)) found = true, l.line = n;
        if (!found || !strstr(line, "return")) continue;
        l.line = n;
        break;
    }
    if (f) fclose(f);
    if (found)
        lab_blame(id, &l);
    else
        lab_where(id, "%s", text);
}

/* --- questions and answers ---------------------------------------------------------------------- */

enum kind { COPY_WORK, SAXPY, ADDITION, MATMUL, SCORES, INTENSITY, LEAST, BOUND, SHEET_BYTES, SHEET_FLOPS, PREDICT };
enum { WORKS = SCORES + 1 };
static const char *const function_of[] = {"copy_work",          "saxpy_work",         "one_flop_work", "matmul_work",
                                          "scores_work",        "intensity",          "least_us",      "bound_of",
                                          "sheet_bytes_per_us", "sheet_flops_per_us", "predict_us"};

struct question {
    enum kind kind;
    long n, d;
    struct work w;
    struct ceilings c;
    struct sheet s;
    enum trial trial;
};
struct answer {
    double a, b; /* of a work: bytes and operations */
};
enum { MOST = 96 };
static struct question questions[MOST];
static int nquestions;

static void add(struct question q) {
    if (nquestions == MOST) lab_die("the harness has more questions than room");
    questions[nquestions++] = q;
}

static struct answer pair(struct work w) { return {w.bytes, w.flops}; }

static struct answer ask_you(const struct question *q) {
    switch (q->kind) {
    case COPY_WORK: return pair(copy_work(q->n));
    case SAXPY: return pair(saxpy_work(q->n));
    case ADDITION: return pair(one_flop_work());
    case MATMUL: return pair(matmul_work(q->n));
    case SCORES: return pair(scores_work(q->n, q->d));
    case INTENSITY: return {intensity(q->w), 0};
    case LEAST: return {least_us(q->w, q->c), 0};
    case BOUND: return {(double)bound_of(q->w, q->c), 0};
    case SHEET_BYTES: return {sheet_bytes_per_us(q->s), 0};
    case SHEET_FLOPS: return {sheet_flops_per_us(q->s), 0};
    case PREDICT: return {predict_us(q->trial, (double)q->n, q->s), 0};
    }
    return {};
}

static struct answer ask_reference(const struct question *q) {
    switch (q->kind) {
    case COPY_WORK: return pair(reference_copy_work(q->n));
    case SAXPY: return pair(reference_saxpy_work(q->n));
    case ADDITION: return pair(reference_one_flop_work());
    case MATMUL: return pair(reference_matmul_work(q->n));
    case SCORES: return pair(reference_scores_work(q->n, q->d));
    case INTENSITY: return {reference_intensity(q->w), 0};
    case LEAST: return {reference_least_us(q->w, q->c), 0};
    case BOUND: return {(double)reference_bound_of(q->w, q->c), 0};
    case SHEET_BYTES: return {reference_sheet_bytes_per_us(q->s), 0};
    case SHEET_FLOPS: return {reference_sheet_flops_per_us(q->s), 0};
    case PREDICT: return {reference_predict_us(q->trial, (double)q->n, q->s), 0};
    }
    return {};
}

/* Asks all questions, in this order or the other. Nothing of the harness's notes lies open meanwhile. */
static void ask_all(struct answer *answers, bool backwards) {
    for (int i = 0; i < nquestions; i++) {
        int k = backwards ? nquestions - 1 - i : i;
        lab_stage("your %s", function_of[questions[k].kind]);
        struct question q = questions[k];
        lab_lock();
        double before = lab_now();
        struct answer a = ask_you(&q);
        double after = lab_now();
        lab_unlock();
        answers[k] = a;
        /* The virtual clock stands still while the host computes: only CUDA's calls move it. */
        if (lab_lane() == LAB_SIM && after != before && lab_passed("pure")) {
            lab_fail("pure");
            blame("pure", function_of[q.kind]);
            lab_why("pure", "%s called CUDA: a prediction is made before anything is measured", function_of[q.kind]);
        }
    }
    lab_stage("the harness");
}

/* The same bits, not just the same value. */
static void hold_pure(const struct answer *first, const struct answer *again, const char *when) {
    for (int i = 0; i < nquestions && lab_passed("pure"); i++) {
        if (!memcmp(&first[i], &again[i], sizeof *first)) continue;
        lab_fail("pure");
        blame("pure", function_of[questions[i].kind]);
        lab_why("pure", "%s gave %g at first, and %g to the same question %s", function_of[questions[i].kind],
                first[i].a, again[i].a, when);
    }
}

/* --- the questions ------------------------------------------------------------------------------ */

/* A number from 0 to 1 that the seed gives. */
static double random_share(void) { return (double)(lab_fresh_seed() >> 11) / 9007199254740992.0; }

static struct sheet this_sheet(void) {
    struct sheet s = {};
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
    s.link_gbs = lab_link_gbs();
    return s;
}

static void ask_about_works(void) {
    const long hidden = 1001 + 2 * (long)(random_share() * 500), width = 16 + (long)(random_share() * 100);
    const long sizes[] = {64, 1024, 16384, 1l << 26, hidden};
    for (int k = 0; k < WORKS; k++)
        for (int i = 0; i < 5; i++)
            if (k < MATMUL || sizes[i] < 1l << 20) add({(enum kind)k, sizes[i], i == 4 ? width : 64});
}

/* Random machines, and works of up to a thousand us under each ceiling: each of the three decides often. */
static void ask_about_ceilings(void) {
    for (int i = 0; i < 15; i++) {
        struct question q = {INTENSITY};
        q.c = {exp2(16 + 8 * random_share()), exp2(18 + 9 * random_share()), exp2(10 * random_share())};
        q.w.bytes = q.c.bytes_per_us * exp2(10 * random_share());
        q.w.flops = q.c.flops_per_us * exp2(10 * random_share());
        add(q);
        q.kind = LEAST, add(q);
        q.kind = BOUND, add(q);
    }
}

static void ask_about_sheets(struct sheet mine) {
    for (int i = 0; i < 4; i++) {
        struct question q = {SHEET_BYTES};
        q.s = i ? (struct sheet){20 + (int)(random_share() * 150), i % 2 ? 64 : 128, 900 + 1500 * random_share(),
                                 128 * (1 + (int)(random_share() * 40)), 900 + 4000 * random_share()}
                : mine;
        add(q);
        q.kind = SHEET_FLOPS, add(q);
    }
}

/* Sizes that a reader cannot know beforehand, and that the buffers have room for. */
static long trial_amount(enum trial t, const struct bench_bed *bed) {
    double share = 0.5 + 0.5 * random_share();
    switch (t) {
    case ONE_FLOP: return 1;
    case SEND: return (long)(share * (double)bed->host_bytes) / 16 * 16;
    case COPY: return (long)(share * (double)bed->device_bytes) / 16 * 16;
    case FMA: return (long)(share * 48);
    }
    return 0;
}
/* From the amount of machine.cuh's works to what predict_us is told: bytes, floats, operations. */
static long trial_n(enum trial t, const struct bench_bed *bed, long amount) {
    return t == COPY ? amount / 4 : t == FMA ? amount * bed->sms * 8 * THREADS * FLOPS_A_ROUND : amount;
}

static double trial_time(enum trial t, struct bench_bed *bed, long amount) {
    static void (*const works[])(void *) = {one_flop, send, copy, compute};
    bed->page_locked = true;
    return time_of(works[t], bed, amount);
}

#endif
