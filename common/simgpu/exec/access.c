/* access.c — ld, st and atom: checks the addresses, counts the request, moves the data.
 *
 * The common shape is fast: 32 lanes side by side are one piece of memory, without work lane by lane. Other shapes go
 * through count.c. If several lanes store to one address, the highest lane wins, which is one of the outcomes that CUDA
 * allows.
 */
#pragma clang diagnostic ignored "-Wpass-failed" /* sanitizers keep loops from being vectorised */
#include "count.h"
#include "resident.h"
#include "half_math.h"
#include "warp.h"

#include <stdio.h>
#include <string.h>

/* --- finding the memory ------------------------------------------------------------------------------------- */

static uint8_t *local_pointer(warp *w, uint32_t lane, uint64_t offset) {
    return w->local + (uint64_t)lane * w->local_stride + offset;
}

uint8_t *exec_generic_pointer(warp *w, uint32_t lane, uint64_t addr, uint64_t bytes) {
    mem_range r;
    block *b = w->block;
    if (addr - WINDOW_SHARED < WINDOW_BYTES) {
        uint64_t at = addr - WINDOW_SHARED;
        return at + bytes <= b->shared_bytes ? b->shared + at : NULL;
    }
    if (addr - WINDOW_LOCAL < WINDOW_BYTES) {
        uint64_t at = addr - WINDOW_LOCAL;
        return at + bytes <= w->local_stride ? local_pointer(w, lane, at) : NULL;
    }
    if (addr - WINDOW_PARAM < WINDOW_BYTES) {
        uint64_t at = addr - WINDOW_PARAM;
        return at + bytes <= b->launch->kernel->param_bytes ? (uint8_t *)(uintptr_t)b->launch->params + at : NULL;
    }
    if (exec_outside(addr, bytes)) return (uint8_t *)(uintptr_t)addr;
    return exec_mem_find(b->worker->device, addr, &r) && bytes <= r.hi - addr ? exec_mem_host(b->worker->device, addr)
                                                                              : NULL;
}

static uint32_t access_bytes(const ptx_insn *i) { return (uint32_t)ptx_type_bytes[i->type] * i->vector; }

/* Stops the warp with a fault of its access. */
static exec_fault *bad_access(warp *w, const ptx_insn *i, enum simgpu_fault_kind kind, enum simgpu_fault_cause cause,
                              uint32_t lane, uint32_t size) {
    exec_fault *f = exec_fail(w, i, kind, cause, lane);
    f->did = ptx_is_atomic(i) ? SIMGPU_DID_ATOMIC : ptx_stores(i, SPACE_GLOBAL) ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
    f->bytes = size;
    f->address.address = w->address[lane];
    return f;
}

static void bad_global(warp *w, const ptx_insn *i, uint32_t size) {
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (exec_mem_valid(w->block->worker->device, w->address[l], size)) continue;
        bad_access(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, SIMGPU_CAUSE_ADDRESS, l, size)->address =
            exec_mem_locate(w->block->worker->device, w->address[l]);
        return;
    }
}

static bool aligned(warp *w, const ptx_insn *i, uint32_t size, uint64_t any) {
    if (!(any & (size - 1))) return true;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        if (!(w->address[l] & (size - 1))) continue;
        bad_access(w, i, SIMGPU_FAULT_MISALIGNED, SIMGPU_CAUSE_MISALIGNED, l, size);
        return false;
    }
    return true;
}

typedef struct {
    uint64_t lo, end, any; /* lowest address, end of the highest access, OR of all addresses; always lo < end */
    bool dense;            /* all 32 lanes, lane l at the first + l * size */
} shape;

/* Four lanes. Written out: a compiler that makes vectors of a plain loop does lane 0 apart, and the rest are
 * misaligned. A vector that lies across two that were just written waits until both are in the cache. */
typedef uint64_t four __attribute__((vector_size(32)));
typedef uint32_t narrow_four __attribute__((vector_size(16)));

/* Computes the addresses of all lanes and whether they lie side by side. One pass, since every access does it. Inactive
 * lanes get the address of the first active one, so that every rule may read all 32. */
VECTOR static void exec_fill_addresses(warp *w, const ptx_insn *i, uint32_t size) {
    uint64_t *a = w->address, imm = (uint64_t)i->imm, step = size;
    const four *wide = (const four *)(const void *)ROW(w, uint64_t, i->a);
    const narrow_four *narrow = (const narrow_four *)(const void *)ROW(w, uint32_t, i->a);
    const uint64_t low = UINT32_MAX; /* an address of 32 bits wraps there, with its offset */
    uint64_t first = i->a_wide ? *ROW(w, uint64_t, i->a) + imm : (*ROW(w, uint32_t, i->a) + imm) & low;
    four dense = {first, first + step, first + 2 * step, first + 3 * step}, off = {0};
    for (int k = 0; k < 8; k++, dense += 4 * step) {
        four at = i->a_wide ? wide[k] + imm : (__builtin_convertvector(narrow[k], four) + imm) & low;
        ((four *)(void *)a)[k] = at;
        off |= at ^ dense;
    }
    w->dense = !(off[0] | off[1] | off[2] | off[3]) && w->mask == FULL;
    if (w->mask == FULL) return;
    first = a[__builtin_ctz(w->mask)];
    for (int l = 0; l < 32; l++) a[l] = w->mask >> l & 1 ? a[l] : first;
}

