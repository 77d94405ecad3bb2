/* job.h — one call of `mean` or `means`, from fresh data to a checked result.
 *
 * A job has a list of tensors in one piece of device memory (for `mean`: a list of one). Between them lies poison, so a
 * sum that takes in a float too many is a NaN. The data of each call is new. All of it is positive, so that an
 * error can be stated relative to the mean. Most of it lies between 0.5 and 1.5, but one float in 512 is 128 larger, so
 * that no part of the data gives the mean of all; and the first and the last float of a tensor weigh as much as 1/64 of
 * the others together, so that a forgotten end shows in a tensor of any length.
 *
 * The right means are computed in double precision, after the call has returned and the device is idle, so no memory
 * ever holds an expected mean that student code could copy.
 */
#ifndef LAB4_JOB_H
#define LAB4_JOB_H

#include "lab.h"
#include "messages.h"

typedef int (*length_fn)(int i, uint64_t seed); /* of tensor i */

enum { JOB_PACKED = 0, JOB_ALIGNED = 64 }; /* floats */
enum { SET_TENSORS = 2000 };

#define JOB_PLAN "plan" /* under this name the calls of plan are counted, those of all jobs of yours together */

typedef struct {
    bool array;          /* `mean` of one array, instead of `means` */
    int count;           /* tensors */
    int length;          /* of each, where length_of is NULL */
    length_fn length_of; /* of tensor i */
    int align;           /* where a tensor may begin. JOB_PACKED: two floats after the end of the one before */
    uint64_t seed;       /* of the lengths, and of the first run's data */
} job_shape;

/* Kinds of wrong means, since each has its own next step (advice.c). */
enum mistake {
    NO_MISTAKE,
    UNWRITTEN,
    NOT_A_NUMBER,
    NOT_DATA, /* below 0 */
    NOTHING,  /* 0 */
    LAST_MISSING,
    FIRST_MISSING,
    IS_SUM,
    WRONG_DIVISOR,
    TWICE,
    OF_LAST_CALL,
    ADDED_AGAIN, /* to the last call's */
    OTHER_TENSOR,
    CHANGED, /* the data, which is const */
    OUTSIDE, /* memory beside the means was written */
    WRONG
};

struct job_tensor {
    size_t at; /* in the memory of all */
    int length;
};

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL for the others, which are only timed */
    job_shape shape;
    struct job_tensor *list;
    size_t room, floats; /* of the whole piece of memory; of the tensors in it */
    int longest;
    uint64_t seed; /* of the last run's data; of the run before it, one less */
    int calls;     /* runs so far */
    float *d_in, *d_out, *host;
    double begin, end;    /* of the last run, on this lane's clock */
    double worst;         /* relative error of any mean of any run, in units of 2^-24 */
    int worst_length;     /* of that tensor */
    enum mistake mistake; /* the first one's kind */
    char failure[256];    /* and what it is; "": none */
    struct lab4_call message;
    lab_work work; /* what the timing helper plays */
} job;

/* Allocates on the program's device and lets the program plan the tensors (not for an array). */
void job_open(job *j, lab_program *program, const char *counted, const job_shape *shape);
void job_close(job *j);

void job_prepare(void *job); /* before a run: fresh data, poisoned means */
double job_right_mean(const job *j, int i);

/* Returns pseudo-random bits of a place, for lengths. */
uint32_t job_bits(uint64_t seed, uint32_t place);

/* Returns a length of the graded set: a few of a million, some of 20000 to 40000, and 100 to 1100 in all others. */
int skewed_length(int i, uint64_t seed);

#endif
