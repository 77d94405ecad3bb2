/* l2.c — the second-level cache. See l2.h for its idea.
 *
 * Each set keeps its chunks in lists by age. When it has too many lines, the oldest chunk leaves. If an earlier launch
 * has stored it, it leaves every third time only, and otherwise the oldest clean one leaves in its place. Only a part
 * of the cache may be dirty: beyond it the oldest dirty chunk is written to DRAM and stays. An eighth of the lines, two
 * of 16 ways, may have sectors with bytes of stores only: beyond it DRAM supplies the rest, and the chunk is written at
 * once. */
#include "l2.h"
#include "warp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t count(uint64_t bits) { return (uint64_t)__builtin_popcountll(bits); }

/* Returns the number of lines with one of the sectors. */
static uint32_t lines_of(uint64_t sectors) {
    sectors |= sectors >> 1;
    return (uint32_t)count((sectors | sectors >> 2) & 0x1111111111111111);
}

/* Returns the other halves of 64 bytes of the sectors. */
static uint64_t partners_of(uint64_t sectors) {
    return (sectors >> 1 & 0x5555555555555555) | (sectors & 0x5555555555555555) << 1;
}

/* Adds sectors of a chunk, all read or all written, to what DRAM moves. */
static void move(l2_cache *c, uint64_t sectors) {
    uint64_t pairs = (sectors | sectors >> 1) & 0x5555555555555555;
    uint64_t quads = pairs | pairs >> 2, rows = quads | quads >> 4;
    c->pairs += count(pairs);
    c->pair_lines += count(quads & 0x1111111111111111);
    c->pair_rows += count(rows & 0x0101010101010101);
}

void exec_l2_list_add(l2_list *l, uint32_t chunk) {
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        l->chunks = exec_must(realloc(l->chunks, l->room * sizeof *l->chunks));
    }
    l->chunks[l->n++] = chunk;
}

static void *reserve(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) base_refuse("cannot reserve address space; is `ulimit -v` set? Unset it and run again.");
    madvise(p, bytes, MADV_DONTDUMP);
    return p;
}

void exec_l2_init(exec_device *d, uint64_t window) {
    l2_cache *c = &d->l2;
    const exec_card *card = &d->card;
    uint64_t all = window + card->l2_bytes; /* exec_l2_flush uses the rest */
    c->chunks = reserve(all / L2_CHUNK * sizeof *c->chunks);
    c->unions = reserve(all / L2_CHUNK * sizeof *c->unions);
    c->bytes = reserve(all / L2_SECTOR * sizeof *c->bytes);
    c->early = reserve(all / L2_PAIR * sizeof *c->early);
    c->first = exec_mem_base() / L2_CHUNK;
    c->most_lines = (uint32_t)(card->l2_reach / L2_LINE / L2_SETS);
    c->most_dirty = (uint32_t)(card->l2_dirty / L2_LINE / L2_SETS);
    c->most_partly = (uint32_t)(card->l2_bytes / 8 / L2_LINE / L2_SETS);
}

/* --- sets ------------------------------------------------------------------------------------------------------- */

static l2_set *set_of(l2_cache *c, uint32_t chunk) {
    uint64_t h = base_hash(chunk + 1ull);
    return &c->set[base_hash(h ^ h >> 32) / (UINT64_MAX / L2_SETS + 1)];
}

/* Takes a chunk from its list, before its sectors change. */
static void leave(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    l2_set *s = set_of(c, chunk);
    if (k->state == L2_ABSENT) return;
    if (k->newer)
        c->chunks[k->newer - 1].older = k->older;
    else
        s->list[k->state].newest = k->older;
    if (k->older)
        c->chunks[k->older - 1].newer = k->newer;
    else
        s->list[k->state].oldest = k->newer;
    uint32_t lines = lines_of(k->whole | k->dirty);
    s->lines -= lines;
    c->lines -= lines;
    s->dirty -= lines_of(k->dirty);
    s->partly -= lines_of(k->dirty & ~k->whole);
    k->state = L2_ABSENT;
}

