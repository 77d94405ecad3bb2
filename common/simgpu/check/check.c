/* check.c — switches the checks on and off: adds their listeners to exec/'s and time/'s lists, or removes them. */
#include "check.h"
#include "parts.h"

#include <execinfo.h>

static void submitted(const time_command *c, uint64_t count) {
    check_streams_submitted(c, count);
    check_host_submitted(c, count);
}

static void ended(const time_command *c, uint64_t count) {
    check_streams_ended(c, count);
    if (c->kind == TIME_COPY) check_host_guard_again();
}

static void host_saw(uint32_t stream, uint64_t count) {
    if (check_streams_host_has_seen(stream, count)) return;
    check_streams_host_saw(stream, count);
    check_host_guard_again();
}

static const time_listener check_commands = {.after = check_streams_after,
                                             .joined = check_streams_joined,
                                             .submitted = submitted,
                                             .launches = check_streams_launches,
                                             .moves = check_host_moves,
                                             .ended = ended,
                                             .host_saw = host_saw};

void check_forget(void) {
    check_streams_reset();
    check_host_reset();
}

void check_enable(bool on) {
    void *frame;
    check_forget();
    if (on) backtrace(&frame, 1); /* its first call loads a library, which a signal handler must not do */
    exec_listen(&check_memory, on);
    time_listen(&check_commands, on);
}
