/* lab8.h — what steps.cu must offer.
 *
 * A plate is rows x cols floats in device memory, row after row. The cells of its edge keep their temperature. One step
 * gives every other cell the average of its four neighbours, all of them as they were before the step (Jacobi's
 * method):
 *
 *     new[r][c] = 0.25f * ((old[r-1][c] + old[r+1][c]) + (old[r][c-1] + old[r][c+1]))
 *
 * The residual of a step is the largest change of a cell in it, |new[r][c] - old[r][c]|; 0 where no cell may change.
 * After each `every` steps is a check: its residual is reported, and decides whether to go on.
 */
#ifndef LAB8_H
#define LAB8_H

#ifdef __cplusplus
extern "C" {
#endif

enum { LAB8_LATE = 2 }; /* solve may go on for at most so many checks after the one that should end it */

/* Called once, before any plate of this shape: allocate, create and prepare here what all calls of `solve` share. No
 * plate is known yet. A check follows each `every` steps, and no plate takes more than `most` of them, a multiple of
 * `every`. All are at least 1. */
void setup(int rows, int cols, int every, int most);

/* Takes steps until the residual of a check is at most `tolerance`, or `most` steps are taken. Returns the number of
 * steps taken, a multiple of `every` and at most LAB8_LATE checks more than necessary. Then `plate`, device memory,
 * holds the cells after exactly so many steps, and residuals[i], ordinary host memory, the residual of step
 * (i + 1) * every, for each check passed. Called several times, each time with another plate, whose cells are all there
 * when it is called; when it returns, all work on the plate is done. */
int solve(float *plate, float tolerance, float *residuals);

/* Called once, after the last plate: free and destroy all that is left of setup and solve. */
void cleanup(void);

#ifdef __cplusplus
}
#endif
#endif
