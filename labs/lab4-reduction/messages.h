/* messages.h — the harness's messages to a program: plain numbers, no pointers of the host.
 *
 * A list of tensors is sent in portions, before its plan.
 */
#ifndef LAB4_MESSAGES_H
#define LAB4_MESSAGES_H

#include <stdint.h>

enum lab4_what {
    LAB4_LIST,  /* tensors first to first + count - 1 of the next plan */
    LAB4_PLAN,  /* plan(list, count) */
    LAB4_MEAN,  /* mean(d_in, count, d_out) */
    LAB4_MEANS, /* means(d_out) */
};

enum { LAB4_PORTION = 200 };

struct lab4_tensor {
    uint64_t data; /* device address */
    int64_t length;
};

struct lab4_call {
    enum lab4_what what;
    int32_t first, count;
    uint64_t d_in, d_out; /* device addresses */
};

/* The message of LIST; those of the others are a lab4_call. */
struct lab4_list {
    struct lab4_call call;
    struct lab4_tensor tensors[LAB4_PORTION];
};

#endif
