/* Who has seen whom: the order of accesses inside one launch.
 *
 * Every access of a warp gets a serial number, from 1. What came before a barrier is seen by all who passed it; what
 * came before a __syncwarp, by the lanes that it named; what came before a fence, by whoever then reads a flag that was
 * set after the fence (a volatile or atomic word). An access is ordered before the one at hand if its thread's accesses
 * up to that serial have been seen by the thread at hand.
 *
 * A stamp is a past access in eight bytes. */
#ifndef SIMGPU_ORDER_H
#define SIMGPU_ORDER_H

#include "../exec/listen.h"

typedef struct {
    uint32_t serial;    /* 0: none */
    uint32_t insn : 20; /* number in the module */
    uint32_t warp : 5, lane : 5;
    uint32_t several : 1;     /* other lanes of the warp too; `lane` is one of them */
    uint32_t mixed_bytes : 1; /* by several lanes, each its own bytes of the word */
} stamp;

typedef struct {
    uint32_t now;         /* serial of the access at hand */
    uint32_t block_begin; /* the first serial of the block at hand; smaller ones are of earlier blocks */
    uint32_t floor;       /* smaller ones of this block are ordered before everything to come: a barrier */
} order_clock;
extern order_clock check_order_now;

void check_order_launch(uint64_t nblocks);
void check_order_block(uint64_t block);
void check_order_arrived(const exec_lanes *w, uint32_t barrier);
void check_order_passed(const exec_barrier *b);
void check_order_synced(const exec_lanes *w);
void check_order_fenced(const exec_lanes *w);

/* A warp touches a word that threads may wait on: takes what was published there, and if `stores`, publishes what the
 * warp has fenced. key: the word's place. */
void check_order_flag(const exec_access *a, uint64_t key, bool loads, bool stores);

/* Is the past access ordered before one of this warp's lane now? */
bool check_order_before(const stamp *past, uint32_t warp, uint32_t lane);
uint64_t check_order_block_of(const stamp *past); /* the number of the block that made it */

#endif
