/* contention.h — counts the atomics that wait for each other at the busiest place of device memory. A place is a piece
 * of exec_card.atomic_place bytes, served by one slice of L2. A warp's atomic takes a turn for each sector that it
 * touches there, and one more for each further lane on the same word. An integer sum, minimum, maximum, and, or, xor of
 * several lanes on one word takes one turn, since the compiler, or REDUX, combines the lanes first. Source: an H200
 * with tests/bench-clock.cu.
 *
 * The blocks of a wave run side by side, and those of the next wave come later, and may use other places. So each
 * wave takes as long as its own busiest place: an H200 takes 26 us for 32768 warps that add to one word each, in the
 * order of the words, and 14 us where the words lie 512 bytes apart. */
#ifndef SIMGPU_CONTENTION_H
#define SIMGPU_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t place; /* number + 1; 0: free */
    uint64_t turns[2];
} contention_place;

typedef struct {
    contention_place *table; /* open addressing; a power of two */
    uint32_t size, used;
    uint32_t sectors; /* per place */
    /* Of the waves that have ended: the most turns at any place in each of them, of integer and of floating-point
     * atomics, and all turns. */
    uint64_t turns[2], all;
} contention;

void exec_contention_begin(contention *c, uint32_t place_bytes);
/* Counts a warp's atomic at address[lane] for the lanes of mask. adds_up: an integer operation that lanes can combine
 * first. */
void exec_contention_count(contention *c, const uint64_t *address, uint32_t mask, bool is_float, bool adds_up);

/* Adds what another one has counted in this wave, and empties that. */
void exec_contention_take(contention *c, contention *other);
void exec_contention_wave(contention *c); /* a wave has ended */

#endif
