/* replay.c — plays a trace on an allocator and checks every block; see judge.h.
 *
 * On the host, at each pool_alloc: is the address a multiple of 256, does the block lie in memory that cudaMalloc gave,
 * is it apart from all blocks that are live? On the device, in stream order: lab2_fill signs a block with a tag of its
 * own; lab2_read looks for that tag again. If the memory was handed out too early, it finds another block's tag and
 * names that block.
 *
 * Checked, a call of the allocator is a message. Timed, a whole pass is a list of the player's, so that the clock times
 * the allocator and nothing of ours.
 */
#include "judge.h"
#include "lab2.h"

#include <stdlib.h>
#include <string.h>

/* --- opening ------------------------------------------------------------------------------------ */

void *zeros(size_t size) {
    void *p = calloc(1, size);
    if (!p) lab_die("out of memory");
    return p;
}

/* 128 bytes a hop, so that each is another line. */
static unsigned *chain_new(void) {
    enum { STRIDE = 32 };
    static unsigned chain[LAB2_CHAIN];
    unsigned *on_device;
    for (unsigned i = 0; i < LAB2_CHAIN; i++) chain[i] = (i + STRIDE) % LAB2_CHAIN;
    LAB_CUDA(cudaMalloc((void **)&on_device, sizeof chain));
    LAB_CUDA(cudaMemcpy(on_device, chain, sizeof chain, cudaMemcpyHostToDevice));
    return on_device;
}

allocator *allocator_open(const char *name, lab_who who, const char *rung, bool vendor) {
    allocator *a = zeros(sizeof *a);
    a->name = name;
    a->program = lab_open(who, rung);
    a->chain = chain_new();
    a->vendor = vendor;
    a->asked = who == LAB_MINE;
    return a;
}

replay *replay_new(allocator *pool, const trace *t) {
    replay *r = zeros(sizeof *r);
    lab_use(pool->program);
    r->pool = pool;
    r->t = t;
    for (int i = 0; i < STREAMS; i++) LAB_CUDA(cudaStreamCreateWithFlags(&r->stream[i], cudaStreamNonBlocking));
    LAB_CUDA(cudaEventCreateWithFlags(&r->ordered, cudaEventDisableTiming));
    LAB_CUDA(cudaMalloc((void **)&r->verdict, sizeof *r->verdict));
    LAB_CUDA(cudaMemset(r->verdict, 0, sizeof *r->verdict));
    LAB_CUDA(cudaDeviceSynchronize());
    return r;
}

/* After a sticky error nothing can be freed; the process ends soon. */
void replay_free(replay *r) {
    lab_use(r->pool->program);
    for (int i = 0; i < STREAMS; i++) cudaStreamDestroy(r->stream[i]);
    cudaEventDestroy(r->ordered);
    cudaFree(r->verdict);
    free(r);
}

/* --- one step --------------------------------------------------------------------------------- */

const char *kib(size_t bytes) {
    static char text[4][32];
    static int turn;
    char *to = text[turn = (turn + 1) % 4];
    if (bytes >= (size_t)1 << 20)
        lab_text(to, sizeof text[0], "%.1f MiB", (double)bytes / (1 << 20));
    else if (bytes)
        lab_text(to, sizeof text[0], "%.1f KiB", (double)bytes / 1024);
    else
        lab_text(to, sizeof text[0], "0 bytes");
    return to;
}

/* The answer is in r->said. */
static void call(replay *r, struct lab2_message m) {
    m.stats = r->pool->asked && !r->stats_failure[0];
    lab_play(r->pool->program, &m, sizeof m, &r->said, sizeof r->said);
}

static void check_block(replay *r, const op *o, uint64_t p) {
    const char *name = r->t->name;
    if (p % PIECE)
        LAB_SAY(r->failure, "%s: block %d of %zu bytes begins %u bytes behind a multiple of %d", name, o->block,
                o->bytes, (unsigned)(p % PIECE), PIECE);
    if (!r->failure[0] && !r->pool->vendor && !meter_holds(&r->pool->meter, p, o->bytes))
        LAB_SAY(r->failure, "%s: block %d of %zu bytes does not lie in memory that cudaMalloc gave", name, o->block,
                o->bytes);
    for (int i = 0; i < r->t->nblocks && !r->failure[0]; i++)
        if (r->at[i] && p < r->at[i] + r->bytes[i] && r->at[i] < p + o->bytes)
            LAB_SAY(r->failure, "%s: block %d of %zu bytes overlaps block %d of %zu bytes, which is not freed", name,
                    o->block, o->bytes, i, r->bytes[i]);
}

