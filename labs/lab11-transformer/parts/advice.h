/* advice.h — the next step on the card, by the kind of what is wrong, and where in the source to begin. */
#ifndef LAB11_ADVICE_H
#define LAB11_ADVICE_H

#include "profile.h"

/* The run's mistake; u: what was counted in it (empty in the gpu lane). */
void advise_on_run(lab_verdict *v, const run *r, const lab_usage *u);
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* What was held when most was; growth: what a text twice as long takes, in times. Up to MEMORY_LINEAR nothing has N x N
 * numbers. */
#define MEMORY_LINEAR 2.1
void advise_on_memory(lab_verdict *v, const meter *m, double growth, double reference);
/* What the time went into. */
void advise_on_time(lab_verdict *v, const run *r, const lab_usage *u, const profile *p);

#endif
