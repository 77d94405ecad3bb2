// expect: gate: uses .mlock
// Page-locks memory behind CUDA's back, so that it is not counted.
#include "lab1.h"

extern "C" int mlock(const void *, size_t) throw();

extern "C" void run_batches(const struct job *job) {
    void *all = malloc(job->batches * job->in_bytes);
    mlock(all, job->batches * job->in_bytes);
    free(all);
}
