/* moves.h — what copies and memsets do to memory and to L2. */
#ifndef SIMGPU_TIME_MOVES_H
#define SIMGPU_TIME_MOVES_H

#include "time.h"

/* any: a device of the machine, whichever. */

/* Copies the source's bytes to the buffer, row after row. */
void time_moves_stage(exec_device *any, const time_command *c, void *buffer);

/* Moves or fills the bytes of a copy or memset. staged: the buffer of its time_moves_stage, or NULL. */
void time_moves(exec_device *any, const time_command *c, const void *staged);

/* Tells the L2 of the devices that have its ends of a copy or memset. Returns the bytes that DRAM reads and writes for
 * it. */
uint64_t time_moves_l2(exec_device *any, const time_command *c);

#endif
