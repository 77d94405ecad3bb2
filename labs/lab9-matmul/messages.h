/* messages.h — the harness's message to a program: plain numbers, no pointers of the host. */
#ifndef LAB9_MESSAGES_H
#define LAB9_MESSAGES_H

#include <stdint.h>

struct lab9_message {
    uint64_t d_a, d_b, d_c; /* device addresses */
    int32_t m, n, k;
};

#endif
