/* order.h — the order of accesses inside one launch.
 *
 * Every access of a warp gets a serial number, from 1. All threads that pass a barrier see the accesses before it; the
 * lanes that a __syncwarp names see those before it; a thread that reads a flag (a volatile or atomic word) sees those
 * before the fence that preceded the flag's store. A past access is ordered before the current one if the current
 * thread has seen the other thread's accesses up to that serial.
 *
 * Interface: feed it the events of exec/'s listener (launch, block, barriers, syncs, fences, flags), then query
 * check_order_before. A stamp is a past access in eight bytes. */
#ifndef SIMGPU_ORDER_H
#define SIMGPU_ORDER_H

#include "../exec/listen.h"

typedef struct {
    uint32_t serial;    /* 0: none */
    uint32_t insn : 20; /* number in the module */
    uint32_t warp : 5, lane : 5;
    uint32_t several : 1;     /* several lanes of the warp; `lane` is one of them */
    uint32_t mixed_bytes : 1; /* several lanes, each with its own bytes of the word */
} stamp;

typedef struct {
    uint32_t now;        /* serial of the current access */
    uint32_t turn_begin; /* first serial of the current block, or of its turn if blocks take turns */
    uint32_t floor;      /* a barrier orders this block's smaller serials before all its later accesses */
    uint32_t grid_floor; /* grid.sync() orders all smaller serials before all later accesses */
} order_clock;
extern order_clock *check_order_now; /* of the card in use */

void check_order_launch(const exec_launch *n);
/* A block begins, or, of a launch whose blocks take turns, goes on. Each returns the number of a place from 0, which
 * belongs to the block until it ends. */
uint32_t check_order_block(uint64_t block);
uint32_t check_order_resumed(uint64_t block);
void check_order_ended(uint64_t block);
void check_order_grid_passed(void);
void check_order_arrived(const exec_arrival *a);
void check_order_passed(const exec_barrier *b);
void check_order_synced(const exec_lanes *w);
void check_order_fenced(const exec_lanes *w);

/* Notes an access to a word that threads may wait on. With `loads` the warp sees everything published there; with
 * `stores` it publishes everything before its last fence. key: the word's address, unique among all spaces. */
void check_order_flag(const exec_access *a, uint64_t key, bool loads, bool stores);

/* Returns whether the past access is ordered before an access by this lane now. */
bool check_order_before(const stamp *past, uint32_t warp, uint32_t lane);

/* Returns the number of the block that made the access; whether that is not the current block. */
uint64_t check_order_block_of(const stamp *past);
bool check_order_of_other_block(const stamp *past);

#endif
