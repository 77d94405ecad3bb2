/* collective.c — exchanges between lanes and warps: votes, shuffles, matches, barriers of a block (PTX ISA 9.7.13). */
#include "warp.h"

#include <string.h>

#define EACH_ACTIVE                                                                                                    \
    for (uint32_t m = w->mask, l = 0; m; m &= m - 1)                                                                   \
        if (l = (uint32_t)__builtin_ctz(m), true)

/* Returns whether all lanes have the same mask, `first`, which is that of the lowest lane. */
static bool one_mask(const warp *w, const uint32_t *mask, uint32_t first) {
    uint32_t other = 0;
    if (w->mask == FULL) {
        for (uint32_t l = 0; l < 32; l++) other |= mask[l] ^ first;
        return other == 0;
    }
    EACH_ACTIVE other |= mask[l] ^ first;
    return other == 0;
}

/* Returns the live lanes of the group that uses `mask`, or 0 if some of them are not here. */
static uint32_t group_of(const warp *w, const uint32_t *masks, uint32_t mask) {
    uint32_t group = 0;
    EACH_ACTIVE if (masks[l] == mask) group |= 1u << l;
    return group == (mask & w->live) ? group : 0;
}

/* Runs a .sync instruction: calls `each` when the lanes of the member mask (in row) are here. Several groups, each with
 * its own mask, may arrive at once, such as the tiles of a warp; `each` runs for one after another. */
static void with_members(warp *w, const ptx_insn *i, uint32_t row, exec_handler *each) {
    const uint32_t *masks = ROW(w, uint32_t, row);
    uint32_t all = w->mask, first = masks[__builtin_ctz(all)], left = all;
    bool groups = !one_mask(w, masks, first);
    for (uint32_t m = all; m && groups; m &= m - 1) groups = group_of(w, masks, masks[__builtin_ctz(m)]) != 0;
    if (!groups) {
        if (exec_warp_sync(w, i, first)) each(w, i);
        return;
    }
    while (left) {
        w->mask = all;
        uint32_t mask = masks[__builtin_ctz(left)];
        left &= ~(w->mask = group_of(w, masks, mask));
        if (exec_warp_sync(w, i, mask)) each(w, i);
    }
    w->mask = all;
}

static void collective(warp *w, const ptx_insn *i, exec_handler *each) {
    if (i->e == NO_ROW) /* the old forms without a mask use the active lanes */
        each(w, i);
    else
        with_members(w, i, i->e, each);
}

static void nothing(warp *w, const ptx_insn *i) { (void)w, (void)i; }
void exec_op_bar_warp(warp *w, const ptx_insn *i) { with_members(w, i, i->a, nothing); }

void exec_op_activemask(warp *w, const ptx_insn *i) { EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = w->mask; }

static void vote(warp *w, const ptx_insn *i) {
    uint32_t p = predicate(w, i->c, i->negate_c) & w->mask;
    switch ((enum ptx_vote)i->sub) {
    case VOTE_all: set_predicate(w, i->d, p == w->mask ? FULL : 0); break;
    case VOTE_any: set_predicate(w, i->d, p ? FULL : 0); break;
    case VOTE_uni: set_predicate(w, i->d, p == 0 || p == w->mask ? FULL : 0); break;
    case VOTE_ballot: EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = p;
    }
}
void exec_op_vote(warp *w, const ptx_insn *i) { collective(w, i, vote); }

/* Lane l reads lane j if j is inside its segment, else itself. c has the clamp in bits 0-4 and the segment mask in 8-12
 * (PTX ISA 9.7.9.6). All lanes, so that the loop has no branch; what inactive ones read is not used. Returns the lanes
 * for which j is inside. */
static inline __attribute__((always_inline)) uint32_t exchange(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                                               enum ptx_shuffle kind, uint32_t out[32]) {
    uint32_t in_range = 0;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t bval = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
        uint32_t first = l & segment, last = first | (clamp & ~segment);
        uint32_t j = kind == SHFL_up     ? l - bval
                     : kind == SHFL_down ? l + bval
                     : kind == SHFL_bfly ? l ^ bval
                                         : first | (bval & ~segment);
        bool p = kind == SHFL_up ? (int32_t)j >= (int32_t)last : j <= last;
        out[l] = a[p ? j : l];
        in_range |= (uint32_t)p << l;
    }
    return in_range;
}

