/* cuda_pipeline_primitives.h — __pipeline_...: copies from global to shared memory that need no register and no wait
 * where they are issued.
 *
 * A thread issues copies of 4, 8 or 16 bytes (aligned so), commits them as a group, and waits until at most N of its
 * groups are in flight. Other threads may read the data after a barrier that follows the wait. */
#ifndef SIMGPU_CUDA_PIPELINE_PRIMITIVES_H
#define SIMGPU_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_awbarrier_primitives.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"

#define SIMGPU_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#ifdef __CUDA_ARCH__
#define SIMGPU_HERE(...) __VA_ARGS__
#else
#define SIMGPU_HERE(...)
#endif

/* The last `zfill` bytes of the destination become 0 instead. */
SIMGPU_DEVICE void __pipeline_memcpy_async(void *__restrict__ shared, const void *__restrict__ global, size_t bytes,
                                           size_t zfill = 0) {
    SIMGPU_HERE(
        const unsigned to = (unsigned)__cvta_generic_to_shared(shared), n = (unsigned)(bytes - zfill);
        if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(n)
                                      : "memory");
        else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(global), "r"(n)
                                          : "memory");
        else if (bytes == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(n)
                                          : "memory");
        else __trap();)
}
SIMGPU_DEVICE void __pipeline_commit() { SIMGPU_HERE(asm volatile("cp.async.commit_group;" ::: "memory")); }
/* Waits until at most `prior` groups are in flight. PTX takes a constant; a larger number than 8 waits as 8 does. */
SIMGPU_DEVICE void __pipeline_wait_prior(size_t prior) {
#ifdef __CUDA_ARCH__
#define SIMGPU_WAIT(n)                                                                                                 \
    case n: asm volatile("cp.async.wait_group " #n ";" ::: "memory"); return;
    switch (prior) {
        SIMGPU_WAIT(0)
        SIMGPU_WAIT(1)
        SIMGPU_WAIT(2)
        SIMGPU_WAIT(3)
        SIMGPU_WAIT(4)
        SIMGPU_WAIT(5)
        SIMGPU_WAIT(6)
        SIMGPU_WAIT(7)
    default: asm volatile("cp.async.wait_group 8;" ::: "memory");
    }
#undef SIMGPU_WAIT
#endif
}
/* The barrier's phase does not end before this thread's copies so far have arrived. */
SIMGPU_DEVICE void __pipeline_arrive_on(__mbarrier_t *b) {
    SIMGPU_HERE(asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(b))
                             : "memory"));
}

#undef SIMGPU_HERE
#undef SIMGPU_DEVICE
#pragma clang diagnostic pop
#endif
