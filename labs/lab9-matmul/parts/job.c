/* job.c — see job.h: the data, the oracle, and one run. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t count_a(const job *j) { return (size_t)j->shape.m * (size_t)j->shape.k; }
static size_t count_b(const job *j) { return (size_t)j->shape.k * (size_t)j->shape.n; }
static size_t count_c(const job *j) { return (size_t)j->shape.m * (size_t)j->shape.n; }

/* --- data ----------------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t mixed_seed, uint32_t place) {
    uint32_t x = place * 0x9E3779B1u + mixed_seed;
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

static uint32_t mixed(uint64_t seed) { return (uint32_t)((seed + 1) * 0x9E3779B97F4A7C15u >> 32); }

void job_fill(job *j, uint64_t seed) {
    const uint32_t mix = mixed(seed);
    for (size_t i = 0; i < count_a(j); i++) j->a[i] = (float)(hash(mix, (uint32_t)i) * 0x1p-31 - 1);
    for (size_t i = 0; i < count_b(j); i++) j->b[i] = (float)(hash(mix + 77, (uint32_t)i) * 0x1p-31 - 1);
}

static void send(float *to, const float *from, size_t count) {
    LAB_CUDA(cudaMemcpy(to, from, count * sizeof *from, cudaMemcpyHostToDevice));
}

void job_prepare(void *context) {
    job *j = context;
    if (!j->seed || j->counted) { /* who is only timed keeps the data */
        j->before = j->seed;
        j->seed = lab_fresh_seed() | 1;
        job_fill(j, j->seed);
    }
    /* Sent in any case: before each program's run a card's L2 holds the same then. */
    send(j->d_a, j->a, count_a(j));
    send(j->d_b, j->b, count_b(j));
    lab_poison(j->d_c, count_c(j));
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    memset(j->a, 0, count_a(j) * sizeof *j->a);
    memset(j->b, 0, count_b(j) * sizeof *j->b);
    lab_stage("your matmul on %dx%dx%d", j->shape.m, j->shape.n, j->shape.k);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* --- the oracle ----------------------------------------------------------------------------------- */

void job_right_row(job *j, int i) {
    const int n = j->shape.n, k = j->shape.k;
    memset(j->want, 0, (size_t)n * sizeof *j->want);
    memset(j->around, 0, (size_t)n * sizeof *j->around);
    for (int x = 0; x < k; x++) {
        const double a = (double)j->a[(size_t)i * (size_t)k + (size_t)x];
        const float *b = j->b + (size_t)x * (size_t)n;
        for (int c = 0; c < n; c++) {
            const double product = a * (double)b[c];
            j->want[c] += product;
            j->around[c] += fabs(product);
        }
    }
}

bool job_near(const job *j, int col, double got, double relative) {
    return fabs(got - j->want[col]) <= relative * j->around[col];
}

/* --- a run ---------------------------------------------------------------------------------------- */

static const float *row_of(const job *j, int i) { return j->c + (size_t)i * (size_t)j->shape.n; }

/* Draws Freivalds' vector, and multiplies B by it: what every row of A is multiplied by. */
static void project(job *j) {
    const uint32_t mix = mixed(j->seed ^ 0x5eed);
    for (int c = 0; c < j->shape.n; c++) j->signs[c] = hash(mix, (uint32_t)c) & 1 ? 1 : -1;
    for (int x = 0; x < j->shape.k; x++) {
        const float *b = j->b + (size_t)x * (size_t)j->shape.n;
        j->sum[x] = j->bound[x] = 0;
        for (int c = 0; c < j->shape.n; c++) {
            j->sum[x] += j->signs[c] * (double)b[c];
            j->bound[x] += fabs((double)b[c]);
        }
    }
}

/* Freivalds' check of one row. The rounding errors of its n elements are as good as random, so their sum grows with the
 * root of n. */
static bool row_may_be_right(const job *j, int i) {
    const int n = j->shape.n, k = j->shape.k;
    const float *a = j->a + (size_t)i * (size_t)k, *c = row_of(j, i);
    double want = 0, got = 0, bound = 0;
    for (int x = 0; x < k; x++) {
        want += (double)a[x] * j->sum[x];
        bound += fabs((double)a[x]) * j->bound[x];
    }
    for (int col = 0; col < n; col++) got += j->signs[col] * (double)c[col];
    return fabs(got - want) <= JOB_RELATIVE * bound / sqrt(n);
}

/* Compares a row element by element; returns how many are wrong. */
static size_t compare_row(job *j, int i, size_t so_far, size_t *poison) {
    const float *c = row_of(j, i);
    size_t wrong = 0;
    job_right_row(j, i);
    for (int col = 0; col < j->shape.n; col++) {
        *poison += lab_is_poison(c[col]);
        if (job_near(j, col, (double)c[col], JOB_RELATIVE)) continue;
        if (!so_far && !wrong) j->row = i, j->col = col;
        wrong++;
    }
    return wrong;
}

