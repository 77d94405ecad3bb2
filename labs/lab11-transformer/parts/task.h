/* task.h — what a training works on, from a seed: a text that has something to learn, and the first weights. */
#ifndef LAB11_TASK_H
#define LAB11_TASK_H

#include "lab11.h"

#include <stdbool.h>
#include <stdint.h>

/* Fills `text` with words: each is followed by one of two others, and each is spelt from the first V - 1 symbols. */
void make_text(unsigned char *text, int length, int symbols, uint64_t seed);

/* Fills `weights` with numbers of the size that a network begins with, different at each place. */
void make_weights(float *weights, const struct lab11_job *job, uint64_t seed);

/* Puts symbol V - 1, which the text has nowhere, where step `broken` reads it and no step before, and makes its
 * embedding infinite, as a damaged file would. Returns false if an earlier step reads each such place. */
bool break_step(unsigned char *text, float *weights, const struct lab11_job *job, int broken);

#endif
