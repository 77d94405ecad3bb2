/* depth.c — computes how long a warp waits for its own instructions, which depend on each other.
 *
 * An instruction waits for its operands, and a warp starts one at a time. So each basic block has a depth, in two
 * numbers:
 *
 *   rounds   the number of rounds of loads from global memory, one after another. ptxas moves loads up as far as it
 *            may: above arithmetic, shared stores and short ifs (it predicates them), but not above the load that gives
 *            their address, a branch, a barrier, or a store to the same space that could change the loaded memory. The
 *            loads that come together are a round, for which a warp waits for memory once.
 *
 *   clocks   the additional clocks of its other instructions, by the latencies of the card's costs: 0 while the warp
 *            waits for memory anyway, all of them before a load's address or behind its value; at least the sum of
 *            their slots.
 *
 * Where ptxas makes one turn of several of a loop (machine_loop.c), these turns are one schedule: loads of all of them
 * come together, unless their addresses depend on each other, or there are more of them than registers: then they come
 * in more rounds, and loads from shared memory wait until those before them have had their last use.
 *
 * A warp's depth is the sum over the blocks that it runs. A block that only forward branches reach continues the
 * schedule of its predecessors, and where ways meet of which one has a division, a root or a call in it, it starts
 * behind what they have started (joins_ways); a loop starts a new schedule in each turn. Loads stay behind a division
 * or a root, since there is a branch in it. A warp starts its instructions in order: a branch that ptxas leaves waits
 * until all in front of it can start, and all behind it wait for the branch. So two copies of a word to shared memory,
 * each under a condition with more arithmetic than ptxas predicates, are two rounds, since the first store waits for
 * its load. A barrier behind instructions that use shared memory waits for the
 * start of all (pass_barrier), the branch at the end of a turn, too (end_turn). */
#include "cfg.h"
#include "parse.h"

#include <string.h>

/* The time at which a value is known: a number of rounds, and clocks beside them. */
typedef struct {
    int32_t rounds, clocks;
} moment;

/* A load, which holds registers until its value's last use. */
typedef struct {
    moment last_use;
    uint32_t registers, id; /* id: of the register that it fills, of several the first */
} pending_load;
enum { MOST_HELD = 12 };

typedef struct {
    moment global_store, any_store, barrier; /* of the latest stored value; of the latest before a barrier */
    moment end;                              /* the latest of all */
    moment control;                          /* of the latest branch's decision */
    moment guarded; /* when the stores in [guarded_from, guarded_end) may start, which ptxas predicates */
    uint32_t guarded_from, guarded_end;
    moment order;            /* of the latest division or root */
    moment async;            /* of the latest copy in flight */
    moment transposed;       /* of the latest fragment of a matrix that is transposed */
    moment passed, returned; /* of the latest argument of the next call; of the latest call's result */
    moment issued;           /* the earliest start of what stands behind all instructions so far */
    bool shared;             /* shared memory was used since the latest barrier */
    bool under_way; /* global memory was used since the latest fence, in this turn of a loop and this function */
    moment from;    /* the start of the schedule, or of what stands behind the latest barrier */
    int32_t slots;  /* since then, in 1 / PTX_MACHINE_UNIT */
    /* Of the loop that copies to shared memory, over its blocks: it, the rounds before it, the registers that its loads
     * have taken, the latest of them. */
    const ptx_insn *copies;
    int32_t rounds_before;
    uint32_t copied, nheld;
    pending_load held[MOST_HELD];
    moment of[]; /* by register id */
} schedule;

typedef struct {
    const ptx_costs *costs;
    const ptx_code *code; /* of the function */
    const ptx_insn *insns;
    const uint32_t *id_of;
    uint32_t limit; /* of the frame's registers */
    size_t bytes;   /* of one schedule */
    uint8_t *all;   /* the schedule at the end of each block */
    /* The loads of the block that is scheduled, in order; those from `oldest` on hold registers. */
    pending_load *loads;
    uint32_t nloads, oldest, taken; /* taken: the registers that they hold */
    const ptx_insn *copies;   /* the first instruction of the loop around it that copies to shared memory, or NULL */
    uint32_t loaded;          /* the registers that all of global memory fill */
    uint32_t room;            /* those that they may hold */
    const ptx_insn **copying; /* by block: find_copying_loops() */
    uint32_t *load_of;        /* by register id, of nids: the number of the load that fills it, + 1, or 0 */
    uint32_t nids;
} schedules;

static schedule *schedule_of(const schedules *t, uint32_t block) { return (void *)(t->all + block * t->bytes); }

static bool is_later(const schedules *t, moment a, moment b) {
    return (a.rounds - b.rounds) * (int32_t)t->costs->round_clocks + a.clocks - b.clocks > 0;
}
static moment later(const schedules *t, moment a, moment b) { return is_later(t, b, a) ? b : a; }
static moment after(moment m, int32_t clocks) { return (moment){m.rounds, m.clocks + clocks}; }
static moment known(const schedules *t, const schedule *v, uint32_t row) {
    return row && row < t->limit ? v->of[t->id_of[row / 4]] : (moment){0, 0};
}
static void set_known(const schedules *t, schedule *v, uint32_t row, moment m) {
    uint32_t id = row && row < t->limit ? t->id_of[row / 4] : 0;
    if (id) v->of[id] = m;
}

/* Notes that an instruction reads a row at m. */
static void note_use(const schedules *t, uint32_t row, moment m) {
    const uint32_t id = row && row < t->limit ? t->id_of[row / 4] : 0, load = id ? t->load_of[id] : 0;
    if (load) t->loads[load - 1].last_use = later(t, t->loads[load - 1].last_use, m);
}

