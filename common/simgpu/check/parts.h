/* How the files of check/ know each other. */
#ifndef SIMGPU_CHECK_PARTS_H
#define SIMGPU_CHECK_PARTS_H

#include "../exec/listen.h"
#include "../time/listen.h"

#include <stdio.h>
#include <stdlib.h>

static inline void *check_must(void *p) {
    return base_must(p, "the host has no memory left for checks; set SIMGPU_CHECK=0");
}

extern const exec_listener check_memory; /* memory.c: inside a launch */

/* streams.c: the order of commands. A launch tells what it used of device memory when it has run. */
typedef void parts_range(uint64_t lo, uint64_t hi, bool writes);
parts_range check_streams_range;
void check_streams_launched(void);
void check_streams_reset(void);
void check_streams_after(uint32_t stream, uint64_t count);
void check_streams_joined(uint32_t stream, time_point p);
void check_streams_submitted(const time_command *c, uint64_t count);
void check_streams_launches(const time_command *c, uint64_t count);
void check_streams_ended(const time_command *c, uint64_t count);
void check_streams_host_saw(uint32_t stream, uint64_t count);
bool check_streams_host_has_seen(uint32_t stream, uint64_t count);

/* host.c: host memory that a copy is on. */
void check_host_reset(void);
void check_host_submitted(const time_command *c, uint64_t count);
void check_host_moves(const time_command *c); /* SimGPU itself is about to touch it */
void check_host_guard_again(void); /* after that, or when the host has seen more: the pages as they should be */

#endif
