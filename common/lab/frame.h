/* frame.h — the frame of a lab that judges one function: run it on shapes, count it, time it beside others.
 *
 * Each harness reads top to bottom with its own rows and shapes; the steps that are the same in several of them are
 * here.
 */
#ifndef LAB_FRAME_H
#define LAB_FRAME_H

#include "errors.h"
#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a program that is opened once, since its statics belong to one device: of LAB_LADDER, the first rung asked
 * for. */
lab_program *lab_opened(lab_who who, const char *rung);

/* Fails the row for an error of CUDA's on a shape, advised from the lab's table (errors.h). Waits for the device: what
 * stopped a kernel comes before what failed behind it. */
void lab_fail_by_error(lab_verdict *v, cudaError_t error, const char *shape, const lab_usage *u,
                       const lab_advice *table);

/* Returns whether this time was refused, since work ran on a stream that the clock does not wait for; if so, the row
 * fails and says what to do. */
bool lab_refused(lab_verdict *v, const lab_time *t, const lab_usage *u);

/* --lines: what each line cost of what was counted under this name. */
void lab_print_counted(const char *name);

/* Gpu lane: ncu's counters of this program, to be freed. Returns false where there are none, and each row from `first`
 * to `last` says why. */
bool lab_card_counters(lab_usage *u, int first, int last);

#ifdef __cplusplus
}
#endif
#endif
