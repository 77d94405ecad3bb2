/* allocator.cu — lab 2, the reference solution: a caching allocator with best fit, splitting, merging and events.
 *
 * Memory comes from cudaMalloc in segments. A segment is cut into blocks, which know their neighbours; a block is in
 * use, free, or parked.
 *
 *     pool_alloc   takes the smallest free block of the same home stream that is large enough, cuts off the rest,
 *                  and only if there is none allocates a new segment
 *     pool_free    joins the block with its free neighbours, without a wait: the next owner's kernels go into the same
 *                  stream, behind those of the last owner
 *     pool_use     notes a second stream. Such a block is parked when it is freed: an event in each of its streams says
 *                  when the work is done, and pool_alloc queries the events, without waiting, before it searches
 *
 * Four details, and why:
 *
 *   - Segments are multiples of 2 MiB, no larger than the request makes them. Larger ones would save calls of
 *     cudaMalloc, of which there are none left after the first step, and cost memory, which runs out first.
 *   - Before a new segment is allocated, wholly free ones are freed, since all of them are too small for the request,
 *     and two segments never join. That costs a few calls while the cache still grows, and none later.
 *   - Free blocks hang in bins by size, four bins for each doubling. A search starts in the bin of the request, takes
 *     its best fit, and else the best of the next bin that has any: a few dozen nanoseconds, however many are free.
 *   - Block records are never passed to free(), they go into a list of spares; the table from address to block is a
 *     hash table. So a pair of alloc and free costs no call at all outside this file. Events are kept, too, until
 *     pool_empty destroys those that no parked block needs.
 */
#include "lab2.h"

#include <stdint.h>
#include <stdlib.h>

enum { PIECE = 256, BINS = 256, BUCKETS = 4096, SPLIT_REST = 4096 };
static const size_t SEGMENT = (size_t)2 << 20;

enum state { FREE, USED, PARKED };

struct user { /* another stream that uses a block */
    cudaStream_t stream;
    cudaEvent_t done; /* recorded when the block is freed */
    struct user *next;
};

struct block {
    char *at;
    size_t bytes, asked;
    cudaStream_t home;
    enum state state;
    struct block *left, *right;   /* neighbours in the segment */
    struct block *before, *after; /* in its bin, or in the list of the parked */
    struct block *chain;          /* in its hash bucket, or in the list of spares */
    struct user *users;
};

static struct {
    struct block *bin[BINS], *bucket[BUCKETS], *parked, *spare_blocks;
    struct user *spare_users;
    uint64_t filled[BINS / 64]; /* a bit a bin, set if it is not empty */
    size_t live, reserved;
} pool;

/* --- records ---------------------------------------------------------------------------------- */

static struct block *new_block(char *at, size_t bytes, cudaStream_t home) {
    struct block *b = pool.spare_blocks;
    if (b)
        pool.spare_blocks = b->chain;
    else if (!(b = (struct block *)malloc(sizeof *b)))
        return NULL;
    *b = {};
    b->at = at;
    b->bytes = bytes;
    b->home = home;
    return b;
}

static void drop_block(struct block *b) {
    b->chain = pool.spare_blocks;
    pool.spare_blocks = b;
}

static struct user *new_user(cudaStream_t stream) {
    struct user *u = pool.spare_users;
    if (u) {
        pool.spare_users = u->next;
    } else {
        u = (struct user *)malloc(sizeof *u);
        if (!u || cudaEventCreateWithFlags(&u->done, cudaEventDisableTiming) != cudaSuccess) abort();
    }
    u->stream = stream;
    return u;
}

static void drop_spare_users(void) {
    while (pool.spare_users) {
        struct user *u = pool.spare_users;
        pool.spare_users = u->next;
        cudaEventDestroy(u->done);
        free(u);
    }
}

static struct block **bucket_of(const void *p) {
    return &pool.bucket[((uintptr_t)p / PIECE * 0x9E3779B97F4A7C15u) >> 52];
}

/* Only blocks in use are in the table. */
static void enter(struct block *b) {
    struct block **bucket = bucket_of(b->at);
    b->chain = *bucket;
    *bucket = b;
}

static struct block *find(const void *p) {
    struct block *b = *bucket_of(p);
    while (b && b->at != p) b = b->chain;
    return b;
}

static void leave(struct block *b) {
    struct block **link = bucket_of(b->at);
    while (*link != b) link = &(*link)->chain;
    *link = b->chain;
}

/* --- lists of free and of parked blocks --------------------------------------------------------- */

/* Four bins for each doubling: the position of the highest bit, and the two bits behind it. */
static int bin_of(size_t bytes) {
    int top = 63 - __builtin_clzll(bytes);
    return top * 4 + (int)(bytes >> (top - 2) & 3);
}

static void push(struct block **list, struct block *b) {
    b->before = NULL;
    b->after = *list;
    if (*list) (*list)->before = b;
    *list = b;
}

static void pull(struct block **list, struct block *b) {
    if (b->before)
        b->before->after = b->after;
    else
        *list = b->after;
    if (b->after) b->after->before = b->before;
}

static void shelve(struct block *b) {
    int i = bin_of(b->bytes);
    b->state = FREE;
    push(&pool.bin[i], b);
    pool.filled[i / 64] |= (uint64_t)1 << i % 64;
}

