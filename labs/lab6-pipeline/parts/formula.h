/* formula.h — the arithmetic of a frame, for the kernel and for the harness: a processed word is computed from the
 * word, its number in the job, and the salt of the run. A word that was processed as another one, or twice, is wrong.
 *
 * Each round is a step and the rest of a division, which takes a GPU some 130 issue slots: so the engine of kernels
 * works as long as the link, with few instructions for a software GPU to simulate.
 */
#ifndef LAB6_FORMULA_H
#define LAB6_FORMULA_H

#include <stdint.h>

#if defined(__CUDACC__) || defined(__CUDA__)
#define LAB6_BOTH static __host__ __device__ inline
#else
#define LAB6_BOTH static inline
#endif

#define LAB6_MODULUS                                                                                                   \
    2305843009213693951u /* 2^61 - 1: operands fill 64 bits, for which a card has no short division                    \
                          */

LAB6_BOTH uint64_t lab6_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

LAB6_BOTH uint64_t lab6_step(uint64_t v, uint64_t salt) { return v * 0x9E3779B97F4A7C15u + salt; }

#endif
