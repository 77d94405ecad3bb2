/* machine.h — what ptxas would make of a function: machine instructions for each instruction of PTX. For counting and
 * cost only, shared by machine.c, machine_base.c, machine_constant.c, machine_half.c, machine_affine.c, machine_fold.c,
 * machine_lowest.c, machine_merge.c, machine_loop.c and machine_banks.c. */
#ifndef SIMGPU_MACHINE_H
#define SIMGPU_MACHINE_H

#include "cfg.h"

#define NO_INSN UINT32_MAX

/* How a register is defined and used, by id. */
typedef struct {
    uint32_t definition;        /* the instruction that defines it; NO_INSN if several do, or none */
    uint32_t definitions, uses; /* numbers */
    uint32_t addresses;         /* uses as the address of an access */
    uint32_t sums;              /* uses in sums and products of integers (machine_affine.c) */
    uint32_t user;              /* the last instruction that uses it */
    bool divergent;             /* lanes may have different values */
    bool shared;                /* an address in shared memory: of 32 bits, whatever the PTX says */
} machine_value;

/* What is known of a value's lowest bits: their number, MACHINE_LOWEST at most, and their value. */
typedef struct {
    uint8_t bits, value;
    bool seen; /* false: none of its definitions was seen so far */
} machine_lowest;
#define MACHINE_LOWEST 4

/* A function in progress. */
typedef struct {
    cfg *g;
    ptx_code *code;
    const ptx_function *function;
    const uint32_t *id_of; /* frame row / 4 -> register id */
    uint32_t nregisters;
    machine_value *values;  /* by register id */
    machine_lowest *lowest; /* by register id */
    const ptx_row **row_of; /* frame row / 4 -> what fills the row, or NULL */
    uint32_t more_loads;    /* that are under way at a time, since loops are unrolled */
    uint8_t *inputs;        /* of an instruction: different inputs of what is folded into it; 0: none yet */
} machine;

/* Returns the id of the register in this row, or 0 if it is not a register's. */
static inline uint32_t machine_id(const machine *m, uint32_t row) {
    return row && row < m->code->registers_end ? m->id_of[row / 4] : 0;
}
/* Returns what fills the row before the code runs: a constant, an address, a special register; or NULL. */
static inline const ptx_row *machine_row(const machine *m, uint32_t row) {
    return row < m->code->registers_end ? NULL : m->row_of[row / 4];
}
static inline bool machine_is_constant(const machine *m, uint32_t row) {
    const ptx_row *r = machine_row(m, row);
    return r && r->kind == ROW_CONSTANT;
}
/* Returns the one instruction that defines the register in this row, or NULL. */
static inline ptx_insn *machine_definition(const machine *m, uint32_t row) {
    uint32_t id = machine_id(m, row), at = id ? m->values[id].definition : NO_INSN;
    return at == NO_INSN ? NULL : &m->code->insns[at];
}

/* machine_base.c: returns the machine instructions of an instruction that stands alone, in units of
 * 1 / PTX_MACHINE_UNIT. */
uint32_t ptx_machine_base(const ptx_insn *i);

/* machine_half.c: sets `machine` of integers of 64 bits of which half is known or not wanted. Requires values. */
void ptx_machine_halves(machine *m);

/* machine_affine.c: sets `machine` to 0 for integers that differ from an earlier one by a constant. */
void ptx_machine_affine(machine *m);

/* machine_constant.c: sets `one_place` of loads of constant memory. Requires cfg_block.loop. */
void ptx_machine_constants(machine *m);

/* machine_fold.c: sets `machine` to 0 for what becomes a part of another instruction. Requires ptx_machine_affine. */
void ptx_machine_fold(machine *m);

/* machine_lowest.c: fills m->lowest. */
void ptx_machine_lowest(machine *m);
/* Returns what is known of the value in this row. Requires ptx_machine_lowest. */
machine_lowest ptx_machine_lowest_of(const machine *m, uint32_t row);
/* Returns what is known of the instruction's result, if that is known of its operands. */
machine_lowest ptx_machine_lowest_result(const machine *m, const ptx_insn *i, machine_lowest a, machine_lowest b,
                                         machine_lowest c);
/* Returns what is known of a value that is the one or the other. */
machine_lowest ptx_machine_lowest_both(machine_lowest a, machine_lowest b);

/* machine_merge.c: divides `machine` of neighbouring accesses to shared memory that ptxas makes one.
 * Requires ptx_machine_lowest. */
void ptx_machine_merge(machine *m);
/* The same for the loads of a block of the loop that begins at `head` with those of its next turns, so many of which
 * ptxas makes one. */
void ptx_machine_merge_turns(machine *m, uint32_t head, uint32_t block, uint32_t turns);

/* machine_loop.c: divides what a loop's turns do once for several, since ptxas unrolls it. Requires ptx_machine_fold.
 */
void ptx_machine_unroll(machine *m);

/* machine_banks.c: sets more[] of each instruction to the issue slots that it takes for its registers' banks, in units
 * of 1 / PTX_MACHINE_UNIT. Requires zeros there, and ptx_insn.machine. */
void ptx_machine_banks(const machine *m, uint16_t *more);

#endif
