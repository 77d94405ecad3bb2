/* contention.h — counts the atomics that wait for each other at the busiest place of device memory. A place is a piece
 * of exec_card.atomic_place bytes, served by one slice of L2. A warp's atomic takes a turn for each sector that it
 * touches there, and one more for each further lane on the same word. An integer sum, minimum, maximum, and, or, xor of
 * several lanes on one word takes one turn, since the compiler, or REDUX, combines the lanes first. Source: an H200
 * with tests/bench-clock.cu. */
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
} contention;

void exec_contention_begin(contention *c, uint32_t place_bytes);
/* Counts a warp's atomic at address[lane] for the lanes of mask. adds_up: an integer operation that lanes can combine
 * first. */
void exec_contention_count(contention *c, const uint64_t *address, uint32_t mask, bool is_float, bool adds_up);
void exec_contention_add(contention *c, const contention *other);

/* Sets turns to the most turns at any place, of integer and of floating-point atomics, and *all to the sum of all. */
void exec_contention_most(const contention *c, uint64_t turns[2], uint64_t *all);

#endif
