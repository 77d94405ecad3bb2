// expect: training: held at the peak
// Allocates far more than it needs, once, and never reuses anything while a block is live: no calls, no waits, and
// memory for nobody else.
#include "lab2.h"

static char *base;
static size_t used;
static const size_t ALL = (size_t)200 << 20;
static int blocks;

extern "C" void *pool_alloc(size_t bytes, cudaStream_t stream) {
    (void)stream;
    bytes = (bytes + 255) / 256 * 256;
    if (!base && cudaMalloc(&base, ALL) != cudaSuccess) return NULL;
    if (used + bytes > ALL) return NULL;
    used += bytes;
    blocks++;
    return base + used - bytes;
}

extern "C" void pool_use(void *p, cudaStream_t stream) { (void)p, (void)stream; }

extern "C" void pool_free(void *p) {
    (void)p;
    if (--blocks == 0) used = 0;
}

extern "C" void pool_empty(void) {
    cudaFree(base);
    base = NULL;
}

extern "C" void pool_stats(size_t *l, size_t *r) { *l = *r = 0; }
