/* parts.h — the interfaces between the files of check/: the state of a card, the listeners of memory.c and barrier.c,
 * fresh.c, streams.c, host.c. */
#ifndef SIMGPU_CHECK_PARTS_H
#define SIMGPU_CHECK_PARTS_H

#include "../exec/listen.h"
#include "../time/listen.h"

#include <stdio.h>
#include <stdlib.h>

static inline void *check_must(void *p) {
    return base_must(p, "the host has no memory left for checks; set SIMGPU_CHECK=0");
}

/* What a file knows of one card. It keeps a pointer to the state of the card in use; check.c makes the states, zeros at
 * first, and moves the pointers when another card is used. */
typedef struct {
    size_t bytes;
    void (*use)(void *state);
    void (*forget)(void); /* frees what the state in use holds; check.c then clears it */
} check_part;
extern const check_part check_part_findings, check_part_order, check_part_barriers, check_part_memory, check_part_fresh,
    check_part_streams, check_part_host;

/* memory.c: accesses inside a launch. */
extern const exec_listener check_memory;

/* fresh.c: device memory that nothing has written. A lane's store, before its data moves; whether a lane loads nothing
 * but such words, of 4 bytes each (false for smaller loads); a copy or fill that has ended. */
void check_fresh_stores(const exec_access *a, uint32_t lane);
bool check_fresh_reads(const exec_access *a, uint32_t lane);
void check_fresh_moved(const time_command *c);

/* barrier.c: barriers that not every thread of the block reaches. */
extern const exec_listener check_barriers;

/* streams.c: the order of commands. After a launch, memory.c passes the ranges of device memory that it used. */
typedef void parts_range(uint64_t lo, uint64_t hi, bool writes);
parts_range check_streams_range;
void check_streams_launched(void);
void check_streams_after(uint32_t stream, uint64_t count);
void check_streams_joined(uint32_t stream, time_point p);
void check_streams_submitted(const time_command *c, uint64_t count);
void check_streams_launches(const time_command *c, uint64_t count);
void check_streams_ended(const time_command *c, uint64_t count);
void check_streams_host_saw(uint32_t stream, uint64_t count);
bool check_streams_host_has_seen(uint32_t stream, uint64_t count);

/* host.c: host memory in use by a copy. check_host_moves unprotects it before SimGPU itself moves the bytes;
 * check_host_guard_again restores the protection after that, and after the host has waited for more commands. */
void check_host_submitted(const time_command *c, uint64_t count);
void check_host_moves(const time_command *c);
void check_host_guard_again(void);

#endif
