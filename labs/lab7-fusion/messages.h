/* messages.h — the harness's message to a program: plain numbers, no pointers of the host. */
#ifndef LAB7_MESSAGES_H
#define LAB7_MESSAGES_H

#include <stdint.h>

struct lab7_message {
    uint64_t d_x, d_gamma, d_beta, d_y, d_scratch; /* device addresses */
    int32_t rows, cols;
};

#endif
