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

/* The slower way of a division or root. Its machine instructions were counted in what nvcc 13 makes for sm_90. */
static void add_rare(const ptx_module *m, const ptx_insn *i, exec_counters *sum) {
    static const uint8_t instructions[NRARE] = {
        [RARE_FDIV] = 32, [RARE_FROOT] = 10, [RARE_DDIV] = 60, [RARE_DROOT] = 14};
    if (!sum->rare) return;
    const enum ptx_rare kind = exec_rare_of(i);
    sum->inst += sum->rare * instructions[kind];
    sum->issue_slots += sum->rare * m->costs.rare[kind].slots;
}

/* Adds to a stage what an instruction has counted: `alone` is *c before the blocks of an SM shared its L1; it was
 * issued so often. */
static void add_to_stage(exec_stage *s, const ptx_insn *i, const exec_counters *c, const exec_counters *alone,
                         uint64_t issued) {
    const enum ptx_cost cost = ptx_ops[i->op].cost;
    const int64_t clocks = ptx_depth_clocks(i->depth);
    add_counters(&s->total, c);
    s->slots[cost] += c->issue_slots;
    s->machine[cost] += c->inst;
    if (i->op == OP_add_u32 || i->op == OP_sub_u32) s->additions += c->inst;
    if (cost == COST_IMUL && i->machine == 0) s->multiplied += issued;
    s->alone_sectors += alone->l1_miss_sectors, s->alone_lines += alone->l1_miss_lines;
    s->rounds += (double)c->ptx_inst * (double)(i->depth - clocks) / (double)PTX_DEPTH_ROUND;
    s->clocks += (double)c->ptx_inst * (double)clocks;
}

static void add_stages(exec_result *r) {
    for (uint32_t k = 0; k < nstages; k++) {
        const exec_stage *s = &stages[k];
        add_counters(&r->total, &s->total);
        for (int c = 0; c < NCOSTS; c++) r->slots[c] += s->slots[c], r->machine[c] += s->machine[c];
        r->additions += s->additions, r->multiplied += s->multiplied;
        r->alone_sectors += s->alone_sectors, r->alone_lines += s->alone_lines;
    }
}

void exec_collect(const ptx_module *m, const worker *workers, unsigned threads, uint64_t launch, exec_result *r) {
    uint64_t rest[3] = {0};
    bool calls = false;
    memset(stages, 0, nstages * sizeof *stages);
    nstages = 0;
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *code = m->functions[k]->code;
        unsigned ran[2] = {threads, 0}; /* the workers from the first that ran it to the last */
        for (unsigned t = 0; code && t < threads; t++)
            if (workers[t].ran_in[code->first] == launch) ran[0] = t < ran[0] ? t : ran[0], ran[1] = t + 1;
        if (ran[0] < ran[1]) calls |= !m->functions[k]->is_kernel;
        for (uint32_t n = 0; ran[0] < ran[1] && n < code->ninsns; n++) {
            uint32_t at = code->first + n;
            const ptx_insn *i = &code->insns[n];
            exec_counters sum = {0};
            uint64_t issued = 0; /* also for warps in which the branch around it, which ptxas predicates, skips it */
            for (unsigned t = ran[0]; t < ran[1]; t++) {
                if (workers[t].ran_in[code->first] != launch) continue;
                add_counters(&sum, &workers[t].counters[at]);
                sum.ptx_inst += workers[t].executed[at];
                sum.ptx_threads += workers[t].threads[at];
                issued += workers[t].executed[at - i->under];
            }
            if (!issued) continue;
            sum.inst = machine(issued, i->machine, &rest[0]);
            sum.threads = machine(sum.ptx_threads, i->machine, &rest[1]);
            sum.issue_slots = machine(issued, i->slots, &rest[2]);
            add_rare(m, i, &sum);
            const exec_counters alone = sum;
            exec_resident_share(at, &sum);
            add_spills(&sum, issued * i->spills, m->costs.of[COST_MEMORY].slots);
            if (ptx_ops[i->op].cost == COST_SHUFFLE) sum.shuffles = sum.ptx_inst;
            if (i->stage >= nstages) nstages = i->stage + 1;
            add_to_stage(&stages[i->stage], i, &sum, &alone, issued);
            add_line(r, m, i, &sum);
        }
    }
    add_stages(r);
    qsort(lines, r->nlines, sizeof *lines, by_place);
    r->lines = lines;
    r->stages = stages;
    r->nstages = calls ? 0 : nstages;
}
