// expect: holes: cut them from it, and join
// Rung 1 of the handout: freed blocks are kept in a list, and serve requests of their own size.
#include "lab2.h"

#include <stdlib.h>

enum { PIECE = 256 };

struct block {
    void *at;
    size_t bytes, asked;
    cudaStream_t home;
    bool used;
    struct block *next;
};

static struct block *blocks;
static size_t live_bytes, reserved_bytes;

static struct block *new_block(size_t bytes, cudaStream_t home) {
    struct block *b = (struct block *)calloc(1, sizeof *b);
    if (!b || cudaMalloc(&b->at, bytes) != cudaSuccess) {
        cudaGetLastError();
        free(b);
        return NULL;
    }
    b->bytes = bytes;
    b->home = home;
    b->next = blocks;
    blocks = b;
    reserved_bytes += bytes;
    return b;
}

extern "C" void *pool_alloc(size_t bytes, cudaStream_t stream) {
    size_t rounded = (bytes + PIECE - 1) / PIECE * PIECE;
    struct block *b = blocks;
    if (!bytes) return NULL;
    while (b && (b->used || b->bytes != rounded || b->home != stream)) b = b->next;
    if (!b) b = new_block(rounded, stream);
    if (!b) return NULL;
    b->used = true;
    b->asked = bytes;
    live_bytes += bytes;
    return b->at;
}

extern "C" void pool_use(void *p, cudaStream_t stream) { (void)p, (void)stream; }

extern "C" void pool_free(void *p) {
    struct block *b = blocks;
    while (b && b->at != p) b = b->next;
    if (!b) return;
    b->used = false;
    live_bytes -= b->asked;
}

extern "C" void pool_empty(void) {
    for (struct block **link = &blocks; *link;) {
        struct block *b = *link;
        if (b->used) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        reserved_bytes -= b->bytes;
        cudaFree(b->at);
        free(b);
    }
}

extern "C" void pool_stats(size_t *live, size_t *reserved) {
    *live = live_bytes;
    *reserved = reserved_bytes;
}
