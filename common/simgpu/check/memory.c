/* memory.c — finds races and uninitialised reads inside one launch.
 *
 * The shadow of each 4-byte word holds its last writer and two readers of different warps (shared memory) or blocks
 * (device memory). A conflicting access that order.c does not put after them is a race. So one run under any schedule
 * finds a race that shows its effect only under another schedule.
 *
 * Not reported: pairs of atomics, a volatile word between a waiting loop and the store that ends it, stores of the
 * value already in memory.
 */
#include "finding.h"
#include "order.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* How a word was accessed: a bit for each of its bytes, and VOLATILE or ATOMIC; 0 means no access. */
enum { BYTES = 0xf, VOLATILE = 0x10, ATOMIC = 0x20 };

/* The shadow of a page, a layer for each kind of access, so that a page without stores costs little. */
enum { PAGE = 4096, PAGE_WORDS = PAGE / 4 };
enum { WRITER, READER, READER2, LAYERS };
typedef struct page {
    uint64_t number, launch; /* the contents hold for this launch only */
    struct page *next, *next_touched;
    bool used[LAYERS]; /* false: how[] is not cleared yet */
    uint8_t how[LAYERS][PAGE_WORDS];
    stamp at[LAYERS][PAGE_WORDS];
} page;

/* The shadow of a block's shared memory. */
typedef struct {
    uint64_t launch;
    uint32_t pages;
    page *shadow;
    uint8_t *written; /* a bit for each byte of shared memory that the block has stored */
} shared_shadow;

/* Of a card. */
typedef struct {
    shared_shadow *shared; /* by the places of order.c */
    uint32_t nshared;
    shared_shadow *block;   /* of the current block */
    uint64_t barrier;       /* the word of grid.sync(); 0: none */
    page *pages[1 << 14];   /* by number, chained */
    page *latest, *touched; /* touched: the list of this launch's pages */
    uint64_t launch_number;
    const exec_launch *launch;
} memory_state;
static memory_state *here;

/* The current access. */
typedef struct {
    const exec_access *seen;
    const ptx_insn *i;
    uint32_t warp;
    enum ptx_space space;
    bool stores, loads;
    uint8_t strength;
} access;

/* --- the report ---------------------------------------------------------------------------------------------- */

/* Returns the instruction with this number in the module, and its function in *code. */
static const ptx_insn *insn_at(uint32_t number, const ptx_code **code) {
    const ptx_module *m = here->launch->kernel->module;
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *c = m->functions[k]->code;
        if (c && number - c->first < c->ninsns) {
            *code = c;
            return &c->insns[number - c->first];
        }
    }
    return NULL;
}

static struct simgpu_place place_of(const ptx_insn *i, bool stores) {
    struct simgpu_place p = exec_place_of(here->launch->kernel->module, i);
    p.did = ptx_is_atomic(i) ? SIMGPU_DID_ATOMIC : stores ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
    return p;
}

/* Returns the last name in a mangled one: "s" of _ZZ6reducePfE1s. */
static const char *variable_name(const char *mangled) {
    size_t n = strlen(mangled);
    for (size_t k = n; k-- > 0;) {
        if (mangled[k] < '0' || mangled[k] > '9') continue;
        char *end;
        unsigned long length = strtoul(mangled + k, &end, 10);
        if (length && (size_t)(mangled + n - end) == length) return end;
    }
    return mangled;
}

/* Describes the memory of a finding. */
static void put_memory(struct simgpu_finding *n, enum ptx_space space, uint64_t address) {
    const ptx_function *f = here->launch->kernel;
    const ptx_place *v = f->shared, *end = v + f->nshared;
    n->space = SIMGPU_DEVICE_MEMORY;
    if (space != SPACE_SHARED) {
        n->address = exec_mem_locate(exec_device_of(here->launch->program), address);
        return;
    }
    n->offset = address;
    n->space = SIMGPU_SHARED_MEMORY;
    while (v < end && address - v->offset >= v->var->size) v++;
    if (v < end) {
        n->space = SIMGPU_SHARED_VARIABLE;
        n->offset -= v->offset;
        n->variable = variable_name(v->var->name);
    } else if (address >= f->dynamic_shared_offset && here->launch->dynamic_shared) {
        n->space = SIMGPU_SHARED_DYNAMIC;
        n->offset -= f->dynamic_shared_offset;
    }
}