VECTOR static shape exec_look(const warp *w, uint32_t size) {
    const uint64_t *a = w->address;
    if (w->dense && a[0] < a[0] + 32 * size)
        return (shape){a[0], a[0] + 32 * size, a[0],
                       true}; /* size is a power of two, so the first address decides the alignment */
    const four *at = (const four *)(const void *)a;
    four low = at[0], high = at[0], all = at[0];
    for (int k = 1; k < 8; k++) {
        four below = (four)(at[k] < low), above = (four)(at[k] > high);
        low = (at[k] & below) | (low & ~below);
        high = (at[k] & above) | (high & ~above);
        all |= at[k];
    }
    uint64_t lo = low[0], hi = high[0], any = all[0] | all[1] | all[2] | all[3];
    for (int l = 1; l < 4; l++) {
        lo = low[l] < lo ? low[l] : lo;
        hi = high[l] > hi ? high[l] : hi;
    }
    uint64_t end = hi + size; /* may wrap: an access at -4 lies beyond all memory */
    return (shape){lo, end < size ? UINT64_MAX : end, any, false};
}

static bool access_outside(warp *w, const ptx_insn *i, uint32_t size);

/* Returns false if there is nothing left to do: after a fault, or after an access that access_outside has done. */
static bool global_ok(warp *w, const ptx_insn *i, uint32_t size, const shape *s) {
    if (!aligned(w, i, size, s->any)) return false;
    mem_range *r = &w->block->worker->ranges[w->counters + (i - w->code) - w->block->worker->counters];
    if (s->lo >= r->lo && s->end <= r->hi) return true;
    mem_range found;
    if (exec_mem_find(w->block->worker->device, s->lo, &found) && s->end <= found.hi) {
        *r = found;
        return true;
    }
    if (access_outside(w, i, size)) return false;
    for (uint32_t m = w->mask; m; m &= m - 1)
        if (!exec_mem_valid(w->block->worker->device, w->address[__builtin_ctz(m)], size)) {
            bad_global(w, i, size);
            return false;
        }
    return true;
}

/* --- counting ----------------------------------------------------------------------------------------------- */

static uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void count_missed(warp *w, int32_t round) {
    if (round <= w->missed_last) return;
    w->missed_last = round;
    w->missed++;
}

/* Returns which of a line's sectors lie between the first and the last one, as four bits. */
static uint32_t sectors_of(uint64_t line, uint64_t first, uint64_t last) {
    uint32_t sectors = 0xf;
    if (line == first / 4) sectors &= 0xfu << (first & 3);
    if (line == last / 4) sectors &= 0xfu >> (3 - (last & 3));
    return sectors;
}

/* A volatile load passes L1 by. */
static uint32_t load_l1(warp *w, const ptx_insn *i, uint64_t line, uint32_t sectors, int32_t round, bool *waits) {
    if (!i->polls) return exec_l1_load(&w->block->worker->l1, w, line, sectors, round, waits);
    *waits = true;
    return sectors;
}

static void count_load(warp *w, const ptx_insn *i, exec_counters *c, uint32_t size, const shape *s) {
    worker *t = w->block->worker;
    int32_t round = (int32_t)ptx_depth_rounds(w->depth) - i->later_rounds;
    bool waits = false;
    c->ld_requests++;
    c->ld_bytes += (uint64_t)size * (uint32_t)__builtin_popcount(w->mask);
    if (s->dense) {
        uint64_t first = s->lo / 32, last = (s->end - 1) / 32;
        c->ld_sectors += last - first + 1;
        c->l1_wavefronts += max((uint32_t)(last / 4 - first / 4 + 4) / 4, size < 8 ? 1 : size / 4);
        for (uint64_t line = first / 4; line <= last / 4; line++) {
            uint32_t missing = load_l1(w, i, line, sectors_of(line, first, last), round, &waits);
            if (!missing) continue;
            c->l1_miss_lines++;
            c->l1_miss_sectors += (uint32_t)__builtin_popcount(missing);
            exec_resident_missed(w, c, line, missing);
            exec_footprint_read(t, line, missing, NULL, round, true);
        }
        if (waits) count_missed(w, round);
        return;
    }
    line_list list;
    exec_count_lines(&list, w->address, w->mask, size);
    for (uint32_t k = 0; k < list.n; k++) {
        uint32_t sectors = 0;
        for (uint32_t q = 0; q < 4; q++) sectors |= (list.bytes[k][q] != 0) << q;
        c->ld_sectors += (uint32_t)__builtin_popcount(sectors);
        uint32_t missing = load_l1(w, i, list.line[k], sectors, round, &waits);
        if (!missing) continue;
        c->l1_miss_lines++;
        c->l1_miss_sectors += (uint32_t)__builtin_popcount(missing);
        exec_resident_missed(w, c, list.line[k], missing);
        exec_footprint_read(t, list.line[k], missing, list.bytes[k], round, false);
    }
    if (waits) count_missed(w, round);
    uint32_t phases;
    c->l1_wavefronts += max((list.n + 3) / 4, exec_count_wavefronts(w->address, w->mask, size, true, &phases));
}

/* Counts what the lines of a store take of L2. A sector that the warp's store before this one has touched, too, goes
 * there once for both, if each of them touches a few lines only: the fields of a struct are stored one by one. Source:
 * an H200 merges all stores to the fields of structs of 12 and 16 bytes (3 and 4 lines), about half of those of 24, a
 * fifth of those of 28, and few of those of 32. */
