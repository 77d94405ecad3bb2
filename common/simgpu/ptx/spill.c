/* spill.c — what a thread's registers cannot hold: the loads and stores of local memory that ptxas would add.
 *
 * PTX has as many registers as it likes. A machine has 255 a thread, or fewer where __launch_bounds__ asks for more
 * threads. Where more are live, a compiler keeps the rest in local memory: it stores a register before it gives its
 * place to another, and loads it again before it is used.
 *
 * Here each block of code is walked with that many places. A register that has to leave is the one whose next use is
 * farthest (Belady's rule, 1966), the least that any compiler could do; ptxas does up to twice as much. A loop's turn
 * is walked twice, and the second one counts: it finds the places as the first has left them. Two kinds of registers
 * never leave, since ptxas need not keep them: constants, and what a load brings before its first use, because it can
 * load later. A third kind leaves first and costs no memory: sums, shifts and the like, above all addresses, whose
 * sources never change. They are computed again where they are used.
 *
 * Each load or store is noted at the instruction that needed the place (ptx_insn.spills); exec/ counts it as often as
 * that runs.
 */
#include "cfg.h"

#include <string.h>

enum { BEYOND = 1 << 28 }; /* a use in no known place */

enum { MOST_SOURCES = 3, DEEP = 4 };

/* A register of the function, by id. */
typedef struct {
    uint32_t next;  /* the next use of this walk's block: an instruction of it, counted on in the turn behind */
    uint32_t first; /* the first use or definition in the block */
    uint8_t units;  /* 1 or 2 registers of the machine; 0: takes no place */
    bool here;      /* it has a place */
    bool saved;     /* local memory holds its value, too */
    bool waits;     /* a load that ptxas can still move down to its first use */
    bool defined;   /* `first` is a definition: the value of the turn before is of no use */
    bool changes;   /* the block writes it */
    bool again;     /* one cheap instruction computes it, from values that never change */
    uint32_t from[MOST_SOURCES], nfrom; /* these: ids */
    uint32_t held;                      /* by what is computed from it again, up to this instruction; 0: not */
} place;

typedef struct {
    cfg *g;
    const uint32_t *id_of;
    uint32_t room, taken; /* places, in registers of the machine */
    place *of;            /* by id */
    uint32_t *listed;     /* the ids that have a place */
    uint32_t nlisted;
    uint32_t *next_use; /* for each operand of the block's instructions, in their order: its register's next use */
    uint32_t at, noperands, now; /* now: the instruction */
} walk;

enum { MOST = 2 * MOST_FIELDS };
typedef struct {
    uint32_t read[MOST_FIELDS], written[MOST_FIELDS];
    uint32_t nread, nwritten;
} operands;

static uint32_t add_id(const walk *w, uint32_t *ids, uint32_t n, uint32_t row) {
    const uint32_t id = row && row < w->g->code->registers_end ? w->id_of[row / 4] : 0;
    if (!id || !w->of[id].units) return n;
    for (uint32_t k = 0; k < n; k++)
        if (ids[k] == id) return n;
    ids[n] = id;
    return n + 1;
}

static operands operands_of(const walk *w, ptx_insn *i) {
    uint32_t *fields[MOST];
    operands o = {.nread = 0};
    uint32_t n = ptx_sources_of(i, fields);
    for (uint32_t k = 0; k < n; k++) o.nread = add_id(w, o.read, o.nread, *fields[k]);
    n = ptx_results_of(i, fields);
    for (uint32_t k = 0; k < n; k++) o.nwritten = add_id(w, o.written, o.nwritten, *fields[k]);
    return o;
}

/* Is it done in an instruction or two, without memory? */
static bool is_cheap(const ptx_insn *i) {
    switch (i->op) {
    case OP_add_u32:
    case OP_add_u64:
    case OP_sub_u32:
    case OP_sub_u64:
    case OP_mul_lo_u32:
    case OP_mul_wide_u32:
    case OP_mul_wide_s32:
    case OP_mad_lo_u32:
    case OP_shl_b32:
    case OP_shl_b64:
    case OP_and_u32:
    case OP_or_u32:
    case OP_or_u64:
    case OP_mov_b32:
    case OP_mov_b64:
    case OP_cvt_s64_s32:
    case OP_cvt_u64_u32:
    case OP_cvta: return !i->guarded;
    default: return false;
    }
}

/* Fills again and from. */
static void find_recipes(walk *w, uint32_t nids) {
    uint32_t *definitions = ptx_alloc((nids + 1) * sizeof *definitions);
    for (uint32_t k = 0; k < w->g->code->ninsns; k++) {
        const operands o = operands_of(w, &w->g->code->insns[k]);
        for (uint32_t n = 0; n < o.nwritten; n++) definitions[o.written[n]]++;
    }
    for (uint32_t k = 0; k < w->g->code->ninsns; k++) {
        ptx_insn *i = &w->g->code->insns[k];
        const operands o = operands_of(w, i);
        if (!is_cheap(i) || o.nwritten != 1 || o.nread > MOST_SOURCES) continue;
        place *p = &w->of[o.written[0]];
        p->again = definitions[o.written[0]] == 1;
        for (p->nfrom = 0; p->nfrom < o.nread; p->nfrom++) {
            p->from[p->nfrom] = o.read[p->nfrom];
            p->again &= definitions[o.read[p->nfrom]] <= 1;
        }
    }
    ptx_free(definitions);
}