static void check_stats(replay *r) {
    if (!r->pool->asked || r->failure[0] || r->stats_failure[0]) return;
    const struct lab2_reply is = r->said;
    const uint64_t reserved = r->pool->meter.reserved;
    if (is.live == r->live && is.reserved == reserved) return;
    LAB_SAY(r->stats_failure, "%s: you say %zu bytes live and %zu reserved; it is %zu and %zu", r->t->name,
            (size_t)is.live, (size_t)is.reserved, r->live, (size_t)reserved);
    r->stats_next = is.live > r->live ? "count in live the bytes asked for, not the bytes after rounding"
                    : is.live < r->live
                        ? "in pool_alloc add the bytes asked for to live; in pool_free subtract the same number"
                        : "count reserved beside each cudaMalloc that succeeds and each cudaFree, with the same number";
}

static void refused(replay *r, int block, size_t bytes) {
    LAB_SAY(r->failure, "%s: no memory for block %d of %s, though only %s are live%s%s", r->t->name, block, kib(bytes),
            kib(r->live), r->t->capacity ? " on a device of " : "", r->t->capacity ? kib(r->t->capacity) : "");
}

static void allocate(replay *r, const op *o) {
    call(r, (struct lab2_message){.what = LAB2_ALLOC, .bytes = o->bytes, .stream = (uint64_t)r->stream[o->stream]});
    const uint64_t p = r->said.block;
    if (!p && o->kind == OP_REFUSED) return;
    if (!p) return refused(r, o->block, o->bytes);
    check_block(r, o, p);
    r->at[o->block] = p;
    r->bytes[o->block] = o->bytes;
    r->home[o->block] = o->stream;
    r->live += o->bytes;
    if (r->live > r->peak_live) r->peak_live = r->live;
}

static void give_back(replay *r, int block) {
    if (!r->at[block]) return;
    call(r, (struct lab2_message){.what = LAB2_FREE, .block = r->at[block]});
    r->at[block] = 0;
    r->live -= r->bytes[block];
}

static void share(replay *r, const op *o) {
    LAB_CUDA(cudaEventRecord(r->ordered, r->stream[r->home[o->block]]));
    LAB_CUDA(cudaStreamWaitEvent(r->stream[o->stream], r->ordered, 0));
    call(r,
         (struct lab2_message){.what = LAB2_USE, .block = r->at[o->block], .stream = (uint64_t)r->stream[o->stream]});
}

/* Returns the tag of block b in this pass: never 0, and never the same twice. */
static uint32_t tag_of(const replay *r, int b) { return r->passes * (uint32_t)r->t->nblocks + (uint32_t)b + 1; }

static void step(replay *r, const op *o) {
    const int b = o->block;
    const cudaStream_t s = r->stream[o->stream];
    const uint64_t stream = (uint64_t)s, chain = (uint64_t)r->pool->chain, verdict = (uint64_t)r->verdict;
    switch (o->kind) {
    case OP_ALLOC:
    case OP_REFUSED: allocate(r, o); break;
    case OP_FREE: give_back(r, b); break;
    case OP_FILL: lab2_fill(r->at[b], r->bytes[b], tag_of(r, b), chain, stream); return;
    case OP_READ: lab2_read(r->at[b], r->bytes[b], tag_of(r, b), chain, verdict, stream); return;
    case OP_SHARE: share(r, o); break;
    case OP_SLOW: lab2_slow(chain, verdict, stream); return;
    case OP_BUSY: r->drained += cudaStreamQuery(s) == cudaSuccess; return;
    case OP_SYNC: cudaDeviceSynchronize(); return;
    case OP_MARK: r->marked = r->pool->meter.peak; return;
    }
    check_stats(r); /* after each call of the allocator */
}

/* The vendor's calls are not counted. */
static void listen(replay *r) { meter_listen(r->pool->vendor ? NULL : &r->pool->meter); }

bool replay_pass(replay *r) {
    lab_use(r->pool->program);
    listen(r);
    r->pool->meter.capacity = r->t->capacity;
    r->passes++;
    for (int i = 0; i < r->t->nops && !r->failure[0]; i++) step(r, &r->t->ops[i]);
    meter_listen(NULL);
    return !r->failure[0];
}

void replay_end(replay *r) {
    listen(r);
    for (int i = 0; i < r->t->nblocks; i++) give_back(r, i);
    call(r, (struct lab2_message){.what = LAB2_EMPTY});
    r->pool->meter.capacity = 0;
    meter_listen(NULL);
}

/* --- the kernels' verdict ---------------------------------------------------------------------- */

static void describe(replay *r, const struct lab2_verdict *v) {
    uint32_t n = (uint32_t)r->t->nblocks;
    char held[64] = "nothing that was ever written";
    if (v->got && v->got < (r->passes + 1) * n + 1) LAB_SAY(held, "what was written for block %u", (v->got - 1) % n);
    LAB_SAY(r->failure,
            "%s: when the GPU came to read block %u, byte %u of it held %s: the memory had been handed out again too "
            "early",
            r->t->name, (v->want - 1) % n, v->offset, held);
}

