/* rates.h — the timed job, a program's time for it, and the limit to compare that with: each engine alone, and both
 * directions of the link together.
 */
#ifndef LAB6_RATES_H
#define LAB6_RATES_H

#include "job.h"

enum { MOST_RUNS = 15, FRAME_BYTES = 4096 };
#define COPY_FIXED_US 2.9 /* the fixed time of a copy up, measured on an H200: what each further chunk costs */

int rate_runs(void); /* timed runs that make one time: the virtual clock needs one, a real one MOST_RUNS */

/* Returns the timed job: 256 MiB in the gpu lane, 32 MiB in the sim lane, where each instruction of the kernel is
 * simulated. */
run *timed_job(lab_program *program);

/* A program of ours: the microseconds of its job, whether it was right, how many chunks it had, and the memory that it
 * held at its peak. `host` is page-locked or not. */
typedef struct {
    double us;
    bool right;
    int chunks;
    double pinned, device, host; /* bytes */
} measured;
measured program_measured(lab_program *program);

/* Microseconds that all frames take: the two copies alone, the kernel alone, and both copies at once. On a card the
 * copies go through an eighth of the memory again and again, as a ring does: long ones are slowed down by the host's
 * memory, and would be no limit of a ring. */
typedef struct {
    double up, kernels, down, both;
} engine_times;
engine_times engine_times_of(void);

/* The least time of the job: the longest engine's. Both copies at once are slower than each alone. */
lab_floor limit_of(const engine_times *t);

#endif