static void count_stored(warp *w, exec_counters *c, line_list *list) {
    enum { MERGED = sizeof w->stored_line / sizeof *w->stored_line, ALL = (MERGED + 1) / 2 };
    enum { CHUNK_LINES = L2_CHUNK / L2_LINE };
    /* How many of its lines merge. */
    const uint32_t merged = list->n > MERGED ? 0 : list->n <= ALL ? list->n : list->n * (MERGED + 1 - list->n) / ALL;
    for (uint32_t k = 0; k < list->n; k++) {
        uint32_t at = 0;
        while (at < w->nstored && w->stored_line[at] != list->line[k]) at++;
        bool merges = k < merged && at < w->nstored;
        uint32_t before = merges ? w->stored[at] : 0, sectors = 0, partial = 0;
        for (uint32_t q = 0; q < 4; q++) {
            sectors |= (list->bytes[k][q] != 0) << q;
            partial |= (list->bytes[k][q] != 0 && list->bytes[k][q] != ~0u) << q;
        }
        c->st_sectors += (uint32_t)__builtin_popcount(sectors);
        c->st_partial += (uint32_t)__builtin_popcount(partial & ~before);
        w->block->worker->st_scattered +=
            k && partial && list->line[k] / CHUNK_LINES != list->line[k - 1] / CHUNK_LINES;
        c->st_lines += (sectors & ~before) != 0;
        w->block->worker->st_merged += (uint32_t)__builtin_popcount(sectors & before);
        list->bytes[k][0] = sectors | before;
    }
    w->nstored = list->n <= MERGED ? list->n : 0;
    for (uint32_t k = 0; k < w->nstored; k++) {
        w->stored_line[k] = list->line[k];
        w->stored[k] = (uint8_t)list->bytes[k][0];
    }
}

static void count_store(warp *w, exec_counters *c, uint32_t size, const shape *s) {
    worker *t = w->block->worker;
    c->st_requests++;
    c->st_bytes += (uint64_t)size * (uint32_t)__builtin_popcount(w->mask);
    if (s->end - s->lo == size && t->stored_line != s->lo / 128 + 1) exec_contention_store(&t->busy, s->lo);
    t->stored_line = s->lo / 128 + 1;
    if (s->dense) {
        uint64_t first = s->lo / 32, last = (s->end - 1) / 32;
        c->st_sectors += last - first + 1;
        c->st_partial += first == last ? s->end - s->lo < 32 : (s->lo % 32 != 0) + (s->end % 32 != 0);
        c->st_lines += last / 4 - first / 4 + 1;
        w->nstored = 0;
        c->l1_wavefronts += max((uint32_t)(last / 4 - first / 4 + 4) / 4, size < 8 ? 1 : size / 4);
        for (uint64_t line = first / 4; line <= last / 4; line++)
            exec_l1_store(t, w, line, sectors_of(line, first, last));
        exec_footprint_written(t, s->lo, s->end);
        return;
    }
    line_list list;
    exec_count_lines(&list, w->address, w->mask, size);
    for (uint32_t k = 0; k < list.n; k++) {
        uint32_t sectors = 0;
        for (uint32_t q = 0; q < 4; q++) sectors |= (uint32_t)(list.bytes[k][q] != 0) << q;
        exec_l1_store(t, w, list.line[k], sectors);
        exec_footprint_line_written(t, list.line[k], list.bytes[k]);
    }
    count_stored(w, c, &list);
    c->l1_wavefronts +=
        max((list.n + 3) / 4, exec_count_phases(w->mask, size)); /* the data of a store have no bank conflicts */
}

/* words: of an access that ptxas makes of several (machine_merge.c), else 0. */
static void count_shared(warp *w, exec_counters *c, uint32_t size, uint32_t words, bool load, const shape *s) {
    uint32_t phases, n;
    if (words == PTX_MERGED) return;
    if (words)
        n = exec_count_wavefronts(w->address, w->mask, 4 * words, load, &phases);
    else if (s->dense)
        n = phases = size < 8 ? 1 : size / 4;
    else
        n = exec_count_wavefronts(w->address, w->mask, size, load, &phases);
    if (load) {
        c->shared_ld++;
        c->shared_ld_wavefronts += n;
        c->shared_ld_conflicts += n - phases;
    } else {
        c->shared_st++;
        c->shared_st_wavefronts += n;
        c->shared_st_conflicts += n - phases;
    }
}

/* Counts an atomic on shared memory. Lanes with one bank take turns, also those on one word, unless one of them can act
 * for all: if they have one word in any case (machine.c), if all add the same to one word, or 1 to any words. */
static void count_shared_atomic(warp *w, const ptx_insn *i, exec_counters *c, uint32_t size) {
    const uint32_t first = (uint32_t)__builtin_ctz(w->mask);
    uint32_t lanes[32] = {0}, most = 0;
    bool integer = size == 4 && ptx_adds_up(i), same = true, one_word = true;
    uint32_t value = size == 4 ? ROW(w, uint32_t, i->b)[first] : 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), bank = (uint32_t)(w->address[l] / 4) & 31;
        if (++lanes[bank] > most) most = lanes[bank];
        one_word &= w->address[l] == w->address[first];
        same &= integer && ROW(w, uint32_t, i->b)[l] == value;
    }
    uint32_t phases;
    if (integer && i->one_place && i->space == SPACE_SHARED)
        most = 1;
    else if (integer && same && (one_word || (value == 1 && i->sub == ATOM_add)))
        most = exec_count_wavefronts(w->address, w->mask, size, false, &phases);
    else if (ptx_needs_cas(i))
        most = exec_cas_wavefronts(w, i);
    c->shared_st++;
    c->shared_st_wavefronts += most;
    c->shared_st_conflicts += most - 1;
}

/* Counts an access to local memory, which is interleaved: word k of all 32 lanes is one line of 128 bytes. Its
 * stores go to L2 as those of global memory do. */
static void count_local(warp *w, exec_counters *c, uint32_t size, bool store) {
    exec_stored *to = &w->block->worker->local_stored;
    uint64_t physical[32];
    uint32_t words = size < 4 ? 1 : size / 4;
    c->local_requests++;
    for (uint32_t k = 0; k < words; k++) {
        for (uint32_t l = 0; l < 32; l++) physical[l] = (w->address[l] / 4 + k) * 128 + l * 4;
        line_list list;
        exec_count_lines(&list, physical, w->mask, 4);
        for (uint32_t n = 0; n < list.n; n++)
            for (uint32_t q = 0; q < 4; q++) {
                c->local_sectors += list.bytes[n][q] != 0;
                to->whole += store && list.bytes[n][q] == ~0u;
                to->partial += store && list.bytes[n][q] != 0 && list.bytes[n][q] != ~0u;
            }
        to->lines += store ? list.n : 0;
    }
}

