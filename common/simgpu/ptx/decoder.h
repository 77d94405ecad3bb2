/* The decoder's inside, shared by decode.c (operands, rows, arithmetic), decode_memory.c, decode_control.c and
 * decode_warp.c. */
#ifndef SIMGPU_DECODER_H
#define SIMGPU_DECODER_H

#include "parse.h"

#include <setjmp.h>

typedef struct {
    const char *name;
    uint32_t insn;
} label_place;

typedef struct {
    parsed_function *pf;
    ptx_code *code;
    uint32_t capacity, capacity_rows;
    statement *s;        /* being decoded */
    uint32_t *uses;      /* how often register id is read */
    uint32_t top;        /* next free byte of the frame */
    uint32_t *row_table; /* of code->rows, by hash: index + 1; capacity_rows places */
    label_place *labels;
    uint32_t nlabels;
    struct {
        uint32_t insn; /* whose target is the label; or the target list entry */
        uint32_t *where;
        const char *label;
        uint32_t ptx_line;
    } * fixups;
    uint32_t nfixups;
    /* what the modifiers of the statement say */
    enum ptx_type types[MAX_MODIFIERS];
    uint32_t ntypes;
    char key[64];
    ptx_insn flags; /* the fields that modifiers set; copied into each instruction made */
    jmp_buf on_error;
    const char *error;
} decoder;

_Noreturn void ptx_dec_unsupported(decoder *d, const char *why); /* the function fails at launch, with this reason */
bool ptx_dec_is_wide(enum ptx_type t);                           /* 8 bytes a lane */
bool ptx_dec_is_float(enum ptx_type t);
enum ptx_type ptx_dec_unsigned_of(enum ptx_type t);

/* The statement's modifiers: sorted into d->types, d->key and d->flags; `own` are left to the caller. */
void ptx_dec_read_modifiers(decoder *d, const char *own);
bool ptx_dec_has(const decoder *d, const char *modifier);
int ptx_dec_choose(const decoder *d, const char *names); /* index of the first of `names` that is a modifier, or -1 */
void ptx_dec_need(decoder *d, uint32_t least, uint32_t most); /* operands */
bool ptx_dec_has_type(const char *key, enum ptx_type t, enum ptx_op *op);

/* Rows of operands read or written as `type`. any_width: wider registers will do; *wide says what it is. */
uint32_t ptx_dec_source(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide);
uint32_t ptx_dec_dest(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide);
uint32_t ptx_dec_add_row(decoder *d, ptx_row row);
uint32_t ptx_dec_constant(decoder *d, uint64_t bits, bool wide);
ptx_insn *ptx_dec_emit(decoder *d, enum ptx_op op);
void ptx_dec_logic(decoder *d); /* and, or, xor, not, mov of predicates and numbers */

/* A decoder a mnemonic. decode_memory.c: */
void ptx_dec_mov(decoder *d);
void ptx_dec_load_or_store(decoder *d);
void ptx_dec_atomic(decoder *d);
void ptx_dec_cvta(decoder *d);
void ptx_dec_isspacep(decoder *d);
void ptx_dec_cvt(decoder *d);
/* decode_control.c: */
void ptx_dec_bra(decoder *d);
void ptx_dec_brx(decoder *d);
void ptx_dec_call(decoder *d);
void ptx_dec_ret(decoder *d);
void ptx_dec_exit(decoder *d);
void ptx_dec_trap(decoder *d);
void ptx_dec_nop(decoder *d);
void ptx_dec_fence(decoder *d);
void ptx_dec_nanosleep(decoder *d);
/* decode_warp.c: */
void ptx_dec_bar(decoder *d);
void ptx_dec_shfl(decoder *d);
void ptx_dec_vote(decoder *d);
void ptx_dec_match(decoder *d);
void ptx_dec_redux(decoder *d);
void ptx_dec_activemask(decoder *d);

#endif
