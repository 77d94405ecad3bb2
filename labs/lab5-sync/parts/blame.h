/* blame.h — fails a row where a training went wrong, at a line of the student's. */
#ifndef LAB5_BLAME_H
#define LAB5_BLAME_H

#include "training.h"

bool is_ours(const struct simgpu_place *at); /* a line of offered.cu, and not of the student's */

/* Fails the row with the text in `failure`, or for the fault of a kernel. */
void blame_run(lab_verdict *v, const training *t);

/* Fails the row if SimGPU's checks found two unordered accesses in a run whose results are right. */
void blame_hazard(lab_verdict *v, const training *t);

#endif
