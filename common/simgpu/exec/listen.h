/* listen.h — the interface for listeners to a running launch, such as check/, which exec/ does not know.
 *
 * Without a listener an event costs one test of a flag. With one, the blocks of a launch run one after another, or in
 * turns, on the calling thread, so that the events are the same every time. A listener gets read-only views.
 */
#ifndef SIMGPU_LISTEN_H
#define SIMGPU_LISTEN_H

#include "../ptx/decode.h"
#include "exec.h"

/* Lanes of a warp at an instruction. */
typedef struct {
    uint64_t block;       /* number in the grid */
    uint32_t warp;        /* number in the block */
    uint32_t lanes, live; /* masks of this event's lanes; of the warp's lanes that have not ended */
} exec_lanes;

/* A load, store or atomic on shared or global memory, after its checks and before its data move. */
typedef struct {
    exec_lanes at;
    const ptx_code *code; /* of the current function */
    const ptx_insn *insn;
    uint32_t number; /* of the instruction in the module */
    enum ptx_space space;
    uint32_t size;           /* bytes per lane */
    const uint64_t *address; /* by lane; in shared memory an offset in the block's */
    bool begins;             /* a copy has been issued: from now until it arrives the place may change at any time */
    const struct warp *warp; /* for the two functions below */
} exec_access;

/* Returns word k of the value that a lane is about to store. Requires a st. */
uint32_t exec_access_stores(const exec_access *a, uint32_t lane, uint32_t k);

/* Returns the bytes in memory at this address now. */
const uint8_t *exec_access_finds(const exec_access *a, uint64_t address);

/* A conditional branch, before any lane goes on. */
typedef struct {
    exec_lanes at;
    const ptx_code *code;
    const ptx_insn *insn;
    uint32_t taken; /* the lanes that go to its target */
} exec_branch;

/* Lanes that have reached a barrier of the block. */
typedef struct {
    exec_lanes at;
    const ptx_code *code;
    const ptx_insn *insn;
    uint32_t number;
    bool counted; /* it waits for a number of threads of its own, not for the block */
    bool waits;   /* not so for bar.arrive */
} exec_arrival;

/* A complete barrier of a block. */
typedef struct {
    uint32_t number, warps; /* of the barrier; of the block */
    uint32_t waiting;       /* a bit for each warp that waits at it */
    bool all;               /* every live thread of the block waits at it */
} exec_barrier;

/* A listener leaves NULL the events that it does not need. */
typedef struct {
    void (*launch_begins)(const exec_launch *n, uint64_t blocks);
    void (*launch_ended)(void);
    void (*block_begins)(uint64_t block, uint32_t shared_bytes);
    /* Blocks that may wait for each other take turns: the next events are of this block again. A block that ends so
     * is named too; without these two events the blocks run one after another. */
    void (*block_resumes)(uint64_t block);
    void (*block_ended)(uint64_t block);
    void (*grid_passed)(void); /* all blocks have reached grid.sync(); called before the first one goes on */
    void (*access)(const exec_access *a);
    void (*branched)(const exec_branch *b);
    void (*arrived)(const exec_arrival *a);
    void (*passed)(const exec_barrier *b); /* called before the waiting threads continue */
    void (*synced)(const exec_lanes *w);   /* __syncwarp, a shuffle or a vote has joined these lanes */
    void (*fenced)(const exec_lanes *w);   /* these lanes have executed a memory fence */
} exec_listener;

/* Adds a listener to the list, or removes it. Adding it twice has no effect. Call it between launches. */
void exec_listen(const exec_listener *l, bool on);

#endif
