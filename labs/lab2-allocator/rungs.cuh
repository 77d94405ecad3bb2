/* rungs.cuh — allocators between the starter and the reference, each with the one flaw that the next one mends, and two
 * marks to measure against: memory that costs nothing, and the vendor's own allocator.
 */
#ifndef RUNGS_CUH
#define RUNGS_CUH

#include "lab.h"
#include "replay.cuh"

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

static cached **cache_find(cache *c, const void *p) {
    cached **link = &c->all;
    while ((*link)->p != p) link = &(*link)->next;
    return link;
}

static void *cache_alloc(cache *c, size_t asked, size_t bytes, cudaStream_t home) {
    cached *b = c->all;
    while (b && (b->used || b->bytes != bytes || b->home != home)) b = b->next;
    if (!b) {
        void *p = NULL;
        if (metered_malloc(&p, bytes, __FILE__, __LINE__) != cudaSuccess) return NULL;
        b = (cached *)calloc(1, sizeof *b);
        if (!b) lab_die("out of memory");
        b->p = p;
        b->bytes = bytes;
        b->home = home;
        b->next = c->all;
        c->all = b;
        c->reserved += bytes;
    }
    b->used = true;
    b->asked = asked;
    c->live += asked;
    return b->p;
}

static void cache_free(cache *c, void *p) {
    cached *b = *cache_find(c, p);
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
        metered_free(b->p, __FILE__, __LINE__);
        free(b);
    }
}

static void no_use(void *p, cudaStream_t stream) { (void)p, (void)stream; }

/* Equal sizes only. Flaw: every new size is new memory. */
static cache exact;
static void *exact_alloc(size_t bytes, cudaStream_t s) {
    return cache_alloc(&exact, bytes, (bytes + PIECE - 1) / PIECE * PIECE, s);
}
static void exact_free(void *p) { cache_free(&exact, p); }
static void exact_empty(void) { cache_empty(&exact); }

/* Powers of two. Flaw: up to half of a block is air, and no class helps another. */
static cache classes;
static void *classes_alloc(size_t bytes, cudaStream_t s) {
    size_t rounded = PIECE;
    while (rounded < bytes) rounded *= 2;
    return cache_alloc(&classes, bytes, rounded, s);
}
static void classes_free(void *p) { cache_free(&classes, p); }
static void classes_empty(void) { cache_empty(&classes); }

/* --- the speed of light ----------------------------------------------------------------------- */

/* One stretch of memory, bought beforehand, one block behind the other; from the start again when all are freed. A
 * program that knows all its sizes could do this. Good for one stream and for traces that come to an end. */
enum { BUMP_BYTES = 48 << 20 };
static struct {
    char *base;
    size_t used;
    int live;
} bump;

static void *bump_alloc(size_t bytes, cudaStream_t stream) {
    (void)stream;
    if (!bump.base) LAB_CUDA(cudaMalloc((void **)&bump.base, BUMP_BYTES));
    char *p = bump.base + bump.used;
    bump.used += (bytes + PIECE - 1) / PIECE * PIECE;
    if (bump.used > BUMP_BYTES) return NULL;
    bump.live++;
    return p;
}
static void bump_free(void *p) {
    (void)p;
    if (--bump.live == 0) bump.used = 0;
}
static void bump_empty(void) {}

/* --- the vendor's ------------------------------------------------------------------------------- */

/* cudaMallocAsync, told to keep what is freed. Its frees want to know the stream. */
enum { VENDOR_SLOTS = 4096 };
static struct {
    void *p;
    cudaStream_t home;
} vendor_slot[VENDOR_SLOTS];

static unsigned vendor_hash(const void *p) { return (unsigned)((uintptr_t)p / PIECE * 2654435761u) % VENDOR_SLOTS; }

static void *vendor_alloc(size_t bytes, cudaStream_t stream) {
    static bool kept;
    if (!kept) {
        cudaMemPool_t pool;
        uint64_t all = UINT64_MAX;
        LAB_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
        LAB_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
        kept = true;
    }
    void *p = NULL;
    if (cudaMallocAsync(&p, bytes, stream) != cudaSuccess) return NULL;
    unsigned i = vendor_hash(p);
    while (vendor_slot[i].p) i = (i + 1) % VENDOR_SLOTS;
    vendor_slot[i].p = p;
    vendor_slot[i].home = stream;
    return p;
}

static void vendor_free(void *p) {
    unsigned i = vendor_hash(p);
    while (vendor_slot[i].p != p) i = (i + 1) % VENDOR_SLOTS;
    LAB_CUDA(cudaFreeAsync(p, vendor_slot[i].home));
    vendor_slot[i].p = NULL;
}
static void vendor_empty(void) {
    cudaMemPool_t pool;
    LAB_CUDA(cudaDeviceSynchronize());
    LAB_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    LAB_CUDA(cudaMemPoolTrimTo(pool, 0));
}

/* --- all of them -------------------------------------------------------------------------------- */

extern "C" {
void *starter_pool_alloc(size_t, cudaStream_t);
void starter_pool_use(void *, cudaStream_t);
void starter_pool_free(void *);
void starter_pool_empty(void);
void starter_pool_stats(size_t *, size_t *);
void *reference_pool_alloc(size_t, cudaStream_t);
void reference_pool_use(void *, cudaStream_t);
void reference_pool_free(void *);
void reference_pool_empty(void);
void reference_pool_stats(size_t *, size_t *);
}

static const allocator yours = {"yours", pool_alloc, pool_use, pool_free, pool_empty, pool_stats, false};
static const allocator starter = {
    "starter", starter_pool_alloc, starter_pool_use, starter_pool_free, starter_pool_empty, NULL, false};
static const allocator exact_sizes = {"exact sizes", exact_alloc, no_use, exact_free, exact_empty, NULL, false};
static const allocator power_classes = {"powers of two", classes_alloc, no_use, classes_free,
                                        classes_empty,   NULL,          false};
static const allocator reference = {"reference",
                                    reference_pool_alloc,
                                    reference_pool_use,
                                    reference_pool_free,
                                    reference_pool_empty,
                                    reference_pool_stats,
                                    false};
static const allocator light = {"bought beforehand", bump_alloc, no_use, bump_free, bump_empty, NULL, true};
static const allocator vendor = {"cudaMallocAsync", vendor_alloc, no_use, vendor_free, vendor_empty, NULL, true};

#endif
