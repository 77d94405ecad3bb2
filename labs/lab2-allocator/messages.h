/* messages.h — the harness's messages to an allocator, and the kernels that sign blocks. Addresses of device memory and
 * handles of streams are numbers; nothing here points into the host's memory.
 *
 * A message is one call of the allocator; or, where calls are timed, a list of many, since a message a call would cost
 * more than the call.
 */
#ifndef LAB2_MESSAGES_H
#define LAB2_MESSAGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lab2_what { LAB2_ALLOC, LAB2_USE, LAB2_FREE, LAB2_EMPTY, LAB2_LIST };

/* One operation of a list. It names a block by a number below LAB2_LIST_OPS. */
enum lab2_kind { LAB2_OP_ALLOC, LAB2_OP_FREE, LAB2_OP_FILL, LAB2_OP_READ };
enum { LAB2_LIST_OPS = 192 };
struct lab2_op {
    uint64_t bytes; /* OP_ALLOC */
    uint32_t block;
    uint32_t kind;
};

struct lab2_message {
    enum lab2_what what;
    int32_t stats;           /* all but LIST: 1: call pool_stats as well, afterwards */
    uint64_t bytes;          /* ALLOC */
    uint64_t block;          /* USE, FREE: the address that ALLOC returned */
    uint64_t stream;         /* ALLOC, USE; of a LIST, of all its operations */
    uint64_t chain, verdict; /* LIST: for the kernels below */
    int32_t passes, nops;    /* LIST: plays op[0..nops) so many times */
    uint32_t tag, tags;      /* LIST: block b is signed tag + pass * tags + b */
    struct lab2_op op[LAB2_LIST_OPS];
};

struct lab2_reply {
    uint64_t block;          /* ALLOC: the address; 0: refused */
    uint64_t live, reserved; /* of pool_stats */
    int32_t refused; /* LIST: 1 + the index of the OP_ALLOC that was refused, where the list ended; 0: none was. What it
                        had allocated by then is freed */
};

/* --- kernels (stamps.cu) -------------------------------------------------------------------------
 *
 * The harness launches them one by one, the player in a list. A signature is two words, a tag and a count, at the
 * block's beginning and at each multiple of 4 KiB inside it. */

enum { LAB2_CHAIN = 1 << 16 }; /* indices in device memory, each the place of the next: following them takes time */

/* On the device, zeroed before. failed is 1 when the rest describes the first signature that was not found. */
struct lab2_verdict {
    uint32_t failed, want, got, offset;
};

void lab2_fill(uint64_t block, uint64_t bytes, uint32_t tag, uint64_t chain, uint64_t stream);
void lab2_read(uint64_t block, uint64_t bytes, uint32_t tag, uint64_t chain, uint64_t verdict, uint64_t stream);
void lab2_slow(uint64_t chain, uint64_t verdict, uint64_t stream); /* keeps the stream busy for some time */

#ifdef __cplusplus
}
#endif
#endif
