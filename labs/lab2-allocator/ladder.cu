/* ladder.cu — allocators between the starter and the reference, each with the one flaw that the next one removes, and
 * two marks to measure against: memory that costs nothing, and the vendor's own allocator.
 *
 * The functions of rung `exact` are called exact_pool_alloc and so on. They return NULL where CUDA or malloc fails.
 */
#include "lab2.h"

#include <stdint.h>
#include <stdlib.h>

enum { PIECE = 256 };

/* --- a free list for each size ---------------------------------------------------------------- */

typedef struct cached {
    void *p;
    size_t bytes, asked;
    cudaStream_t home;
    bool used;
    struct cached *next;
} cached;

typedef struct {
    cached *all;
    size_t live, reserved;
} cache;

static cached *cache_grow(cache *c, size_t bytes, cudaStream_t home) {
    cached *b = (cached *)calloc(1, sizeof *b);
    if (!b) return NULL;
    if (cudaMalloc(&b->p, bytes) != cudaSuccess) {
        free(b);
        return NULL;
    }
    b->bytes = bytes;
    b->home = home;
    b->next = c->all;
    c->all = b;
    c->reserved += bytes;
    return b;
}

static void *cache_alloc(cache *c, size_t asked, size_t bytes, cudaStream_t home) {
    cached *b = c->all;
    while (b && (b->used || b->bytes != bytes || b->home != home)) b = b->next;
    if (!b) b = cache_grow(c, bytes, home);
    if (!b) return NULL;
    b->used = true;
    b->asked = asked;
    c->live += asked;
    return b->p;
}

static void cache_free(cache *c, void *p) {
    cached *b = c->all;
    while (b->p != p) b = b->next;
    b->used = false;
    c->live -= b->asked;
}

static void cache_empty(cache *c) {
    for (cached **link = &c->all; *link;) {
        cached *b = *link;
        if (b->used) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        c->reserved -= b->bytes;
        cudaFree(b->p);
        free(b);
    }
}

/* Equal sizes only. Flaw: every new size is new memory. */
static cache exact;

extern "C" void *exact_pool_alloc(size_t bytes, cudaStream_t s) {
    return cache_alloc(&exact, bytes, (bytes + PIECE - 1) / PIECE * PIECE, s);
}
extern "C" void exact_pool_use(void *p, cudaStream_t s) { (void)p, (void)s; }
extern "C" void exact_pool_free(void *p) { cache_free(&exact, p); }
extern "C" void exact_pool_empty(void) { cache_empty(&exact); }
extern "C" void exact_pool_stats(size_t *live, size_t *reserved) { *live = exact.live, *reserved = exact.reserved; }

/* Powers of two. Flaw: up to half of a block is air, and no class helps another. */
static cache classes;

extern "C" void *classes_pool_alloc(size_t bytes, cudaStream_t s) {
    size_t rounded = PIECE;
    while (rounded < bytes) rounded *= 2;
    return cache_alloc(&classes, bytes, rounded, s);
}
extern "C" void classes_pool_use(void *p, cudaStream_t s) { (void)p, (void)s; }
extern "C" void classes_pool_free(void *p) { cache_free(&classes, p); }
extern "C" void classes_pool_empty(void) { cache_empty(&classes); }
extern "C" void classes_pool_stats(size_t *live, size_t *reserved) {
    *live = classes.live, *reserved = classes.reserved;
}

/* --- the speed of light ----------------------------------------------------------------------- */

/* One stretch of memory, allocated beforehand, one block behind the other; from the start again when all are freed. A
 * program that knows all its sizes could do this. Good for one stream and for traces that come to an end. */
enum { BUMP_BYTES = 48 << 20 };
static struct {
    char *base;
    size_t used;
    int live;
} bump;

extern "C" void *light_pool_alloc(size_t bytes, cudaStream_t s) {
    (void)s;
    if (!bump.base && cudaMalloc(&bump.base, BUMP_BYTES) != cudaSuccess) return NULL;
    char *p = bump.base + bump.used;
    bump.used += (bytes + PIECE - 1) / PIECE * PIECE;
    if (bump.used > BUMP_BYTES) return NULL;
    bump.live++;
    return p;
}
extern "C" void light_pool_use(void *p, cudaStream_t s) { (void)p, (void)s; }
extern "C" void light_pool_free(void *p) {
    (void)p;
    if (--bump.live == 0) bump.used = 0;
}
extern "C" void light_pool_empty(void) {}

/* --- the vendor's ------------------------------------------------------------------------------- */

/* cudaMallocAsync, told to keep what is freed. A hash table keeps each block's stream, which a free needs. */
enum { VENDOR_SLOTS = 4096 };
static struct {
    void *p;
    cudaStream_t home;
} vendor_slot[VENDOR_SLOTS];

static unsigned vendor_hash(const void *p) { return (unsigned)((uintptr_t)p / PIECE * 2654435761u) % VENDOR_SLOTS; }

static cudaError_t vendor_pool(cudaMemPool_t *pool) {
    int device = 0;
    cudaError_t e = cudaGetDevice(&device);
    return e ? e : cudaDeviceGetDefaultMemPool(pool, device);
}

static bool vendor_keep(void) {
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    return !vendor_pool(&pool) && !cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

extern "C" void *vendor_pool_alloc(size_t bytes, cudaStream_t s) {
    static bool kept;
    if (!kept && !(kept = vendor_keep())) return NULL;
    void *p = NULL;
    if (cudaMallocAsync(&p, bytes, s) != cudaSuccess) return NULL;
    unsigned i = vendor_hash(p);
    while (vendor_slot[i].p) i = (i + 1) % VENDOR_SLOTS;
    vendor_slot[i].p = p;
    vendor_slot[i].home = s;
    return p;
}
extern "C" void vendor_pool_use(void *p, cudaStream_t s) { (void)p, (void)s; }
extern "C" void vendor_pool_free(void *p) {
    unsigned i = vendor_hash(p);
    while (vendor_slot[i].p != p) i = (i + 1) % VENDOR_SLOTS;
    if (cudaFreeAsync(p, vendor_slot[i].home) == cudaSuccess) vendor_slot[i].p = NULL;
}
extern "C" void vendor_pool_empty(void) {
    cudaMemPool_t pool;
    if (cudaDeviceSynchronize() == cudaSuccess && vendor_pool(&pool) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
}
