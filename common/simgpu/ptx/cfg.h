/* cfg.h — the basic blocks of a function, shared by cfg.c, depth.c and share.c. */
#ifndef SIMGPU_CFG_H
#define SIMGPU_CFG_H

#include "ptx.h"
#include "parse.h"

typedef struct ptx_sharing ptx_sharing;

typedef struct {
    uint32_t first, last; /* instructions, inclusive */
    uint32_t *next;       /* successors */
    uint32_t nnext;
    uint32_t *previous;
    uint32_t nprevious;
    uint32_t order; /* in the reversed graph's post-order; 0 if it cannot reach the exit */
    uint32_t ipdom;
    uint32_t turn; /* the first block of the loop at whose next turn lanes meet that part here, or NO_BLOCK (turn.c) */
    uint32_t behind; /* and where those meet that leave the loop */
    uint64_t *live_in, *defined, *used;
    uint8_t turns; /* of a loop's first block: turns of which ptxas makes one; 0: it does not */
    uint32_t then; /* of a block of such a loop: the next of a turn, or itself at the end */
    bool inside;   /* it is one of these, and not the first */
    bool back;     /* its branch leads to the beginning of a loop that it stands in */
    uint32_t loop; /* the first block of a loop, + 1, if a way leads back there from here; or 0 */
    uint16_t live; /* 32-bit registers that are live at its beginning; 0: unknown */
} cfg_block;

typedef struct {
    ptx_code *code;
    cfg_block *blocks;
    uint32_t nblocks;
    uint32_t *block_of; /* instruction -> block */
    uint32_t *order;    /* order -> block */
    uint32_t norder;
    ptx_sharing *sharing; /* NULL: each register keeps a row of its own */
    uint64_t *fresh;      /* registers that a new frame zeroes */
    uint64_t *sets;       /* the memory of the blocks' sets of registers */
    uint64_t *constants;  /* registers that take no place: their values are in the bank of constants */
} cfg;

/* depth.c: sets ptx_insn.folded of the branches that ptxas removes. */
void ptx_fold_branches(ptx_code *c);

/* Returns whether what stands behind the instruction may follow it. */
bool ptx_falls_through(const ptx_insn *i);

/* layout.c: puts the parts of each loop in the order in which a turn runs them. Before the blocks are made. */
void ptx_lay_out(ptx_code *c);

/* loops.c: ptx_find_loops sets cfg_block.back and .loop. ptx_add_loop sets inside[] of the blocks of the loop from
 * `head` to `end`, from where a way leads back: of those from which a way leads to `end`. Requires room in todo[] for
 * all blocks, and inside[] of no block of another loop. */
void ptx_find_loops(cfg *g);
void ptx_add_loop(const cfg *g, uint32_t head, uint32_t end, bool *inside, uint32_t *todo);

/* turn.c: sets cfg_block.turn and .behind. Requires ipdom and .loop. */
#define NO_BLOCK UINT32_MAX
void ptx_find_turns(cfg *g);

/* stage.c: sets ptx_insn.stage, .stage_group and .begins_turn, when the instructions are at their last places. */
void ptx_stages_of(ptx_code *c);

/* Returns the end of what a guarded branch skips, or of both ways where it has two: an instruction behind them. 0: it
 * skips nothing. */
uint32_t ptx_end_of_skipped(const ptx_code *c, uint32_t at);

/* depth.c: sets ptx_insn.depth of the first instruction of each block. id_of maps a frame row / 4 to a register id. */
void ptx_depth_of_blocks(cfg *g, const ptx_function *f, uint32_t nregisters, const uint32_t *id_of);

/* length.c: sets ptx_insn.length and .copies, and makes loops deeper that the instruction cache does not hold. Requires
 * depths. */
void ptx_measure_code(const cfg *g, const ptx_costs *costs);

/* cfg.c: list the fields of an instruction that hold rows which it reads (or may be rows), or writes. Return how many.
 */
enum { MOST_FIELDS = 16 + 3 * MAX_PIECES };
uint32_t ptx_sources_of(ptx_insn *i, uint32_t **fields);
uint32_t ptx_results_of(ptx_insn *i, uint32_t **fields);

/* contract.c: makes products and sums of floats one instruction, where ptxas does. Returns whether there were any: the
 * blocks are no longer right then. Requires blocks; id_of maps a frame row / 4 to a register id. */
bool ptx_contract(const cfg *g, uint32_t nregisters, const uint32_t *id_of);

/* spill.c: sets ptx_insn.spills, if a thread has room for so many 32-bit registers. Requires the blocks' live_in, and
 * constants. Returns whether there are any. */
bool ptx_spill(cfg *g, const parsed_function *pf, const uint32_t *id_of, uint32_t room);

/* machine.c: sets ptx_insn.machine and .slots of each instruction. Returns how many registers more loads fill at a time
 * since ptxas unrolls loops. Requires ptx_fold_branches. */
uint32_t ptx_machine_of(cfg *g, const ptx_function *f, uint32_t nregisters, const uint32_t *id_of);

/* machine_affine.c: returns whether the instruction is a sum or a product of integers, or passes one on. */
bool ptx_is_sum(const ptx_insn *i);

/* machine.c: sets ptx_insn.under, when the instructions are at their last places. */
void ptx_machine_predicate(ptx_code *c);

/* share.c: finds rows that registers can share. Sets of registers are bits, by id. `begin` returns NULL for a function
 * with too many registers; each of them keeps its row. */
ptx_sharing *ptx_sharing_begin(uint32_t nregisters);

/* An instruction writes and reads these while those behind it are live. */
void ptx_sharing_note(ptx_sharing *s, const uint64_t *written, const uint64_t *read, const uint64_t *live);
void ptx_sharing_keep(ptx_sharing *s, uint32_t id); /* this register shares with no other */

/* Stores each register's new row in row[id]: from `begin` on, 256 bytes or 128; predicates keep theirs, and so do all
 * registers if s is NULL. Frees s. */
void ptx_sharing_end(ptx_sharing *s, const parsed_function *pf, uint32_t begin, uint32_t *row);

#endif
