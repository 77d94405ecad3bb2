/* decode_control.c — decoders of branches, calls, ends, fences, and of instructions without an effect here. decode.c
 * has the parts that all decoders share. */
#include "decoder.h"

#include <string.h>

static void fix_up(decoder *d, uint32_t insn, uint32_t *where, const char *label) {
    d->fixups = ptx_grow(d->fixups, d->nfixups, sizeof *d->fixups);
    d->fixups[d->nfixups].insn = insn;
    d->fixups[d->nfixups].where = where;
    d->fixups[d->nfixups].label = label;
    d->fixups[d->nfixups++].ptx_line = d->s->ptx_line;
}

void ptx_dec_bra(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 1, 1);
    if (d->s->operands[0].kind != OPERAND_LABEL) ptx_dec_unsupported(d, "the target is not a label");
    ptx_dec_emit(d, OP_bra);
    fix_up(d, d->code->ninsns - 1, NULL, d->s->operands[0].label);
}

void ptx_dec_brx(decoder *d) {
    ptx_dec_read_modifiers(d, ".idx");
    ptx_dec_need(d, 2, 2);
    const operand *o = d->s->operands;
    if (o[1].kind != OPERAND_SYMBOL || o[1].symbol->kind != SYMBOL_TARGETS)
        ptx_dec_unsupported(d, "the target list is missing");
    const target_list *list = &d->pf->targets[o[1].symbol->index];
    uint32_t a = ptx_dec_source(d, &o[0], TY_u32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_brx);
    i->a = a;
    i->call = ptx_alloc(sizeof *i->call);
    i->call->targets = ptx_alloc(list->nlabels * sizeof(uint32_t));
    i->call->ntargets = list->nlabels;
    for (uint32_t k = 0; k < list->nlabels; k++) fix_up(d, 0, &i->call->targets[k], list->labels[k]);
}

static ptx_slot *slot_list(decoder *d, const operand *list) {
    ptx_slot *s = ptx_alloc(list->nitems * sizeof *s);
    for (uint32_t k = 0; k < list->nitems; k++) {
        const operand *o = &list->items[k];
        if (o->kind != OPERAND_SYMBOL || o->symbol->kind != SYMBOL_SLOT)
            ptx_dec_unsupported(d, "an argument that is not a .param variable");
        s[k] = d->pf->slots[o->symbol->index];
    }
    return s;
}

/* Decodes call [ "(" result ")" "," ] function [ "," "(" arguments ")" ] [ "," prototype ]. */
void ptx_dec_call(decoder *d) {
    ptx_dec_read_modifiers(d, "");
    const operand *o = d->s->operands, *end = o + d->s->noperands;
    ptx_call *c = ptx_alloc(sizeof *c);
    if (o < end && o->kind == OPERAND_LIST) {
        if (o->nitems > 1) ptx_dec_unsupported(d, "more than one result");
        c->has_result = o->nitems == 1;
        if (c->has_result) c->result = slot_list(d, o)[0];
        o++;
    }
    if (o >= end) ptx_dec_unsupported(d, "a call without a function");
    if (o->kind == OPERAND_SYMBOL && o->symbol->kind == SYMBOL_FUNCTION)
        c->callee = o->symbol->function;
    else if (o->kind == OPERAND_REGISTER)
        c->function = ptx_dec_source(d, o, TY_u64, false, NULL);
    else
        ptx_dec_unsupported(d, "the callee is not a function");
    if (++o < end && o->kind == OPERAND_LIST) {
        c->args = slot_list(d, o);
        c->nargs = o->nitems;
    }
    ptx_dec_emit(d, OP_call)->call = c;
    d->code->calls = true;
}

static void simple(decoder *d, enum ptx_op op) {
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 0, 0);
    ptx_dec_emit(d, op);
}
void ptx_dec_ret(decoder *d) { simple(d, OP_ret); }
void ptx_dec_exit(decoder *d) { simple(d, OP_exit); }
void ptx_dec_trap(decoder *d) {
    bool breakpoint = strcmp(d->s->name, "brkpt") == 0;
    ptx_dec_read_modifiers(d, "");
    ptx_dec_need(d, 0, 0);
    ptx_dec_emit(d, OP_trap)->sub = breakpoint;
}

/* Decodes prefetches and performance events, which have no effect, since caches hold no state between blocks. */
void ptx_dec_nop(decoder *d) {
    d->flags = (ptx_insn){0};
    ptx_dec_emit(d, OP_nop);
}

/* Decodes a fence. All threads see a store at once, so it orders nothing here, but listeners (check/) need it, and it
 * takes its time. Those for proxies and mbarriers take none. */
void ptx_dec_fence(decoder *d) {
    enum ptx_fence which = FENCE_BLOCK;
    if (ptx_dec_has(d, ".gl") || ptx_dec_has(d, ".gpu")) which = FENCE_DEVICE;
    if (ptx_dec_has(d, ".sys")) which = FENCE_SYSTEM;
    if (ptx_dec_has(d, ".proxy") || ptx_dec_has(d, ".mbarrier_init")) which = FENCE_OTHER;
    d->flags = (ptx_insn){0};
    ptx_dec_emit(d, OP_fence)->sub = (uint8_t)which;
}

void ptx_dec_nanosleep(decoder *d) {
    d->flags = (ptx_insn){.polls = true};
    ptx_dec_emit(d, OP_nanosleep);
}
