/* formula.h — the arithmetic of a batch, for the kernel and for the harness: a word of a result is computed from one
 * word of its batch and the salts of the run and of the batch. */
#ifndef LAB1_FORMULA_H
#define LAB1_FORMULA_H

#include <stdint.h>

#if defined(__CUDACC__) || defined(__CUDA__)
#define LAB1_BOTH static __host__ __device__ inline
#else
#define LAB1_BOTH static inline
#endif

LAB1_BOTH uint32_t lab1_mix(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

/* Returns the index of the batch's word that word i of its result is made of. `in`, `out`: words of the two. */
LAB1_BOTH uint32_t lab1_source(uint32_t i, uint32_t in, uint32_t out, uint32_t salt) {
    if (in == out) return i;
    if (in < out) return i / ((out + in - 1) / in);
    return i * (in / out) + lab1_mix(salt + i) % (in / out);
}

LAB1_BOTH uint32_t lab1_result(uint32_t word, uint32_t i, uint32_t salt) { return word * 2654435761u + (salt ^ i); }

#endif