static void note_uses(const schedules *t, const ptx_insn *i, moment m) {
    note_use(t, i->a, m), note_use(t, i->b, m), note_use(t, i->c, m), note_use(t, i->e, m);
    for (int n = 0; i->op == OP_st && n < 4; n++) note_use(t, i->v[n], m);
}

/* Returns when a load of so many registers can come: at m, or when earlier ones have given theirs back. */
static moment find_room(schedules *t, moment m, uint32_t registers) {
    while (t->taken + registers > t->room && t->oldest < t->nloads) {
        m = later(t, m, t->loads[t->oldest].last_use);
        t->taken -= t->loads[t->oldest++].registers;
    }
    t->taken += registers;
    return m;
}

static void note_load(schedules *t, const ptx_insn *i, moment m, uint32_t registers) {
    const uint32_t rows[] = {i->d, i->v[0], i->v[1], i->v[2], i->v[3]};
    pending_load *l = &t->loads[t->nloads++];
    *l = (pending_load){m, registers, 0};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        const uint32_t id = rows[n] && rows[n] < t->limit ? t->id_of[rows[n] / 4] : 0;
        if (id) t->load_of[id] = t->nloads;
        if (id && !l->id) l->id = id;
    }
}

/* Returns whether the loop computes a row in each turn by more than sums and products, before the instruction: else
 * ptxas adds to a register, or to the access's offset. */
static bool is_computed(const schedules *t, const ptx_insn *i, uint32_t row, int depth) {
    if (!row || row >= t->limit || !depth) return false;
    while (--i >= t->copies && i->d != row) {}
    if (i < t->copies) return false;
    if (!ptx_is_sum(i)) return ptx_ops[i->op].cost == COST_ALU;
    return is_computed(t, i, i->a, depth - 1) || is_computed(t, i, i->b, depth - 1) ||
           is_computed(t, i, i->c, depth - 1);
}

/* Returns the registers that a load takes until its value's last use: those of the value, and, in a loop that copies to
 * shared memory, of both addresses, if they are computed in each turn. (Machine code by nvcc 13 for sm_90: `for (e = t;
 * e < 1024; e += 256) a_tile[e] = a[e / 64 * pitch + e % 64], b_tile[e] = ...`, unrolled by four, comes in two to four
 * rounds, the same of `a[e]` in one.) */
static uint32_t load_registers(const schedules *t, const ptx_insn *i) {
    enum { ADDRESSES = 3, BACK = 5 };
    const uint32_t value = i->vector * (ptx_type_bytes[i->type] == 8 ? 2 : 1);
    if (!t->copies || i->space == SPACE_SHARED) return value;
    return value + (is_computed(t, i, i->a, BACK) ? ADDRESSES : 0);
}

/* Returns whether the instruction is a loop of compare and swap on shared memory (exec/cas.c). */
static bool is_loop(const ptx_insn *i) { return i->space == SPACE_SHARED && ptx_needs_cas(i); }

/* Returns whether lanes combine what they have before one of them does the atomic (machine.c). */
static bool is_combined(const ptx_insn *i) {
    return i->op == OP_atom && i->space == SPACE_SHARED && !ptx_needs_cas(i) && i->machine > PTX_MACHINE_UNIT;
}

/* A division or a root is a sequence of instructions, with a branch to a slower one for rare operands at its end. What
 * stands behind it stays there, and so they take turns: an H200 takes four independent divisions one after another, in
 * 3.7 times the time of one. Loads stay behind it, too: of a[i] / b[i] + c[i], ptxas loads c[i] when it has the
 * quotient. Arithmetic may stand in front of it. A loop of compare and swap is the same to what
 * stands behind it. (Machine code by nvcc 13 for sm_90.) */
static bool has_slow_way(const ptx_insn *i) {
    const enum ptx_cost cost = ptx_ops[i->op].cost;
    return cost == COST_FDIV || cost == COST_DDIV || cost == COST_DIV64 || is_loop(i);
}

static bool is_logic_of_predicates(const ptx_insn *i) {
    return i->op == OP_and_pred || i->op == OP_or_pred || i->op == OP_xor_pred || i->op == OP_not_pred;
}
/* Returns whether the branch leads to the next instruction, as in clang's `@p bra A; bra B; B:`. */
static bool leads_on(const ptx_code *c, uint32_t at) {
    return c->insns[at].op == OP_bra && !c->insns[at].guarded && c->insns[at].target == at + 1;
}

enum { PREDICATED = 7 }; /* instructions, at most */

static bool is_sum_of_address(const ptx_code *c, uint32_t at) {
    enum { SOON = 8 };
    const ptx_insn *i = &c->insns[at];
    for (uint32_t k = at + 1; i->op == OP_add_u64 && k < c->ninsns && k - at < SOON; k++) {
        const ptx_insn *x = &c->insns[k];
        if ((x->op == OP_ld || x->op == OP_st) && x->a == i->d) return true;
        if (x->d == i->d) return false;
    }
    return false;
}

/* Returns whether the instruction uses memory, other than parameters and constants. */
static bool is_access(const ptx_insn *i) {
    const bool moves = ptx_is_load(i) || i->op == OP_st || i->op == OP_atom || i->op == OP_tex || i->op == OP_tld4 ||
                       i->op == OP_suld || i->op == OP_sust || i->op == OP_cp_async;
    return moves && i->space != SPACE_PARAM && i->space != SPACE_CONST;
}

