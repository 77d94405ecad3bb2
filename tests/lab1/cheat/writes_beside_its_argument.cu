// expect: run: touched memory that is not its own
// Writes zeros over all that may lie behind the job that it is handed: the page behind it is closed.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) { memset((char *)job + sizeof *job, 0, 1 << 16); }
