/* replay.cuh — plays a trace on an allocator and looks at everything that comes of it.
 *
 * On the host, at each pool_alloc: is the address a multiple of 256, does the block lie in memory that cudaMalloc gave,
 * is it apart from all blocks that are live? On the device, in stream order: fill<<<>>> signs a block with its own
 * number, at its beginning and at each address inside it that is a multiple of 4 KiB; read<<<>>> looks for that number
 * again. If the memory was handed out too early, another number is there, and it says whose.
 */
#ifndef REPLAY_CUH
#define REPLAY_CUH

#include "lab.h"
#include "lab2.h"
#include "meter.cuh"
#include "traces.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- kernels ---------------------------------------------------------------------------------- */

enum { THREADS = 32, PAGE = 4096, CHAIN = 1 << 16, STRIDE = 32, HOPS = 10, SLOW_HOPS = 2000 };

typedef struct {
    unsigned failed; /* 1: the rest tells of the first failure */
    unsigned want, got, offset;
} verdict;

/* Follows a chain of indices, each load waiting for the one before: a kernel that takes its time. */
static __device__ unsigned follow(const unsigned *chain, int hops) {
    unsigned at = 0;
    for (int i = 0; i < hops; i++) at = chain[at];
    return at;
}

/* Where the k-th signature of a block lies. */
static __device__ uint2 *place(char *block, unsigned k) {
    uintptr_t page = ((uintptr_t)block / PAGE + k) * PAGE;
    return (uint2 *)(k ? (char *)page : block);
}

static __global__ void fill(char *block, unsigned places, unsigned tag, const unsigned *chain) {
    unsigned end = follow(chain, HOPS);
    for (unsigned k = threadIdx.x; k < places; k += THREADS) *place(block, k) = make_uint2(tag, k + (end == CHAIN));
}

static __global__ void read(char *block, unsigned places, unsigned tag, const unsigned *chain, verdict *v) {
    unsigned end = follow(chain, HOPS);
    for (unsigned k = threadIdx.x; k < places; k += THREADS) {
        uint2 is = *place(block, k);
        if ((is.x == tag && is.y == k) || end == CHAIN) continue;
        if (atomicCAS(&v->failed, 0u, 1u) == 0u) {
            v->want = tag;
            v->got = is.x;
            v->offset = (unsigned)((char *)place(block, k) - block);
        }
    }
}

static __global__ void slow(const unsigned *chain, verdict *v) {
    if (follow(chain, SLOW_HOPS) == CHAIN) v->failed = 1;
}

/* --- state ------------------------------------------------------------------------------------ */

/* The five functions under one roof: yours, the starter's, the reference's, and those of rungs.cuh. */
typedef struct {
    const char *name;
    void *(*alloc)(size_t bytes, cudaStream_t stream);
    void (*use)(void *p, cudaStream_t stream);
    void (*free)(void *p);
    void (*empty)(void);
    void (*stats)(size_t *live, size_t *reserved); /* NULL: not asked */
    bool vendor; /* its memory is not cudaMalloc's, so nobody can say where it may lie */
} allocator;

typedef struct {
    const allocator *pool;
    const trace *t;
    cudaStream_t stream[STREAMS];
    cudaEvent_t ordered;
    unsigned *chain;
    verdict *verdict; /* on the device */
    char *at[MOST_BLOCKS];
    size_t bytes[MOST_BLOCKS];
    int home[MOST_BLOCKS];
    unsigned passes;
    size_t live, peak_live;
    size_t marked;                         /* the most that was held before OP_MARK */
    int drained;                           /* OP_BUSY found an idle stream */
    bool checked;                          /* look at each block on the host */
    char failure[256], stats_failure[256]; /* the first ones */
    const char *stats_next;                /* what to do about it */
} replay;

