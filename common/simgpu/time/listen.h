/* listen.h — the interface for listeners to the order of commands, such as check/, which time/ does not know. */
#ifndef SIMGPU_TIME_LISTEN_H
#define SIMGPU_TIME_LISTEN_H

#include "time.h"

/* A command is named by its stream and its number in it, from 1. A listener leaves NULL what it does not need. */
typedef struct {
    void (*after)(uint32_t stream, uint64_t count); /* the next submitted command comes after this one */
    void (*joined)(uint32_t stream, time_point p);  /* all later commands of the stream come after p */
    void (*submitted)(const time_command *c, uint64_t count);
    void (*launches)(const time_command *c, uint64_t count); /* exec/ is about to run it */
    void (*moves)(const time_command *c);                    /* a copy or memset is about to change memory */
    void (*ended)(const time_command *c, uint64_t count);
    void (*host_saw)(uint32_t stream, uint64_t count); /* the host has waited for this command and all before it */
} time_listener;

/* Adds a listener to the list, or removes it. Adding it twice has no effect. */
void time_listen(const time_listener *l, bool on);

#endif