/* Returns whether an instruction in [from, to) reads the register. */
static bool read_within(const ptx_code *c, uint32_t from, uint32_t to, uint32_t row) {
    for (uint32_t k = from; k < to && k < c->ninsns; k++) {
        uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(&c->insns[k], fields);
        for (uint32_t f = 0; f < n; f++)
            if (*fields[f] == row) return true;
    }
    return false;
}

/* Returns whether the branch at `at`, among the instructions [from, to), keeps ptxas from predicating them: it skips
 * an access to memory, and is not the rest of an `if (a && b)`: more stands behind what it skips, or there is
 * more in front of it than the arithmetic of a condition. (Machine code by ptxas 13 for sm_90 of 37 kernels, nvcc's PTX
 * and clang's alike: `if (p) { x = s[t]; if (x > y) s[u] = x; }` is a branch and a predicated store; where the inner
 * one only adds to a register, there is no branch.) */
static bool keeps_branch(const ptx_code *c, uint32_t from, uint32_t to, uint32_t at) {
    enum { FAR = 512 }; /* where values are read that the condition's arithmetic leaves */
    const uint32_t target = c->insns[at].target, end = target > at && target < to ? target : to;
    bool access = false;
    for (uint32_t k = at + 1; k < end; k++) access |= is_access(&c->insns[k]);
    if (!access) return false;
    for (uint32_t k = end; k < to; k++)
        if (ptx_ops[c->insns[k].op].cost != COST_FREE) return true;
    for (uint32_t k = from; k < at; k++) {
        const ptx_insn *i = &c->insns[k];
        if (is_access(i)) return true;
        if (ptx_ops[i->op].cost == COST_FREE || i->op == OP_bra || !i->d) continue;
        if (read_within(c, to, to + FAR, i->d) || read_within(c, from > FAR ? from - FAR : 0, from, i->d)) return true;
    }
    return false;
}

/* Returns whether the instructions [from, to) are few and plain: ptxas predicates those. A division or a root is not
 * plain, since there is a branch in it, nor is an atomic. Branches to `end` may be among them, the rest of an `if (a &&
 * b)`; and branches forward among themselves, but for those that keep a branch
 * around them (keeps_branch). What costs nothing is not counted, since versions of clang differ in
 * where they put it: a parameter is loaded at the top of a kernel or where it is used; nor is the sum of a pointer and
 * an index, which one instruction multiplies and adds. */
static bool are_few(const ptx_code *c, uint32_t from, uint32_t to, uint32_t end) {
    enum { LONG = 16 * PREDICATED }; /* with all that costs nothing */
    int few = 0;
    if (to > from + LONG) return false;
    for (uint32_t i = from; i < to; i++) {
        enum ptx_cost cost = ptx_ops[c->insns[i].op].cost;
        const uint32_t target = c->insns[i].target;
        const bool skips =
            c->insns[i].op == OP_bra && c->insns[i].guarded && (target == end || (target > i && target < to));
        if (skips && keeps_branch(c, from, to, i)) return false;
        if (skips || leads_on(c, i) || is_logic_of_predicates(&c->insns[i])) continue;
        few += cost != COST_FREE && !is_sum_of_address(c, i);
        if (cost == COST_BRANCH || cost == COST_BARRIER || has_slow_way(&c->insns[i]) || c->insns[i].op == OP_atom)
            return false;
        if (few > PREDICATED) return false;
    }
    return true;
}

/* Returns where the other way of a branch ends that is `@p bra B; A: ...; bra J; B: ...; J:`, or 0 for another form. */
static uint32_t end_of_diamond(const ptx_code *c, uint32_t at) {
    uint32_t target = c->insns[at].target;
    if (target <= at + 1) return 0;
    const ptx_insn *last = &c->insns[target - 1];
    return last->op == OP_bra && !last->guarded && last->target > target ? last->target : 0;
}

/* Returns the end of `if (a || b)`: `@p bra X; ...; @q bra J; X: ...; J:`, or 0 for another form. */
static uint32_t end_of_or(const ptx_code *c, uint32_t at) {
    const uint32_t target = c->insns[at].target;
    if (target <= at + 1) return 0;
    const uint32_t last = target > at + 2 && leads_on(c, target - 1) ? target - 2 : target - 1;
    const ptx_insn *i = &c->insns[last];
    return i->op == OP_bra && i->guarded && i->target > target ? i->target : 0;
}

/* Returns where the way ends that a branch back skips and that jumps there itself, `@p bra L; ...; bra L`, or 0. clang
 * puts what a loop does behind each turn in front of it. */
static uint32_t end_before_jump(const ptx_code *c, uint32_t at) {
    enum { FAR = 4 * PREDICATED };
    const uint32_t target = c->insns[at].target;
    for (uint32_t i = at + 1; target <= at && i < c->ninsns && i - at < FAR; i++)
        if (c->insns[i].op == OP_bra && !c->insns[i].guarded && !leads_on(c, i))
            return c->insns[i].target == target ? i : 0;
    return 0;
}

uint32_t ptx_end_of_skipped(const ptx_code *c, uint32_t at) {
    const uint32_t target = c->insns[at].target, diamond = end_of_diamond(c, at), either = end_of_or(c, at);
    return target <= at ? end_before_jump(c, at) : diamond ? diamond : either ? either : target;
}

