/* advice.h — the hint and the next step for each kind of mistake, and the line to look at.
 *
 * Two programs that fail one row may need different advice. Each function here looks at the kind of what happened (an
 * enum, never a sentence) and fills in the verdict's place, hint and next step.
 */
#ifndef LAB7_ADVICE_H
#define LAB7_ADVICE_H

#include "errors.h"
#include "job.h"

/* The wrong result of the last run of j. u: what the shapes cost, or an empty usage in the gpu lane. */
void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u);
/* For lab_advise_on_error, what this lab says better than any lab. */
extern const lab_advice advice_on_errors[LAB_TROUBLES];
/* What the checks found. Requires a finding in u. */
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* More than one command for the GPU. */
void advise_on_launches(lab_verdict *v, const lab_usage *u);
/* Bytes beyond the least. */
void advise_on_bytes(lab_verdict *v, const lab_usage *u, double least);
/* Sectors beyond what x, gamma, beta and y take. Goes on with the reason. floats: of the matrix. */
void advise_on_sectors(lab_verdict *v, const lab_usage *u, double floats);
/* More waits at barriers than a row needs. */
void advise_on_barriers(lab_verdict *v, const lab_usage *u, int rows_of_matrix);
/* A virtual time that is too long: by a call that held up the device, or by the bound of the slowest kernel. `us`: the
 * time; floats: of the matrix. */
void advise_on_time(lab_verdict *v, const lab_usage *u, double us, double floats);

/* Costs of a line, for lab_worst. */
double traffic_of(const lab_line *l);
double loads_of(const lab_line *l);
double sums_of(const lab_line *l); /* where the lanes exchange their sums */

#endif
