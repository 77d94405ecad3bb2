// expect: gate: uses .lab_pass
// Tells the card what to say.
#include "lab1.h"

extern "C" void lab_pass(void *);

extern "C" void run_batches(const struct job *job) {
    (void)job;
    lab_pass(0);
}
