/* blame.h — the place and the next step of a row that is not full, by the kind of the mistake. All sentences of advice
 * are here, but for those of the table of rows.
 */
#ifndef LAB1_BLAME_H
#define LAB1_BLAME_H

#include "ear.h"
#include "job.h"
#include "rates.h"

/* What is wrong in the run, in a job of this shape. */
void blame_trouble(lab_verdict *v, const run *r, const char *shape);
/* The call that failed. u: the run's events. */
void blame_error(lab_verdict *v, const run *r, const lab_usage *u, cudaError_t error, const char *shape);
/* Sim lane: what the checks found in the run. On your line if it came too early, or on your copy if the loader or the
 * taker came too early; on process_batch if that is in stream 0. */
void blame_finding(lab_verdict *v, const struct simgpu_finding *f);
void blame_early(lab_verdict *v, const early_touch *t);
/* The run took longer than the link needs. link: GB/s, each way. */
void blame_slow(lab_verdict *v, enum way way, const run *r, const double *link);

#endif
