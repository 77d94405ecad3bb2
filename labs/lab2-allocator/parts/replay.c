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
    free(r->heap);
    free(r);
}

/* --- one step --------------------------------------------------------------------------------- */

bool fault_breaks(fault_kind kind) {
    return (kind >= FAULT_MISALIGNED && kind <= FAULT_INTO_LAST) || kind == FAULT_MISUSE;
}

/* What the calls of the driver showed: a misuse, or a segment freed under a block that is in use. */
static void check_calls(replay *r, long frees) {
    meter *m = &r->pool->meter;
    if (r->pool->vendor || r->fault.kind) return;
    if (m->misuse.kind) r->fault = (fault){.kind = FAULT_MISUSE, .misuse = m->misuse};
    for (int i = 0; i < r->t->nblocks && m->frees > frees && !r->fault.kind; i++)
        if (r->at[i] && !meter_segment(m, r->at[i])) {
            const segment *gone = meter_gone(m, r->at[i]);
            r->fault = (fault){.kind = FAULT_FREED_UNDER, .block = i, .bytes = r->bytes[i]};
            if (gone) r->fault.site = gone->site;
        }
}

/* The answer is in r->said. */
static void call(replay *r, struct lab2_message m) {
    const long frees = r->pool->meter.frees;
    m.stats = r->pool->asked && !r->stats.wrong;
    lab_play(r->pool->program, &m, sizeof m, &r->said, sizeof r->said);
    check_calls(r, frees);
}

int block_before(const replay *r, uint64_t p) {
    int last = -1;
    for (int i = 0; i < r->t->nblocks; i++)
        if (!r->at[i] && r->was[i] == p && (last < 0 || r->freed[i] > r->freed[last])) last = i;
    return last;
}

static void overlap(replay *r, fault *f, int i, uint64_t p, size_t bytes) {
    if (!r->at[i] || p >= r->at[i] + r->bytes[i] || r->at[i] >= p + bytes) return;
    f->kind = p == r->at[i] ? FAULT_TWICE : p < r->at[i] ? FAULT_INTO_NEXT : FAULT_INTO_LAST;
    f->by = p < r->at[i] ? p + bytes - r->at[i] : r->at[i] + r->bytes[i] - p;
    f->other = i;
    f->other_bytes = r->bytes[i];
}

/* Where the new block lies. */
static void check_block(replay *r, const op *o, uint64_t p) {
    meter *m = &r->pool->meter;
    const segment *in = r->pool->vendor ? NULL : meter_segment(m, p), *gone = meter_gone(m, p);
    const int before = block_before(r, p);
    fault f = {.block = o->block, .bytes = o->bytes, .before = before, .had = before < 0 ? 0 : r->bytes[before]};
    if (p % PIECE) f.kind = FAULT_MISALIGNED, f.by = p % PIECE;
    for (int i = 0; i < r->t->nblocks && !f.kind; i++) overlap(r, &f, i, p, o->bytes);
    if (!f.kind && !r->pool->vendor && !in) {
        f.kind = gone ? FAULT_GIVEN_BACK : FAULT_NOT_CUDA;
        if (gone) f.site = gone->site;
    }
    if (!f.kind && in && o->bytes > in->at + in->bytes - p) {
        f.kind = FAULT_PAST_END;
        f.by = o->bytes - (size_t)(in->at + in->bytes - p);
        f.site = in->site;
    }
    if (!f.kind && o->kind == OP_REFUSED) f.kind = FAULT_NOT_REFUSED;
    if (!r->fault.kind) r->fault = f;
}

static void check_stats(replay *r, const op *o) {
    if (!r->pool->asked || r->fault.kind || r->stats.wrong) return;
    const uint64_t reserved = r->pool->meter.reserved;
    stats_fault s = {.live = r->live, .reserved = reserved, .parked = r->shared_freed, .block = o->block};
    s.said_live = r->said.live;
    s.said_reserved = r->said.reserved;
    s.wrong = s.said_live != s.live || s.said_reserved != s.reserved;
    s.refused = (o->kind == OP_ALLOC || o->kind == OP_REFUSED) && !r->said.block;
    s.after = o->kind == OP_FREE    ? LAB2_FREE
              : o->kind == OP_SHARE ? LAB2_USE
              : o->kind == OP_EMPTY ? LAB2_EMPTY
                                    : LAB2_ALLOC;
    for (int i = 0; i < r->t->nblocks; i++)
        if (r->at[i]) s.rounded += (r->bytes[i] + PIECE - 1) / PIECE * PIECE;
    if (s.wrong) r->stats = s;
}

static void enter(replay *r, const op *o, uint64_t p) {
    meter *m = &r->pool->meter;
    segment *in = r->pool->vendor ? NULL : meter_segment(m, p);
    r->at[o->block] = r->was[o->block] = p;
    r->bytes[o->block] = o->bytes;
    r->home[o->block] = o->stream;
    r->shared[o->block] = false;
    r->born[o->block] = ++m->clock;
    r->live += o->bytes;
    if (r->live > r->peak_live) r->peak_live = r->live;
    if (!in) return;
    if (r->heap) r->heap->cut |= p > in->at;
    if (in->low == in->high || p < in->low) in->low = p;
    if (p + o->bytes > in->high) in->high = p + o->bytes;
}

