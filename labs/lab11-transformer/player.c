/* player.c — calls the training of a program of lab 11 as the message says. It holds no right answer. */
#include "messages.h"
#include "lab11.h"
#include "player.h"

#include <stdlib.h>
#include <string.h>

const char *const lab_entries[] = {"train", NULL};

typedef int train_fn(const struct lab11_job *, float *, float *);

/* Returns fresh memory in place of *memory. It stays until the next message: when `train` returns too soon, copies from
 * or into it may still be queued. */
static void *renew(void **memory, size_t size) {
    free(*memory);
    *memory = malloc(size);
    if (!*memory) abort();
    return *memory;
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    static void *text_memory, *losses_memory;
    const struct lab11_message *m = message;
    struct lab11_reply *r = reply;
    unsigned char *text = renew(&text_memory, (size_t)m->length);
    float *losses = renew(&losses_memory, (size_t)(m->steps + LAB11_BEHIND) * sizeof *losses);
    const struct lab11_question ask = {m->length};
    lab_ask(&ask, sizeof ask, text, (size_t)m->length);
    for (int i = 0; i < m->steps + LAB11_BEHIND; i++) losses[i] = LAB11_NOTHING;
    const struct lab11_job job = {m->symbols, m->context, m->width, m->heads, m->steps, m->rate, text, m->length};
    r->result = ((train_fn *)entry[0])(&job, (float *)m->weights, losses);
    memcpy(r->losses, losses, (size_t)m->steps * sizeof *losses); /* before anything that is still queued can run */
    for (int i = 0; i < LAB11_BEHIND; i++) r->behind += losses[m->steps + i] != LAB11_NOTHING;
}
