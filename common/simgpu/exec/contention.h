/* contention.h — counts the atomics that wait for each other at device memory. A warp's atomic takes a turn for each
 * sector that it touches, and one more for each further lane on the same word. An integer sum, minimum, maximum, and,
 * or, xor of several lanes on one word takes one turn where the compiler knows that it is one: REDUX combines the lanes
 * first.
 *
 * Turns wait for two things. A slice of L2 does one at a time, for all of the memory that it serves: pieces of
 * exec_card.atomic_place bytes. And a sum in floating point takes longer than a turn of the slice, so that the next one
 * on its sector waits for it. Sources: an H200 with tests/bench-clock.cu and tests/clock/places.cu, and 16384 warps
 * with 32 random words each out of 8 to 2^20. A turn takes 0.6 to 0.75 ns: 155 us with the 64 words of one piece, 103
 * and 138 with 2 and 4 pieces, of which two in turn share a slice, 83, 47, 30, 18 and 18 with 8 to 128, 11 and 9 with
 * 256 and 1024. Floating point differs on one or two sectors only (206 us where integers take 87).
 *
 * A store of one word takes a turn, too, as a flag that every warp sets; one that follows a store to the same line goes
 * to L2 together with it. (An H200: 8192, 32768, 65536 and 131072 such stores among a copy's of 16 MiB make it 7.7, 29,
 * 48 and 66 us longer; 131072 with no other stores between take 12 us more than as many empty warps.)
 *
 * The blocks of a wave run side by side, and those of the next wave come later, and may use other places. So each
 * wave takes as long as its own busiest place: an H200 takes 26 us for 32768 warps that add to one word each, in the
 * order of the words, and 14 us where the words lie 512 bytes apart. */
#ifndef SIMGPU_CONTENTION_H
#define SIMGPU_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

enum { CONTENTION_SLICES = 64 };

typedef struct {
    uint64_t sector; /* number + 1; 0: free */
    uint64_t turns;
} contention_sector;

typedef struct {
    contention_sector *table; /* of floating point: open addressing; a power of two */
    uint32_t size, used;
    uint32_t piece_sectors;
    uint64_t slice[CONTENTION_SLICES]; /* turns of this wave */
    /* Of the waves that have ended: the most turns at any slice in each of them, the most of floating point on any
     * sector, and all turns. */
    uint64_t turns[2], all;
    uint64_t stored[CONTENTION_SLICES]; /* stores of one word, of all waves */
} contention;

void exec_contention_begin(contention *c, uint32_t place_bytes);
/* Counts a warp's atomic at address[lane] for the lanes of mask. adds_up: an integer operation that lanes can combine
 * first. */
void exec_contention_count(contention *c, const uint64_t *address, uint32_t mask, bool is_float, bool adds_up);

void exec_contention_store(contention *c, uint64_t address);
uint64_t exec_contention_stored(const contention *c); /* returns the turns at the busiest slice, of all waves */

/* Adds what another one has counted in this wave, and empties that. */
void exec_contention_take(contention *c, contention *other);
void exec_contention_wave(contention *c); /* a wave has ended */

#endif
