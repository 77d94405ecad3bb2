// expect: gate: reference_pool_alloc
// The harness opens the reference solution to time it. This calls it, by names that no program shows.
#include "lab2.h"

extern "C" void *reference_pool_alloc(size_t, cudaStream_t);
extern "C" void reference_pool_use(void *, cudaStream_t);
extern "C" void reference_pool_free(void *);
extern "C" void reference_pool_empty(void);
extern "C" void reference_pool_stats(size_t *, size_t *);

extern "C" void *pool_alloc(size_t bytes, cudaStream_t stream) { return reference_pool_alloc(bytes, stream); }
extern "C" void pool_use(void *p, cudaStream_t stream) { reference_pool_use(p, stream); }
extern "C" void pool_free(void *p) { reference_pool_free(p); }
extern "C" void pool_empty(void) { reference_pool_empty(); }
extern "C" void pool_stats(size_t *l, size_t *r) { reference_pool_stats(l, r); }
