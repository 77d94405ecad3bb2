/* job.cuh — one call of a transpose, from fresh data to a checked output.
 *
 * The data of each call is new. The output holds poison before it. What is right is computed element by element after
 * the call has returned and the device is idle, so that no memory ever holds an expected output that student code could
 * copy. What the harness knows of a run lies in hidden memory; student code sees its four arguments.
 */
#ifndef JOB_CUH
#define JOB_CUH

#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*transpose_fn)(const float *d_in, float *d_out, int rows, int cols);

/* Kinds of wrong, because each has another way out. */
enum mistake { NO_MISTAKE, MISPLACED, UNWRITTEN, NOWHERE, INPUT_CHANGED, OUT_OF_BOUNDS };

typedef struct {
    transpose_fn fn;     /* yours, the starter's or the reference's: the same function, compiled under three names */
    const char *counted; /* the student's: the name of its counters; NULL for the others, which are only timed */
    int rows, cols;
    uint64_t seed; /* of the last run's data */
    float *d_in, *d_out, *host;
    double begin, end;    /* of the last run, on this lane's clock */
    enum mistake mistake; /* the first one's kind */
    lab_work as_work;     /* what the timing helper calls */
    char failure[384];    /* what is wrong in the output */
} job;

/* All that is open to student code while it runs. */
static struct {
    transpose_fn fn;
    float *d_in, *d_out;
    int rows, cols;
} now;

static job *job_new(transpose_fn fn, const char *counted, int rows, int cols) {
    size_t count = (size_t)rows * cols;
    job *j = (job *)lab_hide(sizeof *j);
    j->fn = fn;
    j->counted = counted;
    j->rows = rows;
    j->cols = cols;
    j->d_in = lab_alloc(count);
    j->d_out = lab_alloc(count);
    j->host = (float *)malloc(count * sizeof *j->host);
    if (!j->host) lab_die("out of memory");
    return j;
}

static void job_free(job *j) {
    lab_free(j->d_in);
    lab_free(j->d_out);
    free(j->host);
}

static void prepare(void *context) {
    job *j = (job *)context;
    size_t count = (size_t)j->rows * j->cols;
    now.fn = j->fn;
    now.d_in = j->d_in;
    now.d_out = j->d_out;
    now.rows = j->rows;
    now.cols = j->cols;
    j->seed = lab_fresh_seed();
    lab_fill(j->seed, j->host, count);
    LAB_CUDA(cudaMemcpy(j->d_in, j->host, count * sizeof(float), cudaMemcpyHostToDevice));
    memset(j->host, 0, count * sizeof(float));
    lab_poison(j->d_out, count);
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    lab_stage("your transpose on %dx%d", j->rows, j->cols);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

static void work(void *none) {
    (void)none; /* the job is locked away */
    now.fn(now.d_in, now.d_out, now.rows, now.cols);
}

/* The oracle: element k of the output is A[k % rows][k / rows]. */
static double right_value(size_t k, void *context) {
    const job *j = (const job *)context;
    uint32_t i = (uint32_t)k, rows = (uint32_t)j->rows;
    return lab_data(j->seed, i % rows * (uint32_t)j->cols + i / rows);
}

/* "out[0][1] holds A[0][1], wants A[1][0] (4032 of 4096 are wrong)" */
static void describe(job *j, const lab_diff *d) {
    int64_t at = (int64_t)d->first[0], from = lab_data_index(j->seed, d->got[0], (size_t)j->rows * j->cols);
    int r = (int)(at / j->rows), c = (int)(at % j->rows);
    char holds[64];
    if (lab_is_poison(d->got[0])) {
        j->mistake = UNWRITTEN;
        snprintf(holds, sizeof holds, "was never written");
    } else if (from < 0) {
        j->mistake = NOWHERE;
        snprintf(holds, sizeof holds, "holds a value that is nowhere in A");
    } else {
        j->mistake = MISPLACED;
        snprintf(holds, sizeof holds, "holds A[%d][%d]", (int)(from / j->cols), (int)(from % j->cols));
    }
    bool fresh = lab_lane() == LAB_SIM && lab_is_fresh(d->got[0]);
    snprintf(j->failure, sizeof j->failure, "out[%d][%d] %s, wants A[%d][%d] (%zu of %zu are wrong)%s", r, c, holds, c,
             r, d->wrong, (size_t)j->rows * j->cols,
             fresh ? "\nread before it was written? Fresh shared memory holds 0xCD bytes here, as this value does"
                   : "");
}

static void verify(void *context) {
    job *j = (job *)context;
    size_t count = (size_t)j->rows * j->cols;
    lab_diff d;
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your transpose");
    if (j->failure[0]) return;
    LAB_CUDA(cudaMemcpy(j->host, j->d_out, count * sizeof(float), cudaMemcpyDeviceToHost));
    if (!lab_compare(j->host, count, right_value, j, 0, &d)) return describe(j, &d);
    LAB_CUDA(cudaMemcpy(j->host, j->d_in, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < count; k++)
        if (j->host[k] != lab_data(j->seed, (uint32_t)k)) {
            j->mistake = INPUT_CHANGED;
            snprintf(j->failure, sizeof j->failure, "the input was changed at A[%d][%d]; it is const",
                     (int)(k / (size_t)j->cols), (int)(k % (size_t)j->cols));
            return;
        }
    int side = lab_guards_broken(j->d_out, count);
    if (!side) return;
    j->mistake = OUT_OF_BOUNDS;
    snprintf(j->failure, sizeof j->failure, "memory %s the output was written", side < 0 ? "before" : "behind");
}

static const lab_work *work_of(job *j) {
    j->as_work = (lab_work){prepare, work, verify, j};
    return &j->as_work;
}

#endif
