/* collect.c — adds up what the host threads have counted of each instruction: by source line, by stage of the kernel,
 * by cost class, and in all.
 */
#include "resident.h"
#include "warp.h"

#include <stdlib.h>
#include <string.h>

static exec_line *lines;
static uint32_t line_capacity;
static exec_stage stages[PTX_STAGES];
static uint32_t nstages; /* of the last launch; the others are zeros */

static void add_counters(exec_counters *to, const exec_counters *from) {
    uint64_t *a = (uint64_t *)(void *)to;
    const uint64_t *b = (const uint64_t *)(const void *)from;
    for (int k = 0; k < NCOUNTERS; k++) a[k] += b[k];
}

static int by_place(const void *a, const void *b) {
    const exec_line *x = a, *y = b;
    int c = strcmp(x->file, y->file);
    return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

static void add_line(exec_result *r, const ptx_module *m, const ptx_insn *i, const exec_counters *c) {
    const char *file = i->file < m->nfiles ? m->files[i->file] : "";
    for (uint32_t k = r->nlines; k-- > 0;)
        if (lines[k].line == i->line && strcmp(lines[k].file, file) == 0) {
            add_counters(&lines[k].counters, c);
            return;
        }
    if (r->nlines == line_capacity) {
        line_capacity = line_capacity ? 2 * line_capacity : 64;
        lines = exec_must(realloc(lines, line_capacity * sizeof *lines));
    }
    lines[r->nlines++] = (exec_line){file, i->line, *c};
}

/* Returns the machine instructions, or slots, of n instructions of PTX that are `each` of them. What is less than one
 * is left in *rest, for the next instruction. */
static uint64_t machine(uint64_t n, uint32_t each, uint64_t *rest) {
    *rest += n * each;
    uint64_t whole = *rest / PTX_MACHINE_UNIT;
    *rest %= PTX_MACHINE_UNIT;
    return whole;
}

/* Loads and stores of local memory by whole warps, which the machine code has besides. */
static void add_spills(exec_counters *sum, uint64_t n, uint32_t slots) {
    sum->inst += n;
    sum->threads += 32 * n;
    sum->issue_slots += n * slots;
    sum->local_requests += n;
    sum->local_sectors += 4 * n;
}

/* The slower way of a division or root, and further turns of a loop of compare and swap. Their machine instructions
 * were counted in what nvcc 13 makes for sm_90. */
static void add_rare(const ptx_module *m, const ptx_insn *i, exec_counters *sum) {
    static const uint8_t instructions[NRARE] = {
        [RARE_FDIV] = 32, [RARE_FROOT] = 10, [RARE_DDIV] = 60, [RARE_DROOT] = 14};
    enum { CAS_TURN = 6 };
    if (!sum->rare) return;
    if (i->op == OP_atom) {
        sum->inst += sum->rare * CAS_TURN;
        sum->issue_slots += sum->rare * CAS_TURN;
        return;
    }
    const enum ptx_rare kind = exec_rare_of(i);
    sum->inst += sum->rare * instructions[kind];
    sum->issue_slots += sum->rare * m->costs.rare[kind].slots;
}

/* Returns the wavefronts of requests beyond the first one of each; of loads of constant memory the clocks that a warp
 * waits for addresses beyond the first. (An H200, a chain of loads by one warp: 43 clocks at one address, 9.8 more for
 * each further one, where 32 warps get one every 1.8 clocks.) */
static uint64_t more_wavefronts(const exec_counters *c) {
    const uint64_t once = c->const_loads * CONSTANT_CLOCKS,
                   constant = c->const_clocks > once ? c->const_clocks - once : 0;
    const uint64_t global = c->ld_requests + c->st_requests + c->atom_requests,
                   shared = c->shared_ld_wavefronts + c->shared_st_wavefronts, first = c->shared_ld + c->shared_st;
    return (c->l1_wavefronts > global ? c->l1_wavefronts - global : 0) + (shared > first ? shared - first : 0) +
           constant * CONSTANT_WAIT / CONSTANT_CLOCKS;
}

/* Returns the clocks of the LSU pipe, or of that of constant memory, that an access takes, which ptxas predicates or
 * moves in front of a branch, where no lane wants it. */
static uint32_t unwanted_clocks(const ptx_insn *i) {
    const bool far = i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC || i->space == SPACE_LOCAL;
    if (i->op != OP_ld && i->op != OP_st) return 0;
    if (i->space == SPACE_CONST) return i->one_place ? 0 : CONSTANT_CLOCKS;
    return far || i->space == SPACE_SHARED;
}

/* The turns of each group of stages, by all warps: of a group that is no loop, 0. The warps that have begun. */
static uint64_t group_turns[PTX_STAGES], begun;

/* Returns how often the slowest warps of all blocks have run an instruction that all warps have run so often, where
 * barriers keep them together: what only one warp of a block does in a turn of its loop, as thread 0 does in a
 * grid.sync(), all others wait for. */
static double times_of_blocks(const exec_result *r, uint32_t group, double times) {
    const double warps = (double)((r->threads_per_block + 31) / 32),
                 turns = (double)(group_turns[group] ? group_turns[group] : begun) / warps,
                 of_one = times < turns ? times : turns;
    return times / warps > of_one ? times / warps : of_one;
}

/* Adds to a stage what an instruction has counted: `alone` is *c before the blocks of an SM shared its L1; it was
 * issued so often. */
static void add_to_stage(const ptx_module *m, exec_stage *s, const ptx_insn *i, const exec_counters *c,
                         const exec_counters *alone, uint64_t issued, double times) {
    const enum ptx_cost cost = ptx_ops[i->op].cost;
    const int64_t clocks = ptx_depth_clocks(i->part);
    add_counters(&s->total, c);
    s->slots[cost] += c->issue_slots;
    s->machine[cost] += c->inst;
    if (i->op == OP_add_u32 || i->op == OP_sub_u32) s->additions += c->inst;
    if (cost == COST_IMUL && i->machine == 0) s->multiplied += issued;
    s->alone_sectors += alone->l1_miss_sectors, s->alone_lines += alone->l1_miss_lines;
    if (!ptx_needs_cas(i)) s->more_wavefronts += more_wavefronts(c); /* whose turns are in the depth of its warp */
    if (issued > c->ptx_inst)
        *(i->space == SPACE_CONST ? &s->constant_other : &s->lsu_other) +=
            (double)(issued - c->ptx_inst) * unwanted_clocks(i);
    if (i->op == OP_fence) s->lsu_other += (double)c->ptx_inst * m->costs.fence[i->sub].lsu;
    s->rounds += times * (double)(i->part - clocks) / (double)PTX_DEPTH_ROUND;
    s->clocks += times * (double)clocks;
}

static void add_stages(exec_result *r) {
    for (uint32_t k = 0; k < nstages; k++) {
        const exec_stage *s = &stages[k];
        add_counters(&r->total, &s->total);
        for (int c = 0; c < NCOSTS; c++) r->slots[c] += s->slots[c], r->machine[c] += s->machine[c];
        r->additions += s->additions, r->multiplied += s->multiplied;
        r->alone_sectors += s->alone_sectors, r->alone_lines += s->alone_lines;
        r->more_wavefronts += s->more_wavefronts, r->lsu_other += s->lsu_other;
        r->constant_other += s->constant_other;
    }
}

/* Returns how often the instruction at `at` ran in the launch, with first = that of its function. */
static uint64_t ran(const worker *workers, unsigned threads, uint64_t launch, uint32_t first, uint32_t at) {
    uint64_t n = 0;
    for (unsigned t = 0; t < threads; t++)
        if (workers[t].ran_in[first] == launch) n += workers[t].executed[at];
    return n;
}

/* Sets the stages' groups and turns. Returns the stage of the kernel's call that ran most often; 0 without calls. */
static uint8_t begin_stages(const ptx_module *m, const worker *workers, unsigned threads, uint64_t launch) {
    uint64_t most = 0;
    uint8_t of_calls = 0;
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *code = m->functions[k]->code;
        if (!code || !m->functions[k]->is_kernel || !ran(workers, threads, launch, code->first, code->first)) continue;
        begun += ran(workers, threads, launch, code->first, code->first);
        for (uint32_t n = 0; n < code->ninsns; n++) {
            const ptx_insn *i = &code->insns[n];
            stages[i->stage].group = i->stage_group;
            if (!i->begins_turn && i->op != OP_call) continue;
            const uint64_t times = ran(workers, threads, launch, code->first, code->first + n);
            if (i->begins_turn) stages[i->stage].turns += times, group_turns[i->stage_group] += times;
            if (i->op == OP_call && times > most) most = times, of_calls = i->stage;
        }
    }
    return of_calls;
}