/* A branch over a few instructions, or to one of two ways of a few: ptxas predicates them. */
static bool skips_a_few(const ptx_code *c, uint32_t at) {
    uint32_t target = c->insns[at].target, end = ptx_end_of_skipped(c, at);
    if (!end) return false;
    if (end_of_or(c, at)) target = end;
    if (!end_of_diamond(c, at)) return are_few(c, at + 1, end, target);
    return are_few(c, at + 1, target - 1, end) && are_few(c, target, end, end);
}

/* Returns whether the branch is the second of clang's `@p bra A; bra B`, for which a machine needs only one branch. */
static bool is_the_other_way(const ptx_code *c, uint32_t at) {
    const ptx_insn *i = &c->insns[at];
    return i->op == OP_bra && !i->guarded && at && i[-1].op == OP_bra && i[-1].guarded;
}

void ptx_fold_branches(ptx_code *c) {
    for (uint32_t at = 0; at < c->ninsns; at++) {
        ptx_insn *i = &c->insns[at];
        i->folded |= is_the_other_way(c, at);
        if (i->op != OP_bra || !i->guarded || !skips_a_few(c, at)) continue;
        i->folded = true;
        if (end_of_diamond(c, at)) c->insns[i->target - 1].folded = true;
    }
}

/* Returns when all instructions have had their slots, one after another. */
static moment all_issued(const schedule *v) { return after(v->from, v->slots / PTX_MACHINE_UNIT); }

/* Returns when the block's warps have met. ptxas moves arithmetic across a barrier, but not what uses shared memory,
 * and a warp starts its instructions in order: where shared memory is in use, the barrier starts behind all of them,
 * and what follows starts behind it. (An H200, one warp: a loop of a load of shared memory and 1 to 32 multiply-adds
 * takes 14 clocks a turn more with a barrier, one without the load takes none more.) */
static moment pass_barrier(const schedules *t, schedule *v, moment ready, int32_t latency) {
    const moment from = v->shared ? later(t, later(t, v->issued, all_issued(v)), v->barrier) : v->barrier;
    v->barrier = v->issued = later(t, ready, after(from, latency));
    if (v->shared) v->from = v->barrier, v->slots = 0;
    v->shared = false;
    return v->barrier;
}

/* Returns when a fence has let the warp pass: all its accesses are over. Loads, barriers and atomics behind it wait. */
static moment pass_fence(const schedules *t, schedule *v, const ptx_insn *i) {
    if (i->sub == FENCE_OTHER) return v->barrier;
    const int32_t clocks = v->under_way ? t->costs->fence[i->sub].behind : t->costs->fence[i->sub].latency;
    v->under_way = false;
    return v->barrier = after(later(t, v->end, v->any_store), clocks);
}

/* Notes the branch at the end of a loop, which is the last instruction of a turn: it starts when all others have. The
 * costs give its latency behind the test that decides it, which ends as late as an instruction of the ALU. (An H200: K
 * multiply-adds that wait for each other take 4 K + 8 clocks a turn, 8 of them 40.) */
static void end_turn(const schedules *t, schedule *v) {
    v->end = later(t, v->end, after(v->issued, t->costs->of[COST_BRANCH].latency - t->costs->of[COST_ALU].latency));
}

/* Notes when the arguments of a call are known, and its result. What a function does without a body here (one of
 * libdevice's) is a chain: an exponential of an argument that was loaded waits for the load, and what follows for it.
 * Returns when the instruction has its operands. */
static moment pass_values(const schedules *t, schedule *v, const ptx_insn *i, moment in) {
    if (i->op != OP_st_frame && i->op != OP_call && i->op != OP_ld_frame) return in;
    for (int n = 0; i->op == OP_st_frame && n < 4; n++) in = later(t, in, known(t, v, i->v[n]));
    if (i->op != OP_ld_frame) v->passed = in = later(t, in, v->passed);
    if (i->op == OP_call) {
        const bool chain = i->call->callee && !i->call->callee->has_body;
        v->returned = chain ? after(in, i->machine / PTX_MACHINE_UNIT * t->costs->of[COST_ALU].latency) : in;
        v->passed = (moment){0, 0};
    }
    if (i->op == OP_ld_frame) in = later(t, in, v->returned);
    for (int n = 0; i->op == OP_ld_frame && n < 4; n++) set_known(t, v, i->v[n], in);
    return in;
}

/* Returns when the instruction's guard lets it start. */
static moment behind_guard(const schedules *t, const schedule *v, const ptx_insn *i) {
    const moment guard = known(t, v, i->guard);
    return ptx_ops[i->op].cost == COST_BRANCH ? guard : after(guard, t->costs->guard);
}

static bool is_guarded(const schedule *v, uint32_t at) { return at >= v->guarded_from && at < v->guarded_end; }

/* Notes a branch whose instructions ptxas predicates: stores wait for the guard. Arithmetic does not, since the
 * value of its way is selected behind it, and what a load waits for besides is longer. */
static void note_guard(const schedules *t, schedule *v, const ptx_insn *i) {
    const uint32_t at = (uint32_t)(i - t->insns), end = ptx_end_of_skipped(t->code, at);
    const bool within = is_guarded(v, at);
    const moment guard = after(known(t, v, i->guard), t->costs->guard);
    v->guarded = within ? later(t, v->guarded, guard) : guard;
    if (!within) v->guarded_from = at;
    if (!within || end > v->guarded_end) v->guarded_end = end;
}

/* Returns the round that the instruction belongs to. ptxas loads a fragment that it has to transpose (MOVM) into the
 * registers from which it has transposed the one before: wmma's row-major B in global memory. (Machine code by nvcc 13
 * for sm_90: two fragments of A and two of B in a turn come in two rounds.) */
