/* cfg.h — the basic blocks of a function, shared by cfg.c and depth.c. */
#ifndef SIMGPU_CFG_H
#define SIMGPU_CFG_H

#include "ptx.h"
#include "decode.h"

typedef struct {
    uint32_t first, last; /* instructions, inclusive */
    uint32_t *next;       /* successors */
    uint32_t nnext;
    uint32_t *previous;
    uint32_t nprevious;
    uint32_t order; /* in the reversed graph's post-order; 0 if it cannot reach the exit */
    uint32_t ipdom;
    uint64_t *live_in, *defined, *used;
} cfg_block;

typedef struct {
    ptx_code *code;
    cfg_block *blocks;
    uint32_t nblocks;
    uint32_t *block_of; /* instruction -> block */
    uint32_t *order;    /* order -> block */
    uint32_t norder;
} cfg;

/* depth.c: sets ptx_insn.depth of the first instruction of each block. id_of maps a frame row / 4 to a register id. */
void ptx_depth_of_blocks(cfg *g, const ptx_costs *costs, uint32_t nregisters, const uint32_t *id_of);

#endif