/* --- moving data -------------------------------------------------------------------------------------------- */

/* Returns the host address of lane l's access. */
static inline uint8_t *lane_bytes(warp *w, enum ptx_space space, uint32_t l) {
    uint64_t a = w->address[l];
    switch (space) {
    case SPACE_SHARED: return w->block->shared + a;
    case SPACE_LOCAL: return local_pointer(w, l, a);
    case SPACE_PARAM: return (uint8_t *)(uintptr_t)w->block->launch->params + a;
    case SPACE_OUTSIDE: return (uint8_t *)(uintptr_t)a;
    default: return (uint8_t *)(uintptr_t)(w->block->worker->memory + a);
    }
}

static inline uint64_t read_value(const uint8_t *p, enum ptx_type t) {
    uint64_t v = 0;
    switch (ptx_type_bytes[t]) {
    case 1: v = *p; break;
    case 2: memcpy(&v, p, 2); break;
    case 4: memcpy(&v, p, 4); break;
    default: memcpy(&v, p, 8); break;
    }
    switch (t) {
    case TY_s8: return (uint64_t)(int8_t)v;
    case TY_s16: return (uint64_t)(int16_t)v;
    case TY_s32: return (uint64_t)(int32_t)v;
    default: return v;
    }
}

/* Loads for all lanes, from a space whose addresses begin at one place of the host, a register at a time: what a lane
 * loads has no turn of a loop of its own. Returns false for types that need more than their bytes. */
static bool load_full(warp *w, const ptx_insn *i, enum ptx_space space) {
    const uint32_t bytes = ptx_type_bytes[i->type];
    if (w->mask != FULL || (space != SPACE_SHARED && space != SPACE_GLOBAL)) return false;
    if (i->d_wide || (bytes != 4 && bytes != 2) || i->type == TY_s16) return false;
    uint64_t from = space == SPACE_SHARED ? (uint64_t)(uintptr_t)w->block->shared : w->block->worker->memory;
    for (uint32_t k = 0; k < i->vector; k++, from += bytes) {
        uint32_t *row = ROW(w, uint32_t, i->v[k]);
        uint16_t half;
        if (bytes == 2)
            for (uint32_t l = 0; l < 32; l++) {
                memcpy(&half, (const uint8_t *)(uintptr_t)(from + w->address[l]), 2);
                row[l] = half;
            }
        else
            for (uint32_t l = 0; l < 32; l++) memcpy(&row[l], (const uint8_t *)(uintptr_t)(from + w->address[l]), 4);
    }
    return true;
}

static void load_lanes(warp *w, const ptx_insn *i, enum ptx_space space) {
    uint32_t bytes = ptx_type_bytes[i->type];
    if (load_full(w, i, space)) return;
    if (bytes == 4 && !i->d_wide) { /* the usual case of some lanes */
        for (uint32_t m = w->mask; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            const uint8_t *p = lane_bytes(w, space, l);
            for (uint32_t k = 0; k < i->vector; k++) memcpy(&ROW(w, uint32_t, i->v[k])[l], p + 4 * k, 4);
        }
        return;
    }
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint8_t *p = lane_bytes(w, space, l);
        for (uint32_t k = 0; k < i->vector; k++) {
            uint64_t v = read_value(p + k * bytes, (enum ptx_type)i->type);
            if (i->d_wide)
                ROW(w, uint64_t, i->v[k])[l] = v;
            else
                ROW(w, uint32_t, i->v[k])[l] = (uint32_t)v;
        }
    }
}

static void store_lanes(warp *w, const ptx_insn *i, enum ptx_space space) {
    uint32_t bytes = ptx_type_bytes[i->type];
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint8_t *p = lane_bytes(w, space, l);
        for (uint32_t k = 0; k < i->vector; k++) {
            uint64_t v = i->d_wide ? ROW(w, uint64_t, i->v[k])[l] : ROW(w, uint32_t, i->v[k])[l];
            memcpy(p + k * bytes, &v, bytes);
        }
    }
}

/* Loads for 32 lanes side by side, from p. Returns false if the instruction has no fast form. */
static bool load_dense(warp *w, const ptx_insn *i, const uint8_t *p) {
    if (i->d_wide != (ptx_type_bytes[i->type] == 8) || ptx_type_bytes[i->type] < 4) return false;
    if (i->vector == 1) {
        uint8_t *row = ROW(w, uint8_t, i->v[0]);
        if (i->d_wide)
            memcpy(row, p, 256);
        else
            memcpy(row, p, 128);
    } else if (!i->d_wide) {
        const uint32_t *from = (const uint32_t *)(const void *)p;
        for (uint32_t k = 0; k < i->vector; k++) {
            uint32_t *to = ROW(w, uint32_t, i->v[k]);
            for (uint32_t l = 0; l < 32; l++) to[l] = from[l * i->vector + k];
        }
    } else {
        return false;
    }
    return true;
}

static bool store_dense(warp *w, const ptx_insn *i, uint8_t *p) {
    if (i->d_wide != (ptx_type_bytes[i->type] == 8) || ptx_type_bytes[i->type] < 4) return false;
    if (i->vector == 1) {
        const uint8_t *row = ROW(w, uint8_t, i->v[0]);
        if (i->d_wide)
            memcpy(p, row, 256);
        else
            memcpy(p, row, 128);
    } else if (!i->d_wide) {
        uint32_t *to = (uint32_t *)(void *)p;
        for (uint32_t k = 0; k < i->vector; k++) {
            const uint32_t *from = ROW(w, uint32_t, i->v[k]);
            for (uint32_t l = 0; l < 32; l++) to[l * i->vector + k] = from[l];
        }
    } else {
        return false;
    }
    return true;
}