/* Returns whether the launch's warps have met at a barrier. */
static bool has_barriers(const ptx_module *m, const worker *workers, unsigned threads, uint64_t launch) {
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *code = m->functions[k]->code;
        for (uint32_t n = 0; code && n < code->ninsns; n++)
            if (ptx_ops[code->insns[n].op].cost == COST_BARRIER &&
                ran(workers, threads, launch, code->first, code->first + n))
                return true;
    }
    return false;
}

void exec_collect(const ptx_module *m, const worker *workers, unsigned threads, uint64_t launch, exec_result *r) {
    uint64_t rest[3] = {0};
    memset(stages, 0, nstages * sizeof *stages);
    memset(group_turns, 0, sizeof group_turns);
    begun = 0;
    nstages = 0;
    const uint8_t of_calls = begin_stages(m, workers, threads, launch);
    const bool meets = has_barriers(m, workers, threads, launch);
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *code = m->functions[k]->code;
        unsigned span[2] = {threads, 0}; /* the workers from the first that ran it to the last */
        for (unsigned t = 0; code && t < threads; t++)
            if (workers[t].ran_in[code->first] == launch) span[0] = t < span[0] ? t : span[0], span[1] = t + 1;
        for (uint32_t n = 0; span[0] < span[1] && n < code->ninsns; n++) {
            uint32_t at = code->first + n;
            const ptx_insn *i = &code->insns[n];
            const uint8_t stage = m->functions[k]->is_kernel ? i->stage : of_calls;
            exec_counters sum = {0};
            uint64_t issued = 0; /* also for warps in which the branch around it, which ptxas predicates, skips it */
            for (unsigned t = span[0]; t < span[1]; t++) {
                if (workers[t].ran_in[code->first] != launch) continue;
                add_counters(&sum, &workers[t].counters[at]);
                sum.ptx_inst += workers[t].executed[at];
                sum.ptx_threads += workers[t].threads[at];
                issued += workers[t].executed[at - i->under];
            }
            if (stage >= nstages) nstages = stage + 1;
            if (!issued) continue;
            sum.inst = machine(issued, i->machine, &rest[0]);
            sum.threads = machine(sum.ptx_threads, i->machine, &rest[1]);
            sum.issue_slots = machine(issued, i->slots, &rest[2]);
            add_rare(m, i, &sum);
            const exec_counters alone = sum;
            exec_resident_share(at, &sum);
            add_spills(&sum, issued * i->spills, m->costs.of[COST_MEMORY].slots);
            if (ptx_ops[i->op].cost == COST_SHUFFLE) sum.shuffles = sum.ptx_inst;
            const double times = (double)sum.ptx_inst;
            add_to_stage(m, &stages[stage], i, &sum, &alone, issued,
                         meets ? times_of_blocks(r, stages[stage].group, times) : times);
            add_line(r, m, i, &sum);
        }
    }
    add_stages(r);
    qsort(lines, r->nlines, sizeof *lines, by_place);
    r->lines = lines;
    r->stages = stages;
    r->nstages = nstages;
}
