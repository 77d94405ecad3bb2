/* together.c — runs the blocks of a launch that may wait for each other: those of a cooperative launch, which meet in
 * grid.sync(), and those of a kernel that polls device memory (a hand-made barrier, a flag of another block).
 *
 *   begin 0, begin 1, ... begin n | turn 0, turn 1, ... turn n | turn 0 ...
 *
 * A block runs until it ends or waits: its warps wait at barriers, or poll words that do not change. Then the next
 * block begins, as long as the device has room for it, else the next resident one gets a turn. All of them run on one
 * host thread, so the order is the same every time.
 *
 * A poll in vain ends the warp's turn, so a wait costs a poll or two for each change of the word, as on a GPU, and not
 * as many as the host has time for. grid.sync() costs none: as nvcc compiles it, a block adds to the barrier's word in
 * the launch's workspace (%envreg1, %envreg2) and loads the word until its highest bit flips. SimGPU knows the word,
 * and repeats the load only behind the last arrival.
 *
 * Warps that share work out by a counter (`while ((i = atomicAdd(&next, 1)) < n)`) end their turns, too, when they have
 * taken a piece. Where blocks wait for nothing else, the warp goes on that is least far, by the depth of what it has
 * run: the one that a GPU would have next.
 *
 * If every resident block waits and nothing changes, the launch is in a deadlock: at once if all wait in grid.sync() or
 * at barriers; after IDLE instructions if some poll, since a loop may count its polls and give up; after IDLE_CLOCKS if
 * it reads a clock, too, to give up some milliseconds later. */
#include "count.h"
#include "warp.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE = 1 << 22, IDLE_CLOCKS = 1 << 28, GRID_FLIP = 31 };

/* --- grid.sync() -------------------------------------------------------------------------------------------- */

static uint64_t barrier_of(const worker *t) { return t->workspace + 4; }
static uint32_t word_of(const worker *t) {
    uint32_t word;
    memcpy(&word, exec_mem_host(t->device, barrier_of(t)), sizeof word);
    return word;
}
static bool flipped(const block *b) { return (word_of(b->worker) ^ b->grid_saw) >> GRID_FLIP; }

bool exec_at_grid_barrier(const warp *w) {
    if (!w->block->worker->workspace) return false;
    uint64_t at = barrier_of(w->block->worker);
    for (uint32_t m = w->mask; m; m &= m - 1)
        if (w->address[__builtin_ctz(m)] != at) return false;
    return true;
}

void exec_grid_arrived(warp *w, const ptx_insn *i) {
    block *b = w->block;
    if (b->failed || i->d == NO_ROW || !exec_at_grid_barrier(w)) return;
    uint32_t before = ROW(w, uint32_t, i->d)[__builtin_ctz(w->mask)];
    b->in_grid_sync = true;
    b->grid_saw = before;
    b->grid_syncs++;
    b->grid_fenced = !i->releases;
    w->news = true;
    if (flipped(b) && exec_heard) exec_listen_grid_passed();
}

bool exec_grid_wait(warp *w, const ptx_insn *i) {
    block *b = w->block;
    if (!exec_at_grid_barrier(w)) return false;
    if (flipped(b)) {
        b->in_grid_sync = false;
        return false;
    }
    split *s = &w->splits[w->current];
    w->pc--; /* the load runs again; until then it has not run */
    w->executed[w->pc]--;
    w->threads[w->pc] -= (uint64_t)__builtin_popcount(w->mask);
    w->depth -= i->depth;
    s->state = SPLIT_GRID;
    w->stop = true;
    return true;
}

/* Lets the waiting splits of a block run again. Returns whether it still waits in grid.sync(). */
static bool waits_for_grid(block *b) {
    if (!b->in_grid_sync) return false;
    bool go = flipped(b), waits = false;
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t s = 0; s < b->warps[k].nsplits; s++) {
            split *p = &b->warps[k].splits[s];
            if (p->state != SPLIT_GRID) continue;
            waits |= !go;
            if (go) p->state = SPLIT_RUN;
        }
    return waits;
}

/* --- work that warps share out ------------------------------------------------------------------------------ */

/* Returns how far the warp is, in clocks. */
static uint64_t progress_of(const warp *w) {
    const int64_t rounds = ptx_depth_rounds(w->depth), clocks = ptx_depth_clocks(w->depth),
                  far = rounds * (int64_t)w->block->launch->program->module->costs.round_clocks + clocks;
    return far > 0 ? (uint64_t)far : 0;
}

/* Returns how far the block's warp is that is least far of those that have taken a piece, or UINT64_MAX. */
static uint64_t least_progress(const block *b) {
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        const warp *w = &b->warps[k];
        if (w->live && w->took && progress_of(w) < least) least = progress_of(w);
    }
    return least;
}

/* Lets warps that have taken a piece go on, if they are not farther than so many clocks. */
static void let_work(block *b, uint64_t farthest) {
    for (uint32_t k = 0; k < b->nwarps; k++)
        if (b->warps[k].took && progress_of(&b->warps[k]) <= farthest) b->warps[k].took = false;
}

/* --- turns -------------------------------------------------------------------------------------------------- */

/* The places for resident blocks. A block keeps its memory for later launches. */
static struct {
    block **blocks;
    bool *lives;
    uint64_t *progress; /* least_progress() */
    uint32_t room;
} places;

