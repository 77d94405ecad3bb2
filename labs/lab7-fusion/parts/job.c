/* job.c — see job.h: the data, the oracle, and one run. */
#include "job.h"
#include "lab7.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t count_of(const job *j) { return (size_t)j->shape.rows * (size_t)j->shape.cols; }

/* --- data ----------------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t mixed_seed, uint32_t place) {
    uint32_t x = place * 0x9E3779B1u + mixed_seed;
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

static uint32_t mixed(uint64_t seed) { return (uint32_t)((seed + 1) * 0x9E3779B97F4A7C15u >> 32); }

/* -1 to 1 */
static double unit(uint32_t mixed_seed, uint32_t place) { return hash(mixed_seed, place) * 0x1p-31 - 1; }

/* The middle of a row, and how far its floats lie from it at most. */
struct spread {
    double middle, width;
};

static bool is_even(int r) { return r % 8 == 3; }  /* equal floats: the variance is 0 */
static bool is_quiet(int r) { return r % 8 == 5; } /* a variance of about EPSILON */

static struct spread spread_of(uint32_t mixed_seed, enum job_data data, int r) {
    const double a = unit(mixed_seed + 77, (uint32_t)r), b = unit(mixed_seed + 99, (uint32_t)r);
    if (data == JOB_FAR) return (struct spread){(r % 2 ? -1 : 1) * (1500 + 250 * a), 1 + b / 4};
    if (is_even(r)) return (struct spread){0.5, 0};
    if (is_quiet(r)) return (struct spread){0, 0.0055};
    return (struct spread){a, 1.5 + b};
}

void job_fill_row(const job *j, uint64_t seed, int r, float *to) {
    const uint32_t mix = mixed(seed), first = (uint32_t)r * (uint32_t)j->shape.cols;
    const struct spread s = spread_of(mix, j->shape.data, r);
    for (int c = 0; c < j->shape.cols; c++) to[c] = (float)(s.middle + s.width * unit(mix, first + (uint32_t)c));
    /* Near the rows of equal floats. A program that takes it for every row's pivot is right where rows are tame,
     * whatever the seed, and wrong where they are far. */
    if (j->shape.data == JOB_TAME && r == 0) to[0] = 0.75f;
}

/* gamma: 0.5 to 1.5, and negative for some columns. beta: -1 to 1. */
static void fill_gamma_beta(const job *j) {
    const uint32_t mix = mixed(j->seed);
    for (int c = 0; c < j->shape.cols; c++) {
        const double v = 1 + unit(mix + 5, (uint32_t)c) / 2;
        j->gamma[c] = (float)(c % 7 == 2 ? -v : v);
        j->beta[c] = (float)unit(mix + 6, (uint32_t)c);
    }
}

static void send(float *to, const float *from, size_t count) {
    LAB_CUDA(cudaMemcpy(to, from, count * sizeof *from, cudaMemcpyHostToDevice));
}

static void send_fresh(job *j) {
    const int rows = j->shape.rows, cols = j->shape.cols;
    j->before = j->seed;
    j->seed = lab_fresh_seed() | 1;
    fill_gamma_beta(j);
    send(j->d_gamma, j->gamma, (size_t)cols);
    send(j->d_beta, j->beta, (size_t)cols);
    for (int r = 0; r < rows; r++) job_fill_row(j, j->seed, r, j->host + (size_t)r * (size_t)cols);
    send(j->d_x, j->host, count_of(j));
    memset(j->host, 0, count_of(j) * sizeof *j->host);
}

/* Two arrays are written last, before each run. They are larger than a card's L2, so it holds the same for a program
 * whose x has just come and for one that keeps its x. (Else one of two equal programs was a tenth slower.) */
