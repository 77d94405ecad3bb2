/* resident.h — what the blocks that live on an SM share of its L1.
 *
 * A block runs here from its first instruction to its last, and its L1 (count.h) is empty when it begins. On a card it
 * lives beside other blocks of its SM, and what one of them has fetched into L1, the others find. Which one comes first
 * depends on the order of blocks, and that depends on the host's threads. So the sharing is found for a sample, the
 * blocks of four SMs: each notes the sectors that it misses alone. When a wave of resident blocks has ended, the notes
 * are put in the order of SM, line and block; of two blocks that miss a sector, the second one hits, unless
 * so much was missed in between that L1 has lost it. Thus each
 * instruction has two numbers, what the sample missed alone and what it missed together, and the misses of all blocks
 * are reduced in their ratio.
 *
 * The next wave finds what several blocks of an SM have used, if all of that fits into L1.
 *
 * Block b lives on SM b % sms, and a wave has as many blocks as the card holds at a time. */
#ifndef SIMGPU_RESIDENT_H
#define SIMGPU_RESIDENT_H

#include "warp.h"

/* A launch begins. resident: blocks on an SM; 0 or 1: there is nothing to share. lines: of an SM's L1. */
void exec_resident_begin(uint32_t resident, uint32_t sms, uint32_t lines, uint32_t instructions);

bool exec_resident_sampled(uint64_t block); /* returns whether the block is one of the sample */

/* Notes the sectors (4 bits) of a line that a block of the sample misses at an instruction. */
void exec_resident_note(worker *t, const block *b, uint32_t at, uint64_t line, uint32_t sectors);

/* A wave has ended, and no worker runs. */
void exec_resident_wave(worker *workers, unsigned threads);

/* Reduces the misses that all blocks had alone at an instruction. */
void exec_resident_share(uint32_t at, exec_counters *c);

/* Returns how many of the rounds of loads that missed L1 alone miss it where earlier waves have left something there.
 */
uint64_t exec_resident_missed_rounds(uint64_t alone);

static inline void exec_resident_missed(const warp *w, const exec_counters *c, uint64_t line, uint32_t sectors) {
    worker *t = w->block->worker;
    if (w->block->sampled) exec_resident_note(t, w->block, (uint32_t)(c - t->counters), line, sectors);
}

#endif
