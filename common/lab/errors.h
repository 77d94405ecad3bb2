/* errors.h — the next step where CUDA failed, by the kind of what happened.
 *
 * A lab has a table of hints and sentences, in its own words; what it leaves out comes from a table here. Which entry
 * fits is decided here, by enums of simgpu_event.h, never by a sentence:
 *
 *     static const lab_advice on_errors[LAB_TROUBLES] = {
 *         [LAB_PAST_THE_END] = {"bounds", "do row and column of this thread lie beyond the edge of this shape?"}, ...};
 *     lab_advise_on_error(v, error, NULL, &usage, on_errors);
 */
#ifndef LAB_ERRORS_H
#define LAB_ERRORS_H

#include "lab.h"

typedef struct {
    const char *hint, *next; /* "## hint" in hints.md; the next step */
} lab_advice;

/* What stopped a kernel, or why a call failed. */
typedef enum {
    /* An address that a kernel may not access. */
    LAB_PAST_THE_END, /* of an allocation, or before its beginning */
    LAB_HOST_ADDRESS, /* in no device memory at all */
    LAB_NULL_ADDRESS,
    LAB_FREED_ADDRESS,
    LAB_MISALIGNED,
    LAB_PAST_SHARED,
    LAB_NO_SHARED, /* the same where the launch gave an extern __shared__ array no size */
    /* Threads that wait, or never end. */
    LAB_BARRIER_MISSED, /* some threads never come to it */
    LAB_TWO_BARRIERS,   /* threads of one block wait at different ones */
    LAB_BARRIER_PARTLY, /* only some lanes of a warp come to it together */
    LAB_LANES_MISSED,   /* a mask names lanes that never come */
    LAB_WRONG_MASK,
    LAB_RUNAWAY,
    LAB_WAITS_FOR_BLOCK, /* a block waits for another of an ordinary launch */
    LAB_UNSUPPORTED,
    LAB_ASSERTION,
    LAB_OTHER_FAULT,
    /* What a card tells: the error's name and no place. */
    LAB_SOME_ADDRESS,
    LAB_SOME_MISALIGNED,
    LAB_SOME_SHAPE, /* of a launch */
    LAB_SOME_ERROR,
    LAB_REFUSED, /* a call that failed: LAB_REFUSED + its enum simgpu_refusal_cause */
    LAB_TROUBLES = LAB_REFUSED + SIMGPU_REFUSED_UNSUPPORTED + 1
} lab_trouble;

/* Gives the row this hint and this next step. */
void lab_advise(lab_verdict *v, const lab_advice *a);

/* Places the row where a kernel was stopped or a call failed, with the reason, and advises from the lab's table, which
 * has LAB_TROUBLES entries. u: the run; before: NULL, or the calls before it, where a failed call comes first. */
void lab_advise_on_error(lab_verdict *v, cudaError_t error, const lab_usage *before, const lab_usage *u,
                         const lab_advice *table);

#endif
