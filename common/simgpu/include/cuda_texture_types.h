/* cuda_texture_types.h — texture references, which CUDA 12 dropped: their type, with a message that names what took
 * their place. Only programs that include this header, or texture_fetch_functions.h, have it, since the name `texture`
 * is free for programs of today. */
#ifndef SIMGPU_CUDA_TEXTURE_TYPES_H
#define SIMGPU_CUDA_TEXTURE_TYPES_H

#include "texture_indirect_functions.h"

#if defined(__CUDA__)
template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType> struct texture {
    static_assert(sizeof(T) == 0, "CUDA 12 dropped texture references: make a texture object by "
                                  "cudaCreateTextureObject, pass it to the kernel as a cudaTextureObject_t, and read "
                                  "it by tex2D<T>(object, x, y)");
};
#endif

#endif
