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
    const char *counted; /* the name of its counters; NULL: neither counted nor checked, only timed */
    struct lab11_job job;
    int broken; /* the step whose loss is to be no number; -1: none */
    uint64_t seed;
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
    lab_work work; /* the whole training, for the timing helper */
} run;

/* Returns a run that has not begun; it stays. `broken`: a step, or -1. */
run *run_new(lab_program *program, const char *counted, shape s, int broken);

/* Plays and checks it. Returns false once CUDA itself has failed or the weights were freed: nothing more can be run. */
bool run_play(run *r);

const char *tensor_name(int tensor);

#endif
