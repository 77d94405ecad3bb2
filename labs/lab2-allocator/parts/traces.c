/* traces.c — requests to an allocator: five traces, each a list of small steps; see judge.h.
 *
 * A trace names its blocks by numbers. Sizes depend on the seed, so that no plan made beforehand fits.
 */
#include "judge.h"

static void add(trace *t, op_kind kind, int block, int stream, size_t bytes) {
    if (t->nops == MOST_OPS || block >= MOST_BLOCKS) lab_die("trace '%s' is too long", t->name);
    t->ops[t->nops++] = (op){kind, block, stream, bytes};
    if (block >= t->nblocks) t->nblocks = block + 1;
}

static trace *trace_new(const char *name) {
    trace *t = zeros(sizeof *t);
    t->name = name;
    return t;
}

/* A block that is written at once. Returns its number. */
static int produce(trace *t, size_t bytes, int stream) {
    int block = t->nblocks;
    add(t, OP_ALLOC, block, stream, bytes);
    add(t, OP_FILL, block, stream, 0);
    return block;
}

/* Reads the block a last time and frees it. */
static void consume(trace *t, int block, int stream) {
    add(t, OP_READ, block, stream, 0);
    add(t, OP_FREE, block, stream, 0);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* About that many KiB: the seed makes it up to 3 % more, in odd bytes. */
static size_t about(size_t kib, uint64_t *state) { return kib * 1024 + next_random(state) % (kib * 32); }

/* One training step of six layers. Forward: each layer keeps its activation and drops a workspace. Backward, in the
 * other order: a gradient for the layer below and one for the weights; then the activation may go. 24 blocks. */
trace *trace_train(uint64_t seed) {
    static const size_t layer_kib[] = {1600, 750, 2700, 1100, 1750, 1250},
                        work_kib[] = {560, 1900, 400, 1250, 950, 280};
    enum { LAYERS = 6 };
    trace *t = trace_new("train");
    int activation[LAYERS];
    size_t bytes[LAYERS];
    for (int l = 0; l < LAYERS; l++) {
        bytes[l] = about(layer_kib[l], &seed);
        activation[l] = produce(t, bytes[l], 0);
        consume(t, produce(t, about(work_kib[l], &seed), 0), 0);
    }
    int gradient = produce(t, bytes[LAYERS - 1], 0);
    for (int l = LAYERS - 1; l >= 0; l--) {
        int weights = produce(t, about(layer_kib[l] / 3, &seed), 0);
        int below = l > 0 ? produce(t, bytes[l - 1], 0) : -1;
        consume(t, gradient, 0);
        consume(t, weights, 0);
        consume(t, activation[l], 0);
        gradient = below;
    }
    return t;
}

/* 40 batches of sentences; the longest sentence of a batch decides all sizes, and one of them grows with its square. */
trace *trace_lengths(uint64_t seed) {
    trace *t = trace_new("lengths");
    for (int batch = 0; batch < 40; batch++) {
        size_t n = 64 + next_random(&seed) % 960;
        int words = produce(t, n * 2048, 0);
        int scores = produce(t, n * n * 2, 0);
        int mixed = produce(t, n * 2048, 0);
        consume(t, scores, 0);
        int wide = produce(t, n * 4096, 0);
        consume(t, mixed, 0);
        consume(t, words, 0);
        consume(t, wide, 0);
    }
    return t;
}

/* The same 8 MiB six times over, in pieces of 64 KiB, then of 128 KiB, at last in four of 2 MiB; freed in no order.
 * Only an allocator that joins free neighbours can make large pieces of small ones. */
trace *trace_holes(uint64_t seed) {
    trace *t = trace_new("holes");
    const size_t all = (size_t)8 << 20;
    for (size_t piece = (size_t)64 << 10; piece <= all / 4; piece *= 2) {
        int block[128], n = (int)(all / piece);
        for (int i = 0; i < n; i++) block[i] = produce(t, piece, 0);
        for (int left = n; left > 0; left--) {
            int pick = (int)(next_random(&seed) % (uint64_t)left);
            consume(t, block[pick], 0);
            block[pick] = block[left - 1];
        }
    }
    return t;
}

/* Two streams, 16 times: a block is still in use by a slow stream when another one of the same size is asked for. In
 * every other turn stream 1 is idle at the call of pool_use, so an event recorded then would already be done. */
trace *trace_streams(uint64_t seed) {
    trace *t = trace_new("streams");
    size_t bytes = about(600, &seed);
    for (int i = 0; i < TURNS; i++) {
        /* Shared: stream 0 makes it, stream 1 reads it late. Meanwhile stream 0 wants as much again. */
        int shared = produce(t, bytes, 0);
        add(t, OP_SHARE, shared, 1, 0);
        if (i % 2) add(t, OP_SYNC, 0, 0, 0);
        add(t, OP_SLOW, 0, 1, 0);
        consume(t, shared, 1);
        int mine = produce(t, bytes, 0);
        consume(t, mine, 0);
        add(t, OP_BUSY, 0, 1, 0);
        add(t, OP_SYNC, 0, 0, 0);
        /* Not shared: freed on stream 0, which is slow, and wanted on stream 1. */
        int home = produce(t, bytes, 0);
        add(t, OP_SLOW, 0, 0, 0);
        consume(t, home, 0);
        int other = produce(t, bytes, 1);
        consume(t, other, 1);
        add(t, OP_BUSY, 0, 0, 0);
        add(t, OP_SYNC, 0, 0, 0);
        if (i == TURNS / 2 - 1) add(t, OP_MARK, 0, 0, 0);
    }
    return t;
}

/* A device of 32 MiB. First its cache is filled with small pieces of both streams, and a block is parked behind a slow
 * stream. Then one large block is requested, which fits if all of that is freed. Then 28 blocks of 1 MiB are
 * made, two go, the first one among them, and 8 MiB more are requested; the only right answer is NULL. The refusal
 * must break nothing: the two come again, and half of all blocks go and come again. */
trace *trace_full(uint64_t seed) {
    trace *t = trace_new("full");
    t->capacity = (size_t)32 << 20;
    enum { SMALL = 64, KEPT = 28 };
    int block[SMALL];
    for (int i = 0; i < SMALL; i++) block[i] = produce(t, about(340, &seed), i % 2);
    for (int i = 0; i < SMALL; i++) consume(t, block[i], i % 2);
    add(t, OP_SYNC, 0, 0, 0);
    int shared = produce(t, (size_t)5 << 20, 0);
    add(t, OP_SHARE, shared, 1, 0);
    add(t, OP_SLOW, 0, 1, 0);
    consume(t, shared, 1);
    consume(t, produce(t, (size_t)28 << 20, 0), 0);
    for (int i = 0; i < KEPT; i++) block[i] = produce(t, (size_t)1 << 20, 0);
    for (int i = 0; i < KEPT; i += KEPT / 2) consume(t, block[i], 0);
    add(t, OP_REFUSED, t->nblocks, 0, (size_t)8 << 20);
    for (int i = 0; i < KEPT; i += KEPT / 2) block[i] = produce(t, (size_t)1 << 20, 0);
    for (int i = 0; i < KEPT; i += 2) consume(t, block[i], 0);
    for (int i = 0; i < KEPT; i += 2) block[i] = produce(t, (size_t)1 << 20, 0);
    for (int i = 0; i < KEPT; i++) consume(t, block[i], 0);
    return t;
}
