/* player.c — calls the entry points of a program of lab 8 as a message says. It holds no right answer. */
#include "messages.h"
#include "lab8.h"
#include "player.h"

#include <stdlib.h>
#include <string.h>

const char *const lab_entries[] = {"setup", "solve", "cleanup", NULL};

typedef void setup_fn(int, int, int, int);
typedef int solve_fn(float *, float, float *);
typedef void cleanup_fn(void);

/* The residuals lie in ordinary memory, with room behind them for one that should not be written. It stays until the
 * next call: when `solve` returns too soon, copies into it may still be queued. */
static void play_solve(solve_fn *solve, const struct lab8_message *m, struct lab8_reply *r) {
    enum { BEHIND = 64 };
    static float *residuals;
    const int all = m->checks + BEHIND;
    free(residuals);
    residuals = malloc((size_t)all * sizeof *residuals);
    if (!residuals) abort();
    for (int i = 0; i < all; i++) residuals[i] = LAB8_NOTHING;
    r->taken = solve((float *)m->plate, m->tolerance, residuals);
    memcpy(r->residuals, residuals, (size_t)m->checks * sizeof *residuals);
    for (int i = m->checks; i < all; i++) r->behind += residuals[i] != LAB8_NOTHING;
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab8_message *m = message;
    switch (m->what) {
    case LAB8_SETUP: ((setup_fn *)entry[0])(m->rows, m->cols, m->every, m->most); break;
    case LAB8_SOLVE: play_solve((solve_fn *)entry[1], m, reply); break;
    case LAB8_CLEANUP: ((cleanup_fn *)entry[2])(); break;
    }
}
