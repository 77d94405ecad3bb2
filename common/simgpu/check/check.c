/* check.c — the state of each card, and the switch: adds the checks' listeners to exec/'s and time/'s lists, or removes
 * them. */
#include "check.h"
#include "parts.h"

#include <execinfo.h>
#include <string.h>

static void submitted(const time_command *c, uint64_t count) {
    check_streams_submitted(c, count);
    check_host_submitted(c, count);
}

static void ended(const time_command *c, uint64_t count) {
    check_streams_ended(c, count);
    check_fresh_moved(c);
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

/* --- of a card ----------------------------------------------------------------------------------------------- */

static const check_part *const parts[] = {&check_part_findings, &check_part_order, &check_part_barriers,
                                          &check_part_memory,   &check_part_fresh, &check_part_streams,
                                          &check_part_host};
enum { PARTS = sizeof parts / sizeof *parts, FINDINGS = 0 };

struct check_device {
    void *state[PARTS];
    uint64_t switched; /* what it knows is of the checks since this switch */
};
static check_device *here;
static uint64_t switches; /* of the checks, on or off */

check_device *check_device_new(void) {
    check_device *d = check_must(calloc(1, sizeof *d));
    for (int k = 0; k < PARTS; k++) d->state[k] = check_must(calloc(1, parts[k]->bytes));
    d->switched = switches;
    return d;
}

static void forget_from(int first) {
    for (int k = first; k < PARTS; k++) {
        parts[k]->forget();
        memset(here->state[k], 0, parts[k]->bytes);
    }
    here->switched = switches;
}

void check_use(check_device *d) {
    here = d;
    for (int k = 0; k < PARTS; k++) parts[k]->use(d->state[k]);
    if (d->switched != switches) forget_from(FINDINGS + 1);
}

void check_forget(void) { forget_from(0); }

/* --- the switch ---------------------------------------------------------------------------------------------- */

void check_enable(bool on) {
    void *frame;
    switches++;
    forget_from(FINDINGS + 1);
    if (on) backtrace(&frame, 1);       /* its first call loads a library, which a signal handler must not do */
    if (on) exec_mem_fresh(EXEC_FRESH); /* fresh.c knows unwritten words by it */
    exec_listen(&check_memory, on);
    exec_listen(&check_barriers, on);
    time_listen(&check_commands, on);
}
