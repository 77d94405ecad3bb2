/* words.c — sentences about what the replay, the meter and the heap have found: what happened, where, and the next
 * step, each by the kind of mistake. Nothing reads them again.
 */
#include "judge.h"

#include <string.h>

const char *kib(size_t bytes) {
    static char text[8][32];
    static int turn;
    char *to = text[turn = (turn + 1) % 8];
    if (bytes >= (size_t)1 << 20)
        lab_text(to, sizeof text[0], "%.1f MiB", (double)bytes / (1 << 20));
    else if (bytes)
        lab_text(to, sizeof text[0], "%.1f KiB", (double)bytes / 1024);
    else
        lab_text(to, sizeof text[0], "0 bytes");
    return to;
}

void blame(lab_verdict *v, call_site site) {
    lab_blame_place(v, &(struct simgpu_place){.file = site.file, .line = site.line});
}

/* --- faults --------------------------------------------------------------------------------------------- */

static void say_misuse(const misuse *m, char *text, size_t size) {
    static const char *const what[] = {[MISUSE_NONE] = "",
                                       [MISUSE_CALL] = "is not allowed in this lab, which is about doing without it",
                                       [MISUSE_UNKNOWN] = "got a pointer that did not come from cudaMalloc",
                                       [MISUSE_TWICE] = "got a segment that it had freed before",
                                       [MISUSE_INSIDE] = "got an address inside a segment"};
    lab_text(text, size, "%s %s", m->site.name, what[m->kind]);
    if (m->kind == MISUSE_INSIDE)
        lab_text(text + strlen(text), size - strlen(text), ", %zu bytes behind its beginning", m->offset);
}

static void say_overlap(const fault *f, char *text, size_t size) {
    lab_text(text, size, "block %d of %zu bytes overlaps block %d of %zu bytes, which is not freed: ", f->block,
             f->bytes, f->other, f->other_bytes);
    char *rest = text + strlen(text);
    size -= strlen(text);
    if (f->kind == FAULT_TWICE)
        lab_text(rest, size, "both begin at the same address");
    else if (f->kind == FAULT_INTO_NEXT && f->by >= f->other_bytes)
        lab_text(rest, size, "all of that one lies in it");
    else if (f->kind == FAULT_INTO_NEXT)
        lab_text(rest, size, f->by == 1 ? "its last byte lies in it" : "its last %zu bytes lie in it", f->by);
    else
        lab_text(rest, size, "it begins %zu bytes before the end of that one", f->by);
}

/* Whose memory it was, if that was smaller. */
static void say_before(const fault *f, char *text, size_t size) {
    if (f->before < 0 || f->had >= f->bytes) return;
    lab_text(text + strlen(text), size - strlen(text), ". There lay block %d before, of %zu bytes", f->before, f->had);
}

/* How pool_alloc came to return NULL, though the device has room. */
typedef enum {
    REFUSED_UNASKED,   /* it did not call cudaMalloc */
    REFUSED_ONCE,      /* cudaMalloc failed; it freed segments, and did not call it again */
    REFUSED_TOO_LARGE, /* the request would have fitted; it called cudaMalloc for more */
    REFUSED_HELD       /* it held memory that it could have freed */
} refusal;

static refusal refusal_of(const replay *r) {
    const meter *m = &r->pool->meter;
    if (!m->now.calls) return REFUSED_UNASKED;
    if (m->now.failed == 1 && m->reserved < m->now.reserved && m->now.bytes <= m->capacity - m->reserved)
        return REFUSED_ONCE;
    if (m->now.failed && m->now.bytes > r->fault.bytes && r->fault.bytes <= m->capacity - m->now.reserved)
        return REFUSED_TOO_LARGE;
    return REFUSED_HELD;
}

static void say_refusal(const replay *r, char *text, size_t size) {
    const meter *m = &r->pool->meter;
    const size_t capacity = r->t->capacity;
    char live[48] = "nothing is live";
    if (r->live) LAB_SAY(live, "only %s are live", kib(r->live));
    lab_text(text, size, "no memory for block %d of %s, though %s%s%s; ", r->fault.block, kib(r->fault.bytes), live,
             capacity ? " on a device of " : "", capacity ? kib(capacity) : "");
    char *rest = text + strlen(text);
    size -= strlen(text);
    switch (refusal_of(r)) {
    case REFUSED_UNASKED: lab_text(rest, size, "cudaMalloc was not called for it"); return;
    case REFUSED_ONCE:
        lab_text(rest, size, "cudaMalloc failed once; then you freed %s, and did not call it again",
                 kib(m->now.reserved - m->reserved));
        return;
    case REFUSED_TOO_LARGE: lab_text(rest, size, "cudaMalloc was called for %s", kib(m->now.bytes)); return;
    case REFUSED_HELD: lab_text(rest, size, "you hold %s", kib(m->reserved)); return;
    }
}

