/* advice.h — the next step, by kind of mistake. Each function returns a sentence, which it may write into `text`. */
#ifndef LAB5_ADVICE_H
#define LAB5_ADVICE_H

#include "listen.h"
#include "timeline.h"

/* For the first call that failed. */
const char *advice_for_call(const heard *h, char *text, size_t size);
/* For an address at which a kernel of a step was stopped. */
const char *advice_for_address(const struct simgpu_address *a);
/* For two accesses that nothing orders. */
const char *advice_for_finding(const struct simgpu_finding *f);

/* For a call that ended with an idle GPU, for a copy from or to ordinary memory, for idle time. */
const char *advice_for_drain(const culprit *c);
const char *advice_for_pageable(const culprit *c);
const char *advice_for_gap(const culprit *c);

#endif
