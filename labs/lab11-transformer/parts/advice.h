/* advice.h — the next step on the card, by the kind of what is wrong, and where in the source to begin. */
#ifndef LAB11_ADVICE_H
#define LAB11_ADVICE_H

#include "run.h"

/* The run's mistake; u: what was counted in it (empty in the gpu lane). */
void advise_on_run(lab_verdict *v, const run *r, const lab_usage *u);
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* What was held when most was; square: bytes of N x N numbers. */
void advise_on_memory(lab_verdict *v, const meter *m, uint64_t square, double reference);
/* What the time went into. */
void advise_on_time(lab_verdict *v, const run *r, const lab_usage *u);

#endif
