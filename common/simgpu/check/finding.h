/* finding.h — reports findings, each once, on stderr and as an event. */
#ifndef SIMGPU_FINDING_H
#define SIMGPU_FINDING_H

#include "../include/simgpu_event.h"

/* Returns false if a finding of this kind about these places, in either order, was reported before on this card, or if
 * the limit on findings is reached. */
bool check_finding_is_new(const struct simgpu_finding *f);
/* Reports it. Requires check_finding_is_new, and that the places' file names stay valid. */
void check_finding_say(const struct simgpu_finding *f);

#endif
