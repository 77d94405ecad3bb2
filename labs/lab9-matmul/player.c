/* player.c — calls the entry point of a program of lab 9 as a message says. It holds no right answer. */
#include "player.h"
#include "lab9.h"
#include "messages.h"

const char *const lab_entries[] = {"matmul", NULL};

typedef void matmul_fn(const float *, const float *, float *, int, int, int);

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab9_message *p = message;
    (void)reply; /* what the function has done lies on the device */
    ((matmul_fn *)entry[0])((const float *)p->d_a, (const float *)p->d_b, (float *)p->d_c, p->m, p->n, p->k);
}
