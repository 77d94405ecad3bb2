/* barrier.c — finds barriers that some threads of a block wait at and others pass by.
 *
 * CUDA allows a __syncthreads() under a condition only if the condition has one value in the whole block. A branch
 * guards a barrier if one of its ways leads to the barrier and the other to none, up to the place where both ways meet.
 * Between two barriers of the block every thread comes to such a branch equally often in a right program, so the n-th
 * time of one thread is compared with the n-th time of the others: if one of them reaches the barrier and another takes
 * the other way, that is a finding, whichever comes first in this run. It is SIMGPU_BARRIER_EXITED if nothing but the
 * kernel's end lies behind the branch on the other way (`if (i >= n) return;`), else SIMGPU_BARRIER_SKIPPED.
 *
 * Not reported: barriers with a number or a thread count, barriers inside device functions under a condition of the
 * caller, conditions with a barrier on both ways (exec/ stops these: SIMGPU_CAUSE_BARRIERS).
 */
#include "finding.h"
#include "parts.h"

#include <string.h>

enum { TURNS = 64, THREADS = 1024 }; /* later turns between two barriers are not compared */

/* What threads did at their n-th time at a branch, since the block's last barrier. */
typedef struct {
    uint32_t epoch;             /* of these entries; others are old */
    const ptx_insn *reached_at; /* a barrier; NULL: none yet */
    bool skipped;
    uint32_t reached_by, skipped_by; /* threads of the block */
} turn;

/* A thread's last time at a branch. */
typedef struct {
    uint32_t epoch;
    uint16_t turns; /* since the last barrier */
    bool reaches;   /* it took the way to the barrier */
} visit;

typedef struct {
    const ptx_insn *branch;
    bool taken_reaches; /* the way to the barrier is the branch's target, not what follows */
    bool ends;          /* both ways meet at the kernel's end only */
    uint64_t *reaches;  /* a bit for each instruction of the function: the barriers */
    turn turns[TURNS];
    visit visits[THREADS];
} guard;

/* The guards of a function. Modules stay for the process, so these do too, until the card forgets. */
typedef struct function {
    const ptx_code *code;
    guard *guards;
    uint32_t nguards;
    struct function *next;
} function;

/* Of a card. */
typedef struct {
    function *functions;
    const exec_launch *launch;
    uint64_t block;
    uint32_t epoch; /* grows at each barrier and each block */
    bool blind;     /* the block had its last turn before others; what its threads did then is forgotten */
} barrier_state;
static barrier_state *here;

/* --- which branches guard a barrier -------------------------------------------------------------------------- */

static bool is_barrier(const ptx_insn *i) { return i->op == OP_bar_sync || i->op == OP_bar_red; }
static bool has(const uint64_t *set, uint32_t n) { return set[n / 64] >> (n % 64) & 1; }
static void put(uint64_t *set, uint32_t n) { set[n / 64] |= 1ull << (n % 64); }

/* Adds every instruction that can run from `at` on before `branch` runs again or both its ways meet. */
static void walk(const ptx_code *c, const ptx_insn *branch, uint32_t at, uint64_t *seen, uint32_t *stack) {
    uint32_t n = 0;
    stack[n++] = at;
    while (n) {
        uint32_t k = stack[--n];
        const ptx_insn *i = &c->insns[k];
        if (k > c->ninsns || k == branch->join || k == branch->beyond || i == branch || has(seen, k)) continue;
        put(seen, k);
        bool leaves = i->op == OP_ret || i->op == OP_exit || i->op == OP_trap || (i->op == OP_bra && !i->guarded);
        if (i->op == OP_bra) stack[n++] = i->target;
        for (uint32_t t = 0; i->op == OP_brx && t < i->call->ntargets; t++) stack[n++] = i->call->targets[t];
        if (i->op != OP_brx && (!leaves || i->guarded)) stack[n++] = k + 1;
    }
}

/* Removes all but the barriers from the set. Returns whether there is one. */
static bool keep_barriers(const ptx_code *c, uint64_t *set) {
    bool any = false;
    for (uint32_t k = 0; k <= c->ninsns; k++) {
        if (has(set, k) && is_barrier(&c->insns[k]))
            any = true;
        else
            set[k / 64] &= ~(1ull << (k % 64));
    }
    return any;
}

static void add_guard(function *f, const ptx_insn *branch, uint32_t *stack) {
    const ptx_code *c = f->code;
    uint32_t words = c->ninsns / 64 + 1, self = (uint32_t)(branch - c->insns);
    uint64_t *taken = check_must(calloc(words, sizeof *taken)), *other = check_must(calloc(words, sizeof *other));
    walk(c, branch, branch->target, taken, stack);
    walk(c, branch, self + 1, other, stack);
    bool by_taken = keep_barriers(c, taken), by_other = keep_barriers(c, other);
    if (by_taken != by_other) {
        f->guards = check_must(realloc(f->guards, (f->nguards + 1) * sizeof *f->guards));
        guard *g = &f->guards[f->nguards++];
        memset(g, 0, sizeof *g);
        g->branch = branch;
        g->taken_reaches = by_taken;
        g->ends = branch->join == NO_JOIN;
        g->reaches = by_taken ? taken : other;
        free(by_taken ? other : taken);
        return;
    }
    free(taken);
    free(other);
}

