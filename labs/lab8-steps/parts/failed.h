/* failed.h — the next step where a CUDA call was refused or a kernel was stopped. */
#ifndef LAB8_FAILED_H
#define LAB8_FAILED_H

#include "lab.h"
#include "session.h"

/* For a session whose mistake is A_CALL_FAILED: places the row at the call or the fault, with the reason, and says the
 * next step. The call that failed first comes before a fault that follows from it. */
void advise_on_failure(lab_verdict *v, const session *s, const lab_usage *u);

#endif
