/* order.c — the order of accesses inside one launch; see order.h. Inside a warp it keeps a matrix of lanes, but only
 * while a __syncwarp has named a part of them; between warps, a row for each warp; between blocks, the set of blocks
 * whose work a block has seen. The set is a list of intervals, which stays short because blocks begin in order.
 *
 * Blocks that may wait for each other take turns; each has a place with what it has seen. */
#include "order.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

enum { WARPS = 32, LANES = 32, BARRIERS = 16 };

/* What a warp has seen: all serials below these. */
typedef struct {
    uint32_t of[WARPS];          /* of other warps */
    uint32_t all;                /* of every lane of the warp, by every lane */
    uint32_t fence;              /* of its own, published by its last fence; below `first`: none in this block */
    bool partial;                /* lane[][] knows more than `all` */
    uint32_t lane[LANES][LANES]; /* [a][b]: of lane b by lane a */
} sight;

typedef struct {
    uint64_t lo, hi;
} interval;

typedef struct {
    interval *at;
    uint32_t n, room;
} block_set;

/* A word that was written after a fence, and the serials that its readers have seen by reading it. */
typedef struct {
    uint64_t key;
    uint64_t block; /* the last writing block, plus 1; row belongs to it */
    uint32_t row[WARPS];
    block_set blocks;
} flag;

/* What the threads of a block have seen. */
typedef struct {
    uint64_t id;
    bool live;                  /* it has begun and not ended; kept if blocks take turns */
    uint32_t first, floor;      /* its first serial; clock.floor while another block has its turn */
    uint32_t arrived[BARRIERS]; /* a bit for each warp */
    block_set seen_blocks;
    sight warps[WARPS];
} order_block;

/* A turn of a block: its first serial. */
typedef struct {
    uint32_t serial;
    uint64_t block;
} begin;

/* Of a card: its launch in progress, or the last one. */
typedef struct {
    order_clock clock;
    order_block *block;   /* the current one */
    order_block **blocks; /* by place; the first one serves all blocks of a launch without turns */
    uint32_t nblocks;
    bool turns; /* blocks of this launch may wait for each other, and take turns */
    begin *begins;
    uint64_t nbegins, begins_room;
    flag *flags; /* open addressing; key 0: free */
    uint32_t nflags, flags_room;
    bool fences; /* this launch has executed one */
} order_state;
static order_state *here;
order_clock *check_order_now;

static void use(void *state) {
    here = state;
    check_order_now = &here->clock;
}

/* --- sets of blocks ------------------------------------------------------------------------------------------ */

static void add_blocks(block_set *s, uint64_t lo, uint64_t hi) {
    uint32_t k = 0, end;
    while (k < s->n && s->at[k].hi + 1 < lo) k++;
    for (end = k; end < s->n && s->at[end].lo <= hi + 1; end++) {
        if (s->at[end].lo < lo) lo = s->at[end].lo;
        if (s->at[end].hi > hi) hi = s->at[end].hi;
    }
    if (end == k && s->n == s->room) {
        s->room = s->room ? 2 * s->room : 8;
        s->at = check_must(realloc(s->at, s->room * sizeof *s->at));
    }
    memmove(&s->at[k + 1], &s->at[end], (s->n - end) * sizeof *s->at);
    s->n = s->n - (end - k) + 1;
    s->at[k] = (interval){lo, hi};
}

static bool has_block(const block_set *s, uint64_t b) {
    for (uint32_t k = 0; k < s->n; k++)
        if (b >= s->at[k].lo && b <= s->at[k].hi) return true;
    return false;
}

static void join_blocks(block_set *to, const block_set *from) {
    for (uint32_t k = 0; k < from->n; k++) add_blocks(to, from->at[k].lo, from->at[k].hi);
}

/* --- launches and blocks ------------------------------------------------------------------------------------- */

void check_order_launch(const exec_launch *n) {
    here->clock = (order_clock){0};
    here->turns = n->cooperative || n->kernel->code->waits;
    for (uint32_t k = 0; k < here->nblocks; k++) {
        here->blocks[k]->live = false;
        memset(here->blocks[k]->warps, 0, sizeof here->blocks[k]->warps);
    }
    for (uint32_t k = 0; k < here->flags_room; k++) free(here->flags[k].blocks.at);
    if (here->flags_room) memset(here->flags, 0, here->flags_room * sizeof *here->flags);
    here->nflags = 0;
    here->nbegins = 0;
    here->fences = false;
}