static function *function_of(const ptx_code *c) {
    for (function *f = here->functions; f; f = f->next)
        if (f->code == c) return f;
    function *f = check_must(calloc(1, sizeof *f));
    uint32_t room = 2;
    bool barriers = false;
    for (uint32_t k = 0; k < c->ninsns; k++) {
        barriers |= is_barrier(&c->insns[k]);
        room += c->insns[k].op == OP_brx ? c->insns[k].call->ntargets : 2;
    }
    f->code = c;
    f->next = here->functions;
    here->functions = f;
    uint32_t *stack = check_must(malloc(room * sizeof *stack));
    for (uint32_t k = 0; k < c->ninsns && barriers; k++)
        if (c->insns[k].op == OP_bra && c->insns[k].guarded) add_guard(f, &c->insns[k], stack);
    free(stack);
    return f;
}

/* --- the comparison ------------------------------------------------------------------------------------------ */

static void say(const guard *g, const turn *t) {
    const ptx_module *m = here->launch->kernel->module;
    struct simgpu_finding n = {.kind = g->ends ? SIMGPU_BARRIER_EXITED : SIMGPU_BARRIER_SKIPPED, .nsides = 2};
    n.side[0].at = exec_place_of(m, t->reached_at);
    n.side[1].at = exec_place_of(m, g->branch);
    n.side[0].at.did = SIMGPU_DID_WAIT;
    n.side[1].at.did = SIMGPU_DID_SKIP;
    if (!check_finding_is_new(&n)) return;
    check_finding_thread(&n, 0, here->launch, here->block, t->reached_by);
    check_finding_thread(&n, 1, here->launch, here->block, t->skipped_by);
    n.cooperative = here->launch->cooperative;
    n.same_code = n.side[0].at.line == n.side[1].at.line;
    check_finding_hold(&n);
}

static turn *turn_of(guard *g, uint32_t number) {
    turn *t = &g->turns[number];
    if (t->epoch != here->epoch) *t = (turn){.epoch = here->epoch};
    return t;
}

static void note(turn *t, const guard *g, bool skipped, uint32_t thread, const ptx_insn *barrier) {
    if (skipped && !t->skipped) t->skipped = true, t->skipped_by = thread;
    if (!skipped && !t->reached_at) t->reached_at = barrier, t->reached_by = thread;
    if (t->skipped && t->reached_at) say(g, t);
}

static void branched(const exec_branch *b) {
    function *f = function_of(b->code);
    uint32_t i = 0;
    if (here->blind) return;
    while (i < f->nguards && f->guards[i].branch != b->insn) i++;
    if (i == f->nguards) return;
    guard *g = &f->guards[i];
    for (uint32_t m = b->at.lanes; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), thread = b->at.warp * 32 + lane;
        visit *v = &g->visits[thread % THREADS];
        if (v->epoch != here->epoch) *v = (visit){.epoch = here->epoch};
        v->reaches = (b->taken >> lane & 1) == g->taken_reaches;
        uint16_t number = v->turns;
        if (v->turns < TURNS) v->turns++;
        if (number < TURNS && !v->reaches) note(turn_of(g, number), g, true, thread, NULL);
    }
}

static void arrived(const exec_arrival *a) {
    function *f = function_of(a->code);
    uint32_t barrier = (uint32_t)(a->insn - a->code->insns);
    if (a->number || a->counted || !a->waits || here->blind) return;
    for (uint32_t i = 0; i < f->nguards; i++) {
        guard *g = &f->guards[i];
        if (!has(g->reaches, barrier)) continue;
        for (uint32_t m = a->at.lanes; m; m &= m - 1) {
            uint32_t thread = a->at.warp * 32 + (uint32_t)__builtin_ctz(m);
            const visit *v = &g->visits[thread % THREADS];
            if (v->epoch != here->epoch || !v->reaches || v->turns >= TURNS) continue;
            note(turn_of(g, v->turns - 1u), g, false, thread, a->insn);
        }
    }
}

static void passed(const exec_barrier *b) {
    if (!b->all || b->number) return;
    here->epoch++;
    here->blind = false;
}

static void launch_begins(const exec_launch *n, uint64_t blocks) {
    (void)blocks;
    here->launch = n;
}

static void block_begins(uint64_t block, uint32_t shared_bytes) {
    (void)shared_bytes;
    here->block = block;
    here->epoch++;
    here->blind = false;
}

static void block_resumes(uint64_t block) {
    here->block = block;
    here->epoch++;
    here->blind = true;
}

const exec_listener check_barriers = {.launch_begins = launch_begins,
                                      .block_begins = block_begins,
                                      .block_resumes = block_resumes,
                                      .branched = branched,
                                      .arrived = arrived,
                                      .passed = passed};

/* --- of a card ----------------------------------------------------------------------------------------------- */

static void use(void *state) { here = state; }

static void forget(void) {
    for (function *f = here->functions, *next; f; f = next) {
        next = f->next;
        for (uint32_t k = 0; k < f->nguards; k++) free(f->guards[k].reaches);
        free(f->guards);
        free(f);
    }
}

const check_part check_part_barriers = {sizeof(barrier_state), use, forget};