const char *fault_text(const replay *r, char *text, size_t size) {
    const fault *f = &r->fault;
    char what[512] = "";
    switch (f->kind) {
    case FAULT_NONE: break;
    case FAULT_MISALIGNED:
        LAB_SAY(what, "block %d of %zu bytes begins %zu bytes behind a multiple of %d", f->block, f->bytes, f->by,
                PIECE);
        break;
    case FAULT_NOT_CUDA:
        LAB_SAY(what, "block %d of %zu bytes does not lie in memory that cudaMalloc gave", f->block, f->bytes);
        break;
    case FAULT_GIVEN_BACK:
        LAB_SAY(what, "block %d of %zu bytes lies in a segment that cudaFree has freed", f->block, f->bytes);
        break;
    case FAULT_FREED_UNDER:
        LAB_SAY(what, "cudaFree freed the segment of block %d of %zu bytes, which is in use", f->block, f->bytes);
        break;
    case FAULT_PAST_END:
        LAB_SAY(what, "block %d of %zu bytes reaches %zu bytes past the end of its segment", f->block, f->bytes, f->by);
        say_before(f, what, sizeof what);
        break;
    case FAULT_TWICE:
    case FAULT_INTO_NEXT:
    case FAULT_INTO_LAST:
        say_overlap(f, what, sizeof what);
        say_before(f, what, sizeof what);
        break;
    case FAULT_REFUSED: say_refusal(r, what, sizeof what); break;
    case FAULT_NOT_REFUSED:
        LAB_SAY(what, "block %d of %s got an address, with %s live on a device of %s", f->block, kib(f->bytes),
                kib(r->live), kib(r->t->capacity));
        break;
    case FAULT_ZERO: LAB_SAY(what, "pool_alloc(0, stream) returned an address"); break;
    case FAULT_MISUSE: say_misuse(&f->misuse, what, sizeof what); break;
    case FAULT_EARLY:
        LAB_SAY(what,
                "when the GPU came to read block %d, byte %zu of it held what was written for block %d: the memory had "
                "been handed out again too early",
                f->block, f->by, f->other);
        break;
    case FAULT_CHANGED:
        LAB_SAY(what,
                "when the GPU came to read block %d, byte %zu of it held what no kernel of the trace had written: your "
                "code changed a block",
                f->block, f->by);
        break;
    case FAULT_GROWS:
        LAB_SAY(what,
                "in turns %d to %d what is held grew by %s, and only %s are in use: blocks that two streams used never "
                "come back",
                TURNS / 2 + 1, TURNS, kib(f->by), kib(r->peak_live));
        break;
    case FAULT_CUDA: LAB_SAY(what, "%s: %s", cudaGetErrorName(f->error), cudaGetErrorString(f->error)); break;
    }
    lab_text(text, size, "%s: %s", r->t->name, what);
    return text;
}

/* --- what to do about a fault ---------------------------------------------------------------------------- */

static const char *next_of_misuse(const misuse *m) {
    switch (m->kind) {
    case MISUSE_CALL: return "take memory from cudaMalloc, and give it back by cudaFree";
    case MISUSE_INSIDE: return "cut blocks stay; pass cudaFree a segment's first address, when all of it is free";
    case MISUSE_TWICE: return "remove the records of a segment from every list when you pass it to cudaFree";
    default: return "pass cudaFree only what cudaMalloc returned, each address once";
    }
}

