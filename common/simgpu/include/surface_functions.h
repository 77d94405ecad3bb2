/* surface_functions.h — the device functions that read and write through a surface reference (cuda_surface_types.h):
 * surf2Dread(reference, x, y) and so on. Each uses the reference's handle as surface_indirect_functions.h uses an
 * object's. */
#ifndef SIMGPU_SURFACE_FUNCTIONS_H
#define SIMGPU_SURFACE_FUNCTIONS_H

#include "cuda_surface_types.h"

#if defined(__CUDA__)

/* As simgpuSwapped in texture_fetch_functions.h. */
template <int type>
__device__ unsigned long long simgpuSwapped(surface<void, type> reference) __asm__("llvm.bswap.i64");
template <int type>
static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ cudaSurfaceObject_t
simgpuHandle(surface<void, type> reference) {
    return __builtin_bswap64(simgpuSwapped(reference));
}

#define SIMGPU_LIST(...) __VA_ARGS__
#define SIMGPU_FUNCTION  static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#define SIMGPU_SURFACE(name, kind, parameters, ...)                                                                    \
    template <class T>                                                                                                 \
    SIMGPU_FUNCTION T name##read(surface<void, kind> reference, parameters,                                            \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                \
        return name##read<T>(simgpuHandle(reference), __VA_ARGS__, mode);                                              \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIMGPU_FUNCTION void name##read(T *to, surface<void, kind> reference, parameters,                                  \
                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                             \
        *to = name##read<T>(simgpuHandle(reference), __VA_ARGS__, mode);                                               \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIMGPU_FUNCTION void name##write(T value, surface<void, kind> reference, parameters,                               \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                            \
        name##write(value, simgpuHandle(reference), __VA_ARGS__, mode);                                                \
    }
SIMGPU_SURFACE(surf1D, cudaSurfaceType1D, int x, x)
SIMGPU_SURFACE(surf2D, cudaSurfaceType2D, SIMGPU_LIST(int x, int y), x, y)
SIMGPU_SURFACE(surf3D, cudaSurfaceType3D, SIMGPU_LIST(int x, int y, int z), x, y, z)
SIMGPU_SURFACE(surf1DLayered, cudaSurfaceType1DLayered, SIMGPU_LIST(int x, int layer), x, layer)
SIMGPU_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, SIMGPU_LIST(int x, int y, int layer), x, y, layer)
SIMGPU_SURFACE(surfCubemap, cudaSurfaceTypeCubemap, SIMGPU_LIST(int x, int y, int face), x, y, face)
SIMGPU_SURFACE(surfCubemapLayered, cudaSurfaceTypeCubemapLayered, SIMGPU_LIST(int x, int y, int face), x, y, face)
#undef SIMGPU_SURFACE
#undef SIMGPU_FUNCTION
#undef SIMGPU_LIST

#endif
#endif
