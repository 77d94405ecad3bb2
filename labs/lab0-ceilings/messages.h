/* messages.h — the harness's questions to a program, as plain messages: numbers, no pointers of the host.
 *
 * Your functions and the reference's each answer one question a message. The machine is measured through the ladder's
 * one rung, `machine` (ladder.cu), whose message names a piece of work and its amount.
 */
#ifndef LAB0_MESSAGES_H
#define LAB0_MESSAGES_H

#include "lab0.h"

#include <stdint.h>

/* The functions of lab0.h, in the order of lab_entries. */
enum lab0_function {
    COPY_WORK,
    SAXPY_WORK,
    ONE_FLOP_WORK,
    MATMUL_WORK,
    SCORES_WORK,
    INTENSITY,
    LEAST_US,
    BOUND_OF,
    SHEET_BYTES,
    SHEET_FLOPS,
    PREDICT_US,
    LAB0_FUNCTIONS,
    LAB0_WORKS = SCORES_WORK + 1 /* the first of them describe a work */
};

/* Arguments of one call; each function takes those of its own. */
struct lab0_question {
    enum lab0_function function;
    enum trial trial;
    int64_t n, d;
    struct work w;
    struct ceilings c;
    struct sheet s;
};

/* The function's answer. */
struct lab0_answer {
    double a, b; /* of a work: bytes and operations */
};

/* Pieces of work for the machine, each with the unit of its amount. */
enum lab0_piece {
    GET_READY, /* bytes of each host buffer, page-locked and pageable: allocates and fills both */
    SEND_PINNED,
    FETCH_PINNED, /* bytes from and to page-locked memory */
    SEND_PAGEABLE,
    FETCH_PAGEABLE, /* bytes */
    COPY_ARRAY,     /* bytes read, and as many written */
    READ_MEMORY,    /* bytes */
    READ_L2,        /* times LAB0_L2_BYTES */
    READ_SHARED,    /* rounds of LAB0_SHARED_BYTES a thread */
    COMPUTE,        /* rounds of LAB0_ROUND_FLOPS a thread */
    LAUNCH_MANY,    /* empty kernels */
    WAIT_ONLY,      /* 0; the timer itself waits for the card */
    ADD_ONCE,       /* 1 */
    FILL,           /* floats of `from` */
    SAXPY,          /* floats */
    MATMUL_SIMPLE,
    MATMUL_TILED /* n: A and B lie behind each other in `from`, C in `to`, all n x n */
};

enum {
    LAB0_THREADS = 256,     /* a block of any of them */
    LAB0_SHARED_BLOCKS = 4, /* blocks an SM that read shared memory */
    LAB0_FMA_BLOCKS = 8,    /* blocks an SM that compute */
    LAB0_L2_BYTES = 16 << 20,
    LAB0_SHARED_BYTES = 8 * 16,
    LAB0_CHAINS = 8,
    LAB0_ROUND_FLOPS = 2 * 16 * LAB0_CHAINS
};

struct lab0_job {
    enum lab0_piece piece;
    int32_t sms; /* of the card */
    int64_t amount;
    uint64_t from, to; /* device addresses */
};

enum lab0_what { LAB0_ASK, LAB0_RUN };

/* The reply to LAB0_ASK is a lab0_answer; LAB0_RUN has none. */
struct lab0_message {
    enum lab0_what what;
    struct lab0_question question; /* ASK */
    struct lab0_job job;           /* RUN */
};

#endif
