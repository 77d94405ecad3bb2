/* plate.h — a plate on the host: its first cells, its steps, and how one differs from another. The oracle. */
#ifndef LAB8_PLATE_H
#define LAB8_PLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int rows, cols;
    float *cells, *other; /* the plate as it is, and as it was a step before */
} plate;

/* Returns a plate whose cells are from 0 to 1 and, but for chance, different from each other. Exits when memory is
 * short. */
plate plate_new(int rows, int cols, uint64_t seed);
void plate_free(plate *p);

/* Takes a step as lab8.h says, in float and in that order. Returns the largest change. */
float plate_step(plate *p);

/* The difference of two plates. The right one is float, too; another order of the additions changes some 1e-7. */
#define PLATE_TOLERANCE 1e-5f
typedef struct {
    size_t wrong;    /* cells that differ by more, or are no numbers */
    int row, col;    /* the first of them */
    size_t edge;     /* of them at the plate's edge */
    char where[160]; /* what all of them have in common, if anything: "all in columns 31, 32, 63, 64 ..." */
} difference;
/* Compares the plate's cells with got. Returns whether they agree. */
bool plate_compare(const plate *want, const float *got, difference *d);
/* The same without telling where. */
bool plate_equals(const plate *want, const float *got);

#endif