/* Puts it into the list of its state, as the newest or the oldest there. */
static void enter(l2_cache *c, uint32_t chunk, bool newest) {
    l2_chunk *k = &c->chunks[chunk];
    l2_set *s = set_of(c, chunk);
    uint64_t partly = k->dirty & ~k->whole;
    if (!(k->whole | k->dirty)) return;
    k->state = partly ? L2_PARTLY : k->dirty ? L2_DIRTY : L2_CLEAN;
    uint32_t *newer = &s->list[k->state].newest, *older = &s->list[k->state].oldest;
    k->newer = newest ? 0 : *older;
    k->older = newest ? *newer : 0;
    if (k->newer) c->chunks[k->newer - 1].older = chunk + 1;
    if (k->older) c->chunks[k->older - 1].newer = chunk + 1;
    if (newest || !*newer) *newer = chunk + 1;
    if (!newest || !*older) *older = chunk + 1;
    uint32_t lines = lines_of(k->whole | k->dirty);
    s->lines += lines;
    c->lines += lines;
    s->dirty += lines_of(k->dirty);
    s->partly += lines_of(partly);
}

/* --- what leaves ------------------------------------------------------------------------------------------------ */

/* Forgets which bytes of the sectors were stored. */
static void forget_bytes(l2_cache *c, uint32_t chunk, uint64_t sectors) {
    for (; sectors; sectors &= sectors - 1) c->bytes[(uint64_t)chunk * 64 + (uint32_t)__builtin_ctzll(sectors)] = 0;
}

/* Takes sectors of a chunk from the cache, without writing them back. */
static void take_out(l2_cache *c, uint32_t chunk, uint64_t sectors) {
    l2_chunk *k = &c->chunks[chunk];
    leave(c, chunk);
    forget_bytes(c, chunk, k->dirty & ~k->whole & sectors);
    k->whole &= ~sectors;
    k->dirty &= ~sectors;
    enter(c, chunk, true);
}

/* Lets DRAM supply the bytes that no store has written. */
static void fill(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    uint64_t partly = k->dirty & ~k->whole;
    forget_bytes(c, chunk, partly);
    c->filled += count(partly);
    c->read += count(partly) * L2_SECTOR;
    move(c, partly);
    k->whole |= partly;
}

static void write_back(l2_cache *c, uint32_t chunk) {
    fill(c, chunk);
    c->written += count(c->chunks[chunk].dirty) * L2_SECTOR;
    move(c, c->chunks[chunk].dirty);
    c->chunks[chunk].dirty = 0;
}

/* Returns the oldest chunk with dirty sectors, + 1; 0: there is none. */
static uint32_t oldest_dirty(const l2_cache *c, const l2_set *s) {
    uint32_t dirty = s->list[L2_DIRTY].oldest, partly = s->list[L2_PARTLY].oldest;
    if (!dirty || !partly) return dirty | partly;
    return c->chunks[partly - 1].used < c->chunks[dirty - 1].used ? partly : dirty;
}

static void evict(l2_cache *c, l2_set *s) {
    uint32_t dirty = oldest_dirty(c, s), clean = s->list[L2_CLEAN].oldest;
    const uint32_t used = dirty ? c->chunks[dirty - 1].used : 0;
    bool take_dirty = !clean || (dirty && (used < c->began ? s->evicted % 3 == 2 : used <= c->chunks[clean - 1].used));
    uint32_t chunk = (take_dirty ? dirty : clean) - 1;
    s->evicted++;
    leave(c, chunk);
    write_back(c, chunk);
    c->chunks[chunk].whole = 0;
}

static void make_room(l2_cache *c, l2_set *s) {
    while (s->partly > c->most_partly) {
        uint32_t chunk = s->list[L2_PARTLY].oldest - 1;
        leave(c, chunk);
        write_back(c, chunk);
        enter(c, chunk, true);
    }
    while (s->dirty > c->most_dirty) {
        uint32_t chunk = oldest_dirty(c, s) - 1;
        leave(c, chunk);
        write_back(c, chunk);
        enter(c, chunk, true);
    }
    while (s->lines > c->most_lines) evict(c, s);
}

/* Takes the sectors of some chunks out: those from `first` to before `end`. */
static void take_chunks(l2_cache *c, uint64_t first, uint64_t end) {
    for (uint32_t s = 0; s < L2_SETS; s++)
        for (int state = L2_CLEAN; state < L2_STATES; state++)
            for (uint32_t at = c->set[s].list[state].oldest, next; at; at = next) {
                next = c->chunks[at - 1].newer;
                if (at - 1 >= first && at - 1 < end) take_out(c, at - 1, ~0ull);
            }
}