/* Fills in the finding's first side: this lane's access to that address. */
static void put_access(struct simgpu_finding *n, const access *a, uint32_t lane, uint64_t address) {
    check_finding_thread(n, 0, here->launch, a->seen->at.block, a->warp * 32 + lane);
    put_memory(n, a->space, address);
}

/* --- races --------------------------------------------------------------------------------------------------- */

/* Returns whether the load is in a loop that only waits, without a store or barrier from its head to its end. */
static bool waits(const ptx_code *c, const ptx_insn *i) {
    uint32_t at = (uint32_t)(i - c->insns), end = c->ninsns;
    for (uint32_t k = at; k < end; k++) {
        const ptx_insn *b = &c->insns[k];
        if (b->op == OP_st || b->op == OP_bar_sync || b->op == OP_bar_red || b->op == OP_bar_warp) return false;
        if (b->op != OP_bra || b->target > at) continue;
        for (uint32_t j = b->target; j < at; j++)
            if (c->insns[j].op == OP_st) return false;
        return true;
    }
    return false;
}

/* Returns whether two unordered accesses are intended: atomics, or a flag and the loop that waits for it. */
static bool meant(const access *a, const stamp *past, uint8_t past_strength, const ptx_insn *other,
                  const ptx_code *code) {
    uint8_t mine = a->strength;
    if (!mine || !past_strength) return false;
    if ((mine | past_strength) & ATOMIC) return true;
    if (a->space == SPACE_GLOBAL && (check_order_of_other_block(past) || past->warp != a->warp)) return true;
    return (a->i->op == OP_ld && waits(a->seen->code, a->i)) || (other->op == OP_ld && waits(code, other));
}

static void say_race(const access *a, const stamp *past, bool past_stored, uint32_t lane, uint64_t address) {
    const ptx_code *code = NULL;
    const ptx_insn *other = insn_at(past->insn, &code);
    struct simgpu_finding n = {.kind = SIMGPU_RACE, .nsides = 2};
    n.side[0].at = place_of(a->i, a->stores);
    n.side[1].at = place_of(other, past_stored);
    bool other_block = check_order_of_other_block(past), same_warp = !other_block && past->warp == a->warp;
    n.rival = same_warp && past->serial == check_order_now->now ? SIMGPU_SAME_STORE
              : other_block                                     ? SIMGPU_OTHER_BLOCK
              : same_warp                                       ? SIMGPU_OTHER_LANE
                                                                : SIMGPU_OTHER_THREAD;
    if (!check_finding_is_new(&n)) return;
    n.cooperative = here->launch->cooperative;
    n.same_code = other == a->i || (other->line == a->i->line && other->column == a->i->column);
    put_access(&n, a, lane, address);
    check_finding_thread(&n, 1, here->launch, other_block ? check_order_block_of(past) : a->seen->at.block,
                         past->warp * 32u + past->lane);
    n.side[1].any_lane = same_warp && past->several && past->lane == lane;
    check_finding_hold(&n);
}

/* --- stored values ------------------------------------------------------------------------------------------- */

/* Returns whether the lane stores the value already in memory, or the same value as an earlier lane of this
 * instruction. */
static bool no_change(const access *a, const stamp *past, uint32_t lane, uint32_t k) {
    if (a->i->op != OP_st) return false;
    uint32_t v = exec_access_stores(a->seen, lane, k), old = 0, n = a->seen->size < 4 ? a->seen->size : 4;
    if (past->serial == check_order_now->now) return exec_access_stores(a->seen, past->lane, k) == v;
    memcpy(&old, exec_access_finds(a->seen, a->seen->address[lane] + 4 * k), n);
    return old == v;
}

/* --- the shadow ---------------------------------------------------------------------------------------------- */

