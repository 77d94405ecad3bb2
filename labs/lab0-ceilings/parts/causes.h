/* causes.h — the usual cause of a wrong answer, and the next step against it, by kind of mistake.
 *
 * Each function compares an answer with the right one. `what` stands behind a sentence that shows both, begins with a
 * colon, and is empty where no kind fits; `next` is NULL there, and the row's own step serves.
 */
#ifndef LAB0_CAUSES_H
#define LAB0_CAUSES_H

#include "questions.h"

struct cause {
    const char *what, *next;
};

/* A count of bytes or operations: `got` and `want` for the question, and the largest size for which the
 * function was right before, or 0. `other` is the right count of the other kind: of operations, if these are bytes. */
struct cause cause_of_count(bool bytes, const struct lab0_question *q, double got, double want, double other,
                            long right_up_to);

/* The longest of three times. */
struct cause cause_of_least(const struct lab0_question *q, double got);

/* A bound, with how often the function gave each of the three over all questions. */
struct cause cause_of_bound(const struct lab0_question *q, double got, const int given[3]);

struct cause cause_of_intensity(double got, double want);
struct cause cause_of_peak(const struct lab0_question *q, double got, double want);

/* A prediction and what came out, in microseconds. */
struct forecast {
    double prediction, truth;
    long n;
};
struct cause cause_of_forecast(enum trial t, const struct forecast of[SIZES]);

/* Returns how far off a forecast is, in doublings; INFINITY for what is not a time. */
double forecast_distance(const struct forecast *f);

#endif
