/* player.c — calls the training loop of a program of lab 5 as the message says. It holds no right answer. */
#include "messages.h"
#include "lab5.h"
#include "player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const lab_entries[] = {"train", NULL};

typedef int train_fn(const struct lab5_job *, float *);

/* Replaces *memory by fresh memory, which stays until the next message: when `train` returns, copies into it may still
 * be queued. */
static float *renew(float **memory, size_t floats) {
    free(*memory);
    *memory = malloc(floats * sizeof **memory);
    if (!*memory) {
        fprintf(stderr, "lab5: out of memory for %zu floats\n", floats);
        exit(2);
    }
    return *memory;
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    static float *pool, *losses;
    const struct lab5_message *m = message;
    struct lab5_reply *r = reply;
    const size_t data = (size_t)m->net.batch * ((size_t)m->net.features + 1);
    const size_t batch = LAB5_STAMP + data + (size_t)m->net.ballast + 1;
    const struct lab5_job job = {m->steps, batch * sizeof(float)};

    renew(&pool, LAB5_POOL * data);
    for (int i = 0; i < LAB5_POOL; i++) {
        const struct lab5_question ask = {.what = LAB5_DATA, .number = i};
        lab_ask(&ask, sizeof ask, pool + (size_t)i * data, data * sizeof *pool);
    }
    lab5_offer(m, pool);

    renew(&losses, (size_t)m->steps);
    for (int k = 0; k < m->steps; k++) losses[k] = -1;
    r->result = ((train_fn *)entry[0])(&job, losses);
    memcpy(r->losses, losses, (size_t)m->steps * sizeof *losses); /* before anything that is still queued can run */
    if (cudaPeekAtLastError() == cudaErrorNotReady) cudaGetLastError(); /* an answer to a query, not an error */
}
