/* rates.h — the timed jobs, the speed of a program in each of the three ways, and the link to compare it with.
 */
#ifndef LAB1_RATES_H
#define LAB1_RATES_H

#include "job.h"

enum way { TO_DEVICE, TO_HOST, BOTH, WAYS };
enum { MOST_RUNS = 9 };

int rate_runs(void); /* timed runs that make one rate: the virtual clock needs one, a real one MOST_RUNS */

/* Returns a timed job: large batches (64 of 16 MiB in the gpu lane) with small results, the other way round, or both
 * large. The virtual link has no noise, and its jobs are only as large as shows what a real one does. */
run *way_job(lab_program *program, enum way way);

const char *way_name(enum way way); /* "to the device" */

/* Returns GB/s of a program of ours. Also, unless NULL: the microseconds outside the loop (before the first load, after
 * the last take), and whether the results were right. */
double way_rate(lab_program *program, enum way way, double *around_us, bool *right);

/* Returns the rate of page-locked memory and the copy engines, in GB/s: one long copy each way, alone or both at once.
 */
double link_rate(enum way way);

#endif
