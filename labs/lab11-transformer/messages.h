/* messages.h — the messages between the judge of lab 11 and its player: plain numbers, no pointers of the host.
 *
 * The judge sends one message, "train"; the player asks for the text, and replies with what `train` returned. The
 * weights lie on the device, where both find them.
 */
#ifndef LAB11_MESSAGES_H
#define LAB11_MESSAGES_H

#include <stdint.h>

enum {
    LAB11_MOST_STEPS = 512,
    LAB11_BEHIND = 64 /* losses behind the last that are watched */
};

struct lab11_message {
    int32_t symbols, context, width, heads, steps, length; /* as in struct lab11_job */
    float rate;
    uint64_t weights; /* device address */
};

/* The player's only question: the text. The answer is `length` bytes. */
struct lab11_question {
    int32_t length;
};

struct lab11_reply {
    int32_t result;                 /* what train returned */
    int32_t behind;                 /* losses written behind the last step's */
    float losses[LAB11_MOST_STEPS]; /* as it left them; LAB11_NOTHING where nothing was written */
};

#define LAB11_NOTHING (-1.0f) /* no loss is negative */

#endif