static void begin_turn(uint64_t block) {
    if (here->nbegins == here->begins_room) {
        here->begins_room = here->begins_room ? 2 * here->begins_room : 256;
        here->begins = check_must(realloc(here->begins, here->begins_room * sizeof *here->begins));
    }
    here->clock.turn_begin = here->clock.now + 1;
    here->begins[here->nbegins++] = (begin){here->clock.turn_begin, block};
}

static uint32_t free_place(void) {
    uint32_t k = 0;
    while (here->turns && k < here->nblocks && here->blocks[k]->live) k++;
    if (k < here->nblocks) return k;
    here->blocks = check_must(realloc(here->blocks, (k + 1) * sizeof *here->blocks));
    here->blocks[here->nblocks++] = check_must(calloc(1, sizeof **here->blocks));
    return k;
}

/* Serials only grow, so entries of earlier blocks in `warps` are below `first` and need no reset. */
uint32_t check_order_block(uint64_t block) {
    if (here->block) here->block->floor = here->clock.floor;
    uint32_t place = free_place();
    order_block *b = here->block = here->blocks[place];
    begin_turn(block);
    b->id = block;
    b->live = true;
    b->first = here->clock.floor = here->clock.turn_begin;
    b->seen_blocks.n = 0;
    memset(b->arrived, 0, sizeof b->arrived);
    for (uint32_t k = 0; k < WARPS; k++) b->warps[k].partial = false;
    return place;
}

uint32_t check_order_resumed(uint64_t block) {
    uint32_t place = 0;
    here->block->floor = here->clock.floor;
    while (!here->blocks[place]->live || here->blocks[place]->id != block) place++;
    here->block = here->blocks[place];
    here->clock.floor = here->block->floor;
    begin_turn(block);
    return place;
}

void check_order_ended(uint64_t block) {
    (void)block; /* the current one */
    here->block->live = false;
}

void check_order_grid_passed(void) { here->clock.grid_floor = here->clock.now + 1; }

uint64_t check_order_block_of(const stamp *past) {
    uint64_t lo = 0, hi = here->nbegins; /* begins[lo] <= serial < begins[hi] */
    while (hi - lo > 1) {
        uint64_t mid = (lo + hi) / 2;
        if (here->begins[mid].serial <= past->serial)
            lo = mid;
        else
            hi = mid;
    }
    return here->begins[lo].block;
}

bool check_order_of_other_block(const stamp *past) {
    if (past->serial >= here->clock.turn_begin) return false;
    return !here->turns || check_order_block_of(past) != here->block->id;
}

/* --- barriers and warp syncs --------------------------------------------------------------------------------- */

void check_order_arrived(const exec_arrival *a) { here->block->arrived[a->number] |= 1u << a->at.warp; }

/* A barrier of all warps raises the floor; a barrier of some warps raises only their rows: bar.sync n, count, and a
 * __syncthreads() that a warp has not come to because it has ended. What that warp did is in no order with the rest:
 * CUDA promises that only to the threads that wait. */
void check_order_passed(const exec_barrier *b) {
    uint32_t from = here->block->arrived[b->number], next = here->clock.now + 1;
    here->block->arrived[b->number] = 0;
    if (b->all && from == (b->warps < WARPS ? (1u << b->warps) - 1 : ~0u)) {
        here->clock.floor = next;
        return;
    }
    uint32_t together[WARPS] = {0};
    for (uint32_t a = 0; a < b->warps; a++)
        for (uint32_t k = 0; k < WARPS && from >> a & 1; k++)
            if (here->block->warps[a].of[k] > together[k]) together[k] = here->block->warps[a].of[k];
    for (uint32_t k = 0; k < b->warps; k++) {
        if (!(b->waiting >> k & 1)) continue;
        for (uint32_t a = 0; a < WARPS; a++) {
            uint32_t until = from >> a & 1 ? next : together[a];
            if (until > here->block->warps[k].of[a]) here->block->warps[k].of[a] = until;
        }
        here->block->warps[k].all = next;
        here->block->warps[k].partial = false;
    }
}

