/* async.c — copies in flight (cp.async) and barriers in shared memory (mbarrier), PTX ISA 9.7.9.25 and 9.7.13.15.
 *
 * A copy's bytes are read when it is issued, and reach shared memory when its thread waits for its group: a program
 * that does not wait reads what was there before. Copies that nobody waits for never arrive.
 *
 * An mbarrier is a word of 64 bits: what is pending in the current phase, what each phase expects, and the phase in the
 * top bit. Like CUDA's, its form is nobody's business.
 */
#include "warp.h"

#include <string.h>

/* A copy of some lanes. group: the number of a lane's group; data: of the lanes, one after another. */
struct exec_copy {
    exec_origin from;
    uint32_t lanes, size, group[32];
    uint64_t to[32];
    uint8_t data[32][16];
};
enum { ROOM = EXEC_ASYNC_BYTES / sizeof(struct exec_copy) };

/* Moves the data of some lanes of a copy to shared memory. */
static void arrive(warp *w, struct exec_copy *c, uint32_t lanes) {
    uint32_t mask = w->mask;
    w->mask = lanes;
    for (uint32_t l = 0; l < 32; l++) w->address[l] = c->to[lanes >> l & 1 ? l : (uint32_t)__builtin_ctz(lanes)];
    if (exec_heard) exec_listen_arrives(w, c->from, c->size);
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        memcpy(w->block->shared + c->to[l], c->data[l], c->size);
    }
    w->mask = mask;
    c->lanes &= ~lanes;
}

/* Completes the copies of the lanes in w->mask, except those of their last `keep` groups and, with keep_open, of the
 * group that is not committed yet. */
static void complete(warp *w, uint32_t keep, bool keep_open) {
    struct exec_copy *all = (struct exec_copy *)(void *)w->async;
    uint32_t left = 0;
    for (uint32_t k = 0; k < w->copies; k++) {
        uint32_t done = 0;
        for (uint32_t m = w->mask & all[k].lanes; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m), open = w->groups[l];
            if (!keep_open || all[k].group[l] + keep < open) done |= 1u << l;
        }
        if (done) arrive(w, &all[k], done);
        if (!all[k].lanes) continue;
        if (left != k) all[left] = all[k];
        left++;
    }
    w->copies = left;
}

void exec_async_add(warp *w, const ptx_insn *i, uint32_t size, const uint64_t *to, uint8_t (*data)[16]) {
    struct exec_copy *all = (struct exec_copy *)(void *)w->async;
    if (w->copies == ROOM) { /* more than any GPU keeps in flight: the oldest arrives */
        arrive(w, all, all->lanes);
        memmove(all, all + 1, --w->copies * sizeof *all);
    }
    struct exec_copy *c = &all[w->copies++];
    *c = (struct exec_copy){.from = exec_listen_origin(w, i), .lanes = w->mask, .size = size};
    memcpy(c->group, w->groups, sizeof c->group);
    memcpy(c->to, to, sizeof c->to);
    memcpy(c->data, data, sizeof c->data);
    if (exec_heard) exec_listen_begins(w, c->from, to, size);
}

void exec_op_cp_async_commit(warp *w, const ptx_insn *i) {
    (void)i;
    for (uint32_t l = 0; l < 32; l++) w->groups[l] += w->mask >> l & 1;
}
void exec_op_cp_async_wait(warp *w, const ptx_insn *i) { complete(w, (uint32_t)i->imm, !i->sub); }

/* --- mbarrier ------------------------------------------------------------------------------------------------- */

#define PENDING  0xfffffull
#define EXPECTED (PENDING << 20)
#define PHASE    (1ull << 63)

/* One arrival of `count`; the last one of a phase begins the next. Returns the state before, the token. */
static uint64_t arrival(uint64_t *state, uint64_t count, bool drop) {
    uint64_t before = *state, pending = (before & PENDING) - count, expected = before & EXPECTED;
    if (drop) expected -= count << 20;
    *state = (before & PHASE) | (expected & EXPECTED) | (pending & PENDING);
    if (!(*state & PENDING)) *state = ((before & PHASE) ^ PHASE) | expected | expected >> 20;
    return before;
}

void exec_op_mbarrier_init(warp *w, const ptx_insn *i) {
    uint64_t *object[32];
    if (!exec_shared_objects(w, i, object)) return;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t n = ROW(w, uint32_t, i->b)[l] & PENDING;
        *object[l] = i->sub ? 0 : n << 20 | n; /* sub: mbarrier.inval */
    }
}

/* Arrivals release what the thread did before. With cp.async.mbarrier.arrive (sub 2, 3 for .noinc) the thread's copies
 * arrive first; without .noinc the phase expects one more. */
void exec_op_mbarrier_arrive(warp *w, const ptx_insn *i) {
    uint64_t *object[32];
    if (i->sub >= 2 && w->copies) complete(w, 0, false);
    if (exec_heard) exec_listen_fenced(w);
    if (!exec_shared_objects(w, i, object)) return;
    w->block->worker->stores++;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t count = i->b ? ROW(w, uint32_t, i->b)[l] : 1, before;
        if (i->sub == 2) {
            before = *object[l]; /* the phase expects this arrival besides the others */
        } else {
            before = arrival(object[l], count, i->sub == 1);
        }
        if (i->d) ROW(w, uint64_t, i->d)[l] = before;
    }
}

/* p = the phase of the token, or of this parity, is complete. A loop of these waits. */
void exec_op_mbarrier_wait(warp *w, const ptx_insn *i) {
    uint64_t *object[32];
    uint32_t done = 0;
    if (!exec_shared_objects(w, i, object)) return;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t phase = *object[l] >> 63;
        uint64_t old = i->sub ? ROW(w, uint32_t, i->b)[l] & 1 : ROW(w, uint64_t, i->b)[l] >> 63;
        done |= phase != old ? 1u << l : 0;
    }
    set_predicate(w, i->d, done);
    w->polls += !done;
}

void exec_op_mbarrier_pending(warp *w, const ptx_insn *i) {
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        ROW(w, uint32_t, i->d)[l] = (uint32_t)(ROW(w, uint64_t, i->a)[l] & PENDING);
    }
}
