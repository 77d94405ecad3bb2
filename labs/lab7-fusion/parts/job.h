/* job.h — one call of norm_relu_add, from fresh data to a checked result.
 *
 * Each call has fresh data and a poisoned result; scratch holds poison, too. What is right is computed in double
 * precision after the call has returned and the device is idle, row by row, so no memory ever holds a right result
 * that student code could copy.
 *
 * The data is of two kinds. TAME rows have a mean of -1 to 1 and a deviation of about as much, so any order of the
 * arithmetic will do; among them are rows of equal floats, and rows of a deviation so small that EPSILON decides. FAR
 * rows have a mean of a thousand times their deviation: there the order decides.
 */
#ifndef LAB7_JOB_H
#define LAB7_JOB_H

#include "lab.h"
#include "messages.h"

enum job_data { JOB_TAME, JOB_FAR };

typedef struct {
    int rows, cols;
    enum job_data data;
} job_shape;

/* What is wrong with a result. */
enum mistake {
    NO_MISTAKE,
    NOTHING_WRITTEN, /* not one element */
    LAST_COLUMNS,    /* the last columns were not written */
    LAST_ROWS,
    UNWRITTEN, /* other elements were not written */
    STALE,     /* right for the data, or the sums, of the call before */
    NOT_A_NUMBER,
    NO_RELU,
    RELU_LAST,
    NO_ADD,
    ADDS_NORM,
    NO_GAMMA,
    NO_BETA,
    SWAPPED, /* gamma and beta */
    BY_ROW,  /* gamma[r], beta[r] */
    NO_MEAN,
    UNBIASED,
    NO_EPSILON,
    EPSILON_OUTSIDE,
    NO_ROOT,
    TIMES_ROOT,
    RAW_SQUARES,    /* the mean of the squares is taken for the variance */
    OTHER_ROW,      /* mean and variance of another row */
    OF_A_PART,      /* of the first floats of the row only */
    OTHER_COUNT,    /* sums divided by another number than cols */
    PADDED,         /* places beyond the end of the row entered the sums */
    THREADS_DIFFER, /* each thread, or warp, has statistics of its own */
    OTHER_STATISTICS,
    WRONG,
    INPUT_CHANGED,
    OUT_OF_BOUNDS /* memory beside the result was written; gpu lane */
};

struct job_row {
    double mean, variance;
};

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL for the others, which are only timed */
    job_shape shape;
    struct lab7_message message;
    uint64_t seed;   /* of the last run's data */
    uint64_t before; /* of the run before it; 0: none */
    float *d_x, *d_gamma, *d_beta, *d_y, *d_scratch;
    float *host;                /* the result, after a run */
    float *gamma, *beta, *line; /* cols floats each; line: a row of x */
    struct job_row *row;        /* the right statistics, after a run */
    double begin, end;          /* of the last run, on this lane's clock */
    double worst;               /* the largest distance of an element to the right one; HUGE_VAL for a NaN */
    int worst_row;              /* where that is */
    int first_row;              /* the row of the first wrong element */
    enum mistake mistake;       /* the first one's kind. FAR data has none but unwritten elements */
    char failure[384];          /* the first wrong element, in words, and what all of them show; "": none */
    lab_work work;              /* what the timing helper plays */
} job;

/* Allocates the matrices of a job on the program's device. */
job *job_new(lab_program *program, const char *counted, const job_shape *shape);
void job_free(job *j);
void job_prepare(void *job); /* before a run: fresh data, poison */

/* Fills `to` with row r of a seed's data: cols floats. */
void job_fill_row(const job *j, uint64_t seed, int r, float *to);
struct job_row job_statistics(const float *x, int n);

/* Looks at the result of a call, element by element, and returns whether all are right: for the bench, whose runs
 * nobody verifies. */
bool job_is_right(job *j);
/* Is an element of row r right? `correct` is about what is computed; `worst error` is about how exactly. So where
 * EPSILON decides, which multiplies every error, less is asked. */
bool job_near(const job *j, int r, double got, double want);

/* explain.c: fills in the mistake and its words, "61x67: y[0][1] is 0.5, wants 0.7 (4032 of 4096 are wrong)". Requires
 * the result and the statistics in j. first: the place of the first wrong element; poison: those never written. */
void job_explain(job *j, size_t first, size_t wrong, size_t poison);

#endif
