/* check/ — finds hazards that hardware does not report: races, reads of memory before any write, barriers that
 * some threads pass by, host memory used during a copy, unordered streams on the same bytes.
 *
 *   exec/ --events-> order.c, memory.c     inside a launch: threads of a block, blocks of a grid
 *                    fresh.c               memory.c's record of what nothing has written
 *   exec/ --events-> barrier.c             inside a block: who reaches a __syncthreads() and who does not
 *   time/ --events-> streams.c, host.c     between commands; between the host and a copy
 *                    finding.c             one message a pair of lines, on stderr and in the report
 *
 * exec/ and time/ do not know this room. It registers as a listener in their lists and reads the views that they pass.
 *
 * A finding follows from the order that the program sets, not from the order of this run: two accesses to the same
 * bytes, at least one of them a store, and no rule that makes one come first on every GPU. In doubt, check/ reports
 * nothing; ../README.md lists the hazards that it misses.
 */
#ifndef SIMGPU_CHECK_H
#define SIMGPU_CHECK_H

#include "../include/simgpu_event.h"
#include <stdbool.h>

/* What the checks know of one card: its shadow memory, the order of its commands, its buffers in use by copies, its
 * findings. */
typedef struct check_device check_device;
check_device *check_device_new(void);

/* Selects the card that all other functions and all events are about. Requires that no command is queued. */
void check_use(check_device *d);

/* Switches all checks on or off, for every card, which then begin anew. Requires that no command is queued. Findings
 * reported before are not repeated. */
void check_enable(bool on);
void check_finding_print(bool on); /* on stderr; they go to the listeners in any case */

/* Forgets everything about the card in use, its findings too. Requires that no command is queued. */
void check_forget(void);

/* Handles a fault for cudart/'s SIGSEGV handler. Returns true if check/ had protected the address; it is accessible
 * then, and the program can continue. context: the handler's ucontext_t. by_program: false while SimGPU itself uses
 * memory. Async-signal-safe. */
bool check_host_touch(const void *address, void *context, bool by_program);
/* Handles a trap for cudart/'s SIGTRAP handler. Returns true if it comes from an access that check_host_touch lets run
 * as a single step. Async-signal-safe. */
bool check_host_stepped(void *context);
/* Reports the touches that the handler noted. Call it where messages can be written, in each API call. */
void check_host_say(void);

/* Sets *site to the address in the program's own code that is innermost in this call (NULL: unknown), and *function to
 * the name of what it called there, or to NULL. */
void check_host_caller(const void **site, const char **function);
/* Returns the line of such an address; file NULL: unknown. Takes milliseconds. */
struct simgpu_place check_host_line(const void *site);

#endif