static int32_t advance(schedules *t, schedule *v, const ptx_insn *i) {
    enum ptx_cost class = ptx_ops[i->op].cost;
    ptx_cost_info cost = t->costs->of[class];
    moment in =
        later(t, later(t, known(t, v, i->a), known(t, v, i->b)), later(t, known(t, v, i->c), known(t, v, i->e)));
    for (int n = 0; i->texel && n < 3; n++) {
        in = later(t, in, known(t, v, i->texel->at[n]));
        for (int xy = 0; xy < 2; xy++) in = later(t, in, known(t, v, i->texel->gradient[xy][n]));
    }
    if (i->texel) in = later(t, later(t, in, known(t, v, i->texel->layer)), known(t, v, i->texel->level));
    in = later(t, in, v->control);
    if (has_slow_way(i)) in = later(t, in, v->order);
    if (i->guarded) in = later(t, in, behind_guard(t, v, i));
    if (i->op == OP_st && is_guarded(v, (uint32_t)(i - t->insns))) in = later(t, in, v->guarded);
    in = pass_values(t, v, i, in);
    if (is_combined(i)) in = after(in, t->costs->combine);
    bool reads = ptx_is_load(i) || i->op == OP_tex || i->op == OP_tld4 || i->op == OP_suld,
         writes = i->op == OP_st || i->op == OP_sust;
    const bool packs = i->op == OP_mov_pack && !i->sub, unpacks = i->op == OP_mov_pack && i->sub;
    for (int n = 0; (writes || packs) && n < 4; n++) in = later(t, in, known(t, v, i->v[n]));
    for (int x = MATRIX_a; x <= MATRIX_c && i->op == OP_mma; x++)
        for (uint32_t n = 0; n < i->tensor->pieces[x]; n++) in = later(t, in, known(t, v, i->tensor->row[x][n]));

    bool far = i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC;
    bool loads = reads || (i->op == OP_atom && !i->unused);
    if (writes || i->op == OP_atom) {
        v->any_store = later(t, v->any_store, in);
        if (far) v->global_store = later(t, v->global_store, in);
    }
    if (i->op == OP_bar_sync || i->op == OP_bar_red || i->op == OP_call)
        v->barrier = later(t, v->barrier, v->any_store);
    if (loads) in = later(t, later(t, in, v->barrier), v->order);
    if (loads && far && !i->read_only) in = later(t, in, v->global_store);
    if (i->transposed && far) in = later(t, in, v->transposed);
    note_uses(t, i, in);
    const bool fills = i->op == OP_ld && (far || i->space == SPACE_SHARED);
    const uint32_t registers = load_registers(t, i);
    if (fills) in = find_room(t, in, registers);
    if (reads && far) t->loaded += registers;

    v->shared |= i->space == SPACE_SHARED || i->op == OP_cp_async;
    v->under_way |= far && (reads || writes || i->op == OP_atom);
    if (i->slots && class != COST_BARRIER) v->issued = later(t, v->issued, in);
    if (i->op == OP_cp_async) { /* a round, for which only a wait for all groups waits: others overlap it */
        moment round = {in.rounds + 1, in.clocks};
        v->async = later(t, v->async, round);
        v->slots += i->slots;
        v->end = later(t, v->end, in);
        return round.rounds;
    }
    if (i->op == OP_cp_async_wait && i->imm == 0) v->barrier = in = later(t, in, v->async);

    if (i->op == OP_bra && i->target <= i - t->insns) end_turn(t, v);
    if (i->folded && i->guarded) note_guard(t, v, i);
    if (i->folded) cost = (ptx_cost_info){0, 0};
    v->slots += i->slots;
    if (loads && far)
        in.rounds++;
    else if (is_loop(i))
        in.clocks += t->costs->cas.latency;
    else if (loads || class != COST_MEMORY)
        in.clocks += cost.latency;
    if (class == COST_BARRIER && i->op != OP_bar_arrive) in = pass_barrier(t, v, in, cost.latency);
    if (i->op == OP_fence) in = pass_fence(t, v, i);
    if (class == COST_BRANCH && i->guarded && !i->folded) v->control = later(t, in, v->issued); /* in order */
    if (has_slow_way(i)) v->order = later(t, v->order, in);
    v->end = later(t, v->end, in);
    if (i->transposed && i->op == OP_mov_pack) v->transposed = in;
    set_known(t, v, i->d, in), set_known(t, v, i->d2, in);
    if (fills) note_load(t, i, in, registers);
    for (int n = 0; (reads || unpacks) && n < 4; n++) set_known(t, v, i->v[n], in);
    for (uint32_t n = 0; i->op == OP_mma && n < i->tensor->pieces[MATRIX_d]; n++)
        set_known(t, v, i->tensor->row[MATRIX_d][n], in);
    return in.rounds;
}

/* Returns whether only forward branches reach the block. */
static bool continues(const cfg_block *b, uint32_t number) {
    for (uint32_t k = 0; k < b->nprevious; k++)
        if (b->previous[k] >= number) return false;
    return b->nprevious > 0;
}

/* Returns whether the block, and those of a loop that ptxas unrolls, load from shared memory and nowhere else. */
static bool loads_are_near(const cfg *g, uint32_t number) {
    bool near = false;
    for (uint32_t b = number;; b = g->blocks[b].then) {
        for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++) {
            const ptx_insn *insn = &g->code->insns[i];
            if (!ptx_is_load(insn) || insn->space == SPACE_PARAM || insn->space == SPACE_CONST) continue;
            if (insn->space != SPACE_SHARED) return false;
            near = true;
        }
        if (!g->blocks[number].turns || g->blocks[b].then == b) return near;
    }
}

