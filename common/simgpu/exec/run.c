/* A launch from beginning to end: host threads take blocks in order, and what they counted is added up.
 *
 * Blocks are claimed in increasing order and every block below a fault's is run to its end, so the fault reported is
 * the lowest block's whatever the number of threads. Counters are sums; the footprint is a union: neither knows the
 * order.
 */
#include "count.h"
#include "hooks.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_WORKERS = 256, CALL_LOCAL = 16384, SMALL_GRID = 1 << 16 };

static unsigned wanted_threads;
static uint64_t budget_per_block = 1ull << 26;
static worker workers[MAX_WORKERS];
static uint64_t launches;

exec_card exec_device = {.sms = 132, .threads_per_sm = 2048, .l1_per_sm = 256 << 10, .shared_per_sm = 228 << 10};
void (*exec_print)(const char *text, size_t length);
const exec_hooks *exec_listener;

const exec_counter_name exec_counter_names[NCOUNTERS] = {
#define COUNTER(field, ncu, what) {#field, ncu, what},
#include "counters.def"
#undef COUNTER
};

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return otherwise;
    unsigned long long v = strtoull(text, &end, 10);
    if (*end || v == 0) {
        fprintf(stderr, "simgpu: %s=%s is not a positive number; using %llu\n", name, text,
                (unsigned long long)otherwise);
        return otherwise;
    }
    return v;
}

void exec_configure(unsigned threads, uint64_t budget) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    wanted_threads = threads ? threads : (unsigned)setting("SIMGPU_THREADS", cores > 0 ? (uint64_t)cores : 1);
    if (wanted_threads > MAX_WORKERS) wanted_threads = MAX_WORKERS;
    budget_per_block = budget ? budget : setting("SIMGPU_BUDGET", 1ull << 26);
}

/* --- loading a module --------------------------------------------------------------------------------------- */

static bool bind_function(ptx_function *f, uint32_t *first, bool avx2) {
    ptx_code *c = f->code;
    c->first = *first;
    *first += c->ninsns;
    static ptx_handler *const others[NOPS] = {
#define LANE1(...)     NULL,
#define LANE2(...)     NULL,
#define LANE3(...)     NULL,
#define FLT1(...)      NULL,
#define FLT2(...)      NULL,
#define FLT3(...)      NULL,
#define COMPARE(...)   NULL,
#define OTHER(id, ...) op_##id,
#include "../ptx/opcodes.def"
    };
    for (uint32_t k = 0; k < c->ninsns; k++) {
        ptx_insn *i = &c->insns[k];
        i->run = others[i->op] ? others[i->op] : avx2 ? lanes_avx2[i->op] : lanes_base[i->op];
        if (i->modified && lanes_modified[i->op]) i->run = lanes_modified[i->op];
        if (i->op != OP_call || !i->call->callee || i->call->callee->code) continue;
        i->call->builtin = builtin_find(i->call->callee->name);
        if (i->call->builtin) continue;
        const ptx_function *callee = i->call->callee;
        char text[512];
        snprintf(text, sizeof text, "call: %s %s (PTX line %u)", callee->name,
                 callee->unsupported ? "is not supported" : "has no body and is no builtin", i->ptx_line);
        f->unsupported = callee->unsupported ? callee->unsupported : strdup(text);
        return false;
    }
    return true;
}

static bool use_avx2(void) {
#if defined(__x86_64__)
    return lanes_avx2[OP_mov_b32] && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2") && !getenv("SIMGPU_NO_AVX2");
#else
    return false;
#endif
}

int exec_load(ptx_module *m, char *err, size_t err_size) {
    if (m->loaded) return 0;
    for (uint32_t k = 0; k < m->nvars; k++) {
        ptx_var *v = m->vars[k];
        if ((v->space != SPACE_GLOBAL && v->space != SPACE_CONST) || v->size == 0) continue;
        v->address = mem_alloc(v->size);
        if (!v->address) {
            snprintf(err, err_size, "no device memory left for the variable %s of %llu bytes", v->name,
                     (unsigned long long)v->size);
            return -1;
        }
        if (v->initial)
            memcpy(mem_host(v->address), v->initial, v->size);
        else
            memset(mem_host(v->address), 0, v->size);
    }
    for (uint32_t k = 0; k < m->nvars; k++)
        for (uint32_t r = 0; r < m->vars[k]->nrelocs; r++) {
            const ptx_reloc *reloc = &m->vars[k]->relocs[r];
            uint64_t value = reloc->addend;
            const ptx_var *target = ptx_find_var(m, reloc->name);
            if (target) value += target->address;
            for (uint32_t n = 0; n < m->nfunctions && !target; n++)
                if (strcmp(m->functions[n]->name, reloc->name) == 0) value += m->functions[n]->number;
            memcpy(mem_host(m->vars[k]->address) + reloc->offset, &value, 8);
        }
    uint32_t first = 0;
    bool avx2 = use_avx2();
    for (uint32_t k = 0; k < m->nfunctions; k++)
        if (m->functions[k]->code && !bind_function(m->functions[k], &first, avx2)) {
            m->functions[k]->code = NULL;
            first = 0;
            k = UINT32_MAX; /* a caller of that one is unsupported too: again from the start */
        }
    m->instructions = first;
    m->loaded = true;
    return 0;
}

