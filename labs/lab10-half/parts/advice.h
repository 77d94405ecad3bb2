/* advice.h — the hint and the next step for each kind of mistake, and the line to look at.
 *
 * Each function here looks at the kind of what happened (an enum, never a sentence) and fills in the verdict's place,
 * hint and next step.
 */
#ifndef LAB10_ADVICE_H
#define LAB10_ADVICE_H

#include "errors.h"
#include "job.h"
#include "net.h"
#include "wide.h"

/* The wrong result of the last run of j, or of a step of n. u: what it cost, or an empty usage in the gpu lane. */
void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u);
void advise_on_step(lab_verdict *v, const net *n, const lab_usage *u);
/* The result of dense_bf16, which is not right: value, reason, hint and next step. */
void advise_on_wide(lab_verdict *v, const wide *r);
/* For lab_advise_on_error, what this lab says better than any lab. */
extern const lab_advice advice_on_errors[LAB_TROUBLES];
/* What the checks found. Requires a finding in u. */
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* A time that is too long: by a call that held up the device, or by the bound of the slowest kernel. us: the time;
 * product: of dense. */
void advise_on_time(lab_verdict *v, const lab_usage *u, double us, bool product);

/* Costs of a line, for lab_worst. */
double requests_of(const lab_line *l);
double small_requests_of(const lab_line *l); /* requests beyond those that 16 bytes a lane would take */
double others_of(const lab_line *l);         /* instructions that are no products of the tensor cores */

#endif