/* Returns whether the instructions copy from global to shared memory, without a barrier. */
static bool are_copying(const ptx_insn *insns, uint32_t first, uint32_t last) {
    bool loads = false, stores = false;
    for (uint32_t i = first; i <= last; i++) {
        if (insns[i].op == OP_bar_sync || insns[i].op == OP_bar_red) return false;
        loads |= ptx_is_load(&insns[i]) && (insns[i].space == SPACE_GLOBAL || insns[i].space == SPACE_GENERIC);
        stores |= insns[i].op == OP_st && insns[i].space == SPACE_SHARED;
    }
    return loads && stores;
}

/* The registers that a thread has where the SM is full. */
enum { FULL_SM_REGISTERS = 32 };

/* Returns the block that begins at an instruction, to which a branch goes. */
static uint32_t block_at(const cfg *g, uint32_t first) {
    uint32_t low = 0, high = g->nblocks - 1;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (g->blocks[middle].first <= first)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Returns, by block, the first instruction of the innermost loop around it, if that copies from global to shared
 * memory; else NULL. A longer loop is none that copies. The caller frees it. */
static const ptx_insn **find_copying_loops(const cfg *g) {
    enum { LONGEST = 512 };
    const ptx_insn *insns = g->code->insns, **of = ptx_alloc(g->nblocks * sizeof *of);
    uint32_t *length = ptx_alloc(g->nblocks * sizeof *length); /* of the innermost loop so far, or 0 */
    for (uint32_t end = 0; end < g->code->ninsns; end++) {
        const uint32_t begin = insns[end].op == OP_bra ? insns[end].target : NO_JOIN;
        if (begin > end || end - begin >= LONGEST) continue;
        const bool copies = are_copying(insns, begin, end);
        for (uint32_t b = block_at(g, begin); b < g->nblocks && g->blocks[b].first <= end; b++) {
            if (length[b] && length[b] <= end - begin + 1) continue;
            length[b] = end - begin + 1;
            of[b] = copies ? &insns[begin] : NULL;
        }
    }
    ptx_free(length);
    return of;
}

/* Returns how many registers the block's loads may fill at a time: those that a full SM has for each thread, or as many
 * as the function takes, less those that hold other values. ptxas rather lets a warp wait than takes more; where it has
 * to take more, it takes a few for loads, too, and fewer if they come from shared memory, which takes less time: of an
 * unrolled n-body loop two float4. Source: machine code by nvcc 13 for sm_90. */
static uint32_t room_for_loads(const cfg *g, uint32_t number, uint32_t registers, bool copies) {
    enum { SPARE = 6, LEAST = 12, LEAST_BEYOND = 20, LEAST_NEAR = 8, OF_A_LANE = 512, UNIT = 8 };
    /* As many as leave room for as many warps. A scheduler has 512 registers for each lane, in units of 8 for a warp.
     */
    if (copies && registers <= OF_A_LANE / 2)
        registers = OF_A_LANE / (OF_A_LANE / ((registers + UNIT - 1) / UNIT * UNIT)) / UNIT * UNIT;
    uint32_t all = registers > FULL_SM_REGISTERS ? registers : FULL_SM_REGISTERS, held = g->blocks[number].live + SPARE;
    uint32_t least = registers > FULL_SM_REGISTERS ? LEAST_BEYOND : loads_are_near(g, number) ? LEAST_NEAR : LEAST;
    return all > held + least ? all - held : least;
}

/* Returns whether the block has a division, a root or a call: ptxas cannot predicate it, however short it is. */
static bool must_branch(const schedules *t, const cfg_block *b) {
    for (uint32_t i = b->first; i <= b->last; i++)
        if (has_slow_way(&t->insns[i]) || t->insns[i].op == OP_call) return true;
    return false;
}

/* Returns whether ways of a branch that ptxas leaves meet at the block. A warp goes the one or the other, and starts
 * its instructions in order, so it begins the block when it has started those in front of it. Of other ways, ptxas
 * speculates the arithmetic and predicates the rest, even if it is long. */
static bool joins_ways(const schedules *t, const cfg_block *k, const cfg *g) {
    bool branches = false;
    for (uint32_t p = 0; p < k->nprevious; p++) {
        const cfg_block *way = &g->blocks[k->previous[p]];
        const ptx_insn *last = &t->insns[way->last];
        branches |= (last->op != OP_bra || !last->folded) && way->nnext == 1 && must_branch(t, way);
    }
    return k->nprevious > 1 && branches;
}

/* Begins a block's schedule, or continues that of the blocks in front of it. */
static void begin_schedule(const schedules *t, const cfg *g, uint32_t number, uint32_t nregisters) {
    const cfg_block *k = &g->blocks[number];
    schedule *v = schedule_of(t, number);
    for (uint32_t p = 0; continues(k, number) && p < k->nprevious; p++) {
        const schedule *from = schedule_of(t, k->previous[p]);
        v->global_store = later(t, v->global_store, from->global_store);
        v->any_store = later(t, v->any_store, from->any_store);
        v->barrier = later(t, v->barrier, from->barrier);
        v->control = later(t, v->control, from->control);
        v->order = later(t, v->order, from->order);
        if (from->guarded_end > v->guarded_end) {
            v->guarded = from->guarded, v->guarded_from = from->guarded_from, v->guarded_end = from->guarded_end;
        } else if (from->guarded_end == v->guarded_end) {
            v->guarded = later(t, v->guarded, from->guarded);
        }
        v->async = later(t, v->async, from->async);
        v->transposed = later(t, v->transposed, from->transposed);
        v->passed = later(t, v->passed, from->passed);
        v->returned = later(t, v->returned, from->returned);
        v->issued = later(t, v->issued, from->issued);
        v->shared |= from->shared, v->under_way |= from->under_way;
        v->end = later(t, v->end, from->end);
        if (is_later(t, all_issued(from), all_issued(v))) v->from = from->from, v->slots = from->slots;
        if (!v->copies || v->copied < from->copied) {
            v->copies = from->copies, v->rounds_before = from->rounds_before;
            v->copied = from->copied, v->nheld = from->nheld;
            memcpy(v->held, from->held, sizeof v->held);
        }
        for (uint32_t n = 0; n <= nregisters; n++) v->of[n] = later(t, v->of[n], from->of[n]);
    }
    if (continues(k, number) && joins_ways(t, k, g)) v->control = later(t, v->control, v->issued);
}

/* What a block, or a loop that ptxas unrolls, has in its schedule, by instruction. */
typedef struct {
    int32_t *rounds; /* the round in its last turn */
    moment *parts;   /* of the first and of those behind barriers: what all turns take from here to the next barrier */
} by_instruction;

static void add_part(moment *part, moment from, moment to) {
    part->rounds += to.rounds - from.rounds, part->clocks += to.clocks - from.clocks;
}

/* Takes over the loads that still hold registers from the blocks of the same copying loop in front of this one. */
static void take_held(schedules *t, schedule *v) {
    if (v->copies != t->copies) v->copied = v->nheld = 0, v->rounds_before = v->end.rounds;
    v->copies = t->copies;
    for (uint32_t k = 0; t->copies && k < v->nheld; k++) {
        t->loads[t->nloads++] = v->held[k];
        t->taken += v->held[k].registers;
        if (v->held[k].id) t->load_of[v->held[k].id] = t->nloads;
    }
}

static void leave_held(const schedules *t, schedule *v) {
    uint32_t k = t->oldest + MOST_HELD < t->nloads ? t->nloads - MOST_HELD : t->oldest;
    for (v->nheld = 0; t->copies && k < t->nloads; k++) v->held[v->nheld++] = t->loads[k];
}

/* Schedules a block, or all blocks of a loop that ptxas unrolls, of which `last` is the last, with so many registers
 * for loads. */
static void schedule_turns(schedules *t, const cfg *g, uint32_t number, uint32_t last, uint32_t room,
                           by_instruction of) {
    const uint32_t turns = g->blocks[number].turns ? g->blocks[number].turns : 1;
    schedule *v = schedule_of(t, number);
    t->nloads = t->oldest = t->taken = t->loaded = 0;
    t->room = room;
    memset(t->load_of, 0, t->nids * sizeof *t->load_of);
    take_held(t, v);
    for (uint32_t turn = 0; turn < turns; turn++) {
        moment control = v->control, from = v->end;
        uint32_t part = 0;
        for (uint32_t b = number, at = 0;; b = g->blocks[b].then) {
            for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++) {
                const ptx_insn *insn = &g->code->insns[i];
                control = v->control;
                of.rounds[at++] = advance(t, v, insn);
                if ((insn->op != OP_bar_sync && insn->op != OP_bar_red) || (b == last && i == g->blocks[b].last))
                    continue;
                add_part(&of.parts[part], from, v->end);
                part = at, from = v->end;
            }
            if (b == last) break;
        }
        add_part(&of.parts[part], from, v->end);
        if (turn < turns - 1) v->control = control; /* no branch between the turns */
    }
    v->end = later(t, v->end, all_issued(v));
    leave_held(t, v);
}