/* Another block's number, found too early: which order was missing? */
static const char *next_of_early(const replay *r, char *text, size_t size) {
    const fault *f = &r->fault;
    const int from = r->home[f->block], to = r->home[f->other];
    if (from != to)
        lab_text(text, size, "stream %d freed it and stream %d got it: search only blocks of the request's own stream",
                 from, to);
    else if (!r->shared[f->block])
        lab_text(text, size,
                 "both are of one stream, so their kernels are in order: do two records share this memory?");
    else if (r->used_records)
        lab_text(text, size, "an event of pool_use stands before the kernels launched later: record it in pool_free");
    else if (!r->pool->meter.records)
        lab_text(text, size, "pool_use named another stream: in pool_free record an event on it, and park the block");
    else
        lab_text(
            text, size,
            "record an event of its own for each use, in pool_free, on the stream that pool_use named; the block is "
            "free again when cudaEventQuery has returned cudaSuccess, which is 0, for all of them");
    return text;
}

/* The line of the calls that write memory or launch a kernel; line 0: none. */
static call_site writer(const meter *m) {
    for (int i = 0; i < m->nsites; i++)
        if (m->sites[i].what == LAB_CALL_FILLS || m->sites[i].what == LAB_CALL_COPIES) return m->sites[i];
    return (call_site){.line = 0};
}

/* What kind of memory is held when a request is refused. */
static const char *next_of_refusal(const replay *r) {
    const meter *m = &r->pool->meter;
    size_t own = 0, others = 0, shared = 0;
    if (!r->t->capacity) return "return NULL only after cudaMalloc has failed, twice";
    switch (refusal_of(r)) {
    case REFUSED_UNASKED: return "only cudaMalloc knows what the device has left: return NULL when it has failed twice";
    case REFUSED_ONCE: return "after pool_empty call cudaMalloc a second time, and return NULL only if that fails, too";
    case REFUSED_TOO_LARGE: return "where cudaMalloc fails, ask for no more than the request, rounded up to 256";
    case REFUSED_HELD: break;
    }
    for (int k = 0; k < m->nsegments; k++) {
        const segment *s = &m->segments[k];
        bool used = false, parked = false;
        for (int i = 0; i < r->t->nblocks; i++) {
            used |= r->at[i] >= s->at && r->at[i] < s->at + s->bytes;
            parked |= r->shared[i] && r->born[i] > s->born && r->was[i] >= s->at && r->was[i] < s->at + s->bytes;
        }
        if (!used) *(parked ? &shared : s->stream == m->stream ? &own : &others) += s->bytes;
    }
    if (!own && !others && !shared && m->reserved)
        return "each of your segments has a used block, and most of its bytes lie free: cut the segments, join the "
               "rests";
    if (shared > own && shared > others)
        return "a parked block holds it: when cudaMalloc fails, wait for its events, free its segment, try again";
    if (others > own)
        return "segments of another stream hold it: when cudaMalloc fails, free those of all streams, try again";
    return "when cudaMalloc fails, call pool_empty and try once more; only then return NULL";
}

static const char *next_of(const replay *r, char *text, size_t size) {
    const fault *f = &r->fault;
    switch (f->kind) {
    case FAULT_MISALIGNED: return "round each size up to a multiple of 256 first, and cut at the rounded size";
    case FAULT_NOT_CUDA: return "return only addresses inside what cudaMalloc returned";
    case FAULT_GIVEN_BACK: return next_of_misuse(&(misuse){.kind = MISUSE_TWICE});
    case FAULT_FREED_UNDER: return "a segment may go only if its one record is free and has no neighbour";
    case FAULT_PAST_END:
    case FAULT_INTO_NEXT:
        if (f->by <= 65536 && f->before >= 0 && f->had < f->bytes && f->bytes - f->had <= 2 * f->by + PIECE)
            return "a free block serves only if its size is at least the rounded request, with no allowance";
        if (f->by <= 4096)
            return "compare the rounded request with the block's size, with no allowance; check the size of a cut's "
                   "rest";
        return "is the test of a free block's size the right way round, both sizes of a cut right, and no record left "
               "of a "
               "block that a join took in?";
    case FAULT_TWICE: return "mark the block as used and take it out of the free list before you return it";
    case FAULT_INTO_LAST:
        if (f->by == f->other_bytes % PIECE)
            return "round a request up to a multiple of 256, not down, and let the rest of a cut begin there";
        return "let the rest of a cut begin behind the rounded size; join only what is free";
    case FAULT_REFUSED: return next_of_refusal(r);
    case FAULT_NOT_REFUSED: return "return NULL if cudaMalloc fails a second time";
    case FAULT_ZERO: return "begin pool_alloc with: if (!bytes) return NULL;";
    case FAULT_MISUSE: return next_of_misuse(&f->misuse);
    case FAULT_EARLY: return next_of_early(r, text, size);
    case FAULT_CHANGED:
        if (!writer(&r->pool->meter).name) return "an allocator writes nothing into blocks: launch no kernel on them";
        lab_text(text, size, "remove the %s: an allocator promises no contents, and may not touch a block's",
                 writer(&r->pool->meter).name);
        return text;
    case FAULT_GROWS: return "in pool_alloc ask the events of all parked blocks; those that are done are free again";
    default: return "";
    }
}