void exec_l2_clear(exec_device *d) {
    l2_cache *c = &d->l2;
    take_chunks(c, 0, UINT32_MAX);
    for (uint32_t s = 0; s < L2_SETS; s++) c->set[s].evicted = 0;
}

/* --- what comes ------------------------------------------------------------------------------------------------- */

/* Stored parts of sectors: those that have all their bytes now, or had them already, are written sectors. */
static void merge(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    uint64_t full = k->partly & (k->whole | k->written | k->read);
    for (uint64_t m = k->partly & ~full; m; m &= m - 1)
        if (c->bytes[(uint64_t)chunk * 64 + (uint32_t)__builtin_ctzll(m)] == ~0u) full |= m & -m;
    k->written |= full;
    k->partly &= ~full;
    forget_bytes(c, chunk, full);
}

/* Notes the rounds of loads that wait for DRAM: those of the wave that are the first to want what the cache lacks. */
static void note_rounds(l2_cache *c, uint32_t chunk, uint64_t missed) {
    enum { PAIRS = L2_CHUNK / L2_PAIR };
    uint32_t *early = &c->early[(uint64_t)chunk * PAIRS];
    for (uint64_t m = (missed | missed >> 1) & 0x5555555555555555; m; m &= m - 1) {
        const uint32_t word = early[__builtin_ctzll(m) / 2], round = word >> 16;
        c->waits += word & UINT16_MAX;
        if (!round || c->rounds[round / 64] >> round % 64 & 1) continue;
        c->rounds[round / 64] |= 1ull << round % 64;
        c->dram_rounds++;
    }
    memset(early, 0, PAIRS * sizeof *early);
}

/* Applies what a wave or a copy does to a chunk, and clears it there. DRAM gives 64 bytes for a load of 32; for an
 * atomic in half of the lines. If two requests each wanted one half, the second finds it. */
static void apply(l2_cache *c, uint32_t chunk) {
    const uint64_t odd_lines = 0xf0f0f0f0f0f0f0f0;
    l2_chunk *k = &c->chunks[chunk];
    const uint64_t missed = k->read & ~k->whole, alone = missed & k->alone;
    leave(c, chunk);
    if (k->partly) merge(c, chunk);
    uint64_t fetched = missed | (partners_of(missed & (~k->written | odd_lines)) & ~(k->whole | k->written));
    forget_bytes(c, chunk, ((k->dirty & ~k->whole) | k->partly) & (fetched | k->written));
    c->missed[0] += count(missed & ~k->written) - count(alone & partners_of(alone)) / 2;
    c->missed[1] += count(missed & k->written);
    c->read += count(fetched) * L2_SECTOR;
    move(c, fetched);
    if (k->read) note_rounds(c, chunk, missed);
    k->whole |= fetched | k->written;
    k->dirty |= k->written | k->partly;
    k->read = k->written = k->partly = k->alone = 0;
    k->used = c->now;
    enter(c, chunk, true);
    make_room(c, set_of(c, chunk));
}

/* Memory of another device is not cached here. */
static void pass_by(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    c->peer[0] += count(k->read) * L2_SECTOR;
    c->peer[1] += count(k->written | k->partly) * L2_SECTOR;
    forget_bytes(c, chunk, k->partly);
    k->read = k->written = k->partly = k->alone = 0;
}

/* Sorts the chunks of a wave, since the order in which host threads touched them must not matter. */
static void sort(l2_cache *c) {
    enum { BITS = 11, BUCKETS = 1 << BITS };
    l2_list *from = &c->wave, *to = &c->other;
    uint32_t any = 0, all = ~0u;
    for (uint32_t i = 0; i < from->n; i++) any |= from->chunks[i], all &= from->chunks[i];
    if (to->room < from->n) {
        to->room = from->room;
        to->chunks = exec_must(realloc(to->chunks, to->room * sizeof *to->chunks));
    }
    for (uint32_t shift = 0; shift < 32; shift += BITS) {
        uint32_t at[BUCKETS] = {0}, sum = 0;
        if (!((any ^ all) >> shift & (BUCKETS - 1))) continue;
        for (uint32_t i = 0; i < from->n; i++) at[from->chunks[i] >> shift & (BUCKETS - 1)]++;
        for (uint32_t b = 0; b < BUCKETS; b++) {
            uint32_t n = at[b];
            at[b] = sum;
            sum += n;
        }
        for (uint32_t i = 0; i < from->n; i++)
            to->chunks[at[from->chunks[i] >> shift & (BUCKETS - 1)]++] = from->chunks[i];
        to->n = from->n;
        l2_list swap = *from;
        *from = *to;
        *to = swap;
    }
}

