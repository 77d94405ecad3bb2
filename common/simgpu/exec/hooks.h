/* exec/'s hooks: what a checker may hear of a launch while it runs.
 *
 * exec/ does not know who listens. Without a listener a hook costs one test of a pointer; with one, the blocks of a
 * launch run one after another on the calling thread, so that what is heard is the same every time. The listener reads
 * the warp (warp.h) and changes nothing.
 */
#ifndef SIMGPU_HOOKS_H
#define SIMGPU_HOOKS_H

#include "warp.h"

typedef struct {
    void (*launch_begins)(const exec_launch *n, uint64_t blocks);
    void (*launch_ended)(void);
    void (*block_begins)(block *b);
    /* A load, store or atomic on SPACE_SHARED or SPACE_GLOBAL, checked, just before its data move: `size` bytes at
     * w->address[l] for the lanes l of w->mask. */
    void (*access)(warp *w, const ptx_insn *i, enum ptx_space space, uint32_t size);
    void (*arrived)(warp *w, uint32_t barrier); /* the lanes w->mask have come to a barrier of the block */
    void (*passed)(block *b, uint32_t barrier); /* it is complete; who waits there still stands in SPLIT_BARRIER */
    void (*synced)(warp *w, uint32_t lanes);    /* __syncwarp, or a shuffle or vote, has brought these together */
    void (*fenced)(warp *w);                    /* the lanes w->mask executed a memory fence */
} exec_hooks;

extern const exec_hooks *exec_listener; /* NULL: nobody. Changed between launches only */

#endif
