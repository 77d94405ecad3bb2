/* run.c — runs a launch: host threads take blocks in order, and their counters are added up.
 *
 * Threads claim blocks in increasing order, and every block below a fault's runs to its end, so the reported fault is
 * the lowest block's for any number of threads. Counters are sums and the footprint is a union, so neither depends on
 * the order. The budget of a launch is checked in block order too, for parts of the grid: the launch ends behind the
 * first part that exceeds it.
 */
#include "count.h"
#include "resident.h"
#include "warp.h"

#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_WORKERS = 256, MAX_SMS = 1024, CALL_LOCAL = 16384, SMALL_GRID = 1 << 16 };
/* A launch's budget in budgets of a block; parts of a grid; instructions charged at once. */
enum { LAUNCH_BUDGET = 64, PARTS = 1024, CHARGE = 1 << 20 };
static uint64_t launch_budget; /* set by exec_launch_budget; 0: LAUNCH_BUDGET times a block's */

static unsigned wanted_threads;
static uint64_t usual_budget = 1ull << 26, budget_per_block = 1ull << 26;
static worker workers[MAX_WORKERS];
static uint64_t launches;
static struct {
    exec_part of[PARTS];
    uint64_t blocks; /* of a part */
} parts;
/* The instructions that the SMs run for the first wave's blocks, which go to them in turn. Later blocks go where one
 * has ended. */
static struct {
    uint64_t of[MAX_SMS];
    uint64_t n, wave;
} sms;

void (*exec_print)(const char *text, size_t length);

const exec_counter_name exec_counter_names[NCOUNTERS] = {
#define COUNTER(field, ncu, what) {#field, ncu, what},
#include "../include/simgpu_counters.def"
#undef COUNTER
};

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return otherwise;
    unsigned long long v = strtoull(text, &end, 10);
    if (*end || v == 0 || !isdigit((unsigned char)*text)) { /* strtoull accepts -1 and returns a large number */
        fprintf(stderr, "simgpu: %s=%s is not a positive number; using %llu\n", name, text,
                (unsigned long long)otherwise);
        return otherwise;
    }
    return v;
}

void exec_configure(unsigned threads, uint64_t budget) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = threads ? threads : setting("SIMGPU_THREADS", cores > 0 ? (uint64_t)cores : 1);
    wanted_threads = wanted < MAX_WORKERS ? (unsigned)wanted : MAX_WORKERS;
    budget_per_block = budget ? budget : setting("SIMGPU_BUDGET", usual_budget);
}

void exec_usual_budget(uint64_t warp_instructions) { usual_budget = warp_instructions; }

void exec_launch_budget(uint64_t warp_instructions) { launch_budget = warp_instructions; }

/* Where the program has limited a launch, a block may take a quarter of that: one endless block is stopped as soon as
 * many. */
static uint64_t block_budget(void) {
    uint64_t most = launch_budget ? launch_budget / 4 : UINT64_MAX;
    return budget_per_block < most ? budget_per_block : most;
}

/* --- a block ------------------------------------------------------------------------------------------------ */

/* Returns the depth of the warp or block that waits longer. Ties are decided by a total order, so that the result does
 * not depend on the order of calls. */
static exec_depth deeper(const ptx_module *m, exec_depth a, exec_depth b) {
    uint64_t round = m->costs.round_clocks, of_a = a.rounds * round + a.clocks, of_b = b.rounds * round + b.clocks;
    if (of_a != of_b) return of_a > of_b ? a : b;
    if (a.rounds != b.rounds) return a.rounds > b.rounds ? a : b;
    return a.missed > b.missed ? a : b;
}
static void add_stored(exec_stored *to, exec_stored s) {
    to->lines += s.lines, to->whole += s.whole, to->partial += s.partial;
}
static void add_depth(exec_depth *to, exec_depth d) {
    to->rounds += d.rounds, to->missed += d.missed, to->clocks += d.clocks;
}

