/* constant.h — what loads of constant memory cost that are no operands (ptx/machine_constant.c). The lanes of a warp
 * get one address after another. An SM keeps a small part of constant memory at hand. Source: an H200 with
 * tests/clock/places.cu: 2.0 clocks of an SM for each different address; random words out of 1, 2, 4, 8, 16 and 64 KiB
 * take 62, 65, 326, 679, 904 and 1091 clocks a load, as of 3 KiB at hand and 35 clocks for each other address. A warp
 * alone waits 10 clocks for each further address. */
#ifndef SIMGPU_CONSTANT_H
#define SIMGPU_CONSTANT_H

#include <stdint.h>

enum { CONSTANT_CLOCKS = 2, CONSTANT_WAIT = 10, CONSTANT_LINES = 48, CONSTANT_LINE = 64, CONSTANT_BANK = 64 << 10 };

/* What a block has used of constant memory. */
typedef struct {
    uint64_t line[CONSTANT_LINES]; /* number + 1; the oldest gives way */
    uint32_t oldest;
    uint64_t seen[CONSTANT_BANK / CONSTANT_LINE / 64]; /* a bit for each line */
} constant_cache;

void exec_constant_next_block(constant_cache *c);

/* Returns the clocks of a load at address[lane] for the lanes of mask. */
uint32_t exec_constant_load(constant_cache *c, const uint64_t *address, uint32_t mask);

#endif
