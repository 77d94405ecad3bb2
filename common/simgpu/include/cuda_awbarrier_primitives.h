/* cuda_awbarrier_primitives.h — __mbarrier_...: barriers in shared memory whose arrivals and waits are apart. A token
 * of an arrival names the phase that a wait is for. A wait is a test; loop until it is true. */
#ifndef SIMGPU_CUDA_AWBARRIER_PRIMITIVES_H
#define SIMGPU_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_runtime.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#define SIMGPU_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#ifdef __CUDA_ARCH__
#define SIMGPU_HERE(...) __VA_ARGS__
#else
#define SIMGPU_HERE(...)
#endif

SIMGPU_DEVICE unsigned __mbarrier_maximum_count() { return (1u << 20) - 1; }
SIMGPU_DEVICE void __mbarrier_init(__mbarrier_t *b, unsigned expected) {
    SIMGPU_HERE(
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(b)), "r"(expected)
                     : "memory"));
}
SIMGPU_DEVICE void __mbarrier_inval(__mbarrier_t *b) {
    SIMGPU_HERE(asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(b))
                             : "memory"));
}
SIMGPU_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b) {
    __mbarrier_token_t token = 0;
    SIMGPU_HERE(asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                             : "=l"(token)
                             : "r"((unsigned)__cvta_generic_to_shared(b))
                             : "memory"));
    return token;
}
SIMGPU_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b) {
    __mbarrier_token_t token = 0;
    SIMGPU_HERE(asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                             : "=l"(token)
                             : "r"((unsigned)__cvta_generic_to_shared(b))
                             : "memory"));
    return token;
}
SIMGPU_DEVICE bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token) {
    unsigned short done = 0;
    SIMGPU_HERE(asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b16 %0, 1, 0, p; }"
                             : "=h"(done)
                             : "r"((unsigned)__cvta_generic_to_shared(b)), "l"(token)
                             : "memory"));
    return done;
}
SIMGPU_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool phase_parity) {
    unsigned short done = 0;
    SIMGPU_HERE(asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b16 %0, 1, 0, p; }"
                             : "=h"(done)
                             : "r"((unsigned)__cvta_generic_to_shared(b)), "r"((unsigned)phase_parity)
                             : "memory"));
    return done;
}
SIMGPU_DEVICE unsigned __mbarrier_token_pending_count(__mbarrier_token_t token) {
    unsigned n = 0;
    SIMGPU_HERE(asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token)));
    return n;
}

#undef SIMGPU_HERE
#undef SIMGPU_DEVICE
#pragma clang diagnostic pop
#endif