/* --- a block ------------------------------------------------------------------------------------------------ */

void fault_deadlock(block *b);

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }
static exec_depth deeper(exec_depth a, exec_depth b) {
    return (exec_depth){most(a.rounds, b.rounds), most(a.missed, b.missed), most(a.clocks, b.clocks)};
}
static void add_depth(exec_depth *to, exec_depth d) {
    to->rounds += d.rounds, to->missed += d.missed, to->clocks += d.clocks;
}

void block_run(block *b) {
    worker *t = b->worker;
    b->live = b->nthreads;
    b->failed = false;
    b->budget = budget_per_block;
    memset(b->barriers, 0, sizeof b->barriers);
    for (int k = 0; k < MAX_BARRIERS; k++) b->barriers[k].all = true;
    memset(b->shared, 0xCD, b->shared_bytes);
    l1_next_block(&t->l1);
    if (exec_listener) exec_listener->block_begins(b);
    for (uint32_t k = 0; k < b->nwarps; k++) warp_start(&b->warps[k], b, k);
    while (b->live && !b->failed) {
        bool progress = false;
        for (uint32_t k = 0; k < b->nwarps && !b->failed; k++)
            if (b->warps[k].live) progress |= warp_run(&b->warps[k]);
        if (!progress && b->live && !b->failed) fault_deadlock(b);
    }
    exec_depth d = {0, 0, 0};
    for (uint32_t k = 0; k < b->nwarps; k++) {
        int64_t depth = b->warps[k].depth, rounds = (depth + PTX_DEPTH_ROUND / 2) / PTX_DEPTH_ROUND;
        int64_t clocks = depth - rounds * PTX_DEPTH_ROUND;
        d = deeper(d, (exec_depth){(uint64_t)rounds, (uint64_t)b->warps[k].missed, clocks > 0 ? (uint64_t)clocks : 0});
    }
    t->deepest = deeper(t->deepest, d);
    add_depth(&t->depths, d);
}

/* --- a worker's memory -------------------------------------------------------------------------------------- */

