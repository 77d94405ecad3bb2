/* job.h — one call of a transpose, from fresh data to a checked output.
 *
 * Each call has fresh data and a poisoned output. What is right is computed after the call has returned and the device
 * is idle, so no memory ever holds an expected output that student code could copy. Each float of the data is
 * different, so a wrong output shows where its elements come from: that is how a mistake gets its name.
 */
#ifndef LAB3_JOB_H
#define LAB3_JOB_H

#include "lab.h"
#include "messages.h"

/* What is wrong with an output. */
enum mistake {
    NO_MISTAKE,
    NOTHING_WRITTEN, /* not one element */
    EDGE,            /* the last rows or columns of A did not arrive */
    LAST,            /* the same for at most three of them */
    UNWRITTEN,       /* other elements were not written */
    AS_IT_WAS,       /* A itself, row after row */
    TILES_STAY,      /* each tile is turned, and stands where it stood in A */
    TILES_UNTURNED,  /* the tiles changed places, and the elements within each did not */
    OUT_PITCH,       /* the stores take the length of A's rows for that of the result's */
    IN_PITCH,        /* the loads take the length of the result's rows for that of A's */
    STALE,           /* the data of an earlier call */
    FRESH,           /* bytes of shared memory that nobody wrote; sim lane */
    NOWHERE,         /* a value that is no element of A */
    MISPLACED,       /* elements of A, in another order than these */
    INPUT_CHANGED,
    OUT_OF_BOUNDS /* memory beside the output was written; gpu lane */
};

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL for the others, which are only timed */
    struct lab3_message message;
    int rows, cols;
    uint64_t seed;      /* of the last run's data */
    uint64_t before[2]; /* the seed of an earlier job's data, and its number of elements; 0: none */
    float *d_in, *d_out, *host;
    double begin, end;    /* of the last run, on this lane's clock */
    enum mistake mistake; /* the first one's kind */
    char failure[384];    /* the first wrong element, in words, and what all of them show; "": none */
    lab_work work;        /* what the timing helper plays */
} job;

/* Allocates the matrices of a job on the program's device. */
job *job_new(lab_program *program, const char *counted, int rows, int cols);
void job_free(job *j);

#endif