/* Reports the pair unless it is ordered or intended. Returns whether the shadow keeps the past access: a store of the
 * same value leaves no trace, and a plain store that an atomic raced with waits for the atomics of the other warps.
 * Requires that `past` overlaps this access. */
static bool conflicts(const access *a, const stamp *past, uint8_t strength, bool past_stored, uint32_t lane,
                      uint32_t k) {
    if (check_order_before(past, a->warp, lane)) return false;
    if (past->mixed_bytes && past->warp == a->warp) return false; /* may be the lane's own byte */
    if (a->strength && strength) {
        const ptx_code *code = NULL;
        const ptx_insn *other = insn_at(past->insn, &code);
        if (meant(a, past, strength, other, code)) return false;
    }
    if (a->stores && no_change(a, past, lane, k)) return true;
    say_race(a, past, past_stored, lane, a->seen->address[lane] + 4 * k);
    return past_stored && a->strength & ATOMIC && !(strength & ATOMIC);
}

static stamp new_stamp(const access *a, uint32_t lane) {
    return (stamp){.serial = check_order_now->now, .insn = a->seen->number, .warp = a->warp & 31, .lane = lane & 31};
}

/* Returns whether the access is of this block and no barrier of the whole block came after it. */
static bool fresh(const stamp *s) { return s->serial >= check_order_now->floor && !check_order_of_other_block(s); }

/* Returns whether the access is ordered without a query to order.c: a barrier of the whole block came after it, or it
 * was an earlier block's access to shared memory, or all blocks have met since. */
static bool old(const access *a, const stamp *s) {
    if (s->serial < check_order_now->grid_floor) return true;
    return s->serial < check_order_now->floor && (a->space == SPACE_SHARED || !check_order_of_other_block(s));
}

static bool has(const page *p, int layer, uint32_t n) { return p->used[layer] && p->how[layer][n]; }

static void record(page *p, int layer, uint32_t n, stamp s, uint8_t how) {
    if (!p->used[layer]) memset(p->how[layer], 0, sizeof p->how[layer]);
    p->used[layer] = true;
    p->at[layer][n] = s;
    p->how[layer][n] = how;
}

static void record_read(const access *a, page *p, uint32_t n, uint32_t lane, uint8_t how) {
    stamp s = new_stamp(a, lane);
    int layer = READER;
    if (has(p, READER, n)) {
        const stamp *first = &p->at[READER][n];
        bool earlier_block = a->space == SPACE_GLOBAL && check_order_of_other_block(first);
        if (earlier_block || (fresh(first) && first->warp != s.warp)) layer = READER2;
    }
    if (has(p, layer, n)) {
        const stamp *r = &p->at[layer][n];
        if (fresh(r) && r->warp == s.warp &&
            !check_order_before(r, a->warp, lane)) { /* keep both, in the older one's slot */
            s.several = 1;
            s.mixed_bytes = r->mixed_bytes || (r->lane != s.lane && !(p->how[layer][n] & how & BYTES));
            s.lane = r->lane;
            s.insn = r->insn;
            how |= p->how[layer][n];
        }
    }
    record(p, layer, n, s, how);
}

static void record_write(const access *a, page *p, uint32_t n, uint32_t lane, uint8_t how) {
    stamp s = new_stamp(a, lane);
    if (how != BYTES && has(p, WRITER, n)) {
        const stamp *w = &p->at[WRITER][n];
        if (fresh(w) && w->warp == s.warp && w->lane != s.lane && !(p->how[WRITER][n] & how & BYTES)) {
            s.several = s.mixed_bytes = 1;
            how |= p->how[WRITER][n];
        }
    }
    record(p, WRITER, n, s, how);
}

/* Checks and records a lane's access to word n of the page, word k of the access. */
static void touch(const access *a, page *p, uint32_t n, uint32_t lane, uint8_t bytes, uint32_t k) {
    bool stays = false;
    for (int layer = WRITER; layer < (a->stores ? LAYERS : READER); layer++) {
        if (!p->used[layer] || !(p->how[layer][n] & bytes)) continue;
        const stamp *past = &p->at[layer][n];
        if (!old(a, past)) stays |= conflicts(a, past, p->how[layer][n] & ~BYTES, layer == WRITER, lane, k);
    }
    if (!a->stores)
        record_read(a, p, n, lane, bytes | a->strength);
    else if (!stays)
        record_write(a, p, n, lane, bytes | a->strength);
}