/* The function in which to look, where no call of CUDA's is the place. */
static const char *function_of(const replay *r) {
    const fault *f = &r->fault;
    if (f->kind == FAULT_EARLY && r->home[f->block] == r->home[f->other])
        return r->used_records ? "pool_use(" : "pool_free(";
    return "pool_alloc(";
}

void say_fault(lab_verdict *v, const replay *r) {
    char text[640], next[256];
    const fault *f = &r->fault;
    if (!f->kind) return;
    lab_fail(v, "%s", fault_text(r, text, sizeof text));
    LAB_SAY(v->next, "%s", next_of(r, next, sizeof next));
    const call_site site = f->kind == FAULT_MISUSE    ? f->misuse.site
                           : f->kind == FAULT_CHANGED ? writer(&r->pool->meter)
                                                      : f->site;
    if (site.line && f->kind != FAULT_PAST_END)
        blame(v, site);
    else if (f->kind != FAULT_CUDA)
        lab_blame_code(v, function_of(r));
}

/* --- statistics ----------------------------------------------------------------------------------------- */

static const char *next_of_stats(const replay *r) {
    const stats_fault *s = &r->stats;
    if (s->said_live == s->rounded && s->rounded != s->live)
        return "count in live the bytes asked for, not the bytes after rounding";
    if (s->parked && s->said_live > s->live && s->said_live <= s->live + s->parked)
        return "a parked block is not live: subtract its bytes in pool_free, not when its events are done";
    if (s->said_live > s->live && s->refused)
        return "this pool_alloc returned NULL: add to live only once the block is there";
    if (s->said_live > s->live) return "in pool_free subtract from live what pool_alloc added, for each block";
    if (s->said_live < s->live)
        return "in pool_alloc add the bytes asked for to live; in pool_free subtract the same number";
    if (s->said_reserved < s->reserved) return "add to reserved what each cudaMalloc that succeeds was asked for";
    if (r->t->capacity) return "subtract from reserved at each cudaFree, and add nothing for a cudaMalloc that failed";
    return "subtract from reserved at each cudaFree what its cudaMalloc was asked for";
}

void say_stats(lab_verdict *v, const replay *r) {
    static const char *const after[] = {
        [LAB2_ALLOC] = "pool_alloc", [LAB2_USE] = "pool_use", [LAB2_FREE] = "pool_free", [LAB2_EMPTY] = "pool_empty"};
    const stats_fault *s = &r->stats;
    if (!s->wrong || !lab_passed(v)) return;
    char of[32] = "";
    if (s->after == LAB2_ALLOC || s->after == LAB2_FREE) LAB_SAY(of, " of block %d", s->block);
    lab_fail(v, "%s, after %s%s: you say %zu bytes live and %zu reserved; it is %zu and %zu", r->t->name,
             after[s->after], of, s->said_live, s->said_reserved, s->live, s->reserved);
    LAB_SAY(v->next, "%s", next_of_stats(r));
    lab_blame_code(v, "pool_stats(");
}

/* --- memory held ---------------------------------------------------------------------------------------- */

static void say_unjoined(const need_example *e, char *text, size_t size) {
    if (e->neighbour < 0)
        lab_text(text, size, "block %d, %s, lay free beside other free memory, and together they were large enough",
                 e->piece, kib(e->piece_bytes));
    else
        lab_text(text, size, "blocks %d and %d lay free side by side, together large enough", e->piece, e->neighbour);
}

