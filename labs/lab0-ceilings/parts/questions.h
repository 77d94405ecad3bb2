/* questions.h — the questions to the functions of a program.
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
enum { TRIALS = FMA + 1, LAB0_MOST = 128 };

struct exam {
    struct lab0_question question[LAB0_MOST];
    int count;
    int predictions;            /* the first of SIZES * TRIALS predictions: all trials of a size, then the next */
    long amount[SIZES][TRIALS]; /* of each trial, in the unit of its piece of work */
};

/* Draws all questions from fresh seeds, about the sheet among others, and the trials' amounts. */
void exam_draw(struct exam *e, struct sheet sheet, const struct bench_bed *bed);

/* Asks one question, with the harness's notes locked meanwhile. */
struct lab0_answer ask(lab_program *program, const struct lab0_question *q);
/* Returns the answer of one of the functions that describe a work, for n (and d). */
struct work ask_work(lab_program *program, enum lab0_function f, long n, long d);

/* Returns a size for the trial, drawn from the seed, for which the buffers have room. */
long trial_amount(enum trial t, const struct bench_bed *bed);
/* Converts the amount of a piece of work into the argument of predict_us: bytes, floats or operations. */
long trial_n(enum trial t, const struct bench_bed *bed, long amount);
/* Returns the measured microseconds of a trial. */
double trial_time(enum trial t, struct bench_bed *bed, long amount);

#endif