static void add_to_part(exec_part *p, uint64_t instructions, uint64_t clocks) {
    uint64_t longest = __atomic_load_n(&p->longest, __ATOMIC_RELAXED);
    __atomic_fetch_add(&p->instructions, instructions, __ATOMIC_RELAXED);
    while (clocks > longest)
        if (__atomic_compare_exchange_n(&p->longest, &longest, clocks, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
}

void exec_block_begin(block *b, uint64_t id) {
    const exec_dim *grid = &b->launch->grid;
    b->id = id;
    b->index =
        (exec_dim){(uint32_t)(id % grid->x), (uint32_t)(id / grid->x % grid->y), (uint32_t)(id / grid->x / grid->y)};
    b->live = b->nthreads;
    b->failed = b->in_grid_sync = false;
    b->grid_syncs = 0;
    b->budget = block_budget();
    memset(b->barriers, 0, sizeof b->barriers);
    for (int k = 0; k < MAX_BARRIERS; k++) b->barriers[k].all = true;
    memset(b->shared, 0xCD, b->shared_bytes);
    b->adds = NULL;
    b->sampled = exec_resident_sampled(id);
    exec_l1_next_block(&b->worker->l1);
    exec_constant_next_block(&b->worker->constant);
    b->worker->stored_line = 0;
    if (exec_heard) exec_listen_block_begins(b);
    for (uint32_t k = 0; k < b->nwarps; k++) exec_warp_start(&b->warps[k], b, k);
}

bool exec_block_round(block *b) {
    bool progress = false;
    for (uint32_t k = 0; k < b->nwarps && !b->failed; k++)
        if (b->warps[k].live && !b->warps[k].took) progress |= exec_warp_run(&b->warps[k]);
    return progress;
}

void exec_block_end(block *b) {
    worker *t = b->worker;
    const ptx_module *m = b->launch->program->module;
    exec_depth d = {0, 0, 0};
    for (uint32_t k = 0; k < b->nwarps; k++) {
        int64_t rounds = ptx_depth_rounds(b->warps[k].depth), clocks = ptx_depth_clocks(b->warps[k].depth);
        if (rounds < 0) rounds = 0; /* blocks that end with fewer rounds than they began with, each by a little */
        d = deeper(m, d,
                   (exec_depth){(uint64_t)rounds, (uint64_t)b->warps[k].missed, clocks > 0 ? (uint64_t)clocks : 0});
    }
    d.clocks += exec_cas_end(b);
    t->deepest = deeper(m, t->deepest, d);
    add_depth(&t->depths, d);
    if (t->most_missed < d.missed) t->most_missed = d.missed;
    add_to_part(&parts.of[b->id / parts.blocks], block_budget() - b->budget,
                d.rounds * m->costs.round_clocks + d.clocks);
    if (b->id < sms.wave) __atomic_fetch_add(&sms.of[b->id % sms.n], block_budget() - b->budget, __ATOMIC_RELAXED);
    if (b->grid_syncs > t->grid_syncs) t->grid_syncs = b->grid_syncs, t->grid_fenced = b->grid_fenced;
}

static void run_block(block *b, uint64_t id) {
    exec_block_begin(b, id);
    while (b->live && !b->failed)
        if (!exec_block_round(b) && b->live && !b->failed && !exec_block_goes_on(b)) exec_fail_deadlock(b);
    exec_block_end(b);
}

/* --- a worker's memory -------------------------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Returns the bytes of a warp for the frames of the functions that the kernel calls. */
static uint32_t call_stack_of(const ptx_function *kernel) {
    const ptx_module *m = kernel->module;
    uint32_t largest = 0;
    if (!kernel->code->calls) return 0;
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_function *f = m->functions[k];
        if (f->code && !f->is_kernel && f->code->frame_bytes > largest) largest = f->code->frame_bytes;
    }
    return 2 * largest > CALL_STACK ? (uint32_t)round_up(2 * (size_t)largest, 4096) : CALL_STACK;
}

/* Returns the bytes of local memory of a lane. Lanes' lie one behind the other, so room that no function asks for would
 * put each lane on pages of its own. */
static uint32_t local_of(const ptx_function *kernel) {
    const ptx_module *m = kernel->module;
    bool called = false;
    for (uint32_t k = 0; k < m->nfunctions && kernel->code->calls; k++)
        called |= !m->functions[k]->is_kernel && m->functions[k]->local_bytes;
    return (uint32_t)round_up(kernel->local_bytes + (called ? CALL_LOCAL : 0), 16);
}

/* Lays out registers of all warps, local memory, shared memory and the counts of cas.c in one mapping, of which the
 * kernel touches only the part that it uses. The block keeps its mapping for later launches. */
void exec_block_prepare(block *b, worker *t, const exec_launch *n) {
    const ptx_function *f = n->kernel;
    uint32_t threads = n->block.x * n->block.y * n->block.z, nwarps = (threads + 31) / 32;
    uint32_t calls = call_stack_of(f), stack = (uint32_t)round_up(f->code->frame_bytes, 4096) + calls;
    uint32_t local = local_of(f);
    uint32_t shared = f->dynamic_shared_offset + n->dynamic_shared;
    if (!n->dynamic_shared) shared = f->static_shared;
    size_t async = f->code->async ? EXEC_ASYNC_BYTES : 0;
    size_t need = round_up(nwarps * sizeof(warp), 4096) +
                  (size_t)nwarps * (stack + round_up(32ull * local, 4096) + async) + 3 * round_up(shared, 4096) + 4096;
    if (need > b->arena_bytes) {
        if (b->arena) munmap(b->arena, b->arena_bytes);
        void *mapped = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        b->arena = exec_must(mapped == MAP_FAILED ? NULL : mapped);
        b->arena_bytes = need;
    } else {
        memset(b->arena, 0, nwarps * sizeof(warp));
    }
    uint8_t *p = b->arena;
    *b = (block){.worker = t,
                 .launch = n,
                 .nwarps = nwarps,
                 .nthreads = threads,
                 .warps = (warp *)(void *)p,
                 .arena = b->arena,
                 .arena_bytes = b->arena_bytes,
                 .shared_bytes = shared};
    p += round_up(nwarps * sizeof(warp), 4096);
    for (uint32_t k = 0; k < nwarps; k++) {
        b->warps[k].stack = p;
        p += stack;
        b->warps[k].local = p;
        b->warps[k].local_stride = local;
        b->warps[k].call_stack = calls;
        p += round_up(32ull * local, 4096);
        b->warps[k].async = async ? p : NULL;
        p += async;
    }
    b->shared = p;
    b->additions = (exec_additions *)(void *)(p + round_up(shared, 4096));
}

static void worker_begin(worker *t, const exec_launch *n, uint32_t l1_lines) {
    exec_device *d = n->program->device;
    uint32_t count = n->program->module->instructions;
    exec_block_prepare(&t->block, t, n);
    if (count > t->capacity) {
        t->capacity = count;
        t->executed = exec_must(realloc(t->executed, count * sizeof *t->executed));
        t->threads = exec_must(realloc(t->threads, count * sizeof *t->threads));
        t->counters = exec_must(realloc(t->counters, count * sizeof *t->counters));
        t->ranges = exec_must(realloc(t->ranges, count * sizeof *t->ranges));
        free(t->ran_in);
        t->ran_in = exec_must(calloc(count, sizeof *t->ran_in));
    }
    t->launch_number = launches;
    t->device = d;
    t->run = n->program->run;
    exec_footprint_begin(t);
    t->memory = (uint64_t)(uintptr_t)d->storage - exec_mem_base();
    t->deepest = t->depths = (exec_depth){0, 0, 0};
    t->most_missed = 0;
    t->grid_syncs = 0, t->grid_fenced = false;
    t->st_hits = t->st_merged = t->st_scattered = 0;
    t->local_stored = (exec_stored){0, 0, 0};
    t->link[0] = t->link[1] = t->link_requests = t->link_loads = 0;
    t->workspace = n->cooperative ? exec_workspace(d) : 0;
    if (t->workspace) memset(exec_mem_host(d, t->workspace), 0, 2 * sizeof(uint32_t));
    exec_contention_begin(&t->busy, d->card.atomic_place);
    t->fault.kind = SIMGPU_FAULT_NONE;
    t->fault_block = t->parted_block = UINT64_MAX;
    t->parted = NULL;
    t->print_length = 0;
    t->printed_blocks = 0;
    t->nnotes = 0;
    exec_l1_start(&t->l1, l1_lines, t->block.nwarps);
}

/* --- host threads ------------------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    unsigned running, generation, helpers;
    const exec_launch *launch;
    uint64_t nblocks, chunk;        /* nblocks: the end of the wave */
    _Atomic uint64_t next, stop_at; /* the next block to claim; blocks from stop_at on need not run */
    uint64_t budget, part_blocks;   /* warp instructions of the launch; blocks of a part */
    _Atomic uint64_t spent, spent_in[PARTS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void stop_at(uint64_t id) {
    uint64_t old = atomic_load(&pool.stop_at);
    while (id < old && !atomic_compare_exchange_weak(&pool.stop_at, &old, id)) {}
}

/* Returns the first block that the budget does not reach, or UINT64_MAX if it suffices so far. The value decreases
 * while blocks run but never below its value after all blocks, so every block before the last value has run, for any
 * number of threads. */
static uint64_t budget_end(void) {
    uint64_t sum = 0;
    if (atomic_load(&pool.spent) <= pool.budget) return UINT64_MAX;
    for (uint64_t k = 0; k < PARTS; k++) {
        sum += atomic_load(&pool.spent_in[k]);
        if (sum > pool.budget) return (k + 1) * pool.part_blocks;
    }
    return UINT64_MAX;
}

static bool charge(uint64_t id, uint64_t spent) {
    atomic_fetch_add(&pool.spent_in[id / pool.part_blocks], spent);
    atomic_fetch_add(&pool.spent, spent);
    uint64_t end = budget_end();
    stop_at(end);
    return end == UINT64_MAX;
}

static void run_blocks(worker *t) {
    for (;;) {
        uint64_t first = atomic_fetch_add(&pool.next, pool.chunk), last = first + pool.chunk;
        if (last > pool.nblocks) last = pool.nblocks;
        uint64_t id = first, spent = 0; /* spent: instructions in one part, not charged yet */
        if (first >= last || first >= atomic_load(&pool.stop_at)) return;
        while (id < last && id < atomic_load(&pool.stop_at)) {
            block *b = &t->block;
            run_block(b, id);
            if (b->failed) stop_at(id);
            spent += block_budget() - b->budget;
            id++;
            if (spent < CHARGE && id % pool.part_blocks) continue;
            charge(id - 1, spent);
            spent = 0;
        }
        if (spent) charge(id - 1, spent);
    }
}

static void *helper(void *arg) {
    worker *t = arg;
    unsigned seen = t->generation;
    uselocale(base_plain_language()); /* a thread begins with the program's, whose decimal point printf would take */
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.generation == seen) pthread_cond_wait(&pool.work, &pool.lock);
        seen = pool.generation;
        pthread_mutex_unlock(&pool.lock);
        run_blocks(t);
        pthread_mutex_lock(&pool.lock);
        if (--pool.running == 0) pthread_cond_signal(&pool.done);
    }
    return NULL;
}