/* --- ld and st ---------------------------------------------------------------------------------------------- */

static enum ptx_space space_of(uint64_t a) {
    if (a - WINDOW_SHARED < WINDOW_BYTES) return SPACE_SHARED;
    if (a - WINDOW_LOCAL < WINDOW_BYTES) return SPACE_LOCAL;
    if (a - WINDOW_PARAM < WINDOW_BYTES) return SPACE_PARAM;
    return SPACE_GLOBAL;
}

static bool limits_ok(warp *w, const ptx_insn *i, uint32_t size, const shape *s, uint64_t limit, const char *space) {
    if (!aligned(w, i, size, s->any)) return false;
    if (s->end <= limit) return true;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t a = w->address[l];
        if (a + size <= limit && a + size >= size) continue;
        if (!i->a_wide) a = (uint64_t)(int32_t)a;
        bool before = (int64_t)a < 0;
        exec_fault *f = bad_access(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS,
                                   before ? SIMGPU_CAUSE_BEFORE_SPACE : SIMGPU_CAUSE_PAST_SPACE, l, size);
        f->n[0] = before ? 0 - a : a;
        f->n[1] = limit;
        snprintf(f->name, sizeof f->name, "%s", space);
        return false;
    }
    return true;
}

/* Returns the words that ptxas lets this access have (machine_merge.c), or PTX_MERGED. */
static uint32_t words_of(const warp *w, const ptx_insn *i) {
    const bool later = i->of_turns && w->address[__builtin_ctz(w->mask)] % (4u * i->words);
    return later ? PTX_MERGED : i->words;
}

static void count_constant(warp *w, const ptx_insn *i, exec_counters *c) {
    if (words_of(w, i) == PTX_MERGED) return;
    const uint32_t clocks = exec_constant_load(&w->block->worker->constant, w->address, w->mask);
    c->const_loads += clocks > 0;
    c->const_clocks += clocks;
}

/* Runs a load or store of the lanes in w->mask on one space. Requires that w->address is filled in. */
static void access_space(warp *w, const ptx_insn *i, enum ptx_space space, bool load) {
    uint32_t size = access_bytes(i);
    exec_counters *c = counters_of(w, i);
    shape s = exec_look(w, size);
    switch (space) {
    case SPACE_SHARED:
        if (!limits_ok(w, i, size, &s, w->block->shared_bytes, "shared")) return;
        count_shared(w, c, size, words_of(w, i), load, &s);
        if (exec_heard) exec_listen_access(w, i, space, size);
        break;
    case SPACE_LOCAL:
        if (!limits_ok(w, i, size, &s, w->local_stride, "local")) return;
        count_local(w, c, size, i->op == OP_st);
        s.dense = false; /* SimGPU stores each lane's local memory in one piece, not interleaved */
        break;
    case SPACE_PARAM:
        if (!limits_ok(w, i, size, &s, w->block->launch->kernel->param_bytes, "parameter")) return;
        break;
    default:
        if (!global_ok(w, i, size, &s)) return;
        if (space == SPACE_CONST) {
            if (!i->one_place) count_constant(w, i, c);
            break;
        }
        if (load)
            count_load(w, i, c, size, &s);
        else
            count_store(w, c, size, &s);
        w->block->worker->stores += !load;
        if (exec_heard) exec_listen_access(w, i, SPACE_GLOBAL, size);
    }
    if (load) {
        if (!s.dense || !load_dense(w, i, lane_bytes(w, space, 0))) load_lanes(w, i, space);
    } else {
        if (!s.dense || !store_dense(w, i, lane_bytes(w, space, 0))) store_lanes(w, i, space);
    }
}

/* Sets the mask to these lanes; as in exec_fill_addresses, the others get the address of the first of them. */
static void pick_lanes(warp *w, const uint64_t all[32], uint32_t lanes, uint64_t window) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    for (uint32_t l = 0; l < 32; l++) w->address[l] = all[lanes >> l & 1 ? l : first] - window;
    w->mask = lanes;
    if (lanes != FULL) w->dense = false;
}

/* The value of a generic address determines its space; a warp makes one request for each space that its lanes use. */
static void access_generic(warp *w, const ptx_insn *i, void (*access)(warp *, const ptx_insn *, enum ptx_space, bool),
                           bool load) {
    static const uint64_t windows[] = {[SPACE_GLOBAL] = 0,
                                       [SPACE_SHARED] = WINDOW_SHARED,
                                       [SPACE_LOCAL] = WINDOW_LOCAL,
                                       [SPACE_CONST] = 0,
                                       [SPACE_PARAM] = WINDOW_PARAM};
    uint64_t all_addresses[32];
    uint32_t all = w->mask, rest = all;
    memcpy(all_addresses, w->address, sizeof all_addresses);
    while (rest && !w->block->failed) {
        uint32_t first = (uint32_t)__builtin_ctz(rest), lanes = 0;
        enum ptx_space space = space_of(all_addresses[first]);
        for (uint32_t m = rest; m; m &= m - 1)
            if (space_of(all_addresses[__builtin_ctz(m)]) == space) lanes |= m & -m;
        pick_lanes(w, all_addresses, lanes, windows[space]);
        access(w, i, space, load);
        rest &= ~lanes;
    }
    w->mask = all;
}

