/* decode_warp.c — decoders of exchanges between lanes and warps: barriers, shuffles, votes, matches, reductions.
 * decode.c has the parts that all decoders share. */
#include "decoder.h"

/* Decodes bar{.cta}.sync a [, n]   bar.arrive a, n   bar.red.op.type d, a [, n], [!]p   bar.warp.sync mask. */
void ptx_dec_bar(decoder *d) {
    const char *own = ".sync .arrive .red .warp .cta .popc .and .or";
    ptx_dec_read_modifiers(d, own);
    const operand *o = d->s->operands;
    uint32_t n = d->s->noperands;
    if (ptx_dec_has(d, ".warp")) {
        ptx_dec_need(d, 1, 1);
        uint32_t a = ptx_dec_source(d, &o[0], TY_u32, false, NULL);
        ptx_dec_emit(d, OP_bar_warp)->a = a;
        return;
    }
    bool red = ptx_dec_has(d, ".red"), arrive = ptx_dec_has(d, ".arrive");
    uint32_t first = red ? 1 : 0, last = red ? n - 1 : n;
    if (n < first + 1 || last < first + 1 || last > first + 2) ptx_dec_unsupported(d, "wrong number of operands");
    ptx_insn x = {0};
    if (red) {
        x.d = ptx_dec_dest(d, &o[0], ptx_dec_has(d, ".popc") ? TY_u32 : TY_pred, false, NULL);
        x.c = ptx_dec_source(d, &o[n - 1], TY_pred, false, NULL);
    }
    x.a = ptx_dec_source(d, &o[first], TY_u32, false, NULL);
    x.b = last == first + 2 ? ptx_dec_source(d, &o[first + 1], TY_u32, false, NULL) : NO_ROW;
    ptx_insn *i = ptx_dec_emit(d, red ? OP_bar_red : arrive ? OP_bar_arrive : OP_bar_sync);
    i->d = x.d, i->a = x.a, i->b = x.b, i->c = x.c;
    i->sub = (uint8_t)ptx_dec_choose(d, ".popc .and .or");
    i->negate_c = red && o[n - 1].negated;
}

void ptx_dec_shfl(decoder *d) {
    const char *modes = ".up .down .bfly .idx";
    ptx_dec_read_modifiers(d, ".up .down .bfly .idx .sync");
    bool sync = ptx_dec_has(d, ".sync");
    ptx_dec_need(d, sync ? 5 : 4, sync ? 5 : 4);
    const operand *o = d->s->operands;
    uint32_t to = ptx_dec_dest(d, &o[0], TY_b32, false, NULL), a = ptx_dec_source(d, &o[1], TY_b32, false, NULL);
    uint32_t b = ptx_dec_source(d, &o[2], TY_u32, false, NULL), c = ptx_dec_source(d, &o[3], TY_u32, false, NULL);
    uint32_t mask = sync ? ptx_dec_source(d, &o[4], TY_u32, false, NULL) : NO_ROW;
    ptx_insn *i = ptx_dec_emit(d, OP_shfl);
    i->d = to, i->a = a, i->b = b, i->c = c, i->e = mask;
    i->d2 = o[0].pair ? o[0].pair->row : NO_ROW;
    i->sub = (uint8_t)ptx_dec_choose(d, modes);
}

void ptx_dec_vote(decoder *d) {
    const char *modes = ".all .any .uni .ballot";
    ptx_dec_read_modifiers(d, ".all .any .uni .ballot .sync");
    bool sync = ptx_dec_has(d, ".sync");
    ptx_dec_need(d, sync ? 3 : 2, sync ? 3 : 2);
    const operand *o = d->s->operands;
    int mode = ptx_dec_choose(d, modes);
    uint32_t to = ptx_dec_dest(d, &o[0], mode == VOTE_ballot ? TY_b32 : TY_pred, false, NULL),
             p = ptx_dec_source(d, &o[1], TY_pred, false, NULL);
    uint32_t mask = sync ? ptx_dec_source(d, &o[2], TY_u32, false, NULL) : NO_ROW;
    ptx_insn *i = ptx_dec_emit(d, OP_vote);
    i->d = to, i->c = p, i->e = mask;
    i->negate_c = o[1].negated;
    i->sub = (uint8_t)mode;
}

void ptx_dec_match(decoder *d) {
    ptx_dec_read_modifiers(d, ".any .all .sync");
    ptx_dec_need(d, 3, 3);
    const operand *o = d->s->operands;
    enum ptx_type t = ptx_dec_unsigned_of(d->types[0]);
    uint32_t to = ptx_dec_dest(d, &o[0], TY_b32, false, NULL), a = ptx_dec_source(d, &o[1], t, false, NULL),
             mask = ptx_dec_source(d, &o[2], TY_u32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_match);
    i->d = to, i->a = a, i->e = mask;
    i->d2 = o[0].pair ? o[0].pair->row : NO_ROW;
    i->a_wide = ptx_dec_is_wide(t);
    i->sub = ptx_dec_has(d, ".all");
}

void ptx_dec_redux(decoder *d) {
    const char *operations = ".add .min .max .inc .dec .and .or .xor";
    ptx_dec_read_modifiers(d, ".add .min .max .and .or .xor .sync");
    ptx_dec_need(d, 3, 3);
    const operand *o = d->s->operands;
    uint32_t to = ptx_dec_dest(d, &o[0], TY_b32, false, NULL), a = ptx_dec_source(d, &o[1], TY_b32, false, NULL),
             mask = ptx_dec_source(d, &o[2], TY_u32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_redux);
    i->d = to, i->a = a, i->e = mask;
    i->sub = (uint8_t)ptx_dec_choose(d, operations);
}

void ptx_dec_activemask(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 1, 1);
    uint32_t to = ptx_dec_dest(d, &d->s->operands[0], TY_b32, false, NULL);
    ptx_dec_emit(d, OP_activemask)->d = to;
}
