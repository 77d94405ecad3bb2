/* Findings: each said once, on stderr and as an event. */
#ifndef SIMGPU_FINDING_H
#define SIMGPU_FINDING_H

#include "../include/simgpu_event.h"

/* False if a finding of this kind about these places, in either order, was said before, or very many others were. */
bool check_finding_is_new(const struct simgpu_finding *f);
void check_finding_say(const struct simgpu_finding *f);

#endif
