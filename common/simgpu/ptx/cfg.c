/* cfg.c — control flow: the places where diverged lanes meet again, and an estimate of the registers that ptxas needs.
 *
 * The code is cut into basic blocks; block `exit` is the final ret, where every path ends. Lanes that diverge at a
 * branch meet at its immediate post-dominator (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the
 * reversed graph), or at the end of a loop's turn (turn.c). A `join` instruction marks each such place, so that the
 * interpreter checks for joins only there.
 */
#include "cfg.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
enum { FULL_SM = 32 }; /* registers of a thread if 2048 threads share the 65536 of an SM */

static bool ends_block(const ptx_insn *i) {
    return i->op == OP_bra || i->op == OP_brx || i->op == OP_ret || i->op == OP_exit || i->op == OP_trap;
}
bool ptx_falls_through(const ptx_insn *i) { return !ends_block(i) || i->guarded; }

static void edge(cfg *g, uint32_t from, uint32_t to) {
    cfg_block *a = &g->blocks[from], *b = &g->blocks[to];
    for (uint32_t k = 0; k < a->nnext; k++)
        if (a->next[k] == to) return;
    a->next = ptx_grow(a->next, a->nnext, sizeof *a->next);
    a->next[a->nnext++] = to;
    b->previous = ptx_grow(b->previous, b->nprevious, sizeof *b->previous);
    b->previous[b->nprevious++] = from;
}

static void make_blocks(cfg *g) {
    ptx_code *c = g->code;
    bool *leader = ptx_alloc(c->ninsns + 1);
    leader[0] = leader[c->ninsns - 1] = true;
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const ptx_insn *x = &c->insns[i];
        if (ends_block(x)) leader[i + 1] = true;
        if (x->op == OP_bra) leader[x->target] = true;
        if (x->op == OP_brx)
            for (uint32_t k = 0; k < x->call->ntargets; k++) leader[x->call->targets[k]] = true;
    }
    g->block_of = ptx_alloc(c->ninsns * sizeof *g->block_of);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        if (leader[i]) {
            g->blocks = ptx_grow(g->blocks, g->nblocks, sizeof *g->blocks);
            g->blocks[g->nblocks++].first = i;
        }
        g->blocks[g->nblocks - 1].last = i;
        g->block_of[i] = g->nblocks - 1;
    }
    uint32_t exit = g->nblocks - 1;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        const ptx_insn *x = &c->insns[g->blocks[b].last];
        if (x->op == OP_bra) edge(g, b, g->block_of[x->target]);
        if (x->op == OP_brx)
            for (uint32_t k = 0; k < x->call->ntargets; k++) edge(g, b, g->block_of[x->call->targets[k]]);
        if ((x->op == OP_ret || x->op == OP_exit || x->op == OP_trap) && b != exit) edge(g, b, exit);
        if (ptx_falls_through(x) && b != exit) edge(g, b, b + 1);
    }
    ptx_free(leader);
}
static void free_blocks(cfg *g) {
    for (uint32_t b = 0; b < g->nblocks; b++) ptx_free(g->blocks[b].next), ptx_free(g->blocks[b].previous);
    ptx_free(g->blocks);
    ptx_free(g->block_of);
    g->blocks = NULL;
    g->nblocks = 0;
}

/* Numbers the blocks in post-order of the reversed graph, from the exit. Not recursive, since a function may have many
 * blocks. */
static void number_blocks(cfg *g) {
    struct {
        uint32_t block, edge;
    } *stack = ptx_alloc((g->nblocks + 1) * sizeof *stack);
    bool *seen = ptx_alloc(g->nblocks);
    uint32_t depth = 0;
    g->order = ptx_alloc((g->nblocks + 1) * sizeof *g->order);
    stack[depth++].block = g->nblocks - 1;
    seen[g->nblocks - 1] = true;
    while (depth) {
        cfg_block *b = &g->blocks[stack[depth - 1].block];
        if (stack[depth - 1].edge < b->nprevious) {
            uint32_t p = b->previous[stack[depth - 1].edge++];
            if (seen[p]) continue;
            seen[p] = true;
            stack[depth].edge = 0;
            stack[depth++].block = p;
        } else {
            g->order[++g->norder] = stack[--depth].block;
            b->order = g->norder;
        }
    }
    ptx_free(stack);
    ptx_free(seen);
}