/* A row that is compared element by element, whatever Freivalds' check says. */
static bool is_sampled(const job *j, int i) {
    enum { ELEMENTWISE = 1 << 24, SAMPLES = 8 }; /* multiply-adds of a small result; rows of a large one */
    const uint64_t each = (uint64_t)(j->shape.m + SAMPLES - 1) / SAMPLES;
    return (double)count_c(j) * j->shape.k <= ELEMENTWISE || ((uint64_t)i + j->seed / 2) % each == 0;
}

bool job_is_right(job *j) {
    enum { ENOUGH = 64 }; /* wrong rows say what is wrong */
    size_t wrong = 0, poison = 0;
    int rows = 0;
    LAB_CUDA(cudaMemcpy(j->c, j->d_c, count_c(j) * sizeof(float), cudaMemcpyDeviceToHost));
    job_fill(j, j->seed);
    project(j);
    for (int i = 0; i < j->shape.m && (rows < ENOUGH || j->shape.m <= 4 * ENOUGH); i++) {
        if (!is_sampled(j, i) && row_may_be_right(j, i)) continue;
        const size_t here = compare_row(j, i, wrong, &poison);
        wrong += here;
        rows += here > 0;
    }
    if (wrong) job_explain(j, wrong, poison);
    return !j->failure[0];
}

/* Returns the first place where the device's copy of an input differs from the host's, or -1. now: room for it. */
static long first_change(float *now, const float *device, const float *host, size_t count) {
    LAB_CUDA(cudaMemcpy(now, device, count * sizeof *now, cudaMemcpyDeviceToHost));
    if (!memcmp(now, host, count * sizeof *now)) return -1;
    long at = 0;
    while (!memcmp(&now[at], &host[at], sizeof *now)) at++;
    return at;
}

static void find_changed_input(job *j) {
    const size_t room = count_a(j) > count_b(j) ? count_a(j) : count_b(j);
    float *now = malloc(room * sizeof *now);
    long a = -1, b = -1;
    if (now) {
        a = first_change(now, j->d_a, j->a, count_a(j));
        b = first_change(now, j->d_b, j->b, count_b(j));
    } else {
        lab_die("out of memory");
    }
    free(now);
    if (a < 0 && b < 0) return;
    const long at = a >= 0 ? a : b, cols = a >= 0 ? j->shape.k : j->shape.n;
    j->mistake = INPUT_CHANGED;
    LAB_SAY(j->failure, "%dx%dx%d: the input was changed at %c[%ld][%ld]; it is const", j->shape.m, j->shape.n,
            j->shape.k, a >= 0 ? 'a' : 'b', at / cols, at % cols);
}

static void verify(void *context) {
    job *j = context;
    j->end = lab_now();
    if (!j->counted) return;
    lab_count_end();
    lab_stage("the harness, after your matmul");
    if (j->failure[0]) return;
    if (job_is_right(j)) find_changed_input(j);
    const int side = j->failure[0] ? 0 : lab_guards_broken(j->d_c, count_c(j));
    if (!side) return;
    j->mistake = OUT_OF_BOUNDS;
    LAB_SAY(j->failure, "%dx%dx%d: memory %s the result was written", j->shape.m, j->shape.n, j->shape.k,
            side < 0 ? "before" : "behind");
}

job *job_new(lab_program *program, const char *counted, const job_shape *shape) {
    job *j = lab_hide(sizeof *j);
    const size_t n = (size_t)shape->n;
    lab_use(program);
    *j = (job){.program = program, .counted = counted, .shape = *shape};
    j->d_a = lab_alloc(count_a(j));
    j->d_b = lab_alloc(count_b(j));
    j->d_c = lab_alloc(count_c(j));
    j->a = malloc(count_a(j) * sizeof *j->a);
    j->b = malloc(count_b(j) * sizeof *j->b);
    j->c = malloc(count_c(j) * sizeof *j->c);
    j->want = malloc(n * sizeof *j->want);
    j->around = malloc(n * sizeof *j->around);
    j->signs = malloc(n * sizeof *j->signs);
    j->sum = malloc((size_t)shape->k * sizeof *j->sum);
    j->bound = malloc((size_t)shape->k * sizeof *j->bound);
    if (!j->a || !j->b || !j->c || !j->want || !j->around || !j->signs || !j->sum || !j->bound)
        lab_die("out of memory");
    j->message = (struct lab9_message){
        .d_a = (uint64_t)j->d_a,
        .d_b = (uint64_t)j->d_b,
        .d_c = (uint64_t)j->d_c,
        .m = shape->m,
        .n = shape->n,
        .k = shape->k,
    };
    j->work = (lab_work){program, job_prepare, verify, j, &j->message, sizeof j->message, NULL, 0, NULL};
    return j;
}

void job_free(job *j) {
    lab_use(j->program);
    lab_free(j->d_a);
    lab_free(j->d_b);
    lab_free(j->d_c);
    free(j->a);
    free(j->b);
    free(j->c);
    free(j->want);
    free(j->around);
    free(j->signs);
    free(j->sum);
    free(j->bound);
}
