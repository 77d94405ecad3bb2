/* wide.h — one call of dense_bf16 with sums that no half can hold.
 *
 * x and w are 8 to 16, so a sum of some hundred products is about 100000; w is negative in every fifth column, where
 * relu gives 0, and smaller in every seventh, where the sums are halves, too. A bias is about a tenth of a sum. What is
 * right is computed in double precision after the call.
 */
#ifndef LAB10_WIDE_H
#define LAB10_WIDE_H

#include "half.h"
#include "lab.h"
#include "messages.h"

/* What is wrong with a result. */
enum wide_mistake { WIDE_ROUNDED, WIDE_CUT, WIDE_NO_RELU, WIDE_NO_BIAS, WIDE_OTHER_BITS };

typedef struct {
    lab_program *program;
    const char *counted; /* the name of its counters */
    int m, n, k;
    uint64_t seed;
    struct lab10_message message;
    uint16_t *x, *w, *bias, *y; /* as sent; y: the result */
    double worst;               /* the largest error, in roundings of a bfloat16 */
    double want, got;           /* of the element of that error, or of the first one that is infinite or no number */
    enum wide_mistake mistake;  /* of that element: rounded too often, cut off, ... */
    int odd;                    /* elements that are infinite or no number */
    int large;                  /* elements that are larger than any half */
    int poison;                 /* elements that were never written */
    cudaError_t error;
} wide;

/* Plays it once, with fresh data, and compares the result. */
wide *wide_run(lab_program *program, const char *counted, int m, int n, int k);
void wide_free(wide *r);

#endif
