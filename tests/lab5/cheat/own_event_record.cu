// expect: gate: defines .cudaEventRecord
// A timing trick: its own cudaEventRecord, so that the harness's clock never starts.
#include "lab5.h"

#undef cudaEventRecord
extern "C" int stops_the_clock(cudaEvent_t, cudaStream_t) __asm__("cudaEventRecord");
extern "C" int stops_the_clock(cudaEvent_t, cudaStream_t) { return 0; }

extern "C" int train(const struct lab5_job *, float *) { return -1; }
