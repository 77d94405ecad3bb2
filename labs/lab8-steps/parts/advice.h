/* advice.h — the next step that the card proposes, and the line it names, for each kind of mistake. */
#ifndef LAB8_ADVICE_H
#define LAB8_ADVICE_H

#include "heard.h"
#include "lab.h"
#include "session.h"

/* For a session's first mistake. u: its counters; empty in the gpu lane. */
void advise_on_session(lab_verdict *v, const session *s, const lab_usage *u);
/* For what the checks found. Requires a finding. */
void advise_on_finding(lab_verdict *v, const lab_usage *u);
/* For the call that counts most in a row about the host; h: all of them. */
void advise_on_call(lab_verdict *v, const heard_place *first, const heard *h, const lab_usage *u);
/* For a time that is too long. */
void advise_on_time(lab_verdict *v, const heard *h, const lab_usage *u);

#endif
