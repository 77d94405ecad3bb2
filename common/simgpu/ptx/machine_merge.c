/* machine_merge.c — neighbouring accesses to shared memory are one, and pairs of loads of constant memory.
 *
 * Two or four words that loads (or stores) of a basic block with one base register take one after another are one
 * access of 8 or 16 bytes where the address is known to be a multiple of that (machine_lowest.c). A load of two words
 * and the next one are one of 16 bytes, too: nvcc's compiler loads x, y and z of a float4 so, and clang does not. An
 * access in between that may change the memory, and a barrier, part them. The first has the requests and wavefronts of
 * all.
 *
 * In a loop of which ptxas makes one turn of several (machine_loop.c) the loads of these turns are neighbours, if their
 * address advances by their size: as[row][k], k = 0, 1, 2, 3. So are the words of a row that does not begin at a
 * multiple of two or four, but for the first and the last. The one whose address is a multiple of all has the
 * requests of all, as if the row began there: those of the first and last words alone are not counted. Source: machine
 * code by nvcc 13 for sm_90. */
#include "machine.h"

#include <string.h>

enum { MOST_WORDS = 4, FAR = 64 }; /* words; instructions to look ahead */

/* Returns the words of an access. */
static uint32_t width_of(const ptx_insn *i) { return i->vector * ptx_type_bytes[i->type] / 4u; }

/* Returns how many words an access like this may have: 0 if it stays alone. */
static uint32_t most_words(const ptx_insn *i) {
    if ((i->op != OP_ld && i->op != OP_st) || i->polls || i->guarded || ptx_type_bytes[i->type] < 4) return 0;
    const bool apart = i->space == SPACE_CONST && !i->one_place;
    return i->space == SPACE_SHARED ? 4 : apart ? 2 : 0;
}

static bool is_plain(const ptx_insn *i) { return width_of(i) <= most_words(i) / 2; }

/* Returns whether accesses like i cannot be moved over x. */
static bool parts(const ptx_insn *i, const ptx_insn *x) {
    enum ptx_cost cost = ptx_ops[x->op].cost;
    if (cost == COST_BARRIER || cost == COST_BRANCH || x->op == OP_atom || x->op == OP_bar_warp) return true;
    return (x->op == OP_st || (x->op == OP_ld && i->op == OP_st)) && x->space == SPACE_SHARED &&
           (x->a != i->a || x->op != i->op);
}

/* Returns whether base + offset is known to be a multiple of so many words: 2 or 4. */
static bool is_multiple(machine_lowest base, int64_t offset, uint32_t words) {
    return 1u << base.bits >= 4 * words && (base.value + (uint64_t)offset) % (4 * words) == 0;
}

/* Makes the accesses of this base that follow i's one with it, if they have so many words together. */
static void merge_from(machine *m, uint32_t at, uint32_t last, uint32_t words) {
    ptx_insn *i = &m->code->insns[at], *found[MOST_WORDS] = {i};
    uint32_t n = 1, have = width_of(i);
    for (uint32_t k = at + 1; k <= last && k < at + FAR && have < words; k++) {
        ptx_insn *x = &m->code->insns[k];
        if (parts(i, x)) break;
        if (machine_id(m, x->d) && x->d == i->a) break;
        bool next =
            is_plain(x) && x->op == i->op && x->space == i->space && x->a == i->a && x->machine == PTX_MACHINE_UNIT;
        if (next && x->imm == i->imm + 4 * have && have + width_of(x) <= words) have += width_of(found[n++] = x);
    }
    const bool all = have == words || (i->op == OP_ld && width_of(i) == 2 && have == 3);
    for (uint32_t k = 0; all && n > 1 && k < n; k++) {
        found[k]->machine = (uint16_t)(PTX_MACHINE_UNIT / n);
        found[k]->words = k ? PTX_MERGED : (uint8_t)words;
    }
}

void ptx_machine_merge(machine *m) {
    for (uint32_t words = MOST_WORDS; words >= 2; words /= 2)
        for (uint32_t b = 0; b < m->g->nblocks; b++)
            for (uint32_t at = m->g->blocks[b].first; at <= m->g->blocks[b].last; at++) {
                const ptx_insn *i = &m->code->insns[at];
                if (!is_plain(i) || words > most_words(i) || i->machine != PTX_MACHINE_UNIT) continue;
                if (is_multiple(ptx_machine_lowest_of(m, i->a), i->imm, words))
                    merge_from(m, at, m->g->blocks[b].last, words);
            }
}

