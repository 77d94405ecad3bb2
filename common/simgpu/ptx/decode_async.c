/* decode_async.c — decoders of cp.async (copies from global to shared memory in flight) and mbarrier. decode.c has the
 * parts that all decoders share. */
#include "decoder.h"

/* Decodes cp.async.{ca,cg}.shared.global [to], [from], bytes {, from's bytes}. */
static void copy(decoder *d) {
    ptx_dec_read_modifiers(d, ".async .shared .shared::cta .global .L2::cache_hint");
    ptx_dec_need(d, 3, 5);
    const operand *o = d->s->operands;
    uint64_t bytes = o[2].kind == OPERAND_INTEGER ? o[2].value : 0;
    if (bytes != 4 && bytes != 8 && bytes != 16) ptx_dec_unsupported(d, "it copies 4, 8 or 16 bytes");
    if (ptx_dec_has(d, ".cg") && bytes != 16) ptx_dec_unsupported(d, ".cg copies 16 bytes");
    bool hint = ptx_dec_has(d, ".L2::cache_hint"), counted = d->s->noperands == (hint ? 5u : 4u);
    if (counted && o[3].kind == OPERAND_REGISTER && o[3].reg->type == TY_pred)
        ptx_dec_unsupported(d, "a predicate that ignores the source is not supported");
    ptx_insn to = {0}, from = {0};
    ptx_dec_address(d, &to, &o[0]);
    ptx_dec_address(d, &from, &o[1]);
    if (!from.a_wide) ptx_dec_unsupported(d, "32-bit addresses of global memory");
    uint32_t count = counted ? ptx_dec_source(d, &o[3], TY_u32, false, NULL) : NO_ROW;
    uint32_t offset = ptx_dec_constant(d, (uint64_t)from.imm, true);
    ptx_insn *i = ptx_dec_emit(d, OP_cp_async);
    i->a = to.a, i->a_wide = to.a_wide, i->imm = to.imm;
    i->b = from.a, i->e = offset, i->c = count;
    i->type = TY_b32;
    i->vector = (uint8_t)(bytes / 4);
    i->space = SPACE_GENERIC; /* it touches two */
    d->code->async = true;
}

static ptx_insn *object(decoder *d, enum ptx_op op, const operand *where) {
    ptx_insn x = {0};
    ptx_dec_address(d, &x, where);
    ptx_insn *i = ptx_dec_emit(d, op);
    i->a = x.a, i->a_wide = x.a_wide, i->imm = x.imm;
    i->type = TY_b64;
    if (i->space == SPACE_GENERIC) return i;
    if (i->space != SPACE_SHARED) ptx_dec_unsupported(d, "an mbarrier is in shared memory");
    return i;
}

void ptx_dec_cp(decoder *d) {
    const operand *o = d->s->operands;
    if (ptx_dec_has(d, ".bulk") || !ptx_dec_has(d, ".async") || ptx_dec_has(d, ".reduce"))
        ptx_dec_unsupported(d, "SimGPU has no bulk copies (TMA); cp.async copies up to 16 bytes for each thread");
    if (ptx_dec_has(d, ".mbarrier")) {
        ptx_dec_read_modifiers(d, ".async .mbarrier .arrive .noinc");
        ptx_dec_need(d, 1, 1);
        object(d, OP_mbarrier_arrive, &o[0])->sub = ptx_dec_has(d, ".noinc") ? 3 : 2;
        d->code->async = true;
        return;
    }
    if (ptx_dec_has(d, ".commit_group")) {
        ptx_dec_read_modifiers(d, ".async .commit_group");
        ptx_dec_emit(d, OP_cp_async_commit);
        return;
    }
    if (!ptx_dec_has(d, ".wait_group") && !ptx_dec_has(d, ".wait_all")) return copy(d);
    bool all = ptx_dec_has(d, ".wait_all");
    ptx_dec_read_modifiers(d, ".async .wait_group .wait_all");
    ptx_dec_need(d, all ? 0 : 1, all ? 0 : 1);
    if (!all && o[0].kind != OPERAND_INTEGER) ptx_dec_unsupported(d, "it waits for a constant number of groups");
    ptx_insn *i = ptx_dec_emit(d, OP_cp_async_wait);
    i->imm = all ? 0 : (int64_t)(o[0].value & 0xffff);
    i->sub = all;
    d->code->async = true;
}

/* Decodes mbarrier.init, .inval, .arrive, .arrive_drop, .test_wait, .try_wait, .pending_count. */
void ptx_dec_mbarrier(decoder *d) {
    const operand *o = d->s->operands;
    uint32_t n = d->s->noperands;
    ptx_dec_read_modifiers(d,
                           ".init .inval .arrive .arrive_drop .noComplete .test_wait .try_wait .parity .pending_count");
    bool drop = ptx_dec_has(d, ".arrive_drop"), parity = ptx_dec_has(d, ".parity");
    if (ptx_dec_has(d, ".pending_count")) {
        ptx_dec_need(d, 2, 2);
        uint32_t to = ptx_dec_dest(d, &o[0], TY_b32, false, NULL), a = ptx_dec_source(d, &o[1], TY_b64, false, NULL);
        ptx_insn *i = ptx_dec_emit(d, OP_mbarrier_pending);
        i->d = to, i->a = a;
    } else if (ptx_dec_has(d, ".init") || ptx_dec_has(d, ".inval")) {
        bool inval = ptx_dec_has(d, ".inval");
        ptx_dec_need(d, inval ? 1 : 2, inval ? 1 : 2);
        uint32_t b = inval ? NO_ROW : ptx_dec_source(d, &o[1], TY_u32, false, NULL);
        ptx_insn *i = object(d, OP_mbarrier_init, &o[0]);
        i->b = b, i->sub = inval;
    } else if (drop || ptx_dec_has(d, ".arrive")) {
        ptx_dec_need(d, 1, 3);
        bool token = !o[0].is_address; /* mbarrier.arrive state, [a] {, count}; or [a] {, count} without a result */
        uint32_t at = token ? 1 : 0;
        uint32_t to = token ? ptx_dec_dest(d, &o[0], TY_b64, false, NULL) : NO_ROW;
        if (n <= at) ptx_dec_need(d, 2, 3);
        uint32_t b = n > at + 1 ? ptx_dec_source(d, &o[at + 1], TY_u32, false, NULL) : NO_ROW;
        ptx_insn *i = object(d, OP_mbarrier_arrive, &o[at]);
        i->d = to, i->b = b, i->sub = drop;
    } else if (ptx_dec_has(d, ".test_wait") || ptx_dec_has(d, ".try_wait")) {
        ptx_dec_need(d, 3, 4); /* try_wait may name a time, which is no promise */
        uint32_t to = ptx_dec_dest(d, &o[0], TY_pred, false, NULL),
                 b = ptx_dec_source(d, &o[2], parity ? TY_b32 : TY_b64, false, NULL);
        ptx_insn *i = object(d, OP_mbarrier_wait, &o[1]);
        i->d = to, i->b = b, i->sub = parity;
        i->polls = true;
    } else {
        ptx_dec_unsupported(d, "this form of mbarrier is not supported");
    }
}