cudaError_t replay_verdict(replay *r) {
    struct lab2_verdict v;
    lab_use(r->pool->program);
    cudaError_t e = cudaDeviceSynchronize();
    if (!e) e = cudaGetLastError();
    if (e) {
        if (!r->failure[0]) LAB_SAY(r->failure, "%s: %s: %s", r->t->name, cudaGetErrorName(e), cudaGetErrorString(e));
        return e;
    }
    LAB_CUDA(cudaMemcpy(&v, r->verdict, sizeof v, cudaMemcpyDeviceToHost));
    if (v.failed && !r->failure[0]) describe(r, &v);
    return e;
}

/* --- in lists, for the clock -------------------------------------------------------------------- */

static bool list_op(const op *o, struct lab2_op *to) {
    *to = (struct lab2_op){.bytes = o->bytes, .block = (uint32_t)o->block};
    switch (o->kind) {
    case OP_ALLOC: to->kind = LAB2_OP_ALLOC; return true;
    case OP_FREE: to->kind = LAB2_OP_FREE; return true;
    case OP_FILL: to->kind = LAB2_OP_FILL; return true;
    case OP_READ: to->kind = LAB2_OP_READ; return true;
    default: return false;
    }
}

/* The trace as a list; `kernels`: with FILL and READ. */
static void list_of(const replay *r, bool kernels, struct lab2_message *m) {
    *m = (struct lab2_message){.what = LAB2_LIST,
                               .stream = (uint64_t)r->stream[0],
                               .chain = (uint64_t)r->pool->chain,
                               .verdict = (uint64_t)r->verdict,
                               .tags = (uint32_t)r->t->nblocks};
    for (int i = 0; i < r->t->nops; i++) {
        const op *o = &r->t->ops[i];
        if (!kernels && (o->kind == OP_FILL || o->kind == OP_READ)) continue;
        if (m->nops == LAB2_LIST_OPS || o->block >= LAB2_LIST_OPS || o->stream || !list_op(o, &m->op[m->nops++]))
            lab_die("the trace '%s' is no list for the player", r->t->name);
    }
}

/* The next `passes` passes have tags of their own. */
static void next_passes(replay *r, struct lab2_message *m, int passes) {
    m->passes = passes;
    m->tag = (r->passes + 1) * m->tags + 1;
    r->passes += (unsigned)passes;
}

static void note_refusal(replay *r, const struct lab2_message *m, const struct lab2_reply *reply) {
    if (!reply->refused || r->failure[0]) return;
    const struct lab2_op *o = &m->op[reply->refused - 1];
    LAB_SAY(r->failure, "%s: no memory for block %u of %s", r->t->name, o->block, kib(o->bytes));
}

/* The first steps fill the cache, and are not timed. */
static void loop_prepare(void *context) {
    loop *l = context;
    next_passes(l->r, &l->message, WARM_STEPS);
    lab_play(l->r->pool->program, &l->message, sizeof l->message, &l->reply, sizeof l->reply);
    note_refusal(l->r, &l->message, &l->reply);
    LAB_CUDA(cudaDeviceSynchronize());
    next_passes(l->r, &l->message, l->steps);
}

static void loop_verify(void *context) {
    loop *l = context;
    note_refusal(l->r, &l->message, &l->reply);
}

loop *loop_new(replay *r, int steps) {
    loop *l = zeros(sizeof *l);
    l->r = r;
    l->steps = steps;
    list_of(r, true, &l->message);
    l->work = (lab_work){.program = r->pool->program,
                         .prepare = loop_prepare,
                         .verify = loop_verify,
                         .context = l,
                         .message = &l->message,
                         .size = sizeof l->message,
                         .reply = &l->reply,
                         .reply_size = sizeof l->reply};
    return l;
}

static void must_be_right(replay *r) {
    if (replay_verdict(r) || r->failure[0]) lab_die("%s: %s", r->pool->name, r->failure);
}

double time_of(allocator *a, const trace *t, int steps) {
    replay *r = replay_new(a, t);
    loop *l = loop_new(r, steps);
    lab_time time = lab_time_work((lab_timer){LAB_HOST_CLOCK, 1, 3, false}, &l->work);
    must_be_right(r);
    replay_end(r);
    replay_free(r);
    free(l);
    return time.median / steps;
}

double pair_of(allocator *a, const trace *t) {
    enum { PASSES = 1000, TRIES = 50 }; /* so many that the clock and the wait behind them are less than 1 ns a pair */
    double best = 0, spent = 0;
    replay *r = replay_new(a, t);
    struct lab2_message m;
    struct lab2_reply reply;
    list_of(r, false, &m);
    next_passes(r, &m, PASSES);
    const lab_work work = {
        .program = a->program, .message = &m, .size = sizeof m, .reply = &reply, .reply_size = sizeof reply};
    for (int i = 0; i < TRIES && spent < 1e6; i++) {
        double us = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &work).median;
        note_refusal(r, &m, &reply);
        if (!i || us < best) best = us;
        spent += us;
    }
    must_be_right(r);
    replay_end(r);
    replay_free(r);
    return best * 1e3 / PASSES / (m.nops / 2);
}
