/* run.h — one training by a program: what it is given, what it did, and whether that is right.
 *
 * The right losses and weights are computed after the program has run (model.c), so no memory holds a right answer that
 * a program could copy.
 */
#ifndef LAB11_RUN_H
#define LAB11_RUN_H

#include "lab.h"
#include "lab11.h"
#include "messages.h"
#include "meter.h"
#include "model.h"

enum mistake {
    NO_MISTAKE,
    A_CALL_FAILED,
    WEIGHTS_FREED,
    NOT_REPORTED,   /* a loss was not written */
    BEHIND_LOSSES,  /* a loss behind the last was */
    STOPPED,        /* train says that a loss is not a number, and all are */
    BECAME_NAN,     /* a loss is not a number where it should be one */
    OTHER_FORWARD,  /* the first loss is that of a network without one of its parts */
    OTHER_STEP,     /* a loss is that of the step before or after */
    NOT_THE_MEAN,   /* it is the sum of the rows' losses */
    FIRST_LOSS,     /* the loss of the first step is wrong */
    LATER_LOSS,     /* that of a later step */
    UNMOVED,        /* a tensor is as it was */
    OTHER_UPDATE,   /* the weights moved along the gradient, by another rule */
    TIMES_N,        /* the weights moved N times as far */
    OTHER_GRADIENT, /* a tensor has moved to somewhere else */
    OUT_OF_BOUNDS,  /* memory beside the weights was written; gpu lane */
    NAN_MISSED,     /* of a broken training: train returned -1 */
    NAN_OTHER,      /* it returned another step */
    NAN_HIDDEN,     /* losses[] of that step is a number */
    NAN_LATE        /* it went on for more than LAB11_GRACE steps */
};

/* The sizes of a training. */
typedef struct {
    int symbols, context, width, heads, steps;
    float rate;
} shape;

typedef struct {
    lab_program *program;
    const char *counted; /* the name of its counters; NULL: not counted, only timed */
    struct lab11_job job;
    int broken;           /* the step whose loss is to be no number; -1: none */
    uint64_t seed, again; /* of the latest training; the next one's, 0: a fresh one */
    unsigned char *text;
    float *first, *got, *d_weights; /* weights: before, after; on the device */

    struct lab11_message message;
    struct lab11_reply reply;
    meter meter;
    double begin, end; /* on this lane's clock */
    cudaError_t error;
    enum mistake mistake; /* the first, and in words */
    int step, tensor;     /* that it is about; -1: none */
    enum model_part part; /* OTHER_FORWARD: the part that is missing */
    char failure[512];
    lab_work work;           /* the whole training, for the timing helper */
    bool kept;               /* timed, and checked later: see run_check_kept */
    struct timed_run *timed; /* the latest of these */
} run;

/* Returns a run that has not begun; it stays. `broken`: a step, or -1. */
run *run_new(lab_program *program, const char *counted, shape s, int broken);

/* Plays and checks it. Returns false once CUDA itself has failed or the weights were freed: nothing more can be run. */
bool run_play(run *r);

/* For a run that the timing helper plays in the gpu lane, where the oracle would take seconds for each: with r->kept
 * set, each training's seed, losses and weights are noted. run_check_kept trains `right`, a right program's run of the
 * same shape, with the same seeds, and compares; r->mistake and r->failure are the first difference. Returns false if
 * there is one. */
bool run_check_kept(run *r, run *right);

const char *tensor_name(int tensor);

#endif
