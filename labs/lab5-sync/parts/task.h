/* task.h — the network's task and its right results: the data of a seed, and training in double precision. */
#ifndef LAB5_TASK_H
#define LAB5_TASK_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int features, hidden, batch;
    int ballast;   /* floats of a batch that no kernel reads: its copy takes longer */
    int loader_ns; /* sim lane: the host work that lab5_load declares */
} shape;

size_t data_floats(shape s);   /* of a batch: inputs and targets */
size_t batch_floats(shape s);  /* as the student sees it: with stamps and ballast */
size_t weight_floats(shape s); /* w1[features][hidden], then w2[hidden] */

/* Fills `data`, data_floats(s) of them, with batch `number` of this seed: inputs [batch][features], then targets. */
void make_data(shape s, uint64_t seed, int number, float *data);

float first_weight(shape s, uint64_t seed, size_t k); /* weight k before the first step */

#define LEARNING_RATE 0.1f

/* One step in double precision, on the host: returns the loss, leaves the new weights in w. `hidden`: room for
 * s.hidden numbers. */
double right_step(shape s, const float *data, double *w, double *hidden);

#endif
