/* model.h — the transformer of lab11.h on the host, in double precision: what is right. */
#ifndef LAB11_MODEL_H
#define LAB11_MODEL_H

#include "lab11.h"

typedef struct model model;

/* Returns a model with these weights, lab11_offset(job, LAB11_TENSORS) of them. The job must stay. */
model *model_new(const struct lab11_job *job, const float *weights);
void model_free(model *m);

/* Takes the next step, and returns its loss. */
double model_step(model *m);

/* Leaves out a part of the network, as a program with a mistake would: what it is without. */
enum model_part {
    MODEL_NO_MASK,      /* each row sees all rows */
    MODEL_MASKS_SELF,   /* row i sees the rows 0 .. i - 1 */
    MODEL_NO_SCALE,     /* scores without 1 / sqrt(S) */
    MODEL_SCALE_OF_ALL, /* 1 / sqrt(D) */
    MODEL_NO_POSITION,
    MODEL_NO_GAIN,
    MODEL_NO_GELU,
    MODEL_NO_RESIDUAL1, /* x1 = o * mix */
    MODEL_NO_RESIDUAL2,
    MODEL_LAST_NORMAL,    /* h3 = x2 */
    MODEL_SAME_CHARACTER, /* the target is the character itself */
    MODEL_PARTS
};
void model_without(model *m, enum model_part part);
const char *model_part_name(enum model_part part); /* "without ..." */

const double *model_weights(const model *m);  /* as they are now */
const double *model_gradient(const model *m); /* of the last step, in the same order */

#endif
