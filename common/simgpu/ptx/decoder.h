/* decoder.h — internals of the decoder, shared by decode.c (operands, rows, arithmetic), decode_memory.c,
 * decode_texture.c, decode_control.c, decode_warp.c, decode_tensor.c and decode_async.c. */
#ifndef SIMGPU_DECODER_H
#define SIMGPU_DECODER_H

#include "parse.h"

#include <setjmp.h>

typedef struct {
    const char *name;
    uint32_t insn;
} label_place;

enum { HIDDEN = 5 };

typedef struct {
    parsed_function *pf;
    ptx_code *code;
    uint32_t capacity, capacity_rows;
    statement *s;        /* the statement in progress */
    uint32_t *uses;      /* number of reads by register id */
    uint32_t top;        /* next free byte of the frame */
    uint32_t *row_table; /* of code->rows, by hash: index + 1; capacity_rows places */
    label_place *labels;
    uint32_t nlabels;
    struct {
        uint32_t insn; /* the instruction whose target is the label, if `where` is NULL */
        uint32_t *where;
        const char *label;
        uint32_t ptx_line;
    } * fixups;
    uint32_t nfixups;
    /* set by the statement's modifiers */
    enum ptx_type types[MAX_MODIFIERS];
    uint32_t ntypes;
    char key[64];
    ptx_insn flags;      /* the fields that modifiers set, copied into each emitted instruction */
    reg *hidden[HIDDEN]; /* of a function with wmma: for an address, and four parts of a register */
    jmp_buf on_error;
    const char *error;
} decoder;

/* Ends decoding: the function becomes unsupported, and a launch fails with this reason. */
_Noreturn void ptx_dec_unsupported(decoder *d, const char *why);
bool ptx_dec_is_wide(enum ptx_type t); /* returns whether a register has 8 bytes per lane */
enum ptx_type ptx_dec_unsigned_of(enum ptx_type t);

/* Sorts the statement's modifiers into d->types, d->key and d->flags, except `own`, which the caller reads. */
void ptx_dec_read_modifiers(decoder *d, const char *own);
bool ptx_dec_has(const decoder *d, const char *modifier);
int ptx_dec_choose(const decoder *d, const char *names); /* returns the index of the first modifier of `names`, or -1 */
void ptx_dec_need(decoder *d, uint32_t least, uint32_t most); /* checks the number of operands */
bool ptx_dec_has_type(const char *key, enum ptx_type t, enum ptx_op *op);

/* Return the row of an operand read or written as `type`. any_width: accepts wider registers and sets *wide. */
uint32_t ptx_dec_source(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide);
uint32_t ptx_dec_dest(decoder *d, const operand *o, enum ptx_type type, bool any_width, bool *wide);
uint32_t ptx_dec_add_row(decoder *d, ptx_row row);
uint32_t ptx_dec_constant(decoder *d, uint64_t bits, bool wide);
ptx_insn *ptx_dec_emit(decoder *d, enum ptx_op op);
void ptx_dec_address(decoder *d, ptx_insn *x, const operand *o); /* sets a, a_wide and imm from [a + imm] */
void ptx_dec_logic(decoder *d);                                  /* and, or, xor, not, mov of predicates and numbers */

/* One decoder for each mnemonic. decode_memory.c: */
void ptx_dec_mov(decoder *d);
void ptx_dec_load_or_store(decoder *d);
void ptx_dec_atomic(decoder *d);
void ptx_dec_cvta(decoder *d);
void ptx_dec_isspacep(decoder *d);
void ptx_dec_cvt(decoder *d);
/* decode_texture.c: */
void ptx_dec_tex(decoder *d);
void ptx_dec_txq(decoder *d);
void ptx_dec_surface(decoder *d);
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
/* decode_tensor.c: */
void ptx_dec_mma(decoder *d);
void ptx_dec_wmma(decoder *d);
void ptx_dec_ldmatrix(decoder *d);
void ptx_dec_movmatrix(decoder *d);
/* decode_async.c: */
void ptx_dec_cp(decoder *d);
void ptx_dec_mbarrier(decoder *d);

#endif
