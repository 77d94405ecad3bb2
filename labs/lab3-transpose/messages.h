/* messages.h — the harness's messages to a program: plain numbers, no pointers of the host. */
#ifndef LAB3_MESSAGES_H
#define LAB3_MESSAGES_H

#include <stdint.h>

enum lab3_what { LAB3_TRANSPOSE, LAB3_VIEW };

enum { LAB3_VIEW_FLOATS = 64 }; /* the size of the array behind the views */

/* A view whose data begins `offset` floats into an array of LAB3_VIEW_FLOATS. */
struct lab3_view {
    int32_t shape[2];
    int64_t offset, strides[2];
};

struct lab3_message {
    enum lab3_what what;
    uint64_t d_in, d_out; /* TRANSPOSE: device addresses */
    int32_t rows, cols;
    struct lab3_view view;        /* VIEW */
    float data[LAB3_VIEW_FLOATS]; /* VIEW: the array */
};

/* The reply to VIEW: the view that view_transpose returned, and the array as it is now. */
struct lab3_reply {
    struct lab3_view view;
    float data[LAB3_VIEW_FLOATS];
};

#endif
