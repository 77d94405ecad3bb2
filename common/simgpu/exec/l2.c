/* l2.c — the second-level cache. See l2.h for its idea.
 *
 * The cache holds chunks with any number of lines each; it is full when all their lines together are as many as the
 * card has. A real cache finds the oldest line of a set, and a hash spreads addresses over the sets; here the oldest of
 * some chunks drawn at random leaves. */
#include "l2.h"
#include "warp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DRAWN = 16 };

static uint64_t count(uint64_t bits) { return (uint64_t)__builtin_popcountll(bits); }

/* Returns the number of lines with one of the sectors. */
static uint64_t lines_of(uint64_t sectors) {
    sectors |= sectors >> 1;
    return count((sectors | sectors >> 2) & 0x1111111111111111);
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
    c->chunks = reserve((window + d->card.l2_bytes) / L2_CHUNK * sizeof *c->chunks);
    c->bytes = reserve((window + d->card.l2_bytes) / L2_SECTOR * sizeof *c->bytes);
    c->first = exec_mem_base() / L2_CHUNK;
    c->most_lines = d->card.l2_bytes / L2_LINE;
    c->most_dirty = d->card.l2_dirty / L2_SECTOR;
    c->random = 1;
}

/* --- what leaves ------------------------------------------------------------------------------------------------ */

/* Forgets which bytes of the sectors were stored. */
static void forget_bytes(l2_cache *c, uint32_t chunk, uint64_t sectors) {
    for (; sectors; sectors &= sectors - 1) c->bytes[(uint64_t)chunk * 64 + (uint32_t)__builtin_ctzll(sectors)] = 0;
}

/* Takes sectors of a chunk from the cache, without writing them back. */
static void take_out(l2_cache *c, uint32_t chunk, uint64_t sectors) {
    l2_chunk *k = &c->chunks[chunk];
    uint64_t before = lines_of(k->whole | k->dirty);
    forget_bytes(c, chunk, k->dirty & ~k->whole & sectors);
    c->dirty -= count(k->dirty & sectors);
    k->whole &= ~sectors;
    k->dirty &= ~sectors;
    c->lines -= before - lines_of(k->whole | k->dirty);
    if (!k->place || k->whole | k->dirty) return;
    l2_resident last = c->residents[--c->nresidents];
    c->residents[k->place - 1] = last;
    c->chunks[last.chunk].place = k->place;
    k->place = 0;
}

/* Writes the dirty sectors of a chunk to DRAM, which supplies the bytes that no store has written. */
static void write_back(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    uint64_t part = k->dirty & ~k->whole;
    c->written += count(k->dirty) * L2_SECTOR;
    c->read += count(part) * L2_SECTOR;
    forget_bytes(c, chunk, part);
    c->dirty -= count(k->dirty);
    k->whole |= k->dirty;
    k->dirty = 0;
}

static uint32_t draw(l2_cache *c) {
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)(((c->random >> 32) * c->nresidents) >> 32);
}

/* Returns the chunk that was used longest ago, of some. */
static uint32_t oldest(l2_cache *c, bool dirty) {
    l2_resident best = {0, 0};
    for (int k = 0, found = 0; k < DRAWN || !found; k++) {
        l2_resident r = c->residents[draw(c)];
        if (dirty && !c->chunks[r.chunk].dirty) continue;
        if (!found || r.used < best.used) best = r;
        found = 1;
    }
    return best.chunk;
}

static void make_room(l2_cache *c) {
    while (c->dirty > c->most_dirty) write_back(c, oldest(c, true));
    while (c->lines > c->most_lines) {
        uint32_t chunk = oldest(c, false);
        write_back(c, chunk);
        take_out(c, chunk, ~0ull);
    }
}

void exec_l2_clear(exec_device *d) {
    l2_cache *c = &d->l2;
    while (c->nresidents) take_out(c, c->residents[c->nresidents - 1].chunk, ~0ull);
    c->random = 1;
}

/* --- what comes ------------------------------------------------------------------------------------------------- */

static void be_resident(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    if (!k->place) {
        if (c->nresidents == c->room) {
            c->room = c->room ? 2 * c->room : 4096;
            c->residents = exec_must(realloc(c->residents, c->room * sizeof *c->residents));
        }
        c->residents[c->nresidents++].chunk = chunk;
        k->place = c->nresidents;
    }
    c->residents[k->place - 1].used = c->now;
}

/* Stored parts of sectors: those that have all their bytes now, or had them already, are written sectors. */
static void merge(l2_cache *c, uint32_t chunk, uint64_t read) {
    l2_chunk *k = &c->chunks[chunk];
    uint64_t full = k->partly & (k->whole | k->written | read);
    for (uint64_t m = k->partly & ~full; m; m &= m - 1)
        if (c->bytes[(uint64_t)chunk * 64 + (uint32_t)__builtin_ctzll(m)] == ~0u) full |= m & -m;
    k->written |= full;
    k->partly &= ~full;
    forget_bytes(c, chunk, full);
}

