/* player.c — calls an allocator of lab 2 as a message says. It holds no right answer. */
#include "messages.h"
#include "lab2.h"
#include "player.h"

const char *const lab_entries[] = {"pool_alloc", "pool_use", "pool_free", "pool_empty", "pool_stats", NULL};

typedef void *alloc_fn(size_t, cudaStream_t);
typedef void use_fn(void *, cudaStream_t);
typedef void free_fn(void *);
typedef void empty_fn(void);
typedef void stats_fn(size_t *, size_t *);

/* Plays the list once. Returns 0, or 1 + the index of the operation that got no memory. */
static int play_pass(alloc_fn *pool_alloc, free_fn *pool_free, const struct lab2_message *m, uint32_t tag, void **at,
                     uint64_t *bytes) {
    for (int i = 0; i < m->nops; i++) {
        const struct lab2_op *o = &m->op[i];
        const uint32_t b = o->block;
        switch ((enum lab2_kind)o->kind) {
        case LAB2_OP_ALLOC:
            at[b] = pool_alloc(o->bytes, (cudaStream_t)m->stream);
            if (!at[b]) return i + 1;
            bytes[b] = o->bytes;
            break;
        case LAB2_OP_FREE:
            pool_free(at[b]);
            at[b] = NULL;
            break;
        case LAB2_OP_FILL: lab2_fill((uint64_t)at[b], bytes[b], tag + b, m->chain, m->stream); break;
        case LAB2_OP_READ: lab2_read((uint64_t)at[b], bytes[b], tag + b, m->chain, m->verdict, m->stream); break;
        }
    }
    return 0;
}

static int play_list(alloc_fn *pool_alloc, free_fn *pool_free, const struct lab2_message *m) {
    void *at[LAB2_LIST_OPS] = {NULL};
    uint64_t bytes[LAB2_LIST_OPS];
    int refused = 0;
    for (int pass = 0; pass < m->passes && !refused; pass++)
        refused = play_pass(pool_alloc, pool_free, m, m->tag + (uint32_t)pass * m->tags, at, bytes);
    for (int b = 0; refused && b < LAB2_LIST_OPS; b++)
        if (at[b]) pool_free(at[b]);
    return refused;
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab2_message *m = message;
    struct lab2_reply *r = reply;
    alloc_fn *pool_alloc = (alloc_fn *)entry[0];
    free_fn *pool_free = (free_fn *)entry[2];
    size_t live = 0, reserved = 0;
    switch (m->what) {
    case LAB2_ALLOC: r->block = (uint64_t)pool_alloc(m->bytes, (cudaStream_t)m->stream); break;
    case LAB2_USE: ((use_fn *)entry[1])((void *)m->block, (cudaStream_t)m->stream); break;
    case LAB2_FREE: pool_free((void *)m->block); break;
    case LAB2_EMPTY: ((empty_fn *)entry[3])(); break;
    case LAB2_LIST: r->refused = play_list(pool_alloc, pool_free, m); break;
    }
    if (!m->stats) return;
    ((stats_fn *)entry[4])(&live, &reserved);
    r->live = live;
    r->reserved = reserved;
}