/* Returns the depth that a turn adds, where so many turns take the time between. */
static int64_t depth_between(moment from, moment to, int32_t turns) {
    return (int64_t)(to.rounds - from.rounds) * (PTX_DEPTH_ROUND / PTX_DEPTH_PART) / turns * PTX_DEPTH_PART +
           (to.clocks - from.clocks) / turns;
}

/* Sets the depth of a block, or of all blocks of a loop that ptxas unrolls, and the rounds behind each of their loads.
 *
 * Two schedules are made, and the one of fewer rounds is taken. In the one a load waits until those before it have
 * given their registers back, in order. ptxas finds a better order where values wait for others: in the other schedule
 * loads have all registers that they want, and then come in as many rounds as it takes to fill that many. */
static void schedule_block(schedules *t, const cfg *g, uint32_t number, uint32_t registers) {
    ptx_insn *insns = g->code->insns;
    const cfg_block *k = &g->blocks[number];
    schedule *v = schedule_of(t, number);
    const moment before = v->end;
    const int32_t turns = k->turns ? k->turns : 1;
    /* Where the kernel needs few registers elsewhere, enough are left for addresses. */
    t->copies = registers >= FULL_SM_REGISTERS ? t->copying[number] : NULL;
    const uint32_t room = room_for_loads(g, number, registers, t->copies);
    uint32_t last = number, n = k->last - k->first + 1;
    for (; k->turns && g->blocks[last].then != last; n += g->blocks[last].last - g->blocks[last].first + 1)
        last = g->blocks[last].then;
    by_instruction of[2], *taken = of; /* of both schedules; of the one that is taken */
    for (int s = 0; s < 2; s++)
        of[s] = (by_instruction){ptx_alloc(n * sizeof *of->rounds), ptx_alloc(n * sizeof *of->parts)};
    uint8_t *begin = ptx_alloc(t->bytes), *full = ptx_alloc(t->bytes);
    t->loads = ptx_alloc((n * (uint32_t)turns + MOST_HELD) * sizeof *t->loads);
    memcpy(begin, v, t->bytes);
    schedule_turns(t, g, number, last, UINT32_MAX, of[0]);
    /* Its rounds, where those of the blocks in front of it do not hide the first. */
    const int32_t now = v->end.rounds - (t->copies ? v->rounds_before : before.rounds), has = now > 0 ? now : 1,
                  needs = (int32_t)((v->copied + t->loaded + room - 1) / room), more = needs > has ? needs - has : 0;
    v->end.rounds += more;
    if (t->taken > room) {
        const int32_t most = v->end.rounds;
        memcpy(full, v, t->bytes);
        memcpy(v, begin, t->bytes);
        schedule_turns(t, g, number, last, room, of[1]);
        if (v->end.rounds > most)
            memcpy(v, full, t->bytes);
        else
            taken = &of[1];
    }
    v->copied += t->copies ? t->loaded : 0;
    int64_t rest = insns[k->first].depth = depth_between(before, v->end, turns);
    for (uint32_t b = number, at = 0;; b = g->blocks[b].then) {
        for (uint32_t i = g->blocks[b].first; i <= g->blocks[b].last; i++) {
            int32_t later_rounds = v->end.rounds - taken->rounds[at];
            if (later_rounds < 0) later_rounds = 0;
            insns[i].part = depth_between((moment){0, 0}, taken->parts[at++], turns);
            rest -= insns[i].part;
            insns[i].later_rounds = (uint8_t)(later_rounds < 255 ? later_rounds : 255);
        }
        if (b != number) memcpy(schedule_of(t, b), v, t->bytes);
        if (b == last) break;
    }
    insns[k->first].part += rest; /* rounds for want of registers */
    for (int s = 0; s < 2; s++) ptx_free(of[s].rounds), ptx_free(of[s].parts);
    ptx_free(begin);
    ptx_free(full);
    ptx_free(t->loads);
}