/* Are its sources at hand, or can they be computed again? */
static bool can_repeat(const walk *w, const place *p, int deep) {
    bool can = p->again && deep;
    for (uint32_t k = 0; k < p->nfrom && can; k++) {
        const place *source = &w->of[p->from[k]];
        can = source->here || can_repeat(w, source, deep - 1);
    }
    return can;
}

static bool loops_to_itself(const cfg_block *b, uint32_t self) {
    for (uint32_t e = 0; e < b->nnext; e++)
        if (b->next[e] == self) return true;
    return false;
}

static bool is_live_out(const walk *w, const cfg_block *b, uint32_t id) {
    for (uint32_t e = 0; e < b->nnext; e++)
        if (w->g->blocks[b->next[e]].live_in[id / 64] >> id % 64 & 1) return true;
    return false;
}

static void note_definition(place *p, uint32_t k) {
    p->first = k;
    p->defined = p->changes = true;
}

/* Fills next_use: a walk from the block's end to its beginning. A use counts from 0 at the first instruction; one of
 * the turn behind lies a block's length further on. */
static void find_uses(walk *w, uint32_t self, uint32_t nids) {
    const cfg_block *b = &w->g->blocks[self];
    const uint32_t length = b->last - b->first + 1;
    const bool loop = loops_to_itself(b, self);
    for (uint32_t id = 1; id <= nids; id++) w->of[id].first = BEYOND, w->of[id].changes = false;
    for (uint32_t k = length; k-- > 0;) {
        const operands o = operands_of(w, &w->g->code->insns[b->first + k]);
        for (uint32_t n = 0; n < o.nwritten; n++) note_definition(&w->of[o.written[n]], k);
        for (uint32_t n = 0; n < o.nread; n++) w->of[o.read[n]].first = k, w->of[o.read[n]].defined = false;
    }
    for (uint32_t id = 1; id <= nids; id++) {
        place *p = &w->of[id];
        const bool wanted = is_live_out(w, b, id);
        p->next = !wanted ? UINT32_MAX : loop && p->first != BEYOND && !p->defined ? length + p->first : BEYOND;
    }
    w->noperands = 0;
    for (uint32_t k = 0; k < length; k++) {
        const operands o = operands_of(w, &w->g->code->insns[b->first + k]);
        w->noperands += o.nread + o.nwritten;
    }
    uint32_t at = w->noperands;
    for (uint32_t k = length; k-- > 0;) {
        const operands o = operands_of(w, &w->g->code->insns[b->first + k]);
        at -= o.nread + o.nwritten;
        for (uint32_t n = 0; n < o.nread; n++) w->next_use[at + n] = w->of[o.read[n]].next;
        for (uint32_t n = 0; n < o.nwritten; n++) w->next_use[at + o.nread + n] = w->of[o.written[n]].next;
        for (uint32_t n = 0; n < o.nwritten; n++) w->of[o.written[n]].next = UINT32_MAX; /* dead above */
        for (uint32_t n = 0; n < o.nread; n++) w->of[o.read[n]].next = k;
    }
}

static void leave(walk *w, uint32_t slot) {
    const uint32_t id = w->listed[slot];
    w->of[id].here = false;
    w->taken -= w->of[id].units;
    w->listed[slot] = w->listed[--w->nlisted];
}

/* Returns the instruction that next needs the register's place. */
static uint32_t next_need(const walk *w, const place *p) {
    return p->held > w->now && p->held < p->next ? p->held : p->next;
}

/* What computes it again needs its sources until then. */
static void hold_sources(walk *w, const place *p, uint32_t until) {
    for (uint32_t k = 0; k < p->nfrom; k++) {
        place *source = &w->of[p->from[k]];
        if (source->held < until) source->held = until;
        if (!source->here) hold_sources(w, source, until);
    }
}

/* Makes room for a register; those used by this instruction stay. Returns how many stores it takes. */
static uint32_t make_room(walk *w, uint32_t units, const operands *now) {
    uint32_t stores = 0;
    while (w->taken + units > w->room) {
        uint32_t farthest = UINT32_MAX;
        bool again = false; /* that one can be computed again */
        for (uint32_t k = 0; k < w->nlisted; k++) {
            const uint32_t id = w->listed[k];
            bool used = false;
            for (uint32_t n = 0; n < now->nread; n++) used |= now->read[n] == id;
            for (uint32_t n = 0; n < now->nwritten; n++) used |= now->written[n] == id;
            if (used) continue;
            const bool can = can_repeat(w, &w->of[id], DEEP);
            if (farthest == UINT32_MAX ||
                (can != again ? can : next_need(w, &w->of[id]) > next_need(w, &w->of[w->listed[farthest]])))
                farthest = k, again = can;
        }
        if (farthest == UINT32_MAX) break; /* the instruction alone needs more */
        place *p = &w->of[w->listed[farthest]];
        if (again)
            hold_sources(w, p, next_need(w, p));
        else if (p->next != UINT32_MAX && !p->saved)
            stores += p->units, p->saved = true;
        leave(w, farthest);
    }
    return stores;
}