void check_order_synced(const exec_lanes *w) {
    sight *s = &here->block->warps[w->warp];
    uint32_t lanes = w->lanes, next = here->clock.now + 1;
    if ((lanes & w->live) == w->live) {
        s->all = next;
        s->partial = false;
        return;
    }
    if (!s->partial) {
        for (uint32_t l = 0; l < LANES; l++)
            for (uint32_t k = 0; k < LANES; k++) s->lane[l][k] = s->all;
        s->partial = true;
    }
    uint32_t together[LANES];
    for (uint32_t k = 0; k < LANES; k++) {
        together[k] = 0;
        for (uint32_t l = 0; l < LANES; l++)
            if (lanes >> l & 1 && s->lane[l][k] > together[k]) together[k] = s->lane[l][k];
        if (lanes >> k & 1) together[k] = next;
    }
    for (uint32_t l = 0; l < LANES; l++)
        if (lanes >> l & 1) memcpy(s->lane[l], together, sizeof together);
}

/* --- fences and flags ---------------------------------------------------------------------------------------- */

void check_order_fenced(const exec_lanes *w) {
    here->block->warps[w->warp].fence = here->clock.now + 1;
    here->fences = true;
}

static flag *find_flag(uint64_t key) {
    uint32_t k = (uint32_t)(base_hash(key) >> 32) & (here->flags_room - 1);
    while (here->flags[k].key && here->flags[k].key != key) k = (k + 1) & (here->flags_room - 1);
    return &here->flags[k];
}

static flag *make_flag(uint64_t key) {
    if (2 * here->nflags >= here->flags_room) {
        flag *old = here->flags;
        uint32_t n = here->flags_room;
        here->flags_room = n ? 2 * n : 64;
        here->flags = check_must(calloc(here->flags_room, sizeof *here->flags));
        for (uint32_t k = 0; k < n; k++)
            if (old[k].key) *find_flag(old[k].key) = old[k];
        free(old);
    }
    flag *f = find_flag(key);
    if (!f->key) {
        f->key = key;
        here->nflags++;
    }
    return f;
}

static void take(uint32_t warp, const flag *f) {
    sight *s = &here->block->warps[warp];
    join_blocks(&here->block->seen_blocks, &f->blocks);
    if (f->block != here->block->id + 1) return;
    for (uint32_t k = 0; k < WARPS; k++)
        if (f->row[k] > s->of[k]) s->of[k] = f->row[k];
    if (f->row[warp] > s->all) s->all = f->row[warp];
}

/* All threads of a block share its set of seen blocks, and a flag publishes for the whole warp. Both may hide a race
 * but never report a false one. */
void check_order_flag(const exec_access *a, uint64_t key, bool loads, bool stores) {
    uint32_t warp = a->at.warp;
    if (!here->fences && !a->insn->releases) return;
    sight *s = &here->block->warps[warp];
    if (a->insn->releases) {
        s->fence = here->clock.now;
        here->fences = true;
    }
    if (loads && here->flags_room) {
        const flag *f = find_flag(key);
        if (f->key) take(warp, f);
    }
    if (!stores || s->fence < here->block->first) return;
    flag *f = make_flag(key);
    if (f->block != here->block->id + 1) memset(f->row, 0, sizeof f->row);
    f->block = here->block->id + 1;
    for (uint32_t k = 0; k < WARPS; k++) {
        uint32_t until = k == warp ? s->fence : s->of[k] > here->clock.floor ? s->of[k] : here->clock.floor;
        if (until > f->row[k]) f->row[k] = until;
    }
    join_blocks(&f->blocks, &here->block->seen_blocks);
    add_blocks(&f->blocks, here->block->id, here->block->id);
}

/* --- the query ----------------------------------------------------------------------------------------------- */

bool check_order_before(const stamp *past, uint32_t warp, uint32_t lane) {
    if (past->serial < here->clock.grid_floor) return true;
    if (check_order_of_other_block(past)) return has_block(&here->block->seen_blocks, check_order_block_of(past));
    if (past->serial < here->clock.floor) return true;
    const sight *s = &here->block->warps[warp];
    if (past->warp != warp) return past->serial < s->of[past->warp];
    if (past->lane == lane && !past->several) return true;
    if (past->serial < s->all) return true;
    return s->partial && past->serial < s->lane[lane][past->lane];
}

/* --- of a card ----------------------------------------------------------------------------------------------- */

static void forget(void) {
    for (uint32_t k = 0; k < here->flags_room; k++) free(here->flags[k].blocks.at);
    free(here->flags);
    free(here->begins);
    for (uint32_t k = 0; k < here->nblocks; k++) {
        free(here->blocks[k]->seen_blocks.at);
        free(here->blocks[k]);
    }
    free(here->blocks);
}

const check_part check_part_order = {sizeof(order_state), use, forget};
