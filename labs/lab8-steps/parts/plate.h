/* plate.h — a plate on the host: its first cells, its steps, and how one differs from another. The oracle. */
#ifndef LAB8_PLATE_H
#define LAB8_PLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int rows, cols;
    float *cells, *other; /* the plate as it is, and as it was a step before */
    int steps;            /* taken so far */
    bool cold;            /* one cell was hot, and all others were 0 */
} plate;

/* Returns a plate whose cells are from 0 to 1 and, but for chance, different from each other. Exits when memory is
 * short. */
plate plate_new(int rows, int cols, uint64_t seed);
/* Returns a plate of zeros with one cell of 1: [rows / 4][cols / 4], or, `far`, as far from the other end. Its heat
 * reaches a distance of n cells after n steps, and grows less there by a factor with each cell. So what a margin has
 * missed is no longer a millionth of a cell among larger numbers, but much or all of a cell far out. */
plate plate_cold(int rows, int cols, bool far);
void plate_free(plate *p);

/* Takes a step as lab8.h says, in float and in that order. Returns the largest change. */
float plate_step(plate *p);

/* The difference of two plates. The right one is float, too, and a program may add the neighbours in another order.
 *
 * Cells from 0 to 1: a sum of four is below 4, so an addition rounds by at most 2^-23, a quarter of which reaches the
 * cell. The next step averages four such errors, of either sign, so they hardly add up: six orders of addition, with
 * and without fma, differ by at most 5 * 2^-24 = 3e-7 in 1000 steps of 256x256 cells. A step too many for a margin of
 * eight cells is an error of 4^-9 = 4e-6, as much of a wrong cell as gets through nine averages.
 *
 * A cold plate has no negative cells, so nothing cancels, and each addition adds at most 2^-24 of the cell itself: two
 * here one after the other, three in another order. PLATE_ROUNDINGS for each step are never too few. */
#define PLATE_TOLERANCE 1e-6f
#define PLATE_ROUNDINGS 6
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
