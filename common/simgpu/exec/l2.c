/* l2.c — the second-level cache. See l2.h for its idea.
 *
 * Each set keeps its chunks in lists by age. When it is full, the oldest clean chunk leaves. For a dirty one places
 * count: a stored line takes one, a loaded one more, since SMs of the other half of the card have a copy of it in their
 * own half. A dirty chunk leaves once others have taken between a half and 1.4 times as many places as there are,
 * another number in each list; but dirty chunks leave for at most three eighths of the places that are taken. Only a
 * part of the cache may be dirty: beyond it a dirty chunk is written to DRAM and stays, the oldest one, and every sixth
 * time the newest of a list. An eighth of the lines, two of 16 ways, may have sectors with bytes of stores only: beyond
 * it DRAM supplies the rest, and such sectors are written at once, those alone. */
#include "l2.h"
#include "warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Units of places: those of a stored line; and those of a set's room, where a loaded line has one weight for any number
 * of SMs. A stored one has eight tenths of it. Once behind a memset it seems to have seven, as 44.2 of an H200's 62.9
 * MB are what it keeps of loaded data; in a loop that loads 33.6 MB and stores 16.8 MB it has 95 hundredths. */
enum { PLACE = 16, LOADED_ROOM = 20, STORED_ROOM = 16 };

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

/* Returns a bit for each 64 bytes with one of the sectors, that of its first. */
static uint64_t pairs_of(uint64_t sectors) { return (sectors | sectors >> 1) & 0x5555555555555555; }

/* Returns a bit for each line of a chunk with one of the sectors, and all sectors of such lines. */
static uint16_t lines_with(uint64_t sectors) {
    uint64_t s = sectors | sectors >> 1;
    s = (s | s >> 2) & 0x1111111111111111;
    s = (s | s >> 3) & 0x0303030303030303;
    s = (s | s >> 6) & 0x000f000f000f000f;
    s = (s | s >> 12) & 0x000000ff000000ff;
    return (uint16_t)(s | s >> 24);
}
static uint64_t sectors_of(uint16_t lines) {
    uint64_t s = lines;
    s = (s | s << 24) & 0x000000ff000000ff;
    s = (s | s << 12) & 0x000f000f000f000f;
    s = (s | s << 6) & 0x0303030303030303;
    s = (s | s << 3) & 0x1111111111111111;
    return s * 15;
}

