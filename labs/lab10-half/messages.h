/* messages.h — the harness's messages to a program of lab 10: plain numbers, no pointers of the host. */
#ifndef LAB10_MESSAGES_H
#define LAB10_MESSAGES_H

#include <stdint.h>

enum lab10_what { LAB10_DENSE, LAB10_RELU_BACKWARD, LAB10_GRADIENTS, LAB10_UPDATE, LAB10_DENSE_BF16 };

/* Device addresses, and numbers. */
struct lab10_message {
    enum lab10_what what;
    int32_t m, n, k;        /* DENSE, DENSE_BF16 and the network */
    int32_t count;          /* RELU_BACKWARD */
    int32_t step;           /* the network's, from here on */
    float rate, scale;      /* scale: UPDATE */
    uint64_t x, w, bias, y; /* DENSE, DENSE_BF16: all; RELU_BACKWARD: y; the network: x, w, and bias for b */
    uint64_t dy, dz;        /* RELU_BACKWARD; the network: dz */
    uint64_t v, t, h, dh, g, loss, state;
};

struct lab10_reply {
    float scale; /* what gradients returned */
};

#endif