void job_prepare(void *context) {
    job *j = context;
    if (!j->seed || j->counted) send_fresh(j); /* who is only timed keeps the data */
    lab_poison(j->d_scratch, count_of(j) + 2 * (size_t)j->shape.rows);
    lab_poison(j->d_y, count_of(j));
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    lab_stage("your norm_relu_add on %dx%d", j->shape.rows, j->shape.cols);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* --- the oracle ----------------------------------------------------------------------------------- */

struct job_row job_statistics(const float *x, int n) {
    struct job_row s = {0, 0};
    for (int c = 0; c < n; c++) s.mean += (double)x[c];
    s.mean /= n;
    for (int c = 0; c < n; c++) s.variance += ((double)x[c] - s.mean) * ((double)x[c] - s.mean);
    s.variance /= n;
    return s;
}

static double right_value(double x, const struct job_row *s, double root, double gamma, double beta) {
    return fmax(0, (x - s->mean) / root * gamma + beta) + x;
}

static double root_of(const struct job_row *s) { return sqrt(s->variance + (double)EPSILON); }

bool job_near(const job *j, int r, double got, double want) {
    const double tolerance = j->shape.data == JOB_TAME && (is_even(r) || is_quiet(r)) ? 2e-2 : 1e-4;
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}

/* --- a run ---------------------------------------------------------------------------------------- */

/* The gpu lane repeats runs of 33 million floats, and the host needs a second to look at them all: of those it looks at
 * each sixteenth row, at others each time, and at all once one is wrong. */
static int stride_of(const job *j) { return count_of(j) > 1 << 23 ? 16 : 1; }
static int first_of(const job *j) { return (int)(j->seed / 256 % (uint64_t)stride_of(j)); }

/* Looks at each row from `from` on, `stride` apart. */
static void compare(job *j, int from, int stride) {
    const int rows = j->shape.rows, cols = j->shape.cols;
    size_t first = 0, wrong = 0, poison = 0;
    fill_gamma_beta(j);
    for (int r = from; r < rows; r += stride) {
        job_fill_row(j, j->seed, r, j->line);
        const struct job_row s = j->row[r] = job_statistics(j->line, cols);
        const double root = root_of(&s);
        const float *y = j->host + (size_t)r * (size_t)cols;
        for (int c = 0; c < cols; c++) {
            const double want = right_value((double)j->line[c], &s, root, (double)j->gamma[c], (double)j->beta[c]);
            const double error = fabs((double)y[c] - want);
            const bool missing = lab_is_poison(y[c]);
            if (!(error <= j->worst)) {
                j->worst = isnan(error) ? HUGE_VAL : error;
                j->worst_row = r;
            }
            poison += missing;
            if (j->shape.data == JOB_FAR ? !missing : job_near(j, r, (double)y[c], want)) continue;
            if (!wrong++) first = (size_t)r * (size_t)cols + (size_t)c;
        }
    }
    if (wrong && stride > 1) return compare(j, 0, 1);
    if (wrong) job_explain(j, first, wrong, poison);
}

bool job_is_right(job *j) {
    LAB_CUDA(cudaMemcpy(j->host, j->d_y, count_of(j) * sizeof(float), cudaMemcpyDeviceToHost));
    compare(j, first_of(j), stride_of(j));
    return !j->failure[0];
}

static void find_changed_input(job *j) {
    const int rows = j->shape.rows, cols = j->shape.cols;
    LAB_CUDA(cudaMemcpy(j->host, j->d_x, count_of(j) * sizeof(float), cudaMemcpyDeviceToHost));
    for (int r = first_of(j); r < rows && !j->failure[0]; r += stride_of(j)) {
        const float *x = j->host + (size_t)r * (size_t)cols;
        job_fill_row(j, j->seed, r, j->line);
        if (!memcmp(x, j->line, (size_t)cols * sizeof *x)) continue;
        int c = 0;
        while (!memcmp(&x[c], &j->line[c], sizeof *x)) c++;
        j->mistake = INPUT_CHANGED;
        LAB_SAY(j->failure, "%dx%d: the input was changed at x[%d][%d]; it is const", rows, cols, r, c);
    }
}

static void verify(void *context) {
    job *j = context;
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your norm_relu_add");
    if (j->failure[0]) return;
    if (job_is_right(j)) find_changed_input(j);
    int side = j->failure[0] ? 0 : lab_guards_broken(j->d_y, count_of(j));
    if (!side) return;
    j->mistake = OUT_OF_BOUNDS;
    LAB_SAY(j->failure, "%dx%d: memory %s the result was written", j->shape.rows, j->shape.cols,
            side < 0 ? "before" : "behind");
}

job *job_new(lab_program *program, const char *counted, const job_shape *shape) {
    const size_t cols = (size_t)shape->cols, rows = (size_t)shape->rows, count = rows * cols;
    job *j = lab_hide(sizeof *j);
    lab_use(program);
    *j = (job){.program = program, .counted = counted, .shape = *shape};
    j->d_x = lab_alloc(count);
    j->d_gamma = lab_alloc(cols);
    j->d_beta = lab_alloc(cols);
    j->d_y = lab_alloc(count);
    j->d_scratch = lab_alloc(count + 2 * rows);
    j->host = malloc(count * sizeof *j->host);
    j->row = malloc(rows * sizeof *j->row);
    j->gamma = malloc(cols * sizeof *j->gamma);
    j->beta = malloc(cols * sizeof *j->beta);
    j->line = malloc(cols * sizeof *j->line);
    if (!j->host || !j->row || !j->gamma || !j->beta || !j->line) lab_die("out of memory");
    j->message = (struct lab7_message){
        .d_x = (uint64_t)j->d_x,
        .d_gamma = (uint64_t)j->d_gamma,
        .d_beta = (uint64_t)j->d_beta,
        .d_y = (uint64_t)j->d_y,
        .d_scratch = (uint64_t)j->d_scratch,
        .rows = shape->rows,
        .cols = shape->cols,
    };
    j->work = (lab_work){program, job_prepare, verify, j, &j->message, sizeof j->message, NULL, 0, NULL};
    return j;
}

void job_free(job *j) {
    lab_use(j->program);
    lab_free(j->d_x);
    lab_free(j->d_gamma);
    lab_free(j->d_beta);
    lab_free(j->d_y);
    lab_free(j->d_scratch);
    free(j->host);
    free(j->row);
    free(j->gamma);
    free(j->beta);
    free(j->line);
}