static replay *replay_new(const allocator *pool, const trace *t) {
    static unsigned chain[CHAIN], *on_device;
    if (!on_device) { /* 128 bytes a hop, so that each is another line */
        for (unsigned i = 0; i < CHAIN; i++) chain[i] = (i + STRIDE) % CHAIN;
        LAB_CUDA(cudaMalloc((void **)&on_device, sizeof chain));
        LAB_CUDA(cudaMemcpy(on_device, chain, sizeof chain, cudaMemcpyHostToDevice));
    }
    replay *r = (replay *)calloc(1, sizeof *r);
    if (!r) lab_die("out of memory");
    r->pool = pool;
    r->t = t;
    r->chain = on_device;
    r->checked = true;
    for (int i = 0; i < STREAMS; i++) LAB_CUDA(cudaStreamCreateWithFlags(&r->stream[i], cudaStreamNonBlocking));
    LAB_CUDA(cudaEventCreateWithFlags(&r->ordered, cudaEventDisableTiming));
    LAB_CUDA(cudaMalloc((void **)&r->verdict, sizeof *r->verdict));
    LAB_CUDA(cudaMemset(r->verdict, 0, sizeof *r->verdict));
    LAB_CUDA(cudaDeviceSynchronize());
    return r;
}

/* What block b is signed with in this pass: never 0, and never the same twice. */
static unsigned tag_of(const replay *r, int b) { return r->passes * (unsigned)r->t->nblocks + (unsigned)b + 1; }

/* After a sticky error nothing can be given back; the process ends soon. */
static void replay_free(replay *r) {
    for (int i = 0; i < STREAMS; i++) cudaStreamDestroy(r->stream[i]);
    cudaEventDestroy(r->ordered);
    cudaFree(r->verdict);
    free(r);
}

/* --- one step --------------------------------------------------------------------------------- */

static const char *kib(size_t bytes) {
    static char text[4][32];
    static int turn;
    char *to = text[turn = (turn + 1) % 4];
    if (bytes >= (size_t)1 << 20)
        snprintf(to, 32, "%.1f MiB", (double)bytes / (1 << 20));
    else
        snprintf(to, 32, bytes ? "%.1f KiB" : "%.0f bytes", (double)bytes / 1024);
    return to;
}

static void check_block(replay *r, const op *o, const char *p) {
    char *why = r->failure;
    size_t size = sizeof r->failure;
    if ((uintptr_t)p % PIECE)
        snprintf(why, size, "%s: block %d of %zu bytes begins %u bytes behind a multiple of %d", r->t->name, o->block,
                 o->bytes, (unsigned)((uintptr_t)p % PIECE), PIECE);
    if (!why[0] && !r->pool->vendor && !meter_holds(p, o->bytes))
        snprintf(why, size, "%s: block %d of %zu bytes does not lie in memory that cudaMalloc gave", r->t->name,
                 o->block, o->bytes);
    for (int i = 0; i < r->t->nblocks && !why[0]; i++)
        if (r->at[i] && p < r->at[i] + r->bytes[i] && r->at[i] < p + o->bytes)
            snprintf(why, size, "%s: block %d of %zu bytes overlaps block %d of %zu bytes, which is not freed",
                     r->t->name, o->block, o->bytes, i, r->bytes[i]);
}

static void check_stats(replay *r) {
    size_t live = 0, reserved = 0;
    if (!r->pool->stats || r->stats_failure[0]) return;
    r->pool->stats(&live, &reserved);
    if (live == r->live && reserved == meter.reserved) return;
    snprintf(r->stats_failure, sizeof r->stats_failure,
             "%s: you say %zu bytes live and %zu reserved; it is %zu and %zu", r->t->name, live, reserved, r->live,
             meter.reserved);
    r->stats_next = live > r->live ? "live counts what was asked for, not what you rounded it to"
                    : live < r->live
                        ? "add to live in pool_alloc what was asked for, and take the same number off in pool_free"
                        : "count reserved beside each cudaMalloc that succeeds and each cudaFree, with the same number";
}

static void allocate(replay *r, const op *o) {
    char *p = (char *)r->pool->alloc(o->bytes, r->stream[o->stream]);
    if (!p && o->kind == OP_REFUSED) return;
    if (!p) {
        snprintf(r->failure, sizeof r->failure, "%s: no memory for block %d of %s, though only %s are live%s%s",
                 r->t->name, o->block, kib(o->bytes), kib(r->live), r->t->capacity ? " on a device of " : "",
                 r->t->capacity ? kib(r->t->capacity) : "");
        return;
    }
    if (r->checked) check_block(r, o, p);
    r->at[o->block] = p;
    r->bytes[o->block] = o->bytes;
    r->home[o->block] = o->stream;
    r->live += o->bytes;
    if (r->live > r->peak_live) r->peak_live = r->live;
}