void exec_l2_wave(exec_device *d, worker *workers, unsigned threads) {
    l2_cache *c = &d->l2;
    uint64_t most = 0;
    c->wave.n = 0;
    for (unsigned t = 0; t < threads; t++) {
        for (uint32_t i = 0; i < workers[t].touched.n; i++) exec_l2_list_add(&c->wave, workers[t].touched.chunks[i]);
        workers[t].touched.n = 0;
        if (most < workers[t].most_missed) most = workers[t].most_missed;
        workers[t].most_missed = 0;
    }
    c->wave_rounds += most;
    memset(c->rounds, 0, sizeof c->rounds);
    sort(c);
    c->now++;
    for (uint32_t i = 0; i < c->wave.n; i++) {
        uint32_t chunk = c->wave.chunks[i];
        l2_chunk *k = &c->chunks[chunk];
        l2_union *u = &c->unions[chunk];
        uint64_t written = k->written | k->partly;
        if (!(k->read | written)) continue; /* listed twice */
        if (!(u->read | u->written)) exec_l2_list_add(&c->launch, chunk);
        u->read |= k->read;
        u->written |= written;
        if (exec_mem_elsewhere(d, (c->first + chunk) * L2_CHUNK))
            pass_by(c, chunk);
        else
            apply(c, chunk);
    }
}

/* --- a launch --------------------------------------------------------------------------------------------------- */

void exec_l2_launch_begins(exec_device *d) {
    l2_cache *c = &d->l2;
    c->began = c->now + 1;
    memset(c->missed, 0, sizeof c->missed);
    memset(c->peer, 0, sizeof c->peer);
    c->filled = c->read = c->written = c->dram_rounds = c->wave_rounds = c->waits = 0;
    c->pairs = c->pair_lines = c->pair_rows = 0;
}

/* Sets the footprint of the launch, and tells managed.c of its pages. */
static void take_unions(exec_device *d, exec_result *r) {
    l2_cache *c = &d->l2;
    for (uint32_t i = 0; i < c->launch.n; i++) {
        l2_union *u = &c->unions[c->launch.chunks[i]];
        uint64_t address = (c->first + c->launch.chunks[i]) * L2_CHUNK, read = count(u->read),
                 written = count(u->written);
        r->footprint_read += read;
        r->footprint_written += written;
        if (exec_managed((void *)(uintptr_t)address)) {
            if (read) exec_managed_touch(d, address, (uint32_t)read, false);
            if (written) exec_managed_touch(d, address, (uint32_t)written, true);
        }
        *u = (l2_union){0, 0};
    }
    c->launch.n = 0;
}

/* Returns the share of hits as the hardware counts lookups. Half of the sectors are at home in the other partition of
 * L2, so that a miss, a store or an atomic is looked up there too: 1.5 times in the mean. A hit finds its copy in the
 * near one. Each turn of a sector's atomics is a lookup. DRAM's supply for a store in part is a miss. */
static double hit_pct(const l2_cache *c, const exec_result *r) {
    double hits = (double)r->l2_read_hits + 1.5 * (double)(r->l2_write_sectors + r->atomic_all);
    double misses = 1.5 * (double)(c->missed[0] + c->missed[1]) + (double)c->filled;
    return hits + misses > 0 ? 100 * hits / (hits + misses) : 0;
}

/* Returns the rounds of the waves' longest block that wait for DRAM. Where blocks do different things, one or another
 * of them is the first to want something in each round, and the others wait for L2 only. So the part is at most that of
 * all blocks' rounds that miss L1: `rounds`. */
static uint64_t dram_rounds(const l2_cache *c, uint64_t rounds) {
    const double part = rounds ? (double)c->waits / (double)rounds : 1;
    const uint64_t most = (uint64_t)(part < 1 ? part * (double)c->wave_rounds + 0.5 : (double)c->wave_rounds);
    return c->dram_rounds < most ? c->dram_rounds : most;
}

