// expect: correct: overlaps block
// Takes a cached block of the right size and forgets to look whether it is in use.
#include "lab2.h"

#include <stdlib.h>

struct piece {
    void *p;
    size_t bytes, asked;
    cudaStream_t home;
    int used;
    struct piece *next;
};
static struct piece *all;
static size_t live, reserved;

static struct piece *find(const void *p) {
    struct piece *b = all;
    while (b->p != p) b = b->next;
    return b;
}

extern "C" void pool_empty(void) {
    for (struct piece **link = &all; *link;) {
        struct piece *b = *link;
        if (b->used) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        reserved -= b->bytes;
        cudaFree(b->p);
        free(b);
    }
}

static struct piece *grow(size_t bytes, cudaStream_t stream) {
    struct piece *b = (struct piece *)calloc(1, sizeof *b);
    if (cudaMalloc(&b->p, bytes) != cudaSuccess) {
        free(b);
        return NULL;
    }
    b->bytes = bytes;
    b->home = stream;
    b->next = all;
    all = b;
    reserved += bytes;
    return b;
}

extern "C" void *pool_alloc(size_t asked, cudaStream_t stream) {
    size_t bytes = (asked + 255) / 256 * 256;
    struct piece *b = all;
    while (b && !(b->bytes == bytes && b->home == stream)) b = b->next;
    if (!b) b = grow(bytes, stream);
    if (!b) {
        pool_empty();
        b = grow(bytes, stream);
    }
    if (!b) return NULL;
    b->used = 1;
    b->asked = asked;
    live += asked;
    return b->p;
}

extern "C" void pool_use(void *p, cudaStream_t stream) { (void)p, (void)stream; }

extern "C" void pool_free(void *p) {
    struct piece *b = find(p);
    b->used = 0;
    live -= b->asked;
}

extern "C" void pool_stats(size_t *l, size_t *r) {
    *l = live;
    *r = reserved;
}