static void make_room(uint32_t n) {
    if (n <= places.room) return;
    places.blocks = exec_must(realloc(places.blocks, n * sizeof *places.blocks));
    places.lives = exec_must(realloc(places.lives, n * sizeof *places.lives));
    places.progress = exec_must(realloc(places.progress, n * sizeof *places.progress));
    memset(places.blocks + places.room, 0, (n - places.room) * sizeof *places.blocks);
    places.room = n;
}

/* Begins block `id` at the first free place. Returns the place. */
static uint32_t begin_block(worker *t, const exec_launch *n, uint64_t id) {
    uint32_t at = 0;
    while (places.lives[at]) at++;
    if (!places.blocks[at]) places.blocks[at] = exec_must(calloc(1, sizeof **places.blocks));
    block *b = places.blocks[at];
    if (!b->launch) exec_block_prepare(b, t, n);
    b->together = true;
    b->read_clock = false;
    places.lives[at] = true;
    exec_block_begin(b, id);
    return at;
}

static uint32_t next_place(uint32_t at, uint32_t most) {
    do at = at + 1 < most ? at + 1 : 0;
    while (!places.lives[at]);
    return at;
}

/* Returns the place of the block with the warp that is least far, where blocks only share work out: `at`, as long as
 * its own is not farther than *next, that of the others, which this sets; the next place if all wait for something
 * else. */
static uint32_t least_far(uint32_t at, uint32_t most, uint64_t *next) {
    uint32_t best = most;
    if (places.lives[at] && places.progress[at] < *next) return at;
    *next = UINT64_MAX;
    for (uint32_t k = 0; k < most; k++) {
        if (!places.lives[k]) continue;
        const bool less = best == most || places.progress[k] < places.progress[best];
        const uint64_t other = less ? (best == most ? UINT64_MAX : places.progress[best]) : places.progress[k];
        if (other < *next) *next = other;
        if (less) best = k;
    }
    return places.progress[best] < UINT64_MAX ? best : next_place(at, most);
}

/* Runs a block until it ends, waits or fails. Returns whether it got on. */
static bool turn(block *b) {
    uint64_t stores = b->worker->stores;
    bool got_on = false, waits = waits_for_grid(b);
    let_work(b, b->launch->kernel->code->meets ? UINT64_MAX : least_progress(b));
    do {
        b->worked = b->spun = false;
        bool progress = exec_block_round(b);
        if (b->spun) let_work(b, UINT64_MAX);
        waits |= (b->in_grid_sync && waits_for_grid(b)) || least_progress(b) < UINT64_MAX;
        if (!progress && b->live && !b->failed && !waits && !exec_block_goes_on(b)) exec_fail_deadlock(b);
        got_on |= b->worked;
    } while (b->live && !b->failed && b->worked);
    return got_on || b->worker->stores != stores;
}

/* Returns the resident block with the lowest number. */
static block *first_resident(uint32_t most) {
    block *first = NULL;
    for (uint32_t k = 0; k < most; k++)
        if (places.lives[k] && (!first || places.blocks[k]->id < first->id)) first = places.blocks[k];
    return first;
}

void exec_run_together(worker *t, const exec_launch *n, uint64_t nblocks, bool (*charge)(uint64_t id, uint64_t spent)) {
    const exec_card *card = &t->device->card;
    const bool shares = !n->cooperative && !n->kernel->code->meets; /* blocks only share work out */
    uint32_t most = n->resident ? n->resident : card->sms * card->blocks_per_sm, live = 0, at = 0;
    uint64_t next = 0; /* how far the warp is that is least far of the blocks beside that of `at`; 0: not known */
    uint64_t begun = 0, ended = 0, idle = 0, vain = 0; /* instructions and turns since a block last got on */
    if (nblocks < most) most = (uint32_t)nblocks;
    make_room(most);
    memset(places.lives, 0, most * sizeof *places.lives);
    for (uint32_t k = 0; k < most; k++)
        if (places.blocks[k]) places.blocks[k]->launch = NULL;
    while (ended < nblocks) {
        bool begins = live < most && begun < nblocks;
        if (begins) next = 0;
        at = begins ? begin_block(t, n, begun++) : shares && !vain ? least_far(at, most, &next) : next_place(at, most);
        block *b = places.blocks[at];
        live += begins;
        if (!begins && (!shares || vain))
            exec_l1_next_block(&t->l1); /* what other blocks have written is fetched anew */
        if (!begins && exec_heard) exec_listen_block_resumes(b);
        uint64_t budget = b->budget;
        bool got_on = turn(b) || begins || !b->live, goes_on = charge(b->id, budget - b->budget);
        places.progress[at] = least_progress(b);
        idle = got_on ? 0 : idle + (budget - b->budget);
        vain = got_on ? 0 : vain + 1;
        if (b->live && !b->failed && goes_on) {
            if (vain < live || (idle && idle < (b->read_clock ? IDLE_CLOCKS : IDLE))) continue;
            exec_fail_blocks_wait(first_resident(most), ended, begun);
            return;
        }
        exec_block_end(b);
        if (exec_heard) exec_listen_block_ended(b);
        places.lives[at] = false;
        live--;
        ended++;
        if (b->failed || !goes_on) return;
    }
}