static void unshelve(struct block *b) {
    int i = bin_of(b->bytes);
    pull(&pool.bin[i], b);
    if (!pool.bin[i]) pool.filled[i / 64] &= ~((uint64_t)1 << i % 64);
}

/* Returns the first bin from i on that is not empty; BINS if there is none. */
static int next_bin(int i) {
    for (; i < BINS; i = (i / 64 + 1) * 64) {
        uint64_t bits = pool.filled[i / 64] >> i % 64;
        if (bits) return i + __builtin_ctzll(bits);
    }
    return BINS;
}

static struct block *best_fit(size_t bytes, cudaStream_t home) {
    for (int i = next_bin(bin_of(bytes)); i < BINS; i = next_bin(i + 1)) {
        struct block *best = NULL;
        for (struct block *b = pool.bin[i]; b; b = b->after)
            if (b->home == home && b->bytes >= bytes && (!best || b->bytes < best->bytes)) best = b;
        if (best) return best;
    }
    return NULL;
}

/* --- cutting and joining ------------------------------------------------------------------------- */

/* Leaves b with `bytes`; the rest becomes a free block of its own, unless it is too little to be of use. */
static void cut(struct block *b, size_t bytes) {
    if (b->bytes - bytes < SPLIT_REST) return;
    struct block *rest = new_block(b->at + bytes, b->bytes - bytes, b->home);
    if (!rest) return;
    rest->left = b;
    rest->right = b->right;
    if (b->right) b->right->left = rest;
    b->right = rest;
    b->bytes = bytes;
    shelve(rest);
}

/* Takes the right neighbour into b. */
static void join(struct block *b, struct block *right) {
    b->bytes += right->bytes;
    b->right = right->right;
    if (right->right) right->right->left = b;
    drop_block(right);
}

static void set_free(struct block *b) {
    if (b->right && b->right->state == FREE) {
        unshelve(b->right);
        join(b, b->right);
    }
    if (b->left && b->left->state == FREE) {
        struct block *left = b->left;
        unshelve(left);
        join(left, b);
        b = left;
    }
    shelve(b);
}

/* --- two streams --------------------------------------------------------------------------------- */

/* Parked blocks whose streams are done become free. `wait`: by waiting for them. */
static void look_after_parked(bool wait) {
    for (struct block *b = pool.parked, *after; b; b = after) {
        after = b->after;
        while (b->users) {
            struct user *u = b->users;
            if (wait) cudaEventSynchronize(u->done);
            if (!wait && cudaEventQuery(u->done) != cudaSuccess) break;
            b->users = u->next;
            u->next = pool.spare_users;
            pool.spare_users = u;
        }
        if (b->users) continue;
        pull(&pool.parked, b);
        set_free(b);
    }
}

extern "C" void pool_use(void *p, cudaStream_t stream) {
    struct block *b = find(p);
    if (!b || stream == b->home) return;
    for (struct user *u = b->users; u; u = u->next)
        if (u->stream == stream) return;
    struct user *u = new_user(stream);
    u->next = b->users;
    b->users = u;
}

/* --- segments ------------------------------------------------------------------------------------ */

static struct block *new_segment(size_t bytes, cudaStream_t home) {
    void *p = NULL;
    bytes = (bytes + SEGMENT - 1) / SEGMENT * SEGMENT;
    if (cudaMalloc(&p, bytes) != cudaSuccess) {
        cudaGetLastError(); /* handled here; the next launch must not return it */
        return NULL;
    }
    struct block *b = new_block((char *)p, bytes, home);
    if (!b) {
        cudaFree(p);
        return NULL;
    }
    pool.reserved += bytes;
    return b;
}

/* Frees the segments without a block in use: those of one home, or all (NULL). */
static void give_back(const cudaStream_t *home) {
    for (int i = next_bin(0); i < BINS; i = next_bin(i + 1))
        for (struct block *b = pool.bin[i], *after; b; b = after) {
            after = b->after;
            if (b->left || b->right || (home && b->home != *home)) continue;
            unshelve(b);
            pool.reserved -= b->bytes;
            cudaFree(b->at);
            drop_block(b);
        }
}

extern "C" void pool_empty(void) {
    look_after_parked(true);
    give_back(NULL);
    drop_spare_users();
}

/* --- the interface ------------------------------------------------------------------------------- */

extern "C" void *pool_alloc(size_t bytes, cudaStream_t stream) {
    size_t rounded = (bytes + PIECE - 1) / PIECE * PIECE;
    if (!bytes) return NULL;
    if (pool.parked) look_after_parked(false);
    struct block *b = best_fit(rounded, stream);
    if (b) {
        unshelve(b);
    } else {
        give_back(&stream);
        b = new_segment(rounded, stream);
        if (!b) {
            pool_empty();
            b = new_segment(rounded, stream);
        }
        if (!b) return NULL;
    }
    cut(b, rounded);
    b->state = USED;
    b->asked = bytes;
    pool.live += bytes;
    enter(b);
    return b->at;
}

extern "C" void pool_free(void *p) {
    struct block *b = find(p);
    if (!b) return;
    leave(b);
    pool.live -= b->asked;
    if (!b->users) return set_free(b);
    for (struct user *u = b->users; u; u = u->next) cudaEventRecord(u->done, u->stream);
    b->state = PARKED;
    push(&pool.parked, b);
}

extern "C" void pool_stats(size_t *live, size_t *reserved) {
    *live = pool.live;
    *reserved = pool.reserved;
}
