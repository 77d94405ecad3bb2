/* messages.h — the harness's messages to a program of lab 8: plain numbers, no pointers of the host. */
#ifndef LAB8_MESSAGES_H
#define LAB8_MESSAGES_H

#include <stdint.h>

enum lab8_what { LAB8_SETUP, LAB8_SOLVE, LAB8_CLEANUP };

enum { LAB8_MOST_CHECKS = 512 };

struct lab8_message {
    enum lab8_what what;
    int32_t rows, cols, every, most; /* SETUP */
    uint64_t plate;                  /* SOLVE: device address */
    int32_t checks;                  /* SOLVE: of `most` steps, at most LAB8_MOST_CHECKS */
    float tolerance;                 /* SOLVE */
};

/* The reply to SOLVE. */
struct lab8_reply {
    int32_t taken;                     /* what solve returned */
    int32_t behind;                    /* residuals written behind the last one */
    float residuals[LAB8_MOST_CHECKS]; /* as it left them; LAB8_NOTHING where nothing was written */
};

#define LAB8_NOTHING (-1.0f) /* no residual is negative */

#endif
