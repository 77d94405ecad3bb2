/* job.h — one call of matmul, from fresh data to a checked result.
 *
 * Each call has fresh data and a poisoned result. What is right is computed in double precision after the call has
 * returned and the device is idle, row by row, so no memory ever holds a right result that student code could copy.
 *
 * Elements of A and B lie between -1 and 1. An element of C may be off by 10^-6 of the sum of its products' absolute
 * values: fp32 sums are right in any order, sums of numbers that were rounded to fp16 or tf32 are not.
 *
 * Small results are compared element by element. For a large one that would take the host longer than the rest of the
 * run, so it multiplies C by a random vector of -1 and 1 (Freivalds' check, 1977): C x = A (B x) holds row by row, or
 * the row is wrong. A wrong row is compared element by element, and so are some others.
 */
#ifndef LAB9_JOB_H
#define LAB9_JOB_H

#include "lab.h"
#include "messages.h"

typedef struct {
    int m, n, k;
} job_shape;

/* What is wrong with a result. */
enum mistake {
    NO_MISTAKE,
    NOTHING_WRITTEN, /* not one element */
    LAST_COLUMNS,    /* the last columns were not written */
    LAST_ROWS,
    UNWRITTEN, /* other elements were not written */
    STALE,     /* right for the data of the call before */
    NOT_A_NUMBER,
    TRANSPOSED,       /* C's transpose */
    A_TRANSPOSED,     /* A's transpose times B */
    B_TRANSPOSED,     /* A times B's transpose */
    FACTORS_SWAPPED,  /* B A */
    PRODUCTS_MISSING, /* the last of the k, or all but the last */
    FIRST_MISSING,
    PRODUCTS_BEYOND, /* more than k products */
    TWICE,           /* a product, or all of them, twice */
    ELSEWHERE,       /* another element's value */
    ROUNDED,         /* near, as from fp16, bf16 or tf32 */
    WRONG,
    INPUT_CHANGED,
    OUT_OF_BOUNDS /* memory beside the result was written; gpu lane */
};

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL for the others, which are only timed */
    job_shape shape;
    struct lab9_message message;
    uint64_t seed;   /* of the last run's data */
    uint64_t before; /* of the run before it; 0: none */
    float *d_a, *d_b, *d_c;
    float *a, *b, *c;      /* the host's: data, and the result after a run */
    double *want, *around; /* a row of n: the right elements, and the sums of their products' absolute values */
    double *signs;         /* Freivalds' vector: n of -1 and 1 */
    double *sum, *bound;   /* k each: B times that vector, and the sums of the absolute values of B's rows */
    double begin, end;     /* of the last run, on this lane's clock */
    enum mistake mistake;  /* the first wrong element's kind */
    int row, col;          /* where that is */
    char failure[384];     /* the first wrong element, in words, and what all of them show; "": none */
    lab_work work;         /* what the timing helper plays */
} job;

/* Allocates the matrices of a job on the program's device. */
job *job_new(lab_program *program, const char *counted, const job_shape *shape);
void job_free(job *j);
void job_prepare(void *job); /* before a run: fresh data, poison */

/* Fills the host's a and b with the data of a seed. */
void job_fill(job *j, uint64_t seed);
/* Computes row i of C in j->want, with j->around. */
void job_right_row(job *j, int i);
/* Is this element right, where its row is in want and around? */
bool job_near(const job *j, int col, double got, double relative);
#define JOB_RELATIVE 1e-6 /* of the sum of the absolute products */

/* Looks at the result of a call and returns whether all elements are right: for the bench, whose runs nobody verifies.
 */
bool job_is_right(job *j);

/* explain.c: fills in the mistake and its words, "61x67x5: c[0][1] is 0.5, wants 0.7 (4032 of 4096 are wrong)".
 * Requires data and result in j, and the place of the first wrong element. poison: how many were never written. */
void job_explain(job *j, size_t wrong, size_t poison);

#endif