static uint32_t meet(const cfg *g, uint32_t a, uint32_t b) {
    while (a != b) {
        while (g->blocks[a].order < g->blocks[b].order) a = g->blocks[a].ipdom;
        while (g->blocks[b].order < g->blocks[a].order) b = g->blocks[b].ipdom;
    }
    return a;
}

static void post_dominators(cfg *g) {
    uint32_t exit = g->nblocks - 1;
    for (uint32_t b = 0; b < g->nblocks; b++) g->blocks[b].ipdom = NONE;
    g->blocks[exit].ipdom = exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t o = g->norder; o-- > 1;) { /* reverse post-order; the exit is last in post-order */
            cfg_block *b = &g->blocks[g->order[o]];
            uint32_t ipdom = NONE;
            for (uint32_t k = 0; k < b->nnext; k++) {
                uint32_t s = b->next[k];
                if (g->blocks[s].ipdom == NONE) continue;
                ipdom = ipdom == NONE ? s : meet(g, ipdom, s);
            }
            if (ipdom != b->ipdom) {
                b->ipdom = ipdom;
                changed = true;
            }
        }
    }
}

/* Returns whether the block only ends the kernel. Lanes need not meet there. ptxas, too, turns a branch to it into an
 * exit, so after `if (i >= n) return;` the other lanes can reach a barrier. */
static bool only_ends(const cfg *g, uint32_t b) {
    const ptx_insn *i = &g->code->insns[g->blocks[b].first];
    return g->blocks[b].first == g->blocks[b].last && (i->op == OP_ret || i->op == OP_exit) && !i->guarded;
}

/* Inserts a join in front of every instruction where lanes of some branch meet, and adjusts all indices. */
static void insert_joins(cfg *g, bool is_kernel) {
    ptx_code *c = g->code;
    uint32_t n = c->ninsns;
    bool *wanted = ptx_alloc(n + 1);
    for (uint32_t b = 0; b < g->nblocks; b++) {
        ptx_insn *x = &c->insns[g->blocks[b].last];
        bool diverges = (x->op == OP_bra && x->guarded) || x->op == OP_brx || (x->op == OP_ret && x->guarded);
        uint32_t p = g->blocks[b].ipdom;
        if (!diverges || p == NONE) continue;
        x->in_turn = g->blocks[b].turn != NO_BLOCK;
        if (x->in_turn) {
            wanted[x->join = g->blocks[g->blocks[b].turn].first] = true;
            p = g->blocks[b].behind;
        }
        if (is_kernel && only_ends(g, p)) continue;
        *(x->in_turn ? &x->beyond : &x->join) = g->blocks[p].first;
        wanted[g->blocks[p].first] = true;
    }
    if (!is_kernel) wanted[n - 1] = true; /* lanes return together */
    uint32_t *moved = ptx_alloc((n + 1) * sizeof *moved), count = 0;
    for (uint32_t i = 0; i < n; i++) {
        moved[i] = i + count; /* a branch to a joined instruction goes to its join */
        if (wanted[i]) count++;
    }
    ptx_insn *insns = ptx_alloc((n + count) * sizeof *insns);
    for (uint32_t i = 0, to = 0; i < n; i++) {
        if (wanted[i]) {
            ptx_insn join = {
                .op = OP_join, .target = NO_JOIN, .join = NO_JOIN, .beyond = NO_JOIN, .ptx_line = c->insns[i].ptx_line};
            join.line = c->insns[i].line, join.file = c->insns[i].file, join.column = c->insns[i].column;
            insns[to++] = join;
        }
        ptx_insn *x = &insns[to++];
        *x = c->insns[i];
        if (x->target != NO_JOIN) x->target = moved[x->target];
        if (x->join != NO_JOIN) x->join = moved[x->join];
        if (x->beyond != NO_JOIN) x->beyond = moved[x->beyond];
        if (x->op == OP_brx)
            for (uint32_t k = 0; k < x->call->ntargets; k++) x->call->targets[k] = moved[x->call->targets[k]];
        if (x->op == OP_ret && !is_kernel && i != n - 1) x->target = moved[n - 1];
    }
    c->insns = insns;
    c->ninsns = n + count;
    ptx_free(wanted);
    ptx_free(moved);
}

