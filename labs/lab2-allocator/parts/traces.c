/* traces.c — requests to an allocator: six traces, each a list of small steps; see judge.h.
 *
 * A trace names its blocks by numbers. Sizes depend on the seed, so that no plan made beforehand fits.
 */
#include "judge.h"

static void add(trace *t, op_kind kind, int block, int stream, size_t bytes) {
    if (t->nops == MOST_OPS || block >= MOST_BLOCKS) lab_die("trace '%s' is too long", t->name);
    t->ops[t->nops++] = (op){kind, block, stream, bytes};
    if (block >= t->nblocks) t->nblocks = block + 1;
}

static trace *trace_new(const char *name, const char *what) {
    trace *t = zeros(sizeof *t);
    t->name = name;
    t->what = what;
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

/* About that many KiB: the seed makes it up to 0.4 % more, in odd bytes. No more, so that whether a block fits behind
 * another is the same with every seed. */
static size_t about(size_t kib, uint64_t *state) { return kib * 1024 + next_random(state) % (kib * 4); }

/* One training step of six layers. Forward: each layer keeps its activation and drops a workspace. Backward, in the
 * other order: a gradient for the layer below and one for the weights; then the activation may go. 24 blocks. */
trace *trace_train(uint64_t seed) {
    static const size_t layer_kib[] = {1600, 750, 2700, 1100, 1750, 1250},
                        work_kib[] = {560, 1900, 400, 1250, 950, 280};
    enum { LAYERS = 6 };
    trace *t = trace_new("training", "a training step of six layers, 24 blocks");
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
    trace *t = trace_new("lengths", "40 batches of sentences, each with another length");
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

/* The same 8 MiB six times over, in pieces of 64 KiB, then of 128 KiB, at last in four of 2 MiB. They are freed from
 * the left, then from the right, then every other one first, and from then on in no order: a piece finds its free
 * neighbour on its left, on its right, on both sides. Only an allocator that joins on both sides can make large pieces
 * of them. */
trace *trace_holes(uint64_t seed) {
    trace *t = trace_new("holes", "8 MiB in pieces of 64 KiB, then of 128 KiB, up to 2 MiB");
    const size_t all = (size_t)8 << 20;
    int round = 0;
    for (size_t piece = (size_t)64 << 10; piece <= all / 4; piece *= 2, round++) {
        int block[128], n = (int)(all / piece);
        for (int i = 0; i < n; i++) block[i] = produce(t, piece, 0);
        for (int i = 0; i < n && round < 3; i++)
            consume(t, block[round == 0 ? i : round == 1 ? n - 1 - i : i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1], 0);
        for (int left = n; left > 0 && round >= 3; left--) {
            int pick = (int)(next_random(&seed) % (uint64_t)left);
            consume(t, block[pick], 0);
            block[pick] = block[left - 1];
        }
    }
    return t;
}

/* --- sizes: one granule less, one more ----------------------------------------------------------- */

/* Each of these begins with an empty cache, so that a block's neighbours are known: what is made one after the other
 * lies side by side in every allocator that cuts, and alone in every one that does not. */

/* Three free blocks of `have` bytes, each followed by one that stays in use; then three of `want` are wanted. If `have`
 * is smaller, the free ones must not serve. */
static void nearly(trace *t, size_t have, size_t want) {
    enum { N = 3 };
    int free_one[N], guard[N], again[N];
    add(t, OP_EMPTY, 0, 0, 0);
    for (int i = 0; i < N; i++) {
        free_one[i] = produce(t, have, 0);
        guard[i] = produce(t, PIECE, 0);
    }
    for (int i = 0; i < N; i++) consume(t, free_one[i], 0);
    for (int i = 0; i < N; i++) again[i] = produce(t, want, 0);
    for (int i = 0; i < N; i++) {
        consume(t, again[i], 0);
        consume(t, guard[i], 0);
    }
}

/* A block of 4 * size is freed and cut: a quarter, and then one granule more than its rest, which must not fit. Then
 * exactly the rest, the same with the quarter behind it, and all of it again. */
static void cut_and_rest(trace *t, size_t size) {
    add(t, OP_EMPTY, 0, 0, 0);
    int whole = produce(t, 4 * size, 0), guard = produce(t, PIECE, 0);
    consume(t, whole, 0);
    int quarter = produce(t, size, 0), more = produce(t, 3 * size + PIECE, 0);
    int rest = produce(t, 3 * size, 0);
    consume(t, quarter, 0);
    int last = produce(t, size - PIECE / 2, 0);
    consume(t, rest, 0);
    consume(t, last, 0);
    consume(t, more, 0);
    consume(t, produce(t, 4 * size, 0), 0);
    consume(t, guard, 0);
}

/* Five blocks side by side; the three in the middle are freed in one of their six orders. Then one granule more than
 * all three is wanted, and all three. `order`: 0 to 5. */
static void three_join(trace *t, size_t size, int order) {
    static const int orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    int block[5];
    add(t, OP_EMPTY, 0, 0, 0);
    for (int i = 0; i < 5; i++) block[i] = produce(t, size, 0);
    for (int i = 0; i < 3; i++) consume(t, block[orders[order][i]], 0);
    int more = produce(t, 3 * size + 1, 0), all = produce(t, 3 * size, 0);
    consume(t, all, 0);
    consume(t, block[0], 0);
    consume(t, block[4], 0);
    consume(t, more, 0);
}

/* Of four blocks side by side the first and the third are freed: between them and behind them lies memory in use. */
static void not_over_used(trace *t, size_t size) {
    int block[4];
    add(t, OP_EMPTY, 0, 0, 0);
    for (int i = 0; i < 4; i++) block[i] = produce(t, size, 0);
    consume(t, block[0], 0);
    consume(t, block[2], 0);
    int two = produce(t, 2 * size, 0), one = produce(t, size, 0), other = produce(t, size - 1, 0);
    consume(t, block[1], 0);
    consume(t, one, 0);
    consume(t, two, 0);
    add(t, OP_EMPTY, 0, 0, 0); /* with two blocks in use */
    consume(t, block[3], 0);
    consume(t, other, 0);
}

/* For sizes of every order, and three that the seed chooses: free blocks that are one byte, one granule and a page
 * smaller than a request, as large, and one granule larger; cuts, whose rest is a granule too small or fits exactly;
 * three neighbours joined in each order. At last a request for 0 bytes, and pool_free(NULL). */
trace *trace_sizes(uint64_t seed) {
    static const size_t fixed[] = {1024, 8192, 40960, (size_t)1 << 18, (size_t)1 << 20, (size_t)2 << 20};
    enum { FIXED = sizeof fixed / sizeof *fixed, CHOSEN = 3 };
    trace *t = trace_new("sizes", "free blocks a granule smaller, equal, larger; cut and joined in each order");
    for (int i = 0; i < FIXED + CHOSEN; i++) {
        const size_t size = i < FIXED ? fixed[i] : (4 + next_random(&seed) % 4096) * PIECE;
        nearly(t, size - PIECE, size);
        nearly(t, size - 1, size);
        nearly(t, size, size + 1);
        if (size > 4096) nearly(t, size - 4096, size);
        nearly(t, size + PIECE, size);
        cut_and_rest(t, size);
        for (int order = i % 2; order < 6; order += 2) three_join(t, size, order);
        not_over_used(t, size);
    }
    add(t, OP_NOTHING, 0, 0, 0);
    return t;
}

/* --- streams --------------------------------------------------------------------------------------- */

/* Shared: stream 0 makes a block, stream 1 reads it late. Meanwhile stream 0 wants as much again. `idle`: stream 1 is
 * idle at the call of pool_use, so an event recorded then would already be done. */
static void shared_turn(trace *t, size_t bytes, bool idle) {
    int shared = produce(t, bytes, 0);
    add(t, OP_SHARE, shared, 1, 0);
    if (idle) add(t, OP_SYNC, 0, 0, 0);
    add(t, OP_SLOW, 0, 1, 0);
    consume(t, shared, 1);
    int mine = produce(t, bytes, 0);
    consume(t, mine, 0);
    add(t, OP_BUSY, 0, 1, 0);
    add(t, OP_SYNC, 0, 0, 0);
}

/* Not shared: freed on stream 0, which is slow, and wanted on stream 1. */
static void home_turn(trace *t, size_t bytes) {
    int home = produce(t, bytes, 0);
    add(t, OP_SLOW, 0, 0, 0);
    consume(t, home, 0);
    int other = produce(t, bytes, 1);
    consume(t, other, 1);
    add(t, OP_BUSY, 0, 0, 0);
    add(t, OP_SYNC, 0, 0, 0);
}

/* Two blocks are freed one behind the other: the first waits for stream `slow`, the second for the other one, which is
 * idle. Then as much is wanted again, and both together in one. */
static void two_turn(trace *t, size_t bytes, int slow) {
    const int quick = 3 - slow;
    int late = produce(t, bytes, 0), soon = produce(t, bytes, 0), again[3];
    add(t, OP_SHARE, late, slow, 0);
    add(t, OP_SHARE, soon, quick, 0);
    add(t, OP_SYNC, 0, 0, 0);
    add(t, OP_SLOW, 0, slow, 0);
    consume(t, late, slow);
    consume(t, soon, quick);
    for (int i = 0; i < 3; i++) again[i] = produce(t, bytes, 0);
    int both = produce(t, 2 * bytes, 0);
    for (int i = 0; i < 3; i++) consume(t, again[i], 0);
    consume(t, both, 0);
    add(t, OP_BUSY, 0, slow, 0);
    add(t, OP_SYNC, 0, 0, 0);
}

/* A block that streams 1 and 2 use, told in this order; one of them is slow. */
static void three_turn(trace *t, size_t bytes, int slow) {
    int block = produce(t, bytes, 0), again[3];
    add(t, OP_SHARE, block, 1, 0);
    add(t, OP_SHARE, block, 2, 0);
    add(t, OP_SYNC, 0, 0, 0);
    add(t, OP_SLOW, 0, slow, 0);
    add(t, OP_READ, block, 3 - slow, 0);
    consume(t, block, slow);
    for (int i = 0; i < 3; i++) again[i] = produce(t, bytes, 0);
    for (int i = 0; i < 3; i++) consume(t, again[i], 0);
    add(t, OP_BUSY, 0, slow, 0);
    add(t, OP_SYNC, 0, 0, 0);
}

/* Of three blocks side by side, as they lie in an empty heap, a slow stream still uses the middle one. Its neighbours
 * are freed, and as much as all three is wanted. */
static void neighbour_turn(trace *t, size_t bytes) {
    int left = produce(t, bytes, 0), middle = produce(t, bytes, 0), right = produce(t, bytes, 0);
    add(t, OP_SHARE, middle, 1, 0);
    add(t, OP_SYNC, 0, 0, 0);
    add(t, OP_SLOW, 0, 1, 0);
    consume(t, middle, 1);
    consume(t, left, 0);
    consume(t, right, 0);
    int two = produce(t, 2 * bytes, 0), three = produce(t, 3 * bytes, 0);
    consume(t, two, 0);
    consume(t, three, 0);
    add(t, OP_BUSY, 0, 1, 0);
    add(t, OP_SYNC, 0, 0, 0);
}

/* 16 times: a block is still in use by a slow stream when another one of the same size is asked for. */
trace *trace_streams(uint64_t seed) {
    trace *t = trace_new("streams", "three streams share blocks, or follow each other");
    size_t bytes = about(600, &seed);
    neighbour_turn(t, bytes);
    for (int i = 0; i < TURNS; i++) {
        shared_turn(t, bytes, i % 2);
        home_turn(t, bytes);
        if (i % 4 == 1) two_turn(t, bytes, 1 + i / 4 % 2);
        if (i % 4 == 3) three_turn(t, bytes, 1 + i / 4 % 2);
        if (i == TURNS / 2 - 1) add(t, OP_MARK, 0, 0, 0);
    }
    return t;
}

/* A device of 32 MiB. First its cache is filled with small pieces of both streams, and a block is parked behind a slow
 * stream. Then one large block is requested, which fits if all of that is freed. Then 28 blocks of 1 MiB are
 * made, two go, the first one among them, and 8 MiB more are requested; the only right answer is NULL. The refusal
 * must break nothing: the two come again, and half of all blocks go and come again. */
trace *trace_full(uint64_t seed) {
    trace *t = trace_new("full", "a device with 32 MiB and no more");
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
