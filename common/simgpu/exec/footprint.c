/* footprint.c — collects the different sectors that a wave of blocks reads and writes, as bits of the chunks of l2.h.
 * All host threads set bits concurrently. Each thread lists the chunks that it touched first, so that the end of a wave
 * costs time in proportion to the touched memory, not to the window.
 *
 * A sector counts as read if its first access is a load, or if a load wants bytes that the wave has not stored. Blocks
 * that do not race cannot disagree about that: only the block that stored a byte may load it in the same wave. */
#include "warp.h"

void exec_footprint_begin(worker *t) {
    t->chunks = t->device->l2.chunks;
    t->bytes = t->device->l2.bytes;
    t->early = t->device->l2.early;
    t->first_line = exec_mem_base() / L2_LINE;
}

static uint64_t look(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }

/* Sets bits in a field of a chunk. Returns its former value. */
static uint64_t set(const worker *t, uint64_t *field, uint64_t bits) {
    uint64_t old = *field;
    if (t->parallel) return __atomic_fetch_or(field, bits, __ATOMIC_RELAXED);
    *field = old | bits;
    return old;
}

/* Notes that the wave touches sectors of a chunk. */
static void mark(worker *t, uint64_t *field, uint64_t chunk, uint64_t bits) {
    if ((look(field) & bits) == bits) return;
    if (!set(t, field, bits)) exec_l2_list_add(&t->touched, (uint32_t)chunk);
}

/* Returns those of the sectors that need more bytes than the wave, or an earlier one, has stored. wants: the bytes of
 * each of a line's sectors; NULL: all of them. */
static uint64_t without_stored(const worker *t, uint64_t chunk, uint64_t bits, const uint32_t *wants) {
    for (uint64_t m = bits; m; m &= m - 1) {
        uint32_t at = (uint32_t)__builtin_ctzll(m), want = wants ? wants[at & 3] : ~0u;
        if ((__atomic_load_n(&t->bytes[chunk * 64 + at], __ATOMIC_RELAXED) & want) == want) bits &= ~(1ull << at);
    }
    return bits;
}

/* Returns l2_early's word once a request of round L2_ROUNDS - 1 - left has come, too. */
static l2_early with_request(l2_early e, uint64_t left) {
    const uint64_t rounds = e & ~L2_EARLY_FIRST & ((1ull << L2_EARLY_ROUND) - 1);
    const uint64_t bit = 1ull << (L2_EARLY_ROUNDS + (L2_ROUNDS - 1 - left) % L2_GAPS);
    if (e >> L2_EARLY_ROUND < left) return left << L2_EARLY_ROUND | rounds | bit | 1;
    e |= bit;
    return e >> L2_EARLY_ROUND == left && (e & L2_EARLY_FIRST) < L2_EARLY_FIRST ? e + 1 : e;
}

/* Notes that a request of a round wants some of 64 bytes. */
static void note_round(const worker *t, l2_early *early, int32_t round) {
    const uint64_t left = (uint64_t)(round < 0 ? L2_ROUNDS - 1 : round < L2_ROUNDS - 1 ? L2_ROUNDS - 1 - round : 1);
    l2_early old = __atomic_load_n(early, __ATOMIC_RELAXED), now = with_request(old, left);
    if (!t->parallel) *early = now;
    while (t->parallel && now != old) {
        if (__atomic_compare_exchange_n(early, &old, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
        now = with_request(old, left);
    }
}

void exec_footprint_read(worker *t, uint64_t line, uint32_t sectors, const uint32_t *wants, int32_t round, bool dense) {
    uint64_t chunk = (line - t->first_line) / 16, bits = (uint64_t)sectors << line % 16 * 4;
    l2_chunk *c = &t->chunks[chunk];
    bits &= ~look(&c->written);
    uint64_t partly = bits & (look(&c->partly) | (c->dirty & ~c->whole));
    if (partly) bits = (bits & ~partly) | without_stored(t, chunk, partly, wants);
    if (!bits) return;
    mark(t, &c->read, chunk, bits);
    l2_early *early = &t->early[(line - t->first_line) * (L2_LINE / L2_PAIR)];
    if (sectors & 3) note_round(t, &early[0], round);
    if (sectors & 12) note_round(t, &early[1], round);
    /* Which of them had a partner in their request? That of a dense one is asked for by its neighbour, which comes
     * early or late: every second one finds it. (An H200, byte loads of seven kernels: 17 to 56 %.) A bit that is set
     * needs no second look. */
    uint32_t paired = (sectors >> 1 & 5) | (sectors & 5) << 1 | (dense ? 3 : 0);
    const uint64_t both = (uint64_t)(sectors & paired) << line % 16 * 4;
    if (both & ~look(&c->paired)) set(t, &c->paired, both);
}

/* Notes a store to some bytes of a sector. */
static void store_part(worker *t, uint64_t sector, uint32_t bytes) {
    uint64_t bit = 1ull << sector % 64;
    l2_chunk *c = &t->chunks[sector / 64];
    if (bytes == ~0u) {
        mark(t, &c->written, sector / 64, bit);
        return;
    }
    if (t->parallel)
        __atomic_fetch_or(&t->bytes[sector], bytes, __ATOMIC_RELAXED);
    else
        t->bytes[sector] |= bytes;
    mark(t, &c->partly, sector / 64, bit);
}

void exec_footprint_written(worker *t, uint64_t lo, uint64_t end) {
    uint64_t from = t->first_line * L2_LINE;
    lo -= from, end -= from;
    uint64_t first = lo / 32, last = (end - 1) / 32;
    uint32_t head = ~0u << lo % 32, tail = ~0u >> (31 - (end - 1) % 32);
    if (first == last) return store_part(t, first, head & tail);
    if (head != ~0u) store_part(t, first++, head);
    if (tail != ~0u) store_part(t, last--, tail);
    for (uint64_t at = first; at <= last;) {
        uint64_t chunk = at / 64, to = last < chunk * 64 + 63 ? last : chunk * 64 + 63;
        mark(t, &t->chunks[chunk].written, chunk, ~0ull << at % 64 & ~0ull >> (63 - to % 64));
        at = to + 1;
    }
}

void exec_footprint_line_written(worker *t, uint64_t line, const uint32_t bytes[4]) {
    for (uint32_t q = 0; q < 4; q++)
        if (bytes[q]) store_part(t, (line - t->first_line) * 4 + q, bytes[q]);
}

void exec_footprint_changed(worker *t, uint64_t line, uint32_t sectors) {
    uint64_t chunk = (line - t->first_line) / 16, bits = (uint64_t)sectors << line % 16 * 4;
    l2_chunk *c = &t->chunks[chunk];
    uint64_t read = bits & ~look(&c->written);
    if (read) mark(t, &c->read, chunk, read);
    mark(t, &c->written, chunk, bits);
}