void exec_op_ld(warp *w, const ptx_insn *i) {
    exec_fill_addresses(w, i, access_bytes(i));
    if (i->polls && w->block->in_grid_sync && exec_grid_wait(w, i)) return;
    if (i->space == SPACE_GENERIC)
        access_generic(w, i, access_space, true);
    else
        access_space(w, i, (enum ptx_space)i->space, true);
    if (i->polls) exec_polled(w, i);
}

/* Reads matrices of 8 x 8 halves: lane 8 * m + r has the address of row r of matrix m, and lane l gets words l % 4 of
 * row l / 4 of each. A matrix is one request of 32 words for the bank rule, and all are one instruction. */
void exec_op_ldmatrix(warp *w, const ptx_insn *i) {
    uint64_t rows[32];
    exec_counters *c = counters_of(w, i);
    if (!exec_warp_sync(w, i, FULL)) return;
    exec_fill_addresses(w, i, 16);
    for (uint32_t l = 0; l < 32; l++)
        rows[l] = w->address[l] - (i->space == SPACE_GENERIC ? WINDOW_SHARED : 0); /* elsewhere: out of range */
    for (uint32_t m = 0; m < i->vector && !w->block->failed; m++) {
        uint64_t misaligned = 0;
        for (uint32_t r = 0; r < 8; r++) misaligned |= rows[8 * m + r] & 15;
        for (uint32_t l = 0; l < 32; l++) w->address[l] = rows[8 * m + l / 4] + (misaligned ? 0 : l % 4 * 4);
        w->dense = false;
        shape s = exec_look(w, misaligned ? 16 : 4);
        if (!limits_ok(w, i, misaligned ? 16 : 4, &s, w->block->shared_bytes, "shared")) return;
        count_shared(w, c, 4, 0, true, &s);
        c->shared_ld -= m > 0;
        if (exec_heard) exec_listen_access(w, i, SPACE_SHARED, 4);
        uint32_t words[32], turned[32];
        for (uint32_t l = 0; l < 32; l++) memcpy(&words[l], w->block->shared + w->address[l], 4);
        if (i->sub) exec_transpose_halves(words, turned);
        memcpy(ROW(w, uint32_t, i->v[m]), i->sub ? turned : words, sizeof words);
    }
}

void exec_op_st(warp *w, const ptx_insn *i) {
    exec_fill_addresses(w, i, access_bytes(i));
    if (i->space == SPACE_GENERIC)
        access_generic(w, i, access_space, false);
    else
        access_space(w, i, (enum ptx_space)i->space, false);
}

/* Reads an argument or result of a device function; a lane's copy is at imm + lane * a in the frame. */
void exec_op_ld_frame(warp *w, const ptx_insn *i) {
    uint32_t bytes = ptx_type_bytes[i->type];
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t k = 0; k < i->vector; k++) {
            uint64_t v = read_value(w->r + i->imm + l * i->a + k * bytes, (enum ptx_type)i->type);
            if (i->d_wide)
                ROW(w, uint64_t, i->v[k])[l] = v;
            else
                ROW(w, uint32_t, i->v[k])[l] = (uint32_t)v;
        }
    }
}

/* Copies a parameter of a device function to local memory, and gives its address there. */
void exec_op_mov_slot(warp *w, const ptx_insn *i) {
    const ptx_slot *slot = &i->call->result;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t at = ROW(w, uint64_t, i->a)[l];
        memcpy(local_pointer(w, l, at - (uint64_t)i->imm), w->r + slot->offset + l * slot->stride, slot->size);
        ROW(w, uint64_t, i->d)[l] = at;
    }
}

void exec_op_st_frame(warp *w, const ptx_insn *i) {
    uint32_t bytes = ptx_type_bytes[i->type];
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t k = 0; k < i->vector; k++) {
            uint64_t v = i->d_wide ? ROW(w, uint64_t, i->v[k])[l] : ROW(w, uint32_t, i->v[k])[l];
            memcpy(w->r + i->imm + l * i->a + k * bytes, &v, bytes);
        }
    }
}

/* --- copies in flight, and objects in shared memory ------------------------------------------------------------- */

/* Checks and counts the store of a copy's lanes to shared memory, whose addresses are in w->address. The data move, and
 * listeners hear of them, when the copy arrives. */
static bool copy_target_ok(warp *w, const ptx_insn *i, uint32_t size) {
    shape s = exec_look(w, size);
    if (!limits_ok(w, i, size, &s, w->block->shared_bytes, "shared")) {
        if (w->block->worker->fault.kind) w->block->worker->fault.did = SIMGPU_DID_WRITE;
        return false;
    }
    count_shared(w, counters_of(w, i), size, 0, false, &s);
    return true;
}

/* Reads the source of a copy for the lanes in w->mask. A lane reads bytes[l] of its `size` bytes; the rest are 0. */
static bool read_source(warp *w, const ptx_insn *i, uint32_t size, const uint32_t *bytes, uint8_t (*data)[16]) {
    ptx_insn from = *i;
    uint32_t all = w->mask, reads = 0;
    for (uint32_t m = all; m; m &= m - 1) reads |= bytes[__builtin_ctz(m)] ? m & -m : 0;
    memset(data, 0, 32 * sizeof *data);
    if (!reads) return true;
    w->mask = reads;
    from.a = i->b, from.a_wide = true, from.imm = (int64_t)*ROW(w, uint64_t, i->e);
    exec_fill_addresses(w, &from, size);
    shape s = exec_look(w, size);
    bool ok = global_ok(w, i, size, &s);
    if (ok) {
        count_load(w, i, counters_of(w, i), size, &s);
        if (exec_heard) exec_listen_access(w, i, SPACE_GLOBAL, size);
        for (uint32_t m = reads; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            memcpy(data[l], lane_bytes(w, SPACE_GLOBAL, l), bytes[l]);
        }
    }
    w->mask = all;
    return ok;
}

