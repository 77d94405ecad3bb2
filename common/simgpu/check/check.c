/* The switch: who hears what. */
#include "check.h"
#include "parts.h"

#include <execinfo.h>

static void submitted(const time_command *c, uint64_t count) {
    streams_submitted(c, count);
    host_submitted(c, count);
}

static void ended(const time_command *c, uint64_t count) {
    streams_ended(c, count);
    if (c->kind == TIME_COPY) host_guard_again();
}

static void host_saw(uint32_t stream, uint64_t count) {
    if (streams_host_has_seen(stream, count)) return;
    streams_host_saw(stream, count);
    host_guard_again();
}

static const time_listener check_commands = {.after = streams_after,
                                             .joined = streams_joined,
                                             .submitted = submitted,
                                             .launches = streams_launches,
                                             .moves = host_moves,
                                             .ended = ended,
                                             .host_saw = host_saw};

void check_forget(void) {
    streams_reset();
    host_reset();
}

void check_enable(bool on) {
    void *frame;
    check_forget();
    if (on) backtrace(&frame, 1); /* its first call loads a library: not in a signal handler */
    exec_listen(&check_memory, on);
    time_listen(&check_commands, on);
}