static void give_back(replay *r, int block) {
    if (!r->at[block]) return;
    r->pool->free(r->at[block]);
    r->at[block] = NULL;
    r->live -= r->bytes[block];
}

static void share(replay *r, const op *o) {
    LAB_CUDA(cudaEventRecord(r->ordered, r->stream[r->home[o->block]]));
    LAB_CUDA(cudaStreamWaitEvent(r->stream[o->stream], r->ordered, 0));
    r->pool->use(r->at[o->block], r->stream[o->stream]);
}

/* The beginning, and each multiple of PAGE behind it at which a signature still fits. */
static unsigned places_of(const replay *r, int b) {
    uintptr_t p = (uintptr_t)r->at[b];
    return (unsigned)((p + r->bytes[b] - sizeof(uint2)) / PAGE - p / PAGE) + 1;
}

static void step(replay *r, const op *o) {
    cudaStream_t s = r->stream[o->stream];
    int b = o->block;
    switch (o->kind) {
    case OP_ALLOC:
    case OP_REFUSED: allocate(r, o); break;
    case OP_FREE: give_back(r, b); break;
    case OP_FILL: fill<<<1, THREADS, 0, s>>>(r->at[b], places_of(r, b), tag_of(r, b), r->chain); break;
    case OP_READ: read<<<1, THREADS, 0, s>>>(r->at[b], places_of(r, b), tag_of(r, b), r->chain, r->verdict); break;
    case OP_SHARE: share(r, o); break;
    case OP_SLOW: slow<<<1, 1, 0, s>>>(r->chain, r->verdict); break;
    case OP_BUSY: r->drained += cudaStreamQuery(s) == cudaSuccess; break;
    case OP_SYNC: cudaDeviceSynchronize(); break;
    case OP_MARK: r->marked = meter.peak; break;
    }
}

/* One pass over the trace. Queued work may still be running when it returns. False: stopped at a failure. */
static bool replay_pass(replay *r) {
    meter.capacity = r->t->capacity;
    r->passes++;
    for (int i = 0; i < r->t->nops && !r->failure[0]; i++) {
        step(r, &r->t->ops[i]);
        if (r->checked && !r->failure[0]) check_stats(r);
    }
    return !r->failure[0];
}

/* --- what the device saw ----------------------------------------------------------------------- */

/* Waits, and reads what the kernels found. The first failure is in r->failure; "" if all is well. */
static cudaError_t replay_verdict(replay *r) {
    verdict v;
    cudaError_t e = cudaDeviceSynchronize();
    if (!e) e = cudaGetLastError();
    if (e) {
        if (!r->failure[0])
            snprintf(r->failure, sizeof r->failure, "%s: %s: %s", r->t->name, cudaGetErrorName(e),
                     cudaGetErrorString(e));
        return e;
    }
    LAB_CUDA(cudaMemcpy(&v, r->verdict, sizeof v, cudaMemcpyDeviceToHost));
    if (!v.failed || r->failure[0]) return e;
    unsigned n = (unsigned)r->t->nblocks;
    char held[64] = "nothing that was ever written";
    if (v.got && v.got < (r->passes + 1) * n + 1)
        snprintf(held, sizeof held, "what was written for block %u", (v.got - 1) % n);
    snprintf(r->failure, sizeof r->failure,
             "%s: when the GPU came to read block %u, byte %u of it held %s: the memory had been handed out again too "
             "early",
             r->t->name, (v.want - 1) % n, v.offset, held);
    return e;
}

/* Frees what a failure left over, and has the cache emptied. */
static void replay_end(replay *r) {
    for (int i = 0; i < r->t->nblocks; i++) give_back(r, i);
    r->pool->empty();
    meter.capacity = 0;
}

#endif