/* --- registers ---------------------------------------------------------------------------------------------- */

typedef struct {
    const uint32_t *id_of; /* frame offset / 4 -> register id, 0: none */
    uint32_t limit;
    uint64_t *set;
} row_set;

static void mark(row_set *s, uint32_t row) {
    uint32_t id = row && row < s->limit ? s->id_of[row / 4] : 0;
    if (id) s->set[id / 64] |= 1ull << id % 64;
}

uint32_t ptx_sources_of(ptx_insn *i, uint32_t **fields) {
    uint32_t n = 0;
    if (i->op != OP_ld_frame && i->op != OP_st_frame) fields[n++] = &i->a;
    fields[n++] = &i->b, fields[n++] = &i->c, fields[n++] = &i->e;
    if (i->guarded) fields[n++] = &i->guard;
    bool vector = i->op == OP_st || i->op == OP_st_frame || i->op == OP_sust || (i->op == OP_mov_pack && !i->sub);
    for (int k = 0; vector && k < 4; k++) fields[n++] = &i->v[k];
    for (int x = MATRIX_a; x <= MATRIX_c && i->op == OP_mma; x++)
        for (uint32_t k = 0; k < i->tensor->pieces[x]; k++) fields[n++] = &i->tensor->row[x][k];
    if (i->texel) {
        fields[n++] = &i->texel->layer;
        fields[n++] = &i->texel->level;
        for (int k = 0; k < 3; k++) {
            fields[n++] = &i->texel->at[k];
            fields[n++] = &i->texel->gradient[0][k], fields[n++] = &i->texel->gradient[1][k];
        }
    }
    if (i->op == OP_call && !i->call->callee) fields[n++] = &i->call->function;
    return n;
}

uint32_t ptx_results_of(ptx_insn *i, uint32_t **fields) {
    uint32_t n = 0;
    fields[n++] = &i->d, fields[n++] = &i->d2;
    bool vector = ptx_is_load(i) || i->op == OP_ld_frame || i->op == OP_tex || i->op == OP_tld4 || i->op == OP_suld ||
                  (i->op == OP_mov_pack && i->sub);
    for (int k = 0; vector && k < 4; k++) fields[n++] = &i->v[k];
    for (uint32_t k = 0; i->op == OP_mma && k < i->tensor->pieces[MATRIX_d]; k++)
        fields[n++] = &i->tensor->row[MATRIX_d][k];
    return n;
}

static void uses_of(ptx_insn *i, row_set *s) {
    uint32_t *fields[MOST_FIELDS], n = ptx_sources_of(i, fields);
    for (uint32_t k = 0; k < n; k++) mark(s, *fields[k]);
}

static void defs_of(ptx_insn *i, row_set *s) {
    uint32_t *fields[MOST_FIELDS], n = ptx_results_of(i, fields);
    for (uint32_t k = 0; k < n; k++) mark(s, *fields[k]);
}

/* Sets in s->set the bits of registers that ptxas does not keep: a value that comes directly from an immediate, an
 * address, a parameter or a __constant__ variable is in a bank of constants, where each instruction reads it. (Versions
 * of clang load parameters at different places.) */