/* Applies what a wave or a copy does to a chunk, and clears it there. */
static void apply(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    uint64_t before = lines_of(k->whole | k->dirty), missed = k->read & ~k->whole;
    if (k->partly) merge(c, chunk, k->read);
    uint64_t partners = (missed >> 1 & 0x5555555555555555) | (missed & 0x5555555555555555) << 1;
    uint64_t fetched = missed | (partners & ~(k->whole | k->written)); /* DRAM gives two sectors at a time */
    forget_bytes(c, chunk, ((k->dirty & ~k->whole) | k->partly) & (fetched | k->written));
    c->missed += count(missed);
    c->read += count(fetched) * L2_SECTOR;
    k->whole |= fetched | k->written;
    c->dirty += count((k->written | k->partly) & ~k->dirty);
    k->dirty |= k->written | k->partly;
    c->lines += lines_of(k->whole | k->dirty) - before;
    be_resident(c, chunk);
    k->read = k->written = k->partly = 0;
}

/* Memory of another device is not cached here. */
static void pass_by(l2_cache *c, uint32_t chunk) {
    l2_chunk *k = &c->chunks[chunk];
    c->peer[0] += count(k->read) * L2_SECTOR;
    c->peer[1] += count(k->written | k->partly) * L2_SECTOR;
    forget_bytes(c, chunk, k->partly);
    k->read = k->written = k->partly = 0;
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
    c->wave.n = 0;
    for (unsigned t = 0; t < threads; t++) {
        for (uint32_t i = 0; i < workers[t].touched.n; i++) exec_l2_list_add(&c->wave, workers[t].touched.chunks[i]);
        workers[t].touched.n = 0;
    }
    sort(c);
    c->now++;
    for (uint32_t i = 0; i < c->wave.n; i++) {
        uint32_t chunk = c->wave.chunks[i];
        l2_chunk *k = &c->chunks[chunk];
        uint64_t written = k->written | k->partly;
        if (!(k->read | written)) continue; /* listed twice */
        if (!(k->launch_read | k->launch_written)) exec_l2_list_add(&c->launch, chunk);
        k->launch_read |= k->read;
        k->launch_written |= written;
        if (exec_mem_elsewhere(d, (c->first + chunk) * L2_CHUNK)) {
            pass_by(c, chunk);
        } else {
            apply(c, chunk);
            make_room(c);
        }
    }
}

void exec_l2_launch_begins(exec_device *d) {
    l2_cache *c = &d->l2;
    c->missed = c->read = c->written = c->peer[0] = c->peer[1] = 0;
}

void exec_l2_launch_ended(exec_device *d, exec_result *r) {
    l2_cache *c = &d->l2;
    for (uint32_t i = 0; i < c->launch.n; i++) {
        l2_chunk *k = &c->chunks[c->launch.chunks[i]];
        uint64_t address = (c->first + c->launch.chunks[i]) * L2_CHUNK, read = count(k->launch_read),
                 written = count(k->launch_written);
        r->footprint_read += read;
        r->footprint_written += written;
        if (exec_managed((void *)(uintptr_t)address)) {
            if (read) exec_managed_touch(d, address, (uint32_t)read, false);
            if (written) exec_managed_touch(d, address, (uint32_t)written, true);
        }
        k->launch_read = k->launch_written = 0;
    }
    c->launch.n = 0;
    r->dram_read_bytes = c->read;
    r->dram_write_bytes = c->written;
    r->peer_read = c->peer[0];
    r->peer_written = c->peer[1];
    r->l2_read_sectors = r->total.l1_miss_sectors - r->link_read / L2_SECTOR;
    r->l2_read_hits = r->l2_read_sectors > c->missed ? r->l2_read_sectors - c->missed : 0;
    r->l2_write_sectors = r->total.st_sectors - r->link_written / L2_SECTOR;
}

/* --- commands that are no kernels --------------------------------------------------------------------------------- */

/* Calls f for the sectors of each chunk of a range of addresses: those that lie in it as a whole, and all. */
static void each_chunk(l2_cache *c, uint64_t address, uint64_t bytes,
                       void (*f)(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all)) {
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
    make_room(c);
}

/* A sector at the edge, of which only some bytes are written, counts as if it was read before. */
static void write_chunk(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all) {
    c->chunks[chunk].read = all & ~whole;
    c->chunks[chunk].written = all;
    apply(c, chunk);
    make_room(c);
}

static void drop_chunk(l2_cache *c, uint32_t chunk, uint64_t whole, uint64_t all) {
    (void)all;
    if (c->chunks[chunk].place) take_out(c, chunk, whole);
}

void exec_l2_copies(exec_device *d, uint64_t address, uint64_t bytes, bool written) {
    l2_cache *c = &d->l2;
    c->now++;
    each_chunk(c, address, bytes, written ? write_chunk : read_chunk);
}

void exec_l2_drops(exec_device *d, uint64_t address, uint64_t bytes) {
    l2_cache *c = &d->l2;
    if (bytes / L2_CHUNK <= c->nresidents) {
        each_chunk(c, address, bytes, drop_chunk);
        return;
    }
    uint64_t first = (address + L2_CHUNK - 1) / L2_CHUNK - c->first, end = (address + bytes) / L2_CHUNK - c->first;
    for (uint32_t k = c->nresidents; k-- > 0;) /* the last one takes the place of one that leaves */
        if (c->residents[k].chunk >= first && c->residents[k].chunk < end) take_out(c, c->residents[k].chunk, ~0ull);
}

/* The other data lie behind the window, where no program has any. */
void exec_l2_flush(exec_device *d) {
    exec_l2_clear(d);
    exec_l2_copies(d, exec_mem_end(), d->card.l2_bytes, true);
}
