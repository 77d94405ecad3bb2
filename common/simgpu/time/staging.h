/* staging.h — the buffers of staged copies. */
#ifndef SIMGPU_TIME_STAGING_H
#define SIMGPU_TIME_STAGING_H

#include <stdint.h>

void *time_staging_take(uint64_t bytes); /* NULL: the host has no memory left */
void time_staging_give(void *buffer);

#endif