static void mark_constants(const ptx_code *c, row_set *s, uint32_t nregisters) {
    uint8_t *definitions = ptx_alloc(nregisters + 1);
    uint32_t words = (nregisters + 64) / 64;
    uint64_t *one = ptx_alloc(words * 8), *constants = s->set;
    bool *special = ptx_alloc(c->frame_bytes / 4 + 1);
    for (uint32_t r = 0; r < c->nrows; r++) special[c->rows[r].row / 4] = c->rows[r].kind == ROW_SPECIAL;
    for (uint32_t i = 0; i < c->ninsns; i++) {
        memset(one, 0, words * 8);
        s->set = one;
        defs_of(&c->insns[i], s);
        for (uint32_t w = 0; w < words; w++)
            for (uint64_t bits = one[w]; bits; bits &= bits - 1) {
                uint8_t *n = &definitions[w * 64 + (uint32_t)__builtin_ctzll(bits)];
                if (*n < 2) ++*n;
            }
    }
    s->set = constants;
    for (uint32_t i = 0; i < c->ninsns; i++) {
        const ptx_insn *x = &c->insns[i];
        bool loads = x->op == OP_ld && x->space == SPACE_CONST && x->vector == 1;
        uint32_t d = loads ? x->v[0] : x->d;
        if ((ptx_ops[x->op].cost != COST_FREE && !loads) || x->op == OP_mov_pack || x->guarded || !x->a || !d) continue;
        uint32_t to = d < s->limit ? s->id_of[d / 4] : 0, from = x->a < s->limit ? s->id_of[x->a / 4] : 0;
        if (!to || definitions[to] != 1) continue;
        if (x->a < s->limit ? from && constants[from / 64] >> from % 64 & 1 : !special[x->a / 4])
            constants[to / 64] |= 1ull << to % 64;
    }
    ptx_free(definitions);
    ptx_free(one);
    ptx_free(special);
}

/* --- waiting for other blocks ------------------------------------------------------------------------------- */

static bool polls_device(const ptx_insn *i) {
    bool device = i->space == SPACE_GLOBAL || i->space == SPACE_GENERIC;
    return i->polls && device && (i->op == OP_ld || (i->op == OP_atom && !i->unused));
}

/* Returns whether the instruction takes the next number from a counter in device memory, as warps do that share work
 * out: `while ((i = atomicAdd(&next, 1)) < n)`. */
static bool takes_number(const ptx_code *c, const ptx_insn *i) {
    if (i->op != OP_atom || (i->sub != ATOM_add && i->sub != ATOM_inc && i->sub != ATOM_dec)) return false;
    if (ptx_is_float((enum ptx_type)i->type)) return false;
    for (uint32_t r = 0; r < c->nrows; r++) /* atomicAdd(&flag, 0) only looks */
        if (c->rows[r].row == i->b && c->rows[r].kind == ROW_CONSTANT) return c->rows[r].bits != 0;
    return false;
}

/* The registers that depend on a poll, and those of one instruction; `words` of 64 bits each. */
typedef struct {
    row_set tainted, one;
    uint32_t words;
    bool shared; /* shared memory, by which a thread tells its block what it has taken, depends on it, too */
} taint;

static bool reads_tainted(taint *t, ptx_insn *i) {
    bool reads = false;
    memset(t->one.set, 0, t->words * 8);
    uses_of(i, &t->one);
    for (uint32_t w = 0; w < t->words; w++) reads |= (t->one.set[w] & t->tainted.set[w]) != 0;
    return reads;
}

/* Returns whether the instruction leaves the loop from `begin` to `end`. */
static bool leaves(const ptx_insn *i, uint32_t begin, uint32_t end) {
    return i->op == OP_ret || i->op == OP_exit || (i->op == OP_bra && (i->target > end || i->target < begin));
}

/* Returns whether the loop from `begin` to its branch at `end` ends by what the poll in it reads. A value depends on
 * the poll if it is computed from it, or set under a condition that is; so does a branch, as the second of nvcc's
 * `@p bra GOES_ON; bra ENDS`. */