static void shfl(warp *w, const ptx_insn *i) {
    const uint32_t *a = ROW(w, uint32_t, i->a), *b = ROW(w, uint32_t, i->b), *c = ROW(w, uint32_t, i->c);
    uint32_t out[32], here[32], in_range = 0;
    if (w->mask != FULL) { /* a lane that is not here gives 0, as on an H100; PTX leaves it open */
        for (uint32_t l = 0; l < 32; l++) here[l] = w->mask >> l & 1 ? a[l] : 0;
        a = here;
    }
    switch ((enum ptx_shuffle)i->sub) {
    case SHFL_up: in_range = exchange(a, b, c, SHFL_up, out); break;
    case SHFL_down: in_range = exchange(a, b, c, SHFL_down, out); break;
    case SHFL_bfly: in_range = exchange(a, b, c, SHFL_bfly, out); break;
    case SHFL_idx: in_range = exchange(a, b, c, SHFL_idx, out); break;
    }
    if (w->mask == FULL)
        memcpy(ROW(w, uint32_t, i->d), out, sizeof out);
    else
        EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = out[l];
    if (i->d2) set_predicate(w, i->d2, in_range);
}
void exec_op_shfl(warp *w, const ptx_insn *i) { collective(w, i, shfl); }

static void match(warp *w, const ptx_insn *i) {
    uint32_t out[32] = {0}, lanes = w->mask;
    bool all = true;
    EACH_ACTIVE {
        uint64_t v = i->a_wide ? ROW(w, uint64_t, i->a)[l] : ROW(w, uint32_t, i->a)[l];
        out[l] = 0;
        for (uint32_t n = lanes; n; n &= n - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(n);
            uint64_t other = i->a_wide ? ROW(w, uint64_t, i->a)[k] : ROW(w, uint32_t, i->a)[k];
            if (other == v)
                out[l] |= 1u << k;
            else
                all = false;
        }
    }
    EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = !i->sub ? out[l] : all ? lanes : 0;
    if (i->d2) set_predicate(w, i->d2, all ? FULL : 0);
}
void exec_op_match(warp *w, const ptx_insn *i) { collective(w, i, match); }

static void redux(warp *w, const ptx_insn *i) {
    const uint32_t *a = ROW(w, uint32_t, i->a);
    bool is_signed = i->type == TY_s32;
    uint32_t r = a[__builtin_ctz(w->mask)];
    for (uint32_t m = w->mask & (w->mask - 1); m; m &= m - 1) {
        uint32_t v = a[__builtin_ctz(m)];
        bool less = is_signed ? (int32_t)v < (int32_t)r : v < r;
        switch ((enum ptx_atom)i->sub) {
        case ATOM_min: r = less ? v : r; break;
        case ATOM_max: r = less ? r : v; break;
        case ATOM_and: r &= v; break;
        case ATOM_or: r |= v; break;
        case ATOM_xor: r ^= v; break;
        default: r += v;
        }
    }
    EACH_ACTIVE ROW(w, uint32_t, i->d)[l] = r;
}
void exec_op_redux(warp *w, const ptx_insn *i) { collective(w, i, redux); }

/* --- barriers of a block ------------------------------------------------------------------------------------ */

static const ptx_insn *waits_at(const warp *w, const split *p) {
    return &w->frames[p->frame].function->code->insns[p->pc - 1];
}

/* Returns whether two barriers are one in the source: a compiler may have unrolled its loop. */
static bool same_barrier(const ptx_insn *a, const ptx_insn *b) {
    return a == b || (a->line && a->line == b->line && a->column == b->column && a->file == b->file);
}

/* Returns whether all waiting threads wait at the same barrier of the source; else stops the warp. __syncthreads()
 * (barrier 0 for the whole block) requires it, since threads that meet at different lines agree by accident; named
 * barriers and barriers with a count are meant for it. */
static bool same_place(block *b, uint32_t number) {
    const warp *first = NULL;
    const split *at = NULL;
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t s = 0; s < b->warps[k].nsplits; s++) {
            const split *p = &b->warps[k].splits[s];
            if (p->state != SPLIT_BARRIER || p->barrier != number) continue;
            if (!at) {
                at = p;
                first = &b->warps[k];
            } else if (!same_barrier(waits_at(&b->warps[k], p), waits_at(first, at))) {
                warp *w = &b->warps[k];
                const ptx_insn *here = waits_at(w, p), *there = waits_at(first, at);
                exec_fault *f =
                    exec_fail(w, here, SIMGPU_FAULT_BAD_SYNC, SIMGPU_CAUSE_BARRIERS, (uint32_t)__builtin_ctz(p->mask));
                f->n[0] = there->line;
                f->n[1] = here->line;
                return false;
            }
        }
    return true;
}

static bool waits_at_barrier(const warp *w, uint32_t number) {
    for (uint32_t s = 0; s < w->nsplits; s++)
        if (w->splits[s].state == SPLIT_BARRIER && w->splits[s].barrier == number) return true;
    return false;
}

/* Warps that meet go on together, so each has waited as long as the one that comes last (ptx/depth.c), and the fence of
 * one has emptied L1 for all. */