const char *say_need(const replay *r, const char **next, char *text, size_t size) {
    const heap *h = r->heap;
    const need is = heap_need(h);
    const need_example *e = &h->example[is];
    static const char at_once[] = "reuse a freed block at once: on its own stream it needs no event and no query";
    char how[200] = "";
    long all = 0;
    for (int i = 0; i < NEEDS; i++) all += h->calls[i];
    switch (is) {
    case NEED_ROOM:
        LAB_SAY(how, "block %d's memory, %s, lay free and was large enough", e->piece, kib(e->piece_bytes));
        *next = r->pool->meter.queries
                    ? at_once
                    : "let the smallest free block that is large enough serve, not only an equal one; cut off the rest";
        break;
    case NEED_TAIL:
        LAB_SAY(how, "%s of an earlier segment have never been handed out%s", kib(e->piece_bytes),
                h->resized ? "" : ", and no request has got a block of another size than before");
        *next = !h->resized ? "let the smallest free block that is large enough serve, also the unused end of a "
                              "segment"
                : !h->cut ? "each block takes a whole segment: cut off what the request does not need, and keep it as "
                            "a free block"
                          : "keep what cudaMalloc returns beyond the request as a free block, for any request that it "
                            "can serve";
        break;
    case NEED_UNJOINED:
        say_unjoined(e, how, sizeof how);
        *next = r->pool->meter.queries ? at_once
                : e->neighbour < 0 ? "when a block is freed, join it with a free neighbour on its left and on its right"
                : e->piece_freed_last
                    ? "when a block is freed and its right neighbour is free, make one block of the two"
                    : "when a block is freed and its left neighbour is free, make one block of the two";
        break;
    case NEED_UNCUT:
        LAB_SAY(how, "what a smaller block left over of a freed one was large enough");
        *next = "cut a large free block: the request takes the front, the rest stays free";
        break;
    default: return NULL;
    }
    if (all == 1)
        lab_text(text, size, "the one call of cudaMalloc, for block %d of %s, was not needed: %s", e->block,
                 kib(e->bytes), how);
    else
        lab_text(text, size, "%ld of %ld calls of cudaMalloc were not needed. The first, for block %d of %s: %s",
                 h->calls[is], all, e->block, kib(e->bytes), how);
    return text;
}

bool releases_too_much(const heap *h) { return h->released && !h->cut; }

/* Says what the bytes are that no block uses, where each cudaMalloc was needed. Returns the remedy. */
const char *say_peak(const replay *r, char *text, size_t size) {
    const size_t granule = (size_t)2 << 20;
    const heap_peak *p = &r->heap->peak;
    const bool asks_too_much = p->segment > (p->asked + granule - 1) / granule * granule;
    if (asks_too_much && p->unused >= p->idle && p->unused >= p->gaps) {
        lab_text(text, size,
                 "%s of the %s held were never in any block; the last cudaMalloc gave %s for a request of %s",
                 kib(p->unused), kib(p->held), kib(p->segment), kib(p->asked));
        return "allocate what the request needs, rounded up to 2 MiB, and not more";
    }
    if (p->idle_count && p->idle >= p->gaps) {
        lab_text(text, size, "%d segments, %s in all, were wholly free and too small for the request of %s",
                 p->idle_count, kib(p->idle), kib(p->asked));
        return !r->heap->cut
                   ? "let one cudaMalloc serve many blocks: cut them from it, and join what is freed with its free "
                     "neighbours"
                   : "before cudaMalloc, free this stream's segments without a used block: none is large enough";
    }
    lab_text(text, size, "%s lay free at the peak, in pieces too small for the request of %s",
             kib(p->gaps + p->idle + p->unused), kib(p->asked));
    return "take the smallest free block that is large enough, so that large ones stay whole";
}

static void say_free(const heap *h, const char *trace, char *text, size_t size) {
    const heap_peak *p = &h->peak;
    int shown = 0;
    lab_text(text, size, "free at the peak:");
    for (; shown < 5 && p->free[shown]; shown++)
        lab_text(text + strlen(text), size - strlen(text), "%s %s", shown ? "," : "", kib(p->free[shown]));
    if (p->nfree > shown) lab_text(text + strlen(text), size - strlen(text), " and %d more", p->nfree - shown);
    lab_text(text + strlen(text), size - strlen(text), "; to see it: make lines2 ONLY=%s", trace);
}

void say_heap(lab_verdict *v, const replay *r) {
    char why[400], list[200];
    const char *next = NULL;
    if (!say_need(r, &next, why, sizeof why)) next = say_peak(r, why, sizeof why);
    say_free(r->heap, r->t->name, list, sizeof list);
    LAB_SAY(v->why, "%s\n%s", why, list);
    LAB_SAY(v->next, "%s", next);
}
