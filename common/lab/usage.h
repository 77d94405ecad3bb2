/* usage.h — what the labs ask of a run's cost: which line, which command, which call.
 *
 * A lab's advice names the line to look at by a cost of its lines, and the kind of mistake by the events of the run.
 * The questions that several labs ask are here; what they answer with is in each lab's own words.
 *
 *     lab_blame(v, lab_worst(u, lab_commands_of));
 *     if (!lab_started(u, j->begin)) ...                  the run gave the GPU nothing to do
 */
#ifndef LAB_USAGE_H
#define LAB_USAGE_H

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the cost of what was counted under this name, to be freed; empty where nothing was, as in the gpu lane. */
lab_usage lab_usage_if_any(const char *name);

/* Costs of a line, for lab_worst: kernels, copies and fills that this host line started; extra wavefronts of shared
 * memory by bank conflicts; waits of a warp at barriers; sectors of local memory. */
double lab_commands_of(const lab_line *l);
double lab_conflicts_of(const lab_line *l);
double lab_barriers_of(const lab_line *l);
double lab_local_of(const lab_line *l);

bool lab_is_copy(const struct simgpu_event *e); /* of a copy or a fill */
/* Returns whether a kernel, a copy or a fill has been started since `begin` (lab_now's ns). */
bool lab_started(const lab_usage *u, double begin);
/* Bytes that the commands of a stretch move between DRAM and the chip, at least; of one event. Sim lane. */
double lab_bytes_of(const lab_usage *u);
double lab_bytes_of_event(const struct simgpu_event *e);

/* The student's longest call, if it took a fifth of these microseconds or more: the device had nothing to do while the
 * host was in it. NULL: none. */
const struct simgpu_event *lab_long_call(const lab_usage *u, double us);
/* The same, and places the row's blame there, with the reason. The next step is the lab's. */
const struct simgpu_call *lab_blame_call(lab_verdict *v, const lab_usage *u, double us);

#ifdef __cplusplus
}
#endif
#endif
