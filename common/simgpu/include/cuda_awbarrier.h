/* cuda_awbarrier.h — nvcuda::experimental::awbarrier, a barrier of a block whose arrivals and waits are apart. */
#ifndef SIMGPU_CUDA_AWBARRIER_H
#define SIMGPU_CUDA_AWBARRIER_H

#include "cuda_awbarrier_primitives.h"

namespace nvcuda {
namespace experimental {

class awbarrier {
    __mbarrier_t barrier;

  public:
    typedef __mbarrier_token_t arrival_token;
    __device__ static unsigned max() { return __mbarrier_maximum_count(); }
    __device__ arrival_token arrive() { return __mbarrier_arrive(&barrier); }
    __device__ arrival_token arrive_and_drop() { return __mbarrier_arrive_and_drop(&barrier); }
    __device__ bool timed_wait(arrival_token token, unsigned) { return __mbarrier_test_wait(&barrier, token); }
    __device__ bool timed_wait_parity(bool phase, unsigned) { return __mbarrier_test_wait_parity(&barrier, phase); }
    __device__ void wait(arrival_token token) {
        while (!__mbarrier_test_wait(&barrier, token)) {}
    }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ friend void init(awbarrier *b, unsigned expected) { __mbarrier_init(&b->barrier, expected); }
    __device__ friend void inval(awbarrier *b) { __mbarrier_inval(&b->barrier); }
    __device__ friend __mbarrier_t *simgpu_barrier(awbarrier &b) { return &b.barrier; }
};

} // namespace experimental
} // namespace nvcuda

#endif