void exec_l2_launch_ended(exec_device *d, exec_result *r) {
    l2_cache *c = &d->l2;
    take_unions(d, r);
    r->dram_read_bytes = c->read;
    r->dram_write_bytes = c->written;
    r->dram_pairs = c->pairs;
    r->dram_lines = c->pair_lines;
    r->dram_rows = c->pair_rows;
    r->wave_rounds = c->wave_rounds;
    r->dram_rounds = dram_rounds(c, r->alone_rounds);
    r->peer_read = c->peer[0];
    r->peer_written = c->peer[1];
    const uint64_t linked = r->link_read / L2_SECTOR;
    r->l2_read_sectors = r->total.l1_miss_sectors > linked ? r->total.l1_miss_sectors - linked : 0;
    r->alone_sectors = r->alone_sectors > linked ? r->alone_sectors - linked : 0;
    uint64_t missed = c->missed[0] + (r->total.atom_sectors ? 0 : c->missed[1]); /* the others are those of atomics */
    r->l2_read_hits = r->l2_read_sectors > missed ? r->l2_read_sectors - missed : 0;
    const uint64_t stored = r->total.st_sectors + r->local_stored.whole + r->local_stored.partial,
                   elsewhere = r->st_merged + r->link_written / L2_SECTOR;
    r->l2_write_sectors = stored > elsewhere ? stored - elsewhere : 0;
    r->l2_hit_pct = hit_pct(c, r);
}

/* --- commands that are no kernels --------------------------------------------------------------------------------- */

typedef void each(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all);

/* Calls f for the sectors of each chunk of a range of addresses: those that lie in it as a whole, and all. */
static void each_chunk(l2_cache *c, uint64_t address, uint64_t bytes, each *f) {
    uint64_t lo = address - c->first * L2_CHUNK, hi = lo + bytes;
    for (uint64_t chunk = lo / L2_CHUNK; chunk * L2_CHUNK < hi; chunk++) {
        uint64_t from = chunk * L2_CHUNK, first = lo > from ? lo - from : 0,
                 end = hi - from < L2_CHUNK ? hi - from : L2_CHUNK;
        uint64_t inner = (first + 31) / 32, behind = end / 32;
        uint64_t all = ~0ull << first / 32 & ~0ull >> (63 - (end - 1) / 32);
        uint64_t whole = inner < behind ? ~0ull << inner & ~0ull >> (64 - behind) : 0;
        f(c, (uint32_t)chunk, whole, all);
    }
}

static void read_chunk(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all) {
    (void)whole;
    c->chunks[chunk].read = all;
    apply(c, chunk);
}

/* A sector at the edge, of which only some bytes are written, counts as if it was read before. */
static void write_chunk(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all) {
    c->chunks[chunk].read = all & ~whole;
    c->chunks[chunk].written = all;
    apply(c, chunk);
}

/* A copy engine writes to DRAM, and to the sectors that the cache has. */
static void copy_chunk(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all) {
    l2_chunk *k = &c->chunks[chunk];
    (void)all;
    if (k->state == L2_ABSENT) return;
    leave(c, chunk);
    forget_bytes(c, chunk, k->dirty & ~k->whole & whole);
    k->whole |= k->dirty & whole;
    k->dirty &= ~whole;
    enter(c, chunk, true);
}

static void drop_chunk(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all) {
    (void)all;
    if (c->chunks[chunk].state) take_out(c, chunk, whole);
}

uint64_t exec_l2_copies(exec_device *d, uint64_t address, uint64_t bytes, enum exec_l2_copy what) {
    static each *const how[] = {
        [EXEC_L2_READ] = read_chunk, [EXEC_L2_WRITE] = write_chunk, [EXEC_L2_ENGINE] = copy_chunk};
    const uint64_t before = d->l2.read + d->l2.written;
    d->l2.began = ++d->l2.now;
    each_chunk(&d->l2, address, bytes, how[what]);
    return d->l2.read + d->l2.written - before;
}

void exec_l2_drops(exec_device *d, uint64_t address, uint64_t bytes) {
    l2_cache *c = &d->l2;
    uint64_t first = (address + L2_CHUNK - 1) / L2_CHUNK - c->first, end = (address + bytes) / L2_CHUNK - c->first;
    if (bytes / L2_CHUNK <= c->lines)
        each_chunk(c, address, bytes, drop_chunk);
    else
        take_chunks(c, first, end);
}

/* The other data lie behind the window, where no program has any. */
void exec_l2_flush(exec_device *d) {
    exec_l2_clear(d);
    exec_l2_copies(d, exec_mem_end(), d->card.l2_bytes, EXEC_L2_WRITE);
}
