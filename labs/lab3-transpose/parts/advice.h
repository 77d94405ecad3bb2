/* advice.h — the hint and the next step for each kind of mistake, and the line to look at.
 *
 * Two programs that fail one row may need different advice: a tile that is too small and a missing test at the edge
 * both end in an illegal address. Each function here looks at the kind of what happened (an enum, never a sentence) and
 * fills in the verdict's place, hint and next step.
 */
#ifndef LAB3_ADVICE_H
#define LAB3_ADVICE_H

#include "errors.h"
#include "job.h"

/* The wrong output of the last run of j. u: what the shapes cost, or an empty usage in the gpu lane. */
void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u);
/* For lab_advise_on_error, what this lab says better than any lab. */
extern const lab_advice advice_on_errors[LAB_TROUBLES];
/* What the checks found. Requires a finding in u. */
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* One kernel is right, and the copy or fill beside it is too much. */
void advise_on_copy(lab_verdict *v, const lab_usage *u);
/* A virtual time that is too long: by a call that held up the device, or by the bound of the slowest kernel. `us`: the
 * time. */
void advise_on_time(lab_verdict *v, const lab_usage *u, double us);

/* Costs of a line, for lab_worst. */
double copies_of(const lab_line *l);
double excess_loads(const lab_line *l);
double excess_stores(const lab_line *l);

/* An atomic may replace a load or a store. No transpose needs one, so each counts as one more store. */
double atomics(const lab_counters *c);

#endif