static void *must(void *p) {
    if (p == NULL || p == MAP_FAILED) sim_refuse("out of host memory");
    return p;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Registers of all warps, local memory, shared memory: one mapping, touched as far as used. */
static void worker_prepare(worker *t, const exec_launch *n, uint32_t nwarps, uint32_t threads) {
    const ptx_function *f = n->kernel;
    uint32_t stack = (uint32_t)round_up(f->code->frame_bytes, 4096) + (f->code->calls ? CALL_STACK : 0);
    uint32_t local = (uint32_t)round_up(f->local_bytes + (f->code->calls ? CALL_LOCAL : 0), 16);
    uint32_t shared = f->dynamic_shared_offset + n->dynamic_shared;
    if (!n->dynamic_shared) shared = f->static_shared;
    size_t need = round_up(nwarps * sizeof(warp), 4096) + (size_t)nwarps * (stack + round_up(32ull * local, 4096)) +
                  round_up(shared, 4096) + 4096;
    if (need > t->arena_bytes) {
        if (t->arena) munmap(t->arena, t->arena_bytes);
        t->arena = must(mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        t->arena_bytes = need;
    } else {
        memset(t->arena, 0, nwarps * sizeof(warp));
    }
    uint8_t *p = t->arena;
    block *b = &t->block;
    *b = (block){.worker = t,
                 .launch = n,
                 .nwarps = nwarps,
                 .nthreads = threads,
                 .warps = (warp *)(void *)p,
                 .shared_bytes = shared};
    p += round_up(nwarps * sizeof(warp), 4096);
    for (uint32_t k = 0; k < nwarps; k++) {
        b->warps[k].stack = p;
        p += stack;
        b->warps[k].local = p;
        b->warps[k].local_stride = local;
        p += round_up(32ull * local, 4096);
    }
    b->shared = p;
}

static void worker_begin(worker *t, const exec_launch *n, uint32_t l1_lines) {
    uint32_t threads = n->block.x * n->block.y * n->block.z, count = n->kernel->module->instructions;
    worker_prepare(t, n, (threads + 31) / 32, threads);
    if (count > t->capacity) {
        t->capacity = count;
        t->executed = must(realloc(t->executed, count * sizeof *t->executed));
        t->threads = must(realloc(t->threads, count * sizeof *t->threads));
        t->counters = must(realloc(t->counters, count * sizeof *t->counters));
        t->ranges = must(realloc(t->ranges, count * sizeof *t->ranges));
    }
    memset(t->executed, 0, count * sizeof *t->executed);
    memset(t->threads, 0, count * sizeof *t->threads);
    memset(t->counters, 0, count * sizeof *t->counters);
    memset(t->ranges, 0, count * sizeof *t->ranges);
    t->launch_number = launches;
    t->deepest = t->depths = (exec_depth){0, 0, 0};
    contention_begin(&t->busy);
    t->fault.status = EXEC_OK;
    t->fault_block = UINT64_MAX;
    t->print_length = 0;
    t->printed_blocks = 0;
    l1_start(&t->l1, l1_lines);
}

/* --- host threads ------------------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    unsigned running, generation, helpers;
    const exec_launch *launch;
    uint64_t nblocks, chunk;
    _Atomic uint64_t next, stop_at; /* the next block to claim; blocks from stop_at on need not run */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void run_blocks(worker *t) {
    const exec_launch *n = pool.launch;
    for (;;) {
        uint64_t first = atomic_fetch_add(&pool.next, pool.chunk), last = first + pool.chunk;
        if (last > pool.nblocks) last = pool.nblocks;
        if (first >= last) return;
        for (uint64_t id = first; id < last; id++) {
            if (id >= atomic_load(&pool.stop_at)) return;
            block *b = &t->block;
            b->id = id;
            b->index = (exec_dim){(uint32_t)(id % n->grid.x), (uint32_t)(id / n->grid.x % n->grid.y),
                                  (uint32_t)(id / n->grid.x / n->grid.y)};
            block_run(b);
            if (!b->failed) continue;
            uint64_t old = atomic_load(&pool.stop_at);
            while (id < old && !atomic_compare_exchange_weak(&pool.stop_at, &old, id)) {}
            return;
        }
    }
}

static void *helper(void *arg) {
    worker *t = arg;
    unsigned seen = t->generation;
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

/* A forked child has the thread that forked and no other: it runs its blocks alone. */
static void in_child(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.work = pool.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.helpers = 0;
    wanted_threads = 1;
}

/* Signals belong to the program's own threads. A host that gives no more threads gives fewer: results are the same. */
static void start_helpers(unsigned n) {
    static bool told;
    sigset_t all, old;
    if (!told) pthread_atfork(NULL, NULL, in_child);
    told = true;
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

static void run_all(const exec_launch *n, uint64_t nblocks, unsigned threads) {
    pthread_mutex_lock(&pool.lock);
    pool.launch = n;
    pool.nblocks = nblocks;
    pool.chunk = nblocks / (threads * 16) ? nblocks / (threads * 16) : 1;
    if (pool.chunk > 64) pool.chunk = 64;
    atomic_store(&pool.next, 0);
    atomic_store(&pool.stop_at, UINT64_MAX);
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
}

/* --- the result --------------------------------------------------------------------------------------------- */

static void add_counters(exec_counters *to, const exec_counters *from) {
    uint64_t *a = (uint64_t *)(void *)to;
    const uint64_t *b = (const uint64_t *)(const void *)from;
    for (int k = 0; k < NCOUNTERS; k++) a[k] += b[k];
}

static exec_line *lines;
static uint32_t line_capacity;

static int by_place(const void *a, const void *b) {
    const exec_line *x = a, *y = b;
    int c = strcmp(x->file, y->file);
    return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

static void add_line(exec_result *r, const ptx_module *m, const ptx_insn *i, const exec_counters *c) {
    const char *file = i->file < m->nfiles ? m->files[i->file] : "";
    add_counters(&r->total, c);
    for (uint32_t k = r->nlines; k-- > 0;)
        if (lines[k].line == i->line && strcmp(lines[k].file, file) == 0) {
            add_counters(&lines[k].c, c);
            return;
        }
    if (r->nlines == line_capacity) {
        line_capacity = line_capacity ? 2 * line_capacity : 64;
        lines = must(realloc(lines, line_capacity * sizeof *lines));
    }
    lines[r->nlines++] = (exec_line){file, i->line, *c};
}

static void collect(const ptx_module *m, unsigned threads, exec_result *r) {
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *code = m->functions[k]->code;
        for (uint32_t n = 0; code && n < code->ninsns; n++) {
            uint32_t at = code->first + n;
            exec_counters sum = {0};
            for (unsigned t = 0; t < threads; t++) {
                add_counters(&sum, &workers[t].counters[at]);
                sum.inst += workers[t].executed[at];
                sum.threads += workers[t].threads[at];
            }
            if (!sum.inst) continue;
            enum ptx_cost cost = ptx_ops[code->insns[n].op].cost;
            sum.issue_slots = code->insns[n].folded ? 0 : sum.inst * ptx_costs[cost].slots;
            if (cost == COST_SHUFFLE) sum.shuffles = sum.inst;
            add_line(r, m, &code->insns[n], &sum);
        }
    }
    qsort(lines, r->nlines, sizeof *lines, by_place);
    r->lines = lines;
    for (unsigned t = 0; t < threads; t++) {
        r->footprint_read += footprint_take(&workers[t], 0);
        r->footprint_written += footprint_take(&workers[t], 1);
        r->deepest = deeper(r->deepest, workers[t].deepest);
        add_depth(&r->depths, workers[t].depths);
        if (t) contention_add(&workers[0].busy, &workers[t].busy);
    }
    contention_most(&workers[0].busy, r->atomic_turns);
}

/* What blocks up to `last` printed. */
static void print_all(unsigned threads, uint64_t last) {
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
        if (exec_print)
            exec_print(workers[best].print + p->begin, end - p->begin);
        else
            fwrite(workers[best].print + p->begin, 1, end - p->begin, stdout);
    }
}

static void refuse_unsupported(const ptx_function *f, exec_result *r) {
    int length;
    const char *name = ptx_base_name(f->name, &length);
    r->fault.status = EXEC_UNSUPPORTED;
    snprintf(r->fault.message, sizeof r->fault.message, "%s: kernel %.*s cannot run on SimGPU: %s",
             f->module->source_name, length, name, f->unsupported ? f->unsupported : "it has no body");
}

void exec_run(const exec_launch *launch, exec_result *r) {
    const ptx_function *f = launch->kernel;
    memset(r, 0, sizeof *r);
    if (!wanted_threads) exec_configure(0, 0);
    if (!f->code) {
        refuse_unsupported(f, r);
        return;
    }
    launches++;
    uint64_t nblocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint32_t threads_per_block = launch->block.x * launch->block.y * launch->block.z;
    bool one = exec_listener || f->code->serial || nblocks * threads_per_block <= SMALL_GRID || wanted_threads == 1;
    if (!one) start_helpers(wanted_threads - 1);
    unsigned threads = one ? 1 : pool.helpers + 1;
    r->blocks = nblocks;
    r->threads_per_block = threads_per_block;
    r->registers = f->registers;
    r->shared_bytes = launch->dynamic_shared ? f->dynamic_shared_offset + launch->dynamic_shared : f->static_shared;
    /* L1 and shared memory are one array; the blocks of an SM share what is left of it (as many threads as an SM holds,
     * and as many blocks as there are). */
    const exec_card *card = &exec_device;
    uint32_t resident = card->threads_per_sm / (threads_per_block > 64 ? threads_per_block : 64);
    if (nblocks < (uint64_t)resident * card->sms) resident = (uint32_t)((nblocks + card->sms - 1) / card->sms);
    uint32_t taken =
        r->shared_bytes * resident < card->shared_per_sm ? r->shared_bytes * resident : card->shared_per_sm;
    uint32_t left = card->l1_per_sm - taken;
    for (unsigned t = 0; t < threads; t++) {
        worker_begin(&workers[t], launch, left / 128 / resident);
        workers[t].parallel = threads > 1;
    }
    if (exec_listener) exec_listener->launch_begins(launch, nblocks);
    run_all(launch, nblocks, threads);
    if (exec_listener) exec_listener->launch_ended();
    const worker *failed = NULL;
    for (unsigned t = 0; t < threads; t++)
        if (workers[t].fault.status != EXEC_OK && (!failed || workers[t].fault_block < failed->fault_block))
            failed = &workers[t];
    if (failed) r->fault = failed->fault;
    print_all(threads, failed ? failed->fault_block : UINT64_MAX);
    collect(f->module, threads, r);
    if (failed) { /* how far the others came depends on the host: what a stopped launch counted is nobody's measure */
        memset(&r->total, 0, sizeof r->total);
        r->nlines = 0;
        r->footprint_read = r->footprint_written = 0;
        r->deepest = r->depths = (exec_depth){0, 0, 0};
        r->atomic_turns[0] = r->atomic_turns[1] = 0;
    }
}