void exec_op_cp_async(warp *w, const ptx_insn *i) {
    uint64_t to[32];
    uint8_t data[32][16];
    uint32_t size = access_bytes(i), bytes[32];
    exec_fill_addresses(w, i, size);
    if (!copy_target_ok(w, i, size)) return;
    memcpy(to, w->address, sizeof to);
    for (uint32_t l = 0; l < 32; l++) {
        bytes[l] = i->c ? ROW(w, uint32_t, i->c)[l] : size;
        if (bytes[l] > size) bytes[l] = size;
    }
    if (read_source(w, i, size, bytes, data)) exec_async_add(w, i, size, to, data);
}

bool exec_shared_objects(warp *w, const ptx_insn *i, uint64_t **object) {
    exec_fill_addresses(w, i, 8);
    for (uint32_t l = 0; l < 32 && i->space == SPACE_GENERIC; l++)
        w->address[l] -= WINDOW_SHARED; /* an address in another space is out of range */
    shape s = exec_look(w, 8);
    if (!limits_ok(w, i, 8, &s, w->block->shared_bytes, "shared")) return false;
    count_shared(w, counters_of(w, i), 8, 0, ptx_loads(i, SPACE_SHARED) && !ptx_stores(i, SPACE_SHARED), &s);
    if (exec_heard) exec_listen_access(w, i, SPACE_SHARED, 8);
    for (uint32_t l = 0; l < 32; l++) object[l] = (uint64_t *)(void *)(w->block->shared + w->address[l]);
    return true;
}

/* --- atom and red ------------------------------------------------------------------------------------------- */

/* .noftz: subnormal numbers count. */
static uint32_t half_sum(const ptx_insn *i, uint32_t a, uint32_t b) {
    switch (i->type) {
    case TY_f16: return half_add(a, b, i);
    case TY_bf16: return bf16_add(a, b, i);
    case TY_f16x2: return half_add(a & 0xffff, b & 0xffff, i) | half_add(a >> 16, b >> 16, i) << 16;
    default: return bf16_add(a & 0xffff, b & 0xffff, i) | bf16_add(a >> 16, b >> 16, i) << 16;
    }
}

static uint64_t combine(const ptx_insn *i, uint64_t old, uint64_t b, uint64_t c) {
    bool wide = ptx_type_bytes[i->type] == 8, is_signed = i->type == TY_s32 || i->type == TY_s64;
    int64_t so = wide ? (int64_t)old : (int32_t)old, sb = wide ? (int64_t)b : (int32_t)b;
    switch ((enum ptx_atom)i->sub) {
    case ATOM_add:
        if (i->type == TY_f32) {
            float x, y;
            memcpy(&x, &old, 4);
            memcpy(&y, &b, 4);
            x += y;
            uint32_t bits;
            memcpy(&bits, &x, 4);
            return x != x ? 0x7fffffffu : bits;
        }
        if (ptx_is_half((enum ptx_type)i->type)) return half_sum(i, (uint32_t)old, (uint32_t)b);
        if (i->type == TY_f64) {
            double x, y;
            memcpy(&x, &old, 8);
            memcpy(&y, &b, 8);
            x += y;
            memcpy(&old, &x, 8);
            return old;
        }
        return old + b;
    case ATOM_min: return is_signed ? (so < sb ? old : b) : (old < b ? old : b);
    case ATOM_max: return is_signed ? (so > sb ? old : b) : (old > b ? old : b);
    case ATOM_inc: return old >= b ? 0 : old + 1;
    case ATOM_dec: return old == 0 || old > b ? b : old - 1;
    case ATOM_and: return old & b;
    case ATOM_or: return old | b;
    case ATOM_xor: return old ^ b;
    case ATOM_exch: return b;
    default: return old == b ? c : old;
    }
}

/* Executes one lane's atomic and returns the old value. parallel: other host threads run blocks of this launch;
 * exec_run allows that only for integer operations whose result does not depend on the order. */