static uint32_t enter(walk *w, uint32_t id, const operands *now) {
    place *p = &w->of[id];
    if (p->here) return 0;
    const uint32_t stores = make_room(w, p->units, now);
    p->here = true;
    w->taken += p->units;
    w->listed[w->nlisted++] = id;
    return stores;
}

/* Gives up what is dead. */
static void bury(walk *w) {
    for (uint32_t k = w->nlisted; k-- > 0;)
        if (next_need(w, &w->of[w->listed[k]]) == UINT32_MAX) leave(w, k);
}

static bool can_wait(const ptx_insn *i) { return i->op == OP_ld && !i->polls && !i->guarded; }

/* One walk over a block; notes what it finds. */
static void walk_block(walk *w, const cfg_block *b) {
    w->at = 0;
    for (uint32_t k = b->first; k <= b->last; k++) {
        ptx_insn *i = &w->g->code->insns[k];
        const operands o = operands_of(w, i);
        uint32_t moves = 0;
        w->now = k - b->first;
        for (uint32_t n = 0; n < o.nread; n++) {
            place *p = &w->of[o.read[n]];
            if (!p->here && p->waits)
                p->saved = false;
            else if (!p->here && !can_repeat(w, p, DEEP))
                moves += p->units, p->saved = true; /* a load */
            p->waits = false;
            moves += enter(w, o.read[n], &o);
            p->next = w->next_use[w->at++];
        }
        bury(w);
        for (uint32_t n = 0; n < o.nwritten; n++) {
            place *p = &w->of[o.written[n]];
            p->next = w->next_use[w->at++];
            p->saved = false;
            p->waits = can_wait(i) && !p->here;
            if (!p->waits) moves += enter(w, o.written[n], &o);
        }
        bury(w);
        i->spills = moves > UINT16_MAX ? UINT16_MAX : (uint16_t)moves;
    }
}

/* The registers that are live at the block's beginning have places, as far as there is room: those first that are used
 * first. The others have been stored, and so have those that the block does not change, if they ever leave. */
static void begin(walk *w, const cfg_block *b, uint32_t nids) {
    w->nlisted = w->taken = w->now = 0;
    for (uint32_t id = 1; id <= nids; id++) {
        place *p = &w->of[id];
        p->here = p->waits = false;
        p->saved = true;
        p->held = 0;
        p->next = p->first;
    }
    for (uint32_t id = 1; id <= nids; id++) {
        place *p = &w->of[id];
        if (!(b->live_in[id / 64] >> id % 64 & 1) || !p->units) continue;
        const operands none = {.nread = 0};
        p->here = true;
        w->taken += p->units;
        w->listed[w->nlisted++] = id;
        make_room(w, 0, &none);
    }
    for (uint32_t k = 0; k < w->nlisted; k++) w->of[w->listed[k]].saved = !w->of[w->listed[k]].changes;
}

/* After the first turn of a loop: next uses count from the block's beginning again. */
static void turn(walk *w, uint32_t length, uint32_t nids) {
    for (uint32_t id = 1; id <= nids; id++) {
        place *p = &w->of[id];
        if (p->here && p->next != BEYOND && p->next >= length) p->next -= length;
        if (p->held < BEYOND) p->held = p->held >= length ? p->held - length : 0;
    }
}

bool ptx_spill(cfg *g, const parsed_function *pf, const uint32_t *id_of, uint32_t room) {
    const uint32_t nids = pf->nregisters;
    bool any = false;
    uint32_t longest = 0;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        const uint32_t length = g->blocks[b].last - g->blocks[b].first + 1;
        if (length > longest) longest = length;
    }
    walk w = {.g = g, .id_of = id_of, .room = room};
    w.of = ptx_alloc((nids + 1) * sizeof *w.of);
    w.listed = ptx_alloc((nids + 1) * sizeof *w.listed);
    w.next_use = ptx_alloc((size_t)longest * MOST * sizeof *w.next_use);
    for (uint32_t r = 0; r < nids; r++) {
        const uint32_t id = pf->registers[r]->id;
        const enum ptx_type t = pf->registers[r]->type;
        const bool constant = g->constants[id / 64] >> id % 64 & 1;
        w.of[id].units = constant || t == TY_pred ? 0 : ptx_type_bytes[t] == 8 ? 2 : 1;
    }
    find_recipes(&w, nids);
    for (uint32_t self = 0; self < g->nblocks; self++) {
        const cfg_block *b = &g->blocks[self];
        find_uses(&w, self, nids);
        begin(&w, b, nids);
        walk_block(&w, b);
        if (loops_to_itself(b, self)) {
            turn(&w, b->last - b->first + 1, nids);
            walk_block(&w, b);
        }
        for (uint32_t k = b->first; k <= b->last; k++) any |= g->code->insns[k].spills > 0;
    }
    ptx_free(w.of);
    ptx_free(w.listed);
    ptx_free(w.next_use);
    return any;
}
