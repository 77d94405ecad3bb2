/* machine_banks.c — multiply-adds that wait for the banks of the registers.
 *
 * Registers with even numbers and those with odd ones are two banks, each of which gives the lanes of a warp one
 * register a clock. A multiply-add of three registers reads two of one bank, and takes that one for two clocks. But
 * what the instruction in front of it has read stays in a small cache, if the same warp starts both. So ptxas puts
 * multiply-adds that share a register and do not wait for each other one behind the other. (An H200, FFMA R6, R6, R2,
 * R3: with eight such chains in a warp one starts every 1.1 clocks; with one chain in each of 32 warps on an SM
 * every 2.0, and Nsight Compute shows dispatch stalls.)
 *
 * Which registers ptxas takes is unknown. A chain that reads the same two registers besides its own has the same two in
 * one bank each time, and takes a clock more. Others take now the one bank twice and now the other, half of a clock
 * more in the mean. One that shares a register with a neighbour reads two others, which are in one bank now and then: a
 * quarter; one that shares two has only its own to read. (An H200, 8 to 32 warps on an SM: 64 multiply-adds with
 * three registers each of 48 take 1.48 clocks each, those of 2 x 2 to 8 x 8 products in registers 1.24 to 1.31:
 * tests/clock/tiles.cu.)
 */
#include "machine.h"

#include <string.h>

enum { NEAR = 64 }; /* instructions to look at on both sides: the bits of waits_for */

/* What an instruction of a block reads, if it is arithmetic of floats. */
typedef struct {
    uint32_t row[3], n; /* different registers */
    uint64_t waits_for; /* bit k: the instruction k + 1 places before */
} reads;

/* Returns the parameter in this row, or that the register there holds; or NULL. */
static const ptx_row *parameter_in(const machine *m, uint32_t row) {
    const ptx_insn *i = row == NO_ROW ? NULL : machine_definition(m, row);
    if (i && i->op == OP_mov_b32) row = i->a;
    const ptx_row *r = row == NO_ROW ? NULL : machine_row(m, row);
    return r && r->kind == ROW_PARAM ? r : NULL;
}

/* Returns the first of an instruction's operands that is a parameter in a register of the uniform datapath, of which it
 * reads one; it is in no bank. Two parameters that lie side by side in 8 bytes are loaded together, into registers.
 * (nvcc 13 for sm_90, v = v * a + b: of a kernel with the parameters (float *, float a, float b) FFMA R6, R6, R2, R3;
 * with (float *, int, float a, float b) FFMA R0, R0, UR5, R7, of which 32 warps start one every clock.) */
static uint32_t uniform_row(const machine *m, const uint32_t *rows) {
    const ptx_row *first = NULL;
    uint32_t row = NO_ROW;
    for (int k = 0; k < 3; k++) {
        const ptx_row *r = parameter_in(m, rows[k]);
        if (!r || r == first) continue;
        if (first && r->bits / 8 == first->bits / 8) return NO_ROW;
        if (!first) first = r, row = rows[k];
    }
    return row;
}

static void add_reads(const machine *m, reads *r, const ptx_insn *i) {
    const uint32_t rows[] = {i->a, i->b, i->c}, uniform = uniform_row(m, rows);
    for (int k = 0; k < 3; k++) {
        bool seen = rows[k] == NO_ROW || rows[k] == uniform || (machine_row(m, rows[k]) && !parameter_in(m, rows[k]));
        for (uint32_t n = 0; n < r->n; n++) seen |= r->row[n] == rows[k];
        if (!seen) r->row[r->n++] = rows[k];
    }
}

/* Fills all[] for the instructions of a block. defined_at: by register id, the instruction's place in the block, + 1;
 * all zeros before. */
static void find_reads(const machine *m, const cfg_block *b, reads *all, uint32_t *defined_at) {
    for (uint32_t at = 0; at <= b->last - b->first; at++) {
        ptx_insn *i = &m->code->insns[b->first + at];
        uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(i, fields);
        all[at] = (reads){.n = 0};
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t by = defined_at[machine_id(m, *fields[k])], back = at + 1 - by;
            if (!by || back > NEAR) continue;
            all[at].waits_for |= 1ull << (back - 1) | (back < NEAR ? all[by - 1].waits_for << back : 0);
        }
        if (ptx_ops[i->op].cost == COST_FMA && ptx_ops[i->op].type == TY_f32) add_reads(m, &all[at], i);
        n = ptx_results_of(i, fields);
        for (uint32_t k = 0; k < n; k++) defined_at[machine_id(m, *fields[k])] = at + 1;
        defined_at[0] = 0;
    }
}

