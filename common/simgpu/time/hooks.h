/* time/'s hooks: what a checker may hear of the order of commands. time/ does not know who listens. */
#ifndef SIMGPU_TIME_HOOKS_H
#define SIMGPU_TIME_HOOKS_H

#include "time.h"

/* Commands are named by their stream and their number in it, from 1. */
typedef struct {
    void (*after)(uint32_t stream, uint64_t count); /* the next one submitted will come after this one */
    void (*joined)(uint32_t stream, time_point p);  /* all that the stream is given from here on comes after p */
    void (*submitted)(const time_command *c, uint64_t count);
    void (*launches)(const time_command *c, uint64_t count); /* exec/ is about to run it */
    void (*moves)(const time_command *c);                    /* a copy or memset is about to change memory */
    void (*ended)(const time_command *c, uint64_t count);
    void (*host_saw)(uint32_t stream, uint64_t count); /* the host knows that this one and all before it have ended */
} time_hooks;

extern const time_hooks *time_listener; /* NULL: nobody */

#endif