static void wait_for_last(block *b, uint32_t number) {
    const int64_t round = b->launch->program->module->costs.round_clocks;
    const warp *last = NULL;
    int64_t longest = 0;
    uint8_t fences = 0;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        const warp *w = &b->warps[k];
        if (!waits_at_barrier(w, number)) continue;
        if (w->fences > fences) fences = w->fences;
        const int64_t waited = ptx_depth_rounds(w->depth) * round + ptx_depth_clocks(w->depth);
        if (!last || waited > longest || (waited == longest && w->missed > last->missed)) last = w, longest = waited;
    }
    for (uint32_t k = 0; k < b->nwarps; k++) {
        warp *w = &b->warps[k];
        if (!waits_at_barrier(w, number)) continue;
        w->fences = fences;
        if (w == last) continue;
        w->depth = last->depth;
        w->missed = last->missed;
        w->missed_last = last->missed_last;
    }
}

static void release(block *b, uint32_t number) {
    if (number == 0 && !b->barriers[0].expected && !same_place(b, 0)) return;
    if (exec_heard) exec_listen_passed(b, number);
    wait_for_last(b, number);
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t s = 0; s < b->warps[k].nsplits; s++) {
            warp *w = &b->warps[k];
            split *p = &w->splits[s];
            if (p->state != SPLIT_BARRIER || p->barrier != number) continue;
            const frame *f = &w->frames[p->frame];
            const ptx_insn *i = &f->function->code->insns[p->pc - 1];
            if (i->op == OP_bar_red) {
                uint8_t *r = w->stack + f->base;
                uint32_t bits = i->sub == 1 ? (b->barriers[number].all ? FULL : 0) : b->barriers[number].any ? FULL : 0;
                for (uint32_t m = p->mask; m && i->sub == 0; m &= m - 1)
                    ((uint32_t *)(void *)(r + i->d))[__builtin_ctz(m)] = b->barriers[number].sum;
                uint32_t *d = (uint32_t *)(void *)(r + i->d);
                if (i->sub) *d = (*d & ~p->mask) | (bits & p->mask);
            }
            p->state = SPLIT_RUN;
        }
    b->barriers[number].arrived = b->barriers[number].expected = b->barriers[number].sum = 0;
    b->barriers[number].all = true;
    b->barriers[number].any = false;
}

/* Completes the barrier if enough threads wait at it. Called after an arrival and when threads end. */
void exec_barrier_check(block *b, uint32_t number) {
    uint32_t expected = b->barriers[number].expected ? b->barriers[number].expected : b->live;
    if (b->barriers[number].arrived && b->barriers[number].arrived >= expected) release(b, number);
}

static void arrive(warp *w, const ptx_insn *i, bool waits) {
    uint32_t lane = (uint32_t)__builtin_ctz(w->mask), number = ROW(w, uint32_t, i->a)[lane],
             expected = i->b ? ROW(w, uint32_t, i->b)[lane] : 0;
    block *b = w->block;
    counters_of(w, i)->barriers++;
    if (number >= MAX_BARRIERS || expected % 32) {
        exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_BAD_SYNC, SIMGPU_CAUSE_BARRIER_NUMBER, lane);
        f->n[0] = number;
        f->n[1] = expected;
        return;
    }
    if (w->mask != w->active) { /* lanes that the guard switches off would pass the barrier */
        exec_fail(w, i, SIMGPU_FAULT_BAD_SYNC, SIMGPU_CAUSE_BARRIER_PARTLY, lane);
        return;
    }
    b->barriers[number].arrived += (uint32_t)__builtin_popcount(w->mask);
    if (expected) b->barriers[number].expected = expected;
    if (exec_heard) exec_listen_arrived(w, i, number, expected != 0, waits);
    if (i->op == OP_bar_red) {
        uint32_t p = predicate(w, i->c, i->negate_c) & w->mask;
        b->barriers[number].sum += (uint32_t)__builtin_popcount(p);
        b->barriers[number].all &= p == w->mask;
        b->barriers[number].any |= p != 0;
    }
    if (waits) {
        split *s = &w->splits[w->current];
        s->state = SPLIT_BARRIER;
        s->barrier = number;
        s->pc = w->pc;
        s->mask = w->active;
        w->stop = true;
    }
    exec_barrier_check(b, number);
}

void exec_op_bar_sync(warp *w, const ptx_insn *i) { arrive(w, i, true); }
void exec_op_bar_red(warp *w, const ptx_insn *i) { arrive(w, i, true); }
void exec_op_bar_arrive(warp *w, const ptx_insn *i) { arrive(w, i, false); }

/* All threads see a store at once, so a fence orders nothing here. It empties L1, unless it is for the block alone. */
void exec_op_fence(warp *w, const ptx_insn *i) {
    if ((i->sub == FENCE_DEVICE || i->sub == FENCE_SYSTEM) && w->fences < UINT8_MAX) w->fences++;
    if (exec_heard) exec_listen_fenced(w);
}
