/* cuda_surface_types.h — surface references, which CUDA 12 dropped: variables of type surface<void, type>, which the
 * host binds to an array and kernels read and write by surf2Dread(&v, variable, x, y) and so on (surface_functions.h).
 *
 * They are made as texture references are (cuda_texture_types.h): the device's part of one is a .surfref, whose address
 * stands for the surface object that it is bound to. simcc includes surface_functions.h where a program's own files
 * have `surface<`. */
#ifndef SIMGPU_CUDA_SURFACE_TYPES_H
#define SIMGPU_CUDA_SURFACE_TYPES_H

#include "cuda_runtime.h"

#if defined(__CUDA__)

struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
};
template <class T, int type = cudaSurfaceType1D> struct __attribute__((device_builtin_surface_type)) surface;
template <int type>
struct __attribute__((device_builtin_surface_type)) surface<void, type> : public surfaceReference {};

/* Binds the reference for all launches behind the call. */
extern "C" cudaError_t simgpuBindSurface(const void *reference, cudaArray_const_t array, const char *file, int line);

#define SIMGPU_OLD                                                                                                     \
    static inline __attribute__((deprecated("CUDA 12 dropped surface references; today's are objects: "                \
                                            "cudaCreateSurfaceObject makes one, a kernel takes it as a "               \
                                            "cudaSurfaceObject_t, and writes it by surf2Dwrite(v, object, x, y)")))
template <int type>
SIMGPU_OLD cudaError_t cudaBindSurfaceToArray(const surface<void, type> &reference, cudaArray_const_t array,
                                              SIMGPU_SITE) {
    return simgpuBindSurface(&reference, array, file, line);
}
/* The array has its own description of an element. */
template <int type>
SIMGPU_OLD cudaError_t cudaBindSurfaceToArray(const surface<void, type> &reference, cudaArray_const_t array,
                                              const struct cudaChannelFormatDesc &, SIMGPU_SITE) {
    return simgpuBindSurface(&reference, array, file, line);
}
template <int type>
SIMGPU_OLD cudaError_t cudaBindSurfaceToArray(const surface<void, type> *reference, cudaArray_const_t array,
                                              const struct cudaChannelFormatDesc *, SIMGPU_SITE) {
    return simgpuBindSurface(reference, array, file, line);
}
#undef SIMGPU_OLD

#endif
#endif