static uint64_t atomic_lane(const ptx_insn *i, uint8_t *p, uint64_t b, uint64_t c, bool parallel) {
    if (ptx_type_bytes[i->type] == 8) {
        uint64_t *q = (uint64_t *)(void *)p, old = __atomic_load_n(q, __ATOMIC_RELAXED);
        if (!parallel)
            *q = combine(i, old, b, c);
        else
            while (!__atomic_compare_exchange_n(q, &old, combine(i, old, b, c), true, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED)) {}
        return old;
    }
    if (ptx_type_bytes[i->type] == 2) {
        /* exec_run runs no other blocks beside these: the result depends on the order */
        uint16_t *q = (uint16_t *)(void *)p, old = *q;
        *q = (uint16_t)combine(i, old, (uint16_t)b, (uint16_t)c);
        return old;
    }
    uint32_t *q = (uint32_t *)(void *)p, old = __atomic_load_n(q, __ATOMIC_RELAXED);
    if (!parallel)
        *q = (uint32_t)combine(i, old, b, c);
    else
        while (!__atomic_compare_exchange_n(q, &old, (uint32_t)combine(i, old, b, c), true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {}
    return old;
}

static void atomic_lanes(warp *w, const ptx_insn *i, enum ptx_space space) {
    uint32_t size = ptx_type_bytes[i->type];
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t b = size == 8 ? ROW(w, uint64_t, i->b)[l] : ROW(w, uint32_t, i->b)[l];
        uint64_t x = size == 8 ? ROW(w, uint64_t, i->c)[l] : ROW(w, uint32_t, i->c)[l];
        uint64_t old =
            atomic_lane(i, lane_bytes(w, space, l), b, x, w->block->worker->parallel && space != SPACE_SHARED);
        if (size == 8)
            ROW(w, uint64_t, i->d)[l] = old;
        else
            ROW(w, uint32_t, i->d)[l] = (uint32_t)old;
    }
}

static void atomic_space(warp *w, const ptx_insn *i, enum ptx_space space, bool load) {
    (void)load;
    uint32_t size = ptx_type_bytes[i->type];
    exec_counters *c = counters_of(w, i);
    shape s = exec_look(w, size);
    if (space == SPACE_SHARED) {
        if (!limits_ok(w, i, size, &s, w->block->shared_bytes, "shared")) return;
        count_shared_atomic(w, i, c, size);
    } else if (space == SPACE_GLOBAL) {
        if (!global_ok(w, i, size, &s)) return;
        line_list list;
        exec_count_lines(&list, w->address, w->mask, size);
        c->atom_requests++;
        if (!exec_at_grid_barrier(w)) /* whose turns are in the time of a grid.sync() */
            exec_contention_count(&w->block->worker->busy, w->address, w->mask, ptx_is_float((enum ptx_type)i->type),
                                  ptx_adds_up(i) && i->one_place);
        for (uint32_t k = 0; k < list.n; k++) {
            uint32_t sectors = 0;
            for (uint32_t q = 0; q < 4; q++) sectors |= (list.bytes[k][q] != 0) << q;
            c->atom_sectors += (uint32_t)__builtin_popcount(sectors);
            exec_footprint_changed(w->block->worker, list.line[k], sectors);
        }
    } else {
        exec_fail(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, SIMGPU_CAUSE_LOCAL_ATOMIC, (uint32_t)__builtin_ctz(w->mask));
        return;
    }
    if (exec_heard) exec_listen_access(w, i, space, size);
    atomic_lanes(w, i, space);
}

void exec_op_atom(warp *w, const ptx_insn *i) {
    exec_fill_addresses(w, i, access_bytes(i));
    if (i->space == SPACE_GENERIC)
        access_generic(w, i, atomic_space, false);
    else
        atomic_space(w, i, (enum ptx_space)i->space, false);
    if (w->block->worker->workspace) exec_grid_arrived(w, i);
    exec_polled(w, i);
}

/* --- memory of the host -------------------------------------------------------------------------------------- */

/* of: the range of the first lane's address. */
static void count_outside(warp *w, const ptx_insn *i, uint32_t size, const exec_range *of) {
    worker *t = w->block->worker;
    exec_counters *c = counters_of(w, i);
    bool load = i->op == OP_ld, link = of->link, waits = link;
    int32_t round = (int32_t)ptx_depth_rounds(w->depth) - i->later_rounds;
    uint64_t sectors = 0, partial = 0, missed = 0, bytes = (uint64_t)size * (uint32_t)__builtin_popcount(w->mask);
    line_list list;
    exec_count_lines(&list, w->address, w->mask, size);
    for (uint32_t k = 0; k < list.n; k++) {
        uint32_t mask = 0;
        for (uint32_t q = 0; q < 4; q++) {
            if (!list.bytes[k][q]) continue;
            mask |= 1u << q;
            partial += list.bytes[k][q] != ~0u;
        }
        sectors += (uint32_t)__builtin_popcount(mask);
        if (load && !link) /* by its place in the range: the host's addresses differ from run to run */
            missed +=
                (uint32_t)__builtin_popcount(exec_l1_load(&t->l1, w, list.line[k] - of->lo / 128, mask, round, &waits));
    }
    uint32_t phases, tags = (list.n + 3) / 4;
    if (load) {
        c->ld_requests++, c->ld_bytes += bytes, c->ld_sectors += sectors, c->l1_miss_sectors += link ? sectors : missed;
        c->l1_wavefronts += max(tags, exec_count_wavefronts(w->address, w->mask, size, true, &phases));
        if (waits) count_missed(w, round);
    } else if (i->op == OP_st) {
        c->st_requests++, c->st_bytes += bytes, c->st_sectors += sectors, c->st_partial += partial;
        c->l1_wavefronts += max(tags, exec_count_phases(w->mask, size));
        t->stores++;
    } else {
        c->atom_requests++, c->atom_sectors += sectors;
    }
    if (!link) return;
    t->link[!load] += sectors * 32;
    t->link_requests += list.n;
    t->link_loads += load;
}

/* Carries out an access that some lanes make to memory outside of the device. The other lanes make one of their own
 * before. Returns false, and does nothing, if there is no such lane. */
static bool access_outside(warp *w, const ptx_insn *i, uint32_t size) {
    uint64_t all[32];
    uint32_t mask = w->mask, outside = 0;
    const exec_range *of = NULL;
    for (uint32_t m = mask; m; m &= m - 1) {
        const exec_range *r = exec_outside(w->address[__builtin_ctz(m)], size);
        if (r) outside |= m & -m;
        if (r && !of) of = r;
    }
    if (!outside) return false;
    memcpy(all, w->address, sizeof all);
    if (mask != outside) {
        pick_lanes(w, all, mask & ~outside, 0);
        if (i->op == OP_atom)
            atomic_space(w, i, SPACE_GLOBAL, false);
        else
            access_space(w, i, SPACE_GLOBAL, i->op == OP_ld);
    }
    if (!w->block->failed) {
        pick_lanes(w, all, outside, 0);
        count_outside(w, i, size, of);
        if (exec_heard) exec_listen_access(w, i, SPACE_GLOBAL, size);
        if (i->op == OP_ld) load_lanes(w, i, SPACE_OUTSIDE);
        if (i->op == OP_st) store_lanes(w, i, SPACE_OUTSIDE);
        if (i->op == OP_atom) atomic_lanes(w, i, SPACE_OUTSIDE);
    }
    w->mask = mask;
    return true;
}