/* Returns the depth of a block where several ways meet if the warp comes from one of them. stores: the latest store of
 * all ways. Loads behind a store that is skipped stay behind it, so they wait for the branch's condition. */
static int64_t depth_behind(schedules *t, const cfg *g, uint32_t number, uint32_t from, moment stores, bool in_order,
                            uint32_t registers) {
    const ptx_insn *branch = &t->insns[g->blocks[from].last];
    schedule *v = schedule_of(t, number);
    memcpy(v, schedule_of(t, from), t->bytes);
    if (branch->op == OP_bra && branch->guarded && is_later(t, stores, v->global_store))
        v->global_store = later(t, v->global_store, known(t, v, branch->guard));
    if (in_order) v->control = later(t, v->control, v->issued);
    schedule_block(t, g, number, registers);
    memset(v, 0, t->bytes);
    return g->code->insns[g->blocks[number].first].depth;
}

/* Schedules a block where ways meet, and for each branch to it what it takes more, or less, if the warp comes by that
 * one. */
static void schedule_join(schedules *t, const cfg *g, uint32_t number, uint32_t registers) {
    enum { MOST_WAYS = 64 };
    const cfg_block *k = &g->blocks[number];
    const bool in_order = joins_ways(t, k, g);
    int64_t depth[MOST_WAYS];
    moment stores = {0, 0};
    const uint32_t ways = k->nprevious <= MOST_WAYS ? k->nprevious : 0;
    for (uint32_t p = 0; p < ways; p++) stores = later(t, stores, schedule_of(t, k->previous[p])->global_store);
    for (uint32_t p = 0; p < ways; p++)
        depth[p] = depth_behind(t, g, number, k->previous[p], stores, in_order, registers);
    begin_schedule(t, g, number, t->nids - 1);
    schedule_block(t, g, number, registers);
    for (uint32_t p = 0; p < ways; p++) {
        ptx_insn *last = &g->code->insns[g->blocks[k->previous[p]].last];
        if (last->op == OP_bra) last->ways[last->target == k->first] = depth[p] - g->code->insns[k->first].depth;
    }
}

void ptx_depth_of_blocks(cfg *g, const ptx_function *f, uint32_t nregisters, const uint32_t *id_of) {
    schedules t = {.costs = &f->module->costs,
                   .code = g->code,
                   .insns = g->code->insns,
                   .id_of = id_of,
                   .limit = g->code->registers_end,
                   .bytes = sizeof(schedule) + (nregisters + 1) * sizeof(moment)};
    if (t.bytes * g->nblocks > 1u << 28)
        return; /* too large: no latency bound, but for loops longer than the instruction cache (length.c) */
    t.all = ptx_alloc(t.bytes * g->nblocks);
    t.nids = nregisters + 1;
    t.load_of = ptx_alloc(t.nids * sizeof *t.load_of);
    t.copying = find_copying_loops(g);
    for (uint32_t b = 0; b < g->nblocks; b++) {
        const cfg_block *k = &g->blocks[b];
        if (k->inside) continue;
        if (!k->turns && k->nprevious > 1 && continues(k, b)) {
            schedule_join(&t, g, b, f->registers);
        } else {
            if (!k->turns) begin_schedule(&t, g, b, nregisters);
            schedule_block(&t, g, b, f->registers);
        }
    }
    ptx_free(t.all);
    ptx_free(t.load_of);
    ptx_free(t.copying);
}