/* Adds sectors of a chunk to what DRAM moves, each piece of which begins with one of `pieces`. */
static void move(l2_moved *m, uint64_t pieces) {
    const uint64_t pairs = pairs_of(pieces), quads = pairs | pairs >> 2, rows = quads | quads >> 4;
    m->pieces += count(pieces);
    m->lines += count(quads & 0x1111111111111111);
    m->rows += count(rows & 0x0101010101010101);
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

/* Returns the places of a set. */
static double places_of(const exec_card *card) { return (double)card->l2_bytes / L2_LINE * PLACE / L2_SETS; }

/* Dirty chunks leave at ages from 0.52 to 1.37 times a set's places, as many at each. at: from 0 to 1, a set's place
 * among all sets. */
static void set_old(l2_set *s, double places, double at) {
    s->old[L2_PARTLY] = (uint32_t)(places * (0.52 + 0.85 * at));
    for (int k = 0; k < L2_DIRTIES; k++)
        s->old[L2_DIRTY + k] = (uint32_t)(places * (0.52 + 0.85 * (k + at) / L2_DIRTIES));
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
    c->most_room = (uint32_t)(card->l2_reach / L2_LINE * LOADED_ROOM / L2_SETS);
    c->loaded_line = PLACE * (double)card->l2_bytes / (double)card->l2_reach;
    for (int s = 0; s < L2_SETS; s++) set_old(&c->set[s], places_of(card), (s + 0.5) / L2_SETS);
    c->most_dirty = (uint32_t)(card->l2_dirty / L2_LINE / L2_SETS);
    c->most_partly = (uint32_t)(card->l2_bytes / 8 / L2_LINE / L2_SETS);
}

/* --- sets ------------------------------------------------------------------------------------------------------- */

static l2_set *set_of(l2_cache *c, uint32_t chunk) {
    uint64_t h = base_hash(chunk + 1ull);
    return &c->set[base_hash(h ^ h >> 32) / (UINT64_MAX / L2_SETS + 1)];
}

/* Returns how much of a set's room a chunk takes. */
static uint32_t room_of(const l2_chunk *k) {
    return lines_of(k->whole | k->dirty) * (k->loaded ? LOADED_ROOM : STORED_ROOM);
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
    s->room -= room_of(k);
    c->lines -= lines_of(k->whole | k->dirty);
    s->dirty -= lines_of(k->dirty);
    s->partly -= lines_of(k->dirty & ~k->whole);
    k->state = L2_ABSENT;
}

/* Puts it into the list of its state, as the newest or the oldest there. */
static void enter(l2_cache *c, uint32_t chunk, bool newest) {
    l2_chunk *k = &c->chunks[chunk];
    l2_set *s = set_of(c, chunk);
    uint64_t partly = k->dirty & ~k->whole;
    if (!(k->whole | k->dirty)) {
        k->loaded = false;
        k->stored = 0;
        return;
    }
    k->state = (uint8_t)(partly     ? L2_PARTLY
                         : k->dirty ? L2_DIRTY + chunk * 0x9e3779b1u / (UINT32_MAX / L2_DIRTIES + 1)
                                    : L2_CLEAN);
    uint32_t *newer = &s->list[k->state].newest, *older = &s->list[k->state].oldest;
    k->newer = newest ? 0 : *older;
    k->older = newest ? *newer : 0;
    if (k->newer) c->chunks[k->newer - 1].older = chunk + 1;
    if (k->older) c->chunks[k->older - 1].newer = chunk + 1;
    if (newest || !*newer) *newer = chunk + 1;
    if (!newest || !*older) *older = chunk + 1;
    s->room += room_of(k);
    c->lines += lines_of(k->whole | k->dirty);
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

/* Lets DRAM supply the bytes that no store has written. Returns the sectors. */
static uint64_t fill(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    const uint64_t partly = k->dirty & ~k->whole;
    forget_bytes(c, chunk, partly);
    c->filled += count(partly);
    c->read += count(partly) * L2_SECTOR;
    move(&c->stored_back, partly);
    k->whole |= partly;
    return partly;
}

/* Writes dirty sectors to DRAM. */
static void write_sectors(l2_cache *c, uint32_t chunk, uint64_t sectors) {
    c->written += count(sectors) * L2_SECTOR;
    move(&c->stored_back, sectors);
    c->chunks[chunk].dirty &= ~sectors;
}

static void write_back(l2_cache *c, uint32_t chunk) {
    fill(c, chunk);
    write_sectors(c, chunk, c->chunks[chunk].dirty);
}

static uint32_t age(const l2_cache *c, const l2_set *s, uint32_t chunk) { return s->clock - c->chunks[chunk].used; }

/* Returns the oldest chunk with dirty sectors, + 1; 0: there is none. */
static uint32_t oldest_dirty(const l2_cache *c, const l2_set *s) {
    uint32_t oldest = 0;
    for (int list = L2_PARTLY; list < L2_STATES; list++) {
        const uint32_t chunk = s->list[list].oldest;
        if (!oldest || (chunk && age(c, s, chunk - 1) > age(c, s, oldest - 1))) oldest = chunk;
    }
    return oldest;
}

static void evict(l2_cache *c, uint32_t chunk) {
    leave(c, chunk);
    write_back(c, chunk);
    c->chunks[chunk].whole = 0;
    c->chunks[chunk].loaded = false;
    c->chunks[chunk].stored = 0;
}

/* Lets old dirty chunks leave. */
static void evict_dirty(l2_cache *c, l2_set *s) {
    for (int list = L2_PARTLY; list < L2_STATES; list++)
        for (uint32_t dirty; (dirty = s->list[list].oldest) && age(c, s, dirty - 1) > s->old[list];) {
            const uint32_t cost = PLACE * 8 / 3 * lines_of(c->chunks[dirty - 1].dirty);
            if (s->due < cost) return;
            s->due -= cost;
            evict(c, dirty - 1);
        }
}

/* Writes a chunk to DRAM. It stays. */
static void clean(l2_cache *c, uint32_t chunk) {
    leave(c, chunk);
    write_back(c, chunk);
    enter(c, chunk, true);
}

/* Writes the sectors of a chunk that are stored in part. Others that are dirty stay so. */
static void clean_partly(l2_cache *c, uint32_t chunk) {
    leave(c, chunk);
    write_sectors(c, chunk, fill(c, chunk));
    enter(c, chunk, true);
}

/* Returns which of too many dirty chunks to write to DRAM. */
static uint32_t one_to_clean(const l2_cache *c, l2_set *s) {
    const uint32_t newest = s->list[L2_DIRTY + s->cleaned / 6 % L2_DIRTIES].newest;
    return (s->cleaned++ % 6 == 5 && newest ? newest : oldest_dirty(c, s)) - 1;
}

static void make_room(l2_cache *c, l2_set *s) {
    while (s->partly > c->most_partly) clean_partly(c, s->list[L2_PARTLY].oldest - 1);
    while (s->dirty > c->most_dirty) clean(c, one_to_clean(c, s));
    evict_dirty(c, s);
    while (s->room > c->most_room) {
        const uint32_t oldest = s->list[L2_CLEAN].oldest;
        evict(c, (oldest ? oldest : oldest_dirty(c, s)) - 1);
    }
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
    for (uint32_t s = 0; s < L2_SETS; s++) c->set[s].due = c->set[s].cleaned = 0;
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

/* Adds the rounds of loads that are the first to want some sectors to a set. Returns how many were not in it. */
static uint32_t add_rounds(const l2_early *early, uint64_t sectors, uint64_t *set) {
    uint32_t n = 0;
    for (uint64_t m = pairs_of(sectors); m; m &= m - 1) {
        const uint64_t round = early[__builtin_ctzll(m) / 2] >> L2_EARLY_ROUND;
        if (!round || set[round / 64] >> round % 64 & 1) continue;
        set[round / 64] |= 1ull << round % 64;
        n++;
    }
    return n;
}

static uint64_t requests_of(const l2_early *early, uint64_t sectors) {
    uint64_t n = 0;
    for (uint64_t m = pairs_of(sectors); m; m &= m - 1) n += early[__builtin_ctzll(m) / 2] & L2_EARLY_FIRST;
    return n;
}

/* Notes the rounds of loads that wait for DRAM, since the cache lacks what they want, and those that wait a little
 * longer for L2, since it was stored. */
static void note_rounds(l2_cache *c, const l2_chunk *k, const l2_early *early, uint64_t missed) {
    c->dram_rounds += add_rounds(early, missed, c->rounds);
    c->waits += requests_of(early, missed);
    const uint64_t stored = k->read & k->whole & sectors_of(k->stored);
    const int kinds = k->far ? 2 : 1;
    for (int far = 0; stored && far < kinds; far++) {
        c->stored[far].rounds += add_rounds(early, stored, c->stored[far].set);
        c->stored[far].waits += requests_of(early, stored);
    }
}

/* Returns the PLACE units of a line that some SMs load, each in one or the other half of the card: one of them alone
 * has a copy in every second case. */
static double loaded_line(const l2_cache *c, double readers) {
    return PLACE + 2 * (c->loaded_line - PLACE) * (1 - exp2(-readers));
}

/* Returns the rounds in which loads want 64 bytes, a bit each, counted from round `begin` on. */
static uint32_t rounds_of(l2_early e, uint64_t begin) {
    return (uint32_t)((uint32_t)(e >> L2_EARLY_ROUNDS) * 0x100000001ull >> begin % L2_GAPS);
}

/* Notes after how many rounds a line and the halves of it are wanted again. */
static void note_line(l2_cache *c, const l2_early halves[2]) {
    const l2_early first = halves[0] > halves[1] ? halves[0] : halves[1];
    const uint64_t begin = L2_ROUNDS - 1 - (first >> L2_EARLY_ROUND);
    const uint32_t rounds[2] = {rounds_of(halves[0], begin), rounds_of(halves[1], begin)}, all = rounds[0] | rounds[1];
    int longest[2] = {0, 0}, last = 0;
    bool wanted[2] = {rounds[0] & 1, rounds[1] & 1};
    for (uint32_t later = all & ~1u; later; later &= later - 1) {
        const int at = __builtin_ctz(later), gap = at - last;
        c->lines_again[gap]++;
        for (int half = 0; half < 2; half++) {
            if (longest[half] < gap) longest[half] = gap;
            if (!(rounds[half] >> at & 1)) continue;
            if (wanted[half]) c->again[longest[half]]++;
            wanted[half] = true;
            longest[half] = 0;
        }
        last = at;
    }
    if (c->wave_length < begin + (uint64_t)last + 1) c->wave_length = begin + (uint64_t)last + 1;
    c->loaded_lines++;
}

/* Notes when the wave wants what of a chunk again. The requests of a round stand for as many SMs. Returns the PLACE
 * units of a line that the first rounds' requests load. */
static double note_again(l2_cache *c, const l2_early *early, uint64_t sectors) {
    uint64_t first = 0, all = 0, pieces = 0;
    for (int i = 0; i < L2_CHUNK / L2_PAIR; i++) {
        if (i % 2 == 0 && (early[i] | early[i + 1])) note_line(c, &early[i]);
        if (!early[i]) continue;
        const uint64_t requests = early[i] & L2_EARLY_FIRST;
        first += requests;
        all += requests * (uint64_t)__builtin_popcount((uint32_t)(early[i] >> L2_EARLY_ROUNDS));
        pieces++;
    }
    if (!pieces) return c->loaded_line;
    c->pieces += pieces;
    c->sectors += count(sectors);
    c->loaded_places += lines_of(sectors) * loaded_line(c, (double)all / (double)pieces);
    return loaded_line(c, (double)first / (double)pieces);
}

static void take_places(l2_set *s, uint32_t places) {
    enum { MOST = 8 * PLACE * L2_CHUNK / L2_LINE }; /* three chunks may leave for them */
    s->clock += places;
    s->due += places;
    if (s->due > MOST) s->due = MOST;
}

/* Notes that sectors were loaded, and others stored behind that. */
static void note_stored(l2_chunk *k, uint64_t loaded, uint64_t stored, bool far) {
    k->stored = (uint16_t)((k->stored & ~lines_with(loaded)) | lines_with(stored));
    if (stored || !k->stored) k->far = far;
}

/* Applies what a wave or a copy does to a chunk, and clears it there. DRAM gives 64 bytes for a load of 32; for an
 * atomic in half of the lines. If two requests each wanted one half, the second finds it. */
static void apply(l2_cache *c, uint32_t chunk) {
    const uint64_t odd_lines = 0xf0f0f0f0f0f0f0f0;
    l2_chunk *k = &c->chunks[chunk];
    l2_set *s = set_of(c, chunk);
    const uint64_t missed = k->read & ~k->whole, alone = missed & ~k->written & ~k->paired;
    const uint32_t before = lines_of(k->whole | k->dirty);
    double line = PLACE;
    leave(c, chunk);
    if (k->partly) merge(c, chunk);
    uint64_t fetched = missed | (partners_of(missed & (~k->written | odd_lines)) & ~(k->whole | k->written));
    forget_bytes(c, chunk, ((k->dirty & ~k->whole) | k->partly) & (fetched | k->written));
    c->missed[0] += count(missed & ~k->written) - count(alone & partners_of(alone)) / 2;
    c->missed[1] += count(missed & k->written);
    c->read += count(fetched) * L2_SECTOR;
    move(&c->loaded, pairs_of(fetched));
    if (k->read) {
        l2_early *early = &c->early[(uint64_t)chunk * (L2_CHUNK / L2_PAIR)];
        note_rounds(c, k, early, missed);
        line = note_again(c, early, k->read);
        memset(early, 0, L2_CHUNK / L2_PAIR * sizeof *early);
    }
    c->stored_places += (lines_of(k->read | k->written | k->partly) - lines_of(k->read)) * PLACE;
    k->whole |= fetched | k->written;
    k->dirty |= k->written | k->partly;
    k->loaded |= k->read != 0;
    note_stored(k, k->read, k->written | k->partly, false);
    k->read = k->written = k->partly = k->paired = 0;
    take_places(s, (uint32_t)((lines_of(k->whole | k->dirty) - before) * line));
    k->used = s->clock;
    enter(c, chunk, true);
    make_room(c, s);
}

/* Memory of another device is not cached here. */
static void pass_by(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    c->peer[0] += count(k->read) * L2_SECTOR;
    c->peer[1] += count(k->written | k->partly) * L2_SECTOR;
    forget_bytes(c, chunk, k->partly);
    k->read = k->written = k->partly = k->paired = 0;
}

enum { BITS = 11, BUCKETS = 1 << BITS, DIGITS = 4 };

/* What a wave is sorted by: first a hash of the 128 KiB that the chunk is in, then the chunk. */
static uint64_t key_of(uint32_t chunk) {
    return (uint64_t)((chunk >> 6) * 0x9e3779b1u >> (32 - BITS)) << (DIGITS - 1) * BITS | chunk;
}

/* Sorts the chunks of a wave, since the order in which host threads touched them must not matter. Blocks go through all
 * of their arrays side by side, so none of them is older than another: pieces of 128 KiB come in an order that says
 * nothing. */
static void sort(l2_cache *c) {
    l2_list *from = &c->wave, *to = &c->other;
    uint64_t any = 0, all = ~0ull;
    for (uint32_t i = 0; i < from->n; i++) any |= key_of(from->chunks[i]), all &= key_of(from->chunks[i]);
    if (to->room < from->n) {
        to->room = from->room;
        to->chunks = exec_must(realloc(to->chunks, to->room * sizeof *to->chunks));
    }
    for (uint32_t shift = 0; shift < DIGITS * BITS; shift += BITS) {
        uint32_t at[BUCKETS] = {0}, sum = 0;
        if (!((any ^ all) >> shift & (BUCKETS - 1))) continue;
        for (uint32_t i = 0; i < from->n; i++) at[key_of(from->chunks[i]) >> shift & (BUCKETS - 1)]++;
        for (uint32_t b = 0; b < BUCKETS; b++) {
            uint32_t n = at[b];
            at[b] = sum;
            sum += n;
        }
        for (uint32_t i = 0; i < from->n; i++)
            to->chunks[at[key_of(from->chunks[i]) >> shift & (BUCKETS - 1)]++] = from->chunks[i];
        to->n = from->n;
        l2_list swap = *from;
        *from = *to;
        *to = swap;
    }
}

/* A wave that touches more than the cache keeps: what its warps have loaded, and want again later, may have left. In a
 * round more than in g rounds, the wave touches in the mean the lines that it wants for the first time or again after
 * more than g (P. Denning and S. Schwartz, Properties of the working-set model, 1972). So the cache keeps what some
 * number of rounds has touched, and what is wanted again after more of them misses. */
static void miss_again(exec_device *d) {
    l2_cache *c = &d->l2;
    const double places = places_of(&d->card) * L2_SETS;
    if (!c->pieces || c->loaded_places + c->stored_places <= places) return;
    const double line = c->loaded_places / (double)c->loaded_lines, length = (double)c->wave_length;
    double lines = (double)c->loaded_lines, misses = 0, touched = 0;
    for (int gap = 1; gap < L2_GAPS; gap++) lines += (double)c->lines_again[gap], misses += (double)c->again[gap];
    for (int gap = 1; touched < places; gap++) {
        if (gap == L2_GAPS) return;
        const double step = (lines * line + c->stored_places) / length,
                     kept = touched + step < places ? 1 : (places - touched) / step;
        touched += step;
        lines -= (double)c->lines_again[gap];
        misses -= kept * (double)c->again[gap];
    }
    const uint64_t again = (uint64_t)misses;
    c->missed[0] += again * c->sectors / c->pieces;
    c->read += again * L2_PAIR;
    c->waits += again;
    c->loaded.pieces += again;
    c->loaded.lines += again;
    c->loaded.rows += again;
}

void exec_l2_wave(exec_device *d, worker *workers, unsigned threads) {
    l2_cache *c = &d->l2;
    uint64_t most = 0;
    c->wave.n = 0;
    c->loaded_places = c->stored_places = 0;
    c->wave_length = c->loaded_lines = c->pieces = c->sectors = 0;
    memset(c->lines_again, 0, sizeof c->lines_again);
    memset(c->again, 0, sizeof c->again);
    for (unsigned t = 0; t < threads; t++) {
        for (uint32_t i = 0; i < workers[t].touched.n; i++) exec_l2_list_add(&c->wave, workers[t].touched.chunks[i]);
        workers[t].touched.n = 0;
        if (most < workers[t].most_missed) most = workers[t].most_missed;
        workers[t].most_missed = 0;
    }
    c->wave_rounds += most;
    memset(c->rounds, 0, sizeof c->rounds);
    for (int far = 0; far < 2; far++) memset(c->stored[far].set, 0, sizeof c->stored[far].set);
    sort(c);
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
    miss_again(d);
}

/* --- a launch --------------------------------------------------------------------------------------------------- */

void exec_l2_launch_begins(exec_device *d) {
    l2_cache *c = &d->l2;
    memset(c->missed, 0, sizeof c->missed);
    memset(c->peer, 0, sizeof c->peer);
    c->filled = c->read = c->written = c->dram_rounds = c->wave_rounds = c->waits = 0;
    for (int far = 0; far < 2; far++) c->stored[far].rounds = c->stored[far].waits = 0;
    c->loaded = c->stored_back = (l2_moved){0, 0, 0};
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

/* Returns the rounds of the waves' longest block that wait for DRAM, or for what was stored: of those that are the
 * first of their wave to want it. Where blocks do different things, one or another of them is the first to want
 * something in each round, and the others wait for L2 only. So the part is at most that of all blocks' rounds that miss
 * L1 which wait: waits of them all. */
static uint64_t rounds_that_wait(const l2_cache *c, uint64_t rounds, uint64_t waits, uint64_t all) {
    const double part = all ? (double)waits / (double)all : 1;
    const uint64_t most = (uint64_t)(part < 1 ? part * (double)c->wave_rounds + 0.5 : (double)c->wave_rounds);
    return rounds < most ? rounds : most;
}

void exec_l2_launch_ended(exec_device *d, exec_result *r) {
    l2_cache *c = &d->l2;
    take_unions(d, r);
    r->dram_read_bytes = c->read;
    r->dram_write_bytes = c->written;
    r->dram_pairs = c->loaded.pieces;
    r->dram_lines = c->loaded.lines;
    r->dram_rows = c->loaded.rows;
    r->dram_stored_sectors = c->stored_back.pieces;
    r->dram_stored_lines = c->stored_back.lines;
    r->dram_stored_rows = c->stored_back.rows;
    r->dram_filled = c->filled;
    r->wave_rounds = c->wave_rounds;
    r->dram_rounds = rounds_that_wait(c, c->dram_rounds, c->waits, r->alone_rounds);
    r->stored_rounds = 0;
    for (int far = 0; far < 2; far++)
        r->stored_rounds += rounds_that_wait(c, c->stored[far].rounds, c->stored[far].waits, r->alone_rounds);
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
    if (k->state == L2_ABSENT) return;
    leave(c, chunk);
    forget_bytes(c, chunk, k->dirty & ~k->whole & whole);
    k->whole |= k->dirty & whole;
    k->dirty &= ~whole;
    note_stored(k, 0, all & (k->whole | k->dirty), true);
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
