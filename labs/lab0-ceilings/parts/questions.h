/* questions.h — what the functions of a program are asked.
 *
 * Sizes, works and machines come from the seed, beside those of the handout. The reference is asked the same; its
 * answers are computed after yours.
 */
#ifndef LAB0_QUESTIONS_H
#define LAB0_QUESTIONS_H

#include "machine.h"

/* Each trial is predicted for two sizes. A fixed cost hardly shows in the LARGE one and is a third or more of the SMALL
 * one; so neither a number nor a formula without the fixed cost is right for both. */
enum { LARGE, SMALL, SIZES };
enum { TRIALS = FMA + 1, LAB0_MOST = 96 };

struct exam {
    struct lab0_question question[LAB0_MOST];
    int count;
    int predictions;            /* the first of SIZES * TRIALS predictions: all trials of a size, then the next */
    long amount[SIZES][TRIALS]; /* of each trial, in the unit of its piece of work */
};

/* Draws all questions from fresh seeds, about the sheet among others, and the trials' amounts. */
void exam_draw(struct exam *e, struct sheet sheet, const struct bench_bed *bed);

/* Asks one question. Nothing of the harness's notes lies open meanwhile. */
struct lab0_answer ask(lab_program *program, const struct lab0_question *q);
/* The same for a work of n (and d). */
struct work ask_work(lab_program *program, enum lab0_function f, long n, long d);

/* A size of the trial that a reader cannot know beforehand, and that the buffers have room for. */
long trial_amount(enum trial t, const struct bench_bed *bed);
/* From the amount of a piece of work to what predict_us is told: bytes, floats, operations. */
long trial_n(enum trial t, const struct bench_bed *bed, long amount);
/* Returns the microseconds that it takes. */
double trial_time(enum trial t, struct bench_bed *bed, long amount);

#endif