static bool ends_loop(const ptx_code *c, uint32_t begin, uint32_t end, uint32_t poll, taint *t) {
    const bool takes = takes_number(c, &c->insns[poll]);
    memset(t->tainted.set, 0, t->words * 8);
    t->shared = false;
    defs_of(&c->insns[poll], &t->tainted);
    for (int round = 0; round < 2; round++) /* the second time for what the next iteration reads */
        for (uint32_t k = begin, under = 0; k <= end; k++) {
            ptx_insn *i = &c->insns[k];
            bool reads = reads_tainted(t, i) || (t->shared && i->op == OP_ld && i->space == SPACE_SHARED);
            if (takes && reads && i->op == OP_st && i->space == SPACE_SHARED) t->shared = true;
            const bool decides = reads || (k < under && !i->guarded);
            if ((reads && k == end) || (decides && leaves(i, begin, end))) return true;
            if (reads && i->op == OP_bra && i->target > under) under = i->target;
            if (reads || k < under) defs_of(i, &t->tainted);
        }
    return false;
}

/* Marks the polls that may wait for another block, and the places where warps share work out with others. A device
 * function may be called in a loop. */
static void mark_waits(ptx_code *c, bool is_kernel, const row_set *rows, uint32_t nregisters) {
    taint t = {*rows, *rows, (nregisters + 64) / 64, false};
    bool large = (uint64_t)t.words * c->ninsns > 1u << 20; /* too large to analyse */
    t.tainted.set = ptx_alloc(t.words * 8);
    t.one.set = ptx_alloc(t.words * 8);
    for (uint32_t k = 0; k < c->ninsns; k++) {
        c->insns[k].waits = (!is_kernel || large) && polls_device(&c->insns[k]);
        for (uint32_t end = k; end < c->ninsns && polls_device(&c->insns[k]) && !c->insns[k].waits; end++)
            if (c->insns[end].op == OP_bra && c->insns[end].target <= k)
                c->insns[k].waits = ends_loop(c, c->insns[end].target, end, k, &t);
        c->insns[k].takes = c->insns[k].waits && !large && takes_number(c, &c->insns[k]);
        c->waits |= c->insns[k].waits;
        c->meets |= c->insns[k].waits && !c->insns[k].takes;
    }
    c->serial |= c->waits;
    ptx_free(t.tainted.set);
    ptx_free(t.one.set);
}

static void add_zeroed(ptx_code *c, uint32_t begin, uint32_t end) {
    if (c->nzeroed && c->zeroed[c->nzeroed - 1].end == begin) {
        c->zeroed[c->nzeroed - 1].end = end;
        return;
    }
    c->zeroed = ptx_grow(c->zeroed, c->nzeroed, sizeof *c->zeroed);
    c->zeroed[c->nzeroed++] = (ptx_span){begin, end};
}

/* Gives registers that are never live together one row, and lists what a new frame zeroes, so that no read sees what
 * another block left there: registers that are live at the entry, and those that a shuffle may read of a lane that has
 * not come so far; predicates and slots, which are small. */
static void share_rows(cfg *g, const parsed_function *pf, const uint32_t *id_of) {
    ptx_code *c = g->code;
    uint32_t *row = ptx_alloc((pf->nregisters + 1) * sizeof *row), *fields[2 * MOST_FIELDS];
    ptx_sharing_end(g->sharing, pf, c->registers_begin, row);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        uint32_t n = ptx_sources_of(&c->insns[i], fields);
        n += ptx_results_of(&c->insns[i], fields + n);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t at = *fields[k], id = at && at < c->registers_end ? id_of[at / 4] : 0;
            if (id) *fields[k] = row[id];
        }
    }
    c->nzeroed = 0;
    for (uint32_t r = 0; r < pf->nregisters; r++) {
        reg *x = pf->registers[r];
        x->row = row[x->id];
        if (x->type == TY_pred || !(g->fresh[x->id / 64] >> x->id % 64 & 1)) continue;
        add_zeroed(c, x->row, x->row + 32 * (ptx_type_bytes[x->type] == 8 ? 8 : 4));
    }
    add_zeroed(c, c->predicates, c->registers_end);
    ptx_free(row);
}

