/* What a listener may hear of a launch while it runs. exec/ does not know who listens.
 *
 * Without a listener an event costs one test of a flag; with one, the blocks of a launch run one after another on the
 * calling thread, so that what is heard is the same every time. A listener sees views, made for it, and changes
 * nothing.
 */
#ifndef SIMGPU_LISTEN_H
#define SIMGPU_LISTEN_H

#include "../ptx/decode.h"
#include "exec.h"

/* Lanes of a warp at an instruction. */
typedef struct {
    uint64_t block;       /* its number in the grid */
    uint32_t warp;        /* in the block */
    uint32_t lanes, live; /* those of this event; those of the warp that have not ended */
} exec_lanes;

/* A load, store or atomic on shared or global memory, checked, just before its data move. */
typedef struct {
    exec_lanes at;
    const ptx_code *code; /* of the function at hand */
    const ptx_insn *insn;
    uint32_t number; /* of the instruction in the module */
    enum ptx_space space;
    uint32_t size;           /* bytes a lane */
    const uint64_t *address; /* by lane; of shared memory: offsets in the block's */
    const struct warp *warp; /* for the two functions below */
} exec_access;
/* Returns word k of what a lane is about to store. Requires a st. */
uint32_t exec_access_stores(const exec_access *a, uint32_t lane, uint32_t k);
/* Returns the bytes that are there now. */
const uint8_t *exec_access_finds(const exec_access *a, uint64_t address);

/* A barrier of a block is complete. */
typedef struct {
    uint32_t number, warps; /* of the barrier; of the block */
    uint32_t waiting;       /* warps that wait at it, as bits */
    bool all;               /* every thread of the block that has not ended waits at it */
} exec_barrier;

/* NULL for what a listener does not want to hear. */
typedef struct {
    void (*launch_begins)(const exec_launch *n, uint64_t blocks);
    void (*launch_ended)(void);
    void (*block_begins)(uint64_t block, uint32_t shared_bytes);
    void (*access)(const exec_access *a);
    void (*arrived)(const exec_lanes *w, uint32_t barrier); /* lanes have come to a barrier of the block */
    void (*passed)(const exec_barrier *b);                  /* before those who wait go on */
    void (*synced)(const exec_lanes *w); /* __syncwarp, or a shuffle or vote, has brought these together */
    void (*fenced)(const exec_lanes *w); /* these executed a memory fence */
} exec_listener;

/* Adds a listener to the list, or takes it off, between launches. One that is there already stays there once. */
void exec_listen(const exec_listener *l, bool on);

#endif
