/* contract.c — a product and a sum of floats that ptxas makes one instruction, rounded once.
 *
 * PTX lets it do so where neither says how it rounds (mul.f32, not mul.rn.f32). nvcc's own compiler makes most a * b +
 * c such an instruction before, but leaves it every difference. Its rule, as read from its machine code for sums and
 * products made at random: a product goes into the sums that use it if nothing else does, and if it goes into all of
 * them. Of two products in a sum, the one with fewer uses goes; of equals the first. A product that stays, since the
 * other one of a sum went, goes nowhere. x + x and x - x take no product x. A sign in between goes along.
 *
 * ptxas knows more of values that change in a loop. Here product and sum stand in one basic block, in this order, or
 * outside of all loops, and nothing between them changes a factor. */
#include "cfg.h"

/* A register, by id. */
typedef struct {
    uint32_t definition, definitions; /* the last instruction that defines it; number of these */
    uint32_t uses, good;              /* all; those by sums that may take it, or by signs of which this holds */
    uint32_t sums;                    /* which use it, also through a sign */
    bool product, taken;              /* a product that may go; that goes */
} value;

typedef struct {
    const cfg *g;
    ptx_insn *insns;
    uint32_t n;
    const uint32_t *id_of; /* frame row / 4 -> register id */
    uint32_t limit;        /* the end of the rows of registers */
    uint32_t *loops;       /* by instruction: the loops that it stands in */
    value *values;
} contraction;

/* An operand of a sum: behind its signs. */
typedef struct {
    uint32_t row, id;
    bool minus;
    bool whole; /* no sign is left in front of it */
} operand_of_sum;

static uint32_t id_of(const contraction *c, uint32_t row) { return row && row < c->limit ? c->id_of[row / 4] : 0; }

static bool is_sum(const ptx_insn *i) {
    return i->contracts &&
           (i->op == OP_add_f_f32 || i->op == OP_add_f_f64 || i->op == OP_sub_f_f32 || i->op == OP_sub_f_f64);
}
static bool is_difference(const ptx_insn *i) { return i->op == OP_sub_f_f32 || i->op == OP_sub_f_f64; }
static bool is_product(const ptx_insn *i) {
    return i->contracts && !i->guarded && !i->sat && (i->op == OP_mul_f_f32 || i->op == OP_mul_f_f64);
}
static bool is_sign(const ptx_insn *i) { return !i->guarded && (i->op == OP_neg_f32 || i->op == OP_neg_f64); }

/* A branch that leads back makes a loop of all that it jumps over. */
static void find_loops(contraction *c) {
    c->loops = ptx_alloc((c->n + 1) * sizeof *c->loops);
    for (uint32_t at = 0; at < c->n; at++) {
        const ptx_insn *i = &c->insns[at];
        uint32_t first = i->op == OP_bra ? i->target : at + 1;
        for (uint32_t k = 0; i->op == OP_brx && k < i->call->ntargets; k++)
            if (i->call->targets[k] < first) first = i->call->targets[k];
        if (first <= at) c->loops[first]++, c->loops[at + 1]--;
    }
    for (uint32_t at = 1; at <= c->n; at++) c->loops[at] += c->loops[at - 1];
}

/* Returns whether the register in this row has the same value at `to` as at `from`, for what runs at `from` and then at
 * `to`: both stand in one basic block, in this order, or outside of all loops, and no other instruction between them
 * defines the register. */
static bool is_stable(const contraction *c, uint32_t row, uint32_t from, uint32_t to) {
    const bool together = c->g->block_of[from] == c->g->block_of[to];
    const value *v = &c->values[id_of(c, row)];
    uint32_t *fields[MOST_FIELDS];
    if (from >= to || (!together && (c->loops[from] || c->loops[to]))) return false;
    if (!id_of(c, row)) return true;
    if (v->definitions == 1) return v->definition < from || v->definition >= to;
    for (uint32_t at = from; at < to && together; at++) {
        uint32_t n = ptx_results_of(&c->insns[at], fields);
        for (uint32_t k = 0; k < n; k++)
            if (id_of(c, *fields[k]) == id_of(c, row)) return false;
    }
    return together || v->definitions == 0;
}

/* Returns what the instruction at `at` reads in this row, behind the signs whose sources are the same there. */
static operand_of_sum operand_at(const contraction *c, uint32_t row, uint32_t at) {
    operand_of_sum o = {row, id_of(c, row), false, true};
    while (o.id && c->values[o.id].definitions == 1) {
        const uint32_t sign = c->values[o.id].definition, source = c->insns[sign].a;
        if (!is_sign(&c->insns[sign])) break;
        o.whole = is_stable(c, source, sign, at);
        if (!o.whole) break;
        o.row = source;
        o.id = id_of(c, source);
        o.minus = !o.minus;
        at = sign;
    }
    return o;
}

