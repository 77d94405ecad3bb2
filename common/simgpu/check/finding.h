/* finding.h — reports findings, each once, on stderr and as an event. */
#ifndef SIMGPU_FINDING_H
#define SIMGPU_FINDING_H

#include "../exec/exec.h"

/* Returns false if a finding of this kind about these places, in either order, was reported before on this card, or if
 * the limit on findings is reached. */
bool check_finding_is_new(const struct simgpu_finding *f);
/* Fills in the kernel, and the block and thread of one side: the number of the block in the grid, of the thread in the
 * block. */
void check_finding_thread(struct simgpu_finding *f, int side, const exec_launch *n, uint64_t block, uint32_t thread);
/* Reports it. Requires check_finding_is_new, and that the places' file names stay valid. */
void check_finding_say(const struct simgpu_finding *f);

#endif
