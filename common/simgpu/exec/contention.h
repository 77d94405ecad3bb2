/* Atomics on one place wait for each other: how long the queue at the busiest place is. A place is a
 * piece of device memory (exec_card.atomic_place bytes), served by one slice of L2. A warp's atomic takes a turn for
 * each sector that it touches there, and one more for each further lane on the same word. Integer sums, minima, maxima,
 * and, or, xor of a whole warp on one word take one turn: the compiler, or REDUX, adds them up first. (An H200:
 * tests/bench-clock.cu.) */
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
    uint32_t sectors; /* of a place */
} contention;

void exec_contention_begin(contention *c, uint32_t place_bytes);
/* A warp's atomic at address[lane] for the lanes of mask. adds_up: an integer operation that lanes can do among
 * themselves first. */
void exec_contention_count(contention *c, const uint64_t *address, uint32_t mask, bool is_float, bool adds_up);
void exec_contention_add(contention *c, const contention *other);
void exec_contention_most(const contention *c, uint64_t turns[2]); /* integer, floating point */

#endif
