/* player.c — calls the entry point of a program of lab 7 as a message says. It holds no right answer. */
#include "messages.h"
#include "lab7.h"
#include "player.h"

const char *const lab_entries[] = {"norm_relu_add", NULL};

typedef void norm_fn(const float *, const float *, const float *, float *, float *, int, int);

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab7_message *m = message;
    (void)reply; /* what the function has done lies on the device */
    ((norm_fn *)entry[0])((const float *)m->d_x, (const float *)m->d_gamma, (const float *)m->d_beta, (float *)m->d_y,
                          (float *)m->d_scratch, m->rows, m->cols);
}
