/* device_launch_parameters.h — threadIdx, blockIdx, blockDim, gridDim, warpSize.
 *
 * They look like variables, but each read is a read of a special register such as %tid.x: the property below compiles
 * `threadIdx.x` to that read, and no memory is used. */
#ifndef SIMGPU_DEVICE_LAUNCH_PARAMETERS_H
#define SIMGPU_DEVICE_LAUNCH_PARAMETERS_H

#include "vector_types.h"

#if defined(__CUDA__) && defined(__clang__)
#define SIMGPU_AXIS(axis, sreg)                                                                                        \
    __declspec(property(get = get_##axis)) unsigned int axis;                                                          \
    static inline __attribute__((always_inline, nodebug)) __attribute__((device)) unsigned int get_##axis() {          \
        return __nvvm_read_ptx_sreg_##sreg##_##axis();                                                                 \
    }
#define SIMGPU_TRIPLE(name, sreg)                                                                                      \
    struct simgpu_##name {                                                                                             \
        SIMGPU_AXIS(x, sreg)                                                                                           \
        SIMGPU_AXIS(y, sreg)                                                                                           \
        SIMGPU_AXIS(z, sreg)                                                                                           \
        __attribute__((device)) operator uint3() const {                                                               \
            uint3 v = {x, y, z};                                                                                       \
            return v;                                                                                                  \
        }                                                                                                              \
        __attribute__((device)) operator dim3() const { return dim3(x, y, z); }                                        \
    };                                                                                                                 \
    extern const __attribute__((device)) __attribute__((weak)) simgpu_##name name;

SIMGPU_TRIPLE(threadIdx, tid)
SIMGPU_TRIPLE(blockIdx, ctaid)
SIMGPU_TRIPLE(blockDim, ntid)
SIMGPU_TRIPLE(gridDim, nctaid)
#undef SIMGPU_TRIPLE
#undef SIMGPU_AXIS

#if defined(SIMGPU_OWN_WARP_SIZE) // simcc: the program defines it
extern const int warpSize;
#else
__attribute__((device)) const int warpSize = 32;
#endif
#endif

#endif