static void allocate(replay *r, const op *o) {
    const long mallocs = r->pool->meter.mallocs, frees = r->pool->meter.frees;
    r->pool->meter.stream = o->stream;
    memset(&r->pool->meter.now, 0, sizeof r->pool->meter.now);
    call(r, (struct lab2_message){.what = LAB2_ALLOC, .bytes = o->bytes, .stream = (uint64_t)r->stream[o->stream]});
    const uint64_t p = r->said.block;
    if (r->fault.kind || (!p && o->kind == OP_REFUSED)) return;
    if (!p) {
        r->fault = (fault){.kind = FAULT_REFUSED, .block = o->block, .bytes = o->bytes};
        return;
    }
    check_block(r, o, p);
    if (r->heap) heap_released(r, r->pool->meter.frees - frees);
    const bool grown = r->heap && r->pool->meter.mallocs > mallocs;
    if (grown)
        heap_grown(r, o);
    else if (r->heap)
        heap_served(r, o, p);
    enter(r, o, p);
    if (grown) heap_look(r, o);
}

static void give_back(replay *r, int block) {
    const uint64_t p = r->at[block];
    if (!p) return;
    r->at[block] = 0;
    r->freed[block] = ++r->pool->meter.clock;
    r->live -= r->bytes[block];
    if (r->shared[block]) r->shared_freed += r->bytes[block];
    call(r, (struct lab2_message){.what = LAB2_FREE, .block = p});
}

static void empty(replay *r) {
    cudaDeviceSynchronize();
    call(r, (struct lab2_message){.what = LAB2_EMPTY});
}

/* What callers do now and then. A crash here is told as what it is. */
static void nothing(replay *r) {
    lab_stage("your pool_alloc(0, stream): it returns NULL");
    call(r, (struct lab2_message){.what = LAB2_ALLOC, .stream = (uint64_t)r->stream[0]});
    if (r->said.block && !r->fault.kind) r->fault = (fault){.kind = FAULT_ZERO};
    lab_stage("your pool_free(NULL): it does nothing, as free(NULL)");
    call(r, (struct lab2_message){.what = LAB2_FREE});
}

static void share(replay *r, const op *o) {
    const long records = r->pool->meter.records;
    LAB_CUDA(cudaEventRecord(r->ordered, r->stream[r->home[o->block]]));
    LAB_CUDA(cudaStreamWaitEvent(r->stream[o->stream], r->ordered, 0));
    call(r,
         (struct lab2_message){.what = LAB2_USE, .block = r->at[o->block], .stream = (uint64_t)r->stream[o->stream]});
    r->shared[o->block] = true;
    r->used_records += r->pool->meter.records - records;
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
    case OP_EMPTY: empty(r); break;
    case OP_NOTHING: nothing(r); break;
    }
    check_stats(r, o); /* after each call of the allocator */
}

/* The vendor's calls are not counted. */
static void listen(replay *r) { meter_listen(r->pool->vendor ? NULL : &r->pool->meter); }

bool replay_pass(replay *r) {
    lab_use(r->pool->program);
    listen(r);
    r->pool->meter.capacity = r->t->capacity;
    r->passes++;
    for (int i = 0; i < r->t->nops && !r->fault.kind; i++) step(r, &r->t->ops[i]);
    meter_listen(NULL);
    return !r->fault.kind;
}

void replay_end(replay *r) {
    listen(r);
    for (int i = 0; i < r->t->nblocks; i++) give_back(r, i);
    call(r, (struct lab2_message){.what = LAB2_EMPTY});
    r->pool->meter.capacity = 0;
    meter_listen(NULL);
}

/* --- the kernels' verdict ---------------------------------------------------------------------- */

/* Tags of this pass and of all before it are known; another number was written by somebody else. */
static void note_contents(replay *r, const struct lab2_verdict *v) {
    uint32_t n = (uint32_t)r->t->nblocks;
    const bool known = v->got && v->got < (r->passes + 1) * n + 1;
    r->fault = (fault){.kind = known ? FAULT_EARLY : FAULT_CHANGED,
                       .block = (int)((v->want - 1) % n),
                       .other = known ? (int)((v->got - 1) % n) : -1,
                       .by = v->offset};
}

cudaError_t replay_verdict(replay *r) {
    struct lab2_verdict v;
    lab_use(r->pool->program);
    cudaError_t e = cudaDeviceSynchronize();
    if (!e) e = cudaGetLastError();
    if (e) {
        if (!r->fault.kind) r->fault = (fault){.kind = FAULT_CUDA, .error = e};
        return e;
    }
    LAB_CUDA(cudaMemcpy(&v, r->verdict, sizeof v, cudaMemcpyDeviceToHost));
    if (v.failed && !r->fault.kind) note_contents(r, &v);
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
    if (!reply->refused || r->fault.kind) return;
    const struct lab2_op *o = &m->op[reply->refused - 1];
    r->fault = (fault){.kind = FAULT_REFUSED, .block = (int)o->block, .bytes = o->bytes};
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
    char text[256];
    if (replay_verdict(r) || r->fault.kind) lab_die("%s: %s", r->pool->name, fault_text(r, text, sizeof text));
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
