/* constant.h — what loads of constant memory cost that are no operands (machine.c). The lanes of a warp get one address
 * after another. An SM keeps a small part of constant memory at hand. Source: an H200, tables of 4 B to 64 KiB: 2.0
 * clocks of an SM for each different address, 2.0 for one and 64 for 32; with random words out of 1 KiB 63 clocks a
 * load, out of 4, 16 and 64 KiB 326, 900 and 1090. */
#ifndef SIMGPU_CONSTANT_H
#define SIMGPU_CONSTANT_H

#include <stdint.h>

enum { CONSTANT_LINES = 32, CONSTANT_LINE = 64, CONSTANT_BANK = 64 << 10 };

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
