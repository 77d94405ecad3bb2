/* messages.h — the messages between the judge of lab 5 and its player: plain numbers, no pointers of the host.
 *
 * The judge sends one message, "train", and gets one reply. In between, the functions that the student's loop calls ask
 * the judge: may this batch be loaded, is this part of a step due, and with which learning rate? So the player does not
 * know how far the loop has come, which update will be ruined, or the right results.
 */
#ifndef LAB5_MESSAGES_H
#define LAB5_MESSAGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LAB5_STAMP = 8, /* floats before the inputs of a batch; the first is the front stamp, the batch's last the end's */
    LAB5_POOL = 16, /* batches of data; a step trains on one of them */
    LAB5_MOST_STEPS = 256
};

/* Sizes of the network that is trained, and where it lies on the device. Addresses are of floats. */
struct lab5_network {
    int32_t features, hidden, batch;
    int32_t ballast;             /* floats of a batch that no kernel reads, before its last: its copy takes longer */
    int32_t loader_ns;           /* sim lane: the host work that lab5_load declares */
    uint64_t weights, gradients; /* w1[f][h], then w2[h]; the same for the gradients */
    uint64_t units, delta;       /* [batch][hidden] */
    uint64_t error, square;      /* [batch] */
    uint64_t seen;               /* two a step: the front stamp in forward, the end stamp in backward */
};

struct lab5_message {
    int32_t steps;
    struct lab5_network net;
};

struct lab5_reply {
    int32_t result;                /* the return value of train */
    float losses[LAB5_MOST_STEPS]; /* as it left them; -1 where nothing was written */
};

enum lab5_asked {
    LAB5_DATA, /* the floats of batch `number` of the pool, without ballast and stamps. The answer is the floats */
    LAB5_LOAD, /* lab5_load for step `number` was called */
    LAB5_PART, /* a part of a step is about to be queued */
    LAB5_DONE  /* an update has been queued: its step is complete. No answer */
};

struct lab5_question {
    enum lab5_asked what;
    int32_t number;  /* DATA, LOAD */
    uint64_t batch;  /* LOAD: the address to fill */
    int32_t part;    /* PART: 0 forward, 1 loss, 2 backward, 3 update */
    uint64_t stream; /* PART, DONE: the student's */
    char file[256];  /* LOAD: the student's line that calls */
    int32_t line;
};

struct lab5_answer {
    int32_t go;     /* LOAD, PART: do it; 0: do nothing, the loop has gone wrong */
    int32_t number; /* LOAD: of the batch in the pool; PART: of the step */
    float stamp;    /* LOAD: for front and end */
    float rate;     /* PART 3: the learning rate */
};

/* --- within the player ------------------------------------------------------------------------- */

/* offered.cu: from here on the functions of lab5.h work on this network and on this copy of the data, LAB5_POOL batches
 * without ballast. */
void lab5_offer(const struct lab5_message *message, const float *pool);

#ifdef __cplusplus
}
#endif
#endif
