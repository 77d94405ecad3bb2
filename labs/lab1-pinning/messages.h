/* messages.h — the messages between the harness and the player of lab 1: plain numbers, no pointers of the host.
 *
 *     harness                                 player
 *     lab1_message               --->         run_batches(&job)
 *     lab1_answer                <---         load_batch, process_batch, take_result: a lab1_question each, or several
 *
 * The player asks for the words of a batch in pieces, and sends the words of a result in pieces. The harness
 * tells it what to write and where to read, and keeps the right results to itself.
 */
#ifndef LAB1_MESSAGES_H
#define LAB1_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

struct lab1_message {
    int32_t batches;
    uint64_t in_bytes, out_bytes, page_locked_most;
};

enum lab1_what {
    LAB1_LOAD,    /* the words of the batch from number `first` on; first 0: the loading begins */
    LAB1_LOADED,  /* all of them are written */
    LAB1_PROCESS, /* what the kernel needs to know */
    LAB1_TAKE,    /* the places in the result to read, from number `first` on; first 0: the taking begins */
    LAB1_TAKEN,   /* `count` words, read there */
};

enum { LAB1_WORDS = 1024 }; /* in one question or answer */

struct lab1_question {
    enum lab1_what what;
    int32_t batch;
    uint64_t host;                /* LOAD, TAKE: the caller's address of the batch or of the result, as a number */
    uint64_t d_in, d_out, stream; /* PROCESS */
    uint32_t first, count;
    uint32_t word[LAB1_WORDS]; /* TAKEN */
};

struct lab1_answer {
    bool refused;           /* do nothing: the harness has noted what is wrong with the call */
    bool more;              /* LOAD, TAKE: ask again, from first + count on */
    uint32_t count;         /* LOAD, TAKE */
    uint32_t in, out, salt; /* PROCESS: words of the batch and of its result; what the kernel's arithmetic depends on */
    struct {
        uint32_t at, word; /* `word`: LOAD only */
    } words[LAB1_WORDS];
};

#endif
