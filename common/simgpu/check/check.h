/* check/ — what no hardware says: races, reads of what nobody wrote, host memory used while a copy is on it, streams
 * that work on the same bytes without an order.
 *
 *   exec/ --events-> order.c, memory.c     inside a launch: threads of a block, blocks of a grid
 *   time/ --events-> streams.c, host.c     between commands; between the host and a copy
 *                    finding.c             one message a pair of lines, on stderr and in the report
 *
 * exec/ and time/ do not know this room: it is one listener in their lists, and reads the views that they show it.
 *
 * A finding is about the program's order, not about this run's luck: two accesses to the same bytes, at least one of
 * them a store, with nothing between that makes one come first on every GPU. Where the rules leave room, check/ is
 * silent rather than wrong; ../README.md lists what it lets pass.
 */
#ifndef SIMGPU_CHECK_H
#define SIMGPU_CHECK_H

#include <stdbool.h>

/* Switches all checks on or off, when nothing is queued. Findings that were said are not said again. */
void check_enable(bool on);

/* Another device is about to be used, and nothing is queued on this one: forgets its commands. */
void check_forget(void);

/* For cudart/'s handler of SIGSEGV: was the address protected here? Then it is open now, and the program can go on.
 * by_program: false while SimGPU itself touches memory. */
bool check_host_touch(const void *address, const void *context, bool by_program);
/* Says what the handler saw; in each API call, where messages can be written. */
void check_host_say(void);

#endif
