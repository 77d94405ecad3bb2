/* advice.h — the hint and the next step for each kind of mistake, and the line to look at.
 *
 * Two programs that fail one row may need different advice. Each function here looks at the kind of what happened (an
 * enum, never a sentence) and fills in the verdict's place, hint and next step.
 */
#ifndef LAB9_ADVICE_H
#define LAB9_ADVICE_H

#include "errors.h"
#include "job.h"

/* The wrong result of the last run of j. u: what the shapes cost, or an empty usage in the gpu lane. */
void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u);
/* For lab_advise_on_error, what this lab says better than any lab. */
extern const lab_advice advice_on_errors[LAB_TROUBLES];
/* What the checks found. Requires a finding in u. */
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* The row 'races' found something, perhaps on a later shape than the first wrong one. */
void advise_on_effect(lab_verdict *v);
/* Too many floats from global memory. */
void advise_on_global(lab_verdict *v, const lab_usage *u);
/* Too many wavefronts of loads; rate: for each multiply-add of a warp. */
void advise_on_loads(lab_verdict *v, const lab_usage *u, double rate);
/* Sectors of local memory: spilled registers, or an array without registers. Goes on with the reason. */
void advise_on_local(lab_verdict *v, const lab_usage *u);
/* A virtual time that is too long: by a call that held up the device, or by the bound of the slowest kernel. `us`: the
 * time; odd: of the odd sides. */
void advise_on_time(lab_verdict *v, const lab_usage *u, double us, bool odd, int k);

#endif
