/* What a listener may hear of the order of commands. time/ does not know who listens. */
#ifndef SIMGPU_TIME_LISTEN_H
#define SIMGPU_TIME_LISTEN_H

#include "time.h"

/* Commands are named by their stream and their number in it, from 1. NULL for what a listener does not want to hear. */
typedef struct {
    void (*after)(uint32_t stream, uint64_t count); /* the next one submitted will come after this one */
    void (*joined)(uint32_t stream, time_point p);  /* all that the stream is given from here on comes after p */
    void (*submitted)(const time_command *c, uint64_t count);
    void (*launches)(const time_command *c, uint64_t count); /* exec/ is about to run it */
    void (*moves)(const time_command *c);                    /* a copy or memset is about to change memory */
    void (*ended)(const time_command *c, uint64_t count);
    void (*host_saw)(uint32_t stream, uint64_t count); /* the host knows that this one and all before it have ended */
} time_listener;

/* Adds a listener to the list, or takes it off. One that is there already stays there once. */
void time_listen(const time_listener *l, bool on);

#endif