static page *new_page(uint64_t number, page **list) {
    page *p = check_must(malloc(sizeof *p));
    p->number = number;
    p->launch = 0;
    p->next = *list;
    *list = p;
    return p;
}

static page *device_page(uint64_t number) {
    page *p = here->latest;
    if (p && p->number == number && p->launch == here->launch_number) return p;
    page **list = &here->pages[base_hash(number) >> 50];
    for (p = *list; p && p->number != number; p = p->next) {}
    if (!p) p = new_page(number, list);
    if (p->launch != here->launch_number) {
        memset(p->used, 0, sizeof p->used);
        p->launch = here->launch_number;
        p->next_touched = here->touched;
        here->touched = p;
    }
    return here->latest = p;
}

/* --- uninitialised memory ------------------------------------------------------------------------------------ */

static void say_uninitialised(const access *a, uint32_t lane) {
    struct simgpu_finding n = {.kind = SIMGPU_UNINITIALISED, .nsides = 1};
    n.side[0].at = place_of(a->i, false);
    if (!check_finding_is_new(&n)) return;
    put_access(&n, a, lane, a->seen->address[lane]);
    check_finding_hold(&n);
}

/* Reports a load of shared memory that the block has not written. A load of whole words may include the padding of a
 * struct, so it needs only one written byte. */
static void check_written(const access *a, uint32_t lane, uint64_t first, uint32_t words, uint8_t bytes) {
    for (uint32_t k = 0; k < words; k++)
        if ((here->block->written[first + k] & bytes) == bytes || (bytes == BYTES && here->block->written[first + k]))
            return;
    say_uninitialised(a, lane);
}

/* Returns whether the access needs the value that it finds. An exchange takes any. */
static bool needs_value(const access *a) { return a->loads && !(a->i->op == OP_atom && a->i->sub == ATOM_exch); }

/* --- every access --------------------------------------------------------------------------------------------- */

static void on_access(const exec_access *seen) {
    const ptx_insn *i = seen->insn;
    enum ptx_space space = seen->space;
    uint32_t size = seen->size;
    check_order_now->now++;
    access a = {.seen = seen,
                .i = i,
                .warp = seen->at.warp,
                .space = space,
                .stores = ptx_stores(i, space),
                .loads = ptx_loads(i, space),
                .strength = ptx_is_atomic(i) ? ATOMIC
                            : i->polls       ? VOLATILE
                                             : 0};
    uint32_t words = size < 4 ? 1 : size / 4;
    for (uint32_t m = seen->at.lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t at = seen->address[l];
        if (at == here->barrier && space == SPACE_GLOBAL) continue; /* order.c hears of grid.sync() as a whole */
        uint8_t bytes = size < 4 ? (uint8_t)(((1u << size) - 1) << (at & 3)) : BYTES;
        if (a.strength)
            check_order_flag(seen, space == SPACE_SHARED ? 1ull << 63 | seen->at.block << 20 | at : at, a.loads,
                             a.stores);
        page *p = space == SPACE_SHARED ? &here->block->shadow[at / PAGE] : device_page(at / PAGE);
        if (space == SPACE_SHARED && a.loads) check_written(&a, l, at / 4, words, bytes);
        if (space == SPACE_GLOBAL && needs_value(&a) && check_fresh_reads(seen, l)) say_uninitialised(&a, l);
        if (space == SPACE_GLOBAL && i->op == OP_st) check_fresh_stores(seen, l);
        for (uint32_t k = 0; k < words; k++) {
            touch(&a, p, at % PAGE / 4 + k, l, bytes, k);
            if (space == SPACE_SHARED && a.stores && !seen->begins) here->block->written[at / 4 + k] |= bytes;
        }
    }
}

