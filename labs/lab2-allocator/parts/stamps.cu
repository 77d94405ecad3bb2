/* stamps.cu — the kernels that sign blocks and look for the signatures; see messages.h.
 *
 * They run in stream order like any kernel, so they see the contents of a block when the GPU gets there, not when the
 * host asked. Each follows a chain of loads first, so that it takes its time.
 */
#include "messages.h"

#include <cuda_runtime.h>

enum { THREADS = 32, PAGE = 4096, HOPS = 10, SLOW_HOPS = 8000 };

/* Each load waits for the one before. No element of the chain is LAB2_CHAIN, which the compiler does not know. */
static __device__ unsigned follow(const unsigned *chain, int hops) {
    unsigned at = 0;
    for (int i = 0; i < hops; i++) at = chain[at];
    return at;
}

/* Where the k-th signature of a block lies. */
static __device__ uint2 *place(char *block, unsigned k) {
    uintptr_t page = ((uintptr_t)block / PAGE + k) * PAGE;
    return (uint2 *)(k ? (char *)page : block);
}

static __global__ void fill(char *block, unsigned places, unsigned tag, const unsigned *chain) {
    unsigned end = follow(chain, HOPS);
    for (unsigned k = threadIdx.x; k < places; k += THREADS)
        *place(block, k) = make_uint2(tag, k + (end == LAB2_CHAIN));
}

static __global__ void read(char *block, unsigned places, unsigned tag, const unsigned *chain, lab2_verdict *v) {
    unsigned end = follow(chain, HOPS);
    for (unsigned k = threadIdx.x; k < places; k += THREADS) {
        uint2 is = *place(block, k);
        if ((is.x == tag && is.y == k) || end == LAB2_CHAIN) continue;
        if (atomicCAS(&v->failed, 0u, 1u) == 0u) {
            v->want = tag;
            v->got = is.x;
            v->offset = (unsigned)((char *)place(block, k) - block);
        }
    }
}

static __global__ void slow(const unsigned *chain, lab2_verdict *v) {
    if (follow(chain, SLOW_HOPS) == LAB2_CHAIN) v->failed = 1;
}

/* The beginning, and each multiple of PAGE behind it at which a signature still fits. */
static unsigned places_of(uint64_t p, uint64_t bytes) {
    return (unsigned)((p + bytes - sizeof(uint2)) / PAGE - p / PAGE) + 1;
}

/* The launchers. Hidden, so that no program finds them by name. */
#pragma GCC visibility push(hidden)

extern "C" void lab2_fill(uint64_t block, uint64_t bytes, uint32_t tag, uint64_t chain, uint64_t stream) {
    fill<<<1, THREADS, 0, (cudaStream_t)stream>>>((char *)block, places_of(block, bytes), tag, (const unsigned *)chain);
}

extern "C" void lab2_read(uint64_t block, uint64_t bytes, uint32_t tag, uint64_t chain, uint64_t verdict,
                          uint64_t stream) {
    read<<<1, THREADS, 0, (cudaStream_t)stream>>>((char *)block, places_of(block, bytes), tag, (const unsigned *)chain,
                                                  (lab2_verdict *)verdict);
}

extern "C" void lab2_slow(uint64_t chain, uint64_t verdict, uint64_t stream) {
    slow<<<1, 1, 0, (cudaStream_t)stream>>>((const unsigned *)chain, (lab2_verdict *)verdict);
}

#pragma GCC visibility pop