/* Notes the registers that are live at the entry, and those that shuffles read. */
static void note_fresh(cfg *g, const parsed_function *pf, const uint32_t *id_of, uint32_t words) {
    ptx_code *c = g->code;
    g->sharing = ptx_sharing_begin(pf->nregisters);
    g->fresh = ptx_alloc(words * 8);
    memcpy(g->fresh, g->blocks[0].live_in, words * 8);
    if (g->sharing) ptx_sharing_note(g->sharing, g->fresh, g->fresh, g->fresh);
    for (uint32_t i = 0; i < c->ninsns; i++) {
        uint32_t a = c->insns[i].a, id = a < c->registers_end ? id_of[a / 4] : 0;
        enum ptx_op op = c->insns[i].op;
        if (!id || (op != OP_shfl && op != OP_movmatrix && op != OP_ldmatrix)) continue;
        g->fresh[id / 64] |= 1ull << id % 64;
        if (g->sharing) ptx_sharing_keep(g->sharing, id);
    }
}

/* Returns the most 32-bit registers that are live at one point, by backward data flow over the blocks and a walk
 * through each. g->sets is the caller's, who frees it. */
static uint32_t pressure(cfg *g, const parsed_function *pf, const uint32_t *id_of) {
    ptx_code *c = g->code;
    uint32_t words = (pf->nregisters + 64) / 64;
    uint64_t *memory = ptx_alloc(((size_t)g->nblocks * 3 + 4) * words * 8), *next = memory;
    uint64_t *live = next, *u = next + words, *f = next + 2 * words, *constants = next + 3 * words;
    next += 4 * words;
    mark_constants(c, &(row_set){id_of, c->registers_end, constants}, pf->nregisters);
    row_set us = {id_of, c->registers_end, u}, ds = {id_of, c->registers_end, f};
    for (uint32_t b = 0; b < g->nblocks; b++) {
        cfg_block *k = &g->blocks[b];
        k->live_in = next, k->used = next + words, k->defined = next + 2 * words;
        next += 3 * words;
        for (uint32_t i = k->first; i <= k->last; i++) {
            memset(u, 0, 2 * words * 8);
            uses_of(&c->insns[i], &us);
            defs_of(&c->insns[i], &ds);
            for (uint32_t w = 0; w < words; w++) {
                k->used[w] |= u[w] & ~k->defined[w];
                if (!c->insns[i].guarded) k->defined[w] |= f[w];
            }
        }
    }
    /* Each level of nested loops needs a pass; an estimate may stop before deeper nests settle. */
    bool changed = true;
    for (int pass = 0; changed && pass < 64; pass++) {
        changed = false;
        for (uint32_t b = g->nblocks; b-- > 0;) {
            cfg_block *k = &g->blocks[b];
            for (uint32_t w = 0; w < words; w++) {
                uint64_t out = 0;
                for (uint32_t e = 0; e < k->nnext; e++) out |= g->blocks[k->next[e]].live_in[w];
                uint64_t in = k->used[w] | (out & ~k->defined[w]);
                if (in != k->live_in[w]) {
                    k->live_in[w] = in;
                    changed = true;
                }
            }
        }
    }
    if (!changed) note_fresh(g, pf, id_of, words);
    uint32_t most = 0;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        cfg_block *k = &g->blocks[b];
        memset(live, 0, words * 8);
        for (uint32_t e = 0; e < k->nnext; e++)
            for (uint32_t w = 0; w < words; w++) live[w] |= g->blocks[k->next[e]].live_in[w];
        for (uint32_t i = k->last + 1; i-- > k->first;) {
            memset(u, 0, 2 * words * 8);
            uses_of(&c->insns[i], &us);
            defs_of(&c->insns[i], &ds);
            if (g->sharing) ptx_sharing_note(g->sharing, f, u, live);
            uint32_t units = 0;
            for (uint32_t w = 0; w < words; w++) {
                if (!c->insns[i].guarded) live[w] &= ~f[w];
                live[w] |= u[w];
                for (uint64_t bits = live[w] & ~constants[w]; bits; bits &= bits - 1) {
                    enum ptx_type t = pf->registers[w * 64 + (uint32_t)__builtin_ctzll(bits) - 1]->type;
                    units += t == TY_pred ? 0 : ptx_type_bytes[t] == 8 ? 2 : 1;
                }
            }
            if (units > most) most = units;
            k->live = (uint16_t)units;
        }
    }
    g->sets = memory;
    g->constants = constants;
    return most;
}