static void count_uses(contraction *c) {
    uint32_t *fields[MOST_FIELDS];
    for (uint32_t at = 0; at < c->n; at++) {
        ptx_insn *i = &c->insns[at];
        uint32_t n = ptx_sources_of(i, fields);
        for (uint32_t k = 0; k < n; k++) c->values[id_of(c, *fields[k])].uses++;
        n = ptx_results_of(i, fields);
        for (uint32_t k = 0; k < n; k++) {
            value *v = &c->values[id_of(c, *fields[k])];
            v->definition = at, v->definitions++;
        }
    }
    for (uint32_t at = c->n; at-- > 0;) { /* backwards: a sign's uses before it */
        const ptx_insn *i = &c->insns[at];
        value *a = &c->values[id_of(c, i->a)], *b = &c->values[id_of(c, i->b)];
        if (is_sum(i)) {
            const operand_of_sum first = operand_at(c, i->a, at), second = operand_at(c, i->b, at);
            if (first.id == second.id) continue;
            a->good += first.whole, a->sums++;
            b->good += second.whole, b->sums++;
        } else if (is_sign(i)) {
            const value *d = &c->values[id_of(c, i->d)];
            if (d->definitions == 1 && d->good == d->uses) a->good++, a->sums += d->sums;
        }
    }
}

/* Returns whether the sum at `at` can take this operand. */
static bool can_take(const contraction *c, uint32_t at, uint32_t id) {
    const value *v = &c->values[id];
    if (!id || !v->product) return false;
    const ptx_insn *p = &c->insns[v->definition], *i = &c->insns[at];
    return p->ftz == i->ftz && ptx_ops[p->op].type == ptx_ops[i->op].type && is_stable(c, p->a, v->definition, at) &&
           is_stable(c, p->b, v->definition, at);
}

/* Returns which operand of the sum at `at` goes into it, or -1. */
static int goes(const contraction *c, uint32_t at) {
    uint32_t a = operand_at(c, c->insns[at].a, at).id, b = operand_at(c, c->insns[at].b, at).id;
    bool first = can_take(c, at, a), second = can_take(c, at, b);
    if (first && second) return c->values[b].sums < c->values[a].sums;
    return first ? 0 : second ? 1 : -1;
}

/* Finds the products that stay: in a sum that does not take them, though others may. */
static void find_kept(contraction *c) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t at = 0; at < c->n; at++) {
            if (!is_sum(&c->insns[at])) continue;
            int which = goes(c, at);
            for (int k = 0; k < 2; k++) {
                value *v = &c->values[operand_at(c, k ? c->insns[at].b : c->insns[at].a, at).id];
                if (k == which || !v->product || v->sums == 1) continue;
                v->product = false;
                again = true;
            }
        }
    }
}

/* Makes the sum one with the product that goes into it. */
static void contract(contraction *c, uint32_t at) {
    static const enum ptx_op ops[2][2][2] = {{{OP_fma_f32, OP_fms_f32}, {OP_fnma_f32, OP_fnms_f32}},
                                             {{OP_fma_f64, OP_fms_f64}, {OP_fnma_f64, OP_fnms_f64}}};
    ptx_insn *i = &c->insns[at];
    int k = goes(c, at);
    if (k < 0) return;
    operand_of_sum o[2] = {operand_at(c, i->a, at), operand_at(c, i->b, at)};
    o[1].minus ^= is_difference(i);
    value *v = &c->values[o[k].id];
    const ptx_insn *p = &c->insns[v->definition];
    i->op = (uint16_t)ops[ptx_ops[i->op].type == TY_f64][o[k].minus][o[!k].minus];
    i->a = p->a, i->b = p->b, i->c = o[!k].row;
    v->taken = true;
}

/* Drops the products that went, and their signs. */
static void drop(contraction *c, ptx_code *code) {
    uint32_t *moved = ptx_alloc((c->n + 1) * sizeof *moved), n = 0;
    for (uint32_t at = 0; at < c->n; at++) {
        ptx_insn *i = &c->insns[at];
        uint32_t id = is_sign(i) ? operand_at(c, i->a, at).id : is_product(i) ? id_of(c, i->d) : 0;
        moved[at] = n;
        if (!c->values[id].taken) n++;
    }
    moved[c->n] = n;
    for (uint32_t at = 0; at < c->n; at++) {
        ptx_insn *i = &c->insns[at];
        if (moved[at + 1] == moved[at]) continue;
        if (i->op == OP_bra) i->target = moved[i->target];
        for (uint32_t k = 0; i->op == OP_brx && k < i->call->ntargets; k++)
            i->call->targets[k] = moved[i->call->targets[k]];
        c->insns[moved[at]] = *i;
    }
    code->ninsns = n;
    ptx_free(moved);
}

bool ptx_contract(const cfg *g, uint32_t nregisters, const uint32_t *ids) {
    contraction c = {g, g->code->insns, g->code->ninsns, ids, g->code->registers_end, NULL, NULL};
    bool sums = false, products = false;
    for (uint32_t at = 0; at < c.n; at++) {
        const ptx_insn *i = &c.insns[at];
        sums |= is_sum(i), products |= is_product(i);
    }
    if (!sums || !products) return false;
    c.values = ptx_alloc((nregisters + 1) * sizeof *c.values);
    find_loops(&c);
    count_uses(&c);
    bool any = false;
    for (uint32_t id = 1; id <= nregisters; id++) {
        value *v = &c.values[id];
        v->product = v->definitions == 1 && v->good == v->uses && v->uses && is_product(&c.insns[v->definition]);
        any |= v->product;
    }
    if (any) {
        find_kept(&c);
        for (uint32_t at = 0; at < c.n; at++)
            if (is_sum(&c.insns[at])) contract(&c, at);
        drop(&c, g->code);
    }
    ptx_free(c.loops);
    ptx_free(c.values);
    return any;
}
