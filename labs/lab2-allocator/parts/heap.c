/* heap.c — where the blocks lie, seen from outside: no record of the allocator is read.
 *
 * Known are the segments that cudaMalloc returned, the blocks in use, and where each freed block of the trace lay. So
 * when pool_alloc calls cudaMalloc, the free stretches of the request's own stream tell whether it had to: was one
 * large enough, and what kept the allocator from it? And when most is held, they tell what the bytes are that no block
 * uses.
 */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

heap *heap_new(void) { return zeros(sizeof(heap)); }

static size_t rounded(size_t bytes) { return (bytes + PIECE - 1) / PIECE * PIECE; }

/* --- blocks by address, and the stretches between them ------------------------------------------------- */

typedef struct {
    uint64_t at, end;
    int block; /* -1: free */
} stretch;

static int by_address(const void *a, const void *b) {
    const stretch *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Writes the segment's stretches in the order of their addresses, used and free. Returns their number. */
static int stretches(const replay *r, const segment *s, stretch *to) {
    static stretch used[MOST_BLOCKS];
    int nused = 0, n = 0;
    uint64_t at = s->at, end = s->at + s->bytes;
    for (int i = 0; i < r->t->nblocks; i++)
        if (r->at[i] >= at && r->at[i] < end) used[nused++] = (stretch){r->at[i], r->at[i] + rounded(r->bytes[i]), i};
    qsort(used, (size_t)nused, sizeof *used, by_address);
    for (int i = 0; i < nused; at = used[i++].end) {
        if (used[i].at > at) to[n++] = (stretch){at, used[i].at, -1};
        to[n++] = used[i];
    }
    if (at < end) to[n++] = (stretch){at, end, -1};
    return n;
}

/* Is no later block entered where freed block i lay? */
static bool newest(const replay *r, int i) {
    for (int k = 0; k < r->t->nblocks; k++)
        if (k != i && r->born[k] > r->born[i] && r->was[k] < r->was[i] + r->bytes[i] &&
            r->was[i] < r->was[k] + r->bytes[k])
            return false;
    return true;
}

/* --- was a cudaMalloc needed? --------------------------------------------------------------------------- */

/* The freed blocks that lie wholly in a free stretch: the largest and, if there is one, a neighbour of it. */
static void find_pieces(const replay *r, const segment *s, const stretch *gap, need_example *e) {
    e->piece = e->neighbour = -1;
    for (int i = 0; i < r->t->nblocks; i++) {
        if (r->at[i] || r->born[i] < s->born || r->was[i] < gap->at || r->was[i] >= gap->end || !newest(r, i)) continue;
        if (e->piece < 0 || r->bytes[i] > r->bytes[e->piece]) e->piece = i;
    }
    for (int i = 0; e->piece >= 0 && i < r->t->nblocks; i++) {
        if (r->at[i] || r->born[i] < s->born || i == e->piece || !newest(r, i)) continue;
        if (r->was[e->piece] + rounded(r->bytes[e->piece]) == r->was[i]) e->neighbour = i;
    }
    if (e->piece < 0) return;
    e->piece_bytes = r->bytes[e->piece];
    e->piece_freed_last = e->neighbour >= 0 && r->freed[e->piece] > r->freed[e->neighbour];
}

/* The block whose memory a used block at this address reuses in part; -1: none. */
static int cut_from(const replay *r, const segment *s, uint64_t at, uint64_t end) {
    for (int i = 0; i < r->t->nblocks; i++)
        if (!r->at[i] && r->born[i] > s->born && r->was[i] < at && r->was[i] + r->bytes[i] > at &&
            r->was[i] + r->bytes[i] <= end + PIECE)
            return i;
    return -1;
}

/* Why a free stretch that is large enough did not serve. */
static need why_not(const replay *r, const segment *s, const stretch *gap, need_example *e) {
    const uint64_t tail = gap->at > s->high ? gap->at : s->high;
    find_pieces(r, s, gap, e);
    if (e->piece >= 0 && rounded(e->piece_bytes) >= e->bytes) return NEED_ROOM;
    if (gap->end > tail && gap->end - tail >= e->bytes) {
        e->piece_bytes = gap->end - tail;
        return NEED_TAIL;
    }
    if (e->piece >= 0) return NEED_UNJOINED;
    e->piece = cut_from(r, s, gap->at, gap->end);
    if (e->piece >= 0) e->piece_bytes = r->bytes[e->piece];
    return NEED_UNCUT;
}

/* The segments born in this call are what it brought. */
void heap_grown(replay *r, const op *o) {
    static stretch list[2 * MOST_BLOCKS + 1];
    const meter *m = &r->pool->meter;
    need is = NEED_MEMORY;
    need_example found = {.block = o->block, .bytes = o->bytes, .piece = -1, .neighbour = -1};
    for (int k = 0; k < m->nsegments && is == NEED_MEMORY; k++) {
        const segment *s = &m->segments[k];
        if (s->stream != o->stream || s->born == m->clock) continue;
        const int n = stretches(r, s, list);
        for (int i = 0; i < n && is == NEED_MEMORY; i++)
            if (list[i].block < 0 && list[i].end - list[i].at >= o->bytes) is = why_not(r, s, &list[i], &found);
    }
    if (!r->heap->calls[is]++) r->heap->example[is] = found;
}

void heap_served(replay *r, const op *o, uint64_t p) {
    const int before = block_before(r, p);
    r->heap->reused++;
    r->heap->resized += before < 0 || rounded(r->bytes[before]) != rounded(o->bytes);
}

void heap_released(replay *r, long frees) {
    const meter *m = &r->pool->meter;
    if (!frees) return;
    r->heap->released += frees;
    r->heap->release = m->gone[(m->ngone - 1) % MOST_GONE].site;
}

need heap_need(const heap *h) {
    need most = NEED_MEMORY;
    for (int i = 0; i < NEED_MEMORY; i++)
        if (h->calls[i] && (most == NEED_MEMORY || h->calls[i] > h->calls[most])) most = (need)i;
    return most;
}

/* --- the peak -------------------------------------------------------------------------------------------- */

static void note_free(heap_peak *p, size_t bytes) {
    enum { MOST = sizeof p->free / sizeof *p->free };
    p->nfree++;
    for (int i = 0; i < MOST; i++)
        if (bytes > p->free[i]) {
            memmove(&p->free[i + 1], &p->free[i], (size_t)(MOST - 1 - i) * sizeof *p->free);
            p->free[i] = bytes;
            return;
        }
}

/* A character a cell: most of it in use, free after use, or never used. */
static const char *cell(const replay *r, const segment *s, const stretch *list, int n, uint64_t from, uint64_t to) {
    uint64_t used = 0, fresh = 0;
    for (int i = 0; i < n; i++) {
        const uint64_t a = list[i].at > from ? list[i].at : from, b = list[i].end < to ? list[i].end : to;
        if (b > a && list[i].block >= 0) used += b - a;
    }
    if (from < s->low) fresh += (to < s->low ? to : s->low) - from;
    if (to > s->high) fresh += to - (from > s->high ? from : s->high);
    (void)r;
    return 2 * used >= to - from ? "█" : 2 * fresh >= to - from ? "·" : "░";
}

static void draw(replay *r, const segment *s, const stretch *list, int n, size_t unit) {
    enum { MOST = sizeof r->heap->picture / sizeof *r->heap->picture };
    heap *h = r->heap;
    if (h->drawn++ >= MOST) return;
    char *to = h->picture[h->drawn - 1];
    const size_t room = sizeof h->picture[0];
    lab_text(to, room, "%9s  ", kib(s->bytes));
    for (uint64_t at = s->at; at < s->at + s->bytes; at += unit) {
        const uint64_t end = at + unit < s->at + s->bytes ? at + unit : s->at + s->bytes;
        lab_text(to + strlen(to), room - strlen(to), "%s", cell(r, s, list, n, at, end));
    }
}

/* So many bytes a character that the largest segment has no more than `width`. */
static size_t unit_of(const meter *m, size_t width) {
    size_t unit = 4096;
    for (int i = 0; i < m->nsegments; i++)
        while ((m->segments[i].bytes + unit - 1) / unit > width) unit *= 2;
    return unit;
}

static void add_segment(replay *r, const segment *s, const stretch *list, int n) {
    heap_peak *p = &r->heap->peak;
    const bool idle = n == 1 && list[0].block < 0;
    if (s->born > p->site_born) p->site_born = s->born, p->site = s->site, p->segment = s->bytes;
    p->idle_count += idle;
    for (int i = 0; i < n; i++) {
        const uint64_t at = list[i].at, end = list[i].end;
        if (list[i].block >= 0) continue;
        const uint64_t low = at > s->low ? at : s->low, high = end < s->high ? end : s->high;
        const size_t touched = s->high > s->low && high > low ? high - low : 0;
        note_free(p, end - at);
        p->unused += end - at - touched;
        *(idle ? &p->idle : &p->gaps) += touched;
    }
}

void heap_look(replay *r, const op *o) {
    enum { WIDTH = 64 };
    static stretch list[2 * MOST_BLOCKS + 1];
    const meter *m = &r->pool->meter;
    heap *h = r->heap;
    if (m->reserved <= h->peak.held) return;
    const size_t unit = unit_of(m, WIDTH);
    h->peak = (heap_peak){.held = m->reserved, .live = r->live, .asked = o->bytes};
    h->unit = unit;
    h->drawn = 0;
    for (int i = 0; i < m->nsegments; i++) {
        const int n = stretches(r, &m->segments[i], list);
        add_segment(r, &m->segments[i], list, n);
        draw(r, &m->segments[i], list, n, unit);
    }
}