static uint32_t estimate_registers(cfg *g, const parsed_function *pf, const uint32_t *id_of) {
    if ((uint64_t)(pf->nregisters / 64 + 1) * g->code->ninsns > 1u << 24) return 255; /* too large to analyse */
    /* For the ABI and address temporaries. (NVIDIA's compiler needs 16 to 32 in all for the course's kernels.) */
    enum { ABI = 6 };
    uint32_t n = pressure(g, pf, id_of) + ABI, most = 255;
    /* A block within __launch_bounds__ gets a place: the 65536 registers of an SM, in steps of 8 a thread. */
    if (pf->function->max_threads > 256) most = 65536 / ((pf->function->max_threads + 31) / 32 * 32) / 8 * 8;
    /* So do as many blocks as their second number asks for. */
    if (pf->function->max_threads && pf->function->min_blocks) {
        uint32_t warps = (pf->function->max_threads + 31) / 32;
        uint32_t asked = (uint32_t)(65536 / (32 * (uint64_t)warps * pf->function->min_blocks) / 8 * 8);
        if (asked < most) most = asked;
    }
    pf->function->spilled = n > most && ptx_spill(g, pf, id_of, most - ABI);
    ptx_free(g->sets);
    return n < 16 ? 16 : n > most ? most : n;
}

void ptx_cfg_analyse(parsed_function *pf, ptx_code *code) {
    cfg g = {.code = code};
    ptx_lay_out(code);
    uint32_t *id_of = ptx_alloc((code->registers_end / 4 + 1) * sizeof *id_of);
    for (uint32_t r = 0; r < pf->nregisters; r++) id_of[pf->registers[r]->row / 4] = pf->registers[r]->id;
    make_blocks(&g);
    if (ptx_contract(&g, pf->nregisters, id_of)) {
        free_blocks(&g);
        make_blocks(&g);
    }
    number_blocks(&g);
    post_dominators(&g);
    ptx_find_loops(&g);
    add_zeroed(code, code->registers_begin, code->registers_end); /* all, unless share_rows() knows better */
    pf->function->registers = estimate_registers(&g, pf, id_of);
    ptx_fold_branches(code);
    uint32_t more = ptx_machine_of(&g, pf->function, pf->nregisters, id_of), *registers = &pf->function->registers;
    /* For these it takes no more than every warp of a full SM can have. */
    if (*registers < FULL_SM) *registers = *registers + more < FULL_SM ? *registers + more : FULL_SM;
    ptx_depth_of_blocks(&g, pf->function, pf->nregisters, id_of);
    ptx_measure_code(&g, &pf->function->module->costs);
    /* ptxas keeps to what every warp of a full SM can have where little is beyond it: of 250 kernels by nvcc 13, 40
     * take 32 exactly, and four take 33 to 40. */
    enum { SQUEEZED = 4 };
    if (*registers > FULL_SM && *registers <= FULL_SM + SQUEEZED) *registers = FULL_SM;
    mark_waits(code, pf->function->is_kernel, &(row_set){id_of, code->registers_end, NULL}, pf->nregisters);
    if (g.fresh) share_rows(&g, pf, id_of);
    ptx_free(id_of);
    ptx_find_turns(&g);
    insert_joins(&g, pf->function->is_kernel);
    ptx_stages_of(code);
    ptx_machine_predicate(code);
    free_blocks(&g);
    ptx_free(g.order);
    ptx_free(g.fresh);
}