/* A forked child has only the forking thread, which runs all blocks. */
static void in_child(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.work = pool.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.helpers = 0;
    wanted_threads = 1;
}

/* Starts helper threads up to n, with all signals blocked, since signals belong to the program's own threads. If the
 * host refuses further threads, fewer run; the results are the same. */
static void start_helpers(unsigned n) {
    static bool told;
    sigset_t all, old;
    if (!told) pthread_atfork(NULL, NULL, in_child);
    told = true;
    base_plain_language(); /* before the threads that ask for it */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool.helpers < n) {
        pthread_t id;
        pthread_attr_t attributes;
        workers[pool.helpers + 1].generation = pool.generation;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        if (pthread_create(&id, &attributes, helper, &workers[pool.helpers + 1])) break;
        pool.helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Returns whether blocks of the launch may wait for each other. */
static bool waits(const exec_launch *n) { return n->cooperative || n->kernel->code->waits; }

/* Gives what a wave of blocks has touched to the cache, and counts where its atomics met. */
static void end_wave(exec_device *d, unsigned threads) {
    exec_l2_wave(d, workers, threads);
    for (unsigned t = 1; t < threads; t++) exec_contention_take(&workers[0].busy, &workers[t].busy);
    exec_contention_wave(&workers[0].busy);
}

/* Runs blocks on all host threads, and then gives what they touched to the cache. */
static void run_wave(exec_device *d, uint64_t first, uint64_t end, unsigned threads) {
    pthread_mutex_lock(&pool.lock);
    pool.nblocks = end;
    pool.chunk = (end - first) / (threads * 16) ? (end - first) / (threads * 16) : 1;
    if (pool.chunk > 64) pool.chunk = 64;
    atomic_store(&pool.next, first);
    if (threads > 1) {
        pool.running = pool.helpers;
        pool.generation++;
        pthread_cond_broadcast(&pool.work);
    }
    pthread_mutex_unlock(&pool.lock);
    run_blocks(&workers[0]);
    pthread_mutex_lock(&pool.lock);
    while (pool.running) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    end_wave(d, threads);
    exec_resident_wave(workers, threads);
}

/* Runs the first of blocks that are all alike, and charges each for what it has executed. */
static void run_alike(const exec_launch *n, uint64_t nblocks) {
    block *b = &workers[0].block;
    run_block(b, 0);
    uint64_t spent = block_budget() - b->budget;
    if (b->failed) return;
    exec_count_alike(&workers[0], nblocks);
    for (uint64_t k = 0; k * pool.part_blocks < nblocks; k++) {
        uint64_t first = k * pool.part_blocks, left = nblocks - first;
        charge(first, spent * (left < pool.part_blocks ? left : pool.part_blocks));
    }
    end_wave(n->program->device, 1);
}

static void run_all(const exec_launch *n, uint64_t nblocks, uint64_t wave, unsigned threads) {
    pool.launch = n;
    atomic_store(&pool.stop_at, UINT64_MAX);
    pool.budget = launch_budget                                   ? launch_budget
                  : budget_per_block < UINT64_MAX / LAUNCH_BUDGET ? LAUNCH_BUDGET * budget_per_block
                                                                  : UINT64_MAX;
    pool.part_blocks = (nblocks + PARTS - 1) / PARTS;
    atomic_store(&pool.spent, 0);
    parts.blocks = pool.part_blocks;
    memset(parts.of, 0, sizeof parts.of);
    memset(sms.of, 0, sizeof sms.of);
    sms.n = n->program->device->card.sms < MAX_SMS ? n->program->device->card.sms : MAX_SMS;
    sms.wave = wave;
    for (uint64_t k = 0; k * pool.part_blocks < nblocks; k++) atomic_store(&pool.spent_in[k], 0);
    if (waits(n)) {
        exec_run_together(&workers[0], n, nblocks, charge);
        end_wave(n->program->device, 1);
        return;
    }
    if (!exec_heard && exec_blocks_alike(n->kernel)) {
        sms.wave = 0; /* one block runs for all, and no SM has more than others */
        run_alike(n, nblocks);
        return;
    }
    for (uint64_t first = 0; first < nblocks && first < atomic_load(&pool.stop_at); first += wave)
        run_wave(n->program->device, first, nblocks - first < wave ? nblocks : first + wave, threads);
}

/* --- the result --------------------------------------------------------------------------------------------- */

/* Adds up what the host threads have counted. */
static void collect(const ptx_module *m, unsigned threads, exec_result *r) {
    exec_collect(m, workers, threads, launches, r);
    uint64_t st_hits = 0;
    for (unsigned t = 0; t < threads; t++) {
        r->deepest = deeper(m, r->deepest, workers[t].deepest);
        add_depth(&r->depths, workers[t].depths);
        st_hits += workers[t].st_hits;
        r->st_merged += workers[t].st_merged;
        r->st_scattered += workers[t].st_scattered;
        add_stored(&r->local_stored, workers[t].local_stored);
        r->link_read += workers[t].link[0];
        r->link_written += workers[t].link[1];
        r->link_requests += workers[t].link_requests;
        r->link_loads += workers[t].link_loads;
    }
    r->alone_rounds = r->depths.missed;
    r->depths.missed = exec_resident_missed_rounds(r->depths.missed);
    const exec_counters *c = &r->total;
    uint64_t looked_up = c->ld_sectors + c->tex_sectors + c->st_sectors;
    uint64_t hits = c->ld_sectors + c->tex_sectors - c->l1_miss_sectors + st_hits;
    r->l1_hit_pct = looked_up ? 100 * (double)hits / (double)looked_up : 0;
    r->atomic_turns[0] = workers[0].busy.turns[0], r->atomic_turns[1] = workers[0].busy.turns[1];
    r->atomic_all = workers[0].busy.all;
    r->store_turns = exec_contention_stored(&workers[0].busy);
}

static void print_text(const char *text, size_t n) {
    if (exec_print)
        exec_print(text, n);
    else
        fwrite(text, 1, n, stdout);
}

/* Prints the output of the kernel's blocks up to `last`, at most `limit` bytes. */
static void print_all(const ptx_function *kernel, unsigned threads, uint64_t last, uint64_t limit) {
    static bool told;
    /* Each worker's text is a list of blocks in order; merge them by block number. */
    size_t at[MAX_WORKERS] = {0};
    for (;;) {
        unsigned best = threads;
        uint64_t lowest = UINT64_MAX;
        for (unsigned t = 0; t < threads; t++)
            if (at[t] < workers[t].printed_blocks && workers[t].printed[at[t]].block < lowest) {
                best = t;
                lowest = workers[t].printed[at[t]].block;
            }
        if (best == threads || lowest > last) break;
        const printed_block *p = &workers[best].printed[at[best]++];
        size_t end = at[best] < workers[best].printed_blocks ? workers[best].printed[at[best]].begin
                                                             : workers[best].print_length;
        const size_t n = end - p->begin < limit ? end - p->begin : limit;
        print_text(workers[best].print + p->begin, n);
        limit -= n;
        if (n == end - p->begin) continue;
        char text[512] = "";
        base_add(
            text, sizeof text,
            "simgpu: %s: a launch printed more than printf's buffer holds; the rest is not printed. Print less, or "
            "call cudaDeviceSetLimit(cudaLimitPrintfFifoSize, bytes) before",
            base_kernel_name(kernel->name).text);
        if (!told) base_say(text);
        told = true;
        break;
    }
}

/* Says once where lanes of a warp did not wait for others. */
static void say_parted(const ptx_function *kernel, unsigned threads) {
    static bool told;
    const worker *first = NULL;
    for (unsigned t = 0; t < threads; t++)
        if (workers[t].parted && (!first || workers[t].parted_block < first->parted_block)) first = &workers[t];
    if (!first || told) return;
    told = true;
    char text[1024] = "simgpu: ";
    const struct simgpu_place at = exec_place_of(kernel->module, first->parted);
    if (at.file) base_add(text, sizeof text, "%s:%d: ", at.file, at.line);
    base_add(text, sizeof text,
             "%s: only some lanes of a warp come to this %s, and the others do not wait for them, as on a card. CUDA "
             "leaves open what the result is. SIMGPU_CHECK=1 stops here, and says who waits where",
             base_kernel_name(kernel->name).text,
             first->parted->op == OP_bar_sync || first->parted->op == OP_bar_red ? "barrier"
                                                                                 : "line, whose mask names them all");
    base_say(text);
}

/* Returns the bytes of shared memory that a block takes, with CUDA's reserve for each. */
static uint32_t taken_of(const exec_card *card, uint32_t shared) { return shared ? shared + card->shared_reserved : 0; }

/* Returns the resident blocks of an SM. Their number is limited by the grid, by threads, and by shared memory. */
static uint32_t resident_of(const exec_card *card, uint64_t nblocks, uint32_t threads, uint32_t shared) {
    uint32_t taken = taken_of(card, shared), resident = card->threads_per_sm / threads;
    if (resident > card->blocks_per_sm) resident = card->blocks_per_sm;
    if (taken && resident > card->shared_per_sm / taken) resident = card->shared_per_sm / taken;
    if (nblocks < (uint64_t)resident * card->sms) resident = (uint32_t)((nblocks + card->sms - 1) / card->sms);
    return resident ? resident : 1;
}

void exec_run(const exec_launch *launch, exec_result *r) {
    const ptx_function *f = launch->kernel;
    memset(r, 0, sizeof *r);
    if (!wanted_threads) exec_configure(0, 0);
    const char *why = exec_unsupported(launch->program, f);
    if (why) {
        exec_fail_refused(&r->fault, f, why);
        return;
    }
    launches++;
    for (uint32_t k = 0; k < f->nshared; k++) launch->program->address[f->shared[k].var->number] = f->shared[k].offset;
    uint64_t nblocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint32_t threads_per_block = launch->block.x * launch->block.y * launch->block.z;
    bool one = exec_heard || f->code->serial || waits(launch) || nblocks * threads_per_block <= SMALL_GRID ||
               wanted_threads == 1;
    if (!one) start_helpers(wanted_threads - 1);
    unsigned threads = one ? 1 : pool.helpers + 1;
    r->blocks = nblocks;
    r->threads_per_block = threads_per_block;
    r->registers = f->registers;
    r->spilled = f->spilled;
    r->shared_bytes = launch->dynamic_shared ? f->dynamic_shared_offset + launch->dynamic_shared : f->static_shared;
    const exec_card *card = &launch->program->device->card;
    uint32_t resident = resident_of(card, nblocks, threads_per_block, r->shared_bytes);
    /* L1 and shared memory are one array. The resident blocks divide the part that their shared memory leaves. */
    uint32_t l1_lines = (card->l1_per_sm / resident - taken_of(card, r->shared_bytes)) / 128;
    exec_resident_begin(waits(launch) ? 0 : resident, card->sms, l1_lines * resident, f->module->instructions);
    for (unsigned t = 0; t < threads; t++) {
        worker_begin(&workers[t], launch, l1_lines);
        workers[t].parallel = threads > 1;
    }
    exec_l2_launch_begins(launch->program->device);
    exec_children_begin(launch, block_budget());
    if (exec_heard) exec_listen_launch_begins(launch, nblocks);
    run_all(launch, nblocks, (uint64_t)resident * card->sms, threads);
    if (exec_heard) exec_listen_launch_ended();
    const worker *failed = NULL;
    for (unsigned t = 0; t < threads; t++)
        if (workers[t].fault.kind != SIMGPU_FAULT_NONE && (!failed || workers[t].fault_block < failed->fault_block))
            failed = &workers[t];
    uint64_t end = budget_end();
    if (failed && failed->fault_block < end) {
        r->fault = failed->fault;
        end = failed->fault_block + 1;
    } else if (end != UINT64_MAX) {
        if (end > nblocks) end = nblocks;
        exec_fail_launch_budget(&r->fault, launch, end, nblocks, pool.budget);
    }
    r->grid_syncs = workers[0].grid_syncs;
    r->grid_fenced = workers[0].grid_fenced;
    say_parted(f, threads);
    print_all(f, threads, waits(launch) ? UINT64_MAX : end - 1, launch->program->device->print_limit);
    collect(f->module, threads, r);
    exec_fetch_collect(launch, workers, threads, launches, r);
    r->parts = parts.of;
    r->part_blocks = parts.blocks;
    r->nparts = (nblocks + parts.blocks - 1) / parts.blocks;
    r->busiest_sm = 0;
    for (uint64_t k = 0; k < sms.n; k++)
        if (r->busiest_sm < sms.of[k]) r->busiest_sm = sms.of[k];
    exec_l2_launch_ended(launch->program->device, r);
    if (r->fault.kind == SIMGPU_FAULT_NONE) r->children = exec_children(&r->nchildren);
    /* The progress of the other blocks depends on the host, so a stopped launch has no counters. */
    if (r->fault.kind != SIMGPU_FAULT_NONE) {
        memset(&r->total, 0, sizeof r->total);
        r->nlines = r->nstages = r->ncode = 0;
        exec_l2_clear(launch->program->device);
        r->footprint_read = r->footprint_written = 0;
        r->alone_sectors = r->alone_lines = r->dram_rounds = r->stored_rounds = r->wave_rounds = r->alone_rounds = 0;
        r->dram_read_bytes = r->dram_write_bytes = r->l2_read_sectors = r->l2_read_hits = r->l2_write_sectors = 0;
        r->l1_hit_pct = r->l2_hit_pct = 0;
        r->deepest = r->depths = (exec_depth){0, 0, 0};
        r->peer_read = r->peer_written = r->link_read = r->link_written = r->link_requests = r->link_loads = 0;
        r->atomic_turns[0] = r->atomic_turns[1] = r->atomic_all = r->store_turns = 0;
        r->st_merged = r->st_scattered = r->grid_syncs = 0;
        r->local_stored = (exec_stored){0, 0, 0};
        r->nparts = r->busiest_sm = 0;
    }
}