/* --- turns of a loop ---------------------------------------------------------------------------------------------- */

/* A value in the turns of a loop: its lowest bits in the first of them, and what is added from turn to turn. */
typedef struct {
    machine_lowest first;
    int64_t step;
    bool known;
} course;
static const course UNKNOWN;

/* Returns whether the instruction stands in the loop that begins at the block `head`. */
static bool stands_in(const machine *m, uint32_t head, uint32_t at) {
    const cfg_block *blocks = m->g->blocks;
    for (uint32_t b = head;; b = blocks[b].then) {
        if (at >= blocks[b].first && at <= blocks[b].last) return true;
        if (blocks[b].then == b) return false;
    }
}

/* Returns the constant in this row, or 0 for anything else. */
static int64_t constant_in(const machine *m, uint32_t row) {
    const ptx_row *r = machine_row(m, row);
    if (!r || r->kind != ROW_CONSTANT) return 0;
    return r->bytes == 4 ? (int32_t)r->bits : (int64_t)r->bits;
}

static course course_of(const machine *m, uint32_t head, uint32_t row, uint32_t user, int depth);

/* Returns the course of what the instruction computes in each turn. */
static course course_of_result(const machine *m, uint32_t head, uint32_t at, int depth) {
    const ptx_insn *i = &m->code->insns[at];
    const course a = course_of(m, head, i->a, at, depth), b = course_of(m, head, i->b, at, depth),
                 c = course_of(m, head, i->c, at, depth);
    const int64_t left = constant_in(m, i->a), right = constant_in(m, i->b);
    if (!a.known || !b.known || !c.known) return UNKNOWN;
    course of = {ptx_machine_lowest_result(m, i, a.first, b.first, c.first), 0, true};
    switch (i->op) {
    case OP_mov_b32:
    case OP_mov_b64:
    case OP_cvt_u64_u32:
    case OP_cvt_s64_s32:
    case OP_cvt_u32_u64: of.step = a.step; break;
    case OP_add_u32:
    case OP_add_u64: of.step = a.step + b.step; break;
    case OP_sub_u32:
    case OP_sub_u64: of.step = a.step - b.step; break;
    case OP_mul_lo_u32:
    case OP_mul_wide_u32:
    case OP_mul_wide_s32:
    case OP_mad_lo_u32:
        of.step = a.step * right + b.step * left + (i->op == OP_mad_lo_u32 ? c.step : 0);
        of.known = (!a.step || right) && (!b.step || left);
        break;
    case OP_shl_b32:
    case OP_shl_b64:
        of.step = a.step * (right < 32 ? 1ll << right : 0);
        of.known = !b.step && (!a.step || right);
        break;
    default: of.known = !a.step && !b.step && !c.step && i->op != OP_ld; break;
    }
    return of;
}

/* Returns the course of a register that has several definitions: those in front of the loop, and one in it that adds a
 * constant, at once or through a move, behind its user. */
static course course_of_kept(const machine *m, uint32_t head, uint32_t id, uint32_t user) {
    course of = {.known = true};
    uint32_t within = NO_INSN;
    for (uint32_t at = 0; at < m->code->ninsns; at++) {
        ptx_insn *i = &m->code->insns[at];
        uint32_t *fields[MOST_FIELDS], n = ptx_results_of(i, fields);
        for (uint32_t k = 0; k < n; k++) {
            if (machine_id(m, *fields[k]) != id) continue;
            if (fields[k] != &i->d) return UNKNOWN;
            if (stands_in(m, head, at)) {
                if (within != NO_INSN || at < user) return UNKNOWN;
                within = at;
                continue;
            }
            of.first = ptx_machine_lowest_both(of.first, ptx_machine_lowest_result(m, i, ptx_machine_lowest_of(m, i->a),
                                                                                   ptx_machine_lowest_of(m, i->b),
                                                                                   ptx_machine_lowest_of(m, i->c)));
        }
    }
    const ptx_insn *i = within == NO_INSN ? NULL : &m->code->insns[within];
    if (i && (i->op == OP_mov_b32 || i->op == OP_mov_b64)) i = machine_definition(m, i->a);
    if (within == NO_INSN) return of;
    if (!i || (i->op != OP_add_u32 && i->op != OP_add_u64) || machine_id(m, i->a) != id) return UNKNOWN;
    of.step = constant_in(m, i->b);
    return of.step ? of : UNKNOWN;
}

