/* finding.h — reports findings, each once, on stderr and as an event. */
#ifndef SIMGPU_FINDING_H
#define SIMGPU_FINDING_H

#include "../exec/exec.h"

/* Returns false if a finding of this kind about these places, in either order, was reported before on this card, or if
 * the limit on findings is reached. A race is new, too, if it is wider than the one of these places that is held. */
bool check_finding_is_new(const struct simgpu_finding *f);
/* Fills in the kernel, and the block and thread of one side: the number of the block in the grid, of the thread in the
 * block. */
void check_finding_thread(struct simgpu_finding *f, int side, const exec_launch *n, uint64_t block, uint32_t thread);
/* Reports it. Requires check_finding_is_new, and that the places' file names stay valid. */
void check_finding_say(const struct simgpu_finding *f);
/* The same for what is found in a launch: it is reported when the launch has ended, in the order of discovery. A race
 * between lanes of a warp gives way to one of the same lines between warps, and that to one between blocks. A read of
 * unwritten memory at a line that also reads too early is left out, since the missing barrier explains it. */
void check_finding_hold(const struct simgpu_finding *f);
void check_finding_launched(void);

#endif
