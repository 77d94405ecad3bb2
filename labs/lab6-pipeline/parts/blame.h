/* blame.h — the place and the next step of a row that is not full, by the kind of the mistake. All sentences of advice
 * are here, but for those of the table of rows.
 */
#ifndef LAB6_BLAME_H
#define LAB6_BLAME_H

#include "ear.h"
#include "engines.h"
#include "job.h"
#include "rates.h"

/* What is wrong in the run, in a job of this shape. early: a buffer was used too early, too, so that wrong words come
 * of it. */
void blame_trouble(lab_verdict *v, const run *r, const char *shape, bool early);
/* The call that failed. u: the run's events. */
void blame_error(lab_verdict *v, const lab_usage *u, cudaError_t error, const char *shape);
/* Sim lane: what the checks found in the run. On your line if it came too early, or on your copy if the network card
 * came too early. */
void blame_finding(lab_verdict *v, const struct simgpu_finding *f);
void blame_early(lab_verdict *v, const early_touch *t);
/* Commands in stream 0. */
void blame_default(lab_verdict *v, const run *r);
/* The engines did not work at the same time: what each did. */
void blame_overlap(lab_verdict *v, const run *r, lab_floor limit, const engines *e);
/* The run took longer than its longest engine. e: NULL in the gpu lane. */
void blame_slow(lab_verdict *v, const run *r, lab_floor limit, const engines *e);

#endif
