/* training.h — one call of a training loop: a fresh network and data before it, an answer to each of its questions, and
 * the checks after it.
 *
 *     training *t = training_new(mine, "train", small, 48);
 *     training_run(t);
 *     training_check(t);
 *     if (t->failure[0]) ...                    the first failure, and its place
 */
#ifndef LAB5_TRAINING_H
#define LAB5_TRAINING_H

#include "lab.h"
#include "lab5.h"
#include "messages.h"
#include "task.h"

typedef struct {
    char file[256];
    int line; /* 0: not known */
} place;

typedef struct {
    lab_program *program;
    const char *counted; /* the student's: the name of its stretch of the report; NULL: it is only timed */
    shape s;
    int steps, warm; /* the clock runs from the end of step warm-1 to the end of the last */
    int poison;      /* the update before this step gets a rate that is not a number; -1: none */
    uint64_t seed;
    struct lab5_message message;
    struct lab5_reply reply; /* what train returned, and the losses */
    lab_work work;           /* what the timing helper plays, each time with fresh data */
    /* the results */
    cudaError_t error;
    int queued;                            /* complete steps */
    double us;                             /* of a step; 0 if the training did not come so far */
    double idle_launches, pageable_copies; /* a step, once the clock runs */
    place load;                            /* the student's latest lab5_load, or the one that was wrong */
    place at;                              /* the line that failed, where it is known; else by `blame` */
    const char *blame;                     /* text of the student's line that is nearest to the failure */
    const char *blame_else;                /* the same where that text is nowhere */
    bool blame_last;                       /* the last line with that text, not the first */
    char failure[320];                     /* the first failure */
    const char *next;                      /* the step that removes it; NULL: the row's own */
    bool fault;                            /* `failure` is the error of a kernel */
    cudaError_t refused;                   /* of the first call that failed by itself */
    char call[64], advice[256];            /* room for `blame` and `next` */
    struct timed_run *timed;               /* the latest run of those that are checked later; NULL: none */
} training;

/* Returns a training with a seed of its own. Lives until the program ends. */
training *training_new(lab_program *program, const char *counted, shape s, int steps);

/* Plays it, once. An error of CUDA, and a call that lab5.h forbids, are in `failure` afterwards. The network stays on
 * the device until training_free. */
void training_run(training *t);
void training_free(training *t);

/* Checks the run against the oracle in double precision (small networks only, since it takes long), or against the
 * right loss of each step. With a ruined update, training_check checks only the batch of each step. */
void training_check(training *t);
void training_check_losses(training *t, const double *want);

/* For a training that the timing helper plays in the gpu lane, where no run may go unchecked: training_keep has it note
 * each run's seed, batches and losses. Afterwards training_check_kept runs `plain`, a right loop of the same shape,
 * with the same seeds, and writes the first difference to t->failure. */
void training_keep(training *t);
void training_check_kept(training *t, training *plain);

/* Returns the microseconds of a step: the median of some runs, each with fresh data. Exits if a loop fails. */
double training_time(training *t);

#endif
