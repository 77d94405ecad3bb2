/* cuda_texture_types.h — texture references, which CUDA 12 dropped: variables of type texture<T, type, mode>, which the
 * host binds to memory or to an array and kernels read by tex2D(variable, x, y).
 *
 * The compiler's attribute makes the device's part of such a variable a .texref; a kernel takes its address for the
 * texture object that it is bound to (exec/texture.c). Since the name `texture` is free for programs of today, only
 * programs that include this header or texture_fetch_functions.h have it, and those in which simcc sees `texture<`. */
#ifndef SIMGPU_CUDA_TEXTURE_TYPES_H
#define SIMGPU_CUDA_TEXTURE_TYPES_H

#include "cuda_runtime.h"

#if defined(__CUDA__)

struct textureReference {
    int normalized; /* coordinates from 0 to 1 */
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};

template <class T, int type = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    texture(int normal = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
            enum cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(normal, filter, address, cudaCreateChannelDesc<T>()) {}
    texture(int normal, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
            struct cudaChannelFormatDesc desc)
        : textureReference() {
        normalized = normal, filterMode = filter, channelDesc = desc;
        for (int k = 0; k < 3; k++) addressMode[k] = address;
    }
};

/* Binds the reference for all launches behind the call. fractions: it reads integers as fractions. resource NULL: it is
 * bound to nothing from now on. Memory that does not begin at a multiple of 512 bytes is bound from the multiple before
 * it, and *offset has the distance. */
extern "C" cudaError_t simgpuBindTexture(size_t *offset, const struct textureReference *reference,
                                         struct cudaResourceDesc *resource, int fractions, const char *file, int line);

#define SIMGPU_OLD                                                                                                     \
    static inline __attribute__((deprecated("CUDA 12 dropped texture references; today's are objects: "                \
                                            "cudaCreateTextureObject makes one, a kernel takes it as a "               \
                                            "cudaTextureObject_t, and reads it by tex2D<T>(object, x, y)")))

template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> &reference, const void *memory,
                                       const struct cudaChannelFormatDesc &desc, size_t bytes = UINT_MAX, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = (void *)memory;
    r.res.linear.desc = desc;
    r.res.linear.sizeInBytes = bytes;
    return simgpuBindTexture(offset, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> &reference, const void *memory,
                                       size_t bytes = UINT_MAX, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = (void *)memory;
    r.res.linear.desc = reference.channelDesc;
    r.res.linear.sizeInBytes = bytes;
    return simgpuBindTexture(offset, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, type, mode> &reference, const void *memory,
                                         const struct cudaChannelFormatDesc &desc, size_t width, size_t height,
                                         size_t pitch, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = (void *)memory;
    r.res.pitch2D.desc = desc;
    r.res.pitch2D.width = width, r.res.pitch2D.height = height, r.res.pitch2D.pitchInBytes = pitch;
    return simgpuBindTexture(offset, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, type, mode> &reference, const void *memory,
                                         size_t width, size_t height, size_t pitch, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = (void *)memory;
    r.res.pitch2D.desc = reference.channelDesc;
    r.res.pitch2D.width = width, r.res.pitch2D.height = height, r.res.pitch2D.pitchInBytes = pitch;
    return simgpuBindTexture(offset, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTextureToArray(const texture<T, type, mode> &reference, cudaArray_const_t array,
                                              SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = (cudaArray_t)array;
    return simgpuBindTexture(nullptr, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
/* The array has its own description of an element. */
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTextureToArray(const texture<T, type, mode> &reference, cudaArray_const_t array,
                                              const struct cudaChannelFormatDesc &, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = (cudaArray_t)array;
    return simgpuBindTexture(nullptr, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaUnbindTexture(const texture<T, type, mode> &reference, SIMGPU_SITE) {
    return simgpuBindTexture(nullptr, &reference, nullptr, 0, file, line);
}

template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTextureToMipmappedArray(const texture<T, type, mode> &reference,
                                                       cudaMipmappedArray_const_t array,
                                                       const struct cudaChannelFormatDesc &, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = (cudaMipmappedArray_t)array;
    return simgpuBindTexture(nullptr, &reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}

/* The same with pointers, as in C. */
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTexture(size_t *offset, const texture<T, type, mode> *reference, const void *memory,
                                       const struct cudaChannelFormatDesc *desc, size_t bytes = UINT_MAX, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = (void *)memory;
    r.res.linear.desc = *desc;
    r.res.linear.sizeInBytes = bytes;
    return simgpuBindTexture(offset, reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaBindTextureToArray(const texture<T, type, mode> *reference, cudaArray_const_t array,
                                              const struct cudaChannelFormatDesc *, SIMGPU_SITE) {
    struct cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = (cudaArray_t)array;
    return simgpuBindTexture(nullptr, reference, &r, mode == cudaReadModeNormalizedFloat, file, line);
}
template <class T, int type, enum cudaTextureReadMode mode>
SIMGPU_OLD cudaError_t cudaUnbindTexture(const texture<T, type, mode> *reference, SIMGPU_SITE) {
    return simgpuBindTexture(nullptr, reference, nullptr, 0, file, line);
}
#undef SIMGPU_OLD

#endif
#endif
