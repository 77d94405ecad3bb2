/* advice.h — the hint and the next step for each kind of mistake, and the line to look at.
 *
 * Two programs that fail one row may need different advice: a list that was left on the host and a loop that runs past
 * the end both read where they may not. Each function here looks at the kind of what happened (an enum, never a
 * sentence) and fills in the verdict's place, hint and next step.
 */
#ifndef LAB4_ADVICE_H
#define LAB4_ADVICE_H

#include "errors.h"
#include "job.h"

/* A wrong mean. u: what the checked calls cost, or an empty usage in the gpu lane. */
void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u);
/* For lab_advise_on_error, what this lab says better than any lab. */
extern const lab_advice advice_on_errors[LAB_TROUBLES];
/* What the checks found. Requires a finding in u. */
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* A virtual time that is too long: by a call that held up the device, or by the bound of the slowest kernel. `us`,
 * `reading`: the time, of one array or of all tensors, and that of only reading them, in microseconds. */
void advise_on_time(lab_verdict *v, const lab_usage *u, double us, double reading, bool array);

/* Costs of a line, for lab_worst. */
double launches_of(const lab_line *l);
double wavefronts_of(const lab_line *l);
double excess_loads(const lab_line *l);
double divergent_of(const lab_line *l);

#endif
