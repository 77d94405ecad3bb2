/* messages.h — the messages between the harness and the player of lab 6: plain numbers, no pointers of the host.
 *
 *     harness                                 player
 *     lab6_message               --->         run_pipeline(&job), or the kernel alone
 *     lab6_answer                <---         receive_frames, process_frames, send_frames: a lab6_question each, or
 *                                             several
 *
 * The player asks for the words of frames in pieces, and sends the words of processed frames in pieces. The harness
 * tells it what to write and where to read, and keeps the right words to itself.
 */
#ifndef LAB6_MESSAGES_H
#define LAB6_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

/* What the kernel needs to know. */
struct lab6_kernel {
    uint64_t words;      /* to process */
    uint64_t first_word; /* the number of the first of them in the job */
    uint64_t salt;
    int32_t rounds; /* LAB6_FULL or LAB6_FEW */
};

/* Rounds of the kernel's arithmetic: in timed runs as many as make the three engines work equally long, in checked runs
 * a few. */
enum { LAB6_FULL = 18, LAB6_FEW = 2 };

struct lab6_message {
    uint64_t frames, frame_bytes, pinned_most, device_most;
    uint64_t alone; /* device memory: launch only the kernel, on this; 0: run_pipeline */
    struct lab6_kernel kernel;
};

enum lab6_what {
    LAB6_RECEIVE,  /* the words of these frames from number `from` on; from 0: receiving begins */
    LAB6_RECEIVED, /* all of them are written */
    LAB6_PROCESS,  /* what the kernel needs to know */
    LAB6_SEND,     /* the places in these frames to read, from number `from` on; from 0: sending begins */
    LAB6_SENT,     /* `count` words, read there */
};

enum { LAB6_WORDS = 1024 }; /* in one question or answer */

struct lab6_question {
    enum lab6_what what;
    uint64_t first, frames;
    uint64_t host;             /* RECEIVE, SEND: the caller's address, as a number */
    uint64_t d_frames, stream; /* PROCESS */
    uint32_t from, count;
    uint32_t word[LAB6_WORDS]; /* SENT */
};

struct lab6_answer {
    bool refused;   /* do nothing: the harness has noted what is wrong with the call */
    bool more;      /* RECEIVE, SEND: ask again, from from + count on */
    uint32_t count; /* RECEIVE, SEND */
    struct lab6_kernel kernel;
    struct {
        uint32_t at, word; /* place from the first frame's first word on; `word`: RECEIVE only */
    } words[LAB6_WORDS];
};

#endif
