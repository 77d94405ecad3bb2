/* listen.h — what the loop's own calls of CUDA tell about a mistake: the first call that failed, and the memory at its
 * addresses; the streams of copies and waits; copies from or to ordinary memory.
 *
 *     listen_begin(&heard);
 *     ... the training ...
 *     listen_end();
 */
#ifndef LAB5_LISTEN_H
#define LAB5_LISTEN_H

#include "lab.h"

/* A host or device address of a call. */
typedef struct {
    uint64_t address;
    enum cudaMemoryType type;
    lab_thing_made in; /* what the program has created there, or begins last before it; thing LAB_NO_THING: nothing */
} memory;

typedef struct {
    lab_call failed;          /* the first call that failed; name NULL: none. Kernels that failed do not count */
    memory to, from;          /* of it */
    bool no_event, no_stream; /* of it: not created, or destroyed */
    lab_call largest;         /* of the copies to the device; name NULL: none */
    bool targets;             /* such copies had different destinations */
    struct {
        uint64_t stream[8]; /* those that were told to wait for an event */
        int n;
    } waiting;
    struct {
        uint64_t event[32], stream[32]; /* the stream in which each was recorded last */
        int n;
    } recorded;
    uint64_t awaited;          /* the stream of the host's last wait, its event's; 0: none */
    int host_waits, host_asks; /* the host's waits, and its queries, while steps are being queued */
    int pageable_copies;  /* from or to ordinary memory, while `counting`. Gpu lane; in the sim lane events say it */
    bool ended, counting; /* set by the training: all steps are queued; the clock runs */
    bool deaf;            /* set by the training: a mistake is known already, a later failure does not count */
} heard;

/* Forgets what was heard, and listens. The struct must be one that lab_hide gave out. */
void listen_begin(heard *h);
void listen_end(void);

/* Returns whether cudaStreamWaitEvent was called for the stream. */
bool listen_waited(const heard *h, uint64_t stream);

/* Describes the memory at an address. */
memory memory_at(uint64_t address);
/* Returns the bytes from the address to the end of what the program has created there, or of what malloc gave it; -1 if
 * neither is known. */
int64_t room_at(uint64_t address);

#endif