/* Returns the course of the value in this row, which the instruction `user` reads. */
static course course_of(const machine *m, uint32_t head, uint32_t row, uint32_t user, int depth) {
    const uint32_t id = machine_id(m, row), at = id ? m->values[id].definition : NO_INSN;
    const course stays = {ptx_machine_lowest_of(m, row), 0, true};
    if (!id || !m->values[id].definitions || (at != NO_INSN && !stands_in(m, head, at))) return stays;
    if (at == NO_INSN) return course_of_kept(m, head, id, user);
    return depth ? course_of_result(m, head, at, depth - 1) : UNKNOWN;
}

/* Returns how many accesses load so many words one behind another: of as many words as their address is a multiple of,
 * up to `words`. phase: the words by which the first is off such a multiple. */
static uint32_t accesses_of_row(uint32_t phase, uint32_t all, uint32_t words) {
    uint32_t pieces = 0;
    for (uint32_t at = phase, end = phase + all, size; at < end; at += size, pieces++)
        for (size = words; at % size || at + size > end;) size /= 2;
    return pieces;
}

/* Fills found[] with the loads of one word each that lie side by side from i's on, by their place. Returns how many
 * they are; 0 if one lies in front of it. `at` is i's place, [first, last] its block. */
static uint32_t find_row(machine *m, uint32_t first, uint32_t at, uint32_t last, ptx_insn **found, uint32_t most) {
    const ptx_insn *i = &m->code->insns[at];
    bool begins = true;
    uint32_t n = 1;
    for (uint32_t k = at - first > FAR ? at - FAR : first; k <= last && k < at + FAR; k++) {
        ptx_insn *x = &m->code->insns[k];
        const bool loads = x->op == OP_ld && x->space == i->space && x->a == i->a && width_of(x) == 1 && most_words(x);
        const int64_t behind = x->imm - i->imm;
        if (loads && behind == -4) begins = false;
        if (loads && behind >= 0 && behind / 4 < most && behind % 4 == 0) found[behind / 4] = x;
        if (!machine_id(m, x->d) || x->d != i->a) continue;
        if (k > at) break;
        begins = true; /* what is loaded so far has another base */
        memset(found, 0, most * sizeof *found);
    }
    while (n < most && found[n]) n++;
    return begins ? n : 0;
}

/* Makes loads of one word each that lie side by side, of which this one is the first, one with those of the next turns.
 */
static void merge_turns_of(machine *m, uint32_t head, uint32_t first, uint32_t at, uint32_t last, uint32_t turns) {
    enum { DEEP = 8, LONGEST = 8 };
    const ptx_insn *i = &m->code->insns[at];
    ptx_insn *found[LONGEST] = {NULL};
    if (i->op != OP_ld || width_of(i) != 1 || !most_words(i) || i->of_turns || !machine_id(m, i->a)) return;
    const course base = course_of(m, head, i->a, at, DEEP);
    const uint32_t row = find_row(m, first, at, last, found, LONGEST);
    if (!base.known || base.step <= 0 || base.step % 4 || base.step / 4 > row) return;
    const uint32_t n = (uint32_t)(base.step / 4); /* what lies behind them is the next turn's first */
    uint32_t words = most_words(i);
    while (words > 1 && (1u << base.first.bits < 4 * words || n * turns % words)) words /= 2;
    const uint32_t phase = (uint32_t)(base.first.value + (uint64_t)i->imm) / 4 % words,
                   pieces = accesses_of_row(phase, n * turns, words);
    for (uint32_t k = 0; words > 1 && k < n; k++) {
        found[k]->machine = (uint16_t)(PTX_MACHINE_UNIT * pieces / (n * turns));
        found[k]->words = (uint8_t)words;
        found[k]->of_turns = true;
    }
}

void ptx_machine_merge_turns(machine *m, uint32_t head, uint32_t block, uint32_t turns) {
    static const ptx_insn load = {.op = OP_ld, .space = SPACE_SHARED};
    const cfg_block *blocks = m->g->blocks;
    for (uint32_t b = head;; b = blocks[b].then) {
        for (uint32_t at = blocks[b].first; at <= blocks[b].last; at++)
            if (m->code->insns[at].op != OP_bra && parts(&load, &m->code->insns[at])) return;
        if (blocks[b].then == b) break;
    }
    for (uint32_t at = blocks[block].first; at <= blocks[block].last; at++)
        merge_turns_of(m, head, blocks[block].first, at, blocks[block].last, turns);
}