static uint32_t shared_registers(const reads *a, const reads *b) {
    uint32_t shared = 0;
    for (uint32_t k = 0; k < a->n; k++)
        for (uint32_t n = 0; n < b->n; n++) shared += a->row[k] == b->row[n];
    return shared;
}

/* Returns how many of its registers one of the next multiply-adds on one side, which `step` gives, reads, where neither
 * waits for the other: the most of any. */
static uint32_t company_on(const reads *all, uint32_t n, uint32_t at, int step) {
    enum { BESIDE = 4 };
    uint32_t seen = 0, most = 0;
    for (uint32_t k = at + (uint32_t)step; k < n && k + NEAR >= at && k <= at + NEAR && seen < BESIDE;
         k += (uint32_t)step) {
        seen += all[k].n > 0;
        const uint32_t shared = shared_registers(&all[k], &all[at]);
        const uint64_t waits = k < at ? all[at].waits_for >> (at - k - 1) : all[k].waits_for >> (k - at - 1);
        if (shared > most && !(waits & 1)) most = shared;
    }
    return most;
}

static uint32_t company(const reads *all, uint32_t n, uint32_t at) {
    const uint32_t behind = company_on(all, n, at, 1), before = company_on(all, n, at, -1);
    return behind > before ? behind : before;
}

/* Returns the last instruction of the block that defines the register in this row, behind its moves; or NULL. */
static const ptx_insn *definition(const machine *m, const cfg_block *b, const uint32_t *defined_at, uint32_t row) {
    for (int moves = 0; moves < 3; moves++) {
        const uint32_t at = defined_at[machine_id(m, row)];
        const ptx_insn *i = at ? &m->code->insns[b->first + at - 1] : NULL;
        if (!i || i->op != OP_mov_b32) return i;
        row = i->a;
    }
    return NULL;
}

/* Returns whether one of the three registers is the result of an instruction of the block that reads the other two,
 * too: in front of this one or, in a loop, a turn before. */
static bool is_chain(const machine *m, const cfg_block *b, const uint32_t *defined_at, const reads *r) {
    for (int own = 0; own < 3; own++) {
        const ptx_insn *by = definition(m, b, defined_at, r->row[own]);
        if (!by || ptx_ops[by->op].cost != COST_FMA) continue;
        const uint32_t rows[] = {by->a, by->b, by->c}, others[] = {r->row[(own + 1) % 3], r->row[(own + 2) % 3]};
        bool reads_other[2] = {false, false};
        for (int k = 0; k < 3; k++)
            for (int n = 0; n < 2; n++) reads_other[n] |= rows[k] == others[n];
        if (reads_other[0] && reads_other[1]) return true;
    }
    return false;
}

/* Returns the clocks that a multiply-add of three registers takes beside its own, in 1 / PTX_MACHINE_UNIT. */
static uint16_t clocks_more(const machine *m, const cfg_block *b, const uint32_t *defined_at, const reads *all,
                            uint32_t n, uint32_t at) {
    const uint32_t shared = company(all, n, at);
    if (shared) return shared > 1 ? 0 : PTX_MACHINE_UNIT / 4;
    return is_chain(m, b, defined_at, &all[at]) ? PTX_MACHINE_UNIT : PTX_MACHINE_UNIT / 2;
}

void ptx_machine_banks(const machine *m, uint16_t *more) {
    uint32_t *defined_at = ptx_alloc((m->nregisters + 1) * sizeof *defined_at);
    for (uint32_t k = 0; k < m->g->nblocks; k++) {
        const cfg_block *b = &m->g->blocks[k];
        const uint32_t n = b->last - b->first + 1;
        reads *all = ptx_alloc(n * sizeof *all);
        memset(defined_at, 0, (m->nregisters + 1) * sizeof *defined_at);
        find_reads(m, b, all, defined_at);
        for (uint32_t at = 0; at < n; at++)
            if (all[at].n == 3) more[b->first + at] = clocks_more(m, b, defined_at, all, n, at);
        ptx_free(all);
    }
    ptx_free(defined_at);
}