/* --- the device memory that a launch used, for streams.c ----------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    const page *x = *(page *const *)a, *y = *(page *const *)b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Returns whether the launch used the whole word. Atomic and volatile words do not count, since two launches may share
 * these. */
static bool used(const page *p, uint32_t n, bool writes) {
    if (writes) return p->used[WRITER] && p->how[WRITER][n] == BYTES;
    return (p->used[READER] && p->how[READER][n] == BYTES) || (p->used[READER2] && p->how[READER2][n] == BYTES);
}

static void each_run(page *const *list, uint32_t n, bool writes, parts_range *each) {
    uint64_t lo = 0, hi = 0;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; k < PAGE_WORDS; k++) {
            uint64_t at = list[p]->number * PAGE + 4 * k;
            if (!used(list[p], k, writes)) continue;
            if (at != hi && lo != hi) each(lo, hi, writes);
            if (at != hi) lo = at;
            hi = at + 4;
        }
    if (lo != hi) each(lo, hi, writes);
}

static void tell_ranges(void) {
    uint32_t n = 0;
    for (const page *p = here->touched; p; p = p->next_touched) n++;
    page **list = malloc((n + 1) * sizeof *list);
    if (!list) return;
    n = 0;
    for (page *p = here->touched; p; p = p->next_touched) list[n++] = p;
    qsort(list, n, sizeof *list, by_number);
    each_run(list, n, false, check_streams_range);
    each_run(list, n, true, check_streams_range);
    free(list);
    check_streams_launched();
}

/* --- the rest of the hooks ----------------------------------------------------------------------------------- */

static void on_launch(const exec_launch *n, uint64_t nblocks) {
    (void)nblocks;
    here->launch = n;
    here->launch_number++;
    here->touched = NULL;
    here->barrier = n->cooperative ? exec_workspace(exec_device_of(n->program)) + 4 : 0;
    check_order_launch(n);
}

static void on_block(uint64_t block, uint32_t shared_bytes) {
    uint32_t place = check_order_block(block), pages = (shared_bytes + PAGE - 1) / PAGE;
    if (place >= here->nshared) {
        here->shared = check_must(realloc(here->shared, (place + 1) * sizeof *here->shared));
        memset(here->shared + here->nshared, 0, (place + 1 - here->nshared) * sizeof *here->shared);
        here->nshared = place + 1;
    }
    shared_shadow *s = here->block = &here->shared[place];
    if (pages > s->pages) {
        free(s->shadow), free(s->written);
        s->shadow = check_must(calloc(pages, sizeof *s->shadow));
        s->written = check_must(malloc(pages * PAGE_WORDS));
        s->pages = pages;
    }
    for (uint32_t k = 0; k < s->pages && s->launch != here->launch_number; k++)
        memset(s->shadow[k].used, 0, sizeof s->shadow[k].used);
    s->launch = here->launch_number;
    if (shared_bytes) memset(s->written, 0, (shared_bytes + 3) / 4);
}

static void on_resume(uint64_t block) { here->block = &here->shared[check_order_resumed(block)]; }

static void on_end(void) {
    check_finding_launched();
    tell_ranges();
    here->launch = NULL;
}

static void use(void *state) { here = state; }

static void forget(void) {
    for (uint32_t k = 0; k < sizeof here->pages / sizeof *here->pages; k++)
        for (page *p = here->pages[k], *next; p; p = next) {
            next = p->next;
            free(p);
        }
    for (uint32_t k = 0; k < here->nshared; k++) free(here->shared[k].shadow), free(here->shared[k].written);
    free(here->shared);
}

const check_part check_part_memory = {sizeof(memory_state), use, forget};

const exec_listener check_memory = {.launch_begins = on_launch,
                                    .launch_ended = on_end,
                                    .block_begins = on_block,
                                    .block_resumes = on_resume,
                                    .block_ended = check_order_ended,
                                    .grid_passed = check_order_grid_passed,
                                    .access = on_access,
                                    .arrived = check_order_arrived,
                                    .passed = check_order_passed,
                                    .synced = check_order_synced,
                                    .fenced = check_order_fenced};
