/* cuda_pipeline.h — copies in flight from global to shared memory: the functions __pipeline_..., and the class
 * nvcuda::experimental::pipeline over them. */
#ifndef SIMGPU_CUDA_PIPELINE_H
#define SIMGPU_CUDA_PIPELINE_H

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

namespace nvcuda {
namespace experimental {

class pipeline {
    size_t committed;

  public:
    __device__ pipeline() : committed(0) {}
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    __device__ size_t commit() {
        __pipeline_commit();
        return committed++;
    }
    __device__ void commit_and_wait() {
        commit();
        wait_prior<0>();
    }
    /* Waits for the group with this number, which commit() gave. */
    __device__ void wait(size_t group) { __pipeline_wait_prior(committed - group - 1); }
    template <unsigned later> __device__ void wait_prior() { __pipeline_wait_prior(later); }
    __device__ void arrive_on(awbarrier &b) { __pipeline_arrive_on(simgpu_barrier(b)); }
};

template <class T> __device__ inline void memcpy_async(T &to, const T &from, pipeline &) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "a copy in flight has 4, 8 or 16 bytes");
    __pipeline_memcpy_async(&to, &from, sizeof(T));
}

} // namespace experimental
} // namespace nvcuda

#endif
